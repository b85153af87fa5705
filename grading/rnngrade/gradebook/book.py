"""The gradebook: one writer puts records into nbgrader's, so that formgrader and nbgrader's commands work on it.

A submission goes in in two steps: all its grades at one stroke (one transaction), then its notebook, under
`autograded/STUDENT/UNIT/`. Whoever is killed in between and puts the same record again gets the same gradebook as
without it, and putting a record twice changes nothing.

What a person gave stays: manual grades, extra credit and comments are never written here. If what they were given for
has changed, the grade is marked as waiting for a person again.

    with GradebookWriter(desk) as gradebook:
        gradebook.enter_unit("03_cell")
        gradebook.put(record, notebook)
"""

from __future__ import annotations

import json
import logging
import os
import sys
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any

import nbformat
from alembic.script import ScriptDirectory
from nbformat import NotebookNode
from sqlalchemy import create_engine, inspect, make_url, text
from sqlalchemy.exc import InterfaceError, OperationalError, SQLAlchemyError
from traitlets.config.loader import Config, PyFileConfigLoader

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # nbgrader is imported, not judged
    from nbgrader import utils
    from nbgrader.api import (
        Comment,
        Gradebook,
        InvalidEntry,
        MissingEntry,
        SubmittedAssignment,
        SubmittedNotebook,
    )
    from nbgrader.dbutil import ALEMBIC_DIR
    from nbgrader.preprocessors import AssignLatePenalties

from rnncourse.checks.verdict import Verdict
from rnngrade.author import release
from rnngrade.core.desk import Desk
from rnngrade.core.errors import DeskError, Failures, Stop
from rnngrade.core.record import ExerciseResult, Record, write_whole
from rnngrade.gradebook.harmless import NO_MATH, harmless_notebook, literally
from rnngrade.grading.outputs import new_output
from rnngrade.roster.lateness import Lateness
from rnngrade.roster.rules import Rules, rules_of
from rnngrade.roster.students import ClassList, class_list
from rnngrade.roster.times import lateness_of

OURS = "rnngrade"  # the key of our own metadata in an autograded notebook


class GradebookError(DeskError):
    """What kept a grade from the gradebook, in one sentence."""


class NoGradebook(GradebookError, Stop):
    """The gradebook cannot be used at all: it is not there, or locked, or its disk is full."""


class GradebookWriter:
    """Writes to the gradebook of a desk. One at a time; open it with `with`."""

    def __init__(self, desk: Desk) -> None:
        self.desk = desk
        self._opened: Gradebook | None = None
        self._known: dict[str, set[str]] = {}
        self._rules: tuple[Rules | None, ClassList] | None = None

    def __enter__(self) -> GradebookWriter:
        self._open()
        return self

    def __exit__(self, *_: object) -> None:
        if self._opened is not None:
            self._opened.close()
            self._opened = None

    def enter_unit(self, unit: str) -> list[str]:
        """Enter a built unit, or what has changed of it; returns a sentence for each change that nbgrader refuses."""
        with self._whole():
            return release.enter_in_gradebook(self.desk.root, unit, self.desk.db_url)

    def enter_student(self, student: str, first_name: str = "", last_name: str = "", email: str = "") -> None:
        """Enter a student, or what is new of their name and address."""
        given = {"first_name": first_name, "last_name": last_name, "email": email}
        with self._whole():
            self._gradebook.update_or_create_student(student, **{key: value for key, value in given.items() if value})

    def put(self, record: Record, notebook: bytes) -> None:
        """Put a record into the gradebook, and the executed notebook of its submission into `autograded/`.

        **Errors:** `GradebookError`, and nothing is changed.
        """
        desk, student, unit = self.desk, record.student, record.unit
        executed = _read(notebook, f"the executed notebook of {student}'s {unit}")
        timestamp = self._handed_in(unit, student)
        path = desk.autograded / student / unit / f"{unit}.ipynb"
        before = _put_before(path)
        with self._whole():
            submission, page = self._submission(unit, student)
            self._grade(page, record, executed, before)
            self._penalize(submission, page, timestamp)
            if record.flags and before.get("submission") != record.submission:
                page.flagged = True  # a person may take the flag away; the same submission does not bring it back
            self._gradebook.db.commit()

        if unit not in self._known:
            self._known[unit] = _texts(desk, unit)
        self._keep_timestamp(unit, student, timestamp)
        shown = to_show(record, executed, self._known[unit])
        data = json.dumps(shown, ensure_ascii=False).encode("utf-8", "replace")  # a finding may quote half a surrogate
        _write(path, data + b"\n")

    def enter_lateness(self, unit: str, failures: Failures | None = None) -> None:
        """Enter again when each submission was handed in, and its penalty: a due date, a penalty's size, a timestamp or
        a grade by hand may have changed since its record was put.

        For whom it cannot be done is put into `failures`. **Errors:** `GradebookError`, and nothing is changed; without
        `failures`, a `DeskError` that names them, after all others are entered.
        """
        told = failures or Failures()
        times: dict[str, str | None] = {}
        with self._whole():
            for submission in self._gradebook.assignment_submissions(unit):
                student = submission.student.id
                with told.of(student, unit):
                    timestamp = self._handed_in(unit, student)
                    for page in submission.notebooks:
                        self._penalize(submission, page, timestamp)
                    times[student] = timestamp
            self._gradebook.db.commit()
        for student, timestamp in times.items():
            self._keep_timestamp(unit, student, timestamp)
        if failures is None:
            told.end()

    def _handed_in(self, unit: str, student: str) -> str | None:
        return _timestamp(self.desk.submission_path(unit, student).with_name("timestamp.txt"))

    def _keep_timestamp(self, unit: str, student: str, timestamp: str | None) -> None:
        """Put the timestamp beside the notebook in `autograded/`, where nbgrader looks for it."""
        path = self.desk.autograded / student / unit / "timestamp.txt"
        if timestamp is None:
            path.unlink(missing_ok=True)
        else:
            _write(path, timestamp.encode())

    @property
    def _gradebook(self) -> Gradebook:
        if self._opened is None:
            raise RuntimeError("A GradebookWriter is opened with `with`.")
        return self._opened

    def _open(self) -> None:
        with self._whole():
            self.desk.folder.mkdir(parents=True, exist_ok=True)
            name_version(self.desk.db_url)
            self._opened = open_gradebook(self.desk)

    @contextmanager
    def _whole(self) -> Iterator[None]:
        """A database's error as one sentence, nbgrader's warnings kept quiet, and nothing left half done."""
        try:
            with warnings.catch_warnings(), beside_python():
                warnings.simplefilter("ignore")  # what nbgrader does to SQLAlchemy is between the two
                yield
        except (SQLAlchemyError, InvalidEntry) as error:
            kind = NoGradebook if isinstance(error, (OperationalError, InterfaceError)) else GradebookError
            raise kind(f"The gradebook at {_address(self.desk)} cannot be used: {_cause(error)}") from None
        finally:
            if self._opened is not None:
                self._opened.db.rollback()  # after a commit, there is nothing to roll back

    def _submission(self, unit: str, student: str) -> tuple[SubmittedAssignment, SubmittedNotebook]:
        """The submission and its notebook, made if they are new."""
        gradebook = self._gradebook
        try:
            gradebook.find_notebook(unit, unit)
        except MissingEntry:
            raise GradebookError(f"The gradebook does not know {unit}: it has to be entered before grades.") from None
        gradebook.update_or_create_student(student)
        submission = gradebook.update_or_create_submission(unit, student)
        return submission, gradebook.find_submission_notebook(unit, unit, student)

    def _grade(self, page: SubmittedNotebook, record: Record, executed: NotebookNode, before: dict[str, Any]) -> None:
        """Write the points of checks and what is known of written questions; see which need a person."""
        cells = {grade_id: cell for cell in executed.cells if (grade_id := grade_id_of(cell))}
        points = {f"check_{result.name}": float(result.points) for result in record.exercises}
        unknown = points.keys() - {grade.name for grade in page.grades}
        if unknown:
            name = min(unknown).removeprefix("check_")
            raise GradebookError(
                f"The gradebook's {record.unit} has no exercise {name!r}: it was entered before the unit was changed, "
                "so start a new gradebook."
            )
        for grade in page.grades:
            source = cells[grade.name].source if grade.name in cells else ""
            if grade.cell_type == "code":
                auto_score: float | None = points.get(grade.name, 0.0)
                changed = grade.auto_score != auto_score
            else:
                auto_score = None if grade.name in record.written else 0.0
                changed = grade.auto_score != auto_score or before.get("written", {}).get(grade.name) != source
            if changed:
                grade.auto_score = auto_score
                grade.needs_manual_grade = auto_score is None or grade.manual_score is not None
        for comment in page.comments:
            _comment(comment, cells.get(comment.name))

    def _penalize(self, submission: SubmittedAssignment, page: SubmittedNotebook, timestamp: str | None) -> None:
        """The penalty for being late: by the desk's rules if they say when the unit is due, else by the plugin that is
        configured, as nbgrader's `AssignLatePenalties` does it.
        """
        submission.timestamp = utils.parse_utc(timestamp)
        penalty = None
        session = self._gradebook.db
        late, due = self._late(submission.name, submission.student.id)
        if due is not None and late.due is not None:
            submission.assignment.duedate = due.replace(tzinfo=None)
            submission.extension = late.due - due if late.due > due else None
            session.flush()
            session.expire(page, ["score"])
            penalty = late.penalty(float(page.score), float(page.max_score)) or None
        elif submission.total_seconds_late > 0:
            session.flush()
            session.expire(page, ["score"])
            assign = AssignLatePenalties(config=settings(self.desk), log=logging.getLogger("rnngrade.nbgrader"))
            assign.init_plugin()
            student, score = submission.student.id, page.score
            penalty = assign.plugin_inst.late_submission_penalty(student, score, submission.total_seconds_late)
            if penalty is not None:
                penalty = assign._check_late_penalty(page, penalty)
        page.late_submission_penalty = penalty

    def _late(self, unit: str, student: str) -> tuple[Lateness, datetime | None]:
        """How late a student is by the desk's rules, and when the unit is due for all, if they say so."""
        if self._rules is None:
            self._rules = rules_of(self.desk), class_list(self.desk)
        rules, people = self._rules
        if rules is None or unit not in rules.due:
            return Lateness(), None
        return lateness_of(self.desk, unit, [student], rules=rules, people=people)[student], rules.due[unit]


def name_version(db_url: str) -> None:
    """Write down the tables' version, by which `nbgrader db upgrade` knows them, if nobody has.

    nbgrader does it after it has made the tables, by a process that takes seconds: if it was killed in between, nobody
    would name it any more.
    """
    engine = create_engine(db_url)
    try:
        with engine.begin() as connection:
            if not inspect(connection).has_table("alembic_version"):
                connection.execute(text("CREATE TABLE alembic_version (version_num VARCHAR(32) NOT NULL)"))
            if connection.execute(text("SELECT count(*) FROM alembic_version")).scalar() == 0:
                head = ScriptDirectory(ALEMBIC_DIR).get_current_head()
                connection.execute(
                    text("INSERT INTO alembic_version (version_num) VALUES (:version)"), {"version": head}
                )
    finally:
        engine.dispose()


def open_gradebook(desk: Desk) -> Gradebook:
    """nbgrader's gradebook of a desk. Whoever opens it closes it."""
    return Gradebook(desk.db_url, str(settings(desk).CourseDirectory.course_id))


def settings(desk: Desk) -> Config:
    """nbgrader's configuration of a class: the course's, or the one in the class's folder, which includes it."""
    if (desk.folder / "nbgrader_config.py").is_file():
        config = PyFileConfigLoader("nbgrader_config.py", path=str(desk.folder)).load_config()
    else:
        config = release.settings(desk.root)
    config.CourseDirectory.root = str(desk.folder)
    config.CourseDirectory.db_url = desk.db_url
    return config


@contextmanager
def beside_python() -> Iterator[None]:
    """With `alembic` on PATH, which nbgrader calls to set up a new database: it lies beside the Python that runs."""
    path = os.environ.get("PATH", "")
    os.environ["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), path])
    try:
        yield
    finally:
        os.environ["PATH"] = path


def to_show(record: Record, executed: NotebookNode, known: Iterable[str]) -> NotebookNode:
    """The executed notebook as a person may look at it: harmless, with the judge's cards, and with what was found.

    Of the notebook, only what the student wrote and showed is believed; what a check cell shows is made from the
    record. `known` are the unit's own texts.
    """
    notebook = harmless_notebook(executed, known)
    results = {f"check_{result.name}": result for result in record.exercises}
    written = {}
    for cell, original in zip(notebook.cells, executed.cells):
        grade_id = grade_id_of(cell)
        if cell.cell_type == "code" and utils.is_grade(cell):
            cell.outputs = _verdict(grade_id, results.get(grade_id), float(cell.metadata.nbgrader["points"]))
        elif utils.is_grade(cell):
            written[grade_id] = original.source
    if record.findings:
        notebook.cells.insert(0, _findings(record))
    ours = {"submission": record.submission, "key": record.key, "written": written}
    notebook.metadata[OURS] = nbformat.from_dict(ours)
    nbformat.validate(notebook)
    return notebook


def grade_id_of(cell: NotebookNode) -> str:
    """The name by which nbgrader knows a cell, or nothing."""
    return str(cell.metadata.get("nbgrader", {}).get("grade_id", ""))


def card_of(result: ExerciseResult) -> str:
    """The verdict on an exercise as HTML, in which MathJax finds nothing to set."""
    card = result.card
    if not card:
        share = result.points / result.max_points if result.max_points else 0.0
        verdict = Verdict(
            result.name,
            result.passed,
            share,
            result.points,
            int(result.max_points),
            result.message,
            result.diagnosis,
            result.criteria,
        )
        card = verdict.card()
    return f'<div class="{NO_MATH}">{card}</div>'


def _verdict(grade_id: str, result: ExerciseResult | None, max_points: float) -> list[NotebookNode]:
    """What a check cell shows: the points, by which nbgrader would grade it, and the card."""
    if result is None:
        name = grade_id.removeprefix("check_")
        result = ExerciseResult(name, "missing", 0.0, max_points, False, "There was nothing here to grade.")
    data = {"text/plain": f"{result.points:g}", "text/html": card_of(result)}
    return [new_output("execute_result", data=data, metadata={}, execution_count=None)]


def _findings(record: Record) -> NotebookNode:
    """A cell for formgrader, which feedback leaves out: what is odd about a submission, flags first."""
    lines = [
        f"<li>{'⚑ ' if finding.for_person else ''}{literally(finding.message)}"
        f"{f' <em>({literally(finding.cell)})</em>' if finding.cell else ''}</li>"
        for finding in sorted(record.findings, key=lambda finding: not finding.for_person)
    ]
    html = f"<div><strong>Found in this submission</strong><ul>{''.join(lines)}</ul></div>"
    cell = nbformat.v4.new_markdown_cell(html, metadata={OURS: "findings"})
    cell.id = "rnngrade-findings"
    return cell


def _comment(comment: Comment, cell: NotebookNode | None) -> None:
    """nbgrader's own remark on an answer that was left as it was."""
    untouched = cell is None or cell.metadata.nbgrader.get("checksum") == utils.compute_checksum(cell)
    remark = "No response." if untouched else None
    if comment.auto_comment != remark:
        comment.auto_comment = remark


def _address(desk: Desk) -> str:
    """Where the gradebook lies, without its password."""
    try:
        return make_url(desk.db_url).render_as_string()
    except SQLAlchemyError:
        return repr(desk.db_url)


def _cause(error: Exception) -> str:
    """The first line of what the database itself said."""
    return str(getattr(error, "orig", None) or error).strip().partition("\n")[0]


def _put_before(path: Path) -> dict[str, Any]:
    """Our metadata of the notebook that was put here last time, if it was."""
    try:
        return dict(json.loads(path.read_bytes())["metadata"].get(OURS, {}))
    except (OSError, ValueError, LookupError, TypeError, AttributeError):
        return {}


def _texts(desk: Desk, unit: str) -> set[str]:
    """The text cells of the notebook that students got."""
    path = desk.root / "notebooks" / unit / f"{unit}.ipynb"
    try:
        return {c.source for c in nbformat.read(path, as_version=4).cells if c.cell_type == "markdown"}
    except (OSError, ValueError, nbformat.ValidationError):
        return set()


def _read(notebook: bytes, what: str) -> NotebookNode:
    try:
        read = nbformat.v4.reads(notebook.decode())
        nbformat.validate(read)
    except (ValueError, LookupError, TypeError, AttributeError, nbformat.ValidationError) as error:
        raise GradebookError(f"There is no reading {what}: {str(error).partition(chr(10))[0]}") from None
    return read


def _timestamp(path: Path) -> str | None:
    """When a submission was handed in, if a file says so. **Errors:** `GradebookError` if it is no date."""
    try:
        timestamp = path.read_text(encoding="utf-8").strip()
        utils.parse_utc(timestamp or None)
    except OSError:
        return None
    except (ValueError, OverflowError):
        raise GradebookError(
            f"{path} holds no date: write it like 2026-11-21 22:36:00 UTC, or remove the file."
        ) from None
    return timestamp or None


def _write(path: Path, data: bytes) -> None:
    """Write a file whole, unless it is there already."""
    try:
        if path.read_bytes() == data:
            return
    except OSError:
        pass
    write_whole(path, data)
