"""Unit 03 in JupyterLab without a mouse: every exercise, a case and hints that are opened, and Submit."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import nbformat
import pytest
from playwright.sync_api import Page, expect

from rnncourse import exercises
from tests.browser.keyboard import command, solve
from tests.browser.unit03 import shown
from tests.waiting import until

UNIT = "03_cell"


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("student")


@pytest.fixture(scope="module")
def lab(root: Path, home: Path, jupyterlab) -> Iterator[str]:
    """`rnncourse lab 03` in a student's copy of the notebook."""
    shutil.copytree(root / "notebooks" / UNIT, home / "course" / "notebooks" / UNIT)
    with jupyterlab("rnncourse.seat.cli", "lab", "03", cwd=home / "course", home=home) as address:
        yield address


def test_a_student_without_a_mouse_solves_the_unit_and_hands_it_in(page: Page, lab, root, home):
    students, solution = (
        nbformat.read(root / kind / UNIT / f"{UNIT}.ipynb", as_version=4) for kind in ("notebooks", "solutions")
    )
    page.goto(lab)
    shown(page)
    solve(page, students, solution)
    kept = home / ".local" / "share" / "rnncourse" / "progress.json"
    names = {exercise.name for exercise in exercises.unit(UNIT)}

    def open_ones() -> set[str]:
        return names - {name for name, row in json.loads(kept.read_text())["exercises"].items() if row["passed"]}

    until(lambda: not open_ones(), lambda: f"not passed: {open_ones()}")

    command(page, "Submit")
    dialog = page.get_by_role("dialog").filter(has_text="is the file to hand in")
    expect(dialog).to_be_visible()
    page.keyboard.press("Enter")
    expect(dialog).to_have_count(0)
    assert (home / "course" / "notebooks" / UNIT / f"{UNIT}-submission.ipynb").is_file()
