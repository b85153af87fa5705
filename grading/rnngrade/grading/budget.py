"""What the judge itself may use on an answer: seconds of CPU and bytes of memory, whatever a room replies.

The limits are the kernel's, on this process: an exception where Python can raise one, and the end of the process where
a C function never comes back, after twice the time. (That end, the worker's other side sees: `worker`.)
Only the main thread can have them; elsewhere they do nothing.
"""

import math
import resource
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


class OutOfTime(BaseException):
    """The judge's time for an answer is up. No `except Exception` on the way may take it for something else."""


@contextmanager
def at_most(seconds: float) -> Iterator[None]:
    """Limit the CPU time of what is done in here. **Errors:** `OutOfTime`."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def stop(signum: int, frame: FrameType | None) -> None:
        raise OutOfTime

    before = signal.signal(signal.SIGPROF, stop)
    limit = resource.getrlimit(resource.RLIMIT_CPU)
    resource.setrlimit(resource.RLIMIT_CPU, (_lower(limit[0], math.ceil(time.process_time() + 2 * seconds)), limit[1]))
    signal.setitimer(signal.ITIMER_PROF, seconds, 1.0)  # once more, should something have caught the first
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        resource.setrlimit(resource.RLIMIT_CPU, limit)
        signal.signal(signal.SIGPROF, before)


@contextmanager
def with_no_more_than(memory: int) -> Iterator[None]:
    """Limit the memory that this process takes in here beyond what it has. **Errors:** `MemoryError`."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    limit = resource.getrlimit(resource.RLIMIT_DATA)
    resource.setrlimit(resource.RLIMIT_DATA, (_lower(limit[0], used_memory() + memory), limit[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_DATA, limit)


def used_memory() -> int:
    """The bytes of memory that this process has for itself."""
    with open("/proc/self/statm", "rb", buffering=0) as file:
        return int(file.read().split()[5]) * resource.getpagesize()


def _lower(one: int, other: int) -> int:
    return other if one == resource.RLIM_INFINITY else min(one, other)
