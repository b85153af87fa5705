"""How fast the grading desk is, against `nbgrader autograde` on the same files, and where its time goes.

python -m benchmarks.desk [--size 40] [--nbgrader 40] [--large 400] [UNIT ...]
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
UNITS = ["03_cell", "09_bidirectional"]  # one in NumPy, one in PyTorch
JOBS = 2
GOAL = 4
ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
SPENT = {
    "intake_seconds": "intake and inspection",
    "sandbox_seconds": "start of the sandbox",
    "cell_seconds": "the students' cells",
    "judge_seconds": "judge",
}


def run() -> None:
    """A class of 40 by the desk and by nbgrader; a class of 400 by the desk."""
    main([])


def main(argv: Sequence[str] | None = None) -> None:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.desk", description=__doc__)
    parser.add_argument("units", nargs="*", default=UNITS)
    parser.add_argument("--size", type=int, default=40, help="submissions that the desk grades")
    parser.add_argument("--nbgrader", type=int, default=40, help="how many of them nbgrader grades; 0: none")
    parser.add_argument("--large", type=int, default=400, help="submissions of the large class, first unit; 0: none")
    options = parser.parse_args(argv)
    print(f"\nThe grading desk, {JOBS} jobs, against `nbgrader autograde UNIT` on the same files. The goal is {GOAL}.")
    for number, unit in enumerate(options.units):
        seconds, records, gradebook = by_the_desk(unit, options.size)
        rate = 60 * options.size / seconds
        print(f"\n  {unit}, {options.size} submissions: {seconds:.1f} s, {rate:.0f} a minute")
        show_where(seconds, records, gradebook)
        if options.nbgrader:
            theirs = by_nbgrader(unit, options.nbgrader)
            their_rate = 60 * options.nbgrader / theirs
            print(
                f"    nbgrader, {options.nbgrader} of them: {theirs:.1f} s, {their_rate:.1f} a minute; "
                f"ratio {rate / their_rate:.1f}"
            )
        if options.large and number == 0:
            large, _, _ = by_the_desk(unit, options.large)
            each = seconds / options.size, large / options.large
            print(
                f"    each of {options.size}: {1e3 * each[0]:.0f} ms; each of {options.large}: {1e3 * each[1]:.0f} ms; "
                f"ratio {each[1] / each[0]:.2f}"
            )


def write_class(unit: str, size: int, submitted: Path) -> None:
    """Right answers, blank ones, and every mistake, again and again under other names."""
    from rnngrade.sample import covering_class, demo_class

    kinds = itertools.cycle([*demo_class(unit), *covering_class(unit)])
    for number in range(size):
        replace(next(kinds), student=f"student{number:03}").write(ROOT, submitted)


def by_the_desk(unit: str, size: int) -> tuple[float, list[dict[str, float]], float]:
    """Seconds of the whole command; what was measured of each submission; seconds of its gradebook, entered anew."""
    from rnngrade.desk import Desk
    from rnngrade.gradebook import GradebookWriter

    with tempfile.TemporaryDirectory() as folder:
        desk = Desk(ROOT, Path(folder) / "desk")
        desk.open()
        write_class(unit, size, desk.submitted)
        command = ["--desk", str(desk.folder), "run", unit, "--seed", "7", "--jobs", str(JOBS), "--json"]
        began = time.perf_counter()
        done = subprocess.run(
            [sys.executable, "-m", "rnngrade.cli", *command],
            env=os.environ | ONE_THREAD,
            capture_output=True,
            text=True,
        )
        seconds = time.perf_counter() - began
        if done.returncode:
            raise SystemExit(done.stderr)
        again = Desk(ROOT, Path(folder) / "again")
        again.open()
        with GradebookWriter(again) as gradebook:
            gradebook.enter_unit(unit)
            began = time.perf_counter()
            for record in desk.graded(unit):
                gradebook.put(record, desk.executed_path(unit, record.student).read_bytes())
            entering = time.perf_counter() - began
        return seconds, [record["measured"] for record in json.loads(done.stdout)], entering


def by_nbgrader(unit: str, size: int) -> float:
    """Seconds of one `nbgrader autograde` for the whole class."""
    from rnngrade.nbgrading import Desk

    with tempfile.TemporaryDirectory() as folder:
        desk = Desk(ROOT, Path(folder) / "desk")
        desk.open_with([unit])
        write_class(unit, size, desk.submitted)
        path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
        environment = os.environ | ONE_THREAD | {"PATH": path, "RNNCOURSE_SEED": "7"}
        began = time.perf_counter()
        done = subprocess.run(
            [sys.executable, "-m", "nbgrader", "autograde", unit],
            cwd=desk.folder,
            env=environment,
            capture_output=True,
            text=True,
        )
        seconds = time.perf_counter() - began
        if done.returncode or len(desk.scores(unit)) != size:
            raise SystemExit(f"nbgrader did not grade all of {unit}:\n{done.stderr[-2000:]}")
        return seconds


def show_where(seconds: float, measured: list[dict[str, float]], gradebook: float) -> None:
    """Print what a submission's time goes to, in the grading processes and beside them."""
    size = len(measured)
    total = sum(m["seconds"] for m in measured)
    known = {words: sum(m.get(name, 0.0) for m in measured) for name, words in SPENT.items()}
    known["the rest of it"] = total - sum(known.values())
    print(f"    in {JOBS} grading processes, each submission {1e3 * total / size:.0f} ms:")
    for words, part in known.items():
        print(f"      {words:24} {1e3 * part / size:6.0f} ms  {part / total:4.0%}")
    cpu = sum(m.get("cell_cpu_seconds", 0.0) for m in measured) / size
    print(f"      lower limit, the CPU time of the students' own cells: {1e3 * cpu:.0f} ms")
    print(f"    the gradebook, meanwhile, in the desk's process: {1e3 * gradebook / size:.0f} ms each")
    print(f"    start of processes, and waiting: {seconds - total / JOBS:.1f} s of {seconds:.1f} s")


if __name__ == "__main__":
    main()
