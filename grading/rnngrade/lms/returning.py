"""What goes back to students, by one rule, wherever it goes.

The points of somebody at whose work a person has still to look are provisional: they stay here, unless they are asked
for. All others go back, also those who are not on the class list, to whatever knows them; whom it does not know, and
who was left out, is said.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

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
    points: dict[str, float] = field(default_factory=dict)
    waiting: list[str] = field(default_factory=list)
    keys: dict[str, str] = field(default_factory=dict)
    marks: dict[str, Marks] = field(default_factory=dict)

    @property
    def students(self) -> Students:
        """All of them, by what a platform may call them."""
        return Students([*self.points, *self.waiting], self.people, self.keys)

    def add(self, student: str, points: float, *, waits: bool, provisional: bool) -> None:
        """Count somebody among those whose points go back, or who wait."""
        if waits and not provisional:
            self.waiting.append(student)
        else:
            self.points[student] = round(points, 2)

    def left_out(self) -> Iterator[str]:
        """Who was left out, in a sentence."""
        if self.waiting:
            yield (
                f"Left out, for a person has still to look: {', '.join(self.waiting)}. With --provisional, what they "
                "have so far goes back as well."
            )


def of_unit(desk: Desk, unit: str, failures: Failures, *, provisional: bool = False) -> Returned:
    """What goes back of a unit. **Errors:** `DeskError` if nothing of it is graded, those of `read_marks`."""
    marks = read_marks(desk, unit, failures)
    if not marks:
        raise DeskError(f"The gradebook has no grades of {unit}: run 'rnngrade run {unit}' first.")
    most = max(sum(mark.most for mark in one.grades.values()) for one in marks.values())
    found = Returned(unit, most, class_list(desk), keys=keys_of(desk, unit), marks=marks)
    for student, one in sorted(marks.items()):
        found.add(student, one.total, waits=one.waits, provisional=provisional)
    return found


def of_term(desk: Desk, units: Sequence[str], failures: Failures, *, provisional: bool = False) -> Returned:
    """What the term comes to, in percent, also for those who handed in nothing. **Errors:** those of `totals`."""
    found = Returned("the term", 100.0, class_list(desk))
    for person, student, total, _ in totals(desk, units, found.people, failures):
        if total.percent is not None:
            found.add(student or person.id, total.percent, waits=total.waits, provisional=provisional)
    return found
