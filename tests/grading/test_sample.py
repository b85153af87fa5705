"""The made-up class."""

import os
import subprocess
import sys

import nbformat
import pytest

from rnncourse import exercises
from rnngrade.core.desk import Desk
from rnngrade.demo.sample import WRITTEN, demo_class
from tests.grading.made import rnngrade
from tests.sampling import ALL


def test_a_made_up_student_writes_below_the_question_and_leaves_it_there(root, tmp_path):
    right, blank = (one.write(root, tmp_path) for one in demo_class("03_cell", 2))
    given = nbformat.read(root / "notebooks" / "03_cell" / "03_cell.ipynb", as_version=4)
    question = next(cell.source for cell in given.cells if cell.id == "cell_written")
    answered, left = (
        next(cell.source for cell in nbformat.read(path, as_version=4).cells if cell.id == "cell_written")
        for path in (right, blank)
    )
    assert left == question
    before, after = question.split("YOUR ANSWER HERE")
    assert answered.startswith(f"{before}{WRITTEN} (a) With $W=0$")
    assert answered.endswith(after)


def files_of(desk: Desk) -> dict[str, bytes]:
    """What was handed in, by path."""
    return {str(path.relative_to(desk.folder)): path.read_bytes() for path in desk.submitted.rglob("*.ipynb")}


OPTIONS = [("--hostile", "--size", "3", "03"), ("--seed", "5", "--size", "18", *exercises.STEMS[1:4])]


@pytest.mark.parametrize("options", OPTIONS if ALL else OPTIONS[:1])
def test_the_same_seed_gives_the_same_bytes(root, tmp_path, options):
    """Here, and in a process in which sets have an order of their own."""
    here, there = (Desk(root, tmp_path / name) for name in ("here", "there"))
    rnngrade(here, "sample", *options)
    command = [sys.executable, "-m", "rnngrade.cli", "--desk", str(there.folder), "sample", *options]
    subprocess.run(command, check=True, env={**os.environ, "PYTHONHASHSEED": "random"}, stdout=subprocess.DEVNULL)
    one, other = files_of(here), files_of(there)
    assert one.keys() == other.keys()
    assert [path for path in one if one[path] != other[path]] == []


def test_another_seed_gives_another_class_of_the_same_size():
    classes = [demo_class("03_cell", 18, seed) for seed in range(5)]
    assert len({str([one.answers for one in made]) for made in classes}) == len(classes)
    assert {len(made) for made in classes} == {18}
