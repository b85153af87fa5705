"""What Moodle and Canvas take back: a zip of feedback, and their own tables with one column filled."""

from __future__ import annotations

import csv
import io
import zipfile

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rnngrade.core.errors import Failures
from rnngrade.core.record import write_whole
from rnngrade.demo.sample import BLANK
from rnngrade.gradebook.status import status_of
from rnngrade.lms.canvas import fill_gradebook
from rnngrade.lms.moodle import feedback_zip, file_name, fill_worksheet
from rnngrade.lms.table import TableError
from rnngrade.pages.feedback import write_feedback
from rnngrade.roster.rules import Rules
from rnngrade.roster.students import ClassList
from tests.grading.made import UNIT, WRITTEN, enter, outcome, rnngrade, rows, submission
from tests.grading.on_any_database import Person

# As Moodle writes it, in German: the columns' names are the site's.
WORKSHEET = (
    "\ufeffID,Vollständiger Name,E-Mail-Adresse,Status,Bewertung,Bestwertung,Zuletzt geändert (Bewertung)\r\n"
    'Teilnehmer/in 17,"Lovelace, Ada",ada@example.org,Abgegeben,,"21,00",-\r\n'
    'Teilnehmer/in 4,"Turing, Alan",alan@example.org,Abgegeben,,"21,00",-\r\n'
    'Teilnehmer/in 170,"=Curry, Haskell",haskell@example.org,Keine Abgabe,,"21,00",-\r\n'
)
GRADEBOOK = (
    "Student,ID,SIS User ID,SIS Login ID,Section,Essay (11),Unit 02 (12),Final Score\r\n"
    "    Points Possible,,,,,5,21,(read only)\r\n"
    '"Lovelace, Ada",901,s1,ada,A,4,,80\r\n'
    '"Turing, Alan",902,s2,at,A,,,\r\n'
    '"Curry, Haskell",903,s3,hc,A,3,1,\r\n'
)


@pytest.fixture
def graded(desk, root):
    """Ada, all right and marked; Alan, who waits; emmy, of whom Moodle knows nothing."""
    made = (submission("ada"), submission("alan"), submission("emmy", BLANK))
    enter(desk, *(outcome(root, one) for one in made))
    Person(desk, "ada").gives(WRITTEN, 2.255)
    for student, origin in (("ada", "moodle ada_king lovelace 17"), ("alan", "moodle alan turing 4")):
        write_whole(desk.folder / "collected" / UNIT / student, origin.encode())
    write_whole(desk.folder / "collected" / UNIT / "emmy", b"folder emmy 9")
    write_feedback(desk, UNIT)
    return desk


def whose(path, participants):
    """The participant's number and the file's name, as Moodle finds them in a zip (importziplib.php)."""
    if path.rpartition("/")[2].startswith((".", "~")):
        return None
    parts = path.split("/")
    while parts:
        info = parts.pop(0).split("_", 4)
        if len(info) >= 4 and info[1] in participants and info[2:4] == ["assignfeedback", "file"]:
            return info[1], "/".join([*info[4:], *parts])
    return None


def test_moodle_finds_whose_each_page_in_the_zip_is(graded):
    failures = Failures()
    data = feedback_zip(graded, UNIT, failures)
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        found = {whose(name, {"17", "4", "9"}): archive.read(name) for name in archive.namelist()}
    assert set(found) == {("17", f"{UNIT}.html"), ("4", f"{UNIT}.html")}
    assert found["17", f"{UNIT}.html"] == (graded.feedback / "ada" / UNIT / f"{UNIT}.html").read_bytes()
    assert [words.partition(",")[0] for words in failures.told] == ["emmy"]
    assert feedback_zip(graded, UNIT, Failures()) == data


@given(st.text(), st.integers(1, 10**9))
def test_whatever_a_student_is_called_moodle_finds_the_number(student, number):
    name = file_name(student, str(number), "03_cell.html")
    assert whose(name, {str(number)}) == (str(number), "03_cell.html")


def test_a_page_that_is_not_written_is_told(graded):
    (graded.feedback / "ada" / UNIT / f"{UNIT}.html").unlink()
    failures = Failures()
    feedback_zip(graded, UNIT, failures)
    assert any("ada" in words and "rnngrade feedback" in words for words in failures.told)


def test_a_page_goes_out_as_it_is_now_whatever_was_marked_since_it_was_written(graded):
    page = graded.page_path(UNIT, "alan")
    before = page.read_bytes()
    assert status_of(graded, UNIT, Rules(), ClassList()).without_feedback == []
    Person(graded, "alan").gives(WRITTEN, 1.25)
    assert status_of(graded, UNIT, Rules(), ClassList()).without_feedback == ["alan"]
    with zipfile.ZipFile(io.BytesIO(feedback_zip(graded, UNIT, Failures()))) as archive:
        (now,) = [archive.read(name) for name in archive.namelist() if name.startswith("alan")]
    assert before != now == page.read_bytes()
    assert b"waits for a person" not in now
    assert status_of(graded, UNIT, Rules(), ClassList()).without_feedback == []


def test_the_worksheet_gets_its_grades_and_keeps_all_else(graded, tmp_path):
    path = tmp_path / "worksheet.csv"
    path.write_text(WORKSHEET, encoding="utf-8", newline="")
    filled = fill_worksheet(graded, UNIT, path, "Bewertung")
    before, after = rows(WORKSHEET.removeprefix("\ufeff")), rows(filled.text)
    changed = [(i, j) for i, row in enumerate(before) for j, cell in enumerate(row) if after[i][j] != cell]
    assert changed == [(1, 4)]
    record = graded.record(UNIT, "ada")
    assert float(after[1][4]) == pytest.approx(record.points + 2.255, abs=0.006)
    assert (list(filled.graded), list(filled.waiting)) == (["ada"], ["alan"])


def test_a_worksheet_whose_columns_are_called_otherwise_is_told_which_there_are(graded, tmp_path):
    path = tmp_path / "worksheet.csv"
    path.write_text(WORKSHEET, encoding="utf-8")
    with pytest.raises(TableError, match=r"--column .* 'Bewertung'"):
        fill_worksheet(graded, UNIT, path)
    path.write_text("one line")
    with pytest.raises(TableError, match="no rows"):
        fill_worksheet(graded, UNIT, path)


@pytest.mark.parametrize("delimiter", [",", ";"])
def test_canvas_gets_its_own_column_filled_and_no_other(graded, tmp_path, delimiter):
    gradebook = io.StringIO()
    csv.writer(gradebook, delimiter=delimiter).writerows(rows(GRADEBOOK))
    path = tmp_path / "gradebook.csv"
    path.write_text(gradebook.getvalue(), encoding="utf-8", newline="")
    (graded.folder / "roster.csv").write_text("id,canvas_id\nada,\nalan,902\n")
    filled = fill_gradebook(graded, UNIT, path, "Unit 02 (12)")
    before, after = rows(gradebook.getvalue(), delimiter), rows(filled.text, delimiter)
    changed = [(i, j) for i, row in enumerate(before) for j, cell in enumerate(row) if after[i][j] != cell]
    assert changed == [(2, 6)]
    assert list(filled.waiting) == ["alan"]
    Person(graded, "alan").gives(WRITTEN, 0)
    again = rows(fill_gradebook(graded, UNIT, path, "Unit 02 (12)").text, delimiter)
    assert float(again[3][6]) == graded.record(UNIT, "alan").points
    assert again[4] == before[4], "who handed in nothing keeps what is there"
    with pytest.raises(TableError, match="is no assignment"):
        fill_gradebook(graded, UNIT, path, "Final Score")


def test_the_commands_write_the_files_and_say_who_was_left_out(graded, tmp_path):
    worksheet, filled, zipped = (tmp_path / name for name in ("in.csv", "out.csv", "out.zip"))
    worksheet.write_text(WORKSHEET, encoding="utf-8")
    options = ["--worksheet", worksheet, "--column", "Bewertung", "--output", filled, "--zip", zipped]
    done = rnngrade(graded, "moodle", "02", *options, code=1)  # emmy was not collected from Moodle
    assert "emmy" in done.output
    assert "alan" in done.output
    assert zipfile.is_zipfile(zipped)
    assert len(rows(filled.read_text())) == 4
    rnngrade(graded, "moodle", "02", code=2)
