"""Whose a file of a source is, of which unit, and when it was handed in.

Whose it is, the outermost name says, which a platform or the instructor made (`platforms.py`). What lies within a
student's own folder or zip is that student's, whatever it is called. Of which unit it is, the names of the cells in it
say (nbgrader's `grade_id`, which are those of the exercises), whatever the file is called; its name, if there are none.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path, PurePosixPath

from rnncourse import exercises
from rnngrade.core.desk import Desk, is_name
from rnngrade.core.errors import some
from rnngrade.roster.names import MOST_METADATA, Said, keys_of, likeliest, line_for, number_in
from rnngrade.roster.platforms import METADATA, PLATFORMS, Who, is_of_a_platform, told
from rnngrade.roster.sources import Entry, File, folders, full, shown, wanted
from rnngrade.roster.students import SETTLED, ClassList, Person, folded
from rnngrade.roster.times import in_utc, time_in

_GRADE_ID = re.compile(rb'"grade_id"\s*:\s*"(\w{1,60})"')
_COPY = re.compile(r"\s*\((\d+)\)$|-(\d+)$")


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

    def __init__(self, desk: Desk, people: ClassList, notes: list[str]) -> None:
        self._desk, self.people, self.notes = desk, people, notes
        there = [path.name for path in desk.submitted.iterdir() if path.is_dir()] if desk.submitted.is_dir() else []
        self._known = {folded(name): name for name in [*there, *people.people]}
        self._collected: dict[str, dict[str, str]] = {}  # by unit and by origin
        self._told: set[str] = set()  # of what is said once
        self.unknown: dict[str, Who] = {}  # who is not on the class list, by what they are called

    def is_listed(self, text: str) -> bool:
        """Whether it is an id of the class list."""
        return folded(text) in map(folded, self.people.people)

    def student(self, who: Who, unit: str, path: str) -> str | None:
        """A student: by what was settled and the class list, else as before; None, and a note, if they can be none."""
        said = who.said
        if unit not in self._collected:
            self._collected[unit] = {origin: student for student, origin in keys_of(self._desk, unit).items()}
        found = self.people.id_of(*said.keys)
        if said.keys:
            known = self._collected[unit].get(mark_of(who.origin), "")
            if said.full and is_numbered(known, said.keys[0]) and not found:
                words = f"Names are shown here of whom the desk knows by a number, {known} and others"
                self._say_once("names", f"{words}: so they stay until you collect with --names TABLE.")
            found = found or known
        if found := found or said.id(self.people):
            return found
        if said.keys and self.is_listed(who.called):
            self.notes.append(
                f"{shown(path)} was left out: on the class list, {shown(who.called)} is the id of somebody who has "
                f"another name. If it is theirs, write the line '{line_for(said.keys[0], who.called)}' into {SETTLED}."
            )
            return None
        name = self._plain(who.called, path)
        if name and self.people and (said.names or said.full):
            self.unknown[name] = who
        if name and not said.names and not said.full:
            words = f"{name} is known by a number alone, for two are called alike, or names are not shown, and so may"
            who_is = "others be. Who they are, a table with numbers and names says: collect with --names TABLE."
            self._say_once("numbers", f"{words} {who_is}")
        return name

    def _say_once(self, of: str, words: str) -> None:
        if of not in self._told:
            self._told.add(of)
            self.notes.append(words)

    def _plain(self, text: str, path: str) -> str | None:
        """A student by the name of a folder or file."""
        name = " ".join(unicodedata.normalize("NFC", text).split())
        if not is_name(name):
            name = re.sub(r"[^\w@.+ -]", "", name).strip(" .")
            if not is_name(name):
                self.notes.append(f"{shown(path)}: {shown(text)} cannot be a student's name; it was left out.")
                return None
            self.notes.append(f"{shown(path)}: the student is called {name!r} here.")
        known = self._known.setdefault(folded(name), name)
        if known != name:
            self.notes.append(f"{shown(path)}: {name!r} was taken for {known!r}.")
        return known

    def not_listed(self) -> list[str]:
        """Who was collected and is not on the class list, each with those whose names are likest, and the line that
        settles it.
        """
        if not self.unknown:
            return []
        path = self._desk.given(SETTLED)
        lines = [
            f"Not on the class list, and kept apart: {len(self.unknown)}. If somebody is on it by another name, write "
            f"the line into {path} (its first line is name,id), and collect again:"
        ]
        for name, who in self.unknown.items():
            names = (who.called, *who.said.names, *who.said.full)
            first, *others = likeliest(names, self.people.people.values()) or [""]
            line = line_for(who.settled_by, first or "ID")
            also = f", or {', '.join(others)}" if others else ""
            lines.append(f"  {shown(name)}: {shown(line)}{also}")
        return lines


def mark_of(origin: str) -> str:
    """Where something came from, as it is written down in `collected/`."""
    return folded(origin.partition("/")[0]).encode("utf-8", "backslashreplace").decode()


class Sorter:
    """Tells for each notebook whose it is, of which unit, and which version."""

    def __init__(
        self, unit: str | None, units: list[str], format: str, source: Path, entries: list[Entry], names: Names
    ) -> None:
        self._unit, self._units, self._names, self._notes = unit, units, names, names.notes
        self._patterns = {
            name: re.compile(
                rf"(?:(?P<before>.+?)[ _.-]+)?{name.replace('_', '[ _-]')}(?:[ _.(-]+(?P<after>.*?)\)?)?\Z",
                re.IGNORECASE,
            )
            for name in units
        }
        all_paths = [entry.path for entry in entries if not entry.odd]
        paths = [path for path in all_paths if wanted(path)]
        # A zip that was made of a folder holds that folder, and all that is in it.
        self._around = "" if source.is_dir() else f"{source.stem}/"
        if not all(path.startswith(self._around) and len(self._people(folders(path))) > 1 for path in paths):
            self._around = ""
        self._beside = Counter(path.rpartition("/")[0] for path in paths)  # how many lie in a folder
        self._is_unsure = format == "auto"
        self.downloads: set[str] = set()  # zips in a folder that look like a platform's own
        within = [self._within(path) for path in paths]
        self._format = told(source, within) if format == "auto" else format
        everything = map(self._within, all_paths)  # a platform names who handed in no notebook as it names all others
        about = [entry for entry in entries if METADATA.fullmatch(entry.path) and not entry.odd]
        metadata = min(about, key=lambda entry: len(entry.path)).read(MOST_METADATA + 1) if about else b""
        is_named = self._format in PLATFORMS
        self._reader = PLATFORMS[self._format](source, everything, names.people, metadata) if is_named else None

    @property
    def is_download(self) -> bool:
        """Whether a platform made the source, of what was handed in for one assignment."""
        return self._reader is not None and self._unit is None

    def sort(self, file: File) -> list[Found]:
        """Whose notebook a file is; nobody's, and a note, if it cannot be told."""
        named, found = self._unit_in(file), unit_of_cells(file.data, self._units)
        unit = found or named or self._unit
        if unit is None:
            return self._leave(file, "which unit it is, cannot be told: give the unit, or name the file after it")
        if named and found and named != found:
            self._notes.append(f"{shown(full(file))} is taken for {found}, whose cells it has, and not for {named}.")
        if self._unit is not None and unit != self._unit:
            return self._leave(file, f"it is of {unit}, not of {self._unit}")
        made = []
        for who in self._who(file, unit):
            if (student := self._names.student(who, unit, full(file))) is None:
                continue
            readable = _is_notebook(file.data)
            if not readable:
                self._notes.append(f"{shown(full(file))} is no notebook; it is kept for {student} all the same.")
            if who.late:
                self._notes.append(f"{shown(full(file))} was late, says Canvas.")
            copy = _COPY.search(PurePosixPath(file.path).stem)
            number = int(next(filter(None, copy.groups()))[:9]) if copy else 0
            version = (readable, number, file.modified, full(file))
            when = self._time(who.when.encode(), file) if who.when else self._handed_in(file, unit)
            late = "Canvas" if who.late else ""
            made.append(Found(student, who.origin, unit, version, full(file), when, late))
        return made

    def students_of(self, path: str, outer: str, unit: str | None) -> list[tuple[str, str, str]]:
        """Who handed in a file that is no notebook: the student, where it came from, and the unit, as far as the names
        say it.
        """
        file = File(path, b"", 0.0, outer)
        unit = self._unit or self._unit_in(file) or unit
        if unit is None or (self._unit_in(file) or unit) != unit:
            return []
        before = len(self._notes)
        found = [(self._names.student(who, unit, full(file)), who.origin) for who in self._who(file, unit)]
        del self._notes[before:]  # that it is no notebook was said
        return [(student, origin, unit) for student, origin in found if student]

    def owner(self, path: str) -> str:
        """Whose a zip within the source is, as far as the path to it says: the same text for the same student."""
        path = self._within(path)
        if self._reader is None:
            return folded(self._owner(path, self._people(folders(path)), zipped=True) or path)
        return next((who.origin for who in self._reader.who(path)), path)

    def _who(self, file: File, unit: str) -> list[Who]:
        if self._reader is None:
            return self._of_folder(file, unit)
        if not (found := self._reader.who(self._outer(file))):
            self._leave(file, f"its name is none of {self._format.title()}'s")
        return found

    def _of_folder(self, file: File, unit: str) -> list[Who]:
        path = self._outer(file)
        if self._is_unsure and is_of_a_platform(path):
            why = "it has a name like a platform's where not all have: say by --format what they are"
            self._leave(file, why)
            return []
        if file.outer and "/" not in path and is_of_a_platform(file.path):
            if path not in self.downloads:
                self._leave(File(path, b"", 0.0), "it looks like a platform's download: collect it by itself")
            self.downloads.add(path)
            return []
        people = self._people(folders(path))
        if people[1:] and not self._names.is_listed(people[0]):
            why = "whose it is, cannot be told: collect the folder with the students' folders in it, or name it"
            self._leave(file, f"{why} STUDENT/{unit}.ipynb")
            return []
        name = self._owner(path, people, zipped=bool(file.outer))
        if name is None and not file.outer and unit_of_cells(file.data, self._units):
            name = self._owner_of_any_name(path, people)
        if name is None:
            self._leave(file, f"whose it is, cannot be told: name it STUDENT/{unit}.ipynb")
            return []
        # A zip without a student's folder around it may be a whole class's, with a folder for each.
        inner = f"/{'/'.join(folders(file.path))}" if file.outer else ""
        return [Who(Said((), (name,)), name, name, f"folder {name}/" if people else f"folder {name}{inner}")]

    def _handed_in(self, file: File, unit: str) -> str:
        """When, by a timestamp.txt where nbgrader puts it; anywhere else, it is the student's own."""
        if file.timestamp is None:
            return ""
        of_nbgrader = PurePosixPath(self._outer(file)).parts[1:] == (unit, f"{unit}.ipynb")
        if self._reader is None and of_nbgrader:
            return self._time(file.timestamp, file)
        self._notes.append(f"The timestamp.txt beside {shown(full(file))} may be a student's: it was left out.")
        return ""

    def _time(self, written: bytes, file: File) -> str:
        try:
            return in_utc(time_in(written))
        except ValueError:
            self._notes.append(f"The timestamp.txt beside {shown(full(file))} was left out: it holds no date.")
            return ""

    def _outer(self, file: File) -> str:
        """The path of a file as far as the platform, or the instructor, made it."""
        return self._within(file.outer or file.path)

    def _within(self, path: str) -> str:
        path = path.removeprefix(self._around)
        first, _, rest = path.partition("/")
        return rest if rest and first.casefold() in ("submitted", "submissions") else path

    def _unit_in(self, file: File) -> str | None:
        """The unit of a file: by its own name, by the folders around it, or the one that was given."""
        inner = [PurePosixPath(file.path).stem]
        if self._reader and not file.outer:
            inner = [PurePosixPath(self._reader.file_id(f"{file.path}")).name.removesuffix(".ipynb")]
        outer = [PurePosixPath(file.outer).stem, *reversed(folders(file.outer))] if file.outer else []
        texts = [*inner, *reversed(folders(file.path)), *outer]
        return next((unit for text in texts if (unit := self._unit_of(text))), None)

    def _people(self, folders: list[str]) -> list[str]:
        """The folders that are no unit's: the first is the student's."""
        return [folder for folder in folders if not self._unit_of(folder)]

    def _unit_of(self, text: str) -> str | None:
        return next((name for name, pattern in self._patterns.items() if pattern.match(text)), None)

    def _owner(self, path: str, people: list[str], zipped: bool) -> str | None:
        """The student's name in a path: the folder that is no unit's, or what stands beside the unit."""
        stem = PurePosixPath(path).stem
        unit = self._unit_of(stem)
        if unit is None and not people:
            return stem
        # A file that is named after something else may be named after its student, unless it is in a unit's folder.
        if people and (unit or zipped or self._unit_of(folders(path)[-1])):
            return people[0]
        named = self._patterns[unit].match(stem) if unit else None
        beside = (named["before"], named["after"]) if named else ()
        return next(
            (text for text in beside if text and not re.fullmatch(r"(?:\d+|copy|final|submission|v\d+)", text, re.I)),
            None,
        )

    def _owner_of_any_name(self, path: str, people: list[str]) -> str | None:
        """The student of a notebook whose name says nothing: by the class list; else the folder, if each has one."""
        stem = PurePosixPath(path).stem
        if listed := next((name for name in (stem, *people) if self._names.is_listed(name)), None):
            return listed
        with_notebooks = [count for folder, count in self._beside.items() if folder]
        return people[0] if len(with_notebooks) > 1 and set(with_notebooks) == {1} else None

    def _leave(self, file: File, why: str) -> list[Found]:
        self._notes.append(f"{shown(full(file))} was left out: {why}.")
        return []


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

    others: list[str] = field(default_factory=list)  # who handed in something, and no notebook
    numbered: list[str] = field(default_factory=list)  # known by a platform's number alone: their name is not shown
    unknown: list[str] = field(default_factory=list)  # by a name, and not on the class list
    absent: list[Person] = field(default_factory=list)  # who handed in nothing; nobody, where it cannot be told

    def lines(self, people: ClassList, most: int | None = None) -> Iterator[str]:
        """All of them in sentences, with so many names in each."""

        def said(words: str, names: list[str]) -> Iterator[str]:
            if names:
                yield f"{len(names)} {words}: {some(names, most or len(names))}"

        yield from said("not on the class list, and kept apart", self.unknown)
        yield from said("handed in no notebook", self.others)
        if people and self.numbered:
            yield f"{len(self.numbered)} known by number alone, so that it cannot be told who handed in nothing"
        yield from said("handed in nothing", [*map(people.shown, self.absent)])


def is_numbered(student: str, key: str) -> bool:
    """Whether a student is known by the number alone that a platform gave them in one assignment."""
    number = number_in(key, "participant") or number_in(key, "anon")
    return bool(number) and folded(student).endswith(number)


def presence(desk: Desk, unit: str, people: ClassList, graded: Iterable[str] = ()) -> Presence:
    """Who handed in a unit, as far as that is known; `graded` are students of whom there may be no more than that."""
    keys = keys_of(desk, unit)
    others = [student for student in keys if not desk.submission_path(unit, student).is_file()]
    numbered = [one for one, key in keys.items() if is_numbered(one, key) and not people.of(one)]
    there = {*desk.submissions(unit), *graded}
    unknown = people.unknown(there - {*numbered})
    return Presence(others, numbered, unknown, [] if numbered else people.absent({*there, *others}))
