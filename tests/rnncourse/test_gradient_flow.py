"""Unit 05: norms, clipping and the memory-saving passes, against PyTorch and full backpropagation through time."""

import tracemalloc

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from rnncourse.bptt import rnn_backward
from rnncourse.cell import rnn_forward
from rnncourse.gradient_flow import (
    checkpointed_bptt,
    clip_by_global_norm,
    orthogonal,
    spectral_radius,
    state_gradient_norms,
    truncated_bptt,
    with_spectral_radius,
)
from tests.rnncourse.oracles import assert_close, different_sizes, drawn, float_types, pick, seeds, tensors

sizes = different_sizes(4)
FORTH = "X", "h0", "U", "W", "b"
BACK = "dH", "X", "h0", "H", "U", "W"


def draw(sizes, seed, dtype=np.float64):
    """Arrays of all kinds by name: h0 is not zero, W not symmetric, and every state has an error."""
    T, N, D, H = sizes
    rng = np.random.default_rng(seed)
    shapes = {"X": (T, N, D), "h0": (N, H), "U": (D, H), "W": (H, H), "b": (H,), "dH": (T, N, H), "dh_last": (N, H)}
    arrays = {name: rng.normal(scale=0.7, size=shape).astype(dtype) for name, shape in shapes.items()}
    arrays["H"] = rnn_forward(*pick(arrays, *FORTH))
    return arrays


def torch_gradients(p, k):
    """The (dU, dW, db) of autograd, the state detached before each chunk of k steps."""
    X, h, *parameters = tensors(p, *FORTH)
    U, W, b = parameters
    loss = torch.zeros((), dtype=h.dtype)
    for t, x in enumerate(X):
        if t % k == 0:
            h = h.detach()
        h = torch.tanh(x @ U + h @ W + b)
        loss = loss + (torch.tensor(p["dH"][t]) * h).sum()
    return torch.autograd.grad(loss, parameters, materialize_grads=True)


def long_sequence(steps):
    """What `draw` gives, with a W so small that no error explodes on its way through many steps."""
    p = draw((steps, 8, 4, 32), seed=0)
    p["W"] *= 0.1
    return p


def peak_memory(function, *arguments):
    tracemalloc.start()
    try:
        function(*arguments)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@float_types
@drawn
@given(sizes, seeds)
def test_the_norm_at_each_step_is_that_of_autograds_gradient(dtype, sizes, seed):
    p = draw(sizes, seed, dtype)
    X, h, U, W, b = tensors(p, *FORTH)
    states = []
    for x in X:
        h = torch.tanh(x @ U + h @ W + b)
        states.append(h)
    gradients = torch.autograd.grad((torch.tensor(p["dh_last"]) * h).sum(), states)
    norms = state_gradient_norms(p["dh_last"], p["H"], p["W"])
    assert_close(norms, np.array([np.linalg.norm(gradient.numpy()) for gradient in gradients], dtype))


@pytest.mark.parametrize("size", [1e-30, 1e30])
def test_norms_in_float32_neither_vanish_nor_overflow_before_the_gradient_does(size):
    dh_last = np.full((1, 4), size, dtype=np.float32)
    norms = state_gradient_norms(dh_last, np.zeros((2, 1, 4), np.float32), np.eye(4, dtype=np.float32))
    np.testing.assert_allclose(norms, 2 * size, rtol=1e-6)
    assert clip_by_global_norm([dh_last], size)[1] == pytest.approx(2 * size, rel=1e-6)


@float_types
@drawn
@given(st.lists(st.floats(-3, 3), min_size=1, max_size=3), st.floats(0, 3), st.floats(0, 3), seeds)
def test_the_spectral_radius_is_the_largest_eigenvalue_real_or_complex(dtype, reals, length, angle, seed):
    # a matrix of known eigenvalues: some real ones, and a pair of complex ones, turned by an orthogonal matrix
    size = len(reals) + 2
    known = np.zeros((size, size))
    known[range(len(reals)), range(len(reals))] = reals
    known[-2:, -2:] = length * np.array([[np.cos(angle), np.sin(angle)], [-np.sin(angle), np.cos(angle)]])
    Q = orthogonal(np.random.default_rng(seed), size)
    radius = spectral_radius((Q @ known @ Q.T).astype(dtype))
    assert type(radius) is float
    assert radius == pytest.approx(max(length, *map(abs, reals)), rel=1e-5, abs=1e-6)
    assert spectral_radius([[0.5, 100.0], [0.0, -0.25]]) == 0.5  # a norm would be 100 at least


@float_types
@drawn
@given(st.integers(1, 7), st.floats(0.01, 10), seeds)
def test_a_matrix_is_scaled_to_a_radius_and_keeps_its_direction(dtype, size, rho, seed):
    W = np.random.default_rng(seed).normal(size=(size, size)).astype(dtype)
    scaled = with_spectral_radius(W, rho)
    assert spectral_radius(scaled) == pytest.approx(rho, rel=1e-3)
    np.testing.assert_allclose(scaled * np.linalg.norm(W), W * np.linalg.norm(scaled), rtol=1e-3, atol=1e-6)


@pytest.mark.parametrize("W", [np.zeros((3, 3)), [[0, 1], [0, 0]]])
def test_a_radius_of_zero_cannot_be_scaled(W):
    with pytest.raises(ValueError, match="radius of W is 0"):
        with_spectral_radius(W, 1.0)


@float_types
@drawn
@given(st.lists(st.lists(st.integers(1, 4), max_size=3), min_size=1, max_size=4), st.floats(0.01, 10), seeds)
def test_clipping_is_pytorchs_but_for_its_epsilon(dtype, shapes, max_norm, seed):
    rng = np.random.default_rng(seed)
    gradients = [np.asarray(rng.normal(size=shape), dtype=dtype) for shape in shapes]
    parameters = [torch.nn.Parameter(torch.tensor(gradient)) for gradient in gradients]
    for parameter, gradient in zip(parameters, gradients):
        parameter.grad = torch.tensor(gradient)
    expected_norm = torch.nn.utils.clip_grad_norm_(parameters, max_norm).item()
    clipped, norm = clip_by_global_norm(gradients, max_norm)
    assert type(norm) is float
    assert norm == pytest.approx(expected_norm, rel=1e-5)
    for result, parameter in zip(clipped, parameters, strict=True):
        assert isinstance(result, np.ndarray)
        np.testing.assert_allclose(result, parameter.grad, rtol=1e-3)
    assert np.sqrt(sum((g.astype(float) ** 2).sum() for g in clipped)) == pytest.approx(min(norm, max_norm), rel=1e-5)


@pytest.mark.parametrize("max_norm", [5, 5.5, np.inf])
def test_gradients_up_to_the_threshold_stay_as_they_are(max_norm):
    for gradients, expected in (([np.array([3.0, 0.0]), np.array([[-4.0]])], 5), ([np.zeros(3)], 0), ([], 0)):
        clipped, norm = clip_by_global_norm(gradients, max_norm)
        assert norm == expected
        np.testing.assert_equal(clipped, gradients)
    assert not clip_by_global_norm([np.zeros(3)], 0)[0][0].any()


def test_a_threshold_of_numpys_float64_does_not_promote_float32():
    assert clip_by_global_norm([np.ones(3, np.float32)], np.float64(0.5))[0][0].dtype == np.float32
    assert with_spectral_radius(np.eye(3, dtype=np.float32), np.float64(0.5)).dtype == np.float32


@float_types
@drawn
@given(sizes, seeds, st.integers(1, 10))
def test_truncated_and_checkpointed_gradients_are_autograds(dtype, sizes, seed, k):
    p = draw(sizes, seed, dtype)
    asked = {}

    def loss_grad(t, h):
        assert t not in asked
        asked[t] = h
        return p["dH"][t].tolist() if k % 2 else p["dH"][t].astype(np.float64)

    assert_close(truncated_bptt(*pick(p, *BACK), k), torch_gradients(p, k))
    whole = checkpointed_bptt(loss_grad, *pick(p, *FORTH), k)
    assert {gradient.dtype for gradient in whole} == {np.dtype(dtype)}
    assert_close(whole, torch_gradients(p, sizes[0]))
    assert_close([asked[t] for t in range(sizes[0])], list(p["H"]))


def test_an_answer_of_the_loss_is_not_written_to_and_a_loss_may_write_to_its_state():
    p = draw((7, 3, 2, 5), seed=0)
    p["dH"].flags.writeable = False

    def loss_grad(t, h):
        h[...] = np.nan
        return p["dH"][t]

    assert_close(checkpointed_bptt(loss_grad, *pick(p, *FORTH), 3), rnn_backward(*pick(p, *BACK))[2:])


@pytest.mark.parametrize("size", [0, -2])
def test_a_chunk_of_no_steps_is_an_error(size):
    p = draw((7, 3, 2, 5), seed=0)
    with pytest.raises(ValueError, match="at least one step"):
        truncated_bptt(*pick(p, *BACK), size)
    with pytest.raises(ValueError, match="at least one step"):
        checkpointed_bptt(lambda t, h: h, *pick(p, *FORTH), size)


def test_truncation_needs_the_same_memory_for_long_sequences_and_full_backpropagation_more():
    short, long = long_sequence(100), long_sequence(1600)
    truncated = [peak_memory(truncated_bptt, *pick(p, *BACK), 10) for p in (short, long)]
    full = [peak_memory(rnn_backward, *pick(p, *BACK)) for p in (short, long)]
    assert truncated[1] < 1.02 * truncated[0]
    assert full[1] > 10 * full[0]


@drawn
@given(st.integers(1, 12), seeds)
def test_drawn_matrices_are_orthogonal(n, seed):
    Q = orthogonal(np.random.default_rng(seed), n)
    assert Q.shape == (n, n)
    assert Q.dtype == np.float64
    np.testing.assert_allclose(Q @ Q.T, np.eye(n), atol=1e-12)
    np.testing.assert_array_equal(Q, orthogonal(np.random.default_rng(seed), n))


def test_all_orthogonal_matrices_are_equally_likely():
    # then the entries have mean 0 and variance 1/n, as many matrices turn as reflect, and the trace has variance 1
    rng = np.random.default_rng(0)
    draws = np.array([orthogonal(rng, 3) for _ in range(4000)])
    np.testing.assert_allclose(draws.mean(axis=0), 0, atol=0.04)
    np.testing.assert_allclose(draws.var(axis=0), 1 / 3, atol=0.02)
    assert np.linalg.det(draws).mean() == pytest.approx(0, abs=0.06)
    assert np.trace(draws, axis1=1, axis2=2).var() == pytest.approx(1, abs=0.1)
