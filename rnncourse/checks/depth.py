"""Numbers that know how many operations, one waiting for another, it took to make them.

A number that is given has the depth 0; what is made of two numbers is one deeper than the deeper of them. So the
deepest number of a result says how many steps an algorithm needs that could do everything at a time that waits for
nothing.

>>> a, b, c, d = (Counted(float(i)) for i in range(4))
>>> (((a + b) + c) + d).depth, ((a + b) + (c + d)).depth
(3, 2)
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from rnncourse.checks.plain import MAX_ITEMS

PACKED = "__counted__"


class Counted:
    """A number and its depth. It can be added, subtracted, multiplied, divided, and not be turned into a plain one."""

    __slots__ = ("depth", "value")

    def __init__(self, value: float, depth: int = 0) -> None:
        self.value = value
        self.depth = depth

    def __neg__(self) -> Counted:
        return Counted(-self.value, self.depth)

    def __float__(self) -> float:
        raise TypeError(
            "these numbers count their steps and cannot become plain floats: make new arrays with np.empty_like(a), "
            "or with dtype=a.dtype"
        )


def _counting(operation: Callable[[Any, Any], Any], turned: bool = False) -> Callable[[Counted, Any], Any]:
    def count(self: Counted, other: Any) -> Any:
        if not isinstance(other, (Counted, int, float, np.generic)):
            return NotImplemented  # an array does it entry by entry, and calls again
        value, depth = (other.value, other.depth) if isinstance(other, Counted) else (other, 0)
        pair = (value, self.value) if turned else (self.value, value)
        return Counted(operation(*pair), max(self.depth, depth) + 1)

    return count


for _name in ("add", "sub", "mul", "truediv"):
    setattr(Counted, f"__{_name}__", _counting(getattr(operator, _name)))
    setattr(Counted, f"__r{_name}__", _counting(getattr(operator, _name), turned=True))


def counted(value: Any) -> Any:
    """An array's entries, or a number, as numbers of depth 0."""
    array = np.asarray(value)
    made = np.empty(array.shape, dtype=object)
    for index in np.ndindex(array.shape):
        made[index] = Counted(float(array[index]))
    return made if array.ndim else made[()]


def values_and_depth(answer: Any) -> tuple[np.ndarray, int] | None:
    """The values of an answer made of such numbers, and the depth of the deepest; None if it is made of others."""
    try:
        array = np.asarray(answer, dtype=object)
        if array.size > MAX_ITEMS or not all(type(number) is Counted for number in array.flat):
            return None
        values = np.array([number.value for number in array.flat], dtype=np.float64)
        return values.reshape(array.shape), max((number.depth for number in array.flat), default=0)
    except (TypeError, ValueError):
        return None


def packed(value: Any) -> Any:
    """`value` with plain arrays, of values and of depths, for each array or number that counts: to pass it on.

    A plain number among them has the depth -1.
    """
    if isinstance(value, (list, tuple)):
        return type(value)(packed(v) for v in value)
    if not (type(value) is Counted or (type(value) is np.ndarray and value.dtype == object)):
        return value
    array = np.asarray(value, dtype=object)
    pairs = [(n.value, n.depth) if type(n) is Counted else (float(n), -1) for n in array.flat]
    values, depths = (
        (np.array(part).reshape(array.shape) for part in zip(*pairs, strict=True)) if pairs else (array,) * 2
    )
    return {PACKED: (values.astype(np.float64), depths.astype(np.int64))}


def unpacked(value: Any) -> Any:
    """What `packed` was given."""
    if isinstance(value, (list, tuple)):
        return type(value)(unpacked(v) for v in value)
    match value:
        case {"__counted__": (np.ndarray() as values, np.ndarray() as depths)} if values.shape == depths.shape:
            made = np.empty(values.shape, dtype=object)
            for index in np.ndindex(values.shape):
                number, depth = float(values[index]), int(depths[index])
                made[index] = Counted(number, depth) if depth >= 0 else number
            return made if made.ndim else made[()]
    return value
