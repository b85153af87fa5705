"""What an answer may not call: found by reading its compiled code, without running it.

The names that a function looks up (`torch.nn.RNN`, `from rnncourse.cell import rnn_step`) are read from its bytecode,
and from that of the functions of the same notebook that it calls. What stands for these names is looked up in the
notebook, so that it counts by whatever way it got there. An answer that hides what it calls is not found out here; the
grading desk reads its source too, and flags it for a person.
"""

import dis
import os
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial, reduce
from types import CodeType, FunctionType, ModuleType
from typing import Any

from rnncourse.checks.plain import attribute

_PASSIVE = {"CACHE", "PRECALL", "EXTENDED_ARG", "NOP", "PUSH_NULL", "RESUME", "SWAP", "POP_TOP"}
_ATTRIBUTES = {"LOAD_ATTR", "LOAD_METHOD"}
MOST_HELD = 100  # things in a container that are looked at
_NOTHING = object()


def forbidden_call(candidate: Any, forbids: tuple[str, ...], uses: dict[str, Any]) -> str | None:
    """The first of the dotted names in `forbids` (or a name below it) that the candidate refers to, or None.

    Names in `uses` are free: while the candidate is checked they stand for the reference.
    """
    banned = {f for name in forbids for f in (name, _true_name(name))}
    objects = {id(found): name for name in forbids if (found := _object(name)) is not _NOTHING}
    for name in sorted(_names(candidate, uses, objects)):
        if any(is_under(name, b) for b in banned):
            return name
    return None


def is_under(name: str, banned: str) -> bool:
    """Whether a dotted name is a forbidden one, or below it.

    >>> [is_under(name, "torch.nn.RNN") for name in ("torch.nn.RNN", "torch.nn.modules.rnn.RNN", "torch.nn.Linear")]
    [True, True, False]
    """
    if name == banned or name.startswith(banned + "."):
        return True
    # torch.nn.modules.rnn.RNN is torch.nn.RNN, torch._VF.rnn_tanh is torch.rnn_tanh: what a library keeps in several
    # places goes by its own name and that of the library. (A module, `torch.nn.utils.rnn`, does not.)
    last = banned.rpartition(".")[2]
    first, *rest = name.split(".")
    return (last[:1].isupper() or "_" in last) and last in rest and first == banned.split(".")[0]


def _names(candidate: Any, uses: dict[str, Any], objects: dict[int, str]) -> set[str]:
    """The dotted names of all that a candidate, and the functions of its notebook that it calls, refer to."""
    bases = candidate.__mro__[1:] if issubclass(type(candidate), type) else ()
    found = {f"{base.__module__}.{base.__qualname__}" for base in bases} | _names_within(candidate, objects)
    todo, seen = functions_of(candidate), set[int]()
    while todo:
        function = todo.pop()
        if id(function) not in seen:
            seen.add(id(function))
            names, called = _references(function, uses, objects)
            found |= names
            todo += called
    return found


def _references(
    function: FunctionType, uses: dict[str, Any], objects: dict[int, str]
) -> tuple[set[str], list[FunctionType]]:
    """What one function refers to: the names, and the functions of its notebook, which are to be read as well."""
    read, inner, space = _read(function.__code__), _closure(function), function.__globals__
    found: set[str] = set()
    called: list[FunctionType] = []
    modules: list[ModuleType] = []  # that are put somewhere
    for dotted in read.names:
        first, *rest = dotted.split(".")
        if first in uses and not rest:
            continue
        start: Any = inner.get(first, space.get(first, _NOTHING))
        value = reduce(_member, rest, start)
        if type(value) is FunctionType and (value.__globals__ is space or _is_beside(value)):
            called.append(value)
        else:
            found |= _names_as_written(dotted, value)
        if _is(start, ModuleType):
            found.add(_true_name(".".join([start.__name__, *rest])))
        found |= _names_within(value, objects)
        if dotted in read.bare:
            modules += _modules_of(*_held(value), sys.modules.get(dotted))
    for default in (*(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values()):
        found |= _names_within(default, objects)
        modules += _modules_of(*_held(default))
    return found | _names_looked_up_later(modules, read.words, objects), called


def _names_as_written(dotted: str, value: Any) -> set[str]:
    """The name by which something is referred to; and the true one of what is not there yet, or is a container, of
    which nothing else tells where it was defined.
    """
    is_nameless = value is _NOTHING or type(value) in (list, tuple, set, dict)
    return {dotted, _true_name(dotted)} if is_nameless else {dotted}


def _names_within(value: Any, objects: dict[int, str]) -> set[str]:
    """The names of a value, and of what is in it if it is a plain container."""
    return {name for one in _held(value) for name in _names_of(one, objects)}


def _names_looked_up_later(modules: list[ModuleType], words: set[str], objects: dict[int, str]) -> set[str]:
    """What may be taken out of a module that a function puts somewhere: all in it that is called like a word there."""
    return {
        name
        for module in modules
        for word in words & vars(module).keys()
        for name in (f"{module.__name__}.{word}", *_names_of(vars(module)[word], objects))
    }


def _modules_of(*values: Any) -> list[ModuleType]:
    """Those that are modules."""
    return [value for value in values if _is(value, ModuleType)]


def _is_beside(function: FunctionType) -> bool:
    """Whether a function comes from a file that lies with the notebook."""
    path = str(function.__globals__.get("__file__") or "")
    return os.path.dirname(os.path.abspath(path)) == os.getcwd() if path else False


def _names_of(value: Any, objects: dict[int, str]) -> set[str]:
    """The names under which something is known, if it is a module, a class, a function, or forbidden itself."""
    found = {objects[id(value)]} if id(value) in objects else set()
    if _is(value, ModuleType):
        return found | {str(_member(value, "__name__"))}
    if _is(value, FunctionType) or _is(value, type):
        return found | {f"{value.__module__}.{value.__qualname__}"}
    return found


def _held(value: Any) -> list[Any]:
    """A value, and what is in it if it is a plain container."""
    if type(value) is dict:
        return [value, *list(value.values())[:MOST_HELD]]
    if type(value) in (list, tuple, set):
        return [value, *list(value)[:MOST_HELD]]
    return [value, value.func] if type(value) is partial else [value]


def _is(value: Any, kind: type) -> bool:
    """`isinstance`, without asking the value, which may say what it likes."""
    return issubclass(type(value), kind)


def _member(value: Any, name: str) -> Any:
    """An attribute, found without running any code of the candidate's."""
    if value is _NOTHING:
        return value
    try:
        own = object.__getattribute__(value, "__dict__") if not _is(value, type) else {}
    except AttributeError:
        own = {}
    if name in own:
        return own[name]
    for kind in value.__mro__ if _is(value, type) else type(value).__mro__:
        if name in vars(kind):
            return vars(kind)[name]
    return _NOTHING


def _closure(function: FunctionType) -> dict[str, Any]:
    found = {}
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        try:
            found[name] = cell.cell_contents
        except ValueError:  # it is empty as yet
            continue
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


@dataclass
class _Read:
    """What a code refers to: dotted names, those of them that are no mere way to an attribute, and other words in it:
    texts, and attributes of what has no name.
    """

    names: list[str] = field(default_factory=list)
    bare: set[str] = field(default_factory=set)
    words: set[str] = field(default_factory=set)


def _read(code: CodeType) -> _Read:
    found = _Read()
    for one in _codes(code):
        steps = [step for step in dis.get_instructions(one) if step.opname not in _PASSIVE]
        for step, following, dotted in _dotted(steps):
            if dotted:
                found.names.append(dotted)
                if following not in _ATTRIBUTES or dotted.endswith(".__dict__"):
                    found.bare.add(dotted.removesuffix(".__dict__"))
            elif step.opname in _ATTRIBUTES:
                found.words.add(str(step.argval))
        found.words |= {text for constant in one.co_consts for text in _texts(constant)}
    return found


def _codes(code: CodeType) -> Iterator[CodeType]:
    """A code and those nested in it."""
    yield code
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            yield from _codes(inner)


def _texts(constant: Any) -> Iterator[str]:
    if isinstance(constant, str):
        yield constant
    elif isinstance(constant, (tuple, frozenset)):
        for one in constant:
            yield from _texts(one)


def _dotted(steps: list[dis.Instruction]) -> Iterator[tuple[dis.Instruction, str, str | None]]:
    """Each instruction, the name of the one that follows, and the dotted name that it looks up or imports, if any."""
    current: str | None = None
    module: str | None = None  # what an import statement has on the stack
    whole = False  # `import a.b as c`, which descends from a, not `from a.b import c`
    constant: object = None
    local: dict[str, str] = {}
    for i, step in enumerate(steps):
        following = steps[i + 1].opname if i + 1 < len(steps) else ""
        if step.opname in ("LOAD_GLOBAL", "LOAD_NAME", "LOAD_DEREF", "LOAD_CLASSDEREF"):
            current = str(step.argval)
        elif step.opname == "LOAD_FAST":
            current = local.get(str(step.argval))
        elif step.opname in _ATTRIBUTES and current:
            current = f"{current}.{step.argval}"
        elif step.opname == "IMPORT_NAME":
            yield step, "", str(step.argval)
            whole = constant is None
            current = module = str(step.argval).partition(".")[0] if whole else str(step.argval)
            following = "IMPORT"
        elif step.opname == "IMPORT_FROM":
            current = f"{module}.{step.argval}"
            module = current if whole else module
            following = "IMPORT"
        elif step.opname == "STORE_FAST" and current and module and current.startswith(module):
            local[str(step.argval)] = current
            current = module
        else:
            constant = step.argval if step.opname == "LOAD_CONST" else constant
            current = None
        yield step, following, current


def _object(dotted: str) -> Any:
    """The thing of that name, as far as its module is imported already."""
    parts = dotted.split(".")
    for cut in range(len(parts), 0, -1):
        value: Any = sys.modules.get(".".join(parts[:cut]))
        if value is not None:
            for part in parts[cut:]:
                value = _member(value, part)
            return value
    return _NOTHING


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
