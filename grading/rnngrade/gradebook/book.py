"""The gradebook: one writer puts records into nbgrader's, so that formgrader and nbgrader's commands work on it.

What is entered is a function of the record, of the notebook and of what persons gave (`by_hand.py`): first the
notebook, under `autograded/STUDENT/UNIT/`, then all grades at one stroke (one transaction) with the record's key.
Whoever is killed in between and puts the same record again gets the same gradebook as without it, and putting a record
twice changes nothing.

What a person gave stays. If what they were given for has changed, the grade is marked as waiting for a person again.

    with GradebookWriter(desk) as gradebook:
        gradebook.enter_unit("03_cell")
        gradebook.enter(record)
"""

from __future__ import annotations

import contextlib
import json
import logging
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from datetime import datetime
from functools import cached_property

import nbformat
from nbformat import NotebookNode
from sqlalchemy import delete, insert, select, update

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # nbgrader is imported, not judged
    from nbgrader import utils
    from nbgrader.api import (
        BaseCell,
        Gradebook,
        GradeCell,
        MissingEntry,
        SubmittedAssignment,
        SubmittedNotebook,
    )
    from nbgrader.preprocessors import AssignLatePenalties

from rnngrade.author import release
from rnngrade.core.closing import Closing
from rnngrade.core.desk import Desk, built
from rnngrade.core.errors import DeskError, Failures
from rnngrade.core.record import Record, write_changed
from rnngrade.gradebook import by_hand
from rnngrade.gradebook.by_hand import ByHand
from rnngrade.gradebook.door import (
    ENTERED,
    NOT_ENTERED,
    Entered,
    Page,
    State,
    opened,
    read_pages,
    settings,
    told,
)
from rnngrade.gradebook.marks import Marks, marks_of
from rnngrade.gradebook.showing import grade_id_of, to_show
from rnngrade.roster.rules import Rules, rules_of
from rnngrade.roster.students import ClassList, class_list
from rnngrade.roster.times import TIMESTAMP, handed_in, in_utc, lateness_for

Names = dict[str, tuple[str, str | None]]  # by a cell's id, its name and, if it has points, its type


class GradebookWriter(Closing):
    """Writes to the gradebook of a desk. One at a time; use as a context."""

    def __init__(self, desk: Desk) -> None:
        self.desk = desk
        self._stack = contextlib.ExitStack()
        self._known: dict[str, set[str]] = {}
        self._pages: dict[str, dict[str, Page]] = {}
        self._gradebook: Gradebook = self._stack.enter_context(opened(desk))
        session = self._gradebook.db
        self._commit, session.commit = session.commit, session.flush  # nbgrader would commit after each of its steps

    def close(self) -> None:
        self._stack.close()

    def enter_unit(self, unit: str) -> list[str]:
        """Enter a built unit, or what has changed of it; returns a sentence for each change that nbgrader refuses, and
        for what was given by hand for exercises that there are no more.

        nbgrader takes no exercise in or out of a unit that has submissions. So they are taken out, with what was given
        by hand kept in the desk's files, and come in again from their records.
        """
        said = []
        with self._whole():
            there, built = self._cells(unit), {*map(grade_id_of, _given_out(self.desk, unit))} - {""}
            pages = read_pages(self._gradebook.db, unit, Failures()) if there else {}
            for student, page in pages.items():
                try:
                    self._take_over(unit, student, page)
                except DeskError as error:  # it costs this student's entry alone, unless all are taken out
                    if there != built:
                        raise
                    said.append(str(error))
            if there and there != built and pages:
                for student in pages:
                    self._gradebook.remove_submission(unit, student)
                gone = sorted(there - built)
                said += [f"{unit} is entered anew, for its exercises are others than before."]
                for name in gone:
                    if given := [s for s in pages if name in by_hand.read(self.desk, unit, s).grades]:
                        said.append(
                            f"{unit} has no {name} any more. What {len(given)} were given for it by hand stays in "
                            f"{by_hand.path_of(self.desk, unit, given[0]).parent}, and counts for nothing."
                        )
            self._commit()
            self._rename(unit)
            said += release.enter_in_gradebook(self.desk.root, unit, self.desk.db_url)
            self._pages[unit] = read_pages(self._gradebook.db, unit, Failures())
        return said

    def enter_student(self, student: str, first_name: str = "", last_name: str = "", email: str = "") -> None:
        """Enter a student, or what is new of their name and address."""
        given = {"first_name": first_name, "last_name": last_name, "email": email}
        with self._whole():
            self._gradebook.update_or_create_student(student, **{key: value for key, value in given.items() if value})

    def enter(self, record: Record) -> None:
        """Put a record into the gradebook, with the notebook that the desk has of it, unless it is there already.

        **Errors:** `DeskError`, and nothing is changed.
        """
        page = self._pages.get(record.unit, {}).get(record.student)
        shown = self.desk.autograded / record.student / record.unit / f"{record.unit}.ipynb"
        if page is not None and page.key == record.key and shown.is_file():
            given = by_hand.read(self.desk, record.unit, record.student)
            if given.state(page.entered.answers, page.auto, page.commented, record) == page.state:
                return
        self.put(record, self.desk.executed_path(record.unit, record.student).read_bytes())

    def put(self, record: Record, notebook: bytes) -> None:
        """Put a record into the gradebook, and the executed notebook of its submission into `autograded/`.

        **Errors:** `DeskError`, and nothing is changed.
        """
        student, unit = record.student, record.unit
        executed = _read(notebook, f"the executed notebook of {student}'s {unit}")
        when = handed_in(self.desk, unit, student)
        with self._whole():
            submission, page = self._submission(unit, student)
            session = self._gradebook.db
            session.flush()
            given = self._take_over(unit, student, self._page(unit, student))
            names = self._names(page)
            answers, auto = self._grade(page, names, record, executed)
            commented = {names[comment.cell_id][0] for comment in page.comments}
            self._give(page, names, given.state(answers, auto, commented, record), answers, auto, record)
            self._penalize(submission, page, when)
            session.flush()
            if unit not in self._known:
                self._known[unit] = {c.source for c in _given_out(self.desk, unit) if c.cell_type == "markdown"}
            self._keep_timestamp(unit, student, when)
            shown = to_show(record, executed, self._known[unit])
            data = json.dumps(shown, ensure_ascii=False).encode("utf-8", "replace")  # may quote half a surrogate
            write_changed(self.desk.autograded / student / unit / f"{unit}.ipynb", data + b"\n")

    def marks(self, unit: str, students: Iterable[str]) -> dict[str, Marks]:
        """What these students have in the gradebook, whatever being late costs."""
        with self._whole():
            pages = {one: self._page(unit, one) for one in students}
        return {student: marks_of(page, self._around[0], unit) for student, page in pages.items() if page.id}

    def mark(self, unit: str, students: Iterable[str], give: Callable[[str, ByHand], None]) -> None:
        """Give points or comments by hand to some students, at one stroke: `give(student, by_hand)` writes them down.
        First the desk's own files are written, then the gradebook.

        **Errors:** `DeskError`, and nothing is changed.
        """
        session = self._gradebook.db
        with self._whole():
            # Nothing is changed, but from here on nobody else writes to SQLite.
            session.execute(update(ENTERED).where(ENTERED.c.notebook_id == "").values(key=""))
            changed = {}
            for student in students:
                record, read = self.desk.record(unit, student), self._page(unit, student)
                if record is None or read.key != record.key:
                    raise DeskError(f"{student}: {NOT_ENTERED.format(unit)}")
                changed[student] = hand = self._take_over(unit, student, read)
                give(student, hand)
                answers = read.entered.answers
                page = self._gradebook.find_submission_notebook(unit, unit, student)
                state = hand.state(answers, read.auto, read.commented, record)
                self._give(page, self._names(page), state, answers, read.auto, record)
            session.flush()
            for student, hand in changed.items():
                by_hand.write(self.desk, unit, student, hand)

    def take_over(self, unit: str, student: str) -> None:
        """Keep what a person gave in formgrader just now in the desk's own files."""
        with self._whole():
            self._take_over(unit, student, self._page(unit, student))

    def take_out(self, unit: str, student: str) -> None:
        """Take a submission out of the gradebook; what was given for it by hand stays in the desk's file."""
        with self._whole():
            if (page := self._page(unit, student)).id:
                self._take_over(unit, student, page)
                self._gradebook.remove_submission(unit, student)

    def _page(self, unit: str, student: str) -> Page:
        """A submission as the gradebook has it; an empty page if it has none. **Errors:** `DeskError`."""
        failures = Failures()
        pages = read_pages(self._gradebook.db, unit, failures, student)
        if failures.told:
            raise DeskError(failures.told[0])
        return pages.get(student, Page("", 0.0))

    def _take_over(self, unit: str, student: str, page: Page) -> ByHand:
        """What persons gave, with what they gave in formgrader since."""
        given = by_hand.read(self.desk, unit, student)
        if given.take_over(page):
            by_hand.write(self.desk, unit, student, given)
        return given

    def _rename(self, unit: str) -> None:
        """Take over what was given by hand for exercises that are called otherwise now, as the rules say."""
        rules, _ = self._around
        renamed = rules.changed[unit].renamed if unit in rules.changed else {}
        names = dict(renamed) | {f"check_{old}": f"check_{new}" for old, new in renamed.items()}
        for path in by_hand.path_of(self.desk, unit, "").parent.glob("*.json") if names else ():
            given = by_hand.read(self.desk, unit, path.stem)
            if names.keys() & (given.grades.keys() | given.comments.keys()):
                given.grades = {names.get(name, name): grade for name, grade in given.grades.items()}
                given.comments = {names.get(name, name): comment for name, comment in given.comments.items()}
                by_hand.write(self.desk, unit, path.stem, given)

    @cached_property
    def _around(self) -> tuple[Rules, ClassList]:
        return rules_of(self.desk), class_list(self.desk)

    def _cells(self, unit: str) -> set[str]:
        """The cells of a unit that nbgrader knows by a name."""
        try:
            return {cell.name for cell in self._gradebook.find_notebook(unit, unit).source_cells}
        except MissingEntry:
            return set()

    def enter_lateness(self, unit: str, failures: Failures) -> None:
        """Enter again when each submission was handed in, and its penalty: a due date, a penalty's size, a timestamp or
        a grade by hand may have changed since its record was put.

        For whom it cannot be done is put into `failures`. **Errors:** `DeskError`, and nothing is changed.
        """
        times: dict[str, datetime | None] = {}
        with self._whole():
            for submission in self._gradebook.assignment_submissions(unit):
                student = submission.student.id
                with failures.of(student, unit):
                    when = handed_in(self.desk, unit, student)
                    for page in submission.notebooks:
                        self._penalize(submission, page, when)
                    times[student] = when
        for student, when in times.items():
            self._keep_timestamp(unit, student, when)

    def _keep_timestamp(self, unit: str, student: str, when: datetime | None) -> None:
        """Put the timestamp beside the notebook in `autograded/`, where nbgrader looks for it."""
        path = self.desk.autograded / student / unit / TIMESTAMP
        if when is None:
            path.unlink(missing_ok=True)
        else:
            write_changed(path, in_utc(when).encode())

    @contextmanager
    def _whole(self) -> Iterator[None]:
        """All at one stroke, or nothing; a database's error as one sentence."""
        try:
            with told(self.desk):
                yield
                self._commit()
        finally:
            self._gradebook.db.rollback()  # after a commit, there is nothing to roll back

    def _submission(self, unit: str, student: str) -> tuple[SubmittedAssignment, SubmittedNotebook]:
        """The submission and its notebook, made if they are new."""
        gradebook = self._gradebook
        try:
            gradebook.find_notebook(unit, unit)
        except MissingEntry:
            raise DeskError(f"The gradebook does not know {unit}: it has to be entered before grades.") from None
        gradebook.update_or_create_student(student)
        submission = gradebook.update_or_create_submission(unit, student)
        return submission, gradebook.find_submission_notebook(unit, unit, student)

    def _grade(
        self, page: SubmittedNotebook, names: Names, record: Record, executed: NotebookNode
    ) -> tuple[dict[str, str], dict[str, float | None]]:
        """Write the points of checks and what is known of written questions; returns what each was given for, and the
        points. An exercise that the unit has no more, or that the record does not have yet, earns nothing.
        """
        cells = {grade_id: cell for cell in executed.cells if (grade_id := grade_id_of(cell))}
        points = {f"check_{result.name}": float(result.points) for result in record.exercises}
        answers: dict[str, str] = {}
        auto: dict[str, float | None] = {}
        for grade in page.grades:
            name, kind = names[grade.cell_id]
            if kind == "code":
                auto[name] = points.get(name, 0.0)
                answers[name] = f"{auto[name]:g}"
            else:
                auto[name] = None if name in record.written else 0.0
                answers[name] = cells[name].source if name in cells else ""
            grade.auto_score = auto[name]
        for comment in page.comments:
            comment.auto_comment = _remark(cells.get(names[comment.cell_id][0]))
        return answers, auto

    def _names(self, page: SubmittedNotebook) -> Names:
        """The name and the type of each cell, in one query; a grade that is asked for its name makes one of its own."""
        graded = GradeCell.__table__
        found = select(BaseCell.id, BaseCell.name, graded.c.cell_type).outerjoin(graded, graded.c.id == BaseCell.id)
        rows = self._gradebook.db.execute(found.where(BaseCell.notebook_id == page.notebook_id))
        return {id: (name, kind) for id, name, kind in rows}

    def _give(
        self,
        page: SubmittedNotebook,
        names: Names,
        state: State,
        answers: dict[str, str],
        auto: dict[str, float | None],
        record: Record,
    ) -> None:
        """Write what persons gave, and that this is what the desk has entered."""
        for grade in page.grades:
            name, _ = names[grade.cell_id]
            given = state.grades.get(name)
            grade.manual_score, grade.extra_credit = (given.points, given.extra) if given else (None, None)
            grade.needs_manual_grade = given.waits if given else auto[name] is None
        for comment in page.comments:
            comment.manual_comment = state.comments.get(names[comment.cell_id][0])
        page.flagged = state.is_flagged
        session, entered = self._gradebook.db, json.dumps(asdict(Entered(state, answers, record.submission)))
        session.flush()
        session.execute(delete(ENTERED).where(ENTERED.c.notebook_id == page.id))
        session.execute(insert(ENTERED).values(notebook_id=page.id, key=record.key, state=entered))

    def _penalize(self, submission: SubmittedAssignment, page: SubmittedNotebook, when: datetime | None) -> None:
        """The penalty for being late: by the desk's rules if they say when the unit is due, else by the plugin that is
        configured, as nbgrader's `AssignLatePenalties` does it.
        """
        submission.timestamp = when.replace(tzinfo=None) if when else None
        penalty = None
        session = self._gradebook.db
        rules, people = self._around
        if due := rules.due.get(submission.name):
            late = lateness_for(self.desk, submission.name, submission.student.id, rules, people)
            submission.assignment.duedate = due.replace(tzinfo=None)
            submission.extension = late.due - due if late.due and late.due > due else None
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


def _remark(cell: NotebookNode | None) -> str | None:
    """nbgrader's own remark on an answer that was left as it was."""
    untouched = cell is None or cell.metadata.nbgrader.get("checksum") == utils.compute_checksum(cell)
    return "No response." if untouched else None


def _given_out(desk: Desk, unit: str) -> list[NotebookNode]:
    """The cells of the notebook that students got."""
    return list(nbformat.read(built(desk.root, unit), as_version=4).cells)


def _read(notebook: bytes, what: str) -> NotebookNode:
    try:
        read = nbformat.v4.reads(notebook.decode())
        nbformat.validate(read)
    except (ValueError, LookupError, TypeError, AttributeError, nbformat.ValidationError) as error:
        raise DeskError(f"There is no reading {what}: {str(error).partition(chr(10))[0]}") from None
    return read
