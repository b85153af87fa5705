"""What the judge itself may use on an answer: seconds of CPU and bytes of memory, whatever a room replies.

The limits are the kernel's, on this process: an exception where Python can raise one, and the end of the process where
a C function never comes back, after twice the time. (That end, the worker's other side sees: `worker`.)
Only the main thread can have them.
"""

import math
import resource
import signal
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from types import FrameType


class OutOfTime(BaseException):
    """The judge's time for an answer is up. No `except Exception` on the way may take it for something else."""


@contextmanager
def alarm(timer: int, number: signal.Signals, seconds: float, error: type[BaseException]) -> Iterator[None]:
    """Raise the error in here when the timer is up, and again a second later, should something have caught it."""

    def stop(signum: int, frame: FrameType | None) -> None:
        raise error

    before = signal.signal(number, stop)
    signal.setitimer(timer, seconds, 1.0)
    try:
        yield
    finally:
        signal.setitimer(timer, 0)
        signal.signal(number, before)


@contextmanager
def _lowered(limit: int, value: int) -> Iterator[None]:
    """Have one of the kernel's limits on this process at this value in here, if it is not lower."""
    soft, hard = resource.getrlimit(limit)
    resource.setrlimit(limit, (value if soft == resource.RLIM_INFINITY else min(soft, value), hard))
    try:
        yield
    finally:
        resource.setrlimit(limit, (soft, hard))


@contextmanager
def at_most(seconds: float) -> Iterator[None]:
    """Limit the CPU time of what is done in here. **Errors:** `OutOfTime`."""
    most = math.ceil(time.process_time() + 2 * seconds)
    with _lowered(resource.RLIMIT_CPU, most), alarm(signal.ITIMER_PROF, signal.SIGPROF, seconds, OutOfTime):
        yield


def with_no_more_than(memory: int) -> AbstractContextManager[None]:
    """Limit the memory that this process takes in here beyond what it has. **Errors:** `MemoryError`."""
    return _lowered(resource.RLIMIT_DATA, used_memory() + memory)


def used_memory() -> int:
    """The bytes of memory that this process has for itself."""
    with open("/proc/self/statm", "rb", buffering=0) as file:
        return int(file.read().split()[5]) * resource.getpagesize()
