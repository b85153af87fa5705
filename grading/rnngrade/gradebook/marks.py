"""What the gradebook knows of a unit, for the whole class.

A grade is nbgrader's: what a person gave counts instead of the judge's, extra credit comes on top, and a grade may wait
for a person (`nbgrader.api.Grade`). Comments hang on the answer's cell, `rnn_step`; grades on the check, or on the
written question itself.
"""

import hashlib
import json
import re
from dataclasses import asdict, dataclass, field
from pathlib import Path

from rnngrade.core.desk import Desk
from rnngrade.core.errors import Failures, some
from rnngrade.core.record import Record
from rnngrade.gradebook import by_hand
from rnngrade.gradebook.door import NOT_ENTERED, GivenGrade, Page, is_there, opened, read_pages
from rnngrade.roster.lateness import Lateness
from rnngrade.roster.rules import Changed, Rules, rules_of
from rnngrade.roster.students import class_list
from rnngrade.roster.times import lateness_of


@dataclass(frozen=True)
class Mark:
    """The grade of one cell: `points` of `most`, extra credit among them; None if nobody has given any yet."""

    points: float | None
    most: float
    extra: float = 0.0
    by_hand: bool = False
    waits: bool = False


@dataclass
class Marks:
    """All that one student got in a unit, by grade id. `untouched` are the answers left as they were handed out,
    `written` the texts that a person marks, `name` the student's full name, or the id if that is not known.
    """

    grades: dict[str, Mark] = field(default_factory=dict)
    comments: dict[str, str] = field(default_factory=dict)
    untouched: set[str] = field(default_factory=set)
    penalty: float = 0.0
    late: Lateness = field(default_factory=Lateness)
    written: dict[str, str] = field(default_factory=dict)
    name: str = ""

    def points(self, exercise: str) -> float:
        mark = self.grades.get(f"check_{exercise}")
        return (mark.points or 0.0) if mark else 0.0

    @property
    def before(self) -> float:
        """The points so far, before any penalty for being late."""
        return sum(mark.points or 0.0 for mark in self.grades.values())

    @property
    def total(self) -> float:
        """The points so far, less the penalty for being late."""
        return max(0.0, self.before - self.penalty)

    @property
    def waits(self) -> bool:
        """Whether a person has still to look at some of it."""
        return any(mark.waits for mark in self.grades.values())

    @property
    def most(self) -> float:
        """The most points that there are for what has points by now."""
        return sum(mark.most for mark in self.grades.values() if mark.points is not None)


_DIGEST = re.compile(rb'<meta name="rnngrade-digest" content="([0-9a-f]+)">')


def digest_of(record: Record, marks: Marks) -> str:
    """A hash of all that a student's page is a function of: the record, the marks with their comments, lateness."""
    plain = asdict(marks) | {"untouched": sorted(marks.untouched)}
    said = json.dumps([record.key, plain], sort_keys=True, default=str)
    return hashlib.sha256(said.encode("utf-8", "replace")).hexdigest()[:16]


def is_current(page: Path, record: Record, marks: Marks) -> bool:
    """Whether there is such a page, and it says what is so now."""
    try:
        with page.open("rb") as file:
            found = _DIGEST.search(file.read(2000))
    except OSError:
        return False
    return found is not None and found[1].decode() == digest_of(record, marks)


def read_marks(desk: Desk, unit: str, failures: Failures, *, tells_missing: bool = True) -> dict[str, Marks]:
    """The marks of all who are in the gradebook with this unit, with what being late costs by the desk's rules now.

    Who is graded, and not in the gradebook as they are graded, is left out and, if it `tells_missing`, put into
    `failures`, as is of whom it is not known how late they are, who is left as the gradebook has it. **Errors:**
    `DeskError` if it cannot be read, `DeskError`.
    """
    pages: dict[str, Page] = {}
    if is_there(desk):
        with opened(desk) as gradebook:
            pages = read_pages(gradebook.db, unit, failures)
    graded, nothing = desk.graded(unit), Page("", 0.0)
    missing = [one.student for one in graded if not is_entered(desk, one, pages.get(one.student, nothing))]
    if missing and tells_missing:
        failures.add(some(missing), unit, NOT_ENTERED.format(unit))
    rules, people = rules_of(desk), class_list(desk)
    found = {student: marks_of(page, rules, unit) for student, page in pages.items() if student not in missing}
    for student, marks in found.items():
        marks.name = people.person(student).full_name
    for student, late in lateness_of(desk, unit, failures, found).items():
        marks = found[student]
        marks.late = late
        if late.due is not None:  # else nbgrader's own due date and penalty count
            marks.penalty = late.penalty(marks.before, sum(mark.most for mark in marks.grades.values()))
    return found


def is_entered(desk: Desk, record: Record, page: Page) -> bool:
    """Whether the gradebook has a record, and what was given by hand for it. If what it has is as the desk entered it,
    and the desk has other marks, it is older than these, from a backup; else a person gave something in formgrader.
    """
    if page.key != record.key:
        return False
    given = by_hand.read(desk, record.unit, record.student)
    return not given or page.state != page.entered.state or page.state == given.state(page, record)


def marks_of(page: Page, rules: Rules, unit: str) -> Marks:
    """What stands on a page, with what the rules say of exercises, and the penalty that the gradebook has."""
    changed, grades = rules.changed.get(unit, Changed()), {}
    for name, cell in page.cells.items():
        given = page.state.grades.get(name, GivenGrade(None, None, waits=False))
        points = cell.auto if given.points is None else given.points
        # nbgrader gives extra credit only on top of points.
        extra = float(given.extra or 0.0) if points is not None else 0.0
        total, is_by_hand = None if points is None else points + extra, given.points not in (None, cell.auto)
        if (exercise := name.removeprefix("check_")) not in changed.dropped:
            is_full = exercise in changed.full_points
            grades[name] = (
                Mark(cell.most, cell.most) if is_full else Mark(total, cell.most, extra, is_by_hand, cell.waits)
            )
    written = {name: text for name, text in page.entered.answers.items() if page.cells[name].auto is None}
    return Marks(grades, dict(page.state.comments), set(page.untouched), page.penalty, written=written)
