"""Unit 03 in a browser, by keyboard: its first exercise, wrong and right, and the way from cell to cell."""

import re

from playwright.sync_api import Locator, Page, expect

from rnncourse import exercises
from tests.waiting import until

HEADING = "03 · The recurrent cell"
EXERCISE = exercises.find("hidden_layer")
MISTAKE = next(m for m in EXERCISE.misconceptions if m.name == "no_nonlinearity")
RIGHT = "def hidden_layer(x, W_xh, b_h):\n    return np.tanh(x @ W_xh + b_h)"
# a mistake that nobody has named
UNNAMED = "def hidden_layer(x, W_xh, b_h):\n    a = x @ W_xh + 3 * b_h\n    return np.tanh(a)"


def active(page: Page) -> Locator:
    return page.locator(".jp-Cell.jp-mod-active")


def shown(page: Page, heading: str = HEADING) -> None:
    """Wait for the notebook, with its kernel ready."""
    expect(page.get_by_role("heading", name=heading)).to_be_visible()
    page.locator(".jp-Notebook-ExecutionIndicator[data-status=idle]").wait_for()


def run_down_to(page: Page, words: str) -> None:
    """Shift-Enter, cell by cell, until the cell with these words is the next one."""
    for _ in range(20):
        if words in active(page).inner_text():
            return
        at = active(page).get_attribute("data-windowed-list-index")
        run_if_first(page)
        page.keyboard.press("Shift+Enter")
        expect(active(page)).not_to_have_attribute("data-windowed-list-index", at or "")
    raise AssertionError(f"no cell with {words!r} among the first twenty")


def run_if_first(page: Page) -> None:
    """Run the active cell, and wait for its number, if it is the first with code: a kernel that is only just connected
    may not take what it is sent.
    """
    if "import numpy as np" not in active(page).inner_text():
        return
    page.keyboard.press("Control+Enter")
    until(lambda: _has_run(page), active(page).inner_text)


def _has_run(page: Page) -> bool:
    """Whether the active cell has its number. One that does not even wait for its turn after a while is run again."""
    prompt = active(page).locator(".jp-InputPrompt")
    for _ in range(100):
        if re.fullmatch(r"\[\d+\]:", prompt.inner_text().strip()):
            return True
        page.wait_for_timeout(100)
    if "*" not in prompt.inner_text():
        page.keyboard.press("Control+Enter")
    return False


def go_to(page: Page, words: str) -> None:
    """Make the code cell with these words the active one, ready for a command."""
    page.locator(".jp-CodeCell", has_text=words).get_by_role("textbox").first.click()
    page.keyboard.press("Escape")
    expect(page.locator(".jp-Notebook.jp-mod-commandMode")).to_be_visible()
    expect(active(page)).to_contain_text(words)


def write(page: Page, source: str) -> None:
    """Write into the cell that is active and run it; the check below it is the next one."""
    edit(page, source)
    page.keyboard.press("Shift+Enter")
    expect(active(page)).to_contain_text("check(hidden_layer)")


def edit(page: Page, source: str) -> None:
    """Write into the cell that is active."""
    page.keyboard.press("Enter")
    expect(page.locator(".jp-Notebook.jp-mod-editMode")).to_be_visible()
    page.keyboard.press("ControlOrMeta+A")
    page.keyboard.insert_text(source)
    expect(active(page).locator(".cm-content")).to_contain_text(source.splitlines()[-1].strip())


def end_kernels(page: Page, address: str) -> None:
    """What a night does to them."""
    server, _, token = address.partition("?token=")
    authorized = {"Authorization": f"token {token}"}
    for session in page.request.get(f"{server}api/sessions", headers=authorized).json():
        assert page.request.delete(f"{server}api/sessions/{session['id']}", headers=authorized).ok
