"""Unit 03 without a mouse, in JupyterLab or in a browser alone: every exercise, a case and hints that are opened."""

import re
from collections.abc import Sequence

from nbformat import NotebookNode
from playwright.sync_api import Page, expect

from tests.browser.unit03 import EXERCISE, MISTAKE, active, run_if_first

MARKS = re.compile(r"^ *### (BEGIN|END) SOLUTION\n?", re.MULTILINE)
FOCUSED = "() => document.activeElement.matches('summary') ? document.activeElement.innerText : ''"


def solve(page: Page, students: NotebookNode, solution: NotebookNode, wrong: Sequence[tuple[str, str]] = ()) -> None:
    """Go through the students' notebook, which has just been opened, and answer as the solution does.

    The first exercise is answered wrongly first: as a known mistake, whose card is opened, and as `wrong` has it, each
    a source and what is said of it.
    """
    answers = {cell.id: MARKS.sub("", cell.source) for cell in solution.cells}
    for number, cell in enumerate(students.cells):
        at(page, number)
        is_answer = cell.metadata.get("nbgrader", {}).get("solution", False)
        if is_answer and cell.id == EXERCISE.name:
            check(page, MISTAKE.source_for(cell.id), number)
            open_card(page, MISTAKE.message)
            back_to(page, number)
            for source, said in wrong:
                check(page, source, number)
                expect(page.get_by_role("region", name=f"{cell.id}: not yet")).to_contain_text(said)
                back_to(page, number)
        if is_answer:
            write(page, answers[cell.id])
        run_if_first(page)
        if number + 1 < len(students.cells):
            page.keyboard.press("Shift+Enter")


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


def check(page: Page, source: str, number: int) -> None:
    """Write this answer into the active cell, and run it and its check."""
    write(page, source)
    page.keyboard.press("Shift+Enter")
    at(page, number + 1)
    page.keyboard.press("ControlOrMeta+Enter")


def back_to(page: Page, number: int) -> None:
    """From the check to its answer."""
    page.keyboard.press("Escape")
    page.keyboard.press("ArrowUp")
    at(page, number)


def open_card(page: Page, message: str) -> None:
    """Open the case and two hints on the first exercise's card."""
    card = page.get_by_role("region", name=f"{EXERCISE.name}: not yet")
    expect(card).to_contain_text(message)
    for title in ("Look at the case", "Hint 1 of 3", "Hint 2 of 3"):
        tab_to(page, title)
        page.keyboard.press("Space")
        expect(card.locator("details", has_text=title).first).to_have_attribute("open", "")


def tab_to(page: Page, words: str) -> None:
    """Tab, until what has the focus and opens by a key says these words."""
    for _ in range(40):
        if words in page.evaluate(FOCUSED):
            return
        page.keyboard.press("Tab")
    raise AssertionError(f"nothing with {words!r} can be reached")


def command(page: Page, words: str) -> None:
    """Choose a command from the palette: the first that these words find."""
    page.keyboard.press("ControlOrMeta+Shift+C")
    expect(page.locator(".lm-CommandPalette-input")).to_be_focused()
    page.keyboard.type(words)
    expect(page.locator(".lm-CommandPalette-item.lm-mod-active")).to_have_text(re.compile(f"^{words}"))
    page.keyboard.press("Enter")
