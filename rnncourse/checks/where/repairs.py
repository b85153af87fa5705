"""The one change: a search over small changes of the wrong answer itself. One that makes every case right is evidence
of the place; it is never shown.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rnncourse.checks.cases import Asked
from rnncourse.checks.drive import Observation
from rnncourse.checks.slips import Change, changes
from rnncourse.checks.where.inquiry import Inquiry

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
        if scope := _scope(inquiry, change):
            yield Mend(change, scope)


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


def _scope(inquiry: Inquiry, change: Change) -> Scope | None:
    """The most that is right with this change in all cases that were asked, and was wrong in one; None if that is
    nothing, or if something is wrong that was right.
    """
    rights = [before for _, before in inquiry.by_size]
    possible: list[Scope] = [ALL]
    if len({one.case.is_edge for one in inquiry.asked if one.is_wrong}) == 2:
        possible.append(ORDINARY)
    possible += [i for i in range(inquiry.results) if not all(before[i] for before in rights)]
    for one, before in inquiry.by_size:
        after = inquiry.parts_right(one, _changed(inquiry, change, one))
        if any(was and not now for was, now in zip(before, after, strict=True)):
            return None
        if not all(after):
            possible = [s for s in possible if _is_within(s, one, after)]
        if not possible:
            return None
    return possible[0]
