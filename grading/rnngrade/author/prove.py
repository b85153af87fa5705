"""One command for an author, `make unit UNIT=16`: it validates a unit, builds it, and proves that unit alone.

    python -m rnngrade.author.prove UNIT

UNIT is a number, a name or a stem: 16, forgetting, 16_forgetting. Nothing is written unless the unit is valid. What is
wrong is one sentence, with file and line.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console

from rnngrade.author.build import build, tell
from rnngrade.author.unit import find_units
from rnngrade.author.validate import faults, gaps, misjudged, place

MUTANTS = 300
# The tests that see a unit and no more than it: what is asked and shown, the checks, the desk, the index of concepts.
TESTS = (
    "tests/notebooks/test_in_step.py",
    "tests/rnncourse/exercises/test_catalogue.py",
    "tests/rnncourse/exercises/test_mistakes.py",
    "tests/rnncourse/exercises/test_right_answers.py",
    "tests/website/test_pages.py",
    "tests/grading/test_grade.py",
)


def main(argv: Sequence[str] | None = None) -> int:
    """The command line; returns its exit code."""
    parser = argparse.ArgumentParser(prog="make unit UNIT=...", description="Validate, build and prove one unit.")
    parser.add_argument("unit", metavar="UNIT", help="such as 16, forgetting or 16_forgetting")
    wanted = parser.parse_args(argv).unit
    root, console = Path.cwd(), Console(highlight=False, soft_wrap=True)

    stems = [stem for stem in find_units(root) if wanted in (stem, *stem.split("_", 1))]
    if not stems:
        console.print(f"solutions/: No unit here is called {wanted!r}.", style="red", markup=False)
        return 1
    (unit,) = stems
    wrong = list(faults(root, unit))
    if not wrong:
        wrong = [*misjudged(root, unit), *gaps(root, unit)]
    if wrong:
        for sentence in wrong:
            console.print(sentence, style="red", markup=False)
        console.print("Nothing was written.")
        return 1
    report = build(root, [unit], faults=lambda *_: (), misjudged=lambda *_: (), console=console)
    tell(report, root, console)
    if report.errors:
        return 1

    tests = [*TESTS, *(path for path in _own(root, unit.partition("_")[2]) if (root / path).exists())]
    options = ["-q", "--tb=no", "--no-header", "-rN", "-p", "tests.one_unit", f"--unit={unit}"]
    tested = subprocess.run([sys.executable, "-m", "pytest", *options, *tests], cwd=root, check=False)
    strict = _mutants(root, unit, console)
    if tested.returncode or not strict:
        return 1
    console.print(f"{unit} holds.")
    return 0


def _own(root: Path, name: str) -> list[str]:
    """The files of the unit's own chapter, with their doctests, and what proves it."""
    chapter = [path.relative_to(root).as_posix() for path in sorted(root.glob(f"rnncourse/{name}*.py"))]
    return [*chapter, f"tests/rnncourse/test_{name}.py"]


def _mutants(root: Path, unit: str, console: Console) -> bool:
    """Whether the hidden checks refuse the small changes of the model answers: all, or a fixed sample of so many."""
    command = [sys.executable, "-m", "mutants", unit, "--sample", str(MUTANTS), "--seed", "0"]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)
    accepted = re.findall(r"^(\w+): accepted\n((?:[-+] .*\n)+)", done.stdout, re.MULTILINE)
    for name, change in accepted:
        where = place(root, f"solutions/{unit}.py", f'answer="{name}"')
        lines = "; ".join(" ".join(line.split()) for line in change.splitlines())
        console.print(f"{where}: The hidden check accepts {name} with this change: {lines}", style="red", markup=False)
    if done.returncode == 0:
        console.print(done.stdout.splitlines()[0], markup=False)
    elif not accepted:
        console.print(done.stdout + done.stderr, style="red", markup=False)
    return done.returncode == 0


if __name__ == "__main__":
    sys.exit(main())
