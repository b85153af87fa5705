"""Films: each moment shows what it should, the still is the last one, and the player needs nothing from outside."""

import re
from html import unescape
from itertools import pairwise

import IPython
import IPython.display
import numpy as np
import pytest

from rnncourse.plots import Drawing
from rnncourse.plots.player import Film, seen
from rnncourse.plots.through_time import backward_pass, forward_pass

STATES = np.tanh(np.random.default_rng(0).normal(size=(4, 3)))
FILMS = {
    "forward": lambda: forward_pass(np.eye(4)[:, :2], np.zeros(3), STATES, "abca"),
    "backward": lambda: backward_pass(STATES, STATES**3, "bcab"),
    "one step": lambda: forward_pass(np.eye(1), np.zeros(3), STATES[:1], "a"),
}


@pytest.mark.parametrize("name", FILMS)
def test_a_film_is_the_same_twice_small_and_needs_nothing_from_outside(name):
    page = FILMS[name]().page("One pass")
    assert page == FILMS[name]().page("One pass")
    assert len(page) < 200_000
    assert "{{" not in page
    assert not re.search(r"(?:src|href)=[\"'](?!#)|url\((?!#)|@import|fetch\(", page)


@pytest.mark.parametrize("name", FILMS)
def test_every_moment_shows_something_else_than_the_one_before(name):
    film = FILMS[name]()
    layers = {tuple(map(int, found)) for found in re.findall(r'id="seen-(\d+)-(\d+)-', film.page(""))}
    moments = [{layer for layer in layers if layer[0] <= m < layer[1]} for m in range(len(film.captions))]
    assert all(a != b for a, b in pairwise(moments))
    assert all(layer[0] < len(film.captions) for layer in layers)


@pytest.mark.parametrize("name", FILMS)
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
    assert all(f'id="seen-{layer}-0"' in film.page("") for layer in ("0-1", "1-999", "0-2"))


def test_the_still_stands_first_and_the_player_is_a_frame_with_a_title(monkeypatch):
    shown = []
    monkeypatch.setattr(IPython, "get_ipython", lambda: object())
    monkeypatch.setattr(IPython.display, "display", lambda data, **_: shown.append(data))
    film = FILMS["forward"]()
    film.show("Four steps.", title='One "pass"')
    still, player = shown
    assert still["text/plain"] == "Four steps."
    assert player["text/html"].startswith('<iframe title="One &quot;pass&quot;" srcdoc="')
    assert unescape(player["text/html"].split('srcdoc="')[1].split('"')[0]) == film.page('One "pass"')


def test_outside_a_notebook_the_alt_text_is_printed(capsys):
    FILMS["forward"]().show("Four steps.")
    assert capsys.readouterr().out == "Four steps.\n"
