"""The pictures of unit 12: every word on the sheet, what is drawn is what was given."""

import numpy as np
import pytest

from rnncourse.plots import to_png
from rnncourse.plots.encoder_decoder import (
    answer_tree,
    beams_chart,
    captioned_images,
    digits_right,
    edit_table,
    learning_curve,
    lengths_copied,
    parts_right_bars,
    path_lattice,
    spikes,
    summary_chain,
    widths_chart,
)

FIRST = {"the": 0.5, "my": 0.5}
THEN = {"the": {"dog": 0.4, "cat": 0.6}, "my": {"dog": 1.0}}


def words_of(figure):
    return [text.get_text() for axes in figure.axes for text in axes.texts]


def all_on_the_sheet(figure):
    (axes,) = figure.axes
    (left, right), (bottom, top) = axes.get_xlim(), axes.get_ylim()
    return all(left < x < right and bottom < y < top for x, y in (text.get_position() for text in axes.texts))


@pytest.mark.parametrize("forced", [False, True])
@pytest.mark.parametrize("target", ["5", "05-04"])
def test_the_decoder_reads_the_target_one_step_late_and_ends_with_eos(target, forced):
    figure = summary_chain("4 mai", target, forced=forced)
    words = words_of(figure)
    assert all_on_the_sheet(figure)
    assert (words.count("bos"), words.count("eos")) == (1, 1)
    assert words.count("5") == (2 if forced else 1)
    assert words.count("␣") == 1
    assert to_png(figure).startswith(b"\x89PNG")


def test_the_tree_shows_the_probability_of_every_answer_and_names_the_paths():
    figure = answer_tree(FIRST, THEN, {"greedy": ("the", "cat"), "best": ("my", "dog")})
    words = words_of(figure)
    assert all_on_the_sheet(figure)
    assert {"0.200", "0.300   greedy", "0.500   best"} <= set(words)


def test_the_table_of_edits_shows_its_numbers_in_their_places():
    table = np.array([[0, 1, 2], [1, 0, 1]])
    figure = edit_table("a", "ab", table, [(0, 0), (1, 1)])
    (axes,) = figure.axes
    shown = {tuple(round(v) for v in reversed(text.get_position())): text.get_text() for text in axes.texts}
    assert shown == {(i, j): str(table[i, j]) for i in range(2) for j in range(3)}
    assert [label.get_text() for label in axes.get_xticklabels()] == ["nothing", "a", "b"]


def test_a_wrong_caption_is_marked_and_the_truth_stands_beside_it():
    figure = captioned_images(np.zeros((3, 8, 8)), ["a one", "a two", "a six"], ["a one", "a ten", "a six"], columns=2)
    titles = [axes.get_title() for axes in figure.axes]
    assert titles[0] == "a one\n"
    assert titles[1] == "✗ a two\n(a ten)"
    assert [len(axes.images) for axes in figure.axes] == [1, 1, 1, 0]


SHARES = {"one": {100: 0.25, 200: 0.5}, "another,\nlonger": {100: 0.0, 200: 1.0}}


@pytest.mark.parametrize(
    ("figure", "words"),
    [
        (lambda: summary_chain("4 m", "05"), "bos, 0, 5: the row above it, one step late"),
        (lambda: summary_chain("4 m", "05", forced=False), "A chain of 3 encoder states reads 4, space, m."),
        (
            lambda: answer_tree(FIRST, THEN, {"best": ("my", "dog")}),
            "best: my with 0.50, then dog with 1.00, 0.500 in all",
        ),
        (lambda: edit_table("a", "ab", np.array([[0, 1, 2], [1, 0, 1]])), "0 1 2; 1 0 1. The last corner, 1,"),
        (lambda: captioned_images(np.zeros((2, 8, 8)), ["a", "b"], ["a", "c"]), "of them: a; b, where it is c."),
        (lambda: path_lattice("ab", 4), "each of blank a blank b blank, and a column for each of 4 steps"),
        (lambda: learning_curve(SHARES, "Dates"), "one: 100: 25%, 200: 50%; another, longer: 100: 0%, 200: 100%."),
        (lambda: parts_right_bars({"with": {"year": 0.9, "day": 0.25}}), "with: year 90%, day 25%."),
        (lambda: widths_chart({"models": {1: 0.5, 2: 0.75}}), "models: 1: 50%, 2: 75%."),
        (lambda: beams_chart({"sums": {1: 0.5, 16: 0.25}}), "sums: 1: 50%, 16: 25%."),
        (
            lambda: digits_right({"truth": [1.0, 0.9, 0.8]}, 1),
            "digit 2 is wrong when it is read. truth: 100%, 90%, 80%.",
        ),
        (lambda: lengths_copied({"small": {1: 0.95, 2: 0.3}}), "small: 1: 95%, 2: 30%."),
        (
            lambda: spikes({"ctc": np.array([[0.9, 0.1], [0.2, 0.8], [0.9, 0.1]])}, ["–", "do"], np.array([0, 1, 0])),
            "while do sound, one after the other. ctc: a note is at 0.80 at most, and the blank wins in 67%",
        ),
    ],
)
def test_each_picture_says_from_its_own_data_what_there_is_to_see(figure, words):
    drawn = figure()
    assert words in drawn.get_label()
    assert to_png(drawn).startswith(b"\x89PNG")
