"""Export: the gradebook's points as CSV, for a spreadsheet and as Canvas and Moodle import it.

- `csv`: a row for each student and unit, with the points of each exercise.
- `canvas`: Canvas's gradebook. Students are known by ID, SIS User ID or SIS Login ID; below the header stands a row of
  "Points Possible"; for a column that Canvas does not know it offers a new assignment. What was not handed in is empty.
- `moodle`: Moodle's grade import. Username, Email address or ID number is mapped to the user; each unit has a column
  for the grade and one for feedback comments, which Moodle wants imported together.

Names come from a class list, a CSV with the columns id, first_name, last_name, email, sis_id, canvas_id and section, of
which only id is needed: the name of the student's folder. It lies in the desk as roster.csv, or wherever is said.

A cell that begins with =, +, - or @ would be run by a spreadsheet as a formula; it gets an apostrophe before it.
"""

from __future__ import annotations

import csv
import io
import re
import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # nbgrader is imported, not judged
    from nbgrader.api import Gradebook, MissingEntry, SubmittedNotebook

from rnngrade.desk import Desk
from rnngrade.errors import DeskError, Failures
from rnngrade.gradebook import open_gradebook
from rnngrade.record import Record

FORMATS = ("canvas", "moodle", "csv")
_FORMULA = re.compile(r"\s*[=+\-@＝＋－＠]|[\t\r\n]")
_CANVAS_ID = re.compile(r"[^\W_]+_(\d+)\Z")  # how a submission from Canvas is named by collect.py


class ExportError(DeskError):
    """What kept the grades from being exported, in one sentence."""


@dataclass(frozen=True)
class Person:
    """Someone on the class list; what is not known is empty."""

    id: str
    first_name: str = ""
    last_name: str = ""
    email: str = ""
    sis_id: str = ""
    canvas_id: str = ""
    section: str = ""

    @property
    def sortable_name(self) -> str:
        """Last name, first name, as Canvas has it; or the id."""
        return ", ".join(name for name in (self.last_name, self.first_name) if name) or self.id


@dataclass
class _Grades:
    """One student's grades in one unit."""

    checks: dict[str, float] = field(default_factory=dict)
    written: float = 0.0
    penalty: float = 0.0
    total: float = 0.0
    waits: bool = False


@dataclass
class _Unit:
    """A unit as the gradebook has it."""

    name: str
    exercises: list[str] = field(default_factory=list)
    max_points: float = 0.0
    grades: dict[str, _Grades] = field(default_factory=dict)


def export(
    desk: Desk, units: Sequence[str], format: str, roster: Path | None = None, failures: Failures | None = None
) -> str:
    """The grades of `units` as the text of a CSV file.

    Whose grades cannot be exported is put into `failures`, and left out. **Errors:** `ExportError` for a format, unit
    or class list that there is not; without `failures`, a `DeskError` that names whose grades they are.
    """
    told = failures or Failures()
    if format not in FORMATS:
        raise ExportError(f"There is no format {format!r}; there are {', '.join(FORMATS)}.")
    known = read_roster(roster or desk.folder / "roster.csv") if roster or (desk.folder / "roster.csv").exists() else {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what nbgrader does to SQLAlchemy is between the two
        with open_gradebook(desk) as gradebook:
            tables = [_unit(gradebook, unit, told) for unit in units]
            people = _people(gradebook, tables, known)
    if format != "canvas":  # which needs no records
        for unit in units:
            desk.tell_unreadable(unit, told)
    rows = {"canvas": _canvas, "moodle": _moodle, "csv": _plain}[format](desk, tables, people, told)
    text = io.StringIO()
    csv.writer(text, lineterminator="\r\n").writerows(rows)
    if failures is None:
        told.end()
    return text.getvalue()


def read_roster(path: Path) -> dict[str, Person]:
    """A class list, by id. **Errors:** `ExportError` if it is none."""
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            lines = csv.DictReader(file, restval="")
            if "id" not in (lines.fieldnames or ()):
                raise ExportError(f"{path} is no class list: its first line has to name a column id.")
            people: dict[str, Person] = {}
            for line in lines:
                given = {key: (line.get(key) or "").strip() for key in Person.__dataclass_fields__}
                if given["id"] in people:
                    raise ExportError(f"{path}, line {lines.line_num}: {given['id']!r} is on the list already.")
                if given["id"]:
                    people[given["id"]] = Person(**given)
            return people
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise ExportError(f"The class list {path} cannot be read: {error}.") from None


def _unit(gradebook: Gradebook, unit: str, failures: Failures) -> _Unit:
    try:
        notebook = gradebook.find_notebook(unit, unit)
    except MissingEntry:
        raise ExportError(f"The gradebook has no unit {unit!r}: nothing of it was graded.") from None
    checks = {cell.name for cell in notebook.grade_cells if cell.cell_type == "code"}
    order = [cell.name for cell in notebook.source_cells]
    names = sorted(checks, key=lambda name: order.index(name) if name in order else len(order))
    found = _Unit(unit, [name.removeprefix("check_") for name in names], float(notebook.max_score))
    for page in notebook.submissions:
        with failures.of(page.student.id, unit):
            found.grades[page.student.id] = _grades(page, checks)
    return found


def _grades(page: SubmittedNotebook, checks: set[str]) -> _Grades:
    grades = _Grades(penalty=float(page.late_submission_penalty or 0.0), waits=bool(page.needs_manual_grade))
    for grade in page.grades:
        if grade.name in checks:
            grades.checks[grade.name.removeprefix("check_")] = float(grade.score)
        else:
            grades.written += float(grade.score)
    grades.total = max(0.0, sum(grades.checks.values()) + grades.written - grades.penalty)
    return grades


def _people(gradebook: Gradebook, units: Iterable[_Unit], known: dict[str, Person]) -> list[Person]:
    """All who are on the class list or graded, by name; of who is not on the list, what the gradebook knows."""
    people = dict(known)
    for student in gradebook.students:
        if student.id not in people and any(student.id in unit.grades for unit in units):
            people[student.id] = Person(
                student.id, student.first_name or "", student.last_name or "", student.email or ""
            )
    return sorted(people.values(), key=lambda person: (person.sortable_name.casefold(), person.id))


def _plain(desk: Desk, units: list[_Unit], people: list[Person], failures: Failures) -> Iterable[list[str]]:
    exercises = list(dict.fromkeys(name for unit in units for name in unit.exercises))
    yield [
        *("student", "last_name", "first_name", "email", "unit"),
        *exercises,
        *("written", "late_penalty", "total", "max", "waits_for_a_person", "flags"),
    ]
    for person in people:
        for unit in units:
            grades = unit.grades.get(person.id)
            if grades is None:
                continue
            with failures.of(person.id, unit.name):
                record = desk.record(unit.name, person.id)
                yield [
                    *map(_text, (person.id, person.last_name, person.first_name, person.email, unit.name)),
                    *(_number(grades.checks[name]) if name in grades.checks else "" for name in exercises),
                    *map(_number, (grades.written, grades.penalty, grades.total, unit.max_points)),
                    "yes" if grades.waits else "no",
                    _text("; ".join(finding.message for finding in record.flags) if record else ""),
                ]


def _canvas(desk: Desk, units: list[_Unit], people: list[Person], failures: Failures) -> Iterable[list[str]]:
    yield ["Student", "ID", "SIS User ID", "SIS Login ID", "Section", *(_text(unit.name) for unit in units)]
    yield ["    Points Possible", "", "", "", "", *(_number(unit.max_points) for unit in units)]
    for person in people:
        from_canvas = _CANVAS_ID.match(person.id)
        canvas_id = person.canvas_id or (from_canvas[1] if from_canvas else "")
        login = "" if from_canvas else person.id
        yield [
            *map(_text, (person.sortable_name, canvas_id, person.sis_id, login, person.section)),
            *(_number(unit.grades[person.id].total) if person.id in unit.grades else "" for unit in units),
        ]


def _moodle(desk: Desk, units: list[_Unit], people: list[Person], failures: Failures) -> Iterable[list[str]]:
    columns = [name for unit in units for name in (_text(unit.name), _text(f"{unit.name} (feedback)"))]
    yield ["First name", "Last name", "Username", "ID number", "Email address", *columns]
    for person in people:
        row = [_text(x) for x in (person.first_name, person.last_name, person.id, person.sis_id, person.email)]
        for unit in units:
            cells = ["", ""]
            if grades := unit.grades.get(person.id):
                with failures.of(person.id, unit.name):
                    remarks = _remarks(unit, grades, desk.record(unit.name, person.id))
                    cells = [_number(grades.total), _text(remarks)]
            row += cells
        yield row


def _remarks(unit: _Unit, grades: _Grades, record: Record | None) -> str:
    """Feedback comments in a few words: what was not solved, being late, what is still to come."""
    short = [
        f"{name} {_number(grades.checks[name])} of {_number(record.exercise(name).max_points)}"
        for name in unit.exercises
        if record is not None
        and name in {result.name for result in record.exercises}
        and grades.checks.get(name, 0.0) < record.exercise(name).max_points
    ]
    remarks = [f"Not full marks: {', '.join(short)}."] if short else []
    if grades.penalty:
        remarks.append(f"Late: {_number(grades.penalty)} points taken off.")
    if grades.waits:
        remarks.append("Not all of it is graded yet.")
    return " ".join(remarks)


def _number(value: float) -> str:
    """Points as people write them, in full, with a point.

    >>> _number(2.0), _number(10.2), _number(1 / 3)
    ('2', '10.2', '0.3333')
    """
    return f"{round(value, 4):.4f}".rstrip("0").rstrip(".")


def _text(value: str) -> str:
    """Text that no spreadsheet takes for a formula, on one line, and that a file can hold.

    >>> _text("=1+1"), _text("Ada"), _text("-ada")
    ("'=1+1", 'Ada', "'-ada")
    """
    value = value.encode("utf-8", "replace").decode()  # half a surrogate
    return f"'{' '.join(value.split())}" if _FORMULA.match(value) else " ".join(value.split())
