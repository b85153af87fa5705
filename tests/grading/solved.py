"""Submissions as students write them: a unit solved, with some answers written otherwise."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator
from pathlib import Path

import nbformat

from rnncourse import exercises


def right_answers(root: Path, unit: str) -> dict[str, str]:
    """The solution's own answers, in code and in words, by name."""
    cells = nbformat.read(root / "solutions" / unit / f"{unit}.ipynb", as_version=4).cells
    return {c.metadata.nbgrader.grade_id: c.source for c in cells if c.metadata.get("nbgrader", {}).get("solution")}


def solved(root: Path, unit: str, helper: str = "", **answers: str | None) -> bytes:
    """The unit solved, but for these answers: None leaves one as it was given out.

    `helper` is the source of a cell of the student's own, at the notebook's beginning.
    """
    notebook = nbformat.read(root / "notebooks" / unit / f"{unit}.ipynb", as_version=4)
    right = right_answers(root, unit)
    unknown = answers.keys() - right.keys()
    assert not unknown, unknown
    for cell in notebook.cells:
        meta = cell.metadata.get("nbgrader", {})
        if meta.get("solution"):
            source = answers.get(meta.grade_id, right[meta.grade_id])
            cell.source = cell.source if source is None else source
    if helper:
        first = next(i for i, c in enumerate(notebook.cells) if c.metadata.get("nbgrader", {}).get("solution"))
        notebook.cells.insert(first, nbformat.v4.new_code_cell(helper))
    return json.dumps(notebook).encode()


class Alternatives:
    """The alternative right answers to a unit, as source: `answers` by exercise, and the `helper` cell they need."""

    def __init__(self, unit: str) -> None:
        stem = unit.partition("_")[2]
        path = Path(__file__).parents[1] / "rnncourse" / "exercises" / "alternatives" / f"{stem}.py"
        self.answers: dict[str, list[str]] = {}
        self.helper = ""
        source = path.read_text(encoding="utf-8")
        tree = ast.parse(source)
        called = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
        for node in tree.body:
            text = ast.get_source_segment(source, node) or ""
            marked = _marked(node) if isinstance(node, (ast.FunctionDef, ast.ClassDef)) else []
            for name in marked:
                self.answers.setdefault(name, []).append(re.sub(rf"(?<![.\w]){node.name}\b", name, text))
            if not _of_the_tests(node, text, stem) and (not marked or node.name in called):
                self.helper += text + "\n"

    def turns(self) -> Iterator[dict[str, str]]:
        """The first answer to each exercise, the second to each, and so on; who has no more begins again."""
        for turn in range(max(map(len, self.answers.values()), default=0)):
            yield {name: found[turn % len(found)] for name, found in self.answers.items()}


def _marked(node: ast.FunctionDef | ast.ClassDef) -> list[str]:
    """The exercises whose answer this is, by its marks `@answers("rnn_step")`."""
    calls = [d for d in node.decorator_list if isinstance(d, ast.Call) and ast.unparse(d.func) == "answers"]
    return [call.args[0].value for call in calls if isinstance(call.args[0], ast.Constant)]


def _of_the_tests(node: ast.stmt, text: str, stem: str) -> bool:
    """Whether a student's notebook has no use for this: the tests' own, and imports of what the notebook itself has
    its answers for.
    """
    own = {f"rnncourse.{stem}", "tests.rnncourse.exercises.alternatives"}
    is_words = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    return is_words or text.startswith("ALTERNATIVES") or (isinstance(node, ast.ImportFrom) and node.module in own)


def names(unit: str) -> list[str]:
    """The unit's exercises."""
    return [e.name for e in exercises.unit(unit)]
