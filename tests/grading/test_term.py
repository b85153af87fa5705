"""A class with rules and a class list, from what platforms write to report, feedback, export and status."""

import csv
import io
import json
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from rnncourse import exercises
from rnngrade.cli.shared import of_the_class
from rnngrade.core.errors import DeskError, Failures
from rnngrade.core.record import write_whole
from rnngrade.gradebook.door import opened
from rnngrade.gradebook.exporting import export, export_total
from rnngrade.gradebook.status import lines
from rnngrade.pages.feedback.write import write_feedback
from rnngrade.pages.report.page import write_reports
from rnngrade.roster.collect import collect
from rnngrade.roster.names import read_any
from rnngrade.roster.students import class_list
from rnngrade.roster.times import lateness_of, take_times
from tests.grading.made import NONE, UNIT, WRITTEN, enter, outcome, rnngrade, submission, table
from tests.grading.on_any_database import Person
from tests.grading.ruled import ROSTER, RULES, hand_in

POINTS = exercises.unit(UNIT).points


def test_points_before_and_after_stand_in_the_export(ruled):
    found = table(export(ruled, [UNIT], NONE, provisional=True))
    ada, alan, eve = found["ada"], found["alan"], found["eve"]
    assert (ada["days_late"], ada["late_days"]) == ("2", "1")
    assert (float(ada["before_late"]), float(ada["late_penalty"])) == (POINTS, pytest.approx(POINTS / 10))
    assert float(ada["total"]) == pytest.approx(0.9 * POINTS)
    assert (ada["due"], ada["handed_in"]) == ("2026-11-20 23:59", "2026-11-22 13:00"), "on the class's clock"
    assert (alan["days_late"], alan["due"], float(alan["total"])) == ("0", "2026-11-22 23:59", POINTS)
    assert found["emmy"]["days_late"] == "0", "six minutes are within the grace"
    assert (float(eve["late_penalty"]), eve["status"]) == (POINTS / 2, "not on the class list"), "the cap"
    assert (found["sofia"]["status"], found["sofia"]["total"]) == ("handed in nothing", "")
    assert list(found)[-1] == "eve"


def test_formgrader_knows_the_due_date_the_extension_and_the_penalty(ruled):
    with opened(ruled) as gradebook:
        page = gradebook.find_submission_notebook(UNIT, UNIT, "ada")
        assert page.late_submission_penalty == pytest.approx(POINTS / 10)
        alan = gradebook.find_submission(UNIT, "alan")
        assert alan.assignment.duedate == datetime(2026, 11, 20, 22, 59)
        assert (alan.extension.days, alan.total_seconds_late) == (2, 0)


def test_a_mark_by_hand_changes_what_being_late_costs_at_once(ruled):
    Person(ruled, "ada").gives(WRITTEN, 3)
    found = table(export(ruled, [UNIT], NONE))["ada"]
    assert float(found["late_penalty"]) == pytest.approx(round((POINTS + 3) / 10, 2))
    (page,) = write_feedback(ruled, UNIT, NONE, ["ada"])
    text = page.read_text()
    assert f"You earned {POINTS + 3} points; {(POINTS + 3) / 10:g} points came off" in text
    assert "because it was handed in late (2 days late, 1 of them a late day)" in text


def test_a_page_says_late_days_that_cost_nothing(ruled):
    (ruled.folder / "desk.toml").write_text(RULES.replace("free_days = 1", "free_days = 5"))
    (page,) = write_feedback(ruled, UNIT, NONE, ["ada"])
    assert "<p>2 days late, all of them late days: that cost no points.</p>" in page.read_text()


def test_a_page_says_who_it_is_for_by_name_and_by_id(ruled):
    ada, *_, eve = write_feedback(ruled, UNIT, NONE)
    assert '<p class="student">Ada Lovelace <span class="faint">ada</span></p>' in ada.read_text()
    assert '<p class="student">eve</p>' in eve.read_text()
    (ruled.folder / "roster.csv").write_text(ROSTER.replace("Lovelace", "King"))
    assert "1 without feedback that says what is so now" in "\n".join(lines(ruled, Failures()))


def test_late_days_spent_on_one_unit_are_missing_in_the_next(ruled):
    hand_in(ruled, "ada", "2026-11-07 12:00:00 UTC", exercises.unit("01").stem)
    assert lateness_of(ruled, UNIT, NONE, ["ada"])["ada"].free == 0
    assert lateness_of(ruled, exercises.unit("01").stem, NONE, ["ada"])["ada"].free == 1


def test_the_report_shows_who_is_late_missing_and_not_on_the_list(ruled):
    text = write_reports(ruled, [UNIT], NONE)[0].read_text()
    assert "Handed in nothing: <bdi>Софья Ковалевская</bdi>." in text
    assert "of 4 on the class list" in text
    assert "<dt>Late</dt><dd>1</dd>" in text, "ada; eve is late, too, and counts in nothing"
    assert 'title="2 days late, 1 of them a late day"' in text
    assert f">{0.9 * POINTS:.2f}</td>" in text
    head, apart = text.split('<h3 id="apart">Not on the class list</h3>')
    table_of_all = head[head.index('id="everyone"') :]
    assert "Lovelace, Ada" in table_of_all
    assert 'title="eve"' not in table_of_all
    assert 'title="eve"' in apart
    assert 'href="02_unfolding/ada.html#notebook"' in text
    page = (ruled.reports / UNIT / "ada.html").read_text()
    assert '<details class="notebook" id="notebook" open>' in page


def test_status_says_what_is_there_and_what_to_do_next(ruled):
    def said(now=datetime(2026, 12, 1, tzinfo=UTC)):
        return "\n".join(lines(ruled, Failures(), now))

    text = said()
    assert "4 on the class list" in text
    assert "Late: 10 % of the points earned for each day that has begun; 50 % at most; 10 minutes of grace" in text
    assert f"{UNIT}, was due 2026-11-20 23:59\n  4 handed in, 4 graded" in text
    assert "late: ada (2 days late, 1 of them a late day), eve (10 days late, 1 of them a late day)" in text
    assert "extended: alan to 2026-11-22 23:59" in text
    assert "1 handed in nothing: Софья Ковалевская" in text
    assert "1 not on the class list, and kept apart: eve" in text
    assert "Next: mark 3 answers of 02_unfolding by hand" in text
    (ruled.folder / "roster.csv").rename(ruled.folder / "Roster.CSV")
    assert said() == text
    record = ruled.record(UNIT, "ada")
    write_whole(ruled.record_path(UNIT, "ada"), replace(record, versions={"checks": "old"}).to_json().encode())
    assert "1 to grade" in said()
    assert "\n  1 graded before the unit's checks changed: 'rnngrade run 02' grades them again" in said()
    write_whole(ruled.record_path(UNIT, "ada"), replace(record, key="another").to_json().encode())
    assert "1 not in the gradebook as graded" in said()
    write_whole(ruled.record_path(UNIT, "ada"), record.to_json().encode())
    for student in ("ada", "alan", "eve"):
        Person(ruled, student).gives(WRITTEN, 1)
    assert "Next: write the feedback on 02_unfolding" in said()
    write_feedback(ruled, UNIT, NONE)
    assert "Next: all is graded and written" in said()
    hand_in(ruled, "sofia")
    assert "Next: grade 1 of 02_unfolding" in said()
    (ruled.folder / "desk.toml").write_text(RULES + "[late.free_days_of]\nadda = 3\n")
    assert "desk.toml, line 13: nobody in the class is called 'adda'; there is ada" in said()
    (ruled.folder / "desk.toml").write_text(RULES + "[later]\n")
    with pytest.raises(DeskError, match=r"desk\.toml, line 12: desk\.toml has no setting 'later'"):
        said()


def test_a_time_that_cannot_be_read_costs_its_own_student(ruled):
    ruled.submission_path(UNIT, "ada").with_name("timestamp.txt").write_text("yesterday")
    run = rnngrade(ruled, "status", code=1)
    assert "late: eve (10 days late, 1 of them a late day)\n" in run.output
    assert f"Done for all but these:\n  ada, {UNIT}: " in run.output
    assert "holds no date" in run.output


def test_a_run_says_who_is_missing_and_who_is_not_on_the_list(ruled):
    assert list(of_the_class(ruled, class_list(ruled), UNIT)) == [
        "02_unfolding: 1 not on the class list, and kept apart: eve",
        "02_unfolding: 1 handed in nothing: Софья Ковалевская",
    ]
    (ruled.folder / "roster.csv").unlink()
    assert list(of_the_class(ruled, class_list(ruled), UNIT)) == []


def test_work_that_is_marked_blind_counts_and_says_nothing_of_who_is_missing(ruled, root):
    hand_in(ruled, "Participant 17")
    enter(ruled, outcome(root, submission("Participant 17")))
    write_whole(ruled.folder / "collected" / UNIT / "Participant 17", b"participant 17")
    before, text = write_reports(ruled, [UNIT], NONE)[0].read_text(), "\n".join(lines(ruled, Failures()))
    assert "1 student is known by number alone" in before
    assert "Handed in nothing" not in before
    assert '<dd>4 <span class="faint">of 4 on the class list' in before, (
        "eve is on no list, and Participant 17 in the class"
    )
    assert "1 not on the class list, and kept apart: eve" in text
    found = table(export(ruled, [UNIT], NONE))
    assert [found[who]["status"] for who in ("sofia", "Participant 17")] == ["not known", "known by number alone"]
    failures = Failures()
    term = {row["student"]: row for row in csv.DictReader(io.StringIO(export_total(ruled, [UNIT], failures)))}
    assert "Participant 17" not in term
    assert (term["sofia"]["total"], term["sofia"]["waits_for_a_person"]) == ("", "yes")
    assert failures.told == [f"the total, {UNIT}: Waits, for 1 student is known by number alone: collect with --names."]


def test_status_of_an_empty_desk_says_how_to_begin(desk):
    run = rnngrade(desk, "status")
    assert "no class list (roster.csv)" in run.output
    assert "Next: take what was handed in" in run.output


def test_a_rule_that_is_wrong_ends_a_command_in_one_sentence(ruled):
    (ruled.folder / "desk.toml").write_text(RULES.replace('"10 %"', "10"))
    for command in (["return", "csv", "02"], ["feedback", "02"], ["report", "02"], ["status"]):
        said = 'desk.toml, line 8: per_day is a share, from 0 to 1 or as in "10 %", and not 10.\n'
        assert rnngrade(ruled, *command, code=1).output == said


MOODLE = (
    "\ufeffID,Vollständiger Name,E-Mail-Adresse,Status,Bewertung,Zuletzt geändert (Abgabe)\r\n"
    'Teilnehmer/in 17,"Lovelace, Ada",ada@example.org,Abgegeben,,"Sonntag, 22. November 2026, 00:10"\r\n'
    'Teilnehmer/in 4,"Turing, Alan",alan@example.org,Abgegeben,,"Freitag, 20. November 2026, 23:59"\r\n'
    'Teilnehmer/in 170,"Curry, Haskell",haskell@example.org,Keine Abgabe,,-\r\n'
    'Teilnehmer/in 99,"Nobody, Known",x@example.org,Abgegeben,,"Freitag, 20. November 2026, 23:59"\r\n'
)
CANVAS = json.dumps(
    [
        {"user_id": 901, "submitted_at": "2026-11-21T23:10:00Z", "late": True},
        {"user_id": 902, "submitted_at": "2026-11-20T22:59:00Z"},
        {"user_id": 903, "submitted_at": None, "missing": True},
        {"user_id": 7, "submitted_at": "2026-11-20T22:59:00Z"},
    ]
)
CANVAS_TABLE = (
    "user_id,submitted_at,late\n901,2026-11-21T23:10:00Z,true\n902,2026-11-20T22:59:00Z,false\n903,,false\n"
    "7,2026-11-20T22:59:00Z,false\n"
)
GRADESCOPE = (
    "First Name,Last Name,SID,Email,Sections,Total Score,Status,Submission Time,Lateness (H:M:S)\n"
    "Ada,Lovelace,s1,ada@example.org,,,Ungraded,2026-11-21 18:10:00 -0500,24:11:00\n"
    "Alan,Turing,s2,alan@example.org,,,Ungraded,2026-11-20 17:59:00 -0500,00:00:00\n"
    "Emmy,Noether,s3,emmy@example.org,,,Missing,,\n"
    "No,Body,s9,no@example.org,,,Ungraded,2026-11-20 17:59:00 -0500,00:00:00\n"
)
OWN = (
    "unit;id;handed_in\n02;ada@example.org;2026-11-22 00:10\n02_unfolding;Alan Turing;2026-11-20 23:59\n"
    "02;nobody;2026-11-20 23:59\n"
)


@pytest.mark.parametrize(
    ("name", "text", "options"),
    [
        ("moodle.csv", MOODLE, ["--unit", "02", "--language", "de", "--column", "Zuletzt geändert (Abgabe)"]),
        ("canvas.json", CANVAS, ["--unit", "02"]),
        ("canvas.csv", CANVAS_TABLE, ["--unit", "02"]),
        ("gradescope.csv", GRADESCOPE, ["--unit", "02"]),
        ("own.csv", OWN, []),
    ],
)
def test_when_submissions_came_is_taken_from_each_platform_s_table(desk, tmp_path, name, text, options):
    (desk.folder / "desk.toml").write_text(RULES)
    (desk.folder / "roster.csv").write_text(ROSTER)
    for student, number in (("ada", "17"), ("alan", "4")):
        hand_in(desk, student)
        write_whole(desk.folder / "collected" / UNIT / student, f"moodle {student} {number}".encode())
    (tmp_path / name).write_text(text, encoding="utf-8")
    first, second = (rnngrade(desk, "times", tmp_path / name, *options) for _ in range(2))
    assert "1 student has a time there, and no notebook of 02_unfolding here" in first.output
    assert "2 times are new, 0 known already." in first.output
    assert "0 times are new, 2 known already." in second.output
    late = lateness_of(desk, UNIT, NONE)
    assert str(late["ada"].handed_in) == "2026-11-21 23:10:00+00:00"
    assert (late["ada"].days, late["alan"].days) == (2, 0)


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("t.csv", "id,handed_in\nada,20.11.2026\n", "line 2: '20.11.2026' is no date"),
        ("t.csv", "id,when\nada,2026-11-20\n", "no column of times that is known: say with --column .*'id', 'when'"),
        ("t.csv", "id,handed_in\nada,-\n", "has no time in any row"),
        ("t.csv", "id,unit,handed_in\nada,77,2026-11-20 10:00\n", "line 2: there is no unit '77'"),
        ("t.json", '{"a": 1}', "is no list of Canvas's submissions"),
    ],
)
def test_a_table_of_times_that_is_none_is_one_sentence(desk, tmp_path, name, text, said):
    (desk.folder / "desk.toml").write_text(RULES)
    (tmp_path / name).write_text(text)
    with pytest.raises(DeskError, match=said):
        list(take_times(desk, UNIT, read_any(tmp_path / name)))


def test_a_table_of_another_class_is_no_success(desk, tmp_path):
    (tmp_path / "t.csv").write_text("id,handed_in\nnobody,2026-11-20 10:00+01:00\n")
    assert (
        "No time is of anybody who handed in"
        in rnngrade(desk, "times", tmp_path / "t.csv", "--unit", "02", code=1).output
    )


def test_a_time_without_a_zone_needs_one(desk, tmp_path):
    (tmp_path / "t.csv").write_text("id,handed_in\nada,2026-11-20 10:00\n")
    with pytest.raises(DeskError, match="line 2: in which time zone is that"):
        list(take_times(desk, UNIT, read_any(tmp_path / "t.csv")))


def test_canvas_s_late_is_kept_until_it_is_known_how_late(desk, tmp_path, root):
    (desk.folder / "desk.toml").write_text(RULES)
    source = tmp_path / "submissions"
    notebook = (root / "notebooks" / UNIT / f"{UNIT}.ipynb").read_bytes()
    write_whole(source / f"lovelaceada_LATE_901_77_{UNIT}.ipynb", notebook)
    write_whole(source / f"turingalan_902_78_{UNIT}.ipynb", notebook)
    collect(source, desk, NONE)
    late = lateness_of(desk, UNIT, NONE)
    assert late["lovelaceada_901"].is_unclear
    assert late["lovelaceada_901"].penalty(10, 10) == 0, "how late is not known"
    assert not late["turingalan_902"].is_unclear
    text = "\n".join(lines(desk, Failures()))
    assert "late: lovelaceada_901 (late, says Canvas, and not when it came)" in text
    (tmp_path / "times.json").write_text(CANVAS)
    list(take_times(desk, UNIT, read_any(tmp_path / "times.json")))
    assert lateness_of(desk, UNIT, NONE)["lovelaceada_901"].words() == "2 days late, 1 of them a late day"
    write_whole(source / f"lovelaceada_901_79_{UNIT}-1.ipynb", notebook + b"\n")
    (source / f"lovelaceada_LATE_901_77_{UNIT}.ipynb").unlink()
    collect(source, desk, NONE)
    assert not lateness_of(desk, UNIT, NONE)["lovelaceada_901"].says, "what it said of an earlier version is gone"
