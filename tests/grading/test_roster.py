"""Class lists: the desk's own and those that platforms export, however messy the file, and who is who on the desk."""

import csv
import io
import string
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rnngrade.core.desk import is_name
from rnngrade.core.errors import DeskError
from rnngrade.roster.names import called
from rnngrade.roster.rules import read_rules
from rnngrade.roster.students import ClassList, Person, natural, read_roster

names = st.text(
    st.sampled_from(string.ascii_letters + "äöüßéñçØ木Ж'\"-=+@;,\t .“"), min_size=1, max_size=12
).map(lambda text: " ".join(text.split())).filter(bool)  # fmt: skip
encodings = st.sampled_from(["utf-8", "utf-8-sig", "utf-16"])
delimiters = st.sampled_from([",", ";", "\t"])
people = st.lists(st.tuples(names, names), min_size=1, max_size=8)


def saved(tmp_path_factory, header, rows, delimiter=",", encoding="utf-8", ending="\r\n"):
    """A table as a spreadsheet or a platform saves it."""
    text = io.StringIO()
    csv.writer(text, delimiter=delimiter, lineterminator=ending).writerows([header, *rows])
    path = tmp_path_factory.mktemp("list") / "roster.csv"
    path.write_bytes(text.getvalue().encode(encoding))
    return path


@given(people=people, delimiter=delimiters, encoding=encodings, ending=st.sampled_from(["\n", "\r\n"]))
def test_a_class_list_of_one_s_own_is_read_however_it_was_saved(tmp_path_factory, people, delimiter, encoding, ending):
    header = ["Nr", "last_name", "id", "first_name", "email", "Note"]
    rows = [[i, last, f"s{i}", first, f"s{i}@example.org", "=1+1"] for i, (first, last) in enumerate(people)]
    rows.insert(1, [""] * len(header))
    found = read_roster(saved(tmp_path_factory, header, rows, delimiter, encoding, ending))
    assert [(p.id, p.first_name, p.last_name) for p in found.values()] == [
        (f"s{i}", first, last) for i, (first, last) in enumerate(people)
    ]


@given(people=people, delimiter=st.sampled_from([",", ";"]), encoding=encodings, split=st.booleans())
def test_canvas_s_gradebook_is_a_class_list(tmp_path_factory, people, delimiter, encoding, split):
    people = [(first.replace(",", ""), last.replace(",", "")) for first, last in people]
    heads = ["LastName", "FirstName"] if split else ["Student"]
    header = [*heads, "ID", "SIS User ID", "SIS Login ID", "Section", "Unit 03 (4711)", "Current Score"]

    def row(first, last, *rest):
        return [*([last, first] if split else [f"{last}, {first}"]), *rest]

    blank = ["", *[""] * (len(heads) - 1), "", "", "", ""]
    rows = [
        [*blank, "Manual Posting", ""],
        ["    Points Possible", *blank[1:], "21", "(read only)"],
        *(row(a, b, 900 + i, f"sis{i}", f"login{i}", "A and B", "7", "80") for i, (a, b) in enumerate(people)),
        row("Test", "Student", 999, "", "0a1b", "A", "", ""),
    ]
    found = read_roster(saved(tmp_path_factory, header, rows, delimiter, encoding))
    students = [p for p in found.values() if p.canvas_id != "999"]
    assert len(students) == len(people)
    assert split or "0a1b" not in found, "the test student is nobody's"
    for i, (person, (first, last)) in enumerate(zip(students, people, strict=True)):
        assert (person.id, person.sis_id, person.canvas_id, person.section) == (
            f"login{i}", f"sis{i}", str(900 + i), "A and B")  # fmt: skip
        assert (person.first_name, person.last_name) == (first.strip(), last.strip())
        assert ClassList(found).of(f"whatever_{900 + i}") == person, "as Canvas calls the file"


@given(people=people, delimiter=delimiters, encoding=encodings, split=st.booleans())
def test_gradescope_s_roster_is_a_class_list_of_its_students(tmp_path_factory, people, delimiter, encoding, split):
    header = [*(["First Name", "Last Name"] if split else ["Name"]), "SID", "Email", "Role", "Section"]
    rows = [
        [*([a, b] if split else [f"{a} {b}"]), f"s{i}", f"s{i}@x.org", "Student", "1"]
        for i, (a, b) in enumerate(people)
    ]
    rows.append([*(["T", "A"] if split else ["T A"]), "t", "t@x.org", "TA", ""])
    found = read_roster(saved(tmp_path_factory, header, rows, delimiter, encoding))
    assert [(p.id, p.sis_id) for p in found.values()] == [(f"s{i}@x.org", f"s{i}") for i in range(len(people))]
    for person, (first, last) in zip(found.values(), people, strict=True):
        assert person.full_name == f"{first} {last}"


@given(people=people, encoding=encodings, split=st.booleans(), has_login=st.booleans())
def test_moodle_s_participants_are_a_class_list(tmp_path_factory, people, encoding, split, has_login):
    header = [*(["First name", "Last name"] if split else ["Full name"]), "Email address", "Groups"]
    rows = [[*([a, b] if split else [f"{a} {b}"]), f"s{i}@x.org", "G"] for i, (a, b) in enumerate(people)]
    if has_login:
        header, rows = [*header, "Username"], [[*row, f"user{i}"] for i, row in enumerate(rows)]
    found = read_roster(saved(tmp_path_factory, header, rows, ",", encoding))
    ids = [f"user{i}" if has_login else f"s{i}@x.org" for i in range(len(people))]
    assert list(found) == ids
    listed = ClassList(found)
    for i, (first, last) in enumerate(people):
        full = f"{first} {last}".casefold()
        alike = [1 for a, b in people if f"{a} {b}".casefold() == full]
        assert listed.of(f"s{i}@x.org") == found[ids[i]]
        if len(alike) == 1:
            assert listed.of(f" {first}  {last} ") == found[ids[i]], "as Moodle calls the folder"
        else:
            assert listed.of(f"{first} {last}") is None, "whom two are called by, nobody is"


def test_what_was_saved_by_windows_as_csv_is_read_and_needs_no_more_than_ids(tmp_path):
    (tmp_path / "list.csv").write_bytes("id;last_name\nada\n\nzoe;Müßig;y\n".encode("cp1252"))
    assert {id: one.last_name for id, one in read_roster(tmp_path / "list.csv").items()} == {"ada": "", "zoe": "Müßig"}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("Vorname;Nachname\nA;B\n", "to name a column id, or be that of an export .*'Vorname', 'Nachname'"),
        ("name\nada\n", "has to name a column id"),
        ("", "has to name a column id"),
        ("id\n\x81\n", "cannot be read: it is no text; save it as CSV"),
        ("PK\x03\x04\0", "cannot be read: it is no text"),
        ("id\nada\n\nada\n", "line 4: 'ada' is on the list already"),
        ("Student,ID,SIS Login ID\nA,1,x\nB,2,x\n", "line 3: 'x' is on the list already"),
        ("Student,ID,SIS Login ID\nA,1,x\nB,1,y\n", "line 3: 'x' has Canvas's number 1 already"),
    ],
)
def test_a_class_list_that_cannot_be_one_is_one_sentence(tmp_path, text, said):
    (tmp_path / "list.csv").write_bytes(text.encode("latin-1"))
    with pytest.raises(DeskError, match=said):
        read_roster(tmp_path / "list.csv")


@given(st.binary(max_size=300))
def test_any_file_is_a_class_list_or_told_in_a_sentence(tmp_path_factory, data):
    path = tmp_path_factory.mktemp("list") / "roster.csv"
    path.write_bytes(data)
    try:
        found = read_roster(path)
    except DeskError as error:
        said = str(error)
    else:
        said = "read" if all(person.id == id for id, person in found.items()) else ""
    assert said


@given(st.text(max_size=30))
def test_a_platform_s_name_becomes_a_folder_s_or_nothing(tmp_path_factory, text):
    path = saved(tmp_path_factory, ["Name", "Email"], [["A B", text.replace("\0", "")]], encoding="utf-8-sig")
    for id in read_roster(path):
        assert is_name(id)


def test_who_is_missing_and_who_is_not_on_the_list():
    listed = ClassList({p.id: p for p in (Person("ada", "Ada", "King"), Person("zoe", "Zoë", "Ü", canvas_id="7"))})
    assert listed.unknown(["Ada King", "zoeu_7", "eve"]) == ["eve"]
    assert [p.id for p in listed.absent([unicodedata.normalize("NFD", "Zoë Ü"), "eve"])] == ["ada"]
    nobody = ClassList()
    assert (nobody.unknown(["eve"]), nobody.absent(["eve"])) == ([], [])


HOMONYMS = """timezone = "UTC"
[due]
03 = 2026-11-20
[extensions."Maria Garcia"]
03 = "3 days"
[extensions."Ada Kin"]
03 = "3 days"
"""


def test_a_name_that_two_have_names_neither_and_one_that_nobody_has_is_told_with_the_likeliest():
    maria = [Person(id, "Maria", "Garcia", canvas_id=id[1:]) for id in ("m1", "m2")]
    listed = ClassList({person.id: person for person in (*maria, Person("ada", "Ada", "King"))})
    there = ["m1", "garciamaria_2", "ada"]
    rules = read_rules(HOMONYMS)
    assert {rules.due_for("03_cell", listed.names_of(student)) for student in there} == {rules.due["03_cell"]}
    assert rules.unmatched(iter(there[::2]), listed) == [
        "desk.toml, line 4: 2 in the class are called 'Maria Garcia': say m1 or m2.",
        "desk.toml, line 6: nobody in the class is called 'Ada Kin'; there is ada or m1 or m2.",
    ]
    assert [called(name, there, listed, "") for name in ("m2", "ada king", "M1")] == ["garciamaria_2", "ada", "m1"]
    for name, said in (("Maria Garcia", "say m1 or garciamaria_2"), ("Marie Garcia", "there is m1 or")):
        with pytest.raises(DeskError, match=said):
            called(name, there, listed, "who handed in")


@given(st.lists(st.text(max_size=8), max_size=8))
def test_names_sort_as_people_sort_them(texts):
    assert len(sorted(texts, key=natural)) == len(texts), "any two can be compared"
    assert sorted(["s10", "Zoe", "s9", "ärger", "bob"], key=natural) == ["ärger", "bob", "s9", "s10", "Zoe"]


@pytest.mark.parametrize("text", ['id,name\nada,"Ada\nalan,Alan\n', 'id,name\nada,"Ada\nalan,Alan\nemmy,"Emmy"\n'])
def test_a_stray_quotation_mark_is_told_with_its_line(tmp_path, text):
    (tmp_path / "roster.csv").write_text(text)
    with pytest.raises(DeskError, match="line 2: a quotation mark"):
        read_roster(tmp_path / "roster.csv")
