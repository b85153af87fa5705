"""Feedback pages as files: for Moodle in one zip for all, and for whatever sends mail in a folder.

Moodle knows students by the participant's number in this assignment, which stands in the names of the files that were
collected (`Full Name_1234_assignsubmission_file_…`), also where it is marked blind. Its assignment, "Upload multiple
feedback files in a zip", takes a file by its name: `fullname_number_plugintype_pluginname_filename`, split at the first
four underscores, so that one in the full name makes it skip the file (`is_valid_filename_for_import` in
mod/assign/feedback/file/importziplib.php of Moodle, at commit 0203d8f2). The full name itself is not looked at.
Feedback files have to be switched on in the assignment.

For a mail merge, a table has the columns that these are set up with by hand: `email`, the names, what the mail is to
say, and `attachment`, the page's file in the folder. `attachment_path` is the same from the root of the file system on,
as Thunderbird's Mail Merge takes attachments.
"""

import re
from pathlib import Path

from rnngrade.core.desk import Desk
from rnngrade.core.errors import DeskError, Failures
from rnngrade.core.record import write_whole
from rnngrade.core.zips import zipped
from rnngrade.gradebook.exporting import about, cell, number, written
from rnngrade.lms.returning import Returned
from rnngrade.pages.feedback.write import page_now
from rnngrade.roster.names import number_in
from rnngrade.roster.students import safe

TABLE = "mail.csv"
COLUMNS = ("email", "first_name", "last_name", "student", "unit", "points", "of", "late", "attachment",
           "attachment_path")  # fmt: skip


def feedback_zip(desk: Desk, returned: Returned, failures: Failures) -> tuple[bytes, int]:
    """The feedback pages of a unit as the zip that Moodle takes, and how many there are. Who has no page, or no number,
    is put into `failures`. **Errors:** `DeskError` if nobody's work came from Moodle.
    """
    unit, pages = returned.what, list[tuple[str, bytes]]()
    numbers = {student: number_in(key, "participant") for student, key in returned.keys.items()}
    if not any(numbers.values()):
        raise DeskError(f"Nothing of {unit} was collected from Moodle: rnngrade collect DOWNLOAD.zip --format moodle.")
    for student in returned.points:
        if not numbers.get(student):
            failures.add(student, unit, "Was not collected from Moodle, so that Moodle's number is not known.")
        elif (page := page_now(desk, unit, student, returned.marks, failures)) is not None:
            pages.append((file_name(student, numbers[student], f"{unit}.html"), page))
    return zipped(pages), len(pages)


def file_name(student: str, participant: str, page: str) -> str:
    """The name by which Moodle knows whose a feedback file is, and what it is called for the student.

    >>> file_name("ada_lovelace", "1234", "03_cell.html")
    'ada lovelace_1234_assignfeedback_file_03_cell.html'
    """
    shown = " ".join(re.sub(r"[^\w@+. -]|_", " ", student).split()).lstrip(".~ ") or "student"
    return f"{shown}_{participant}_assignfeedback_file_{page}"


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
