"""Where a class stands: what is there of each unit, when it is due, who is late, and what to do next.

Reads what lies in the desk, grades nothing and changes nothing.
"""

from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime

from rnncourse import exercises
from rnngrade.core.desk import Desk
from rnngrade.core.errors import DeskError, Failures, some
from rnngrade.core.words import count
from rnngrade.gradebook.exporting import local
from rnngrade.gradebook.marks import is_current, read_marks
from rnngrade.grading.bundle import Bundle
from rnngrade.roster.identity import Presence, presence
from rnngrade.roster.lateness import Policy
from rnngrade.roster.rules import Rules, rules_of
from rnngrade.roster.students import ClassList, class_list, natural
from rnngrade.roster.times import lateness_of

VERSIONS = {  # what grades depend on, beside what was handed in
    "unit": "the unit's notebook",
    "library": "the course's code that answers import",
    "checks": "the unit's checks",
    "environment": "Python or its packages",
}


class UnitStatus:
    """What there is of a unit. Of whom it cannot be told is put into `failures`. **Errors:** `DeskError`."""

    def __init__(self, desk: Desk, unit: str, rules: Rules, people: ClassList, failures: Failures) -> None:
        self.unit, self.due, self.handed_in = unit, rules.due.get(unit), list(desk.submissions(unit))
        self.graded = {record.student: record for record in desk.graded(unit)}
        marks = read_marks(desk, unit, failures, tells_missing=False) if self.graded else {}
        self.not_entered = sorted(self.graded.keys() - marks)
        self.to_mark = sum(mark.waits for who in self.graded.keys() & marks for mark in marks[who].grades.values())
        now, old = dict[str, str](), set[str]()  # the versions of the unit, if it is built; whose grades are old
        if self.graded:
            with suppress(DeskError):
                now = dict(Bundle.make(desk.root, unit).versions)
        self.changed = Counter[str]()  # how many were graded before what changed
        self.without_feedback = list[str]()
        for student, record in self.graded.items():
            others = {n for n in now.keys() & VERSIONS.keys() if record.versions.get(n, now[n]) != now[n]}
            self.changed.update(others)
            if others or desk.is_newer(record):
                old.add(student)
            if student not in marks or not is_current(desk.page_path(unit, student), record, marks[student]):
                self.without_feedback.append(student)
        # whose work is to be graded, for the first time or again
        self.to_grade = {*self.handed_in} - {*self.graded} | old | {*self.not_entered}
        late = lateness_of(desk, unit, failures, self.handed_in)
        self.late = {who: late[who] for who in sorted(late, key=natural) if late[who].days or late[who].is_unclear}
        timeless = (who for who in late.keys() - self.late if late[who].due and late[who].handed_in is None)
        self.without_time = sorted(timeless)
        self.is_unclear = bool(self.without_time) or any(one.is_unclear for one in self.late.values())
        everybody = [*self.handed_in, *(person.id for person in people.absent(self.handed_in))]
        dues = {who: rules.due_for(unit, people.names_of(who)) for who in sorted(everybody, key=natural)}
        self.extended = {who: due for who, due in dues.items() if self.due and due and due > self.due}
        self.here = presence(desk, unit, people) if self.handed_in else Presence()

    def lines(self, rules: Rules, people: ClassList, now: datetime) -> Iterator[str]:
        yield self.unit + (f", {'was' if self.due <= now else 'is'} due {local(self.due, rules)}" if self.due else "")
        counts = {
            f"{len(self.handed_in)} handed in, {len(self.graded)} graded": True,
            f"{len(self.to_grade)} to grade": self.to_grade,
            f"{len(self.not_entered)} not in the gradebook as graded": self.not_entered,
            f"{self.to_mark} to mark by hand": self.to_mark,
            f"{len(self.without_feedback)} without feedback that says what is so now": self.without_feedback,
        }
        yield f"  {', '.join(words for words, is_so in counts.items() if is_so)}"
        for name, graded in sorted(self.changed.items()):
            yield f"  {graded} graded before {VERSIONS[name]} changed: 'rnngrade run {self.unit[:2]}' grades them again"
        for words, who in (
            ("late", [f"{who} ({late.words()})" for who, late in self.late.items()]),
            ("extended", [f"{who} to {local(due, rules)}" for who, due in self.extended.items()]),
            ("not known when it came, and taken to be in time", self.without_time),
        ):
            if who:
                yield f"  {words}: {some(who)}"
        yield from (f"  {words}" for words in self.here.lines(people))

    def steps(self, command: str) -> Iterator[str]:
        """What is to be done, in order; nothing in the place of what is done."""
        of, number, answers = self.unit, self.unit[:2], count(self.to_mark, "answer")
        for words, is_so in {
            f"grade {len(self.to_grade)} of {of}: '{command} run {number}'": self.to_grade,
            f"say when {of} was handed in: '{command} times FILE --unit {number}', or go on": self.is_unclear,
            f"mark {answers} of {of} by hand: '{command} mark {number}'": self.to_mark,
            f"write the feedback on {of}: '{command} feedback {number}'": self.without_feedback,
        }.items():
            yield words if is_so else ""


def lines(desk: Desk, failures: Failures, now: datetime | None = None) -> Iterator[str]:
    """The status of a class, as text. Of whom it cannot be told is put into `failures`. **Errors:** `DeskError`."""
    now = now or datetime.now(UTC)
    rules, people = rules_of(desk), class_list(desk)
    known = [unit for unit in exercises.STEMS if unit in rules.due or desk.submissions(unit) or any(desk.graded(unit))]
    found = [UnitStatus(desk, unit, rules, people, failures) for unit in known]
    yield f"{desk.folder}: " + (f"{len(people.people)} on the class list" if people else "no class list (roster.csv)")
    if rules.policy.per_day:
        yield f"Late: {'; '.join(_policy(rules.policy))}"
    for one in found:
        yield ""
        yield from one.lines(rules, people, now)
    students = {student for one in found for student in one.handed_in}
    yield from rules.unmatched(iter(students), people) if students or people else ()
    yield ""
    yield f"Next: {next_step(desk, found, rules, now)}"


def _policy(policy: Policy) -> list[str]:
    each = f", {policy.free_days_per_unit} for a unit" if policy.free_days_per_unit is not None else ""
    words = {
        f"{100 * policy.per_day:g} % of the points {policy.of} for each day that has begun": True,
        f"{100 * policy.at_most:g} % at most": policy.at_most < 1,
        f"{count(policy.grace.total_seconds() / 60, 'minute')} of grace": policy.grace,
        f"{count(policy.free_days, 'late day')} for the term{each}": policy.free_days,
    }
    return [said for said, is_so in words.items() if is_so]


def next_step(desk: Desk, found: list[UnitStatus], rules: Rules, now: datetime) -> str:
    """What to do next: the first thing that is not done, of the unit that is furthest behind."""
    command = desk.command("").strip()
    if begun := [one.steps(command) for one in found if one.handed_in or one.graded]:
        done = f"all is graded and written: '{command} report', '{command} return csv --output grades.csv'"
        return next((words for kind in zip(*begun) for words in kind if words), done)
    if due := [one for one in found if one.due and one.due > now]:
        return f"wait, {due[0].unit} is due {local(due[0].due, rules)}; then '{command} collect DOWNLOAD.zip'"
    return f"take what was handed in: '{command} collect DOWNLOAD.zip'"
