"""The made-up class."""

import nbformat

from rnngrade.sample import WRITTEN, demo_class


def test_a_made_up_student_writes_below_the_question_and_leaves_it_there(root, tmp_path):
    right, blank = (one.write(root, tmp_path) for one in demo_class("03_cell", 2))
    given = nbformat.read(root / "notebooks" / "03_cell" / "03_cell.ipynb", as_version=4)
    question = next(cell.source for cell in given.cells if cell.id == "cell_written")
    answered, left = (
        next(cell.source for cell in nbformat.read(path, as_version=4).cells if cell.id == "cell_written")
        for path in (right, blank)
    )
    assert left == question
    assert answered == question.replace("YOUR ANSWER HERE", WRITTEN) != question
