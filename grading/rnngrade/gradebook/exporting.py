"""Export: the gradebook's points as CSV, for a spreadsheet, by unit, or the whole term as one number. What each column
says stands in grading/README.md.

Of those who wait for a person the total is provisional, and empty unless it is asked for. Who is not on the class list
stands at the end. A cell that begins with =, +, - or @ would be run by a spreadsheet; it gets an apostrophe before it.

The term is what each student's units come to, by the weights and the rest of `desk.toml`'s [term]. As many units are
dropped as the rules say, those with which the total is the highest that it can be, and one at least is kept. What
nobody's work is graded of yet is left out.

    total = 100 * (sum of weight * share, kept and extra) / (sum of weights, kept)
"""

import csv
import io
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import combinations

from rnncourse import exercises
from rnngrade.core.desk import Desk
from rnngrade.core.errors import DeskError, Failures
from rnngrade.core.words import count
from rnngrade.gradebook.door import is_there, opened
from rnngrade.gradebook.marks import Marks, read_marks
from rnngrade.roster.identity import Presence, presence
from rnngrade.roster.rules import Rules, Term, rules_of
from rnngrade.roster.students import ClassList, Person, by_name, class_list

WHO = ("student", "last_name", "first_name", "email", "unit")
COLUMNS = (  # after WHO and a column for each exercise
    *("written", "before_late", "days_late", "late_days", "late_penalty", "total", "max", "due", "handed_in", "status"),
    *("waits_for_a_person", "flags"),
)
TERM_COLUMNS = ("dropped", "excused", "total", "waits_for_a_person", "status")  # after the units' shares
GRADED, NOT_GRADED, NOTHING, NOT_LISTED = "graded", "not graded", "handed in nothing", "not on the class list"
NO_NOTEBOOK, NUMBERED, NOT_KNOWN = "handed in no notebook", "known by number alone", "not known"
_FORMULA = re.compile(r"\s*[=+\-@＝＋－＠]|[\t\r\n]")


@dataclass
class UnitGrades:
    """A unit as the gradebook has it, and who handed it in."""

    name: str
    exercises: list[str] = field(default_factory=list)
    max_points: float = 0.0
    grades: dict[str, Marks] = field(default_factory=dict)
    handed_in: frozenset[str] = frozenset()
    here: Presence = field(default_factory=Presence)


# Who stands in a table: what is known of them, their name on the desk or "", and whether they are on the class list.
Listed = tuple[Person, str, bool]


def export(desk: Desk, units: Sequence[str], failures: Failures, *, provisional: bool = False) -> str:
    """The grades of `units` as the text of a CSV file; the totals of those who wait for a person if `provisional`.

    Whose grades cannot be exported is put into `failures`, and left out. **Errors:** `DeskError` for a unit that is
    not there, and what is wrong in class list or rules.
    """
    rules, listed = rules_of(desk), class_list(desk)
    tables, people = read_grades(desk, units, listed, failures)
    names = list(dict.fromkeys(name for table in tables for name in table.exercises))
    return written([*WHO, *names, *COLUMNS], _rows(desk, tables, people, rules, failures, provisional))


def written(columns: Sequence[str], rows: Iterable[Mapping[str, str]]) -> str:
    """Rows as the text of a CSV file; what one does not have is empty."""
    text = io.StringIO()
    table = csv.DictWriter(text, columns, lineterminator="\r\n")
    table.writeheader()
    table.writerows(rows)
    return text.getvalue()


def about(person: Person) -> dict[str, str]:
    """Who it is, as a table has it."""
    return {"student": cell(person.id)} | {name: cell(getattr(person, name)) for name in WHO[1:4]}


def read_grades(
    desk: Desk, units: Sequence[str], listed: ClassList, failures: Failures
) -> tuple[list[UnitGrades], list[Listed]]:
    """What the gradebook has of these units, and of whom: all who are on the class list, by name, then who else handed
    something in. **Errors:** `DeskError` for a unit that it has not.
    """
    tables = [_unit(desk, unit, listed, failures) for unit in units]
    named = {}
    if is_there(desk):
        with opened(desk) as gradebook:
            for one in gradebook.students:
                named[one.id] = Person(one.id, one.first_name or "", one.last_name or "", one.email or "")
    students = {student for table in tables for student in (*table.grades, *table.handed_in)}
    unknown = listed.unknown(students)  # without a list, nobody
    people = [(listed.of(one) or named.get(one) or Person(one), one, one not in unknown) for one in students]
    people += [(person, "", True) for person in listed.absent(students)]
    return tables, sorted(people, key=lambda row: (not row[2], by_name(row[0]), row[1]))


def _unit(desk: Desk, unit: str, listed: ClassList, failures: Failures) -> UnitGrades:
    marks, graded = read_marks(desk, unit, failures), [*desk.graded(unit, failures)]
    if not marks and not graded:
        raise DeskError(f"The gradebook has no unit {unit!r}: nothing of it was graded.")
    grades = max((one.grades for one in marks.values()), key=len, default={})
    order = [f"check_{e.name}" for e in exercises.unit(unit)]
    checks = sorted(filter(_is_check, grades), key=lambda name: (name not in order, [*order, name].index(name)))
    most = sum(mark.most for mark in grades.values())
    handed_in, here = frozenset(desk.submissions(unit)), presence(desk, unit, listed)
    return UnitGrades(unit, [name.removeprefix("check_") for name in checks], most, marks, handed_in, here)


def _is_check(grade_id: str) -> bool:
    return grade_id.startswith("check_")


def _rows(
    desk: Desk, units: list[UnitGrades], people: list[Listed], rules: Rules, failures: Failures, provisional: bool
) -> Iterator[dict[str, str]]:
    for person, student, is_listed in people:
        for unit in units:
            row = about(person) | {"unit": unit.name, "max": number(unit.max_points)}
            if (grades := unit.grades.get(student)) is None:
                missing = NO_NOTEBOOK if person.id in unit.here.others else NOT_KNOWN if unit.here.numbered else NOTHING
                status = NOT_GRADED if student in unit.handed_in else missing
                if is_listed or status == NOT_GRADED:
                    yield row | {"status": status}
                continue
            with failures.of(student, unit.name):
                record, late = desk.record(unit.name, student), grades.late
                is_timed = late.due and late.handed_in
                yield row | {
                    **{name: number(grades.points(name)) for name in unit.exercises},
                    "written": number(sum(m.points or 0.0 for n, m in grades.grades.items() if not _is_check(n))),
                    "before_late": number(grades.before),
                    "days_late": str(late.days) if is_timed else "",
                    "late_days": str(late.free) if is_timed else "",
                    "late_penalty": number(grades.penalty),
                    "total": number(grades.total) if provisional or not grades.waits else "",
                    "due": local(late.due, rules),
                    "handed_in": local(late.handed_in, rules) or (late.words() if late.is_unclear else ""),
                    "status": NUMBERED if student in unit.here.numbered else GRADED if is_listed else NOT_LISTED,
                    "waits_for_a_person": "yes" if grades.waits else "no",
                    "flags": cell("; ".join(finding.message for finding in record.flags) if record else ""),
                }


@dataclass(frozen=True)
class Total:
    """A student's term: shares by unit, of those that count, and the total in percent, None if nothing counts yet."""

    shares: Mapping[str, float] = field(default_factory=dict)
    dropped: tuple[str, ...] = ()
    excused: tuple[str, ...] = ()
    percent: float | None = None
    waits: bool = False


def total(shares: Mapping[str, float], term: Term) -> tuple[float | None, tuple[str, ...]]:
    """The total in percent, and which units are dropped, of these shares by unit.

    >>> total({"01": 0.5, "02": 1.0, "03": 0.75}, Term(drop_lowest=1))
    (87.5, ('01',))
    >>> total({"01": 0.5, "02": 1.0, "13": 1.0}, Term({"13": 0.2}, extra_credit=frozenset({"13"})))
    (85.0, ())
    """
    asked = [unit for unit in shares if unit not in term.extra_credit and term.weight(unit) > 0]
    extra = sum(term.weight(unit) * shares[unit] for unit in shares if unit in term.extra_credit)
    best: tuple[float, tuple[str, ...]] | None = None
    for dropped in combinations(asked, max(0, min(term.drop_lowest, len(asked) - 1))):
        kept = [unit for unit in asked if unit not in dropped]
        weights = sum(map(term.weight, kept))
        if weights:
            found = 100 * (sum(term.weight(unit) * shares[unit] for unit in kept) + extra) / weights
            if best is None or found > best[0]:
                best = found, dropped
    return (None, ()) if best is None else (round(best[0], 2), best[1])


def total_of(student: str, units: Sequence[UnitGrades], rules: Rules, people: ClassList, now: datetime) -> Total:
    """A student's term, or that of somebody on the class list by their id."""
    names = people.names_of(student)
    excused_from = frozenset().union(*(rules.term.excused.get(name, frozenset()) for name in names))
    shares, excused, waits = {}, [], False
    for unit in units:
        if not unit.grades or not unit.max_points or not rules.term.weight(unit.name):
            continue
        grades, due = unit.grades.get(student), rules.due_for(unit.name, names)
        if unit.name in excused_from:
            excused.append(unit.name)
        elif grades is not None:
            shares[unit.name] = grades.total / unit.max_points
            waits = waits or grades.waits
        elif student in unit.handed_in or unit.here.numbered:
            waits = True
        elif (due is None or due < now) and unit.name not in rules.term.extra_credit:
            shares[unit.name] = 0.0
    percent, dropped = total(shares, rules.term)
    return Total(shares, dropped, tuple(excused), percent, waits)


def totals(
    desk: Desk, units: Sequence[str], listed: ClassList, failures: Failures
) -> Iterator[tuple[Person, str, Total, bool]]:
    """The term of everybody: who they are, their name on the desk, the total, and whether they are on the class list.

    Where some are known by number alone, it is put into `failures`: a number is of one assignment, and has no term.
    **Errors:** those of `read_grades`.
    """
    rules, now = rules_of(desk), datetime.now(UTC)
    tables, people = read_grades(desk, units, listed, failures)
    for table in tables:
        if numbered := table.here.numbered:
            who = count(len(numbered), "student is", "students are")
            failures.add("the total", table.name, f"Waits, for {who} known by number alone: collect with --names.")
    nameless = {student for table in tables for student in table.here.numbered}
    for person, student, is_listed in people:
        if student not in nameless:
            yield person, student, total_of(student or person.id, tables, rules, listed, now), is_listed


def export_total(desk: Desk, units: Sequence[str], failures: Failures, *, provisional: bool = False) -> str:
    """The term of all students as the text of a CSV file; the totals of those who wait for a person if `provisional`.

    **Errors:** those of `export`.
    """
    rules = rules_of(desk)
    if weightless := [name for name in rules.term.weights if name not in units and rules.term.weight(name)]:
        failures.add("the total", ", ".join(weightless), "Counts in the term, and nothing of it is graded.")
    columns = ["student", "last_name", "first_name", "email", "section", *units, *TERM_COLUMNS]
    rows = []
    for person, student, term, is_listed in totals(desk, units, class_list(desk), failures):
        shown = term.percent is not None and (provisional or not term.waits)
        shares = {unit: number(100 * share) for unit, share in term.shares.items()}
        rows.append({
            **about(person),
            **shares,
            "section": cell(person.section),
            "dropped": " ".join(term.dropped),
            "excused": " ".join(term.excused),
            "total": number(term.percent or 0.0) if shown else "",
            "waits_for_a_person": "yes" if term.waits else "no",
            "status": NOT_LISTED if not is_listed else GRADED if student else NOTHING,
        })  # fmt: skip
    return written(columns, rows)


def local(when: datetime | None, rules: Rules) -> str:
    """A moment on the class's clock, to the minute; nothing if it is not known.

    >>> local(datetime(2026, 11, 20, 22, 59, tzinfo=UTC), Rules()), local(None, Rules())
    ('2026-11-20 22:59', '')
    """
    return f"{when.astimezone(rules.zone or UTC):%Y-%m-%d %H:%M}" if when else ""


def number(value: float) -> str:
    """Points as people write them, in full, with a point.

    >>> number(2.0), number(10.2), number(1 / 3)
    ('2', '10.2', '0.3333')
    """
    return f"{round(value, 4):.4f}".rstrip("0").rstrip(".")


def cell(value: str) -> str:
    """Text that no spreadsheet takes for a formula, on one line, and that a file can hold.

    >>> cell("=1+1"), cell("Ada"), cell("-ada")
    ("'=1+1", 'Ada', "'-ada")
    """
    value = value.encode("utf-8", "replace").decode()  # half a surrogate
    return f"'{' '.join(value.split())}" if _FORMULA.match(value) else " ".join(value.split())
