"""What everybody can use: the cards of every kind of verdict and the films, by axe's rules, in light and in dark.

(The site, the feedback page, the marking page and the report are judged so where their tests stand.)
"""

import sys
from html import escape
from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import Page

from rnncourse import check, exercises, hint, progress
from rnncourse.checks.edits import compiled
from rnncourse.checks.verdict import Verdict
from tests.browser import axe
from tests.browser.test_films import film_as_html, sliders_as_html
from tests.browser.unit03 import EXERCISE, MISTAKE, RIGHT, UNNAMED

pytestmark = pytest.mark.nightly

LAB = Path(sys.prefix) / "share" / "jupyter" / "lab" / "themes" / "@jupyterlab"
SAYS = {"light": "true", "dark": "false"}  # what JupyterLab's body says of being light


def given(body: str) -> Verdict:
    """What is said of this answer to the first exercise of unit 03."""
    source = f"def hidden_layer(x, W_xh, b_h):\n    {body}"
    return check(compiled(source, "hidden_layer", {"np": np}, f"<{abs(hash(body))}>"))


@pytest.fixture(scope="module")
def cards() -> list[str]:
    """All that a check, a hint and a bar put into a notebook: each kind of verdict, with all that it can open."""
    quiz = next(exercise for exercise in exercises.unit("03_cell") if exercise.name.startswith("quiz"))
    shown = {
        "passed": given(RIGHT.partition("\n    ")[2]),
        "named": check(MISTAKE.answer, "hidden_layer"),
        "placed": given(UNNAMED.partition("\n    ")[2]),
        "error": given("return np.tanh(x @ W_xh + bias)"),
        "nothing": given("return None"),
        "shape": given("return np.tanh(x @ W_xh + b_h)[..., :1]"),
        "forbidden": given("import rnncourse.cell\n    return rnncourse.cell.hidden_layer(x, W_xh, b_h)"),
        "open": check(None, quiz.name),
        "quiz": check({"A"}, quiz.name),
    }
    assert shown["passed"].passed
    assert shown["named"].diagnosis == MISTAKE.name
    assert shown["placed"].diagnosis is None
    assert shown["placed"].where.lines
    assert shown["error"].criteria["runs"] is False
    assert shown["shape"].criteria["shape"] is False
    texts = [verdict.card() for verdict in shown.values()]
    assert any("<details" in text for text in texts)
    asked = [hint("hidden_layer") for _ in EXERCISE.hints]
    return [*texts, *(one._repr_html_() for one in asked), progress("03_cell")._repr_html_()]


def put(page: Page, theme: str, content: str) -> None:
    """What a notebook shows, with JupyterLab's own colours."""
    colours = (LAB / f"theme-{theme}-extension" / "index.css").read_text(encoding="utf-8")
    page.set_content(
        f"""<!doctype html><html lang="en"><title>A notebook</title><style>{colours}
        body {{ background: var(--jp-layout-color0); color: var(--jp-content-font-color1); font: 14px sans-serif }}
        </style><body data-jp-theme-light="{SAYS[theme]}"><main><h1>A notebook</h1>{content}</main>"""
    )


@pytest.mark.parametrize("theme", axe.THEMES)
def test_cards_of_every_kind_can_be_used_and_read_by_everybody(page: Page, cards, theme):
    # in a notebook each stands in the place of the one before; here their names are told apart
    told = [card.replace('<section aria-label="', f'<section aria-label="{i}: ') for i, card in enumerate(cards)]
    put(page, theme, "".join(told).replace("<details", "<details open"))
    assert axe.faults(page) == []


@pytest.mark.parametrize("html", [film_as_html, sliders_as_html])
def test_a_film_and_sliders_can_be_used_and_read_by_everybody(page: Page, html, monkeypatch):
    put(page, "light", html(monkeypatch))
    page.frame_locator("iframe").get_by_role("slider").first.wait_for()
    assert axe.faults(page) == []


FAULTS = {
    "a picture without words": '<img src="data:,">',
    "a button without a name": "<button></button>",
    "a field without a name": "<input>",
    "too faint a text": '<p style="color: #bbb">words</p>',
    "too faint a text in the dark alone": '<p style="color: #444">words</p>',
    "a heading that skips a level": "<h4>words</h4>",
    "a frame without a name": '<iframe srcdoc="words"></iframe>',
    "a fault within a frame": '<iframe title="x" srcdoc="<html lang=en><title>x</title><button></button>"></iframe>',
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_found(page: Page, cards, fault):
    page.emulate_media(color_scheme="dark")
    for content, faulty in ((cards[0], False), (f"{cards[0]}{FAULTS[fault]}", True)):
        theme = "dark" if "dark" in fault else "light"
        put(page, theme, content)
        assert bool(axe.faults(page)) is faulty, escape(content)
