"""The report: one self-contained HTML page for each unit, `report/03_cell.html`, and an index of all.

The page works without its script, which only sorts and searches the table of students. No meaning hangs on colour: a
bar has its pattern and a cell its sign. Whatever a student could have written (names, error messages) is escaped; if
that failed, the page's content security policy would still keep it from running, since it allows just the one script.

Numbers come from `statistics.py`; the page is `unit.html` and `index.html` in Jinja, with what they share in
`layout.html`.
"""

import contextlib
import inspect
import os
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache, partial
from pathlib import Path
from urllib.parse import quote

import jinja2
import nbformat

from rnncourse import exercises
from rnncourse.checks.exercise import Exercise, Unit
from rnngrade.core.desk import Desk
from rnngrade.core.errors import Failures
from rnngrade.core.record import Record, write_whole
from rnngrade.core.text import prose
from rnngrade.gradebook.door import GradebookError
from rnngrade.gradebook.exporting import local
from rnngrade.gradebook.marks import Marks, read_marks
from rnngrade.pages.feedback.page import page as feedback_page
from rnngrade.pages.feedback.write import source_of
from rnngrade.pages.report.alike import for_detectors
from rnngrade.pages.report.statistics import ENOUGH, StudentRow, UnitStatistics, statistics
from rnngrade.pages.templates import templates
from rnngrade.reading.digest import digest, weight
from rnngrade.roster.identity import presence
from rnngrade.roster.rules import Rules, rules_of
from rnngrade.roster.students import class_list, natural

LONGEST = 800  # bytes of a message; what is longer is cut: a student can make an error of any length
HERE = Path(__file__).parent


@dataclass(frozen=True)
class Links:
    """Where a student's work lies, relative to the report; None for what is not there. `notebook` is a page with it."""

    feedback: str | None = None
    notebook: str | None = None


@dataclass(frozen=True)
class Late:
    """What being late came to for a student: in words, the points that it cost, and what is left."""

    words: str
    days: int
    penalty: float
    total: float


@dataclass
class Around:
    """What the report says of a class beside its statistics: names, dates, who is missing, who is not on the list."""

    names: dict[str, str]  # by student, as the class list has them: last name first
    called: dict[str, str]  # the same, first name first
    due: str = ""
    late: dict[str, Late] = field(default_factory=dict)
    absent: list[str] = field(default_factory=list)
    others: list[str] = field(default_factory=list)  # who handed in something, and no notebook
    numbered: int = 0  # are known by a platform's number alone, and count all the same
    listed: int = 0  # are on the class list
    unknown: UnitStatistics | None = None


def write_reports(desk: Desk, units: Iterable[str], failures: Failures) -> list[Path]:
    """Write the pages of some units, and the index once; returns where the pages lie.

    Whose record cannot be shown is put into `failures`, and left out. **Errors:** `KeyError` for a unit that the course
    does not have; `GradebookError` for a gradebook that cannot be read.
    """
    wanted = {unit: exercises.unit(unit) for unit in units}
    graded = {path.name for path in desk.records.iterdir() if path.is_dir()} if desk.records.is_dir() else set()
    known = {unit: exercises.unit(unit) for unit in graded if unit in exercises.STEMS}
    made = {unit: _unit(desk, catalogue, failures, unit in wanted) for unit, catalogue in (known | wanted).items()}
    paths = []
    for unit in wanted:
        paths.append(desk.reports / f"{unit}.html")
        _write(paths[-1], made[unit][1])
    lines = [made[unit][0] for unit in sorted(made)]
    written = {unit.unit for unit in lines if (desk.reports / f"{unit.unit}.html").is_file()}
    _write(desk.reports / "index.html", _rendered("index.html", units=lines, written=written))
    return paths


def _unit(desk: Desk, catalogue: Unit, failures: Failures, wanted: bool) -> tuple[UnitStatistics, str]:
    """What the desk knows of a class in a unit, and the page on it, with what lies beside it if it is to be written."""
    unit = catalogue.stem
    references = read_references(desk, catalogue)
    people, rules = class_list(desk), rules_of(desk) or Rules()
    desk.tell_unreadable(unit, failures)
    records = list(desk.graded(unit))
    grades = read_marks(desk, unit, failures)
    handed_in = desk.submissions(unit)

    here = presence(desk, unit, people, [record.student for record in records])
    apart = {*here.unknown}

    def of(students: Callable[[str], bool]) -> UnitStatistics:
        chosen = [record for record in records if students(record.student)]
        there = [student for student in handed_in if students(student)]
        return statistics(chosen, catalogue, handed_in=there, marks=grades, references=references)

    found = of(lambda student: student not in apart)
    around = Around(
        {r.student: people.shown(people.person(r.student), by_last_name=True) for r in records},
        {r.student: people.shown(people.person(r.student)) for r in records},
        due=local(rules.due.get(unit), rules),
        listed=len(people.people),
        absent=[people.shown(person) for person in here.absent],
        others=[people.shown(people.person(student)) for student in here.others],
        numbered=len(here.numbered),
        unknown=of(apart.__contains__) if apart else None,
    )
    for row in (*found.students, *(around.unknown.students if around.unknown else ())):
        grade = grades.get(row.student)
        if grade is not None and (grade.penalty or grade.late.words()):
            words = grade.late.words() or "late"
            left = max(0.0, round(row.total - grade.penalty, 2))
            around.late[row.student] = Late(words, grade.late.days, grade.penalty, left)
    links = {r.student: links_to(desk, unit, r.student) for r in records}
    if wanted:
        for record in records:
            # Of whose notebook nothing can be read, feedback tells.
            with failures.of(record.student, unit), contextlib.suppress(GradebookError):
                links[record.student] = _readable(desk, record, grades, links[record.student])
        for name, content in for_detectors(desk, catalogue, links).items():
            write_whole(desk.reports / unit / name, content)
    return found, _rendered("unit.html", unit=found, links=links, around=around)


def _readable(desk: Desk, record: Record, grades: Mapping[str, Marks], links: Links) -> Links:
    """Write the page that shows a student's notebook to whoever grades, if the gradebook knows it."""
    student, unit = record.student, record.unit
    if student not in grades or not desk.executed_path(unit, student).is_file():
        return links
    _write(
        desk.reports / unit / f"{student}.html",
        feedback_page(*source_of(desk, unit, student, grades), is_open=True),
    )
    return links_to(desk, unit, student)


def links_to(desk: Desk, unit: str, student: str) -> Links:
    """The pages of a student that are there."""
    return Links(*(_link(desk, p) for p in (desk.page_path(unit, student), desk.reports / unit / f"{student}.html")))


def _link(desk: Desk, path: Path) -> str | None:
    return quote(Path(os.path.relpath(path, desk.reports)).as_posix()) if path.is_file() else None


def read_references(desk: Desk, catalogue: Unit) -> dict[str, set[str]]:
    """The digests of the course's own answers: those of the solution, and those of the textbook that it stands for."""
    path = desk.root / "solutions" / catalogue.stem / f"{catalogue.stem}.ipynb"
    cells = nbformat.read(path, as_version=4).cells if path.is_file() else []
    solved = {cell.metadata.nbgrader.grade_id: cell.source for cell in cells if "nbgrader" in cell.metadata}
    sources = {e.name: [inspect.getsource(e.reference)] for e in catalogue if isinstance(e, Exercise)}
    for name in sources.keys() & solved.keys():
        sources[name].append(solved[name])
    return {name: {f"{weight(source)}:{digest(source)}" for source in found} for name, found in sources.items()}


def _rendered(template: str, **values: object) -> str:
    return _environment().get_template(template).render(**values)


def _write(path: Path, page: str) -> None:
    # A name or a message may hold half a surrogate, which no file can.
    write_whole(path, page.encode("utf-8", "replace"))


@cache
def _environment() -> jinja2.Environment:
    environment = templates(HERE, "script.js", "style.css")
    environment.globals["enough"] = ENOUGH
    for filter in (percent, of_them, seconds, sort_people):
        environment.filters[filter.__name__] = filter
    environment.filters["prose"] = partial(prose, most=LONGEST)
    return environment


def sort_people(rows: Iterable[StudentRow], names: Mapping[str, str]) -> list[StudentRow]:
    """Rows by name, as people sort names."""
    return sorted(rows, key=lambda row: (natural(names[row.student]), row.student))


def percent(part: int, whole: int) -> str:
    """A share; nobody of nobody is none.

    >>> percent(4, 13), percent(0, 0)
    ('31%', '0%')
    """
    return f"{100 * part / whole:.0f}%" if whole else "0%"


def seconds(value: float | None) -> str:
    """A time, to what can be felt.

    >>> seconds(0.004), seconds(0.314), seconds(61.4), seconds(None)
    ('under 0.01 s', '0.31 s', '61 s', '–')
    """
    if value is None:
        return "–"
    if value < 0.01:
        return "under 0.01 s"
    return f"{value:.2f} s" if value < 10 else f"{value:.0f} s"


def of_them(text: str) -> str:
    """What a student was told, as it is said to whoever grades.

    >>> of_them("Your cell `f` is yours: what you do, and your `you_too`.")
    'Their cell `f` is theirs: what they do, and their `you_too`.'
    """
    words = {"you": "they", "your": "their", "yours": "theirs"}
    return re.sub(r"\b([Yy])(ou(?:rs?)?)\b", lambda m: m[1].translate(_TO_T) + words[f"y{m[2]}"][1:], text)


_TO_T = str.maketrans("Yy", "Tt")
