"""What an author writes in a unit, and the cells that it stands for. Nothing is executed here."""

from pathlib import Path

import pytest
from nbgrader.nbgraderformat import MetadataValidator

from rnngrade.author.unit import BuildError, points_of, read_unit


@pytest.fixture(autouse=True)
def _a_catalogue_that_knows_all(monkeypatch):
    monkeypatch.setattr("rnngrade.author.unit.points_of", lambda name: 2.5)


def read(tmp_path: Path, text: str):
    path = tmp_path / "90_small.py"
    path.write_text(text)
    return read_unit(path)


ANSWER = '# %% answer="f"\n### BEGIN SOLUTION\nf = 1\n### END SOLUTION\n\n'


def test_the_short_options_become_metadata_that_nbgrader_accepts(course, monkeypatch):
    monkeypatch.setattr("rnngrade.author.unit.points_of", lambda name: 2.5)
    notebook = read_unit(course.source("90_small"))
    MetadataValidator().validate_nb(notebook)
    cells = {cell.metadata.nbgrader.grade_id: cell for cell in notebook.cells if "nbgrader" in cell.metadata}
    found = {
        name: (cell.metadata.nbgrader.grade, cell.metadata.nbgrader.solution, cell.metadata.nbgrader.locked)
        for name, cell in cells.items()
    }
    assert found == {
        "setup": (False, False, True),
        "add_one": (False, True, False),
        "check_add_one": (True, False, True),
        "why_one": (True, True, False),
    }
    assert cells["check_add_one"].metadata.nbgrader.points == 2.5
    assert cells["why_one"].metadata.nbgrader.points == 3


def test_a_check_is_followed_by_the_same_call_on_hidden_cases(tmp_path):
    notebook = read(tmp_path, ANSWER + '# %% check="f"\ncheck(f, "f")\n')
    assert notebook.cells[1].source.split("\n") == [
        'check(f, "f")',
        "### BEGIN HIDDEN TESTS",
        'check(f, "f", hidden=True)',
        "### END HIDDEN TESTS",
    ]


def test_a_cell_keeps_its_id_when_others_come_and_go(tmp_path):
    before = read(tmp_path, "# %%\na = 1\n\n# %%\nb = 2\n\n# %%\na = 1\n\n" + ANSWER)
    after = read(tmp_path, "# %% [markdown]\n# New.\n\n# %%\na = 1\n\n# %%\nb = 2\n\n# %%\na = 1\n\n" + ANSWER)
    ids = [cell.id for cell in before.cells]
    assert [cell.id for cell in after.cells[1:]] == ids
    assert len(set(ids)) == len(ids)
    assert ids[-1] == "f"


def test_points_come_from_the_catalogue_and_a_name_it_lacks_is_an_error():
    assert points_of("rnn_step") > 0
    with pytest.raises(BuildError, match="names an exercise that the catalogue does not have"):
        points_of("rnn_stepp")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('# %% anser="f"\nf = 1\n', "has the option 'anser'"),
        ('# %% answer="f"\nf = 1\n', "has no ### BEGIN SOLUTION"),
        ("# %%\n### BEGIN SOLUTION\nf = 1\n### END SOLUTION\n", "has a solution, but is neither"),
        ('# %% answer="f" check="f"\ncheck(f)\n', "cannot be answer and check at once"),
        (ANSWER + ANSWER, "bears the name 'f', which an earlier cell has"),
        ('# %% check="f"\ncheck(f)\n', "checks 'f', for which no cell above is the answer"),
        (ANSWER + '# %% check="f"\ncheck(f)\nprint(f)\n', "has one line"),
        (ANSWER + '# %% check="f"\ncheck(f, hidden=True)\n', "has one line"),
        (ANSWER + '# %% check="f"\nassert f(\n', "has one line"),
        (
            '# %% [markdown] answer="f"\n# ### BEGIN SOLUTION\n# ### END SOLUTION\n',
            "is markdown, which answer cannot be",
        ),
        ('# %% written="f" points=2\n### BEGIN SOLUTION\n### END SOLUTION\n', "is code, which written cannot be"),
        ('# %% [markdown] written="f"\n# ### BEGIN SOLUTION\n# ### END SOLUTION\n', "must have them"),
        ('# %% answer="f" points=2\n### BEGIN SOLUTION\n### END SOLUTION\n', "only a written question has points"),
        ("# %% [raw]\n# text\n", "is of type raw"),
    ],
)
def test_a_mistake_of_the_author_is_one_sentence_that_names_file_and_line(tmp_path, text, words):
    with pytest.raises(BuildError) as error:
        read(tmp_path, text)
    assert words in str(error.value)
    line = 1 + (text.count("\n", 0, text.rindex("# %%")))
    assert str(error.value).startswith(f"solutions/90_small.py:{line}: The cell ")
    assert "\n" not in str(error.value)
