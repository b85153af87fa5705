"""A class's answers to one question: without names, alike ones as one, and the marks that a person gives them.

Marks go into the desk's own files (`gradebook/by_hand.py`) and, at the same stroke, where formgrader's go: nbgrader's
manual score and manual comment. An answer that has changed since it was marked is unmarked, with what stood before
beside it.
"""

from __future__ import annotations

import hashlib
import json
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from rnngrade.core.desk import Desk
from rnngrade.core.errors import DeskError, Failures
from rnngrade.core.record import write_whole
from rnngrade.core.words import count
from rnngrade.gradebook import by_hand
from rnngrade.gradebook.book import GradebookWriter
from rnngrade.gradebook.by_hand import ByHand, Given
from rnngrade.gradebook.marks import Marks, read_marks
from rnngrade.pages.marking.question import Item, Question, rubric_path
from rnngrade.roster.names import called
from rnngrade.roster.students import class_list

LONGEST_COMMENT = 10_000  # characters


class MarkedMeanwhile(DeskError):
    """Somebody else has marked the answer; `now` is what it has."""

    def __init__(self, now: Answer) -> None:
        self.now = now
        points = "no points" if now.points is None else count(now.points, "point")
        super().__init__(f"{now.by or 'Somebody'} gave it {points} meanwhile. Keep yours once more, and it counts.")


@dataclass(frozen=True)
class Before:
    """What an answer said when it was marked, and what it was given."""

    text: str
    points: float
    comment: str


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
    by: str = ""
    before: Before | None = None

    @property
    def seen(self) -> str:
        """A name for what it has, by which is known whether somebody has changed it."""
        has = json.dumps([self.points, self.comment, self.differ, sorted(self.items.items())])
        return hashlib.sha256(has.encode()).hexdigest()[:16]


def answers(desk: Desk, unit: str, question: Question) -> list[Answer]:
    """All answers to a question, those first that wait; else in an order that says nothing of whose they are.

    Answers left as they were handed out are not among them: they have no points, and wait for nobody.
    **Errors:** `DeskError`.
    """
    marks = read_marks(desk, unit, Failures())
    found = [_answer(desk, unit, question, alike, marks) for alike in _alike_in(question, marks).values()]
    return sorted(found, key=lambda one: (not one.waits, one.id))


def part_of(found: Iterable[Answer], part: int, parts: int) -> list[Answer]:
    """Those answers that one of several graders marks."""
    return [one for one in found if int(one.id, 16) % parts == part - 1]


def answers_of(desk: Desk, unit: str, found: Iterable[Answer], name: str) -> tuple[list[Answer], str]:
    """The answers of those who have this name, on the desk or on the class list, and what is odd of it."""
    people, graded = class_list(desk), [record.student for record in desk.graded(unit)]
    try:
        student = called(name, [*graded, *(one.id for one in people.absent(graded))], people, "in the class")
    except DeskError as why:
        return [], str(why)
    if theirs := [one for one in found if student in one.students]:
        return theirs, ""
    return [], f"{name} wrote no answer." if student in graded else f"Nothing of {name} is graded."


def _alike_in(question: Question, marks: Mapping[str, Marks]) -> dict[str, dict[str, str]]:
    """What students have in the cell of the question, by a name for all that is alike."""
    found: dict[str, dict[str, str]] = {}
    for student in sorted(marks):
        if (source := marks[student].written.get(question.name)) is not None:
            found.setdefault(_alike(question.answer_in(source)), {})[student] = source
    return found


def _answer(
    desk: Desk, unit: str, question: Question, sources: Mapping[str, str], marks: Mapping[str, Marks]
) -> Answer:
    text = question.answer_in(next(iter(sources.values())))
    one, known = Answer(_alike(text), text, list(sources)), set[tuple[float | None, str]]()
    for student in sources:
        if question.name not in marks[student].grades:
            continue
        grade, comment = marks[student].grades[question.name], marks[student].comments.get(question.name, "")
        points, given = grade.points, by_hand.read(desk, unit, student).grades.get(question.name, Given(None))
        one.waits = one.waits or grade.waits
        if grade.waits and points is not None:
            one.before = Before(question.answer_in(given.answer), points, comment)
            points, comment, given = None, "", Given(None)
        known.add((points, comment))
        one.items = {int(n): part for n, part in given.items.items()}
        one.by = given.by or one.by
    one.differ = len(known) > 1
    numbers, comments = {points for points, _ in known}, {comment for _, comment in known}
    one.points = numbers.pop() if len(numbers) == 1 else None
    one.comment = comments.pop() if len(comments) == 1 else ""
    return one


def _alike(text: str) -> str:
    """A name for a text up to case, space and full stops at the end: whatever else is written may mean something else.

    >>> _alike("The  state.") == _alike("the state"), _alike("n!") == _alike("n"), _alike("2³") == _alike("23")
    (True, False, False)
    """
    text = " ".join(unicodedata.normalize("NFC", text).casefold().split()).rstrip(". ")
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:16]


def mark(
    desk: Desk,
    unit: str,
    question: Question,
    answer: str,
    points: float,
    comment: str,
    items: dict[int, float],
    seen: str | None = None,
) -> Answer:
    """Give all who wrote this answer these points and this comment, at one stroke; returns the answer as it is now.

    `seen` is what it had when it was looked at. **Errors:** `ValueError` with a sentence for points or items that
    cannot be; `MarkedMeanwhile` if it has something else by now; `DeskError`.
    """
    if not 0 <= points <= question.most:
        raise ValueError(f"Points are from 0 to {question.most:g}; {points:g} are not.")
    for number, part in items.items():
        if not (0 <= number < len(question.items) and 0 < part <= question.items[number].points):
            raise ValueError(f"The rubric has no item {number + 1} that gives {count(part, 'point')}.")
    if len(comment) > LONGEST_COMMENT:
        raise ValueError(f"A comment has at most {LONGEST_COMMENT:,} characters; this one has {len(comment):,}.")

    with GradebookWriter(desk) as gradebook:
        marks = gradebook.marks(unit)
        sources = _alike_in(question, marks).get(answer, {})
        if not sources:
            raise DeskError("Nobody has this answer any more: reload the page, a new one was collected meanwhile.")
        now = _answer(desk, unit, question, sources, marks)
        if seen not in (None, now.seen):
            raise MarkedMeanwhile(now)

        def give(student: str, hand: ByHand) -> None:
            hand.take(question.name, points, answer=sources[student], items={str(n): p for n, p in items.items()})
            hand.comments.pop(question.name, None)
            if comment:
                hand.comments[question.name] = comment

        gradebook.mark(unit, sources, give)
    return Answer(answer, now.text, now.students, points, comment, items=items)


def change_item(desk: Desk, unit: str, question: Question, number: int, item: Item) -> int:
    """Change an item of the rubric, or add one behind the last, and what all have who were given it: who had all of its
    points has all of the new ones. Returns how many that are. **Errors:** `ValueError`, `DeskError`.
    """
    if not 0 <= number <= len(question.items) or not 0 < item.points <= question.most or not item.text.strip():
        raise ValueError(f"An item has a text, and more than 0 and at most {count(question.most, 'point')}.")
    old = question.items[number].points if number < len(question.items) else item.points
    items = [*question.items[:number], item, *question.items[number + 1 :]]
    text = json.dumps([{"points": one.points, "text": one.text} for one in items], indent=1, ensure_ascii=False)
    name, key = question.name, str(number)
    hands = {
        path.stem: by_hand.read(desk, unit, path.stem) for path in by_hand.path_of(desk, unit, "").parent.glob("*")
    }
    having = [student for student, hand in hands.items() if name in hand.grades and key in hand.grades[name].items]

    def follow(student: str, hand: ByHand) -> None:
        given = hand.grades[name]
        part = given.items[key]
        now = item.points if part == old else min(part, item.points)
        points = min(question.most, max(0.0, (given.points or 0.0) + now - part))
        hand.take(name, points, items=given.items | {key: now})

    with GradebookWriter(desk) as gradebook:
        write_whole(rubric_path(desk, unit, name), text)
        gradebook.mark(unit, having, follow)
    return len(having)
