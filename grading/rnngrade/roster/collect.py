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
from rnngrade.roster.sources import File, LeftOut, Notes, opened, read, shown
from rnngrade.roster.students import class_list
from rnngrade.roster.times import LATE, TIMESTAMP


@dataclass
class CollectReport:
    """What was collected: notebooks that are new, those that were there already, and a sentence on all that is odd, and
    on who is not on the class list.
    """

    taken: list[Path] = field(default_factory=list)
    unchanged: list[Path] = field(default_factory=list)
    notes: Notes = field(default_factory=Notes)
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
    source, notes = _inner(source, desk), report.notes
    names = Names(desk, class_list(desk), notes)
    with tempfile.TemporaryDirectory() as folder:
        found, others = list[Found](), list[File]()
        with opened(source, failures) as entries:
            sorter = Sorter(unit, units, format, source, entries, names)
            for file in read(entries, notes, failures, sorter.owner):
                if file.data is None:
                    others.append(file)
                    continue
                with failures.at(shown(file.full)), notes.leaving(file.full):
                    notebooks, waiting = [*sorter.sort(file)], Path(folder, str(len(found)))
                    with writing(waiting):  # on disk, for a class may be larger than the memory
                        waiting.write_bytes(file.data)
                    found += [replace(notebook, data=waiting) for notebook in notebooks]
        within = tuple(f"{zip}/" for zip in sorter.downloads)
        found = [notebook for notebook in found if not notebook.path.startswith(within)]
        numbers, origins = Counter(notebook.unit for notebook in found), dict[tuple[str, str], set[str]]()
        most = [unit for unit, number in numbers.items() if number == max(numbers.values())]
        # what the source is of, if it is of one unit; None, if it may be of all
        of = [unit] if unit else most if sorter.is_download else None
        for file in others:
            for student, origin, its_unit in sorter.students_of(file, most[0] if len(most) == 1 else None):
                _mark(desk, student, origin, its_unit, shown(file.path.rpartition("/")[2]))
        for notebook in found:
            origins.setdefault((notebook.student, notebook.unit), set()).add(notebook.origin)
        for notebook in sorted(found, key=lambda one: (one.student, one.unit, one.version)):
            student, its_unit = notebook.student, notebook.unit
            with failures.of(student, its_unit), notes.leaving(notebook.path):
                # What is of another unit was handed in for the wrong assignment, so that it replaces nothing.
                if of and of != [its_unit]:
                    if len(of) == 1:
                        _mark(desk, student, notebook.origin, of[0], its_unit)
                    if unit:
                        raise LeftOut(f"it is of {its_unit}, not of {unit}")
                    has = "is of" if len(of) == 1 else "has as much of"
                    raise LeftOut(
                        f"it is of {its_unit}, and the download {has} {' and '.join(of)}. "
                        f"If it is meant so, collect with --unit {its_unit}"
                    )
                if len(origins[student, its_unit]) > 1:
                    raise LeftOut(
                        f"{student}'s {its_unit} is in this source under more than one name, and they may be two "
                        "students. If they are not, put the right one in by hand"
                    )
                _take(notebook, desk, report)
    report.taken = list(dict.fromkeys(report.taken))
    report.unchanged = [path for path in dict.fromkeys(report.unchanged) if path not in report.taken]
    report.unknown = [*names.not_listed()]
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


def _mark(desk: Desk, student: str, origin: str, unit: str, what: str) -> None:
    """Write down who handed in what is no notebook of the unit: it was not nothing."""
    mark = desk.collected / unit / student
    if not mark.exists():
        write_whole(mark, f"{mark_of(origin)}\n{what}")


def _take(found: Found, desk: Desk, report: CollectReport) -> None:
    """Put a notebook where it belongs. What lies there already is kept first, so nothing is ever lost. **Errors:**
    `LeftOut`, if a person has to look first.
    """
    path, data = desk.submission_path(found.unit, found.student), found.data.read_bytes()
    timestamp, late, earlier = path.with_name(TIMESTAMP), path.with_name(LATE), path.parent / "earlier"
    mark, origin = desk.collected / found.unit / found.student, mark_of(found.origin)
    current = path.read_bytes() if path.exists() else None
    if current is not None:
        if mark.is_file() and (before := mark.read_text(encoding="utf-8").partition("\n")[0]) != origin:
            raise LeftOut(
                f"{found.student}'s {found.unit} came from another place, {shown(before)!r}, not {shown(origin)!r}. If "
                "both are theirs, put the right one in by hand"
            )
        kept = [old.read_bytes() for old in earlier.glob("*.ipynb")]
        if current != data and data in kept:
            return  # it was here before, and was replaced
        if current not in (data, *kept):
            number = 1 + max((int(old.stem) for old in earlier.glob("*.ipynb") if old.stem.isdecimal()), default=0)
            if timestamp.exists():
                write_whole(earlier / f"{number}.txt", timestamp.read_bytes())
            write_whole(earlier / f"{number}.ipynb", current)
        if current != data:
            words = "was replaced; what was there is beside it now, in the folder earlier"
            report.notes.append(f"{found.student}'s {found.unit} {words}.")
    write_whole(mark, origin)  # first: without it, anybody's would replace it
    if current != data:
        timestamp.unlink(missing_ok=True)
        late.unlink(missing_ok=True)
        write_whole(path, data)
    for beside, said in ((timestamp, found.timestamp), (late, found.says_late)):
        if said:
            write_whole(beside, f"{said}\n")
    (report.unchanged if current == data else report.taken).append(path)
