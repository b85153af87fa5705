"""The search for the place of an error: each way of finding out something is asked in turn, within its budget."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from contextlib import suppress

from rnncourse.checks.cases import Seed
from rnncourse.checks.exercise import Exercise
from rnncourse.checks.where import repairs, values
from rnncourse.checks.where.inquiry import Asked, Budget, Inquiry, OutOfTime, Searched
from rnncourse.checks.where.place import Statement, Where
from rnncourse.checks.where.repairs import Change
from rnncourse.checks.where.values import Compared, Given

SECONDS_MORE = 0.3  # for other changes that mend, when one is found
MOST_LINES = 3  # that a message names


def find(exercise: Exercise, candidate: object, seed: Seed, asked: list[Asked], budget: Budget) -> Where | None:
    """What can be found out about a wrong answer, None if it is nothing."""
    if not isinstance(candidate, Searched) or not any(one.is_wrong for one in asked):
        return None
    program = candidate.program(exercise.name)
    if program is None or not program.is_harmless or any(one.seen.timed_out for one in asked):
        return None
    inquiry = Inquiry(exercise, candidate, program, seed, asked)
    if not _is_the_same(inquiry):
        return None
    return _Search(inquiry, budget).result()


def _is_the_same(inquiry: Inquiry) -> bool:
    """Whether the program, run by itself, does in its first wrong case what the candidate did."""
    one = inquiry.asked[inquiry.wrong[0]]
    inquiry.take(1.0)
    with suppress(OutOfTime):
        from rnncourse.checks.diagnosis import same

        return same(inquiry.exercise, inquiry.run(inquiry.program.source, one.case).seen, one.seen)
    return False


class _Search:
    def __init__(self, inquiry: Inquiry, budget: Budget) -> None:
        self.inquiry, self.budget = inquiry, budget
        self.given: Given | None = None
        self.changes: list[Change] = []
        self.compared: Compared | None = None

    def result(self) -> Where | None:
        inquiry = self.inquiry
        inquiry.take(self.budget.values)
        with suppress(OutOfTime):
            self.compared = Compared(inquiry)
            for found in values.given(self.compared):
                if self._is_confirmed(lambda one, found=found: values.holds(inquiry, found, one)):
                    self.given = found
                    break
        first = self.compared.lines() if self.compared else []
        if self.given:
            line = self.given.place.line
            first = [line, *(n for n in first if n != line)]
        inquiry.take(self.budget.repairs)
        until = None
        with suppress(OutOfTime):
            for change in repairs.mending(inquiry, first):
                if self._is_confirmed(lambda one, change=change: repairs.holds(inquiry, change, one)):
                    self.changes.append(change)
                    until = until or time.monotonic() + SECONDS_MORE
                    if self.given and self.given.place.line in change.lines:
                        break
                    inquiry.until = min(inquiry.until, until)
        return self._where()

    def _is_confirmed(self, holds) -> bool:
        before, self.inquiry.until = self.inquiry.until, time.monotonic() + 0.5
        try:
            return all(holds(one) for one in self.inquiry.fresh())
        except OutOfTime:
            return False
        finally:
            self.inquiry.until = before

    def _where(self) -> Where | None:
        changes = self.changes
        if self.given and (beside := [c for c in changes if self.given.place.line in c.lines]):
            changes = beside
        evidence: list[Statement] = []
        lines: list[int] = []
        part = None
        if self.given:
            evidence.append(Statement("value", {"place": self.given.place.number, "line": self.given.place.line, "part": self.given.place.text}))
            lines.append(self.given.place.line)
            part = self.given.place.text
        elif changes:
            lines += _few(line for change in changes for line in change.lines)
        if changes:
            part = changes[0].part or part
            evidence += [Statement("change", {"kind of change": c.kind, "lines": list(c.lines), "source": c.source}) for c in changes]
        if not lines:
            return None
        kinds = {c.kind for c in changes}
        return Where(tuple(sorted(lines)), part, "…", tuple(evidence), kinds.pop() if len(kinds) == 1 else None)


def _few(lines: Iterable[int]) -> Sequence[int]:
    return list(dict.fromkeys(lines))[:MOST_LINES]
