"""What the tests say of one unit: `pytest -p tests.one_unit --unit 03_cell FILES` runs those that see it, and no other.

A test sees a unit if one of its parameters is the unit, or an exercise of it. Tests of all units together, and of the
unit's own chapter, are run too. Each failure is one sentence, with the file and the line that it is about.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests import sampling

ROOT = Path(__file__).resolve().parents[1]
OF_ALL_UNITS = ("test_catalogue.py", "test_in_step.py", "test_pages.py")
SENTENCES = pytest.StashKey[list[str]]()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--unit", required=True, metavar="STEM", help="the unit to prove")


# The course is imported in the functions below: its arrays are checked only if pytest has begun before.


def pytest_configure(config: pytest.Config) -> None:
    config.stash[SENTENCES] = []
    sampling.some = lambda things, few: list(things)  # what is drawn from the whole course is not drawn from a unit


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    stem = config.getoption("unit")
    unseen = [item for item in items if not _sees(item, stem)]
    config.hook.pytest_deselected(items=unseen)
    items[:] = [item for item in items if _sees(item, stem)]


def _sees(item: pytest.Item, stem: str) -> bool:
    from rnncourse import exercises
    from rnncourse.checks.exercise import Exercise, Question

    name = stem.partition("_")[2]
    if item.path.name in (f"test_{name}.py", f"{name}.py", f"{stem}.ipynb"):
        return True
    given = _parameters(item)
    if not given:
        return item.path.name in OF_ALL_UNITS
    own = {stem, *(exercise.name for exercise in exercises.unit(stem))}
    return any(getattr(one, "name", one) in own for one in given.values() if isinstance(one, str | Exercise | Question))


def _parameters(item: pytest.Item) -> dict[str, Any]:
    return item.callspec.params if hasattr(item, "callspec") else {}


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Iterator[None]:
    report = yield
    if call.excinfo and report.failed:
        claim = re.sub(r"^test_|\[.*", "", item.name).replace("_", " ")
        words = call.excinfo.exconly().removeprefix("AssertionError: ").splitlines()
        reason = " ".join(dict.fromkeys([words[0], *(line for line in words if line.startswith("assert "))]))
        item.config.stash[SENTENCES].append(f"{_about(item)}: This does not hold: {claim}. {reason}")
    return report


def _about(item: pytest.Item) -> str:
    """The file and the line that a test is about, and the name of what it tests there."""
    from rnncourse.checks.exercise import Exercise, Misconception, Question
    from rnngrade.author.validate import alternatives_of, exercise_place, place

    given = _parameters(item)
    exercise = next((one for one in given.values() if isinstance(one, Exercise | Question)), None)
    mistake = next((one for one in given.values() if isinstance(one, Misconception)), None)
    stem = item.config.getoption("unit")
    if exercise and mistake:
        return f"{exercise_place(ROOT, exercise, mistake.name)}: {exercise.name}, {mistake.name}"
    if exercise:
        return f"{exercise_place(ROOT, exercise)}: {exercise.name}"
    if callable(answer := given.get("answer")):
        where = place(ROOT, alternatives_of(stem), rf"^(def|class) {answer.__name__}\b")
        return f"{where}: {given['name']}"
    if given:
        return f"solutions/{stem}.py:1: {stem}"
    return f"{item.path.relative_to(ROOT)}:{(item.location[1] or 0) + 1}"


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    for sentence in config.stash[SENTENCES]:
        terminalreporter.write_line(sentence, red=True)
