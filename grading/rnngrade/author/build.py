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
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
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

__all__ = ["BuildError", "Report", "build", "copy_path", "main", "notebook_path"]


@dataclass
class Report:
    """What a build did: units by what became of them, and a sentence for each that failed."""

    executed: list[str] = field(default_factory=list)
    written: list[Path] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    @contextmanager
    def telling(self) -> Iterator[None]:
        """Around what is done for one unit: what its author has to put right is collected."""
        try:
            yield
        except BuildError as error:
            self.errors += error.args

    def write(self, path: Path, text: str) -> None:
        if write_changed(path, text):
            self.written.append(path)


def notebook_path(root: Path, folder: str, unit: str) -> Path:
    """Where the notebook of `unit` lies in `folder`, ``"solutions"`` or ``"notebooks"``."""
    return root / folder / unit / f"{unit}.ipynb"


def copy_path(root: Path, kind: str, unit: str) -> Path:
    """Where copies of answers to `unit` lie in the package, ``"answers"`` or ``"others"``."""
    return root / "rnncourse" / "exercises" / kind / f"{unit.partition('_')[2]}.txt"


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
    report, pool = Report(), ThreadPoolExecutor(2)
    todo: dict[str, NotebookNode] = {}
    ready: dict[str, NotebookNode] = {}
    copied: dict[str, str | None] = {}  # the model answers that were there before, of units that have others now
    try:
        for unit in _chosen(root, units):
            with report.telling():
                _find(validate.faults(root, unit))
                _find(validate.gaps(root, unit) if finished else ())
                source, copy = root / "solutions" / f"{unit}.py", copy_path(root, "answers", unit)
                notebook = read_unit(source)
                before = copy.read_text(encoding="utf-8") if copy.exists() else None
                is_copied = not copy.parent.exists() or before == answers(source)
                is_run = not force and _take_outputs(notebook, notebook_path(root, "solutions", unit))
                _find(() if is_copied and is_run else validate.misjudged(root, unit))
                if not is_copied:
                    copied[unit] = before
                    write_changed(copy, answers(source))
                (ready if is_run else todo)[unit] = notebook
        futures = {unit: pool.submit(execute, unit, notebook, root) for unit, notebook in todo.items()}
        for unit, future in futures.items():
            with report.telling():
                ready[unit] = future.result()
                report.executed.append(unit)
                if console:
                    console.print(f"executed {unit}", markup=False)
        for unit in sorted(ready):
            with report.telling():
                students = release.release(root, unit, ready[unit])
                if unit in copied:
                    del copied[unit]
                    report.written.append(copy_path(root, "answers", unit))
                    shelf, path = read(root / validate.shelf_of(unit)), copy_path(root, "others", unit)
                    if shelf and path.parent.exists():
                        report.write(path, others(shelf))
                for folder, notebook in (("solutions", ready[unit]), ("notebooks", students)):
                    nbformat.validate(notebook)
                    text = nbformat.writes(notebook, version=nbformat.NO_CONVERT)
                    report.write(notebook_path(root, folder, unit), f"{text}\n")
                if gradebook:
                    report.notes.extend(release.enter_in_gradebook(root, unit))
    finally:
        pool.shutdown(wait=False, cancel_futures=True)  # who interrupts a build need not wait for its cells
        for unit, before in copied.items():
            copy = copy_path(root, "answers", unit)
            copy.unlink() if before is None else write_changed(copy, before)
    return report


def _find(faults: Iterable[str]) -> None:
    """**Errors:** `BuildError` with what is found, if anything is."""
    if found := [*faults]:
        raise BuildError(*found)


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
    written = [f"wrote {path.relative_to(root)}" for path in report.written]
    for style, lines in (("", written), ("yellow", report.notes), ("red", report.errors)):
        for line in lines:
            console.print(line, style=style, markup=False)


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


if __name__ == "__main__":
    sys.exit(main())
