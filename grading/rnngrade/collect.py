"""Collect: what students handed in, from a folder, a zip or a download of Moodle's or Canvas's, into `submitted/`.

    folder    STUDENT/UNIT/UNIT.ipynb, STUDENT/UNIT.ipynb, UNIT/STUDENT.ipynb, STUDENT.ipynb, STUDENT_UNIT.ipynb
    moodle    Full Name_123456_assignsubmission_file_/03_cell.ipynb, and the same without the folder
    canvas    lastnamefirst_12345_67890_03_cell-1.ipynb, lastnamefirst_LATE_12345_67890_03_cell.ipynb

A source is named in one of these ways throughout, and a zip is a folder. Whose a file is, the outermost of its names
says, which the platform made. What lies within, in a student's own folder, or in a zip in the source, is that
student's whatever it is called, and a date that lies there is not believed.

Nothing in the source is believed: no path of its is ever written to, links are not followed, and what is too large,
broken or unclear is left out with a sentence on it. Nothing is lost: what a new version replaces moves to
`submitted/STUDENT/UNIT/earlier/1.ipynb`, and so on, and collecting the same source again changes nothing. What comes
from another place than the version that is there, `collected/UNIT/STUDENT` says which, waits for a person.

The file names of Moodle and Canvas are read by nbgrader's own plugin points: `nbgrader zip_collect
--ZipCollectApp.collector_plugin=rnngrade.collect.MoodleCollector` takes them as well.
"""

from __future__ import annotations

import contextlib
import os
import re
import stat
import tempfile
import unicodedata
import warnings
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from io import BytesIO
from pathlib import Path, PurePosixPath
from typing import IO

from dateutil import parser as dates  # type: ignore[import-untyped]
from traitlets import default

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # nbgrader is imported, not judged
    from nbgrader.plugins.zipcollect import FileNameCollectorPlugin

from rnngrade.desk import Desk, is_name
from rnngrade.errors import DeskError
from rnngrade.exporting import ExportError, Person, read_roster
from rnngrade.record import write_whole
from rnngrade.unit import find_units

FORMATS = ("auto", "folder", "moodle", "canvas")
MAX_FILE = 64 * 2**20  # bytes of one notebook, or of a zip within a zip
MAX_ALL = 4 * 2**30  # bytes that are read of one source
MAX_FILES = 100_000  # files of one source
MAX_NESTED = 1_000  # files of a zip within it

_IGNORED = re.compile(r"(?:^|/)(?:\.[^/]*|__MACOSX|__pycache__)(?:/|$)|-checkpoint\.ipynb$", re.IGNORECASE)
_ENTRY = b"PK\x01\x02"  # begins an entry of a zip's contents
# Names that a platform made. The first in a path counts: what follows it is the student's, who may call it anything.
_ABOVE = r"(?:.*?/)??"
# The number is the participant's in this assignment. In a full name, Moodle makes a space of each underscore.
_MOODLE = r"(?P<student_id>[^/]+?)_(?P<number>\d+)_assignsubmission_file_?/?(?P<file_id>.+)\.[^./]+\Z"
_CANVAS = (
    r"(?P<student_id>[^/_]+)_(?:(?P<late>LATE)_)?(?P<number>\d+)_(?:\d+|text|question_\d+)_(?P<file_id>.+)\.[^./]+\Z"
)
_COPY = re.compile(r"\s*\((\d+)\)$|-(\d+)$")


class CollectError(DeskError):
    """Why nothing could be collected, in one sentence."""


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


@dataclass
class CollectReport:
    """What was collected: notebooks that are new, those that were there already, and a sentence on all that is odd."""

    taken: list[Path] = field(default_factory=list)
    unchanged: list[Path] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class _File:
    """A file of the source: its path there, its bytes, when it was made, the zip in the source that it was in, and
    the timestamp.txt beside it.
    """

    path: str
    data: bytes
    modified: float
    outer: str = ""
    timestamp: bytes | None = None


@dataclass(frozen=True)
class _Found:
    """A notebook, whose it is, by which name in the source, and which version."""

    student: str
    origin: str
    unit: str
    version: tuple[bool, int, float, str]  # sorts the latest last; what is no notebook comes before all that are
    path: str
    timestamp: str


def collect(
    source: Path, desk: Desk, unit: str | None = None, format: str = "auto", roster: Path | None = None
) -> CollectReport:
    """Put the notebooks of `source`, of `unit` or of all units, into the desk's `submitted/`.

    With a class list (see `exporting.py`), students are known by its ids: by full name in Moodle's downloads, by
    `canvas_id` in Canvas's. **Errors:** `CollectError` if there is no such source, unit, format or class list.
    """
    if format not in FORMATS:
        raise CollectError(f"There is no format {format!r}; there are {', '.join(FORMATS)}.")
    units = find_units(desk.root)
    if unit is not None and unit not in units:
        raise CollectError(f"There is no unit {unit!r}; there are {', '.join(units)}.")
    report = CollectReport()
    people = _class_list(desk, roster)
    with tempfile.TemporaryDirectory() as folder:
        found: list[tuple[_Found, Path]] = []
        try:
            paths = _paths(source)
            sorter = _Sorter(unit, units, format, source, paths, _Names(desk, people, paths, report), report)
            for file in _files(source, report):
                if notebook := sorter.sort(file):
                    waiting = Path(folder, str(len(found)))  # a class may be larger than the memory
                    waiting.write_bytes(file.data)
                    found.append((notebook, waiting))
        except (OSError, zipfile.BadZipFile) as error:
            raise CollectError(f"{_shown(str(source))} cannot be read: {error}.") from None
        origins: dict[tuple[str, str], set[str]] = {}
        for notebook, _ in found:
            origins.setdefault((notebook.student, notebook.unit), set()).add(notebook.origin)
        for notebook, waiting in sorted(found, key=lambda pair: (pair[0].student, pair[0].unit, pair[0].version)):
            student, unit = notebook.student, notebook.unit
            if len(origins[student, unit]) > 1:
                report.notes.append(
                    f"{_shown(notebook.path)} was left out: {student}'s {unit} is in this source under more than one "
                    "name, and they may be two students. If they are not, put the right one in by hand."
                )
            else:
                _take(notebook, waiting.read_bytes(), desk, report)
    report.taken = list(dict.fromkeys(report.taken))
    report.unchanged = [path for path in dict.fromkeys(report.unchanged) if path not in report.taken]
    return report


# --- whose a file is


class _Names:
    """The names by which students are known: the class list's, those of `submitted/`, and new ones."""

    def __init__(self, desk: Desk, people: dict[str, Person], paths: list[str], report: CollectReport) -> None:
        self._report = report
        self._listed = {_folded(id): _folded(f"{one.first_name} {one.last_name}") for id, one in people.items()}
        there = [path.name for path in desk.submitted.iterdir() if path.is_dir()] if desk.submitted.is_dir() else []
        self._known = {_folded(name): name for name in [*there, *people]}
        self._by_canvas = {person.canvas_id: id for id, person in people.items() if person.canvas_id}
        full = [(_folded(f"{person.first_name} {person.last_name}"), id) for id, person in people.items()]
        self._by_full_name = {name: id for name, id in full if [n for n, _ in full].count(name) == 1}
        self._numbers: dict[str, set[str]] = {}  # by full name, of all in this source who are called so
        for path in paths:
            if named := re.match(_ABOVE + _MOODLE, path):
                self._numbers.setdefault(_folded(named["student_id"]), set()).add(named["number"])

    def is_listed(self, text: str) -> bool:
        """Whether it is an id of the class list."""
        return _folded(text) in self._listed

    def plain(self, text: str, path: str) -> str | None:
        """A student by the name of a folder or file; None, and a note, if it can be none."""
        name = " ".join(unicodedata.normalize("NFC", text).split())
        if not is_name(name):
            name = re.sub(r"[^\w@.+ -]", "", name).strip(" .")
            if not is_name(name):
                self._report.notes.append(
                    f"{_shown(path)}: {_shown(text)} cannot be a student's name; it was left out."
                )
                return None
            self._report.notes.append(f"{_shown(path)}: the student is called {name!r} here.")
        known = self._known.setdefault(_folded(name), name)
        if known != name:
            self._report.notes.append(f"{_shown(path)}: {name!r} was taken for {known!r}.")
        return known

    def of_moodle(self, full_name: str, number: str, path: str) -> str | None:
        """A student by full name. All who are called alike in one download are known by their numbers."""
        if len(self._numbers[_folded(full_name)]) == 1:
            if id := self._by_full_name.get(_folded(full_name)):
                return id
            if self._listed.get(_folded(full_name)):
                self._report.notes.append(
                    f"{_shown(path)} was left out: on the class list, {_shown(full_name)} is the id of somebody who "
                    "has another name."
                )
                return None
            return self.plain(full_name, path)
        name = f"{full_name} {number}"
        self._report.notes.append(
            f"{_shown(path)}: there are two students called {_shown(full_name)}; this one is {_shown(name)} here. "
            "A class list with their ids does not help: put their notebooks in by hand."
        )
        return self.plain(name, path)

    def of_canvas(self, short_name: str, number: str, path: str) -> str | None:
        """A student by Canvas's number, which is the same in every download."""
        return self._by_canvas.get(number) or self.plain(f"{short_name}_{number}", path)


class _Sorter:
    """Tells for each notebook whose it is, of which unit, and which version."""

    def __init__(
        self,
        unit: str | None,
        units: list[str],
        format: str,
        source: Path,
        paths: list[str],
        names: _Names,
        report: CollectReport,
    ) -> None:
        self._unit, self._units, self._names, self._report = unit, units, names, report
        self._patterns = {
            name: re.compile(
                rf"(?:(?P<before>.+?)[ _.-]+)?{name.replace('_', '[ _-]')}(?:[ _.(-]+(?P<after>.*?)\)?)?\Z",
                re.IGNORECASE,
            )
            for name in units
        }
        # A zip that was made of a folder holds that folder, and all that is in it.
        self._around = "" if source.is_dir() else f"{source.stem}/"
        if not all(path.startswith(self._around) and len(self._people(_folders(path))) > 1 for path in paths):
            self._around = ""
        self._is_unsure = format == "auto"
        self._format = self._told(paths) if format == "auto" else format

    def sort(self, file: _File) -> _Found | None:
        """Whose notebook a file is; None, and a note, if it cannot be told."""
        unit = self._unit_in(file)
        if unit is None:
            self._leave(file, "which unit it is, cannot be told: give the unit, or name the file after it")
            return None
        if self._unit is not None and unit != self._unit:
            self._leave(file, f"it is of {unit}, not of {self._unit}")
            return None
        of_format = {"moodle": self._of_moodle, "canvas": self._of_canvas, "folder": self._of_folder}
        student, origin = of_format[self._format](file, unit)
        if student is None:
            return None
        readable = _is_notebook(file.data)
        if not readable:
            self._report.notes.append(f"{_shown(_full(file))} is no notebook; it is kept for {student} all the same.")
        copy = _COPY.search(PurePosixPath(file.path).stem)
        number = int(next(filter(None, copy.groups()))[:9]) if copy else 0
        version = (readable, number, file.modified, _full(file))
        return _Found(student, f"{self._format} {origin}", unit, version, _full(file), self._handed_in(file, unit))

    def _told(self, paths: list[str]) -> str:
        """The format of a source. A platform names all that is in a download of its, so one other name is enough."""
        within = [self._within(path) for path in paths]
        if within and all(re.match(_MOODLE, path) for path in within):
            return "moodle"
        if within and all(_is_canvas(path) for path in within):
            return "canvas"
        return "folder"

    def _of_moodle(self, file: _File, unit: str) -> tuple[str | None, str]:
        named = re.match(_ABOVE + _MOODLE, self._outer(file))
        if not named:
            self._leave(file, "its name is none of Moodle's")
            return None, ""
        origin = f"{named['student_id']} {named['number']}"
        return self._names.of_moodle(named["student_id"], named["number"], _full(file)), origin

    def _of_canvas(self, file: _File, unit: str) -> tuple[str | None, str]:
        named = re.match(_ABOVE + _CANVAS, self._outer(file))
        if not named:
            self._leave(file, "its name is none of Canvas's")
            return None, ""
        if named["late"]:
            self._report.notes.append(f"{_shown(_full(file))} was late, says Canvas.")
        return self._names.of_canvas(named["student_id"], named["number"], _full(file)), named["number"]

    def _of_folder(self, file: _File, unit: str) -> tuple[str | None, str]:
        path = self._outer(file)
        if self._is_unsure and (re.match(_ABOVE + _MOODLE, path) or _is_canvas(path)):
            why = "it has a name like Moodle's or Canvas's where not all have: say by --format what they are"
            self._leave(file, why)
            return None, ""
        people = self._people(_folders(path))
        if people[1:] and not self._names.is_listed(people[0]):
            why = f"whose it is, cannot be told from {_shown('/'.join(people))}: collect the folder with the students'"
            self._leave(file, f"{why} folders in it, or name it STUDENT/{unit}.ipynb")
            return None, ""
        name = self._owner(path, people, zipped=bool(file.outer))
        if name is None:
            self._leave(file, f"whose it is, cannot be told: name it STUDENT/{unit}.ipynb")
            return None, ""
        # A zip without a student's folder around it may be a whole class's, with a folder for each.
        inner = f"/{'/'.join(_folders(file.path))}" if file.outer else ""
        return self._names.plain(name, _full(file)), f"{name}/" if people else f"{name}{inner}"

    def _handed_in(self, file: _File, unit: str) -> str:
        """When, by a timestamp.txt where nbgrader puts it; anywhere else, it is the student's own."""
        if file.timestamp is None:
            return ""
        of_nbgrader = PurePosixPath(self._outer(file)).parts[1:] == (unit, f"{unit}.ipynb")
        if self._format == "folder" and not file.outer and of_nbgrader:
            return _timestamp(file.timestamp, _full(file), self._report)
        self._report.notes.append(
            f"The timestamp.txt beside {_shown(_full(file))} may be a student's: it was left out."
        )
        return ""

    def _outer(self, file: _File) -> str:
        """The path of a file as far as the platform, or the instructor, made it."""
        return self._within(file.outer or file.path)

    def _within(self, path: str) -> str:
        path = path.removeprefix(self._around)
        first, _, rest = path.partition("/")
        return rest if rest and first.casefold() in ("submitted", "submissions") else path

    def _unit_in(self, file: _File) -> str | None:
        """The unit of a file: by its own name, by the folders around it, or the one that was given."""
        inner = [PurePosixPath(file.path).stem]
        named = re.match(_ABOVE + _MOODLE, file.path) or re.match(_ABOVE + _CANVAS, file.path)
        if named and self._format != "folder" and not file.outer:
            inner = [PurePosixPath(named["file_id"]).name]
        outer = [PurePosixPath(file.outer).stem, *reversed(_folders(file.outer))] if file.outer else []
        texts = [*inner, *reversed(_folders(file.path)), *outer]
        return next((unit for text in texts if (unit := self._unit_of(text))), None) or self._unit

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
        if people and (unit or zipped or self._unit_of(_folders(path)[-1])):
            return people[0]
        named = self._patterns[unit].match(stem) if unit else None
        beside = (named["before"], named["after"]) if named else ()
        return next(
            (text for text in beside if text and not re.fullmatch(r"(?:\d+|copy|final|submission|v\d+)", text, re.I)),
            None,
        )

    def _leave(self, file: _File, why: str) -> None:
        self._report.notes.append(f"{_shown(_full(file))} was left out: {why}.")


# --- what is in a source


def _paths(source: Path) -> list[str]:
    """The paths in a source of all that may be collected; what is in zips within it is not looked at."""
    if source.is_dir():
        paths = [
            Path(where, name).relative_to(source).as_posix() for where, _, names in os.walk(source) for name in names
        ]
    elif zipfile.is_zipfile(source):
        with zipfile.ZipFile(source) as opened:
            paths = [_name_in_zip(entry) for entry in opened.infolist() if not entry.is_dir()]
    else:
        paths = [source.name]
    return [path for path in paths if _wanted(path) and not _IGNORED.search(path) and not _leads_out(path)]


def _files(source: Path, report: CollectReport) -> Iterator[_File]:
    """The notebooks of a folder, a zip or a single file, also those in zips within it."""
    if source.is_dir():
        files = _of_folder(source, report)
    elif zipfile.is_zipfile(source):
        files = _of_zip(source, report, "", MAX_FILES)
    elif source.is_file() and source.suffix.casefold() == ".ipynb":
        files = iter([_File(source.name, _read(source), source.stat().st_mtime)])
    else:
        raise CollectError(f"{_shown(str(source))} is no folder, zip or notebook to collect from.")
    read = 0
    for file in files:
        read += len(file.data)
        if read > MAX_ALL:
            report.notes.append(f"More than {MAX_ALL // 2**30} GB are in {_shown(str(source))}: the rest was left out.")
            return
        if file.path.casefold().endswith(".zip"):
            if file.data.count(_ENTRY) > MAX_FILES:
                report.notes.append(f"{_shown(file.path)} was left out: it holds more than {MAX_FILES} files.")
                continue
            try:
                yield from _of_zip(BytesIO(file.data), report, file.path, MAX_NESTED)
            except (zipfile.BadZipFile, OSError, ValueError) as error:
                report.notes.append(f"{_shown(file.path)} was left out: it is no zip that can be read ({error}).")
        else:
            yield file


def _of_folder(folder: Path, report: CollectReport) -> Iterator[_File]:
    count = 0
    for where, inner, names in os.walk(folder):
        inner.sort()
        for name in [*inner, *sorted(names)]:
            path = Path(where, name)
            relative = path.relative_to(folder).as_posix()
            mode = path.lstat().st_mode
            if _IGNORED.search(relative) or (stat.S_ISDIR(mode) and not stat.S_ISLNK(mode)):
                continue
            count += 1
            if count > MAX_FILES:
                report.notes.append(f"More than {MAX_FILES} files are in {_shown(str(folder))}: the rest was left out.")
                return
            if not stat.S_ISREG(mode):
                kind = "a link" if stat.S_ISLNK(mode) else "no file"
                report.notes.append(f"{_shown(relative)} was left out: it is {kind}.")
            elif not _wanted(relative):
                if name != "timestamp.txt":
                    report.notes.append(f"{_shown(relative)} was left out: it is no notebook.")
            elif path.stat().st_size > MAX_FILE:
                report.notes.append(_too_large(relative))
            else:
                beside = path.with_name("timestamp.txt")
                written = _read(beside) if beside.is_file() and not beside.is_symlink() else None
                yield _File(relative, _read(path), path.stat().st_mtime, timestamp=written)


def _of_zip(archive: Path | IO[bytes], report: CollectReport, outer: str, most: int) -> Iterator[_File]:
    with zipfile.ZipFile(archive) as opened:
        entries = opened.infolist()
        if len(entries) > most:
            report.notes.append(
                f"{_shown(outer or str(archive))} holds {len(entries)} files: only {most} were looked at."
            )
        times = {name: e for e in entries[:most] if (name := _name_in_zip(e)).endswith("timestamp.txt")}
        for entry in entries[:most]:
            name = _name_in_zip(entry)
            shown = _shown(f"{outer}/{name}" if outer else name)
            mode = entry.external_attr >> 16
            if _leads_out(name):
                report.notes.append(f"{shown} was left out: its path leads out of the zip.")
            elif entry.is_dir() or _IGNORED.search(name):
                continue
            elif stat.S_ISLNK(mode):
                report.notes.append(f"{shown} was left out: it is a link.")
            elif not _wanted(name) or (outer and name.casefold().endswith(".zip")):
                if PurePosixPath(name).name != "timestamp.txt" and not (outer and name.endswith(".json")):
                    report.notes.append(f"{shown} was left out: it is no notebook.")
            elif entry.flag_bits & 1:
                report.notes.append(f"{shown} was left out: it has a password.")
            else:
                beside = times.get(str(PurePosixPath(name).with_name("timestamp.txt")))
                try:
                    with opened.open(entry) as file:
                        data = file.read(MAX_FILE + 1)  # what the zip says of its size is not believed
                    written = None
                    if beside is not None:
                        with opened.open(beside) as file:
                            written = file.read(100)
                except (zipfile.BadZipFile, zlib.error, OSError, EOFError, NotImplementedError, RuntimeError) as error:
                    report.notes.append(f"{shown} was left out: it is broken ({error}).")
                    continue
                if len(data) > MAX_FILE:
                    report.notes.append(_too_large(shown))
                else:
                    yield _File(name, data, _modified(entry), outer, written)


def _name_in_zip(entry: zipfile.ZipInfo) -> str:
    """The name of a file in a zip. Macs write UTF-8 and do not say so; Windows writes backslashes."""
    name = entry.orig_filename if "\0" not in entry.orig_filename else entry.filename
    if not entry.flag_bits & 0x800:
        with contextlib.suppress(UnicodeError):
            name = name.encode("cp437").decode("utf-8")
    return name.replace("\\", "/")


def _modified(entry: zipfile.ZipInfo) -> float:
    """When a file in a zip was made: a number that grows with it."""
    value = 0
    for part, base in zip(entry.date_time, (10_000, 13, 32, 24, 60, 62)):
        value = value * base + part
    return float(value)


def _folders(path: str) -> list[str]:
    """The folders that a file lies in, the outermost first."""
    return list(PurePosixPath(path).parts[:-1])


def _is_canvas(path: str) -> bool:
    """Whether a path may be one of Canvas's downloads, in which there are no folders."""
    return "/" not in path and bool(re.match(_CANVAS, path))


def _leads_out(path: str) -> bool:
    return path.startswith("/") or ".." in path.split("/") or bool(re.match(r"[A-Za-z]:", path))


def _wanted(path: str) -> bool:
    return path.casefold().endswith((".ipynb", ".zip"))


def _too_large(path: str) -> str:
    return f"{_shown(path)} was left out: it is larger than {MAX_FILE // 2**20} MB."


def _read(path: Path) -> bytes:
    """A file's bytes, but not more than a notebook may have."""
    with path.open("rb") as file:
        return file.read(MAX_FILE)


def _timestamp(written: bytes, relative: str, report: CollectReport) -> str:
    """When a submission was handed in, in UTC, by what nbgrader's timestamp.txt beside it says."""
    try:
        when = dates.parse(written[:100].decode().strip())
        offset = when.utcoffset()
        return f"{(when - offset if offset else when).replace(tzinfo=None, microsecond=0)} UTC"
    except (ValueError, OverflowError):
        report.notes.append(f"The timestamp.txt beside {_shown(relative)} was left out: it holds no date.")
        return ""


def _is_notebook(data: bytes) -> bool:
    """Whether it looks like one. It is not parsed here: what exactly is wrong with one, the intake says."""
    text = data.strip(b" \t\r\n\xef\xbb\xbf")
    return text[:1] == b"{" and text[-1:] == b"}" and (b'"cells"' in text or b'"worksheets"' in text)


# --- into submitted/


def _take(found: _Found, data: bytes, desk: Desk, report: CollectReport) -> None:
    """Put a notebook where it belongs. What lies there already is kept first, so nothing is ever lost."""
    path = desk.submission_path(found.unit, found.student)
    timestamp, earlier = path.with_name("timestamp.txt"), path.parent / "earlier"
    kept = [old.read_bytes() for old in earlier.glob("*.ipynb")]
    mark = desk.folder / "collected" / found.unit / found.student
    origin = _folded(found.origin.partition("/")[0])
    if path.exists():
        current = path.read_bytes()
        if mark.is_file() and mark.read_text(encoding="utf-8") != origin:
            report.notes.append(
                f"{_shown(found.path)} was left out: {found.student}'s {found.unit} came from another place, "
                f"{_shown(mark.read_text(encoding='utf-8'))!r}, not {_shown(origin)!r}. If both are theirs, put the "
                "right one in by hand."
            )
            return
        if current == data:
            _stamp(path, found.timestamp)
            write_whole(mark, origin.encode())
            report.unchanged.append(path)
            return
        if data in kept:
            return  # it was here before, and was replaced
        if current not in kept:
            number = _next(earlier)
            if timestamp.exists():
                write_whole(earlier / f"{number}.txt", timestamp.read_bytes())
            write_whole(earlier / f"{number}.ipynb", current)
        name = f"{found.student}'s {found.unit}"
        report.notes.append(f"{_shown(found.path)} replaces {name}; what it replaces is in earlier/.")
    timestamp.unlink(missing_ok=True)
    write_whole(mark, origin.encode())  # first: without it, anybody's would replace it
    write_whole(path, data)
    _stamp(path, found.timestamp)
    report.taken.append(path)


def _stamp(path: Path, timestamp: str) -> None:
    if timestamp:
        write_whole(path.with_name("timestamp.txt"), f"{timestamp}\n".encode())


def _next(earlier: Path) -> int:
    """The number of the next earlier version."""
    return 1 + max((int(path.stem) for path in earlier.glob("*.ipynb") if path.stem.isdecimal()), default=0)


def _class_list(desk: Desk, roster: Path | None) -> dict[str, Person]:
    path = roster or desk.folder / "roster.csv"
    if roster is None and not path.exists():
        return {}
    try:
        people = read_roster(path)
    except ExportError as error:
        raise CollectError(str(error)) from None
    if wrong := [id for id in people if not is_name(id)]:
        raise CollectError(f"{path}: {wrong[0]!r} cannot be the name of a student's folder.")
    return people


def _folded(name: str) -> str:
    """A name as names are compared: whatever their case, and however their accents are written."""
    return unicodedata.normalize("NFC", " ".join(unicodedata.normalize("NFC", name).casefold().split()))


def _full(file: _File) -> str:
    return f"{file.outer}/{file.path}" if file.outer else file.path


def _shown(text: str) -> str:
    """Text that can be printed: without control characters, and not too long."""
    printable = "".join(c if c.isprintable() else "�" for c in text)
    return printable if len(printable) <= 200 else f"{printable[:100]}…{printable[-90:]}"
