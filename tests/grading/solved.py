"""Submissions as students write them: a unit solved, with some answers written otherwise."""

import json
from collections.abc import Iterator
from pathlib import Path

import nbformat

from rnncourse import exercises
from rnncourse.checks.shelf import read
from rnngrade.author.validate import shelf_of


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


def turns(root: Path, unit: str) -> Iterator[dict[str, str]]:
    """The first other right answer to each exercise, the second to each, and so on; who has no more begins again."""
    found: dict[str, list[str]] = {}
    for answer in read(root / shelf_of(unit)):
        if answer.kind == "right":
            found.setdefault(answer.exercise, []).append(f"{answer.imports}\n\n\n{answer.text}".lstrip())
    for turn in range(max(map(len, found.values()))):
        yield {name: answers[turn % len(answers)] for name, answers in found.items()}


def names(unit: str) -> list[str]:
    """The unit's exercises."""
    return [e.name for e in exercises.unit(unit)]
