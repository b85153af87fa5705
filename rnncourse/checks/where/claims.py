"""Claims on how one part of a wrong answer is related to what it should be, each made from plain parameters.

A claim says of the part of one case whether it is so, or None where nobody can tell: with N = 1, nothing is N times
too large. The relations that hold for all that is wrong are diagnoses (`generic`); here are those of one part, be the
others as they may.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from rnncourse.checks.generic import Part, equal, relations_of, sizes_of
from rnncourse.checks.where.parts import Claim, Look, factors, fitted_to, known, seen_as


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
        seen, value = seen_as(part, at, before), known(one, at=at).get(other)
        if seen is None:
            return None if part.own.shape == part.right.shape else False
        fitted = None if value is None or value.dtype.kind not in "iuf" else fitted_to(value, seen)
        if fitted is None or seen.own.shape != seen.right.shape:
            return False
        return _near(seen.right + sign * fitted, seen.own)

    return claim


def _by(other: str, is_missing: bool, at: str) -> Claim:
    def claim(one: Look, part: Part) -> bool | None:
        seen, value = seen_as(part, at, ""), factors(one, at).get(other)
        if seen is None:
            return None if part.own.shape == part.right.shape else False
        fitted = None if value is None else fitted_to(value, seen)
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


FUNCTIONS: dict[str, tuple[Callable[[Any], Any], str]] = {
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
    function, _ = FUNCTIONS[name]

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
        return bool(np.isfinite(part.own)) and int(part.own) - int(part.right) == value_of(terms, has)

    return claim


def value_of(terms: list[list[Any]], has: dict[str, int]) -> int:
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
