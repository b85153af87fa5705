"""Sliders: the still alone where nobody watches; a picture that follows them where somebody does."""

import gc
import re
import sys
import weakref

import IPython
import IPython.display
import matplotlib.pyplot as plt
import pytest

from rnncourse import plots
from rnncourse.plots import Slider, explore


def bars(share):
    return plots.probability_bars({"yes": share, "no": 1 - share})


SHARE = Slider("share of yes", 0.0, 1.0, 0.25, step=0.05)


def failing(share):
    if share > 0.5:
        raise ValueError("no such share")
    return bars(share)


class Kernel:
    def __init__(self, allow_stdin):
        self._allow_stdin = allow_stdin


class Shell:
    def __init__(self, allow_stdin):
        self.kernel = Kernel(allow_stdin)


@pytest.fixture
def shown(monkeypatch):
    """What is displayed, in order."""
    plt.switch_backend("agg")
    seen = []
    monkeypatch.setattr(IPython.display, "display", lambda what, **_: seen.append(what))
    return seen


def sit_down(monkeypatch, allow_stdin=True):
    """A notebook's kernel; it may ask for input only if somebody sits at the keyboard."""
    monkeypatch.setattr(IPython, "get_ipython", lambda: Shell(allow_stdin))


@pytest.mark.parametrize("without", ["somebody at the keyboard", "ipywidgets"])
def test_whoever_only_executes_a_notebook_or_has_no_ipywidgets_gets_the_still_alone(shown, monkeypatch, without):
    sit_down(monkeypatch, allow_stdin=without == "ipywidgets")
    if without == "ipywidgets":
        monkeypatch.setitem(sys.modules, "ipywidgets", None)
    explore(bars, bars(0.5), "Two bars.", share=SHARE)
    assert [picture["text/plain"] for picture in shown] == ["Two bars."]


def test_outside_a_notebook_the_alt_text_is_printed(capsys):
    explore(bars, bars(0.5), "Two bars.", share=SHARE)
    assert capsys.readouterr().out == "Two bars.\n"


def test_below_the_still_a_picture_follows_the_slider(shown, monkeypatch):
    sit_down(monkeypatch)
    explore(bars, bars(0.5), "Two bars.", share=SHARE)
    still, panel = shown
    slider, drawn = panel.children
    assert still["text/plain"] == "Two bars."
    assert (slider.value, slider.min, slider.max, slider.description) == (0.25, 0.0, 1.0, "share of yes")
    before = drawn.value
    assert 'alt="The picture for share of yes = 0.25."' in before
    slider.value = 0.75
    assert 'alt="The picture for share of yes = 0.75."' in drawn.value
    assert re.findall(r'src="([^"]+)"', drawn.value) != re.findall(r'src="([^"]+)"', before)  # the picture itself


@pytest.mark.parametrize("collects", [True, False])
def test_a_figure_is_gone_when_its_picture_is_there_and_python_collects_as_before(shown, monkeypatch, collects):
    sit_down(monkeypatch)
    figures, states = [], []

    def draw(share):
        figure = bars(share)
        figures.append(weakref.ref(figure))
        states.append(gc.isenabled())
        return figure

    explore(draw, bars(0.5), "Two bars.", share=SHARE)
    slider, _ = shown[1].children
    if not collects:
        gc.disable()
    try:
        alive = []
        for value in (0.75, 0.3, 0.9):
            slider.value = value
            alive.append(figures[-1]() is not None)
        assert gc.isenabled() is collects
    finally:
        gc.enable()
    assert alive == [not collects] * 3
    assert not any(states)


def test_python_collects_again_after_a_picture_that_could_not_be_drawn(shown, monkeypatch):
    sit_down(monkeypatch)
    explore(failing, bars(0.5), "Two bars.", share=SHARE)
    slider, _ = shown[1].children
    with pytest.raises(ValueError, match="no such share"):
        slider.value = 0.75
    assert gc.isenabled()
