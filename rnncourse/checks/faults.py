"""What is wrong with an answer: each case, and each property, is compared with what the reference does.

What is wrong is a fault, and a fault belongs to a criterion: it runs, the shape is right, the values are right on
ordinary cases, on edge cases, and the arguments are left alone.
"""

import builtins
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from rnncourse.checks.cases import Candidate, End, Seed, canonical, ends
from rnncourse.checks.compare import difference, kind_of
from rnncourse.checks.drive import Observation
from rnncourse.checks.exercise import Case, Exercise
from rnncourse.checks.facts import Fact
from rnncourse.checks.plain import Plain, Unfit


@dataclass(frozen=True)
class Fault:
    """What is wrong with one case: the criterion that it fails, and a sentence; or with a property, by its `claim`."""

    criterion: str
    words: str
    case: Case
    expected: Plain = None
    got: Plain = None
    claim: str = ""
    by_the_way: str = ""  # the name of what is seen whatever the values are: of another dtype, an argument changed


def faults_of(
    exercise: Exercise, one: Case, wanted: Observation, seen: Observation, *, hidden: bool = False
) -> list[Fault]:
    """What is wrong with one observation: at most a fault about the answer, one about its precision where values are
    wrong as well, and one about the arguments.
    """

    def fault(criterion: str, words: str, by_the_way: str = "") -> Fault:
        if one.is_edge and criterion in ("runs", "shape", "values"):
            criterion = "edges"
        words = f"{words} {describe_case(exercise, one, hidden=hidden)}".strip()
        return Fault(criterion, words, one, wanted.answer, seen.answer, by_the_way=by_the_way)

    name = exercise.name
    raised = _known_error(seen.error_types) if hidden else seen.error
    if seen.timed_out:
        where = describe_case(exercise, one, hidden=hidden)
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
    if exercise.facts:
        return _of_facts(exercise, one, seen, hidden) or _impure(exercise, one, wanted, seen, hidden)
    both = canonical(exercise, wanted.answer), canonical(exercise, seen.answer)
    found = [difference(*both, exercise.gives, loose=exercise.values_alone)]
    if found[0] and found[0].kind == "precision":
        found.insert(0, difference(*both, exercise.gives, loose=True))
    faults = []
    for one_of_them in filter(None, found):
        words = f"What {name} returns {_DIFFERS[one_of_them.kind]}." if hidden else one_of_them.words
        by_the_way = "other_dtype" if one_of_them.kind in ("dtype", "precision") else ""
        faults.append(fault("values" if one_of_them.kind == "value" else "shape", words, by_the_way))
    return [*faults, *_impure(exercise, one, wanted, seen, hidden)]


def facts_of(exercise: Exercise, one: Case, seen: Observation) -> list[Fact]:
    """What must hold of an answer to this case; of one that is not of the form that is asked, that it is not."""
    assert exercise.facts
    try:
        return list(exercise.facts(one.args, *seen.answer))
    except Unfit as why:
        words = f"{why}."
    except Exception:  # whatever an answer holds
        words = f"What {exercise.name} returns is not of the form that is asked."
    return [Fact("the form", False, words)]


def broken_fact(exercise: Exercise, one: Case, seen: Observation) -> Fact | None:
    """The first fact that does not hold of an answer to this case."""
    return next((fact for fact in facts_of(exercise, one, seen) if fact.holds is False), None)


def _of_facts(exercise: Exercise, one: Case, seen: Observation, hidden: bool) -> list[Fault]:
    fact = broken_fact(exercise, one, seen)
    if fact is None:
        return []
    of_mistakes = {m.name: m.message for m in exercise.misconceptions}
    words = fact.sentence or of_mistakes.get(fact.cause, "")
    words = f"In a hidden case this does not hold: {fact.name}." if hidden else words
    words = f"{words} {describe_case(exercise, one, hidden=hidden)}".strip()
    return [Fault("edges" if one.is_edge else "values", words, one)]


_DIFFERS = {
    "form": "has another form than it should",
    "shape": "has another shape than it should",
    "dtype": "has another dtype than it should",
    "precision": "has another dtype than it should",
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
        words = f"{words} {describe_case(exercise, one, hidden=hidden)}".strip()
        return [Fault("purity", words, one, wanted.answer, seen.answer, by_the_way="argument_changed")]

    def named(indices: list[int]) -> str:
        takes = exercise.takes
        return " and ".join(takes[i].name if i < len(takes) else f"argument {i + 1}" for i in indices)

    if exercise.values_alone:
        return []
    if changed := [i for i in seen.changed if i not in wanted.changed]:
        is_bag = exercise.drive.several or exercise.drive.module
        what = "what it was given" if is_bag else f"its argument {named(changed)}"
        return fault(f"{exercise.name} changed {what}: work on a copy, or build a new value.")
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
        return fault(f"{exercise.name} called the function that it was given {count}.")
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
            told = f"“{claim}” does not hold{' in a hidden case.' if hidden else f': {words}'}"
            return [Fault("values", told, Case(()), claim=claim)]
    return []


def at_an_end(
    exercise: Exercise, candidate: Candidate, seed: Seed, *, hidden: bool = False
) -> tuple[End, Observation, Fault] | None:
    """The first of the `ends` in which an answer is wrong, what it gives there, and what is said of it. Where only the
    layout is another, an error is no fault: PyTorch's `.view` takes some layouts only, and says so.
    """
    for end in ends(exercise, seed):
        seen = candidate.observe(end.drive, end.case.args)
        if seen.error and end.drive is not exercise.drive:
            continue
        if found := faults_of(exercise, end.case, end.wanted, seen, hidden=hidden):
            return end, seen, replace(found[0], words=f"{end.words} {found[0].words}")
    return None


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
