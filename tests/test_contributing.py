"""CONTRIBUTING.md teaches by doing. Here somebody does it: to the letter, in a copy of the course.

Then every test that sees the new unit is run in the copy.
"""

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from rnncourse import exercises
from tests import one_unit
from tests.sampling import some

BLOCK = re.compile(r"(?P<lead>[^\n]+(?:\n[^\n]+)*)\n\n```(?P<kind>\w+)\n(?P<body>.*?)```\n", re.DOTALL)
BELOW_A_LINE = re.compile(r"In\s`([^`]+)`, below the line `([^`]+)`:$")
NEW_FILE = re.compile(r"New, `([^`]+)`:$")
# What needs a browser or a server, or takes no unit: the tests of the site see a unit in the index of concepts.
ELSEWHERE = ("tests/browser", "tests/hub", "tests/fuzz", "tests/test_contributing.py")
END_OF_FILE = re.compile(r"At the end of\s`([^`]+)`:$")


@dataclass
class Command:
    """One command of the page: as it stands there, what the page shows of its output, and what came."""

    line: str
    shown: list[str]
    came: str
    code: int


def commands_of(block: str) -> Iterator[tuple[str, list[str]]]:
    """Each command of a console, with the lines shown below it."""
    for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
        line, *shown = part.splitlines()
        yield line, shown


def run(line: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run a command of the page in a copy of the course, with the environment that runs this test."""
    program, *arguments = shlex.split(line)
    if program == "make":  # the environment is not installed again
        command = ["make", "--assume-old=.venv/.installed", f"PY={sys.executable}", *arguments]
    else:
        assert program == ".venv/bin/python", line
        command = [sys.executable, *arguments]
    environment = {k: v for k, v in os.environ.items() if k not in ("RNNCOURSE_SEED", "PYTEST_ADDOPTS")}
    environment["PYTHONPATH"] = os.pathsep.join([str(folder), str(folder / "grading")])
    environment |= dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)


def is_shown(shown: str, came: str) -> bool:
    """Whether a line was printed; a "…" stands for anything."""
    pattern = ".*".join(map(re.escape, shown.split("…")))
    return any(re.fullmatch(pattern, line.strip()) for line in came.splitlines())


@pytest.fixture(scope="module")
def page(root) -> str:
    return (root / "CONTRIBUTING.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def course(clone, tmp_path_factory) -> Path:
    """The files of the course in a folder of their own, where everything may be changed."""
    return clone(tmp_path_factory.mktemp("contributing"))


@pytest.fixture(scope="module")
def done(page, course) -> list[Command]:
    """Follow the page from top to bottom: write what it says where it says, run its commands."""
    commands = []
    for block in BLOCK.finditer(page):
        lead, body = block["lead"], block["body"]
        if block["kind"] == "console":
            for line, shown in commands_of(body):
                result = run(line, course)
                commands.append(Command(line, shown, result.stdout + result.stderr, result.returncode))
        elif below := BELOW_A_LINE.search(lead):
            lines = (course / below[1]).read_text(encoding="utf-8").split("\n")
            (place,) = (i for i, line in enumerate(lines) if line.strip() == below[2])
            lines[place + 1 : place + 1] = body.removesuffix("\n").split("\n")
            (course / below[1]).write_text("\n".join(lines), encoding="utf-8")
        elif new := NEW_FILE.search(lead):
            assert not (course / new[1]).exists(), new[1]
            (course / new[1]).write_text(body, encoding="utf-8")
        elif end := END_OF_FILE.search(lead):
            with (course / end[1]).open("a", encoding="utf-8") as file:
                file.write(f"\n\n{body}")
        else:
            pytest.fail(f"The page does not say where this goes:\n{lead}\n\n{body}")
    return commands


def test_every_command_of_the_tutorial_does_what_is_shown(done):
    assert len(done) >= 4
    for command in done:
        assert command.code == 0, f"$ {command.line}\n{command.came}"
        missing = [line for line in command.shown if not is_shown(line, command.came)]
        assert missing == [], f"$ {command.line}\n{command.came}"


def test_a_mistake_has_no_words_before_it_is_in_the_catalogue_and_has_them_after(done):
    before, after = (command.came for command in done if command.line.endswith("wrong.py"))
    assert "added twice" not in before
    assert "added twice" in after


def test_the_tutorial_teaches_nothing_that_the_course_already_has():
    assert "bias_twice" not in {m.name for m in exercises.find("rnn_step").misconceptions}
    assert "16_forgetting" not in exercises.SYLLABUS


@pytest.mark.nightly
def test_every_test_that_sees_the_new_unit_holds(done, course):
    """`make unit` has run some of them; the others are run here."""
    left_out = shlex.join(f"--ignore={path}" for path in (*ELSEWHERE, *one_unit.TESTS))
    options = f"-q -p tests.one_unit --unit=16_forgetting {left_out}"
    result = run(f".venv/bin/python -m pytest {options} tests solutions/16_forgetting", course)
    assert result.returncode == 0, result.stdout + result.stderr


CATALOGUE, SOLUTION = "rnncourse/exercises/forgetting.py", "solutions/16_forgetting.py"
SHELF = "tests/answers/16_forgetting.txt"
WRONG = {
    "an edit of another answer": (
        (CATALOGUE, "+ return -1 / np.log(keep)", "- return 1\n+ return -1 / np.log(keep)"),
        f"{CATALOGUE}:42: half_life, time_constant: the line `return 1` should stand once in the answer",
    ),
    "a wrong answer": (
        (SOLUTION, "return np.log(0.5) / np.log(keep)", "return np.log(keep)"),
        f"{SOLUTION}:36: The model answer fails its check. ✗ half_life: 0.",
    ),
    "one hint less": (
        (CATALOGUE, '        "After two steps the share keep * keep is left. And after n steps?",\n', ""),
        f"{CATALOGUE}:15: half_life has 2 hints, not 3.",
    ),
    "a mistake again": (
        (CATALOGUE, "+ return -1 / np.log(keep)", "+ return 0.5 / (1 - keep)"),
        f"{CATALOGUE}:42: half_life, time_constant: this is the same change as as_if_linear.",
    ),
    "an answer of no kind": (
        (SHELF, "half_life wrong: whole", "half_life false: whole"),
        f"{SHELF}:13: `=== half_life false: whole steps are counted` should be === exercise kind: words",
    ),
    "no concept": (
        ("website/concepts.toml", '"forgetting.half_life"', '""'),
        ": No concept names forgetting.half_life.",
    ),
    "no stem": (
        ("rnncourse/exercises/__init__.py", '    "16_forgetting",\n', ""),
        "rnncourse/exercises/__init__.py:28: The syllabus does not name '16_forgetting'.",
    ),
}


UNIT, BUILD = "make unit UNIT=16", ".venv/bin/python -m rnngrade.author.build 16_forgetting"


@pytest.mark.parametrize(
    ("command", "what"), [(BUILD, "an edit of another answer"), *((UNIT, what) for what in some(WRONG, 1))]
)
def test_what_is_wrong_is_one_sentence_and_nothing_is_written(command, what, done, course):
    (name, right, wrong), sentence = WRONG[what]
    path, copy = course / name, course / "rnncourse/exercises/answers/forgetting.txt"
    before, copied = path.read_text(encoding="utf-8"), copy.read_text(encoding="utf-8")
    assert before.count(right) == 1
    path.write_text(before.replace(right, wrong), encoding="utf-8")
    try:
        result = run(command, course)
    finally:
        path.write_text(before, encoding="utf-8")
    assert sentence in result.stdout
    assert result.returncode != 0
    assert copy.read_text(encoding="utf-8") == copied


def test_what_the_tutorial_writes_is_laid_out_as_the_course_is(done, page, course):
    leads = [block["lead"] for block in BLOCK.finditer(page)]
    paths = {found[1] for lead in leads for way in (BELOW_A_LINE, NEW_FILE, END_OF_FILE) if (found := way.search(lead))}
    paths = {path for path in paths if path.endswith(".py")}
    assert len(paths) >= 6
    for command in ("check", "format --check"):
        result = run(shlex.join([".venv/bin/python", "-m", "ruff", *command.split(), *sorted(paths)]), course)
        assert result.returncode == 0, result.stdout
