"""What students handed in, from folders, zips and downloads of Moodle and Canvas; and what in them is hostile."""

import io
import json
import os
import stat
import tempfile
import unicodedata
import warnings
import zipfile
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rnncourse import exercises
from rnngrade.cli import main
from rnngrade.core.desk import Desk
from rnngrade.core.errors import DeskError, Failures
from rnngrade.gradebook.renaming import rename_known
from rnngrade.roster import sources
from rnngrade.roster.collect import collect
from rnngrade.roster.identity import presence
from rnngrade.roster.names import keys_of, read_any, settle
from rnngrade.roster.students import ClassList, class_list
from tests.grading.made import NONE, rnngrade
from tests.sampling import ALL

UNIT = "03_cell"


def notebook(text="x"):
    """The bytes of something that looks like a notebook, with a text by which to know it."""
    return b'{"cells": [], "metadata": {"text": "%s"}, "nbformat": 4}' % text.encode()


def desk_in(folder):
    """A desk that is not there yet, of a course with two units."""
    root = folder / "course"
    (root / "solutions").mkdir(parents=True)
    for unit in ("02_unfolding", UNIT):
        (root / "solutions" / f"{unit}.py").touch()
    return Desk(root, folder / "desk")


@pytest.fixture
def desk(tmp_path):
    return desk_in(tmp_path)


@pytest.fixture
def folder(tmp_path):
    """Write a source folder from paths and bytes."""

    def write(files):
        source = tmp_path / "source"
        for path, data in files.items():
            (source / path).parent.mkdir(parents=True, exist_ok=True)
            (source / path).write_bytes(data)
        return source

    return write


def zipped(files):
    """The bytes of a zip; each file is a path, or a `ZipInfo`, and its bytes."""
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # two files of one name are what some tests are about
        for path, data in files:
            archive.writestr(path, data)
    return made.getvalue()


@pytest.fixture
def archive(tmp_path):
    """Write a source zip."""

    def write(*files):
        path = tmp_path / "source.zip"
        path.write_bytes(zipped(files))
        return path

    return write


def listed(desk, text):
    """Give the desk a class list."""
    desk.folder.mkdir(exist_ok=True)
    (desk.folder / "roster.csv").write_text(text)


def submitted(desk):
    """All notebooks in `submitted/`, by path."""
    return {str(p.relative_to(desk.submitted)): p.read_bytes() for p in sorted(desk.submitted.rglob("*.ipynb"))}


def path(student, unit=UNIT):
    return f"{student}/{unit}/{unit}.ipynb"


# --- folders


WHOSE = [  # a student, or nobody, what is said of it, who named the files, the unit that is given, and such files
    (
        *("ada", "", "auto folder", None),
        *("ada/03_cell/03_cell.ipynb", "submitted/ada/03_cell/03_cell.ipynb", "ada/03_cell.ipynb"),
        *("ada/03_cell/homework.ipynb", "ada/03_cell-1.ipynb", "ada/03_cell (2).ipynb", "ada/03 cell final.ipynb"),
        *("ada/03-CELL.IPYNB", "03_cell/ada.ipynb", "ada_03_cell.ipynb", "03_cell_ada.ipynb"),
    ),
    (
        *("Ada Lovelace", "", "auto moodle", UNIT),
        "Ada Lovelace_123456_assignsubmission_file_/03_cell.ipynb",
        "Ada Lovelace_123456_assignsubmission_file_03_cell.ipynb",
        "Ada Lovelace_123456_assignsubmission_file_/unit 3/03_cell.ipynb",
        "Ada Lovelace_123456_assignsubmission_file_/homework.ipynb",
        "Ada Lovelace_123456_assignsubmission_file_/03_cell (1).IPYNB",
    ),
    (
        *("lovelaceada_12345", "", "auto canvas", UNIT),
        *("lovelaceada_12345_67890_03_cell.ipynb", "lovelaceada_12345_67890_03_cell-1.ipynb"),
        "submissions/lovelaceada_12345_67890_homework.ipynb",
    ),
    ("adak_12345", "was late, says Canvas.", "auto canvas", UNIT, "adak_LATE_12345_67890_03_cell-2.ipynb"),
    # the outermost name counts
    ("carl", "", "auto", None, "carl/kingada_3_4_03_cell.ipynb"),
    ("carl", "carl's 03_cell was replaced;", "auto", None, "carl/03_cell.zip"),
    (
        *("Carl", "", "auto moodle", None),
        "Carl_1_assignsubmission_file_/Ada_2_assignsubmission_file_/03_cell.ipynb",
        "Carl_1_assignsubmission_file_Ada_2_assignsubmission_file_03_cell.ipynb",
    ),
    *[("Carl", "", "moodle", None, "Unit 3/Carl_1_assignsubmission_file_/Ada_2_assignsubmission_file_/03_cell.ipynb")],
    ("kingcarl_1", "", "auto", None, "kingcarl_1_2_kingada_3_4_03_cell.ipynb"),
    ("carl_1_2_x", "", "auto", None, "carl_1_2_x/03_cell.ipynb"),
    # nobody is guessed
    (None, "it has a name like a platform's", "auto", None, "carl/Ada_2_assignsubmission_file_/03_cell.ipynb"),
    (None, "whose it is, cannot be told: collect the folder with", "auto", None, "carl/ada/03_cell.ipynb"),
    (None, "was left out: ", "auto", None, "03_cell.zip", "class.zip"),
    (
        *(None, "was left out: whose it is, cannot be told: name it STUDENT/03_cell.ipynb.", "auto", UNIT),
        *("03_cell.ipynb", "hand-ins/ada.ipynb", "submitted/03_cell/03_cell-1.ipynb"),
    ),
    *((None, f"was left out: its name is none of {one.title()}'s.", one, None, "ada/03_cell.ipynb", "03_cell.zip")
      for one in ("moodle", "canvas")),
]  # fmt: skip


@pytest.mark.parametrize(
    ("student", "said", "form", "unit", "name"),
    [
        (who, said, form, unit, name)
        for who, said, forms, unit, *names in WHOSE
        for form in forms.split()
        for name in names
    ],
)
def test_a_file_s_name_says_whose_it_is_and_of_which_unit(desk, folder, archive, student, said, form, unit, name):
    inner = zipped([("ada/03_cell.ipynb", notebook()), ("Ada_2_assignsubmission_file_/03_cell.ipynb", notebook("y"))])
    data = inner if name.endswith(".zip") else notebook()
    report = collect(folder({name: data}), desk, NONE, unit, form)
    found = [one for one in submitted(desk) if "earlier" not in one]
    assert found == ([path(student)] if student else [])
    assert report.taken == ([desk.submission_path(UNIT, student)] if student else [])
    assert [said in one for one in report.notes] == ([True] * max(1, len(report.notes)) if said else [])
    again = collect(archive((name, data)), desk, NONE, unit, form)
    assert (again.taken, again.unchanged) == ([], report.taken)
    assert [one for one in report.notes if " was replaced; " not in one] == again.notes


def test_if_the_unit_is_given_a_file_may_bear_its_student_s_name_alone(desk, folder):
    collect(folder({"ada.ipynb": notebook("a"), "Émilie du Châtelet.ipynb": notebook("b")}), desk, NONE, UNIT)
    assert submitted(desk) == {path("ada"): notebook("a"), path("Émilie du Châtelet"): notebook("b")}


def test_a_notebook_of_another_unit_than_the_one_wanted_is_left_out(desk, folder):
    source = folder({"ada/02_unfolding.ipynb": notebook("2"), "ada/03_cell.ipynb": notebook("3")})
    report = collect(source, desk, NONE, UNIT)
    assert submitted(desk) == {path("ada"): notebook("3")}
    assert report.notes == ["ada/02_unfolding.ipynb was left out: it is of 02_unfolding, not of 03_cell."]
    collect(source, desk, NONE)
    assert path("ada", "02_unfolding") in submitted(desk)


def test_a_single_notebook_is_taken_by_its_name(desk, folder):
    collect(folder({"ada_03_cell.ipynb": notebook()}) / "ada_03_cell.ipynb", desk, NONE)
    assert submitted(desk) == {path("ada"): notebook()}


def test_what_computers_leave_in_folders_is_passed_over_in_silence(desk, folder):
    junk = [
        ".DS_Store",
        "__MACOSX/ada/._03_cell.ipynb",
        "ada/.ipynb_checkpoints/03_cell-checkpoint.ipynb",
        "ada/03_cell-checkpoint.ipynb",
        ".git/03_cell.ipynb",
    ]
    report = collect(folder(dict.fromkeys(junk, notebook())), desk, NONE)
    assert (submitted(desk), report.notes) == ({}, [])


def test_a_broken_notebook_is_kept_so_that_its_student_is_told(desk, folder):
    report = collect(folder({"ada/03_cell.ipynb": b"PK\x03\x04 no json"}), desk, NONE)
    assert submitted(desk) == {path("ada"): b"PK\x03\x04 no json"}
    assert report.notes == ["ada/03_cell.ipynb is no notebook; it is kept all the same."]


def test_links_are_not_followed(desk, folder, tmp_path):
    secret = tmp_path / "secret"
    secret.mkdir()
    (secret / "03_cell.ipynb").write_bytes(notebook("secret"))
    source = folder({"bob/03_cell.ipynb": notebook("bob")})
    (source / "ada").mkdir()
    (source / "ada" / "03_cell.ipynb").symlink_to(secret / "03_cell.ipynb")
    (source / "eve").symlink_to(secret)
    os.mkfifo(source / "bob" / "pipe.ipynb")
    report = collect(source, desk, NONE)
    assert submitted(desk) == {path("bob"): notebook("bob")}
    assert set(report.notes) == {
        "ada/03_cell.ipynb was left out: it is a link.",
        "eve was left out: it is a link.",
        "bob/pipe.ipynb was left out: it is no file.",
    }


# --- versions


def test_the_latest_version_counts_and_the_earlier_ones_are_kept(desk, folder):
    source = folder({"ada/03_cell.ipynb": notebook("1"), "ada/03_cell-1.ipynb": notebook("2")})
    os.utime(source / "ada/03_cell.ipynb", (2e9, 2e9))
    report = collect(source, desk, NONE)
    expected = {path("ada"): notebook("2"), "ada/03_cell/earlier/1.ipynb": notebook("1")}
    assert submitted(desk) == expected
    assert report.notes == [
        "ada's 03_cell was replaced; what was there is beside it now, in the folder earlier.",
    ]
    again = collect(source, desk, NONE)
    assert (again.taken, again.notes) == ([], []), "collecting again changes nothing"
    assert submitted(desk) == expected


def test_of_versions_without_a_number_the_younger_counts(desk, archive):
    old, new = zipfile.ZipInfo("ada/03_cell.ipynb", (2026, 1, 2, 3, 4, 6)), "ada/03_cell/03_cell.ipynb"
    young = zipfile.ZipInfo(new, (2026, 2, 1, 0, 0, 0))
    collect(archive((young, notebook("new")), (old, notebook("old"))), desk, NONE)
    assert submitted(desk)[path("ada")] == notebook("new")


def test_a_broken_version_never_replaces_a_whole_one_of_the_same_download(desk, folder):
    collect(folder({"ada/03_cell.ipynb": notebook("1"), "ada/03_cell-2.ipynb": b"broken"}), desk, NONE)
    assert submitted(desk) == {path("ada"): notebook("1"), "ada/03_cell/earlier/1.ipynb": b"broken"}


def test_of_a_second_download_the_first_s_versions_are_kept_and_an_old_one_brings_none_of_them_back(desk, folder):
    for text in "1231":
        collect(folder({"ada/03_cell.ipynb": notebook(text)}), desk, NONE)
    assert submitted(desk) == {
        path("ada"): notebook("3"),
        "ada/03_cell/earlier/1.ipynb": notebook("1"),
        "ada/03_cell/earlier/2.ipynb": notebook("2"),
    }
    assert desk.submissions(UNIT) == {"ada": desk.submission_path(UNIT, "ada")}


def test_a_timestamp_comes_along_in_utc_and_goes_with_its_version(desk, folder):
    timestamp = desk.submission_path(UNIT, "ada").with_name("timestamp.txt")
    source = folder(
        {"ada/03_cell/03_cell.ipynb": notebook("1"), "ada/03_cell/timestamp.txt": b"2026-11-20 13:30 +0200"}
    )
    assert collect(source, desk, NONE).notes == []
    assert timestamp.read_text() == "2026-11-20 11:30:00 UTC\n"
    collect(source, desk, NONE)
    assert timestamp.read_text() == "2026-11-20 11:30:00 UTC\n"
    (source / "ada/03_cell/timestamp.txt").write_bytes(b"yesterday, I believe")
    (source / "ada/03_cell/03_cell.ipynb").write_bytes(notebook("2"))
    assert any("it holds no date" in note for note in collect(source, desk, NONE).notes)
    assert not timestamp.exists()
    assert (timestamp.parent / "earlier" / "1.txt").read_text() == "2026-11-20 11:30:00 UTC\n"


# --- names


def test_one_student_in_two_spellings_is_one_student(desk, folder, archive):
    name = "Zoë Çelik"
    collect(folder({f"{name}/03_cell.ipynb": notebook("1")}), desk, NONE)
    other = unicodedata.normalize("NFD", name.upper())
    report = collect(archive((f"{other}/03_cell.ipynb", notebook("2"))), desk, NONE)
    assert submitted(desk)[path(name)] == notebook("2")
    assert any(f"was taken for {name!r}" in note for note in report.notes)
    assert len(list(desk.submitted.iterdir())) == 1


@pytest.mark.parametrize(
    ("given", "called"),
    [("O'Brien, Kate", "OBrien Kate"), ("a\x1b[31mb", "a31mb"), ("-ada", "-ada"), ("  .ada. ", "ada")],
)
def test_a_name_that_cannot_be_a_folder_s_is_changed_and_said(desk, archive, given, called):
    report = collect(archive((f"{given}/03_cell.ipynb", notebook())), desk, NONE, format="folder")
    if given.startswith("  ."):  # hidden to whoever lists the folder: passed over like all that is hidden
        called = "ada"
    assert list(submitted(desk)) == [path(called)]
    assert len(report.notes) == (given.strip() != called)
    assert all(note.isprintable() for note in report.notes)


def test_a_name_that_is_none_is_left_out(desk, archive):
    report = collect(archive(("☃☃/03_cell.ipynb", notebook()), ("x" * 300 + "/03_cell.ipynb", notebook())), desk, NONE)
    assert submitted(desk) == {}
    assert len(report.notes) == 2
    assert all("cannot be a student's name" in note for note in report.notes)


# --- platforms


def test_moodle_s_online_text_and_other_files_are_named(desk, archive):
    page = "Ada_1_assignsubmission_onlinetext_/onlinetext.html"
    report = collect(archive((page, b"<p>"), ("Ada_1_assignsubmission_file_/a.docx", b"x")), desk, NONE, UNIT)
    assert submitted(desk) == {}
    assert all("it is no notebook" in note for note in report.notes)
    assert len(report.notes) == 2


def test_two_of_moodle_s_students_of_one_name_are_told_apart(desk, archive):
    files = [(f"Ada King_{n}_assignsubmission_file_/03_cell.ipynb", notebook(str(n))) for n in (1, 2)]
    report = collect(archive(*files, ("Ada King_1_assignsubmission_file_/03_cell-1.ipynb", notebook("3"))), desk, NONE)
    collect(archive(*files, ("Ada King_3_assignsubmission_file_/a.docx", b"x")), desk, NONE)
    assert sorted(keys_of(desk, UNIT)) == ["Ada King 1", "Ada King 2", "Ada King 3"], "also who handed in no notebook"
    found = submitted(desk)
    assert found[path("Ada King 1")] == notebook("3")
    assert found[path("Ada King 2")] == notebook("2")
    assert path("Ada King") not in found
    assert any("Ada King 1 is known by a number alone" in note for note in report.notes)


def test_what_was_handed_in_for_the_wrong_assignment_replaces_nothing(desk, archive):
    collect(archive(("kingada_1_9_02_unfolding.ipynb", notebook("graded"))), desk, NONE)
    names = ["kingada_1_10_02_unfolding.ipynb", "turingalan_2_11_03_cell.ipynb", "curryhaskell_3_12_03_cell.ipynb"]
    source = archive(*((name, notebook(name)) for name in names))
    report = collect(source, desk, NONE)
    assert submitted(desk)[path("kingada_1", "02_unfolding")] == notebook("graded")
    assert {path("turingalan_2"), path("curryhaskell_3")} < {*submitted(desk)}
    assert [words for words in report.notes if names[0] in words and "--unit 02_unfolding" in words] == report.notes
    collect(source, desk, NONE, "02_unfolding")
    assert submitted(desk)[path("kingada_1", "02_unfolding")] == notebook(names[0])


GRADESCOPE = """\
---
submission_301:
  :submitters:
  - :name: Ada King
    :sid: s1
    :email: ada@x.org
  :created_at: 2026-11-20 14:22:32.365935000 Z
  :history: []
submission_302:
  :submitters:
  - :name: Kate O'Hara
    :sid: s2
    :email: kate@x.org
  - :name: Ada King
    :sid: s3
    :email: king@x.org
  :created_at: 2026-11-21 14:22:32.365935000 Z
"""
WORKSHEET = """\
Identifier,Full name,Email address,Grade
Participant 17,Ada King,ada@x.org,
Participant 4,Ada King,king@x.org,
Participant 9,Kate O'Hara,kate@x.org,
"""
DEUTSCH = WORKSHEET.replace(
    "Identifier,Full name,Email address,Grade", "ID;Vollständiger Name;E-Mail-Adresse;Bewertung"
)
CLASSROOM = '"identifier","github_username","github_id","name"\n"s1","adak","1",""\n"king@x.org","ada-k","2",""\n'
CANVAS_JSON = [{"user_id": 901, "anonymous_id": "k3J01"}, {"user_id": 903, "anonymous_id": "9s2zZ"}]
BOTH = {"ada": "1", "king": "2"}


@pytest.mark.parametrize(
    ("files", "names", "expected"),
    [
        (
            {
                "export/submission_metadata.yml": GRADESCOPE,
                "export/submission_301/03_cell.ipynb": "1",
                "export/submission_302/mine.ipynb": "2",
            },
            None,
            {"ada": "1", "king": "2", "kate": "2"},
        ),
        *(
            (
                {
                    f"Group 1-{called}_17_assignsubmission_file_/03_cell.ipynb": "1",
                    f"Group 2-{called}_4_assignsubmission_file_/03_cell.ipynb": "2",
                    f"Group 2-{kate}_9_assignsubmission_file_/03_cell.ipynb": "3",
                },
                table,
                {**BOTH, "kate": "3"},
            )
            for called, kate, table in (
                ("Ada King", "Kate OHara", ("worksheet.csv", WORKSHEET)),
                ("Participant", "Participant", ("worksheet.csv", WORKSHEET)),
                ("Teilnehmerin", "Teilnehmerin", ("w.csv", DEUTSCH.replace(",", ";"))),
            )
        ),
        (
            {f"{repository}/{file}": text for repository, text in (("03-cell-adak", "1"), ("03-cell-ada-k", "2"))
             for file in (".git/config", "README.md", "03_cell.ipynb")},
            ("classroom_roster.csv", CLASSROOM),
            BOTH,
        ),
        (
            {"anon_k3J01_501_03_cell.ipynb": "1", "LATE_anon_9s2zZ_502_03_cell-1.ipynb": "2"},
            ("submissions.json", json.dumps(CANVAS_JSON)),
            BOTH,
        ),
        ({"kingada_901_5_03_cell.ipynb": "1", "kingada_LATE_903_6_03_cell.ipynb": "2"}, None, BOTH),
    ],
    ids=["gradescope", "groups", "blind", "deutsch", "github", "anonymous", "canvas"],
)  # fmt: skip
def test_every_platform_s_export_comes_to_the_class_list_s_ids(desk, folder, tmp_path, files, names, expected):
    listed(
        desk,
        "id,first_name,last_name,email,sis_id,canvas_id\nada,Ada,King,ada@x.org,s1,901\n"
        "kate,Kate,O'Hara,kate@x.org,s2,902\nking,Ada,King,king@x.org,s3,903\n",
    )
    source = folder({path: notebook(text) if path.endswith("ipynb") else text.encode() for path, text in files.items()})
    if names:
        (tmp_path / names[0]).write_text(names[1])
        assert [*settle(desk, read_any(tmp_path / names[0]))] == []
    report = collect(source, desk, NONE, UNIT)
    assert submitted(desk) == {path(student): notebook(text) for student, text in expected.items()}
    again = collect(source, desk, NONE, UNIT)
    assert (again.taken, len(again.unchanged)) == ([], len(report.taken))


def test_that_names_are_shown_of_whom_the_desk_knows_by_number_is_said(desk, archive):
    files = [(n, f"{{}}_{n}_assignsubmission_file_/03_cell.ipynb", notebook(str(n))) for n in (4, 17)]
    collect(archive(*((name.format("Participant"), text) for _, name, text in files)), desk, NONE, UNIT)
    report = collect(archive(*((name.format(f"Ada {n}"), text) for n, name, text in files)), desk, NONE, UNIT)
    assert list(submitted(desk)) == [path("Participant 17"), path("Participant 4")]
    who = [note.partition(" is known by that number, though a name is shown here")[0] for note in report.notes]
    assert sorted(who) == ["Participant 17", "Participant 4"]


@pytest.mark.parametrize(
    ("name", "called", "settled_by"),
    [
        ("Ada Lovelac_1_assignsubmission_file_/03_cell.ipynb", "Ada Lovelac", "Ada Lovelac"),
        ("adalovelac_901_5_03_cell.ipynb", "adalovelac_901", "canvas 901"),
        ("adalovelac/03_cell.ipynb", "adalovelac", "adalovelac"),
    ],
)
def test_who_is_not_on_the_list_is_told_with_those_who_are_likeliest_and_settled_by_a_line(
    desk, archive, name, called, settled_by
):
    listed(desk, "id,first_name,last_name\nada,Ada,Lovelace\nzoe,Zoë,Müller\n")
    source = archive((name, notebook()))
    (said,) = collect(source, desk, NONE).unknown[1:]
    line = said.partition(": ")[2].partition(", or")[0]
    assert line == f"{settled_by},ada"
    (desk.folder / "names.csv").write_text(f"name,id\n{line}\n")
    (said,) = rename_known(desk)
    assert said.startswith(f"{called}'s 03_cell is ada's now")
    again = collect(source, desk, NONE)
    assert (again.taken, again.unknown, list(submitted(desk))) == ([], [], [path("ada")])


@pytest.mark.parametrize(
    ("table", "line", "said"),
    [
        ("roster.csv", "id,first_name,last_name,canvas_id\nada,Ada,King,901\n", "kingada_901's 03_cell is ada's now"),
        ("names.csv", "name,id\ncanvas 901,ada\n", "kingada_901's 03_cell is ada's now"),
        ("roster.csv", "id,first_name,last_name,canvas_id\nada,Ada,King,905\n", None),
    ],
)
def test_what_came_before_it_was_known_whose_it_is_becomes_theirs(desk, archive, table, line, said):
    source = archive(("kingada_901_5_03_cell.ipynb", notebook()))
    collect(source, desk, NONE)
    (desk.folder / table).write_text(line)
    assert [words.partition(";")[0] for words in rename_known(desk)] == ([said] if said else [])
    collect(source, desk, NONE)
    assert list(submitted(desk)) == [path("ada" if said else "kingada_901")]


def test_a_line_of_names_csv_for_nobody_on_the_class_list_is_told_and_not_followed(desk, archive):
    listed(desk, "id\naturing\n")
    (desk.folder / "names.csv").write_text("name,id\ncanvas 7,aturin\n")
    (said,) = rename_known(desk)
    assert said.endswith("'canvas 7' is 'aturin': nobody on the class list; there is aturing.")
    collect(archive(("hacker_7_5_03_cell.ipynb", notebook())), desk, NONE)
    assert list(submitted(desk)) == [path("hacker_7")]


def test_who_handed_in_no_notebook_of_the_unit_did_not_hand_in_nothing(desk, archive):
    within = zipped([("inner.zip", zipped([("03_cell.ipynb", notebook())]))])
    files = {
        "kingada_1_9_essay.py": b"x = 1",
        "turingalan_2_10_03_cell.ipynb": notebook(),
        "curryhaskell_3_11_work.zip": within,
        "leeann_4_12_02_unfolding.ipynb": notebook(),
        "leebo_5_13_03_cell.ipynb": notebook(),
    }
    collect(archive(*files.items()), desk, NONE)
    assert list(submitted(desk)) == [path("leebo_5"), path("turingalan_2")]
    others = {"curryhaskell_3": "inner.zip", "kingada_1": "kingada_1_9_essay.py", "leeann_4": "02_unfolding"}
    assert presence(desk, UNIT, ClassList()).others == others


def test_who_handed_in_a_notebook_of_another_unit_did_not_hand_in_nothing(desk, folder):
    listed(desk, "id,first_name,last_name\nada,Ada,King\nbob,Bob,Lee\ncarl,Carl,May\neve,Eve,Ray\n")
    files = {
        "ada/02_unfolding.ipynb": answers("02"),
        "bob/final.ipynb": answers("02"),
        "eve/03_cell.ipynb": answers(UNIT),
    }
    collect(folder(files), desk, NONE, UNIT)
    (desk.submitted / "bob" / UNIT).mkdir(parents=True)
    (desk.submitted / "bob" / UNIT / "final.ipynb").write_bytes(answers("02"))
    people = class_list(desk)
    assert [*presence(desk, UNIT, people).lines(people)] == [
        "2 handed in no notebook of this unit: Ada King (02_unfolding), Bob Lee (final.ipynb)",
        "1 handed in nothing: Carl May",
    ]
    collect(folder({"ada/03_cell.ipynb": answers(UNIT)}), desk, NONE, UNIT)
    assert [*presence(desk, UNIT, people).others] == ["bob"]


def test_what_is_so_of_many_files_is_said_in_one_line(desk, folder):
    names = [f"student{n}" for n in range(12)]
    for text in "12":
        source = folder({f"{name}/{file}": notebook(text) for name in names for file in ("03_cell.ipynb", "03.png")})
        said = rnngrade(desk, "collect", source).stdout.splitlines()
    first = ", ".join(f"{name}'s 03_cell" for name in sorted(names)[:8])
    words = "Each of 12 was replaced; what was there is beside it now, in the folder earlier"
    assert f"{words}: {first} and 4 more" in said
    assert len(said) == 3


def test_a_folder_of_downloads_and_a_desk_invent_nobody(desk, folder):
    download = zipped([("kingada_1_9_03_cell.ipynb", notebook()), ("turingalan_2_10_03_cell.ipynb", notebook())])
    report = collect(folder({"canvas-03.zip": download, "ada/03_cell.ipynb": notebook()}), desk, NONE)
    assert list(submitted(desk)) == [path("ada")]
    assert report.notes == ["canvas-03.zip was left out: it looks like a platform's download: collect it by itself."]
    desk.open()
    other = Desk(desk.root, desk.folder.parent / "other")
    assert collect(desk.folder, other, NONE).taken == [other.submission_path(UNIT, "ada")]
    with pytest.raises(DeskError, match="is this desk: what lies in it is collected already"):
        collect(desk.folder, desk, NONE)


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({"submission_metadata.yml": GRADESCOPE, "submission_301/03_cell.ipynb": "1"}, ["ada@x.org"]),
        ({"submission_301/03_cell.ipynb": "1"}, ["submission_301"]),
        ({f"{name} King_{n}_assignsubmission_file_/03_cell.ipynb": name for n, name in enumerate(("Ada", "Bea"))},
         ["Ada King", "Bea King"]),
        ({f"{name}/03_cell.ipynb": name for name in ("ada", "bea")}, ["ada", "bea"]),
    ],
)  # fmt: skip
@pytest.mark.parametrize("as_zip", [False, True])
def test_what_a_student_puts_beside_their_notebook_does_not_make_it_another_platform_s(
    desk, folder, archive, files, expected, as_zip
):
    forged = GRADESCOPE.replace("ada@x.org", "eve@x.org")
    first = next(path for path in files if "/" in path).partition("/")[0]
    files = {**files, f"{first}/submission_metadata.yml": forged, f"{first}/.git/config": "x"}
    given = {path: notebook(text) if path.endswith("ipynb") else text.encode() for path, text in files.items()}
    collect(archive(*given.items()) if as_zip else folder(given), desk, NONE)
    assert list(submitted(desk)) == [path(student) for student in expected]


# --- whose a file is

SCHEMES = {
    "folder": ("{}/", "{}/03_cell/", "submitted/{}/03_cell/"),
    "moodle": ("{} Name_{}_assignsubmission_file_/", "{} Name_{}_assignsubmission_file_"),
    "canvas": ("{}_{}_77_",),
}


def outer_names(format, number):
    """A name that a platform makes for what a student hands in, and what the student is called then."""
    name = f"student{'abcd'[number]}"
    called = {"folder": name, "moodle": f"{name} Name", "canvas": f"{name}_{number}"}[format]
    return [text.format(name, number) for text in SCHEMES[format]], called


NAMES_OF_OTHERS = [
    name for format in SCHEMES for number in range(4) for name in (*outer_names(format, number)[0], "submitted/")
]
OWN_NAMES = st.lists(st.sampled_from([*NAMES_OF_OTHERS, "mine/", "03_cell/", "submissions/"]), max_size=3).map("".join)
OWN_FILES = st.sampled_from(["03_cell", "03_cell-1", "03_cell (2)", "homework", "03_cell_studenta", "studentb_03_cell"])


@st.composite
def handed_in_by(draw, number, format):
    """A file of a source, and what of it the platform named; its notebooks know whose they are."""
    outer = draw(st.sampled_from(outer_names(format, number)[0]))
    own, stem, text = draw(OWN_NAMES), draw(OWN_FILES), notebook(f"by {number}.")
    if format == "canvas" or outer.endswith("_file_"):
        own = own.replace("/", "_")  # flat
    if draw(st.booleans()):
        return f"{outer}{own}{stem}.ipynb", text
    inside = draw(st.lists(st.tuples(OWN_NAMES, OWN_FILES), min_size=1, max_size=3))
    files = [(f"{where}{name}.ipynb", text) for where, name in inside]
    return f"{outer}{own}{stem}.zip", zipped(
        [*files, *((f"{where}timestamp.txt", b"2020-01-01") for where, _ in inside)]
    )


@st.composite
def classes(draw):
    """A source in which students give their files and folders the names of others."""
    format = draw(st.sampled_from(sorted(SCHEMES)))
    numbers = draw(st.lists(st.integers(0, 3), min_size=1, max_size=5))
    return format, [draw(handed_in_by(number, format)) for number in numbers]


@settings(deadline=None, max_examples=100 if ALL else 30, suppress_health_check=list(HealthCheck))
@given(drawn=classes(), given_format=st.booleans(), listed=st.booleans(), as_zip=st.booleans(), cut=st.integers(0, 5))
def test_no_name_of_a_student_s_own_is_another_s(drawn, given_format, listed, as_zip, cut):
    format, files = drawn
    called = {outer_names(format, number)[1]: notebook(f"by {number}.") for number in range(4)}
    with tempfile.TemporaryDirectory() as where:
        desk = desk_in(Path(where))
        desk.folder.mkdir()
        if listed:
            rows = [f"{name},{name.split()[0]},{name.split()[-1]}" for name in called]
            (desk.folder / "roster.csv").write_text("\n".join(["id,first_name,last_name", *rows]))
        for number, part in enumerate((files[:cut], files[cut:])):
            source = Path(where, f"source{number}")
            source.mkdir()
            if as_zip:
                source = source / "class.zip"
                source.write_bytes(zipped(part))
            else:
                for path_, data in part:
                    (source / path_).parent.mkdir(parents=True, exist_ok=True)
                    (source / path_).write_bytes(data)
            before = submitted(desk)
            report = collect(source, desk, NONE, UNIT, format if given_format else "auto")
            after = submitted(desk)
            replaced = [name for name in before if "earlier" not in name and after[name] != before[name]]
            assert len(replaced) <= sum(" was replaced; " in note for note in report.notes)
            assert set(before.values()) <= set(after.values()), "nothing is lost"
        for name, data in submitted(desk).items():
            student = name.partition("/")[0]
            assert called.get(student, data) == data, "a student's names are nobody else's"
        assert not list(desk.submitted.rglob("timestamp.txt")), "a date that a student wrote is none"


def test_a_student_on_the_class_list_may_have_folders_of_their_own(desk, archive):
    listed(desk, "id\ncarl\nada\n")
    here = "carl/ada/03_cell"
    collect(archive((f"{here}/03_cell.ipynb", notebook()), (f"{here}/timestamp.txt", b"2020-01-01")), desk, NONE)
    assert list(submitted(desk)) == [path("carl")]
    assert not list(desk.submitted.rglob("timestamp.txt"))


def test_a_zip_made_of_a_folder_is_that_folder(desk, archive):
    files = [(f"source/{name}/03_cell/03_cell.ipynb", notebook(name)) for name in ("ada", "bob")]
    assert collect(archive(*files), desk, NONE).notes == []
    assert submitted(desk) == {path(name): notebook(name) for name in ("ada", "bob")}


def test_a_source_has_one_way_of_naming(desk, archive):
    files = [("Ada_1_assignsubmission_file_/03_cell.ipynb", notebook("a")), ("bob/03_cell.ipynb", notebook("b"))]
    report = collect(archive(*files), desk, NONE)
    assert list(submitted(desk)) == [path("bob")]
    assert "say by --format what they are" in report.notes[0]
    collect(archive(*files), desk, NONE, format="moodle")
    assert list(submitted(desk)) == [path("Ada"), path("bob")]


def test_one_name_on_the_class_list_for_two_participants_is_neither_s(desk, archive):
    listed(desk, "id,first_name,last_name\nak,Ada,King\nbob,Bob,Ray\n")
    files = [(f"Ada King_{n}_assignsubmission_file_/03_cell.ipynb", notebook(str(n))) for n in (1, 2)]
    report = collect(archive(*files, ("bob_3_assignsubmission_file_/03_cell.ipynb", notebook("3"))), desk, NONE)
    assert list(submitted(desk)) == [path("Ada King 1"), path("Ada King 2")]
    assert "bob is the id of somebody who has another name" in " ".join(report.notes)


def test_what_comes_from_another_place_waits_for_a_person(desk, archive):
    name = "Ada King_{}_assignsubmission_file_/03_cell.ipynb"
    collect(archive((name.format(1), notebook("1"))), desk, NONE)
    report = collect(archive((name.format(2), notebook("2"))), desk, NONE)
    assert submitted(desk) == {path("Ada King"): notebook("1")}
    assert "came from another place" in report.notes[0]
    assert report.taken == report.unchanged == []
    collect(archive((name.format(1), notebook("3"))), desk, NONE)
    assert submitted(desk)[path("Ada King")] == notebook("3")


def test_two_names_of_one_student_in_a_source_wait_for_a_person(desk, archive):
    report = collect(archive(("ada/03_cell.ipynb", notebook("1")), ("ADA/03_cell.ipynb", notebook("2"))), desk, NONE)
    assert submitted(desk) == {}
    assert sum("under more than one name" in note for note in report.notes) == 2


@pytest.mark.parametrize(
    "layout",
    [
        "Ada King_1_assignsubmission_file_/03_cell.ipynb",
        "Ada King_1_assignsubmission_file_/03_cell/03_cell.ipynb",
        "ada/03_cell.ipynb",
        "ada/03_cell.zip",
    ],
)
def test_a_timestamp_that_a_student_may_have_written_is_not_believed(desk, archive, layout):
    inside = zipped([("03_cell/03_cell.ipynb", notebook()), ("03_cell/timestamp.txt", b"2020-01-01 00:00:00 UTC")])
    beside = f"{layout.rpartition('/')[0]}/timestamp.txt"
    data = inside if layout.endswith(".zip") else notebook()
    report = collect(archive((layout, data), (beside, b"2020-01-01 00:00:00 UTC")), desk, NONE)
    assert list(submitted(desk).values()) == [notebook()]
    assert not list(desk.submitted.rglob("timestamp.txt"))
    assert any("timestamp.txt" in note and "was left out" in note for note in report.notes)


# --- zips within


def test_a_zip_that_a_student_handed_in_is_opened(desk, archive):
    handed_in = zipped([("03_cell.ipynb", notebook()), ("receipt.json", b"{}")])
    for names in (
        ["Ada King_1_assignsubmission_file_/03_cell.zip"],
        ["kingbea_2_3_03_cell.zip"],
        ["carl/03_cell.zip", "dora.zip", "03_cell_eve.zip", "finn/homework.zip"],
    ):
        assert collect(archive(*((name, handed_in) for name in names)), desk, NONE).notes == []
    students = ["Ada King", "carl", "dora", "eve", "finn", "kingbea_2"]
    assert list(submitted(desk)) == [path(student) for student in students]


# --- one student does not stop the class


def a_file_for_a_folder(desk):
    desk.submitted.mkdir(parents=True)
    (desk.submitted / "eve").write_text("in the way")


def a_folder_for_a_notebook(desk):
    desk.submission_path(UNIT, "eve").mkdir(parents=True)


def a_folder_for_a_mark(desk):
    (desk.folder / "collected" / UNIT / "eve").mkdir(parents=True)


def a_file_for_the_earlier_ones(desk):
    desk.submission_path(UNIT, "eve").parent.mkdir(parents=True)
    desk.submission_path(UNIT, "eve").write_bytes(notebook("before"))
    (desk.submission_path(UNIT, "eve").parent / "earlier").write_text("in the way")


@pytest.mark.parametrize(
    "in_the_way", [a_file_for_a_folder, a_folder_for_a_notebook, a_folder_for_a_mark, a_file_for_the_earlier_ones]
)
def test_who_cannot_be_put_there_is_told_and_the_others_are_collected(desk, folder, in_the_way):
    in_the_way(desk)
    source = folder({f"{name}/03_cell.ipynb": notebook(name) for name in ("ada", "eve", "zoe")})
    failures = Failures()
    report = collect(source, desk, failures)
    assert {desk.submission_path(UNIT, name) for name in ("ada", "zoe")} == set(report.taken)
    (told,) = failures.told
    assert told.startswith(f"eve, {UNIT}: ")
    done = CliRunner().invoke(main, ["--course", str(desk.root), "--desk", str(desk.folder), "collect", str(source)])
    assert (done.exit_code, done.stderr) == (1, f"Done for all but these:\n  {told}\n")
    assert "0 collected, 2 there already." in done.stdout


def damaged(data, rng):
    """A zip with some of its bytes changed, cut off, or put in twice."""
    data = bytearray(data)
    for _ in range(rng.integers(1, 6)):
        at = int(rng.integers(len(data)))
        match int(rng.integers(4)):
            case 0:
                data[at] = rng.integers(256)
            case 1:
                data[at] ^= 1 << int(rng.integers(8))
            case 2:
                del data[at : at + int(rng.integers(1, 40))]
            case 3:
                data[at:at] = data[at : at + int(rng.integers(1, 40))]
    return bytes(data)


def test_no_damage_to_a_students_zip_costs_another_student(tmp_path):
    rng = np.random.default_rng(0)
    whole = zipped([("03_cell.ipynb", notebook("eve")), ("timestamp.txt", b"2026-11-20 13:30:00 UTC")])
    for turn in range(300 if ALL else 60):
        desk = desk_in(tmp_path / str(turn))
        files = [("ada/03_cell.ipynb", notebook("ada")), ("eve/03_cell.zip", damaged(whole, rng))]
        source = tmp_path / f"{turn}.zip"
        source.write_bytes(zipped([*files, ("zoe/03_cell.ipynb", notebook("zoe"))]))
        failures = Failures()
        report = collect(source, desk, failures)
        assert {path("ada"), path("zoe")} <= submitted(desk).keys()
        assert failures.told == [], "a student's broken zip is a note"
        assert path("eve") in submitted(desk) or any("eve" in note for note in report.notes)


def test_names_that_are_no_text_cost_nobody_else(desk, tmp_path):
    source = tmp_path / "source"
    for name in (
        b"ada",
        b"e\xffve",
        b"\xed\xa0\x80",
        b"J\xf6rg King_7_assignsubmission_file_",
        b"\xff\xfe_7_8_03_cell",
    ):
        (source / os.fsdecode(name)).mkdir(parents=True)
        (source / os.fsdecode(name) / "03_cell.ipynb").write_bytes(notebook("x"))
    failures = Failures()
    for format in ("auto", "folder", "moodle"):
        report = collect(source, desk, failures, format=format)
        assert all(note.encode() for note in report.notes), "a terminal can print it"
    assert path("ada") in submitted(desk)
    assert failures.told == []


# --- hostile zips


LINK = zipfile.ZipInfo("ada/03_cell.ipynb")
LINK.external_attr = (stat.S_IFLNK | 0o777) << 16
IN_A_ZIP = zipped([("more.zip", zipped([("03_cell.ipynb", notebook())]))])


@pytest.mark.parametrize(
    ("name", "data", "said"),
    [
        (LINK, b"/etc/passwd", "ada/03_cell.ipynb was left out: it is a link."),
        ("ada/03_cell.zip", IN_A_ZIP, "ada/03_cell.zip/more.zip was left out: it is no notebook."),
        ("ada/03_cell.zip", b"PK no zip", "ada/03_cell.zip was left out: it is no zip that can be read"),
        ("ada/notes.pdf", b"%PDF", "ada/notes.pdf was left out: it is no notebook."),
        ("ada/homework.ipynb", notebook(), "ada/homework.ipynb was left out: which unit it is, cannot be told"),
    ],
)
def test_what_cannot_be_taken_is_named_and_costs_nobody_else(desk, archive, name, data, said):
    report = collect(archive((name, data), ("bob/03_cell.ipynb", notebook())), desk, NONE)
    assert list(submitted(desk)) == [path("bob")]
    (note,) = report.notes
    assert note.startswith(said)


def test_nothing_in_a_hostile_zip_is_written_anywhere_else(desk, archive, tmp_path):
    bad = ["../../03_cell.ipynb", "/etc/ada/03_cell.ipynb", "ada/../../x/03_cell.ipynb", "..\\..\\bob\\03_cell.ipynb"]
    bad += ["C:\\ada\\03_cell.ipynb", "c:/ada/03_cell.ipynb"]
    before = {p for p in tmp_path.rglob("*") if p.is_file()}
    source = archive(*((name, notebook("bad")) for name in bad), ("good\\03_cell.ipynb", notebook("good")))
    report = collect(source, desk, NONE)
    assert submitted(desk) == {path("good"): notebook("good")}
    after = {p for p in tmp_path.rglob("*") if p.is_file()}
    assert after - before == {
        source,
        desk.submission_path(UNIT, "good"),
        desk.folder / "collected" / UNIT / "good",
    }
    assert len(report.notes) == len(bad)
    assert all("its path leads out of the zip" in note for note in report.notes)


def test_a_bomb_is_cut_off_whatever_the_zip_says_of_its_size(desk, archive, monkeypatch):
    monkeypatch.setattr(sources, "MAX_FILE", 2**20)
    source = archive(("ada/03_cell.ipynb", b"0" * 50 * 2**20), ("bob/03_cell.ipynb", notebook()))
    data = source.read_bytes()
    source.write_bytes(data.replace((50 * 2**20).to_bytes(4, "little"), (100).to_bytes(4, "little")))
    report = collect(source, desk, NONE)
    assert list(submitted(desk)) == [path("bob")]
    assert len(report.notes) == 1
    assert report.notes[0].startswith("ada/03_cell.ipynb was left out: it is ")


def test_a_file_that_is_too_large_is_left_out(desk, folder, archive, monkeypatch):
    monkeypatch.setattr(sources, "MAX_FILE", 2**20)
    for source in (folder({"ada/03_cell.ipynb": b"0" * 2**21}), archive(("ada/03_cell.ipynb", b"0" * 2**21))):
        assert collect(source, desk, NONE).notes == ["ada/03_cell.ipynb was left out: it is larger than 1 MB."]
    assert submitted(desk) == {}


def test_a_source_may_not_be_endless(desk, archive, monkeypatch):
    monkeypatch.setattr(sources, "MAX_ALL", 150)
    files = [(f"s{i}/03_cell.ipynb", notebook()) for i in range(9)]
    report = collect(archive(*files), desk, NONE)
    assert len(submitted(desk)) == 2
    assert "the rest was left out" in report.notes[-1]
    monkeypatch.setattr(sources, "MAX_FILES", 1)
    assert "only 1 were looked at" in collect(archive(*files), desk, NONE).notes[0]


def test_what_a_student_s_zip_unpacks_to_has_a_limit_of_its_own(desk, archive, monkeypatch):
    monkeypatch.setattr(sources, "MAX_FILE", 2**20)
    monkeypatch.setattr(sources, "MAX_WITHIN", 3 * 2**20)
    bomb = zipped([(f"03_cell-{i}.ipynb", b"0" * 2**21) for i in range(50)])
    report = collect(
        archive(("ada/03_cell.zip", bomb), ("bob/03_cell.zip", zipped([("03_cell.ipynb", notebook())]))), desk, NONE
    )
    assert list(submitted(desk)) == [path("bob")]
    assert report.notes[-1] == (
        "More than 3 MB are in ada/03_cell.zip and what else this student handed in as zips: the rest was left out."
    )
    assert len(report.notes) == 3, "two that are too large, and no more"


@pytest.mark.parametrize(
    "form",
    ["{0}/03_cell-{2}.zip", "{0} K_{1}_assignsubmission_file_/03_cell-{2}.zip", "{0}_{1}_{2}_03_cell-{2}.zip"],
    ids=["folder", "moodle", "canvas"],
)
@pytest.mark.parametrize(("limit", "most"), [("MAX_WITHIN", 20_000), ("MAX_NESTED", 3)])
def test_however_many_zips_a_student_hands_in_there_is_one_budget_for_all(desk, folder, monkeypatch, form, limit, most):
    long, read = notebook("0" * 9_000), []

    def unpacked(opened, entry, most):
        read.append(opened.open(entry).read(most))
        return read[-1]

    monkeypatch.setattr(sources, limit, most)
    monkeypatch.setattr(sources, "_unpacked", unpacked)
    much = zipped([(f"03_cell-{i}.ipynb", long) for i in range(2)])
    files = {form.format("bob", 2, n): much for n in range(5)}
    modest = {
        form.format(name, number, 0): zipped([("03_cell.ipynb", notebook())]) for name, number in (("al", 1), ("cy", 3))
    }
    collect(folder(files | modest), desk, NONE)
    assert {path[:2] for path in submitted(desk)} >= {"al", "cy"}, "nobody else's zips count"
    own = [data for data in read if data == long]
    assert 0 < len(own) <= (most if limit == "MAX_NESTED" else most // len(long) + 1), (
        "the one that is too much is read"
    )


def test_a_file_with_a_password_and_a_broken_file_are_named(desk, archive):
    source = archive(("ada/03_cell.ipynb", notebook("a" * 99)), ("bob/03_cell.ipynb", notebook()))
    data = bytearray(source.read_bytes())
    data[6] |= 1  # encrypted, says the file itself ...
    data[data.index(b"PK\x01\x02") + 8] |= 1  # ... and the contents
    bob = data.index(b"bob/03_cell.ipynb") + len("bob/03_cell.ipynb")
    data[bob + 5] ^= 0xFF
    source.write_bytes(data)
    report = collect(source, desk, NONE)
    assert submitted(desk) == {}
    assert report.notes[0] == "ada/03_cell.ipynb was left out: it has a password."
    assert report.notes[1].startswith("bob/03_cell.ipynb was left out: it is broken")


def test_two_files_of_one_name_in_a_zip_are_two_versions(desk, archive):
    collect(archive(("ada/03_cell.ipynb", notebook("1")), ("ada/03_cell.ipynb", notebook("2"))), desk, NONE)
    assert sorted(submitted(desk).values()) == [notebook("1"), notebook("2")]


def test_utf_8_that_a_mac_did_not_declare_is_read(desk, tmp_path):
    made = zipped([("zoe_/03_cell.ipynb", notebook())])
    (tmp_path / "mac.zip").write_bytes(made.replace(b"zoe_", "zoë".encode()))
    collect(tmp_path / "mac.zip", desk, NONE)
    assert list(submitted(desk)) == [path("zoë")]


# --- errors


def test_what_is_not_there_is_one_sentence(desk, tmp_path):
    (tmp_path / "text.txt").write_text("x")
    desk.folder.mkdir()
    for arguments, said in [
        ((tmp_path / "none", desk, NONE), "is no folder, zip or notebook"),
        ((tmp_path / "text.txt", desk, NONE), "is no folder, zip or notebook"),
    ]:
        with pytest.raises(DeskError, match=said):
            collect(*arguments)
    (desk.folder / "roster.csv").write_text("id\n../../etc\n")
    with pytest.raises(DeskError, match="cannot be the name of a student's folder"):
        collect(tmp_path, desk, NONE)


# --- the unit, by what is in the notebook


def answers(unit, text="x"):
    """A notebook with the unit's answers, as students hand it in."""
    cells = [
        {"cell_type": "code", "metadata": {"nbgrader": {"grade_id": exercise.name}}, "source": text}
        for exercise in exercises.unit(unit)
    ]
    return json.dumps({"cells": cells, "nbformat": 4}, indent=1).encode()


@pytest.mark.parametrize(
    "name",
    [
        "Ada King_17_assignsubmission_file_/{}",
        "Ada King_17_assignsubmission_file_{}",
        "adaking_501_77_{}",
        "Ada King/{}",
        "Ada King/03_cell/{}",
    ],
)
@pytest.mark.parametrize("called", ["homework.ipynb", "FINAL.ipynb", "Untitled 3.ipynb", "abgabe_ö.ipynb"])
def test_the_unit_is_known_by_its_cells_whatever_the_file_is_called(desk, folder, name, called):
    other = name.replace("Ada", "Bob").replace("adaking_501", "boblee_502").replace("_17_", "_18_")
    source = folder({name.format(called): answers(UNIT), other.format(called): answers(UNIT, "y")})
    report = collect(source, desk, NONE)
    assert len(report.taken) == 2, report.notes
    assert {path.parent.name for path in report.taken} == {UNIT}


def test_a_file_that_is_named_after_another_unit_is_taken_for_what_it_is(desk, folder):
    source = folder({"ada/03_cell.ipynb": answers("02")})
    report = collect(source, desk, NONE)
    assert list(submitted(desk)) == [path("ada", "02_unfolding")]
    assert report.notes == ["ada/03_cell.ipynb is taken for 02_unfolding, whose cells it has, and not for 03_cell."]
    left_out = collect(source, desk, NONE, UNIT)
    assert left_out.notes[-1] == "ada/03_cell.ipynb was left out: it is of 02_unfolding, not of 03_cell."


def test_beside_the_folders_of_students_a_notebook_without_a_name_is_nobody_s(desk, folder):
    names = ("03_cell.ipynb", "ada/final.ipynb", "bob/final.ipynb")
    report = collect(folder({name: answers(UNIT, name) for name in names}), desk, NONE)
    assert list(submitted(desk)) == [path("ada"), path("bob")]
    assert report.notes == ["03_cell.ipynb was left out: whose it is, cannot be told: name it STUDENT/03_cell.ipynb."]


def test_notebooks_of_several_students_in_one_folder_are_nobody_s_without_a_class_list(desk, folder):
    source = folder({"downloads/ada.ipynb": answers(UNIT), "downloads/bob.ipynb": answers(UNIT, "y")})
    report = collect(source, desk, NONE)
    assert report.taken == []
    assert all("whose it is, cannot be told" in note for note in report.notes)
    listed(desk, "id\nada\nbob\n")
    assert len(collect(source, desk, NONE).taken) == 2
