"""Unit 03 in JupyterLab without a mouse: every exercise, a case and hints that are opened, and Submit."""

import json

import nbformat
import pytest
from playwright.sync_api import Page, expect

from rnncourse import exercises
from tests.browser.keyboard import command, solve
from tests.browser.unit03 import shown
from tests.waiting import until

UNIT = "03_cell"


@pytest.mark.nightly
def test_a_student_without_a_mouse_solves_the_unit_and_hands_it_in(page: Page, lab03, root, home):
    students, solution = (
        nbformat.read(root / kind / UNIT / f"{UNIT}.ipynb", as_version=4) for kind in ("notebooks", "solutions")
    )
    page.goto(lab03)
    shown(page)
    solve(page, students, solution)
    kept = home / "course" / "notebooks" / "progress.json"
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
