"""One file, graded by itself: in a shell, in a workflow, on a platform that starts a container for each submission.

There is no desk: nothing is kept but what is returned. The judge and the sandbox are the desk's.
"""

from dataclasses import dataclass
from pathlib import Path

from rnncourse import exercises
from rnncourse.checks.excerpt import Excerpt
from rnncourse.checks.listing import listing
from rnngrade.core.errors import DeskError
from rnngrade.core.record import ExerciseResult, Record
from rnngrade.grading.bundle import Bundle, Settings
from rnngrade.grading.worker import Worker
from rnngrade.roster.identity import unit_of_cells
from rnngrade.sandbox import bubblewrap
from rnngrade.sandbox.limits import Limits


@dataclass(frozen=True)
class Alone:
    """What grading one file gave. `unprotected` says in sentences what it was not kept from."""

    record: Record
    unprotected: tuple[str, ...]


def grade_file(
    root: Path, path: Path, *, unit: str | None = None, seed: str = "", limits: Limits | None = None, sandbox: str = ""
) -> Alone:
    """Grade a notebook for the course at `root`. The unit is known from its cells, if it is not given.

    `sandbox` is "bwrap", "none", or "" for a sandbox if there can be one here. **Errors:** `DeskError`, `OSError`.
    """
    data, sandboxed, why = path.read_bytes(), sandbox != "none", ""
    if sandboxed:
        try:
            bubblewrap.require()
        except DeskError as error:
            if sandbox == "bwrap":
                raise
            sandboxed, why = False, f" ({str(error).partition(':')[0]})"
    bundle = Bundle.make(root, unit or unit_of(data, path.name))
    with Worker(Settings(bundle, limits or Limits(), seed, sandboxed)) as worker:
        graded = worker.grade("student", data)
    return Alone(graded.record, tuple(bubblewrap.not_limited() if sandboxed else [_NOT_SANDBOXED + why]))


_NOT_SANDBOXED = (
    "There was no sandbox: what the notebook runs can read every file that this process can, the course's answers and "
    "the hidden cases' seed among them, use the network, and change what is graded after it in this container."
)


def unit_of(data: bytes, name: str) -> str:
    """The unit that a notebook is of, by the ids of its cells. **Errors:** `DeskError`."""
    if unit := unit_of_cells(data, exercises.STEMS):
        return unit
    raise DeskError(
        f"{name} has no exercise of the course: hand in the notebook that you were given, with your answers in it."
    )


def words_of(result: ExerciseResult) -> str:
    """What a student reads of one exercise: message, table, place, hint; empty for a right one."""
    if result.passed:
        return ""
    parts = [result.message]
    if result.table:
        title, *rows = (result.table[name] for name in ("title", "columns", "expected", "got", "wrong"))
        parts.append(str(Excerpt(title, *map(tuple, rows))))
    if where := result.where:
        parts.append(where["message"])
        if where["lines"] and where.get("source"):
            parts.append(listing(where["source"], where["lines"]))
    if result.hint:
        parts.append(f"Hint: {result.hint}")
    return "\n\n".join(parts)
