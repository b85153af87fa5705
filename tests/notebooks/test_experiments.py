"""What an experiment asserts, it explains: a bare AssertionError never meets a student."""

import ast

import jupytext
import pytest

from rnncourse import exercises


@pytest.mark.parametrize("stem", exercises.SYLLABUS)
def test_every_assert_of_an_experiment_says_what_it_expected(stem, root):
    bare = [
        ast.unparse(node)
        for cell in jupytext.read(root / "solutions" / f"{stem}.py", fmt="py:percent").cells
        if cell.cell_type == "code" and "author" not in cell.metadata.get("tags", [])
        for node in ast.walk(ast.parse(cell.source))
        if isinstance(node, ast.Assert) and node.msg is None
    ]
    assert bare == []
