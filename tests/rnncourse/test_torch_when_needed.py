"""Textbook files that need no torch do not load it; where one holds a module of torch, that one does when asked for."""

from __future__ import annotations

import importlib
import pickle

import pytest
import torch

from tests.fresh import in_a_fresh_python

MODULES = {"stacked": ("StackedRNN", (3, 5, 2)), "bidirectional": ("BiTagger", (9, 2, 3, 4))}
every_module = pytest.mark.parametrize("file", MODULES)


@pytest.mark.parametrize("file", ["encoder_decoder", "beyond", "gates_backward"])
def test_what_needs_no_torch_does_not_load_it(file):
    program = f"import sys, rnncourse.{file}; assert 'torch' not in sys.modules"
    in_a_fresh_python(program)


@every_module
def test_torch_is_loaded_with_the_module_and_not_before(file):
    name, arguments = MODULES[file]
    program = (
        f"import sys; from rnncourse import {file}; assert 'torch' not in sys.modules;"
        f"{file}.{name}(*{arguments}); assert 'torch' in sys.modules"
    )
    in_a_fresh_python(program)


@every_module
def test_the_module_is_pickled_and_copied_like_any_other(file):
    name, arguments = MODULES[file]
    kind = getattr(importlib.import_module(f"rnncourse.{file}"), name)
    module = pickle.loads(pickle.dumps(kind(*arguments)))
    assert type(module) is kind
    assert isinstance(module, torch.nn.Module)


@every_module
def test_what_is_not_there_is_an_attribute_error(file):
    with pytest.raises(AttributeError, match=rf"'rnncourse\.{file}' has no attribute 'TriTagger'"):
        importlib.import_module(f"rnncourse.{file}").TriTagger  # noqa: B018
