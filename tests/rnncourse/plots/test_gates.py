"""The pictures of unit 10: nodes and words on the sheet, numbers as short as a cell allows, the same figure twice."""

import numpy as np
import pytest

from rnncourse.plots import to_png
from rnncourse.plots.gates import gates_over_time, gru_cell, held_by_lag, kept_by_symbol, lstm_cell, share_grid


@pytest.mark.parametrize(("draw", "letters"), [(lstm_cell, "ifgo"), (gru_cell, "rzn")])
def test_each_gate_and_candidate_has_its_letter(draw, letters):
    words = [text.get_text() for text in draw().axes[0].texts]
    assert all(words.count(f"${letter}$") == 1 for letter in letters)
    assert words.count("σ") == (3 if draw is lstm_cell else 2)


def test_a_table_of_gates_has_a_row_for_each_name_and_a_number_in_each_cell():
    figure = gates_over_time({"x": [1, 0, 1]}, {"f": [1, 0.5, 1e-9]}, {"c": [-1.25, -0.001, 12]})
    axes = figure.axes[0]
    assert [label.get_text() for label in axes.get_yticklabels()] == ["x", "f", "c"]
    assert [label.get_text() for label in axes.get_xticklabels()] == ["1", "2", "3"]
    assert [text.get_text() for text in axes.texts] == ["1", "0", "1", "1", "0.5", "0", "-1.25", "0", "12"]


def test_units_that_are_high_for_the_same_symbol_stand_together():
    cells = np.zeros((6, 2, 4))
    cells[:, 0, [1, 3]], cells[:, 1, [0, 2]] = 0.9, 0.8
    figure = kept_by_symbol(cells, "AB", {"f": np.ones(6)})
    first, second = (np.asarray(axes.get_images()[0].get_array()) for axes in figure.axes[:2])
    assert np.array_equal(first[:, 0], [0.9, 0.9, 0, 0])
    assert np.array_equal(second[:, 0], [0, 0, 0.8, 0.8])


def grid():
    words = {"rows": ["T = 2", "T = 9"], "columns": "012", "xlabel": "bias", "ylabel": "lag"}
    return share_grid([[0.25, 1, 1], [0.2, 0.5, np.nan]], **words, marks=[0.7, 2.2], mark="log T")


def test_a_grid_of_shares_says_each_number_and_what_its_marks_are():
    axes = grid().axes[0]
    assert [text.get_text() for text in axes.texts] == ["0.25", "1.00", "1.00", "0.20", "0.50", "–", "log T"]
    assert [line.get_xdata()[0] for line in axes.get_lines()] == [0.7, 2.2]
    assert [label.get_text() for label in axes.get_yticklabels()] == ["T = 2", "T = 9"]


def held():
    return held_by_lag([1, 10], {"a": [[0.2, 1, 0.9], [0.1, 1, 0.3]], "b": [[1], [1]]}, trained=(1, 7), guess=0.25)


def test_a_network_has_a_panel_with_a_line_for_each_seed_and_one_for_their_median():
    first, second = held().axes
    guess, *seeds, median = first.get_lines()
    assert set(guess.get_ydata()) == {0.25}
    assert [list(seed.get_ydata()) for seed in seeds] == [[0.2, 0.1], [1, 1], [0.9, 0.3]]
    assert list(median.get_ydata()) == [0.9, 0.3]
    assert [axes.get_title("left") for axes in (first, second)] == ["a", "b"]


def test_charts_name_their_axes_and_are_the_same_twice():
    def draw():
        yield gates_over_time({"x": [1, 0]}, {"f": [1, 0]}, {"c": [0, 3]})
        yield kept_by_symbol(np.tanh(np.arange(24.0).reshape(4, 2, 3) - 12), "AB", {"i": np.arange(4) / 4})
        yield grid()
        yield held()

    for first, second in zip(draw(), draw()):
        assert first.axes[-1].get_xlabel() or first.axes[-2].get_xlabel()
        assert to_png(first) == to_png(second)
