"""How one part of a wrong answer is related to what it should be: `dW` to the right `dW`, wherever it is wrong.

The relations that hold for all that is wrong are diagnoses (`generic`). Here are those of one part, be the others as
they may: one of the generic ones; that it is an argument, or another part, instead; that just so much is missing, or a
factor, which are known by name; that it is a function of what it should be; and for whole numbers, a sum of products of
sizes that has come on top.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations, permutations, product
from typing import Any

import numpy as np

from rnncourse.checks.exercise import Axes, Case, Exercise
from rnncourse.checks.generic import GENERIC, Part, equal, parts_of, relations_of, sizes_of
from rnncourse.checks.plain import Plain
from rnncourse.checks.where.inquiry import Asked

Parameters = dict[str, Plain]


@dataclass
class Look:
    """One case, and the parts of its answer; None if no answer came that has them."""

    exercise: Exercise
    one: Asked
    parts: list[Part] | None
    memory: dict[Any, Any] = field(default_factory=dict, repr=False)

    @cached_property
    def sizes(self) -> dict[str, int]:
        """The sizes of the case by name."""
        return sizes(self.exercise, self.case)

    @property
    def case(self) -> Case:
        return self.one.case

    def named(self, name: str) -> list[Part]:
        """The parts of this name."""
        return [part for part in self.parts or () if part.name == name]


Claim = Callable[[Look, Part], "bool | None"]  # whether it is so of a wrong part; None where nobody can tell


def looks(exercise: Exercise, asked: Sequence[Asked], *, whole: bool = False) -> list[Look]:
    """The cases with the parts of their answers, but for those in which an error was asked for and came."""
    found = []
    for one in asked:
        if one.wanted.error and not one.is_wrong:
            continue
        found.append(Look(exercise, one, list(parts_of(exercise, one.wanted, one.seen, whole=whole)) or None))
    return found


def wrong_names(seen: Sequence[Look]) -> list[str]:
    """The names of the parts that are wrong somewhere."""
    return list(dict.fromkeys(p.name for one in seen for p in one.parts or () if not p.is_right))


def all_names(seen: Sequence[Look]) -> list[str]:
    """The names of all parts."""
    return list(dict.fromkeys(p.name for one in seen for p in one.parts or ()))


def is_so(claim: Claim, name: str, seen: Sequence[Look], parameters: Parameters) -> bool:
    """Whether a claim about the parts of this name is so in every case in which they are wrong, and what the
    parameters say besides: whether all other parts are right (`alone`), whether every answer has its parts (`whole`),
    whether it is so of the parts that are right too (`always`), as nothing plus nothing is.
    """
    for one in seen:
        if one.parts is None:
            if parameters["whole"]:
                return False
            continue
        for part in one.parts:
            if part.name != name:
                if parameters["alone"] and not part.is_right:
                    return False
            elif part.is_right:
                if parameters.get("always") and claim(one, part) is False:
                    return False
            elif part.is_equal or claim(one, part) is False:
                return False  # what is wrong in its dtype alone is not wrong in its numbers
    return True


def supported(claim: Claim, name: str, seen: Sequence[Look], cases: int = 2, entries: int = 3) -> bool:
    """Whether so many cases, and entries of them, bear a claim out."""
    borne = [
        part.right.size
        for one in seen
        for part in one.named(name)
        if not part.is_right and np.any(part.right) and claim(one, part) is True
    ]
    return len(borne) >= cases and sum(borne) >= entries


def scope(name: str, seen: Sequence[Look]) -> Parameters:
    """What goes with every statement on a part."""
    others = [n for n in all_names(seen) if n != name]
    return {
        "part": name,
        "alone": bool(others) and wrong_names(seen) == [name],
        "whole": all(one.parts is not None for one in seen),
    }


def around(parameters: Parameters, sentence: str) -> str:
    """The sentence, with what goes with every statement on a part."""
    part = parameters["part"]
    if not parameters.get("always", True) and " wrong" not in sentence:
        rest = sentence.removeprefix(f"{part}: ")
        if sentence.startswith(f"{part} is "):
            sentence = f"Wherever {part} is wrong, it{sentence.removeprefix(part)}"
        else:
            sentence = f"Wherever {part} is wrong: {rest}"
    if not parameters["whole"]:
        if sentence.startswith(("Where", "Before", "At ")):
            sentence = sentence[0].lower() + sentence[1:]
        sentence = f"Where an answer of the right form comes back: {sentence}"
    return sentence + (" The other results are right." if parameters["alone"] else "")


# --- what may be known by name in a case


def known(one: Look, *, at: str = "") -> dict[str, np.ndarray]:
    """The arrays and numbers of a case by name: its arguments, their products, and the right parts. Of what has an axis
    of time, only the first or the last step, if that is asked for.
    """
    if at not in one.memory:
        one.memory[at] = _known(one, at)
    held: dict[str, np.ndarray] = one.memory[at]
    return held


def _known(one: Look, at: str) -> dict[str, np.ndarray]:
    found: dict[str, np.ndarray] = {}
    for axes, value in zip(one.exercise.takes, one.case.args, strict=False):
        if isinstance(value, np.ndarray) and value.dtype.kind in "biuf" and value.size:
            is_series = (axes.axes or ("",))[0] == "T" and value.ndim > 1
            if not is_series or not at:
                found[axes.name] = value
            if is_series:
                found |= {f"{axes.name}[{i}]": value[i] for i in (0, -1) if not at or i == _STEPS[at]}
        elif isinstance(value, (float, int)) and not isinstance(value, bool):
            found[axes.name] = np.asarray(value)
    for name, by in [(n, v) for n, v in found.items() if not v.ndim and 0 <= v <= 1]:
        for other, value in list(found.items()):
            if value.ndim and value.dtype.kind == "f":
                found[f"{name} · {other}"], found[f"(1 - {name}) · {other}"] = by * value, (1 - by) * value
    matrices = {name: value for name, value in found.items() if value.ndim == 2 and value.dtype.kind == "f"}
    for a, left in matrices.items():
        for b, right in matrices.items():
            if "·" not in a + b and a != b and left.shape[1] == right.shape[0] and not b.endswith("]"):
                found[f"{a} @ {b}"] = left @ right
    if not at and len(names := {part.name for part in one.parts or ()}) > 1:
        for name in names:
            if len(same := one.named(name)) == 1:
                found[f"the right {name}"] = same[0].right
    return found


_STEPS = {"first": 0, "last": -1}


def _seen_as(part: Part, at: str, before: str) -> Part | None:
    """A part at its first or last step alone, or before its last function; None where that cannot be had."""
    right, own = part.right, part.own
    if right.shape != own.shape or right.dtype.kind != "f" or own.dtype.kind != "f":
        return None if at or before else part
    axes = part.axes
    if at:
        letters = part.axes.axes or ()
        if letters[:1] != ("T",) or right.ndim < 2 or not len(right):
            return None
        right, own, axes = right[_STEPS[at]], own[_STEPS[at]], Axes(axes.name, letters[1:])
    if before:
        if np.float32 in (right.dtype, own.dtype):  # too coarse to be undone
            return None
        with np.errstate(all="ignore"):
            right, own = _UNDONE[before](right), _UNDONE[before](own)
        if not (np.isfinite(right).all() and np.isfinite(own).all()) or np.abs(right).max(initial=0) > 7:
            return None
    return Part(axes, right, own, part.key)


_UNDONE: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "tanh": np.arctanh,
    "sigmoid": lambda y: np.log(y / (1 - y)),
}


def _factors(one: Look, at: str) -> dict[str, np.ndarray]:
    """What a part may have been multiplied with."""
    found = dict(known(one, at=at))
    for name in ("h", "H", "h_prev"):
        if name in found and found[name].dtype.kind == "f":
            found[f"1 - {name}²"] = 1 - found[name] ** 2
    return found


def _fitted(value: np.ndarray, part: Part) -> np.ndarray | None:
    """The value as it meets the part: axes are added behind it where that makes it fit, as for a mask (T, N)."""
    if value.ndim > part.right.ndim:
        return None
    for shape in (value.shape, value.shape + (1,) * (part.right.ndim - value.ndim)):
        try:
            if np.broadcast_shapes(shape, part.right.shape) == part.right.shape:
                return value.reshape(shape)
        except ValueError:
            continue
    return None


def sizes(exercise: Exercise, case: Case) -> dict[str, int]:
    """The sizes of a case by name: of axes, of lists and texts, and arguments that are whole numbers."""
    found = dict(sizes_of(exercise, case))
    for axes, value in zip(exercise.takes, case.args, strict=False):
        if isinstance(value, int) and not isinstance(value, bool):
            found.setdefault(axes.name, value)
        elif isinstance(value, (str, list)):
            found[f"len({axes.name})"] = len(value)
        elif axes.name == "mask" and isinstance(value, np.ndarray) and set(np.unique(value)) <= {0, 1}:
            found["the number of ones in mask"] = int(value.sum())
    return found


# --- the claims, each made from plain parameters


def _generic(relation: str, axis: str) -> Claim:
    def claim(one: Look, part: Part) -> bool | None:
        for other in relations_of(part, sizes_of(one.exercise, one.case)):
            if (other.name, other.axis) == (relation, axis):
                return other.holds(part.right, part.own, sizes_of(one.exercise, one.case))
        return False

    return claim


def _instead(other: str) -> Claim:
    def claim(one: Look, part: Part) -> bool | None:
        value = known(one).get(other)
        return value is not None and equal(value, part.own)

    return claim


def _term(other: str, sign: int, at: str, before: str) -> Claim:
    def claim(one: Look, part: Part) -> bool | None:
        seen, value = _seen_as(part, at, before), known(one, at=at).get(other)
        if seen is None:
            return None if part.own.shape == part.right.shape else False
        fitted = None if value is None or value.dtype.kind not in "iuf" else _fitted(value, seen)
        if fitted is None or seen.own.shape != seen.right.shape:
            return False
        return _near(seen.right + sign * fitted, seen.own)

    return claim


def _by(other: str, is_missing: bool, at: str) -> Claim:
    def claim(one: Look, part: Part) -> bool | None:
        seen, value = _seen_as(part, at, ""), _factors(one, at).get(other)
        if seen is None:
            return None if part.own.shape == part.right.shape else False
        fitted = None if value is None else _fitted(value, seen)
        if fitted is None or seen.own.shape != seen.right.shape or not np.any(fitted):
            return False
        if not np.any(seen.own if is_missing else seen.right):
            return False
        a, b = (seen.own, seen.right) if is_missing else (seen.right, seen.own)
        return _near(a * fitted, b)

    return claim


def _formed(how: str, axis: int) -> Claim:
    function, _ = FORMS[how]

    def claim(one: Look, part: Part) -> bool | None:
        right, own = part.right, part.own
        if "b" in (right.dtype.kind, own.dtype.kind):
            return False
        is_inverse = how.startswith("its ")
        array = own if is_inverse else right
        if array.ndim <= axis or not array.shape[axis]:
            return False
        return _near(right, function(own, axis)) if is_inverse else _near(function(right, axis), own)

    return claim


# What was done to the right array, or has to be done to one's own (these begin with "its"), along an axis.
FORMS: dict[str, tuple[Callable[[np.ndarray, int], np.ndarray], str]] = {
    "first half": (lambda x, k: np.split(x, [x.shape[k] // 2], k)[0], "only the first half of what it should be"),
    "second half": (lambda x, k: np.split(x, [x.shape[k] // 2], k)[1], "only the second half of what it should be"),
    "sum": (lambda x, k: x.sum(axis=k), "what it should be, summed"),
    "mean": (lambda x, k: x.mean(axis=k), "the mean of what it should be"),
    "first": (lambda x, k: x.take(0, axis=k), "only the first entry of what it should be"),
    "last": (lambda x, k: x.take(-1, axis=k), "only the last entry of what it should be"),
    "one more axis": (lambda x, k: np.expand_dims(x, k), "right, but has an axis of length 1 too many"),
    "flipped": (lambda x, k: np.flip(x, k), "what it should be, the other way round"),
    "rolled": (
        lambda x, k: np.roll(x, 1, k),
        "what it should be, but each entry is one place too far on (the last first)",
    ),
    "rolled back": (
        lambda x, k: np.roll(x, -1, k),
        "what it should be, but each entry is one place too early (the first last)",
    ),
    "sorted": (lambda x, k: np.sort(x, k), "made of the right entries, but sorted"),
    "halves": (
        lambda x, k: np.concatenate(np.split(x, [x.shape[k] // 2], k)[::-1], k),
        "right, but its two halves are exchanged",
    ),
    "its sum": (lambda x, k: x.sum(axis=k), "right once it is summed"),
    "its mean": (lambda x, k: x.mean(axis=k), "right once its mean is taken"),
    "its sum, kept": (lambda x, k: x.sum(axis=k, keepdims=True), "right once it is summed"),
    "its first": (lambda x, k: x[(slice(None),) * k + (slice(None, -1),)], "right, but has one more entry at its end"),
    "its last": (
        lambda x, k: x[(slice(None),) * k + (slice(1, None),)],
        "right, but has one more entry at its beginning",
    ),
    "its running sum": (lambda x, k: np.cumsum(x, k), "right once its running sums are taken"),
}


def _rearranged(order: list[int]) -> Claim:
    def claim(one: Look, part: Part) -> bool | None:
        return part.right.ndim == len(order) and _near(part.right.transpose(order), part.own)

    return claim


def _reshaped() -> Claim:
    def claim(one: Look, part: Part) -> bool | None:
        right, own = part.right, part.own
        return right.shape != own.shape and right.size == own.size > 1 and _near(right.ravel(), own.ravel())

    return claim


def _scaled(above: list[str], below: list[str]) -> Claim:
    def claim(one: Look, part: Part) -> bool | None:
        has = one.sizes
        if part.own.shape != part.right.shape or any(not has.get(name) for name in (*above, *below)):
            return False
        by = np.prod([float(has[n]) for n in above]) / np.prod([float(has[n]) for n in below])
        return None if by == 1 else _near(part.right * by, part.own)

    return claim


def _each_by_its_own(operation: str, axis: str) -> Claim:
    """Each case, or each row of the last axis, has a factor or a term of its own."""

    def claim(one: Look, part: Part) -> bool | None:
        right, own = part.right.astype(float), part.own.astype(float)
        if right.shape != own.shape or not right.ndim:
            return False
        if right.shape[-1] < 2:
            return None
        if not (np.isfinite(right).all() and np.isfinite(own).all()):
            return False
        if axis == "case":
            right, own = right.reshape(1, -1), own.reshape(1, -1)
        if operation == "factor":
            at = np.abs(right).argmax(axis=-1)[..., None]
            top, its = np.take_along_axis(right, at, -1), np.take_along_axis(own, at, -1)
            if not top.all() or not its.all():
                return False
            return _near(right * (its / top), own)
        return _near(right + (own - right)[..., :1], own)

    return claim


def _offset(by: float) -> Claim:
    def claim(one: Look, part: Part) -> bool | None:
        return part.own.shape == part.right.shape and _near(part.right + by, part.own)

    return claim


_FUNCTIONS: dict[str, tuple[Callable[[Any], Any], str]] = {
    "1 - x": (lambda x: 1 - x, "1 minus what it should be"),
    "log": (np.log, "the logarithm of what it should be"),
    "-log": (lambda x: -np.log(x), "minus the logarithm of what it should be"),
    "exp": (np.exp, "e to the power of what it should be"),
    "exp(-x)": (lambda x: np.exp(-x), "e to the power of minus what it should be"),
    "sqrt": (np.sqrt, "the square root of what it should be"),
    "square": (np.square, "the square of what it should be"),
    "1/x": (lambda x: 1 / x, "one divided by what it should be"),
    "abs": (np.abs, "what it should be, but without the signs"),
    "tanh": (np.tanh, "the tanh of what it should be"),
    "arctanh": (np.arctanh, "what it should be before the tanh"),
    "sigmoid": (lambda x: 1 / (1 + np.exp(-x)), "the sigmoid of what it should be"),
    "logit": (lambda x: np.log(x / (1 - x)), "what it should be before the sigmoid"),
    "positive": (lambda x: np.maximum(x, 0), "what it should be, but with 0 for all that is negative"),
    "rounded": (np.round, "what it should be, rounded to whole numbers"),
    "cut off": (np.trunc, "what it should be, without what stands behind the point"),
    "2**x": (np.exp2, "2 to the power of what it should be"),
    "log2": (np.log2, "the logarithm to the base 2 of what it should be"),
    "not": (lambda x: 1 - x, "the opposite of what it should be, everywhere"),
    "running sum": (lambda x: np.cumsum(x, axis=0), "the running sums of what it should be, along the first axis"),
    "running sum from behind": (
        lambda x: np.cumsum(x[::-1], axis=0)[::-1],
        "the running sums of what it should be, from the end of the first axis",
    ),
    "differences": (
        lambda x: np.diff(x, axis=0, prepend=np.zeros_like(x[:1])),
        "the differences of what it should be, from one entry of the first axis to the next",
    ),
}
_FLIPS = {"running sum", "running sum from behind", "differences"}


def _of_function(name: str) -> Claim:
    function, _ = _FUNCTIONS[name]

    def claim(one: Look, part: Part) -> bool | None:
        if part.own.shape != part.right.shape or (part.right.dtype.kind == "b") != (name == "not"):
            return False
        if name in _FLIPS and not part.right.ndim:
            return False
        if part.right.dtype.kind in "iu" and name not in _FLIPS and name not in ("abs", "1 - x"):
            return False
        with np.errstate(all="ignore"):
            made = np.asarray(function(part.right.astype(float)))
        return bool(np.isfinite(part.right).all()) and _near(made, part.own)

    return claim


def _combination(terms: list[list[Any]]) -> Claim:
    def claim(one: Look, part: Part) -> bool | None:
        has = one.sizes
        if part.right.ndim or part.own.ndim or not all(name in has for _, names in terms for name in names):
            return False
        return int(part.own) - int(part.right) == _value(terms, has)

    return claim


def _value(terms: list[list[Any]], has: dict[str, int]) -> int:
    total = 0
    for coefficient, names in terms:
        for name in names:
            coefficient *= has[name]
        total += coefficient
    return total


def _near(right: np.ndarray, own: np.ndarray) -> bool:
    if right.shape != own.shape:
        return False
    if "f" not in right.dtype.kind + own.dtype.kind:
        return bool(np.array_equal(right, own))
    if right.size and abs(right.flat[0] - own.flat[0]) > 1e-3 * (abs(right.flat[0]) + abs(own.flat[0]) + 1e-3):
        return False  # most are told apart by one entry
    tolerance = 2e-4 if np.float32 in (right.dtype, own.dtype) else 1e-6
    right, own = right.astype(float), own.astype(float)
    size = float(np.abs(right[np.isfinite(right)]).max(initial=0.0))
    return bool(np.allclose(own, right, rtol=tolerance, atol=tolerance * 0.1 * size, equal_nan=True))


# What the right answer has and a wrong one has not: whether it is so of an array, and how it is said.
INVARIANTS: dict[str, tuple[Callable[[np.ndarray], bool], str]] = {
    "finite": (
        lambda x: bool(np.isfinite(x).all()),
        "has entries that are not finite (nan or inf), where there should be none",
    ),
    "sums to 1": (
        lambda x: bool(np.allclose(x.sum(axis=-1), 1, atol=1e-5)),
        "should sum to 1 along its last axis, and does not",
    ),
    "sums to 0": (
        lambda x: x.ndim > 1 and bool(np.allclose(x.sum(axis=-1), 0, atol=1e-5 * (1 + np.abs(x).max(initial=0)))),
        "should sum to 0 along its last axis, and does not",
    ),
    "not negative": (lambda x: bool((x >= 0).all()), "has negative entries, where there should be none"),
    "at most 1": (
        lambda x: bool((np.abs(x) <= 1 + 1e-6).all()),
        "has entries beyond 1 or -1, where there should be none",
    ),
    "not all the same": (lambda x: bool(np.ptp(x) > 1e-9), "has the same entry everywhere, and should not"),
    "other in each step": (
        lambda x: x.ndim > 1 and len(x) > 1 and bool(np.abs(np.diff(x, axis=0)).max() > 1e-9),
        "is the same for each index of its first axis, and should not be",
    ),
}


SOMETIMES = {"finite", "not negative", "at most 1"}  # it is enough that it is not so in several cases


def _invariant(name: str) -> Claim:
    is_so_of, _ = INVARIANTS[name]

    def claim(one: Look, part: Part) -> bool | None:
        if "b" in (part.right.dtype.kind, part.own.dtype.kind) or part.own.shape != part.right.shape:
            return False
        if not part.right.ndim or part.right.size < 2:
            return None
        right, own = part.right.astype(float), part.own.astype(float)
        if name != "finite" and not np.isfinite(own).all():
            return False
        if not is_so_of(right):
            return None if name in ("not all the same", "other in each step") else False
        return not is_so_of(own) or (None if name in SOMETIMES else False)

    return claim


CLAIMS: dict[str, Callable[..., Claim]] = {
    "generic": _generic,
    "instead": _instead,
    "term": _term,
    "factor": _by,
    "function": _of_function,
    "offset": _offset,
    "combination": _combination,
    "scaled": _scaled,
    "each by its own": _each_by_its_own,
    "form": _formed,
    "order of axes": _rearranged,
    "shape": _reshaped,
    "invariant": _invariant,
}


# --- finding them


def found(seen: Sequence[Look]) -> Iterator[tuple[str, Parameters]]:
    """The relations of parts that are wrong, by kind, each with its parameters. The plainest come first."""
    if not any(one.one.is_wrong and one.parts for one in seen):
        return
    for name in wrong_names(seen):
        base = scope(name, seen)
        telling = _most_telling(name, seen)
        for kind, parameters in _hypotheses(name, seen):
            claim = CLAIMS[kind](**parameters)
            if (
                claim(*telling)
                and is_so(claim, name, seen, base)
                and supported(claim, name, seen, entries=_least(kind, seen, name))
            ):
                always = is_so(claim, name, seen, {**base, "always": True})
                yield kind, {**base, "always": always, **parameters}
                break


def _least(kind: str, seen: Sequence[Look], name: str) -> int:
    """How many entries it takes: of arrays more than of single numbers, of which there are few."""
    if all(not part.right.ndim for one in seen for part in one.named(name)):
        return 4 if kind in ("combination", "scaled", "term", "factor", "offset") else 3
    return 8


def _most_telling(name: str, seen: Sequence[Look]) -> tuple[Look, Part]:
    """The largest of the wrong parts of a name, float64 before float32, and its case."""
    wrong = [(one, part) for one in seen for part in one.named(name) if not part.is_right]
    return max(wrong, key=lambda pair: (pair[1].right.dtype.itemsize, pair[1].right.size))


def _hypotheses(name: str, seen: Sequence[Look]) -> Iterator[tuple[str, Parameters]]:
    """What may be so of a part, as its largest wrong case suggests."""
    one, part = _most_telling(name, seen)
    has = sizes_of(one.exercise, one.case)
    generic = [r for r in relations_of(part, has) if r.name != "other_dtype" and r.holds(part.right, part.own, has)]
    for relation in generic:
        if sum(other.name == relation.name for other in generic) == 1:
            yield "generic", {"relation": relation.name, "axis": relation.axis}
    if part.own.shape == part.right.shape:
        if "b" not in (part.right.dtype.kind, part.own.dtype.kind):
            if not part.right.ndim and part.right.dtype.kind in "iu":
                yield from _combinations(name, seen)
            if (by := _common_offset(part)) is not None:
                yield "offset", {"by": by}
        for function in _FUNCTIONS:
            yield "function", {"name": function}
    for other, value in known(one).items():
        is_product = "·" in other or "@" in other
        if value.shape == part.own.shape and other != f"the right {name}" and value.size > 1 and not is_product:
            yield "instead", {"other": other}
    if "b" in (part.right.dtype.kind, part.own.dtype.kind):
        return
    yield "shape", {}
    for axis in range(max(part.right.ndim, part.own.ndim)):
        yield from (("form", {"how": how, "axis": axis}) for how in FORMS)
    for order in permutations(range(part.right.ndim)) if part.right.ndim in (3, 4) else ():
        yield "order of axes", {"order": list(order)}
    if part.own.shape != part.right.shape:
        return
    for at in ("", "first", "last"):
        for before in ("", *_UNDONE):
            if _seen_as(part, at, before) is None:
                continue
            others = [other for other in known(one, at=at) if other != f"the right {name}"]
            for other, sign in product(others, (-1, 1, -2, 2)):
                yield "term", {"other": other, "sign": sign, "at": at, "before": before}
        if _seen_as(part, at, "") is not None:
            others = [other for other in _factors(one, at) if other != f"the right {name}"]
            for other, is_missing in product(others, (True, False)):
                yield "factor", {"other": other, "is_missing": is_missing, "at": at}
    yield from _scales(name, seen)
    if part.right.dtype.kind == "f" and part.right.ndim:
        for each in ("case", "row") if part.right.ndim > 1 else ("case",):
            yield "each by its own", {"operation": "factor", "axis": each}
            yield "each by its own", {"operation": "term", "axis": each}
    yield from (("invariant", {"name": invariant}) for invariant in INVARIANTS)


def _common_offset(part: Part) -> float | None:
    off = np.unique(part.own.astype(float) - part.right.astype(float)) if part.right.size else np.zeros(0)
    if not off.size or not np.isfinite(off).all() or np.ptp(off) > 1e-9 * max(1.0, float(np.abs(off).max())):
        return None
    return float(f"{off[0]:.9g}")


def _combinations(name: str, seen: Sequence[Look]) -> Iterator[tuple[str, Parameters]]:
    """The sums of products of sizes, with small coefficients, that have come on top of a count."""
    wrong = [(one, part) for one in seen for part in one.named(name) if not part.right.ndim and not part.own.ndim]
    rows = [one.sizes for one, _ in wrong]
    letters = [n for n in rows[0] if all(n in row for row in rows)] if rows else []
    if len({tuple(row[n] for n in letters) for row in rows}) < 4 or not letters or len(letters) > 4:
        return
    off = tuple(int(part.own) - int(part.right) for _, part in wrong)
    degree = 3 if len(letters) < 4 else 2
    products = [list(c) for d in range(degree + 1) for c in _repeated(letters, d)]
    vectors = [(names, tuple(_value([[1, names]], row) for row in rows)) for names in products]
    signed = {
        tuple(c * v for v in vector): (c, names) for names, vector in vectors for c in (1, -1, 2, -2, 3, -3, 4, -4)
    }
    if off in signed:
        yield "combination", {"terms": [list(signed[off])]}
        return
    for vector, (c, names) in signed.items():
        rest = tuple(o - v for o, v in zip(off, vector, strict=True))
        if rest in signed and signed[rest][1] != names:
            yield "combination", {"terms": [[c, names], list(signed[rest])]}
            return


def _repeated(letters: list[str], degree: int) -> Iterator[tuple[str, ...]]:
    if degree == 0:
        yield ()
    elif degree == 1:
        yield from ((a,) for a in letters)
    else:
        yield from (c for c in product(letters, repeat=degree) if list(c) == sorted(c, key=letters.index))


def _scales(name: str, seen: Sequence[Look]) -> Iterator[tuple[str, Parameters]]:
    """The quotients of sizes by which a part is multiplied in every case."""
    rows, factors = [], []
    for one in seen:
        for part in one.named(name):
            at = np.abs(part.right).argmax() if part.right.size and part.right.shape == part.own.shape else None
            if at is None or not part.right.flat[at] or not np.isfinite(part.own.astype(float)).all():
                continue
            factors.append(float(part.own.flat[at]) / float(part.right.flat[at]))
            rows.append(one.sizes)
    if len({f"{f:.4g}" for f in factors}) < 2 or len(factors) < 3:
        return
    columns = {n: np.array([float(row.get(n, 0)) for row in rows]) for n in rows[0]}
    columns = {n: column for n, column in columns.items() if column.all()}
    quotients: list[tuple[list[str], list[str]]] = []
    for a in columns:
        quotients += [([a], []), ([], [a])]
    for a, b in combinations(columns, 2):
        quotients += [([a, b], []), ([], [a, b]), ([a], [b]), ([b], [a])]
    for above, below in quotients:
        made = np.ones(len(rows))
        for n in above:
            made = made * columns[n]
        for n in below:
            made = made / columns[n]
        if np.all(np.abs(made - factors) <= 1e-3 * made):
            yield "scaled", {"above": above, "below": below}


# --- saying them


def words(exercise: Exercise, kind: str, parameters: Parameters) -> str:
    """A relation as a student reads it."""
    part = parameters["part"]
    if kind == "generic":
        text = GENERIC[parameters["relation"]].format(parts=part, axis=parameters["axis"])
    elif kind == "instead":
        text = f"Where {part} is wrong, it holds exactly {_argument(parameters['other'])}."
    elif kind == "term":
        before = f"before the {parameters['before']}, " if parameters["before"] else ""
        sign = "plus" if parameters["sign"] > 0 else "minus"
        times = "twice " if abs(parameters["sign"]) == 2 else ""
        text = f"{_at(parameters)}{before}{part} is what it should be {sign} {times}{_argument(parameters['other'])}."
        text = text[0].upper() + text[1:] if before else text
    elif kind == "factor":
        other = _argument(parameters["other"])
        text = _at(parameters) + (
            f"{part}, multiplied by {other}, is what it should be."
            if parameters["is_missing"]
            else f"{part} is what it should be, multiplied by {other}."
        )
    elif kind == "form":
        text = f"{part} is {FORMS[parameters['how']][1]}, along {_axis(exercise, part, parameters['axis'])}."
    elif kind == "order of axes":
        text = f"{part} has the right values, but its axes in the order {tuple(parameters['order'])}."
    elif kind == "invariant":
        often = "At times" if parameters["name"] in SOMETIMES else "Wherever it is wrong,"
        text = f"{often} {part} {INVARIANTS[parameters['name']][1]}."
    elif kind == "shape":
        text = f"{part} has the right values in the right order, but another shape."
    elif kind == "function":
        text = f"{part} is {_FUNCTIONS[parameters['name']][1]}."
    elif kind == "offset":
        by = parameters["by"]
        text = f"Wherever {part} is wrong, it is too {'large' if by > 0 else 'small'} by {abs(by):g}."
    elif kind == "combination":
        text = f"{part} is {_amount(parameters['terms'])}, whatever the sizes are."
    elif kind == "scaled":
        above, below = ("·".join(parameters[key]) for key in ("above", "below"))
        by = " and ".join(w for w in (above and f"multiplied by {above}", below and f"divided by {below}") if w)
        text = f"{part} is what it should be, {by}."
    else:
        by = "factor" if parameters["operation"] == "factor" else "number that is added"
        each = "row" if parameters["axis"] == "row" else "case"
        text = f"{part} is right up to one {by}, the same for all entries of a {each}, another in each {each}."
    return around(parameters, text)


def _axis(exercise: Exercise, part: str, axis: int) -> str:
    letters = next((axes.axes or () for axes in exercise.gives if axes.name == part), ())
    return f"the axis {letters[axis]}" if axis < len(letters) and letters[axis] != "…" else f"axis {axis}"


def _at(parameters: Parameters) -> str:
    return f"At the {parameters['at']} step, " if parameters["at"] else ""


def _argument(name: str) -> str:
    return f"what {name[10:]} should be" if name.startswith("the right ") else name


def _amount(terms: list[list[Any]]) -> str:
    """ "too small by H·Q + Q". The longest product decides which of the two it is."""
    ordered = sorted(terms, key=lambda term: -len(term[1]))
    is_small = ordered[0][0] < 0
    shown = ""
    for c, names in ordered:
        text = "·".join(([str(abs(c))] if abs(c) > 1 or not names else []) + list(names))
        sign = "-" if (c < 0) != is_small else "+"
        shown = f"{shown} {sign} {text}" if shown else text
    return f"too {'small' if is_small else 'large'} by {shown}"
