"""What agrees so far: the values of a wrong answer that the model answer has too, one after the other, in every case.

Only that is said. Where they differ, nothing follows: a right answer may go its own way.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from rnncourse.checks.plain import Plain
from rnncourse.checks.where.inquiry import Notes

Values = list[list[Plain]]  # in each case, the values that a place has one after the other


def series(notes: Sequence[Notes], *, derived: bool = False) -> dict[object, Values]:
    """The values of each place, over all cases. With `derived`, also all of a case in one array, and one array step
    by step: what a loop makes one after the other, another answer may make at once.
    """
    found: dict[object, Values] = {}
    for number in dict.fromkeys(n for one in notes for n in one):
        values = [one.get(number, []) for one in notes]
        found[number] = values
        if derived:
            if (together := [_stacked(v) for v in values]) and all(t is not None for t in together):
                found[number, "together"] = [[t] for t in together]
            if all(len(v) == 1 and isinstance(v[0], np.ndarray) and v[0].ndim > 1 for v in values):
                found[number, "step by step"] = [list(v[0]) for v in values]
                found[number, "backwards"] = [list(v[0][::-1]) for v in values]
    return found


def _stacked(values: list[Plain]) -> np.ndarray | None:
    shapes = {v.shape if isinstance(v, np.ndarray) else () if isinstance(v, float) else None for v in values}
    if len(values) < 2 or len(shapes) != 1 or None in shapes:
        return None
    return np.stack(values)


def agree(own: Values, other: Values, *, transposed: bool = False) -> bool:
    """Whether two places have the same values in all cases in which the first has any. Told only of what is told."""
    some = False
    for a, b in zip(own, other, strict=True):
        if not a:
            continue
        if len(a) != len(b):
            return False
        for x, y in zip(a, b, strict=True):
            if x is None or not alike(x, y, transposed=transposed):
                return False
        some = True
    return some


def alike(a: Plain, b: Plain, *, transposed: bool = False) -> bool:
    """Whether two values are the same, numbers to a millionth or so."""
    if isinstance(a, np.ndarray) and isinstance(b, np.ndarray):
        if a.shape != b.shape:
            return transposed and a.ndim > 1 and a.shape == b.shape[::-1] and alike(a, b.T)
        if a.dtype.kind not in "fc" and b.dtype.kind not in "fc":
            return bool(np.array_equal(a, b))
        if a.size and not _near(a.flat[0], b.flat[0]):
            return transposed and a.ndim == 2 and a.shape == b.shape[::-1] and alike(a, b.T)
        if np.allclose(a, b, rtol=1e-5, atol=1e-8, equal_nan=True):
            return True
        return transposed and a.ndim == 2 and a.shape == b.shape[::-1] and alike(a, b.T)
    if isinstance(a, np.ndarray) or isinstance(b, np.ndarray):
        return False
    if isinstance(a, (float, np.floating)) and isinstance(b, (int, float, np.number)):
        return _near(a, b)
    if isinstance(a, (list, tuple)) and isinstance(b, (list, tuple)):
        return len(a) == len(b) and all(alike(x, y) for x, y in zip(a, b, strict=True))
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(alike(a[key], b[key]) for key in a)
    return type(a) is type(b) and not isinstance(a, (list, tuple, dict)) and bool(a == b)


def _near(a: Plain, b: Plain) -> bool:
    a, b = float(a), float(b)
    return a == b or (a != a and b != b) or abs(a - b) <= 1e-8 + 1e-5 * abs(b)


def agreeing(own: dict[object, Values], model: dict[object, Values]) -> dict[object, list[object]]:
    """For each place of the answer, the places of the model answer that have its values, up to transposition."""
    return {
        place: [key for key, values in model.items() if agree(mine, values, transposed=True)]
        for place, mine in own.items()
    }


def in_order(notes: Sequence[Notes]) -> Iterator[int]:
    """The places in the order in which they were first evaluated, over all cases."""
    yield from dict.fromkeys(number for one in notes for number in one)
