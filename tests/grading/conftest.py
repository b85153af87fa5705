"""A desk on SQLite, which is what tests of the gradebook use if they name no other."""

import functools
import shutil

import nbformat
import pytest

from rnngrade.core.desk import Desk
from rnngrade.gradebook.book import GradebookWriter
from rnngrade.grading.bundle import Bundle
from tests.grading.made import NAMES, UNIT
from tests.grading.ruled import make_ruled


@pytest.fixture(scope="session")
def entered(root, tmp_path_factory):
    """A gradebook that knows the unit, to copy."""
    desk = Desk(root, tmp_path_factory.mktemp("entered"))
    desk.open()
    with GradebookWriter(desk) as gradebook:
        assert gradebook.enter_unit(UNIT) == []
    return desk.gradebook


@pytest.fixture
def desk(root, tmp_path, entered):
    """An empty desk with a gradebook that knows the unit."""
    return _opened(root, tmp_path, entered)


def _opened(root, folder, entered):
    desk = Desk(root, folder / "desk")
    desk.open()
    shutil.copy(entered, desk.gradebook)
    return desk


@pytest.fixture(scope="session")
def _filled(root, entered, tmp_path_factory):
    @functools.cache
    def once(fill):
        desk = _opened(root, tmp_path_factory.mktemp("filled"), entered)
        fill(desk, root)
        return desk.folder

    return once


@pytest.fixture
def copy_of(root, tmp_path, _filled):
    """`copy_of(fill)` copies, for a test to change, such a desk after `fill(desk, root)`, which is done once."""
    return lambda fill: Desk(root, shutil.copytree(_filled(fill), tmp_path / "desk"))


@pytest.fixture
def other_root(root, tmp_path):
    """A course in which the unit has one exercise fewer."""
    other, name = tmp_path / "course", f"check_{NAMES[0]}"
    (other / "grading").mkdir(parents=True)
    shutil.copy(root / "grading" / "nbgrader_config.py", other / "grading")
    for folder in ("solutions", "notebooks"):
        notebook = nbformat.read(root / folder / UNIT / f"{UNIT}.ipynb", as_version=4)
        gone = (name, NAMES[0])
        notebook.cells = [c for c in notebook.cells if c.metadata.get("nbgrader", {}).get("grade_id") not in gone]
        (other / folder / UNIT).mkdir(parents=True)
        nbformat.write(notebook, other / folder / UNIT / f"{UNIT}.ipynb")
    return other


@pytest.fixture(scope="module")
def bundle(root):
    """What a room is given of unit 03."""
    return Bundle.make(root, "03_cell")


@pytest.fixture
def ruled(copy_of):
    """Ada two days late, one of them a late day; Alan with an extension; emmy blank and in time; eve on no list."""
    return copy_of(make_ruled)
