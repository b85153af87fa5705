"""The student's seat: `rnncourse lab 03`, a wrong answer, its diagnosis, a hint, the right answer; light and dark."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.unit03 import MISTAKE, RIGHT, UNNAMED, go_to, run_down_to, shown, write

READABLE = 4.5  # the contrast that WCAG 2 asks of text (AA)

# The contrast of each piece of text in an element with what is behind it, as the browser mixes the colours.
CONTRASTS = """root => {
    const canvas = new OffscreenCanvas(1, 1).getContext('2d', {willReadFrequently: true});
    const rgba = colour => {
        canvas.clearRect(0, 0, 1, 1);
        canvas.fillStyle = colour;
        canvas.fillRect(0, 0, 1, 1);
        const [r, g, b, a] = canvas.getImageData(0, 0, 1, 1).data;
        return [r, g, b, a / 255];
    };
    const over = ([r, g, b, a], under) => [r, g, b].map((value, i) => a * value + (1 - a) * under[i]);
    const linear = value => value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
    const luminance = rgb => {
        const [r, g, b] = rgb.map(value => linear(value / 255));
        return 0.2126 * r + 0.7152 * g + 0.0722 * b;
    };
    const found = [];
    const words = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
    while (words.nextNode()) {
        const text = words.currentNode.data.trim();
        if (!text) continue;
        const up = [];
        for (let e = words.currentNode.parentElement; e; e = e.parentElement) up.push(getComputedStyle(e));
        const ground = up.reduceRight((under, style) => over(rgba(style.backgroundColor), under), [255, 255, 255]);
        const [r, g, b, a] = rgba(up[0].color);
        const ink = over([r, g, b, up.reduce((all, style) => all * style.opacity, a)], ground);
        const [dark, light] = [luminance(ink), luminance(ground)].sort((p, q) => p - q);
        found.push([text, (light + 0.05) / (dark + 0.05)]);
    }
    return found;
}"""


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("student")


@pytest.fixture(scope="module")
def lab(root: Path, home: Path, jupyterlab) -> Iterator[str]:
    """`rnncourse lab 03` in a student's copy of the notebooks."""
    (home / "course").mkdir()
    shutil.copytree(root / "notebooks", home / "course" / "notebooks")
    with jupyterlab("rnncourse.seat.cli", "lab", "03", cwd=home / "course", home=home) as address:
        yield address


def opened(page: Page, address: str) -> None:
    """The unit's notebook, with its kernel ready."""
    page.goto(address)
    shown(page)


def end_kernels(page: Page, address: str) -> None:
    """What a night does to them."""
    server, _, token = address.partition("?token=")
    authorized = {"Authorization": f"token {token}"}
    for session in page.request.get(f"{server}api/sessions", headers=authorized).json():
        assert page.request.delete(f"{server}api/sessions/{session['id']}", headers=authorized).ok


def answer(page: Page, source: str) -> None:
    """Write into the cell that is active, run it and its check below it."""
    write(page, source)
    page.keyboard.press("Shift+Enter")


def go_dark(page: Page) -> None:
    page.get_by_role("menuitem", name="Settings").click()
    page.locator(".lm-Menu-itemLabel", has_text=re.compile("^Theme$")).click()
    page.locator(".lm-Menu-itemLabel", has_text=re.compile("^JupyterLab Dark$")).click()
    expect(page.locator("body")).to_have_attribute("data-jp-theme-light", "false")


def hard_to_read(*parts: Locator) -> list[tuple[str, float]]:
    found = [tuple(pair) for part in parts for pair in part.evaluate(CONTRASTS)]
    assert len(found) > len(parts)
    return [(words, contrast) for words, contrast in found if contrast < READABLE]


def test_a_wrong_answer_is_explained_a_hint_helps_and_the_right_one_turns_card_and_bar(page, lab, home):
    opened(page, lab)
    run_down_to(page, "def hidden_layer")
    progress = page.get_by_role("region", name="Progress: 03 The recurrent cell")
    bar = progress.get_by_role("progressbar", name="points")
    expect(bar).to_have_attribute("value", "0")

    answer(page, MISTAKE.source_for("hidden_layer"))
    not_yet = page.get_by_role("region", name="hidden_layer: not yet")
    expect(not_yet).to_contain_text(MISTAKE.message)
    expect(not_yet.get_by_role("list", name="what was checked")).to_contain_text("shape")

    go_to(page, "def hidden_layer")
    answer(page, UNNAMED)
    place = not_yet.get_by_label("your answer, with the place marked")
    expect(place.get_by_role("mark")).to_contain_text("a = x @ W_xh - 3 * b_h")
    expect(place.get_by_label("Here, in line 2:")).to_be_visible()

    page.keyboard.press("Escape")
    page.keyboard.press("a")  # a cell of one's own above the next
    page.keyboard.press("Enter")
    expect(page.locator(".jp-Notebook.jp-mod-editMode")).to_be_visible()
    page.keyboard.insert_text('hint("hidden_layer")')
    page.keyboard.press("Shift+Enter")
    hint = page.get_by_role("region", name="Hint 1 of")
    expect(hint).to_contain_text("Line 2: look at")

    expect(page.get_by_role("alert")).to_have_count(0)  # JupyterLab asks for nothing, news for example
    assert hard_to_read(not_yet, hint, progress) == []
    go_dark(page)
    assert hard_to_read(not_yet, hint, progress) == []

    go_to(page, "def hidden_layer")
    answer(page, RIGHT)
    passed = page.get_by_role("region", name="hidden_layer: passed")
    expect(passed).to_be_visible()
    expect(not_yet).to_have_count(0)
    expect(bar).to_have_attribute("value", "1")
    expect(progress.get_by_role("listitem").filter(has=page.get_by_label("passed:"))).to_have_text("✓ hidden_layer")
    assert hard_to_read(passed, progress) == []
    kept = json.loads((home / ".local/share/rnncourse/progress.json").read_text())["exercises"]
    assert kept["hidden_layer"]["passed"]
    page.keyboard.press("ControlOrMeta+S")
    expect(page.locator(".jp-mod-current.jp-mod-dirty")).to_have_count(0)


def test_on_another_day_the_bar_stands_where_it_stood(page, lab, home):
    file = home / ".local/share/rnncourse/progress.json"
    file.parent.mkdir(parents=True, exist_ok=True)
    known = {name: {"score": 1.0, "passed": True, "when": "2026-01-31"} for name in ("hidden_layer", "rnn_step")}
    file.write_text(json.dumps({"format": 1, "exercises": known}))
    end_kernels(page, lab)
    opened(page, lab)
    run_down_to(page, "def hidden_layer")
    progress = page.get_by_role("region", name="Progress: 03 The recurrent cell")
    expect(progress.get_by_role("progressbar", name="points")).to_have_attribute("value", "4")
    done = progress.get_by_role("listitem").filter(has=page.get_by_label("passed:"))
    expect(done).to_have_text(["✓ hidden_layer", "✓ rnn_step"])
