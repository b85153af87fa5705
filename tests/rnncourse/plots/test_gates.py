"""The pictures of unit 10: nodes and words on the sheet, numbers as short as a cell allows, the same figure twice."""

import numpy as np

from rnncourse.plots.gates import (
    by_bias,
    gates_over_time,
    held_by_lag,
    kept_by_symbol,
)


def test_a_table_of_gates_has_a_row_for_each_name_and_a_number_in_each_cell():
    figure = gates_over_time({"x": [1, 0, 1]}, {"f": [1, 0.5, 1e-9]}, {"c": [-1.25, -0.001, 12]})
    axes = figure.axes[0]
    assert [label.get_text() for label in axes.get_yticklabels()] == ["x", "f", "c"]
    assert [label.get_text() for label in axes.get_xticklabels()] == ["1", "2", "3"]
    assert [text.get_text() for text in axes.texts] == ["1", "0", "1", "1", "0.5", "0", "-1.25", "0", "12"]
    assert figure.get_label().endswith("x is 1, 0, 1; f is 1, 0.5, 0; c is -1.25, 0, 12.")


def test_units_that_are_high_for_the_same_symbol_stand_together_and_c_is_not_cut_off():
    cells = np.zeros((6, 2, 4))
    cells[:, 0, [1, 3]], cells[:, 1, [0, 2]] = 9.0, 8.0
    figure = kept_by_symbol(cells, np.tanh(cells), "AB")
    images = [axes.get_images()[0] for axes in figure.axes[:2]]
    first, second = (np.asarray(image.get_array()) for image in images)
    assert np.array_equal(first[:, 0], [9, 9, 0, 0])
    assert np.array_equal(second[:, 0], [0, 0, 8, 8])
    assert all(image.get_clim() == (-9, 9) for image in images)
    assert "largest entry of c, which is 8.5 after 3 steps and 8.5 after 5" in figure.get_label()


def biases():
    return by_bias({2: {0: [0.25, 1, 1]}, 9: {0: [0.2, 0.3], 1: [1, 0.5]}}, yours={9: {1: 0.75}})


def test_a_panel_for_each_lag_has_a_dot_for_each_seed_and_a_line_at_its_logarithm():
    first, second = biases().axes
    assert [len(line.get_xdata()) for line in second.get_lines()][:3] == [2, 2, 2]
    assert [float(line.get_xdata()[0]) for line in first.get_lines() if len(set(line.get_xdata())) == 1][-1] == np.log(
        2
    )
    assert "At a lag of 9: bias 0 0.25 (0.20 to 0.30), bias 1 0.75 (0.50 to 1.00)" in biases().get_label()


def held():
    return held_by_lag([1, 10], {"a": [[0.2, 1, 0.9], [0.1, 1, 0.3]], "b": [[1], [1]]}, trained=(1, 7), guess=0.25)


def test_a_network_has_a_panel_with_a_line_for_each_seed_and_one_for_their_median():
    first, second = held().axes
    guess, *seeds, median = first.get_lines()
    assert set(guess.get_ydata()) == {0.25}
    assert [list(seed.get_ydata()) for seed in seeds] == [[0.2, 0.1], [1, 1], [0.9, 0.3]]
    assert list(median.get_ydata()) == [0.9, 0.3]
    assert [axes.get_title("left") for axes in (first, second)] == ["a", "b"]
    assert "a 0.30 (0.10 to 1.00), above 0.99 in 1 of 3; b 1.00" in str(held().get_label())
