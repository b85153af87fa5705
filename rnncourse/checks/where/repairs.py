"""The one change: a search over small changes of the wrong answer itself. One that makes every case right is evidence
of the place; it is never shown.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from rnncourse.checks.drive import Observation
from rnncourse.checks.where.changes import Change, changes, pairs
from rnncourse.checks.where.inquiry import Asked, Inquiry

ALL, ORDINARY = "all", "ordinary"  # what is right with it: every case, or those that are no edge cases

Scope = str | int  # or the number of the one result that is right with it


@dataclass(frozen=True)
class Mend:
    """A change, and what is right with it that was wrong."""

    change: Change
    scope: Scope


def mending(inquiry: Inquiry, first: Sequence[int]) -> Iterator[Mend]:
    """The changes that make right what is wrong, or a part of it, likeliest first. **Errors:** `OutOfTime`."""
    for change in changes(inquiry.program.source, first=first):
        if scope := scope_of(inquiry, _changed(inquiry, change)):
            yield Mend(change, scope)


def mending_together(inquiry: Inquiry, lines: Sequence[int]) -> Iterator[Mend]:
    """Two changes within these lines that make every case right together. **Errors:** `OutOfTime`."""
    for change in pairs(inquiry.program.source, lines):
        if scope_of(inquiry, _changed(inquiry, change)) == ALL:
            yield Mend(change, ALL)


def holds(inquiry: Inquiry, mend: Mend, one: Asked) -> bool:
    """Whether it is so in another case. **Errors:** `OutOfTime`."""
    return covers(inquiry, mend.scope, one, _changed(inquiry, mend.change)(one))


def _changed(inquiry: Inquiry, change: Change) -> Callable[[Asked], Observation]:
    return lambda one: inquiry.run(change.source, one.case).seen


def scope_of(
    inquiry: Inquiry, run: Callable[[Asked], Observation], *, values_only: bool = False, whole: bool = False
) -> Scope | None:
    """What is right in all cases that were asked if this is what comes out, and was wrong in one; None if that is
    nothing, or if something is wrong that was right. With `whole`, only every case counts.
    """
    before = inquiry.right_before(values_only)
    possible: set[Scope] = (
        {ALL} if whole else {ALL, ORDINARY, *(i for i in range(inquiry.results) if inquiry.is_wrong(i))}
    )
    for one in inquiry.by_size:
        after = inquiry.parts_right(one, run(one), values_only=values_only)
        if any(was and not now for was, now in zip(before[id(one)], after, strict=True)):
            return None
        if not all(after):
            possible &= {i for i, now in enumerate(after) if now} | ({ORDINARY} if one.case.is_edge else set())
        if not possible:
            return None
    if ORDINARY in possible and not inquiry.is_wrong_in_both_kinds:
        possible.discard(ORDINARY)
    return min(
        possible, key=lambda scope: [ALL, ORDINARY].index(scope) if isinstance(scope, str) else 2 + scope, default=None
    )


def covers(inquiry: Inquiry, scope: Scope, one: Asked, seen: Observation, *, values_only: bool = False) -> bool:
    """Whether what came out in a case is right, as far as the scope says that it is."""
    after = inquiry.parts_right(one, seen, values_only=values_only)
    if isinstance(scope, int):
        return scope < len(after) and after[scope]
    return all(after) or (scope == ORDINARY and one.case.is_edge)
