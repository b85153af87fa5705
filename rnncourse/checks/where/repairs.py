"""The change that mends: a search over small changes of the wrong answer itself. One that makes every case right is
evidence of the place; it is never shown.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rnncourse.checks.cases import Asked, canonical
from rnncourse.checks.compare import close_arrays
from rnncourse.checks.drive import Observation
from rnncourse.checks.plain import arrays_in
from rnncourse.checks.program import lines_of
from rnncourse.checks.slips import Change, changes
from rnncourse.checks.where.inquiry import ORDINARY, Inquiry, Scope

MOST_RIGHT = 4  # cases in which the answer is right, that are asked which lines they need


@dataclass(frozen=True)
class Mend:
    """A change, and what is right with it that was wrong."""

    change: Change
    scope: Scope

    @property
    def lines(self) -> tuple[int, ...]:
        """The lines that are changed."""
        return tuple(sorted(self.change.lines))


def mending(inquiry: Inquiry, first: Sequence[int]) -> Iterator[Mend]:
    """The changes that make right what is wrong, or a part of it, likeliest first. **Errors:** `OutOfTime`.

    A line that is not run in a case that is wrong has no part in what is wrong with it; one that is run in no case that
    is right is suspected.
    """
    (one, _), *_ = inquiry.by_size
    right = [other for other, _ in inquiry.by_size if not other.is_wrong][:MOST_RIGHT]
    ran, *others = (set(inquiry.run(inquiry.program.watching(), o.case).ran) for o in (one, *right))
    idle = inquiry.program.idle(ran) if ran else set()
    suspected = inquiry.program.idle(set.union(*others)) - idle if all(others) and others else set()
    tests = [n for n in ast.walk(inquiry.program.tree) if isinstance(n, (ast.If, ast.While))]
    if others:  # what is run in no case that is right, or in no case that is wrong, may hang on a wrong condition
        suspected |= {n for node in tests if node.body[0].lineno in suspected | idle for n in lines_of(node)}
    for change in changes(inquiry.program.source, first={*first, *suspected}, but=idle):
        scope = _scope_of(inquiry, change)
        if scope is not None:
            yield Mend(change, scope)


def holds(inquiry: Inquiry, mend: Mend, one: Asked) -> bool:
    """Whether it is so in another case. **Errors:** `OutOfTime`."""
    seen = inquiry.run(mend.change.source, one.case).seen
    return _is_within(mend.scope, one, inquiry.parts_right(one, seen))


def _is_within(scope: Scope, one: Asked, right: tuple[bool, ...]) -> bool:
    """Whether a case in which these results are right is one of those that a scope speaks of as it says."""
    if isinstance(scope, int):
        return right[scope]
    return all(right) or (scope == ORDINARY and one.case.is_edge)


def _scope_of(inquiry: Inquiry, change: Change) -> Scope | None:
    """The most that is right with this change in all cases that were asked, and was wrong in one; None if that is
    nothing, or if something is wrong that was right. **Errors:** `OutOfTime`.
    """
    possible = list(inquiry.scopes)
    for one, before in inquiry.by_size:
        seen = inquiry.preview(change.source, one) or inquiry.run(change.source, one.case).seen
        after = _right(inquiry, one, seen)
        if any(was and not now for was, now in zip(before, after, strict=True)):
            return None
        if not all(after):
            possible = [s for s in possible if _is_within(s, one, after)]
        if not possible:
            return None
    return possible[0]


def _right(inquiry: Inquiry, one: Asked, seen: Observation) -> tuple[bool, ...]:
    """Which results are right in a case. Most changes leave an array of other numbers, which is seen at once."""
    fails = seen.error or seen.refused or seen.timed_out or one.wanted.error
    if not fails and inquiry.results == 1 and not inquiry.exercise.facts:
        wanted, got = arrays_in(inquiry.wanted(one)), arrays_in(canonical(inquiry.exercise, seen.answer))
        alike = [(a, b) for a, b in zip(wanted, got, strict=False) if a.shape == b.shape]
        if len(wanted) == len(got) and not all(close_arrays(a, b).all() for a, b in alike):
            return (False,)
    return inquiry.parts_right(one, seen)
