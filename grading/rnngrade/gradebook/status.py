"""Where a class stands: what is there of each unit, when it is due, who is late, and what to do next.

Reads what lies in the desk, grades nothing and changes nothing.
"""

from collections.abc import Iterator
from datetime import UTC, datetime

from rnncourse import exercises
from rnngrade.core.desk import Desk
from rnngrade.core.errors import DeskError, Failures, some
from rnngrade.gradebook.exporting import local
from rnngrade.gradebook.marks import is_current, read_marks
from rnngrade.grading.bundle import Bundle
from rnngrade.roster.identity import Presence, presence
from rnngrade.roster.rules import Rules, rules_of
from rnngrade.roster.students import ClassList, class_list, natural
from rnngrade.roster.times import lateness_of

VERSIONS = {
    "unit": "the unit",
    "library": "what it imports",
    "checks": "its checks",
    "environment": "Python or its packages",
}


class UnitStatus:
    """What there is of a unit. Of whom it cannot be told is put into `failures`. **Errors:** `DeskError`."""

    def __init__(self, desk: Desk, unit: str, rules: Rules, people: ClassList, failures: Failures) -> None:
        self.unit, self.due, self.handed_in = unit, rules.due.get(unit), list(desk.submissions(unit))
        records = {record.student: record for record in desk.graded(unit)}
        self.graded = list(records)
        self.stale = list[str]()  # graded, and handed in again since, or the unit was changed
        self.changed = set[str]()  # what of the unit was changed since, in words
        self.without_feedback = list[str]()
        marks = read_marks(desk, unit, failures, tells_missing=False) if records else {}
        self.not_entered = [student for student in records if student not in marks]
        self.to_mark = sum(mark.waits for who in records.keys() & marks for mark in marks[who].grades.values())
        now = _versions(desk, unit) if records else {}
        for student, record in records.items():
            others = {
                words for name, words in VERSIONS.items() if now and record.versions.get(name, now[name]) != now[name]
            }
            self.changed |= others
            if others or desk.is_newer(record):
                self.stale.append(student)
            if student not in marks or not is_current(desk.page_path(unit, student), record, marks[student]):
                self.without_feedback.append(student)
        # whose work is to be graded, for the first time or again
        self.to_grade = sorted({*self.handed_in} - {*self.graded} | {*self.stale, *self.not_entered})
        late = lateness_of(desk, unit, failures, self.handed_in, rules=rules, people=people)
        self.late = {who: one for who, one in late.items() if one.days or one.is_unclear}
        self.without_time = [
            who for who in sorted(late.keys() - self.late) if late[who].due and late[who].handed_in is None
        ]
        self.extended = dict[str, datetime]()
        for student in [*self.handed_in, *(person.id for person in people.absent(self.handed_in))]:
            later = rules.due_for(unit, people.names_of(student))
            if self.due and later and later > self.due:
                self.extended[student] = later
        self.here = presence(desk, unit, people) if people and self.handed_in else Presence()


def _versions(desk: Desk, unit: str) -> dict[str, str]:
    """Of what versions a unit is now; nothing if it is not built."""
    try:
        return dict(Bundle.make(desk.root, unit).versions)
    except DeskError:
        return {}


def lines(desk: Desk, failures: Failures, now: datetime | None = None) -> Iterator[str]:
    """The status of a class, as text. Of whom it cannot be told is put into `failures`. **Errors:** `DeskError`."""
    now = now or datetime.now(UTC)
    rules, people = rules_of(desk), class_list(desk)
    known = [unit for unit in exercises.STEMS if unit in rules.due or desk.submissions(unit) or any(desk.graded(unit))]
    found = [UnitStatus(desk, unit, rules, people, failures) for unit in known]
    yield f"{desk.folder}: " + (f"{len(people.people)} on the class list" if people else "no class list (roster.csv)")
    if policy := _policy(rules):
        yield f"Late: {policy}"
    for one in found:
        yield ""
        yield from _unit_lines(one, rules, people, now)
    students = {student for one in found for student in one.handed_in}
    yield from rules.unmatched(iter(students), people) if students or people else ()
    yield ""
    yield f"Next: {next_step(desk, found, rules, now)}"


def _policy(rules: Rules) -> str:
    """The late policy in words; nothing if being late costs nothing."""
    policy = rules.policy
    if not policy.per_day:
        return ""
    words = [f"{100 * policy.per_day:g} % of the points {policy.of} for each day that has begun"]
    if policy.at_most < 1:
        words.append(f"{100 * policy.at_most:g} % at most")
    if policy.grace:
        words.append(f"{policy.grace.total_seconds() / 60:g} minutes of grace")
    if policy.free_days:
        each = f", {policy.free_days_per_unit} for a unit" if policy.free_days_per_unit is not None else ""
        days = f"{policy.free_days} late day{'s' if policy.free_days > 1 else ''}"
        words.append(f"{days} for the term{each}")
    return "; ".join(words)


def _unit_lines(one: UnitStatus, rules: Rules, people: ClassList, now: datetime) -> Iterator[str]:
    yield one.unit + (f", {'was' if one.due <= now else 'is'} due {local(one.due, rules)}" if one.due else "")
    counts = {
        f"{len(one.handed_in)} handed in, {len(one.graded)} graded": True,
        f"{len(one.to_grade)} to grade": one.to_grade,
        f"grades are old: {', '.join(sorted(one.changed))} changed since": one.changed,
        f"{len(one.not_entered)} not in the gradebook as graded": one.not_entered,
        f"{one.to_mark} to mark by hand": one.to_mark,
        f"{len(one.without_feedback)} without feedback that says what is so now": one.without_feedback,
    }
    yield f"  {', '.join(words for words, is_so in counts.items() if is_so)}"
    if one.late:
        yield f"  late: {some([f'{who} ({one.late[who].words()})' for who in sorted(one.late, key=natural)])}"
    if one.extended:
        later = [f"{who} to {local(one.extended[who], rules)}" for who in sorted(one.extended, key=natural)]
        yield f"  extended: {some(later)}"
    if one.without_time:
        yield f"  not known when it came, and taken to be in time: {some(one.without_time)}"
    yield from (f"  {words}" for words in one.here.lines(people, most=8))


def next_step(desk: Desk, found: list[UnitStatus], rules: Rules, now: datetime) -> str:
    """What to do next: the first thing that is not done, of the unit that is furthest behind."""
    command = desk.command("").strip()
    begun = [one for one in found if one.handed_in or one.graded]
    if not begun:
        if due := [one for one in found if one.due and one.due > now]:
            return f"wait, {due[0].unit} is due {local(due[0].due, rules)}; then '{command} collect DOWNLOAD.zip'"
        return f"take what was handed in: '{command} collect DOWNLOAD.zip'"

    def steps(one: UnitStatus) -> Iterator[str]:
        of, number = one.unit, one.unit[:2]
        is_unclear = one.without_time or any(late.is_unclear for late in one.late.values())
        yield f"grade {len(one.to_grade)} of {of}: '{command} run {number}'" if one.to_grade else ""
        yield f"say when {of} was handed in: '{command} times FILE --unit {number}', or go on" if is_unclear else ""
        answers = f"{one.to_mark} answer{'s' if one.to_mark > 1 else ''}"
        yield f"mark {answers} of {of} by hand: '{command} mark {number}'" if one.to_mark else ""
        yield f"write the feedback on {of}: '{command} feedback {number}'" if one.without_feedback else ""

    done = f"all is graded and written: '{command} report', '{command} return csv --output grades.csv'"
    return next((words for kind in zip(*map(steps, begun)) for words in kind if words), done)
