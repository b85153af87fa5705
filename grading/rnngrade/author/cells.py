"""What a program's statements need of each other, and the model answers that the build copies out of a unit's cells.

>>> program = Cells(ast.parse("half = 0.5\\nother = 1\\ndef area(r): return half * r**2").body)
>>> [ast.unparse(statement)[:8] for statement in program.needed("area")]
['half = 0', 'def area']

`answers` is the copy of the model answers that goes with the catalogue, whose mistakes are edits of them; `others` has
another right one of each exercise.
"""

from __future__ import annotations

import ast
import builtins
import dis
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path
from types import CodeType
from typing import Any

import jupytext

from rnncourse.checks.shelf import Answer

ROOT = Path(__file__).resolve().parents[3]
MARK = "### BEGIN SOLUTION"  # its line is no part of the answer
MOST_FORMS = 4  # other right answers to an exercise that the package has
_OF_THE_NOTEBOOK = ("use", "track")


class Cells:
    """The statements of a program, and which of them a name needs."""

    def __init__(self, statements: list[ast.stmt]) -> None:
        self._statements = statements

    @staticmethod
    def read(solution: Path) -> Cells:
        return Cells(list(_statements(solution)))

    def value(self, name: str) -> Any:
        """What `name` is after the statements that it needs. **Errors:** whatever these raise; `KeyError`."""
        space: dict[str, Any] = {"__name__": "cells", "use": lambda function: function}
        exec(compile(ast.Module(self.needed(name), []), "cells", "exec"), space)
        return space[name]

    def needed(self, name: str) -> list[ast.stmt]:
        """The statements that `name` needs, in order. Of several that define a name, the last before it is needed; a
        function may use names that come after it.
        """
        chosen: set[int] = set()
        todo = [(name, len(self._statements))]
        while todo:
            wanted, before = todo.pop()
            if wanted in _OF_THE_NOTEBOOK or hasattr(builtins, wanted):
                continue
            places = [i for i, s in enumerate(self._statements) if wanted in _names_bound(s)]
            if not places:
                continue
            place = max((i for i in places if i < before), default=places[0])
            if place not in chosen:
                chosen.add(place)
                statement = self._statements[place]
                late = isinstance(statement, (ast.FunctionDef, ast.ClassDef))
                todo += [(n, len(self._statements) if late else place) for n in _names_used(statement)]
        return [self._statements[i] for i in sorted(chosen)]


@cache
def of(stem: str) -> Cells:
    """What the cells of the unit of that stem define."""
    return Cells.read(ROOT / "solutions" / f"{stem}.py")


def answers(solution: Path) -> str:
    """The unit's model answers that are functions or classes, as text, without docstrings; between them what grading
    runs above them: imports and other definitions.
    """
    parts = [f"The model answers of solutions/{solution.name}. The build writes this file; do not edit it."]
    for cell in jupytext.read(solution, fmt="py:percent").cells:
        if cell.cell_type != "code" or {"experiment", "author"} & set(cell.metadata.get("tags", [])):
            continue
        if (name := cell.metadata.get("answer")) is None:
            if found := "\n".join(map(ast.unparse, _definitions(cell.source))):
                parts.append(f"# --- above\n{found}")
        elif isinstance(ast.parse(cell.source).body[0], (ast.FunctionDef, ast.ClassDef)):
            parts.append(f"# --- {name}\n{_bare(cell.source)}")
    return "\n\n".join(parts) + "\n"


def others(shelf: list[Answer]) -> str:
    """Of each exercise a few right answers that are built otherwise than each other, below what they have to import.
    The first is what a student is shown beside the model answer.
    """
    parts = ["Other right answers, of tests/answers. The build writes this file; do not edit it.\n"]
    found: dict[str, set[str]] = {}
    for answer in shelf:
        forms, form = found.setdefault(answer.exercise, set()), _form(answer.text)
        if answer.kind == "right" and len(forms) < MOST_FORMS and form not in forms:
            forms.add(form)
            above = answer.imports.replace("import numpy as np", "").strip()  # which every notebook has
            parts.append(str(replace(answer, text=f"{above}\n\n\n{answer.text}" if above else answer.text)))
    return "\n".join(parts)


def _form(source: str) -> str:
    """How a program is built: its statements, whatever stands in them."""
    return " ".join(f"{n.col_offset}{type(n).__name__}" for n in ast.walk(ast.parse(source)) if isinstance(n, ast.stmt))


def _bare(source: str) -> str:
    """The code of an answer's cell without its docstrings and the marks of the solution."""
    lines = source.splitlines()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)) and ast.get_docstring(node) is not None:
            start, stop = node.body[0].lineno - 1, node.body[0].end_lineno or 0
            lines[start:stop] = [MARK] * (stop - start)
            if stop < len(lines) and not lines[stop].strip():
                lines[stop] = MARK
    return "\n".join(line for line in lines if MARK not in line and "END SOLUTION" not in line)


def _statements(solution: Path) -> Iterator[ast.stmt]:
    for cell in jupytext.read(solution, fmt="py:percent").cells:
        if cell.cell_type == "code":
            yield from _definitions(cell.source)


def _definitions(source: str) -> Iterator[ast.stmt]:
    for statement in ast.parse(source).body:
        if not isinstance(statement, (ast.Expr, ast.Assert, ast.For, ast.While, ast.If, ast.With)):
            yield statement


@cache
def _names_bound(statement: ast.stmt) -> frozenset[str]:
    if isinstance(statement, (ast.FunctionDef, ast.ClassDef)):
        return frozenset({statement.name})
    if isinstance(statement, (ast.Import, ast.ImportFrom)):
        return frozenset(alias.asname or alias.name.partition(".")[0] for alias in statement.names)
    return frozenset(n.id for n in ast.walk(statement) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store))


@cache
def _names_used(statement: ast.stmt) -> frozenset[str]:
    """The global names that a statement looks up, those of functions inside it too."""
    found, todo = set(), [compile(ast.Module([statement], []), "", "exec")]
    while todo:
        code = todo.pop()
        found |= {i.argval for i in dis.get_instructions(code) if i.opname in ("LOAD_NAME", "LOAD_GLOBAL")}
        todo += [c for c in code.co_consts if isinstance(c, CodeType)]
    return frozenset(found)
