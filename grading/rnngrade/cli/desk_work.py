"""The commands for the work at the desk: from the submissions to reports, feedback and tables."""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Callable, Sequence
from contextlib import ExitStack, nullcontext
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

import click

from rnncourse import exercises
from rnncourse.seat.cli import open_jupyterlab
from rnncourse.seat.sentences import EXAMPLES, Sentence, in_a_sentence
from rnngrade.cli.shared import (
    argument,
    canvas_token,
    graded_units,
    of_the_class,
    own_seed,
    progress_bar,
    require_graded,
    require_work,
    say_taken,
    units_of,
)
from rnngrade.core.desk import Desk
from rnngrade.core.errors import DeskError, Failures, together
from rnngrade.core.record import JUDGED, ExerciseResult, Record
from rnngrade.core.words import visible

if TYPE_CHECKING:
    from rnngrade.gradebook.book import GradebookWriter
    from rnngrade.grading.bundle import Bundle
    from rnngrade.grading.run import Run
    from rnngrade.grading.worker import Graders
    from rnngrade.roster.students import ClassList
    from rnngrade.sandbox.limits import Limits


@click.command(epilog=EXAMPLES + "  rnngrade --desk autumn new")
@click.pass_obj
def new(desk: Desk) -> None:
    """Make an empty desk that only you can read, for a class whose work comes by nbgrader's exchange."""
    with in_a_sentence(DeskError):
        desk.folder.parent.mkdir(parents=True, exist_ok=True)
        desk.folder.mkdir(mode=0o700, exist_ok=True)
        is_new = desk.open()
    already = "" if is_new else " was a desk already, and nothing in it was changed"
    click.echo(f"{desk.folder}{already}: run nbgrader's commands there, 'nbgrader release_assignment 03_cell'.")


@click.command(epilog=EXAMPLES + "  rnngrade --desk try-out sample 03 04 --size 18")
@argument("units", "The units (default: all that are graded by program).", nargs=-1)
@click.option("--size", type=click.IntRange(1, 18), default=12, show_default=True, help="How many students.")
@click.option("--hostile", is_flag=True, help="Hostile, broken and odd submissions as well.")
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="Another seed, another class.")
@click.pass_obj
def sample(desk: Desk, units: tuple[str, ...], size: int, hostile: bool, seed: int) -> None:
    """Make up a class whose true scores are known: right, blank, every kind of mistake."""
    from rnngrade.demo.sample import demo_class, write_hostile_class

    with in_a_sentence(DeskError), desk.locked("rnngrade sample"):
        for unit in units_of(units, [s for s in exercises.STEMS if s != "00_welcome"]):
            made = demo_class(unit, size, seed)
            for one in made:
                one.write(desk.root, desk.submitted)
            others = write_hostile_class(desk.root, unit, desk.submitted) if hostile else []
            click.echo(f"{unit}: {len(made) + len(others)} submissions in {desk.submitted}")


@click.command(
    epilog=EXAMPLES
    + "  rnngrade --desk autumn collect downloads.zip\n"
    + "  rnngrade --desk autumn collect moodle.zip --unit 03 --names Grades-Unit-03.csv\n"
    + "  rnngrade --desk autumn collect unit-03-submissions --names classroom_roster.csv"
)
@argument("source", "A folder, a zip, or one notebook.", type=click.Path(path_type=Path, exists=True))
@click.option("--unit", help="The unit, if the files' names do not say it.")
@click.option(
    "--names",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    help="A platform's table of who is who: Moodle's grading worksheet, Gradescope's submission_metadata.yml, GitHub "
    "Classroom's roster, Canvas's submissions as JSON. It is kept in the desk.",
)
@click.option(
    "--format",
    "form",
    type=click.Choice(["auto", "folder", "moodle", "canvas", "gradescope", "github"]),
    default="auto",
    show_default=True,
    help="Who named the files, if it cannot be told.",
)
@click.pass_obj
def collect(desk: Desk, source: Path, unit: str | None, names: Path | None, form: str) -> None:
    """Put what was handed in where it is graded: from a folder, a zip, or a download from Moodle, Canvas, Gradescope or
    GitHub Classroom.
    """
    from rnngrade.roster.collect import collect as take
    from rnngrade.roster.names import settle

    with in_a_sentence(DeskError), desk.locked("rnngrade collect"):
        failures = Failures()
        for words in settle(desk, names) if names else ():
            click.echo(words)
        if (desk.folder / "collected").is_dir():
            from rnngrade.gradebook.renaming import rename_known

            for words in rename_known(desk):
                click.echo(words)
        report = take(source, desk, units_of([unit])[0] if unit else None, form, failures=failures)
        for words in together([*report.notes, *report.unknown]):
            click.echo(words)
        click.echo(f"{len(report.taken)} collected, {len(report.unchanged)} were there already.")
        failures.end()
    if not report.taken and not report.unchanged:
        raise Sentence(f"{source} has nothing that could be collected.")


@click.command(
    epilog=EXAMPLES
    + "  rnngrade --desk autumn times Worksheet.csv --unit 03 --language de --column 'Zuletzt geändert (Abgabe)'\n"
    + "  rnngrade --desk autumn times --unit 03 --url https://canvas.example.org --course 1 --assignment 4711\n"
    + "  rnngrade --desk autumn times handed-in.csv"
)
@argument(
    "table",
    "A table: CSV, JSON, or YAML.",
    required=False,
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
)
@click.option("--unit", help="The unit, if the table has no column unit.")
@click.option("--column", help="What the column of times is called there.")
@click.option("--language", default="en", show_default=True, help="The language of the months in it.")
@click.option("--url", help="Canvas's address, to ask its API, with the token in CANVAS_TOKEN.")
@click.option("--course", type=int, help="The course's number there, which stands in its address.")
@click.option("--assignment", type=int, help="The assignment's number there, also in its address.")
@click.pass_obj
def times(
    desk: Desk,
    table: Path | None,
    unit: str | None,
    column: str | None,
    language: str,
    url: str | None,
    course: int | None,
    assignment: int | None,
) -> None:
    """Write down when submissions came, by a table of a platform's or your own, or by Canvas's API."""
    from rnngrade.lms.api import Canvas
    from rnngrade.roster.times import pull_times, take_times

    with in_a_sentence(DeskError), desk.locked("rnngrade times"):
        stem = units_of([unit])[0] if unit else None
        if table is not None:
            taken = take_times(desk, stem, table, column=column, language=language)
        elif stem and url and course is not None and assignment is not None:
            with Canvas(url, canvas_token()) as canvas:
                taken = pull_times(desk, stem, canvas, course, assignment)
        else:
            raise click.UsageError("Say a table, or --unit, --url, --course and --assignment for Canvas's API.")
    say_taken(taken)


@click.command(epilog=EXAMPLES + "  rnngrade --desk autumn status")
@click.pass_obj
def status(desk: Desk) -> None:
    """Say what is there of each unit, when it is due, who is late or missing, and what to do next."""
    from rnngrade.gradebook.status import lines

    theirs = ("nbgrader_config.py", "submitted", "roster.csv", "desk.toml")
    if not any(desk.given(name).exists() for name in theirs):
        raise Sentence(f"There is no desk in {desk.folder} yet: 'rnngrade collect' or 'rnngrade sample' begins one.")
    failures = Failures()
    with in_a_sentence(DeskError):
        for line in lines(desk, failures):
            click.echo(line)
        failures.end()


@click.command(
    epilog=EXAMPLES
    + "  rnngrade --desk autumn run 03\n"
    + "  rnngrade --desk autumn run 03 04 --jobs 8 --limit memory=1G --limit cell_seconds=30\n"
    + "  rnngrade --desk autumn run 03 --scheduler tcp://grading:8786\n"
    + "  rnngrade --desk autumn run 03 --json | jq '.[] | select(.flags != [])'"
)
@argument("units", "The units: 03, or 03_cell; several, if you like.", nargs=-1, required=True)
@click.option("--jobs", type=click.IntRange(1), default=None, help="How many at a time (default: one for each core).")
@click.option("--scheduler", help="The address of a Dask scheduler whose workers grade instead.")
@click.option(
    "--sandbox", type=click.Choice(["bwrap", "none"]), default="bwrap", show_default=True, help="Where it runs."
)
@click.option("--limit", "limits", multiple=True, metavar="NAME=VALUE", help="A limit other than the default.")
@click.option("--seed", envvar="RNNCOURSE_SEED", help="The hidden cases' seed (default: the desk's own, drawn once).")
@click.option("--student", "students", multiple=True, help="Only this student; may be given again.")
@click.option("--force", is_flag=True, help="Grade again what has been graded.")
@click.option("--json", "as_json", is_flag=True, help="Print the records as JSON.")
@click.option("--strict", is_flag=True, help="Exit with 3 if a person has to look at something.")
@click.pass_obj
def run(
    desk: Desk,
    units: tuple[str, ...],
    jobs: int | None,
    scheduler: str | None,
    sandbox: str,
    limits: tuple[str, ...],
    seed: str | None,
    students: tuple[str, ...],
    force: bool,
    as_json: bool,
    strict: bool,
) -> None:
    """Grade what is new or has changed, in parallel. Stop it whenever you like: it goes on where it was."""
    jobs = jobs or os.cpu_count() or 1
    limited = _limits_of(limits)
    failures = Failures()
    with in_a_sentence(DeskError):
        stems = units_of(units)
        chosen = tuple(require_work(desk, stems, students)) or None
        how = _How(jobs, scheduler, sandbox != "none", limited, seed or "", chosen, force)
        with desk.locked(f"rnngrade run {' '.join(stems)}"):
            runs = _grade_units(desk, stems, how, failures, is_quiet=as_json)
    for words in dict.fromkeys(words for one in runs for words in one.not_limited):
        click.echo(f"Note: {words}", err=True)
    records = [record for one in runs for record in one.records]
    if as_json:
        click.echo(json.dumps([_shown(record) for record in records], indent=1))
    with in_a_sentence(DeskError):
        failures.end()
    if strict and any(record.flags for record in records):
        sys.exit(3)


@dataclass(frozen=True)
class _How:
    """How a run grades, as its options say: with "" for `seed` by that of the desk, with None for `students` all."""

    jobs: int
    scheduler: str | None
    sandboxed: bool
    limits: Limits
    seed: str
    students: tuple[str, ...] | None
    force: bool


def _limits_of(texts: Sequence[str]) -> Limits:
    """The limits, of which some are given as "memory=1G". **Errors:** `Sentence`."""
    from rnngrade.sandbox.limits import Limits

    try:
        return Limits.given(dict(text.partition("=")[::2] for text in texts))
    except ValueError as why:
        raise Sentence(str(why)) from None


def _grade_units(desk: Desk, stems: Sequence[str], how: _How, failures: Failures, *, is_quiet: bool) -> list[Run]:
    """Grade these units, one after the other, and say what came of each, unless the run is quiet.

    Much of the desk takes long to load. So the processes that grade are started first, and told what to get ready as
    soon as that is known: they do so, and grade, while this process loads nbgrader and enters the unit.
    """
    from rnngrade.grading.tasks import Settings
    from rnngrade.grading.worker import Graders
    from rnngrade.sandbox import view

    view.hide(desk.folder, desk.root)
    with Graders() if how.scheduler is None else nullcontext() as graders:
        from rnngrade.grading.bundle import Bundle

        people = _class_of(desk, stems)
        how = replace(how, seed=how.seed or own_seed(desk))
        bundles = [Bundle.make(desk.root, unit) for unit in stems]
        if graders:
            graders.prepare(Settings(bundles[0], how.limits, how.seed, how.sandboxed))
        runs = []
        with ExitStack() as stack:

            @cache
            def gradebook() -> GradebookWriter:
                from rnngrade.gradebook.book import GradebookWriter

                return stack.enter_context(GradebookWriter(desk))

            for bundle in bundles:
                runs.append(_grade_unit(desk, bundle, how, graders, gradebook, people, failures))
                if not is_quiet:
                    _say(desk, runs[-1], people)
        return runs


def _class_of(desk: Desk, stems: Sequence[str]) -> ClassList:
    """The class list. What is wrong in it, or in the rules, ends the run before it begins; a rule for somebody who is
    neither in the class nor among these submissions is only told.
    """
    from rnngrade.roster.rules import rules_of
    from rnngrade.roster.students import class_list

    people, rules = class_list(desk), rules_of(desk)
    students = (student for unit in stems for student in desk.submissions(unit))
    for words in rules.unmatched(students, people) if rules else ():
        click.echo(words, err=True)
    return people


def _grade_unit(
    desk: Desk,
    bundle: Bundle,
    how: _How,
    graders: Graders | None,
    gradebook: Callable[[], GradebookWriter],
    people: ClassList,
    failures: Failures,
) -> Run:
    """Grade a unit and enter it in the gradebook: the unit, the class, each record as it comes, and who was late."""
    from rnngrade.grading.run import run as grade

    said: list[str] = []

    def prepare() -> None:
        said.extend(gradebook().enter_unit(bundle.unit))
        for person in people.people.values():
            gradebook().enter_student(person.id, person.first_name, person.last_name, person.email)

    try:
        with progress_bar(bundle.unit) as advance:
            done = grade(
                desk,
                bundle,
                jobs=how.jobs,
                scheduler=how.scheduler,
                seed=how.seed,
                limits=how.limits,
                sandboxed=how.sandboxed,
                students=how.students,
                force=how.force,
                prepare=prepare,
                enter=lambda record: gradebook().enter(record),
                advance=advance,
                failures=failures,
                graders=graders,
            )
    finally:
        for words in said:
            click.echo(words, err=True)
    gradebook().enter_lateness(bundle.unit, failures)
    return done


def _say(desk: Desk, done: Run, people: ClassList) -> None:
    """Say what came of a unit: a line for each submission, how many there are, and who of the class is missing."""
    for record in done.records:
        click.echo(line_for(record))
    click.echo(f"{done.unit}: {len(done.graded)} graded, {len(done.kept)} as they were.")
    for words in of_the_class(desk, people, done.unit):
        click.echo(words)


def _shown(record: Record) -> dict[str, Any]:
    points = {"points": record.points, "max_points": record.max_points}
    return {**record.content(), **points, "measured": record.measured}


@click.command(epilog=EXAMPLES + "  rnngrade --desk autumn feedback 03")
@argument("units", "The units: 03, or 03_cell; several, if you like.", nargs=-1, required=True)
@click.option("--student", "students", multiple=True, help="Only this student; may be given again.")
@click.pass_obj
def feedback(desk: Desk, units: tuple[str, ...], students: tuple[str, ...]) -> None:
    """Write each student's page: verdict, diagnosis and hint for each exercise, grades and comments by hand."""
    from rnngrade.pages.feedback import write_feedback

    with in_a_sentence(DeskError):
        failures = Failures()
        chosen = {unit: require_graded(desk, unit, students) for unit in units_of(units)}
        for unit, theirs in chosen.items():
            pages = write_feedback(desk, unit, theirs or None, failures)
            click.echo(f"{unit}: {len(pages)} pages in {desk.feedback}")
        failures.end()


@click.command(epilog=EXAMPLES + "  rnngrade --desk autumn report")
@argument("units", "The units (default: all that are graded).", nargs=-1)
@click.pass_obj
def report(desk: Desk, units: tuple[str, ...]) -> None:
    """Draw the picture of the class: what it got, which mistakes are behind what is wrong, who needs a look."""
    from rnngrade.pages.report import write_reports

    with in_a_sentence(DeskError):
        failures, stems = Failures(), units_of(units, graded_units(desk))
        for unit in stems:
            require_graded(desk, unit)
        pages = write_reports(desk, stems, failures)
        for path in [*pages, desk.reports / "index.html"]:
            click.echo(str(path))
        failures.end()


@click.command(
    context_settings={"ignore_unknown_options": True},
    epilog=EXAMPLES + "  rnngrade --desk autumn lab\n  rnngrade --desk autumn lab --no-browser --port 9000",
)
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED, metavar="[JUPYTERLAB'S OPTIONS]")
@click.pass_obj
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


@click.command(
    context_settings={"ignore_unknown_options": True},
    epilog=EXAMPLES + "  rnngrade --desk autumn mark 03\n  rnngrade --desk autumn mark 03 --no-browser --port 9000",
)
@argument("unit", "The unit: 03, or 03_cell.")
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED, metavar="[JUPYTERLAB'S OPTIONS]")
@click.option("--student", default="", help="Only what this student wrote, by any name that they have: an appeal.")
@click.option("--part", default="", metavar="K/N", help="Only a part of the answers, 1/2 or 2/2 if you are two.")
@click.pass_obj
def mark(desk: Desk, unit: str, arguments: tuple[str, ...], student: str, part: str) -> None:
    """Mark a unit's written answers one after another, without names, by key. Formgrader shows the same marks."""
    (stem,) = units_of([unit])
    if part and not (re.fullmatch(r"[1-9]\d?/[1-9]\d?", part) and int(part.split("/")[0]) <= int(part.split("/")[1])):
        raise click.BadParameter(f"{part!r} is no part: write it as 1/2, the first of two.", param_hint="--part")
    with in_a_sentence(DeskError):
        theirs = require_graded(desk, stem, [student] if student else [])
    asked = urlencode({name: value for name, value in (("student", "".join(theirs)), ("part", part)) if value})
    _open_lab(desk, [f"--LabApp.default_url=/rnngrade/mark/{stem}{';' if asked else ''}{asked}", *arguments])


@click.command(epilog=EXAMPLES + "  rnngrade --desk autumn explain ada 03")
@argument("student", "Whose points: any name that they have.")
@argument("unit", "The unit: 03, or 03_cell.")
@click.pass_obj
def explain(desk: Desk, student: str, unit: str) -> None:
    """Say why a student has these points: the case, what was expected, what came, the line, and what is by hand."""
    from rnngrade.gradebook.explaining import explained

    with in_a_sentence(DeskError):
        for line in explained(desk, units_of([unit])[0], student):
            click.echo(visible(line))


def line_for(record: Record) -> str:
    """One submission in a line: who, points, what is wrong, what to look at."""
    wrong = [f"{e.name}: {e.diagnosis or _ended(e)}" for e in record.exercises if not e.passed]
    parts = [f"{record.student:<20} {record.points:6.2f} of {record.max_points:g}"]
    if wrong:
        parts.append(", ".join(wrong[:3]) + (f" and {len(wrong) - 3} more" if len(wrong) > 3 else ""))
    if record.flags:
        parts.append(f"LOOK: {', '.join(sorted({f.code for f in record.flags}))}")
    return "  ".join(parts)


def _ended(result: ExerciseResult) -> str:
    """How an exercise without a diagnosis ended, in a word or two."""
    if result.status != JUDGED:
        return result.status
    return "not written" if "is not written yet" in result.message or "is not answered" in result.message else "wrong"


COMMANDS = (new, sample, collect, times, status, run, report, mark, explain, lab, feedback)
