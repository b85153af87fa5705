"""The search for the place of an error: each way of finding out something is asked in turn, within its budget.

What is said has been seen to hold in all cases that were asked, and in those of fresh draws.
"""

import re
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial

from rnncourse.checks.cases import Asked, Candidate, Seed, drawn, of_mistake
from rnncourse.checks.deadline import Deadline, clock_of
from rnncourse.checks.diagnosis import same
from rnncourse.checks.drive import Observation
from rnncourse.checks.exercise import Case, Exercise, Misconception
from rnncourse.checks.faults import faults_of
from rnncourse.checks.place import Statement, Where
from rnncourse.checks.plain import has_nan
from rnncourse.checks.program import Program
from rnncourse.checks.slips import Change
from rnncourse.checks.where import findings, relations, repairs, two_slips
from rnncourse.checks.where.borrowing import Borrower, Loan
from rnncourse.checks.where.findings import MOST_LINES, Found
from rnncourse.checks.where.inquiry import ALL, DRAWS, Budget, Draws, Inquiry, OutOfTime, Scope, Searched
from rnncourse.checks.where.repairs import Cases, Mend

TRIALS_MORE = 400.0  # to look for other changes that mend, when one is found
FOR_BORROWING = 0.15  # of the trials, to look for what right programs have otherwise
FOR_ONE = 0.3  # of the others, to look for one change; what is left of them is for two, of which there are most
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


def find(
    exercise: Exercise, candidate: Candidate, seed: Seed, asked: list[Asked], budget: Budget, besides: str | None = None
) -> Where | None:
    """What can be found out about a wrong answer from these cases; None if it is nothing. Of one in which a mistake of
    the catalogue is known, it is what is wrong `besides` this.
    """
    if not any(one.is_wrong for one in asked) or any(one.seen.timed_out for one in asked):
        return None
    if any("NotImplementedError" in one.seen.error_types for one in asked):
        return None  # it is not written yet
    end = Deadline(budget.together * (0.75 if besides else 1), clock_of(candidate))  # the rest went to the name
    draws = Draws(exercise, candidate, seed)
    related = None if besides else _relation(exercise, candidate, asked, draws, end.or_in(budget.relations))
    found = Found()
    program = candidate.program(exercise.name) if isinstance(candidate, Searched) else None
    if isinstance(candidate, Searched) and program and program.is_searchable:
        inquiry = Inquiry(exercise, candidate, program, draws, asked)
        inquiry.until, inquiry.trials.left = end, budget.trials
        with suppress(OutOfTime):
            if _is_the_same(inquiry):
                found = _look(inquiry, related.kind.partition(": ")[2] if related else "", besides)
                found = _best(inquiry, found)
    if not besides:
        return findings.told(exercise, program, related, found)
    is_left = any(_is_left(exercise, one, besides) for one in asked)
    return findings.told_besides(exercise, program, found, besides, is_left=is_left) if program else None


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
            if exercise.values_alone and one.kind.endswith(": other_dtype"):
                continue
            fresh = [Asked(o.case, o.wanted, o.seen, o.is_wrong) for o in draws.cases(DRAWS, require_time)]
            if relations.holds(one, exercise, fresh, observe):
                return one
    return None


def _is_the_same(inquiry: Inquiry) -> bool:
    """Whether the program, run by itself, does in its first wrong case what the candidate did."""
    one, _ = inquiry.by_size[0]
    return same(inquiry.exercise, inquiry.run(inquiry.program.source, one.case).seen, one.seen)


# --- the ways of looking


def _look(inquiry: Inquiry, related: str, besides: str | None) -> Found:
    first = _first(inquiry)
    writing = _writing(inquiry)
    if writing and not inquiry.confirms(partial(_writes, inquiry, writing)):
        writing = ()
    borrower = Borrower(inquiry)
    loans = _loans(inquiry, borrower)
    if loans and loans[0].is_small:
        return Found(writing, first, tuple(loan.mend for loan in loans))
    with inquiry.trials.at_most(FOR_ONE * inquiry.trials.left):
        likely = repairs.likely(inquiry, [*writing, *([first.parameters["line"]] if first else [])], related)
        mends = _mends(inquiry, likely)
    if any(m.scope == ALL for m in mends):
        return Found(writing, first, mends)
    two = two_slips.of_loan(inquiry, loans[0], besides) if loans else None
    if not two and not (loans and loans[0].places == 1):
        two = two_slips.find(inquiry, borrower.changes(), mends, besides)
    if two or not loans:
        return Found(writing, first, tuple(m for m in mends if isinstance(m.scope, (str, int))), two)
    return Found(writing, first, tuple(loan.mend for loan in loans))


def _loans(inquiry: Inquiry, borrower: Borrower) -> list[Loan]:
    """What mends of what right programs have otherwise, the least; several, if they are as little."""
    found: list[Loan] = []
    with suppress(OutOfTime), inquiry.trials.at_most(FOR_BORROWING * inquiry.trials.left):
        for loan in borrower.borrowed():
            if found and (loan.places, loan.nodes) != (found[0].places, found[0].nodes):
                break
            if repairs.is_confirmed(inquiry, loan.mend):
                with inquiry.trials.uncounted():
                    passed = repairs.goes_round(inquiry, loan.mend.change)
                if len(passed) < MOST_LINES:
                    found.append(replace(loan, mend=replace(loan.mend, passed=passed)))
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


def _first(inquiry: Inquiry) -> Statement | None:
    """The line that raises, or after which a number first is nan that should be none; if it is one, in every case."""
    wrong = [one for one in inquiry.asked if one.is_wrong]
    line, kind = _raising(inquiry.program, wrong), "raises"
    of = [one for one in wrong if one.seen.error and not one.wanted.error]
    if not line:
        of = [one for one in wrong if _has_new_nan(one)]
        lines = {inquiry.run(inquiry.program.watching(), one.case).nan for one in of}
        line, kind = lines.pop() if len(lines) == 1 else None, "nan"
    if not line:
        return None
    said = Statement(kind, {"line": line, "note": of[0].case.note if len(of) < len(wrong) else ""})
    return said if inquiry.confirms(partial(is_so, inquiry, said)) else None


def _has_new_nan(one: Asked) -> bool:
    return has_nan(one.seen.answer) and not has_nan((one.wanted.answer, one.case.args))


_IN_LINE = re.compile(r"\(in the line `(.*)`")


def _raising(program: Program, wrong: Iterable[Asked]) -> int | None:
    """The line that raises, if it is one, wherever an error is raised that should not be."""
    found = set()
    for one in (o for o in wrong if o.seen.error and not o.wanted.error):
        told = _IN_LINE.search(one.seen.error or "")
        begins = told[1].partition("`")[0] if told else None
        lines = [n for n, line in enumerate(program.source.splitlines(), 1) if begins and line.strip()[:100] == begins]
        if len(lines) != 1:
            return None
        found.add(lines[0])
    return found.pop() if len(found) == 1 else None


def _is_left(exercise: Exercise, one: Asked, besides: str) -> bool:
    """Whether a case ends in an error or in nan, and does not with a mistake alone."""
    alone = [of_mistake(exercise, m, one.case) for m in exercise.misconceptions if m.name == besides]
    is_new = one.seen.error and not any(made.error for made in (one.wanted, *alone))
    return bool(is_new or (_has_new_nan(one) and not any(has_nan(made.answer) for made in alone)))


def _raises(program: Program, line: int | None, one: Asked) -> bool:
    return not one.seen.error or bool(one.wanted.error) or _raising(program, [one]) == line


def _mends(inquiry: Inquiry, possible: Iterable[Change]) -> tuple[Mend, ...]:
    """Those of the changes that mend: all, or else a part."""
    whole: list[Mend] = []
    round_: list[Mend] = []  # those that mend by going round other lines
    partly: dict[Scope | Misconception | Cases, list[Mend]] = {}
    with suppress(OutOfTime):
        for mend in repairs.mending(inquiry, possible):
            mends = whole if mend.scope == ALL else partly.setdefault(mend.scope, [])
            is_asked = len(mends) < MOST_MENDS and (mends is whole or not whole)
            if is_asked and repairs.is_confirmed(inquiry, mend):
                with inquiry.trials.uncounted():
                    passed = repairs.goes_round(inquiry, mend.change) if mends is whole else ()
                if not passed:
                    mends.append(mend)
                elif len(passed) < MOST_LINES:
                    round_.append(replace(mend, passed=passed))
            if len(whole) == MOST_MENDS:
                break
            if whole:
                inquiry.trials.left = min(inquiry.trials.left, TRIALS_MORE)
    return tuple(whole or round_[:1] or (mend for mends in partly.values() for mend in mends))


def _best(inquiry: Inquiry, found: Found) -> Found:
    """The same with those changes alone that mend the ends of ranges too, if there are such, and what was left aside;
    `remark` says what does not hold even then.
    """
    whole = replace(inquiry.exercise, values_alone=False)

    def is_entire(mend: Mend) -> bool:
        runs = ((one, inquiry.run(mend.change.source, one.case).seen) for one in inquiry.asked)
        return not any(faults_of(whole, one.case, one.wanted, seen) for one, seen in runs)

    with inquiry.trials.uncounted():
        all_ = [mend for mend in (*found.mends, *([found.two.pair.both] if found.two else [])) if mend.scope == ALL]
        entire = [mend for mend in all_ if not inquiry.exercise.values_alone or is_entire(mend)]
        ends = [(repairs.wrong_at_an_end(inquiry, mend.change.source), mend) for mend in entire or all_]
        if not ends:
            return found
        best = [one for one in ends if not one[0]] or ends
        remark, first = best[0]
        if claim := repairs.broken(inquiry, first.change.source):
            remark = f"“{claim}” does not hold."
    mends = tuple(mend for _, mend in best) if found.mends else ()
    return replace(found, mends=mends, is_entire=bool(entire), remark=remark)


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
        case "nan":
            return not _has_new_nan(one) or inquiry.run(inquiry.program.watching(), one.case).nan == said["line"]
    return relations.holds(statement, exercise, [one], lambda c: inquiry.candidate.observe(exercise.drive, c.args))
