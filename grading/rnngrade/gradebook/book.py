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

import json
import logging
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import asdict
from functools import cache, cached_property

import nbformat
from nbformat import NotebookNode
from sqlalchemy import delete, insert, update

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # nbgrader is imported, not judged
    from nbgrader import utils
    from nbgrader.api import Comment, Grade, Gradebook, MissingEntry, SubmittedAssignment, SubmittedNotebook
    from nbgrader.preprocessors import AssignLatePenalties

from rnngrade.author import release
from rnngrade.core.desk import Desk, built
from rnngrade.core.errors import DeskError, Failures
from rnngrade.core.record import Record, write_changed
from rnngrade.gradebook import by_hand
from rnngrade.gradebook.by_hand import ByHand
from rnngrade.gradebook.door import ENTERED, NOT_ENTERED, Entered, GivenGrade, Page, opened, read_pages, settings, told
from rnngrade.gradebook.marks import Marks, is_entered, marks_of
from rnngrade.gradebook.showing import grade_id_of, to_show
from rnngrade.roster.rules import Rules, rules_of
from rnngrade.roster.students import ClassList, Person, class_list
from rnngrade.roster.times import TIMESTAMP, handed_in, in_utc, lateness_for


class GradebookWriter(ExitStack):
    """Writes to the gradebook of a desk. One at a time; use as a context."""

    def __init__(self, desk: Desk) -> None:
        super().__init__()
        self.desk = desk
        self._pages: dict[str, dict[str, Page]] = {}
        self._given_out = cache(lambda unit: list(nbformat.read(built(desk.root, unit), as_version=4).cells))
        self._gradebook: Gradebook = self.enter_context(opened(desk))
        session = self._gradebook.db
        self._commit, session.commit = session.commit, session.flush  # nbgrader would commit after each of its steps

    def enter_unit(self, unit: str) -> list[str]:
        """Enter a built unit, or what has changed of it; returns a sentence for each change that nbgrader refuses, and
        for what was given by hand for exercises that there are no more.

        nbgrader takes no exercise in or out of a unit that has submissions. So they are taken out, with what was given
        by hand kept in the desk's files, and come in again from their records.
        """
        said = []
        with self._whole():
            there, built = self._cells(unit), {*map(grade_id_of, self._given_out(unit))} - {""}
            pages, is_anew = self._read(unit), bool(there) and there != built
            for student, page in pages.items():
                try:
                    self._take_over(unit, student, page)
                except DeskError as error:  # it costs this student's entry alone, unless all are taken out
                    if is_anew:
                        raise
                    said.append(str(error))
            if is_anew and pages:
                said += [f"{unit} is entered anew, for its exercises are others than before."]
                for student in pages:
                    self._gradebook.remove_submission(unit, student)
                for name in sorted(there - built):
                    if given := [s for s in pages if name in by_hand.read(self.desk, unit, s).grades]:
                        said.append(
                            f"{unit} has no {name} any more. What {len(given)} were given for it by hand stays in "
                            f"{by_hand.path_of(self.desk, unit, given[0]).parent}, and counts for nothing."
                        )
            self._commit()
            self._rename(unit)
            said += release.enter_in_gradebook(self.desk.root, unit, self.desk.db_url)
            self._pages[unit] = self._read(unit)
        return said

    def enter_students(self, people: Iterable[Person]) -> None:
        """Enter them, or what is new of their names and addresses."""
        with self._whole():
            for person in people:
                given = {"first_name": person.first_name, "last_name": person.last_name, "email": person.email}
                known = {name: value for name, value in given.items() if value}
                self._gradebook.update_or_create_student(person.id, **known)

    def enter(self, record: Record) -> None:
        """Put a record into the gradebook, with the notebook that the desk has of it, unless it is there already, and
        as it is in the desk's files.

        **Errors:** `DeskError`, and nothing is changed.
        """
        page = self._pages.get(record.unit, {}).get(record.student)
        shown = self.desk.autograded / record.student / record.unit / f"{record.unit}.ipynb"
        is_untouched = page is not None and page.state == page.entered.state and shown.is_file()
        if not (page and is_untouched and is_entered(self.desk, record, page)):
            self.put(record, self.desk.executed_path(record.unit, record.student).read_bytes())

    def put(self, record: Record, notebook: bytes) -> None:
        """Put a record into the gradebook, and the executed notebook of its submission into `autograded/`.

        **Errors:** `DeskError`, and nothing is changed.
        """
        student, unit = record.student, record.unit
        executed = _read(notebook, f"the executed notebook of {student}'s {unit}")
        with self._whole():
            submission = self._submission(unit, student)
            page = self._page(unit, student)
            given = self._take_over(unit, student, page)
            _fill(page, record, executed)
            self._give(page, given, record)
            self._penalize(submission)
            known = {cell.source for cell in self._given_out(unit) if cell.cell_type == "markdown"}
            shown = json.dumps(to_show(record, executed, known), ensure_ascii=False)
            write_changed(self.desk.autograded / student / unit / f"{unit}.ipynb", f"{shown}\n")

    def marks(self, unit: str) -> dict[str, Marks]:
        """What all students have in the gradebook, whatever being late costs."""
        with self._whole():
            return {student: marks_of(page, self._around[0], unit) for student, page in self._read(unit).items()}

    def mark(self, unit: str, students: Iterable[str], give: Callable[[str, ByHand], None]) -> None:
        """Give points or comments by hand to some students, at one stroke: `give(student, by_hand)` writes them down.
        First the desk's own files are written, then the gradebook.

        **Errors:** `DeskError`, and nothing is changed.
        """
        with self._whole():
            # Nothing is changed, but from here on nobody else writes to SQLite.
            self._gradebook.db.execute(update(ENTERED).where(ENTERED.c.notebook_id == "").values(key=""))
            changed = {}
            for student in students:
                record, page = self.desk.record(unit, student), self._page(unit, student)
                if record is None or page.key != record.key:
                    raise DeskError(f"{student}: {NOT_ENTERED.format(unit)}")
                changed[student] = self._take_over(unit, student, page)
                give(student, changed[student])
                self._give(page, changed[student], record)
            for student, given in changed.items():
                by_hand.write(self.desk, unit, student, given)

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

    def enter_lateness(self, unit: str, failures: Failures) -> None:
        """Enter again when each submission was handed in, and its penalty: a due date, a penalty's size, a timestamp or
        a grade by hand may have changed since its record was put.

        For whom it cannot be done is put into `failures`. **Errors:** `DeskError`, and nothing is changed.
        """
        with self._whole():
            for submission in self._gradebook.assignment_submissions(unit):
                with failures.of(submission.student.id, unit):
                    self._penalize(submission)

    def _read(self, unit: str) -> dict[str, Page]:
        """All submissions of a unit, but those with points that are no numbers."""
        return read_pages(self._gradebook.db, unit, Failures())

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

    @contextmanager
    def _whole(self) -> Iterator[None]:
        """All at one stroke, or nothing; a database's error as one sentence."""
        try:
            with told(self.desk):
                yield
                self._commit()
        finally:
            self._gradebook.db.rollback()  # after a commit, there is nothing to roll back

    def _submission(self, unit: str, student: str) -> SubmittedAssignment:
        """The submission, with grades and comments, made if it is new."""
        if not self._cells(unit):
            raise DeskError(f"The gradebook does not know {unit}: it has to be entered before grades.")
        self._gradebook.update_or_create_student(student)
        submission = self._gradebook.update_or_create_submission(unit, student)
        self._gradebook.db.flush()
        return submission

    def _give(self, page: Page, given: ByHand, record: Record) -> None:
        """Write all that stands on a page, with what persons gave, and that this is what the desk has entered."""
        session, state, grades, comments = self._gradebook.db, given.state(page, record), [], []
        columns = ("id", "auto_score", "manual_score", "extra_credit", "needs_manual_grade")
        for name, cell in page.cells.items():
            hand = state.grades.get(name) or GivenGrade(None, None, waits=cell.auto is None)
            grades.append(dict(zip(columns, (cell.id, cell.auto, hand.points, hand.extra, hand.waits))))
        for name, id in page.comments.items():
            remark = "No response." if name in page.untouched else None  # nbgrader's own
            comments.append({"id": id, "auto_comment": remark, "manual_comment": state.comments.get(name)})
        session.bulk_update_mappings(Grade, grades)
        session.bulk_update_mappings(Comment, comments)
        session.bulk_update_mappings(SubmittedNotebook, [{"id": page.id, "flagged": state.is_flagged}])
        entered = json.dumps(asdict(Entered(state, page.entered.answers, record.submission)))
        session.execute(delete(ENTERED).where(ENTERED.c.notebook_id == page.id))
        session.execute(insert(ENTERED).values(notebook_id=page.id, key=record.key, state=entered))

    def _penalize(self, submission: SubmittedAssignment) -> None:
        """When it was handed in, also beside the notebook in `autograded/`, where nbgrader looks for it, and what being
        late costs: by the desk's rules if they say when the unit is due, else by the plugin that is configured, as
        nbgrader's `AssignLatePenalties` does it.
        """
        unit, student, (page,) = submission.name, submission.student.id, submission.notebooks
        when, penalty, (rules, people) = handed_in(self.desk, unit, student), None, self._around
        submission.timestamp = when.replace(tzinfo=None) if when else None
        if due := rules.due.get(unit):
            late = lateness_for(self.desk, unit, student, rules, people)
            submission.assignment.duedate = due.replace(tzinfo=None)
            submission.extension = late.due - due if late.due and late.due > due else None
        self._gradebook.db.flush()
        self._gradebook.db.expire(page, ["score"])
        if due:
            penalty = late.penalty(float(page.score), float(page.max_score)) or None
        elif submission.total_seconds_late > 0:
            assign = AssignLatePenalties(config=settings(self.desk), log=logging.getLogger("rnngrade.nbgrader"))
            assign.init_plugin()
            lost = assign.plugin_inst.late_submission_penalty(student, page.score, submission.total_seconds_late)
            penalty = None if lost is None else assign._check_late_penalty(page, lost)
        page.late_submission_penalty = penalty
        beside = self.desk.autograded / student / unit / TIMESTAMP
        if when is None:
            beside.unlink(missing_ok=True)
        else:
            write_changed(beside, in_utc(when))


def _fill(page: Page, record: Record, executed: NotebookNode) -> None:
    """Put on a page the points of checks and what is known of written questions, and what each was given for. An
    exercise that the unit has no more, or that the record does not have yet, earns nothing.
    """
    cells = {grade_id: cell for cell in executed.cells if (grade_id := grade_id_of(cell))}
    points = {f"check_{result.name}": float(result.points) for result in record.exercises}
    for name, cell in page.cells.items():
        if cell.kind == "code":
            cell.auto = points.get(name, 0.0)
            page.entered.answers[name] = f"{cell.auto:g}"
        else:
            cell.auto = None if name in record.written else 0.0
            page.entered.answers[name] = cells[name].source if name in cells else ""
    page.untouched = {name for name in page.comments if name not in cells or _is_as_given_out(cells[name])}


def _is_as_given_out(cell: NotebookNode) -> bool:
    return bool(cell.metadata.nbgrader.get("checksum") == utils.compute_checksum(cell))


def _read(notebook: bytes, what: str) -> NotebookNode:
    try:
        read = nbformat.v4.reads(notebook.decode())
        nbformat.validate(read)
    except (ValueError, LookupError, TypeError, AttributeError, nbformat.ValidationError) as error:
        raise DeskError(f"There is no reading {what}: {str(error).partition(chr(10))[0]}") from None
    return read
