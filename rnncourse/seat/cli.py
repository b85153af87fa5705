"""The command line, `rnncourse`: the course in JupyterLab, how far one is, what would be graded, what to hand in.

Exit codes: 0, done; 1, something kept it from being done, in a sentence on stderr; 2, the command was not understood;
3, with `check --strict`: done, and not everything passed.
"""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
import textwrap
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any

import click

from rnncourse.seat import handin, logbook
from rnncourse.seat.handin import HandinError
from rnncourse.seat.sentences import EXAMPLES, Sentence, in_a_sentence

# The course is offline, and so is JupyterLab: it looks for no newer one, and SETTINGS keep it from offering news.
OFFLINE = "--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate"
SETTINGS = Path(__file__).parent / "jupyter"


@click.group(epilog=EXAMPLES + "  rnncourse lab 03\n  rnncourse check 03\n  rnncourse submit 03")
@click.version_option(package_name="rnncourse")
def main() -> None:
    """Recurrent neural networks, built piece by piece."""


@main.command(
    context_settings={"ignore_unknown_options": True},
    epilog=EXAMPLES + "  rnncourse lab\n  rnncourse lab 03\n  rnncourse lab 03 --no-browser --port 9000",
)
@click.argument("unit", required=False)
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED, metavar="[JUPYTERLAB'S OPTIONS]")
def lab(unit: str | None, arguments: tuple[str, ...]) -> None:
    """Open JupyterLab on the course, or on one unit's notebook."""
    if importlib.util.find_spec("jupyterlab") is None:
        raise Sentence("JupyterLab is not installed: run 'pip install \"rnncourse[notebooks]\"'.")
    if unit is not None and unit.startswith("-"):
        arguments, unit = (unit, *arguments), None
    here = Path.cwd()
    with in_a_sentence(HandinError):
        notebook = handin.find(unit, here) if unit else None
        folder = handin.notebooks_folder(notebook.parent if notebook else here)
        folder = folder or (notebook.parent if notebook else None)
    if folder is None:
        raise Sentence("The notebooks are not here: go to the folder of the course, and call this again.")
    opens = [f"--LabApp.default_url=/lab/tree/{notebook.relative_to(folder).as_posix()}"] if notebook else []
    open_jupyterlab(folder, [*opens, *arguments])


def open_jupyterlab(folder: Path, options: Sequence[str], settings: Sequence[Path] = (), **variables: str) -> None:
    """Become JupyterLab on a folder. `settings` are folders of its settings, before ours and the user's own;
    `variables` are for its environment.
    """
    paths = [*map(str, settings), str(SETTINGS), os.environ.get("JUPYTER_CONFIG_PATH", "")]
    command = [sys.executable, "-m", "jupyterlab", f"--ServerApp.root_dir={folder}", OFFLINE]
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        command.append("--allow-root")
    _become([*command, *options], JUPYTER_CONFIG_PATH=os.pathsep.join(filter(None, paths)), **variables)


def _become(command: list[str], **variables: str) -> None:
    """Run a command in this process' place, so that who interrupts or ends one ends the other."""
    environment = os.environ | variables
    if os.name == "posix":
        sys.stdout.flush()
        os.execve(command[0], command, environment)
    sys.exit(subprocess.call(command, env=environment))


@main.command(epilog=EXAMPLES + "  rnncourse progress\n  rnncourse progress --json")
@click.option("--json", "as_json", is_flag=True, help="Print it as JSON.")
def progress(as_json: bool) -> None:
    """Show what is passed, what is open, and the points, by the checks in your notebooks."""
    known = logbook.standings()
    units = logbook.outline()
    if as_json:
        click.echo(json.dumps({"file": str(logbook.kept_at()), "units": [_as_data(u, known) for u in units]}, indent=1))
        return
    from rich.console import Console
    from rich.table import Table

    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("unit")
    table.add_column("")
    table.add_column("points", justify="right", no_wrap=True)
    table.add_column("passed", justify="right", no_wrap=True)
    for unit in units:
        points, most = _points(unit, known), sum(unit.points.values())
        passed = sum(name in known and known[name].passed for name in unit.points)
        begun = any(name in known for name in unit.points)
        number = unit.stem.partition("_")[0]
        table.add_row(
            f"{number} {unit.title}",
            _bar(points / most, 20),
            f"{points:g} of {most}",
            f"{passed} of {len(unit.points)}",
            style="" if begun else "dim",
        )
    console = Console(highlight=False)
    console.print(table)
    latest = max(known, key=lambda name: known[name].when, default=None)
    unit_now = next((unit for unit in units if latest in unit.points), None)
    if unit_now is None:
        console.print("\nNothing is passed yet: 'rnncourse lab 00' opens the first unit.")
        return
    number = unit_now.stem.partition("_")[0]
    missing = [name for name in unit_now.points if not (name in known and known[name].passed)]
    if missing:
        console.print(f"\nOpen in {number} {unit_now.title}: {', '.join(missing)}")
    else:
        console.print(f"\n{number} {unit_now.title} is done: 'rnncourse check {number}' runs it once more as a whole.")


def _points(unit: logbook.Outline, known: dict[str, logbook.Standing]) -> float:
    return round(sum(known[name].score * points for name, points in unit.points.items() if name in known), 2)


def _as_data(unit: logbook.Outline, known: dict[str, logbook.Standing]) -> dict[str, Any]:
    rows = []
    for name, most in unit.points.items():
        standing = known.get(name, logbook.Standing(0.0, False, ""))
        points = round(standing.score * most, 2)
        row = {"name": name, "points": points, "max_points": most, "passed": standing.passed}
        rows.append(row | {"when": standing.when or None})
    most = sum(unit.points.values())
    head = {"unit": unit.stem, "title": unit.title, "points": _points(unit, known), "max_points": most}
    return head | {"exercises": rows}


def _bar(share: float, width: int) -> str:
    full = int(share * width + 1e-9)  # full only when all is there
    return "█" * full + "·" * (width - full)


@main.command(epilog=EXAMPLES + "  rnncourse check 03\n  rnncourse check Downloads/03_cell.ipynb")
@click.argument("notebook")
@click.option("--strict", is_flag=True, help="Exit with 3 if not everything passed.")
def check(notebook: str, strict: bool) -> None:
    """Run your notebook from top to bottom and say what would be graded, hidden cases aside.

    NOTEBOOK is a unit, "03", or a path. A copy of it, as it was saved, is run in a kernel of its own, without the
    experiments.
    """
    with in_a_sentence(HandinError):
        mine = handin.read(handin.find(notebook, Path.cwd()))
        with _live(mine.unit.stem) as advance:
            earned = handin.rehearse(mine, advance)
    _say_what_is_read(mine)
    width = max(map(len, mine.unit.points))
    for one in earned:
        points = f"{one.points:g} of {one.max_points}"
        click.echo(f"{'✓' if one.passed else '✗'} {one.exercise:<{width}}  {points:>10}")
        if not one.passed and mine.is_written(one.exercise):
            click.echo(textwrap.fill(one.message, 96, initial_indent="    ", subsequent_indent="    "))
        if one.score and not logbook.is_off():
            logbook.keep(one.exercise, one.score, one.passed)
    got, most = round(sum(one.points for one in earned), 2), sum(mine.unit.points.values())
    passed = sum(one.passed for one in earned)
    click.echo(
        f"\n{got:g} of {most} points, {passed} of {len(earned)} exercises passed, by the checks that you can see."
    )
    for words in handin.remarks(mine):
        click.echo(words)
    if strict and passed < len(earned):
        sys.exit(3)


@main.command(epilog=EXAMPLES + "  rnncourse submit 03\n  rnncourse submit 03 --output Desktop")
@click.argument("notebook")
@click.option("--output", type=click.Path(path_type=Path), help="The file to write, or the folder to write it to.")
def submit(notebook: str, output: Path | None) -> None:
    """Write the one file to hand in, and say what is missing in it.

    NOTEBOOK is a unit, "03", or a path. Nothing is run: 'rnncourse check' does that.
    """
    with in_a_sentence(HandinError):
        mine = handin.read(handin.find(notebook, Path.cwd()))
        name = f"{mine.unit.stem}-submission.ipynb"
        path = Path(name) if output is None else output / name if output.is_dir() else output
        if path.exists() and path.samefile(mine.path):
            raise Sentence(f"{path} is the notebook that you work in: name another file to write.")
        text = handin.without_outputs(mine)
        temporary = path.with_name(f".{path.name}.new")
        temporary.write_text(text, encoding="utf-8")
        temporary.replace(path)
    _say_what_is_read(mine)
    remarks = handin.remarks(mine)
    for words in remarks:
        click.echo(words)
    click.echo(f"{path} is the file to hand in." + ("" if remarks else " Nothing is missing in it."))


def _say_what_is_read(mine: handin.Notebook) -> None:
    number = mine.unit.stem.partition("_")[0]
    saved = datetime.fromtimestamp(mine.path.stat().st_mtime)
    click.echo(f"{number} {mine.unit.title}, from {_short(mine.path)} as saved on {saved:%d %B at %H:%M}\n")


def _short(path: Path) -> Path:
    return path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path


@contextmanager
def _live(label: str) -> Iterator[Callable[[int, int], None]]:
    """A live line on stderr: which unit, how many of its cells have run, for how long."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(label, total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)


if __name__ == "__main__":
    main()
