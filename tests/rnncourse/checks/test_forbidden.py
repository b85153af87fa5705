"""What an answer may not call is found however it is written."""

import re
import sys

import pytest

from rnncourse import check
from rnncourse.checks.forbidden import forbidden_call

HELPER = "from rnncourse import cell\ndef helper(*args):\n    return cell.rnn_step(*args)"


@pytest.mark.parametrize(
    ("above", "inside", "called"),
    [
        ("import rnncourse.cell", "", "rnncourse.cell.rnn_step(x, h, U, W, b)"),
        ("import rnncourse.cell as c", "", "c.rnn_step(x, h, U, W, b)"),
        ("from rnncourse.cell import rnn_step as theirs", "", "theirs(x, h, U, W, b)"),
        ("", "from rnncourse.cell import rnn_step", "rnn_step(x, h, U, W, b)"),
        ("", "import rnncourse.cell as c", "c.rnn_step(x, h, U, W, b)"),
        (HELPER, "", "helper(x, h, U, W, b)"),
        (
            "from rnncourse import cell",
            "",
            "(lambda *args: [cell.rnn_step(*args) for _ in [0]][0])(x, h, U, W, b)",
        ),
        ("from rnncourse import exercises", "", 'exercises.find("rnn_step").reference(x, h, U, W, b)'),
    ],
)
def test_an_answer_that_calls_the_courses_own_earns_nothing_and_is_told(above, inside, called):
    space = {"__name__": "notebook"}
    exec(f"{above}\ndef rnn_step(x, h, U, W, b):\n    {inside or 'pass'}\n    return {called}", space)
    verdict = check(space["rnn_step"])
    assert not verdict.passed
    assert verdict.points == 0
    assert re.search("may not call `rnncourse.*`: there are the course's own answers", verdict.message)


def test_of_what_the_statement_forbids_it_is_told():
    space = {"__name__": "notebook"}
    exec("import torch\ndef rnn_step(x, h, U, W, b):\n    return torch.tanh(x)", space)
    assert "may not call `torch`: the text of the exercise forbids it." in check(space["rnn_step"]).message


TORCH = """
import torch
from torch import nn
from torch.nn import RNN
def attribute(x): return torch.nn.RNN(3, 2)(x)
def module(x): return nn.RNN(3, 2)(x)
def name(x): return RNN(3, 2)(x)
def inside(x):
    import torch.nn as n
    return n.RNN(3, 2)(x)
class Net(nn.Module):
    def forward(self, x): return nn.RNN(3, 2)(x)
def allowed(x): return nn.Linear(3, 2)(torch.tanh(x))
"""


def test_a_class_of_torch_is_found_under_each_of_its_names():
    space = {"__name__": "notebook"}
    exec(TORCH, space)
    for name in ("attribute", "module", "name", "inside", "Net"):
        assert forbidden_call(space[name], ("torch.nn.RNN",), {}), name
    assert forbidden_call(space["allowed"], ("torch.nn.RNN",), {}) is None
    assert forbidden_call(space["allowed"], ("torch",), {})


def test_a_class_that_is_built_upon_it_is_found():
    space = {"__name__": "notebook"}
    exec("from torch import nn\nclass Mine(nn.RNN): pass\nclass Own(nn.Module): pass", space)
    assert forbidden_call(space["Mine"], ("torch.nn.RNN",), {})
    assert forbidden_call(space["Own"], ("torch.nn.RNN",), {}) is None


def test_looking_for_it_imports_nothing():
    space = {"__name__": "notebook"}
    exec("def f(x):\n    import antigravity\n    return antigravity.fly(x)", space)
    assert forbidden_call(space["f"], ("antigravity",), {}) == "antigravity"
    assert "antigravity" not in sys.modules


ALIKE = """
class Box: pass
box = Box()
box.rnn_step = 1
def f(x):
    rnncourse_cell = x
    return box.rnn_step + rnncourse_cell
"""


def test_names_that_only_look_alike_are_free():
    space = {"__name__": "notebook"}
    exec(ALIKE, space)
    assert forbidden_call(space["f"], ("rnncourse.cell", "torch"), {}) is None
