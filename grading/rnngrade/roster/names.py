"""Who is who: what a platform calls somebody, and whose that name is.

A platform's own number or login is a key: "canvas 901", "participant 17" (Moodle's, in one assignment), "anon k3jS9"
(Canvas's, in one assignment that is graded anonymously), "gradescope 301234567" (one submission), "github adalove".
All else is a name: an id, an address, the university's number, a full name. What stands in a table of names, `collect
--names TABLE`, is settled for good, in the desk's `names.csv`, in which anybody may write a line, `participant 17,ada`.

A table of names, or of times, or one that is to be filled, is what a platform exports. Of Moodle's grading worksheet
only "Participant 17" in the first column is sure (mod/assign/gradingtable.php), for the rest is in the site's language:
so addresses and full names are known by what they look like.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from difflib import SequenceMatcher
from pathlib import Path
from typing import Any

import msgspec
import yaml  # type: ignore[import-untyped]

from rnngrade.core.desk import Desk, is_name
from rnngrade.core.errors import DeskError
from rnngrade.core.record import write_whole
from rnngrade.core.tables import Table, read_table, table_of
from rnngrade.roster.students import (
    ADDRESS,
    COLUMNS,
    SETTLED,
    ClassList,
    Person,
    canvas_id_of,
    class_list,
    compact,
    folded,
    safe,
    told,
    unique,
)

KEYS = {"canvas_id": "canvas", "anon": "anon", "github": "github", "gradescope": "gradescope"}  # of what COLUMNS has
_KNOWN = {column for columns in COLUMNS.values() for column in columns}
_PARTICIPANT = re.compile(r"[^\W\d].*?(\d+)\Z")  # "Participant 17", in whatever language
_LOOKS_LIKE_A_NAME = re.compile(r"[^\W\d_].{0,60}\s.{0,60}[^\W\d_]")
MOST_METADATA = 64 * 2**20  # bytes of a submission_metadata.yml


@dataclass(frozen=True)
class Said:
    """What is said of somebody: keys, which are theirs alone, other names, and full names."""

    keys: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    full: tuple[str, ...] = ()

    @property
    def all(self) -> tuple[str, ...]:
        """All of them, what counts most first."""
        return (*self.keys, *self.names, *self.full)

    def id(self, people: ClassList) -> str | None:
        """Whose it is, by what was settled and the class list."""
        return people.id_of(*self.keys, *self.names, full=self.full)


def said_in(row: Mapping[str, str]) -> Said:
    """What a row of a platform's table says of somebody."""
    found, first = told(row), next(iter(row), "")
    keys = [f"{key} {value}" for kind, key in KEYS.items() for value in found[kind]]
    if first not in _KNOWN and (numbered := _PARTICIPANT.match(row.get(first, ""))):
        keys.append(f"participant {numbered[1]}")
    others = [cell for column, cell in row.items() if column not in _KNOWN]
    names = (*found["id"], *found["email"], *found["sis_id"], *filter(ADDRESS.fullmatch, others))
    full = (*found["name"], *map(" ".join, zip(found["first_name"], found["last_name"])))
    full = (*full, *filter(_LOOKS_LIKE_A_NAME.match, others))
    return Said(tuple(keys), tuple(dict.fromkeys(names)), tuple(dict.fromkeys(full)))


def read_any(path: Path) -> Table:
    """A platform's table, whatever it is written in. **Errors:** `DeskError`."""
    kind = path.suffix.casefold()
    if kind in (".yml", ".yaml"):
        return table_of(str(path), gradescope_rows(path.read_bytes(), str(path)))
    if kind != ".json":
        return read_table(path)
    try:
        found = json.loads(path.read_text(encoding="utf-8-sig"))
        if not all(one.keys() & {"user_id", "anonymous_id"} for one in found):
            raise ValueError
    except (OSError, ValueError, TypeError, AttributeError):
        raise DeskError(f"{path} is no list of Canvas's submissions: each has user_id and submitted_at.") from None
    return table_of(str(path), map(canvas_row, found))


class _Submission(msgspec.Struct):
    submitters: list[dict[str, Any]] = msgspec.field(name=":submitters")
    created_at: str = msgspec.field(name=":created_at", default="")


def gradescope_rows(data: bytes, path: str) -> Iterator[dict[str, str]]:
    """A row for each submitter of each submission in a submission_metadata.yml. **Errors:** `DeskError`."""
    loader = getattr(yaml, "CBaseLoader", yaml.BaseLoader)  # all values are texts, as they are written
    try:
        if len(data) > MOST_METADATA:
            raise ValueError(f"larger than {MOST_METADATA // 2**20} MB")
        found = msgspec.convert(yaml.load(data, loader), dict[str, _Submission])
    except (yaml.YAMLError, ValueError, TypeError, RecursionError) as error:
        said = str(error).partition("\n")[0]
        raise DeskError(f"{path} is no submission_metadata.yml of Gradescope's ({said}).") from None
    for folder, one in found.items():
        for who in one.submitters:
            about = {name: str(who.get(f":{name.lower()}") or "") for name in ("Name", "SID", "Email")}
            yield {"submission": folder.removeprefix("submission_"), **about, "Submission Time": one.created_at}


def canvas_row(submission: Mapping[str, Any]) -> dict[str, str]:
    """What one of Canvas's Submission objects says."""
    user = submission.get("user")
    given = {**(user if isinstance(user, dict) else {}), **submission}
    wanted = ("user_id", "anonymous_id", "login_id", "sis_user_id", "email", "name", "submitted_at")
    return {name: str(given[name]) for name in wanted if given.get(name) not in (None, "")}


# --- what was settled


def settle(desk: Desk, table: Table) -> Iterator[str]:
    """Write down whose the keys of a table are; yields a sentence on each row that is nobody's on the class list.

    Without a class list, somebody is called by their login or address. **Errors:** `DeskError`.
    """
    people = class_list(desk)
    new: dict[str, str] = {}
    rows = [(row.line, said) for row in table.rows if (said := said_in(row.cells)).keys]
    if not rows:
        words = f"says of nobody by which number or login the platform knows them; it has {table.shown}"
        raise DeskError(f"{table.name} {words}.")
    for line, said in rows:
        names = (*filter(ADDRESS.fullmatch, said.names), *said.names, *said.full)
        id = said.id(people) or ("" if people or not names else safe(names[0]))
        if not id:
            yield f"{table.name}, line {line}: {' or '.join(said.all[:3])} is nobody on the class list."
        for key in said.keys:
            if id and folded(key) not in people.settled:
                new[key] = id if new.get(key, id) == id else ""  # what two handed in together is nobody's alone
    if lines := [line_for(key, id) for key, id in new.items() if id]:
        settled = desk.given(SETTLED)
        before = settled.read_text(encoding="utf-8-sig").splitlines() if settled.exists() else ["name,id"]
        write_whole(settled, "\n".join([*before, *lines, ""]))


def line_for(name: str, id: str) -> str:
    return f"""{f'"{name}"' if "," in name else name},{id}"""


def called(name: str, students: Iterable[str], people: ClassList, where: str) -> str:
    """The one of these students of the desk who is called so. **Errors:** `DeskError`, with who may be meant."""
    found = people.all_called(name, students := list(students))
    if len(found) != 1:
        words = none_called(name, students, people, where)
        raise DeskError(words[0].upper() + words[1:])
    return found[0]


def none_called(name: str, students: list[str], people: ClassList, where: str) -> str:
    """Why it is none of these students who is called so, in a sentence with those who may be meant."""
    if len(found := people.all_called(name, students)) > 1:
        return f"{len(found)} {where.replace('who is', 'who are')} are called {name!r}: say {' or '.join(found)}."
    near = found or likeliest([name], map(people.person, students))
    return f"nobody {where} is called {name!r}" + (f"; there is {' or '.join(near)}." if near else ".")


def likeliest(names: Iterable[str], people: Iterable[Person], most: int = 3) -> list[str]:
    """The ids of those whose names are most like one of these."""
    given, likeness = [compact(name) for name in names], {}
    for person in people:
        theirs = {compact(name) for name in (*person.names, person.id, person.email.partition("@")[0])} - {""}
        likeness[person.id] = max(SequenceMatcher(None, a, b).ratio() for a in given for b in theirs or {""})
    return [id for id in sorted(likeness, key=lambda id: (-likeness[id], id))[:most] if likeness[id] > 0.3]


# --- who handed in


class Students:
    """Students of the desk, by all that a platform may call them; what two are called by, nobody is."""

    def __init__(self, students: Iterable[str], people: ClassList, keys: Mapping[str, str]) -> None:
        self._people, self._keys = people, keys
        own = {one: keys.get(one, "") for one in students}
        ids = {one: people.id_of(one, f"canvas {canvas_id_of(one)}", key) or one for one, key in own.items()}
        names = {one: (f"id {ids[one]}", f"name {compact(one)}", folded(key)) for one, key in own.items()}
        self._by = unique((name, one) for one, theirs in names.items() for name in theirs)

    def find(self, said: Said) -> str | None:
        """The student of whom it is said; None if it is nobody, or cannot be told, or if it is said of another
        assignment: Moodle numbers its participants anew in each.
        """
        id = said.id(self._people)
        tries = [*map(folded, said.keys), *(f"id {one}" for one in ([id] if id else said.names))]
        tries += [f"name {compact(one)}" for one in said.full if not id]
        student = next(filter(None, map(self._by.get, tries)), None)
        said_to_be = {key for key in said.keys if number_in(key, "participant")}
        own = self._keys.get(student or "", "")
        return None if said_to_be and number_in(own, "participant") and own not in said_to_be else student


def keys_of(desk: Desk, unit: str) -> dict[str, str]:
    """By which key each student's work on the unit was collected."""
    return {student: key for student, (key, _) in collected(desk, unit).items()}


def collected(desk: Desk, unit: str) -> dict[str, tuple[str, str]]:
    """The same, with what came if it was no notebook of the unit."""
    marks = (path for path in sorted((desk.collected / unit).glob("*")) if path.is_file() and is_name(path.name))
    texts = {path.name: path.read_text(encoding="utf-8", errors="replace").strip() for path in marks}
    return {student: (text.partition("\n")[0], text.partition("\n")[2]) for student, text in texts.items()}


def number_in(key: str, kind: str) -> str:
    """The number or login of a key of that kind, or nothing.

    >>> number_in("participant 17", "participant"), number_in("canvas 901", "participant")
    ('17', '')
    """
    return key.removeprefix(f"{kind} ") if key.startswith(f"{kind} ") else ""
