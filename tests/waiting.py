"""Waiting for what must happen, however busy the machine is."""

import time
from collections.abc import Callable

import psutil

# Seconds after which it is said that something never happens. No test says that anything is quicker than this.
PATIENCE = 600.0


def until(condition: Callable[[], object], otherwise: Callable[[], object]) -> None:
    """Wait until a condition holds; if it never does, fail with what `otherwise` says."""
    end = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < end, otherwise()
        time.sleep(0.05)


def has_ended(process: psutil.Process) -> bool:
    """Whether a process has ended, even if nobody has asked yet how it did."""
    try:
        return not process.is_running() or process.status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True
