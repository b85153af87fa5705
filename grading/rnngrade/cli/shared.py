"""What several commands ask and say."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

import click
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from rnncourse import exercises
from rnncourse.seat.sentences import Sentence
from rnngrade.core.desk import Desk
from rnngrade.core.record import Record, write_whole

if TYPE_CHECKING:
    from rnngrade.roster.students import ClassList
    from rnngrade.roster.times import Taken


def units_of(names: Sequence[str], default: Sequence[str] = ()) -> list[str]:
    """The units of these names or numbers, "03_cell" or "03"."""
    try:
        return [exercises.unit(name).stem for name in names] or list(default)
    except KeyError as error:
        raise Sentence(str(error.args[0])) from None


def require_work(desk: Desk, units: Sequence[str]) -> None:
    """**Errors:** `Sentence` if nobody has handed in any of these."""
    if not any(desk.submissions(unit) for unit in units):
        raise Sentence(
            f"There is nothing to grade: submissions lie in {desk.submitted}/STUDENT/{units[0]}/{units[0]}.ipynb. "
            "'rnngrade collect' puts them there, 'rnngrade sample' makes some up."
        )


def of_the_class(people: ClassList, students: Iterable[str], unit: str) -> Iterator[str]:
    """Who handed in and is not on the class list, and who is on it and handed in nothing, in sentences."""
    there = list(students)
    if unknown := people.unknown(there):
        yield f"{unit}: not on the class list, graded and kept apart: {', '.join(unknown)}"
    if absent := people.absent(there):
        yield f"{unit}: {len(absent)} handed in nothing: {', '.join(people.shown(person) for person in absent)}"


def graded_units(desk: Desk) -> list[str]:
    """The units that have records. **Errors:** `Sentence` if there are none."""
    found = [unit for unit in exercises.STEMS if any(desk.graded(unit))]
    if not found:
        raise Sentence(f"Nothing is graded in {desk.folder} yet: run 'rnngrade --desk {desk.folder} run UNIT' first.")
    return found


def own_seed(desk: Desk) -> str:
    """The seed of this desk's hidden cases: drawn once, kept in a file that only its owner can read."""
    path = desk.folder / ".hidden-seed"
    if not path.exists():
        write_whole(path, secrets.token_hex(16).encode())
        path.chmod(0o600)
    return path.read_text().strip()


def say_taken(taken: Taken) -> None:
    """What came of taking times, in sentences."""
    for words in taken.notes:
        click.echo(words)
    click.echo(f"{len(taken.new)} times are new, {len(taken.known)} were known.")
    if taken.new:
        click.echo(
            "What being late costs is in all reports, feedback and exports from now on; formgrader has it "
            "after the next 'rnngrade run'."
        )


@contextmanager
def progress_bar(unit: str) -> Iterator[Callable[[Record, int, int], None]]:
    """A live bar with the time that is left, on stderr."""
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
    )
    console = Console(stderr=True)
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as progress:
        task = progress.add_task(unit, total=None)

        def advance(record: Record, done: int, total: int) -> None:
            progress.update(task, completed=done, total=total)

        yield advance
