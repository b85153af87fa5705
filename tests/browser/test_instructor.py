"""The instructor's seat: `rnngrade lab`, a class in formgrader, points and a comment by hand, the report."""

import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, Response, expect

from rnngrade.core.desk import Desk
from rnngrade.gradebook.book import GradebookWriter
from rnngrade.gradebook.door import opened
from rnngrade.pages.report.page import write_reports
from tests.browser import axe
from tests.grading.made import NAMES, NONE, UNIT, WRITTEN, mistake, outcome, submission

COMMON = mistake(NAMES[0])
COMMENT = "Good on sharing; say what it saves."


@pytest.fixture(scope="module")
def desk(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Desk:
    """A class of four, as a run leaves it: two have made the same mistake."""
    desk = Desk(root, tmp_path_factory.mktemp("autumn"))
    desk.open()
    made = [
        submission("ada"),
        submission("alan", "blank"),
        submission("barbara", **{NAMES[0]: COMMON}),
        submission("charles", **{NAMES[0]: COMMON, NAMES[1]: mistake(NAMES[1])}),
    ]
    with GradebookWriter(desk) as gradebook:
        assert gradebook.enter_unit(UNIT) == []
        for one in made:
            one.write(root, desk.submitted)
            record, notebook = outcome(root, one)
            desk.keep(record, notebook)
            gradebook.put(record, notebook)
    return desk


@pytest.fixture(scope="module")
def lab(desk: Desk, jupyterlab, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """`rnngrade lab` on that class."""
    home = tmp_path_factory.mktemp("instructor")
    with jupyterlab("rnngrade.cli", "--desk", str(desk.folder), "lab", cwd=home, home=home) as address:
        yield address


def keeps(kind: str) -> Callable[[Response], bool]:
    """Whether a response is formgrader's, that a grade or a comment is kept."""
    return lambda sent: f"/api/{kind}/" in sent.url and sent.request.method == "PUT"


@pytest.mark.nightly
def test_a_class_is_found_in_formgrader_and_marked_by_hand(page: Page, lab: str, desk: Desk):
    page.goto(lab)
    page.get_by_role("menuitem", name="Nbgrader").click()
    page.get_by_role("menuitem", name="Formgrader").click()
    formgrader = page.frame_locator("iframe")
    formgrader.get_by_role("link", name="Manual Grading").click()
    formgrader.get_by_role("link", name=UNIT).click()
    formgrader.get_by_role("link", name=UNIT).last.click()
    expect(formgrader.get_by_role("link", name="Submission #")).to_have_count(4)

    with opened(desk) as gradebook:
        barbara = gradebook.find_submission_notebook(UNIT, UNIT, "barbara").id
    formgrader.locator(f"a.name-hidden[href*='{barbara}']").click()
    written = formgrader.locator(".nbgrader_cell").filter(has=formgrader.get_by_role("button", name="Full credit"))
    expect(formgrader.get_by_text(COMMON.message).first).to_be_visible()
    expect(formgrader.locator("mjx-container").nth(20)).to_be_attached()  # mathematics, without a network
    answered = written.filter(has_text="A made-up answer in words.")
    # The page fetches what is known of marks and comments; what is typed before that arrives would be lost.
    score, comment = answered.get_by_role("spinbutton").first, answered.get_by_role("textbox")
    expect(score).to_have_class(re.compile("needs_manual_grade"))
    expect(comment).to_have_attribute("placeholder", re.compile("^Type any comments here"))
    for field, value, kind in ((score, "2.5", "grade"), (comment, COMMENT, "comment")):
        field.fill(value)
        with page.expect_response(keeps(kind)) as kept:
            field.press("Tab")
        assert kept.value.ok
    expect(answered.locator(".score-saved")).to_be_hidden()

    with opened(desk) as gradebook:
        grade = gradebook.find_grade(WRITTEN, UNIT, UNIT, "barbara")
        assert (grade.manual_score, grade.needs_manual_grade) == (2.5, False)
        assert gradebook.find_comment(WRITTEN, UNIT, UNIT, "barbara").comment == COMMENT


@pytest.mark.nightly
def test_formgrader_offers_nothing_that_would_run_a_submission_without_a_sandbox(page: Page, lab: str):
    server = lab.partition("?")[0]
    page.goto(lab)
    page.goto(f"{server}formgrader/manage_submissions/{UNIT}")
    expect(page.get_by_role("row").filter(has_text="barbara")).to_be_visible()
    expect(page.get_by_role("note")).to_contain_text(f"rnngrade run {UNIT} grades what is new, in a sandbox")
    columns = ["Student Name", "Student ID", "Timestamp", "Status", "Score"]
    expect(page.get_by_role("columnheader")).to_have_text(columns)
    expect(page.locator("td.autograde").first).to_be_hidden()
    page.goto(f"{server}formgrader/manage_assignments")
    expect(page.get_by_role("row").filter(has_text=UNIT)).to_contain_text("4")
    columns = ["Name", "Due Date", "Status", "Edit", "Preview", "# Submissions"]
    expect(page.get_by_role("columnheader")).to_have_text(columns)
    expect(page.locator("td.assign").first).to_be_hidden()


def test_the_report_opens_and_names_the_most_common_mistake(page: Page, desk: Desk):
    write_reports(desk, [UNIT], NONE)
    page.goto((desk.reports / "index.html").as_uri())
    expect(page.get_by_role("row").filter(has_text="02 ")).to_contain_text(
        f"{NAMES[0]}, {COMMON.name.replace('_', ' ')}: 2 of 4"
    )
    page.get_by_role("link", name="02 ").click()
    mistakes = page.get_by_role("region", name="Most common mistakes")
    expect(mistakes.get_by_role("listitem").first).to_contain_text(COMMON.message)


@pytest.mark.nightly
def test_every_page_of_the_report_can_be_used_and_read_by_everybody(page: Page, desk: Desk):
    write_reports(desk, [UNIT], NONE)
    pages = sorted(desk.reports.rglob("*.html"))
    assert len(pages) > 2
    found = {}
    for path in pages:
        page.goto(path.as_uri())
        page.locator("details").evaluate_all("all => all.forEach(e => { e.open = true })")
        found[path.name] = axe.faults(page)
    assert {name: faults for name, faults in found.items() if faults} == {}
