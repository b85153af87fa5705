"""Grades as CSV: for a spreadsheet, for Canvas and for Moodle; names and formulas that would break it."""

import csv
import datetime
import io
from dataclasses import replace

import pytest

from rnncourse import exercises
from rnngrade.core.errors import DeskError, Failures
from rnngrade.core.record import Finding, write_whole
from rnngrade.demo.sample import BLANK
from rnngrade.gradebook.book import GradebookWriter
from rnngrade.gradebook.explaining import explained
from rnngrade.gradebook.exporting import export
from rnngrade.roster.students import Person as Student
from tests.grading.made import NAMES, NONE, UNIT, WRITTEN, enter, mistake, outcome, rows, submission, table
from tests.grading.on_any_database import Person

FIRST = NAMES[0]
FULL = exercises.unit(UNIT).points + 3

ROSTER = """\
id,first_name,last_name,email,sis_id,canvas_id,section
ada,Ada,"King, Countess of Lovelace",ada@example.org,S1,501,Monday
zoe,Zoë,"O""Hara 木",zoe@example.org,S2,502,
absent,Abe,Sent,=1+1@example.org,+S3,503,@home
"""


def make_graded(desk, root):
    """Three students: ada with one mistake, a written grade and a flag; zoe blank; eve_9 all right, late."""
    config = desk.folder / "nbgrader_config.py"
    config.write_text(config.read_text() + 'c.LateSubmissionPlugin.penalty_method = "zero"\n')
    write_whole(desk.submission_path(UNIT, "eve_9").parent / "timestamp.txt", b"2026-11-21 12:00:00 UTC")
    flag = Finding("eval", '=HYPERLINK("x"), she calls eval.', FIRST, True)
    with GradebookWriter(desk) as gradebook:
        gradebook.enter_students([Student("zoe", "Zo", "From the gradebook")])
    Person(desk, "").sets_the_due_date(datetime.datetime(2026, 11, 20))
    enter(
        desk,
        outcome(root, submission("ada", **{FIRST: mistake(FIRST)}), (flag, Finding("order", "An order of her own."))),
        outcome(root, submission("zoe", BLANK)),
        outcome(root, submission("eve_9")),
    )
    Person(desk, "ada").gives(WRITTEN, 2.5)


@pytest.fixture
def desk(copy_of):
    """These, and a class list."""
    desk = copy_of(make_graded)
    (desk.folder / "roster.csv").write_text(ROSTER, encoding="utf-8-sig")  # as a spreadsheet writes it
    return desk


def points(desk, student, name):
    return desk.record(UNIT, student).exercise(name).points


def test_a_spreadsheet_gets_the_points_of_each_exercise(desk):
    text = export(desk, [UNIT], NONE)
    found = table(text, "student")
    assert rows(text)[0][5 : 5 + len(NAMES)] == NAMES, "in the order of the unit"
    ada = found["ada"]
    assert float(ada[FIRST]) == points(desk, "ada", FIRST) < exercises.find(FIRST).points
    assert ada["last_name"] == "King, Countess of Lovelace"
    assert (ada["unit"], ada["written"], ada["late_penalty"], ada["max"]) == (UNIT, "2.5", "0", str(FULL))
    assert float(ada["total"]) == pytest.approx(desk.record(UNIT, "ada").points + 2.5)
    assert (ada["waits_for_a_person"], found["eve_9"]["waits_for_a_person"]) == ("no", "yes")
    assert found["zoe"]["total"] == "0"
    assert (found["zoe"]["first_name"], found["zoe"]["last_name"]) == ("Zoë", 'O"Hara 木')
    assert (found["absent"]["status"], found["absent"]["total"]) == ("handed in nothing", "")
    assert (found["ada"]["status"], found["eve_9"]["status"]) == ("graded", "not on the class list")
    assert list(found)[-1] == "eve_9", "who is not on the list stands apart"
    late = [found["eve_9"][name] for name in ("before_late", "late_penalty", "total")]
    assert late == [str(FULL - 3), str(FULL - 3), ""], "nbgrader's own plugin takes all of it; a person has to look"
    assert table(export(desk, [UNIT], NONE, provisional=True))["eve_9"]["total"] == "0"


def test_what_is_dropped_counts_for_nobody_and_full_points_are_all_theirs_who_handed_in(desk):
    second, most = NAMES[1], exercises.find(FIRST).points
    before = table(export(desk, [UNIT], NONE, provisional=True))
    (desk.folder / "desk.toml").write_text(f'[changed.02]\ndropped = ["{FIRST}"]\nfull_points = ["{second}"]\n')
    after = table(export(desk, [UNIT], NONE, provisional=True))
    assert {one["max"] for one in after.values()} == {str(FULL - most)}
    assert FIRST not in after["ada"]
    full = exercises.find(second).points
    assert [after[student].get(second) for student in ("ada", "zoe", "absent")] == [str(full), str(full), ""]
    lost = float(before["ada"][FIRST])
    assert float(after["ada"]["total"]) == pytest.approx(float(before["ada"]["total"]) - lost)
    assert float(after["zoe"]["total"]) == full
    words = "\n".join(explained(desk, UNIT, "zoe"))
    assert f"zoe, {UNIT}: {full} of {FULL - most} points" in words
    assert f"{FIRST}: dropped in desk.toml" in words
    assert f"{second}: {full} of {full}\n    Full points for all, by desk.toml." in words


def test_only_flags_are_exported_and_no_cell_is_a_formula(desk):
    text = export(desk, [UNIT], NONE)
    assert table(text)["ada"]["flags"] == """'=HYPERLINK("x"), she calls eval."""
    for row in rows(text):
        assert not [cell for cell in row if cell.strip()[:1] in tuple("=+-@")]


@pytest.mark.parametrize("cell", ["=1+1", "+1", "-1", "@SUM(A1)", " =1", "\t=1", "＝1+1", "\r\n=1"])
def test_a_name_that_a_spreadsheet_would_run_gets_an_apostrophe(desk, cell):
    lines = io.StringIO()
    csv.writer(lines).writerows([["id", "first_name"], ["ada", f"x{cell}"], ["zoe", cell]])
    (desk.folder / "roster.csv").write_bytes(lines.getvalue().encode())
    found = table(export(desk, [UNIT], NONE))
    assert found["zoe"]["first_name"] == f"'{cell.strip()}"
    assert found["ada"]["first_name"] == " ".join(f"x{cell}".split())


def test_without_a_class_list_names_come_from_the_gradebook(desk):
    (desk.folder / "roster.csv").unlink()
    found = table(export(desk, [UNIT], NONE))
    assert list(found) == ["ada", "eve_9", "zoe"]
    assert found["zoe"]["last_name"] == "From the gradebook"
    assert {one["status"] for one in found.values()} == {"graded"}


def test_two_exports_are_the_same_and_change_nothing(desk):
    assert export(desk, [UNIT], NONE) == export(desk, [UNIT], NONE)


def test_what_is_not_there_is_one_sentence(desk):
    with pytest.raises(DeskError, match="no unit '03_cell': nothing of it was graded"):
        export(desk, ["03_cell"], NONE)


def test_one_student_s_record_does_not_keep_the_others_from_being_exported(desk):
    record = desk.record(UNIT, "ada")
    half = replace(record, findings=(Finding("odd", "Half a \ud800 pair.", FIRST, True),))
    write_whole(desk.record_path(UNIT, "ada"), half.to_json().encode())
    odd = replace(desk.record(UNIT, "zoe"), findings=7)
    desk.record = lambda unit, student, read=desk.record: odd if student == "zoe" else read(unit, student)
    failures = Failures()
    found = table(export(desk, [UNIT], failures))
    assert [words.partition(":")[0] for words in failures.told] == [f"zoe, {UNIT}"]
    assert {"ada", "eve_9"} < {*found}
    assert "zoe" not in found
    assert found["ada"]["flags"] == "Half a ? pair."


def test_a_record_that_cannot_be_read_is_told_and_its_points_are_the_gradebook_s(desk):
    before = table(export(desk, [UNIT], NONE))["ada"]["total"]
    desk.record_path(UNIT, "ada").write_text("{")
    failures = Failures()
    assert table(export(desk, [UNIT], failures))["ada"]["total"] == before
    (words,) = failures.told
    assert words.startswith(f"ada, {UNIT}: The record ")
