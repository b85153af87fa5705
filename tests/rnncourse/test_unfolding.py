"""Unit 02: recurrences, their unfolding, and what depends on what."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rnncourse.unfolding import (
    compose,
    depends_on,
    first_float_dtype,
    shared_parameter_count,
    unfold,
    unfold_driven,
    unshared_parameter_count,
)
from tests.rnncourse.oracles import drawn, float_types, seeds


def rotate(s, theta):
    return theta @ s


def leak(s, x, theta):
    return theta * s + (1 - theta) * x


@drawn
@given(st.integers(0, 12), st.integers(1, 5), seeds)
def test_unfolding_a_linear_map_gives_the_powers_of_its_matrix(steps, size, seed):
    rng = np.random.default_rng(seed)
    matrix, s0 = rng.normal(size=(size, size)) / size, rng.normal(size=size)
    states = unfold(rotate, s0, matrix, steps)
    assert states.shape == (steps + 1, size)
    np.testing.assert_array_equal(states[0], s0)
    for t, state in enumerate(states):
        np.testing.assert_allclose(state, np.linalg.matrix_power(matrix, t) @ s0, atol=1e-12)


@drawn
@given(st.integers(1, 12), st.floats(0, 1), seeds)
def test_a_driven_system_is_the_weighted_sum_of_its_past(steps, theta, seed):
    rng = np.random.default_rng(seed)
    s0, xs = rng.normal(size=3), rng.normal(size=(steps, 3))
    states = unfold_driven(leak, s0, xs, theta)
    assert states.shape == (steps + 1, 3)
    for t, state in enumerate(states):
        past = sum(((1 - theta) * theta ** (t - 1 - k) * xs[k] for k in range(t)), start=theta**t * s0)
        np.testing.assert_allclose(state, past, atol=1e-12)


def test_a_state_may_be_a_number_a_list_or_an_array_of_any_shape():
    assert unfold(lambda s, theta: theta * s, 1.0, 2.0, 2).tolist() == [1.0, 2.0, 4.0]
    assert unfold(lambda s, theta: s - 1, 5, None, 2).tolist() == [5, 4, 3]
    assert unfold(lambda s, theta: theta * s, [1.0, 2.0], 2, 1).tolist() == [[1.0, 2.0], [2.0, 4.0]]
    assert unfold(lambda s, theta: [s[1], s[0]], [1.0, 2.0], None, 1).tolist() == [[1.0, 2.0], [2.0, 1.0]]
    assert unfold(lambda s, theta: s.T, np.ones((2, 3, 3)), None, 0).shape == (1, 2, 3, 3)


@float_types
def test_states_have_the_dtype_of_the_first_float_array(dtype):
    other = np.float32 if dtype is np.float64 else np.float64
    assert unfold(lambda s, theta: theta * s, np.ones(2, dtype), np.ones(2, other), 3).dtype == dtype
    assert unfold(lambda s, theta: theta * s, 0.5, np.ones(2, dtype)[0:1].reshape(()), 3).dtype == dtype
    assert unfold(lambda s, theta: theta * s, np.ones(2, dtype), np.float64(0.5), 3).dtype == dtype
    assert unfold_driven(leak, np.ones(2, dtype), np.ones((3, 2), other), 0.5).dtype == dtype
    assert unfold_driven(leak, 0.0, np.ones(3, dtype), 0.5).dtype == dtype
    assert unfold_driven(leak, 0.0, np.ones(3, dtype), np.float64(0.5)).dtype == dtype


def test_the_first_float_array_is_found_inside_tuples_lists_and_dicts():
    single, double = np.ones(1, np.float32), np.ones(1)
    assert first_float_dtype(np.float64(1), np.arange(3), (2.0, single), double) == np.float32
    assert first_float_dtype({"W": double, "b": single}) == np.float64
    assert first_float_dtype([[1.0], [single]]) == np.float32
    assert first_float_dtype(1.0, [2.0], np.arange(3), None) is None


def test_a_transition_that_writes_to_its_state_does_not_spoil_the_record():
    def in_place(s, theta):
        s *= theta
        return s

    def in_place_driven(s, x, theta):
        x += s
        s[:] = x
        return s

    s0, xs = np.array([1.0, 3.0]), np.ones((3, 2))
    np.testing.assert_array_equal(unfold(in_place, s0, 2.0, 2), [[1, 3], [2, 6], [4, 12]])
    np.testing.assert_array_equal(unfold_driven(in_place_driven, s0, xs, None), [[1, 3], [2, 4], [3, 5], [4, 6]])
    np.testing.assert_array_equal(s0, [1, 3])
    np.testing.assert_array_equal(xs, np.ones((3, 2)))


@drawn
@given(st.integers(0, 200), st.integers(-5, 5))
def test_composing_applies_the_function_so_many_times(times, start):
    assert compose(lambda s: 3 * s + 1, times)(start) == 3**times * start + (3**times - 1) // 2


def test_a_negative_number_of_applications_is_an_error():
    with pytest.raises(ValueError, match="negative"):
        compose(lambda s: s, -1)


def recurrence(xs):
    return unfold_driven(lambda s, x, theta: np.tanh(theta * s + x.sum()), 0.1, xs, 0.9)[1:]


def convolution(xs):
    padded = np.concatenate([np.zeros_like(xs[:1]), xs, np.zeros_like(xs[:1])])
    return np.stack([padded[:-2], padded[1:-1], padded[2:]]).sum(axis=0)


@drawn
@given(st.integers(1, 6), st.integers(1, 3), seeds)
def test_a_recurrence_depends_on_all_of_its_past_and_a_convolution_on_its_neighbours(steps, features, seed):
    xs = np.random.default_rng(seed).normal(size=(steps, features))
    t, k = np.indices((steps, steps))
    np.testing.assert_array_equal(depends_on(recurrence, xs), k <= t)
    np.testing.assert_array_equal(depends_on(convolution, xs), abs(t - k) <= 1)
    np.testing.assert_array_equal(depends_on(lambda xs: xs[::-1], xs), t + k == steps - 1)
    np.testing.assert_array_equal(depends_on(np.ones_like, xs), np.zeros((steps, steps), dtype=bool))


def test_a_model_that_writes_to_its_input_changes_neither_the_answer_nor_the_caller():
    def careless(xs):
        np.cumsum(xs, axis=0, out=xs)
        return xs

    xs = np.array([[1.0], [2.0], [3.0]])
    np.testing.assert_array_equal(depends_on(careless, xs), np.tri(3, dtype=bool))
    np.testing.assert_array_equal(xs, [[1], [2], [3]])


@drawn
@given(st.lists(st.integers(1, 1000), min_size=3, max_size=3, unique=True))
def test_parameters_are_counted_as_the_entries_of_U_W_and_b_also_in_numpys_small_integers(sizes):
    T, D, H = sizes
    entries = D * H + H * H + H
    small = map(np.int16, sizes)
    assert shared_parameter_count(D, H) == entries
    assert (count := unshared_parameter_count(*small)) == T * entries
    assert type(count) is int
