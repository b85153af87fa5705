"""Whose a file of a source is, of which unit, and when it was handed in.

Whose it is, the outermost name says, which a platform or the instructor made. What lies within a student's own folder
or zip is that student's, whatever it is called. Of which unit it is, the names of the cells in it say (nbgrader's
`grade_id`, which are those of the exercises), whatever the file is called; its name, if there are none.

The file names of Moodle and Canvas are read by nbgrader's own plugin points: `nbgrader zip_collect
--ZipCollectApp.collector_plugin=rnngrade.roster.collect.MoodleCollector` takes them as well.
"""

from __future__ import annotations

import re
import unicodedata
import warnings
from collections import Counter
from dataclasses import dataclass
from datetime import tzinfo
from functools import cache
from pathlib import Path, PurePosixPath

from dateutil import parser as dates  # type: ignore[import-untyped]
from dateutil import tz
from traitlets import default

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # nbgrader is imported, not judged
    from nbgrader.plugins.zipcollect import FileNameCollectorPlugin

from rnncourse import exercises
from rnngrade.core.desk import Desk, is_name
from rnngrade.roster.sources import File, folders, full, shown
from rnngrade.roster.students import Person, folded

# Names that a platform made. The first in a path counts: what follows it is the student's, who may call it anything.
_ABOVE = r"(?:.*?/)??"
# The number is the participant's in this assignment. In a full name, Moodle makes a space of each underscore.
_MOODLE = r"(?P<student_id>[^/]+?)_(?P<number>\d+)_assignsubmission_file_?/?(?P<file_id>.+)\.[^./]+\Z"
_CANVAS = (
    r"(?P<student_id>[^/_]+)_(?:(?P<late>LATE)_)?(?P<number>\d+)_(?:\d+|text|question_\d+)_(?P<file_id>.+)\.[^./]+\Z"
)
_GRADE_ID = re.compile(rb'"grade_id"\s*:\s*"(\w{1,60})"')
_COPY = re.compile(r"\s*\((\d+)\)$|-(\d+)$")


class MoodleCollector(FileNameCollectorPlugin):  # type: ignore[misc]  # nbgrader has no types
    """Who handed in a file of Moodle's "Download all submissions", with folders or without."""

    @default("named_regexp")
    def _named_regexp(self) -> str:
        return _ABOVE + _MOODLE

    @default("valid_ext")
    def _valid_ext(self) -> list[str]:
        return [".ipynb", ".zip", ".IPYNB", ".ZIP"]


class CanvasCollector(FileNameCollectorPlugin):  # type: ignore[misc]
    """Who handed in a file of Canvas's "Download Submissions"."""

    @default("named_regexp")
    def _named_regexp(self) -> str:
        return _ABOVE + _CANVAS

    @default("valid_ext")
    def _valid_ext(self) -> list[str]:
        return [".ipynb", ".zip", ".IPYNB", ".ZIP"]


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


class Names:
    """The names by which students are known: the class list's, those of `submitted/`, and new ones."""

    def __init__(self, desk: Desk, people: dict[str, Person], paths: list[str], notes: list[str]) -> None:
        self._notes = notes
        self._listed = {folded(id): folded(f"{one.first_name} {one.last_name}") for id, one in people.items()}
        there = [path.name for path in desk.submitted.iterdir() if path.is_dir()] if desk.submitted.is_dir() else []
        self._known = {folded(name): name for name in [*there, *people]}
        self._by_canvas = {person.canvas_id: id for id, person in people.items() if person.canvas_id}
        full = [(folded(f"{person.first_name} {person.last_name}"), id) for id, person in people.items()]
        self._by_full_name = {name: id for name, id in full if [n for n, _ in full].count(name) == 1}
        self._numbers: dict[str, set[str]] = {}  # by full name, of all in this source who are called so
        for path in paths:
            if named := re.match(_ABOVE + _MOODLE, path):
                self._numbers.setdefault(folded(named["student_id"]), set()).add(named["number"])

    def is_listed(self, text: str) -> bool:
        """Whether it is an id of the class list."""
        return folded(text) in self._listed

    def plain(self, text: str, path: str) -> str | None:
        """A student by the name of a folder or file; None, and a note, if it can be none."""
        name = " ".join(unicodedata.normalize("NFC", text).split())
        if not is_name(name):
            name = re.sub(r"[^\w@.+ -]", "", name).strip(" .")
            if not is_name(name):
                self._notes.append(f"{shown(path)}: {shown(text)} cannot be a student's name; it was left out.")
                return None
            self._notes.append(f"{shown(path)}: the student is called {name!r} here.")
        known = self._known.setdefault(folded(name), name)
        if known != name:
            self._notes.append(f"{shown(path)}: {name!r} was taken for {known!r}.")
        return known

    def of_moodle(self, full_name: str, number: str, path: str) -> str | None:
        """A student by full name. All who are called alike in one download are known by their numbers."""
        if len(self._numbers[folded(full_name)]) == 1:
            if id := self._by_full_name.get(folded(full_name)):
                return id
            if self._listed.get(folded(full_name)):
                self._notes.append(
                    f"{shown(path)} was left out: on the class list, {shown(full_name)} is the id of somebody who "
                    "has another name."
                )
                return None
            return self.plain(full_name, path)
        name = f"{full_name} {number}"
        self._notes.append(
            f"{shown(path)}: there are two students called {shown(full_name)}; this one is {shown(name)} here. "
            "A class list with their ids does not help: put their notebooks in by hand."
        )
        return self.plain(name, path)

    def of_canvas(self, short_name: str, number: str, path: str) -> str | None:
        """A student by Canvas's number, which is the same in every download."""
        return self._by_canvas.get(number) or self.plain(f"{short_name}_{number}", path)


class Sorter:
    """Tells for each notebook whose it is, of which unit, and which version."""

    def __init__(
        self,
        unit: str | None,
        units: list[str],
        format: str,
        source: Path,
        paths: list[str],
        names: Names,
        notes: list[str],
    ) -> None:
        self._unit, self._units, self._names, self._notes = unit, units, names, notes
        self._patterns = {
            name: re.compile(
                rf"(?:(?P<before>.+?)[ _.-]+)?{name.replace('_', '[ _-]')}(?:[ _.(-]+(?P<after>.*?)\)?)?\Z",
                re.IGNORECASE,
            )
            for name in units
        }
        # A zip that was made of a folder holds that folder, and all that is in it.
        self._around = "" if source.is_dir() else f"{source.stem}/"
        if not all(path.startswith(self._around) and len(self._people(folders(path))) > 1 for path in paths):
            self._around = ""
        self._beside = Counter(path.rpartition("/")[0] for path in paths)  # how many lie in a folder
        self._is_unsure = format == "auto"
        self._format = self._told(paths) if format == "auto" else format

    @property
    def is_download(self) -> bool:
        """Whether a platform made the source, of what was handed in for one assignment."""
        return self._format != "folder" and self._unit is None

    def sort(self, file: File) -> Found | None:
        """Whose notebook a file is; None, and a note, if it cannot be told."""
        named, found = self._unit_in(file), self._unit_of_cells(file.data)
        unit = found or named or self._unit
        if unit is None:
            self._leave(file, "which unit it is, cannot be told: give the unit, or name the file after it")
            return None
        if named and found and named != found:
            self._notes.append(f"{shown(full(file))} is taken for {found}, whose cells it has, and not for {named}.")
        if self._unit is not None and unit != self._unit:
            self._leave(file, f"it is of {unit}, not of {self._unit}")
            return None
        of_format = {"moodle": self._of_moodle, "canvas": self._of_canvas, "folder": self._of_folder}
        student, origin = of_format[self._format](file, unit)
        if student is None:
            return None
        readable = _is_notebook(file.data)
        if not readable:
            self._notes.append(f"{shown(full(file))} is no notebook; it is kept for {student} all the same.")
        copy = _COPY.search(PurePosixPath(file.path).stem)
        number = int(next(filter(None, copy.groups()))[:9]) if copy else 0
        version = (readable, number, file.modified, full(file))
        when, late = self._handed_in(file, unit), "Canvas" if self._is_late(file) else ""
        return Found(student, f"{self._format} {origin}", unit, version, full(file), when, late)

    def owner(self, path: str) -> str:
        """Whose a zip within the source is, as far as the path to it says: the same text for the same student."""
        path = self._within(path)
        if self._format == "folder":
            return folded(self._owner(path, self._people(folders(path)), zipped=True) or path)
        named = re.match(_ABOVE + (_MOODLE if self._format == "moodle" else _CANVAS), path)
        return named["number"] if named else path

    def _told(self, paths: list[str]) -> str:
        """The format of a source. A platform names all that is in a download of its, so one other name is enough."""
        within = [self._within(path) for path in paths]
        if within and all(re.match(_MOODLE, path) for path in within):
            return "moodle"
        if within and all(_is_canvas(path) for path in within):
            return "canvas"
        return "folder"

    def _of_moodle(self, file: File, unit: str) -> tuple[str | None, str]:
        named = re.match(_ABOVE + _MOODLE, self._outer(file))
        if not named:
            self._leave(file, "its name is none of Moodle's")
            return None, ""
        origin = f"{named['student_id']} {named['number']}"
        return self._names.of_moodle(named["student_id"], named["number"], full(file)), origin

    def _of_canvas(self, file: File, unit: str) -> tuple[str | None, str]:
        named = re.match(_ABOVE + _CANVAS, self._outer(file))
        if not named:
            self._leave(file, "its name is none of Canvas's")
            return None, ""
        return self._names.of_canvas(named["student_id"], named["number"], full(file)), named["number"]

    def _is_late(self, file: File) -> bool:
        """Whether Canvas marked it as late."""
        named = re.match(_ABOVE + _CANVAS, self._outer(file)) if self._format == "canvas" else None
        if named is None or not named["late"]:
            return False
        self._notes.append(f"{shown(full(file))} was late, says Canvas.")
        return True

    def _of_folder(self, file: File, unit: str) -> tuple[str | None, str]:
        path = self._outer(file)
        if self._is_unsure and (re.match(_ABOVE + _MOODLE, path) or _is_canvas(path)):
            why = "it has a name like Moodle's or Canvas's where not all have: say by --format what they are"
            self._leave(file, why)
            return None, ""
        people = self._people(folders(path))
        if people[1:] and not self._names.is_listed(people[0]):
            why = f"whose it is, cannot be told from {shown('/'.join(people))}: collect the folder with the students'"
            self._leave(file, f"{why} folders in it, or name it STUDENT/{unit}.ipynb")
            return None, ""
        name = self._owner(path, people, zipped=bool(file.outer))
        if name is None and not file.outer and self._unit_of_cells(file.data):
            name = self._owner_of_any_name(path, people)
        if name is None:
            self._leave(file, f"whose it is, cannot be told: name it STUDENT/{unit}.ipynb")
            return None, ""
        # A zip without a student's folder around it may be a whole class's, with a folder for each.
        inner = f"/{'/'.join(folders(file.path))}" if file.outer else ""
        return self._names.plain(name, full(file)), f"{name}/" if people else f"{name}{inner}"

    def _handed_in(self, file: File, unit: str) -> str:
        """When, by a timestamp.txt where nbgrader puts it; anywhere else, it is the student's own."""
        if file.timestamp is None:
            return ""
        of_nbgrader = PurePosixPath(self._outer(file)).parts[1:] == (unit, f"{unit}.ipynb")
        if self._format == "folder" and of_nbgrader:
            return _timestamp(file.timestamp, full(file), self._notes)
        self._notes.append(f"The timestamp.txt beside {shown(full(file))} may be a student's: it was left out.")
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
        named = re.match(_ABOVE + _MOODLE, file.path) or re.match(_ABOVE + _CANVAS, file.path)
        if named and self._format != "folder" and not file.outer:
            inner = [PurePosixPath(named["file_id"]).name]
        outer = [PurePosixPath(file.outer).stem, *reversed(folders(file.outer))] if file.outer else []
        texts = [*inner, *reversed(folders(file.path)), *outer]
        return next((unit for text in texts if (unit := self._unit_of(text))), None)

    def _unit_of_cells(self, data: bytes) -> str | None:
        """The unit that most of a notebook's answers are of. It is not parsed: it may be anything."""
        units = _units_of_exercises()
        found = Counter(
            unit for name in set(_GRADE_ID.findall(data)) if (unit := units.get(name.decode())) in self._patterns
        )
        (unit, number), *others = [*found.most_common(2), ("", 0)][:2]
        return unit if number > sum(count for _, count in others) else None

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

    def _leave(self, file: File, why: str) -> None:
        self._notes.append(f"{shown(full(file))} was left out: {why}.")


def _timestamp(written: bytes, relative: str, notes: list[str]) -> str:
    """When a submission was handed in, in UTC, by what nbgrader's timestamp.txt beside it says."""
    try:
        when = dates.parse(written[:100].decode().strip(), tzinfos=zone_named)
        offset = when.utcoffset()
        return f"{(when - offset if offset else when).replace(tzinfo=None, microsecond=0)} UTC"
    except (ValueError, OverflowError):
        notes.append(f"The timestamp.txt beside {shown(relative)} was left out: it holds no date.")
        return ""


def zone_named(name: str | None, offset: int | None) -> tzinfo | None:
    """The time zone at the end of a date, by its offset in seconds; None if there stands none. **Errors:** `ValueError`
    for a mere name, "CEST", which dateutil passes over: two zones may have it, and it may be on this machine or not.
    """
    if offset is None and name:
        raise ValueError(f"There is no time zone {name!r}.")
    return None if offset is None else tz.tzoffset(name, offset)


def _is_notebook(data: bytes) -> bool:
    """Whether it looks like one. It is not parsed here: what exactly is wrong with one, the intake says."""
    text = data.strip(b" \t\r\n\xef\xbb\xbf")
    return text[:1] == b"{" and text[-1:] == b"}" and (b'"cells"' in text or b'"worksheets"' in text)


@cache
def _units_of_exercises() -> dict[str, str]:
    """The unit of each exercise, by its name, which is the grade id of its answer."""
    return {exercise.name: unit.stem for unit in exercises.units() for exercise in unit}


def _is_canvas(path: str) -> bool:
    """Whether a path may be one of Canvas's downloads, in which there are no folders."""
    return "/" not in path and bool(re.match(_CANVAS, path))


_NUMBER = re.compile(r"(\d+)\s*\Z")


def participants(desk: Desk, unit: str) -> dict[str, str]:
    """The participant's number of each student whose work on the unit was collected from Moodle."""
    found = {}
    for path in sorted((desk.folder / "collected" / unit).glob("*")):
        origin = path.read_text(encoding="utf-8", errors="replace") if path.is_file() else ""
        if origin.startswith("moodle ") and (number := _NUMBER.search(origin)):
            found[path.name] = number[1]
    return found
