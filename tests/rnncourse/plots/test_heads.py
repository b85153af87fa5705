"""The pictures of unit 11: diagrams that stay on their sheet, grids that say what they were given, rolls with notes."""

from itertools import pairwise

import numpy as np
import pytest
from matplotlib.colors import to_rgba
from matplotlib.patches import Rectangle

from rnncourse.plots import COLOURS
from rnncourse.plots.heads import (
    arriving,
    belief_dots,
    belief_words,
    digit_strip,
    five_architectures,
    names_chart,
    piano_roll,
    pitch_strengths,
    rows_read,
    support_grids,
    votes_chart,
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


def test_a_strip_has_an_image_and_a_caption_for_each():
    images = np.random.default_rng(0).random((3, 8, 8))
    figure = digit_strip(images, ["a", "b", "c"])
    assert [axes.get_xlabel() for axes in figure.axes] == ["a", "b", "c"]
    assert np.array_equal(figure.axes[2].images[0].get_array(), images[2])


def test_a_mark_stands_at_the_probability_that_the_model_gives():
    axes = belief_dots({"one": [0.1, 0.9], "two": [0.5, 0.5]}, ["yes", "no"], xlabel="p").axes[0]
    marks = {line.get_label(): list(line.get_xdata()) for line in axes.get_lines()}
    assert marks["one"] == [0.1, 0.9]
    assert [label.get_text() for label in axes.get_yticklabels()] == ["yes", "no"]
    assert axes.get_xlabel() == "p"


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


def test_each_figure_says_its_own_numbers():
    sentence = "the film was fun"
    told = {
        "one-to-many (a first note, a melody): 3 states; inputs at 1, outputs at 1, 2, 3": five_architectures(),
        "a: those on and below the diagonal; b: the diagonal alone": support_grids(
            {"a": np.tri(3, dtype=bool), "b": np.eye(3, dtype=bool)}
        ),
        "c: output 1 inputs [2], output 2 inputs []": support_grids({"c": np.array([[False, True], [False, False]])}),
        "Below them: 3, read as 5": digit_strip(np.zeros((1, 8, 8)), ["3, read\nas 5"]),
        "yes: one 0.25, two 0.50": belief_dots({"one": [0.25], "two": [0.5]}, ["yes"], xlabel="p"),
        "After the 0.50, film 0.40, was 0.30, fun 0.90": belief_words({sentence: np.array([0.5, 0.4, 0.3, 0.9])}, "p"),
        "tune begins C4 E4 D4; 1 of 3 notes are wrong": piano_roll(
            {"tune": NOTES}, NAMES, truth={"tune": [*NOTES[:2], ("C4", 0.5)]}
        ),
        "note 2 C4 0.5 and E4 0.5": pitch_strengths(np.array([[0.5, 0.0, 0.5]]), NAMES),
        "later: from 0.5 at 5": names_chart({"later": np.linspace(0.0, 0.99, 100) * 0 + 0.5}, 0.97),
        "at the end: from 0.1 at 1 to 0.9 at 2": rows_read({"at the end": [0.1, 0.9]}),
        "from 1 at 1 to 4 at 2": votes_chart(np.array([1.0, 4.0])),
        "(logarithmic) against step k": arriving({"last": np.array([1e-9, 1.0])}),
    }
    for words, figure in told.items():
        assert words in figure.get_label()


def test_a_word_has_its_probability_below_it():
    axes = belief_words({"not bad": np.array([0.1, 0.8]), "bad": np.array([0.3])}, "p").axes[0]
    assert texts(axes) == ["not", "0.10", "bad", "0.80", "bad", "0.30"]
