"""The class list, `roster.csv`: who is in the class, by which names the desk and the platforms know them.

It has the columns that grading/README.md names, of which only `id` must be there, or is what a platform exports:

    Canvas       Grades, Export (`csv_data` in lib/gradebook_exporter.rb of canvas-lms, at commit 0140a2ef). The id is
                 the login, or Canvas's number; the rows above the students and that of the test student are nobody's.
    Moodle       Participants, and the grading worksheet (mod/assign/gradingtable.php), on a site in English. The id is
                 the username, or the address.
    Gradescope   Roster (guides.gradescope.com, "Adding Students and Staff"). The id is the address; who has a role
                 other than Student is nobody's.

Whose work it is, is told by what was settled before (`names.py`), by id, by Canvas's number, by address or number, or
by a full name that only one has, however it is written: "O'Hara, Zoë" is "zoë ohara".
"""

import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from rnngrade.core.desk import Desk, is_name
from rnngrade.core.errors import DeskError
from rnngrade.core.tables import Row, read_table

One = TypeVar("One")
ADDRESS = re.compile(r"[^\s@]+@[^\s@]+")
_CANVAS_ID = re.compile(r"[^\W_]+_(\d+)\Z")  # how a submission from Canvas is named by collect.py


@dataclass(frozen=True)
class Person:
    """Someone on the class list; what is not known is empty."""

    id: str
    first_name: str = ""
    last_name: str = ""
    email: str = ""
    sis_id: str = ""
    canvas_id: str = ""
    section: str = ""

    @property
    def sortable_name(self) -> str:
        """Last name, first name, as Canvas has it; or the id."""
        return ", ".join(name for name in (self.last_name, self.first_name) if name) or self.id

    @property
    def full_name(self) -> str:
        return f"{self.first_name} {self.last_name}".strip() or self.id

    @property
    def names(self) -> tuple[str, str]:
        """The full name in both orders, if there is one."""
        return f"{self.first_name} {self.last_name}".strip(), f"{self.last_name} {self.first_name}".strip()


@dataclass
class ClassList:
    """Who is in the class, and whose the names are that were settled (`names.py`), folded. Without a list it is empty,
    and says nothing of anybody.
    """

    people: dict[str, Person] = field(default_factory=dict)
    settled: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        people = self.people.values()
        self._by = (  # an id counts more than an address
            unique((folded(person.sis_id), person) for person in people)
            | unique((folded(person.email), person) for person in people)
            | unique((f"canvas {person.canvas_id}", person) for person in people if person.canvas_id)
            | unique((folded(person.id), person) for person in people)
        )
        # by full name, as it is written, and else as it is squeezed
        self._called = unique((folded(person.names[0]), person) for person in people)
        self._squeezed = unique((compact(name), person) for person in people for name in person.names)

    def __bool__(self) -> bool:
        return bool(self.people)

    def of(self, student: str) -> Person | None:
        """Who on the list a student of the desk is; None if nobody, or if it cannot be told."""
        return self.people.get(self.id_of(student, f"canvas {canvas_id_of(student)}") or "")

    def id_of(self, *names: str, full: Sequence[str] = ()) -> str | None:
        """The id that the first of these names belongs to that anything is known of; None if it is nobody's. Who has
        another address, or another number in Canvas, is somebody else, whatever they are called. `full` are full names,
        and no ids.
        """
        for name in (*names, *full):
            if settled := self.settled.get(folded(name)):
                return settled
            person = (self._by.get(folded(name)) if name in names else None) or self.called(name)
            if person is not None and _may_be(person, names):
                return person.id
        return None

    def called(self, name: str) -> Person | None:
        return self._called.get(folded(name)) if folded(name) in self._called else self._squeezed.get(compact(name))

    def names_of(self, student: str) -> frozenset[str]:
        """All names by which a student of the desk may be written, folded: the full name, if nobody else has it."""
        person = self.of(student) or Person(student)
        full = person.full_name if self.called(person.full_name) == person else ""
        return frozenset(folded(name) for name in (student, person.id, person.email, person.sis_id, full) if name)

    def all_called(self, name: str, students: Iterable[str]) -> list[str]:
        """Those of `students` who have this name, however it is spelt; if nobody has, those in whose it is."""
        known = [(student, self.person(student)) for student in students]
        parts = {plain(part) for part in name.split()}
        return [
            student
            for student, person in known
            if plain(name) in map(plain, (student, person.id, person.email, person.sis_id, *person.names))
        ] or [student for student, person in known if parts and parts <= {*map(plain, person.full_name.split())}]

    def shown(self, person: Person, *, by_last_name: bool = False) -> str:
        """A name to show: of two students of one name, with the id."""
        name = person.sortable_name if by_last_name else person.full_name
        is_one = self.called(person.full_name) == person or person.id not in self.people
        return name if is_one or name == person.id else f"{name} ({person.id})"

    def person(self, student: str) -> Person:
        """The same, with what can be said of who is not on the list."""
        return self.of(student) or Person(student, canvas_id=canvas_id_of(student))

    def unknown(self, students: Iterable[str]) -> list[str]:
        """Those of `students` who are not on the list, sorted; without a list, nobody is unknown."""
        return sorted(student for student in students if self and self.of(student) is None)

    def absent(self, students: Iterable[str]) -> list[Person]:
        """Who on the list is none of `students`, by name."""
        there = {person.id for student in students if (person := self.of(student))}
        return sorted((p for p in self.people.values() if p.id not in there), key=by_name)


def unique(known: Iterable[tuple[str, One]]) -> dict[str, One | None]:
    """Who is called so, by name: what two are called by, nobody is."""
    found: dict[str, set[One]] = {}
    for name, one in known:
        if name:
            found.setdefault(name, set()).add(one)
    return {name: those.pop() if len(those) == 1 else None for name, those in found.items()}


def _may_be(person: Person, names: Iterable[str]) -> bool:
    """Whether no address among the names, and no number of Canvas's, is another's."""
    addresses = {folded(name) for name in names if ADDRESS.fullmatch(name)}
    numbers = {name for name in names if name.startswith("canvas ") and name != "canvas "}
    has_address = not addresses or not person.email or {folded(person.email), folded(person.id)} & addresses
    return bool(has_address) and (not numbers or not person.canvas_id or f"canvas {person.canvas_id}" in numbers)


def by_name(person: Person) -> tuple[str, str]:
    return person.sortable_name.casefold(), person.id


def natural(text: str) -> list[tuple[int, int, str]]:
    """Sorts names as people do: whatever their case, and numbers by their size.

    >>> sorted(["ada10", "Bob", "ada9", "Ähm", "zoe"], key=natural)
    ['ada9', 'ada10', 'Ähm', 'Bob', 'zoe']
    """
    parts = re.split(r"([0-9]+)", bare(text.casefold()))
    return [(0, int(part), "") if part.isdecimal() else (1, 0, part) for part in parts]


def canvas_id_of(student: str) -> str:
    """Canvas's number of a student whose work was collected from Canvas, or nothing."""
    found = _CANVAS_ID.match(student)
    return found[1] if found else ""


def class_list(desk: Desk) -> ClassList:
    """The desk's class list; empty if there is none. **Errors:** `DeskError`."""
    path = desk.given("roster.csv")
    people = read_roster(path) if path.exists() else {}
    if path.exists() and not people:
        raise DeskError(f"{path} has nobody below its first line: export it again, or take it away.")
    if wrong := [id for id in people if not is_name(id)]:
        raise DeskError(f"{path}: {wrong[0]!r} cannot be the name of a student's folder.")
    settled = read_settled(desk)
    return ClassList(people, {name: id for name, id in settled.items() if not people or id in people})


SETTLED = "names.csv"


def read_settled(desk: Desk) -> dict[str, str]:
    """Whose names were settled in this desk, folded. **Errors:** `DeskError`."""
    path, found = desk.given(SETTLED), dict[str, str]()
    if not path.exists():
        return found
    table = read_table(path)
    if table.columns[:2] != ["name", "id"]:
        raise DeskError(f"{path} has to begin with the line name,id; below it stand names and whose they are.")
    for row in table.rows:
        if not is_name(row["id"]):
            raise DeskError(f"{path}, line {row.line}: {row['id']!r} cannot be the name of a student's folder.")
        if found.setdefault(folded(row["name"]), row["id"]) != row["id"]:
            raise DeskError(f"{path}, line {row.line}: {row['name']!r} is {found[folded(row['name'])]}'s already.")
    return found


def read_roster(path: Path) -> dict[str, Person]:
    """A class list, by id. **Errors:** `DeskError` if it is none."""
    try:
        table = read_table(path)
    except DeskError as error:
        raise DeskError(f"The class list {error}") from None
    there = told(dict.fromkeys(table.columns, "1"))
    is_own, of_canvas = "id" in table.columns, "ID" in table.columns and there["canvas_id"]
    has_names = there["name"] or (there["first_name"] and there["last_name"])
    if not (is_own or of_canvas or (has_names and (there["id"] or there["email"]))):
        raise DeskError(
            f"{path} is no class list: its first line has to name a column id, or be that of an export of Canvas, "
            f"Moodle (in English) or Gradescope. Its columns are {table.shown or 'none'}."
        )
    people: dict[str, Person] = {}
    numbers: dict[str, str] = {}
    for row in table.rows:
        person, is_student = _person(row, is_own), is_own or row["Role"].casefold() in ("", "student")
        is_nobody = of_canvas and not person.canvas_id  # "Points Possible"
        if not is_student or is_nobody or row["Student"] == "Student, Test" or not person.id:
            continue
        if person.id in people:
            raise DeskError(f"{path}, line {row.line}: {person.id!r} is on the list already.")
        if person.canvas_id and (other := numbers.setdefault(person.canvas_id, person.id)) != person.id:
            raise DeskError(f"{path}, line {row.line}: {other!r} has Canvas's number {person.canvas_id} already.")
        people[person.id] = person
    return people


def _person(row: Row, is_own: bool) -> Person:
    """Who stands in a row, in a table of one's own or in an export."""
    said = told(row.cells)
    known = {kind: next(iter(said[kind]), "") for kind in Person.__dataclass_fields__}
    if not is_own:
        ids = (*said["id"], *said["email"], *said["canvas_id"], *said["sis_id"])
        known["id"] = next(filter(None, map(safe, ids)), "")
    if not (known["first_name"] or known["last_name"]):  # names are compared as one
        first, _, last = next(iter(said["name"]), "").partition(" ")
        if row["Student"]:  # "King, Jr., Martin Luther"
            last, _, first = map(str.strip, row["Student"].rpartition(","))
        known |= {"first_name": first, "last_name": last}
    known["email"] = known["email"] or next(filter(ADDRESS.fullmatch, said["id"]), "")
    return Person(**known)


# What columns say of somebody, in tables of one's own and in those of platforms; the first that says something counts.
COLUMNS = {
    "id": ("id", "SIS Login ID", "Username", "login_id"),
    "email": ("email", "Email address", "Email"),
    "canvas_id": ("canvas_id", "user_id"),
    "sis_id": ("sis_id", "SIS User ID", "sis_user_id", "ID number", "SID", "identifier"),
    "first_name": ("first_name", "First name", "First Name", "FirstName"),
    "last_name": ("last_name", "Last name", "Last Name", "LastName"),
    "name": ("Full name", "Full Name", "Name", "name", "Student"),
    "section": ("section", "Section", "Groups", "Sections", "section_name"),
    "anon": ("anonymous_id",),
    "github": ("github_username",),
    "gradescope": ("submission", "Submission ID"),
}


def told(cells: Mapping[str, str]) -> dict[str, list[str]]:
    """All that a row, by column, says of somebody."""
    found = {kind: [cells[name] for name in names if cells.get(name)] for kind, names in COLUMNS.items()}
    if cells.get("ID", "").isdecimal() and ("Student" in cells or {"LastName", "FirstName"} <= cells.keys()):
        found["canvas_id"].append(cells["ID"])  # in Canvas's gradebook
    return found


def safe(text: str) -> str:
    """A platform's name of somebody as the name of a folder; nothing, if it can be none.

    >>> safe("ada@example.org"), safe("o'hara@example.org"), safe("../x"), safe("☃")
    ('ada@example.org', 'ohara@example.org', 'x', '')
    """
    name = spaced(text)
    name = name if is_name(name) else re.sub(r"[^\w@.+ -]", "", name).strip(" .-")
    return name if is_name(name) else ""


def compact(name: str) -> str:
    """A full name as platforms squeeze it into the name of a file: letters and digits, and nothing between them.

    >>> compact("Zoë O'Hara-Król"), compact("OHara, Zoë")
    ('zoëoharakról', 'oharazoë')
    """
    return re.sub(r"[\W_]+", "", folded(name))


def plain(name: str) -> str:
    """A name as it is typed in a hurry.

    >>> plain("Siobhán O’Neill"), plain("Nguyễn")
    ('siobhanoneill', 'nguyen')
    """
    return bare(compact(name))


def bare(text: str) -> str:
    return "".join(sign for sign in unicodedata.normalize("NFKD", text) if not unicodedata.combining(sign))


def folded(name: str) -> str:
    """A name as names are compared: whatever their case, and however their accents are written."""
    return unicodedata.normalize("NFC", spaced(name).casefold())


def spaced(name: str) -> str:
    """A name with its accents written in one way, and single spaces."""
    return " ".join(unicodedata.normalize("NFC", name).split())
