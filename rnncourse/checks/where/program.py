"""An answer as a program: its text, the places in it, and the same program made to tell what happens in them.

>>> step = Program("step", "def step(x, h):\\n    a = x + 2 * h\\n    return np.tanh(a)\\n")
>>> [place.text for place in step.places]
['x', 'h', '2 * h', 'x + 2 * h', 'a', 'np.tanh(a)']
>>> print(step.telling([2]))
def step(x, h):
    a = x + __note__(2, 2 * h)
    return np.tanh(a)
>>> print(step.given(2))
def step(x, h):
    a = x + __give__()
    return np.tanh(a)

Line 1 is that of `def` or `class`. Docstrings and decorators do not belong to the program.
"""

from __future__ import annotations

import ast
import linecache
import textwrap
from collections.abc import Collection, Iterator
from copy import deepcopy
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from rnncourse.checks.forbidden import functions_of
from rnncourse.checks.where.spans import Spans

NOTE, GIVE, LOOK = "__note__", "__give__", "__look__"
NEVER = {"open", "exec", "eval", "compile", "__import__", "input", "breakpoint", "exit", "quit"}
MOST_PLACES = 1_000  # the longest model answer has a tenth of that
_NEITHER = {
    "annotation",
    "returns",
    "decorator_list",
    "bases",
    "keywords_of_class",
    "defaults",
    "kw_defaults",
    "type_comment",
}

Slot = tuple[Any, Any]  # where a node hangs: a node and a field's name, or a list and an index


@dataclass(frozen=True)
class Place:
    """An expression of a program: its number in the order of evaluation, its line, its text, and what it stands in."""

    number: int
    line: int
    last_line: int
    text: str
    is_name: bool
    is_returned: bool


class Program:
    """The text of an answer. **Errors:** `SyntaxError` if it is none."""

    def __init__(self, name: str, source: str) -> None:
        self.name, self.source = name, source
        self.tree = ast.parse(source)
        self._nodes = [node for node, _ in _slots(self.tree, _locals(self.tree))]

    @cached_property
    def places(self) -> list[Place]:
        """All expressions whose values can be looked at, the inner ones first."""
        returned = {id(n.value) for n in ast.walk(self.tree) if isinstance(n, (ast.Return, ast.Yield)) and n.value}
        return [
            Place(
                i,
                node.lineno,
                node.end_lineno or node.lineno,
                ast.get_source_segment(self.source, node) or ast.unparse(node),
                isinstance(node, ast.Name),
                id(node) in returned,
            )
            for i, node in enumerate(self._nodes)
        ]

    def telling(self, numbers: Collection[int] | None = None) -> str:
        """The program, which notes the values of these places, or of all, each time they are evaluated."""

        def noted(i: int, node: ast.expr) -> ast.expr:
            if numbers is not None and i not in numbers:
                return node
            return ast.Call(ast.Name(NOTE, ast.Load()), [ast.Constant(i), node], [])

        return self._with(noted)

    def given(self, number: int) -> str:
        """The program, in which a place has the values that are given to it. Each line stays where it is."""
        node = self._nodes[number]
        start, end = Spans(self.source).span(node)
        lines = (node.end_lineno or node.lineno) - node.lineno
        return f"{self.source[:start]}{GIVE}({lines * chr(10)}){self.source[end:]}"

    def watching(self) -> str:
        """The program, which looks after each statement whether an argument has changed."""
        tree = deepcopy(self.tree)
        for node in ast.walk(tree):
            for field in ("body", "orelse", "finalbody"):
                block = getattr(node, field, None)
                if isinstance(block, list) and isinstance(node, (ast.FunctionDef, *_BLOCKS)):
                    setattr(node, field, [s for one in block for s in _looked_after(one)])
        return ast.unparse(tree)

    def _with(self, instead: Any) -> str:
        tree = deepcopy(self.tree)
        for i, (node, (holder, key)) in enumerate(list(_slots(tree, _locals(tree)))):
            if (new := instead(i, node)) is not node:
                if isinstance(holder, list):
                    holder[key] = new
                else:
                    setattr(holder, key, new)
        return ast.unparse(tree)

    @property
    def is_too_long(self) -> bool:
        """Whether it is too long, or too deep, to be searched."""
        return len(self._nodes) > MOST_PLACES

    @property
    def is_harmless(self) -> bool:
        """Whether it may be run again in another form: it opens, runs, deletes and imports nothing."""
        names = {n.id for n in ast.walk(self.tree) if isinstance(n, ast.Name)}
        return not names & NEVER and not any(isinstance(n, (ast.Import, ast.ImportFrom)) for n in ast.walk(self.tree))


_BLOCKS = (ast.For, ast.While, ast.If, ast.With, ast.Try)


def _looked_after(one: ast.stmt) -> list[ast.stmt]:
    if isinstance(one, (ast.Return, ast.Raise, ast.Break, ast.Continue, ast.FunctionDef, ast.ClassDef)):
        return [one]
    return [one, ast.Expr(ast.Call(ast.Name(LOOK, ast.Load()), [ast.Constant(one.lineno)], []), lineno=one.lineno)]


def program_of(candidate: Any) -> Program | None:
    """The program that a live candidate is, if its text can be had: from a file, or from a notebook's cell."""
    kind = ast.ClassDef if isinstance(candidate, type) else ast.FunctionDef
    for function in functions_of(candidate):
        code = function.__code__
        lines = linecache.getlines(code.co_filename)
        try:
            tree = ast.parse("".join(lines))
        except SyntaxError:
            continue
        around = [
            node
            for node in ast.walk(tree)
            if isinstance(node, kind) and _first_line(node) <= code.co_firstlineno <= (node.end_lineno or 0)
        ]
        # The innermost: of a class that of a method, of a function the one that starts there.
        if around and (isinstance(candidate, type) or _first_line(around[-1]) == code.co_firstlineno):
            return made(lines, around[-1])
    return None


def _first_line(node: ast.FunctionDef | ast.ClassDef) -> int:
    return min([node.lineno, *(d.lineno for d in node.decorator_list)])


def program_in(source: str, name: str) -> Program | None:
    """The program of that name in the text of a cell, the last if there are several."""
    try:
        found = definition(ast.parse(source), name)
    except (SyntaxError, ValueError):
        return None
    return made(source.splitlines(keepends=True), found) if found else None


def definition(tree: ast.Module, name: str) -> ast.FunctionDef | ast.ClassDef | None:
    """The last definition of that name."""
    found = [n for n in ast.walk(tree) if isinstance(n, (ast.FunctionDef, ast.ClassDef)) and n.name == name]
    return max(found, key=lambda node: node.lineno, default=None)


def made(lines: list[str], node: ast.FunctionDef | ast.ClassDef) -> Program | None:
    """The program that these lines of a definition are."""
    text = textwrap.dedent("".join(lines[node.lineno - 1 : node.end_lineno]))
    try:
        tree = ast.parse(text)
    except SyntaxError:
        return None
    if not tree.body or not isinstance(tree.body[0], (ast.FunctionDef, ast.ClassDef)):
        return None
    return Program(tree.body[0].name, text)


def _locals(tree: ast.AST) -> set[str]:
    nodes = list(ast.walk(tree))
    stored = {n.id for n in nodes if isinstance(n, ast.Name) and not isinstance(n.ctx, ast.Load)}
    return stored | {n.arg for n in nodes if isinstance(n, ast.arg)}


def _slots(tree: ast.AST, names: set[str]) -> Iterator[tuple[ast.expr, Slot]]:
    """The expressions whose values may be looked at, the inner ones first, each with where it hangs."""

    def walk(node: ast.AST) -> Iterator[tuple[ast.expr, Slot]]:
        for field, value in ast.iter_fields(node):
            if field in _NEITHER or (isinstance(node, ast.ClassDef) and field == "keywords"):
                continue
            if isinstance(value, list):
                for i, item in enumerate(value):
                    if isinstance(item, ast.AST):
                        yield from hang(item, (value, i), node, field)
            elif isinstance(value, ast.AST):
                yield from hang(value, (node, field), node, field)

    def hang(node: ast.AST, slot: Slot, above: ast.AST, field: str) -> Iterator[tuple[ast.expr, Slot]]:
        if isinstance(node, (ast.Raise, ast.JoinedStr, ast.Delete, ast.Global, ast.Nonlocal)) or _is_words(node):
            return
        if isinstance(getattr(node, "ctx", None), (ast.Store, ast.Del)):
            if isinstance(node, ast.Subscript):
                yield from hang(node.slice, (node, "slice"), node, "slice")
            elif isinstance(node, (ast.Tuple, ast.List)):
                yield from walk(node)
            return
        if isinstance(above, ast.Call) and field == "func":
            if isinstance(node, ast.Attribute):
                yield from hang(node.value, (node, "value"), node, "value")
            return
        yield from walk(node)
        if isinstance(node, ast.expr) and _can_be_noted(node, names):
            yield node, slot

    yield from walk(tree)


def _is_words(node: ast.AST) -> bool:
    """Whether it is a statement that consists of a text: a docstring."""
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _can_be_noted(node: ast.expr, names: set[str]) -> bool:
    if isinstance(node, ast.Name):
        return node.id in names and node.id != "self"
    if isinstance(node, ast.Attribute):
        root: ast.expr = node
        while isinstance(root, (ast.Attribute, ast.Subscript, ast.Call)):
            root = root.func if isinstance(root, ast.Call) else root.value
        return not isinstance(root, ast.Name) or root.id in names
    return not isinstance(
        node,
        (ast.Constant, ast.Slice, ast.Starred, ast.Yield, ast.YieldFrom, ast.Lambda, ast.Tuple, ast.GeneratorExp),
    )
