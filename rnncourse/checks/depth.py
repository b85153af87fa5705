"""Numbers that know which operations it took to make them, and so how many of these had to wait for one another.

A number that is given has the depth 0; what is made of two numbers is one deeper than the deeper of them. So the
deepest number of a result says how many steps an algorithm needs that could do everything at a time that waits for
nothing.

The numbers have no values. An operation on them is written down on a tape, and whoever has the values works the tape
off: that may be another process. There, nothing can be said of a result's depth but what its operations say, since
without them there are no values.

>>> tape = Tape()
>>> a, b, c, d = tape.counted(np.zeros(4))
>>> measured(tape.traced([((a + b) + c) + d, (a + b) + (c + d)]), [np.arange(4.0)])
(array([6., 6.]), 3)
>>> measured(tape.traced((a + b) + (c + d)), [np.arange(4.0)])
(array(6.), 2)
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from rnncourse.checks.plain import MAX_ITEMS

TRACED, PACKED, TAPE = "__traced__", "__counted__", "__tape__"
MAX_POWER = 10_000
MAX_OPERATIONS = 200_000  # a scan of 1,000 steps takes some 30,000
GIVEN, ADD, SUBTRACT, MULTIPLY, DIVIDE, NEGATE = range(6)

Arrays = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]


class Counted:
    """A number on a tape. It can be added, subtracted, multiplied, divided, and not be turned into a plain one."""

    __slots__ = ("place", "tape")

    def __init__(self, tape: Tape, place: int) -> None:
        self.tape, self.place = tape, place

    def __neg__(self) -> Counted:
        return self.tape.write(NEGATE, self.place)

    def __pow__(self, exponent: Any) -> Any:
        """A whole power, by squaring; one below 0 is divided out."""
        if np.ndim(exponent) or exponent not in range(-MAX_POWER, MAX_POWER + 1):
            return NotImplemented
        if exponent < 0:
            return self.tape.write(DIVIDE, self.tape.place_of(1.0), (self**-exponent).place)
        made, factor = None, self
        for bit in reversed(f"{int(exponent):b}"):
            if bit == "1":
                made = self.tape.write(MULTIPLY, made.place, factor.place) if made else factor
            factor = self.tape.write(MULTIPLY, factor.place, factor.place)
        return made or 1.0

    def __float__(self) -> float:
        raise TypeError(
            "an array of floats cannot hold these numbers, which count the steps that made them: make new arrays with "
            "np.empty_like(a), or with dtype=a.dtype"
        )


def _counting(operation: int, turned: bool = False) -> Callable[[Counted, Any], Any]:
    def count(self: Counted, other: Any) -> Any:
        if not isinstance(other, (Counted, int, float, np.generic)):
            return NotImplemented  # an array does it entry by entry, and calls again
        own, others = self.place, self.tape.place_of(other)
        return self.tape.write(operation, *((others, own) if turned else (own, others)))

    return count


for _code, _name in ((ADD, "add"), (SUBTRACT, "sub"), (MULTIPLY, "mul"), (DIVIDE, "truediv")):
    setattr(Counted, f"__{_name}__", _counting(_code))
    setattr(Counted, f"__r{_name}__", _counting(_code, turned=True))


class Tape:
    """Operations in the order in which they were made. A place is a number's line on it; below 0 it is a constant's."""

    def __init__(self) -> None:
        self.operations = bytearray()
        self.left: list[int] = []
        self.right: list[int] = []
        self.constants: list[float] = []
        self.sources: list[int] = []  # of what is given: the place that it has on the tape that it comes from

    def write(self, operation: int, left: int, right: int = 0) -> Counted:
        """The number that an operation on the numbers at these places makes. **Errors:** `MemoryError`."""
        if len(self.left) >= MAX_OPERATIONS:
            raise MemoryError(f"more than {MAX_OPERATIONS:,} operations")
        self.operations.append(operation)
        self.left.append(left)
        self.right.append(right)
        return Counted(self, len(self.left) - 1)

    def place_of(self, value: Any) -> int:
        """The place of a number; a plain one becomes a constant. **Errors:** `TypeError` for one of another tape."""
        if type(value) is not Counted:
            self.constants.append(float(value))
            return -len(self.constants)
        if value.tape is not self:
            raise TypeError("this number was counted in another call")
        return value.place

    def given(self, source: int = -1) -> Counted:
        """A new number that is given."""
        self.sources.append(source)
        return self.write(GIVEN, len(self.sources) - 1)

    def counted(self, value: Any) -> Any:
        """As many given numbers as an array has entries, in its shape; one for a number."""
        return _filled(np.shape(value), lambda _: self.given())

    def traced(self, answer: Any) -> dict[str, Any] | None:
        """An answer made of this tape's numbers, and the tape, as plain values; None if it is made of others."""
        try:
            array = np.asarray(answer, dtype=object)
        except (TypeError, ValueError):
            return None
        if array.size > MAX_ITEMS or not all(type(n) is Counted and n.tape is self for n in array.flat):
            return None
        return {TRACED: (self.arrays(), _places(array, self))}

    def arrays(self) -> Arrays:
        """The tape as plain arrays: operations, left, right, constants."""
        left, right = (np.array(places, dtype=np.int64) for places in (self.left, self.right))
        return np.frombuffer(bytes(self.operations), np.uint8), left, right, np.array(self.constants, dtype=np.float64)


def measured(traced: Any, given: Sequence[Any]) -> tuple[np.ndarray, int] | None:
    """The values of what `Tape.traced` made, for these given values, and the depth of the deepest.

    None if it is nothing that a tape on which so much was given could have made.
    """
    match traced:
        case {"__traced__": (tape, np.ndarray() as places)} if len(traced) == 1 and _is_tape(tape):
            operations, left, right, constants = (part.tolist() for part in tape)
        case _:
            return None
    start = [float(v) for one in given for v in np.asarray(one).flat]
    if places.dtype != np.int64 or np.any(places < 0) or np.any(places >= len(operations)):
        return None
    if [n for n, o in zip(left, operations, strict=True) if o == GIVEN] != list(range(len(start))):
        return None
    values, depths = [], []
    count = len(constants)  # a place below 0 counts from the end, where the constants stand, the last one first
    for operation, a, b in zip(operations, left, right, strict=True):
        if operation == GIVEN:
            values.append(start[a])
            depths.append(0)
            continue
        x, of_x = (values[a], depths[a]) if a >= 0 else (constants[-a - 1] if -a <= count else math.nan, 0)
        if operation == NEGATE:
            values.append(-x)
            depths.append(of_x)
            continue
        y, of_y = (values[b], depths[b]) if b >= 0 else (constants[-b - 1] if -b <= count else math.nan, 0)
        values.append(_done(operation, x, y))
        depths.append(max(of_x, of_y) + 1)
    flat = places.ravel().tolist()
    found = np.array([values[place] for place in flat], dtype=np.float64).reshape(places.shape)
    return found, max((depths[place] for place in flat), default=0)


def _is_tape(tape: Any) -> bool:
    """Whether these are the arrays of a tape on which each operation is on what stands above it."""
    if not (isinstance(tape, tuple) and len(tape) == 4 and all(isinstance(part, np.ndarray) for part in tape)):
        return False
    operations, left, right, constants = tape
    if [part.dtype for part in tape] != [np.uint8, np.int64, np.int64, np.float64] or constants.ndim != 1:
        return False
    if operations.ndim != 1 or operations.size > MAX_ITEMS or not left.shape == right.shape == operations.shape:
        return False
    lines, is_given = np.arange(len(operations)), operations == GIVEN
    is_above = (left < lines) & ((right < lines) | (operations == NEGATE))
    return bool(np.all(operations <= NEGATE) and np.all(is_given | is_above))


def _done(operation: int, x: float, y: float) -> float:
    if operation == ADD:
        return x + y
    if operation == SUBTRACT:
        return x - y
    if operation == MULTIPLY:
        return x * y
    return x / y if y else math.nan


# --- what passes between two processes while the numbers are being counted


def packed(value: Any) -> Any:
    """`value` with the places of each number that counts, for whoever has not the tape: an object of arrays."""
    if isinstance(value, (list, tuple)):
        return type(value)(packed(v) for v in value)
    if not _counts(value):
        return value
    array = np.asarray(value, dtype=object)
    plain = [float(n) for n in array.flat if type(n) is not Counted]
    return {PACKED: (_places(array, None), np.array(plain, dtype=np.float64))}


class Borrowed:
    """A tape for one call, made where the numbers' own tape is not: what is packed is given here."""

    def __init__(self) -> None:
        self.tape = Tape()
        self._known: dict[int, Counted] = {}
        self._is_used = False  # perhaps for arrays without an entry

    def unpacked(self, value: Any) -> Any:
        """What `packed` was given, as numbers of this tape."""
        match value:
            case {"__counted__": (np.ndarray() as places, np.ndarray() as plain)} if places.dtype == np.int64:
                constants = iter(plain.ravel().tolist())
                self._is_used = True
                return _filled(places.shape, lambda i: self._number(int(places[i]), constants))
        return value

    def _number(self, place: int, constants: Any) -> Any:
        if place < 0:
            return next(constants, math.nan)
        if place not in self._known:
            self._known[place] = self.tape.given(place)
        return self._known[place]

    def packed(self, value: Any) -> Any:
        """An answer made of this tape's numbers, with the tape, for `replayed`; another one as it is."""
        if not self._is_used:
            return value
        return {TAPE: (self.tape.arrays(), np.array(self.tape.sources, dtype=np.int64), packed(value))}


def replayed(value: Any, tape: Tape | None) -> Any:
    """What `Borrowed.packed` was given, its operations written down on this tape; on a new one, where none is known,
    for what has no entries.
    """
    tape = tape or Tape()
    match value:
        case {"__tape__": ((operations, left, right, constants), sources, answer)}:
            pass
        case _:
            return value
    start = len(tape.constants)
    tape.constants += constants.tolist()
    places: list[int] = []
    for operation, a, b in zip(operations.tolist(), left.tolist(), right.tolist(), strict=True):
        if operation == GIVEN:
            places.append(int(sources[a]))
        else:
            own = [places[p] if p >= 0 else p - start for p in (a, b)]
            places.append(tape.write(operation, *own).place)

    def numbers(inner: Any) -> Any:
        if isinstance(inner, (list, tuple)):
            return type(inner)(numbers(v) for v in inner)
        if not (type(inner) is dict and set(inner) == {PACKED}):
            return inner
        found, plain = inner[PACKED]
        constants = iter(plain.tolist())
        return _filled(found.shape, lambda i: Counted(tape, places[found[i]]) if found[i] >= 0 else next(constants))

    return numbers(answer)


def tape_in(value: Any) -> Tape | None:
    """The tape of the first number that counts among these arrays."""
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, (list, tuple)):
        return next((tape for v in value if (tape := tape_in(v))), None)
    if not _counts(value):
        return None
    return next((n.tape for n in np.asarray(value, dtype=object).flat if type(n) is Counted), None)


def _counts(value: Any) -> bool:
    return type(value) is Counted or (type(value) is np.ndarray and value.dtype == object)


def _places(array: np.ndarray, tape: Tape | None) -> np.ndarray:
    places = [n.place if type(n) is Counted and tape in (None, n.tape) else -1 for n in array.flat]
    return np.array(places, dtype=np.int64).reshape(array.shape)


def _filled(shape: tuple[int, ...], number: Callable[[tuple[int, ...]], Any]) -> Any:
    made = np.empty(shape, dtype=object)
    for index in np.ndindex(shape):
        made[index] = number(index)
    return made if made.ndim else made[()]
