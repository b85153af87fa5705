"""The logbook: how a student's answers stand, kept from session to session, in one small file for each course.

    {"format": 2, "exercises": {"rnn_step": {"score": 0.2, "passed": false, "passed_once": true, "shown": "",
                                             "when": "2026-01-31T10:15:00+00:00"}}}

It lies in the course's folder, my-course/progress.json, so that a second copy of a notebook elsewhere changes nothing
here; a notebook that lies in no such folder has its own in the user's data folder. Of each exercise it keeps two facts,
whether it passed once and whether it holds now, with the latest score; and when its solution was shown, if it was.

Notebooks write it under a lock, and each writes it whole to a temporary file that then takes its name: two at once lose
nothing, and a crash leaves it as it was. A file that cannot be read is set aside. Whatever goes wrong here is said in a
sentence, once, and keeps no check from its verdict.

RNNCOURSE_PROGRESS names another file, or says "off". Without it the file is kept only where somebody sits at the
keyboard: not while notebooks are built, tested or graded.
"""

import ast
import contextlib
import json
import os
import sys
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any

from rnncourse.checks.packed import text_of
from rnncourse.seat import runs
from rnncourse.seat.places import course_around, released_folders

FORMAT = 2
LOCK_SECONDS = 2.0
_said: set[str] = set()


@dataclass(frozen=True)
class Standing:
    """How an exercise stands: the score of the latest verdict, from 0 to 1, and whether it passed; since when that is
    so; whether it passed ever; and when its solution was shown, if it was.
    """

    score: float = 0.0
    passed: bool = False
    when: str = ""
    passed_once: bool = False
    shown: str = ""


def kept_at(here: Path | None = None) -> Path:
    """The file for what is done at `here`, or else in this session's notebook; whether or not this session keeps it."""
    chosen = os.environ.get("RNNCOURSE_PROGRESS")
    if chosen and not is_off():
        return Path(chosen)
    notebook = runs.notebook()
    course = course_around(here or (notebook.parent if notebook else Path.cwd()))
    if course is not None:
        return course / "progress.json"
    import platformdirs  # here, because most sessions never come this far

    return platformdirs.user_data_path("rnncourse", appauthor=False) / "progress.json"


def is_off() -> bool:
    """Whether RNNCOURSE_PROGRESS says "off"."""
    return os.environ.get("RNNCOURSE_PROGRESS", "").lower() == "off"


def is_kept() -> bool:
    """Whether this session keeps the file: if RNNCOURSE_PROGRESS says where, or somebody sits at the keyboard."""
    return not is_off() and (bool(os.environ.get("RNNCOURSE_PROGRESS")) or _is_interactive())


def _is_interactive() -> bool:
    """A kernel is told with each cell whether it may ask for input. Where notebooks are only executed, it may not."""
    shell = runs.shell()
    return shell is not None and bool(getattr(getattr(shell, "kernel", None), "_allow_stdin", True))


def standings(here: Path | None = None) -> dict[str, Standing]:
    """What is kept, by exercise; nothing if there is no file. One that is damaged is set aside."""
    path = kept_at(here)
    try:
        return _read(path)
    except FileNotFoundError:
        return {}
    except OSError as error:
        _say("no file", f"Your progress cannot be read from {path}: {error.strerror}.")
        return {}
    except ValueError:
        _set_aside(path)
        return {}


def keep(name: str, score: float, passed: bool, here: Path | None = None) -> None:
    """Keep a verdict in place of the one that is kept, if it is another. What goes wrong is said, not raised."""
    _change(name, here, score=float(score), passed=bool(passed))


def note_shown(name: str) -> None:
    """Keep that the solution of an exercise was shown, and when that was for the first time."""
    _change(name, None, shown=_now())


def _change(name: str, here: Path | None, **facts: Any) -> None:
    path = kept_at(here)

    def changed(old: Standing) -> Standing:
        new = replace(old, **facts | {"shown": old.shown or facts.get("shown", "")})
        return replace(new, passed_once=old.passed_once or new.passed)

    try:
        old = standings(here).get(name, Standing())
        if changed(old) == old and old.when:
            return  # without a lock: most checks end here
        path.parent.mkdir(parents=True, exist_ok=True)
        with _locked(path):
            known = standings(here)
            new = replace(changed(known.get(name, Standing())), when=_now())
            _write(path, known | {name: new})
    except OSError as error:
        _say("no file", f"Your progress cannot be kept in {path}: {error.strerror}.")


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


def _read(path: Path) -> dict[str, Standing]:
    """**Errors:** `OSError`; `ValueError` if it is no file of this kind."""
    data = json.loads(path.read_text(encoding="utf-8"))
    try:
        if data["format"] not in (1, FORMAT):  # the first knew what holds now alone
            raise ValueError("another format")
        return {str(name): _standing(entry) for name, entry in data["exercises"].items()}
    except (AttributeError, KeyError, TypeError) as error:
        raise ValueError("not a file of this kind") from error


def _standing(entry: dict[str, Any]) -> Standing:
    passed = bool(entry["passed"])
    return Standing(
        min(1.0, max(0.0, float(entry["score"]))),
        passed,
        str(entry["when"]),
        passed or bool(entry.get("passed_once")),
        str(entry.get("shown", "")),
    )


def _write(path: Path, known: dict[str, Standing]) -> None:
    data = {"format": FORMAT, "exercises": {name: asdict(standing) for name, standing in sorted(known.items())}}
    from rnncourse.seat.files import write_whole  # here, for the sandbox has none, and keeps nothing

    write_whole(path, json.dumps(data, indent=1).encode())


def _set_aside(path: Path) -> None:
    aside = path.with_name(f"{path.stem}.damaged-{datetime.now(UTC):%Y%m%d-%H%M%S}{path.suffix}")
    try:
        path.replace(aside)
    except FileNotFoundError:
        return  # another notebook was quicker
    except OSError:
        aside = path
    _say("damaged", f"The file with your progress was damaged, so a new one is begun; the old one is {aside}.")


@contextlib.contextmanager
def _locked(path: Path) -> Iterator[None]:
    """One notebook at a time. Where there are no locks, or one is held too long, it goes on without."""
    try:
        from fcntl import LOCK_EX, LOCK_NB, flock
    except ImportError:  # Windows has no such module, and Python in a browser has one without locks
        yield
        return
    with open(path.with_suffix(".lock"), "w", encoding="utf-8") as file:
        until = time.monotonic() + LOCK_SECONDS
        while True:
            try:
                flock(file, LOCK_EX | LOCK_NB)
                break
            except OSError as error:
                if not isinstance(error, BlockingIOError) or time.monotonic() > until:
                    break
                time.sleep(0.02)
        yield


def _say(kind: str, sentence: str) -> None:
    """Once in a session is enough. In a notebook to stdout: what comes on stderr looks like a fault of the cell."""
    if kind not in _said:
        _said.add(kind)
        print(sentence, file=sys.stderr if runs.shell() is None else sys.stdout)


# --- the course, for a table of all of it


@dataclass(frozen=True)
class Outline:
    """A unit in short: its stem, its title, and the points of its exercises by name; and of the questions that a person
    reads, where the unit's notebook is installed.
    """

    stem: str
    title: str
    points: dict[str, int]
    written: dict[str, int] = field(default_factory=dict)

    @property
    def most(self) -> int:
        """All points of the unit."""
        return sum(self.points.values()) + sum(self.written.values())


@cache
def written_in(stem: str) -> dict[str, int]:
    """The points of a unit's questions that a person reads, by name, as its notebook has them that is given out."""
    path = next((folder / stem / f"{stem}.ipynb" for folder in released_folders()), None)
    if path is None or not path.is_file():
        return {}
    cells = [
        cell["metadata"].get("nbgrader", {})
        for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]
        if cell["cell_type"] == "markdown"
    ]
    return {cell["grade_id"]: round(cell["points"]) for cell in cells if cell.get("grade") and cell.get("solution")}


def outline() -> list[Outline]:
    """Every unit in short, read off the catalogue's files: to import them all would take torch along, and seconds."""
    from rnncourse import exercises

    folder = Path(exercises.__file__).parent
    sources = {stem: text_of(folder / f"{stem.partition('_')[2]}.py") for stem in exercises.STEMS}
    return [Outline(stem, *_listed(source), written_in(stem)) for stem, source in sources.items()]


def latest(units: list[Outline], known: dict[str, Standing]) -> Outline | None:
    """The unit of the last verdict that was kept, or None."""
    name = max(known, key=lambda name: known[name].when, default=None)
    return next((unit for unit in units if name in unit.points), None)


def where_one_stopped(here: Path | None = None) -> Outline:
    """The unit to go on with: that of the last verdict, or the one after it if it is done; at first, the first."""
    units, known = outline(), standings(here)
    unit = latest(units, known)
    if unit is None:
        return units[0]
    if all(name in known and known[name].passed for name in unit.points):
        return units[min(units.index(unit) + 1, len(units) - 1)]
    return unit


@cache
def _listed(source: str) -> tuple[str, dict[str, int]]:
    """The title of a unit and the points of its exercises, of the text of its file."""
    title, points = "", {}
    for statement in ast.parse(source).body:
        call = getattr(statement, "value", None)
        if not isinstance(call, ast.Call):
            continue
        if isinstance(call.func, ast.Name) and call.func.id == "Unit":
            title = ast.literal_eval(call.args[1])
        elif isinstance(call.func, ast.Attribute) and call.func.attr in ("exercise", "question", "choice"):
            (worth,) = (keyword.value for keyword in call.keywords if keyword.arg == "points")
            points[ast.literal_eval(call.args[0])] = ast.literal_eval(worth)
    return title, points
