"""A desk's lock: one command at a time changes what students handed in, records and the gradebook.

It is the kernel's own lock on a file (`flock`), so it ends with the process that holds it, however that ends; the file
stays, and says who holds it.
"""

import fcntl
import os
import platform
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from rnngrade.core.errors import DeskError, writing

NAME = ".lock"
LONGEST = 300  # characters of a command


@contextmanager
def locked(folder: Path, command: str) -> Iterator[None]:
    """Hold the lock of the desk in `folder`; `command` is what others are told of it.

    **Errors:** `DeskError` if another process holds it, or where there are no locks.
    """
    path = folder / NAME
    with writing(path):
        handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise DeskError(_in_use(folder, handle)) from None
        except OSError as error:
            raise DeskError(
                f"{path} cannot be locked ({error.strerror}), so two runs could meet: move the desk to a disk of this "
                "machine."
            ) from None
        process, since = os.getpid(), time.strftime("%Y-%m-%d %H:%M:%S")
        holder = f"{command[:LONGEST]!r} works on it since {since} (process {process} on {platform.node()})"
        with writing(path):
            os.ftruncate(handle, 0)
            os.pwrite(handle, f"{holder}. Wait until it has ended, or end it with 'kill {process}'.".encode(), 0)
        try:
            yield
        finally:
            with suppress(OSError):
                os.ftruncate(handle, 0)
    finally:
        os.close(handle)


def _in_use(folder: Path, handle: int) -> str:
    for _ in range(100):  # whoever has just taken the lock writes a moment later
        if said := os.pread(handle, 4 * LONGEST, 0).decode(errors="replace"):
            return f"{folder} is in use: {said}"
        time.sleep(0.01)
    return f"{folder} is in use by another process: wait until it has ended."
