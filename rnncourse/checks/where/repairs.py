"""The change that mends: a search over small changes of the wrong answer itself. One that makes every case right is
evidence of the place, and so are two that do so together; they are never shown. One with which the answer gives what a
mistake of the catalogue gives is evidence of both: of that mistake, and of the place of something else.
"""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from rnncourse.checks.cases import Asked, canonical
from rnncourse.checks.compare import close_arrays, difference
from rnncourse.checks.diagnosis import same
from rnncourse.checks.drive import Observation
from rnncourse.checks.exercise import Misconception
from rnncourse.checks.faults import facts_of
from rnncourse.checks.plain import arrays_in
from rnncourse.checks.program import lines_of
from rnncourse.checks.slips import Change, changes
from rnncourse.checks.where.inquiry import ALL, ORDINARY, Inquiry, Scope

MOST_RIGHT = 4  # cases in which the answer is right, that are asked which lines they need
MOST_STEPS = 6  # from which a second change is looked for
# Changes that take nothing away: others may hide what is wrong there, and be it by making it a known mistake.
_GAINING = (
    *("argument order", "axis", "copy", "dtype", "function order", "grouping", "keepdims", "operand order"),
    *("order of indices", "order of values", "power", "transpose"),
)


@dataclass(frozen=True)
class Mend:
    """A change, of two the second, which has the first in it; and what is right with it that was wrong, but for what
    a mistake of the catalogue makes wrong.
    """

    change: Change
    scope: Scope
    before: Change | None = None
    beside: Misconception | None = None

    @property
    def lines(self) -> tuple[int, ...]:
        """The lines that are changed."""
        return tuple(sorted({*self.change.lines, *(self.before.lines if self.before else ())}))


Step = tuple[float, Change]  # a change that mends nothing, and how much better the answer is with it


def mending(inquiry: Inquiry, first: Sequence[int], steps: list[Step]) -> Iterator[Mend]:
    """The changes that make right what is wrong, or a part of it, likeliest first. **Errors:** `OutOfTime`.

    Those with which the answer is better, and not yet all right, are put into `steps`. A line that is not run in a case
    that is wrong has no part in what is wrong with it; one that is run in no case that is right is suspected.
    """
    (one, _), *_ = inquiry.by_size
    right = [other for other, _ in inquiry.by_size if not other.is_wrong][:MOST_RIGHT]
    ran, *others = (set(inquiry.run(inquiry.program.watching(), o.case).ran) for o in (one, *right))
    idle = inquiry.program.idle(ran) if ran else set()
    suspected = inquiry.program.idle(set.union(*others)) - idle if all(others) and others else set()
    tests = [n for n in ast.walk(inquiry.program.tree) if isinstance(n, (ast.If, ast.While))]
    if others:  # what is run in no case that is right, or in no case that is wrong, may hang on a wrong condition
        suspected |= {n for node in tests if node.body[0].lineno in suspected | idle for n in lines_of(node)}
    in_tests = {n for node in tests for n in lines_of(node)}
    for change in changes(inquiry.program.source, first={*first, *suspected}, but=idle):
        tried = _tried(inquiry, change, alone=bool(in_tests & {*change.lines}) or not _takes_nothing(inquiry, change))
        if tried.scope is not None:
            yield Mend(change, tried.scope, beside=tried.beside)
        if tried.scope != ALL and tried.better > 0:
            steps.append((tried.better, change))


def _takes_nothing(inquiry: Inquiry, change: Change) -> bool:
    """Whether a change takes nothing away from an answer, as one that adds a name that it had no use for."""
    if change.kind != "term added":
        return change.kind in _GAINING
    before, after = (Counter(re.findall(r"\w+", text)) for text in (inquiry.program.source, change.source))
    return any(before[name] == 1 for name in after - before)


def mending_together(inquiry: Inquiry, steps: Sequence[Step]) -> Iterator[Mend]:
    """The pairs of changes that make every case right, of which the first does a part. **Errors:** `OutOfTime`."""
    count = len(inquiry.program.source.splitlines())
    for _, step in sorted(steps, key=lambda one: -one[0])[:MOST_STEPS]:
        if len(step.source.splitlines()) == count:  # so that a line has the same number in both
            for change in changes(step.source):
                if _tried(inquiry, change, alone=True).scope == ALL:
                    yield Mend(change, ALL, step)


def holds(inquiry: Inquiry, mend: Mend, one: Asked) -> bool:
    """Whether it is so in another case. **Errors:** `OutOfTime`."""
    seen = inquiry.run(mend.change.source, one.case).seen
    if mend.beside:
        return same(inquiry.exercise, inquiry.of_mistake(mend.beside, one), seen, strict=True)
    return _is_within(mend.scope, one, inquiry.parts_right(one, seen))


def _is_within(scope: Scope, one: Asked, right: tuple[bool, ...]) -> bool:
    """Whether a case in which these results are right is one of those that a scope speaks of as it says."""
    if isinstance(scope, int):
        return right[scope]
    return all(right) or (scope == ORDINARY and one.case.is_edge)


@dataclass(frozen=True)
class Tried:
    """What came of a change: the most that is right with it in all cases that were asked, and was wrong in one; None if
    that is nothing, or if something is wrong that was right. Then, how much better the answer is in those that were
    looked at, and the mistake that is left.
    """

    scope: Scope | None = None
    better: float = 0.0
    beside: Misconception | None = None


def _tried(inquiry: Inquiry, change: Change, *, alone: bool = False) -> Tried:
    """`alone`: it has to leave no mistake of the catalogue."""
    better = 0.0
    possible = list(inquiry.scopes)
    beside: list[Misconception] = []
    for number, (one, before) in enumerate(inquiry.by_size):
        seen = inquiry.preview(change.source, one) if possible and not beside else None
        if seen is None:
            seen = inquiry.run(change.source, one.case).seen
        after, quality = _judged(inquiry, one, seen)
        if number == 0 and not alone and not all(after):
            beside = inquiry.mistakes_with(one, seen)
        elif beside:
            beside = [m for m in beside if same(inquiry.exercise, inquiry.of_mistake(m, one), seen, strict=True)]
        if any(was and not now for was, now in zip(before, after, strict=True)):
            possible, better = [], -np.inf
        if one.is_wrong:
            better += quality - inquiry.quality_before(one, _judged)
        if not all(after):
            possible = [s for s in possible if _is_within(s, one, after)]
        if not possible and not beside:
            return Tried(better=better)
    return Tried(possible[0], better) if possible else Tried(ALL, better, beside[0])


def _judged(inquiry: Inquiry, one: Asked, seen: Observation) -> tuple[tuple[bool, ...], float]:
    """Which results are right in one case; and how good the answer is: it raises nothing, it has the right form, some
    of it is right, or all.
    """
    none = (False,) * inquiry.results
    exercise = inquiry.exercise
    if (seen.error or seen.refused or seen.timed_out) and not one.wanted.error:
        return none, 0.0
    if exercise.facts or one.wanted.error:
        right = inquiry.parts_right(one, seen)
        if all(right) or not exercise.facts:
            return right, 3.0 * all(right)
        facts = facts_of(exercise, one.case, seen)
        return right, 2.0 + sum(fact.holds is True for fact in facts) / len(facts)
    wanted, got = inquiry.wanted(one), canonical(exercise, seen.answer)
    pairs = list(zip(arrays_in(wanted), arrays_in(got), strict=False))
    is_alike = len(arrays_in(wanted)) == len(arrays_in(got)) and all(a.shape == b.shape for a, b in pairs)
    entries = [float(close_arrays(a, b).mean()) for a, b in pairs if a.shape == b.shape and a.size]
    if inquiry.results == 1 and is_alike and entries and min(entries) < 1:  # as most changes leave it
        return none, 2.0 + sum(entries) / (1 + len(entries))
    right = inquiry.parts_right(one, seen)
    if all(right):
        return right, 3.0
    found = difference(wanted, got, exercise.gives)
    if found and found.kind not in ("dtype", "value"):
        return right, 1.0
    return right, 2.0 + (sum(right) + sum(entries)) / (len(right) + len(entries))
