"""What JupyterLab offers a student: the course's own commands in its menu and palette, a terminal that knows them."""

import re
from collections.abc import Iterator
from pathlib import Path

import nbformat
import pytest
from click.testing import CliRunner
from playwright.sync_api import Page, expect

from rnncourse.seat.cli import main
from tests.browser.unit03 import RIGHT, active, end_kernels, shown
from tests.waiting import until

pytestmark = pytest.mark.nightly

UNIT = "03_cell"


@pytest.fixture(scope="module")
def course(home: Path) -> Path:
    """`rnncourse start`, with one exercise of unit 03 answered; it is where this student stopped."""
    (home / ".profile").write_text("PATH=/usr/bin:/bin\n")
    folder = home / "my-course"
    assert CliRunner().invoke(main, ["start", str(folder)]).exit_code == 0
    path = folder / UNIT / f"{UNIT}.ipynb"
    notebook = nbformat.read(path, as_version=4)
    (cell,) = [c for c in notebook.cells if c.metadata.get("nbgrader", {}).get("grade_id") == "hidden_layer"]
    cell.source = RIGHT
    nbformat.write(notebook, path)
    (folder / "progress.json").write_text(
        '{"format": 1, "exercises": {"hidden_layer": {"score": 1.0, "passed": true, "when": "2026-01-31"}}}'
    )
    return folder


@pytest.fixture(scope="module")
def lab(course: Path, home: Path, jupyterlab) -> Iterator[str]:
    """`rnncourse lab`, without saying which unit."""
    with jupyterlab("rnncourse.seat.cli", "lab", cwd=course, home=home) as address:
        yield address


def said(page: Page, label: str) -> str:
    """What a command's dialog says; it is closed by keyboard."""
    dialog = page.get_by_role("dialog").filter(has_text=label)
    text = dialog.locator("pre").inner_text()
    page.keyboard.press("Enter")
    expect(dialog).to_have_count(0)
    return text


def from_menu(page: Page, menu: str, *labels: str) -> None:
    """Choose a command in the menu."""
    page.get_by_role("menuitem", name=menu, exact=True).click()
    for label in labels:
        page.locator(".lm-Menu-itemLabel", has_text=re.compile(f"^{label}$")).click()


def test_the_lab_opens_where_one_stopped_and_the_menu_checks_all_and_submits(page, lab, course):
    page.goto(lab)
    shown(page)
    expect(page.get_by_role("menuitem", name="Course", exact=True)).to_be_visible()
    for instructor_s in ("Nbgrader", "Create Assignment", "Formgrader", "Validate"):
        assert instructor_s not in page.content()
    from_menu(page, "Course", "Check all")
    text = said(page, "Check all")
    assert "✓ hidden_layer" in text
    assert "1 of 31 points, 1 of 13 exercises passed" in text

    from_menu(page, "View", "Activate Command Palette")
    page.locator(".lm-CommandPalette-input").fill("Submit")
    page.locator(".lm-CommandPalette-itemLabel", has_text=re.compile("^Submit$")).click()
    handed_in = course / UNIT / f"{UNIT}-submission.ipynb"
    with page.expect_download() as download:
        page.get_by_role("link", name=f"Download {handed_in.name}").click()
    assert Path(download.value.path()).read_bytes() == handed_in.read_bytes()
    page.get_by_role("button", name="Ok", exact=True).focus()  # the link has it, since it was clicked
    text = said(page, "Submit")
    assert f"{handed_in} is the file to hand in." in text
    assert handed_in.is_file()


def test_one_goes_on_where_one_stopped_with_setup_and_answers_run_and_no_experiment(page, lab):
    page.goto(lab)
    shown(page)
    offer = page.get_by_role("button", name="Go on where I stopped")
    offer.click()
    statement = page.get_by_role("heading", name="rnn_step", exact=False).first
    expect(statement).to_be_in_viewport()
    expect(active(page)).to_contain_text("def rnn_step(")
    page.keyboard.press("Escape")
    ran = page.locator(".jp-CodeCell").filter(has_text=re.compile(r"^\[\d+\]:"))
    expect(offer).to_have_count(0)
    page.keyboard.press("ArrowDown")
    page.keyboard.press(
        "Control+Enter"
    )  # the check of an answer that is not written: it knows `check`, and nothing else
    expect(active(page)).to_contain_text("rnn_step")
    assert all("progress(" not in text for text in ran.all_inner_texts())
    page.get_by_role("heading", name="hidden_layer").first.scroll_into_view_if_needed()
    cell = page.locator(".jp-CodeCell", has_text="def hidden_layer(").first
    expect(cell.locator(".jp-InputPrompt")).to_have_text(re.compile(r"\[\d+\]:"))


def test_one_is_asked_for_the_notebook_that_one_looks_at_and_for_no_other(page, course, lab, home):
    other = course / "02_unfolding" / "02_unfolding.ipynb"
    text = other.read_text()
    other.write_text(text.replace("raise NotImplementedError", "return None", 1))
    end_kernels(page, lab)
    offer = page.get_by_role("button", name="Go on where I stopped")
    for path in (f"{UNIT}/{UNIT}.ipynb", "02_unfolding/02_unfolding.ipynb"):
        page.goto(lab.replace("/?", f"/lab/tree/{path}?"))
        page.locator(".jp-Notebook-ExecutionIndicator[data-status=idle]").first.wait_for()
        expect(offer).to_have_count(1)
    expect(page.locator(".jp-NotebookPanel")).to_have_count(2)
    other.write_text(text)


def test_the_terminal_knows_our_commands_though_a_login_sets_the_path_anew(page, lab, home):
    page.goto(lab)
    shown(page)
    from_menu(page, "File", "New", "Terminal")
    page.locator(".jp-Terminal .xterm-helper-textarea").wait_for()
    page.locator(".jp-Terminal").click()
    page.keyboard.type("rnncourse --version > ~/said; echo done > ~/end\n")
    until((home / "end").is_file, lambda: "the terminal runs nothing")
    assert "rnncourse, version" in (home / "said").read_text()
