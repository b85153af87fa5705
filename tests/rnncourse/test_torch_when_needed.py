"""Textbook files that need no torch do not load it; where one holds a module of torch, that one does when asked for."""

import importlib
import pickle

import pytest
import torch

from tests.fresh import in_a_fresh_python

MODULES = {"stacked": ("StackedRNN", (3, 5, 2)), "bidirectional": ("BiTagger", (9, 2, 3, 4))}


def test_torch_is_loaded_with_the_first_module_of_torch_and_not_before():
    in_a_fresh_python(
        "import sys; from rnncourse import attention, bidirectional, encoder_decoder, gates_backward, scans, stacked\n"
        "assert 'torch' not in sys.modules\n"
        + "".join(f"{file}.{name}(*{arguments})\n" for file, (name, arguments) in MODULES.items())
    )


@pytest.mark.parametrize("file", MODULES)
def test_the_module_is_pickled_like_any_other_and_what_is_not_there_is_an_attribute_error(file):
    name, arguments = MODULES[file]
    chapter = importlib.import_module(f"rnncourse.{file}")
    kind = getattr(chapter, name)
    module = pickle.loads(pickle.dumps(kind(*arguments)))
    assert type(module) is kind
    assert isinstance(module, torch.nn.Module)
    with pytest.raises(AttributeError, match=rf"'rnncourse\.{file}' has no attribute 'TriTagger'"):
        chapter.TriTagger  # noqa: B018
