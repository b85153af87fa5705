"""The units as they are in a browser: every cell that is left runs where there is no torch, and every check passes.

What the pictures look like and what the hidden checks say is nbval's business. With FUZZ set (`make fuzz`) all units
are run, which takes three minutes of a processor; else the quick ones of those from which something is left out.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_notebook

from rnncourse import exercises
from tests.sampling import ALL

ROOT = Path(__file__).resolve().parents[2]
RUN = Path(__file__).with_name("run_without_torch.py")
WHOLE = ("00", "01", "02", "05", "06")  # of which nothing needs torch
QUICK = ("03", "08", "09", "12", "13")


@pytest.fixture(scope="module")
def torchless():
    """The module lite/torchless.py."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(ROOT / "lite")
        import torchless

        yield torchless
    del sys.modules["torchless"]


def stored(folder: str, stem: str) -> NotebookNode:
    return nbformat.read(ROOT / folder / stem / f"{stem}.ipynb", as_version=4)


@pytest.fixture(scope="module")
def solutions() -> dict[str, NotebookNode]:
    return {stem: stored("solutions", stem) for stem in exercises.IN_BROWSER}


@pytest.fixture(scope="module")
def refused(torchless, solutions) -> set[str]:
    """The import statements that fail without torch."""
    return torchless.not_to_be_had(torchless.imports(solutions.values()))


def test_without_torch_every_cell_that_is_left_runs_and_every_check_passes(torchless, solutions, refused, tmp_path):
    for stem, solution in solutions.items():
        left = torchless.without_torch(solution, solution, refused)
        nbformat.write(left, tmp_path / f"{stem}.ipynb")
        asked = {cell.id.removeprefix("check_") for cell in left.cells if cell.id.startswith("check_")}
        names = {exercise.name for exercise in exercises.unit(stem)}
        beginning = left.cells[1].source
        assert asked <= names
        assert {name for name in names if f"`{name}`" in beginning} == names - asked
        assert ("no PyTorch" in beginning) == (stem[:2] not in WHOLE)
    run = [stem for stem in solutions if ALL or stem.startswith(QUICK)]
    for stem in set(solutions) - set(run):
        (tmp_path / f"{stem}.ipynb").unlink()
    done = subprocess.run([sys.executable, RUN, ROOT / "lite", tmp_path], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == {stem: [] for stem in run}


def test_what_students_get_in_a_browser_is_what_all_get_less_what_is_left_out(torchless, solutions, refused):
    for stem, solution in solutions.items():
        students = stored("notebooks", stem)
        before = nbformat.writes(students)
        left = torchless.without_torch(students, solution, refused)
        assert nbformat.writes(students) == before
        given = {cell.id: cell.source for cell in students.cells}
        kept = [cell for cell in left.cells if cell.cell_type == "code" and not cell.id.endswith("-names")]
        changed = [cell.id for cell in kept if cell.source != given[cell.id]]
        assert [name for name in changed if not name.startswith("setup")] == []


# A unit of few cells, and what of it is left: the whole of each code cell, by id, where torch cannot be had.
SMALL = {
    "a": "import numpy as np\nimport torch\nfrom math import pi",
    "b": "x, y = np.zeros(3), torch.zeros(3)\nsize = len(x)",
    "c": "for y in range(size):\n    print(y)",
    "d": "def f(torch):\n    return torch + pi",
    "e": "def g(x):\n    return torch.tensor(x)",
    "f": "f(1)",
    "g": "g = f",
    "h": "g(2)",
    "i": "with open('x') as file:\n    torch.save(size, file)",
    "j": "file",
}


def test_a_cell_goes_with_the_names_that_only_torch_could_give(torchless):
    cells = [new_code_cell(source, id=name) for name, source in SMALL.items()]
    cells[0].metadata["nbgrader"] = {"grade": False, "solution": False, "locked": True, "grade_id": "a"}
    left = torchless.without_torch(new_notebook(cells=cells), new_notebook(cells=cells), {"import torch"})
    code = {cell.id: cell.source for cell in left.cells if cell.cell_type == "code"}
    assert code == {
        "a": "import numpy as np\nfrom math import pi",
        "b-names": "x = np.zeros(3)\nsize = len(x)",
        **{name: SMALL[name] for name in "cdfgh"},
    }
