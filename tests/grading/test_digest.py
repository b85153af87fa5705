"""Which answers are the same up to names and layout, and how much there is to one."""

import pytest

from rnncourse import exercises
from rnncourse.checks.exercise import Exercise, Misconception
from rnngrade.reading.digest import digest, weight

STEP = "def rnn_step(x, h_prev, U, W, b):\n    total = x @ U + h_prev @ W\n    return np.tanh(total + b)"


@pytest.mark.parametrize(
    "same",
    [
        "def rnn_step(x, h, A, B, c):\n    s = x @ A + h @ B\n    return np.tanh(s + c)",
        STEP.replace(":\n", ':\n    """One step."""\n', 1),
        "# mine\n" + STEP.replace("x,", "x: int,").replace("):", ") -> int:\n").replace("total =", "total: int="),
        STEP.replace("x @ U + h_prev @ W", "(x @ U\n   + h_prev @ W)").replace("total + b", "total+b"),
        "%%time\n" + STEP,
        STEP.replace("\n    ", "\n\t"),
    ],
)
def test_answers_that_differ_in_names_and_layout_alone_have_one_digest(same):
    assert digest(same) == digest(STEP)


@pytest.mark.parametrize(
    "other",
    [
        STEP.replace("h_prev @ W", "h_prev @ W.T"),
        STEP.replace("np.tanh(total + b)", "np.tanh(total) + b"),
        STEP.replace("np.tanh", "np.sin"),
        STEP.replace("x @ U + h_prev @ W", "h_prev @ U + x @ W"),
        STEP + " + 0",
    ],
)
def test_answers_that_do_something_else_have_another_digest(other):
    assert digest(other) != digest(STEP)


def test_no_two_misconceptions_of_an_exercise_have_one_digest():
    for e in exercises.unit("03_cell"):
        if isinstance(e, Exercise):
            wrong = [m.source_for(e.name) for m in e.misconceptions if isinstance(m, Misconception)]
            assert len({digest(source) for source in wrong}) == len(wrong), e.name


def test_the_weight_grows_with_what_is_written_and_not_with_what_is_said():
    assert weight("quiz = 7") < weight("def f(x):\n    return x") < weight(STEP)
    assert weight(STEP) == weight('"""A long story."""\n' + STEP + "  # and more")
    assert weight("def f(:") == 0
