"""What an answer may not call is not there while it is asked, by whatever name the answer has it.

A package that is forbidden whole cannot be imported, and none of PyTorch's operators runs. Of what is forbidden of
PyTorch, the operators refuse in its dispatcher, through which nn.RNN, torch.rnn_tanh, torch._VF and torch.ops all go.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Collection, Iterator
from contextlib import ExitStack, contextmanager
from functools import cache
from itertools import product
from typing import Any

# The operators behind what exercises forbid of PyTorch, by how their names begin.
BEHIND = {
    "torch.nn.RNNBase": ("rnn_", "lstm", "gru"),
    "torch.nn.utils.rnn": ("pad_sequence", "_pack_padded", "_pad_packed"),
    "torch.nested": ("_nested_", "nested_"),
}
WORDS = "this answer may not call what its statement forbids"


@contextmanager
def refusing(forbids: Collection[str]) -> Iterator[None]:
    """Within it, what these dotted names stand for raises `RuntimeError`, and an import of a whole package
    `ImportError`.
    """
    packages = {name for name in forbids if "." not in name}
    torch = sys.modules.get("torch")
    if not hasattr(torch, "ops"):  # where a room has no PyTorch, `import torch` finds an empty folder
        torch = None
    with ExitStack() as stack:
        if torch is not None and "torch" in packages:
            stack.enter_context(_no_operator())
        elif torch is not None and (families := [family for name in forbids for family in BEHIND.get(name, ())]):
            stack.enter_context(_without(tuple(families)))
        stack.enter_context(_not_importable(packages))
        yield


@contextmanager
def _not_importable(packages: Collection[str]) -> Iterator[None]:
    before = {name: sys.modules.get(name) for name in packages}
    sys.modules.update(dict.fromkeys(packages))  # type: ignore[arg-type]  # None: an import raises
    try:
        yield
    finally:
        for name, module in before.items():
            if module is None:
                sys.modules.pop(name, None)
            else:
                sys.modules[name] = module


def _refuse(*_: Any, **__: Any) -> None:
    raise RuntimeError(WORDS)


def _no_operator() -> Any:
    """A mode in which no operator of PyTorch's runs in this thread."""
    from torch.utils._python_dispatch import TorchDispatchMode

    return type("Refusing", (TorchDispatchMode,), {"__torch_dispatch__": _refuse})()


@contextmanager
def _without(families: tuple[str, ...]) -> Iterator[None]:
    """PyTorch without the operators whose names begin like that."""
    import torch

    library = torch.library.Library("aten", "IMPL")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of a kernel that is overridden
            for name, key in product(_operators(families), ("CPU", "AutogradCPU", "CompositeImplicitAutograd")):
                library.impl(name, _refuse, key, allow_override=True)
        yield
    finally:
        library._destroy()


@cache
def _operators(families: tuple[str, ...]) -> list[str]:
    import torch

    names = [name.removeprefix("aten::") for name in torch._C._dispatch_get_all_op_names()]
    return [name for name in names if name.startswith(families)]
