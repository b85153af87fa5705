"""How much of the processor the grading desk takes, against `nbgrader autograde` on the same files, and where it goes;
and how a large class fares: every command, with the most memory that each of its processes has.

python -m benchmarks.desk [--size 12] [--nbgrader 12] [UNIT ...]
python -m benchmarks.desk --class 1000 03_cell          run, report, feedback and return, in the units that are named

The processor's time is that of all processes together, the rooms' among them, as the kernel counts it for a control
group: other than the clock's, it says something on a busy machine as well. (Only root can have such groups; to others
the clock's is shown alone.)
"""

import argparse
import itertools
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import psutil  # type: ignore[import-untyped]

ROOT = Path(__file__).resolve().parents[1]
UNITS = ["03_cell", "07_torch_rnn"]  # one in NumPy, one in PyTorch
JOBS = 2
GROUPS = Path("/sys/fs/cgroup/cpuacct"), Path("/sys/fs/cgroup")  # version 1 of the kernel's interface, and version 2
SAMPLE_SECONDS = 0.25
ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
SPENT = {
    "intake_seconds": "intake and inspection",
    "sandbox_seconds": "start of the sandbox",
    "cell_seconds": "the students' cells",
    "judge_seconds": "judge",
    "place_seconds": "looking for places",
}


@dataclass
class Cost:
    """What a command took: seconds of the clock and of the processor (NaN if nobody counts them), and by kind of
    process the most bytes that one has had.
    """

    output: str = ""
    seconds: float = 0.0
    cpu: float = float("nan")
    memory: dict[str, int] = field(default_factory=dict)


def run() -> None:
    """A class of 12 by the desk and by nbgrader."""
    main([])


def main(argv: Sequence[str] | None = None) -> None:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.desk", description=__doc__.partition("\n\n")[0])
    parser.add_argument("units", nargs="*", default=UNITS)
    parser.add_argument("--size", type=int, default=12, help="submissions that the desk grades")
    parser.add_argument("--nbgrader", type=int, default=12, help="how many of them nbgrader grades; 0: none")
    parser.add_argument("--class", type=int, default=0, dest="large", help="a class of this size, all commands")
    options = parser.parse_args(argv)
    print(f"\nThe grading desk, {JOBS} jobs; {load()}")
    if options.large:
        a_class(options.units, options.large)
        return
    for unit in options.units:
        ours, records = by_the_desk(unit, options.size)
        print(f"\n  {unit}, {options.size} submissions: {each(ours, options.size)}")
        show_where(records)
        if options.nbgrader:
            theirs = by_nbgrader(unit, options.nbgrader)
            clock = theirs.seconds / options.nbgrader / (ours.seconds / options.size)
            cpu = theirs.cpu / options.nbgrader / (ours.cpu / options.size)
            print(f"    `nbgrader autograde`, {options.nbgrader} of them: {each(theirs, options.nbgrader)}")
            print(f"    nbgrader/desk: {clock:.1f} by the clock, {cpu:.1f} by the processor's time")


def load() -> str:
    """How busy the machine is, in words."""
    return f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}, {time.strftime('%Y-%m-%d %H:%M')}."


def each(cost: Cost, size: int) -> str:
    """A cost in words, for each of so many submissions."""
    return (
        f"{cost.seconds:.1f} s, {cost.cpu:.1f} s of the processor; "
        f"{cost.seconds / size:.3f} and {cost.cpu / size:.3f} s each"
    )


def write_class(unit: str, size: int, submitted: Path) -> None:
    """Right answers, blank ones, and every mistake, again and again under other names."""
    from rnngrade.demo.sample import demo_class
    from tests.grading.covering import covering_class

    kinds = itertools.cycle([*demo_class(unit), *covering_class(unit)])
    for number in range(size):
        replace(next(kinds), student=f"student{number:03}").write(ROOT, submitted)


def by_the_desk(unit: str, size: int) -> tuple[Cost, list[dict[str, float]]]:
    """What `rnngrade run` costs; what was measured of each submission."""
    from rnngrade.core.desk import Desk

    with tempfile.TemporaryDirectory() as folder:
        desk = Desk(ROOT, Path(folder) / "desk")
        desk.open()
        write_class(unit, size, desk.submitted)
        cost = rnngrade(desk.folder, "run", unit, "--seed", "7", "--jobs", str(JOBS), "--json")
        return cost, [record["measured"] for record in json.loads(cost.output)]


def by_nbgrader(unit: str, size: int) -> Cost:
    """What one `nbgrader autograde` for the whole class costs."""
    from benchmarks.by_nbgrader import Desk

    with tempfile.TemporaryDirectory() as folder:
        desk = Desk(ROOT, Path(folder) / "desk")
        desk.open_with([unit])
        write_class(unit, size, desk.submitted)
        path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
        environment = {"PATH": path, "RNNCOURSE_SEED": "7"}
        cost = measured([sys.executable, "-m", "nbgrader", "autograde", unit], desk.folder, environment)
        if len(desk.scores(unit)) != size:
            raise SystemExit(f"nbgrader did not grade all of {unit}.")
        return cost


def a_class(units: list[str], size: int) -> None:
    """All that is done for a class, from the grading to the tables, one command after another."""
    from rnngrade.core.desk import Desk

    with tempfile.TemporaryDirectory() as folder:
        desk = Desk(ROOT, Path(folder) / "desk")
        desk.open()
        for unit in units:
            write_class(unit, size, desk.submitted)
        print(f"\n  {size} students, {len(units)} units: {', '.join(units)}")
        number = size * len(units)
        for command in (
            ["run", *units, "--seed", "7", "--jobs", str(JOBS)],
            ["report", *units],
            ["feedback", *units],
            ["return", "csv", *units, "--output", str(desk.folder / "grades.csv")],
        ):
            cost = rnngrade(desk.folder, *command)
            memory = ", ".join(f"{kind} {most / 2**20:.0f} MB" for kind, most in sorted(cost.memory.items()))
            print(
                f"    {command[0]:9} {each(cost, number)}; the most memory of a process: {memory}; {load()}", flush=True
            )
        for unit in units:
            page = desk.reports / f"{unit}.html"
            pages = [path.stat().st_size for path in desk.feedback.glob(f"*/{unit}/*.html")]
            print(
                f"    {unit}: report {page.stat().st_size / 1e6:.1f} MB, in a browser after {opened(page):.2f} s; "
                f"feedback {sum(pages) / len(pages) / 1e3:.0f} kB each"
            )


def opened(page: Path) -> float:
    """Seconds from the beginning of a page in Chromium until all of it is there; NaN without a Chromium."""
    from playwright.sync_api import Error, sync_playwright

    try:
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=["--no-sandbox"])
            shown = browser.new_page()
            shown.goto(page.as_uri(), timeout=600_000)
            return float(shown.evaluate("performance.getEntriesByType('navigation')[0].loadEventStart")) / 1e3
    except Error:
        return float("nan")


def rnngrade(desk: Path, *arguments: str) -> Cost:
    """What a command of the desk costs."""
    return measured([sys.executable, "-m", "rnngrade.cli", "--desk", str(desk), *arguments], ROOT, {})


def measured(command: list[str], folder: Path, environment: dict[str, str]) -> Cost:
    """Run a command to its end, all processes that it starts included."""
    group = _group()
    began = time.perf_counter()
    process = subprocess.Popen(
        command,
        cwd=folder,
        env=os.environ | ONE_THREAD | environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=(lambda: (group / "cgroup.procs").write_text("0")) if group else None,
    )
    cost = Cost()
    watcher = threading.Thread(target=_watch, args=(process, cost.memory))
    watcher.start()
    cost.output, errors = process.communicate()
    cost.seconds = time.perf_counter() - began
    watcher.join()
    if group:
        cost.cpu = _used(group)
    if process.returncode:
        raise SystemExit(errors[-2000:])
    return cost


def _group() -> Path | None:
    """A new control group; None where there is none to be had."""
    for folder in GROUPS:
        with suppress(OSError):
            group = folder / f"benchmark-{os.getpid()}-{time.monotonic_ns()}"
            group.mkdir()
            if (group / "cgroup.procs").exists() and any((group / n).exists() for n in ("cpuacct.usage", "cpu.stat")):
                return group
            group.rmdir()
    return None


def _used(group: Path) -> float:
    """Seconds of the processor that all in a group have used; the group is removed, when all of them have ended."""
    for _ in range(100):
        if not (group / "cgroup.procs").read_text():
            break
        time.sleep(0.1)
    usage = group / "cpuacct.usage"
    if usage.exists():
        seconds = int(usage.read_text()) / 1e9
    else:
        seconds = int((group / "cpu.stat").read_text().split()[1]) / 1e6
    with suppress(OSError):
        group.rmdir()
    return seconds


def _watch(process: subprocess.Popen[str], most: dict[str, int]) -> None:
    """Note the most memory of each kind of process, several times a second, until the first has ended."""
    top = psutil.Process(process.pid)
    while process.poll() is None:
        with suppress(psutil.Error):
            for one in [top, *top.children(recursive=True)]:
                with suppress(psutil.Error):
                    kind = "desk" if one == top else _kind(one.cmdline())
                    most[kind] = max(most.get(kind, 0), one.memory_info().rss)
        time.sleep(SAMPLE_SECONDS)


def _kind(command: Any) -> str:
    words = " ".join(command)
    if "rnngrade.grading.forks" in words:
        return "grading process"
    return "room" if "warm.py" in words or "bwrap" in words else "others"


def show_where(records: list[dict[str, float]]) -> None:
    """Print what a submission's time goes to, by the clock, in the grading processes."""
    size = len(records)
    total = sum(m["seconds"] for m in records)
    known = {words: sum(m.get(name, 0.0) for m in records) for name, words in SPENT.items()}
    known["the rest of it"] = total - sum(known.values())
    print(f"    by the clock, in {JOBS} grading processes, each submission {1e3 * total / size:.0f} ms:")
    for words, part in known.items():
        print(f"      {words:24} {1e3 * part / size:6.0f} ms  {part / total:4.0%}")
    cpu = sum(m.get("cell_cpu_seconds", 0.0) for m in records) / size
    print(f"      the processor's time of the students' own cells: {1e3 * cpu:.0f} ms")


if __name__ == "__main__":
    main()
