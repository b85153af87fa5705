"""Moodle: feedback as one zip for all, and the grading worksheet, filled.

Both know students by the participant's number in this assignment, which stands in the names of the files that were
collected (`Full Name_1234_assignsubmission_file_…`) and at the end of what the worksheet's first column says
("Participant 1234").

The zip. Moodle's assignment, "Upload multiple feedback files in a zip", takes a file by its name:
`fullname_number_plugintype_pluginname_filename`, split at the first four underscores, so that one in the full name
makes it skip the file (`is_valid_filename_for_import` in mod/assign/feedback/file/importziplib.php of Moodle, at commit
0203d8f2). The full name itself is not looked at. Feedback files have to be switched on in the assignment.

The worksheet. Its columns are in the site's language, so it is never made here, only filled: the instructor downloads
it ("Download grading worksheet"). Moodle reads from it the participant, the grade, and when the grade was last modified
(mod/assign/feedback/offline/importgradeslib.php, at commit 452e36fc), by the names that these columns have on the site.
"""

from __future__ import annotations

import io
import re
import zipfile
from pathlib import Path

from rnngrade.core.desk import Desk
from rnngrade.core.errors import Failures
from rnngrade.gradebook.marks import read_marks
from rnngrade.lms.table import Filled, Table, TableError, number
from rnngrade.pages.feedback.write import page_now
from rnngrade.roster.identity import participants

EARLIEST = (1980, 1, 1, 0, 0, 0)  # the same pages give the same zip

_NUMBER = re.compile(r"(\d+)\s*\Z")  # the participant's, at the end of what the worksheet calls them


def feedback_zip(desk: Desk, unit: str, failures: Failures) -> bytes:
    """The feedback pages of a unit as the zip that Moodle takes. Who has no page, or no number, is put into `failures`.

    **Errors:** `TableError` if nobody's work came from Moodle.
    """
    numbers, marks = _numbers(desk, unit), read_marks(desk, unit, failures)
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        for record in desk.graded(unit):
            student = record.student
            if student not in numbers:
                failures.add(student, unit, "Was not collected from Moodle, so that Moodle's number is not known.")
            elif (page := page_now(desk, unit, student, marks, failures)) is not None:
                name = zipfile.ZipInfo(file_name(student, numbers[student], f"{unit}.html"), EARLIEST)
                name.compress_type, name.external_attr = zipfile.ZIP_DEFLATED, 0o644 << 16
                archive.writestr(name, page)
    return made.getvalue()


def file_name(student: str, participant: str, page: str) -> str:
    """The name by which Moodle knows whose a feedback file is, and what it is called for the student.

    >>> file_name("ada_lovelace", "1234", "03_cell.html")
    'ada lovelace_1234_assignfeedback_file_03_cell.html'
    """
    shown = " ".join(re.sub(r"[^\w@+. -]|_", " ", student).split()).lstrip(".~ ") or "student"
    return f"{shown}_{participant}_assignfeedback_file_{page}"


def fill_worksheet(desk: Desk, unit: str, path: Path, column: str = "Grade") -> Filled:
    """The worksheet at `path` with the unit's points in `column`. Rows of others, and grades of those who still wait
    for a person, stay as they are.

    **Errors:** `TableError` if it is no worksheet, or nobody's work came from Moodle.
    """
    table = Table.read(path)
    at = table.index(column, "--column")
    students = {number: student for student, number in _numbers(desk, unit).items()}
    marks = read_marks(desk, unit)
    graded, waiting = [], []
    for row in table.rows:
        found = _NUMBER.search(row[0])
        student = students.get(found[1]) if found else None
        if student is None or student not in marks:
            continue
        if marks[student].waits:
            waiting.append(student)
        else:
            row[at] = number(marks[student].total)
            graded.append(student)
    if not graded and not waiting:
        raise TableError(f"{path} is no worksheet of this assignment: nobody in its first column handed in {unit}.")
    return Filled(table.text(), graded, waiting)


def _numbers(desk: Desk, unit: str) -> dict[str, str]:
    found = participants(desk, unit)
    if not found:
        raise TableError(f"Nothing of {unit} was collected from Moodle: rnngrade collect DOWNLOAD.zip --format moodle.")
    return found
