"""No list comes to hold itself in a program that a search made, and no whole number grows without end: NumPy would
unpack the one, and Python reckon with the other, for ever, and nobody can stop them there.

>>> space = {"H": []}
>>> exec(compiled("H.append([H])", "a program", space), space)
Traceback (most recent call last):
    ...
ValueError: a list would hold itself
"""

import ast
import copy
import re
from collections.abc import Iterator
from functools import lru_cache
from types import CodeType
from typing import Any, ClassVar

HOLD, PRODUCT, POWER = "__hold__", "__product__", "__power__"
MOST_BITS = 1_000_000  # of a whole number
_PUTS_IN = frozenset(["append", "appendleft", "extend", "insert", "setdefault", "update"])
_CALLS = re.compile(rf"\b(?:{'|'.join(sorted(_PUTS_IN))})\b")
# A bracket that is no index, and what else has lists or dicts to do; and what puts something into something else.
_HOLDERS = re.compile(r"(?<![\w)\]])\[|\{|\b(?:list|dict|deque|Counter|defaultdict|sorted|split|tolist)\b")
_PUTS = re.compile(rf"{_CALLS.pattern}|[-+*/@%&|^]=|\][^\]\n=]*=(?!=)")


def compiled(text: str, file: str, space: dict[str, Any], args: tuple[Any, ...] = ()) -> CodeType:
    """The program, which asks `space[HOLD]`, bound here, before it puts something into something else. Lines stay where
    they are. `args` are what it is given: lists and dicts among them hold as well; if they are all whole numbers, it
    asks how large a product or a power gets. **Errors:** `SyntaxError`.
    """
    if args and all(isinstance(a, int) for a in args):
        space |= {PRODUCT: product, POWER: power}
        return compile(ast.fix_missing_locations(_Reckoning().visit(ast.parse(text))), file, "exec", dont_inherit=True)
    holds = _HOLDERS.search(text) or any(isinstance(a, (list, dict)) for a in args)
    if not holds or not _PUTS.search(text):
        return compile(text, file, "exec", dont_inherit=True)
    space[HOLD] = hold
    lines = [_asking(line) for line in text.splitlines()]
    if None not in lines:  # to read a whole program as a tree takes five times as long as to compile it
        return compile("\n".join(map(str, lines)), file, "exec", dont_inherit=True)
    tree = ast.parse(text)
    putting = {n for n, line in enumerate(text.splitlines(), 1) if _CALLS.search(line)}
    for one in list(_statements(tree.body)):
        _ask(one)
        if putting and not putting.isdisjoint(range(one.lineno, (one.end_lineno or one.lineno) + 1)):
            for node in list(ast.walk(one)) if not hasattr(one, "body") else _heads(one):
                if isinstance(node, ast.Call):
                    _ask(node)
    return compile(tree, file, "exec", dont_inherit=True)


@lru_cache(maxsize=4096)
def _asking(line: str) -> str | None:
    """The line of a program, which asks; None if what it means hangs on others. Two forms of a program differ in a line
    or two.
    """
    if sum(map(line.count, "([{")) != sum(map(line.count, ")]}")) or line.endswith("\\"):
        return None
    if sum(map(line.count, ('"""', "'''"))) % 2:  # a string begins or ends, whose other lines are no code
        return None
    if not _PUTS.search(line):
        return line
    try:
        statements = ast.parse(line.strip()).body
    except SyntaxError:  # the head of a block puts in what it calls for, and no more
        return line if line.endswith(":") and not _CALLS.search(line) else None
    if any(hasattr(one, "body") for one in statements):
        return None
    for one in statements:
        _ask(one)
        for node in list(ast.walk(one)):
            if isinstance(node, ast.Call):
                _ask(node)
    return " " * (len(line) - len(line.lstrip())) + "; ".join(map(ast.unparse, statements))


def _statements(block: list[ast.stmt]) -> Iterator[ast.stmt]:
    for one in block:
        yield one
        for field in ("body", "orelse", "finalbody"):
            yield from _statements(getattr(one, field, []))
        for part in (*getattr(one, "handlers", ()), *getattr(one, "cases", ())):
            yield from _statements(part.body)


def _heads(one: ast.stmt) -> list[ast.AST]:
    """What stands in the head of a statement that has a block: its test, what it runs through."""
    heads = [value for value in vars(one).values() if isinstance(value, ast.expr)]
    return [node for head in heads for node in ast.walk(head)]


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


def product(a: Any, b: Any) -> Any:
    """a * b. **Errors:** `OverflowError` if that is a whole number which is far too large."""
    if isinstance(a, int) and isinstance(b, int) and a.bit_length() + b.bit_length() > MOST_BITS:
        raise OverflowError("a whole number gets too large")
    return a * b


def power(a: Any, b: Any) -> Any:
    """a ** b. **Errors:** `OverflowError` if that is a whole number which is far too large."""
    if isinstance(a, int) and isinstance(b, int) and a.bit_length() * b > MOST_BITS:
        raise OverflowError("a whole number gets too large")
    return a**b


class _Reckoning(ast.NodeTransformer):
    """Asks before each product and power."""

    _ASKED: ClassVar[dict[type[ast.operator], str]] = {ast.Mult: PRODUCT, ast.Pow: POWER}

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        self.generic_visit(node)
        if type(node.op) not in self._ASKED:
            return node
        name = ast.Name(self._ASKED[type(node.op)], ast.Load())
        return ast.copy_location(ast.Call(name, [node.left, node.right], []), node)

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.AST:
        if type(node.op) not in self._ASKED or not isinstance(node.target, ast.Name):
            return self.generic_visit(node)
        value = ast.copy_location(ast.BinOp(ast.Name(node.target.id, ast.Load()), node.op, node.value), node)
        return ast.copy_location(ast.Assign([node.target], self.visit(ast.fix_missing_locations(value))), node)
