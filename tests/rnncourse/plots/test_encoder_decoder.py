"""The pictures of unit 12: every word on the sheet, what is drawn is what was given."""

import numpy as np
import pytest

from rnncourse.plots import to_png
from rnncourse.plots.encoder_decoder import (
    answer_tree,
    captioned_images,
    edit_table,
    summary_chain,
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
    figure = captioned_images(np.zeros((3, 8, 8)), ["a one", "a two", "a six"], ["a one", "a ten", "a six"])
    titles = [axes.get_title() for axes in figure.axes]
    assert titles[0] == "a one\n"
    assert titles[1] == "✗ a two\n(a ten)"
    assert [len(axes.images) for axes in figure.axes] == [1, 1, 1, 0]
