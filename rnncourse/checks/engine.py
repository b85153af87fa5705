"""The engine: from an exercise and a candidate to a verdict.

Each case is given to the candidate and to the reference; what differs is a fault, and a fault belongs to a criterion:
it runs, the shape is right, the values are right on ordinary cases, on edge cases, and the arguments are left alone.
Credit goes by criterion, in that order: right edges with wrong values are luck, and count for nothing. After a fault
comes the diagnosis (`diagnosis.py`): which mistake gives what the candidate gave?

Hidden cases stay hidden. Of one of them a verdict tells no number that was expected, and nothing whose words or numbers
the candidate chose (an error's text, the name of its class, an answer): it could put the inputs there. The visible
cases and properties come first, so what a candidate says there, it says before it has seen a hidden one.
"""

import copy
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from typing import Any

import numpy as np

from rnncourse.checks.callables import Named
from rnncourse.checks.cases import Asked, Candidate, canonical, drawn, seed_for
from rnncourse.checks.compare import difference
from rnncourse.checks.deadline import clock_of
from rnncourse.checks.diagnosis import TWO, Diagnosis, Evidence, diagnose
from rnncourse.checks.drive import Observation
from rnncourse.checks.excerpt import excerpt
from rnncourse.checks.exercise import WEIGHTS, Choice, Exercise, Question
from rnncourse.checks.faults import Fault, at_an_end, broken_properties, faults_of
from rnncourse.checks.place import Where
from rnncourse.checks.plain import NotPlain, to_plain
from rnncourse.checks.verdict import Verdict

SLOW = 1.5  # seconds: an answer that took as long for its cases is not run again and again

Comparison = Callable[..., list[Fault]]  # as `faults_of`
# What ends a search without a word: who interrupts it gets the verdict without; no check raises, whatever comes.
HUSHED: tuple[type[BaseException], ...] = KeyboardInterrupt, Exception
Search = Callable[..., Where | None]  # for the place, or for what is wrong besides: `where.search.find` is one


def judge(
    exercise: Exercise,
    candidate: Candidate,
    *,
    hidden: bool = False,
    search: Search | None = None,
    after_diagnosis: bool = False,
    diagnosing: bool = True,
    to_the_ends: bool = True,
    compare: Comparison = faults_of,
) -> Verdict:
    """The verdict on a candidate. A hidden check judges the visible cases too: what a notebook refuses, it refuses.
    Who wants criteria and points alone leaves the diagnosis out, `diagnosing=False`; who asks again anyway, if a hidden
    check fails, leaves out the ends of ranges, `to_the_ends=False`; who knows what came of a comparison before brings
    one that does, `compare`.

    With a search, the place of an error is looked for in the visible cases. When there is a diagnosis, it is only if
    that is asked for; otherwise what is wrong besides, if something is.
    """
    seeds = [seed_for(exercise, False), seed_for(exercise, True)][: 1 + hidden]
    cases = [one for seed in seeds for one in drawn(exercise, seed)[0]]
    expected = [wanted for seed in seeds for wanted in drawn(exercise, seed)[1]]
    seen: list[Observation] = []
    faults: list[Fault] = []
    faulty: set[int] = set()
    visible = 0  # how many of the faults are of visible cases
    clock, seconds = clock_of(candidate), 0.0
    for is_hidden, seed in enumerate(seeds):
        for one, wanted in zip(*drawn(exercise, seed), strict=True):
            if seen and (seen[-1].timed_out or "NotImplementedError" in seen[-1].error_types):
                break
            began = clock()
            seen.append(candidate.observe(exercise.drive, one.args))
            seconds += clock() - began
            if found := compare(exercise, one, wanted, seen[-1], hidden=bool(is_hidden)):
                faults += found
                faulty.add(len(seen) - 1)
        if not any(f.criterion in ("runs", "shape", "values") for f in faults):
            faults += broken_properties(exercise, candidate, seed, hidden=bool(is_hidden))
        visible = visible if is_hidden else len(faults)
    if to_the_ends and not faults and (found_there := at_an_end(exercise, candidate, seeds[-1], hidden=hidden)):
        end, saw, fault = found_there
        faults, visible = [fault], int(not hidden)
        if end.drive is exercise.drive:
            faulty.add(len(seen))
            cases, expected, seen = [*cases, end.case], [*expected, end.wanted], [*seen, saw]
    evidence = Evidence(exercise, candidate, seeds[-1], cases, expected, seen, faulty, seconds)
    diagnosis = diagnose(evidence) if faults and diagnosing else None
    where = None
    besides = diagnosis.name if diagnosis and diagnosis.is_part and not after_diagnosis else None
    if search and faults and seconds < SLOW and (after_diagnosis or besides or not diagnosis):
        shown = len(drawn(exercise, seeds[0])[0]) if hidden else len(cases)
        of_values = {id(f.case) for f in faults[:visible] if not f.by_the_way}
        is_told = bool(of_values) and not besides and any(f.by_the_way for f in faults[:visible])
        wrong = of_values if is_told else {id(cases[i]) for i in faulty}
        given = zip(cases[:shown], expected, seen, strict=False)
        asked = [Asked(one, wanted, saw, id(one) in wrong) for one, wanted, saw in given]
        with suppress(*HUSHED):
            where = search(replace(exercise, values_alone=is_told), candidate, seeds[0], asked, besides=besides)
    if diagnosis and besides and where and where.mistake:
        diagnosis = replace(diagnosis, name=where.mistake)
    return _verdict(exercise, faults, diagnosis, where, visible, show=not hidden)


def _criteria(exercise: Exercise) -> dict[str, float]:
    """The criteria that apply to an exercise, with their weights; the weight of the others goes to the values."""
    cases, _ = drawn(exercise, seed_for(exercise, False))
    weights = dict(WEIGHTS)
    if not any(part.axes is not None for part in exercise.gives):
        del weights["shape"]
    if not any(c.is_edge for c in cases):
        del weights["edges"]
    if not any(isinstance(a, (np.ndarray, list, dict, set, Named, tuple)) for c in cases for a in c.args):
        del weights["purity"]
    weights["values"] += 1 - sum(weights.values())
    return weights


def _verdict(
    exercise: Exercise,
    faults: list[Fault],
    diagnosis: Diagnosis | None,
    where: Where | None,
    visible: int,
    *,
    show: bool,
) -> Verdict:
    """The first `visible` of the faults are of cases that a notebook shows: of these the place may be seen as well."""
    weights = _criteria(exercise)
    for i, f in enumerate(faults):
        if f.criterion not in weights:
            faults[i] = Fault("values", f.words, f.case, f.expected, f.got)
    failed = {f.criterion for f in faults}
    met: dict[str, bool | None] = {}
    for name in weights:
        reached = all(
            met.get(before) is not False
            for before in ("runs", "shape", "values")
            if before in weights and before != name
        )
        met[name] = name not in failed if reached else None
    score = round(sum(weights[name] for name, ok in met.items() if ok), 4) if faults else 1.0
    if not faults:
        return Verdict(
            exercise.name, True, 1.0, float(exercise.points), exercise.points, "Right on every case.", criteria=met
        )
    at = min(range(len(faults)), key=lambda i: (bool(faults[i].by_the_way), list(WEIGHTS).index(faults[i].criterion)))
    first = faults[at]
    words = f"{diagnosis.message} {first.words}" if diagnosis else first.words
    if diagnosis and (diagnosis.message in first.words or first.words.rstrip(".") in diagnosis.message):
        words = diagnosis.message  # a fact that has no other words than those of its mistake
    if not first.by_the_way and (diagnosis is None or diagnosis.is_loose):
        known = diagnosis.name.split(TWO) if diagnosis else []
        for other in [f for f in faults[:visible] if f.by_the_way and f.by_the_way not in known][:1]:
            words += "." * words[-1].isalnum()
            words += f" Besides: {other.words}"
            if diagnosis:
                diagnosis = replace(diagnosis, name=f"{diagnosis.name}{TWO}{other.by_the_way}")
    look: dict[str, Any] = {"inputs": first.case.args, "expected": first.expected, "got": first.got} if show else {}
    look = copy.deepcopy(look)  # who looks at a case may write to it
    if at < visible:
        place = (canonical(exercise, first.expected), canonical(exercise, first.got))
        look["table"] = excerpt(*place, exercise.gives)
    points = round(score * exercise.points, 2)
    return Verdict(
        exercise.name,
        False,
        score,
        points,
        exercise.points,
        words,
        diagnosis.name if diagnosis else where.mistake if where else None,
        met,
        where=where,
        **look,
    )


def judge_value(question: Question, value: Any) -> Verdict:
    """The verdict on a question's answer: all or nothing."""

    def failed(words: str, diagnosis: str | None = None) -> Verdict:
        return Verdict(question.name, False, 0.0, 0.0, question.points, words, diagnosis)

    example = f" Answer in this form: {question.example}." if question.example else ""
    try:
        plain = canonical(question, to_plain(value))
    except NotPlain as why:
        return failed(f"{question.name} should be a plain value; yours is {why}.{example}")
    if plain is None or plain is Ellipsis:
        return failed(f"{question.name} is not answered yet.{example}")
    found = difference(question.answer, plain)
    if not found:
        return Verdict(question.name, True, 1.0, float(question.points), question.points, "Right.")
    if isinstance(question, Choice) and isinstance(plain, set):
        if unknown := plain - question.letters:
            return failed(f"There is no option {min(map(str, unknown))[:80]}.{example}")
        mistake = question.first_misread(plain)
    else:
        mistake = next((m for m in question.misconceptions if not difference(m.answer, plain)), None)
    if mistake:
        return failed(mistake.message, mistake.name)
    if found.kind == "form" and isinstance(plain, float) and plain == question.answer:
        return failed(f"The number is right, but a whole number is asked: {question.answer}, not {plain}.")
    return failed(f"That is not it.{example if found.kind == 'form' else ''}")
