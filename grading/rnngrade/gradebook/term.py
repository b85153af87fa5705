"""The whole term as one number: what each student's units come to, by the weights and the rest of `desk.toml`'s [term].

As many units are dropped as the rules say, those with which the total is the highest that it can be, and one at least
is kept. What nobody's work is graded of yet is left out.

    total = 100 * (sum of weight * share, kept and extra) / (sum of weights, kept)
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import combinations

from rnngrade.core.desk import Desk
from rnngrade.core.errors import Failures
from rnngrade.gradebook.exporting import (
    GRADED,
    NOT_LISTED,
    NOTHING,
    UnitGrades,
    about,
    cell,
    number,
    read_grades,
    written,
)
from rnngrade.roster.rules import Rules, Term, rules_of
from rnngrade.roster.students import ClassList, Person, class_list

COLUMNS = ("dropped", "excused", "total", "waits_for_a_person", "status")  # of the table, after the units' shares


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
    **Errors:** those of `exporting.read_grades`.
    """
    rules, now = rules_of(desk), datetime.now(UTC)
    tables, people = read_grades(desk, units, listed, failures)
    for table in tables:
        if some := len(table.here.numbered):
            failures.add("the total", table.name, f"Waits, for {some} are known by number alone: collect with --names.")
    numbered = {student for table in tables for student in table.here.numbered}
    for person, student, is_listed in people:
        if student not in numbered:
            yield person, student, total_of(student or person.id, tables, rules, listed, now), is_listed


def export_total(desk: Desk, units: Sequence[str], failures: Failures, *, provisional: bool = False) -> str:
    """The term of all students as the text of a CSV file; the totals of those who wait for a person if `provisional`.

    **Errors:** those of `exporting.export`.
    """
    rules = rules_of(desk)
    if weightless := [name for name in rules.term.weights if name not in units and rules.term.weight(name)]:
        failures.add("the total", ", ".join(weightless), "Counts in the term, and nothing of it is graded.")
    columns = ["student", "last_name", "first_name", "email", "section", *units, *COLUMNS]
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
