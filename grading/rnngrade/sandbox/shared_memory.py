"""Memory that the judge lends a room: there the arrays of a case lie while an answer works on them.

The judge writes them there, the answer gets them where they lie, and the judge reads what has become of them. So
whether an answer writes to its arguments is seen from outside: nothing that the room says has a part in it. After a
case the judge spoils the memory; an answer that is another one then has kept a view of it.
"""

from __future__ import annotations

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

SIZE = 1 << 20  # bytes; the cases of all exercises need less than a tenth of it
ALIGNMENT = 64


@dataclass(frozen=True)
class LaidOut:
    """The arguments of a case with a name for each array, by which the runner finds it in what it is lent; `data` is
    what is to stand there, `places` the argument, the beginning and the end of each.
    """

    args: tuple[Any, ...]
    data: bytes
    places: tuple[tuple[int, int, int], ...]


def lay_out(args: tuple[Any, ...]) -> LaidOut:
    """Find a place for each array; one that finds none stays what it is."""
    data = bytearray()
    places: list[tuple[int, int, int]] = []

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
        places.append((index, start, len(data)))
        return Named(SHARED, {"dtype": value.dtype.str, "shape": list(value.shape), "start": start})

    named = tuple(lay(value, index) for index, value in enumerate(args))
    return LaidOut(named, bytes(data), tuple(places))


class SharedMemory:
    """The memory of one session. `file` is its descriptor, which the runner gets too."""

    def __init__(self) -> None:
        self.file = os.memfd_create("shared", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
        os.ftruncate(self.file, SIZE)
        # The room can write to it, and can make it neither larger, past its limits, nor smaller.
        fcntl.fcntl(self.file, fcntl.F_ADD_SEALS, fcntl.F_SEAL_GROW | fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_SEAL)
        self._written = b""
        self._places: Sequence[tuple[int, int, int]] = ()

    def lend(self, laid_out: LaidOut) -> None:
        """Write the arrays of a case there."""
        self._written, self._places = laid_out.data, laid_out.places
        os.pwrite(self.file, self._written, 0)

    def changed(self) -> tuple[int, ...]:
        """The arguments that have an array in which something has changed since they were lent."""
        now = os.pread(self.file, len(self._written), 0)
        if now == self._written:
            return ()
        return tuple(sorted({i for i, start, end in self._places if now[start:end] != self._written[start:end]}))

    def may_hold(self, arrays: list[np.ndarray]) -> bool:
        """Whether one of these arrays may lie there: then each of its numbers does. Three of them are looked for."""
        now = os.pread(self.file, len(self._written), 0)
        flat = (array.reshape(-1) for array in arrays if array.size)
        return any(all(one[i].tobytes() in now for i in (0, len(one) // 2, -1)) for one in flat)

    def spoil(self) -> None:
        """Turn every bit of what is there."""
        now = np.frombuffer(os.pread(self.file, len(self._written), 0), np.uint8)
        os.pwrite(self.file, (~now).tobytes(), 0)

    def close(self) -> None:
        """Give the memory back."""
        with suppress(OSError):
            os.close(self.file)
