"""Memory that the judge lends a room: there the arrays of some cases lie while an answer works on them.

The judge writes them there, the answer gets them where they lie, and the judge reads what has become of them. So
whether an answer writes to its arguments is seen from outside: nothing that the room says has a part in it. Afterwards
the judge turns every bit of the memory; an answer that is another one then has kept a view of it.
"""

import fcntl
import os
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np

from rnncourse.checks.callables import Named
from rnncourse.checks.drive import SHARED
from rnncourse.checks.plain import MAX_DEPTH

SIZE = 1 << 22  # bytes; all cases of a draw together need less
ALIGNMENT = 64


@dataclass(frozen=True)
class LaidOut:
    """The arguments of each case with a name for each array, by which the runner finds it in what it is lent; `data`
    is what is to stand there, `places`, by case, the argument, the beginning and the end of each.
    """

    cases: list[tuple[Any, ...]]
    data: bytes
    places: list[list[tuple[int, int, int]]]


def lay_out(*cases: tuple[Any, ...]) -> LaidOut:
    """Find a place for each array of these cases' arguments; one that finds none stays what it is."""
    data = bytearray()
    places: list[list[tuple[int, int, int]]] = []

    def lay(value: Any, index: int, depth: int = 0) -> Any:
        if depth <= MAX_DEPTH and isinstance(value, (list, tuple)):
            return type(value)(lay(v, index, depth + 1) for v in value)
        if depth <= MAX_DEPTH and type(value) is dict:
            return {k: lay(v, index, depth + 1) for k, v in value.items()}
        gap = -len(data) % ALIGNMENT
        start = len(data) + gap
        if type(value) is not np.ndarray or value.dtype.kind not in "biuf" or start + value.nbytes > SIZE:
            return value
        data.extend(bytes(gap) + value.tobytes())
        places[-1].append((index, start, len(data)))
        return Named(SHARED, {"dtype": value.dtype.str, "shape": list(value.shape), "start": start})

    named = []
    for args in cases:
        places.append([])
        named.append(tuple(lay(value, index) for index, value in enumerate(args)))
    return LaidOut(named, bytes(data), places)


class SharedMemory:
    """The memory of one session. `file` is its descriptor, which the runner gets too."""

    def __init__(self) -> None:
        self.file = os.memfd_create("shared", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
        os.ftruncate(self.file, SIZE)
        # The room can write to it, and can make it neither larger, past its limits, nor smaller.
        fcntl.fcntl(self.file, fcntl.F_ADD_SEALS, fcntl.F_SEAL_GROW | fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_SEAL)
        self._written = b""
        self._places: Sequence[Sequence[tuple[int, int, int]]] = ((),)

    def lend(self, laid_out: LaidOut) -> None:
        """Write the arrays of these cases there."""
        self._written, self._places = laid_out.data, laid_out.places
        os.pwrite(self.file, self._written, 0)

    def changed(self, case: int = 0) -> tuple[int, ...]:
        """The arguments of a case that have an array in which something has changed since they were lent."""
        now, first = self._now(case)
        if now == self._written[first : first + len(now)]:
            return ()
        places = self._places[case]
        return tuple(sorted({i for i, a, b in places if now[a - first : b - first] != self._written[a:b]}))

    def _now(self, case: int) -> tuple[bytes, int]:
        """What stands where a case's arrays lie, and where that begins."""
        places = self._places[case]
        first, last = (places[0][1], places[-1][2]) if places else (0, 0)
        return os.pread(self.file, last - first, first), first

    def may_hold(self, arrays: list[np.ndarray], case: int) -> bool:
        """Whether one of these arrays may lie where a case's do: then each number does; three are looked for."""
        now, _ = self._now(case)
        flat = (array.reshape(-1) for array in arrays if array.size)
        return any(all(one[i].tobytes() in now for i in (0, len(one) // 2, -1)) for one in flat)

    def turn(self) -> None:
        """Turn every bit of what is there."""
        now = np.frombuffer(os.pread(self.file, len(self._written), 0), np.uint8)
        os.pwrite(self.file, (~now).tobytes(), 0)

    def close(self) -> None:
        """Give the memory back."""
        with suppress(OSError):
            os.close(self.file)
