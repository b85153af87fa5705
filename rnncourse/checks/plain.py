"""Plain values: all that passes between the engine and a candidate.

A candidate, which is the code under check, may one day run in another process. So it is called with plain values and
answers with plain values: None, bool, int, float, str, NumPy arrays and scalars, and lists, tuples, sets, dicts and
Counters of them. `to_plain` turns an answer into such a value, exactly once, and refuses everything else: an object
that lies about its equality, its length or its dtype never gets as far as a comparison.
"""

from collections import Counter
from typing import Any

import numpy as np
from numpy.lib.array_utils import byte_bounds

Plain = Any  # None | bool | int | float | str | np.ndarray | np.generic | list | tuple | set | dict, nested

MAX_DEPTH = 16
MAX_ITEMS = 1_000_000
MAX_BYTES = 256 * 2**20
MAX_BITS = 10_000
MAX_KEY_BITS = 64  # of a number in a set or as a key: of longer ones, all may have the same hash
MAX_WORDS = 80  # characters of a name that the value's author chose


class Unfit(ValueError):
    """Raised by a driver: what is wrong with an answer that it cannot drive, in words that need no more."""


class NotPlain(Exception):
    """The value holds something that is no plain value; the message is the end of a sentence: 'a generator'."""


def to_plain(value: Any) -> Plain:
    """A deep copy of `value` made of plain values only.

    **Errors:** `NotPlain` if it holds anything else, is nested more than 16 deep or is huge.
    """
    return _Copier().copy(value, 0)


def has_nan(value: Any) -> bool:
    """Whether a number in it is nan: in an array, a tensor, or what holds some."""
    if isinstance(value, (list, tuple)):
        return any(map(has_nan, value))
    if isinstance(value, dict):
        return any(map(has_nan, value.values()))
    if isinstance(value, (float, np.floating)):
        return bool(value != value)
    if isinstance(value, np.ndarray):
        return value.dtype.kind == "f" and bool(np.isnan(value).any())
    return type(value).__module__.startswith("torch") and hasattr(value, "isnan") and bool(value.isnan().any())


def _is_common(dtype: np.dtype[Any]) -> bool:
    """Whether it is a dtype of numbers or truth values that all machines have."""
    return dtype.kind in "biuf" and dtype.itemsize <= 8


def is_count(value: Plain) -> bool:
    """Whether it may be a value of a Counter, which sorts them when it is shown: one of Python's own numbers."""
    return isinstance(value, (int, float)) and not isinstance(value, np.generic)


def _a(kind: type) -> str:
    name = kind.__name__[:MAX_WORDS]
    return f"{'an' if name[:1].lower() in 'aeiou' else 'a'} {name}"


class _Copier:
    def __init__(self) -> None:
        self.items = 0

    def copy(self, value: Any, depth: int) -> Plain:
        self.items += 1
        if depth > MAX_DEPTH or self.items > MAX_ITEMS:
            raise NotPlain("something too large or too deeply nested")
        kind = type(value)
        if value is None or kind in (bool, float, str):
            return value
        if issubclass(kind, int):
            number = value if kind is int else int.__add__(value, 0)
            if number.bit_length() > MAX_BITS:
                raise NotPlain("a number of thousands of digits")
            return number
        if issubclass(kind, np.ndarray):
            return self._array(value)
        if issubclass(kind, np.generic):
            if value.dtype.kind == "U":
                return str.__str__(value)
            if value.dtype.kind == "c":
                raise NotPlain("a complex number")
            if not _is_common(value.dtype):
                raise NotPlain(f"a NumPy scalar of dtype {str(value.dtype)[:MAX_WORDS]}")
            return np.array(value).reshape(())[()]
        if issubclass(kind, float):
            return float.__add__(value, 0.0)
        if issubclass(kind, str):
            return str.__str__(value)
        if issubclass(kind, list):
            return [self.copy(v, depth + 1) for v in list.__iter__(value)]
        if issubclass(kind, tuple):
            return tuple(self.copy(v, depth + 1) for v in tuple.__iter__(value))
        if issubclass(kind, set):
            return {self._key(v, depth) for v in set.__iter__(value)}
        if issubclass(kind, frozenset):
            return {self._key(v, depth) for v in frozenset.__iter__(value)}
        if issubclass(kind, dict):
            made = {self._key(k, depth): self.copy(v, depth + 1) for k, v in dict.items(value)}
            return Counter(made) if issubclass(kind, Counter) and all(map(is_count, made.values())) else made
        if kind is range:
            return list(value)
        raise NotPlain(_a(kind))

    def _array(self, value: np.ndarray) -> np.ndarray:
        array = np.array(value, copy=True, subok=False, order="C")
        if not _is_common(array.dtype):
            raise NotPlain(f"an array of dtype {str(array.dtype)[:MAX_WORDS]}")
        if array.nbytes > MAX_BYTES:
            raise NotPlain("an array of more than 256 MB")
        return array.astype(array.dtype.newbyteorder("="), copy=False)

    def _key(self, value: Any, depth: int) -> Plain:
        key = self.copy(value, depth + 1)
        if isinstance(key, np.generic):
            key = key.item()
        if type(key) is int and key.bit_length() > MAX_KEY_BITS:
            raise NotPlain("a number of dozens of digits inside a set or as a key")
        try:
            hash(key)
        except TypeError:
            raise NotPlain(f"{_a(type(value))} inside a set or as a key") from None
        return key


def attribute(value: Any, name: str) -> Any:
    """An attribute of a candidate, None if it has none or if looking at it raises."""
    try:
        return getattr(value, name, None)
    except Exception:
        return None


def identical(a: Plain, b: Plain) -> bool:
    """Whether two plain values are the same to the bit, types included (nan equals nan)."""
    if type(a) is not type(b):
        return False
    if isinstance(a, np.ndarray):
        return a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()
    if isinstance(a, (list, tuple)):
        return len(a) == len(b) and all(identical(x, y) for x, y in zip(a, b, strict=True))
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(identical(a[k], b[k]) for k in a)
    if isinstance(a, (float, np.floating)):
        return bool(a == b or (a != a and b != b))
    return bool(a == b)


def arrays_in(value: Any) -> list[np.ndarray]:
    """All arrays inside a value, of any nesting, in order."""
    if isinstance(value, np.ndarray):
        return [value]
    if isinstance(value, (list, tuple, set, frozenset)):
        return [a for v in value for a in arrays_in(v)]
    if isinstance(value, dict):
        return [a for v in value.values() for a in arrays_in(v)]
    return []


def share_memory(one: Any, other: Any) -> bool:
    """Whether any array inside `one` shares memory with any array inside `other`, as `np.may_share_memory` has it.

    All are put in order by where they begin: to ask each with each takes seconds where both have hundreds.
    """
    parts = [(*byte_bounds(a), i) for i, value in enumerate((one, other)) for a in arrays_in(value) if a.size]
    ends = [0, 0]  # how far those of either have come
    for start, end, i in sorted(parts):
        if start < ends[1 - i]:
            return True
        ends[i] = max(ends[i], end)
    return False
