"""Unit 13: attention against PyTorch's, the scan against the loop and by its depth, a minimal GRU."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.nn.functional import scaled_dot_product_attention

from rnncourse import beyond
from rnncourse.beyond import (
    additive_attention,
    associative_scan,
    attention,
    combine_affine,
    diagonal_ssm,
    linear_attention,
    linear_recurrence,
    min_gru_forward,
    self_attention,
)
from tests.rnncourse.array_functions import ArrayFunctionsSuite
from tests.rnncourse.oracles import different_sizes, drawn, float_types, seeds

TOLERANCE = {np.float32: {"rtol": 1e-4, "atol": 1e-5}, np.float64: {"rtol": 1e-10, "atol": 1e-12}}
# T_q, T_k, d (or d_q), d_v, A and d_k.
sizes = different_sizes(6)
batches = st.lists(st.integers(1, 3), max_size=2)


def draw(sizes, batch, seed, dtype=np.float64):
    """Queries, keys of the same size, values, keys of another size, parameters of the scores, and a mask."""
    T_q, T_k, d, d_v, A, d_k = sizes
    rng = np.random.default_rng(seed)

    def normal(*shape):
        return rng.normal(size=shape).astype(dtype)

    mask = rng.random((*batch, T_q, T_k)) < 0.5
    mask[..., rng.integers(T_k)] = True
    query, keys, values = normal(*batch, T_q, d), normal(*batch, T_k, d), normal(*batch, T_k, d_v)
    return query, keys, values, normal(*batch, T_k, d_k), (normal(d, A), normal(d_k, A), normal(A)), mask


@float_types
@drawn
@given(sizes, batches, seeds)
def test_attention_is_pytorchs(dtype, sizes, batch, seed):
    query, keys, values, _, _, mask = draw(sizes, batch, seed, dtype)
    tensors = [torch.from_numpy(array) for array in (query, keys, values)]
    for given_mask in (None, mask, mask[..., :1, :], mask.reshape(-1, sizes[1])[0], mask.astype(int)):
        context, weights = attention(query, keys, values, given_mask)
        theirs = None if given_mask is None else torch.from_numpy(np.broadcast_to(given_mask, mask.shape).astype(bool))
        np.testing.assert_allclose(context, scaled_dot_product_attention(*tensors, theirs), **TOLERANCE[dtype])
        assert context.dtype == weights.dtype == dtype
        assert weights.shape == mask.shape
        np.testing.assert_allclose(weights.sum(axis=-1), 1, rtol=1e-5)
        if given_mask is not None:
            assert (weights[~np.broadcast_to(given_mask, mask.shape).astype(bool)] == 0).all()


@float_types
@drawn
@given(sizes, batches, seeds)
def test_additive_attention_is_its_formula_entry_by_entry(dtype, sizes, batch, seed):
    query, _, values, keys, (Wq, Wk, v), mask = draw(sizes, batch, seed, dtype)
    scores = np.empty(mask.shape)
    for index in np.ndindex(mask.shape):
        *where, i, j = index
        scores[index] = np.tanh(query[(*where, i)] @ Wq + keys[(*where, j)] @ Wk) @ v
    for given_mask in (None, mask):
        allowed = scores if given_mask is None else np.where(given_mask, scores, -np.inf)
        expected = torch.from_numpy(allowed).softmax(dim=-1).numpy()
        context, weights = additive_attention(query, keys, values, Wq, Wk, v, given_mask)
        assert context.dtype == weights.dtype == dtype
        np.testing.assert_allclose(weights, expected, **TOLERANCE[dtype])
        np.testing.assert_allclose(context, expected @ values, **TOLERANCE[dtype])


def test_leading_axes_broadcast_one_query_to_many_memories():
    query, keys, values, other_keys, parameters, _ = draw((2, 4, 3, 5, 6, 7), (3,), 0)
    for attend, memory, more in ((attention, keys, ()), (additive_attention, other_keys, parameters)):
        context, weights = attend(query[0], memory, values, *more)
        for n in range(3):
            alone = attend(query[0], memory[n], values[n], *more)
            np.testing.assert_allclose(context[n], alone[0], rtol=1e-12)
            np.testing.assert_allclose(weights[n], alone[1], rtol=1e-12)


@float_types
@pytest.mark.parametrize("size", [1e4, 1e8])
def test_large_scores_look_at_the_best_key_and_give_no_nan(dtype, size):
    query = np.array([[size, 0], [0, -size]], dtype=dtype)
    keys = np.array([[size, 0], [0, size], [1, 1]], dtype=dtype)
    _, weights = attention(query, keys, keys)
    np.testing.assert_array_equal(weights, [[1, 0, 0], [1, 0, 0]])
    _, weights = attention(query, keys, keys, mask=[False, True, True])
    np.testing.assert_array_equal(weights, [[0, 0, 1], [0, 0, 1]])
    one = np.eye(2, dtype=dtype)
    _, weights = additive_attention(query, keys, keys, one, one, np.full(2, size, dtype=dtype))
    assert np.isfinite(weights).all()


@float_types
@drawn
@given(st.integers(1, 9), st.integers(1, 6), st.integers(1, 6), st.integers(1, 6), seeds, st.booleans())
def test_self_attention_is_pytorchs(dtype, T, D, d, d_v, seed, causal):
    rng = np.random.default_rng(seed)
    X, Wq, Wk, Wv = (rng.normal(size=shape).astype(dtype) for shape in ((T, D), (D, d), (D, d), (D, d_v)))
    context = self_attention(X, Wq, Wk, Wv, causal)
    tensors = [torch.from_numpy(X @ W) for W in (Wq, Wk, Wv)]
    expected = scaled_dot_product_attention(*tensors, is_causal=causal)
    assert context.dtype == dtype
    np.testing.assert_allclose(context, expected, **TOLERANCE[dtype])


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
    assert H.shape == (T, *shape)
    np.testing.assert_allclose(H, a * np.concatenate([h0[None], H[:-1]]) + b, **TOLERANCE[dtype])


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


class Deep:
    """A number that knows how many operations, one waiting for the other, it took."""

    def __init__(self, value, depth=0):
        self.value, self.depth = value, depth

    def __mul__(self, other):
        return Deep(self.value * other.value, max(self.depth, other.depth) + 1)

    def __add__(self, other):
        return Deep(self.value + other.value, max(self.depth, other.depth) + 1)


def deep(array):
    result = np.empty(np.shape(array), dtype=object)
    for index, value in np.ndenumerate(array):
        result[index] = Deep(value)
    return result


@pytest.mark.parametrize("T", [1, 2, 3, 7, 8, 9, 64, 100, 1000])
def test_the_scan_takes_logarithmically_many_dependent_steps_and_the_loop_linearly_many(T):
    a, b, h0 = draw_recurrence(T, (), T)
    loop, scan = (f(deep(a), deep(b), Deep(float(h0))) for f in (linear_recurrence, associative_scan))
    expected = linear_recurrence(a, b, h0)
    for result in (loop, scan):
        np.testing.assert_allclose([number.value for number in result], expected, rtol=1e-9, atol=1e-12)
    assert max(number.depth for number in loop) == 2 * T  # one product and one sum a step
    assert max(number.depth for number in scan) <= 2 * (2 * math.log2(T) + 1)


def test_objects_may_be_lists_or_arrays_of_any_shape():
    a, b, h0 = draw_recurrence(5, (2, 3), 0)
    expected = linear_recurrence(a, b, h0)
    for function in (linear_recurrence, associative_scan):
        result = function(deep(a), deep(b), deep(h0))
        np.testing.assert_allclose(np.vectorize(lambda number: number.value)(result), expected)
        assert function([Fraction(1, 2)] * 3, [1, 2, 3], Fraction(4)).tolist() == [3, Fraction(7, 2), Fraction(19, 4)]


@pytest.mark.parametrize("T", [2, 3, 100, 1024])
def test_the_scan_works_through_its_operator_in_few_calls_and_fewer_than_2_T_combinations(T, monkeypatch):
    sizes = []

    def counted(first, second):
        sizes.append(len(first[0]))
        return combine_affine(first, second)

    monkeypatch.setattr(beyond, "combine_affine", counted)
    a, b, h0 = draw_recurrence(T, (2,), 0)
    np.testing.assert_allclose(associative_scan(a, b, h0), linear_recurrence(a, b, h0), atol=1e-10)
    assert len(sizes) <= 2 * math.log2(T)
    assert sum(sizes) < 2 * T


@pytest.mark.parametrize("function", [linear_recurrence, associative_scan])
def test_factors_and_terms_of_two_shapes_are_an_error(function):
    with pytest.raises(ValueError, match="one shape"):
        function(np.ones((4, 1)), np.ones((4, 3)).tolist(), np.zeros(3))


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
    assert H.dtype == dtype
    h = torch.from_numpy(h0)
    for x, state in zip(torch.from_numpy(X), H, strict=True):
        z = torch.sigmoid(x @ torch.from_numpy(Wz))
        h = (1 - z) * h + z * (x @ torch.from_numpy(Wh))
        np.testing.assert_allclose(state, h, **TOLERANCE[dtype])


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


@pytest.mark.parametrize("T", [1, 2, 100, 1000])
def test_a_diagonal_state_space_takes_logarithmically_many_dependent_steps(T):
    rng = np.random.default_rng(T)
    x, a, b, c = rng.normal(size=T), rng.uniform(0.9, 1, 3), rng.normal(size=3), rng.normal(size=3)
    y = diagonal_ssm(*(deep(array) for array in (x, a, b, c)))
    np.testing.assert_allclose([number.value for number in y], diagonal_ssm(x, a, b, c), rtol=1e-9, atol=1e-12)
    assert max(number.depth for number in y) <= 4 * math.log2(T) + 2 + 3 + 2  # the scan, b x, c s, and a sum of three


CALLS = {
    "attention": (attention, ("query", "keys", "values", "mask")),
    "additive_attention": (additive_attention, ("query", "other_keys", "values", "Wq", "Wk", "v", "mask")),
    "self_attention": (self_attention, ("x", "A", "B", "A")),
    "linear_attention": (linear_attention, ("x", "y", "x")),
    "diagonal_ssm": (diagonal_ssm, ("signal", "a", "a", "h0")),
    "linear_recurrence": (linear_recurrence, ("x", "y", "h0")),
    "associative_scan": (associative_scan, ("x", "y", "h0")),
    "combine_affine": (lambda *a: combine_affine(a[:2], a[2:]), ("x", "y", "y", "x")),
    "min_gru_forward": (min_gru_forward, ("X", "H0", "A", "B")),
}


class TestArrayFunctions(ArrayFunctionsSuite):
    calls = CALLS

    def draw_arguments(self, dtype, steps=4):
        rng = np.random.default_rng(2)
        query, keys, values, other_keys, (Wq, Wk, v), mask = draw((2, steps, 3, 5, 6, 7), (), 2, dtype)
        shapes = {"x": (steps, 3), "y": (steps, 3), "X": (steps, 2, 3), "signal": (steps,)}
        shapes |= {"h0": (3,), "a": (3,), "H0": (2, 5), "A": (3, 5), "B": (3, 5)}
        arrays = {name: rng.uniform(-1, 1, shape).astype(dtype) for name, shape in shapes.items()}
        named = {"query": query, "keys": keys, "values": values, "other_keys": other_keys, "mask": mask}
        return arrays | named | {"Wq": Wq, "Wk": Wk, "v": v}
