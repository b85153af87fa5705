"""The commands for the work at the desk, but for grading: from what comes in to reports, feedback and appeals."""

import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import click

from rnncourse import exercises
from rnncourse.seat.cli import open_jupyterlab
from rnncourse.seat.sentences import Sentence
from rnngrade.cli.shared import (
    CANVAS,
    FILE_THERE,
    STUDENTS,
    UNIT,
    canvas_at,
    command,
    graded_units,
    require_graded,
    say,
    unit_argument,
    units_argument,
)
from rnngrade.core.desk import Desk
from rnngrade.core.errors import Failures, together
from rnngrade.core.words import count, visible


@command("new")
def new(desk: Desk) -> None:
    """Make an empty desk that only you can read. `collect` makes one as well: only where work comes by nbgrader's
    exchange does a class begin here.
    """
    desk.folder.parent.mkdir(parents=True, exist_ok=True)
    desk.folder.mkdir(mode=0o700, exist_ok=True)
    already = "" if desk.open() else " was a desk already, and nothing in it was changed"
    click.echo(f"{desk.folder}{already}. Next: '{desk.command('collect DOWNLOAD.zip')}' takes what was handed in.")
    click.echo("Where work comes by nbgrader's exchange, run 'nbgrader release_assignment 03_cell' in that folder.")


@command(
    "rnngrade --desk try-out sample 03 04 --size 18",
    units_argument("all that are graded by program"),
    click.option("--size", type=click.IntRange(1, 18), default=12, show_default=True, help="How many students."),
    click.option("--hostile", is_flag=True, help="Some that are hostile, broken or odd as well, in unit 03."),
)
def sample(desk: Desk, units: tuple[str, ...], size: int, hostile: bool) -> None:
    """Make up a class whose true scores are known: right, blank, every kind of mistake."""
    from rnngrade.demo.hostile import hostile_class
    from rnngrade.demo.sample import demo_class

    with desk.locked("rnngrade sample"):
        for unit in units or [stem for stem in exercises.STEMS if stem != "00_welcome"]:
            made = demo_class(unit, size) + (hostile_class(unit) if hostile else [])
            for one in made:
                one.write(desk.root, desk.submitted)
            click.echo(f"{unit}: {count(len(made), 'submission')} in {desk.submitted}")


@command(
    "collect downloads.zip",
    "collect moodle.zip --unit 03 --names Grades-Unit-03.csv",
    "collect unit-03-submissions --names classroom_roster.csv",
    click.argument("source", help="A folder, a zip, or one notebook.", type=click.Path(path_type=Path, exists=True)),
    UNIT,
    click.option(
        "--names",
        type=FILE_THERE,
        help="A platform's table of who is who: Moodle's grading worksheet, Gradescope's submission_metadata.yml, "
        "GitHub Classroom's roster, Canvas's submissions as JSON. It is kept in the desk.",
    ),
    click.option(
        "--format",
        type=click.Choice(["auto", "folder", "moodle", "canvas", "gradescope", "github"]),
        default="auto",
        show_default=True,
        help="Who named the files, if it cannot be told.",
    ),
)
def collect(desk: Desk, source: Path, unit: str | None, names: Path | None, format: str) -> None:
    """Put what was handed in where it is graded: from a folder, a zip, or a download from Moodle, Canvas, Gradescope or
    GitHub Classroom.
    """
    from rnngrade.roster.collect import collect as take
    from rnngrade.roster.names import read_any, settle

    with desk.locked("rnngrade collect"), Failures() as failures:
        say(together(settle(desk, read_any(names)) if names else ()))
        if desk.collected.is_dir():
            from rnngrade.gradebook.renaming import rename_known

            say(rename_known(desk))
        report = take(source, desk, failures, unit, format)
        say(together([*report.notes, *report.unknown]))
        click.echo(f"{len(report.taken)} collected, {len(report.unchanged)} there already.")
    if not report.taken and not report.unchanged:
        raise Sentence(f"{source} has nothing that could be collected.")


@command(
    "times Worksheet.csv --unit 03 --language de --column 'Zuletzt geändert (Abgabe)'",
    "times --unit 03 --url https://canvas.example.org --course 1 --assignment 4711",
    "times handed-in.csv",
    click.argument("table", help="A table: CSV, JSON, or YAML.", required=False, type=FILE_THERE),
    UNIT,
    click.option("--column", help="What the column of times is called there."),
    click.option("--language", default="en", show_default=True, help="The language of the months in it."),
    *CANVAS,
)
def times(desk: Desk, table: Path | None, unit: str | None, column: str | None, language: str, **canvas: Any) -> None:
    """Write down when submissions came, by a table of a platform's or your own, or by Canvas's API, with the token in
    CANVAS_TOKEN.
    """
    from rnngrade.core.tables import table_of
    from rnngrade.roster.names import canvas_row, read_any
    from rnngrade.roster.times import take_times

    with desk.locked("rnngrade times"):
        if table is not None:
            given = read_any(table)
        elif unit and (opened := canvas_at(**canvas)):
            with opened:
                given = table_of("Canvas", map(canvas_row, opened.pages("/submissions")))
        else:
            raise click.UsageError("Say a table, or --unit, --url, --course and --assignment for Canvas's API.")
        say(take_times(desk, unit, given, column=column, language=language))


@command("status")
def status(desk: Desk) -> None:
    """Say what is there of each unit, when it is due, who is late or missing, and what to do next."""
    from rnngrade.gradebook.status import lines

    theirs = ("nbgrader_config.py", "submitted", "roster.csv", "desk.toml")
    if not any(desk.given(name).exists() for name in theirs):
        raise Sentence(f"There is no desk in {desk.folder} yet: 'rnngrade collect' or 'rnngrade sample' begins one.")
    with Failures() as failures:
        say(lines(desk, failures))


@command("feedback 03", units_argument(), STUDENTS)
def feedback(desk: Desk, units: tuple[str, ...], students: tuple[str, ...]) -> None:
    """Write each student's page: verdict, diagnosis and hint for each exercise, grades and comments by hand."""
    from rnngrade.pages.feedback.write import write_feedback

    with Failures() as failures:
        chosen = {unit: require_graded(desk, unit, students) for unit in units}
        for unit, theirs in chosen.items():
            pages = write_feedback(desk, unit, failures, theirs or None)
            click.echo(f"{unit}: {count(len(pages), 'page')} in {desk.feedback}")


@command("report", units_argument("all that are graded"))
def report(desk: Desk, units: tuple[str, ...]) -> None:
    """Draw the picture of the class: what it got, which mistakes are behind what is wrong, who needs a look."""
    from rnngrade.pages.report.page import write_reports

    with Failures() as failures:
        stems = units or graded_units(desk)
        for unit in stems:
            require_graded(desk, unit)
        say(map(str, [*write_reports(desk, stems, failures), desk.reports / "index.html"]))


PASSED_ON = click.argument("arguments", nargs=-1, type=click.UNPROCESSED, metavar="[JUPYTERLAB'S OPTIONS]")
OTHERS_MAY_BE = {"ignore_unknown_options": True}


@command("lab", "lab --no-browser --port 9000", PASSED_ON, context_settings=OTHERS_MAY_BE)
def lab(desk: Desk, arguments: tuple[str, ...]) -> None:
    """Open JupyterLab with formgrader on this class: Nbgrader, then Formgrader, in the menu."""
    if desk.db_url == f"sqlite:///{desk.gradebook}" and not desk.gradebook.exists():
        raise Sentence(f"Nothing is graded in {desk.folder} yet: run '{desk.command('run UNIT')}' first.")
    _open_lab(desk, arguments)


def _open_lab(desk: Desk, options: Sequence[str]) -> None:
    desk.open()
    os.chdir(desk.folder)  # where nbgrader looks for its settings
    here = {"RNNGRADE_DB": desk.db_url, "RNNGRADE_DESK": str(desk.folder), "RNNGRADE_COURSE": str(desk.root)}
    open_jupyterlab(desk.folder, options, [Path(__file__).parents[1] / "jupyter"], **here)


@command(
    *("mark 03", "mark 03 --no-browser --port 9000", unit_argument(), PASSED_ON),
    click.option("--student", default="", help="Only what this student wrote, by any name that they have: an appeal."),
    click.option("--part", default="", metavar="K/N", help="Only a part of the answers, 1/2 or 2/2 if you are two."),
    context_settings=OTHERS_MAY_BE,
)
def mark(desk: Desk, unit: str, arguments: tuple[str, ...], student: str, part: str) -> None:
    """Mark a unit's written answers one after another, without names, by key. Formgrader shows the same marks."""
    if part and not (re.fullmatch(r"[1-9]\d?/[1-9]\d?", part) and int(part.split("/")[0]) <= int(part.split("/")[1])):
        raise click.BadParameter(f"{part!r} is no part: write it as 1/2, the first of two.", param_hint="--part")
    theirs = require_graded(desk, unit, [student] if student else [])
    asked = urlencode({name: value for name, value in (("student", "".join(theirs)), ("part", part)) if value})
    _open_lab(desk, [f"--LabApp.default_url=/rnngrade/mark/{unit}{';' if asked else ''}{asked}", *arguments])


@command("explain ada 03", click.argument("student", help="Whose points: any name that they have."), unit_argument())
def explain(desk: Desk, student: str, unit: str) -> None:
    """Say why a student has these points: the case, what was expected, what came, the line, and what is by hand."""
    from rnngrade.gradebook.explaining import explained

    say(map(visible, explained(desk, unit, student)))
