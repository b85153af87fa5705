"""*Run All* runs to the end, whatever the answers are, and whichever dial that a text names is turned.

The positions of a slider are all drawn when its cell runs: the build turns those.
"""

import re

import nbformat
import pytest
from nbclient import NotebookClient

from rnncourse import exercises
from rnngrade.author.build import notebook_path
from rnngrade.author.execute import ONE_THREAD, execute
from tests.waiting import PATIENCE

STUB = "raise NotImplementedError"
TRY = re.compile(r"\*Try\*(.*?)(?:[.?!]\s|\n\n|$)", re.DOTALL)
ANSWERS = {  # what stands for an answer in a function and in a question
    "nothing written": (STUB, "None"),
    "nothing returned": ("return None", "{}"),
    "an error": ("raise ValueError('not so')", "{'Z'}"),
}


def turned(cell):
    """The cell once more for each of its dials, "lag = 30; units = 8"."""
    for dial in cell.metadata.get("dials", "").split(";"):
        if dial := dial.strip():
            name = dial.partition("=")[0].strip()
            source, count = re.subn(rf"^{name} = .*?(?=  #|$)", dial, cell.source, flags=re.MULTILINE)
            assert count == 1, f"The cell sets {name} {count} times."
            yield nbformat.v4.new_code_cell(source)


@pytest.mark.parametrize("stem", exercises.SYLLABUS)
def test_every_dial_that_a_text_names_is_turned(stem, root):
    cells = nbformat.read(notebook_path(root, "solutions", stem), as_version=4).cells
    dials = {dial.strip().removesuffix(".0") for cell in cells for dial in cell.metadata.get("dials", "").split(";")}
    text = "\n\n".join(cell.source for cell in cells if cell.cell_type == "markdown")
    named = [dial for sentence in TRY.findall(text) for dial in re.findall(r"`(\w+ = [^`]+)`", sentence)]
    assert {dial.removesuffix(".0") for dial in named} <= dials


@pytest.mark.nightly
@pytest.mark.parametrize("stem", exercises.SYLLABUS)
def test_nothing_that_a_text_invites_to_raises(stem, root):
    notebook = nbformat.read(notebook_path(root, "solutions", stem), as_version=4)
    cells = [(cell, list(turned(cell))) for cell in notebook.cells]
    last = max((i for i, (_, dials) in enumerate(cells) if dials), default=-1)
    notebook.cells = [one for cell, dials in cells[: last + 1] for one in (cell, *dials)]
    if notebook.cells:
        execute(stem, notebook, root)


@pytest.mark.parametrize("stem", exercises.SYLLABUS)
def test_no_stub_stands_outside_a_function(stem, root):
    for cell in nbformat.read(notebook_path(root, "notebooks", stem), as_version=4).cells:
        assert cell.cell_type != "code" or not re.search(rf"^{STUB}", cell.source, flags=re.MULTILINE)


@pytest.mark.nightly
@pytest.mark.parametrize("answer", ANSWERS)
@pytest.mark.parametrize("stem", exercises.SYLLABUS)
def test_a_notebook_runs_to_its_end_on_any_answer(stem, answer, root, tmp_path, monkeypatch):
    for name, value in ONE_THREAD.items():
        monkeypatch.setenv(name, value)
    notebook = nbformat.read(notebook_path(root, "notebooks", stem), as_version=4)
    for cell in notebook.cells:
        function, question = ANSWERS[answer]
        cell.source = re.sub(r"^(quiz_\w+) = None", rf"\1 = {question}", cell.source.replace(STUB, function))
    client = NotebookClient(notebook, timeout=PATIENCE, startup_timeout=PATIENCE)
    client.execute(cwd=str(tmp_path))
