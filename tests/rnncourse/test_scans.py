"""Unit 14: the scan against the loop and by its depth, and what it carries: a minimal GRU, a matrix, a filter."""

import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from rnncourse import scans
from rnncourse.bptt import rnn_backward
from rnncourse.scans import (
    associative_scan,
    backward_by_scan,
    combine_affine,
    diagonal_ssm,
    linear_attention,
    linear_recurrence,
    min_gru_forward,
)
from tests.rnncourse.oracles import assert_close, drawn, float_types, seeds

recurrences = {"T": st.integers(1, 40), "shape": st.lists(st.integers(1, 4), max_size=2), "seed": seeds}


def draw_recurrence(T, shape, seed, dtype=np.float64, scale=1.0):
    rng = np.random.default_rng(seed)
    a, b = rng.uniform(-scale, scale, (T, *shape)).astype(dtype), rng.normal(size=(T, *shape)).astype(dtype)
    return a, b, rng.normal(size=shape).astype(dtype)


@float_types
@drawn
@given(**recurrences)
def test_the_loop_is_the_recurrence_written_out(dtype, T, shape, seed):
    a, b, h0 = draw_recurrence(T, shape, seed, dtype)
    H = linear_recurrence(a, b, h0)
    assert H.dtype == dtype
    assert_close(H, a * np.concatenate([h0[None], H[:-1]]) + b)


@float_types
@drawn
@given(**recurrences)
def test_the_scan_is_the_loop(dtype, T, shape, seed):
    a, b, h0 = draw_recurrence(T, shape, seed, dtype, scale=1.2)
    H = associative_scan(a, b, h0)
    assert H.dtype == dtype
    expected = linear_recurrence(*(array.astype(np.float64) for array in (a, b, h0)))
    tolerance = {np.float32: {"rtol": 1e-3, "atol": 1e-3}, np.float64: {"rtol": 0, "atol": 1e-10}}[dtype]
    np.testing.assert_allclose(H, expected, **tolerance)


def test_zeros_and_products_that_vanish_are_no_trouble():
    T = 3000
    a, b = np.full(T, 0.1), np.ones(T)
    a[::7] = 0
    np.testing.assert_allclose(associative_scan(a, b, 5.0), linear_recurrence(a, b, 5.0), rtol=1e-12)
    np.testing.assert_array_equal(associative_scan(np.ones(T), b, 0.0), np.arange(1, T + 1))


@drawn
@given(st.lists(st.fractions(-3, 3, max_denominator=9), min_size=6, max_size=6), st.fractions(-3, 3))
def test_combining_is_applying_one_after_the_other_and_associative(numbers, h):
    p, q, r = zip(numbers[::2], numbers[1::2])
    a, b = combine_affine(p, q)
    assert a * h + b == q[0] * (p[0] * h + p[1]) + q[1]
    assert combine_affine(combine_affine(p, q), r) == combine_affine(p, combine_affine(q, r))
    assert combine_affine((1, 0), p) == combine_affine(p, (1, 0)) == p


@pytest.mark.parametrize("T", [2, 3, 100, 1024])
def test_the_scan_works_through_its_operator_in_few_calls_and_fewer_than_2_T_combinations(T, monkeypatch):
    sizes = []

    def counted(first, second):
        sizes.append(len(first[0]))
        return combine_affine(first, second)

    monkeypatch.setattr(scans, "combine_affine", counted)
    a, b, h0 = draw_recurrence(T, (2,), 0)
    np.testing.assert_allclose(associative_scan(a, b, h0), linear_recurrence(a, b, h0), atol=1e-10)
    assert len(sizes) <= 2 * math.log2(T)
    assert sum(sizes) < 2 * T


@pytest.mark.parametrize("function", [linear_recurrence, associative_scan])
def test_factors_and_terms_of_two_shapes_are_an_error(function):
    with pytest.raises(ValueError, match="one shape"):
        function(np.ones((4, 1)), np.ones((4, 3)).tolist(), np.zeros(3))


@float_types
@drawn
@given(st.integers(1, 40), st.integers(1, 3), st.integers(1, 5), seeds)
def test_the_way_back_by_a_scan_is_the_walk_back(dtype, T, N, H, seed):
    rng = np.random.default_rng(seed)
    dH, states = rng.normal(size=(T, N, H)), np.tanh(rng.normal(size=(T, N, H)))
    W = rng.normal(size=(H, H)) / np.sqrt(H)
    errors = backward_by_scan(*(array.astype(dtype) for array in (dH, states, W)))
    assert errors.dtype == dtype
    # with U = I, the walk's dX is (1 - h^2) e W_in^T = (1 - h^2) e
    dX = rnn_backward(dH, np.zeros((T, N, H)), np.zeros((N, H)), states, np.eye(H), W)[0]
    tolerance = {np.float32: {"rtol": 1e-2, "atol": 1e-3}, np.float64: {"rtol": 1e-8, "atol": 1e-10}}[dtype]
    np.testing.assert_allclose((1 - states**2) * errors, dX, **tolerance)


def draw_gru(sizes, seed, dtype=np.float64):
    T, N, D, H = sizes
    rng = np.random.default_rng(seed)
    shapes = (T, N, D), (N, H), (D, H), (D, H)
    return [rng.normal(size=shape).astype(dtype) for shape in shapes]


@float_types
@drawn
@given(st.lists(st.integers(1, 9), min_size=4, max_size=4, unique=True), seeds)
def test_the_minimal_gru_is_its_equations_step_by_step(dtype, sizes, seed):
    X, h0, Wz, Wh = draw_gru(sizes, seed, dtype)
    H = min_gru_forward(X, h0, Wz, Wh)
    h = torch.from_numpy(h0)
    for x, state in zip(torch.from_numpy(X), H, strict=True):
        z = torch.sigmoid(x @ torch.from_numpy(Wz))
        h = (1 - z) * h + z * (x @ torch.from_numpy(Wh))
        assert_close(state, h)


def test_a_gate_far_from_zero_keeps_or_replaces_the_state_without_overflow():
    X, h0 = np.array([[[1.0]], [[-1.0]]]), np.array([[7.0]])
    H = min_gru_forward(X, h0, [[1e4]], [[3.0]])
    assert H.ravel().tolist() == [3.0, 3.0]


@float_types
@drawn
@given(st.integers(1, 40), st.integers(1, 5), st.integers(1, 5), seeds)
def test_linear_attention_is_its_table_of_scores_without_a_softmax(dtype, T, d, d_v, seed):
    rng = np.random.default_rng(seed)
    Q, K, V = (rng.normal(size=(T, n)).astype(dtype) for n in (d, d, d_v))
    contexts = linear_attention(Q, K, V)
    assert contexts.dtype == dtype
    expected = np.tril(Q.astype(np.float64) @ K.astype(np.float64).T) @ V.astype(np.float64)
    tolerance = {np.float32: {"rtol": 1e-3, "atol": 1e-3}, np.float64: {"rtol": 1e-9, "atol": 1e-10}}[dtype]
    np.testing.assert_allclose(contexts, expected, **tolerance)


@float_types
@drawn
@given(st.integers(1, 60), st.integers(1, 5), seeds)
def test_a_diagonal_state_space_is_a_convolution_with_its_kernel(dtype, T, N, seed):
    rng = np.random.default_rng(seed)
    x, b, c = (rng.normal(size=n).astype(dtype) for n in (T, N, N))
    a = rng.uniform(-1, 1, N).astype(dtype)
    y = diagonal_ssm(x, a, b, c)
    assert y.dtype == dtype
    kernel = (a.astype(np.float64) ** np.arange(T)[:, None]) @ (b.astype(np.float64) * c)
    tolerance = {np.float32: {"rtol": 1e-3, "atol": 1e-3}, np.float64: {"rtol": 1e-9, "atol": 1e-10}}[dtype]
    np.testing.assert_allclose(y, np.convolve(x.astype(np.float64), kernel)[:T], **tolerance)
