"""Records and executed notebooks of made-up submissions, as a run would leave them, made without running anything; and
the commands of a desk.
"""

import csv
import functools
import hashlib
import io
import tempfile
from dataclasses import replace
from pathlib import Path

import nbformat
from click.testing import CliRunner, Result

from rnncourse import check, exercises
from rnncourse.checks.exercise import Exercise, Misconception
from rnncourse.checks.verdict import Verdict
from rnngrade.cli import main
from rnngrade.core.desk import Desk
from rnngrade.core.errors import DeskError, Failures
from rnngrade.core.record import JUDGED, ExerciseResult, Finding, Record
from rnngrade.demo.sample import BLANK, RIGHT, Answer, Submission
from rnngrade.gradebook.book import GradebookWriter

UNIT = "02_unfolding"
WRITTEN = "unfolding_written"
NAMES = [e.name for e in exercises.unit(UNIT)]


class NoFailures(Failures):
    """There is to be none."""

    def _tell(self, what: str, words: str) -> None:
        raise DeskError(f"{what}: {words}")


NONE = NoFailures()
_NOTEBOOKS: dict[tuple[object, ...], bytes] = {}  # by what is answered; whose it is, does not stand in one


def submission(student: str, answer: Answer = RIGHT, **others: Answer) -> Submission:
    """`answer` to every exercise but those named."""
    return Submission(student, UNIT, "made up", dict.fromkeys(NAMES, answer) | others)


def mistake(name: str) -> Misconception:
    """The first misconception of an exercise."""
    return exercises.find(name).misconceptions[0]


def outcome(root: Path, made: Submission, findings: tuple[Finding, ...] = ()) -> tuple[Record, bytes]:
    """The record and the executed notebook of a submission."""
    key = (root, *((name, getattr(answer, "name", answer)) for name, answer in made.answers.items()))
    if key not in _NOTEBOOKS:
        with tempfile.TemporaryDirectory() as folder:
            _NOTEBOOKS[key] = made.write(root, Path(folder)).read_bytes()
    notebook = _NOTEBOOKS[key]
    touched = any(answer != BLANK for answer in made.answers.values())
    record = Record(
        student=made.student,
        unit=made.unit,
        key="key",
        submission=hashlib.sha256(notebook).hexdigest(),
        exercises=results_of(made),
        written=(WRITTEN,) if touched else (),
        findings=findings,
    )
    return record, notebook


def changed(notebook: bytes, grade_id: str, **changes: object) -> bytes:
    """The notebook with a cell's source, or whatever else, changed."""
    read = nbformat.reads(notebook.decode(), as_version=4)
    (cell,) = [c for c in read.cells if c.metadata.get("nbgrader", {}).get("grade_id") == grade_id]
    cell.update(nbformat.from_dict(changes))
    return nbformat.writes(read).encode()


def resubmitted(record: Record, notebook: bytes) -> Record:
    """The record of another notebook."""
    return replace(record, submission=hashlib.sha256(notebook).hexdigest())


def enter(desk: Desk, *outcomes: tuple[Record, bytes]) -> None:
    """Keep records and notebooks, and put them into the gradebook, as a run does."""
    with GradebookWriter(desk) as gradebook:
        for record, notebook in outcomes:
            desk.keep(record, notebook)
            gradebook.put(record, notebook)


def rnngrade(desk: Desk, *arguments: object, code: int = 0) -> Result:
    """Run a command on a desk; its result, after a look at its exit code."""
    given = ["--course", desk.root, "--desk", desk.folder, *arguments]
    result = CliRunner().invoke(main, [str(one) for one in given])
    assert result.exit_code == code, result.output + result.stderr
    return result


def rows(text: str, delimiter: str = ",") -> list[list[str]]:
    """The rows of a table as a spreadsheet reads them."""
    return list(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter))


def table(text: str, key: str = "student") -> dict[str, dict[str, str]]:
    """The rows of a table that has heads, by what stands in one of its columns."""
    header, *lines = rows(text)
    return {line[header.index(key)]: dict(zip(header, line, strict=True)) for line in lines}


def not_written(*args: object, **kwargs: object) -> None:
    """A stub, as it was handed out."""
    raise NotImplementedError


@functools.cache
def result_of(name: str, answer: str) -> ExerciseResult:
    """What the check says, in this process, of RIGHT, BLANK or a misconception by its name."""
    exercise = exercises.find(name)
    if answer == RIGHT:
        points = float(exercise.points)
        verdict = Verdict(name, True, 1.0, points, exercise.points, "All right.", criteria={"runs": True})
    elif answer == BLANK:
        verdict = check(not_written if isinstance(exercise, Exercise) else None, name, hidden=True)
    else:
        verdict = check(next(m.answer for m in exercise.misconceptions if m.name == answer), name, hidden=True)
    return ExerciseResult(
        name,
        JUDGED,
        float(verdict.points),
        float(verdict.max_points),
        verdict.passed,
        verdict.message,
        verdict.diagnosis,
        dict(verdict.criteria),
        verdict.table.plain() if verdict.table else None,
        hint="" if verdict.passed else str(exercise.hints[0]),
        card=verdict.card(),
    )


def results_of(made: Submission) -> tuple[ExerciseResult, ...]:
    """What the check says of all answers of a submission."""
    answers = made.answers.items()
    return tuple(result_of(name, getattr(one, "name", one)) for name, one in answers)
