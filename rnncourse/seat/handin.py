"""A student's own notebook, looked at as the grading desk will look at it: where it is, what is missing in it, what the
visible checks say of it when it runs from top to bottom, and the file to hand in.

Nothing here writes to the notebook. To look at it needs no run; to run it takes a copy, in a kernel and a folder of its
own. The desk knows the unit as it was given out and uses that; here only the student's copy is known, and what nbgrader
wrote into it: each cell's name, and a checksum by which a changed cell is seen.
"""

from __future__ import annotations

import builtins
import copy
import hashlib
import os
import re
import subprocess
import tempfile
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rnncourse.seat.logbook import Outline, outline
from rnncourse.seat.names import CODE_STUB, PROVIDED, names_in, not_python
from rnncourse.seat.places import folders, stems

if TYPE_CHECKING:
    from nbformat import NotebookNode

CELL_SECONDS = 60
VERDICT = "application/vnd.rnncourse.verdict+json"
TEXT_STUB = "YOUR ANSWER HERE"


class HandinError(Exception):
    """What kept it from being done, and what to do, in one sentence."""


# --- where the notebooks are


def find(name: str, here: Path) -> Path:
    """A notebook by its path, or by its unit, "03" or "03_cell". **Errors:** `HandinError`."""
    if name.endswith(".ipynb") or Path(name).name != name:
        path = here / Path(name).expanduser()
        if not path.is_file():
            raise HandinError(f"There is no notebook {name}.")
        return path
    stem = unit_of(name).stem
    for folder in folders(here):
        for path in (folder / f"{stem}.ipynb", folder / stem / f"{stem}.ipynb"):
            if path.is_file():
                return path
    raise HandinError(
        f"There is no {stem}.ipynb here: go to the folder of the course, or name the file, as in PATH/{stem}.ipynb."
    )


def unit_of(name: str) -> Outline:
    """A unit by its stem or number, "03" or "3". **Errors:** `HandinError`."""
    for unit in outline():
        if name.zfill(2) in (unit.stem, unit.stem.partition("_")[0]):
            return unit
    raise HandinError(f"There is no unit {name!r}. There are: {', '.join(stems())}.")


# --- what is in one


@dataclass
class Notebook:
    """A student's notebook as it was saved, and the unit that it is of."""

    path: Path
    unit: Outline
    node: NotebookNode

    def cells(self, name: str) -> list[NotebookNode]:
        """The cells of that name in nbgrader's metadata."""
        return [cell for cell in self.node.cells if cell_name(cell) == name]

    def answers(self, exercise: str) -> list[NotebookNode]:
        """The cells with an exercise's answer: those of its name or, where there is none, those that define it."""
        return self.cells(exercise) or [
            cell for cell in self.own_code() if not cell_name(cell) and defines(exercise, cell.source)
        ]

    def is_written(self, exercise: str) -> bool:
        """Whether there is an answer that is more than what was given out."""
        return any(not CODE_STUB.search(cell.source) for cell in self.answers(exercise))

    def questions(self) -> dict[str, tuple[int, bool]]:
        """The questions that a person reads: the points of each, and whether there is an answer."""
        return {
            cell_name(cell): (
                round(cell_meta(cell).get("points", 0)),
                was_changed(cell) is not False and not cell.source.rstrip().endswith(TEXT_STUB),
            )
            for cell in self.node.cells
            if cell.cell_type == "markdown" and cell_meta(cell).get("grade") and cell_meta(cell).get("solution")
        }

    def own_code(self) -> list[NotebookNode]:
        """The code that grading runs: all but experiments."""
        return [cell for cell in self.node.cells if cell.cell_type == "code" and not _is_experiment(cell)]


def read(path: Path) -> Notebook:
    """The notebook at `path`. **Errors:** `HandinError` if it is none, or none of this course."""
    import nbformat

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # what nbformat thinks of cells without ids
            node = nbformat.read(path, as_version=4)
    except OSError as error:
        raise HandinError(f"{path} cannot be read: {error.strerror}.") from None
    except Exception:  # nbformat raises whatever the contents make it
        raise HandinError(f"{path} cannot be read as a notebook: open it in JupyterLab and save it again.") from None
    return recognised(path, node)


def recognised(path: Path, node: NotebookNode) -> Notebook:
    """A notebook, with the unit that it is of. **Errors:** `HandinError` if it is none of this course."""
    names = {cell_name(cell) for cell in node.cells}
    unit = max(outline(), key=lambda unit: len(names & unit.points.keys()))
    if not names & unit.points.keys():
        raise HandinError(f"{path} has none of the course's exercises: is it the right file?")
    return Notebook(path, unit, node)


def remarks(notebook: Notebook) -> list[str]:
    """What is missing or odd, a sentence each."""
    unwritten = [e for e in notebook.unit.points if notebook.answers(e) and not notebook.is_written(e)]
    unanswered = [name for name, (_, is_answered) in notebook.questions().items() if not is_answered]
    found = [f"Not written yet: {', '.join(unwritten)}."] if unwritten else []
    found += [f"To be answered in words: {', '.join(unanswered)}."] if unanswered else []
    for exercise in notebook.unit.points:
        cells = notebook.cells(exercise)
        if not notebook.answers(exercise):
            found.append(f"There is no cell for {exercise} any more: nothing can be graded for it.")
        elif not cells:
            found.append(f"The cell of {exercise} is gone or renamed; what another cell defines is graded.")
        elif len(cells) > 1:
            found.append(f"There are {len(cells)} cells for {exercise}: the last one that is written is graded.")
        checks = notebook.cells(f"check_{exercise}")
        if not checks:
            found.append(f"The check of {exercise} is gone; grading uses the one that you were given.")
        elif any(map(was_changed, checks)):
            found.append(f"The check of {exercise} was changed; grading uses the one that you were given.")
    found += [
        f"The cell {cell_name(cell)} was changed, and grading uses the one that you were given: put code of your own "
        "into cells of your own."
        for cell in notebook.node.cells
        if cell_meta(cell).get("locked") and not cell_meta(cell).get("grade") and was_changed(cell)
    ]
    return found


def faults(notebook: Notebook) -> list[str]:
    """What keeps code that is graded from running, as far as it shows without running it, a sentence each: what is no
    Python, and names that nothing defines. A name that only an experiment defines counts as none: grading leaves
    experiments out.
    """
    read = [(cell, names_in(cell.source)) for cell in notebook.own_code()]
    if broken := [cell for cell, names in read if names is None]:
        return [f"No Python, so it cannot be graded: {_called(cell)}, {not_python(cell.source)}." for cell in broken]
    shown = [cell for cell in notebook.node.cells if cell.cell_type == "code" and _is_experiment(cell)]
    in_experiments = set().union(*(names.defined for cell in shown if (names := names_in(cell.source))))
    known = set().union(*(names.defined for _, names in read if names), dir(builtins), PROVIDED)
    if "*" in known:
        return []
    return [
        f"{'Only an experiment, which grading leaves out,' if name in in_experiments else 'Nothing'} defines `{name}`, "
        f"which is used in {_called(cell)}."
        for cell, names in read
        if names and not cell_meta(cell).get("locked")
        for name in sorted(names.used - known)
    ]


def _called(cell: NotebookNode) -> str:
    """What to call a cell in a sentence."""
    return cell_name(cell) or f'the cell that begins "{cell.source.strip().partition(chr(10))[0][:40]}"'


def without_outputs(notebook: Notebook, shown: dict[str, str] | None = None) -> NotebookNode:
    """What is handed in: all cells as they are, without what they printed. `shown` says of which exercises the
    solution was shown, and when; an instructor is told so.
    """
    node = copy.deepcopy(notebook.node)
    if shown:
        node.metadata["rnncourse"] = {"solutions_shown": shown}
    for cell in node.cells:
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None
    return node


def cell_meta(cell: NotebookNode) -> dict[str, Any]:
    """What nbgrader wrote into a cell."""
    found = cell.metadata.get("nbgrader", {})
    return found if isinstance(found, dict) else {}


def cell_name(cell: NotebookNode) -> str:
    """The name by which a cell counts; empty if it is none that does."""
    return str(cell_meta(cell).get("grade_id", ""))


def _is_experiment(cell: NotebookNode) -> bool:
    return not {"experiment", "author"}.isdisjoint(cell.metadata.get("tags", []))


def defines(name: str, source: str) -> bool:
    """Whether code defines a name, not inside of anything else."""
    return re.search(rf"^(?:def|class)\s+{name}\b|^{name}\s*(?::[^=\n]*)?=(?!=)", source, re.MULTILINE) is not None


def was_changed(cell: NotebookNode) -> bool | None:
    """Whether a cell is not what it was given out as, by nbgrader's checksum; None if it has none."""
    meta = cell_meta(cell)
    if "checksum" not in meta:
        return None
    is_grade, is_solution, is_locked = (bool(meta.get(key)) for key in ("grade", "solution", "locked"))
    parts = [cell.source, cell.cell_type, is_grade, is_solution, is_locked, cell_name(cell)]
    parts += [float(meta.get("points", 0))] if is_grade else []
    return hashlib.md5("".join(map(str, parts)).encode()).hexdigest() != meta["checksum"]


# --- what it would earn


@dataclass(frozen=True)
class Earned:
    """What one exercise would be given by its visible check."""

    exercise: str
    points: float
    max_points: int
    passed: bool
    message: str
    score: float = 0.0
    diagnosis: str | None = None


@dataclass
class _Run:
    """The cells to run: what the desk would run, with a report in place of each check."""

    cells: list[NotebookNode] = field(default_factory=list)
    reports: dict[int, str] = field(default_factory=dict)  # the exercise that a cell reports on, by the cell's index
    answers: dict[int, str] = field(default_factory=dict)

    def add(self, source: str, *, reports: str = "", answers: str = "") -> None:
        import nbformat

        if reports:
            self.reports[len(self.cells)] = reports
        if answers:
            self.answers[len(self.cells)] = answers
        self.cells.append(nbformat.v4.new_code_cell(source))


def rehearse(notebook: Notebook, advance: Callable[[int, int], None] = lambda done, total: None) -> list[Earned]:
    """Run a copy from top to bottom in a fresh kernel, and say what each exercise would be given. A cell that takes
    more than a minute, or ends the kernel, costs what it holds; the rest is run again without it.
    """
    from nbclient import NotebookClient
    from nbclient.exceptions import CellTimeoutError, DeadKernelError
    from nbformat.v4 import new_notebook

    run = _to_run(notebook)
    verdicts: dict[str, Earned] = {}
    stopped: dict[int, str] = {}  # why a cell is left out
    raised: dict[str, str] = {}
    with tempfile.TemporaryDirectory() as folder:
        while True:
            client = NotebookClient(
                new_notebook(cells=copy.deepcopy(run.cells)),
                timeout=CELL_SECONDS,
                kernel_name="python3",
                allow_errors=True,
                record_timing=False,
                extra_arguments=["--HistoryManager.enabled=False"],
                resources={"metadata": {"path": folder}},
            )
            at = 0
            try:
                env = os.environ | {"RNNCOURSE_PROGRESS": "off"}
                with client.setup_kernel(env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL):
                    for at, cell in enumerate(client.nb.cells):
                        if at in stopped or run.reports.get(at, "") in verdicts:
                            continue
                        advance(at, len(run.cells))
                        client.execute_cell(cell, at)
                        for output in cell.outputs:
                            if VERDICT in output.get("data", {}):
                                made = Earned(**output.data[VERDICT])
                                verdicts.setdefault(made.exercise, made)
                            elif output.output_type == "error" and at in run.answers:
                                first_line = f"{output.ename}: {output.evalue}".partition("\n")[0]
                                raised[run.answers[at]] = re.sub(r"\(\S+\.py, (line \d+)\)", r"(\1)", first_line)
                break
            except CellTimeoutError:
                stopped[at] = f"took more than {CELL_SECONDS} seconds"
            except DeadKernelError:
                stopped[at] = "ended its kernel"
    for index, why in stopped.items():
        if name := run.reports.get(index) or run.answers.get(index):
            raised[name] = f"it {why}"
    return [_earned(notebook, name, verdicts.get(name), raised.get(name)) for name in notebook.unit.points]


def _earned(notebook: Notebook, name: str, verdict: Earned | None, raised: str | None) -> Earned:
    if verdict is not None and (verdict.passed or verdict.points or not raised):
        return verdict
    if not notebook.answers(name):
        words = f"There is no cell for {name}."
    elif not notebook.is_written(name):
        words = f"{name} is not written yet."
    elif raised:
        words = f"Its cell stopped: {raised}."
    else:
        words = f"No cell that was run defines {name}."
    return Earned(name, 0.0, notebook.unit.points[name], False, words)


def _to_run(notebook: Notebook) -> _Run:
    run = _Run()
    counted = {
        name: next((c for c in reversed(cells) if not CODE_STUB.search(c.source)), cells[-1])
        for name in notebook.unit.points
        if (cells := notebook.cells(name))
    }
    checks = {f"check_{name}": name for name in notebook.unit.points}
    seen: set[str] = set()
    for cell in notebook.node.cells:
        name = cell_name(cell)
        if name in checks:
            run.add(_report_on(checks[name]), reports=checks[name])
            seen.add(checks[name])
        elif name in counted and cell is not counted[name]:
            continue
        elif cell.cell_type == "code" and not _is_experiment(cell):
            run.add(cell.source, answers=name if name in counted else "")
    for name in notebook.unit.points:
        if name not in seen:
            run.add(_report_on(name), reports=name)
    return run


def _report_on(name: str) -> str:
    return f'__import__("rnncourse.seat.handin").seat.handin.report("{name}", globals())'


def report(name: str, namespace: dict[str, Any]) -> None:
    """In the kernel: check what is called `name`, and hand the verdict on."""
    from IPython.display import display

    from rnncourse.seat.notebook import check

    if name not in namespace:
        return
    verdict = check(namespace[name], name)
    earned = Earned(
        name,
        verdict.points,
        verdict.max_points,
        verdict.passed,
        verdict.message,
        verdict.score,
        verdict.diagnosis,
    )
    display({VERDICT: vars(earned)}, raw=True)
