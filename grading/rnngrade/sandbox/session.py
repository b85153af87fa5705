"""The judge's end of a sandbox: start a runner in it, ask, wait as long as the limits allow, end it.

A `Session` is one runner in one room; a `Station` (`station`) lets it in. What goes wrong inside is an exception here:
`Died`, `TooSlow`, `TooMuch`, `Garbled`.
"""

from __future__ import annotations

import dataclasses
import glob
import select
import shutil
import socket
import tempfile
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, Protocol

from rnncourse.checks.wire import WireError, encode
from rnngrade.core.closing import Closing
from rnngrade.sandbox import bubblewrap
from rnngrade.sandbox.inside import groups
from rnngrade.sandbox.inside.channel import Channel, Closed, Garbage, Late, Message
from rnngrade.sandbox.inside.groups import Group
from rnngrade.sandbox.limits import Limits
from rnngrade.sandbox.processes import (
    children,
    descendants,
    kill,
    number_inside,
    proportional,
    resident,
    scheduled,
    state,
)
from rnngrade.sandbox.shared_memory import SharedMemory

GRACE_SECONDS = 3.0  # what the way there and back may take on a busy machine
WATCH_SECONDS = 0.1
AT_ONCE = 0.05  # seconds for which nobody asks who had the processors
PATIENCE = 5.0  # times as long may it take where others use the processors: those others may be the room's own


class Fault(BaseException):
    """The session is over, by what the student's code did. No `except Exception` on the way, such as that around an
    exercise's properties, may take it for something else.
    """


class Died(Fault):
    """The process ended."""


class TooSlow(Fault):
    """It did not answer in time."""


class TooMuch(Fault):
    """It used more memory than there is for it, or started more processes."""


class Garbled(Fault):
    """What came was no answer."""


# The room, the runner's end of the channel, the file that it is lent, its home -> its pid, and the room's group.
Enter = Callable[[bubblewrap.Room | None, socket.socket, int, str], tuple[int, Group | None]]


class Answers(Protocol):
    """What answers the runner's calls of functions that only the judge has."""

    def known(self, call: bytes) -> bytes | None:
        """The wire form of the body that has been sent to such a call before, if it is to be sent again."""

    def keep(self, call: bytes, function: int, answer: bytes) -> None:
        """Keep what a function has answered to a call."""

    def call(self, function: int, args: Any, kwargs: dict[str, Any]) -> Any:
        """Call the function of this number."""


@dataclasses.dataclass
class _Deadline:
    """When the time is up: `soon`, put off by what was waited for a processor since, and at the `latest`. What was
    `waited` before is asked for only where an answer is not there at once: most are.
    """

    soon: float
    latest: float
    waited: float | None = None

    def left(self) -> float:
        return max(0.0, min(self.soon, self.latest) - time.monotonic())

    def put_off(self, seconds: float) -> None:
        self.soon += seconds
        self.latest += seconds

    def extend(self, waited: float) -> bool:
        """Add what was waited meanwhile; whether time is left."""
        self.soon += max(0.0, waited - (waited if self.waited is None else self.waited))
        self.waited = waited
        return self.left() > 0


class Session(Closing):
    """One runner. Use as a context."""

    def __init__(self, limits: Limits, room: bubblewrap.Room | None, folder: Path, enter: Enter) -> None:
        """`enter` lets a runner in; where there is no room, it is at home in a folder of its own in `folder`."""
        self.limits = limits
        self._room = room
        self._scratch = None if room else tempfile.mkdtemp(dir=folder)
        self.memory = SharedMemory()
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
        with theirs:
            home = self._scratch or bubblewrap.HOME
            self.pid, self._group = enter(room, theirs, self.memory.file, home)
        self._channel = Channel(ours, self.limits.message)
        self._number = 0
        self._calls_back = 0
        self._ended: str | None = None
        self.most_memory = 0
        self._over = threading.Event()
        self._watcher = threading.Thread(target=self._watch, daemon=True, name="rnngrade watch")
        self._watcher.start()

    def ask(self, verb: str, *body: Any, seconds: float, answers: Answers | None = None) -> Any:
        """Ask, and wait for the reply. While waiting, `answers` are there for the runner's calls.

        While the runner, or this process, waits for a processor that others are using, its `seconds` do not go on,
        within `PATIENCE`.

        **Errors:** a `Fault`, after which the session is of no use.
        """
        return told(self.exchange(verb, encode(list(body)), seconds=seconds, answers=answers))

    def exchange(
        self,
        verb: str,
        body: bytes,
        *,
        seconds: float,
        answers: Answers | None = None,
        hands: int | None = None,
        seen: list[bytes] | None = None,
        cases: int = 0,
    ) -> bytes:
        """The same with wire forms: what `body` is asked with, and what came, which nobody has looked at (`told`).
        `hands` is a file that comes behind the request. What the runner has seen of so many `cases` is put into `seen`.
        """
        self._number += 1
        end = self._deadline(seconds)
        try:
            self._channel.pass_on(verb, self._number, body, seconds)
            if hands is not None:
                self._channel.hand(hands)
            while True:
                came = self._receive(end)
                if came.verb == "reply" and came.number == self._number:
                    return came.data
                if came.verb == "memory":  # the runner's last words
                    raise TooMuch("memory")
                if came.verb == "seen" and seen is not None and len(seen) < cases:
                    seen.append(came.data)
                    if sum(map(len, seen)) > self.limits.message:
                        raise TooMuch("answers")
                    continue
                if came.verb != "call" or answers is None:
                    raise Garbage("an answer to another question")
                started = time.monotonic()
                self._channel.pass_on(*self._answer(came, answers), seconds)
                end.put_off(time.monotonic() - started)  # the judge's time is not the student's
        except Closed:
            raise self._why() from None
        except Late:
            raise (Died() if self.is_gone() else TooSlow()) from None
        except Garbage as why:
            raise Garbled(str(why)) from None

    def fork(self) -> Fork:
        """A process as this one is now, in the same room, in which an answer is asked. **Errors:** a `Fault`."""
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            with theirs:
                asked = self.exchange("fork", encode([]), seconds=self.limits.call_seconds, hands=theirs.fileno())
            number = told(asked)
            for pid in reversed(children(self.pid)):  # the latest is the last
                if type(number) is int and number_inside(pid) == number:
                    return Fork(self, pid, ours)
            raise Died()
        except OSError:
            ours.close()
            raise Died() from None
        except Fault:
            ours.close()
            raise

    def is_gone(self) -> bool:
        """Whether nobody is there any more who could answer: the process has ended, or was stopped."""
        return self.is_closed or self._ended is not None or state(self.pid) in (None, *"TtZX")

    def _why(self) -> Fault:
        """Why the process has ended."""
        self._measure()
        return TooMuch(self._ended) if self._ended else Died()

    def _measure(self) -> None:
        """Ask the kernel, where it counts, how much there was and whether it was too much."""
        if self._group:
            self.most_memory = max(self.most_memory, self._group.most_memory())
            if self._group.ended_for_memory():
                self._ended = "memory"

    def _deadline(self, seconds: float) -> _Deadline:
        now = time.monotonic()
        return _Deadline(now + seconds, now + PATIENCE * seconds)

    def _receive(self, end: _Deadline) -> Message:
        wait = min(AT_ONCE, end.left()) if end.waited is None else end.left()
        while not select.select([self._channel.connection], [], [], wait)[0]:
            if not end.extend(self._waited()):
                raise Late
            wait = min(WATCH_SECONDS, end.left())  # how long a thread has waited is not known once it has ended
        return self._channel.receive(max(end.left(), GRACE_SECONDS))

    def _answer(self, came: Message, answers: Answers) -> tuple[str, int, bytes]:
        if (known := answers.known(came.data)) is not None:
            return "return", came.number, known
        match came.body():
            case [int(function), args, dict(kwargs)]:
                pass
            case _:
                raise Garbage("a call of nothing")
        try:
            answer = encode([answers.call(function, args, kwargs)])
        except (Fault, Closed, Late, Garbage, WireError):
            raise
        except Exception as error:
            return "raise", came.number, encode([[c.__name__ for c in type(error).__mro__], str(error)[:500]])
        answers.keep(came.data, function, answer)
        return "return", came.number, answer

    def call_back(self, function: int, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Call a function that the answer lent; to be used within `call`. **Errors:** what it raised, by kind."""
        self._calls_back += 1
        number = self._calls_back
        self._channel.send("callback", number, function, args, kwargs, seconds=GRACE_SECONDS)
        came = self._receive(self._deadline(self.limits.call_seconds))
        match came.verb, came.body() if came.number == number else None:
            case ["return", [value]]:
                return value
            case ["raise", [list(kinds), str(words)]]:
                raise CalledBack(kinds, words)
        raise Garbage("an answer to another question")

    def cpu_seconds(self) -> float:
        """What the runner's main thread, in which cells are run, has used so far."""
        return scheduled(f"/proc/{self.pid}/schedstat")[0]

    def _waited(self) -> float:
        """For how many seconds the runner's threads, and this one, have waited for a processor."""
        threads = glob.glob(f"/proc/{self.pid}/task/*/schedstat")
        return sum(scheduled(path)[1] for path in (*threads, "/proc/thread-self/schedstat"))

    def _watch(self) -> None:
        counts = not self._group or {*self._group.folders} != {groups.MEMORY, groups.PROCESSES}
        while not self._over.wait(WATCH_SECONDS):
            self._measure()
            if counts and not self._ended:
                self._count()
            if self._ended:
                self._kill()
                return

    def _count(self) -> None:
        """Count, where the kernel does not, what all of its processes have, and see whether it is too much."""
        processes = descendants([self.pid] + ([self._room.pid] if self._room else []))
        used = sum(resident(pid) for pid in processes)
        if used > self.limits.memory:  # perhaps: this counts what processes share for each of them
            used = sum(proportional(pid) for pid in processes)
        self.most_memory = max(self.most_memory, used)
        if used > self.limits.memory or len(processes) > self.limits.processes:
            self._ended = "memory" if used > self.limits.memory else "processes"

    def _kill(self) -> None:
        if self._room:
            self._room.close()
        else:
            kill(self.pid)

    @property
    def is_closed(self) -> bool:
        """Whether it has been closed."""
        return self._over.is_set()

    def close(self) -> None:
        """End the runner, and everything that it started."""
        self._over.set()
        self._measure()
        self._kill()
        with suppress(OSError):
            self._channel.connection.close()
        if self._watcher is not threading.current_thread():
            self._watcher.join()
        if self._group:
            self._group.close()
        self.memory.close()
        if self._scratch:
            shutil.rmtree(self._scratch, ignore_errors=True)


class Fork(Session):
    """A process that a runner has forked. It ends with the room, or alone."""

    def __init__(self, parent: Session, pid: int, connection: socket.socket) -> None:
        self.limits, self.memory, self.pid, self._parent = parent.limits, parent.memory, pid, parent
        self._channel = Channel(connection, self.limits.message)
        self._number = self._calls_back = 0

    @property
    def _ended(self) -> str | None:  # type: ignore[override]
        return self._parent._ended

    @property
    def is_closed(self) -> bool:
        """Whether the room has been closed."""
        return self._parent.is_closed

    def _measure(self) -> None:
        self._parent._measure()

    def close(self) -> None:
        """End it, and everything that it started."""
        if not self.is_closed:
            kill(self.pid)
        self._channel.connection.close()


class CalledBack(Exception):
    """A function that the answer lent raised this."""

    def __init__(self, kinds: list[str], words: str) -> None:
        super().__init__(words)
        self.kinds = kinds


def told(reply: bytes) -> Any:
    """The value that a reply has. **Errors:** `Garbled`."""
    try:
        (value,) = Message("reply", 0, reply).body()
    except (Garbage, ValueError) as why:
        words = str(why)
    else:
        return value
    raise Garbled(words)  # without the other error, whose traceback would hold on to what was read
