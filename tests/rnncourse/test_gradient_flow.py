"""Unit 05: norms, clipping and the memory-saving passes, against PyTorch and full backpropagation through time."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
import torch
from hypothesis import given, settings
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
from tests.rnncourse.array_functions import ArrayFunctionsSuite

drawn = settings(max_examples=30, deadline=None)
float_types = pytest.mark.parametrize("dtype", [np.float32, np.float64])
TOLERANCE = {np.float32: {"rtol": 1e-3, "atol": 1e-4}, np.float64: {"rtol": 1e-10, "atol": 1e-10}}

# Four sizes, all different, so that an axis taken for another one is an error and no luck; and a seed.
sizes = st.lists(st.integers(1, 8), min_size=4, max_size=4, unique=True)
seeds = st.integers(0, 2**32 - 1)


def draw(sizes, seed, dtype=np.float64):
    """Arrays of all kinds by name: h0 is not zero, W not symmetric, and every state has an error."""
    T, N, D, H = sizes
    rng = np.random.default_rng(seed)
    shapes = {"X": (T, N, D), "h0": (N, H), "U": (D, H), "W": (H, H), "b": (H,), "dH": (T, N, H), "dh_last": (N, H)}
    arrays = {name: rng.normal(scale=0.7, size=shape).astype(dtype) for name, shape in shapes.items()}
    arrays["H"] = rnn_forward(*forward_arguments(arrays))
    return arrays


def forward_arguments(p):
    return [p[name] for name in ("X", "h0", "U", "W", "b")]


def backward_arguments(p):
    return [p[name] for name in ("dH", "X", "h0", "H", "U", "W")]


def full_gradients(p):
    """The (dU, dW, db) of full backpropagation through time."""
    return rnn_backward(*backward_arguments(p))[2:]


def torch_gradients(p, k):
    """The same from autograd, the state detached before each chunk of k steps."""
    X, h, U, W, b = (torch.tensor(array, requires_grad=True) for array in forward_arguments(p))
    loss = torch.zeros((), dtype=h.dtype)
    for t, x in enumerate(X):
        if t % k == 0:
            h = h.detach()
        h = torch.tanh(x @ U + h @ W + b)
        loss = loss + (torch.tensor(p["dH"][t]) * h).sum()
    return [gradient.numpy() for gradient in torch.autograd.grad(loss, [U, W, b], materialize_grads=True)]


def assert_all_close(results, expected, dtype=np.float64):
    for result, array in zip(results, expected, strict=True):
        assert result.shape == array.shape
        np.testing.assert_allclose(result, array, **TOLERANCE[dtype])


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
    X, h, U, W, b = (torch.tensor(array, requires_grad=True) for array in forward_arguments(p))
    states = []
    for x in X:
        h = torch.tanh(x @ U + h @ W + b)
        states.append(h)
    gradients = torch.autograd.grad((torch.tensor(p["dh_last"]) * h).sum(), states)
    norms = state_gradient_norms(p["dh_last"], p["H"], p["W"])
    assert norms.shape == (sizes[0],)
    np.testing.assert_allclose(norms, [np.linalg.norm(gradient.numpy()) for gradient in gradients], **TOLERANCE[dtype])


@drawn
@given(st.integers(1, 60), st.floats(0.5, 1.5), seeds)
def test_without_tanh_an_orthogonal_matrix_times_rho_changes_the_norm_by_rho_a_step(steps, rho, seed):
    rng = np.random.default_rng(seed)
    dh_last, W = rng.normal(size=(3, 5)), rho * orthogonal(rng, 5)
    norms = state_gradient_norms(dh_last, np.zeros((steps, 3, 5)), W)  # at h = 0 the slope of tanh is 1
    np.testing.assert_allclose(norms, np.linalg.norm(dh_last) * rho ** np.arange(steps - 1, -1, -1.0))


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


def test_the_spectral_radius_is_no_norm():
    assert spectral_radius([[0.5, 100.0], [0.0, -0.25]]) == 0.5


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
    gradients = [np.array([3.0, 0.0]), np.array([[-4.0]])]
    clipped, norm = clip_by_global_norm(gradients, max_norm)
    assert norm == 5
    for result, gradient in zip(clipped, gradients, strict=True):
        np.testing.assert_array_equal(result, gradient)


@pytest.mark.parametrize("max_norm", [0, 1.0])
def test_gradients_of_zeros_stay_zeros(max_norm):
    clipped, norm = clip_by_global_norm([np.zeros(3), np.zeros((2, 2))], max_norm)
    assert norm == 0
    assert not any(gradient.any() for gradient in clipped)


def test_a_threshold_of_numpys_float64_does_not_promote_float32():
    clipped, _ = clip_by_global_norm([np.ones(3, np.float32)], np.float64(0.5))
    assert clipped[0].dtype == np.float32
    assert with_spectral_radius(np.eye(3, dtype=np.float32), np.float64(0.5)).dtype == np.float32


def test_no_gradients_at_all_have_norm_zero():
    assert clip_by_global_norm([], 1.0) == ([], 0.0)


@float_types
@drawn
@given(sizes, seeds, st.integers(1, 10))
def test_truncated_gradients_are_autograds_with_the_state_detached_before_each_chunk(dtype, sizes, seed, k):
    p = draw(sizes, seed, dtype)
    assert_all_close(truncated_bptt(*backward_arguments(p), k), torch_gradients(p, k), dtype)


@drawn
@given(sizes, seeds, st.integers(0, 3))
def test_a_chunk_as_long_as_the_sequence_or_longer_truncates_nothing(sizes, seed, more):
    p = draw(sizes, seed)
    assert_all_close(truncated_bptt(*backward_arguments(p), sizes[0] + more), full_gradients(p))


@float_types
@drawn
@given(sizes, seeds, st.integers(1, 10))
def test_checkpoints_give_the_gradients_of_full_backpropagation(dtype, sizes, seed, every):
    p = draw(sizes, seed, dtype)
    result = checkpointed_bptt(lambda t, h: p["dH"][t], *forward_arguments(p), every)
    assert_all_close(result, full_gradients(p), dtype)


@drawn
@given(sizes, seeds, st.integers(1, 10))
def test_the_loss_is_asked_once_for_each_step_with_the_state_of_that_step(sizes, seed, every):
    p = draw(sizes, seed)
    asked = {}

    def loss_grad(t, h):
        assert t not in asked
        asked[t] = h
        return p["dH"][t]

    checkpointed_bptt(loss_grad, *forward_arguments(p), every)
    assert sorted(asked) == list(range(sizes[0]))
    np.testing.assert_allclose([asked[t] for t in range(sizes[0])], p["H"], **TOLERANCE[np.float64])


def test_a_loss_that_depends_on_the_states_gets_the_gradients_of_autograd():
    p = draw((7, 3, 2, 5), seed=0)
    X, h, U, W, b = (torch.tensor(array, requires_grad=True) for array in forward_arguments(p))
    loss = 0
    for t, x in enumerate(X):
        h = torch.tanh(x @ U + h @ W + b)
        loss = loss + (t + 1) * (h**3).sum()
    expected = [gradient.numpy() for gradient in torch.autograd.grad(loss, [U, W, b])]
    result = checkpointed_bptt(lambda t, h: 3 * (t + 1) * h**2, *forward_arguments(p), every=3)
    assert_all_close(result, expected)


def test_an_answer_of_the_loss_is_not_written_to_and_a_loss_may_write_to_its_state():
    p = draw((7, 3, 2, 5), seed=0)
    p["dH"].flags.writeable = False

    def loss_grad(t, h):
        h[...] = np.nan
        return p["dH"][t]

    assert_all_close(checkpointed_bptt(loss_grad, *forward_arguments(p), 3), full_gradients(p))


def test_the_loss_may_answer_with_lists_or_in_another_dtype():
    p = draw((7, 3, 2, 5), seed=0, dtype=np.float32)
    for answer in (np.ndarray.tolist, np.float64):
        result = checkpointed_bptt(lambda t, h, answer=answer: answer(p["dH"][t]), *forward_arguments(p), 3)
        assert {gradient.dtype for gradient in result} == {np.dtype(np.float32)}
        assert_all_close(result, full_gradients(p), np.float32)


@pytest.mark.parametrize("size", [0, -2])
def test_a_chunk_of_no_steps_is_an_error(size):
    p = draw((7, 3, 2, 5), seed=0)
    with pytest.raises(ValueError, match="at least one step"):
        truncated_bptt(*backward_arguments(p), size)
    with pytest.raises(ValueError, match="at least one step"):
        checkpointed_bptt(lambda t, h: h, *forward_arguments(p), size)


def test_truncation_needs_the_same_memory_for_long_sequences_and_full_backpropagation_more():
    short, long = long_sequence(100), long_sequence(1600)
    truncated = [peak_memory(truncated_bptt, *backward_arguments(p), 10) for p in (short, long)]
    full = [peak_memory(rnn_backward, *backward_arguments(p)) for p in (short, long)]
    assert truncated[1] < 1.02 * truncated[0]
    assert full[1] > 10 * full[0]


def test_checkpoints_keep_one_state_in_every_and_work_on_one_chunk():
    p = long_sequence(1600)
    state, weights = p["h0"].nbytes, p["W"].nbytes
    peaks = {}
    for every in (10, 40, 160, 1600):
        peaks[every] = peak_memory(checkpointed_bptt, lambda t, h: h, *forward_arguments(p), every)
        # Of a chunk there are its states, their errors before and after tanh, and a copy or two in products.
        assert peaks[every] < (1600 / every + 5 * every + 10) * state + 5 * weights
    assert peaks[40] == min(peaks.values())  # 40 is the root of 1600
    assert peaks[1600] > 10 * peaks[40]


def test_the_memory_of_checkpoints_grows_with_the_root_of_the_length():
    peaks = []
    for T, every in ((400, 20), (6400, 80)):
        p = long_sequence(T)
        peaks.append(peak_memory(checkpointed_bptt, lambda t, h: h, *forward_arguments(p), every))
    assert peaks[1] < 1.2 * 4 * peaks[0]


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


CALLS = {
    "state_gradient_norms": (state_gradient_norms, ("dh_last", "H", "W")),
    "with_spectral_radius": (lambda W: with_spectral_radius(W, 0.9), ("W",)),
    "clip_by_global_norm": (lambda *g: clip_by_global_norm(g, 0.5)[0], ("dH", "W", "b")),
    "clip_by_global_norm far below": (lambda *g: clip_by_global_norm(g, 1e6)[0], ("dH", "W", "b")),
    "truncated_bptt": (lambda *a: truncated_bptt(*a, 3), ("dH", "X", "h0", "H", "U", "W")),
    "checkpointed_bptt": (lambda *a: checkpointed_bptt(lambda t, h: h, *a, 3), ("X", "h0", "U", "W", "b")),
}


class TestArrayFunctions(ArrayFunctionsSuite):
    calls = CALLS
    extents = ({"steps": 1}, {"steps": 7})

    def draw_arguments(self, dtype, steps=7):
        return draw((steps, 2, 3, 5), seed=2, dtype=dtype)
