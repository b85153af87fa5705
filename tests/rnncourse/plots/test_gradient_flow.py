"""The pictures of unit 05 show what they are given: medians and ranges over seeds, a dot for each seed."""

import numpy as np

from rnncourse.plots import to_png
from rnncourse.plots.gradient_flow import (
    long_gradients,
    over_seeds,
    seed_dots,
    states_in_a_plane,
)

SHARES = np.array([[1.0, 0.5, 0.25], [0.75, 0.25, 0.25], [1.0, 1.0, 0.25]])


def drawn(figure):
    """The axes of a figure that has been drawn, which also proves that it can be."""
    assert to_png(figure)
    return figure.axes[0]


def test_the_line_is_the_median_and_the_band_reaches_from_the_lowest_to_the_highest_seed():
    axes = drawn(over_seeds([1, 7, 1000], {"short": SHARES}, xlabel="lag", logx=True, trained=(1, 7)))
    assert axes.get_lines()[0].get_ydata().tolist() == [1.0, 0.5, 0.25]
    corners = {tuple(corner) for corner in axes.collections[0].get_paths()[0].vertices.tolist()}
    assert {(7.0, 0.25), (7.0, 1.0), (1.0, 0.75)} <= corners
    assert [label.get_text() for label in axes.get_xticklabels()] == ["1", "7", "1,000"]
    texts = [text.get_text() for text in axes.texts]
    assert texts == ["short", "a guess", "trained on 1 to 7"]


def test_each_seed_is_a_dot_at_its_value_and_equal_ones_lie_apart():
    axes = drawn(seed_dots({"a": [0.5, 0.5, 1.0], "b": [0.25]}, xlabel="share"))
    dots = [tuple(float(c[0]) for c in line.get_data()) for line in axes.get_lines() if line.get_marker() == "o"]
    assert sorted(x for x, _ in dots) == [0.25, 0.5, 0.5, 1.0]
    assert len(set(dots)) == 4
    assert [label.get_text() for label in axes.get_yticklabels()] == ["a", "b"]


def test_each_symbol_has_a_path_and_its_states_in_each_panel():
    rng = np.random.default_rng(0)
    panel = (rng.normal(size=(5, 4, 2)), rng.normal(size=(20, 2)), np.arange(20) % 4)
    figure = states_in_a_plane({"before": panel, "after": panel})
    axes = drawn(figure)
    clouds = axes.get_lines()[:4]
    assert [len(cloud.get_xdata()) for cloud in clouds] == [5, 5, 5, 5]
    names = [text.get_text() for text in figure.axes[1].get_legend().get_texts()]
    assert names[:4] == [f"symbol {k}" for k in range(4)]
    assert names[4:] == ["right after\nthe symbol", "4 steps later,\naverage noise", "one sequence,\nafter real noise"]


def test_a_long_gradient_bears_a_mark_and_is_counted():
    figure = long_gradients({"run": (np.ones(4), np.array([1.0, 60.0, 2.0, 7.0]))}, 5.0)
    assert drawn(figure)
    assert "longer than 5: 2, the longest 60 at update 1" in figure.get_label()
    (marks,) = [line for line in figure.axes[1].get_lines() if line.get_marker() == "o"]
    assert marks.get_xdata().tolist() == [1, 3]
