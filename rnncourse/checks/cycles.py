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
from types import CodeType
from typing import Any

HOLD = "__hold__"
_PUTS_IN = frozenset(["append", "appendleft", "extend", "insert", "setdefault", "update"])


def compiled(text: str, file: str, space: dict[str, Any]) -> CodeType:
    """The program, which asks `space[HOLD]`, bound here, before it puts something into something else. Lines stay where
    they are. **Errors:** `SyntaxError`.
    """
    space[HOLD] = hold
    tree = ast.fix_missing_locations(_Asks().visit(ast.parse(text)))
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


class _Asks(ast.NodeTransformer):
    """Puts the question into a program, where the holder is a name or what a name has."""

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        if isinstance(node.func, ast.Attribute) and node.func.attr in _PUTS_IN and _is_plain(node.func.value):
            node.args = [a if isinstance(a, ast.Starred) else _asked(node.func.value, a) for a in node.args]
        return node

    def visit_Assign(self, node: ast.Assign) -> ast.AST:
        self.generic_visit(node)
        for target in node.targets:
            for one in ast.walk(target):
                if isinstance(one, ast.Subscript) and _is_plain(one.value):
                    node.value = _asked(one.value, node.value)
        return node

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.AST:
        self.generic_visit(node)
        if _is_plain(node.target):
            node.value = _asked(node.target, node.value)
        return node


def _is_plain(node: ast.AST) -> bool:
    """Whether to read it once more changes nothing."""
    plain = (ast.Name, ast.Attribute, ast.Subscript, ast.Constant, ast.expr_context, ast.Slice, ast.UnaryOp, ast.USub)
    return all(isinstance(one, plain) for one in ast.walk(node))


def _asked(holder: ast.AST, value: ast.expr) -> ast.expr:
    text = ast.unparse(holder)
    call = ast.parse(f"{HOLD}({text}, 0)", mode="eval").body
    assert isinstance(call, ast.Call)
    call.args[1] = value
    for node in (call, call.func, *ast.walk(call.args[0])):
        ast.copy_location(node, value)
    return call
