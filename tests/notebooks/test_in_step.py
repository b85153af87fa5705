"""The committed notebooks are those that the sources give, and show students nothing that they should find out.

Nothing is executed here: what the cells print is nbval's business.
"""

import functools
import re
from pathlib import Path

import nbformat
import pytest

from rnncourse import exercises
from rnngrade.author.build import copy_path, notebook_path
from rnngrade.author.cells import answers
from rnngrade.author.release import release
from rnngrade.author.unit import find_units, for_students, key_of, read_unit

ROOT = Path(__file__).resolve().parents[2]
UNITS = find_units(ROOT)
STUB = "# YOUR CODE HERE\nraise NotImplementedError"


@functools.cache
def sourced(unit: str) -> nbformat.NotebookNode:
    """The cells that a unit's source gives, read once."""
    return read_unit(ROOT / "solutions" / f"{unit}.py")


@functools.cache
def stored(folder: str, unit: str) -> nbformat.NotebookNode:
    """A unit's notebook of solutions/ or notebooks/, read once."""
    return nbformat.read(notebook_path(ROOT, folder, unit), 4)


@pytest.mark.parametrize("folder", ["solutions", "notebooks"])
def test_every_unit_is_built_and_nothing_else_lies_there(folder):
    found = sorted(path.parent.name for path in (ROOT / folder).glob("*/*.ipynb"))
    assert found == UNITS, "make notebooks"


@pytest.mark.parametrize("unit", UNITS)
def test_a_solution_has_the_cells_that_its_source_gives(unit):
    source, built = sourced(unit), stored("solutions", unit)
    expected = [(cell.cell_type, cell.id, cell.metadata, cell.source) for cell in source.cells]
    assert [(cell.cell_type, cell.id, cell.metadata, cell.source) for cell in built.cells] == expected, "make notebooks"
    assert built.metadata == {**source.metadata, "rnncourse": {"key": key_of(source)}}


@pytest.mark.parametrize("unit", UNITS)
def test_a_unit_is_called_as_its_first_heading_has_it(unit):
    assert sourced(unit).cells[0].source.startswith(f"# {unit[:2]} · {exercises.unit(unit).title}\n")


@pytest.mark.parametrize("unit", UNITS)
def test_the_package_has_the_model_answers_that_the_solution_has(unit):
    copy = copy_path(ROOT, "answers", unit).read_text(encoding="utf-8")
    assert copy == answers(ROOT / "solutions" / f"{unit}.py"), "make notebooks"


def test_the_package_has_the_model_answers_of_no_other_unit():
    found = sorted(path.name for path in copy_path(ROOT, "answers", UNITS[0]).parent.iterdir())
    assert found == sorted(copy_path(ROOT, "answers", unit).name for unit in UNITS)


@pytest.mark.parametrize("unit", UNITS)
def test_a_release_is_what_nbgrader_makes_of_the_source(unit):
    assert stored("notebooks", unit) == release(ROOT, unit, sourced(unit)), "make notebooks"


@pytest.mark.parametrize("unit", UNITS)
def test_students_get_exactly_the_solution_less_answers_and_hidden_tests(unit):
    def less(source: str, stub: str) -> str:
        source = re.sub(r"\n### BEGIN HIDDEN TESTS\n.*?\n### END HIDDEN TESTS", "", source, flags=re.DOTALL)
        solution = re.compile(r"^([ \t]*)[^\n]*BEGIN SOLUTION.*?END SOLUTION[^\n]*$", re.DOTALL | re.MULTILINE)
        source = solution.sub(lambda found: "\n".join(found[1] + line for line in stub.split("\n")), source)
        return re.sub(rf"^(\w+ = None\b.*)\n{stub}", r"\1", source)  # a question's stub raises nothing

    solution = for_students(stored("solutions", unit))
    students = stored("notebooks", unit)
    expected = [less(cell.source, STUB if cell.cell_type == "code" else "YOUR ANSWER HERE") for cell in solution.cells]
    assert [cell.source for cell in students.cells] == expected


@pytest.mark.parametrize("unit", UNITS)
def test_a_release_shows_no_solution_hidden_test_misconception_or_output(unit):
    notebook = stored("notebooks", unit)
    assert all(cell.outputs == [] and cell.execution_count is None for cell in notebook.cells if "outputs" in cell)
    text = "\n".join(cell.source for cell in notebook.cells)
    for mark in ("BEGIN SOLUTION", "END SOLUTION", "HIDDEN TESTS", "hidden=True"):
        assert mark not in text
    words = " ".join(text.split())
    for exercise in exercises.unit(unit):
        # what an answer cell starts with may be wrong on purpose: an exercise in repair
        elsewhere = "\n".join(cell.source for cell in notebook.cells if cell.id != exercise.name)
        for misconception in exercise.misconceptions:
            assert " ".join(misconception.message.split()) not in words, f"the message of {misconception.name}"
            assert misconception.source_for(exercise.name) not in elsewhere, f"the code of {misconception.name}"


@pytest.mark.parametrize("unit", UNITS)
def test_no_longer_solution_stands_elsewhere_in_the_release(unit):
    source = (ROOT / "solutions" / f"{unit}.py").read_text()
    students = "\n".join(cell.source for cell in stored("notebooks", unit).cells)
    for solution in re.findall(r"BEGIN SOLUTION[^\n]*\n(.*?)\n[^\n]*END SOLUTION", source, re.DOTALL):
        if "\n" in solution.strip():
            assert solution not in students


@pytest.mark.parametrize("unit", UNITS)
def test_a_bar_names_the_exercises_in_the_order_of_the_notebook(unit):
    notebook = stored("notebooks", unit)
    checks = [cell.id.removeprefix("check_") for cell in notebook.cells if cell.id.startswith("check_")]
    assert [exercise.name for exercise in exercises.unit(unit)] == checks
