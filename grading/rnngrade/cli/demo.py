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
from collections.abc import Sequence
from pathlib import Path

import click
from rich.console import Console
from rich.table import Table

from rnncourse import exercises
from rnncourse.seat.sentences import in_a_sentence
from rnngrade.author.build import build, tell
from rnngrade.cli.grading import How, grade_units
from rnngrade.cli.shared import for_the_class, units_argument
from rnngrade.core.desk import Desk
from rnngrade.core.errors import DeskError
from rnngrade.core.record import Record, write_whole
from rnngrade.demo.hostile import hostile_class
from rnngrade.demo.sample import Submission, demo_class
from rnngrade.gradebook.exporting import export
from rnngrade.pages.feedback import write_feedback
from rnngrade.pages.report import write_reports
from rnngrade.sandbox import bubblewrap
from rnngrade.sandbox.limits import Limits

ROOT = Path(__file__).resolve().parents[3]
# Short enough that those who loop for ever are soon done with.
LIMITS = Limits(cell_seconds=10, call_seconds=3, memory=1 << 30)


@click.command()
@units_argument("all that are graded by program")
@click.option("--size", type=click.IntRange(1, 18), default=12, show_default=True, help="How many students.")
@click.option("--sandbox", type=click.Choice(["bwrap", "none"]), default="bwrap", show_default=True)
def main(units: tuple[str, ...], size: int, sandbox: str) -> None:
    """Build the notebooks and grade a made-up class, whose true scores are known."""
    wanted = units or [u for u in exercises.STEMS if u != "00_welcome"]
    with in_a_sentence(DeskError):
        if sandbox != "none":
            bubblewrap.require()
        wrong = demonstrate(wanted, size, Console(highlight=False, soft_wrap=True), sandboxed=sandbox != "none")
    sys.exit(1 if wrong else 0)


def demonstrate(units: Sequence[str], size: int, console: Console, *, sandboxed: bool) -> int:
    """Do it all; returns how many submissions are not graded as they must be, or 1 if nothing was."""
    console.print("[bold]1. Notebooks[/bold]  solutions/ → notebooks/")
    built = build(ROOT, units, console=console, gradebook=False)
    tell(built, ROOT, console)
    if built.errors:
        return 1

    desk = Desk(ROOT, ROOT / "grading" / "demo")
    shutil.rmtree(desk.folder, ignore_errors=True)
    desk.open()
    made = [one for unit in units for one in demo_class(unit, size) + (hostile_class(unit) if sandboxed else [])]
    for submission in made:
        submission.write(ROOT, desk.submitted)
    console.print(
        f"[bold]2. A class[/bold]  {size} made-up students in units {', '.join(u[:2] for u in units)}; "
        f"with those who are hostile, broken or odd {len(made)} submissions"
    )

    console.print("[bold]3. Grades, feedback, report[/bold]  rnngrade run, feedback, report, return csv")
    how = How(os.cpu_count() or 1, None, sandboxed, LIMITS, "", None, False)
    with for_the_class() as failures:
        graded = {run.unit: run.records for run in grade_units(desk, units, how, failures, is_quiet=True)}
        for unit in units:
            write_feedback(desk, unit, failures)
        write_reports(desk, units, failures)
        write_whole(desk.folder / "grades.csv", export(desk, units, failures).encode())

    wrong = sum(_table(unit, made, {r.student: r for r in graded[unit]}, console) for unit in units)
    if wrong:
        console.print(f"{wrong} submissions are not graded as they must be.", style="red")
        return wrong
    console.print(f"All {len(made)} submissions are graded as they must be.", style="green")
    here = desk.folder.relative_to(ROOT)
    console.print(f"Report      {here / 'report' / 'index.html'}")
    console.print(f"Feedback    {here / 'feedback'}/STUDENT/UNIT/UNIT.html")
    console.print(f"Gradebook   {here / 'gradebook.db'}, grades.csv; in formgrader: rnngrade --desk {here} lab")
    console.print("To work through the notebooks yourself: make lab")
    return 0


def _table(unit: str, submissions: list[Submission], records: dict[str, Record], console: Console) -> int:
    """Print one unit's grades beside what they should be; returns how many differ, counted by student."""
    table = Table(title=f"{unit}, {exercises.unit(unit).points} points and a written question", title_justify="left")
    for head in ("student", "handed in", "expected", "graded", ""):
        table.add_column(head, justify="right" if head in ("expected", "graded") else "left")
    wrong = 0
    for s in (s for s in submissions if s.unit == unit):
        expected, record = s.expected(), records[s.student]
        differing = [n for n, points in expected.items() if abs(record.exercise(n).points - points) > 1e-9]
        wrong += bool(differing)
        mark = f"[red]✗ {', '.join(differing)}[/red]" if differing else "[green]✓[/green]"
        table.add_row(s.student, s.what, f"{sum(expected.values()):.2f}", f"{record.points:.2f}", mark)
    console.print(table)
    return wrong


if __name__ == "__main__":
    main()
