"""While an answer is asked, what it may not call is not there, by whatever name it has it."""

import contextlib
import gc
import importlib
import pydoc
import string
import sys
import types

import pytest
import torch
from torch import nn
from torch.nn.utils.rnn import pad_sequence

from rnngrade.sandbox.inside.refusing import WORDS, prepare, refuse, refusing
from tests.grading.forked import in_a_fork

NO_LAYER = ["torch.nn.RNN", "torch.nn.RNNBase", "torch.rnn_tanh"]
ONE = torch.ones(1, 1)
STEP = {
    "its name": lambda: torch.rnn_tanh_cell,
    "the module behind": lambda: torch._VF.rnn_tanh_cell,
    "the operators": lambda: torch.ops.aten.rnn_tanh_cell.default,
    "what a kernel is made of": lambda: torch.ops.aten.rnn_tanh_cell.default.decompose,
    "the same in Python": lambda: lambda *_: torch.ops.aten.rnn_tanh.input.decompose(*[ONE[None]] * 9),
    "a locator": lambda: pydoc.locate("torch.rnn_tanh_cell"),
    "a formatter": lambda: string.Formatter().get_field("0.rnn_tanh_cell", [torch], {})[0],
}


def refuses(step):
    with pytest.raises(RuntimeError, match=WORDS):
        step()


def _after_all_libraries_are_destroyed():
    for one in gc.get_objects():
        if type(one) is torch.library.Library:
            one._destroy()


@pytest.mark.parametrize("kept", [False, True], ids=["had within", "had before"])
def test_an_operator_refuses_by_whatever_name_and_for_good(kept):
    def task():
        had = {way: get() for way, get in STEP.items()} if kept else {}
        refuse(NO_LAYER)
        _after_all_libraries_are_destroyed()
        for way, get in STEP.items():
            print(way)
            refuses(lambda way=way, get=get: (had.get(way) or get())(ONE, ONE, ONE, ONE))

    in_a_fork(task)


def test_the_layers_refuse_and_all_else_of_pytorch_runs():
    def task():
        refuse(NO_LAYER)
        for without_gradients in (torch.no_grad, torch.inference_mode, torch.enable_grad):
            with without_gradients():
                for layer in (nn.RNN, nn.LSTM, nn.GRU):
                    refuses(lambda layer=layer: layer(2, 3)(torch.ones(4, 1, 2)))
                assert torch.tanh(nn.Linear(2, 3)(torch.ones(1, 2))).shape == (1, 3)
        assert pad_sequence([torch.ones(2), torch.ones(3)]).shape == (3, 2)

    in_a_fork(task)


def test_padding_refuses_where_it_is_to_be_written():
    def task():
        refuse(["torch.nn.utils.rnn", "torch.nested"])
        refuses(lambda: pad_sequence([torch.ones(2), torch.ones(3)]))
        assert nn.RNN(2, 3)(torch.ones(4, 1, 2))[0].shape == (4, 1, 3)

    in_a_fork(task)


def test_no_kernel_can_be_had_before_it_refuses():
    def task():
        prepare()
        with contextlib.suppress(AttributeError):
            raise AssertionError(torch.library.get_kernel("aten::rnn_tanh.input", "CPU"))

    in_a_fork(task)


def test_a_package_that_is_forbidden_whole_is_not_there():
    before = sys.modules["torch"]
    with refusing(["torch", "hmmlearn"]):
        for package in ("torch", "hmmlearn"):
            with pytest.raises(ImportError):
                importlib.import_module(package)
        with pytest.raises((RuntimeError, ImportError)):
            ONE + 1
    assert sys.modules["torch"] is before
    assert "hmmlearn" not in sys.modules
    assert (ONE + 1).item() == 2


def test_what_forbids_nothing_of_pytorch_leaves_it_alone():
    refuse(["rnncourse.cell", "scipy"])
    with refusing(["rnncourse.cell", "scipy"]):
        assert nn.RNN(2, 3)(torch.ones(4, 1, 2))[0].shape == (4, 1, 3)


def test_where_there_is_no_pytorch_an_import_of_it_harms_nothing(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", types.ModuleType("torch"))  # as an empty folder of this name is imported
    refuse(["torch.nn.RNNBase"])
    with refusing(["torch", "scipy"]), pytest.raises(ImportError):
        importlib.import_module("torch")
