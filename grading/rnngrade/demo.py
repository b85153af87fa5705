"""The whole course in one go, on a made-up class: build, grade, give feedback, compare.

    python -m rnngrade.demo [--size 12] [UNIT ...]

The class's true scores are known, so the table at the end is a proof: each grade must be what was expected.
"""

from __future__ import annotations

import argparse
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

from rnncourse import exercises
from rnngrade.build import build
from rnngrade.nbgrading import Desk, GradingError
from rnngrade.sample import Submission, demo_class

Scores = dict[str, dict[str, dict[str, float | None]]]  # by unit, student, exercise


def main(argv: Sequence[str] | None = None) -> int:
    """The command line; returns its exit code: 1 if anything failed or any grade is not what was expected."""
    graded_units = [u for u in exercises.STEMS if u != "00_welcome"]
    parser = argparse.ArgumentParser(prog="python -m rnngrade.demo", description="Grade a made-up class.")
    parser.add_argument("units", nargs="*", metavar="UNIT", help="such as 03_cell (default: all)")
    parser.add_argument("--size", type=int, default=12, help="how many students (default: 12, at most 18)")
    options = parser.parse_args(argv)
    console = Console(highlight=False, soft_wrap=True)
    if unknown := [u for u in options.units if u not in graded_units]:
        console.print(f"There is no unit {unknown[0]!r}; there are {', '.join(graded_units)}.", style="red")
        return 2

    root = Path(__file__).resolve().parents[2]
    units = options.units or graded_units
    console.print("[bold]1. Notebooks[/bold]  solutions/ → notebooks/")
    report = build(root, console=console, gradebook=False)
    for sentence in report.errors:
        console.print(sentence, style="red", markup=False)
    if report.errors:
        return 1

    console.print(f"[bold]2. A class[/bold]  {options.size} made-up students, units {', '.join(u[:2] for u in units)}")
    desk = Desk(root, root / "grading" / "demo")
    shutil.rmtree(desk.folder, ignore_errors=True)
    submissions = [s for unit in units for s in demo_class(unit, options.size)]
    desk.open(units)
    for submission in submissions:
        submission.write(root, desk.submitted)

    console.print("[bold]3. Grades and feedback[/bold]  nbgrader autograde, nbgrader generate_feedback")
    try:
        scores = _grade(desk, submissions, console)
    except GradingError as error:
        console.print(str(error), style="red", markup=False)
        return 1

    wrong = sum(_table(unit, submissions, scores, console) for unit in units)
    if wrong:
        console.print(f"{wrong} grades are not what was expected.", style="red")
        return 1
    console.print(f"All {len(submissions)} grades are what was expected.", style="green")
    here = desk.folder.relative_to(root)
    console.print(f"Gradebook  {here / 'gradebook.db'}")
    console.print(f"Feedback   {here / 'feedback'}/STUDENT/UNIT/UNIT.html")
    console.print(
        f"To see the class in formgrader: cd {here} && ../../.venv/bin/jupyter lab, then Nbgrader → Formgrader"
    )
    console.print("To work through the notebooks yourself: make lab")
    return 0


def _grade(desk: Desk, submissions: list[Submission], console: Console) -> Scores:
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console) as progress:
        task = progress.add_task("grading", total=len(submissions))
        for s in submissions:
            progress.update(task, description=f"{s.unit} {s.student}")
            desk.autograde(s.unit, s.student)
            desk.generate_feedback(s.unit, s.student)
            progress.advance(task)
        progress.update(task, description="graded")
    return {unit: desk.scores(unit) for unit in dict.fromkeys(s.unit for s in submissions)}


def _table(unit: str, submissions: list[Submission], scores: Scores, console: Console) -> int:
    """Print one unit's grades beside what they should be; returns how many differ, counted by student."""
    table = Table(title=f"{unit}, {exercises.unit(unit).points} points and a written question", title_justify="left")
    for column, side in (
        ("student", "left"),
        ("handed in", "left"),
        ("expected", "right"),
        ("graded", "right"),
        ("", "left"),
    ):
        table.add_column(column, justify=side)  # type: ignore[arg-type]
    wrong = 0
    for s in (s for s in submissions if s.unit == unit):
        expected, graded = s.expected(), scores[unit][s.student]
        differing = [name for name, points in expected.items() if abs((graded.get(name) or 0.0) - points) > 1e-9]
        total = sum(graded[name] or 0.0 for name in expected if name in graded)
        wrong += bool(differing)
        mark = f"[red]✗ {', '.join(differing)}[/red]" if differing else "[green]✓[/green]"
        table.add_row(s.student, s.what, f"{sum(expected.values()):.2f}", f"{total:.2f}", mark)
    console.print(table)
    return wrong


if __name__ == "__main__":
    sys.exit(main())
