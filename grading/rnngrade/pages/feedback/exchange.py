"""What nbgrader's exchange wants to find beside a page, so that whoever handed in gets it back, and nobody else.

`nbgrader submit` draws a secret, which the student keeps, and puts it into the submission. `nbgrader release_feedback`
publishes a page under a name that is made of that secret, in a folder that nobody can list. So beside each page lie the
secret and the time of the very submission that the page is about: a newer one may be there, and not be graded yet.
"""

import hashlib
import secrets
from pathlib import Path

from rnngrade.core.desk import Desk
from rnngrade.core.errors import DeskError
from rnngrade.core.record import Record, write_whole
from rnngrade.roster.times import TIMESTAMP, handed_in, in_utc

SECRET = "submission_secret.txt"
LONGEST = 1000  # bytes of a secret


def came_by_exchange(desk: Desk, unit: str) -> bool:
    """Whether any of the unit's submissions did."""
    return any(path.with_name(SECRET).is_file() for path in desk.submissions(unit).values())


def keep_for_release(desk: Desk, record: Record, page: Path) -> None:
    """Put the secret and the time of the submission that `record` is of beside its page.

    `release_feedback` ends, for all who come after, at a page that has none. So what did not come by the exchange gets
    a secret that nobody knows, and is published where nobody looks.
    """
    secret = _secret(desk.submission_path(record.unit, record.student), record)
    if not secret and page.with_name(SECRET).is_file():
        return  # that of the last submission of which there was a page
    write_whole(page.with_name(SECRET), secret or secrets.token_hex(64).encode())
    try:
        when = handed_in(desk, record.unit, record.student)
    except DeskError:  # the run has said so
        when = None
    write_whole(page.with_name(TIMESTAMP), in_utc(when).encode() if when else b"not known")


def _secret(submission: Path, record: Record) -> bytes:
    """The secret beside a submission, if it is the one that was graded; nothing if there is none that can be read."""
    try:
        if hashlib.sha256(submission.read_bytes()).hexdigest() != record.submission:
            return b""
        with submission.with_name(SECRET).open("rb") as file:
            secret = file.read(LONGEST + 1)
        secret.decode()
    except (OSError, UnicodeDecodeError):
        return b""
    return secret if len(secret) <= LONGEST else b""
