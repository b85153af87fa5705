"""What the gradebook knows of a unit, read in three queries for the whole class.

A grade is nbgrader's: what a person gave counts instead of the judge's, extra credit comes on top, and a grade may wait
for a person (`nbgrader.api.Grade`). Comments hang on the answer's cell, `rnn_step`; grades on the check, or on the
written question itself.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import re
import warnings
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from sqlalchemy import Select, make_url, select
from sqlalchemy.exc import SQLAlchemyError

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # nbgrader is imported, not judged
    from nbgrader.api import Assignment, BaseCell, Comment, Grade, GradeCell, SubmittedAssignment, SubmittedNotebook

from rnngrade.core.desk import Desk
from rnngrade.core.errors import Failures
from rnngrade.core.record import Record
from rnngrade.gradebook.book import GradebookError, open_gradebook
from rnngrade.roster.lateness import Lateness
from rnngrade.roster.times import lateness_of


@dataclass(frozen=True)
class Mark:
    """The grade of one cell: `points` of `most`, extra credit among them; None if nobody has given any yet."""

    points: float | None
    most: float
    extra: float = 0.0
    by_hand: bool = False
    waits: bool = False


@dataclass
class Marks:
    """All that one student got in a unit, by grade id. `untouched` are the answers left as they were handed out."""

    grades: dict[str, Mark] = field(default_factory=dict)
    comments: dict[str, str] = field(default_factory=dict)
    untouched: set[str] = field(default_factory=set)
    penalty: float = 0.0
    late: Lateness = field(default_factory=Lateness)

    @property
    def before(self) -> float:
        """The points so far, before any penalty for being late."""
        return sum(mark.points or 0.0 for mark in self.grades.values())

    @property
    def total(self) -> float:
        """The points so far, less the penalty for being late."""
        return max(0.0, self.before - self.penalty)

    @property
    def waits(self) -> bool:
        """Whether a person has still to look at some of it."""
        return any(mark.waits for mark in self.grades.values())

    @property
    def most(self) -> float:
        """The most points that there are for what has points by now."""
        return sum(mark.most for mark in self.grades.values() if mark.points is not None)


_DIGEST = re.compile(rb'<meta name="rnngrade-digest" content="([0-9a-f]+)">')


def digest_of(record: Record, marks: Marks) -> str:
    """A hash of all that a student's page is a function of: the record, the marks with their comments, lateness."""
    said = json.dumps([record.key, asdict(marks)], sort_keys=True, default=_plain)
    return hashlib.sha256(said.encode("utf-8", "replace")).hexdigest()[:16]


def _plain(value: Any) -> Any:
    return sorted(value) if isinstance(value, set) else str(value)


def is_current(page: Path, record: Record, marks: Marks) -> bool:
    """Whether there is such a page, and it says what is so now."""
    try:
        with page.open("rb") as file:
            found = _DIGEST.search(file.read(2000))
    except OSError:
        return False
    return found is not None and found[1].decode() == digest_of(record, marks)


def read_marks(desk: Desk, unit: str, failures: Failures | None = None) -> dict[str, Marks]:
    """The marks of all who are in the gradebook with this unit, with what being late costs by the desk's rules now.

    Of whom it is not known how late they are is put into `failures`, and left as the gradebook has it. **Errors:**
    `GradebookError` if it cannot be read, `RulesError`, `RosterError`; without `failures`, `TimesError`.
    """
    found = _read_all(desk, unit)
    for student, late in lateness_of(desk, unit, found, failures=failures).items():
        marks = found[student]
        marks.late = late
        if late.due is not None:  # else nbgrader's own due date and penalty count
            marks.penalty = late.penalty(marks.before, sum(mark.most for mark in marks.grades.values()))
    return found


def _read_all(desk: Desk, unit: str) -> dict[str, Marks]:
    """What is in the gradebook."""
    url = make_url(desk.db_url)
    if url.get_backend_name() == "sqlite" and not Path(str(url.database)).is_file():
        return {}  # to open it would be to make it
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # what nbgrader does to SQLAlchemy is between the two
            with contextlib.closing(open_gradebook(desk)) as gradebook:
                return _read(gradebook.db, unit)
    except SQLAlchemyError as error:
        cause = str(getattr(error, "orig", None) or error).partition("\n")[0]
        raise GradebookError(f"The gradebook at {url.render_as_string()} cannot be read: {cause}") from None


def _read(session: Any, unit: str) -> dict[str, Marks]:
    def rows(*columns: Any) -> Select[Any]:
        return (
            select(SubmittedAssignment.student_id, *columns)
            .join(Assignment, SubmittedAssignment.assignment_id == Assignment.id)
            .join(SubmittedNotebook, SubmittedNotebook.assignment_id == SubmittedAssignment.id)
            .where(
                Assignment.name == unit
            )  # as nbgrader itself looks for it: a desk that was moved has lost its course
        )

    found = {
        student: Marks(penalty=float(penalty or 0.0))
        for student, penalty in session.execute(rows(SubmittedNotebook.late_submission_penalty))
    }
    points = (Grade.auto_score, Grade.manual_score, Grade.extra_credit, Grade.needs_manual_grade)
    grades = rows(BaseCell.name, GradeCell.__table__.c.max_score, *points)
    grades = grades.join(Grade, Grade.notebook_id == SubmittedNotebook.id).join(BaseCell, Grade.cell_id == BaseCell.id)
    grades = grades.join(GradeCell.__table__, GradeCell.__table__.c.id == BaseCell.id)
    for student, name, most, auto, manual, extra, waits in session.execute(grades):
        given = manual if manual is not None else auto
        # nbgrader gives extra credit only on top of points.
        extra = float(extra or 0.0) if given is not None else 0.0
        mark = Mark(
            None if given is None else given + extra, float(most or 0.0), extra, manual not in (None, auto), bool(waits)
        )
        found[student].grades[name] = mark
    comments = rows(BaseCell.name, Comment.auto_comment, Comment.manual_comment)
    comments = comments.join(Comment, Comment.notebook_id == SubmittedNotebook.id)
    comments = comments.join(BaseCell, Comment.cell_id == BaseCell.id)
    for student, name, automatic, by_hand in session.execute(comments):
        if by_hand and by_hand.strip():
            found[student].comments[name] = by_hand
        if automatic is not None:
            found[student].untouched.add(name)
    return found
