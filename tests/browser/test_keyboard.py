"""Unit 03 in JupyterLab without a mouse: every exercise, a case and hints that are opened, and Submit."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import nbformat
import pytest
from playwright.sync_api import Page, expect

from rnncourse import exercises
from tests.browser.unit03 import EXERCISE, MISTAKE, active, run_if_first, shown
from tests.waiting import until

UNIT = "03_cell"
MARKS = re.compile(r"^ *### (BEGIN|END) SOLUTION\n?", re.MULTILINE)
FOCUSED = "() => document.activeElement.matches('summary') ? document.activeElement.innerText : ''"


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("student")


@pytest.fixture(scope="module")
def lab(root: Path, home: Path, jupyterlab) -> Iterator[str]:
    """`rnncourse lab 03` in a student's copy of the notebook."""
    shutil.copytree(root / "notebooks" / UNIT, home / "course" / "notebooks" / UNIT)
    with jupyterlab("rnncourse.seat.cli", "lab", "03", cwd=home / "course", home=home) as address:
        yield address


def cells(root: Path, kind: str) -> list[tuple[str, str, str]]:
    """The cells of the unit: what each is to grading, "locked", "answer" or "", its name, its text."""
    found = []
    for cell in nbformat.read(root / kind / UNIT / f"{UNIT}.ipynb", as_version=4).cells:
        known = cell.metadata.get("nbgrader", {})
        what = "answer" if known.get("solution") else "check" if known.get("grade") else ""
        found.append((what, known.get("grade_id", ""), cell.source))
    return found


def at(page: Page, number: int) -> None:
    """Wait until this cell is the active one, ready for a command."""
    expect(active(page)).to_have_attribute("data-windowed-list-index", str(number))
    expect(page.locator(".jp-Notebook.jp-mod-commandMode")).to_be_visible()


def write(page: Page, source: str) -> None:
    """Write into the active cell in place of what it says."""
    page.keyboard.press("Enter")
    expect(page.locator(".jp-Notebook.jp-mod-editMode")).to_be_visible()
    page.keyboard.press("ControlOrMeta+A")
    page.keyboard.insert_text(source)
    expect(active(page).locator(".cm-content")).to_contain_text(source.strip().splitlines()[-1].strip()[:40])


def tab_to(page: Page, words: str) -> None:
    """Tab, until what has the focus and opens by a key says these words."""
    for _ in range(40):
        if words in page.evaluate(FOCUSED):
            return
        page.keyboard.press("Tab")
    raise AssertionError(f"nothing with {words!r} can be reached")


def test_a_student_without_a_mouse_solves_the_unit_and_hands_it_in(page: Page, lab, root, home):
    answers = {name: MARKS.sub("", text) for what, name, text in cells(root, "solutions") if what == "answer"}
    page.goto(lab)
    shown(page)
    for number, (what, name, _) in enumerate(unit := cells(root, "notebooks")):
        at(page, number)
        if name == EXERCISE.name and what == "answer":
            write(page, MISTAKE.source_for(name))
            page.keyboard.press("Shift+Enter")
            at(page, number + 1)
            page.keyboard.press("ControlOrMeta+Enter")
            card = page.get_by_role("region", name=f"{name}: not yet")
            expect(card).to_contain_text(MISTAKE.message)
            for title in ("Look at the case", "Hint 1 of 3", "Hint 2 of 3"):
                tab_to(page, title)
                page.keyboard.press("Space")
                expect(card.locator("details", has_text=title).first).to_have_attribute("open", "")
            page.keyboard.press("Escape")
            page.keyboard.press("ArrowUp")
            at(page, number)
        if what == "answer":
            write(page, answers[name])
        run_if_first(page)
        if number + 1 < len(unit):
            page.keyboard.press("Shift+Enter")
    kept = home / ".local" / "share" / "rnncourse" / "progress.json"
    names = {exercise.name for exercise in exercises.unit(UNIT)}

    def open_ones() -> set[str]:
        return names - {name for name, row in json.loads(kept.read_text())["exercises"].items() if row["passed"]}

    until(lambda: not open_ones(), lambda: f"not passed: {open_ones()}")

    page.keyboard.press("ControlOrMeta+Shift+C")
    expect(page.locator(".lm-CommandPalette-input")).to_be_focused()
    page.keyboard.type("Submit")
    expect(page.locator(".lm-CommandPalette-item.lm-mod-active")).to_have_text(re.compile("^Submit"))
    page.keyboard.press("Enter")
    dialog = page.get_by_role("dialog").filter(has_text="is the file to hand in")
    expect(dialog).to_be_visible()
    page.keyboard.press("Enter")
    expect(dialog).to_have_count(0)
    assert (home / "course" / "notebooks" / UNIT / f"{UNIT}-submission.ipynb").is_file()
