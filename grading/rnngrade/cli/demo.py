"""The whole course in one go, on a made-up class: build, and what the README's first pages do, command by command.

    python -m rnngrade.cli.demo

The class's true scores are known, so its end is a proof: each grade must be what was expected. Among the students of
unit 03 are some who attack the desk, or hand in what is broken or odd; what must become of each is known as well.
"""

import shlex
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

from rich.console import Console

from rnncourse import exercises
from rnngrade import cli
from rnngrade.author.build import build, tell
from rnngrade.core.desk import Desk
from rnngrade.demo.hostile import hostile_class
from rnngrade.demo.sample import Submission, demo_class

ROOT = Path(__file__).resolve().parents[3]
SIZE = 12  # students
# Short enough that those who loop for ever are soon done with.
LIMITS = ("--limit", "cell_seconds=10", "--limit", "call_seconds=3", "--limit", "memory=1G")


def main() -> None:
    """Build the notebooks and grade a made-up class, whose true scores are known."""
    units = tuple(unit for unit in exercises.STEMS if unit != "00_welcome")
    console = Console(highlight=False, soft_wrap=True)
    built = build(ROOT, units, console=console, gradebook=False)
    tell(built, ROOT, console)
    if built.errors:
        sys.exit(1)

    desk = Desk(ROOT, ROOT / "grading" / "demo")
    shutil.rmtree(desk.folder, ignore_errors=True)
    here = desk.folder.relative_to(ROOT)
    for command in (
        ("sample", *units, "--size", str(SIZE), "--hostile"),
        ("run", *units, *LIMITS),
        ("feedback", *units),
        ("report", *units),
        ("return", "csv", *units, "--output", str(here / "grades.csv")),
    ):
        arguments = ["--desk", str(here), *command]
        console.print(f"$ rnngrade {shlex.join(arguments)}", style="bold", markup=False)
        cli.main(["--course", str(ROOT), "--desk", str(desk.folder), *command], standalone_mode=False)

    made = [one for unit in units for one in demo_class(unit, SIZE) + hostile_class(unit)]
    if wrong := [words for one in made for words in _differing(desk, one)]:
        for words in wrong:
            console.print(words, style="red", markup=False)
        sys.exit(1)
    console.print(f"All {len(made)} submissions are graded as they must be.", style="green")
    console.print(f"In formgrader: rnngrade --desk {here} lab. To work through the notebooks yourself: make lab")


def _differing(desk: Desk, made: Submission) -> Iterator[str]:
    """The exercises of a submission that have other points than they must, each in a sentence."""
    record = desk.record(made.unit, made.student)
    for name, expected in made.expected().items():
        points = record.exercise(name).points if record else None
        if points is None or abs(points - expected) > 1e-9:
            yield f"{made.student} in {made.unit} ({made.what}): {name} has {points} points, and must have {expected}."


if __name__ == "__main__":
    main()
