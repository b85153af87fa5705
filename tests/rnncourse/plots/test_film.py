"""Films: each moment shows what it should, the still is the last one, and the player needs nothing from outside."""

import re
from html import unescape
from itertools import pairwise

import numpy as np
import pytest

from rnncourse.plots import Drawing
from rnncourse.plots.films import attention_film, beam_film, gates_film, scan_film, way_back_film
from rnncourse.plots.player import Film, seen
from rnncourse.plots.through_time import backward_pass, forward_pass
from tests.sampling import some

STATES = np.tanh(np.random.default_rng(0).normal(size=(4, 3)))
WORDS = {(): {"the": 0.5, "my": 0.4, "a": 0.1}, ("the",): {"dog": 0.6, "cat": 0.4}, ("a",): {"dog": 1.0}}
WORDS |= {("my",): {"dog": 0.9, "cat": 0.1}}
SET, RESET = np.array([0, 1, 0, 0, 0, 1]), np.array([0, 0, 0, 1, 0, 0])


def continued(said):
    return WORDS.get(said, {"eos": 1.0})


def looks(rows, columns):
    raw = np.random.default_rng(1).exponential(size=(rows, columns)) ** 3
    return raw / raw.sum(axis=1, keepdims=True)


FILMS = {
    "forward": lambda: forward_pass(np.eye(4)[:, :2], np.zeros(3), STATES, "abca"),
    "backward": lambda: backward_pass(STATES, STATES**3, "bcab"),
    "way back": lambda: way_back_film({f"ρ = {r}": r ** np.arange(30.0, -1, -1) for r in (1.5, 1.0, 0.5)}),
    "way back, one row and two steps": lambda: way_back_film({"tanh": np.array([1e-12, 3.0])}),
    "gates": lambda: gates_film(
        {"set": SET, "reset": RESET},
        {"i": 1.0 * SET, "f": 1.0 - SET - RESET, "o": np.full(6, 0.25)},
        {"c": np.array([0, 1, 1, 0, 0, -1.0])},
    ),
    "beam": lambda: beam_film(continued, 2),
    "beam, wider than there are words": lambda: beam_film(continued, 9),
    "beam, one place": lambda: beam_film(continued, 1),
    "beam, ends of different length": lambda: beam_film(
        lambda said: {"eos": 0.5, "on": 0.5} if not said[2:] else {"eos": 1.0}, 3
    ),
    "attention": lambda: attention_film(looks(10, 14), "4 maaliskuuta ", "2009-03-04"),
    "attention, a long answer": lambda: attention_film(looks(10, 3), "4/3", "2009-03-04"),
    "scan": scan_film,
    "scan of three": lambda: scan_film(3),
    "one step": lambda: forward_pass(np.eye(1), np.zeros(3), STATES[:1], "a"),
}


@pytest.mark.parametrize("name", some(FILMS, 2))
def test_a_film_is_the_same_twice_needs_nothing_from_outside_and_no_moment_shows_what_the_one_before_did(name):
    film = FILMS[name]()
    page = film.page("One pass")
    assert page == FILMS[name]().page("One pass")
    assert len(page) < 200_000
    assert "{{" not in page
    assert not re.search(r"(?:src|href)=[\"'](?!#)|url\((?!#)|@import|fetch\(", page)
    layers = {tuple(map(int, found)) for found in re.findall(r"id='seen-(\d+)-(\d+)-", page)}
    moments = [{layer for layer in layers if layer[0] <= m < layer[1]} for m in range(len(film.captions))]
    assert all(a != b for a, b in pairwise(moments))
    assert all(layer[0] < len(film.captions) for layer in layers)


@pytest.mark.parametrize("name", some(FILMS, 3))
def test_in_the_still_no_two_labels_touch_and_none_reaches_beyond_the_sheet(name):
    figure = FILMS[name]().still
    figure.canvas.draw()
    texts = [text for text in figure.axes[0].texts if text.get_text() and text.get_visible()]
    boxes = [text.get_window_extent() for text in texts]
    for i, box in enumerate(boxes):
        assert min(box.x0, box.y0) >= 0
        assert max(box.x1 - figure.bbox.x1, box.y1 - figure.bbox.y1) <= 0
        assert not any(box.overlaps(other) for other in boxes[:i])


def test_the_still_has_what_is_seen_at_the_last_moment_and_nothing_else():
    sheet = Drawing(2, 1)
    for word, layer in (("early", seen(0, 1)), ("late", seen(1)), ("between", seen(0, 2))):
        with sheet.layer(layer):
            sheet.text(1, 0.5, word)
    film = Film(sheet.figure, ["one", "two"])
    assert [text.get_text() for text in film.still.axes[0].texts if text.get_visible()] == ["late", "between"]
    assert all(f"id='seen-{layer}-0'" in film.page("") for layer in ("0-1", "1-999", "0-2"))


def test_the_still_stands_where_the_player_comes_which_is_a_frame_with_a_title(shown):
    film = FILMS["forward"]()
    film.show("Four\n  steps.", title='One "pass"')
    ((output, _),) = shown
    assert output["text/plain"] == "Four steps."
    assert output["image/png"]
    still, player = output["text/html"].split("<iframe ")
    assert 'alt="Four steps."' in still
    assert player.startswith('title="One &quot;pass&quot;" srcdoc="')
    assert unescape(player.split('srcdoc="')[1].split('"')[0]) == film.page('One "pass"', "Four steps.")
    assert 'role="img" aria-label="Four steps."' in film.page("", "Four steps.")


@pytest.mark.parametrize("width", [1, 2, 3, 9])
def test_a_beam_keeps_at_its_end_what_the_search_of_unit_12_finds(width):
    from rnncourse.encoder_decoder import beam_search

    words = ["eos", "the", "my", "a", "dog", "cat"]

    def step(token, said):
        said = said if token < 0 else (*said, words[token])
        with np.errstate(divide="ignore"):
            return np.log([continued(said).get(word, 0.0) for word in words]), said

    found = beam_search(step, (), -1, 0, 3, width)
    last = beam_film(continued, width).captions[-1]
    kept = [(tuple(said.split()), float(score)) for said, score in re.findall(r"“(.*?)” (-\d\.\d\d)", last)]
    assert [said for said, _ in kept] == [tuple(words[i] for i in tokens) for tokens, _ in found]
    assert [score for _, score in kept] == [round(score, 2) for _, score in found]
