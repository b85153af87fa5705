"""A mail merge: a folder with everybody's feedback page and a table with a row for each mail, for whatever sends mail.

The table has the columns that mail merges are set up with by hand: `email`, the names, what the mail is to say, and
`attachment`, the page's file in the folder. `attachment_path` is the same from the root of the file system on, as
Thunderbird's Mail Merge takes attachments.
"""

from pathlib import Path

from rnngrade.core.desk import Desk
from rnngrade.core.errors import Failures
from rnngrade.core.record import write_whole
from rnngrade.gradebook.exporting import about, cell, number, written
from rnngrade.lms.returning import Returned
from rnngrade.pages.feedback.write import page_now
from rnngrade.roster.students import safe

TABLE = "mail.csv"
COLUMNS = ("email", "first_name", "last_name", "student", "unit", "points", "of", "late", "attachment",
           "attachment_path")  # fmt: skip


def write_mails(desk: Desk, returned: Returned, folder: Path, failures: Failures) -> tuple[Path, list[str]]:
    """Write pages and table into `folder`: the table's path, and for whom there is a row. Who has no address, or no
    page, is put into `failures`.
    """
    unit, table, rows = returned.what, folder / TABLE, list[dict[str, str]]()
    for student, points in returned.points.items():
        person = returned.people.person(student)
        email = person.email or (student if "@" in student else "")
        if not email:
            failures.add(student, unit, "Has no address: give the class list a column email.")
        elif (page := page_now(desk, unit, student, returned.marks, failures)) is not None:
            path, late = folder / f"{unit}-{safe(student)}.html", returned.marks[student].late
            write_whole(path, page)
            given = (email, student, unit, number(points), number(returned.most), late.words() if late.due else "")
            row = about(person) | dict(zip(("email", "student", "unit", "points", "of", "late"), map(cell, given)))
            rows.append(row | {"attachment": cell(path.name), "attachment_path": str(path.resolve())})
    write_whole(table, written(COLUMNS, rows).encode("utf-8-sig"))  # a spreadsheet takes it for UTF-8 by its mark
    return table, [row["student"] for row in rows]
