"""Two slips at once. A change that mends a part says where one of them is. What is left then is a program with one
slip: the catalogue knows its name, or it is searched as any other. Where no change mends a part, any two are tried.
"""

import ast
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import chain

from rnncourse.checks.cases import of_mistake
from rnncourse.checks.diagnosis import has_parts, same
from rnncourse.checks.exercise import Misconception
from rnncourse.checks.merge import changes, merged
from rnncourse.checks.program import definition
from rnncourse.checks.slips import Change
from rnncourse.checks.slips.likelihood import ACCUSED
from rnncourse.checks.where import properties, repairs
from rnncourse.checks.where.alignment import leaves_unread, mark_variables
from rnncourse.checks.where.borrowing import Borrower, Loan
from rnncourse.checks.where.inquiry import ALL, Inquiry, OutOfTime
from rnncourse.checks.where.repairs import Cases, Mend

MOST_FIRST = 6  # changes that mend a part, and of which a second one is asked to mend the rest
TRIALS_MORE = 600.0  # to look for two other changes, when two are found


@dataclass(frozen=True)
class Pair:
    """Two changes of different lines that mend together; `source` is the program with both."""

    first: Mend
    second: Change
    source: str

    @property
    def both(self) -> Mend:
        """The two as one."""
        return Mend(Change("", (*self.first.lines, *self.second.lines), None, self.source), ALL)


@dataclass(frozen=True)
class Two:
    """Two changes that mend together, and of each the mistake that it mends, if that is known."""

    pair: Pair
    mistakes: tuple[Misconception | None, Misconception | None]

    @property
    def named(self) -> list[str]:
        """The names of those that are known."""
        return [one.name for one in self.mistakes if one]


def find(inquiry: Inquiry, borrowed: Sequence[Change], mends: Iterable[Mend], besides: str | None) -> Two | None:
    """The first two that are confirmed; none, if an answer is one number and two of other lines make it right too; none
    either, if all values are right: what is written to an argument is one slip.
    """
    if all(all(inquiry.equal_parts(one, one.seen)) for one in inquiry.asked if one.is_wrong):
        return None
    parts: dict[object, Mend] = {}
    with suppress(OutOfTime), inquiry.trials.at_most(inquiry.trials.left / 3):
        for part in chain(mends, repairs.mending(inquiry, borrowed)):
            parts.setdefault((part.scope, part.lines), part)
    first = sorted((part for part in parts.values() if part.scope != ALL), key=_promise)[:MOST_FIRST]
    ways = [*(completing(inquiry, part) for part in first), of_any(inquiry)]
    for number, way in enumerate(ways):
        with suppress(OutOfTime), inquiry.trials.at_most(inquiry.trials.left / (len(ways) - number)):
            for pair in _confirmed(inquiry, way):
                if two := _named(inquiry, pair, besides):
                    is_number = not has_parts(one.wanted for one in inquiry.asked)
                    return None if is_number and _has_other_lines(inquiry, pair, way) else two
    return None


def _promise(part: Mend) -> tuple[int, ...]:
    """What a change that mends a part is worth, the least for the best."""
    if isinstance(part.scope, Cases):
        return 2, -part.scope.right, -part.scope.entries
    return 0 if isinstance(part.scope, Misconception) else 1, 0


def completing(inquiry: Inquiry, part: Mend) -> Iterator[Pair]:
    """The pairs of which this is the first: what mends the program that is left. **Errors:** `OutOfTime`."""
    rest = inquiry.with_change(part.change)
    if rest is None:
        return
    borrowed = sorted(Borrower(rest).changes(), key=lambda change: rest.accused.isdisjoint(change.lines))
    for change in chain(borrowed, rest.changes.likeliest(times=dict.fromkeys(rest.accused, ACCUSED))):
        is_free = set(change.lines).isdisjoint(part.lines)
        if is_free and repairs.mends(rest, change.source) and (change.kind or not _passes_by(rest, change.source)):
            before, after = (changes(rest.program.source, text) for text in (inquiry.program.source, change.source))
            if alone := merged(before, after, rest.program.source):
                second = Change(change.kind, change.lines, change.part, alone)
                yield from _pair(inquiry, part, second, change.source)


def of_any(inquiry: Inquiry) -> Iterator[Pair]:
    """The pairs of any two small changes, the likeliest first. **Errors:** `OutOfTime`."""
    before = list[Change]()
    for change in inquiry.changes.likeliest():
        for other in before:
            source = inquiry.with_both(other, change) if set(change.lines).isdisjoint(other.lines) else None
            if source and repairs.mends(inquiry, source) and not _passes_by(inquiry, source):
                yield from _pair(inquiry, Mend(other, Cases()), change, source)
        before.append(change)


def _pair(inquiry: Inquiry, first: Mend, second: Change, source: str) -> Iterator[Pair]:
    """Two changes that mend together, if neither of them does alone."""
    if all(any(one.is_wrong for one in inquiry.after(change)) for change in (first.change, second)):
        yield Pair(first, second, source)


def _passes_by(inquiry: Inquiry, source: str) -> bool:
    """Whether a mended program gives a variable a value that is not read any more."""
    texts = (inquiry.program.source, source)
    before, after = (definition(ast.parse(text), inquiry.program.name) for text in texts)
    mark_variables(before)
    mark_variables(after)
    return leaves_unread(before, after)


def _confirmed(inquiry: Inquiry, pairs: Iterable[Pair]) -> Iterator[Pair]:
    return (pair for pair in pairs if repairs.is_confirmed(inquiry, pair.both))


def _has_other_lines(inquiry: Inquiry, first: Pair, others: Iterable[Pair]) -> bool:
    with suppress(OutOfTime), inquiry.trials.at_most(TRIALS_MORE):
        return any(pair.both.lines != first.both.lines for pair in _confirmed(inquiry, others))
    return False


def _named(inquiry: Inquiry, pair: Pair, besides: str | None) -> Two | None:
    """Two changes with the names of what they mend; None, if one of them mends what the other has brought in."""
    second, first = (_left(inquiry, change, besides) for change in (pair.first.change, pair.second))
    if first and first is second:  # neither of the two mends it
        return None
    left = [Mend(change, one) for change, one in ((pair.first.change, second), (pair.second, first)) if one]
    return Two(pair, (first, second)) if all(_may_be_so(inquiry, mend) for mend in left) else None


def of_loan(inquiry: Inquiry, loan: Loan, besides: str | None) -> Two | None:
    """What is borrowed at two places, as two slips of which one has a name."""
    if not loan.two:
        return None
    with suppress(OutOfTime), inquiry.trials.uncounted():
        first, second = loan.two
        two = _named(inquiry, Pair(Mend(first, Cases()), second, loan.mend.change.source), besides)
        return two if two and two.named else None
    return None


def _left(inquiry: Inquiry, change: Change, besides: str | None) -> Misconception | None:
    """The mistake of the catalogue that is all that is left with a change; of one that is known already, it is so where
    it explains the ordinary cases. **Errors:** `OutOfTime`.
    """
    asked, exercise = inquiry.after(change), inquiry.exercise
    if exercise.facts or not has_parts(one.wanted for one in asked):
        return None  # a single number is soon the same by chance
    for mistake in exercise.misconceptions:
        is_known = mistake.name == besides
        of = [one for one in asked if not (is_known and one.case.is_edge)]
        gives = ((of_mistake(exercise, mistake, one.case), one.seen) for one in of)
        is_so = any(o.is_wrong for o in of) and all(same(exercise, *two, strict=not is_known) for two in gives)
        if is_so and (is_known or repairs.is_confirmed(inquiry, Mend(change, mistake))):
            return mistake
    return None


def _may_be_so(inquiry: Inquiry, part: Mend) -> bool:
    """Whether the mistake that is left may be one of the answer, and has not come with the change: what is right in the
    answer, or of the right shape, is so with the mistake; neither looks at more than the other.
    """
    mistake = part.scope
    assert isinstance(mistake, Misconception)
    exercise, candidate = inquiry.exercise, inquiry.candidate
    for one in inquiry.asked:
        left = of_mistake(exercise, mistake, one.case)
        own, made = (inquiry.equal_parts(one, seen) for seen in (one.seen, left))
        if any(is_right and not is_left for is_right, is_left in zip(own, made, strict=True)):
            return False
        if inquiry.right_before(one) is not None and inquiry.right_entries(one, left) is None:
            return False
    (one, _), *_ = inquiry.by_size
    return not properties.differs_in_what_it_reads(
        exercise, one, mistake.answer, lambda case: candidate.observe(exercise.drive, case.args)
    )
