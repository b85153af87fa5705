"""The search for the place of an error: each way of finding out something is asked in turn, within its budget.

What is said has been seen to hold in all cases that were asked, and in those of fresh draws.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from rnncourse.checks.cases import Candidate, Seed, drawn
from rnncourse.checks.diagnosis import same
from rnncourse.checks.drive import Observation
from rnncourse.checks.exercise import Case, Exercise
from rnncourse.checks.faults import faults_of
from rnncourse.checks.where import relations, repairs, values
from rnncourse.checks.where.inquiry import DRAWS, Asked, Budget, Draws, Inquiry, OutOfTime, Searched
from rnncourse.checks.where.place import Statement, Where
from rnncourse.checks.where.repairs import ALL, Mend
from rnncourse.checks.where.telling import MOST_LINES, Found, agreement, is_so, lines_behind, raising, told
from rnncourse.checks.where.values import Compared, Given

SECONDS_MORE = 0.3  # to look for other changes that mend, when one is found
MOST_MENDS = 6


def ask(exercise: Exercise, candidate: Candidate, seed: Seed) -> list[Asked]:
    """What a candidate gives in the cases of a seed; nothing if it does not come to an end in one."""
    asked = []
    for case, wanted in zip(*drawn(exercise, seed), strict=True):
        seen = candidate.observe(exercise.drive, case.args)
        asked.append(Asked(case, wanted, seen, bool(faults_of(exercise, case, wanted, seen))))
        if seen.timed_out:
            return []
    return asked


def find(exercise: Exercise, candidate: Candidate, seed: Seed, asked: list[Asked], budget: Budget) -> Where | None:
    """What can be found out about a wrong answer from these cases; None if it is nothing."""
    if not any(one.is_wrong for one in asked) or any(one.seen.timed_out for one in asked):
        return None
    if any("NotImplementedError" in one.seen.error_types for one in asked):
        return None  # it is not written yet
    end = time.monotonic() + budget.together
    draws = Draws(exercise, candidate, seed)
    found = Found(relation=_relation(exercise, candidate, asked, draws, min(end, time.monotonic() + budget.values)))
    program = candidate.program(exercise.name) if isinstance(candidate, Searched) else None
    if isinstance(candidate, Searched) and program and program.is_harmless and not program.is_too_long:
        inquiry = Inquiry(exercise, candidate, program, draws, asked)
        inquiry.end = end
        with suppress(OutOfTime):
            if _is_the_same(inquiry):
                _Search(inquiry, budget).look(found)
    return told(program, exercise, found)


def _relation(
    exercise: Exercise, candidate: Candidate, asked: list[Asked], draws: Draws, until: float
) -> Statement | None:
    """How what came is related to what was expected, on fresh draws too."""

    def require_time() -> None:
        if time.monotonic() > until:
            raise OutOfTime

    def observe(case: Case) -> Observation:
        require_time()
        return candidate.observe(exercise.drive, case.args)

    with suppress(OutOfTime):
        for one in relations.relations(exercise, asked, observe):
            tried = 4 * DRAWS if relations.is_vague(one) else DRAWS
            if relations.holds(one, exercise, list(draws.cases(tried, require_time)), observe):
                return one
    return None


def _is_the_same(inquiry: Inquiry) -> bool:
    """Whether the program, run by itself, does in its first wrong case what the candidate did."""
    one = next(one for one in inquiry.by_size if one.is_wrong)
    inquiry.take(1.0)
    return same(inquiry.exercise, inquiry.run(inquiry.program.source, one.case).seen, one.seen)


class _Search:
    def __init__(self, inquiry: Inquiry, budget: Budget) -> None:
        self.inquiry, self.budget = inquiry, budget

    def look(self, found: Found) -> None:
        """Write down what each way of looking finds."""
        inquiry = self.inquiry
        program = inquiry.program
        compared: Compared | None = None
        found.raising = raising(program, [one for one in inquiry.asked if one.is_wrong])
        with suppress(OutOfTime):
            inquiry.take(self.budget.values)
            if found.raising and not self._is_so(Statement("raises", {"line": found.raising})):
                found.raising = None
            writing = self._writing()
            if writing and self._is_so(Statement("writes", {"lines": list(writing)})):
                found.writing = writing
            if not found.writing:
                compared = Compared(inquiry)
                found.given = self._given(compared)
        first = compared.lines() if compared else []
        likely = [*found.writing, *(lines_behind(program, found.given.place) if found.given else ())]
        if found.raising:
            likely.append(found.raising)
        first = list(dict.fromkeys([*likely, *first]))
        inquiry.take(self.budget.repairs)
        found.mends = self._mends(first, found)
        if compared and not (found.given or found.mends or found.writing):
            inquiry.take(self.budget.values)
            agreeing = compared.last_agreeing()
            if agreeing and self._is_so(agreement(*agreeing)):
                found.agreeing = agreeing
        if not (found.given or found.mends or found.writing):
            inquiry.take(self.budget.pairs)
            with suppress(OutOfTime):
                self._in_two_places(compared, first, found)

    def _writing(self) -> tuple[int, ...]:
        """The lines after which an argument first had changed, if what is wrong is that it does."""
        inquiry = self.inquiry
        impure = [one for one in inquiry.asked if one.is_wrong and one.seen.changed and not one.wanted.changed]
        if inquiry.exercise.drive != "call" or not impure:
            return ()
        lines = {inquiry.run(inquiry.program.watching(), one.case).wrote for one in impure[:4]}
        return tuple(sorted(n for n in lines if n)) if None not in lines and len(lines) <= MOST_LINES else ()

    def _given(self, compared: Compared) -> Given | None:
        partly: Given | None = None
        for one in values.given(compared):
            if (one.scope == ALL or partly is None) and self._is_confirmed(values.holds, one):
                if one.scope == ALL:
                    return one
                partly = one
        return partly

    def _mends(self, first: list[int], found: Found) -> tuple[Mend, ...]:
        """The changes that mend, of those that mend most."""
        inquiry = self.inquiry
        whole: list[Mend] = []
        partly: list[Mend] = []
        with suppress(OutOfTime):
            for mend in repairs.mending(inquiry, first):
                mends = whole if mend.scope == ALL else partly
                if (
                    len(mends) == MOST_MENDS
                    or (whole and mend.scope != ALL)
                    or not self._is_confirmed(repairs.holds, mend)
                ):
                    continue
                mends.append(mend)
                if mend.scope == ALL:
                    if len(whole) == MOST_MENDS or (set(mend.change.lines) & set(first[:1]) and found.given):
                        break
                    inquiry.until = min(inquiry.until, time.monotonic() + SECONDS_MORE)
        return tuple(whole or partly)

    def _in_two_places(self, compared: Compared | None, first: list[int], found: Found) -> None:
        """What mends together: a value and a change, or two changes within the first lines."""
        for one in values.given_and_changed(compared) if compared else ():
            if self._is_confirmed(values.holds, one):
                found.given = one
                return
        for mend in repairs.mending_together(self.inquiry, first[:MOST_LINES]):
            if self._is_confirmed(repairs.holds, mend):
                found.mends = (mend,)
                return

    def _is_so(self, statement: Statement) -> bool:
        return self._is_confirmed(is_so, statement)

    def _is_confirmed(self, holds: Callable[[Inquiry, Any, Asked], bool], finding: Given | Mend | Statement) -> bool:
        """Whether it holds on fresh draws."""
        before = self.inquiry.until
        self.inquiry.until = self.inquiry.end
        try:
            return all(holds(self.inquiry, finding, one) for one in self.inquiry.fresh())
        except OutOfTime:
            return False
        finally:
            self.inquiry.until = before
