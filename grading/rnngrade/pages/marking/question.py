"""A written question: the task, the model answer, and the rubric in items that can be given one by one.

>>> [(item.points, item.text) for item in rubric("**1 point**: says why. 1½ points for a test (½ without a reason).")]
[(1.0, 'says why.'), (1.5, 'for a test (½ without a reason).')]
"""

import re
from dataclasses import dataclass, replace
from pathlib import Path

import nbformat

from rnngrade.core.desk import Desk, built
from rnngrade.core.errors import DeskError
from rnngrade.core.record import Number, read_json

_FRACTIONS = {"": 0.0, "¼": 0.25, "½": 0.5, "¾": 0.75}
_ITEM = re.compile(r"(?:(?<=^)|(?<=[.;)] )|(?<=[.;] \()|(?<=\*\* ))(\d*)([¼½¾]?) points?(?=[:, ])")
_SOLUTION = re.compile(r"### BEGIN SOLUTION\n?(.*?)### END SOLUTION", re.DOTALL)
_RUBRIC = re.compile(r"^\**Rubric[.:]\**[.:]?\s*", re.MULTILINE)
PLACE = "YOUR ANSWER HERE"  # nbgrader puts it where the solution was


@dataclass(frozen=True)
class Item:
    points: Number
    text: str


@dataclass(frozen=True)
class Question:
    """A written question of a unit. `before` and `after` are what stands around the answer in its cell."""

    name: str
    most: float
    before: str
    after: str
    model: str
    items: tuple[Item, ...]

    def answer_in(self, source: str) -> str:
        """A student's answer, without the task where that was left as it was."""
        text = source.strip()
        if text.startswith(self.before.strip()):
            text = text[len(self.before.strip()) :]
        if self.after.strip() and text.endswith(self.after.strip()):
            text = text[: -len(self.after.strip())]
        return text.strip()


def rubric(text: str) -> tuple[Item, ...]:
    """The items of a rubric in prose: each begins with its points, "1 point: …"."""
    plain = " ".join(text.replace("**", "").split())
    found = list(_ITEM.finditer(plain))
    items = []
    for i, match in enumerate(found):
        end = found[i + 1].start() if i + 1 < len(found) else len(plain)
        points = float(match[1] or 0) + _FRACTIONS[match[2]]
        items.append(Item(points, plain[match.end() : end].strip(" :,(")))
    return tuple(items)


def rubric_path(desk: Desk, unit: str, question: str) -> Path:
    return desk.folder / "rubrics" / unit / f"{question}.json"


def questions_of(desk: Desk, unit: str) -> list[Question]:
    """The written questions of a unit, with the rubrics of this desk. **Errors:** `DeskError`."""
    found = questions(desk.root, unit)
    for number, question in enumerate(found):
        path = rubric_path(desk, unit, question.name)
        try:
            found[number] = replace(question, items=read_json(path.read_text("utf-8"), tuple[Item, ...]))
        except FileNotFoundError:
            continue
        except (OSError, ValueError):
            raise DeskError(f"{path} cannot be read: remove it, and the rubric is the course's own again.") from None
    return found


def questions(root: Path, unit: str) -> list[Question]:
    """The written questions of a unit of the course at `root`, in order. **Errors:** `DeskError` if it is not built."""
    cells = {
        folder: [c for c in nbformat.read(built(root, unit, folder), as_version=4).cells if _is_written(c)]
        for folder in ("solutions", "notebooks")
    }
    given = {cell.metadata.nbgrader.grade_id: cell.source for cell in cells["notebooks"]}
    found = []
    for cell in cells["solutions"]:
        meta = cell.metadata.nbgrader
        solution = _SOLUTION.search(cell.source)
        model, *rest = _RUBRIC.split(solution[1] if solution else "", maxsplit=1)
        before, _, after = given.get(meta.grade_id, "").partition(PLACE)
        items = rubric(rest[0]) if rest else ()
        found.append(Question(meta.grade_id, float(meta.points), before, after, model.strip(), items))
    return found


def _is_written(cell: nbformat.NotebookNode) -> bool:
    meta = cell.metadata.get("nbgrader", {})
    return bool(cell.cell_type == "markdown" and meta.get("solution") and meta.get("grade"))
