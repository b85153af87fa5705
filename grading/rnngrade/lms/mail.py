"""A mail merge: a folder with everybody's feedback page and a table with a row for each mail, for whatever sends mail.

The table has the columns that mail merges are set up with by hand: `email`, the names, what the mail is to say, and
`attachment`, the page's file in the folder. `attachment_path` is the same from the root of the file system on, as
Thunderbird's Mail Merge takes attachments. Who waits for a person is left out, and told.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from rnngrade.core.desk import Desk
from rnngrade.core.errors import Failures
from rnngrade.core.record import write_whole
from rnngrade.gradebook.exporting import cell, written
from rnngrade.gradebook.marks import read_marks
from rnngrade.lms.table import number
from rnngrade.pages.feedback.write import page_now
from rnngrade.roster.students import class_list, safe

TABLE = "mail.csv"
COLUMNS = ("email", "first_name", "last_name", "student", "unit", "points", "of", "late", "attachment",
           "attachment_path")  # fmt: skip


@dataclass
class Mails:
    """What was written: the table, for whom there is a row, and whose waits for a person."""

    table: Path
    students: list[str] = field(default_factory=list)
    waiting: list[str] = field(default_factory=list)


def write_mails(desk: Desk, unit: str, folder: Path, failures: Failures) -> Mails:
    """Write pages and table into `folder`. Who has no address, or no page, is put into `failures`."""
    people, marks = class_list(desk), read_marks(desk, unit, failures)
    made, rows = Mails(folder / TABLE), [list(COLUMNS)]
    for student, one in sorted(marks.items()):
        person = people.person(student)
        email = person.email or (student if "@" in student else "")
        if one.waits:
            made.waiting.append(student)
        elif not email:
            failures.add(student, unit, "Has no address: give the class list a column email.")
        elif (page := page_now(desk, unit, student, marks, failures)) is not None:
            name = f"{unit}-{safe(student)}.html"
            write_whole(folder / name, page)
            points, most = number(one.total), number(sum(mark.most for mark in one.grades.values()))
            late = one.late.words() if one.late.due else ""
            row = (email, person.first_name, person.last_name, student, unit, points, most, late, name)
            rows.append([*map(cell, row), str((folder / name).resolve())])
            made.students.append(student)
    write_whole(made.table, written(rows).encode("utf-8-sig"))  # a spreadsheet takes it for UTF-8 by its mark
    return made
