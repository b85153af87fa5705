"""CONTRIBUTING.md teaches by doing. Here somebody does it: to the letter, in a copy of the course."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from rnncourse import exercises

BLOCK = re.compile(r"(?P<lead>[^\n]+(?:\n[^\n]+)*)\n\n```(?P<kind>\w+)\n(?P<body>.*?)```\n", re.DOTALL)
BELOW_A_LINE = re.compile(r"In\s`([^`]+)`, below the line `([^`]+)`:$")
NEW_FILE = re.compile(r"New, `([^`]+)`:$")
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
    assert program == ".venv/bin/python", line
    environment = {k: v for k, v in os.environ.items() if k not in ("RNNCOURSE_SEED", "PYTEST_ADDOPTS")}
    environment["PYTHONPATH"] = os.pathsep.join([str(folder), str(folder / "grading")])
    environment |= dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    return subprocess.run(
        [sys.executable, *arguments], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )


def is_shown(shown: str, came: str) -> bool:
    """Whether a line was printed; a "…" stands for anything."""
    pattern = ".*".join(map(re.escape, shown.split("…")))
    return any(re.fullmatch(pattern, line.strip()) for line in came.splitlines())


@pytest.fixture(scope="module")
def page(root) -> str:
    return (root / "CONTRIBUTING.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def course(root, tracked, tmp_path_factory) -> Path:
    """The files of the course in a folder of their own, where everything may be changed."""
    folder = tmp_path_factory.mktemp("contributing")
    for name in tracked:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(root / name, folder / name)
    return folder


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
    assert len(done) >= 7
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
    assert exercises.STEMS[-1] < "15_forgetting"


def test_what_the_tutorial_writes_is_laid_out_as_the_course_is(done, page, course):
    leads = [block["lead"] for block in BLOCK.finditer(page)]
    paths = {found[1] for lead in leads for way in (BELOW_A_LINE, NEW_FILE, END_OF_FILE) if (found := way.search(lead))}
    assert len(paths) >= 6
    for command in ("check", "format --check"):
        result = run(shlex.join([".venv/bin/python", "-m", "ruff", *command.split(), *sorted(paths)]), course)
        assert result.returncode == 0, result.stdout
