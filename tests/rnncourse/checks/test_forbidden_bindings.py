"""What an answer may not call is found in the notebook too, whatever way its name was bound there."""

import pytest

from rnncourse.checks.forbidden import forbidden_call
from tests.grading.test_inspection import BINDINGS

FORBIDS = ("torch.nn.RNN",)


@pytest.mark.parametrize("binding", BINDINGS)
@pytest.mark.parametrize(
    ("bound", "called"),
    [
        ("m.RNN", "b(2, 3)(x)"),
        ("m", "b.RNN(2, 3)(x)"),
        ("m", "b.__dict__['RNN'](2, 3)(x)"),
        ("m", "vars(b)['RNN'](2, 3)(x)"),
        ("m", "getattr(b, 'RNN')(2, 3)(x)"),
        ("m", "[t.RNN for t in [b]][0](2, 3)(x)"),
    ],
)
def test_it_is_found_however_the_notebook_binds_it(binding, bound, called):
    space = {"__name__": "notebook"}
    exec(f"import torch.nn as m\n{binding.format(b='b', e=bound)}\ndef answer(x):\n    return {called}", space)
    assert forbidden_call(space["answer"], FORBIDS, {})


HIDDEN = """
import torch
from torch import nn
def machinery(x): return torch._VF.rnn_tanh(x)
def entry(x): return nn.__dict__["RNN"](3, 2)(x)
def entry_by_vars(x): return vars(nn)["RNN"](3, 2)(x)
def attribute(x): return getattr(nn, "RNN")(3, 2)(x)
def loop(x):
    for library in (nn,):
        x = library.RNN(3, 2)(x)
    return x
def matched(x):
    match [nn]:
        case [library]:
            return library.RNN(3, 2)(x)
for Loop in (nn.RNN,):
    def outside(x): return Loop(3, 2)(x)
def allowed(x): return nn.Linear(3, 2)(torch.tanh(x)), "RNN"
"""


def test_the_ways_that_were_once_overlooked_are_found():
    space = {"__name__": "notebook"}
    exec(HIDDEN, space)
    forbids = ("torch.nn.RNN", "torch.rnn_tanh")
    for name in ("machinery", "entry", "entry_by_vars", "attribute", "loop", "matched", "outside"):
        assert forbidden_call(space[name], forbids, {}), name
    assert forbidden_call(space["allowed"], forbids, {}) is None


def test_no_code_of_the_candidate_is_run_to_find_out():
    source = """
class Trap:
    def __getattribute__(self, name):
        raise RuntimeError("it was run")
trap = Trap()
def answer(x):
    return trap.nn.RNN(x)
"""
    space = {"__name__": "notebook"}
    exec(source, space)
    assert forbidden_call(space["answer"], FORBIDS, {}) is None
