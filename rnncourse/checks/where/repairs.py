"""The change that mends: a search over small changes of the wrong answer itself. One that makes every case right is
evidence of the place; it is never shown. Of two slips, one change mends a part: it makes one of several results right,
or the ordinary cases; or it leaves a mistake that the catalogue knows. What is then left is looked for in the same way.
"""

import ast
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from rnncourse.checks.cases import Asked, canonical, of_mistake, quiet_observe
from rnncourse.checks.compare import close_arrays
from rnncourse.checks.diagnosis import same
from rnncourse.checks.drive import Observation
from rnncourse.checks.exercise import Misconception
from rnncourse.checks.plain import arrays_in
from rnncourse.checks.program import Program, lines_of
from rnncourse.checks.slips import Change, changes
from rnncourse.checks.where.inquiry import ALL, ORDINARY, Inquiry, Scope

MOST_RIGHT = 4  # cases in which the answer is right, that are asked which lines they need


@dataclass(frozen=True)
class Mend:
    """A change, and what is right with it that was wrong; or the mistake of the catalogue that is left. `needs` says
    what a student has to do there.
    """

    change: Change
    scope: Scope | Misconception
    needs: str = "with one small change there"

    @property
    def lines(self) -> tuple[int, ...]:
        """The lines that are changed."""
        return tuple(sorted(self.change.lines))


def mending(inquiry: Inquiry, first: Sequence[int], but: Collection[int] = ()) -> Iterator[Mend]:
    """The changes that make right what is wrong, or a part of it, likeliest first; none of the lines `but`. **Errors:**
    `OutOfTime`.

    A line that is not run in a case that is wrong has no part in what is wrong with it; one that is run in no case that
    is right is suspected.
    """
    (one, _), *_ = inquiry.by_size
    right = [other for other, _ in inquiry.by_size if not other.is_wrong][:MOST_RIGHT]
    ran, *others = (set(inquiry.trace(o.case).ran) for o in (one, *right))
    idle = inquiry.program.idle(ran) if ran else set()
    suspected = inquiry.program.idle(set.union(*others)) - idle if all(others) and others else set()
    tests = [n for n in ast.walk(inquiry.program.tree) if isinstance(n, (ast.If, ast.While))]
    if others:  # what is run in no case that is right, or in no case that is wrong, may hang on a wrong condition
        suspected |= {n for node in tests if node.body[0].lineno in suspected | idle for n in lines_of(node)}
    for change in changes(inquiry.program.source, first={*first, *suspected}, but=idle | set(but)):
        scope = _scope_of(inquiry, change)
        if scope is not None:
            yield Mend(change, scope)


def holds(inquiry: Inquiry, mend: Mend, one: Asked) -> bool:
    """Whether it is so in another case. **Errors:** `OutOfTime`."""
    if mend.scope == ORDINARY and one.case.is_edge:
        return True
    seen = inquiry.run(mend.change.source, one.case).seen
    if isinstance(mend.scope, Misconception):
        exercise = inquiry.exercise
        return same(exercise, quiet_observe(mend.scope.answer, exercise.drive, one.case.args), seen, strict=True)
    return _is_within(mend.scope, one, inquiry.parts_right(one, seen))


def _is_within(scope: Scope, one: Asked, right: tuple[bool, ...]) -> bool:
    """Whether a case in which these results are right is one of those that a scope speaks of as it says."""
    if isinstance(scope, int):
        return right[scope]
    return all(right) or (scope == ORDINARY and one.case.is_edge)


def _scope_of(inquiry: Inquiry, change: Change) -> Scope | Misconception | None:
    """The most that is right with this change in all cases that were asked, and was wrong in one; None if that is
    nothing, or if something is wrong that was right. **Errors:** `OutOfTime`.
    """
    possible, left = list(inquiry.scopes), None
    for number, (one, before) in enumerate(inquiry.by_size):
        seen = inquiry.preview(change.source, one) or inquiry.run(change.source, one.case).seen
        after = _right(inquiry, one, seen)
        if not all(after):
            possible = [s for s in possible if _is_within(s, one, after)]
            left = left if number else _left(inquiry, one, seen)
        if not possible or any(was and not now for was, now in zip(before, after, strict=True)):
            return left if left and _is_left(inquiry, change, left) else None
    return possible[0]


def _left(inquiry: Inquiry, one: Asked, seen: Observation) -> Misconception | None:
    """The mistake of the catalogue that does in the first case what is seen there."""
    told = None if seen.error or seen.refused or seen.timed_out else inquiry.spelled(seen)
    return inquiry.mistakes.get(told) if told else None


def _is_left(inquiry: Inquiry, change: Change, mistake: Misconception) -> bool:
    """Whether a mistake is all that is left in all cases."""
    runs = ((one, inquiry.run(change.source, one.case).seen) for one, _ in inquiry.by_size)
    return all(
        same(inquiry.exercise, of_mistake(inquiry.exercise, mistake, one.case), seen, strict=True) for one, seen in runs
    )


def _right(inquiry: Inquiry, one: Asked, seen: Observation) -> tuple[bool, ...]:
    """Which results are right in a case. Most changes leave an array of other numbers, which is seen at once."""
    fails = seen.error or seen.refused or seen.timed_out or one.wanted.error
    if not fails and inquiry.results == 1 and not inquiry.exercise.facts:
        wanted, got = arrays_in(inquiry.wanted(one)), arrays_in(canonical(inquiry.exercise, seen.answer))
        alike = [(a, b) for a, b in zip(wanted, got, strict=False) if a.shape == b.shape]
        if len(wanted) == len(got) and not all(close_arrays(a, b).all() for a, b in alike):
            return (False,)
    return inquiry.parts_right(one, seen)


# --- two changes


@dataclass(frozen=True)
class Pair:
    """A change that mends a part, and one of other lines that mends the rest: its `lines` are those of the answer."""

    first: Mend
    second: Mend
    lines: tuple[int, ...]


def completing(inquiry: Inquiry, part: Mend) -> Iterator[Pair]:
    """The pairs of which this is the first. **Errors:** `OutOfTime`."""
    old, new = (text.splitlines() for text in (inquiry.program.source, part.change.source))
    lines: dict[int, int] = {}  # of the changed program those that are as they were
    for i, j, size in SequenceMatcher(None, old, new, autojunk=False).get_matching_blocks():
        lines |= {j + k + 1: i + k + 1 for k in range(size)}
    other = inquiry.after(Program(inquiry.program.name, part.change.source))
    for mend in mending(other, [], but=[n for n in range(1, len(new) + 1) if n not in lines]):
        if mend.scope == ALL and all(n in lines for n in mend.lines):
            yield Pair(part, mend, tuple(lines[n] for n in mend.lines))
