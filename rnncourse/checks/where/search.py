"""The search for the place of an error: each way of finding out something is asked in turn, within its budget.

What is said has been seen to hold in all cases that were asked, and in those of fresh draws.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial

from rnncourse.checks.cases import Asked, Candidate, Seed, drawn
from rnncourse.checks.deadline import Deadline, clock_of
from rnncourse.checks.diagnosis import same
from rnncourse.checks.drive import Observation
from rnncourse.checks.exercise import Case, Exercise
from rnncourse.checks.faults import faults_of
from rnncourse.checks.place import Statement, Where
from rnncourse.checks.program import Program
from rnncourse.checks.slips import KINDS, Change
from rnncourse.checks.where import relations, repairs
from rnncourse.checks.where.inquiry import ALL, DRAWS, Budget, Draws, Inquiry, OutOfTime, Searched
from rnncourse.checks.where.repairs import Mend

SECONDS_MORE = 0.2  # to look for other changes that mend, when one is found
MOST_MENDS = 6
MOST_LINES = 3  # that are named


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
    end = Deadline(budget.together, clock_of(candidate))
    draws = Draws(exercise, candidate, seed)
    related = _relation(exercise, candidate, asked, draws, end.or_in(budget.relations))
    found = Found()
    program = candidate.program(exercise.name) if isinstance(candidate, Searched) else None
    if isinstance(candidate, Searched) and program and program.is_searchable:
        inquiry = Inquiry(exercise, candidate, program, draws, asked)
        inquiry.until = end
        with suppress(OutOfTime):
            if _is_the_same(inquiry):
                found = _look(inquiry)
    return _where(exercise, program, related, found)


def _relation(
    exercise: Exercise, candidate: Candidate, asked: list[Asked], draws: Draws, until: Deadline
) -> Statement | None:
    """How what came is related to what was expected, on fresh draws too."""

    def require_time() -> None:
        if not until.left:
            raise OutOfTime

    def observe(case: Case) -> Observation:
        require_time()
        return candidate.observe(exercise.drive, case.args)

    with suppress(OutOfTime):
        for one in relations.relations(exercise, asked, observe):
            if relations.holds(one, exercise, list(draws.cases(DRAWS, require_time)), observe):
                return one
    return None


def _is_the_same(inquiry: Inquiry) -> bool:
    """Whether the program, run by itself, does in its first wrong case what the candidate did."""
    one, _ = inquiry.by_size[0]
    return same(inquiry.exercise, inquiry.run(inquiry.program.source, one.case).seen, one.seen)


# --- the ways of looking


@dataclass(frozen=True)
class Found:
    """The lines that write to an argument, the line that raises, and the changes that mend."""

    writing: tuple[int, ...] = ()
    raising: int | None = None
    mends: tuple[Mend, ...] = ()


def _look(inquiry: Inquiry) -> Found:
    raising = _raising(inquiry.program, [one for one in inquiry.asked if one.is_wrong])
    if raising and not _is_confirmed(inquiry, partial(_raises, inquiry.program, raising)):
        raising = None
    writing = _writing(inquiry)
    if writing and not _is_confirmed(inquiry, partial(_writes, inquiry, writing)):
        writing = ()
    return Found(writing, raising, _mends(inquiry, [*writing, *([raising] if raising else [])]))


def _writing(inquiry: Inquiry) -> tuple[int, ...]:
    """The lines after which an argument first had changed, if what is wrong is that it does."""
    impure = [one for one in inquiry.asked if one.is_wrong and _has_written(one)]
    if not inquiry.exercise.drive.hands_over or not impure:
        return ()
    lines = {inquiry.run(inquiry.program.watching(), one.case).wrote for one in impure[:4]}
    return tuple(sorted(n for n in lines if n)) if None not in lines and len(lines) <= MOST_LINES else ()


def _has_written(one: Asked) -> bool:
    return bool(one.seen.changed or one.seen.wrote_meanwhile) > bool(one.wanted.changed or one.wanted.wrote_meanwhile)


def _writes(inquiry: Inquiry, lines: Sequence[int], one: Asked) -> bool:
    return not _has_written(one) or inquiry.run(inquiry.program.watching(), one.case).wrote in lines


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


def _raises(program: Program, line: int | None, one: Asked) -> bool:
    return not one.seen.error or bool(one.wanted.error) or _raising(program, [one]) == line


def _mends(inquiry: Inquiry, first: list[int]) -> tuple[Mend, ...]:
    """The changes that mend, of those that mend most."""
    whole: list[Mend] = []
    partly: list[Mend] = []
    end = inquiry.until
    with suppress(OutOfTime):
        for mend in repairs.mending(inquiry, first):
            mends = whole if mend.scope == ALL else partly
            if len(mends) < MOST_MENDS and not (whole and mends is not whole):
                until, inquiry.until = inquiry.until, end
                if _is_confirmed(inquiry, partial(repairs.holds, inquiry, mend)):
                    mends.append(mend)
                inquiry.until = until
            if len(whole) == MOST_MENDS:
                break
            if whole:
                inquiry.until = inquiry.until.or_in(SECONDS_MORE)
    inquiry.until = end
    return tuple(whole or partly)


def _is_confirmed(inquiry: Inquiry, holds: Callable[[Asked], bool]) -> bool:
    """Whether it holds on fresh draws."""
    try:
        return all(holds(one) for one in inquiry.fresh())
    except OutOfTime:
        return False


# --- what is said


def _where(exercise: Exercise, program: Program | None, related: Statement | None, found: Found) -> Where | None:
    """What is said of what was found; None if it is nothing."""
    if found.writing:
        related = None
    mends = [m for m in found.mends if not found.writing or set(m.lines) <= set(found.writing)]
    lines = found.writing or tuple(dict.fromkeys(n for m in mends for n in m.lines))[:MOST_LINES]
    evidence = [related] if related else []
    said = [relations.words(related, exercise)] if related else []
    here = _in_lines(sorted(lines))
    if found.writing:
        evidence.append(Statement("writes", {"lines": list(lines)}))
        said.append(f"{here} {'write' if len(lines) > 1 else 'writes'} to an argument.")
    elif mends:
        there = "there" if set(mends[0].lines) == set(lines) else "in one of them"
        said.append(f"{here}: with one small change {there}, {_right(exercise, mends[0])}.")
    elif found.raising:
        lines = (found.raising,)
        said.append(f"Line {found.raising} is where it stops.")
    evidence += [_change(mend) for mend in mends]
    if found.raising:
        evidence.append(Statement("raises", {"line": found.raising}))
    if not evidence:
        return None
    at = tuple(sorted(lines))
    changes = [m.change for m in mends]
    part, kinds = _widest([c.part for c in changes]), {c.kind for c in changes}
    change = kinds.pop() if len(kinds) == 1 else None
    hints = [f"Line {at[0]}: look at `{part}`."] if part and len(at) == 1 else []
    hints += [f"It is about {KINDS[change]}."] if change else []
    return Where(at, part, " ".join(said), tuple(evidence), change, tuple(hints), program.source if program else "")


def _in_lines(lines: Sequence[int]) -> str:
    """ "Line 3", "Lines 3 and 5"."""
    if len(lines) < 2:
        return f"Line {', '.join(map(str, lines))}"
    return f"Lines {', '.join(map(str, lines[:-1]))} and {lines[-1]}"


def _widest(parts: Sequence[str | None]) -> str | None:
    """The part that has all the others in it, if there is one."""
    widest = max((part for part in parts if part), key=len, default=None)
    return widest if widest and all(part and part in widest for part in parts) else None


def _right(exercise: Exercise, mend: Mend) -> str:
    if isinstance(mend.scope, int):
        return f"{exercise.gives[mend.scope].name} comes out right"
    return "every case comes out right" if mend.scope == ALL else "all cases but edge cases come out right"


def _change(mend: Mend) -> Statement:
    change = mend.change
    of = {"of": change.kind, "lines": list(mend.lines), "part": change.part}
    return Statement("change", {**of, "source": change.source, "right": mend.scope})


def is_so(inquiry: Inquiry, statement: Statement, one: Asked) -> bool:
    """Whether a statement holds in one more case. **Errors:** `OutOfTime`."""
    said = statement.parameters
    match statement.kind:
        case "change":
            change = Change(said["of"], tuple(said["lines"]), said["part"], said["source"])
            return repairs.holds(inquiry, Mend(change, said["right"]), one)
        case "writes":
            return _writes(inquiry, said["lines"], one)
        case "raises":
            return _raises(inquiry.program, said["line"], one)
    exercise = inquiry.exercise
    return relations.holds(statement, exercise, [one], lambda c: inquiry.candidate.observe(exercise.drive, c.args))
