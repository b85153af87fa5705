"""The whole course in one go, on a made-up class: build, grade, give feedback, report, compare.

    python -m rnngrade.cli.demo [--size 12] [--sandbox none] [UNIT ...]

The class's true scores are known, so the tables at the end are a proof: each grade must be what was expected. Among
the students of unit 03 are some who attack the desk, or hand in what is broken or odd; what must become of each is
known as well.
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterable
from pathlib import Path

import click
from rich.console import Console
from rich.table import Table

from rnncourse import exercises
from rnngrade.author.build import build
from rnngrade.cli.shared import progress_bar, units_of
from rnngrade.core.desk import Desk
from rnngrade.core.errors import DeskError
from rnngrade.core.record import Record, write_whole
from rnngrade.demo.hostile import HOSTILE
from rnngrade.demo.sample import Submission, demo_class, write_hostile_class
from rnngrade.gradebook.book import GradebookWriter
from rnngrade.gradebook.exporting import export
from rnngrade.grading.bundle import Bundle
from rnngrade.grading.run import run
from rnngrade.pages.feedback import write_feedback
from rnngrade.pages.report import write_reports
from rnngrade.sandbox import bubblewrap
from rnngrade.sandbox.limits import Limits

ROOT = Path(__file__).resolve().parents[3]
# Short enough that those who loop for ever are soon done with.
LIMITS = Limits(cell_seconds=10, call_seconds=3, memory=1 << 30)

Graded = dict[str, dict[str, Record]]  # by unit and student


@click.command()
@click.argument("names", nargs=-1, metavar="[UNIT]...")
@click.option("--size", type=click.IntRange(1, 18), default=12, show_default=True, help="How many students.")
@click.option("--sandbox", type=click.Choice(["bwrap", "none"]), default="bwrap", show_default=True)
def main(names: tuple[str, ...], size: int, sandbox: str) -> None:
    """Build the notebooks and grade a made-up class, whose true scores are known."""
    console = Console(highlight=False, soft_wrap=True)
    units = units_of(names, [u for u in exercises.STEMS if u != "00_welcome"])
    try:
        if sandbox != "none":
            bubblewrap.require()
        wrong = demonstrate(units, size, console, sandboxed=sandbox != "none")
    except DeskError as why:
        raise click.ClickException(str(why)) from None
    sys.exit(1 if wrong else 0)


def demonstrate(units: list[str], size: int, console: Console, *, sandboxed: bool) -> int:
    """Do it all; returns how many submissions are not graded as they must be, or 1 if nothing was."""
    console.print("[bold]1. Notebooks[/bold]  solutions/ → notebooks/")
    built = build(ROOT, units, console=console, gradebook=False)
    for sentence in built.errors:
        console.print(sentence, style="red", markup=False)
    if built.errors:
        return 1

    desk = Desk(ROOT, ROOT / "grading" / "demo")
    shutil.rmtree(desk.folder, ignore_errors=True)
    desk.open()
    honest = [s for unit in units for s in demo_class(unit, size)]
    for submission in honest:
        submission.write(ROOT, desk.submitted)
    hostile = sum(len(write_hostile_class(ROOT, unit, desk.submitted)) for unit in units if sandboxed)
    console.print(
        f"[bold]2. A class[/bold]  {size} made-up students in units {', '.join(u[:2] for u in units)}"
        + (f", and {hostile} submissions that are hostile, broken or odd" if hostile else "")
    )

    console.print("[bold]3. Grades, feedback, report[/bold]  rnngrade run, feedback, report, return csv")
    graded = _grade(desk, units, sandboxed)
    for unit in units:
        write_feedback(desk, unit, [s.student for s in honest if s.unit == unit])
    write_reports(desk, units)
    write_whole(desk.folder / "grades.csv", export(desk, units).encode())

    wrong = sum(_table(unit, honest, graded[unit], console) for unit in units)
    if hostile:
        wrong += _hostile_table(graded, console)
    if wrong:
        console.print(f"{wrong} submissions are not graded as they must be.", style="red")
        return wrong
    console.print(f"All {len(honest) + hostile} submissions are graded as they must be.", style="green")
    here = desk.folder.relative_to(ROOT)
    console.print(f"Report      {here / 'report' / 'index.html'}")
    console.print(f"Feedback    {here / 'feedback'}/STUDENT/UNIT/UNIT.html")
    console.print(f"Gradebook   {here / 'gradebook.db'}, grades.csv; in formgrader: rnngrade --desk {here} lab")
    console.print("To work through the notebooks yourself: make lab")
    return 0


def _grade(desk: Desk, units: Iterable[str], sandboxed: bool) -> Graded:
    graded: Graded = {}
    with GradebookWriter(desk) as gradebook:
        for unit in units:
            gradebook.enter_unit(unit)
            with progress_bar(unit) as advance:
                done = run(
                    desk,
                    Bundle.make(ROOT, unit),
                    jobs=os.cpu_count() or 1,
                    limits=LIMITS,
                    sandboxed=sandboxed,
                    enter=gradebook.enter,
                    advance=advance,
                )
            graded[unit] = {record.student: record for record in done.records}
    return graded


def _table(unit: str, submissions: list[Submission], records: dict[str, Record], console: Console) -> int:
    """Print one unit's grades beside what they should be; returns how many differ, counted by student."""
    table = Table(title=f"{unit}, {exercises.unit(unit).points} points and a written question", title_justify="left")
    table.add_column("student")
    table.add_column("handed in")
    table.add_column("expected", justify="right")
    table.add_column("graded", justify="right")
    table.add_column("")
    wrong = 0
    for s in (s for s in submissions if s.unit == unit):
        expected, record = s.expected(), records[s.student]
        differing = [n for n, points in expected.items() if abs(record.exercise(n).points - points) > 1e-9]
        wrong += bool(differing)
        mark = f"[red]✗ {', '.join(differing)}[/red]" if differing else "[green]✓[/green]"
        table.add_row(s.student, s.what, f"{sum(expected.values()):.2f}", f"{record.points:.2f}", mark)
    console.print(table)
    return wrong


def _hostile_table(graded: Graded, console: Console) -> int:
    """Say what became of the hostile, broken and odd; returns of how many it is not what it must be."""
    wrong, flagged, shown = [], 0, 0
    for one in HOSTILE:
        if (record := graded.get(one.unit, {}).get(one.name)) is None:
            continue
        shown, flagged = shown + 1, flagged + bool(record.flags)
        points = {e.name: e.points for e in record.exercises}
        if one.outcome.misfits(points, {e.name: e.max_points for e in record.exercises}):
            wrong.append(one.name)
    console.print(
        f"Hostile, broken, odd: {shown - len(wrong)} of {shown} as they must be, {flagged} flagged for a person"
    )
    for name in wrong:
        console.print(f"[red]✗ {name}[/red]")
    return len(wrong)


if __name__ == "__main__":
    main()
