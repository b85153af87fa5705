"""The pictures of unit 11: diagrams that stay on their sheet, grids that say what they were given, rolls with notes."""

from itertools import pairwise

import numpy as np
import pytest
from matplotlib.colors import to_rgba
from matplotlib.patches import Rectangle

from rnncourse.plots import COLOURS
from rnncourse.plots.heads import (
    five_architectures,
    piano_roll,
    pitch_strengths,
    support_grids,
)

NAMES = ["C4", "D4", "E4"]
NOTES = [("C4", 1.0), ("E4", 2.0), ("D4", 0.5)]


def texts(axes):
    return [text.get_text() for text in axes.texts]


def test_the_five_architectures_are_named_and_stay_on_their_sheet():
    axes = five_architectures().axes[0]
    names = {"one-to-one", "one-to-many", "many-to-one", "many-to-many (equal)", "many-to-many (different)"}
    assert names <= set(texts(axes))
    # 1 + 3 + 3 + 3 + 5 states, an output wherever the table has one, and an input likewise
    kinds = {kind: sum(p.get_edgecolor() == to_rgba(COLOURS[kind]) for p in circles(axes)) for kind in COLOURS}
    assert (kinds["state"], kinds["output"], kinds["input"]) == (15, 1 + 3 + 1 + 3 + 3, 1 + 1 + 3 + 3 + 3)


def circles(axes):
    return [patch for patch in axes.patches if type(patch).__name__ == "Circle"]


def test_each_grid_shows_its_own_cells_and_no_two_panels_overlap():
    grids = {"wide": np.ones((1, 5), bool), "tall": np.ones((4, 1), bool), "equal": np.tri(3, dtype=bool)}
    figure = support_grids(grids)
    for axes, (name, grid) in zip(figure.axes, grids.items(), strict=True):
        assert axes.get_title(loc="left") == name
        assert np.array_equal(axes.images[0].get_array(), grid)
    boxes = [axes.get_position() for axes in figure.axes]
    assert all(a.x1 < b.x0 for a, b in pairwise(boxes))
    assert all(box.x0 > 0 and box.x1 < 1 and box.y0 > 0 and box.y1 < 1 for box in boxes)


def bars(axes):
    return [patch for patch in axes.patches if isinstance(patch, Rectangle)]


def test_a_roll_has_a_bar_for_each_note_one_after_the_other_at_its_pitch():
    axes = piano_roll({"tune": NOTES}, NAMES).axes[0]
    assert [bar.get_y() + 0.4 for bar in bars(axes)] == pytest.approx([0, 2, 1])
    starts = [bar.get_x() - 0.04 for bar in bars(axes)]
    assert starts == pytest.approx([0, 1, 3])
    assert axes.get_xlim()[1] >= 3.5


def test_a_wrong_note_is_told_by_its_form_and_not_by_its_colour_alone():
    heard = [("C4", 1.0), ("D4", 2.0), ("D4", 0.5), ("D4", 0.5)]
    axes = piano_roll({"tune": heard}, NAMES, truth={"tune": NOTES}).axes[0]
    assert [bool(bar.get_hatch()) for bar in bars(axes)] == [False, True, False, True]


def test_strengths_have_the_low_pitch_at_the_bottom():
    vectors = np.zeros((4, 3))
    vectors[1, 0] = 1
    axes = pitch_strengths(vectors, NAMES).axes[0]
    assert axes.images[0].origin == "lower"
    assert axes.images[0].get_array()[0, 1] == 1
    assert [label.get_text() for label in axes.get_yticklabels()] == NAMES
