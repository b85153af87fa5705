"""Unit 14 in PyTorch: a scan that is the loop with its gradients, and a minimal GRU."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from rnncourse.scans import linear_recurrence, min_gru_forward
from rnncourse.scans_torch import MinGRU, scan

N, H = 3, 5


@settings(max_examples=12)
@given(st.integers(1, 40), st.lists(st.integers(1, 3), max_size=2), st.integers(0, 2**32 - 1))
def test_the_scan_is_the_loop_and_so_are_its_gradients(steps, shape, seed):
    rng = np.random.default_rng(seed)
    a, b = (torch.tensor(rng.uniform(-1, 1, (steps, *shape)), requires_grad=True) for _ in range(2))
    states = scan(a, b)
    expected = linear_recurrence(a.detach().numpy(), b.detach().numpy(), np.zeros(shape))
    np.testing.assert_allclose(states.detach().numpy(), expected, atol=1e-12)
    weights = torch.tensor(rng.normal(size=(steps, *shape)))
    found = torch.autograd.grad((weights * states).sum(), (a, b), allow_unused=True, materialize_grads=True)
    h, looped = torch.zeros(shape, dtype=torch.float64), []
    for factor, term in zip(a, b):
        h = factor * h + term
        looped.append(h)
    wanted = torch.autograd.grad((weights * torch.stack(looped)).sum(), (a, b))
    for one, other in zip(found, wanted):
        torch.testing.assert_close(one, other, atol=1e-10, rtol=1e-8)


@pytest.mark.parametrize("start", [False, True])
def test_the_minimal_gru_is_numpys_with_a_bias_for_an_input_that_is_always_one(start):
    torch.manual_seed(0)
    layer = MinGRU(4, H, gate_bias=-1.0).double()
    x = torch.randn(9, N, 4, dtype=torch.float64)
    h0 = torch.randn(1, N, H, dtype=torch.float64) if start else None
    with torch.no_grad():
        output, h_n = layer(x, h0)
        Wz, Wh = (torch.cat([part.weight.T, part.bias[None]]).numpy() for part in (layer.gate, layer.candidate))
    inputs = np.concatenate([x.numpy(), np.ones((9, N, 1))], axis=-1)
    begin = np.zeros((N, H)) if h0 is None else h0[0].numpy()
    np.testing.assert_allclose(output.numpy(), min_gru_forward(inputs, begin, Wz, Wh), atol=1e-12)
    torch.testing.assert_close(h_n[0], output[-1])
    assert (layer.gate.bias == -1).all()
