"""What must hold of the gradebook on any database: suites that the tests of SQLite and of PostgreSQL inherit."""

import csv
import datetime
import html
import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import nbformat
import pytest
from sqlalchemy import select

from rnncourse import exercises
from rnngrade.core.desk import Desk
from rnngrade.core.errors import DeskError, Failures
from rnngrade.core.record import Finding, write_whole
from rnngrade.demo.sample import BLANK
from rnngrade.gradebook.book import GradebookWriter
from rnngrade.gradebook.door import ENTERED, opened
from rnngrade.gradebook.marks import read_marks
from rnngrade.roster.students import Person as Student
from tests.grading.made import NAMES, NONE, UNIT, WRITTEN, changed, enter, mistake, outcome, resubmitted, submission
from tests.sampling import ALL

FIRST = NAMES[0]
FULL = float(exercises.unit(UNIT).points)


def put(desk: Desk, *outcomes) -> None:
    """Put records and notebooks by a writer of their own."""
    with GradebookWriter(desk) as gradebook:
        for record, notebook in outcomes:
            gradebook.put(record, notebook)


class Person:
    """Someone in formgrader, who gives grades and comments, and sets a due date."""

    def __init__(self, desk: Desk, student: str) -> None:
        self.desk, self.student = desk, student

    def gives(self, cell: str, points: float, comment: str | None = None, extra: float | None = None) -> None:
        def change(gradebook):
            grade = gradebook.find_grade(cell, UNIT, UNIT, self.student)
            grade.manual_score, grade.extra_credit, grade.needs_manual_grade = points, extra, False
            if comment:
                answer = gradebook.find_comment(cell.removeprefix("check_"), UNIT, UNIT, self.student)
                answer.manual_comment = comment

        self._change(change)

    def takes_the_flag_away(self) -> None:
        def change(gradebook):
            gradebook.find_submission_notebook(UNIT, UNIT, self.student).flagged = False

        self._change(change)

    def sets_the_due_date(self, when: datetime.datetime) -> None:
        def change(gradebook):
            gradebook.find_assignment(UNIT).duedate = when

        self._change(change)

    def _change(self, change) -> None:
        with opened(self.desk) as gradebook:
            change(gradebook)
            gradebook.db.commit()


def content(desk: Desk, unit: str = UNIT) -> dict[str, dict]:
    """All that the gradebook says of a unit, by student; without the random names of its rows."""
    with opened(desk) as gradebook:
        found = {}
        for handed_in in gradebook.assignment_submissions(unit):
            (page,) = handed_in.notebooks
            found[handed_in.student.id] = {
                "timestamp": handed_in.timestamp,
                "score": handed_in.score,
                "waits": handed_in.needs_manual_grade,
                "penalty": page.late_submission_penalty,
                "flagged": page.flagged,
                "grades": {
                    g.name: (g.auto_score, g.manual_score, g.extra_credit, g.needs_manual_grade) for g in page.grades
                },
                "comments": {c.name: (c.auto_comment, c.manual_comment) for c in page.comments},
            }
        return found


def files(desk: Desk) -> dict[str, tuple[bytes, int]]:
    """All files of `autograded`, and when they were written."""
    paths = [path for path in sorted(desk.autograded.rglob("*")) if path.is_file()]
    return {str(p.relative_to(desk.autograded)): (p.read_bytes(), p.stat().st_mtime_ns) for p in paths}


def nbgrader(desk: Desk, *arguments: str) -> str:
    """Run nbgrader in the desk's folder, and return what it printed."""
    done = subprocess.run(
        [sys.executable, "-m", "nbgrader", *arguments, f"--CourseDirectory.db_url={desk.db_url}"],
        cwd=desk.folder,
        env=os.environ | {"PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return done.stderr


class ShortSuite:
    """What databases could differ in. To inherit, with `desk`, an empty one with a gradebook that knows the unit."""

    def test_a_record_s_points_are_the_gradebook_s_and_what_was_left_blank_has_none_and_waits_for_nobody(
        self, desk, root
    ):
        record, notebook = outcome(root, submission("ada", **{FIRST: mistake(FIRST)}))
        blank, partly = (outcome(root, one) for one in (submission("alan", BLANK), submission("bob", **{FIRST: BLANK})))
        put(desk, (record, notebook), blank, partly)
        found = content(desk)
        ada, alan = found["ada"], found["alan"]
        for result in record.exercises:
            assert ada["grades"][f"check_{result.name}"] == (result.points, None, None, False)
        assert ada["grades"][WRITTEN] == (None, None, None, True)
        assert (ada["waits"], alan["waits"]) == (True, False)
        assert (ada["score"], alan["score"]) == (pytest.approx(record.points), 0)
        assert 0 < record.points < FULL
        assert {*alan["grades"].values()} == {(0, None, None, False)}
        assert {*alan["comments"].values()} == {("No response.", None)}
        untouched = {name for name, (auto, _) in found["bob"]["comments"].items() if auto}
        assert untouched == {FIRST}, "an answer that was left as it was"

    def test_manual_grades_and_comments_survive_a_regrade(self, desk, root):
        record, notebook = outcome(root, submission("ada"))
        put(desk, (record, notebook))
        person = Person(desk, "ada")
        person.gives(WRITTEN, 2.5, "Well put.")
        person.gives(f"check_{FIRST}", 1.0, "See me.", extra=0.5)
        given = content(desk)
        assert given["ada"]["grades"][WRITTEN] == (None, 2.5, None, False)
        put(desk, (replace(record, key="another"), notebook))
        assert content(desk) == given, "nothing that was graded has changed, so nobody needs to look again"

        first = replace(record.exercise(FIRST), points=0.0, passed=False)
        record = replace(record, exercises=(first, *record.exercises[1:]))
        put(desk, (record, notebook))
        ada = content(desk)["ada"]
        assert ada["grades"][f"check_{FIRST}"] == (0.0, 1.0, 0.5, True), "the points have changed: a person looks"
        assert ada["comments"][FIRST] == (None, "See me.")
        assert ada["grades"][WRITTEN] == (None, 2.5, None, False)

    def test_the_gradebook_can_be_built_again_from_files(self, desk, root):
        """Deleted, put back to what it was before a mark, or begun without what was in it."""
        made = [outcome(root, submission(name), (Finding("x", "Odd.", None, True),)) for name in ("ada", "alan")]
        enter(desk, *made)
        empty = content(desk)
        person = Person(desk, "ada")
        person.gives(WRITTEN, 2.5, "Well put.")
        person.gives(f"check_{FIRST}", 1.0, "See me.", extra=0.5)
        person.takes_the_flag_away()
        enter(desk, *made)
        full = content(desk)
        assert full["ada"]["score"] == FULL + 2.5 + 1.0 + 0.5 - made[0][0].exercise(FIRST).points
        for backup in (empty, None):
            with opened(desk) as gradebook:
                if backup is None:
                    gradebook.remove_assignment(UNIT)
                else:
                    gradebook.remove_submission(UNIT, "ada")
            with GradebookWriter(desk) as writer:
                assert writer.enter_unit(UNIT) == []
                for record, _ in made:
                    writer.enter(record)
            assert content(desk) == full

    def test_a_mark_that_a_backup_does_not_have_is_entered_again(self, desk, root):
        made = outcome(root, submission("ada"))
        enter(desk, made)
        with opened(desk) as gradebook:
            page = gradebook.find_submission_notebook(UNIT, UNIT, "ada").id
            before = gradebook.db.execute(select(ENTERED).where(ENTERED.c.notebook_id == page)).one()
        Person(desk, "ada").gives(WRITTEN, 2.5)
        with GradebookWriter(desk) as writer:
            writer.take_over(UNIT, "ada")
        with opened(desk) as gradebook:
            grade = gradebook.find_grade(WRITTEN, UNIT, UNIT, "ada")
            grade.manual_score, grade.needs_manual_grade = None, True
            gradebook.db.execute(ENTERED.update().values(state=before.state))
            gradebook.db.commit()
        assert read_marks(desk, UNIT, failures := Failures()) == {}
        assert "Is not in the gradebook as it was graded" in failures.told[0], "it is older than the marks"
        with GradebookWriter(desk) as writer:
            writer.enter_unit(UNIT)
            writer.enter(made[0])
        assert content(desk)["ada"]["grades"][WRITTEN] == (None, 2.5, None, False)

    def test_exercises_that_come_and_go_cost_nobody_a_mark(self, desk, root, other_root):
        """A unit with one exercise fewer, and as it was again."""
        made = outcome(root, submission("ada"))
        enter(desk, made)
        for cell in (WRITTEN, f"check_{FIRST}", f"check_{NAMES[1]}"):
            Person(desk, "ada").gives(cell, 0.5, "Well put.")
        fewer = Desk(other_root, desk.folder, desk.db_url)
        with GradebookWriter(fewer) as writer:
            said = writer.enter_unit(UNIT)
            writer.enter(made[0])
        assert "its exercises are others than before" in said[0]
        assert f"has no check_{FIRST} any more" in said[1]
        there = content(desk)["ada"]
        assert f"check_{FIRST}" not in there["grades"]
        assert [there["grades"][c][1] for c in (WRITTEN, f"check_{NAMES[1]}")] == [0.5, 0.5]
        (desk.folder / "desk.toml").write_text(f'[changed.02.renamed]\n{FIRST} = "{NAMES[2]}"\n')
        with GradebookWriter(desk) as writer:
            writer.enter_unit(UNIT)
            writer.enter(made[0])
        there = content(desk)["ada"]
        assert there["grades"][f"check_{NAMES[2]}"][1] == 0.5
        assert there["grades"][f"check_{FIRST}"][1] is None
        assert there["comments"][NAMES[2]][1] == "Well put."


class GradebookSuite(ShortSuite):
    """All of it."""

    every = 1 if ALL else 12  # how many steps lie between two deaths in the test of being killed

    def test_putting_a_record_twice_changes_nothing(self, desk, root):
        made = outcome(root, submission("ada", **{FIRST: mistake(FIRST)}), (Finding("x", "Odd.", None, True),))
        put(desk, made)
        before = content(desk), files(desk)
        put(desk, made, made)
        assert (content(desk), files(desk)) == before

    def test_a_regrade_changes_the_points_of_one_exercise_and_of_one_student(self, desk, root):
        record, notebook = outcome(root, submission("ada"))
        put(desk, (record, notebook), outcome(root, submission("alan")))
        before = content(desk)
        first = replace(record.exercise(FIRST), points=0.5, passed=False)
        put(desk, (replace(record, key="another", exercises=(first, *record.exercises[1:])), notebook))
        after = content(desk)
        assert after["alan"] == before["alan"]
        assert after["ada"]["grades"] == before["ada"]["grades"] | {f"check_{FIRST}": (0.5, None, None, False)}

    def test_a_written_answer_that_changed_waits_for_a_person_again(self, desk, root):
        record, notebook = outcome(root, submission("ada"))
        put(desk, (record, notebook))
        Person(desk, "ada").gives(WRITTEN, 2.5, "Well put.")
        notebook = changed(notebook, WRITTEN, source="Something else <b>altogether</b>.")
        put(desk, (resubmitted(record, notebook), notebook))
        ada = content(desk)["ada"]
        assert ada["grades"][WRITTEN] == (None, 2.5, None, True)
        assert ada["comments"][WRITTEN] == (None, "Well put.")
        Person(desk, "ada").gives(WRITTEN, 1.0)
        put(desk, (resubmitted(record, notebook), notebook))
        assert content(desk)["ada"]["grades"][WRITTEN] == (None, 1.0, None, False)

    def test_a_flag_that_a_person_took_away_stays_away_until_the_next_submission(self, desk, root):
        record, notebook = outcome(root, submission("ada"), (Finding("eval", "It calls eval.", FIRST, True),))
        put(desk, (record, notebook))
        assert content(desk)["ada"]["flagged"]
        Person(desk, "ada").takes_the_flag_away()
        put(desk, (replace(record, key="another"), notebook))
        assert not content(desk)["ada"]["flagged"]
        put(desk, (replace(record, submission="another"), notebook))
        assert content(desk)["ada"]["flagged"]

    def test_nbgrader_s_penalties_for_being_late_are_those_of_the_due_date_and_the_times_that_there_are_now(
        self, desk, root
    ):
        config = desk.folder / "nbgrader_config.py"
        config.write_text(config.read_text() + 'c.LateSubmissionPlugin.penalty_method = "zero"\n')
        made = {name: outcome(root, submission(name)) for name in ("ada", "alan", "bob")}
        times = {name: desk.submission_path(UNIT, name).with_name("timestamp.txt") for name in made}
        put(desk, *made.values())

        def penalties():
            with GradebookWriter(desk) as gradebook:
                gradebook.enter_lateness(UNIT, NONE)
            return [found["penalty"] for _, found in sorted(content(desk).items())]

        assert penalties() == [None, None, None], "nothing is due"
        Person(desk, "ada").sets_the_due_date(datetime.datetime(2026, 11, 20, 12))
        for when, hour, penalty in (("2026-11-20T13:30:00+02:00", 11, None), ("2026-11-20 13:30:00 UTC", 13, FULL)):
            write_whole(times["ada"], when.encode())
            put(desk, made["ada"])
            ada = content(desk)["ada"]
            assert (ada["penalty"], ada["timestamp"]) == (penalty, datetime.datetime(2026, 11, 20, hour, 30))
        shown = desk.autograded / "ada" / UNIT / "timestamp.txt"
        assert shown.read_text() == when
        write_whole(times["alan"], b"2026-11-20 15:30:00 UTC")
        for hour, expected in ((12, [FULL, FULL, None]), (14, [None, FULL, None]), (16, [None, None, None])):
            Person(desk, "ada").sets_the_due_date(datetime.datetime(2026, 11, 20, hour))
            assert penalties() == expected, hour
        Person(desk, "ada").sets_the_due_date(datetime.datetime(2026, 11, 20, 12))
        Person(desk, "ada").gives(WRITTEN, 1.5)
        assert penalties() == [FULL + 1.5, FULL, None], "zero is zero, whatever is given by hand"
        for path in times.values():
            path.unlink(missing_ok=True)
        put(desk, made["alan"])
        assert (content(desk)["alan"]["penalty"], content(desk)["ada"]["penalty"]) == (None, FULL + 1.5)
        assert penalties() == [None, None, None]
        assert content(desk)["ada"]["timestamp"] is None
        assert not shown.exists()

    def test_killed_at_any_step_the_gradebook_is_whole_after_the_next_try(self, desk, root, tmp_path):
        record, notebook = outcome(root, submission("undisturbed"))
        first = replace(record.exercise(FIRST), points=0.5, passed=False)
        later = changed(notebook, WRITTEN, source="Another answer.")
        regrade = replace(resubmitted(record, later), exercises=(first, *record.exercises[1:]))
        puts = [(record, notebook), (regrade, later)]
        put(desk, *puts)

        work = tmp_path / "work.json"
        work.write_text(json.dumps([(r.to_json(), n.decode()) for r, n in puts]))
        killed = Path(__file__).with_name("killed.py")
        done = subprocess.run(
            [sys.executable, killed, root, desk.folder, desk.db_url, work, str(self.every)],
            capture_output=True,
            text=True,
            env=os.environ | {"PYTHONWARNINGS": "ignore"},
        )
        assert done.returncode == 0, done.stderr
        assert int(done.stdout) >= 40 // self.every, f"{done.stdout} steps; a put has dozens"
        after = content(desk)
        expected = after.pop("undisturbed")
        assert len(after) >= 20 // self.every
        for student, found in after.items():
            assert found == expected, student
            assert sorted(p.name for p in (desk.autograded / student / UNIT).glob("[!.]*")) == [f"{UNIT}.ipynb"]
            here, there = (desk.autograded / s / UNIT / f"{UNIT}.ipynb" for s in (student, "undisturbed"))
            assert here.read_bytes() == there.read_bytes(), student

    def test_nbgrader_s_own_commands_go_on_from_there_and_find_their_tables_in_the_latest_form(self, desk, root):
        record, notebook = outcome(root, submission("ada", **{FIRST: mistake(FIRST)}))
        put(desk, (record, notebook), outcome(root, submission("alan", BLANK)))
        Person(desk, "ada").gives(WRITTEN, 2.5, "Well put.")
        before = content(desk)
        nbgrader(desk, "db", "upgrade")
        assert content(desk) == before
        nbgrader(desk, "export")
        with (desk.folder / "grades.csv").open() as file:
            grades = {row["student_id"]: float(row["score"]) for row in csv.DictReader(file)}
        assert grades == {"ada": pytest.approx(record.points + 2.5), "alan": 0}

    def test_a_database_whose_making_was_broken_off_is_completed(self, desk):
        from sqlalchemy import create_engine, text

        engine = create_engine(desk.db_url)
        with engine.begin() as connection:
            version = connection.execute(text("SELECT version_num FROM alembic_version")).scalar_one()
            connection.execute(text("DROP TABLE alembic_version"))
        with GradebookWriter(desk):
            pass
        with engine.connect() as connection:
            assert connection.execute(text("SELECT version_num FROM alembic_version")).scalars().all() == [version]
        engine.dispose()

    def test_students_are_entered_by_name_and_keep_it(self, desk, root):
        with GradebookWriter(desk) as gradebook:
            gradebook.enter_students([Student("ada", "Ada", "Lovelace", "ada@example.org")])
            gradebook.put(*outcome(root, submission("ada")))
            gradebook.enter_students([Student("ada", "Augusta Ada")])
        with opened(desk) as gradebook:
            ada = gradebook.find_student("ada")
            assert (ada.first_name, ada.last_name, ada.email) == ("Augusta Ada", "Lovelace", "ada@example.org")

    def test_a_unit_that_was_not_entered_is_an_error(self, desk, root):
        record, notebook = outcome(root, submission("ada"))
        with pytest.raises(DeskError, match="does not know 99_none"):
            put(desk, (replace(record, unit="99_none"), notebook))

    def test_a_notebook_as_it_was_put_is_valid_and_says_what_was_found(self, desk, root):
        findings = (Finding("a", "It calls <eval>.", FIRST, True), Finding("b", "Two cells alike."))
        put(desk, outcome(root, submission("ada"), findings), outcome(root, submission("alan"), findings[1:]))
        assert [content(desk)[who]["flagged"] for who in ("ada", "alan")] == [True, False], "an oddity alone is no flag"
        notebook = nbformat.read(desk.autograded / "ada" / UNIT / f"{UNIT}.ipynb", as_version=4)
        nbformat.validate(notebook)
        assert "eval>" not in notebook.cells[0].source
        said = html.unescape(notebook.cells[0].source)
        assert "It calls <eval>." in said
        assert "Two cells alike." in said
