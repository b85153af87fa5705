"""The commands for what a university has: Moodle, Canvas, Gradescope, GitHub, mail."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import click

from rnncourse.seat.sentences import EXAMPLES, in_a_sentence
from rnngrade.cli.shared import own_seed, say_taken, units_of
from rnngrade.core.desk import Desk
from rnngrade.core.errors import DeskError, Failures
from rnngrade.core.record import write_whole

if TYPE_CHECKING:
    from rnngrade.lms.table import Filled


@click.command(
    epilog=EXAMPLES
    + "  rnngrade --desk autumn gradescope 03 --output autograder-03.zip\n"
    + "  rnngrade --desk autumn gradescope 03 --output autograder-03.zip --wheels wheels"
)
@click.argument("unit")
@click.option("--output", type=click.Path(path_type=Path), required=True, help="The zip to write.")
@click.option(
    "--wheels", type=click.Path(path_type=Path, exists=True, file_okay=False), help="Packages, for a set-up offline."
)
@click.option("--seed", envvar="RNNCOURSE_SEED", help="The hidden cases' seed (default: the desk's own, drawn once).")
@click.pass_obj
def gradescope(desk: Desk, unit: str, output: Path, wheels: Path | None, seed: str | None) -> None:
    """Write an autograder for Gradescope, which grades each submission as this desk does."""
    from rnngrade.lms.gradescope import autograder_zip

    with in_a_sentence(DeskError):
        (stem,) = units_of([unit])
        write_whole(output, autograder_zip(desk.root, stem, seed or own_seed(desk), wheels))
    click.echo(
        f"{output}: upload it as the autograder of a programming assignment, with Ubuntu 22.04 as its base image."
    )
    click.echo(
        "Where Gradescope's container allows no sandbox, a submission can read the autograder's files; each result's "
        "extra_data says so. For marks that cannot be forged, download the submissions and use 'rnngrade run'."
    )


@click.command(epilog=EXAMPLES + "  rnngrade github 03 --course university/rnncourse > .github/workflows/classroom.yml")
@click.argument("unit")
@click.option("--course", required=True, help="The course's repository on GitHub, owner/name.")
@click.option("--ref", default="main", show_default=True, help="Its tag or branch.")
def github(unit: str, course: str, ref: str) -> None:
    """Print a workflow that grades what a student pushes: for GitHub Classroom, or any repository."""
    from rnngrade.lms.github import workflow

    click.echo(workflow(units_of([unit])[0], course, ref), nl=False)


@click.command(
    epilog=EXAMPLES
    + "  rnngrade --desk autumn moodle 03 --zip feedback-03.zip\n"
    + "  rnngrade --desk autumn moodle 03 --worksheet Grades.csv --column Bewertung --output filled.csv"
)
@click.argument("unit")
@click.option("--zip", "zipped", type=click.Path(path_type=Path), help="Write all feedback pages, for Moodle to take.")
@click.option("--worksheet", type=click.Path(path_type=Path, exists=True), help="Moodle's grading worksheet.")
@click.option("--column", default="Grade", show_default=True, help="What the grade's column is called there.")
@click.option("--output", type=click.Path(path_type=Path), help="Where to write the filled worksheet.")
@click.pass_obj
def moodle(
    desk: Desk, unit: str, zipped: Path | None, worksheet: Path | None, column: str, output: Path | None
) -> None:
    """Write what Moodle takes: all feedback in one zip, the grades in the worksheet that you downloaded."""
    from rnngrade.lms.moodle import feedback_zip, fill_worksheet

    if (zipped is None and worksheet is None) or (worksheet is None) != (output is None):
        raise click.UsageError("Say --zip FILE, or --worksheet FILE with --output FILE, or both.")
    with in_a_sentence(DeskError):
        (stem,) = units_of([unit])
        failures = Failures()
        if worksheet and output:
            _write_filled(output, fill_worksheet(desk, stem, worksheet, column))
        if zipped:
            write_whole(zipped, feedback_zip(desk, stem, failures))
            click.echo(f"{zipped}: in Moodle, Submissions, Upload multiple feedback files in a zip")
        failures.end()


@click.command(
    epilog=EXAMPLES
    + '  rnngrade --desk autumn canvas 03 --gradebook Grades.csv --column "Unit 03 (4711)" --output new.csv'
)
@click.argument("unit")
@click.option("--gradebook", type=click.Path(path_type=Path, exists=True), required=True, help="Canvas's export.")
@click.option("--column", required=True, help="The assignment's own column, with its number.")
@click.option("--output", type=click.Path(path_type=Path), required=True, help="Where to write the filled gradebook.")
@click.pass_obj
def canvas(desk: Desk, unit: str, gradebook: Path, column: str, output: Path) -> None:
    """Write the grades into the gradebook that you downloaded from Canvas."""
    from rnngrade.lms.canvas import fill_gradebook

    with in_a_sentence(DeskError):
        (stem,) = units_of([unit])
        _write_filled(output, fill_gradebook(desk, stem, gradebook, column))


def asks_canvas(command: Callable[..., None]) -> Callable[..., None]:
    """The options by which a command finds an assignment in Canvas."""
    for option in (
        click.option("--assignment", type=int, required=True, help="The assignment's number, also in its address."),
        click.option("--course", type=int, required=True, help="The course's number, which stands in its address."),
        click.option("--url", envvar="CANVAS_URL", required=True, help="Canvas's address, or the variable CANVAS_URL."),
    ):
        command = option(command)
    return command


@click.group()
def pull() -> None:
    """Get from the university's system, through its API, what it does not put into a download."""


@pull.command(
    "canvas",
    epilog=EXAMPLES
    + "  rnngrade --desk autumn pull canvas 03 --url https://canvas.example.org --course 1 --assignment 4711",
)
@click.argument("unit")
@asks_canvas
@click.pass_obj
def pull_canvas(desk: Desk, unit: str, url: str, course: int, assignment: int) -> None:
    """Write down when submissions came, as Canvas says. Its token stands in the environment variable CANVAS_TOKEN."""
    from rnngrade.lms.api import Canvas
    from rnngrade.roster.times import pull_times

    with in_a_sentence(DeskError), desk.locked("rnngrade pull"), Canvas(url, canvas_token()) as canvas:
        say_taken(pull_times(desk, units_of([unit])[0], canvas, course, assignment))


@click.group()
def push() -> None:
    """Put grades and feedback into the university's system, through its API."""


@push.command(
    "canvas",
    epilog=EXAMPLES
    + "  rnngrade --desk autumn push canvas 03 --url https://canvas.example.org --course 1 --assignment 4711 --dry-run",
)
@click.argument("unit")
@asks_canvas
@click.option("--dry-run", is_flag=True, help="Say what would be done, and change nothing.")
@click.option("--feedback/--no-feedback", default=True, show_default=True, help="The feedback page as a comment.")
@click.pass_obj
def push_canvas(desk: Desk, unit: str, url: str, course: int, assignment: int, dry_run: bool, feedback: bool) -> None:
    """Put grades and feedback pages into Canvas. Its token stands in the environment variable CANVAS_TOKEN."""
    from rnngrade.lms.api import Canvas
    from rnngrade.lms.push import carry_out, plan

    with in_a_sentence(DeskError):
        (stem,) = units_of([unit])
        failures = Failures()
        done = 0
        with Canvas(url, canvas_token()) as canvas:
            changes = list(plan(desk, stem, canvas, course, assignment, failures, feedback=feedback))
            for change in changes:
                click.echo(change.line())
                if change.is_needed and not dry_run:
                    with failures.of(change.student, stem):
                        carry_out(canvas, course, assignment, change)
                        done += 1
        needed = sum(change.is_needed for change in changes)
        click.echo(f"{needed} to change; nothing was done." if dry_run else f"{done} changed.")
        failures.end()


@click.command(epilog=EXAMPLES + "  rnngrade --desk autumn mail 03 --output mails")
@click.argument("unit")
@click.option("--output", type=click.Path(path_type=Path, file_okay=False), required=True, help="The folder to write.")
@click.pass_obj
def mail(desk: Desk, unit: str, output: Path) -> None:
    """Write feedback pages and a table for a mail merge."""
    from rnngrade.lms.mail import write_mails

    with in_a_sentence(DeskError):
        (stem,) = units_of([unit])
        failures = Failures()
        made = write_mails(desk, stem, output, failures)
        click.echo(f"{made.table}: {len(made.students)} mails")
        if made.waiting:
            click.echo(f"Left out, for a person has still to look: {', '.join(made.waiting)}")
        failures.end()


def _write_filled(output: Path, filled: Filled) -> None:
    write_whole(output, filled.text.encode())
    click.echo(f"{output}: {len(filled.graded)} graded")
    if filled.waiting:
        click.echo(f"Left as they were, for a person has still to look: {', '.join(filled.waiting)}")


def canvas_token() -> str:
    """The token by which Canvas knows whoever runs this; it is never an argument, which others on the machine see."""
    import os

    return os.environ.get("CANVAS_TOKEN", "").strip()


COMMANDS = (gradescope, github, moodle, canvas, pull, push, mail)
