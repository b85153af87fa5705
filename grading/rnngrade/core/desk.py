"""A class's folder, the desk: where everything lies.

nbgrader_config.py   by which nbgrader's commands and formgrader, started here, find the course
desk.toml                               when units are due, what being late costs, how the term counts (`rules.py`)
roster.csv                              the class list (`students.py`)
names.csv                               whose the names are that a platform has for somebody (`names.py`)
submitted/STUDENT/UNIT/UNIT.ipynb       what was handed in; beside it timestamp.txt, when (`times.py`)
records/UNIT/STUDENT.json               what the judge wrote down (`record.py`)
collected/UNIT/STUDENT                  by which key it came, and what it was if it was no notebook of the unit
executed/UNIT/STUDENT.ipynb             the instructor's notebook with the student's answers, and what they showed
autograded/STUDENT/UNIT/UNIT.ipynb      the same, where formgrader looks for it
feedback/STUDENT/UNIT/UNIT.html         what the student gets back
report/UNIT.html                        what the instructor looks at, and report/UNIT/STUDENT.html, a notebook to read
by_hand/UNIT/STUDENT.json               what persons gave, and for which answer (`by_hand.py`)
rubrics/UNIT/QUESTION.json              a rubric that was changed while marking
gradebook.db                            nbgrader's gradebook, made of records and by_hand, unless another is configured
.lock                                   by which one command at a time changes any of this (`lock.py`)
"""

import hashlib
import os
import re
import shlex
from collections.abc import Iterator
from contextlib import AbstractContextManager
from pathlib import Path

from rnngrade.core.errors import DeskError, Failures, writing
from rnngrade.core.lock import locked
from rnngrade.core.record import Record, read_json, write_changed, write_whole

CONFIG = '''\
"""nbgrader's settings for this class: the course's, with the class's work in this folder."""

import os

c = get_config()  # type: ignore[name-defined]
load_subconfig({config!r})  # type: ignore[name-defined]
c.CourseDirectory.root = os.path.dirname(os.path.abspath(__file__))
c.CourseDirectory.source_directory = {source!r}
c.CourseDirectory.release_directory = {release!r}
'''

_PATHS = re.compile(rb"'[^'\n]*'")
_NAME = re.compile(r"[\w@.+-][\w@. +-]*\Z")


class Desk:
    """A class's folder, for the course at `root`. `db_url` is the gradebook's address for SQLAlchemy."""

    def __init__(self, root: Path, folder: Path, db_url: str | None = None) -> None:
        self.root = root.resolve()
        self.folder = folder.resolve()
        self.submitted = self.folder / "submitted"
        self.autograded = self.folder / "autograded"
        self.feedback = self.folder / "feedback"
        self.collected = self.folder / "collected"
        self.records = self.folder / "records"
        self.executed = self.folder / "executed"
        self.reports = self.folder / "report"
        self.gradebook = self.folder / "gradebook.db"
        self.db_url = db_url or f"sqlite:///{self.gradebook}"

    def open(self) -> bool:
        """Make the folder and its configuration, if they are not there; returns whether the latter was not."""
        with writing(self.folder):
            self.folder.mkdir(parents=True, exist_ok=True)
        path = self.folder / "nbgrader_config.py"
        up = Path(os.path.relpath(self.root, self.folder))
        text = CONFIG.format(
            config=str(up / "grading" / "nbgrader_config.py"),
            source=str(up / "solutions"),
            release=str(up / "notebooks"),
        )
        is_new = not path.exists()
        # as it was written, by a desk that stood elsewhere; what an instructor has changed stays
        if is_new or _PATHS.sub(b"", path.read_bytes()) == _PATHS.sub(b"", text.encode()):
            write_changed(path, text)
        return is_new

    def given(self, name: str) -> Path:
        """Where a table or the rules lie that the instructor puts into the desk, in whatever case its name is."""
        path = self.folder / name
        others = (other for other in sorted(self.folder.glob("*")) if other.name.casefold() == name)
        return path if path.exists() else next(others, path)

    def command(self, rest: str) -> str:
        """A command on this desk, as one types it in a shell."""
        return f"rnngrade --desk {shlex.quote(str(self.folder))} {rest}"

    def locked(self, command: str) -> AbstractContextManager[None]:
        """Make the folder, and hold its lock. **Errors:** `DeskError`, which says who holds it."""
        self.open()
        return locked(self.folder, command)

    def submission_path(self, unit: str, student: str) -> Path:
        return self.submitted / student / unit / f"{unit}.ipynb"

    def submissions(self, unit: str) -> dict[str, Path]:
        """Who handed the unit in, and where it lies, by name."""
        if not self.submitted.is_dir():
            return {}
        found = {
            s.name: self.submission_path(unit, s.name) for s in sorted(self.submitted.iterdir()) if is_name(s.name)
        }
        return {student: path for student, path in found.items() if path.is_file()}

    def misnamed(self, unit: str) -> dict[str, str]:
        """Who has notebooks in the unit's folder of which none is found by its name, and what one is called."""
        there, paths = self.submissions(unit), sorted(self.submitted.glob(f"*/{unit}/*.ipynb"))
        return {path.parent.parent.name: path.name for path in paths if path.parent.parent.name not in there}

    def passed_over(self, unit: str) -> Iterator[tuple[str, str]]:
        """The same, with why, in a sentence."""
        for name, called in sorted(self.misnamed(unit).items()):
            if is_name(name):
                where = self.submission_path(unit, name).parent
                yield name, f"There is no {unit}.ipynb in {where}, but {called}: if that is it, rename it."
            else:
                yield name, "A student's name has letters, digits, spaces and @ . + - _ only: rename the folder."

    def record_path(self, unit: str, student: str) -> Path:
        return self.records / unit / f"{student}.json"

    def page_path(self, unit: str, student: str) -> Path:
        return self.feedback / student / unit / f"{unit}.html"

    def executed_path(self, unit: str, student: str) -> Path:
        return self.executed / unit / f"{student}.ipynb"

    def record(self, unit: str, student: str) -> Record | None:
        """The record of a submission, or None if there is none that can be read."""
        try:
            return read_json(self.record_path(unit, student).read_text(encoding="utf-8"), Record)
        except (OSError, ValueError):
            return None

    def graded(self, unit: str, failures: Failures | None = None) -> Iterator[Record]:
        """The records of a unit, by student; whose cannot be read is put into `failures`."""
        for path in sorted((self.records / unit).glob("*.json")):
            if record := self.record(unit, path.stem):
                yield record
            elif failures:
                again = f"Grade it again: rnngrade run {unit} --student {path.stem}"
                failures.add(path.stem, unit, f"The record {path} cannot be read. {again}")

    def is_newer(self, record: Record) -> bool:
        """Whether something else was handed in since than what the record is of."""
        try:
            submission = self.submission_path(record.unit, record.student).read_bytes()
        except OSError:
            return False
        return hashlib.sha256(submission).hexdigest() != record.submission

    def keep(self, record: Record, notebook: bytes) -> None:
        """Write down what a submission came to: the notebook first, then the record, which makes it count."""
        write_whole(self.executed_path(record.unit, record.student), notebook)
        write_whole(self.record_path(record.unit, record.student), record.to_json())


def built(root: Path, unit: str, folder: str = "notebooks") -> Path:
    """Where a unit's notebook lies, by default the one for students. **Errors:** `DeskError` if it is not built."""
    path = root / folder / unit / f"{unit}.ipynb"
    if not path.is_file():
        raise DeskError(f"The notebook of {unit} is not built: run 'make notebooks'.")
    return path


def is_name(text: str) -> bool:
    """Whether a text can be a student's name in a path: letters, digits, and @ . + - _ and spaces within."""
    return bool(_NAME.match(text)) and not text.startswith(".") and len(text) <= 100
