"""The judge: gives an exercise's inputs to an answer in the sandbox, takes its outputs, and writes the verdict down.

It is `rnncourse`'s own engine, with a candidate that happens to be elsewhere (`remote`).
"""

import dataclasses
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from rnncourse.checks.cases import seed_for
from rnncourse.checks.drive import Observation
from rnncourse.checks.engine import judge, judge_value
from rnncourse.checks.exercise import Case, Exercise, Question
from rnncourse.checks.faults import Fault, faults_of
from rnncourse.checks.place import Where
from rnncourse.checks.verdict import CRITERIA, Verdict
from rnncourse.checks.where.inquiry import Budget
from rnncourse.checks.where.search import ask, find
from rnngrade.core import record
from rnngrade.grading.cache import MOST_KEPT, OBJECT, BoundedCache
from rnngrade.grading.remote import Remote, as_dict, size_of
from rnngrade.sandbox.session import Garbled, Session

_faults = BoundedCache[tuple[int, int, bool], tuple[Any, list[Fault]]](MOST_KEPT)  # by the ids of what is kept


@dataclass(frozen=True)
class Told:
    """What an answer came to on the cases that its notebook shows. `remote` is to be asked the hidden ones, if those
    decide anything yet.
    """

    status: str
    verdict: Verdict
    remote: Remote | None = None


def tell(session: Session, exercise: Exercise, banned: str | None = None, *, to_the_ends: bool = True) -> Told:
    """The verdict on an answer that is called, and all its words, from a room that has seen no hidden case.

    `banned` is what the answer calls and may not, by its source: whatever the room says of it. The ends of ranges are
    left out for who asks again when hidden cases find something, `to_the_ends=False`.
    """
    remote = Remote(session, exercise, session.limits.cell_seconds)
    found = remote.open()
    if banned is not None and found == {"state": "open"}:
        found = {"state": "forbidden", "name": banned}
    match found:
        case {"state": "open"}:
            pass
        case {"state": "missing"}:
            return Told(record.MISSING, refused(exercise, f"There is no `{exercise.name}` in the notebook."))
        case {"state": "no function", "kind": str(kind)}:
            words = f"{exercise.name} should be something to call; yours is of the type {kind[:80]}."
            return Told(record.JUDGED, refused(exercise, words))
        case {"state": "forbidden", "name": str(name)}:
            return Told(record.REFUSED, refused(exercise, exercise.refusal(name)))
        case _:
            raise Garbled("no answer to whether there is one")
    verdict = dataclasses.replace(
        judge(exercise, remote, to_the_ends=to_the_ends, compare=_compared), inputs=(), expected=None, got=None
    )
    return _unless_refused(remote, Told(record.JUDGED, verdict, remote if verdict.score else None))


def _unless_refused(remote: Remote, told: Told) -> Told:
    """The same, but for an answer that came to no end, or that the room has kept from calling what it may not."""
    exercise = remote.exercise
    if remote.called_forbidden:
        words = f"{exercise.name} may not call what its statement forbids. {told.verdict.message}"
        return Told(record.REFUSED, refused(exercise, words))
    return dataclasses.replace(told, status=record.TIMED_OUT, remote=None) if remote.timed_out else told


def decide(told: Told) -> Told:
    """What the hidden cases make of it: criteria and points. Nothing else that an answer does there is told."""
    assert told.remote is not None
    exercise = told.remote.exercise
    told.remote.begin_again()
    hidden = judge(exercise, told.remote, hidden=True, diagnosing=False, compare=_compared)
    words = told.verdict.message
    if told.verdict.passed and not hidden.passed:
        missed = [CRITERIA[name] for name, met in hidden.criteria.items() if met is False]
        words = f"Right on the cases that the notebook shows, but not on hidden ones: {', '.join(missed)}."
    verdict = dataclasses.replace(
        told.verdict,
        passed=hidden.passed,
        score=hidden.score,
        points=hidden.points,
        criteria=hidden.criteria,
        message=words,
    )
    return _unless_refused(told.remote, Told(record.JUDGED, verdict))


def place(session: Session, exercise: Exercise, source: str, seconds: float) -> Where | None:
    """Where a wrong answer goes wrong in the visible cases, as far as can be found out in so many seconds.

    **Errors:** a `Fault`, which ends the session.
    """
    remote = Remote(session, exercise, seconds, source)
    if remote.open() != {"state": "open"}:
        return None
    seed = seed_for(exercise, False)
    asked = ask(exercise, remote, seed)
    with suppress(RecursionError):
        return find(exercise, remote, seed, asked, Budget(together=min(seconds, Budget.together)))
    return None


def judge_question(session: Session, question: Question) -> Told:
    """The verdict on an answer that is a value."""
    match as_dict(session.ask("value", question.name, seconds=session.limits.cell_seconds)):
        case {"state": "missing"}:
            return Told(record.MISSING, refused(question, f"There is no `{question.name}` in the notebook."))
        case {"state": "refused", "words": str(words)}:
            words = f"{question.name} should be a plain value; yours is {words[:80]}."
            return Told(record.JUDGED, refused(question, words))
        case {"state": "open", "value": value}:
            return Told(record.JUDGED, judge_value(question, value))
    raise Garbled("no answer to what the value is")


def refused(exercise: Exercise | Question, words: str) -> Verdict:
    """A verdict that nothing was earned, and why."""
    return Verdict(exercise.name, False, 0.0, 0.0, exercise.points, words)


def _compared(exercise: Exercise, one: Case, wanted: Observation, seen: Observation, *, hidden: bool) -> list[Fault]:
    """What is wrong with an observation; it is seen again when the hidden cases are asked, and in much of a class."""
    key = id(one), id(seen), hidden
    if (known := _faults.get(key)) is None:
        known = (one, seen), faults_of(exercise, one, wanted, seen, hidden=hidden)
        _faults.put(key, known, OBJECT * (1 + len(known[1])) + size_of(seen.answer))
    return known[1]
