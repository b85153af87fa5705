"""What an answer may leave behind is read off its source, and only who may pays for a second room."""

from __future__ import annotations

import pytest

from rnncourse import exercises
from rnngrade.grading.bundle import Bundle
from rnngrade.grading.grade import grade
from rnngrade.reading.traces import may_leave_traces
from rnngrade.sandbox.limits import MB, Limits
from tests.grading.solved import Alternatives, solved
from tests.waiting import PATIENCE

UNIT = "03_cell"
LIMITS = Limits(memory=1024 * MB, cell_seconds=PATIENCE, call_seconds=PATIENCE)

LEAVES = [
    "def f(x):\n    global y\n    y = x",
    "def f(x):\n    SEEN.append(x)\n    return x",
    "def f(x):\n    TABLE[0] = x",
    "def f(x):\n    g.calls += 1",
    "def f(x):\n    del np.tanh",
    "def f(x):\n    np.seterr(all='raise')",
    "def f(x):\n    torch.set_default_dtype(torch.float64)",
    "def f(x):\n    import sys",
    "class F:\n    def step(self, x):\n        F.count = 1",
    "f = lambda x: sys.exit()",
    "def f(x):\n    get_ipython().reset()",
    "def f(x:\n    broken",
]
LEAVES_NOTHING = [
    "def f(x):\n    y = np.zeros(3)\n    y[0] = x\n    y.fill(1)\n    return y",
    "def f(x):\n    x += 1\n    x[0] = 2\n    print(x)\n    return x.sum()",
    "class F(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.W = nn.Parameter(0)\n"
    "        nn.init.zeros_(self.W)",
    "import numpy as np\nLIMIT = 3\nquiz = {'A'}",
]


@pytest.mark.parametrize("source", LEAVES)
def test_it_may_leave_traces(source):
    assert may_leave_traces(source)


@pytest.mark.parametrize("source", LEAVES_NOTHING)
def test_it_leaves_none(source):
    assert not may_leave_traces(source)


def test_hardly_any_right_answer_of_the_course_may(root):
    sources = [source for unit in exercises.STEMS for found in Alternatives(unit).answers.values() for source in found]
    suspected = [source for source in sources if may_leave_traces(source)]
    assert len(suspected) < 0.1 * len(sources), suspected


def test_an_honest_answer_that_fails_gets_no_second_room(root):
    wrong = {
        "hidden_layer": "def hidden_layer(x, W, b):\n    return np.tanh(x @ W + b) ** 3 + 1",
        "softmax": "def softmax(x):\n    return missing",
        "rnn_predict": "other = 1",
        "output_layer": None,
        "quiz_shapes": "quiz_shapes = 1 / 0",
    }
    wrong = {name: source for name, source in wrong.items() if name in {e.name for e in exercises.unit(UNIT)}}
    record = grade(solved(root, UNIT, **wrong), Bundle.make(root, UNIT), "ada", "7", LIMITS).record
    assert {e.name for e in record.exercises if not e.passed} == set(wrong)
    assert record.measured["restarts"] == 1


def test_an_answer_behind_one_that_left_something_does(root):
    answers = {
        "rnn_step": "def rnn_step(x, h_prev, U, W, b):\n    SCALE[0] = 0\n    return np.tanh(x @ U + h_prev @ W + b)",
        "softmax": "def softmax(O):\n    e = np.exp(O - O.max(-1, keepdims=True)) * SCALE.astype(O.dtype)\n"
        "    return e / e.sum(-1, keepdims=True)",
    }
    submission = solved(root, UNIT, "SCALE = np.ones(1)", **answers)
    record = grade(submission, Bundle.make(root, UNIT), "ada", "7", LIMITS).record
    assert record.points == exercises.unit(UNIT).points
    assert record.measured["restarts"] == 2
