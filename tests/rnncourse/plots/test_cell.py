"""The pictures of unit 03 say by themselves what is to be seen, from their own data."""

import numpy as np
import pytest

from rnncourse.plots.cell import apart_chart, graphical_models, knock_chart, words_and_latches
from rnncourse.plots.through_time import forward_pass


@pytest.mark.parametrize(("steps", "left", "right"), [(4, 6, 8), (5, 10, 11)])
def test_the_two_graphs_say_how_many_arrows_they_have(steps, left, right):
    label = graphical_models(steps).get_label()
    assert f"{left} in all" in label
    assert f"{right} arrows in all" in label


def test_a_bound_is_drawn_only_where_there_is_one():
    states = np.random.default_rng(0).normal(size=(5, 3, 2))
    assert [len(apart_chart(states, size).axes[0].get_lines()) for size in (0.9, 1.5)] == [2, 1]


def test_one_knock_alone_keeps_its_scale_and_several_share_one():
    alone, several = (knock_chart({name: np.ones(4) for name in names}) for names in ("a", "ab"))
    assert alone.axes[0].get_ylim() == (-1.05, 1.05) != several.axes[0].get_ylim()


def test_a_latch_is_told_from_the_word_at_which_it_turns_on():
    states = np.zeros((3, 5))
    states[range(3), range(3)] = states[1:, 4] = 0.9
    figure = words_and_latches(states, ["so", "it", "is"], ["so", "it", "is"], ["so", "it"])
    assert "that of so stays off; that of it turns on at it and ends at 0.90" in figure.get_label()
    rows = [label.get_text() for label in figure.axes[0].get_yticklabels()]
    assert rows == ["so", "it", "is", "latch: so", "latch: it"]


def test_a_film_says_how_far_the_states_of_one_letter_are_apart():
    states = np.array([[0.0, 0.5], [1.0, 1.0], [0.25, 0.5]])
    film = forward_pass(np.eye(2)[[0, 1, 0]], np.zeros(2), states, "aba")
    assert "inputs a, b, a" in film.still.get_label()
    assert "differ by 0.25 or more" in film.still.get_label()
    assert "differ" not in forward_pass(np.eye(2), np.zeros(2), states[:2], "ab").still.get_label()
