"""Who is alike in too much: the answers of a class as they were graded, and what `copies` finds in them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from rnncourse.checks.exercise import Exercise, Unit
from rnngrade.core.desk import Desk
from rnngrade.reading.copies import Copy, find_copies

OWN = "cells of their own"  # in place of an exercise's name: what students put beside their answers


def copies_in(desk: Desk, catalogue: Unit, students: Iterable[str]) -> list[Copy]:
    """Those among these students, whose work is graded, at whose work a person should look."""
    answers = {student: _answers(desk.executed_path(catalogue.stem, student)) for student in students}
    return find_copies(answers, common_to_all(desk.root, catalogue))


def common_to_all(root: Path, catalogue: Unit) -> list[tuple[str, str]]:
    """What the course has shown, or everybody may come to: each code cell of the unit as students get it and as it is
    solved, the textbook's answers and the known mistakes. Each with the name of its exercise, or "".
    """
    found = []
    for folder in ("notebooks", "solutions"):
        path = root / folder / catalogue.stem / f"{catalogue.stem}.ipynb"
        found += [(name, source) for _, name, source in _code(path)]
    for exercise in catalogue:
        if isinstance(exercise, Exercise):
            found.append((exercise.name, exercise.source))
        found += [(exercise.name, mistake.source_for(exercise.name)) for mistake in exercise.misconceptions]
    return found


def _answers(executed: Path) -> dict[str, str]:
    """A student's answers by exercise, and all cells of their own as one."""
    found: dict[str, str] = {}
    for role, name, source in _code(executed):
        if role == "answer":
            found[name] = source
        elif role == "helper":
            found[OWN] = f"{found[OWN]}\n\n{source}" if OWN in found else source
    return found


def _code(path: Path) -> Iterator[tuple[str, str, str]]:
    """The code cells of a notebook of the desk's or the course's: role, grade id, source."""
    try:
        cells: list[dict[str, Any]] = json.loads(path.read_bytes())["cells"]
    except (OSError, ValueError, KeyError):
        return
    for cell in cells:
        if cell["cell_type"] == "code":
            own = cell["metadata"].get("rnngrade", {}).get("role", "")
            given = cell["metadata"].get("nbgrader", {})
            source = cell["source"] if isinstance(cell["source"], str) else "".join(cell["source"])
            yield own or ("answer" if given.get("solution") else ""), given.get("grade_id", ""), source
