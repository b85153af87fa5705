"""The command line, `rnncourse`: notebooks of one's own, JupyterLab on them, how far one is, what would be graded, what
to hand in.

Exit codes: 0, done; 1, something kept it from being done, in a sentence on stderr; 2, the command was not understood;
3, with `check --strict`: done, and not everything passed.
"""

from __future__ import annotations

import importlib.util
import json
import os
import shlex
import shutil
import subprocess
import sys
import sysconfig
import textwrap
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import click

from rnncourse.seat import handin, logbook
from rnncourse.seat.files import write_whole
from rnncourse.seat.handin import HandinError
from rnncourse.seat.installing import command, quoted
from rnncourse.seat.places import notebooks_folder
from rnncourse.seat.sentences import EXAMPLES, Sentence, in_a_sentence

if TYPE_CHECKING:
    from rnncourse.seat.own import Updated

# The course is offline, and so is JupyterLab: it looks for no newer one, and SETTINGS keep it from offering news.
OFFLINE = "--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate"
SETTINGS = Path(__file__).parent / "jupyter"
STUDENTS_SETTINGS = SETTINGS / "student"
START = "'rnncourse start my-course' makes one, with notebooks of your own."
LABEXTENSIONS = SETTINGS / "labextensions"


@click.group(
    epilog=EXAMPLES + "  rnncourse start my-course\n  rnncourse lab\n  rnncourse check 03\n  rnncourse submit 03"
)
@click.version_option(package_name="rnncourse")
def main() -> None:
    """Recurrent neural networks, built piece by piece."""


@main.command(epilog=EXAMPLES + "  rnncourse start my-course")
@click.argument("folder", type=click.Path(path_type=Path))
def start(folder: Path) -> None:
    """Make a folder with notebooks of your own."""
    from rnncourse.seat import own

    with in_a_sentence(HandinError):
        own.start(folder.absolute())
    click.echo(f"Your notebooks are in {quoted(folder.absolute())}. To begin: cd {quoted(folder)}, then rnncourse lab")


@main.command(epilog=EXAMPLES + "  rnncourse update\n  rnncourse update my-course")
@click.argument("folder", required=False, type=click.Path(path_type=Path, exists=True, file_okay=False))
def update(folder: Path | None) -> None:
    """Bring your notebooks to the release that is installed, with all that you wrote.

    Install the new release first, from where you have this one: the clone, after git pull, or the wheel.
    FOLDER is that of your course; without it, where you are. Save and close the notebooks first. Each answer goes to
    its place in the new notebook, each cell of your own stays behind the one that it followed, and the notebook as it
    was is kept beside the new one.
    """
    from rnncourse import __version__
    from rnncourse.seat import own

    with in_a_sentence(HandinError):
        here = notebooks_folder(folder or Path.cwd(), installed=False)
        if here is None:
            raise Sentence(f"No notebooks are here: go to the folder of your course. {START}")
        if own.release_folder() == here:
            raise Sentence(f"{here} is the course itself, not yours. {START}")
        some = False
        for unit in own.update(here):
            some = True
            for line in _what_became(unit, here):
                click.echo(line)
    click.echo(f"{'All else is' if some else 'Everything is'} as in release {__version__} already.")


def _what_became(unit: Updated, folder: Path) -> Iterator[str]:
    """What an update did to one notebook, line by line."""
    if unit.problem:
        yield f"{unit.stem}: {unit.problem}"
        return
    if unit.carried is None or unit.kept is None:
        yield f"{unit.stem}: new."
        return
    kept = quoted(unit.kept.relative_to(folder))
    yield f"{unit.stem}: updated, {unit.carried} As it was, it is {kept}."
    yield from (f"  {note}" for note in unit.carried.notes())


@main.command(
    context_settings={"ignore_unknown_options": True},
    epilog=EXAMPLES + "  rnncourse lab\n  rnncourse lab 03\n  rnncourse lab 03 --no-browser --port 9000",
)
@click.argument("unit", required=False)
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED, metavar="[JUPYTERLAB'S OPTIONS]")
def lab(unit: str | None, arguments: tuple[str, ...]) -> None:
    """Open JupyterLab where you stopped, or on one unit's notebook."""
    _require("jupyterlab")
    if unit is not None and unit.startswith("-"):
        arguments, unit = (unit, *arguments), None
    here = Path.cwd()
    with in_a_sentence(HandinError):
        folder = notebooks_folder(here)
        if unit is not None:
            notebook = handin.find(unit, here)
            folder = notebooks_folder(notebook.parent) or notebook.parent
        elif folder is None:
            raise Sentence(f"The notebooks are not here: go to the folder of the course. {START}")
        else:
            notebook = _to_go_on_with(folder)
    opens = f"--LabApp.default_url={_address(notebook, folder)}"
    with_commands = f"--LabApp.extra_labextensions_path={LABEXTENSIONS}"
    open_jupyterlab(folder, [opens, with_commands, *arguments], [STUDENTS_SETTINGS])


def _address(notebook: PurePath, folder: PurePath) -> str:
    """Where JupyterLab has a notebook, on a server whose root is `folder`."""
    return f"/lab/tree/{quote(notebook.relative_to(folder).as_posix())}"


def _require(*modules: str) -> None:
    """**Errors:** `Sentence` if one of these is not installed."""
    if any(importlib.util.find_spec(module) is None for module in modules):
        raise Sentence(f"What works with notebooks is not installed: run {command('notebooks')}")


def _to_go_on_with(folder: Path) -> Path:
    """The notebook where one stopped; the first of a folder that has it not."""
    stems = [logbook.where_one_stopped(folder).stem, *(unit.stem for unit in logbook.outline())]
    return next(path for stem in stems if (path := folder / stem / f"{stem}.ipynb").is_file())


def open_jupyterlab(folder: Path, options: Sequence[str], settings: Sequence[Path] = (), **variables: str) -> None:
    """Become JupyterLab on a folder. `settings` are folders of its settings, before ours and the user's own;
    `variables` are for its environment.
    """
    paths = [*map(str, settings), str(SETTINGS), os.environ.get("JUPYTER_CONFIG_PATH", "")]
    command = [sys.executable, "-m", "jupyterlab", f"--ServerApp.root_dir={folder}", OFFLINE]
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        command.append("--allow-root")
    scripts = _scripts()
    if os.name == "posix":
        command.append(f"--ServerApp.terminado_settings={{'shell_command': {_shell(scripts)!r}}}")
    variables["PATH"] = os.pathsep.join(filter(None, [scripts, os.environ.get("PATH", "")]))
    _become([*command, *options], JUPYTER_CONFIG_PATH=os.pathsep.join(filter(None, paths)), **variables)


def _scripts() -> str:
    """The folder of the command `rnncourse` that belongs to this Python; nothing if there is none."""
    schemes = (sysconfig.get_default_scheme(), sysconfig.get_preferred_scheme("user"))
    folders = [sysconfig.get_path("scripts", scheme) for scheme in schemes]
    return next((folder for folder in folders if shutil.which("rnncourse", path=folder)), "")


def _shell(scripts: str) -> list[str]:
    """What a terminal in JupyterLab runs: the user's shell, as after a login, with our commands found first. A login
    sets the path anew, so ours goes before it afterwards.
    """
    set_path = f"PATH={shlex.quote(scripts)}${{PATH:+:$PATH}}; export PATH; " if scripts else ""
    return ["/bin/sh", "-lc", f'{set_path}exec "${{SHELL:-/bin/sh}}" -i']


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
    here = notebooks_folder(Path.cwd(), installed=False)
    known = logbook.standings(here)
    units = logbook.outline()
    if as_json:
        file = str(logbook.kept_at(here))
        click.echo(json.dumps({"file": file, "units": [_as_data(unit, known) for unit in units]}, indent=1))
        return
    from rich.console import Console
    from rich.table import Table

    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("unit")
    table.add_column("")
    table.add_column("points", justify="right", no_wrap=True)
    table.add_column("passed", justify="right", no_wrap=True)
    for unit in units:
        points, most = _points(unit, known), unit.most
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
    unit_now = logbook.latest(units, known)
    if unit_now is None:
        console.print("\nNothing is passed yet: 'rnncourse lab 00' opens the first unit.")
        return
    number = unit_now.stem.partition("_")[0]
    missing = [name for name in unit_now.points if not (name in known and known[name].passed)]
    if missing:
        noted = (
            f"{name} (it passed before)" if name in known and known[name].passed_once else name for name in missing
        )
        console.print(f"\nOpen in {number} {unit_now.title}: {', '.join(noted)}")
    else:
        console.print(f"\n{number} {unit_now.title} is done: 'rnncourse check {number}' runs it once more as a whole.")


def _points(unit: logbook.Outline, known: dict[str, logbook.Standing]) -> float:
    return round(sum(known[name].score * points for name, points in unit.points.items() if name in known), 2)


def _as_data(unit: logbook.Outline, known: dict[str, logbook.Standing]) -> dict[str, Any]:
    rows = []
    for name, most in unit.points.items():
        standing = known.get(name, logbook.Standing())
        points = round(standing.score * most, 2)
        row = {"name": name, "points": points, "max_points": most, "passed": standing.passed}
        row |= {"passed_once": standing.passed_once, "solution_shown": standing.shown or None}
        rows.append(row | {"when": standing.when or None})
    head = {"unit": unit.stem, "title": unit.title, "points": _points(unit, known), "max_points": unit.most}
    return head | {"exercises": rows, "written": unit.written}


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
    _require("ipykernel", "nbclient")
    with in_a_sentence(HandinError):
        mine = handin.read(handin.find(notebook, Path.cwd()))
        with _live(mine.unit.stem) as advance:
            earned = handin.rehearse(mine, advance)
    _say_what_is_read(mine)
    questions = mine.questions()
    width = max(map(len, (*mine.unit.points, *questions)))
    for one in earned:
        is_written = mine.is_written(one.exercise)
        points = f"{one.points:g} of {one.max_points}"
        mark = "✓" if one.passed else "✗" if is_written else "·"
        click.echo(f"{mark} {one.exercise:<{width}}  {points:>10}{'' if is_written else '   not written'}")
        if not is_written:
            continue  # nor does it change what is kept
        if not one.passed:
            click.echo(textwrap.fill(one.message, 96, initial_indent="    ", subsequent_indent="    "))
        if not logbook.is_off():
            logbook.keep(one.exercise, one.score, one.passed, mine.path.parent)
    for name, (worth, is_answered) in questions.items():
        read = f"{worth} points, {'read by a person' if is_answered else 'not written'}"
        click.echo(f"{'✎' if is_answered else '·'} {name:<{width}}  {read}")
    got, most = round(sum(one.points for one in earned), 2), sum(mine.unit.points.values())
    most += sum(worth for worth, _ in questions.values())
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
    """Write the one file to hand in, beside the notebook, and say what is missing in it.

    NOTEBOOK is a unit, "03", or a path. Nothing is run: 'rnncourse check' does that.
    """
    import nbformat

    with in_a_sentence(HandinError):
        mine = handin.read(handin.find(notebook, Path.cwd()))
        name = f"{mine.unit.stem}-submission.ipynb"
        path = mine.path.with_name(name) if output is None else output / name if output.is_dir() else output
        if path.exists() and path.samefile(mine.path):
            raise Sentence(f"{quoted(path)} is the notebook that you work in: name another file to write.")
        known = {} if logbook.is_off() else logbook.standings(mine.path.parent)
        shown = {one: known[one].shown for one in mine.unit.points if one in known and known[one].shown}
        made = handin.without_outputs(mine, shown)
        write_whole(path, (nbformat.writes(made, version=nbformat.NO_CONVERT) + "\n").encode())
    _say_what_is_read(mine)
    if shown:
        click.echo(f"It says that the solution was shown, which takes no points by itself, of {', '.join(shown)}.")
    remarks = [*handin.remarks(mine), *handin.faults(mine)]
    for words in remarks:
        click.echo(words)
    click.echo(f"{quoted(path.absolute())} is the file to hand in." + ("" if remarks else " Nothing is missing in it."))


def _say_what_is_read(mine: handin.Notebook) -> None:
    number = mine.unit.stem.partition("_")[0]
    saved = datetime.fromtimestamp(mine.path.stat().st_mtime)
    click.echo(f"{number} {mine.unit.title}, from {quoted(_short(mine.path))} as saved on {saved:%d %B at %H:%M}\n")


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
