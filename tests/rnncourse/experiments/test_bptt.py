"""What unit 04 measures is what it says: who spells and who cannot, which gradients are wrong, whom blame reaches."""

import numpy as np
import pytest

from rnncourse.bptt import find_broken, rnn_backward
from rnncourse.experiments import bptt


def test_a_whole_error_is_that_of_backpropagation_through_time():
    states, errors = bptt.error_on_its_way("hello")
    X, targets = np.eye(4)[[[1], [0], [2], [2]]], np.array([[0], [2], [2], [3]])  # of e, h, l and o
    _, gradients, _ = bptt.loss_and_gradients(bptt.draw_parameters(0, 4, 5), X, targets)
    np.testing.assert_allclose((errors * (1 - states**2)).sum(axis=0), gradients["b"])


def test_the_thirteen_are_wrong_and_a_referee_finds_them_and_no_other():
    backwards = bptt.suspects() | {"zeros": bptt.zeros}
    assert find_broken(backwards) == set(backwards) - {"right"}


def test_what_is_not_trained_stays_and_without_any_gradient_nothing_is_learned():
    assert bptt.loss_left(bptt.zeros, updates=5, trained="UWb") == 1
    assert bptt.loss_left(rnn_backward, updates=5) < 1


@pytest.mark.parametrize(("hidden", "inputs"), [(2, 3), (5, 1)])
def test_products_are_counted_one_by_one(hidden, inputs):
    """Of one row: each product of a number of the step with another."""
    weights = (inputs + hidden) * hidden
    back = weights + weights + weights  # a = [x, h] [U; W], and for the way back dW and da Wᵀ
    sensitivities = hidden * (inputs + hidden + 1) * hidden
    assert bptt.products(hidden, inputs) == (back, weights + sensitivities * hidden + 2 * sensitivities)


def test_parts_by_lag_are_held_against_lag_zero_and_our_seeds_are_those_of_the_start():
    sizes = bptt.sizes_by_lag(updates=1)
    assert sizes["as drawn"].shape == (40,)
    assert sizes["as drawn"][0] == sizes["trained"][0] == 1
    assert set(bptt.by_lag_measured(1.0)) == {"as drawn", "trained"}
    assert bptt.by_lag_measured(0.7) == {}


def test_a_line_is_recited_from_its_own_letters():
    recited = bptt.learn_by_heart("abcabd", updates=60, hidden=8)
    assert {len(said) for said in recited} == {6}
    assert {said[0] for said in recited} == {"a"}
    assert recited[-1] == "abcabd"
    assert bptt.learn_by_heart("abcabd", updates=60, hidden=8, state=False)[-1] != "abcabd"
