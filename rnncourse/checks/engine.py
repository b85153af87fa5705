"""The engine: from an exercise and a candidate to a verdict.

Each case is given to the candidate and to the reference; what differs is a fault, and a fault belongs to a criterion:
it runs, the shape is right, the values are right on ordinary cases, on edge cases, and the arguments are left alone.
Credit goes by criterion, in that order: right edges with wrong values are luck, and count for nothing. After a fault
comes the diagnosis (`diagnosis.py`): which mistake gives what the candidate gave?
"""

from __future__ import annotations

import copy
import time
from dataclasses import dataclass
from typing import Any

import numpy as np

from rnncourse.checks.callables import Named
from rnncourse.checks.cases import Candidate, Seed, canonical, drawn, seed_for
from rnncourse.checks.compare import difference, kind_of
from rnncourse.checks.diagnosis import Diagnosis, Evidence, diagnose
from rnncourse.checks.drive import Observation, Unfit
from rnncourse.checks.excerpt import excerpt
from rnncourse.checks.exercise import WEIGHTS, Case, Choice, Exercise, Question
from rnncourse.checks.plain import NotPlain, Plain, to_plain
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
    began = time.monotonic()
    for i, (one, wanted) in enumerate(zip(cases, expected, strict=True)):
        seen.append(candidate.observe(exercise.drive, one.args))
        if found := faults_of(exercise, one, wanted, seen[-1]):
            faults += found
            faulty.add(i)
        if seen[-1].timed_out or "NotImplementedError" in seen[-1].error_types:
            break
    for seed in seeds:
        if not any(f.criterion in ("runs", "shape", "values") for f in faults):
            faults += broken_properties(exercise, candidate, seed)
    evidence = Evidence(exercise, candidate, seeds[-1], cases, expected, seen, faulty, time.monotonic() - began)
    return _verdict(exercise, faults, diagnose(evidence) if faults else None, show=not hidden)


def faults_of(exercise: Exercise, one: Case, wanted: Observation, seen: Observation) -> list[Fault]:
    """What is wrong with one observation; at most one fault about the answer and one about the arguments."""

    def fault(criterion: str, words: str) -> Fault:
        if one.is_edge and criterion in ("runs", "shape", "values"):
            criterion = "edges"
        return Fault(criterion, f"{words} {describe_case(exercise, one)}".strip(), one, wanted.answer, seen.answer)

    name = exercise.name
    if seen.timed_out:
        return [Fault("runs", f"{name} did not come back in time. {describe_case(exercise, one)}".strip(), one)]
    if "NotImplementedError" in seen.error_types:
        return [Fault("runs", f"{name} is not written yet: it still raises NotImplementedError.", one)]
    if wanted.error:
        if wanted.error_types[0] in seen.error_types:
            return _impure(exercise, one, wanted, seen)
        came = f"raised {seen.error}" if seen.error else f"returned {seen.refused or kind_of(seen.answer)}"
        return [fault("runs", f"{name} should raise a {wanted.error_types[0]} here; it {came}.")]
    if seen.error:
        is_unfit = Unfit.__name__ in seen.error_types
        return [fault("runs", f"{name}: {seen.error}." if is_unfit else f"{name} raised {seen.error}.")]
    if seen.refused:
        return [
            fault(
                "runs",
                f"{name} returned {seen.refused}, which is no plain value: return arrays, real numbers, "
                "strings, or lists, tuples, sets and dicts of them.",
            )
        ]
    if seen.answer is None and wanted.answer is not None:
        return [fault("runs", f"{name} returned None: is there a return at its end?")]
    found = difference(canonical(exercise, wanted.answer), canonical(exercise, seen.answer), exercise.gives)
    if found:
        return [
            fault({"form": "shape", "shape": "shape", "dtype": "shape", "value": "values"}[found.kind], found.words)
        ]
    return _impure(exercise, one, wanted, seen)


def _impure(exercise: Exercise, one: Case, wanted: Observation, seen: Observation) -> list[Fault]:
    def fault(words: str) -> list[Fault]:
        return [Fault("purity", words, one, wanted.answer, seen.answer)]

    if changed := [i for i in seen.changed if i not in wanted.changed]:
        names = [exercise.takes[i].name if i < len(exercise.takes) else f"argument {i + 1}" for i in changed]
        return fault(
            f"{exercise.name} changed its argument {' and '.join(names)}: work on a copy, or build a new value."
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
        return fault(
            f"{exercise.name} called the function that it was given {count}. {describe_case(exercise, one)}".strip()
        )
    return []


def broken_properties(exercise: Exercise, candidate: Candidate, seed: Seed) -> list[Fault]:
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
            return [Fault("values", f"{claim}: {words}", Case(()))]
    return []


def describe_case(exercise: Exercise, one: Case) -> str:
    """In which case: "(in the case T=5, N=3; one row)". Sizes are read off the arguments' axes."""
    sizes: dict[str, int] = {}
    for axes, value in zip(exercise.takes, one.args, strict=False):
        if axes.axes is None:
            if isinstance(value, (bool, int, float)) and len(sizes) < 8:
                sizes.setdefault(axes.name, value)  # type: ignore[arg-type]
        elif isinstance(value, np.ndarray) and value.ndim == len(axes.axes):
            for letter, size in zip(axes.axes, value.shape, strict=True):
                if letter.isalpha():
                    sizes.setdefault(letter, size)
    text = ", ".join(f"{k}={v:g}" if isinstance(v, float) else f"{k}={v}" for k, v in sizes.items())
    text = "; ".join(t for t in (text, one.note) if t)
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
