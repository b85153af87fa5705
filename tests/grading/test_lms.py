"""What Moodle and Canvas take back: a zip of feedback, and their own tables with one column filled."""

import csv
import io
import zipfile

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rnngrade.core.errors import DeskError, Failures
from rnngrade.core.record import write_whole
from rnngrade.demo.sample import BLANK
from rnngrade.gradebook.marks import read_marks
from rnngrade.gradebook.renaming import rename_known
from rnngrade.gradebook.status import UnitStatus
from rnngrade.lms.filling import fill
from rnngrade.lms.pages import feedback_zip, file_name
from rnngrade.lms.returning import of_unit
from rnngrade.pages.feedback.write import write_feedback
from rnngrade.roster.rules import Rules
from rnngrade.roster.students import ClassList
from tests.grading.made import NONE, UNIT, WRITTEN, enter, outcome, rnngrade, rows, submission
from tests.grading.on_any_database import Person

# As Moodle writes it, in German: the columns' names are the site's.
WORKSHEET = (
    "\ufeffID,Vollständiger Name,E-Mail-Adresse,Status,Bewertung,Bestwertung,Zuletzt geändert (Bewertung)\r\n"
    'Teilnehmer/in 17,"Lovelace, Ada",ada@example.org,Abgegeben,,"15,00",-\r\n'
    'Teilnehmer/in 4,"Turing, Alan",alan@example.org,Abgegeben,,"15,00",-\r\n'
    'Teilnehmer/in 170,"=Curry, Haskell",haskell@example.org,Keine Abgabe,,"15,00",-\r\n'
)
GRADEBOOK = (
    "Student,ID,SIS User ID,SIS Login ID,Section,Essay (11),Unit 02 (12),Final Score\r\n"
    "    Points Possible,,,,,5,15,(read only)\r\n"
    '"Lovelace, Ada",901,s1,ada,A,4,,80\r\n'
    '"Turing, Alan",902,s2,at,A,,,\r\n'
    '"Curry, Haskell",903,s3,hc,A,3,1,\r\n'
)


def make_graded(desk, root):
    made = (submission("ada"), submission("alan"), submission("emmy", BLANK))
    enter(desk, *(outcome(root, one) for one in made))
    Person(desk, "ada").gives(WRITTEN, 2.255)
    for student, origin in (("ada", "participant 17"), ("alan", "participant 4")):
        write_whole(desk.folder / "collected" / UNIT / student, origin.encode())
    write_whole(desk.folder / "collected" / UNIT / "emmy", b"folder emmy")
    write_feedback(desk, UNIT, NONE)


@pytest.fixture
def graded(copy_of):
    """Ada, all right and marked; Alan, who waits; emmy, of whom Moodle knows nothing."""
    return copy_of(make_graded)


def pages_of(desk, failures=None, **more):
    failures = failures or Failures()
    return feedback_zip(desk, of_unit(desk, UNIT, failures, **more), failures)[0]


def filled(desk, path, platform, column=None, failures=None):
    failures = failures or Failures()
    return fill(path, platform, column, of_unit(desk, UNIT, failures), failures)


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
    data = pages_of(graded, failures, provisional=True)
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        found = {whose(name, {"17", "4", "9"}): archive.read(name) for name in archive.namelist()}
    assert set(found) == {("17", f"{UNIT}.html"), ("4", f"{UNIT}.html")}
    assert found["17", f"{UNIT}.html"] == (graded.feedback / "ada" / UNIT / f"{UNIT}.html").read_bytes()
    assert [words.partition(",")[0] for words in failures.told] == ["emmy"]
    with zipfile.ZipFile(io.BytesIO(pages_of(graded))) as archive:
        assert {whose(name, {"17", "4"})[0] for name in archive.namelist()} == {"17"}, "who waits gets no page yet"


@given(st.text(), st.integers(1, 10**9))
def test_whatever_a_student_is_called_moodle_finds_the_number(student, number):
    name = file_name(student, str(number), "03_cell.html")
    assert whose(name, {str(number)}) == (str(number), "03_cell.html")


def test_a_page_goes_out_as_it_is_now_whatever_was_marked_since_it_was_written(graded):
    page = graded.page_path(UNIT, "alan")
    before = page.read_bytes()
    graded.page_path(UNIT, "ada").unlink()  # it is written then
    pages_of(graded)
    assert UnitStatus(graded, UNIT, Rules(), ClassList(), Failures()).without_feedback == []
    Person(graded, "alan").gives(WRITTEN, 1.25)
    assert UnitStatus(graded, UNIT, Rules(), ClassList(), Failures()).without_feedback == ["alan"]
    with zipfile.ZipFile(io.BytesIO(pages_of(graded))) as archive:
        (now,) = [archive.read(name) for name in archive.namelist() if name.startswith("alan")]
    assert before != now == page.read_bytes()
    assert b"waits for a person" not in now
    assert UnitStatus(graded, UNIT, Rules(), ClassList(), Failures()).without_feedback == []


def changed(before, after, delimiter=","):
    """The cells of a table that are not what they were."""
    before, after = rows(before, delimiter), rows(after, delimiter)
    return {(i, j): after[i][j] for i, row in enumerate(before) for j, cell in enumerate(row) if after[i][j] != cell}


def test_the_worksheet_gets_its_grades_and_keeps_all_else(graded, tmp_path):
    path = tmp_path / "worksheet.csv"
    path.write_text(WORKSHEET, encoding="utf-8", newline="")
    failures = Failures()
    text, _, students = filled(graded, path, "moodle", "Bewertung", failures)
    ((place, grade),) = changed(WORKSHEET.removeprefix("\ufeff"), text).items()
    assert place == (1, 4)
    assert float(grade) == pytest.approx(graded.record(UNIT, "ada").points + 2.255, abs=0.006)
    assert students == ["ada"]
    assert failures.told == [f"emmy, {UNIT}: {path} has no row that is theirs."]


@pytest.mark.parametrize(
    ("platform", "table", "before", "after", "said"),
    [
        ("moodle", WORKSHEET, "15,00", "100,00", "'Bewertung' is of 100 points, and 02_unfolding has 15: make it"),
        ("canvas", GRADEBOOK, "5,15,", "5,20,", r"'Unit 02 \(12\)' is of 20 points, and 02_unfolding has 15: make it"),
        ("moodle", WORKSHEET, "Teilnehmer/in ", "Teilnehmer/in 9", "is known here. If it is of this assignment"),
    ],
)
def test_a_table_of_other_points_or_of_another_assignment_is_refused(
    graded, tmp_path, platform, table, before, after, said
):
    path = tmp_path / "table.csv"
    path.write_text(table.replace(before, after), encoding="utf-8", newline="")
    (graded.folder / "roster.csv").write_text("id,email,canvas_id\nada,ada@example.org,901\nalan,alan@example.org,\n")
    with pytest.raises(DeskError, match=said):
        filled(graded, path, platform, "Bewertung" if platform == "moodle" else None)


def test_a_column_that_is_not_surely_meant_is_asked_for_and_a_table_of_others_refused(graded, tmp_path):
    path = tmp_path / "worksheet.csv"
    path.write_text(WORKSHEET, encoding="utf-8")
    with pytest.raises(DeskError, match=r"say with --column which it is, of .* 'Bewertung'"):
        filled(graded, path, "moodle")
    path.write_text(WORKSHEET.replace("Bewertung", "Grade", 1), encoding="utf-8")
    assert filled(graded, path, "moodle")[1] == "Grade"
    path.write_text("Identifier,Grade\nParticipant 99,\n")
    with pytest.raises(DeskError, match=r"Nobody in .* is known here\..* collect with --names"):
        filled(graded, path, "moodle")
    path.write_text("one line")
    with pytest.raises(DeskError, match="no rows"):
        filled(graded, path, "moodle")


@pytest.mark.parametrize("delimiter", [",", ";"])
def test_canvas_gets_its_own_column_filled_and_no_other(graded, tmp_path, delimiter):
    gradebook = io.StringIO()
    csv.writer(gradebook, delimiter=delimiter).writerows(rows(GRADEBOOK))
    path = tmp_path / "gradebook.csv"
    path.write_text(gradebook.getvalue(), encoding="utf-8", newline="")
    (graded.folder / "roster.csv").write_text("id,canvas_id\nada,\nalan,902\n")
    text, column, _ = filled(graded, path, "canvas")
    assert column == "Unit 02 (12)", "the only assignment that has the unit's number"
    assert {*changed(gradebook.getvalue(), text, delimiter)} == {(2, 6)}
    Person(graded, "alan").gives(WRITTEN, 0)
    now = changed(gradebook.getvalue(), filled(graded, path, "canvas", "Unit 02 (12)")[0], delimiter)
    assert {*now} == {(2, 6), (3, 6)}, "who handed in nothing keeps what is there"
    assert float(now[3, 6]) == graded.record(UNIT, "alan").points
    with pytest.raises(DeskError, match="is no assignment"):
        filled(graded, path, "canvas", "Final Score")
    with pytest.raises(DeskError, match=r"'Essay \(11\)' is of 5 points, and 02_unfolding has 15"):
        filled(graded, path, "canvas", "Essay (11)")


def test_the_command_writes_the_files_and_says_who_was_left_out(graded, tmp_path):
    worksheet, made, zipped = (tmp_path / name for name in ("in.csv", "out.csv", "out.zip"))
    worksheet.write_text(WORKSHEET, encoding="utf-8")
    options = ["--table", worksheet, "--column", "Bewertung", "--output", made, "--zip", zipped]
    done = rnngrade(graded, "return", "moodle", "02", *options, code=1)  # emmy was not collected from Moodle
    assert f"emmy, {UNIT}: Was not collected from Moodle" in done.output
    assert "Left out, for a person has still to look: alan." in done.output
    assert zipfile.is_zipfile(zipped)
    assert len(rows(made.read_text())) == 4
    rnngrade(graded, "return", "moodle", "02", code=2)


def test_of_a_large_class_that_waits_some_are_named(graded, root, tmp_path):
    enter(graded, *(outcome(root, submission(f"student{n:02}")) for n in range(20)))
    said = rnngrade(graded, "return", "mail", "02", "--output", tmp_path / "mails", code=1).stdout
    assert "student06 and 13 more. With --provisional, what they have so far goes back as well." in said
    assert "student07" not in said


def test_what_was_marked_without_names_becomes_theirs_whose_it_is(graded):
    (graded.folder / "names.csv").write_text("name,id\nparticipant 17,lovelace\n")
    (said,) = rename_known(graded)
    assert said == f"ada's {UNIT} is lovelace's now; the next 'rnngrade run {UNIT[:2]}' grades by these names."
    assert "ada" not in read_marks(graded, UNIT, NONE)
    enter(graded, outcome(graded.root, submission("lovelace")))
    assert read_marks(graded, UNIT, NONE)["lovelace"].grades[WRITTEN].points == 2.255
    assert (graded.record(UNIT, "ada"), [*rename_known(graded)]) == (None, [])
