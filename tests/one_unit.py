"""What the tests say of one unit: `pytest -p tests.one_unit --unit 03 [FILES]` runs those that see it, and no other.

UNIT is a number, a name or a stem. A test sees a unit if one of its parameters is the unit, or an exercise of it. Tests
of all units together, and of the unit's own chapter, are run too. Each failure is one sentence, with the file and the
line that it is about.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests import sampling

ROOT = Path(__file__).resolve().parents[1]
# What sees a unit and no more than it: what is asked and shown, the checks, the desk, the index of concepts.
TESTS = (
    "tests/notebooks/test_in_step.py",
    "tests/rnncourse/test_array_functions.py",
    "tests/rnncourse/exercises/test_catalogue.py",
    "tests/rnncourse/exercises/test_mistakes.py",
    "tests/rnncourse/exercises/test_answers.py",
    "tests/website/test_pages.py",
    "tests/grading/test_grade.py",
)
OF_ALL_UNITS = ("test_catalogue.py", "test_in_step.py", "test_pages.py")
SENTENCES = pytest.StashKey[list[str]]()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--unit", required=True, metavar="UNIT", help="the unit to prove")


# The course is imported in the functions below: its arrays are checked only if pytest has begun before.


def pytest_configure(config: pytest.Config) -> None:
    config.stash[SENTENCES] = []
    stems = [path.stem for path in ROOT.glob("solutions/[0-9][0-9]_*.py")]
    found = [stem for stem in stems if config.option.unit in (stem, *stem.split("_", 1))]
    if not found:
        raise pytest.UsageError(f"solutions/: No unit here is called {config.option.unit!r}.")
    config.option.unit = found[0]
    if config.args_source is not pytest.Config.ArgsSource.ARGS:
        name = found[0].partition("_")[2]
        own = [*sorted(ROOT.glob(f"rnncourse/{name}*.py")), *ROOT.glob(f"tests/rnncourse/test_{name}.py")]
        config.args[:] = [*TESTS, *map(str, own)]
    sampling.UNITS = (found[0],)
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
        reason = " ".join(dict.fromkeys([*words[:2], *(line for line in words if line.startswith("assert "))]))
        item.config.stash[SENTENCES].append(f"{_about(item)}: This does not hold: {claim}. {reason}")
    return report


def _about(item: pytest.Item) -> str:
    """The file and the line that a test is about, and the name of what it tests there."""
    from rnncourse.checks.exercise import Exercise, Misconception, Question
    from rnncourse.checks.shelf import Answer
    from rnngrade.author.validate import exercise_place, shelf_of

    given = _parameters(item)
    exercise = next((one for one in given.values() if isinstance(one, Exercise | Question)), None)
    mistake = next((one for one in given.values() if isinstance(one, Misconception)), None)
    stem = item.config.getoption("unit")
    answer = next((one for one in given.values() if isinstance(one, Answer)), None)
    if answer:
        return f"{shelf_of(stem)}:{answer.line}: {answer.name}"
    if exercise and mistake:
        return f"{exercise_place(ROOT, exercise, mistake.name)}: {exercise.name}, {mistake.name}"
    if exercise:
        return f"{exercise_place(ROOT, exercise)}: {exercise.name}"
    if given:
        return f"solutions/{stem}.py:1: {stem}"
    return f"{item.path.relative_to(ROOT)}:{(item.location[1] or 0) + 1}"


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    for sentence in config.stash[SENTENCES]:
        terminalreporter.write_line(sentence, red=True)
