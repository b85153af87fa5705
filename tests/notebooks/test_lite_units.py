"""The units as they are in a browser: every cell that is left runs where there is no torch, and every check passes.

What the pictures look like and what the hidden checks say is nbval's business. `make nightly` runs all
units, which takes three minutes of a processor; `make test` a quick one of which experiments are left out.
"""

import json
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_notebook

from rnncourse import exercises, progress
from rnngrade.grading.single import grade_file
from rnngrade.reading.intake import take_in
from tests.sampling import ALL

ROOT = Path(__file__).resolve().parents[2]
RUN = Path(__file__).with_name("run_without_torch.py")
WHOLE = ("00", "01", "02", "04", "05", "06")  # of which nothing needs torch
QUICK = ("03",)


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
        changed = [c for c in left.cells if c.cell_type == "code" and c.source != given[c.id]]
        for cell in changed:  # the locked imports, and experiments of which a part is left
            assert cell.metadata.nbgrader.locked if "nbgrader" in cell.metadata else "experiment" in cell.metadata.tags
        assert all("check(" not in cell.source for cell in changed)


@pytest.fixture(scope="module")
def handed_in(torchless, solutions, refused) -> dict[str, NotebookNode]:
    """Each unit as it is in a browser, solved."""
    found = {}
    for stem, solution in solutions.items():
        notebook = torchless.without_torch(stored("notebooks", stem), solution, refused)
        right = {cell.id: cell.source for cell in solution.cells}
        for cell in notebook.cells:
            if cell.metadata.get("nbgrader", {}).get("solution"):
                cell.source = right[cell.id]
        found[stem] = notebook
    return found


def test_the_desk_takes_what_is_there_and_finds_nothing_but_what_is_missing(torchless, handed_in):
    for stem, notebook in handed_in.items():
        there = {cell.id: cell.source for cell in notebook.cells if cell.metadata.get("nbgrader", {}).get("solution")}
        release = stored("notebooks", stem)
        taken = take_in(nbformat.writes(notebook).encode(), release)
        missing = torchless.left_out(notebook)
        assert [(f.code, f.cell, f.for_person) for f in taken.findings] == [("missing-cell", n, False) for n in missing]
        assert {name: source for name, source in taken.answers.items() if source is not None} == there
        assert {name for name, source in taken.answers.items() if source is None} == set(missing)
        # no cell is taken for the student's own, and none but the answers is another
        assert {c.id: c.source for c in taken.notebook.cells} == {c.id: c.source for c in release.cells} | there


@pytest.mark.nightly
def test_the_desk_gives_full_marks_for_what_is_there(torchless, handed_in, tmp_path):
    cut = [stem for stem, notebook in handed_in.items() if torchless.left_out(notebook)]
    assert len(cut) > 3
    for stem in cut:
        nbformat.write(handed_in[stem], tmp_path / "from_a_browser.ipynb")
        record = grade_file(ROOT, tmp_path / "from_a_browser.ipynb", seed="7").record
        assert record.unit == stem
        missing = {e.name for e in record.exercises if e.status == "missing"}
        assert missing == set(torchless.left_out(handed_in[stem]))
        assert all(e.passed for e in record.exercises if e.name not in missing), record
        assert {f.cell for f in record.findings} == missing


def test_a_bar_counts_only_the_exercises_that_are_there(torchless, handed_in, monkeypatch):
    monkeypatch.setenv("RNNCOURSE_PROGRESS", "off")
    monkeypatch.setenv("RNNCOURSE_LEFT_OUT", " ".join(n for one in handed_in.values() for n in torchless.left_out(one)))
    for stem, notebook in handed_in.items():
        asked = [cell.id for cell in notebook.cells if cell.id.startswith("check_")]
        assert [f"check_{name}" for name, *_ in progress(stem).rows] == asked


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
        "b": "x = np.zeros(3)\nsize = len(x)",
        **{name: SMALL[name] for name in "cdfgh"},
    }
