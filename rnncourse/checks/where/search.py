"""The search for the place of an error: each way of finding out something is asked in turn, within its budget.

What is said has been seen to hold in all cases that were asked, and in those of fresh draws.
"""

from __future__ import annotations

import ast
import re
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from rnncourse.checks.cases import Seed, drawn
from rnncourse.checks.diagnosis import same
from rnncourse.checks.exercise import Exercise
from rnncourse.checks.faults import faults_of
from rnncourse.checks.where import repairs, values, words
from rnncourse.checks.where.inquiry import Asked, Budget, Inquiry, OutOfTime, Searched
from rnncourse.checks.where.place import Statement, Where
from rnncourse.checks.where.program import Place, Program
from rnncourse.checks.where.repairs import ALL, Mend
from rnncourse.checks.where.statements import is_docstring, written
from rnncourse.checks.where.values import Compared, Given

SECONDS_MORE = 0.3  # to look for other changes that mend, when one is found
MOST_LINES = 3  # that are named for one finding
MOST_MENDS = 6


def ask(exercise: Exercise, candidate: Searched, seed: Seed) -> list[Asked]:
    """What a candidate gives in the cases of a seed; nothing if it does not come to an end in one."""
    asked = []
    for case, wanted in zip(*drawn(exercise, seed), strict=True):
        seen = candidate.observe(exercise.drive, case.args)
        asked.append(Asked(case, wanted, seen, bool(faults_of(exercise, case, wanted, seen))))
        if seen.timed_out:
            return []
    return asked


def find(exercise: Exercise, candidate: object, seed: Seed, asked: list[Asked], budget: Budget) -> Where | None:
    """What can be found out about a wrong answer from these cases; None if it is nothing."""
    if not isinstance(candidate, Searched) or not any(one.is_wrong for one in asked):
        return None
    program = candidate.program(exercise.name)
    if program is None or not program.is_harmless or any(one.seen.timed_out for one in asked):
        return None
    if program.is_too_long:
        return None
    inquiry = Inquiry(exercise, candidate, program, seed, asked)
    inquiry.end = time.monotonic() + budget.together
    try:
        return _Search(inquiry, budget).result() if _is_the_same(inquiry) else None
    except OutOfTime:
        return None


def _is_the_same(inquiry: Inquiry) -> bool:
    """Whether the program, run by itself, does in its first wrong case what the candidate did."""
    one = next(one for one in inquiry.by_size if one.is_wrong)
    inquiry.take(1.0)
    return same(inquiry.exercise, inquiry.run(inquiry.program.source, one.case).seen, one.seen)


@dataclass
class _Found:
    """What each way found: the lines that write to an argument, the line that raises, places, and changes."""

    writing: tuple[int, ...] = ()
    raising: int | None = None
    given: Given | None = None
    mends: tuple[Mend, ...] = ()
    agreeing: Place | None = None


class _Search:
    def __init__(self, inquiry: Inquiry, budget: Budget) -> None:
        self.inquiry, self.budget = inquiry, budget

    def result(self) -> Where | None:
        inquiry, found = self.inquiry, _Found()
        program = inquiry.program
        compared: Compared | None = None
        found.raising = _raising(program, [one for one in inquiry.asked if one.is_wrong])
        with suppress(OutOfTime):
            inquiry.take(self.budget.values)
            found.writing = self._writing()
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
            found.agreeing = compared.last_agreeing()
        return told(program, inquiry.exercise, found)

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

    def _mends(self, first: list[int], found: _Found) -> tuple[Mend, ...]:
        """The changes that mend, of those that mend most; if single ones do not, of pairs within the first lines."""
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
                    if len(whole) == MOST_MENDS or set(mend.change.lines) & set(first[:1]) and found.given:
                        break
                    inquiry.until = min(inquiry.until, time.monotonic() + SECONDS_MORE)
            if not whole and not partly and not found.given:
                for mend in repairs.mending_together(inquiry, first[:MOST_LINES]):
                    if self._is_confirmed(repairs.holds, mend):
                        whole.append(mend)
                        break
        return tuple(whole or partly)

    def _is_confirmed(self, holds: Callable[[Inquiry, Any, Asked], bool], finding: Given | Mend) -> bool:
        """Whether it holds on fresh draws."""
        before = self.inquiry.until
        self.inquiry.until = self.inquiry.end
        try:
            return all(holds(self.inquiry, finding, one) for one in self.inquiry.fresh())
        except OutOfTime:
            return False
        finally:
            self.inquiry.until = before


def lines_behind(program: Program, place: Place) -> list[int]:
    """The lines in which the value of a place is made: its own, or where its name was set or written to before."""
    if not place.is_name:
        return [place.line]
    lines = [
        node.lineno
        for node in ast.walk(program.tree)
        if isinstance(node, (ast.Assign, ast.AugAssign, ast.AnnAssign, ast.Expr)) and place.text in written(node)
    ]
    return sorted(set(lines)) if 0 < len(set(lines)) <= MOST_LINES else [place.line]


_IN_LINE = re.compile(r"\(in the line `(.*)`")


def _raising(program: Program, wrong: Iterable[Asked]) -> int | None:
    """The line that raises, if it is one, in every wrong case."""
    found = set()
    for one in wrong:
        told = _IN_LINE.search(one.seen.error or "")
        begins = told[1].partition("`")[0] if told else None
        lines = [n for n, line in enumerate(program.source.splitlines(), 1) if begins and line.strip()[:100] == begins]
        if len(lines) != 1:
            return None
        found.add(lines[0])
    return found.pop() if len(found) == 1 else None


def told(program: Program, exercise: Exercise, found: _Found) -> Where | None:
    """What is said of what was found."""
    evidence: list[Statement] = []
    mends = list(found.mends)
    lines: list[int] = []
    part: str | None = None
    if found.given:
        place = found.given.place
        lines = lines_behind(program, place)
        if beside := [m for m in mends if set(m.change.lines) & set(lines)]:
            mends = beside
            lines = sorted({n for m in mends for n in m.change.lines} & set(lines))
        elif mends and (place.is_name or found.given.scope != ALL):
            lines = []
        if lines:
            part = None if place.is_name else place.text
            evidence.append(
                Statement(
                    "value", {"place": place.number, "line": place.line, "part": place.text, "right": found.given.scope}
                )
            )
    if mends and not lines:
        lines = _few(n for m in mends for n in m.change.lines)
    if mends:
        parts = {m.change.part for m in mends if set(m.change.lines) <= set(lines)}
        part = parts.pop() if len(parts) == 1 else part
    evidence += [
        Statement(
            "change", {"of": m.change.kind, "lines": list(m.change.lines), "source": m.change.source, "right": m.scope}
        )
        for m in mends
    ]
    if found.writing:
        evidence.insert(0, Statement("writes", {"lines": list(found.writing)}))
        if not mends:
            lines = list(found.writing)
    if found.raising:
        evidence.append(Statement("raises", {"line": found.raising}))
        lines = lines or [found.raising]
    if found.agreeing and not evidence:
        evidence.append(
            Statement(
                "agrees", {"place": found.agreeing.number, "line": found.agreeing.line, "part": found.agreeing.text}
            )
        )
    if not lines and (only := _only_statement(program)):
        evidence.append(Statement("only", {"line": only}))
        lines = [only]
    if not evidence:
        return None
    kinds = {m.change.kind for m in mends}
    change = kinds.pop() if len(kinds) == 1 else None
    at = tuple(sorted(lines))
    said = words.message(exercise, at, evidence)
    return Where(at, part, said, tuple(evidence), change, words.hints(at, part, change), program.source)


def _only_statement(program: Program) -> int | None:
    """The line of the only statement of a function that has no more."""
    (function,) = program.tree.body
    if not isinstance(function, ast.FunctionDef):
        return None
    body = [one for one in function.body if not is_docstring(one)]
    return body[0].lineno if len(body) == 1 and body[0].lineno == body[0].end_lineno else None


def _few(lines: Iterable[int]) -> list[int]:
    return list(dict.fromkeys(lines))[:MOST_LINES]
