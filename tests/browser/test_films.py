"""Films, sliders and pictures in a real page, light and dark: they run, fit, and are no white box in a dark page."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from io import BytesIO
from pathlib import Path

import IPython
import IPython.display
import nbformat
import numpy as np
import pytest
from matplotlib.figure import Figure
from nbformat import v4
from PIL import Image
from playwright.sync_api import Browser, Page, expect

from rnncourse.plots import Slider, explore, line_chart
from rnncourse.plots.films import scan_film
from rnncourse.plots.style import picture
from tests.browser.films import CAPTIONS, RAN, runs_by_itself
from tests.sampling import some

PAGES = {"light": "#ffffff", "dark": "#121212", "dark, JupyterLab": "#111111"}
SAYS = {"light": 'data-theme="light"', "dark": 'data-theme="dark"', "dark, JupyterLab": 'data-jp-theme-light="false"'}


def as_html(monkeypatch: pytest.MonkeyPatch, show: Callable[[], None]) -> str:
    """What a notebook gets."""
    shown: list[dict[str, str]] = []
    monkeypatch.setattr(IPython, "get_ipython", object)
    monkeypatch.setattr(IPython.display, "display", lambda data, **_: shown.append(data))
    show()
    return shown[0]["text/html"]


def film_as_html(monkeypatch: pytest.MonkeyPatch) -> str:
    film = scan_film(3)
    film.seconds = 0.5
    return as_html(monkeypatch, lambda: film.show("Three squares."))


def sliders_as_html(monkeypatch: pytest.MonkeyPatch) -> str:
    def draw(a: float, b: float) -> Figure:
        return line_chart([0, 1], {"line": [b, a]}, xlabel="x", ylabel="y", ylim=(0, 4))

    sliders = {"a": Slider("rate a", 0.5, 1.5, 1, step=0.5), "b": Slider("start b", 0, 4, 2, step=2)}
    return as_html(monkeypatch, lambda: explore(draw, draw(1, 2), "A line.", **sliders))


def put(page: Page, content: str, theme: str) -> None:
    """A page of this theme with nothing else in it. (Not a file: nothing may be asked for.)"""
    body = f'<body style="margin: 0; background: {PAGES[theme]}">{content}</body>'
    page.set_content(f"<!doctype html><html {SAYS[theme]}>{body}</html>")


def pixels(page: Page) -> np.ndarray:
    return np.asarray(Image.open(BytesIO(page.screenshot())).convert("RGB")).astype(int)


@pytest.mark.nightly
@pytest.mark.parametrize("theme", some(PAGES, 1))
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


@pytest.mark.parametrize("theme", some(PAGES, 1))
def test_a_film_takes_the_place_of_its_still_runs_by_itself_and_stops_at_its_end(page: Page, theme: str, monkeypatch):
    page.add_init_script(RAN)
    put(page, film_as_html(monkeypatch), theme)
    player = page.frame_locator("iframe")
    expect(page.locator("img")).to_be_hidden()
    page.wait_for_function("window.ran === true")
    expect(player.locator("#caption")).to_contain_text("The loop took 2 rounds")
    expect(player.get_by_role("button", name="Play")).to_be_visible()
    frame = page.locator("iframe").bounding_box()
    bar = player.locator(".bar").bounding_box()
    assert frame
    assert bar
    assert 0 <= frame["y"] + frame["height"] - (bar["y"] + bar["height"]) < 12
    paper = [int(PAGES[theme][k : k + 2], 16) for k in (1, 3, 5)]
    assert pixels(page)[2, 2].tolist() == paper  # a corner of the frame


@pytest.mark.nightly
def test_a_film_waits_for_who_asked_for_less_motion_and_goes_step_by_step(browser: Browser, monkeypatch):
    with browser.new_context(reduced_motion="reduce", viewport={"width": 390, "height": 800}) as context:
        page = context.new_page()
        put(page, film_as_html(monkeypatch), "light")
        player = page.frame_locator("iframe")
        page.wait_for_timeout(1500)
        expect(player.locator("#caption")).to_contain_text("Before the first round")
        player.get_by_role("button", name="Next").click()
        expect(player.locator("#caption")).to_contain_text("Round 1")
        assert page.evaluate("document.documentElement.scrollWidth") <= 390


@pytest.mark.parametrize("theme", some(PAGES, 1))
def test_sliders_stand_below_their_still_and_each_key_brings_the_picture_of_its_values(page: Page, theme, monkeypatch):
    page.set_viewport_size({"width": 390, "height": 800})
    put(page, sliders_as_html(monkeypatch), theme)
    player = page.frame_locator("iframe")
    expect(page.locator("img")).to_be_visible()
    expect(player.get_by_role("button")).to_have_count(0)
    expect(player.get_by_role("img", name="from 2 at 0 to 1 at 1")).to_be_visible()
    before = page.locator("iframe").screenshot()
    rate, start = player.get_by_role("slider", name="rate a"), player.get_by_role("slider", name="start b")
    rate.press("ArrowRight")
    expect(rate).to_have_attribute("aria-valuetext", "1.5")
    start.press("Home")
    expect(player.get_by_role("img", name="from 0 at 0 to 1.5 at 1")).to_be_visible()
    expect(player.locator("#caption")).to_contain_text("from 0 at 0 to 1.5 at 1")
    assert player.locator("[id^=seen-]:not(.gone)").count() > 0
    assert page.locator("iframe").screenshot() != before
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    paper = [int(PAGES[theme][k : k + 2], 16) for k in (1, 3, 5)]
    box = page.locator("iframe").bounding_box()
    assert box
    assert box["height"] > 250
    assert pixels(page)[int(box["y"]) + 2, 2].tolist() == paper


@pytest.mark.nightly
@pytest.mark.parametrize("html", [film_as_html, sliders_as_html])
def test_where_no_script_runs_the_still_is_there_and_no_gap_below_it(browser: Browser, html, monkeypatch):
    with browser.new_context(java_script_enabled=False) as context:
        page = context.new_page()
        put(page, html(monkeypatch), "light")
        expect(page.locator("img")).to_be_visible()
        frame = page.locator("iframe").bounding_box()
        assert frame is None or frame["height"] == 0


@pytest.fixture(scope="module")
def lab(root: Path, tmp_path_factory: pytest.TempPathFactory, jupyterlab) -> Iterator[str]:
    """JupyterLab in its dark theme, with a film and sliders that were shown on another day: in a notebook of one's own,
    and in one that came from somebody else.
    """
    home = tmp_path_factory.mktemp("reader")
    folder = home / "course" / "notebooks"
    shutil.copytree(root / "notebooks" / "03_cell", folder / "03_cell")
    settings = home / ".jupyter" / "lab" / "user-settings" / "@jupyterlab" / "apputils-extension"
    settings.mkdir(parents=True)
    (settings / "themes.jupyterlab-settings").write_text(json.dumps({"theme": "JupyterLab Dark"}))
    with pytest.MonkeyPatch.context() as patch:
        shown = [
            v4.new_output("display_data", {"text/html": html(patch), "text/plain": "A picture."})
            for html in (film_as_html, sliders_as_html)
        ]
    kernel = {"kernelspec": {"name": "python3", "display_name": "Python 3"}}
    for name in ("own", "foreign"):
        cell = v4.new_code_cell("film", outputs=shown, execution_count=1)
        nbformat.write(v4.new_notebook(cells=[cell], metadata=kernel), folder / f"{name}.ipynb")
    sign = "from nbformat.sign import TrustNotebookApp; TrustNotebookApp.launch_instance()"
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("JUPYTER", "XDG"))}
    own = [sys.executable, "-c", sign, folder / "own.ipynb"]
    subprocess.run(own, check=True, capture_output=True, env=kept | {"HOME": str(home)})
    with jupyterlab("rnncourse.seat.cli", "lab", "03", cwd=home / "course", home=home) as address:
        yield address


@pytest.mark.nightly
def test_a_film_runs_by_itself_and_a_slider_moves_in_a_notebook_that_only_was_opened(page: Page, lab: str):
    page.add_init_script(CAPTIONS)
    page.goto(lab.replace("/?token", "/lab/workspaces/one/tree/own.ipynb?token"))
    runs_by_itself(page)
    sliders = page.frame_locator('iframe[title^="Sliders"]')
    sliders.get_by_role("slider", name="rate a").press("ArrowRight")
    expect(sliders.get_by_role("img", name="from 2 at 0 to 1.5 at 1")).to_be_visible()
    for frame in page.locator(".jp-OutputArea iframe").all():
        assert dark(frame.screenshot()) < 250


@pytest.mark.nightly
def test_in_a_notebook_that_is_not_trusted_the_still_stands_on_the_dark_page_itself(page: Page, lab: str):
    page.goto(lab.replace("/?token", "/lab/workspaces/two/tree/foreign.ipynb?token"))
    still = page.locator(".jp-OutputArea img").first
    expect(still).to_be_visible()
    assert page.locator(".jp-OutputArea iframe").count() == 0
    expect(page.locator("body")).to_have_attribute("data-jp-theme-light", "false")
    expect(still).to_have_css("filter", "invert(1) hue-rotate(180deg)")
    expect(still).to_have_css("background-color", "rgba(0, 0, 0, 0)")
    around = page.locator(".jp-OutputArea-output").first.bounding_box()
    picture_s = still.bounding_box()
    assert around
    assert picture_s
    assert around["height"] - picture_s["height"] < 24  # no gap where the film would be
    assert dark(still.screenshot()) < 250


def dark(shot: bytes) -> int:
    """The colour in a corner, added up: 0 is black."""
    return int(np.asarray(Image.open(BytesIO(shot)).convert("RGB")).astype(int)[2, 2].sum())
