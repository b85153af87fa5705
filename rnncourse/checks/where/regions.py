"""Where in an array it is wrong: "only at the first step", "only where the mask is 0", "in the third of four blocks".

A region is a key, plain values, from which the entries that belong to it can be found in an array of any case.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import Any

import numpy as np

from rnncourse.checks.compare import close_arrays
from rnncourse.checks.exercise import Exercise
from rnncourse.checks.generic import Part
from rnncourse.checks.where.inquiry import Asked
from rnncourse.checks.where.parts import Look, Parameters, around, is_so, looks, scope, wrong_names

Key = list[Any]  # the kind of the region, and what it needs

NOUNS = {"T": "step", "t": "step", "N": "row", "L": "layer", "Q": "output", "D": "input"}
LEAST = 4  # wrong entries, in all cases together


def wrong_entries(part: Part) -> np.ndarray | None:
    """Which entries of an array are wrong; None if it has not the shape that it should have, or is none."""
    if part.own.shape != part.right.shape or not part.right.ndim:
        return None
    return ~close_arrays(part.right, part.own)


def region(key: Key, one: Look, part: Part) -> np.ndarray | None:
    """The entries of a region, as an array of truth values that goes with the part; None where there is no such."""
    kind, shape = key[0], part.right.shape
    if kind in ("from", "before the last", "at", "block"):
        axis, number = key[1], key[2]
        if axis >= len(shape) or not shape[axis]:
            return None
        n = shape[axis]
        index = np.arange(n)
        if kind == "from":
            chosen = index >= number
        elif kind == "before the last":
            chosen = index < n - number
        elif kind == "at":
            chosen = index == number % n
        else:
            if n % key[3]:
                return None
            chosen = np.isin(index // (n // key[3]), number)
        return np.broadcast_to(chosen.reshape([-1 if k == axis else 1 for k in range(len(shape))]), shape)
    if kind in ("on the diagonal", "off the diagonal", "below the diagonal", "above the diagonal"):
        if len(shape) < 2 or shape[-1] != shape[-2]:
            return None
        i, j = np.indices(shape)[-2:]
        return {"on": i == j, "off": i != j, "below": i > j, "above": i < j}[kind.split()[0]]
    if kind == "where":
        return _by_value(key[1], part.right)
    argument = _argument(one, key[1])
    if argument is None:
        return None
    if kind in ("mask is 0", "mask is 1"):
        mask = argument.astype(bool) == (kind == "mask is 1")
        return _along(mask, shape)
    if kind in ("padding", "no padding", "last of each"):
        if len(shape) < 2 or argument.shape != shape[1:2]:
            return None
        steps = np.arange(shape[0])[:, None]
        chosen = {"padding": steps >= argument, "no padding": steps < argument, "last of each": steps == argument - 1}
        return _along(chosen[kind], shape)
    if kind in ("the target", "not the target"):
        if argument.shape != shape[:-1]:
            return None
        return (np.arange(shape[-1]) == argument[..., None]) == (kind == "the target")
    return None


def _along(mask: np.ndarray, shape: tuple[int, ...]) -> np.ndarray | None:
    """A mask of the first axes, or one that broadcasts, in the shape of an array."""
    if mask.shape == shape[: mask.ndim]:
        mask = mask.reshape(mask.shape + (1,) * (len(shape) - mask.ndim))
    try:
        return np.broadcast_to(mask, shape) if mask.ndim <= len(shape) else None
    except ValueError:
        return None


def _argument(one: Look, name: str) -> np.ndarray | None:
    for axes, value in zip(one.exercise.takes, one.case.args, strict=False):
        if axes.name == name and isinstance(value, np.ndarray) and value.dtype.kind in "biuf":
            return value
    return None


def _by_value(which: str, right: np.ndarray) -> np.ndarray:
    if right.dtype.kind == "b":
        return right if which == "True" else ~right if which == "False" else np.ones(right.shape, bool)
    if which == "0":
        return np.asarray(right == 0)
    if which == "negative":
        return np.asarray(right < 0)
    if which == "positive":
        return np.asarray(right > 0)
    if which == "not finite":
        return ~np.isfinite(right)
    return np.ones(right.shape, bool)


def _keys(one: Look, part: Part) -> Iterator[Key]:
    """The regions that an array of this case may have."""
    letters = part.axes.axes or ()
    for name in (axes.name for axes in one.exercise.takes):
        if name in ("mask", "lengths", "targets") and _argument(one, name) is not None:
            kinds = {
                "mask": ("mask is 0", "mask is 1"),
                "lengths": ("padding", "no padding", "last of each"),
                "targets": ("the target", "not the target"),
            }
            yield from ([kind, name] for kind in kinds[name])
    for axis in range(part.right.ndim):
        letter = letters[axis] if len(letters) == part.right.ndim else ""
        if letter.partition(" ")[0] in ("T", "t", "N", "L", "steps") or (not letter and not axis):
            yield ["at", axis, 0]
            yield ["at", axis, -1]
            for number in (1, 2, 3):
                yield ["from", axis, number]
                yield ["before the last", axis, number]
        count = int(several[1]) if (several := re.fullmatch(r"(\d)H", letter)) else 2 if letter == "units" else 0
        for some in range(1, count):
            yield from (["block", axis, list(numbers), count] for numbers in combinations(range(count), some))
    for side in ("on", "off", "below", "above"):
        yield [f"{side} the diagonal"]
    for which in ("True", "False") if part.right.dtype.kind == "b" else ("0", "negative", "positive", "not finite"):
        yield ["where", which]


def is_in(key: Key) -> Any:
    """The claim that a part is wrong only in a region."""

    def claim(one: Look, part: Part) -> bool | None:
        wrong = wrong_entries(part)
        if wrong is None or not wrong.any():
            return False
        chosen = region(key, one, part)
        if chosen is None or (wrong & ~chosen).any():
            return False
        return None if chosen.all() else True

    return claim


def found(seen: Sequence[Look]) -> Iterator[Parameters]:
    """The region in which alone a part is wrong, of each part the smallest."""
    for name in wrong_names(seen):
        base = scope(name, seen)
        wrong = [(one, part) for one in seen for part in one.named(name) if not part.is_right]
        one, part = max(wrong, key=lambda pair: pair[1].right.size)
        if part.own.shape != part.right.shape or sum(_count(p) for _, p in wrong) < LEAST:
            continue
        told: list[tuple[float, Parameters]] = []
        for key in _keys(one, part):
            claim = is_in(key)
            if claim(one, part) and is_so(claim, name, seen, base) and _is_borne_out(key, wrong):
                told.append((_share(key, wrong), {**base, "region": key}))
        if told:
            yield min(told, key=lambda pair: pair[0])[1]


def _count(part: Part) -> int:
    wrong = wrong_entries(part)
    return 0 if wrong is None else int(wrong.sum())


def _is_borne_out(key: Key, wrong: list[tuple[Look, Part]]) -> bool:
    """Whether in two cases there is something outside of the region that might have been wrong, and is not."""
    cases = 0
    for one, part in wrong:
        chosen = region(key, one, part)
        if chosen is not None and not chosen.all():
            outside = part.right[~chosen]
            cases += part.right.dtype.kind == "b" or key[:2] == ["where", "0"] or bool(np.any(outside != 0))
    return cases >= 2


def _share(key: Key, wrong: list[tuple[Look, Part]]) -> float:
    chosen = [region(key, one, part) for one, part in wrong]
    return float(np.mean([c.mean() for c in chosen if c is not None]))


def holds(exercise: Exercise, parameters: Parameters, asked: Sequence[Asked]) -> bool:
    """Whether it is so in other cases too."""
    key = parameters["region"]
    return is_so(is_in(key), parameters["part"], looks(exercise, asked), parameters)


ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth")


def words(exercise: Exercise, parameters: Parameters) -> str:
    """The region as a student reads it."""
    part, key = parameters["part"], parameters["region"]
    kind = key[0]
    right = "everywhere else it is right"
    if kind in ("from", "before the last", "at", "block"):
        noun = _noun(exercise, part, key[1])
        if kind == "from":
            first = f"first {noun}" if key[2] == 1 else f"first {('', '', 'two', 'three')[key[2]]} {noun}s"
            text = f"{part} is right at the {first} in every case; what is wrong comes later."
        elif kind == "before the last":
            last = f"last {noun}" if key[2] == 1 else f"last {('', '', 'two', 'three')[key[2]]} {noun}s"
            text = f"{part} is right at the {last} in every case; what is wrong comes before."
        elif kind == "at":
            text = f"{part} is wrong only at the {'first' if key[2] == 0 else 'last'} {noun}; {right}."
        else:
            ordinals = [ORDINALS[number] for number in key[2]]
            which = " and ".join([", ".join(ordinals[:-1]), ordinals[-1]] if ordinals[1:] else ordinals)
            which = f"{which} of the {('', '', 'two halves', 'three blocks', 'four blocks')[key[3]]}"
            text = f"{part} is wrong only in the {which} of its {_axis(exercise, part, key[1])}; {right}."
    elif kind.endswith("diagonal"):
        text = f"{part} is wrong only {kind}; {right}."
    elif kind == "where":
        text = f"{part} is wrong only where it should be {key[1]}; {right}."
    else:
        where = {
            "mask is 0": "where the mask is 0",
            "mask is 1": "where the mask is 1",
            "padding": "at padded steps, those from a row's length on",
            "no padding": "at steps that are no padding",
            "last of each": "at the last step of each sequence",
            "the target": "at the target of each step",
            "not the target": "beside the target of each step",
        }[kind]
        text = f"{part} is wrong only {where}; {right}."
    return around(parameters, text)


def _letters(exercise: Exercise, part: str) -> tuple[str, ...]:
    return next((axes.axes or () for axes in exercise.gives if axes.name == part), ())


def _noun(exercise: Exercise, part: str, axis: int) -> str:
    letters = _letters(exercise, part)
    letter = letters[axis] if axis < len(letters) else ""
    if letter.startswith(("steps", "T ")):
        return "state"
    if letter in NOUNS:
        return NOUNS[letter]
    return f"entry along the axis {letter}" if letter not in ("", "…") else f"entry along axis {axis}"


def _axis(exercise: Exercise, part: str, axis: int) -> str:
    letters = _letters(exercise, part)
    return f"axis {letters[axis]}" if axis < len(letters) else f"axis {axis}"
