"""The pictures of unit 15: no arrow leaves the test part but to the figures; a cell for each letter and name."""

import numpy as np
from matplotlib.patches import FancyBboxPatch

from rnncourse.plots import to_png
from rnncourse.plots.project import bits_of_splits, letter_by_letter, three_parts


def test_the_three_parts_stay_on_their_sheet_and_are_named():
    figure = three_parts()
    axes = figure.axes[0]
    words = {text.get_text() for text in axes.texts}
    assert {"documents", "train", "validation", "test", "what is fitted", "what is chosen", "what is told"} <= words
    width, height = figure.get_size_inches()
    shapes = [patch for patch in axes.patches if isinstance(patch, FancyBboxPatch)]
    patches = [shape.get_path().get_extents(shape.get_patch_transform()) for shape in shapes]
    assert len(patches) >= 7
    assert all(0 < box.x0 < box.x1 < width and 0 < box.y0 < box.y1 < height for box in patches)
    assert to_png(figure) == to_png(three_parts())


def test_a_belief_has_a_column_for_each_letter_and_a_row_for_each_name():
    beliefs = np.random.default_rng(0).dirichlet(np.ones(3), size=5)
    axes = letter_by_letter(beliefs, "4 mai", ["de", "fr", "pl"]).axes[0]
    assert np.array_equal(axes.images[0].get_array(), beliefs.T)
    assert [label.get_text() for label in axes.get_xticklabels()] == ["4", "␣", "m", "a", "i"]
    assert [label.get_text() for label in axes.get_yticklabels()] == ["de", "fr", "pl"]
    assert axes.get_xlabel()


def test_each_model_has_a_row_with_a_mark_for_each_split_the_worst_first():
    axes = bits_of_splits([{"a": 1.0, "b": 2.0}, {"a": 1.5, "b": 2.5}]).axes[0]
    assert [label.get_text() for label in axes.get_yticklabels()] == ["b", "a"]
    assert [list(line.get_xdata()) for line in axes.get_lines()] == [[2.0, 2.5], [1.0, 1.5]]
    assert "b 2.00, 2.50" in axes.figure.get_label()
