"""The engine: from an exercise and a candidate to a verdict.

Each case is given to the candidate and to the reference; what differs is a fault, and a fault belongs to a criterion:
it runs, the shape is right, the values are right on ordinary cases, on edge cases, and the arguments are left alone.
Credit goes by criterion, in that order: right edges with wrong values are luck, and count for nothing. After a fault
comes the diagnosis (`diagnosis.py`): which mistake gives what the candidate gave?

Hidden cases stay hidden. Of one of them a verdict tells no number that was expected, and nothing whose words or numbers
the candidate chose (an error's text, the name of its class, an answer): it could put the inputs there. The visible
cases and properties come first, so what a candidate says there, it says before it has seen a hidden one.
"""

from __future__ import annotations

import builtins
import copy
import time
from dataclasses import dataclass
from typing import Any

import numpy as np

from rnncourse.checks.callables import Named
from rnncourse.checks.cases import Candidate, Seed, canonical, drawn, seed_for
from rnncourse.checks.compare import difference, kind_of
from rnncourse.checks.diagnosis import Diagnosis, Evidence, diagnose
from rnncourse.checks.drive import Observation
from rnncourse.checks.excerpt import excerpt
from rnncourse.checks.exercise import WEIGHTS, Case, Choice, Exercise, Question
from rnncourse.checks.plain import NotPlain, Plain, Unfit, to_plain
from rnncourse.checks.verdict import Verdict


@dataclass(frozen=True)
class Fault:
    """What is wrong with one case: the criterion that it fails, and a sentence."""

    criterion: str
    words: str
    case: Case
    expected: Plain = None
    got: Plain = None


def judge(exercise: Exercise, candidate: Candidate, *, hidden: bool = False) -> Verdict:
    """The verdict on a candidate. A hidden check judges the visible cases too: what a notebook refuses, it refuses."""
    seeds = [seed_for(exercise, False), seed_for(exercise, True)][: 1 + hidden]
    cases = [one for seed in seeds for one in drawn(exercise, seed)[0]]
    expected = [wanted for seed in seeds for wanted in drawn(exercise, seed)[1]]
    seen: list[Observation] = []
    faults: list[Fault] = []
    faulty: set[int] = set()
    seconds = 0.0
    for is_hidden, seed in enumerate(seeds):
        for one, wanted in zip(*drawn(exercise, seed), strict=True):
            if seen and (seen[-1].timed_out or "NotImplementedError" in seen[-1].error_types):
                break
            began = time.monotonic()
            seen.append(candidate.observe(exercise.drive, one.args))
            seconds += time.monotonic() - began
            if found := faults_of(exercise, one, wanted, seen[-1], hidden=bool(is_hidden)):
                faults += found
                faulty.add(len(seen) - 1)
        if not any(f.criterion in ("runs", "shape", "values") for f in faults):
            faults += broken_properties(exercise, candidate, seed, hidden=bool(is_hidden))
    evidence = Evidence(exercise, candidate, seeds[-1], cases, expected, seen, faulty, seconds)
    return _verdict(exercise, faults, diagnose(evidence) if faults else None, show=not hidden)


def faults_of(
    exercise: Exercise, one: Case, wanted: Observation, seen: Observation, *, hidden: bool = False
) -> list[Fault]:
    """What is wrong with one observation; at most one fault about the answer and one about the arguments."""
    where = describe_case(exercise, one, hidden=hidden)

    def fault(criterion: str, words: str) -> Fault:
        if one.is_edge and criterion in ("runs", "shape", "values"):
            criterion = "edges"
        return Fault(criterion, f"{words} {where}".strip(), one, wanted.answer, seen.answer)

    name = exercise.name
    raised = _known_error(seen.error_types) if hidden else seen.error
    if seen.timed_out:
        return [Fault("runs", f"{name} did not come back in time. {where}".strip(), one)]
    if "NotImplementedError" in seen.error_types:
        return [Fault("runs", f"{name} is not written yet: it still raises NotImplementedError.", one)]
    if wanted.error:
        if wanted.error_types[0] in seen.error_types:
            return _impure(exercise, one, wanted, seen, hidden)
        came = f"returned {'an answer' if hidden else seen.refused or kind_of(seen.answer)}"
        if seen.error:
            came = f"raised {raised}"
        return [fault("runs", f"{name} should raise a {wanted.error_types[0]} here; it {came}.")]
    if seen.error:
        is_unfit = Unfit.__name__ in seen.error_types and not hidden
        return [fault("runs", f"{name}: {seen.error}." if is_unfit else f"{name} raised {raised}.")]
    if seen.refused:
        what = "something" if hidden else f"{seen.refused},"
        return [
            fault(
                "runs",
                f"{name} returned {what} which is no plain value: return arrays, real numbers, "
                "strings, or lists, tuples, sets and dicts of them.",
            )
        ]
    if seen.answer is None and wanted.answer is not None:
        return [fault("runs", f"{name} returned None: is there a return at its end?")]
    found = difference(canonical(exercise, wanted.answer), canonical(exercise, seen.answer), exercise.gives)
    if found:
        words = f"What {name} returns {_DIFFERS[found.kind]}." if hidden else found.words
        return [fault("values" if found.kind == "value" else "shape", words)]
    return _impure(exercise, one, wanted, seen, hidden)


_DIFFERS = {
    "form": "has another form than it should",
    "shape": "has another shape than it should",
    "dtype": "has another dtype than it should",
    "value": "is not what it should be",
}


def _known_error(types: tuple[str, ...]) -> str:
    """The class of an error, by a name that is Python's and not the candidate's: the first of its bases that is."""
    for name in types:
        known = getattr(builtins, name, None)
        if isinstance(known, type) and issubclass(known, BaseException):
            return name
    return "an error"


def _impure(exercise: Exercise, one: Case, wanted: Observation, seen: Observation, hidden: bool) -> list[Fault]:
    def fault(words: str) -> list[Fault]:
        return [Fault("purity", words, one, wanted.answer, seen.answer)]

    def named(indices: list[int]) -> str:
        takes = exercise.takes
        return " and ".join(takes[i].name if i < len(takes) else f"argument {i + 1}" for i in indices)

    if changed := [i for i in seen.changed if i not in wanted.changed]:
        return fault(f"{exercise.name} changed its argument {named(changed)}: work on a copy, or build a new value.")
    if marked := [i for i in seen.with_gradient if i not in wanted.with_gradient]:
        return fault(
            f"After {exercise.name} its argument {named(marked)} asks for a gradient (`requires_grad`) or has one "
            "(`grad`). The tensor is the caller's: work on its `.detach()`."
        )
    if seen.wrote_meanwhile and not wanted.wrote_meanwhile:
        return fault(
            f"{exercise.name} writes to an argument while it works, even if it puts the old value back: work on a copy."
        )
    if seen.shared and not exercise.may_share:
        return fault(
            f"What {exercise.name} returns shares memory with an argument, so that changing one changes both: "
            "return a copy."
        )
    if exercise.counts_calls and seen.calls != wanted.calls:
        count = f"{sum(seen.calls)} times, it takes {sum(wanted.calls)}"
        if hidden:
            count = "more often than it takes" if sum(seen.calls) > sum(wanted.calls) else "not as often as it takes"
        where = describe_case(exercise, one, hidden=hidden)
        return fault(f"{exercise.name} called the function that it was given {count}. {where}".strip())
    return []


def broken_properties(exercise: Exercise, candidate: Candidate, seed: Seed, *, hidden: bool = False) -> list[Fault]:
    """The first of the exercise's properties that does not hold for a seed, as a fault."""

    class Failed(Exception):
        pass

    def call(*args: Any) -> Plain:
        seen = candidate.observe(exercise.drive, args)
        if seen.error or seen.timed_out or seen.refused:
            raise Failed(seen.error or "no answer")
        return seen.answer

    for claim, holds in exercise.properties:
        try:
            words = holds(call, np.random.default_rng(seed))
        except Failed as why:
            words = f"{exercise.name} raised {why}."
        except Exception:
            words = "The answers do not fit together."
        if words:
            told = f"{claim}: this does not hold in a hidden case." if hidden else f"{claim}: {words}"
            return [Fault("values", told, Case(()))]
    return []


def describe_case(exercise: Exercise, one: Case, *, hidden: bool = False) -> str:
    """In which case: "(In the case T=5, N=3; one row.)". Sizes are read off the arguments' axes. Of a hidden case the
    arguments that are numbers are not told.
    """
    sizes: dict[str, int] = {}
    for axes, value in zip(exercise.takes, one.args, strict=False):
        if axes.axes is None:
            if not hidden and isinstance(value, (bool, int, float)) and len(sizes) < 8:
                sizes.setdefault(axes.name, value)  # type: ignore[arg-type]
        elif isinstance(value, np.ndarray) and value.ndim == len(axes.axes):
            for letter, size in zip(axes.axes, value.shape, strict=True):
                if letter.isalpha():
                    sizes.setdefault(letter, size)
    text = ", ".join(f"{k}={v:g}" if isinstance(v, float) else f"{k}={v}" for k, v in sizes.items())
    text = "; ".join(t for t in (text, one.note) if t)
    if hidden:
        return f"(In a hidden case: {text}.)" if text else "(In a hidden case.)"
    return f"(In the case {text}.)" if text else ""


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


def _verdict(exercise: Exercise, faults: list[Fault], diagnosis: Diagnosis | None, *, show: bool) -> Verdict:
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
    first = min(faults, key=lambda f: list(WEIGHTS).index(f.criterion))
    words = f"{diagnosis.message} {first.words}" if diagnosis else first.words
    look: dict[str, Any] = {"inputs": first.case.args, "expected": first.expected, "got": first.got} if show else {}
    look = copy.deepcopy(look)  # who looks at a case may write to it
    if show:
        place = (canonical(exercise, first.expected), canonical(exercise, first.got))
        look["table"] = excerpt(*place, exercise.gives)
    points = round(score * exercise.points, 2)
    return Verdict(
        exercise.name, False, score, points, exercise.points, words, diagnosis.name if diagnosis else None, met, **look
    )


def judge_value(question: Question, value: Any) -> Verdict:
    """The verdict on a question's answer: all or nothing."""

    def failed(words: str, diagnosis: str | None = None) -> Verdict:
        return Verdict(question.name, False, 0.0, 0.0, question.points, words, diagnosis)

    example = f" Answer in this form: {question.example}." if question.example else ""
    try:
        plain = question.canonical(to_plain(value))
    except NotPlain as why:
        return failed(f"{question.name} should be a plain value; yours is {why}.{example}")
    if plain is None or plain is Ellipsis:
        return failed(f"{question.name} is not answered yet.{example}")
    found = difference(question.answer, plain)
    if not found:
        return Verdict(question.name, True, 1.0, float(question.points), question.points, "Right.")
    if isinstance(question, Choice) and isinstance(plain, set):
        if unknown := plain - question.letters:
            return failed(f"There is no option {min(map(str, unknown))}.{example}")
        mistake = question.first_misread(plain)
    else:
        mistake = next((m for m in question.misconceptions if not difference(m.answer, plain)), None)
    if mistake:
        return failed(mistake.message, mistake.name)
    if found.kind == "form" and isinstance(plain, float) and plain == question.answer:
        return failed(f"The number is right, but a whole number is asked: {question.answer}, not {plain}.")
    return failed(f"That is not it.{example if found.kind == 'form' else ''}")
