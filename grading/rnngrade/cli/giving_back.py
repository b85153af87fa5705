"""The command that gives back, `rnngrade return`, with a target for each place that grades and pages can go to."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from rnngrade.cli.shared import (
    CANVAS,
    FILE_THERE,
    canvas_at,
    command,
    graded_units,
    of_the_class,
    say,
    unit_argument,
    units_argument,
)
from rnngrade.core.desk import Desk
from rnngrade.core.errors import Failures, some
from rnngrade.core.record import write_whole
from rnngrade.core.words import count

if TYPE_CHECKING:
    from rnngrade.lms.returning import Returned


@click.group("return")
def give_back() -> None:
    """Give grades and feedback back: as a table, to Canvas, to Moodle, by mail.

    Everywhere by one rule: points that may still change by hand stay here, unless --provisional says otherwise, and who
    is left out is said.
    """


PROVISIONAL = "Also the points of those for whom a person has still to look."
target = partial(command, click.option("--provisional", is_flag=True, help=PROVISIONAL), of=give_back)
UNIT_OR_TERM = (
    unit_argument("; none, with --total", required=False),
    click.option("--total", "of_the_term", is_flag=True, help="The term's total in percent, instead of a unit."),
)
FILE = click.Path(path_type=Path, dir_okay=False)
A_TABLE = (
    click.option("--table", type=FILE_THERE, help="The table that you downloaded, to be filled."),
    click.option("--column", help="The column of it to fill, if it cannot be told."),
    click.option("--output", type=FILE, help="Where to write the filled table."),
)


@target(
    *("return csv 03 --output grades.csv", "return csv --total --output term.csv"),
    units_argument("all that are graded"),
    click.option("--total", "of_the_term", is_flag=True, help="One number for the term: [term] in desk.toml."),
    click.option("--output", type=FILE, help="The file to write (default: stdout)."),
)
def csv(desk: Desk, units: tuple[str, ...], of_the_term: bool, output: Path | None, provisional: bool) -> None:
    """A table for a spreadsheet, of all or these units: points by exercise, by hand and in all, before and after being
    late. A total that may still change is left empty.
    """
    from rnngrade.gradebook.exporting import export, export_total
    from rnngrade.roster.students import class_list

    with Failures() as failures:
        stems = units or graded_units(desk)
        text = (export_total if of_the_term else export)(desk, stems, failures, provisional=provisional)
        if output is None:
            sys.stdout.write(text.replace("\r\n", "\n"))
        else:
            write_whole(output, text)
            click.echo(str(output))
        people = class_list(desk)
        for unit in stems:
            say(of_the_class(desk, people, unit), err=True)


@target(
    "return canvas 03 --url https://canvas.example.org --course 1 --assignment 4711",
    "return canvas 03 --table Grades.csv --output filled.csv",
    'return canvas --total --table Grades.csv --column "Term (99)" --output filled.csv',
    *(*UNIT_OR_TERM, *CANVAS),
    click.option("--dry-run", is_flag=True, help="Say what would be done, and change nothing."),
    click.option("--feedback/--no-feedback", default=True, show_default=True, help="The feedback page as a comment."),
    *A_TABLE,
)
def canvas(desk: Desk, url: str, course: int, assignment: int, dry_run: bool, feedback: bool, **given: Any) -> None:
    """Grades and pages by Canvas's API, or grades into the gradebook that you downloaded. The API's token stands in the
    environment variable CANVAS_TOKEN.
    """
    from rnngrade.lms.push import carry_out, plan

    with _returned(desk, **given) as (returned, failures):
        if given["table"] is not None:
            _fill("canvas", returned, failures, **given)
        elif opened := canvas_at(url, course, assignment):
            done = 0
            with opened:
                changes = list(plan(desk, returned, opened, failures, feedback=feedback))
                for change in changes:
                    click.echo(f"{change.student}: {change.words}")
                    if change.is_needed and not dry_run:
                        with failures.of(change.student, returned.what):
                            carry_out(opened, change)
                            done += 1
            needed = sum(change.is_needed for change in changes)
            click.echo(f"{needed} to change; nothing was done." if dry_run else f"{done} changed.")
        else:
            raise click.UsageError("Say --url, --course and --assignment, or --table FILE with --output FILE.")


@target(
    "return moodle 03 --table Grades.csv --output filled.csv --zip feedback-03.zip",
    "return moodle 03 --table Grades.csv --column Bewertung --output filled.csv",
    *(*UNIT_OR_TERM, *A_TABLE),
    click.option("--zip", "zipped", type=FILE, help="Write all feedback pages there, for Moodle."),
)
def moodle(desk: Desk, zipped: Path | None, **given: Any) -> None:
    """Grades into the grading worksheet that you downloaded, all feedback in one zip that Moodle takes, or both."""
    from rnngrade.lms.pages import feedback_zip

    if given["table"] is None and zipped is None:
        raise click.UsageError("Say --table FILE with --output FILE, or --zip FILE, or both.")
    with _returned(desk, **given) as (returned, failures):
        if given["table"] is not None:
            _fill("moodle", returned, failures, **given)
        if zipped:
            data, number = feedback_zip(desk, returned, failures)
            write_whole(zipped, data)
            pages = count(number, "page")
            click.echo(f"{zipped}: {pages}. In Moodle: Submissions, Upload multiple feedback files in a zip")


@target(
    *("return mail 03 --output mails", unit_argument()),
    click.option(
        "--output", type=click.Path(path_type=Path, file_okay=False), required=True, help="The folder to write."
    ),
)
def mail(desk: Desk, output: Path, **given: Any) -> None:
    """Feedback pages, and a table for a mail merge."""
    from rnngrade.lms.pages import write_mails

    with _returned(desk, **given) as (returned, failures):
        table, students = write_mails(desk, returned, output, failures)
        click.echo(f"{table}: {count(len(students), 'mail')}")


@contextmanager
def _returned(
    desk: Desk, unit: str | None, provisional: bool, of_the_term: bool = False, **_: Any
) -> Iterator[tuple[Returned, Failures]]:
    """Around what is done with what goes back, of a unit or of the term: after it, who was left out is said."""
    from rnngrade.lms.returning import of_term, of_unit

    if (unit is None) != of_the_term:
        raise click.UsageError("Say a unit, or --total for the term.")
    with Failures() as failures:
        if unit is None:
            returned = of_term(desk, graded_units(desk), failures, provisional=provisional)
        else:
            returned = of_unit(desk, unit, failures, provisional=provisional)
        yield returned, failures
        if returned.waiting:
            words = f"Left out, for a person has still to look: {some(returned.waiting)}. With --provisional, what"
            click.echo(f"{words} they have so far goes back as well.")


def _fill(
    at: str, returned: Returned, failures: Failures, table: Path, column: str | None, output: Path | None, **_: Any
) -> None:
    from rnngrade.lms.filling import fill

    if output is None or output.resolve() == table.resolve():
        raise click.UsageError("Say --output FILE, another one: the table that you downloaded stays as it is.")
    text, filled, graded = fill(table, at, column, returned, failures)
    write_whole(output, text)
    click.echo(f"{output}: {len(graded)} graded in {filled!r}")
