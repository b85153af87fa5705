"""Pictures of unit 08: what they show is what they say."""

import numpy as np
import pytest

from rnncourse.plots.stacked import change_strips, runs_over_seeds


def test_a_run_stands_beside_the_seeds_that_there_are():
    figure = runs_over_seeds({"one": 1.0, "two": 2.5}, {"one": [0.5, 1.0, 3.0], "three": [9.0]}, xlabel="bits")
    axes = figure.axes[0]
    dots, diamonds = ([line for line in axes.get_lines() if line.get_marker() == mark] for mark in "oD")
    assert [sorted(line.get_xdata()) for line in dots] == [[0.5, 1.0, 3.0]]
    assert [float(np.squeeze(line.get_xdata())) for line in diamonds] == [1.0, 2.5]
    assert "one: yours 1, ours 1 (0.5 to 3); two: yours 2.5." in figure.get_label()


@pytest.mark.parametrize("text", [" ", "a b\n", 100 * "x"])
def test_strips_take_any_line(text):
    figure = change_strips(text, {f"layer {l}": np.arange(len(text), dtype=float) for l in (1, 2)})
    assert f"{min(len(text), 48)} characters" in figure.get_label()
