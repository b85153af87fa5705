"""A cell as a program, and what of it says what names stand for: read once for all who hand in the same.

What ran is what is read. IPython runs cells that are no Python, `here = %pwd`, `,print x`, `%time f()`. Its own
transformer turns them into calls, `get_ipython().run_line_magic('time', 'f()')`. The code that such a call runs takes
its place in the tree; of all other magics only the names are left, for others to judge.

>>> tree, magics = as_run("files = !ls\\n%time x = 1")
>>> ast.unparse(tree), magics
('files = None\\nx = 1', ['!', 'time'])
"""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Iterable, Iterator
from contextlib import suppress
from functools import lru_cache

from IPython.core.inputtransformer2 import TransformerManager

MAX_SOURCE = 200_000  # characters of one cell that are parsed
SHORT = 5_000  # characters of a cell that is remembered
# Magics that run the Python behind them, of which they take options.
RUN_PYTHON = frozenset(("time", "timeit", "prun", "capture", "config"))
# Those that run nothing of the student's own.
SHOW = frozenset(("pinfo", "pinfo2", "matplotlib", "precision", "who", "whos", "pwd", "pip", "conda"))
_OPTIONS = re.compile(r"(?:\s*-\w(?:[ \t]*[\w.]+)?(?=\s))*\s*")
_SHELL = ("system", "getoutput")
_REFERS = (ast.Name, ast.Attribute, ast.Import, ast.ImportFrom)


class TooComplex(Exception):
    """The source is too long, or nested too deeply, to be parsed."""


def as_run(source: str) -> tuple[ast.Module, list[str]]:
    """The program that a cell is, and the magics in it, `!` for a shell's command.

    **Errors:** `SyntaxError`; `TooComplex`.
    """
    if len(source) > MAX_SOURCE:
        raise TooComplex
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of an odd escape in a string, say
            above = source[: len(source) - len(source.lstrip())].count("\n")  # which the transformer takes away
            tree = ast.parse("\n" * above + TransformerManager().transform_cell(source))
            unfolded = _Unfold()
            unfolded.visit(tree)
    except (RecursionError, MemoryError):
        raise TooComplex from None
    except ValueError as error:  # null bytes
        raise error if isinstance(error, SyntaxError) else SyntaxError(str(error)) from None
    return tree, unfolded.magics


class _Unfold(ast.NodeTransformer):
    """Puts the code that a magic runs into the place of its call."""

    def __init__(self) -> None:
        self.magics: list[str] = []

    def visit_Expr(self, node: ast.Expr) -> ast.AST | list[ast.stmt]:
        if (code := self._code(node.value)) is None:
            return self.generic_visit(node)
        return code or ast.copy_location(ast.Pass(), node)

    def visit_Call(self, node: ast.Call) -> ast.AST:
        if (code := self._code(node)) is None:
            return self.generic_visit(node)
        is_value = len(code) == 1 and isinstance(code[0], ast.Expr)
        if code and not is_value:  # statements, where a value stands: IPython gives None for them
            self.magics.append("!")
        return code[0].value if is_value else ast.copy_location(ast.Constant(None), node)  # type: ignore[attr-defined]

    def _code(self, node: ast.expr) -> list[ast.stmt] | None:
        """The statements that this call of IPython's runs; None if it is no such call."""
        match node:
            case ast.Call(ast.Attribute(ast.Call(ast.Name("get_ipython"), []), called), args):
                texts = [a.value for a in args if isinstance(a, ast.Constant) and isinstance(a.value, str)]
            case _:
                return None
        if called in _SHELL:
            self.magics.append("!")
            return []
        if called not in ("run_line_magic", "run_cell_magic") or not texts or len(texts) != len(args):
            return None
        name, *lines = texts
        self.magics.append(name)
        if name not in RUN_PYTHON:
            return []
        behind = [_OPTIONS.sub("", lines[0], count=1), *lines[1:]]
        found = []
        for text in behind if name != "capture" else behind[1:]:
            tree, magics = as_run(text)
            self.magics += magics
            found += tree.body
        return found


class Statement:
    """A statement at the top of a cell: the names that it binds, and the nodes in it that refer to something."""

    def __init__(self, node: ast.stmt) -> None:
        self.binds = bound_by(node)
        self.refers = [inner for inner in ast.walk(node) if isinstance(inner, _REFERS)]
        self.is_import = isinstance(node, (ast.Import, ast.ImportFrom))


class Program:
    """A cell's program, and what of it says what names stand for. `local` has the ids of the names that a function
    binds itself, to what is no module, `own` the attributes that are given to objects, `aliases` what names are set to.

    **Errors:** as `as_run`.
    """

    def __init__(self, source: str) -> None:
        self.tree, self.magics = as_run(source)
        nodes = [*ast.walk(self.tree)]
        self.local = {*_local_in(self.tree, frozenset())}
        self.imported = [_top(dotted, name) for node in nodes for dotted, name in imports(node)]
        self.own = {name for node in nodes for name in _given_attributes(node)}
        set_to = [node for node in nodes if isinstance(node, ast.Assign) and root_of(node.value) is not None]
        self.aliases = [(t.id, node.value) for node in set_to for t in node.targets if isinstance(t, ast.Name)]
        self.statements = [*map(Statement, self.tree.body)]


_short_program = lru_cache(maxsize=500)(Program)


def program(source: str) -> Program:
    """The program that a cell is. A class hands in many that are the same. **Errors:** as `as_run`."""
    try:
        return _short_program(source) if len(source) <= SHORT else Program(source)
    except RecursionError:
        raise TooComplex from None


def readable(sources: Iterable[str]) -> list[Program]:
    """The programs that these cells are, but for what cannot be read."""
    found = []
    for source in sources:
        with suppress(SyntaxError, TooComplex):
            found.append(program(source))
    return found


def _top(dotted: str, name: str) -> tuple[str, str]:
    """The name that an import binds, and what to."""
    return (name, dotted) if name else (dotted.partition(".")[0],) * 2


def _local_in(node: ast.AST, names: frozenset[str]) -> Iterator[int]:
    """No value is a module, so neither is a parameter, or what is set in a function and is no alias."""
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
        inner = [*ast.walk(node)]
        aliases = {id(t) for n in inner if isinstance(n, ast.Assign) and root_of(n.value) for t in n.targets}
        modules = {n.id for n in inner if id(n) in aliases and isinstance(n, ast.Name)}
        modules |= {name or dotted.partition(".")[0] for n in inner for dotted, name in imports(n)}
        modules |= {name for n in inner if isinstance(n, (ast.Global, ast.Nonlocal)) for name in n.names}
        stored = {n.id for n in inner if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
        names = names | {n.arg for n in inner if isinstance(n, ast.arg)} | stored - modules
    elif isinstance(node, ast.Name) and node.id in names:
        yield id(node)
    for child in ast.iter_child_nodes(node):
        yield from _local_in(child, names)


def _given_attributes(node: ast.AST) -> Iterator[str]:
    """The attributes that this gives to objects: `self.W = …`, what a class has, `State(h=…)`, a named tuple's."""
    if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
        yield node.attr
    elif isinstance(node, ast.ClassDef):
        for statement in node.body:
            yield from bound_by(statement)
    elif isinstance(node, ast.Call):
        yield from (k.arg for k in node.keywords if k.arg)
        if (root_of(node.func) or "").endswith("namedtuple") or getattr(node.func, "attr", "") == "namedtuple":
            texts = [n.value for n in ast.walk(node) if isinstance(n, ast.Constant) and isinstance(n.value, str)]
            yield from " ".join(texts).replace(",", " ").split()


def bound_by(statement: ast.stmt) -> set[str]:
    if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        return {statement.name}
    nodes = [*ast.walk(statement)]
    stored = {n.id for n in nodes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    return stored | {name or dotted.partition(".")[0] for n in nodes for dotted, name in imports(n)}


def root_of(node: ast.AST | None) -> str | None:
    """The first part of a dotted name as it stands there: `t` of `t.nn.RNN`."""
    while isinstance(node, ast.Attribute):
        node = node.value
    return node.id if isinstance(node, ast.Name) else None


def in_order(node: ast.AST) -> Iterator[ast.AST]:
    """All nodes in the order of the text."""
    yield node
    for child in ast.iter_child_nodes(node):
        yield from in_order(child)


def imports(node: ast.AST) -> Iterator[tuple[str, str]]:
    """What an import brings in, and by which name: ("numpy.linalg.norm", "norm"); "*" for all of a module."""
    if isinstance(node, ast.Import):
        for a in node.names:
            yield (a.name, a.asname) if a.asname else (a.name, "")
    elif isinstance(node, ast.ImportFrom):
        for a in node.names:
            yield (f"{node.module}.{a.name}", a.asname or a.name)
