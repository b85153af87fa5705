"""Collect: what students handed in, from a folder, a zip or a platform's download, into `submitted/`.

Whose a file is, and of which unit, `identity.py` tells. Nothing in the source is believed: no path of its is ever
written to, links are not followed, and what is too large, broken or unclear is left out with a sentence on it. Nothing
is lost: what a new version replaces moves to `submitted/STUDENT/UNIT/earlier/1.ipynb`, and so on, and collecting the
same source again changes nothing. What comes from another place than the version that is there, as
`collected/UNIT/STUDENT` has it, waits for a person.
"""

import tempfile
from collections import Counter
from dataclasses import dataclass, field, replace
from pathlib import Path

from rnngrade.author.unit import find_units
from rnngrade.core.desk import Desk
from rnngrade.core.errors import DeskError, Failures, writing
from rnngrade.core.record import write_whole
from rnngrade.roster.identity import Found, Names, Sorter, mark_of
from rnngrade.roster.sources import Reader, full, opened, shown
from rnngrade.roster.students import class_list
from rnngrade.roster.times import LATE, TIMESTAMP


@dataclass
class CollectReport:
    """What was collected: notebooks that are new, those that were there already, and a sentence on all that is odd, and
    on who is not on the class list.
    """

    taken: list[Path] = field(default_factory=list)
    unchanged: list[Path] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    unknown: list[str] = field(default_factory=list)


def collect(
    source: Path,
    desk: Desk,
    failures: Failures,
    unit: str | None = None,
    format: str = "auto",
) -> CollectReport:
    """Put the notebooks of `source`, of `unit` or of all units, into the desk's `submitted/`.

    What cannot be read or put there is written into `failures`. **Errors:** `DeskError` if there is no such source,
    or for what is wrong in a class list.
    """
    units, report = find_units(desk.root), CollectReport()
    source = _inner(source, desk)
    people = class_list(desk)
    names = Names(desk, people, report.notes)
    with tempfile.TemporaryDirectory() as folder:
        found: list[Found] = []
        with opened(source, failures) as entries:
            sorter = Sorter(unit, units, format, source, entries, names)
            reader = Reader(report.notes, failures, sorter.owner)
            for file in reader.files(entries):
                with failures.at(shown(full(file))):
                    if notebooks := sorter.sort(file):
                        waiting = Path(folder, str(len(found)))  # a class may be larger than the memory
                        with writing(waiting):
                            waiting.write_bytes(file.data)
                        found += [replace(notebook, data=waiting) for notebook in notebooks]
        within = tuple(f"{zip}/" for zip in sorter.downloads)
        found = [notebook for notebook in found if not notebook.path.startswith(within)]
        if sorter.is_download:
            found, wrong = _of_one_assignment(found, report.notes)
            _mark(desk, wrong)
        taken_for = Counter(notebook.unit for notebook in found).most_common(1)
        unit_of_most = taken_for[0][0] if taken_for else None
        _mark(desk, [one for path, outer in reader.others for one in sorter.students_of(path, outer, unit_of_most)])
        origins: dict[tuple[str, str], set[str]] = {}
        for notebook in found:
            origins.setdefault((notebook.student, notebook.unit), set()).add(notebook.origin)
        for notebook in sorted(found, key=lambda one: (one.student, one.unit, one.version)):
            if len(origins[notebook.student, notebook.unit]) > 1:
                report.notes.append(
                    f"{shown(notebook.path)} was left out: {notebook.student}'s {notebook.unit} is in this source "
                    "under more than one name, and they may be two students. If they are not, put the right one in by "
                    "hand."
                )
            else:
                with failures.of(notebook.student, notebook.unit):
                    _take(notebook, desk, report)
    report.taken = list(dict.fromkeys(report.taken))
    report.unchanged = [path for path in dict.fromkeys(report.unchanged) if path not in report.taken]
    report.unknown = names.not_listed()
    return report


def _inner(source: Path, desk: Desk) -> Path:
    """Where in a source the work lies: of a desk in `submitted/`; of clones in their own folder. **Errors:**
    `DeskError` for the desk itself.
    """
    if source.is_dir() and (source / "nbgrader_config.py").is_file() and (source / "submitted").is_dir():
        if source.resolve() == desk.folder:
            raise DeskError(f"{source} is this desk: what lies in it is collected already. Next: 'rnngrade run UNIT'.")
        return source / "submitted"
    visible = [path for path in source.iterdir() if not path.name.startswith(".")] if source.is_dir() else []
    return visible[0] if len(visible) == 1 and visible[0].match("*-submissions") and visible[0].is_dir() else source


def _mark(desk: Desk, others: list[tuple[str, str, str]]) -> None:
    """Write down who handed in what is no notebook of the unit, by student, origin and unit: it was not nothing."""
    for student, origin, unit in others:
        mark = desk.folder / "collected" / unit / student
        if not mark.exists():
            write_whole(mark, mark_of(origin).encode())


def _of_one_assignment(found: list[Found], notes: list[str]) -> tuple[list[Found], list[tuple[str, str, str]]]:
    """A platform's download is of one assignment: of the unit of most of its files. What is of another unit was handed
    in for the wrong one, so that it replaces nothing; whose that is, comes second.
    """
    units = Counter(notebook.unit for notebook in found)
    most = [unit for unit, number in units.items() if number == max(units.values())]
    others = [notebook for notebook in found if [notebook.unit] != most]
    of = "is of" if len(most) == 1 else "has as much of"
    notes += [
        f"{shown(one.path)} was left out: it is of {one.unit}, and the download {of} {' and '.join(most)}. If it is "
        f"meant so, collect with --unit {one.unit}."
        for one in others
    ]
    wrong = [(one.student, one.origin, most[0]) for one in others] if len(most) == 1 else []
    return [notebook for notebook in found if [notebook.unit] == most], wrong


def _take(found: Found, desk: Desk, report: CollectReport) -> None:
    """Put a notebook where it belongs. What lies there already is kept first, so nothing is ever lost."""
    path, data = desk.submission_path(found.unit, found.student), found.data.read_bytes()
    timestamp, earlier = path.with_name(TIMESTAMP), path.parent / "earlier"
    kept = [old.read_bytes() for old in earlier.glob("*.ipynb")]
    mark = desk.folder / "collected" / found.unit / found.student
    origin = mark_of(found.origin)
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
            number = 1 + max((int(old.stem) for old in earlier.glob("*.ipynb") if old.stem.isdecimal()), default=0)
            if timestamp.exists():
                write_whole(earlier / f"{number}.txt", timestamp.read_bytes())
            write_whole(earlier / f"{number}.ipynb", current)
        where = earlier.relative_to(desk.folder)
        report.notes.append(f"{shown(found.path)} replaces {found.student}'s {found.unit}, which is in {where} now.")
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
