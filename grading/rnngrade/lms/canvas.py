"""Canvas: the gradebook that the instructor downloaded, with one assignment's own column filled.

What Canvas makes of an upload stands in its source, lib/gradebook_importer.rb of canvas-lms, at commit 00b222d7:

- The first columns are Student, ID, then perhaps SIS User ID and SIS Login ID, and Section. A row is a student's by ID,
  else by one of the SIS ids (`process_student`). A row of "Points Possible" is none.
- Each column after these is an assignment: that whose number ends the name, "Unit 03 (4711)"; a name that is not known
  makes a new one (`parse_assignments`). So nothing is filled but a column with a number.
- Commas or semicolons stand between cells, as the instructor's settings have it (`identify_delimiter`). Columns without
  changes are passed over.
"""

from __future__ import annotations

import re
from pathlib import Path

from rnngrade.core.desk import Desk
from rnngrade.gradebook.marks import read_marks
from rnngrade.lms.table import Filled, Table, TableError, number
from rnngrade.roster.students import canvas_id_of, class_list

_ASSIGNMENT = re.compile(r".*\(\d+\)\s*\Z", re.DOTALL)


def fill_gradebook(desk: Desk, unit: str, path: Path, column: str) -> Filled:
    """The gradebook at `path` with the unit's points in `column`; grades of those who wait for a person stay as they
    are.

    **Errors:** `TableError` if it is no gradebook, or `column` is no assignment of it.
    """
    table = Table.read(path)
    at = table.index(column, "--column")
    if not _ASSIGNMENT.match(column):
        raise TableError(
            f"{column!r} is no assignment: its column ends in the assignment's number, as in 'Unit (123)'."
        )
    table.index("ID", "a new download from Canvas")
    who = {name: table.columns.index(name) for name in ("ID", "SIS User ID", "SIS Login ID") if name in table.columns}
    known = class_list(desk)
    marks = read_marks(desk, unit)
    students: dict[tuple[str, str], str] = {}
    for student in marks:
        person = known.person(student)
        canvas_id = person.canvas_id or canvas_id_of(student)
        for key in (("ID", canvas_id), ("SIS User ID", person.sis_id), ("SIS Login ID", student)):
            if key[1]:
                students.setdefault(key, student)
    graded, waiting = [], []
    for row in table.rows:
        found = [students[key] for name, i in who.items() if (key := (name, row[i].strip())) in students]
        if not found:
            continue
        if marks[found[0]].waits:
            waiting.append(found[0])
        else:
            row[at] = number(marks[found[0]].total)
            graded.append(found[0])
    if not graded and not waiting:
        raise TableError(f"Nobody in {path} handed in {unit}: give the class list a column canvas_id or sis_id.")
    return Filled(table.text(), graded, waiting)
