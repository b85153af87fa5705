"""The answers of a class for a detector of copies, such as Dolos and JPlag: a zip with one file for each student, and
beside it what the course has shown to everybody, which these tools take as template or base code.

Nothing is read here as a program, so no text of a student's can take long.
"""

from collections.abc import Iterable, Iterator
from pathlib import Path

import nbformat

from rnncourse.checks.exercise import Exercise, Unit
from rnngrade.core.desk import Desk
from rnngrade.core.zips import zipped

ANSWERS, GIVEN = "answers.zip", "given/course.py"


def for_detectors(desk: Desk, catalogue: Unit, students: Iterable[str]) -> dict[str, bytes]:
    """The files for a unit, by where they lie in the report's folder for it."""
    executed = {student: desk.executed_path(catalogue.stem, student) for student in sorted(students)}
    answers = ((f"answers/{one}.py", _text(_code(path, of_students=True))) for one, path in executed.items())
    return {ANSWERS: zipped(answers), GIVEN: _text(_known(desk.root, catalogue))}


def _known(root: Path, catalogue: Unit) -> Iterator[str]:
    """What the course has shown, or everybody may come to: each code cell of the unit as students get it and as it is
    solved, and the textbook's answers.
    """
    for folder in ("notebooks", "solutions"):
        yield from _code(root / folder / catalogue.stem / f"{catalogue.stem}.ipynb")
    yield from (exercise.source for exercise in catalogue if isinstance(exercise, Exercise))


def _code(path: Path, *, of_students: bool = False) -> Iterator[str]:
    """The code cells of a notebook of the desk's or the course's; all, or those that are a student's own."""
    try:
        cells = nbformat.v4.reads(path.read_text(encoding="utf-8"))["cells"]
    except (OSError, ValueError, LookupError, TypeError, AttributeError):
        return
    for cell in cells:
        own = cell["metadata"].get("rnngrade") or cell["metadata"].get("nbgrader", {}).get("solution")
        if cell["cell_type"] == "code" and (own or not of_students):
            yield cell["source"]


def _text(sources: Iterable[str]) -> bytes:
    return "\n\n".join(sources).encode("utf-8", "replace")
