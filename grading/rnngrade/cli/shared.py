"""What several commands ask and say."""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from rich.console import Console
from rich.progress import MofNCompleteColumn, Progress

from rnncourse import exercises
from rnncourse.seat.sentences import EXAMPLES, Sentence
from rnngrade.core.desk import Desk
from rnngrade.core.record import Record, write_whole

if TYPE_CHECKING:
    from rnngrade.lms.api import Canvas
    from rnngrade.roster.students import ClassList

Parameter = Callable[[Callable[..., Any]], Callable[..., Any]]

FILE_THERE = click.Path(path_type=Path, exists=True, dir_okay=False)


class UnitName(click.ParamType):
    """A unit by name or number, "03_cell", "03" or "3"; the command gets its stem."""

    name = "unit"

    def convert(self, value: str, param: click.Parameter | None, context: click.Context | None) -> str:
        try:
            return exercises.unit(value.zfill(2)).stem
        except KeyError as error:
            raise Sentence(str(error.args[0])) from None


def command(
    *given: str | Parameter, of: click.Group | None = None, **more: Any
) -> Callable[[Callable[..., Any]], click.Command]:
    """A command that gets the desk. Given are its examples, of `rnngrade --desk autumn` or as they stand, and what it
    asks for.
    """
    examples = [
        one if one.startswith("rnngrade ") else f"rnngrade --desk autumn {one}" for one in given if isinstance(one, str)
    ]
    make = click.command if of is None else of.command

    def made(function: Callable[..., Any]) -> click.Command:
        for parameter in reversed(given):
            function = function if isinstance(parameter, str) else parameter(function)
        return make(epilog=EXAMPLES + "\n".join(f"  {one}" for one in examples), **more)(click.pass_obj(function))

    return made


def unit_argument(more: str = "", **given: Any) -> Parameter:
    return click.argument("unit", help=f"The unit: 03, or 03_cell{more}.", type=UnitName(), **given)


def units_argument(default: str = "") -> Parameter:
    """The argument for units: some are named, or all of what is the default."""
    words = f"The units (default: {default})." if default else "The units: 03, or 03_cell; several, if you like."
    return click.argument("units", help=words, nargs=-1, type=UnitName(), required=not default)


UNIT = click.option("--unit", type=UnitName(), help="The unit, if it cannot be told.")
STUDENTS = click.option("--student", "students", multiple=True, help="Only this student; may be given again.")
SEED = click.option(
    "--seed", envvar="RNNCOURSE_SEED", help="The hidden cases' seed (default: the desk's own, drawn once)."
)
CANVAS = (
    click.option("--url", envvar="CANVAS_URL", help="Canvas's address, or the variable CANVAS_URL."),
    click.option("--course", type=int, help="The course's number, which stands in its address."),
    click.option("--assignment", type=int, help="The assignment's number, also in its address."),
)


def canvas_at(url: str | None, course: int | None, assignment: int | None) -> Canvas | None:
    """An assignment in Canvas, None if not all is said by which it is named. The token is never an option, which others
    on the machine see.
    """
    from rnngrade.lms.api import Canvas

    if url is None or course is None or assignment is None:
        return None
    token = os.environ.get("CANVAS_TOKEN", "").strip()
    return Canvas(url, token, f"/api/v1/courses/{course}/assignments/{assignment}")


def say(lines: Iterable[str], *, err: bool = False) -> None:
    """Print them, a line each, as they come."""
    for line in lines:
        click.echo(line, err=err)


def require_work(desk: Desk, units: Sequence[str], names: Sequence[str] = ()) -> list[str]:
    """The students who are called so. **Errors:** `Sentence` if nobody has handed in any of these; `DeskError`."""
    nothing = (
        f"There is nothing to grade: submissions lie in {desk.submitted}/STUDENT/{units[0]}/{units[0]}.ipynb. "
        "'rnngrade collect' puts them there, 'rnngrade sample' makes some up."
    )
    there = {student for unit in units for student in desk.submissions(unit)}
    return _called(desk, names, sorted(there), f"who handed in {', '.join(units)}", nothing)


def require_graded(desk: Desk, unit: str, names: Sequence[str] = ()) -> list[str]:
    """The students who are called so. **Errors:** `Sentence` if nothing of the unit is graded; `DeskError`."""
    nothing = f"Nothing of {unit} is graded in {desk.folder} yet: run '{desk.command(f'run {unit[:2]}')}' first."
    return _called(desk, names, [record.student for record in desk.graded(unit)], f"who is graded in {unit}", nothing)


def _called(desk: Desk, names: Sequence[str], students: Sequence[str], where: str, nothing: str) -> list[str]:
    from rnngrade.roster.names import called
    from rnngrade.roster.students import class_list

    if not students:
        raise Sentence(nothing)
    return [called(name, students, class_list(desk), where) for name in names]


def of_the_class(desk: Desk, people: ClassList, unit: str) -> Iterator[str]:
    """Who handed in and is not on the class list, who handed in no notebook, and who nothing, in sentences."""
    from rnngrade.roster.identity import presence

    return (f"{unit}: {words}" for words in presence(desk, unit, people).lines(people))


def graded_units(desk: Desk) -> list[str]:
    """The units that have records. **Errors:** `Sentence` if there are none."""
    found = [unit for unit in exercises.STEMS if any(desk.graded(unit))]
    if not found:
        raise Sentence(f"Nothing is graded in {desk.folder} yet: run '{desk.command('run UNIT')}' first.")
    return found


def own_seed(desk: Desk) -> str:
    """The seed of this desk's hidden cases: drawn once, kept in a file that only its owner can read."""
    path = desk.folder / ".hidden-seed"
    if not path.exists():
        if any(desk.records.glob("*/*.json")):
            click.echo(
                f"Note: {path} is not there, though work was graded by it: new hidden cases were drawn. If there is a "
                "copy of it, put it there and run this again.",
                err=True,
            )
        write_whole(path, secrets.token_hex(16))
        path.chmod(0o600)
    return path.read_text().strip()


@contextmanager
def progress_bar(unit: str) -> Iterator[Callable[[Record, int, int], None]]:
    """A live bar with the time that is left, on stderr; where that is no terminal, a line for each tenth."""
    columns, console = (*Progress.get_default_columns(), MofNCompleteColumn()), Console(stderr=True)
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as progress:
        task = progress.add_task(unit, total=None)

        def advance(record: Record, done: int, total: int) -> None:
            progress.update(task, completed=done, total=total)
            if not console.is_terminal and 10 * done // total > 10 * (done - 1) // total:
                click.echo(f"{unit}: {done} of {total} graded", err=True)

        yield advance
