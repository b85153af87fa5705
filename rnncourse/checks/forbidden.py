"""What an answer may not call: found by reading its compiled code, without running it.

The names that a function looks up (`torch.nn.RNN`, `from rnncourse.cell import rnn_step`) are read from its bytecode,
and from that of the functions of the same notebook that it calls. An answer that hides what it calls is not found out
here; the grading desk flags it for a person.
"""

from __future__ import annotations

import dis
import sys
from collections.abc import Iterator
from types import CodeType, FunctionType, ModuleType
from typing import Any

from rnncourse.checks.plain import attribute

_PASSIVE = {"CACHE", "PRECALL", "EXTENDED_ARG", "NOP", "PUSH_NULL", "RESUME", "SWAP", "POP_TOP"}


def forbidden_call(candidate: Any, forbids: tuple[str, ...], uses: dict[str, Any]) -> str | None:
    """The first of the dotted names in `forbids` (or a name below it) that the candidate refers to, or None.

    Names in `uses` are free: while the candidate is checked they stand for the reference.
    """
    banned = {f for name in forbids for f in (name, _true_name(name))}
    for name in sorted(_names(candidate, uses)):
        for b in banned:
            if name == b or name.startswith(b + "."):
                return name
    return None


def _names(candidate: Any, uses: dict[str, Any]) -> set[str]:
    bases = candidate.__mro__[1:] if issubclass(type(candidate), type) else ()
    found = {f"{base.__module__}.{base.__qualname__}" for base in bases}
    seen: set[int] = set()
    todo = functions_of(candidate)
    while todo:
        function = todo.pop()
        if id(function) in seen:
            continue
        seen.add(id(function))
        space = function.__globals__
        for dotted in _dotted(function.__code__):
            first, _, rest = dotted.partition(".")
            if first in uses and not rest:
                continue
            value = space.get(first)
            if isinstance(value, ModuleType):
                found |= {dotted, _true_name(f"{value.__name__}.{rest}" if rest else value.__name__)}
            elif isinstance(value, FunctionType) and value.__globals__ is space:
                todo.append(value)
            elif isinstance(value, (FunctionType, type)):
                found.add(f"{value.__module__}.{value.__qualname__}" + (f".{rest}" if rest else ""))
            else:
                found |= {dotted, _true_name(dotted)}
    return found


def functions_of(candidate: Any) -> list[FunctionType]:
    """The Python functions that a candidate consists of: itself, what it wraps, a class's methods, an object's call.

    Asks for an object's type, and never the object itself, which may say what it likes.
    """
    found: list[FunctionType] = []
    todo, seen = [candidate], set[int]()
    while todo:
        one = todo.pop()
        if one is None or id(one) in seen:
            continue
        seen.add(id(one))
        if type(one) is FunctionType:
            found.append(one)
        elif issubclass(type(one), type):
            todo += [m for m in vars(one).values() if type(attribute(m, "__func__") or m) is FunctionType]
        elif one is candidate:
            todo.append(type(one).__dict__.get("__call__"))
        todo += [attribute(one, name) for name in ("__wrapped__", "__func__", "func")]
    return found


def _dotted(code: CodeType) -> Iterator[str]:
    """All dotted names that this code and the code nested in it look up or import."""
    current: str | None = None
    module: str | None = None  # what an import statement has on the stack
    whole = False  # `import a.b as c`, which descends from a, not `from a.b import c`
    constant: object = None
    local: dict[str, str] = {}
    for step in dis.get_instructions(code):
        if step.opname in _PASSIVE:
            continue
        if step.opname in ("LOAD_GLOBAL", "LOAD_NAME", "LOAD_DEREF"):
            current = str(step.argval)
        elif step.opname == "LOAD_FAST":
            current = local.get(str(step.argval))
        elif step.opname in ("LOAD_ATTR", "LOAD_METHOD") and current:
            current = f"{current}.{step.argval}"
        elif step.opname == "IMPORT_NAME":
            yield str(step.argval)
            whole = constant is None
            current = module = str(step.argval).partition(".")[0] if whole else str(step.argval)
        elif step.opname == "IMPORT_FROM":
            current = f"{module}.{step.argval}"
            module = current if whole else module
        elif step.opname == "STORE_FAST" and current and module and current.startswith(module):
            local[str(step.argval)] = current
            current = module
        else:
            constant = step.argval if step.opname == "LOAD_CONST" else constant
            current = None
        if current:
            yield current
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            yield from _dotted(inner)


def _true_name(dotted: str) -> str:
    """Where the thing of that name was defined, as far as its module is imported already; else the name as it is."""
    parts = dotted.split(".")
    for cut in range(len(parts), 0, -1):
        value: Any = sys.modules.get(".".join(parts[:cut]))
        if value is not None:
            for part in parts[cut:]:
                value = getattr(value, part, None)
            if isinstance(value, ModuleType):
                return value.__name__
            if isinstance(value, (FunctionType, type)):
                return f"{value.__module__}.{value.__qualname__}"
            return dotted
    return dotted
