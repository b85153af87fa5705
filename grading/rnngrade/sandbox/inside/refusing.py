"""What an answer may not call is not there while it is asked, by whatever name the answer has it.

Of what is forbidden of PyTorch, the operators refuse in its dispatcher, through which nn.RNN, torch.rnn_tanh, torch._VF
and torch.ops all go; that is for good (`refuse`), in a process that asks one answer, and leaves no object by which the
answer could undo it. A package that is forbidden whole cannot be imported, and none of PyTorch's operators runs
(`refusing`).
"""

import ctypes
import sys
import warnings
from collections.abc import Collection, Iterator
from contextlib import contextmanager, nullcontext
from functools import cache
from itertools import product
from types import FunctionType
from typing import Any

# What is behind the names that exercises forbid of PyTorch: parts of the names of its operators.
BEHIND = {
    "torch.nn.RNNBase": ("rnn", "lstm", "gru"),
    "torch.nn.utils.rnn": ("pad_sequence", "_pack_padded", "_pad_packed"),
    "torch.nested": ("nested",),
}
FAMILIES = {family for inner in BEHIND.values() for family in inner}
WORDS = "this answer may not call what its statement forbids"


def refuse(forbids: Collection[str]) -> None:
    """From now on, what is behind these dotted names raises `RuntimeError` in this process."""
    families = tuple(family for name in forbids for family in BEHIND.get(name, ()))
    if families and (torch := _torch()):
        library = torch._C._dispatch_library("IMPL", "aten", "", __file__, 0)
        names = dict.fromkeys(name for family in families for name in _operators()[family])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of a kernel that is overridden
            for name, key in product(names, ("CPU", "AutogradCPU", "CompositeImplicitAutograd")):
                library.impl(name, key, _refuse)
        for function in {function for family in families for function in _decompositions()[family]}:
            function.__code__ = _refuse.__code__
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(library))  # whoever finds it could take it back: nobody has it now


def prepare() -> None:
    """What is done once for all answers: operators are looked up by name, and the function is taken away by which a
    kernel, once had, is there whatever is registered later.
    """
    if torch := _torch():
        _operators()
        _decompositions()
        del torch._C._dispatch_get_computed_kernel_for_dispatch_key


@cache
def _operators() -> dict[str, tuple[str, ...]]:
    """PyTorch's operators by what is in their names."""
    every = (name.removeprefix("aten::") for name in _torch()._C._dispatch_get_all_op_names())
    own = [name for name in every if "::" not in name]
    return {family: tuple(name for name in own if family in name.partition(".")[0]) for family in FAMILIES}


@cache
def _decompositions() -> dict[str, tuple[FunctionType, ...]]:
    """The functions in Python of which PyTorch makes a kernel, by what is in their names."""
    every = [(n, f) for n, f in vars(_torch()._decomp.decompositions).items() if isinstance(f, FunctionType)]
    return {family: tuple(f for name, f in every if family in name) for family in FAMILIES}


@contextmanager
def refusing(forbids: Collection[str]) -> Iterator[None]:
    """Within it, an import of one of these packages raises `ImportError`, and if PyTorch is one, its operators raise
    `RuntimeError` in this thread.
    """
    packages = {name for name in forbids if "." not in name}
    before = {name: sys.modules.get(name) for name in packages}
    with _no_operator() if "torch" in packages and _torch() else nullcontext():
        sys.modules.update(dict.fromkeys(packages))  # type: ignore[arg-type]  # None: an import raises
        try:
            yield
        finally:
            for name, module in before.items():
                if module is None:
                    sys.modules.pop(name, None)
                else:
                    sys.modules[name] = module


def _torch() -> Any:
    """PyTorch; None where it is not: there, `import torch` finds an empty folder."""
    torch = sys.modules.get("torch")
    return torch if hasattr(torch, "ops") else None


def _refuse(*_: Any, **__: Any) -> None:
    raise RuntimeError("this answer may not call what its statement forbids")  # needs no name of this module


def _no_operator() -> Any:
    from torch.utils._python_dispatch import TorchDispatchMode

    return type("Refusing", (TorchDispatchMode,), {"__torch_dispatch__": _refuse})()
