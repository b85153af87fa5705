"""What a desk and its grading processes say to each other: settings and submissions in, what came of them out.

It imports little, so that a desk can start its grading processes at once. Both ends of each socket are the desk's own,
so what passes between them is pickled.
"""

import pickle
import shutil
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rnngrade.core.record import Record
from rnngrade.grading.bundle import Bundle
from rnngrade.sandbox.limits import Limits


@dataclass(frozen=True)
class Settings:
    """What all that a process grades has in common."""

    bundle: Bundle
    limits: Limits
    seed: str
    sandboxed: bool = True


@dataclass(frozen=True)
class Graded:
    """What came of a submission: its record, and the instructor's notebook with the student's answers, executed."""

    record: Record
    notebook: bytes


Grader = Callable[[dict[str, Path]], Iterator[Graded]]  # submissions by student, in; results as they come, out


def remove(folder: Path) -> None:
    """Remove the folder, renamed first: whoever is still writing to it finds it no more."""
    gone = folder.with_name(f"{folder.name}-gone")
    with suppress(OSError):
        folder.rename(gone)
    shutil.rmtree(gone, ignore_errors=True)


def send(connection: socket.socket, value: Any, files: tuple[int, ...] = ()) -> None:
    """Send a value, and files with it."""
    data = pickle.dumps(value)
    socket.send_fds(connection, [len(data).to_bytes(8, "big")], files)
    connection.sendall(data)


def receive(connection: socket.socket, end: float | None = None, files: int = 0) -> tuple[Any, list[int]] | None:
    """The next value, and the files that came with it; None if there is no more, or only a part of it.

    **Errors:** `TimeoutError` if it is not there at `end`, on the monotonic clock.
    """
    connection.settimeout(None if end is None else max(0.001, end - time.monotonic()))
    head, found, _, _ = socket.recv_fds(connection, 8, files)
    data = bytearray()
    size = int.from_bytes(head, "big")
    while len(head) == 8 and len(data) < size:
        connection.settimeout(None if end is None else max(0.001, end - time.monotonic()))
        part = connection.recv(min(size - len(data), 1 << 20))
        if not part:
            return None
        data += part
    return (pickle.loads(data), found) if data else None
