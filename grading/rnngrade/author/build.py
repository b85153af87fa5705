"""The build: ``solutions/NN_stem.py`` into the executed solution and the notebook that students get.

    solutions/NN_stem.py  ->  solutions/NN_stem/NN_stem.ipynb  ->  notebooks/NN_stem/NN_stem.ipynb
         (by hand)              (executed, with outputs)               (nbgrader's release)
                          ->  rnncourse/exercises/answers/stem.txt
                                (the model answers, of which the catalogue's mistakes are edits)
    tests/answers/NN_stem.txt  ->  rnncourse/exercises/others/stem.txt
                                (of each exercise a few other right answers: `solution` shows the first)

Only units whose code changed are executed again, two at a time, and what is written depends on nothing but the
sources and what they print: no timings, versions, addresses or paths. A unit is validated before anything of it is
written (`validate.py`), and one that fails leaves its old files untouched. nbgrader's own converter makes the release,
and enters the unit into the gradebook, so that ``nbgrader autograde`` works at once.

    python -m rnngrade.author.build [--root COURSE] [--force] [UNIT ...]
"""

import argparse
import os
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

import nbformat
from nbformat import NotebookNode
from rich.console import Console

from rnncourse.checks.shelf import read
from rnngrade.author import release, validate
from rnngrade.author.cells import answers, others
from rnngrade.author.execute import execute
from rnngrade.author.unit import BuildError, find_units, key_of, read_unit
from rnngrade.core.record import write_changed

__all__ = ["BuildError", "Report", "answers_path", "build", "main", "notebook_path"]


@dataclass
class Report:
    """What a build did: units by what became of them, and a sentence for each that failed."""

    executed: list[str] = field(default_factory=list)
    written: list[Path] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def notebook_path(root: Path, folder: str, unit: str) -> Path:
    """Where the notebook of `unit` lies in `folder`, ``"solutions"`` or ``"notebooks"``."""
    return root / folder / unit / f"{unit}.ipynb"


def answers_path(root: Path, unit: str) -> Path:
    """Where the copy of the model answers of `unit` lies in the package."""
    return root / "rnncourse" / "exercises" / "answers" / f"{unit.partition('_')[2]}.txt"


def shelf_path(root: Path, unit: str) -> Path:
    """Where the answers stand by which the checks of `unit` are proved."""
    return root / validate.shelf_of(unit)


def others_path(root: Path, unit: str) -> Path:
    """Where other right answers of `unit` lie in the package."""
    return root / "rnncourse" / "exercises" / "others" / f"{unit.partition('_')[2]}.txt"


def build(
    root: Path,
    units: Sequence[str] = (),
    *,
    force: bool = False,
    finished: bool = False,
    gradebook: bool = True,
    console: Console | None = None,
) -> Report:
    """Bring the notebooks of `units` (all, if none is named) of the course at `root` in step with their sources.

    With `force`, units are executed even if their code is what it was. `gradebook` says whether they are entered into
    the gradebook too. What `validate` finds is an error, and where units are to be `finished`, what they still need.
    Errors are collected in the report, and units without one are built all the same.
    """
    report = Report()
    todo: dict[str, NotebookNode] = {}
    ready: dict[str, NotebookNode] = {}
    copied: dict[str, str | None] = {}  # the model answers that were there before, of units that have others now
    for unit in _chosen(root, units):
        source, copy = root / "solutions" / f"{unit}.py", answers_path(root, unit)
        if found := list(validate.faults(root, unit)) or (finished and list(validate.gaps(root, unit))):
            report.errors += found
            continue
        try:
            notebook = read_unit(source)
        except BuildError as error:
            report.errors.append(str(error))
            continue
        before = copy.read_text(encoding="utf-8") if copy.exists() else None
        is_copied = not copy.parent.exists() or before == answers(source)
        is_run = not force and _take_outputs(notebook, notebook_path(root, "solutions", unit))
        if not (is_copied and is_run) and (found := list(validate.misjudged(root, unit))):
            report.errors += found
            continue
        if not is_copied:
            copied[unit] = before
            write_changed(copy, answers(source).encode())
        (ready if is_run else todo)[unit] = notebook

    pool = ThreadPoolExecutor(2)
    try:
        futures = {unit: pool.submit(execute, unit, notebook, root) for unit, notebook in todo.items()}
        for unit, future in futures.items():
            try:
                ready[unit] = future.result()
                report.executed.append(unit)
                if console:
                    console.print(f"executed {unit}", markup=False)
            except BuildError as error:
                report.errors.append(str(error))
    finally:
        pool.shutdown(wait=False, cancel_futures=True)  # who interrupts a build need not wait for its cells
        for unit in todo.keys() & copied.keys() - ready.keys():
            _put_back(answers_path(root, unit), copied[unit])

    for unit in sorted(ready):
        try:
            students = release.release(root, unit, ready[unit])
        except BuildError as error:
            report.errors.append(str(error))
            if unit in copied:
                _put_back(answers_path(root, unit), copied[unit])
            continue
        if unit in copied:
            report.written.append(answers_path(root, unit))
            shelf, path = read(shelf_path(root, unit)), others_path(root, unit)
            if shelf and path.parent.exists() and write_changed(path, others(shelf).encode()):
                report.written.append(path)
        for folder, notebook in (("solutions", ready[unit]), ("notebooks", students)):
            path = notebook_path(root, folder, unit)
            nbformat.validate(notebook)
            if write_changed(path, f"{nbformat.writes(notebook, version=nbformat.NO_CONVERT)}\n".encode()):
                report.written.append(path)
        if gradebook:
            report.notes.extend(release.enter_in_gradebook(root, unit))
    return report


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m rnngrade.author.build", description="Build the course's notebooks."
    )
    parser.add_argument("units", nargs="*", metavar="UNIT", help="such as 03 or 03_cell; all if none is named")
    parser.add_argument("--root", type=Path, default=Path.cwd(), help="the course's folder (default: this one)")
    parser.add_argument("--force", action="store_true", help="execute units again even if their code did not change")
    parser.add_argument("--finished", action="store_true", help="build none that lacks hints, concepts, other answers")
    options = parser.parse_args(argv)

    console = Console(highlight=False, soft_wrap=True)
    try:
        report = build(
            options.root.resolve(), options.units, force=options.force, finished=options.finished, console=console
        )
    except BuildError as error:
        console.print(str(error), style="red", markup=False)
        return 1
    except KeyboardInterrupt:
        console.print("Stopped. The notebooks are as they were.")
        console.file.flush()
        os._exit(130)  # the threads wait for kernels; a kernel ends by itself when its parent is gone
    tell(report, options.root.resolve(), console)
    if not report.written and not report.errors:
        console.print("The notebooks are in step with their sources.")
    return 1 if report.errors else 0


def tell(report: Report, root: Path, console: Console) -> None:
    """Print what was written, what is worth knowing, and what went wrong, a line each."""
    for path in report.written:
        console.print(f"wrote {path.relative_to(root)}", markup=False)
    for note in report.notes:
        console.print(note, style="yellow", markup=False)
    for message in report.errors:
        console.print(message, style="red", markup=False)


def _chosen(root: Path, units: Sequence[str]) -> list[str]:
    """The units to build; a name that is none is an error."""
    found = find_units(root)
    if not found:
        raise BuildError(f"{root} holds no course: there is no solutions/NN_stem.py in it.")
    chosen = [stem for stem in found if not units or {stem, *stem.split("_", 1)} & {*units}]
    for unit in units:
        if not any(unit in (stem, *stem.split("_", 1)) for stem in chosen):
            raise BuildError(f"There is no unit {unit!r}; there are {', '.join(found)}.")
    return chosen


def _take_outputs(notebook: NotebookNode, path: Path) -> bool:
    """Give `notebook` the outputs of the one at `path`, if that was made from the same code; say whether it was."""
    notebook.metadata["rnncourse"] = {"key": key_of(notebook)}
    try:
        old = nbformat.read(path, as_version=4)
    except (OSError, ValueError, nbformat.ValidationError):
        return False
    if old.metadata.get("rnncourse") != notebook.metadata["rnncourse"]:
        return False
    old_cells = [cell for cell in old.cells if cell.cell_type == "code"]
    new_cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    for new, before in zip(new_cells, old_cells, strict=True):
        new.outputs, new.execution_count = before.outputs, before.execution_count
    return True


def _put_back(path: Path, text: str | None) -> None:
    """Let `path` hold what it held before, or be no file."""
    if text is None:
        path.unlink()
    else:
        write_changed(path, text.encode())


if __name__ == "__main__":
    sys.exit(main())
