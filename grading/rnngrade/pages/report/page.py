"""The report: one self-contained HTML page for each unit, `report/03_cell.html`, and an index of all.

The page works without its script, which only sorts and searches the table of students. No meaning hangs on colour: a
bar has its pattern and a cell its sign. Whatever a student could have written (names, error messages) is escaped; if
that failed, the page's content security policy would still keep it from running, since it allows just the one script.

Numbers come from `statistics.py`; the page is `unit.html` and `index.html` in Jinja, with what they share in
`layout.html` and `table.html`.
"""

import contextlib
import inspect
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache, partial
from pathlib import Path
from urllib.parse import quote

import jinja2

from rnncourse import exercises
from rnncourse.checks.exercise import Exercise, Unit
from rnngrade.core.desk import Desk
from rnngrade.core.errors import DeskError, Failures
from rnngrade.core.record import write_whole
from rnngrade.core.text import prose
from rnngrade.core.zips import zipped
from rnngrade.gradebook.exporting import local
from rnngrade.gradebook.marks import read_marks
from rnngrade.gradebook.showing import cells_of
from rnngrade.pages.feedback.page import page as feedback_page
from rnngrade.pages.feedback.write import source_of
from rnngrade.pages.report.statistics import ENOUGH, StudentRow, UnitStatistics
from rnngrade.pages.templates import templates
from rnngrade.reading.digest import digest, weight
from rnngrade.roster.identity import presence
from rnngrade.roster.rules import rules_of
from rnngrade.roster.students import class_list, natural

LONGEST = 800  # bytes of a message; what is longer is cut: a student can make an error of any length
HERE = Path(__file__).parent


def write_reports(desk: Desk, units: Iterable[str], failures: Failures) -> list[Path]:
    """Write the pages of some units, and the index once; returns where the pages lie.

    Whose record cannot be shown is put into `failures`, and left out. **Errors:** `KeyError` for a unit that the course
    does not have; `DeskError` for a gradebook that cannot be read.
    """
    wanted = {unit: exercises.unit(unit) for unit in units}
    graded = {path.name for path in desk.records.iterdir() if path.is_dir()} if desk.records.is_dir() else set()
    known = {unit: exercises.unit(unit) for unit in graded if unit in exercises.STEMS}
    made = {unit: _unit(desk, catalogue, failures, unit in wanted) for unit, catalogue in (known | wanted).items()}
    paths = []
    for unit in wanted:
        paths.append(desk.reports / f"{unit}.html")
        write_whole(paths[-1], made[unit][1])
    lines = [made[unit][0] for unit in sorted(made)]
    written = {unit.unit for unit in lines if (desk.reports / f"{unit.unit}.html").is_file()}
    index = _environment().get_template("index.html").render(units=lines, written=written)
    write_whole(desk.reports / "index.html", index)
    return paths


def _unit(desk: Desk, catalogue: Unit, failures: Failures, wanted: bool) -> tuple[UnitStatistics, str]:
    """What the desk knows of a class in a unit, and the page on it, with what lies beside it if it is to be written."""
    unit, known = catalogue.stem, references(catalogue)
    people, rules = class_list(desk), rules_of(desk)
    records = {record.student: record for record in desk.graded(unit, failures)}
    grades = read_marks(desk, unit, failures)
    here = presence(desk, unit, people, records)

    def of(apart: bool) -> UnitStatistics:
        chosen = [record for student, record in records.items() if (student in here.unknown) is apart]
        there = [student for student in desk.submissions(unit) if (student in here.unknown) is apart]
        return UnitStatistics(chosen, catalogue, handed_in=there, marks=grades, references=known)

    found = of(False)
    if wanted:
        for student in records:
            # Of whose notebook nothing can be read, feedback tells.
            with failures.of(student, unit), contextlib.suppress(DeskError):
                if student in grades and desk.executed_path(unit, student).is_file():
                    shown = feedback_page(*source_of(desk, unit, student, grades), is_open=True)
                    write_whole(desk.reports / unit / f"{student}.html", shown)
        for name, content in for_detectors(desk, catalogue, records).items():
            write_whole(desk.reports / unit / name, content)
    return found, _environment().get_template("unit.html").render(
        unit=found,
        apart=of(True) if here.unknown else None,
        names={student: people.shown(people.person(student), by_last_name=True) for student in records},
        called={student: people.shown(people.person(student)) for student in records},
        feedback={student: _link(desk, desk.page_path(unit, student)) for student in records},
        notebook={student: _link(desk, desk.reports / unit / f"{student}.html") for student in records},
        late={who: one for who, one in grades.items() if who in records and (one.penalty or one.late.words())},
        due=local(rules.due.get(unit), rules),
        listed=len(people.people),
        absent=[people.shown(person) for person in here.absent],
        others=here.instead(people),
        numbered=len(here.numbered),
    )


def _link(desk: Desk, path: Path) -> str:
    """Where a page lies, seen from the report; nothing if it is not there."""
    return quote(Path(os.path.relpath(path, desk.reports)).as_posix()) if path.is_file() else ""


def references(catalogue: Unit) -> dict[str, set[str]]:
    """The digests of the course's own answers: the model answers, and those of the textbook that they stand for."""
    sources = {e.name: (e.source, inspect.getsource(e.reference)) for e in catalogue if isinstance(e, Exercise)}
    return {name: {f"{weight(source)}:{digest(source)}" for source in found} for name, found in sources.items()}


def for_detectors(desk: Desk, catalogue: Unit, students: Iterable[str]) -> dict[str, bytes]:
    """What a detector of copies, such as Dolos and JPlag, takes, by where it lies in the report's folder for a unit: a
    file for each student, and what the course has shown to everybody, as template or base code. Nothing is read here as
    a program, so no text of a student's can take long.
    """
    executed = {student: desk.executed_path(catalogue.stem, student) for student in sorted(students)}
    answers = ((f"answers/{one}.py", _joined(_code(path, of_students=True))) for one, path in executed.items())
    return {"answers.zip": zipped(answers), "given/course.py": _joined(_known(desk.root, catalogue))}


def _known(root: Path, catalogue: Unit) -> Iterator[str]:
    """What the course has shown, or everybody may come to: each code cell of the unit as students get it and as it is
    solved, and the textbook's answers.
    """
    for folder in ("notebooks", "solutions"):
        yield from _code(root / folder / catalogue.stem / f"{catalogue.stem}.ipynb")
    yield from (exercise.source for exercise in catalogue if isinstance(exercise, Exercise))


def _code(path: Path, *, of_students: bool = False) -> Iterator[str]:
    """The code cells of a notebook of the desk's or the course's; all, or those that are a student's own."""
    cells = []
    with contextlib.suppress(DeskError):  # of one that is none, feedback tells
        cells = cells_of(path)
    for cell in cells:
        own = cell["metadata"].get("rnngrade") or cell["metadata"].get("nbgrader", {}).get("solution")
        if cell["cell_type"] == "code" and (own or not of_students):
            yield cell["source"]


def _joined(sources: Iterable[str]) -> bytes:
    return "\n\n".join(sources).encode("utf-8", "replace")


@cache
def _environment() -> jinja2.Environment:
    environment = templates(HERE, "script.js", "style.css")
    environment.globals["enough"] = ENOUGH
    filters = {"percent": percent, "of_them": of_them, "sort_people": sort_people}
    environment.filters |= filters | {"prose": partial(prose, most=LONGEST)}
    return environment


def sort_people(rows: Iterable[StudentRow], names: Mapping[str, str]) -> list[StudentRow]:
    return sorted(rows, key=lambda row: (natural(names[row.student]), row.student))


def percent(part: int, whole: int) -> str:
    """A share; nobody of nobody is none.

    >>> percent(4, 13), percent(0, 0)
    ('31%', '0%')
    """
    return f"{100 * part / whole:.0f}%" if whole else "0%"


def of_them(text: str) -> str:
    """What a student was told, as it is said to whoever grades.

    >>> of_them("Your cell `f` is yours: what you do, and your `you_too`.")
    'Their cell `f` is theirs: what they do, and their `you_too`.'
    """
    words = {"you": "they", "your": "their", "yours": "theirs"}
    return re.sub(r"\b([Yy])(ou(?:rs?)?)\b", lambda m: m[1].translate(_TO_T) + words[f"y{m[2]}"][1:], text)


_TO_T = str.maketrans("Yy", "Tt")
