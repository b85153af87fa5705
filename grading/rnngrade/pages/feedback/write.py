"""Writing the pages of a class: each student on their own, whoever else's cannot be written; and beside each what
nbgrader's exchange wants to find, so that whoever handed in gets it back, and nobody else.

`nbgrader submit` draws a secret, which the student keeps, and puts it into the submission. `nbgrader release_feedback`
publishes a page under a name that is made of that secret, in a folder that nobody can list. So beside each page lie the
secret and the time of the very submission that the page is about: a newer one may be there, and not be graded yet.
"""

import secrets
from collections.abc import Mapping, Sequence
from pathlib import Path

from nbformat import NotebookNode

from rnngrade.core.desk import Desk
from rnngrade.core.errors import DeskError, Failures
from rnngrade.core.record import Record, write_whole
from rnngrade.gradebook.door import NOT_ENTERED
from rnngrade.gradebook.marks import Marks, is_current, read_marks
from rnngrade.gradebook.showing import cells_of
from rnngrade.pages.feedback.page import page
from rnngrade.roster.times import TIMESTAMP, handed_in, in_utc

SECRET = "submission_secret.txt"
LONGEST = 1000  # bytes of a secret


def write_feedback(desk: Desk, unit: str, failures: Failures, students: Sequence[str] | None = None) -> list[Path]:
    """Write the pages of `students`, by default of all who are graded; returns where they lie.

    Each is written on its own: whose page cannot be is put into `failures`. **Errors:** `DeskError` if the
    gradebook cannot be read.
    """
    marks = read_marks(desk, unit, failures)
    if students is None:
        students = [record.student for record in desk.graded(unit, failures) if record.student in marks]
    by_exchange = came_by_exchange(desk, unit)
    written = []
    for student in students:
        with failures.of(student, unit):
            written.append(_write(desk, *source_of(desk, unit, student, marks), by_exchange))
    return written


def page_now(desk: Desk, unit: str, student: str, marks: Mapping[str, Marks], failures: Failures) -> bytes | None:
    """The page as it goes to the student: written anew if there is none that says what is so now, by marks, comments
    and rules. None, and said in `failures`, if it cannot be written.
    """
    path = desk.page_path(unit, student)
    with failures.of(student, unit):
        record, mark, cells = source_of(desk, unit, student, marks)
        if not is_current(path, record, mark):
            _write(desk, record, mark, cells, came_by_exchange(desk, unit))
        return path.read_bytes()
    return None


def _write(desk: Desk, record: Record, marks: Marks, cells: list[NotebookNode], by_exchange: bool) -> Path:
    path = desk.page_path(record.unit, record.student)
    write_whole(path, page(record, marks, cells))
    if by_exchange:
        keep_for_release(desk, record, path)
    return path


def source_of(
    desk: Desk, unit: str, student: str, marks: Mapping[str, Marks]
) -> tuple[Record, Marks, list[NotebookNode]]:
    """The record, the marks and the cells of a submission. **Errors:** `DeskError`."""
    record = desk.record(unit, student)
    path = desk.executed_path(unit, student)
    if record is None or not path.is_file():
        raise DeskError(f"{student}'s {unit} is not graded yet: run `rnngrade run {unit}` first.")
    if student not in marks:
        raise DeskError(NOT_ENTERED.format(unit))
    return record, marks[student], cells_of(path)


def came_by_exchange(desk: Desk, unit: str) -> bool:
    """Whether any of the unit's submissions did."""
    return any(path.with_name(SECRET).is_file() for path in desk.submissions(unit).values())


def keep_for_release(desk: Desk, record: Record, page: Path) -> None:
    """Put the secret and the time of the submission that `record` is of beside its page.

    `release_feedback` ends, for all who come after, at a page that has none. So what did not come by the exchange gets
    a secret that nobody knows, and is published where nobody looks.
    """
    secret = _secret(desk, record)
    if not secret and page.with_name(SECRET).is_file():
        return  # that of the last submission of which there was a page
    write_whole(page.with_name(SECRET), secret or secrets.token_hex(64))
    try:
        when = handed_in(desk, record.unit, record.student)
    except DeskError:  # the run has said so
        when = None
    write_whole(page.with_name(TIMESTAMP), in_utc(when) if when else "not known")


def _secret(desk: Desk, record: Record) -> bytes:
    """The secret beside a submission, if it is the one that was graded; nothing if there is none that can be read."""
    if desk.is_newer(record):
        return b""
    try:
        with desk.submission_path(record.unit, record.student).with_name(SECRET).open("rb") as file:
            secret = file.read(LONGEST + 1)
        secret.decode()
    except (OSError, UnicodeDecodeError):
        return b""
    return secret if len(secret) <= LONGEST else b""
