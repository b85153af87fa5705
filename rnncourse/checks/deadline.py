"""A limit of time that a busy machine keeps as a quiet one does: it counts the processor's time and not the clock's."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

PATIENCE = 5.0  # times as long by the clock, for who sleeps, or a machine that is busy with something else

Clock = Callable[[], float]


def clock_of(candidate: Any) -> Clock:
    """What a candidate's time is counted by: who runs in this process, by the processor's, and all others by the
    clock.
    """
    return time.process_time if getattr(candidate, "is_here", False) else time.monotonic


class Deadline:
    """So many seconds from now, and at most `PATIENCE` times as many by the clock on the wall."""

    def __init__(self, seconds: float, clock: Clock = time.process_time) -> None:
        self.clock = clock
        self._worked, self._end = clock() + seconds, time.monotonic() + PATIENCE * seconds

    @property
    def left(self) -> float:
        """The seconds that are left; 0 if it is over."""
        return max(0.0, min(self._worked - self.clock(), self._end - time.monotonic()))

    def or_in(self, seconds: float) -> Deadline:
        """This one, or that in so many seconds if it comes sooner."""
        return self if self.left < seconds else Deadline(seconds, self.clock)
