"""Unit 04: backpropagation through time against PyTorch's autograd and against finite differences."""

from itertools import combinations

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from rnncourse.bptt import (
    find_broken,
    nll_backward,
    numerical_gradient,
    output_backward,
    recurrent_gradient_by_lag,
    rnn_backward,
    rnn_step_backward,
    rtrl,
    sequence_nll,
)
from rnncourse.cell import rnn_forward
from rnncourse.exercises.bptt import KINDS, RARER, backward_pass
from tests.rnncourse.oracles import assert_close, different_sizes, drawn, float_types, loaded_rnn, pick, seeds, tensors

sizes = different_sizes(5)
BACK = "dH", "X", "h0", "H", "U", "W"


def draw(sizes, seed, dtype=np.float64):
    """Arrays of all kinds by name: h0 is not zero, W not symmetric, and every output has an error."""
    T, N, D, H, Q = sizes
    rng = np.random.default_rng(seed)
    shapes = {"X": (T, N, D), "h0": (N, H), "U": (D, H), "W": (H, H), "b": (H,), "V": (H, Q), "dH": (T, N, H)}
    shapes |= {"dO": (T, N, Q), "logits": (T, N, Q), "dh": (N, H)}
    arrays = {name: rng.normal(scale=0.7, size=shape).astype(dtype) for name, shape in shapes.items()}
    arrays["H"] = rnn_forward(*(arrays[name] for name in ("X", "h0", "U", "W", "b")))
    arrays["x"], arrays["h"] = arrays["X"][0].copy(), arrays["H"][0].copy()
    arrays["targets"] = rng.integers(Q, size=(T, N))
    arrays["mask"] = rng.integers(2, size=(T, N)).astype(bool)
    return arrays


def torch_loss(logits, targets, mask=None):
    losses = torch.nn.functional.cross_entropy(logits.flatten(0, 1), torch.tensor(targets).flatten(), reduction="none")
    return (losses if mask is None else losses[torch.tensor(mask).flatten()]).sum() / logits.shape[1]


@float_types
@drawn
@given(sizes, seeds)
def test_the_loss_is_pytorchs_cross_entropy_over_rows_and_its_gradient_autograds(dtype, sizes, seed):
    p = draw(sizes, seed, dtype)
    for mask in (None, p["mask"]):
        (logits,) = tensors(p, "logits")
        expected = torch_loss(logits, p["targets"], mask)
        expected.backward()
        loss = sequence_nll(p["logits"], p["targets"], mask)
        assert type(loss) is float
        assert loss == pytest.approx(expected.item(), rel=1e-5, abs=1e-12)
        assert_close(nll_backward(p["logits"], p["targets"], mask), logits.grad)


@pytest.mark.parametrize("odd", [np.inf, -np.inf, np.nan])
def test_what_stands_under_the_mask_plays_no_part(odd):
    p = draw((5, 3, 2, 4, 6), seed=0)
    before = sequence_nll(p["logits"], p["targets"], p["mask"]), nll_backward(p["logits"], p["targets"], p["mask"])
    p["logits"][~p["mask"]] = odd
    assert sequence_nll(p["logits"], p["targets"], p["mask"]) == before[0]
    np.testing.assert_array_equal(nll_backward(p["logits"], p["targets"], p["mask"]), before[1])


@float_types
@drawn
@given(sizes, seeds)
def test_going_back_through_the_output_layer_and_through_one_step_is_autograds(dtype, sizes, seed):
    p = draw(sizes, seed, dtype)
    leaves = H, V = tensors(p, "H", "V")
    c = torch.zeros(sizes[-1], dtype=V.dtype, requires_grad=True)
    expected = torch.autograd.grad(H @ V + c, [*leaves, c], torch.tensor(p["dO"]))
    assert_close(output_backward(p["dO"], p["H"], p["V"]), expected)
    leaves = x, h_prev, U, W, b = tensors(p, "x", "h0", "U", "W", "b")
    expected = torch.autograd.grad(torch.tanh(x @ U + h_prev @ W + b), leaves, torch.tensor(p["dh"]))
    assert_close(rnn_step_backward(*pick(p, "dh", "x", "h0", "h", "U", "W")), expected)


@float_types
@drawn
@given(sizes, seeds)
def test_backwards_and_forwards_in_time_the_gradients_are_those_of_pytorchs_rnn(dtype, sizes, seed):
    p = draw(sizes, seed, dtype)
    module, (X, h0) = loaded_rnn([pick(p, "U", "W", "b")]), tensors(p, "X", "h0")
    leaves = [X, h0, *module.parameters()]
    dX, dh0, dU, dW, db, _ = torch.autograd.grad(module(X, h0[None])[0], leaves, torch.tensor(p["dH"]))
    assert_close(rnn_backward(*pick(p, *BACK)), [dX, dh0, dU.T, dW.T, db])
    assert_close(rtrl(*pick(p, "X", "h0", "U", "W", "b", "dH")), [dU.T, dW.T, db])


@drawn
@given(st.lists(st.integers(0, 4), max_size=4), seeds)
def test_the_numerical_gradient_of_a_quadratic_is_right_for_x_of_any_shape(shape, seed):
    rng = np.random.default_rng(seed)
    x, factors = rng.normal(size=shape), rng.normal(size=shape)
    x.flags.writeable = False
    gradient = numerical_gradient(lambda x: (factors * x**2).sum(), x)
    assert gradient.shape == x.shape
    assert gradient.dtype == np.float64
    np.testing.assert_allclose(gradient, 2 * factors * x, atol=1e-8)


def test_central_differences_are_taken_of_the_width_that_was_asked_for():
    # of x^3 they give 3 x^2 + eps^2, exactly
    assert numerical_gradient(lambda x: x**3, np.array(2.0), eps=0.5) == pytest.approx(12.25)
    assert numerical_gradient(lambda x: x**3, np.array(2.0)) == pytest.approx(12, abs=1e-8)


def test_the_numerical_gradient_hands_a_new_array_to_every_call_and_never_writes_to_x():
    x, seen = np.array([[1.0, -2.0]]), []

    def overwrites(value):
        total = (value**2).sum()
        value[...] = np.nan
        seen.append(value)
        return total

    np.testing.assert_allclose(numerical_gradient(overwrites, x), [[2, -4]], atol=1e-8)
    assert x.tolist() == [[1, -2]]
    assert len(seen) == 4
    assert not any(np.shares_memory(*pair) for pair in combinations([x, *seen], 2))


def writes_to_its_errors(dH, X, h0, H, U, W):
    result = rnn_backward(dH, X, h0, H, U, W)
    dH *= 1 - H**2
    return result


def raises(*arguments):
    raise RuntimeError("no gradient today")


BROKEN = {kind: backward_pass(kind=kind).make() for kind in (*KINDS, *RARER)} | {
    "the errors overwritten": writes_to_its_errors,
    "an exception": raises,
    "nothing": lambda *arguments: None,
    "four gradients": lambda *arguments: rnn_backward(*arguments)[:4],
    "six gradients": lambda *arguments: (*rnn_backward(*arguments), 0.0),
    "numbers for arrays": lambda *arguments: tuple(g.sum() for g in rnn_backward(*arguments)),
    "not a number": lambda *arguments: tuple(g * np.nan for g in rnn_backward(*arguments)),
    "words": lambda *arguments: "dXhUW",
}


def test_the_broken_ones_are_named_and_none_of_the_right_ones():
    right = {kind: backward_pass(kind=kind).make() for kind in ("loop", "sums")} | {"reference": rnn_backward}
    right["a list"] = lambda *arguments: list(rnn_backward(*arguments))
    assert find_broken({**right, **BROKEN}) == set(BROKEN)
    assert find_broken(right) == find_broken({}) == set()


@drawn
@given(sizes, seeds)
def test_each_part_by_lag_is_autograds_if_every_step_has_a_W_of_its_own(sizes, seed):
    p = draw(sizes, seed)
    steps = sizes[0]
    Ws = [torch.tensor(p["W"], requires_grad=True) for _ in range(steps)]
    X, h0, U, b, dH = (torch.tensor(p[name]) for name in ("X", "h0", "U", "b", "dH"))
    states, h = [], h0
    for x, W in zip(X, Ws, strict=True):
        h = torch.tanh(x @ U + h @ W + b)
        states.append(h)
    expected = np.zeros((steps, sizes[3], sizes[3]))
    for t in range(steps):
        gradients = torch.autograd.grad((dH[t] * states[t]).sum(), Ws[: t + 1], retain_graph=True)
        for used, gradient in enumerate(gradients):
            expected[t - used] += gradient.numpy()
    assert_close(recurrent_gradient_by_lag(*pick(p, *BACK)), expected)
