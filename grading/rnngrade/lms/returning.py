"""What goes back to students, by one rule, wherever it goes.

The points of somebody at whose work a person has still to look are provisional: they stay here, unless they are asked
for. All others go back, also those who are not on the class list, to whatever knows them; whom it does not know, and
who was left out, is said.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Self

from rnngrade.core.desk import Desk
from rnngrade.core.errors import DeskError, Failures
from rnngrade.gradebook.exporting import totals
from rnngrade.gradebook.marks import Marks, read_marks
from rnngrade.roster.names import Students, keys_of
from rnngrade.roster.students import ClassList, class_list


@dataclass
class Returned:
    """What goes back of a unit, or of the term: points by student, of `most`; and who was left out for now.

    `keys` has by which platform's names their work came, and `marks` all that one student got, of a unit.
    """

    what: str
    most: float
    people: ClassList
    keys: dict[str, str] = field(default_factory=dict)
    marks: dict[str, Marks] = field(default_factory=dict)
    points: dict[str, float] = field(default_factory=dict)
    waiting: list[str] = field(default_factory=list)

    @property
    def students(self) -> Students:
        """All of them, by what a platform may call them."""
        return Students([*self.points, *self.waiting], self.people, self.keys)

    def sorted_out(self, everybody: Iterable[tuple[str, float, bool]], provisional: bool) -> Self:
        """The same with the points of everybody, and whether they wait: they go back, or are left out for now."""
        for student, points, waits in everybody:
            if waits and not provisional:
                self.waiting.append(student)
            else:
                self.points[student] = round(points, 2)
        return self


def of_unit(desk: Desk, unit: str, failures: Failures, *, provisional: bool = False) -> Returned:
    """What goes back of a unit. **Errors:** `DeskError` if nothing of it is graded, those of `read_marks`."""
    marks = read_marks(desk, unit, failures)
    if not marks:
        raise DeskError(f"The gradebook has no grades of {unit}: run 'rnngrade run {unit}' first.")
    most = max(sum(mark.most for mark in one.grades.values()) for one in marks.values())
    found = Returned(unit, most, class_list(desk), keys_of(desk, unit), marks)
    return found.sorted_out(((student, one.total, one.waits) for student, one in sorted(marks.items())), provisional)


def of_term(desk: Desk, units: Sequence[str], failures: Failures, *, provisional: bool = False) -> Returned:
    """What the term comes to, in percent, also for those who handed in nothing. **Errors:** those of `totals`."""
    people = class_list(desk)
    totals_of = ((student or person.id, total) for person, student, total, _ in totals(desk, units, people, failures))
    counted = ((who, total.percent, total.waits) for who, total in totals_of if total.percent is not None)
    return Returned("the term", 100.0, people).sorted_out(counted, provisional)
