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
"""

from __future__ import annotations

import tempfile
import zipfile
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from rnngrade.author.unit import find_units
from rnngrade.core.desk import Desk, is_name
from rnngrade.core.errors import Failures, writing
from rnngrade.core.record import write_whole
from rnngrade.roster.identity import CanvasCollector, Found, MoodleCollector, Names, Sorter
from rnngrade.roster.sources import CollectError, files, full, paths, shown
from rnngrade.roster.students import Person, RosterError, folded, read_roster
from rnngrade.roster.times import LATE, TIMESTAMP

__all__ = ["CanvasCollector", "CollectError", "CollectReport", "MoodleCollector", "collect"]

FORMATS = ("auto", "folder", "moodle", "canvas")


@dataclass
class CollectReport:
    """What was collected: notebooks that are new, those that were there already, and a sentence on all that is odd."""

    taken: list[Path] = field(default_factory=list)
    unchanged: list[Path] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def collect(
    source: Path,
    desk: Desk,
    unit: str | None = None,
    format: str = "auto",
    roster: Path | None = None,
    failures: Failures | None = None,
) -> CollectReport:
    """Put the notebooks of `source`, of `unit` or of all units, into the desk's `submitted/`.

    With a class list (see `exporting.py`), students are known by its ids: by full name in Moodle's downloads, by
    `canvas_id` in Canvas's. What cannot be read or put there is written into `failures`. **Errors:** `CollectError` if
    there is no such source, unit, format or class list; without `failures`, a `DeskError` that names what is in it,
    after all others are collected.
    """
    told = failures or Failures()
    if format not in FORMATS:
        raise CollectError(f"There is no format {format!r}; there are {', '.join(FORMATS)}.")
    units = find_units(desk.root)
    if unit is not None and unit not in units:
        raise CollectError(f"There is no unit {unit!r}; there are {', '.join(units)}.")
    report = CollectReport()
    people = _class_list(desk, roster)
    with tempfile.TemporaryDirectory() as folder:
        found: list[tuple[Found, Path]] = []
        try:
            outermost = paths(source)
            sorter = Sorter(
                unit, units, format, source, outermost, Names(desk, people, outermost, report.notes), report.notes
            )
            for file in files(source, report.notes, told, sorter.owner):
                with told.at(shown(full(file))):
                    if notebook := sorter.sort(file):
                        waiting = Path(folder, str(len(found)))  # a class may be larger than the memory
                        with writing(waiting):
                            waiting.write_bytes(file.data)
                        found.append((notebook, waiting))
        except (OSError, zipfile.BadZipFile) as error:
            raise CollectError(f"{shown(str(source))} cannot be read: {error}.") from None
        if sorter.is_download:
            found = _of_one_assignment(found, report.notes)
        origins: dict[tuple[str, str], set[str]] = {}
        for notebook, _ in found:
            origins.setdefault((notebook.student, notebook.unit), set()).add(notebook.origin)
        for notebook, waiting in sorted(found, key=lambda pair: (pair[0].student, pair[0].unit, pair[0].version)):
            if len(origins[notebook.student, notebook.unit]) > 1:
                report.notes.append(
                    f"{shown(notebook.path)} was left out: {notebook.student}'s {notebook.unit} is in this source "
                    "under more than one name, and they may be two students. If they are not, put the right one in by "
                    "hand."
                )
            else:
                with told.of(notebook.student, notebook.unit):
                    _take(notebook, waiting.read_bytes(), desk, report)
    report.taken = list(dict.fromkeys(report.taken))
    report.unchanged = [path for path in dict.fromkeys(report.unchanged) if path not in report.taken]
    if failures is None:
        told.end()
    return report


def _of_one_assignment(found: list[tuple[Found, Path]], notes: list[str]) -> list[tuple[Found, Path]]:
    """A platform's download is of one assignment: of the unit of most of its files. What is of another unit was handed
    in for the wrong one, so that it replaces nothing.
    """
    units = Counter(notebook.unit for notebook, _ in found)
    most = [unit for unit, number in units.items() if number == max(units.values())]
    kept = []
    for notebook, waiting in found:
        if [notebook.unit] == most:
            kept.append((notebook, waiting))
        else:
            of = (
                f"the download is of {most[0]}"
                if len(most) == 1
                else f"the download has as much of {' and '.join(most)}"
            )
            notes.append(
                f"{shown(notebook.path)} was left out: it is of {notebook.unit}, and {of}. If it is meant so, collect "
                f"with --unit {notebook.unit}."
            )
    return kept


def _take(found: Found, data: bytes, desk: Desk, report: CollectReport) -> None:
    """Put a notebook where it belongs. What lies there already is kept first, so nothing is ever lost."""
    path = desk.submission_path(found.unit, found.student)
    timestamp, earlier = path.with_name(TIMESTAMP), path.parent / "earlier"
    kept = [old.read_bytes() for old in earlier.glob("*.ipynb")]
    mark = desk.folder / "collected" / found.unit / found.student
    origin = folded(found.origin.partition("/")[0]).encode("utf-8", "backslashreplace").decode()
    if path.exists():
        current = path.read_bytes()
        if mark.is_file() and mark.read_text(encoding="utf-8") != origin:
            report.notes.append(
                f"{shown(found.path)} was left out: {found.student}'s {found.unit} came from another place, "
                f"{shown(mark.read_text(encoding='utf-8'))!r}, not {shown(origin)!r}. If both are theirs, put the "
                "right one in by hand."
            )
            return
        if current == data:
            _stamp(path, found)
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
        report.notes.append(f"{shown(found.path)} replaces {name}; what it replaces is in earlier/.")
    timestamp.unlink(missing_ok=True)
    path.with_name(LATE).unlink(missing_ok=True)
    write_whole(mark, origin.encode())  # first: without it, anybody's would replace it
    write_whole(path, data)
    _stamp(path, found)
    report.taken.append(path)


def _stamp(path: Path, found: Found) -> None:
    """Put beside a notebook when it came, and who calls it late, as far as that is known."""
    if found.timestamp:
        write_whole(path.with_name(TIMESTAMP), f"{found.timestamp}\n".encode())
    if found.says_late:
        write_whole(path.with_name(LATE), f"{found.says_late}\n".encode())


def _next(earlier: Path) -> int:
    """The number of the next earlier version."""
    return 1 + max((int(path.stem) for path in earlier.glob("*.ipynb") if path.stem.isdecimal()), default=0)


def _class_list(desk: Desk, roster: Path | None) -> dict[str, Person]:
    path = roster or desk.folder / "roster.csv"
    if roster is None and not path.exists():
        return {}
    try:
        people = read_roster(path)
    except RosterError as error:
        raise CollectError(str(error)) from None
    if wrong := [id for id in people if not is_name(id)]:
        raise CollectError(f"{path}: {wrong[0]!r} cannot be the name of a student's folder.")
    return people
