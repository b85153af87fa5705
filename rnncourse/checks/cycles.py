"""No list comes to hold itself in a program that a search made: NumPy would unpack it without end, and nobody can
stop it there.

>>> space = {"H": []}
>>> exec(compiled("H.append([H])", "a program", space), space)
Traceback (most recent call last):
    ...
ValueError: a list would hold itself
"""

from __future__ import annotations

import ast
import copy
from types import CodeType
from typing import Any

HOLD = "__hold__"
_PUTS_IN = frozenset(["append", "appendleft", "extend", "insert", "setdefault", "update"])


def compiled(text: str, file: str, space: dict[str, Any]) -> CodeType:
    """The program, which asks `space[HOLD]`, bound here, before it puts something into something else. Lines stay where
    they are. **Errors:** `SyntaxError`.
    """
    space[HOLD] = hold
    tree = ast.parse(text)
    for node in list(ast.walk(tree)):
        _ask(node)
    return compile(tree, file, "exec", dont_inherit=True)


def hold(holder: Any, value: Any) -> Any:
    """What is to be put into the holder. **Errors:** `ValueError` if it is the holder, or holds it."""
    if isinstance(value, (list, tuple, dict, set)) and isinstance(holder, (list, dict)):
        left, seen = [value], set()
        while left:
            one = left.pop()
            if one is holder:
                raise ValueError("a list would hold itself")
            if isinstance(one, (list, tuple, dict, set)) and id(one) not in seen:
                seen.add(id(one))
                left += one.values() if isinstance(one, dict) else one
    return value


def _ask(node: ast.AST) -> None:
    """Put the question into a node of a program, where the holder is a name or what a name has."""
    match node:
        case ast.Call(ast.Attribute(holder, name)) if name in _PUTS_IN and _is_plain(holder):
            node.args = [a if isinstance(a, ast.Starred) else _asked(holder, a) for a in node.args]
        case ast.Assign(targets):
            for one in (n for target in targets for n in ast.walk(target)):
                if isinstance(one, ast.Subscript) and _is_plain(one.value):
                    node.value = _asked(one.value, node.value)
        case ast.AugAssign(target) if _is_plain(target):
            node.value = _asked(target, node.value)


def _is_plain(node: ast.AST) -> bool:
    """Whether to read it once more changes nothing."""
    plain = (ast.Name, ast.Attribute, ast.Subscript, ast.Constant, ast.expr_context, ast.Slice, ast.UnaryOp, ast.USub)
    return all(isinstance(one, plain) for one in ast.walk(node))


def _asked(holder: Any, value: ast.expr) -> ast.expr:
    held = copy.copy(holder)
    held.ctx = ast.Load()
    call = ast.Call(ast.Name(HOLD, ast.Load()), [held, value], [])
    for node in (call, call.func):
        ast.copy_location(node, value)
    return call
