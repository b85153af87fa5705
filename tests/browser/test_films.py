"""Films and pictures in a real page, light and dark: they run, they fit, and no white box stands in a dark page."""

from __future__ import annotations

from io import BytesIO

import IPython
import IPython.display
import numpy as np
import pytest
from PIL import Image
from playwright.sync_api import Browser, Page, expect

from rnncourse.plots import line_chart
from rnncourse.plots.films import scan_film
from rnncourse.plots.style import picture

PAGES = {"light": "#ffffff", "dark": "#121212", "dark, JupyterLab": "#111111"}
SAYS = {"light": 'data-theme="light"', "dark": 'data-theme="dark"', "dark, JupyterLab": 'data-jp-theme-light="false"'}


def film_as_html(monkeypatch: pytest.MonkeyPatch) -> str:
    shown: list[dict[str, str]] = []
    monkeypatch.setattr(IPython, "get_ipython", object)
    monkeypatch.setattr(IPython.display, "display", lambda data, **_: shown.append(data))
    film = scan_film(3)
    film.seconds = 0.5
    film.show("Three squares.")
    return shown[0]["text/html"]


def put(page: Page, content: str, theme: str) -> None:
    """A page of this theme with nothing else in it. (Not a file: nothing may be asked for.)"""
    body = f'<body style="margin: 0; background: {PAGES[theme]}">{content}</body>'
    page.set_content(f"<!doctype html><html {SAYS[theme]}>{body}</html>")


def pixels(page: Page) -> np.ndarray:
    return np.asarray(Image.open(BytesIO(page.screenshot())).convert("RGB")).astype(int)


@pytest.mark.parametrize("theme", PAGES)
def test_a_picture_stands_on_the_page_itself_and_can_be_read(page: Page, theme: str):
    chart = line_chart([1, 2, 3], {"a": [1.0, 2.0, 3.0]}, xlabel="t", ylabel="height (m)")
    put(page, picture(chart, "A line."), theme)
    page.wait_for_function("document.querySelector('img').complete")
    seen = pixels(page)
    paper = np.array([int(PAGES[theme][k : k + 2], 16) for k in (1, 3, 5)])
    box = page.locator("img").bounding_box()
    assert box
    inside = seen[: int(box["height"]), : int(box["width"])].reshape(-1, 3)
    assert (inside == paper).all(axis=1).mean() > 0.5
    ink = inside.max(axis=0) if theme != "light" else 255 - inside.min(axis=0)
    assert ink.min() > 200


@pytest.mark.parametrize("theme", PAGES)
def test_a_film_takes_the_place_of_its_still_runs_by_itself_and_stops_at_its_end(page: Page, theme: str, monkeypatch):
    put(page, film_as_html(monkeypatch), theme)
    player = page.frame_locator("iframe")
    expect(page.locator("img")).to_be_hidden()
    expect(player.get_by_role("button", name="Pause")).to_be_visible()
    expect(player.locator("#caption")).to_contain_text("The loop took 2 rounds")
    expect(player.get_by_role("button", name="Play")).to_be_visible()
    frame = page.locator("iframe").bounding_box()
    bar = player.locator(".bar").bounding_box()
    assert frame
    assert bar
    assert 0 <= frame["y"] + frame["height"] - (bar["y"] + bar["height"]) < 12
    paper = [int(PAGES[theme][k : k + 2], 16) for k in (1, 3, 5)]
    assert pixels(page)[2, 2].tolist() == paper  # a corner of the frame


def test_a_film_waits_for_who_asked_for_less_motion_and_goes_step_by_step(browser: Browser, monkeypatch):
    with browser.new_context(reduced_motion="reduce", viewport={"width": 390, "height": 800}) as context:
        page = context.new_page()
        put(page, film_as_html(monkeypatch), "light")
        player = page.frame_locator("iframe")
        page.wait_for_timeout(1500)
        expect(player.locator("#caption")).to_contain_text("The loop took")
        player.get_by_role("button", name="Back").click()
        expect(player.locator("#caption")).to_contain_text("Round 2")
        assert page.evaluate("document.documentElement.scrollWidth") <= 390


def test_where_no_script_runs_the_still_is_there_and_no_gap_below_it(browser: Browser, monkeypatch):
    with browser.new_context(java_script_enabled=False) as context:
        page = context.new_page()
        put(page, film_as_html(monkeypatch), "light")
        expect(page.locator("img")).to_be_visible()
        frame = page.locator("iframe").bounding_box()
        assert frame is None or frame["height"] == 0
