"""`rnngrade mark`: a class, one written question, by keyboard alone."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from rnngrade.core.desk import Desk
from rnngrade.gradebook.book import GradebookWriter
from rnngrade.gradebook.marks import read_marks
from rnngrade.pages.marking.answers import answers, answers_of, mark
from rnngrade.pages.marking.question import questions, questions_of
from tests.browser import axe
from tests.grading.made import NONE, UNIT, WRITTEN, changed, outcome, submission

SIZE = 12  # a third wrote the same
DIFFERENT = SIZE - SIZE // 3 + 1
ATTACK = (
    '<img src=x onerror="document.title=1"><script>document.title=2</script>[x](javascript:alert(1)) '
    "$\\href{javascript:alert(1)}{x}$"
)


@pytest.fixture(scope="module")
def desk(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Desk:
    """Every third wrote the same, the first wrote something hostile."""
    desk = Desk(root, tmp_path_factory.mktemp("autumn"))
    desk.open()
    (question,) = questions(root, UNIT)
    record, notebook = outcome(root, submission("somebody"))
    with GradebookWriter(desk) as gradebook:
        assert gradebook.enter_unit(UNIT) == []
        for number in range(SIZE):
            text = (
                ATTACK
                if number == 1
                else "It cannot know."
                if number % 3 == 0
                else f"Answer {number}: $h_{{{number}}}$."
            )
            own = changed(notebook, WRITTEN, source=f"{question.before}{text}")
            one = record.__class__(**{**vars(record), "student": f"student{number}"})
            desk.keep(one, own)
            gradebook.put(one, own)
    return desk


@pytest.fixture(scope="module")
def address(desk: Desk, jupyterlab, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """`rnngrade mark` on that class."""
    home = tmp_path_factory.mktemp("instructor")
    command = ("rnngrade.cli", "--desk", str(desk.folder), "mark", UNIT[:2])
    with jupyterlab(*command, cwd=home, home=home) as address:
        yield address.replace("/?token", f"/rnngrade/mark/{UNIT}?token")


@pytest.mark.nightly
def test_the_page_can_be_used_and_read_by_everybody(page: Page, address: str):
    page.goto(address)
    expect(page.locator("#progress")).to_have_text(f"{DIFFERENT} of {DIFFERENT} to mark")
    page.locator("details").evaluate_all("all => all.forEach(e => { e.open = true })")
    page.keyboard.press("1")
    # (a question and its answer have the headings that they have in the notebook, wherever they are shown)
    assert [fault for fault in axe.faults(page) if "(heading-order)" not in fault] == []


def test_a_part_is_asked_for_in_the_path_for_jupyter_puts_the_token_behind_it(page: Page, address: str):
    page.goto(address.replace("?token", ";part=1%2F2?token"))
    expect(page.get_by_text("Part 1/2 of the answers.")).to_be_visible()


def test_a_class_is_marked_by_key(page: Page, address: str, desk: Desk):
    page.goto(address)
    progress = page.locator("#progress")
    expect(progress).to_have_text(f"{DIFFERENT} of {DIFFERENT} to mark")
    assert not re.search(r"student\d", page.content())
    assert page.title().startswith("Marking")
    points = page.locator("input[name=points]")
    seen = 0
    while (which := page.locator("article:visible .which").inner_text()) and seen < DIFFERENT:
        seen += 1
        if "handed in by 4" in which:
            page.keyboard.press("1")
            page.keyboard.press("2")
            page.keyboard.press("2")
            expect(points).to_have_value("1.5")
            page.keyboard.press("c")
            page.keyboard.type("Say what.")  # and Enter keeps it
        else:
            page.keyboard.press("f" if seen % 2 else "0")
        page.keyboard.press("Enter")
        left = DIFFERENT - seen
        expect(progress).to_have_text(f"{left} of {DIFFERENT} to mark")
    marks = read_marks(desk, UNIT, NONE)
    assert not any(mark.grades[WRITTEN].waits for mark in marks.values())
    for number in range(0, SIZE, 3):
        assert marks[f"student{number}"].grades[WRITTEN].points == 1.5
        assert marks[f"student{number}"].comments[WRITTEN] == "Say what."
    page.reload()
    expect(progress).to_have_text(f"0 of {DIFFERENT} to mark")
    assert page.title().startswith("Marking")


def test_a_rubric_is_changed_two_graders_meet_and_one_student_is_found(page: Page, address: str, desk: Desk):
    page.goto(address.replace("?", ";student=student4?"))
    progress = page.locator("#progress")
    expect(progress).to_have_text("0 of 1 to mark")
    expect(page.locator(".worth").first).to_have_text("1 point")
    page.keyboard.press("0")
    page.keyboard.press("1")
    with page.expect_response(lambda reply: reply.request.method == "PUT"):
        page.keyboard.press("Enter")
    assert read_marks(desk, UNIT, NONE)["student4"].grades[WRITTEN].points == 1.0
    page.get_by_text("Change the rubric").click()
    row = page.locator("[data-number='0']")
    row.locator("input").fill("0.5")
    page.locator("[name=comment]").fill("Half typed")
    row.get_by_role("button").click()
    expect(page.locator(".worth").first).to_have_text("0.5 points")
    assert read_marks(desk, UNIT, NONE)["student4"].grades[WRITTEN].points == 0.5
    expect(page.locator("[name=comment]")).to_have_value("Half typed")

    (question,) = questions_of(desk, UNIT)
    (mine,), _ = answers_of(desk, UNIT, answers(desk, UNIT, question), "student4")
    mark(desk, UNIT, question, mine.id, 3.0, "The other.", {})
    page.keyboard.press("0")
    page.keyboard.press("Enter")
    expect(page.locator(".told")).to_contain_text("gave it 3 points meanwhile")
    with page.expect_response(lambda reply: reply.request.method == "PUT"):
        page.keyboard.press("Enter")
    assert read_marks(desk, UNIT, NONE)["student4"].grades[WRITTEN].points == 0


def test_who_has_no_token_sees_nothing_and_marks_nothing(page: Page, address: str, desk: Desk):
    before = read_marks(desk, UNIT, NONE)
    bare = address.partition("?")[0]
    page.goto(bare)
    assert "to mark" not in page.content()
    reply = page.request.put(f"{bare}/{WRITTEN}/0123456789abcdef", data={"points": 3})
    assert reply.status == 403
    assert read_marks(desk, UNIT, NONE) == before
