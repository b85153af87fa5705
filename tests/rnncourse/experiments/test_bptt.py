"""What unit 04 measures is what it says: who spells and who cannot, which gradients are wrong, whom blame reaches."""

import numpy as np
import pytest

from rnncourse.bptt import find_broken, rnn_backward, rtrl
from rnncourse.experiments import bptt
from rnncourse.plots.bptt import by_lag_chart, loss_shares, recitation, spelling_grid


def test_the_network_that_spells_is_the_one_with_a_state():
    _, said, sure = bptt.spell("hello")
    assert said[-1] == "ello"
    assert len(said) == 101
    assert sure[-1].min() > 0.9
    losses, said, _ = bptt.spell("hello", state=False)
    assert said[-1] != "ello"
    assert losses[0] == pytest.approx(bptt.spell("hello")[0][0], rel=0.1)  # of all four letters, too


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


def test_a_pass_that_writes_into_dH_is_right_once():
    first, second = bptt.called_twice(bptt.overwrites_dH)
    assert first < 1e-6 < second
    assert max(bptt.called_twice(rnn_backward)) < 1e-6


def test_central_differences_are_best_in_the_middle():
    epsilons, off = bptt.differences()
    assert epsilons[np.argmin(off["central"])] == pytest.approx(1e-5, rel=10)
    assert min(off["central"]) < min(off["one-sided"]) < min(off["central,\nfloat32"])


def test_memory_grows_with_the_steps_of_bptt_and_not_with_those_of_rtrl():
    back, forth = ([bptt.peak_memory(walk, bptt.run_of(T, 8, 2, 4)) for T in (50, 400)] for walk in
                   (bptt.forwards_and_back(), rtrl))  # fmt: skip
    assert back[1] > 5 * back[0]
    assert forth[1] < 1.05 * forth[0]


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


def test_figures_say_what_is_in_them():
    shares = {"right": 0.2, "wrong": 0.5, "lost": np.nan}
    assert "lost blows up" in loss_shares(shares).get_label()
    assert loss_shares(shares, {"wrong"}).get_label().endswith("calls these broken: wrong.")
    told = spelling_grid("abc", {0: "bb", 3: "bc"}, {0: np.array([0.5, 0.5]), 3: np.array([0.9, 0.8])}).get_label()
    assert "first after 3" in told
    assert "0.80" in told
    fall = {"trained": 0.5 ** np.arange(40.0)}
    assert "0.001 at lag 10" in by_lag_chart(fall).get_label()
    assert "trained 0.1 to 0.3" in by_lag_chart(fall, {"trained": {20: [0.1, 0.3]}}).get_label()
    assert "after 0 updates “aa”; after 2 updates “ab”." in recitation("ab", ["aa", "aa", "ab"]).get_label()
