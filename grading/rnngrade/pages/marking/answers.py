"""A class's answers to one question: without names, alike ones as one, and the marks that a person gives them.

Marks go where formgrader's go, into nbgrader's gradebook, as the manual score and the manual comment. Which items of
the rubric were given is kept beside it, `marks/UNIT/QUESTION.json`: nbgrader knows no items.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import unicodedata
import warnings
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path

import nbformat
from sqlalchemy.exc import SQLAlchemyError

from rnngrade.core.desk import Desk
from rnngrade.core.errors import DeskError
from rnngrade.core.record import write_whole
from rnngrade.gradebook.book import GradebookError, beside_python, open_gradebook
from rnngrade.gradebook.marks import Marks, read_marks
from rnngrade.pages.marking.question import Question

LONGEST_COMMENT = 10_000  # characters


class NoSuchAnswer(DeskError):
    """There is no answer of that id any more, in a sentence."""


@dataclass
class Answer:
    """What one student wrote, or several alike. `points` and `comment` are what all of them have, `differ` whether some
    have others; `waits` says whether anybody of them waits for a person; `items` are points given by rubric item.
    """

    id: str
    text: str
    students: list[str] = field(default_factory=list)
    points: float | None = None
    comment: str = ""
    differ: bool = False
    waits: bool = False
    items: dict[int, float] = field(default_factory=dict)


def answers(desk: Desk, unit: str, question: Question) -> list[Answer]:
    """All answers to a question, those first that wait; else in an order that says nothing of whose they are.

    Answers left as they were handed out are not among them: they have no points, and wait for nobody.
    **Errors:** `GradebookError`.
    """
    marks = read_marks(desk, unit)
    given = _items(desk, unit, question.name)
    found: dict[str, Answer] = {}
    theirs: dict[str, list[Marks]] = defaultdict(list)
    for record in desk.graded(unit):
        if question.name not in record.written:
            continue
        text = _written(desk.executed_path(unit, record.student), question)
        if text is None:
            continue
        key = hashlib.sha256(_alike(text).encode("utf-8", "replace")).hexdigest()[:16]
        one = found.setdefault(key, Answer(key, text, items=given.get(key, {})))
        one.students.append(record.student)
        if record.student in marks:
            theirs[key].append(marks[record.student])
    for key, one in found.items():
        _put_marks(one, question.name, theirs[key])
    return sorted(found.values(), key=lambda one: (not one.waits, one.id))


def _put_marks(one: Answer, question: str, marks: list[Marks]) -> None:
    grades = [mark.grades[question] for mark in marks if question in mark.grades]
    known = {(grade.points if grade.by_hand else None) for grade in grades}
    comments = {mark.comments.get(question, "") for mark in marks} or {""}
    one.waits = any(grade.waits for grade in grades)
    one.differ = len(known) > 1 or len(comments) > 1
    one.points = next(iter(known)) if len(known) == 1 else None
    one.comment = next(iter(comments)) if len(comments) == 1 else ""


def _written(path: Path, question: Question) -> str | None:
    try:
        notebook = nbformat.reads(path.read_text(encoding="utf-8", errors="replace"), as_version=4)
    except (OSError, ValueError, nbformat.ValidationError):
        return None
    for cell in notebook.cells:
        if cell.metadata.get("nbgrader", {}).get("grade_id") == question.name:
            return question.answer_in(cell.source)
    return None


def _alike(text: str) -> str:
    """The text up to case, space and full stops at the end: whatever else is written may mean something else.

    >>> _alike("The  state.") == _alike("the state"), _alike("n!") == _alike("n"), _alike("2³") == _alike("23")
    (True, False, False)
    """
    return " ".join(unicodedata.normalize("NFC", text).casefold().split()).rstrip(". ")


def mark(
    desk: Desk, unit: str, question: Question, answer: str, points: float, comment: str, items: dict[int, float]
) -> Answer:
    """Give all who wrote this answer these points and this comment, at one stroke; returns the answer as it is now.

    **Errors:** `ValueError` with a sentence for points or items that cannot be; `NoSuchAnswer`, `GradebookError`.
    """
    if not 0 <= points <= question.most:
        raise ValueError(f"Points are from 0 to {question.most:g}; {points:g} are not.")
    for number, part in items.items():
        if not (0 <= number < len(question.items) and 0 < part <= question.items[number].points):
            raise ValueError(f"The rubric has no item {number + 1} that gives {part:g} points.")
    if len(comment) > LONGEST_COMMENT:
        raise ValueError(f"A comment has at most {LONGEST_COMMENT:,} characters; this one has {len(comment):,}.")
    one = next((one for one in answers(desk, unit, question) if one.id == answer), None)
    if one is None:
        raise NoSuchAnswer("Nobody has this answer any more: reload the page, a new one was collected meanwhile.")
    given = _items(desk, unit, question.name) | {answer: items}
    try:
        with warnings.catch_warnings(), beside_python(), contextlib.closing(open_gradebook(desk)) as gradebook:
            warnings.simplefilter("ignore")  # what nbgrader does to SQLAlchemy is between the two
            for student in one.students:
                grade = gradebook.find_grade(question.name, unit, unit, student)
                grade.manual_score, grade.needs_manual_grade = points, False
                gradebook.find_comment(question.name, unit, unit, student).manual_comment = comment or None
            gradebook.db.commit()
    except SQLAlchemyError as error:
        cause = str(getattr(error, "orig", None) or error).partition("\n")[0]
        raise GradebookError(f"The gradebook cannot be written to: {cause}") from None
    text = json.dumps({key: {str(n): p for n, p in some.items()} for key, some in given.items()}, indent=1)
    write_whole(_place(desk, unit, question.name), text.encode())
    one.points, one.comment, one.items, one.waits, one.differ = points, comment, items, False, False
    return one


def _place(desk: Desk, unit: str, question: str) -> Path:
    return desk.folder / "marks" / unit / f"{question}.json"


def _items(desk: Desk, unit: str, question: str) -> dict[str, dict[int, float]]:
    try:
        data = json.loads(_place(desk, unit, question).read_text(encoding="utf-8"))
        return {key: {int(n): float(part) for n, part in some.items()} for key, some in data.items()}
    except (OSError, ValueError, AttributeError, TypeError):
        return {}
