"""The change that mends: a search over small changes of the wrong answer itself. One that makes every case right is
evidence of the place, and so are two that do so together; they are never shown.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rnncourse.checks.cases import Asked, canonical
from rnncourse.checks.compare import close_arrays, difference
from rnncourse.checks.drive import Observation
from rnncourse.checks.faults import facts_of
from rnncourse.checks.plain import arrays_in
from rnncourse.checks.slips import Change, changes
from rnncourse.checks.where.inquiry import Inquiry

ALL, ORDINARY = "all", "ordinary"  # what is right with it: every case, or those that are no edge cases

MOST_RIGHT = 4  # cases in which the answer is right, that are asked which lines they need
MOST_STEPS = 6  # from which a second change is looked for

Scope = str | int  # or the number of the one result that is right with it


@dataclass(frozen=True)
class Mend:
    """A change, of two the second, which has the first in it; and what is right with it that was wrong."""

    change: Change
    scope: Scope
    before: Change | None = None

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
    for change in changes(inquiry.program.source, first={*first, *suspected}, but=idle):
        scope, better = _tried(inquiry, change)
        if scope is not None:
            yield Mend(change, scope)
        if scope != ALL and better > 0:
            steps.append((better, change))


def mending_together(inquiry: Inquiry, steps: Sequence[Step]) -> Iterator[Mend]:
    """The pairs of changes that make every case right, of which the first does a part. **Errors:** `OutOfTime`."""
    count = len(inquiry.program.source.splitlines())
    for _, step in sorted(steps, key=lambda one: -one[0])[:MOST_STEPS]:
        if len(step.source.splitlines()) == count:  # so that a line has the same number in both
            for change in changes(step.source):
                if _tried(inquiry, change)[0] == ALL:
                    yield Mend(change, ALL, step)


def holds(inquiry: Inquiry, mend: Mend, one: Asked) -> bool:
    """Whether it is so in another case. **Errors:** `OutOfTime`."""
    return _is_within(mend.scope, one, inquiry.parts_right(one, _changed(inquiry, mend.change, one)))


def _is_within(scope: Scope, one: Asked, right: tuple[bool, ...]) -> bool:
    """Whether a case in which these results are right is one of those that a scope speaks of as it says."""
    if isinstance(scope, int):
        return right[scope]
    return all(right) or (scope == ORDINARY and one.case.is_edge)


def _changed(inquiry: Inquiry, change: Change, one: Asked) -> Observation:
    return inquiry.run(change.source, one.case).seen


def _tried(inquiry: Inquiry, change: Change) -> tuple[Scope | None, float]:
    """The most that is right with this change in all cases that were asked, and was wrong in one; None if that is
    nothing, or if something is wrong that was right. Then, how much better the answer is in those that were looked at.
    """
    better = 0.0
    rights = [before for _, before in inquiry.by_size]
    possible: list[Scope] = [ALL]
    if len({one.case.is_edge for one in inquiry.asked if one.is_wrong}) == 2:
        possible.append(ORDINARY)
    possible += [i for i in range(inquiry.results) if not all(before[i] for before in rights)]
    for one, before in inquiry.by_size:
        seen = _changed(inquiry, change, one)
        after = inquiry.parts_right(one, seen)
        if any(was and not now for was, now in zip(before, after, strict=True)):
            return None, 0.0
        if one.is_wrong:
            better += _quality(inquiry, one, seen, after) - _quality(inquiry, one, one.seen, before)
        if not all(after):
            possible = [s for s in possible if _is_within(s, one, after)]
        if not possible:
            return None, better
    return possible[0], better


def _quality(inquiry: Inquiry, one: Asked, seen: Observation, right: Sequence[bool]) -> float:
    """How good an answer is in one case: it raises nothing, it has the right form, some of it is right, or all."""
    if seen.error or seen.refused or seen.timed_out or all(right):
        return 3.0 * all(right)
    if inquiry.exercise.facts:
        facts = facts_of(inquiry.exercise, one.case, seen)
        return 2.0 + sum(fact.holds is True for fact in facts) / len(facts)
    wanted, got = (canonical(inquiry.exercise, o.answer) for o in (one.wanted, seen))
    found = difference(wanted, got, inquiry.exercise.gives)
    if found and found.kind not in ("dtype", "value"):
        return 1.0
    pairs = [(a, b) for a, b in zip(arrays_in(wanted), arrays_in(got), strict=False) if a.shape == b.shape and a.size]
    entries = [float(close_arrays(a, b).mean()) for a, b in pairs]
    return 2.0 + (sum(right) + sum(entries)) / (len(right) + len(entries))
