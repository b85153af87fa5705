"""A small course in a temporary folder, with a check of its own, to build and to grade."""

import functools
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from rnngrade.author.build import Report, build

SMALL_UNIT = '''\
# %% [markdown]
# # A small unit
# It has one exercise, $x + 1$.

# %% locked="setup"
class Verdict:
    def __init__(self, points):
        self.points = points

    def __repr__(self):
        return f"{self.points:g}"


def check(candidate, name=None, *, hidden=False):
    try:
        return Verdict(2 if candidate(1) == 2 and not (hidden and candidate(5) != 6) else 0)
    except NotImplementedError:
        return Verdict(0)


# %% answer="add_one"
def add_one(x):
    """One more than x."""
    ### BEGIN SOLUTION
    return x + 1
    ### END SOLUTION


# %% check="add_one"
check(add_one)

# %% tags=["experiment"]
print("This is", add_one(2))

# %% [markdown] written="why_one" points=3
# Why one?
#
# ### BEGIN SOLUTION
# Because two would be too many.
# ### END SOLUTION
'''


class Course:
    """A course in a folder of its own; every exercise is worth two points, and the catalogue knows none of them."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.build: Callable[..., Report] = functools.partial(build, root)

    def source(self, unit: str) -> Path:
        return self.root / "solutions" / f"{unit}.py"

    def solution(self, unit: str) -> Path:
        return self.root / "solutions" / unit / f"{unit}.ipynb"

    def release(self, unit: str) -> Path:
        return self.root / "notebooks" / unit / f"{unit}.ipynb"

    def files(self) -> dict[str, bytes]:
        """Every notebook and its bytes."""
        return {str(p.relative_to(self.root)): p.read_bytes() for p in sorted(self.root.rglob("*.ipynb"))}


def know_no_exercise(patch: pytest.MonkeyPatch) -> None:
    patch.setattr("rnngrade.author.unit.points_of", lambda name: 2)
    for what in ("faults", "misjudged"):
        patch.setattr(f"rnngrade.author.validate.{what}", lambda *_: ())


def small_course(folder: Path, root: Path) -> Course:
    course = Course(folder / "course")
    (course.root / "solutions").mkdir(parents=True)
    (course.root / "grading").mkdir()
    shutil.copy(root / "grading" / "nbgrader_config.py", course.root / "grading")
    course.source("90_small").write_text(SMALL_UNIT)
    return course


@pytest.fixture
def course(tmp_path: Path, root: Path, monkeypatch: pytest.MonkeyPatch) -> Course:
    """A course of one small unit, not built."""
    know_no_exercise(monkeypatch)
    return small_course(tmp_path, root)


@pytest.fixture(scope="session")
def built_once(made_once: Callable[[str, Callable[[Path], object]], Path], root: Path) -> Path:
    """The folder of such a course, built, with its gradebook; to copy."""

    def fill(folder: Path) -> None:
        with pytest.MonkeyPatch.context() as patch:
            know_no_exercise(patch)
            report = small_course(folder, root).build()
        assert (report.errors, report.notes) == ([], [])

    return made_once("small", fill) / "course"


@pytest.fixture
def built(tmp_path: Path, built_once: Path, monkeypatch: pytest.MonkeyPatch) -> Course:
    """A course of one small unit, built, with its gradebook."""
    know_no_exercise(monkeypatch)
    return Course(shutil.copytree(built_once, tmp_path / "course"))
