"""Cells that are not the student's to change."""

from tests.grading.hostile.making import (
    FULL,
    LOST_STEP,
    NOTHING,
    RIGHT_STEP,
    WRONG_STEP,
    Hostile,
    _foreign,
    answer,
    before,
    blank,
    change,
    each,
    loses,
    meta,
    right,
    source,
    step,
    tagged,
    twice,
    without,
)

CELLS = [
    Hostile(
        "checks_retagged",
        "declares every check an answer worth a thousand points, and every answer done",
        blank(
            each(meta(solution=True, grade=False, locked=False, points=1000), "check"), each(meta(grade=True), "answer")
        ),
        NOTHING,
    ),
    Hostile("points_raised", "makes every check worth a hundred", right(each(meta(points=100), "check")), FULL),
    Hostile("checks_deleted", "has no checks any more", right(without()), FULL, finding="check-missing"),
    Hostile(
        "checks_duplicated",
        "has two of a check, which stops nbgrader for a whole class",
        right(twice("check_rnn_step"), twice("check_softmax")),
        FULL,
        finding="check-copied",
    ),
    Hostile(
        "hidden_tests_marked",
        "marks hidden tests in its own cells and never ends them, which stops nbgrader's feedback for a class",
        right(
            before("rnn_step", "### BEGIN HIDDEN TESTS"),
            answer("rnn_step", f"### BEGIN HIDDEN TESTS\ndef rnn_step(x, h_prev, U, W, b):\n    {RIGHT_STEP}"),
        ),
        FULL,
    ),
    Hostile(
        "check_renamed",
        "gives a check another name",
        right(change("check_rnn_step", meta(grade_id="check_something"))),
        FULL,
        finding="renamed-cell",
    ),
    Hostile(
        "checks_rewritten",
        "has every check give points without looking",
        blank(each(source("print('31 points')\n31"), "check")),
        NOTHING,
        flagged=True,
        finding="check-changed",
    ),
    Hostile(
        "check_defined_in_its_cell",
        "defines a check that is always content, in the cell of the check",
        right(step("..."), change("check_rnn_step", source("def check(*_):\n    return 3\ncheck(rnn_step)"))),
        LOST_STEP,
        flagged=True,
        finding="check-changed",
    ),
    Hostile(
        "checks_as_text",
        "turns the checks into text cells",
        right(each(lambda cell: cell.update(cell_type="markdown"), "check")),
        FULL,
    ),
    Hostile(
        "skip_execution",
        "tags answers and checks with skip-execution, for which nbgrader gives full marks",
        blank(each(tagged("skip-execution"), "check", "answer")),
        NOTHING,
    ),
    Hostile(
        "answers_called_experiments",
        "tags right answers as experiments, which are left out",
        right(each(tagged("experiment", "raises-exception"), "answer")),
        FULL,
    ),
    Hostile(
        "two_answers_that_differ",
        "answers twice under one name, right and then wrong",
        right(twice("rnn_step", f"def rnn_step(x, h_prev, U, W, b):\n    {WRONG_STEP}")),
        loses("rnn_step", scraps=True),
        flagged=True,
        finding="duplicate-cell",
    ),
    Hostile(
        "answer_and_untouched_copy",
        "has a copy of the untouched cell below the answer",
        lambda release, solutions: blank(twice("rnn_step"), *(answer(name, text) for name, text in solutions.items()))(
            release, solutions
        ),
        FULL,
        finding="duplicate-cell",
    ),
    Hostile("unknown_schema", "has metadata of a version to come", right(each(meta(schema_version=99))), FULL),
    Hostile(
        "answer_renamed",
        "has an answer cell with another name and no id",
        right(change("rnn_step", meta(grade_id="my_step"), lambda cell: cell.update(id="x1"))),
        FULL,
        finding="answer-elsewhere",
    ),
    Hostile(
        "answer_as_text",
        "turned an answer's cell into text",
        right(change("rnn_step", lambda cell: cell.update(cell_type="markdown"))),
        FULL,
        finding="not-code",
    ),
    Hostile(
        "answer_deleted", "has no cell for one answer", right(without("rnn_step")), LOST_STEP, finding="missing-cell"
    ),
    Hostile(
        "cells_of_another_unit",
        "has a cell of another unit pasted in, with its name",
        right(twice("rnn_step", "def rnn_backward(dH):\n    return dH"), _foreign("rnn_step", "rnn_backward")),
        FULL,
        finding="foreign-cell",
    ),
]
