"""Whose a file of a source is, of which unit, and when it was handed in.

Whose it is, the outermost name says, which a platform or the instructor made (`platforms.py`). What lies within a
student's own folder or zip is that student's, whatever it is called. Of which unit it is, the names of the cells in it
say (nbgrader's `grade_id`, which are those of the exercises), whatever the file is called; its name, if there are none.
"""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path, PurePosixPath

from rnncourse import exercises
from rnngrade.core.desk import Desk
from rnngrade.core.errors import some
from rnngrade.roster.names import collected, keys_of, likeliest, line_for, number_in
from rnngrade.roster.platforms import ABOVE, PLATFORMS, Download, Who, is_of_a_platform, told
from rnngrade.roster.sources import File, LeftOut, Notes, folders, shown, wanted
from rnngrade.roster.students import SETTLED, ClassList, Person, folded, safe, spaced
from rnngrade.roster.times import in_utc, time_in

_GRADE_ID = re.compile(rb'"grade_id"\s*:\s*"(\w{1,60})"')
_COPY = re.compile(r"(?:\s*\(|-)(\d+)\)?$")  # "03_cell (2)", "03_cell-1"
_NOBODY = re.compile(r"(?:\d+|copy|final|submission|v\d+)", re.IGNORECASE)  # what stands beside a unit in a file's name


@dataclass(frozen=True)
class Found:
    """A notebook, whose it is, by which name in the source, and which version."""

    student: str
    origin: str
    unit: str
    version: tuple[bool, int, float, str]  # sorts the latest last; what is no notebook comes before all that are
    path: str
    timestamp: str
    says_late: str = ""  # the platform that calls it late
    data: Path = Path()  # where it waits


class Names:
    """The names by which students are known: the class list's, those of `submitted/`, and new ones."""

    def __init__(self, desk: Desk, people: ClassList, notes: Notes) -> None:
        self._desk, self.people, self.notes = desk, people, notes
        there = [path.name for path in desk.submitted.iterdir() if path.is_dir()] if desk.submitted.is_dir() else []
        self._known = {folded(name): name for name in [*there, *people.people]}
        self._by_origin = cache(lambda unit: {key: student for student, key in keys_of(desk, unit).items()})
        self.unknown: dict[str, Who] = {}  # who is not on the class list, by what they are called

    def is_listed(self, text: str) -> bool:
        """Whether it is an id of the class list."""
        return folded(text) in map(folded, self.people.people)

    def student(self, who: Who, unit: str, path: str) -> str:
        """A student: by what was settled and the class list, else as before. **Errors:** `LeftOut`, if they can be
        none.
        """
        found = self.people.id_of(*who.keys)
        if who.keys and not found:
            found = self._by_origin(unit).get(mark_of(who.origin))
            if found and who.full and is_numbered(found, who.keys[0]):
                words = "is known by that number, though a name is shown here, until you collect with --names TABLE"
                self.notes.append(f"{found} {words}.")
        if found := found or who.id(self.people):
            return found
        if who.keys and self.is_listed(who.called):
            raise LeftOut(
                f"on the class list, {shown(who.called)} is the id of somebody who has another name. If it is theirs, "
                f"write the line '{line_for(who.keys[0], who.called)}' into {SETTLED}"
            )
        name = self._plain(who.called, path)
        if not (who.names or who.full):
            words = "is known by a number alone, for two are called alike, or names are not shown. Who it is, a table"
            self.notes.append(f"{name} {words} with numbers and names says: collect with --names TABLE.")
        elif self.people:
            self.unknown[name] = who
        return name

    def _plain(self, text: str, path: str) -> str:
        """A student by the name of a folder or file."""
        if not (name := safe(text)):
            raise LeftOut(f"{shown(text)} cannot be a student's name")
        if name != spaced(text):
            self.notes.append(f"{shown(path)}: the student is called {name!r} here.")
        known = self._known.setdefault(folded(name), name)
        if known != name:
            self.notes.append(f"{shown(path)}: {name!r} was taken for {known!r}.")
        return known

    def not_listed(self) -> Iterator[str]:
        """Who was collected and is not on the class list, each with those whose names are likest, and the line that
        settles it.
        """
        if self.unknown:
            yield (
                f"Not on the class list, and kept apart: {len(self.unknown)}. If somebody is on it by another name, "
                f"write the line into {self._desk.given(SETTLED)} (its first line is name,id), and collect again:"
            )
        for name, who in self.unknown.items():
            first, *others = likeliest((who.called, *who.names, *who.full), self.people.people.values()) or ["ID"]
            also = f", or {', '.join(others)}" if others else ""
            yield f"  {shown(name)}: {shown(line_for(who.settled_by, first))}{also}"


def mark_of(origin: str) -> str:
    """Where something came from, as it is written down in `collected/`."""
    return folded(origin.partition("/")[0]).encode("utf-8", "backslashreplace").decode()


class Sorter:
    """Tells for each notebook whose it is, of which unit, and which version."""

    def __init__(
        self, unit: str | None, units: list[str], format: str, source: Path, entries: list[File], names: Names
    ) -> None:
        self._unit, self._units, self._names, self._notes = unit, units, names, names.notes
        self._patterns = {
            name: re.compile(
                rf"(?:(?P<before>.+?)[ _.-]+)?{name.replace('_', '[ _-]')}(?:[ _.(-]+(?P<after>.*?)\)?)?\Z",
                re.IGNORECASE,
            )
            for name in units
        }
        entries = [entry for entry in entries if not entry.odd]
        paths = [entry.path for entry in entries if wanted(entry.path)]
        # A zip that was made of a folder holds that folder, and all that is in it.
        self._around = "" if source.is_dir() else f"{source.stem}/"
        if not all(path.startswith(self._around) and len(self._people(path)) > 1 for path in paths):
            self._around = ""
        self._beside = Counter(path.rpartition("/")[0] for path in paths)  # how many lie in a folder
        self._is_unsure = format == "auto"
        self.downloads: set[str] = set()  # zips in a folder that look like a platform's own
        self._format = told(source, [*map(self._within, paths)]) if format == "auto" else format
        # a platform names who handed in no notebook as it names all others
        everything = [self._within(entry.path) for entry in entries]
        logins = {number_in(name, "github") for name in names.people.settled}
        maker = PLATFORMS.get(self._format)
        self._reader = maker(Download(source, entries, everything, logins)) if maker else None
        self.is_download = maker is not None and unit is None  # of what was handed in for one assignment

    def sort(self, file: File) -> Iterator[Found]:
        """Whose notebook a file is. **Errors:** `LeftOut`, if it cannot be told."""
        data = file.data or b""
        named, found = self._unit_in(file), unit_of_cells(data, self._units)
        unit = found or named or self._unit
        if unit is None:
            raise LeftOut("which unit it is, cannot be told: give the unit, or name the file after it")
        if named and found and named != found:
            self._notes.append(f"{shown(file.full)} is taken for {found}, whose cells it has, and not for {named}.")
        copy, readable = _COPY.search(PurePosixPath(file.path).stem), _is_notebook(data)
        number = int(copy[1][:9]) if copy else 0
        for student, who in self._whose(file, self._unit or unit):
            if not readable:
                self._notes.append(f"{shown(file.full)} is no notebook; it is kept all the same.")
            if who.late:
                self._notes.append(f"{shown(file.full)} was late, says Canvas.")
            when = self._when(who, file, unit)
            version = (readable, number, file.modified, file.full)
            yield Found(student, who.origin, unit, version, file.full, when, "Canvas" if who.late else "")

    def students_of(self, file: File, unit: str | None) -> list[tuple[str, str, str]]:
        """Who handed in a file that is no notebook: the student, where it came from, and the unit, as far as the names
        say it.
        """
        named = self._unit_in(file)
        unit = self._unit or named or unit
        if unit is None or unit != (named or unit):
            return []
        before = len(self._notes)
        found = [(student, who.origin, unit) for student, who in self._whose(file, unit)]
        del self._notes[before:]  # that it is no notebook was said
        return found

    def owner(self, path: str) -> str:
        """Whose a zip within the source is, as far as the path to it says: the same text for the same student."""
        path = self._within(path)
        if self._reader is None:
            return folded(self._owner(path, in_zip=True) or path)
        return next((who.origin for who in self._named(path)), path)

    def _whose(self, file: File, unit: str) -> Iterator[tuple[str, Who]]:
        """The students who handed in a file. Why it is nobody's, is noted."""
        with self._notes.leaving(file.full):
            found = self._of_folder(file, unit) if self._reader is None else self._named(self._outer(file))
            if self._reader and not found:
                raise LeftOut(f"its name is none of {self._format.title()}'s")
            for who in found:
                with self._notes.leaving(file.full):
                    yield self._names.student(who, unit, file.full), who

    def _named(self, path: str) -> list[Who]:
        """By the names that the platform made; nobody, if it makes no such name."""
        pattern, whose = self._reader or ("", lambda _: [])
        named = re.match(ABOVE + pattern, path)
        return whose(named) if named else []

    def _of_folder(self, file: File, unit: str) -> list[Who]:
        path = self._outer(file)
        people, is_one = self._people(path), f"STUDENT/{unit}.ipynb"
        if self._is_unsure and is_of_a_platform(path):
            raise LeftOut("it has a name like a platform's where not all have: say by --format what they are")
        if file.outer and "/" not in path and is_of_a_platform(file.path):
            if path not in self.downloads:
                self.downloads.add(path)
                self._notes.append(
                    f"{shown(path)} was left out: it looks like a platform's download: collect it by itself."
                )
            return []
        if people[1:] and not self._names.is_listed(people[0]):
            why = "whose it is, cannot be told: collect the folder with the students' folders in it, or name it"
            raise LeftOut(f"{why} {is_one}")
        has_cells = not file.outer and unit_of_cells(file.data or b"", self._units) is not None
        name = self._owner(path, in_zip=bool(file.outer), has_cells=has_cells)
        if name is None:
            raise LeftOut(f"whose it is, cannot be told: name it {is_one}")
        # A zip without a student's folder around it may be a whole class's, with a folder for each.
        inner = "/".join(["", *folders(file.path)]) if file.outer else ""
        return [Who(names=(name,), called=name, origin=f"folder {name}/" if people else f"folder {name}{inner}")]

    def _when(self, who: Who, file: File, unit: str) -> str:
        """When it came, by the platform, or by a timestamp.txt where nbgrader puts it; anywhere else, it is the
        student's own.
        """
        if (written := who.when.encode() or file.timestamp) is None:
            return ""
        why = "may be a student's: it was left out"
        of_nbgrader = PurePosixPath(self._outer(file)).parts[1:] == (unit, f"{unit}.ipynb")
        if who.when or (self._reader is None and of_nbgrader):
            with suppress(ValueError):
                return in_utc(time_in(written))
            why = "was left out: it holds no date"
        self._notes.append(f"The timestamp.txt beside {shown(file.full)} {why}.")
        return ""

    def _outer(self, file: File) -> str:
        """The path of a file as far as the platform, or the instructor, made it."""
        return self._within(file.outer or file.path)

    def _within(self, path: str) -> str:
        path = path.removeprefix(self._around)
        first, _, rest = path.partition("/")
        return rest if rest and first.casefold() in ("submitted", "submissions") else path

    def _unit_in(self, file: File) -> str | None:
        """The unit of a file, by its own name or the folders around it."""
        texts = [text for path in (file.path, file.outer) for text in (PurePosixPath(path).stem, *folders(path)[::-1])]
        return next((unit for text in texts if (unit := self._unit_of(text))), None)

    def _people(self, path: str) -> list[str]:
        """The folders of a path that are no unit's: the first is the student's."""
        return [folder for folder in folders(path) if not self._unit_of(folder)]

    def _unit_of(self, text: str) -> str | None:
        return next((name for name, pattern in self._patterns.items() if pattern.match(text)), None)

    def _owner(self, path: str, in_zip: bool, has_cells: bool = False) -> str | None:
        """The student's name in a path: the folder that is no unit's, or what stands beside the unit. Where a name says
        nothing, of a file that has a unit's cells: who is on the class list; else the folder, if each has one file.
        """
        stem, people = PurePosixPath(path).stem, self._people(path)
        unit = self._unit_of(stem)
        if unit is None and not people:
            return stem
        # A file that is named after something else may be named after its student, unless it is in a unit's folder.
        if people and (unit or in_zip or self._unit_of(folders(path)[-1])):
            return people[0]
        named = self._patterns[unit].match(stem) if unit else None
        beside = named.group("before", "after") if named else ()
        names = [text for text in beside if text and not _NOBODY.fullmatch(text)]
        if has_cells and not names:
            names = [name for name in (stem, *people) if self._names.is_listed(name)]
            with_files = [count for folder, count in self._beside.items() if folder]
            names += people[:1] if len(with_files) > 1 and set(with_files) == {1} else []
        return next(iter(names), None)


def _is_notebook(data: bytes) -> bool:
    """Whether it looks like one. It is not parsed here: what exactly is wrong with one, the intake says."""
    text = data.strip(b" \t\r\n\xef\xbb\xbf")
    return text[:1] == b"{" and text[-1:] == b"}" and (b'"cells"' in text or b'"worksheets"' in text)


def unit_of_cells(data: bytes, units: Collection[str]) -> str | None:
    """The one of these units that most of a notebook's answers are of. It is not parsed: it may be anything."""
    by_exercise = _units_of_exercises()
    found = Counter(unit for name in set(_GRADE_ID.findall(data)) if (unit := by_exercise.get(name.decode())) in units)
    (unit, number), *others = [*found.most_common(2), ("", 0)][:2]
    return unit if number > sum(count for _, count in others) else None


@cache
def _units_of_exercises() -> dict[str, str]:
    """The unit of each exercise, by its name, which is the grade id of its answer."""
    return {exercise.name: unit.stem for unit in exercises.units() for exercise in unit}


@dataclass(frozen=True)
class Presence:
    """Who of a class is there in a unit, and who is not."""

    others: dict[str, str] = field(default_factory=dict)  # who handed in something else, and what
    numbered: list[str] = field(default_factory=list)  # known by a platform's number alone: their name is not shown
    unknown: list[str] = field(default_factory=list)  # by a name, and not on the class list
    absent: list[Person] = field(default_factory=list)  # who handed in nothing; nobody, where it cannot be told

    def instead(self, people: ClassList) -> list[str]:
        """Who handed in something else, with what it was."""
        named = ((people.shown(people.person(who)), what) for who, what in self.others.items())
        return [f"{name} ({what})" if what else name for name, what in named]

    def lines(self, people: ClassList) -> Iterator[str]:
        """All of them in sentences, with some of the names in each."""

        def said(words: str, names: list[str]) -> Iterator[str]:
            if names:
                yield f"{len(names)} {words}: {some(names)}"

        yield from said("not on the class list, and kept apart", self.unknown)
        yield from said("handed in no notebook of this unit", self.instead(people))
        if people and self.numbered:
            yield f"{len(self.numbered)} known by number alone, so that it cannot be told who handed in nothing"
        yield from said("handed in nothing", [*map(people.shown, self.absent)])


def is_numbered(student: str, key: str) -> bool:
    """Whether a student is known by the number alone that a platform gave them in one assignment."""
    number = number_in(key, "participant") or number_in(key, "anon")
    return bool(number) and folded(student).endswith(number)


def presence(desk: Desk, unit: str, people: ClassList, graded: Iterable[str] = ()) -> Presence:
    """Who handed in a unit, as far as that is known; `graded` are students of whom there may be no more than that."""
    known, notebooks = collected(desk, unit), desk.submissions(unit)
    others = {one: what for one, (_, what) in known.items() if one not in notebooks} | desk.misnamed(unit)
    numbered = [one for one, (key, _) in known.items() if is_numbered(one, key) and not people.of(one)]
    there = {*notebooks, *graded}
    unknown = people.unknown(there - {*numbered})
    return Presence(others, numbered, unknown, [] if numbered else people.absent({*there, *others}))
