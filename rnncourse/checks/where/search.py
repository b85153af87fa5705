"""The search for the place of an error: each way of finding out something is asked in turn, within its budget.

What is said has been seen to hold in all cases that were asked, and in those of fresh draws.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial

from rnncourse.checks.cases import Asked, Candidate, Seed, drawn, of_mistake
from rnncourse.checks.deadline import Deadline, clock_of
from rnncourse.checks.diagnosis import same
from rnncourse.checks.drive import Observation
from rnncourse.checks.exercise import Case, Exercise, Misconception
from rnncourse.checks.faults import faults_of
from rnncourse.checks.pairs import without_praise
from rnncourse.checks.place import Statement, Where
from rnncourse.checks.program import Program
from rnncourse.checks.slips import KINDS, Change
from rnncourse.checks.where import properties, relations, repairs
from rnncourse.checks.where.borrowing import Loan, borrowed
from rnncourse.checks.where.inquiry import ALL, DRAWS, Budget, Draws, Inquiry, OutOfTime, Scope, Searched
from rnncourse.checks.where.repairs import Mend, Pair

TRIALS_MORE = 200.0  # to look for other changes that mend, when one is found
FOR_BORROWING = 0.4  # of the trials, to look for what right programs have otherwise
FOR_ONE = 0.7  # of the others, to look for one change; what is left of them is for two
MOST_MENDS = 6
MOST_LINES = 3  # that are named
MOST_PARTS = 3  # that one change mends, and of which a second one is asked to mend the rest


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
        inquiry.until, inquiry.trials.left = end, budget.trials
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
            fresh = [Asked(o.case, o.wanted, o.seen, o.is_wrong) for o in draws.cases(DRAWS, require_time)]
            if relations.holds(one, exercise, fresh, observe):
                return one
    return None


def _is_the_same(inquiry: Inquiry) -> bool:
    """Whether the program, run by itself, does in its first wrong case what the candidate did."""
    one, _ = inquiry.by_size[0]
    return same(inquiry.exercise, inquiry.run(inquiry.program.source, one.case).seen, one.seen)


# --- the ways of looking


@dataclass(frozen=True)
class Found:
    """The lines that write to an argument, the line that raises, the changes that mend, and two that do together."""

    writing: tuple[int, ...] = ()
    raising: int | None = None
    mends: tuple[Mend, ...] = ()
    pair: Pair | None = None


def _look(inquiry: Inquiry) -> Found:
    raising = _raising(inquiry.program, [one for one in inquiry.asked if one.is_wrong])
    if raising and not _is_confirmed(inquiry, partial(_raises, inquiry.program, raising)):
        raising = None
    writing = _writing(inquiry)
    if writing and not _is_confirmed(inquiry, partial(_writes, inquiry, writing)):
        writing = ()
    loans = _loans(inquiry)
    if loans and loans[0].is_small:
        return Found(writing, raising, tuple(loan.mend for loan in loans))
    with inquiry.trials.at_most(FOR_ONE * inquiry.trials.left):
        mends = _mends(inquiry, [*writing, *([raising] if raising else [])])
    if any(m.scope == ALL for m in mends):
        return Found(writing, raising, mends)
    if loans:
        return Found(writing, raising, tuple(loan.mend for loan in loans))
    pair = _pair(inquiry, mends)
    return Found(writing, raising, tuple(m for m in mends if not isinstance(m.scope, Misconception)), pair)


def _loans(inquiry: Inquiry) -> list[Loan]:
    """What mends of what right programs have otherwise, the least; several, if they are as little."""
    found: list[Loan] = []
    with suppress(OutOfTime), inquiry.trials.at_most(FOR_BORROWING * inquiry.trials.left):
        for loan in borrowed(inquiry):
            if found and (loan.places, loan.nodes) != (found[0].places, found[0].nodes):
                break
            if _is_confirmed(inquiry, partial(repairs.holds, inquiry, loan.mend)):
                found.append(loan)
    return found


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
    """The changes that mend: those that mend all, or else those that mend a part."""
    whole: list[Mend] = []
    partly: dict[Scope | Misconception, list[Mend]] = {}
    with suppress(OutOfTime):
        for mend in repairs.mending(inquiry, first):
            mends = whole if mend.scope == ALL else partly.setdefault(mend.scope, [])
            is_asked = len(mends) < MOST_MENDS and (mends is whole or not whole)
            if is_asked and _is_confirmed(inquiry, partial(repairs.holds, inquiry, mend)):
                mends.append(mend)
            if len(whole) == MOST_MENDS:
                break
            if whole:
                inquiry.trials.left = min(inquiry.trials.left, TRIALS_MORE)
    return tuple(whole or (mend for mends in partly.values() for mend in mends))


def _pair(inquiry: Inquiry, parts: Sequence[Mend]) -> Pair | None:
    """Two changes that mend together; best where one of them leaves a mistake that is known. None, if all values are
    right: what is written to an argument is one slip.
    """
    if all(all(inquiry.equal_parts(one, one.seen)) for one in inquiry.asked if one.is_wrong):
        return None
    first = {part.scope: part for part in reversed(parts) if _may_be_so(inquiry, part)}.values()
    asked = sorted(first, key=lambda part: not isinstance(part.scope, Misconception))[:MOST_PARTS]
    for number, part in enumerate(asked):
        with suppress(OutOfTime), inquiry.trials.at_most(inquiry.trials.left / (len(asked) - number)):
            for pair in repairs.completing(inquiry, part):
                if _is_confirmed(inquiry, partial(repairs.holds, inquiry, pair.second)):
                    return pair
    return None


def _may_be_so(inquiry: Inquiry, part: Mend) -> bool:
    """Whether the mistake that is left may be one of the answer, and has not come with the change: what is right in the
    answer is right with the mistake, and what the mistake does not look at, the answer does not look at either.
    """
    if not isinstance(mistake := part.scope, Misconception):
        return True
    exercise, candidate = inquiry.exercise, inquiry.candidate
    for one in inquiry.asked:
        own, made = (inquiry.equal_parts(one, seen) for seen in (one.seen, of_mistake(exercise, mistake, one.case)))
        if any(is_right and not is_left for is_right, is_left in zip(own, made, strict=True)):
            return False
    (one, _), *_ = inquiry.by_size
    return not properties.differs_in_what_it_reads(
        exercise, one, mistake.answer, lambda case: candidate.observe(exercise.drive, case.args)
    )


def _is_confirmed(inquiry: Inquiry, holds: Callable[[Asked], bool]) -> bool:
    """Whether it holds on fresh draws. That is no trial: what was found is worth it."""
    try:
        with inquiry.trials.uncounted():
            return all(holds(one) for one in inquiry.fresh())
    except OutOfTime:
        return False


# --- what is said


def _where(exercise: Exercise, program: Program | None, related: Statement | None, found: Found) -> Where | None:
    """What is said of what was found; None if it is nothing."""
    source = program.source if program else ""
    if found.pair:
        return _of_pair(exercise, found.pair, source)
    evidence = [related] if related and not found.writing else []
    said = [relations.words(one, exercise) for one in evidence]
    mends = [m for m in found.mends if not found.writing or set(m.lines) <= set(found.writing)]
    lines = found.writing
    if found.writing:
        evidence.append(Statement("writes", {"lines": list(lines)}))
        said.append(f"{_in_lines(lines)} {'write' if len(lines) > 1 else 'writes'} to an argument.")
    elif mends:
        for scope in list(dict.fromkeys(m.scope for m in mends))[:MOST_PARTS]:
            of = [m for m in mends if m.scope == scope]
            at = tuple(dict.fromkeys(n for m in of for n in m.lines))[:MOST_LINES]
            needs = of[0].needs if set(of[0].lines) == set(at) else "with one small change in one of them"
            said.append(f"{_in_lines(sorted(at))}: {needs}, {_right(exercise, of[0])}.")
            lines = tuple(dict.fromkeys((*lines, *at)))
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
    change = kinds.pop() or None if len(kinds) == 1 else None
    hints = [f"Line {at[0]}: look at `{part}`."] if part and len(at) == 1 else []
    hints += [f"It is about {KINDS[change]}."] if change else []
    return Where(at, part, " ".join(said), tuple(evidence), change, tuple(hints), source)


def _of_pair(exercise: Exercise, pair: Pair, source: str) -> Where:
    """What is said of two changes that mend together."""
    first, second = pair.first, pair.second
    at = tuple(sorted({*first.lines, *pair.lines}))
    hints = tuple(f"{_in_lines(lines)}: it is about {KINDS[mend.change.kind]}." for lines, mend in (
        (first.lines, first), (pair.lines, second)))  # fmt: skip
    if not isinstance(first.scope, Misconception):
        said = (
            f"Two things are wrong. {_in_lines(first.lines)}: with one small change there, {_right(exercise, first)}."
        )
        said += f" With one more in {_in_lines(pair.lines).lower()}, every case comes out right."
        return Where(at, None, said, (_change(first),), None, hints, source)
    left = without_praise(first.scope.message)
    said = f"Two things are wrong. (1) {left} (2) {_in_lines(first.lines)}: with one small change there, "
    said += "nothing but (1) is wrong any more."
    return Where(at, None, said, (_change(first),), None, hints, source, first.scope.name)


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
    right = mend.scope.name if isinstance(mend.scope, Misconception) else mend.scope
    return Statement("change", {**of, "source": change.source, "right": right})


def is_so(inquiry: Inquiry, statement: Statement, one: Asked) -> bool:
    """Whether a statement holds in one more case. **Errors:** `OutOfTime`."""
    said, exercise = statement.parameters, inquiry.exercise
    match statement.kind:
        case "change":
            change = Change(said["of"], tuple(said["lines"]), said["part"], said["source"])
            scope = next((m for m in exercise.misconceptions if m.name == said["right"]), said["right"])
            return repairs.holds(inquiry, Mend(change, scope), one)
        case "writes":
            return _writes(inquiry, said["lines"], one)
        case "raises":
            return _raises(inquiry.program, said["line"], one)
    return relations.holds(statement, exercise, [one], lambda c: inquiry.candidate.observe(exercise.drive, c.args))
