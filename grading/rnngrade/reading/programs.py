"""A cell as a program, and what of it says what names stand for: read once for all who hand in the same."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from rnngrade.reading.allowed import imports
from rnngrade.reading.ipython import SHORT, TooComplex, as_run

_REFERS = (ast.Name, ast.Attribute, ast.Import, ast.ImportFrom)


@dataclass(frozen=True, eq=False)
class Statement:
    """A statement at the top of a cell: the names that it binds, and the nodes in it that refer to something."""

    binds: frozenset[str]
    refers: tuple[ast.AST, ...]
    is_import: bool


@dataclass(frozen=True, eq=False)
class Program:
    """A cell's program, and what of it says what names stand for. `local` has the ids of the names that a function
    binds itself, to what is no module, `own` the attributes that are given to objects, `aliases` what names are set to.
    """

    tree: ast.Module
    magics: tuple[str, ...]
    local: frozenset[int]
    imported: tuple[tuple[str, str], ...]
    own: frozenset[str]
    aliases: tuple[tuple[str, ast.expr], ...]
    statements: tuple[Statement, ...]

    @classmethod
    def of(cls, source: str) -> Program:
        """The program that a cell is. A class hands in many that are the same. **Errors:** as `as_run`."""
        try:
            return cls._of_short(source) if len(source) <= SHORT else cls._read(source)
        except RecursionError:
            raise TooComplex from None

    @classmethod
    @lru_cache(maxsize=500)
    def _of_short(cls, source: str) -> Program:
        return cls._read(source)

    @classmethod
    def _read(cls, source: str) -> Program:
        tree, magics = as_run(source)
        nodes = [*ast.walk(tree)]
        return cls(
            tree,
            tuple(magics),
            frozenset(_local_in(tree, frozenset())),
            tuple(_top(dotted, name) for node in nodes for dotted, name in imports(node)),
            frozenset(name for node in nodes for name in _given_attributes(node)),
            tuple(
                (target.id, node.value)
                for node in nodes
                if isinstance(node, ast.Assign) and root_of(node.value) is not None
                for target in node.targets
                if isinstance(target, ast.Name)
            ),
            tuple(
                Statement(
                    frozenset(bound_by(statement)),
                    tuple(node for node in ast.walk(statement) if isinstance(node, _REFERS)),
                    isinstance(statement, (ast.Import, ast.ImportFrom)),
                )
                for statement in tree.body
            ),
        )


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
    """The names that a statement binds."""
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
