"""The door to nbgrader's gradebook: who opens it, what is read of it, and what of it is the desk's own.

The gradebook is made from files: records, and what persons gave (`by_hand.py`). It can be deleted, restored or begun
anew elsewhere, and the next run makes it what it was. A table of the desk's own says of each submission, in the
transaction that entered it, from which record that was and what was by hand then. So it is known what is to be entered
again, and what a person has given in formgrader since.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sqlalchemy import URL, Column, MetaData, Select, String, Table, Text, make_url, select
from sqlalchemy.exc import InterfaceError, OperationalError, SQLAlchemyError
from traitlets.config.loader import Config, PyFileConfigLoader

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # nbgrader is imported, not judged
    from nbgrader.api import (
        Assignment,
        BaseCell,
        Comment,
        Grade,
        Gradebook,
        GradeCell,
        InvalidEntry,
        Notebook,
        SubmittedAssignment,
        SubmittedNotebook,
    )

from rnngrade.author import release
from rnngrade.core.desk import Desk
from rnngrade.core.errors import DeskError, Failures, Stop
from rnngrade.core.record import read_json

ENTERED = Table(
    "rnngrade_entered",
    MetaData(),
    Column("notebook_id", String(32), primary_key=True),  # nbgrader's submitted notebook
    Column("key", Text, nullable=False),  # the record's
    Column("state", Text, nullable=False),  # `Entered` as JSON
)

NOT_ENTERED = "Is not in the gradebook as it was graded: run 'rnngrade run {}'."


@dataclass(frozen=True)
class GivenGrade:
    """What nbgrader keeps of a grade that a person gave: points, extra credit, and whether they have to look again."""

    points: float | None
    extra: float | None
    waits: bool


@dataclass
class State:
    """What persons gave a submission, as the gradebook has it."""

    grades: dict[str, GivenGrade] = field(default_factory=dict)
    comments: dict[str, str] = field(default_factory=dict)
    is_flagged: bool = False


@dataclass
class Entered:
    """What the desk has entered of a submission: the state, what it was given for (`by_hand.Given.answer`), and the
    submission's hash.
    """

    state: State = field(default_factory=State)
    answers: dict[str, str] = field(default_factory=dict)
    submission: str = ""


@dataclass
class Cell:
    """What a cell that has points can have, and what the judge gave: None if only a person can."""

    id: str  # of nbgrader's grade
    kind: str
    most: float
    auto: float | None
    waits: bool


@dataclass
class Page:
    """A submission as the gradebook has it: points by cell. `comments` are the ids of nbgrader's comments by cell,
    `untouched` the cells left as they were handed out. `key` is that of its record, "" if the desk has not entered it.
    """

    id: str
    penalty: float
    state: State = field(default_factory=State)
    cells: dict[str, Cell] = field(default_factory=dict)
    comments: dict[str, str] = field(default_factory=dict)
    untouched: set[str] = field(default_factory=set)
    key: str = ""
    entered: Entered = field(default_factory=Entered)


@contextmanager
def told(desk: Desk) -> Iterator[None]:
    """Around what uses the gradebook: an error of the database is one sentence. **Errors:** `DeskError`."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # what nbgrader does to SQLAlchemy is between the two
            yield
    except (SQLAlchemyError, InvalidEntry, UnicodeDecodeError) as error:
        kind = Stop if isinstance(error, (OperationalError, InterfaceError)) else DeskError
        cause = str(getattr(error, "orig", None) or error).strip().partition("\n")[0]
        more = ""
        if "not a database" in cause or "malformed" in cause:
            more = ". Move it away: 'rnngrade run' makes it anew from records and from what was given by hand."
        url = _url(desk)
        address = url.render_as_string() if url else repr(desk.db_url)  # without its password
        raise kind(f"The gradebook at {address} cannot be used: {cause}{more}") from None


@contextmanager
def opened(desk: Desk) -> Iterator[Gradebook]:
    """nbgrader's gradebook of a desk, with the desk's own table, made if it is not there; what is not committed is
    taken back. **Errors:** `DeskError`.
    """
    with told(desk):
        desk.open()
        release.name_version(desk.db_url)
        gradebook = Gradebook(desk.db_url, str(settings(desk).CourseDirectory.course_id))
        try:
            ENTERED.create(gradebook.engine, checkfirst=True)
            yield gradebook
        finally:
            gradebook.db.rollback()
            gradebook.close()


def is_there(desk: Desk) -> bool:
    """Whether there is a gradebook, which to open would be to make."""
    url = _url(desk)
    return url is None or url.get_backend_name() != "sqlite" or Path(str(url.database)).is_file()


def read_pages(session: Any, unit: str, failures: Failures, student: str | None = None) -> dict[str, Page]:
    """All submissions of a unit, by student, or one, in three queries. Who has points that are no numbers is put into
    `failures`, and left out.
    """

    def rows(*columns: Any) -> Select[Any]:
        found = (
            select(SubmittedAssignment.student_id, *columns)
            .join(Assignment, SubmittedAssignment.assignment_id == Assignment.id)
            .join(SubmittedNotebook, SubmittedNotebook.assignment_id == SubmittedAssignment.id)
            .join(Notebook, SubmittedNotebook.notebook_id == Notebook.id)
            # as nbgrader itself looks for it: a desk that was moved has lost its course
            .where(Assignment.name == unit, Notebook.name == unit)
        )
        return found if student is None else found.where(SubmittedAssignment.student_id == student)

    found: dict[str, Page] = {}
    broken: set[str] = set()

    def number(student: str, value: Any) -> float:
        if not isinstance(value, int | float) or not math.isfinite(value):
            broken.add(student)
            return 0.0
        return float(value)

    kept = rows(SubmittedNotebook.id, SubmittedNotebook.late_submission_penalty, SubmittedNotebook.flagged)
    kept = kept.add_columns(ENTERED.c.key, ENTERED.c.state)
    kept = kept.outerjoin(ENTERED, ENTERED.c.notebook_id == SubmittedNotebook.id)
    for who, id, penalty, flagged, key, state in session.execute(kept):
        found[who] = Page(id, number(who, penalty or 0.0), State(is_flagged=bool(flagged)))
        if key is not None:
            found[who].key, found[who].entered = key, read_json(state, Entered)
    graded = GradeCell.__table__
    grades = rows(BaseCell.name, Grade.id, graded.c.cell_type, Grade.needs_manual_grade, graded.c.max_score)
    grades = grades.add_columns(Grade.auto_score, Grade.manual_score, Grade.extra_credit)
    grades = grades.join(Grade, Grade.notebook_id == SubmittedNotebook.id).join(BaseCell, Grade.cell_id == BaseCell.id)
    for who, name, id, kind, waits, *given in session.execute(grades.join(graded, graded.c.id == BaseCell.id)):
        most, auto, manual, extra = (None if value is None else number(who, value) for value in given)
        found[who].cells[name] = Cell(id, kind, most or 0.0, auto, bool(waits))
        if manual is not None or extra:
            found[who].state.grades[name] = GivenGrade(manual, extra, bool(waits))
    comments = rows(BaseCell.name, Comment.id, Comment.auto_comment, Comment.manual_comment)
    comments = comments.join(Comment, Comment.notebook_id == SubmittedNotebook.id)
    for who, name, id, automatic, by_hand in session.execute(comments.join(BaseCell, Comment.cell_id == BaseCell.id)):
        found[who].comments[name] = id
        if by_hand and by_hand.strip():
            found[who].state.comments[name] = by_hand
        if automatic is not None:
            found[who].untouched.add(name)
    for who in sorted(broken):
        del found[who]
        failures.add(who, unit, "The gradebook has points that are no number: mend them in formgrader.")
    return found


def settings(desk: Desk) -> Config:
    """nbgrader's configuration of a class, which includes the course's."""
    config = PyFileConfigLoader("nbgrader_config.py", path=str(desk.folder)).load_config()
    config.CourseDirectory.root = str(desk.folder)
    config.CourseDirectory.db_url = desk.db_url
    return config


def _url(desk: Desk) -> URL | None:
    """Where the gradebook lies; None if that is no address."""
    try:
        return make_url(desk.db_url)
    except SQLAlchemyError:
        return None
