"""The recall task: a symbol, then noise that can be told from it and says nothing about it."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rnncourse.data import recall_batch

seeds, lags, sizes, alphabets = st.integers(0, 2**32), st.integers(0, 12), st.integers(1, 9), st.integers(2, 7)


@settings(max_examples=30)
@given(seeds, lags, sizes, alphabets)
def test_the_answer_is_the_symbol_of_the_first_step_and_all_others_are_noise(seed, lag, rows, symbols):
    X, y = recall_batch(np.random.default_rng(seed), lag, rows, symbols)
    assert all(map(np.array_equal, (X, y), recall_batch(np.random.default_rng(seed), lag, rows, symbols)))
    assert X.shape == (lag + 1, rows, 2 * symbols)
    assert X.dtype == np.float64
    assert y.shape == (rows,)
    assert y.dtype.kind == "i"
    assert np.array_equal(np.sort(X, axis=2)[..., -1], np.ones((lag + 1, rows)))
    assert X.sum() == (lag + 1) * rows  # one-hot
    ids = X.argmax(axis=2)
    assert np.array_equal(ids[0], y)
    assert y.max() < symbols
    assert ids[1:].min(initial=symbols) >= symbols


def test_symbols_and_noise_are_drawn_evenly_and_know_nothing_of_each_other():
    X, y = recall_batch(np.random.default_rng(0), lag=3, rows=40_000, symbols=4)
    assert np.allclose(np.bincount(y) / len(y), 1 / 4, atol=0.01)
    for noise in X[1:, :, 4:].argmax(axis=2):
        together = np.bincount(4 * y + noise, minlength=16) / len(y)
        assert np.allclose(together, 1 / 16, atol=0.005)


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"lag": -1, "rows": 2}, "lag must be at least 0"),
        ({"lag": 2, "rows": 0}, "rows must be at least 1"),
        ({"lag": 2, "rows": 2, "symbols": 1}, "symbols must be at least 2"),
    ],
)
def test_what_makes_no_task_is_refused(settings, words):
    with pytest.raises(ValueError, match=words):
        recall_batch(np.random.default_rng(0), **settings)
