"""A table that a platform wrote, in which one column is filled: all else stays as it was.

Moodle    the grading worksheet. Moodle reads from it the participant, the grade, and when that was last modified, by
          the names that these columns have on the site (mod/assign/feedback/offline/importgradeslib.php of Moodle,
          at commit 452e36fc), so it is never made here.
Canvas    the gradebook. Each column after the first ones is an assignment, that whose number ends the name, "Unit 03
          (4711)"; a name without one makes a new assignment (`parse_assignments` in lib/gradebook_importer.rb of
          canvas-lms, at commit 00b222d7), so nothing else is filled. Commas or semicolons stand between cells, as
          the instructor's settings have it, and columns without changes are passed over.
"""

import csv
import io
import re
from pathlib import Path

from rnngrade.core.errors import DeskError, Failures
from rnngrade.core.tables import read_lines
from rnngrade.gradebook.exporting import number
from rnngrade.lms.returning import Returned
from rnngrade.roster.names import said_in

COLUMNS = {  # of grades, by platform
    "moodle": re.compile(r"(Grade)"),
    "canvas": re.compile(r"(.*)\(\d+\)\s*", re.DOTALL),
}


def fill(
    path: Path, platform: str, column: str | None, returned: Returned, failures: Failures
) -> tuple[str, str, list[str]]:
    """The text of the table at `path` with the points that go back, the column that they are in, and whose they are.
    Who has no row is put into `failures`.

    **Errors:** `DeskError` if it is no such table, or nobody in it is known.
    """
    lines, delimiter = read_lines(path)
    columns, *rows = [cells for _, cells in lines if cells] or [[]]
    if not rows:
        raise DeskError(f"{path} has no rows: download it again, with all participants.")
    for row in rows:
        row += [""] * (len(columns) - len(row))
    at = _index(path, columns, platform, column, returned.what)
    if (most := _most(rows, platform, at)) not in (None, returned.most):
        raise DeskError(
            f"In {path}, {columns[at]!r} is of {most:g} points, and {returned.what} has {returned.most:g}: make it "
            "that many there, and download the table again."
        )
    students = returned.students
    found: dict[str | None, list[list[str]]] = {}
    for row in rows:
        found.setdefault(students.find(said_in(dict(zip(columns, row)))), []).append(row)
    if not found.keys() - {None}:
        raise DeskError(
            f"Nobody in {path} is known here. If it is of this assignment, collect with --names {path.name}, or give "
            "the class list their numbers (canvas_id, sis_id) or addresses."
        )
    graded = []
    for student, points in returned.points.items():
        theirs = found.get(student, [])
        if len(theirs) == 1:
            theirs[0][at] = number(points)
            graded.append(student)
        else:
            why = "more rows than one that may be" if theirs else "no row that is"
            failures.add(student, returned.what, f"{path} has {why} theirs.")
    made = io.StringIO()
    csv.writer(made, delimiter=delimiter, lineterminator="\r\n").writerows([columns, *rows])
    return made.getvalue(), columns[at], graded


def _index(path: Path, columns: list[str], platform: str, column: str | None, what: str) -> int:
    """Where the column is. **Errors:** `DeskError` with the names of those that there are."""
    named = {name: found for name in columns if (found := COLUMNS[platform].fullmatch(name))}
    if platform == "canvas" and column in columns and column not in named:
        raise DeskError(f"{column!r} is no assignment: its column ends in the assignment's number: 'Unit (123)'.")
    may_be = {name for name, one in named.items() if platform != "canvas" or what[:2] in re.findall(r"\d+", one[1])}
    meant = [name for name in columns if name in ({column} if column else may_be)]
    if len(meant) != 1:
        said = f"one column {column!r}" if column else "one column that is surely meant"
        there = ", ".join(map(repr, columns))
        raise DeskError(f"{path} has not {said}: say with --column which it is, of {there}.")
    return columns.index(meant[0])


def _most(rows: list[list[str]], platform: str, at: int) -> float | None:
    """The most points that there are in a column, by the platform's table: Moodle has them in the next column, Canvas
    in a row of their own. None if it does not say.
    """
    of_canvas = [row[at] for row in rows if row[0].strip() == "Points Possible"]
    said = {*of_canvas} if platform == "canvas" else {row[at + 1] for row in rows if at + 1 < len(row)}
    try:
        return float(said.pop().replace(",", ".")) if len(said) == 1 else None
    except ValueError:
        return None
