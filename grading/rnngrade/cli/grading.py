"""The command that grades, `rnngrade run`."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Sequence
from contextlib import ExitStack, nullcontext
from functools import cache
from typing import TYPE_CHECKING, Any

import click

from rnngrade.cli.shared import (
    SEED,
    STUDENTS,
    command,
    of_the_class,
    own_seed,
    progress_bar,
    require_work,
    say,
    units_argument,
)
from rnngrade.core.desk import Desk
from rnngrade.core.errors import Failures, some
from rnngrade.core.record import Record

if TYPE_CHECKING:
    from rnngrade.gradebook.book import GradebookWriter
    from rnngrade.grading.bundle import Bundle
    from rnngrade.grading.run import Run
    from rnngrade.roster.students import ClassList


# How `grading.run` grades, by what it calls its arguments: with no `seed` by that of the desk, with no `students` all.
How = dict[str, Any]


@command(
    "run 03",
    "run 03 04 --jobs 8 --limit memory=1G --limit cell_seconds=30",
    "run 03 --scheduler tcp://grading:8786",
    "run 03 --json | jq '.[] | select(.flags != [])'",
    units_argument(),
    click.option("--jobs", type=click.IntRange(1), help="How many at a time (default: one for each core)."),
    click.option("--scheduler", help="The address of a Dask scheduler whose workers grade instead."),
    click.option("--sandbox", type=click.Choice(["bwrap", "none"]), default="bwrap", show_default=True,
                 help="Where it runs."),
    click.option("--limit", "limits", multiple=True, metavar="NAME=VALUE", help="A limit other than the default."),
    SEED,
    STUDENTS,
    click.option("--force", is_flag=True, help="Grade again what has been graded."),
    click.option("--json", "as_json", is_flag=True, help="Print the records as JSON."),
    click.option("--strict", is_flag=True, help="Exit with 3 if a person has to look at something."),
)  # fmt: skip
def run(
    desk: Desk,
    /,
    units: tuple[str, ...],
    students: tuple[str, ...],
    limits: tuple[str, ...],
    as_json: bool,
    strict: bool,
    **given: Any,
) -> None:
    """Grade what is new or has changed, in parallel. Stop it whenever you like: it goes on where it was."""
    from rnngrade.sandbox.limits import Limits

    is_sandboxed = given.pop("sandbox") != "none"
    how = given | {
        "limits": Limits.given(dict(text.partition("=")[::2] for text in limits)),
        "sandboxed": is_sandboxed,
        "jobs": given["jobs"] or os.cpu_count() or 1,
    }
    with Failures() as failures:
        how["students"] = tuple(require_work(desk, units, students)) or None
        with desk.locked(f"rnngrade run {' '.join(units)}"):
            runs = grade_units(desk, units, how, failures, is_quiet=as_json)
        say(dict.fromkeys(f"Note: {words}" for one in runs for words in one.not_limited), err=True)
        records = [record for one in runs for record in one.records]
        if as_json:
            click.echo(json.dumps([record.shown() | {"measured": record.measured} for record in records], indent=1))
    if strict and any(record.flags for record in records):
        sys.exit(3)


def grade_units(desk: Desk, stems: Sequence[str], how: How, failures: Failures, *, is_quiet: bool) -> list[Run]:
    """Grade these units, one after the other, and say what came of each, unless the run is quiet. What is wrong in the
    class list or in the rules ends the run before it begins; a rule for somebody who is neither in the class nor among
    these submissions is only told.

    Much of the desk takes long to load. So the processes that grade are started first, and told what to get ready as
    soon as that is known: they do so, and grade, while this process loads nbgrader and enters the unit.
    """
    from rnngrade.grading.bundle import Bundle, Settings
    from rnngrade.grading.worker import Graders
    from rnngrade.roster.rules import rules_of
    from rnngrade.roster.students import class_list
    from rnngrade.sandbox import view

    view.hide(desk.folder, desk.root)
    with Graders() if how["scheduler"] is None else nullcontext() as graders, ExitStack() as stack:
        people = class_list(desk)
        students = (student for unit in stems for student in desk.submissions(unit))
        say(rules_of(desk).unmatched(students, people), err=True)
        how["seed"] = how["seed"] or own_seed(desk)
        bundles = [Bundle.make(desk.root, unit) for unit in stems]
        if graders:
            graders.prepare(Settings(bundles[0], how["limits"], how["seed"], how["sandboxed"]))

        @cache
        def gradebook() -> GradebookWriter:
            from rnngrade.gradebook.book import GradebookWriter

            return stack.enter_context(GradebookWriter(desk))

        runs = []
        for bundle in bundles:
            done = _grade_unit(desk, bundle, how | {"graders": graders, "failures": failures}, gradebook, people)
            gradebook().enter_lateness(bundle.unit, failures)
            runs.append(done)
            if not is_quiet:
                say(map(line_for, done.records))
                click.echo(f"{done.unit}: {len(done.graded)} graded, {len(done.kept)} as they were.")
                say(of_the_class(desk, people, done.unit))
        return runs


def _grade_unit(
    desk: Desk, bundle: Bundle, how: How, gradebook: Callable[[], GradebookWriter], people: ClassList
) -> Run:
    """Grade a unit and enter it in the gradebook: the unit, the class, and each record as it comes."""
    from rnngrade.grading.run import run as grade

    said: list[str] = []

    def prepare() -> None:
        said.extend(gradebook().enter_unit(bundle.unit))
        gradebook().enter_students(people.people.values())

    how = how | {"prepare": prepare, "enter": lambda record: gradebook().enter(record)}
    try:
        with progress_bar(bundle.unit) as advance:
            return grade(desk, bundle, **how, advance=advance)
    finally:
        say(said, err=True)


def line_for(record: Record) -> str:
    """One submission in a line: who, points, what is wrong, what to look at."""
    wrong = [f"{e.name}: {e.diagnosis or e.ended}" for e in record.exercises if not e.passed]
    parts = [f"{record.student:<20} {record.points:6.2f} of {record.max_points:g}"]
    if wrong:
        parts.append(some(wrong, 3))
    if record.flags:
        parts.append(f"LOOK: {', '.join(sorted({f.code for f in record.flags}))}")
    return "  ".join(parts)
