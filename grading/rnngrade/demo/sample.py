"""A made-up class whose true scores are known: to try the desk on, and to prove it.

A submission is the notebook that students get, with some answers filled in: the solution's own, or a misconception's.
What each is worth is what the check itself says of that answer in this process; the grader must come to the same. The
same seed gives the same files, byte for byte.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

import nbformat
import numpy as np

from rnncourse import check, exercises
from rnncourse.checks.exercise import Exercise, Misconception, Question
from rnngrade.core.record import write_whole
from rnngrade.gradebook.showing import grade_id_of
from rnngrade.pages.marking.question import PLACE, questions

NAMES = [
    *("ada", "alan", "barbara", "charles", "donald", "edsger", "emmy", "frances", "grace", "hedy", "john"),
    *("katherine", "leonhard", "margaret", "niklaus", "radia", "sofia", "srinivasa"),
]

WRITTEN = "A made-up answer in words."
RIGHT = "right"
BLANK = "blank"
Answer = str | Misconception  # RIGHT, BLANK, or a mistake


@dataclass(frozen=True)
class Submission:
    """One student's work on one unit: an answer to each exercise, in a word on what it is there to show.

    Where `sources` has another text for a cell, or `file` other bytes for all of it, `answers` are what that is worth.
    """

    student: str
    unit: str
    what: str
    answers: Mapping[str, Answer] = field(repr=False)
    sources: Mapping[str, str] = field(default_factory=dict, repr=False)
    file: bytes | None = field(default=None, repr=False)

    def expected(self) -> dict[str, float]:
        """The points that each exercise is worth, by the hidden check in this process."""
        return {name: points_for(name, answer) for name, answer in self.answers.items()}

    def write(self, root: Path, submitted: Path) -> Path:
        """Write the notebook to `submitted/STUDENT/UNIT/UNIT.ipynb`, made from the course's notebooks at `root`."""
        given = {
            folder: nbformat.read(root / folder / self.unit / f"{self.unit}.ipynb", as_version=4)
            for folder in ("notebooks", "solutions")
        }
        solved = {grade_id_of(cell): cell.source for cell in given["solutions"].cells}
        model = {question.name: question.model for question in questions(root, self.unit)}
        for cell in given["notebooks"].cells:
            name = grade_id_of(cell)
            if name in model:
                cell.source = cell.source.replace(PLACE, self._in_words(model[name]))
            answer = self.answers.get(name, BLANK)
            if name in self.sources:
                cell.source = self.sources[name]
            elif isinstance(answer, Misconception):
                cell.source = answer.source_for(name)
            elif answer == RIGHT:
                cell.source = solved[name]
        path = submitted / self.student / self.unit / f"{self.unit}.ipynb"
        made = f"{nbformat.writes(given['notebooks'])}\n".encode() if self.file is None else self.file
        write_whole(path, made)
        return path

    def _in_words(self, model: str) -> str:
        """An answer to a written question: the model answer, as far as the student has the exercises right."""
        if all(answer is BLANK for answer in self.answers.values()):
            return PLACE
        sentences = re.split(r"(?<=[.?!])\s+", re.sub(r"^\*\*.*?\*\*\s*", "", model))
        right = sum(answer == RIGHT for answer in self.answers.values())
        return f"{WRITTEN} {' '.join(sentences[: len(sentences) * right // len(self.answers)])}".strip()


def demo_class(unit: str, size: int = 12, seed: int = 0) -> list[Submission]:
    """`size` students: one all right, one all blank, then single mistakes and mixtures by turns, drawn from `seed`."""
    catalogue = list(exercises.unit(unit))
    rng = np.random.default_rng([len(unit), seed])
    made: list[tuple[str, dict[str, Answer]]] = [
        (f"all {kind}", dict.fromkeys([e.name for e in catalogue], kind)) for kind in (RIGHT, BLANK)
    ]
    mistakes = [(e, m) for e in catalogue for m in e.misconceptions]
    while len(made) < size:
        if len(made) % 3:
            exercise, mistake = mistakes[int(rng.integers(len(mistakes)))]
            answers = among_right(catalogue, exercise, mistake)
            made.append((f"{exercise.name}: {mistake.name}", answers))
        else:
            mixture: dict[str, Answer] = {}
            for e in catalogue:
                choices: list[Answer] = [RIGHT, RIGHT, BLANK, *e.misconceptions]
                mixture[e.name] = choices[int(rng.integers(len(choices)))]
            made.append(("a mixture", mixture | {e.name: BLANK for e in catalogue if leans_on_others(e)}))
    return [Submission(student, unit, what, answers) for student, (what, answers) in zip(NAMES, made, strict=False)]


def leans_on_others(exercise: Exercise | Question) -> bool:
    """Whether what an answer reaches depends on other answers of the same notebook, so that it is known only where all
    of these are right.
    """
    return isinstance(exercise, Exercise) and exercise.calls_own


def among_right(
    catalogue: list[Exercise | Question], exercise: Exercise | Question, mistake: Answer
) -> dict[str, Answer]:
    """One mistake, and right answers to all else that does not lean on it."""
    others: dict[str, Answer] = {e.name: BLANK if leans_on_others(e) else RIGHT for e in catalogue}
    return others | {exercise.name: mistake}


@cache
def _points(name: str, mistake: str) -> float:
    exercise = exercises.find(name)
    wrong = next(m for m in exercise.misconceptions if m.name == mistake)
    return check(wrong.answer, name, hidden=True).points


def points_for(name: str, answer: Answer) -> float:
    if isinstance(answer, Misconception):
        return _points(name, answer.name)
    return float(exercises.find(name).points) if answer == RIGHT else 0.0
