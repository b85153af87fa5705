"""The change that mends: a search over small changes of the wrong answer itself, and over single statements of right
ones. One that makes every case right is evidence of the place; it is never shown. Of two slips, one change mends a
part: it makes one of several results right, or the ordinary cases, or some cases; or it leaves a mistake that the
catalogue knows. Then a second one is looked for that mends the rest.
"""

import ast
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import numpy as np

from rnncourse.checks.cases import Asked, Candidate, of_mistake, quiet_observe
from rnncourse.checks.diagnosis import same
from rnncourse.checks.drive import Driver, Observation
from rnncourse.checks.exercise import Case, Misconception
from rnncourse.checks.faults import at_an_end, broken_properties, faults_of
from rnncourse.checks.program import definition, lines_of
from rnncourse.checks.slips import Change
from rnncourse.checks.slips.likelihood import ACCUSED, SUSPECTED
from rnncourse.checks.slips.text import Patch, Text
from rnncourse.checks.where.alignment import given_twice, mark_variables
from rnncourse.checks.where.inquiry import ALL, ORDINARY, Inquiry, OutOfTime, Scope

# The kinds of slips that make a relation.
_MADE_BY = {
    **dict.fromkeys(["time_reversed", "flipped", "reversed"], "direction"),
    **dict.fromkeys(
        ["first_step_lost", "last_step_lost", "one_more_behind", "one_more_before"], "bound, statement order"
    ),
    **dict.fromkeys(
        ["first_missing", "last_missing", "one_more_at_end", "one_more_at_start"], "bound, statement order"
    ),
    **dict.fromkeys(["one_step_late", "one_step_early"], "bound, statement order"),
    **dict.fromkeys(
        ["time_and_batch_exchanged", "transposed", "of_another_shape"], "transpose, axis, axis of an index"
    ),
    **dict.fromkeys(["times_size", "divided_by_size", "constant_factor", "row_factor"], "term removed, function, axis"),
    "sign": "sign, operator",
    "last_step_everywhere": "copy",
}
MOST_RIGHT = 4  # cases in which the answer is right, that are asked which lines they need


@dataclass(frozen=True)
class Cases:
    """No result is right in all cases, but so many cases are that were wrong; and in the first one so many entries."""

    right: int = 0
    entries: int = 0


@dataclass(frozen=True)
class Mend:
    """A change, and what is right with it that was wrong; or the mistake of the catalogue that is left. `needs` says
    what is done to its lines, `passed` are other lines that the change goes round.
    """

    change: Change
    scope: Scope | Misconception | Cases
    needs: str = "With one small change at {}"
    passed: tuple[int, ...] = ()

    @property
    def lines(self) -> tuple[int, ...]:
        """The lines that are changed."""
        return tuple(sorted(self.change.lines))


def likely(inquiry: Inquiry, first: Sequence[int], related: str) -> Iterator[Change]:
    """The small changes, likeliest first; of what stands in a relation to what it should be, those that make this.
    **Errors:** `OutOfTime`.

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
    times = dict.fromkeys(suspected, SUSPECTED) | dict.fromkeys({*first, *inquiry.accused}, ACCUSED)
    return inquiry.changes.likeliest(times=times, but=idle, kinds=_MADE_BY.get(related, "").split(", "))


def mending(inquiry: Inquiry, possible: Iterable[Change]) -> Iterator[Mend]:
    """Those that make right what is wrong, or a part of it. **Errors:** `OutOfTime`."""
    for change in possible:
        scope = _scope_of(inquiry, change)
        if scope is not None:
            yield Mend(change, scope)


def goes_round(inquiry: Inquiry, change: Change) -> tuple[int, ...]:
    """The lines that have no effect any more with a change that mends all: what is wrong may stand in them as well.
    **Errors:** `OutOfTime`.
    """
    mended, found = Text(change.source), set[int]()
    own = {ast.unparse(one): one for one in ast.walk(inquiry.text.tree) if isinstance(one, ast.stmt)}
    wrong = [one for one in inquiry.asked if one.is_wrong]
    for one in (n for n in ast.walk(mended.tree) if isinstance(n, ast.stmt) and n not in mended.tree.body):
        here = own.get(ast.unparse(one))
        if here is None or isinstance(one, (ast.Pass, ast.FunctionDef)):
            continue
        less, alone = (
            text.with_patches([Patch([n], [ast.Pass()])]) for text, n in ((mended, one), (inquiry.text, here))
        )
        if less and alone and mends(inquiry, less) and any(_differs(inquiry, o, alone) for o in wrong):
            found |= {n for inner in ast.walk(here) if isinstance(inner, ast.stmt) for n in lines_of(inner)}
    return tuple(sorted(found - set(change.lines)))


def mends(inquiry: Inquiry, source: str) -> bool:
    """Whether every case that was asked comes out right with a program. **Errors:** `OutOfTime`."""
    return all(all(right(inquiry, one, inquiry.tried(source, one))) for one, _ in inquiry.by_size)


def _differs(inquiry: Inquiry, one: Asked, source: str) -> bool:
    """Whether a program gives something else than the answer in a case, or what is right."""
    seen = inquiry.run(inquiry.completed(source), one.case).seen
    return not same(inquiry.exercise, one.seen, seen) or not faults_of(inquiry.exercise, one.case, one.wanted, seen)


def holds(inquiry: Inquiry, mend: Mend, one: Asked) -> bool:
    """Whether it is so in another case. **Errors:** `OutOfTime`."""
    if isinstance(mend.scope, Cases) or (mend.scope == ORDINARY and one.case.is_edge):
        return True
    seen = inquiry.run(mend.change.source, one.case).seen
    if isinstance(mend.scope, Misconception):
        exercise = inquiry.exercise
        return same(exercise, quiet_observe(mend.scope.answer, exercise.drive, one.case.args), seen, strict=True)
    return _is_within(mend.scope, one, inquiry.parts_right(one, seen))


def is_confirmed(inquiry: Inquiry, mend: Mend) -> bool:
    """Whether it is so on fresh draws too, and what mends all breaks no property that the exercise asks for; nor is it
    done by giving a variable another value at once, which another change does better.
    """
    trees = [definition(ast.parse(text), inquiry.program.name) for text in (inquiry.program.source, mend.change.source)]
    for tree in trees:
        mark_variables(tree)
    if given_twice(trees[1]) - given_twice(trees[0]):
        return False
    if not inquiry.confirms(lambda one: holds(inquiry, mend, one)):
        return False
    claim = broken(inquiry, mend.change.source) if mend.scope == ALL else ""
    return not claim or claim == broken(inquiry, inquiry.program.source)


def broken(inquiry: Inquiry, source: str) -> str:
    """Which property that the exercise asks for does not hold of a program; none, if the time does not suffice."""
    late: list[Observation] = []
    with suppress(OutOfTime), inquiry.trials.uncounted():
        for fault in broken_properties(inquiry.exercise, _made(inquiry, source, late), inquiry.draws.seed):
            return fault.claim if inquiry.until.left and not late else ""
    return ""


def wrong_at_an_end(inquiry: Inquiry, source: str) -> str:
    """What is said of a program that is right in all cases, but not at an end of a range; else nothing."""
    late: list[Observation] = []
    with suppress(OutOfTime), inquiry.trials.uncounted():
        if found := at_an_end(inquiry.exercise, _made(inquiry, source, late), inquiry.draws.seed):
            return "" if late else found[0].words
    return ""


def _made(inquiry: Inquiry, source: str, late: list[Observation]) -> Candidate:
    """A program as a candidate; what was stopped, since it took longer than a trial may, goes to `late`. **Errors:**
    `OutOfTime` when it is asked.
    """

    def observe(drive: Driver, args: tuple[Any, ...]) -> Observation:
        seen = inquiry.run(source, Case(args), drive).seen
        late.extend([seen] * seen.timed_out)
        return seen

    return SimpleNamespace(observe=observe)


def _is_within(scope: Scope, one: Asked, right: tuple[bool, ...]) -> bool:
    """Whether a case in which these results are right is one of those that a scope speaks of as it says."""
    if isinstance(scope, int):
        return right[scope]
    return all(right) or (scope == ORDINARY and one.case.is_edge)


def _scope_of(inquiry: Inquiry, change: Change) -> Scope | Misconception | Cases | None:
    """The most that is right with this change in all cases that were asked, and was wrong in one; None if that is
    nothing, or if something is wrong that was right. **Errors:** `OutOfTime`.
    """
    possible, left, more, entries = list(inquiry.scopes), None, 0, 0
    for number, (one, before) in enumerate(inquiry.by_size):
        seen = inquiry.tried(change.source, one)
        right = inquiry.right_entries(one, seen)
        after = inquiry.parts_right(one, seen) if _may_be_right(inquiry, right) else (False,)
        more += one.is_wrong and all(after)
        if not all(after):
            possible = [s for s in possible if _is_within(s, one, after)]
            if not number:
                left, entries = _left(inquiry, one, seen), gained(right, inquiry.right_before(one))
        if any(was and not now for was, now in zip(before, after, strict=True)) or not (possible or more or entries):
            return left if left and is_left(inquiry, change, left) else None
    return possible[0] if possible else Cases(more, entries)


def gained(now: np.ndarray | None, before: np.ndarray | None) -> int:
    """How many entries are right that were wrong; none, if one is wrong that was right."""
    if now is None:
        return 0
    if before is None:
        return int(now.sum())
    return 0 if now.size != before.size or (before & ~now).any() else int((now & ~before).sum())


def _left(inquiry: Inquiry, one: Asked, seen: Observation) -> Misconception | None:
    """The mistake of the catalogue that does in the first case what is seen there."""
    told = None if seen.error or seen.refused or seen.timed_out else inquiry.spelled(seen)
    return inquiry.mistakes.get(told) if told else None


def is_left(inquiry: Inquiry, change: Change, mistake: Misconception) -> bool:
    """Whether a mistake is all that is left in all cases. **Errors:** `OutOfTime`."""
    runs = ((one, inquiry.run(change.source, one.case).seen) for one, _ in inquiry.by_size)
    return all(
        same(inquiry.exercise, of_mistake(inquiry.exercise, mistake, one.case), seen, strict=True) for one, seen in runs
    )


def right(inquiry: Inquiry, one: Asked, seen: Observation) -> tuple[bool, ...]:
    """Which results are right in a case. Most changes leave an array of other numbers, which is seen at once."""
    return inquiry.parts_right(one, seen) if _may_be_right(inquiry, inquiry.right_entries(one, seen)) else (False,)


def _may_be_right(inquiry: Inquiry, entries: np.ndarray | None) -> bool:
    return entries is None or inquiry.results > 1 or bool(inquiry.exercise.facts) or bool(entries.all())
