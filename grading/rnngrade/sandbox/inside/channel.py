"""Messages between the judge and the sandbox: a verb, a number, and the wire form of a list. Never pickle.

4 bytes: length of the body | 4 bytes: number, both big endian | 8 bytes: verb, ASCII, zeros behind | body
"""

import socket
import struct
import time
from dataclasses import dataclass
from typing import Any

from rnncourse.checks.wire import WireError, decode, encode

HEAD = struct.Struct(">II8s")


class Closed(Exception):
    """The other side is gone."""


class Late(Exception):
    """No whole message came in time."""


class Garbage(Exception):
    """What came is no message; the words say why."""


@dataclass(frozen=True)
class Message:
    """What came: `data` is the wire form of the body, which nobody has looked at."""

    verb: str
    number: int
    data: bytes

    def body(self) -> list[Any]:
        """The body. **Errors:** `Garbage`."""
        try:
            body = decode(self.data)
        except WireError as error:
            why = str(error)
        else:
            if type(body) is list:
                return body
            why = "a body that is no list"
        raise Garbage(why)  # without the other error, whose traceback would hold on to what was read


class Channel:
    """One end of the connection. `limit` is the most bytes that a message may have."""

    def __init__(self, connection: socket.socket, limit: int) -> None:
        self.connection = connection
        self.limit = limit
        self._held = b""

    def send(self, verb: str, number: int, *body: Any, seconds: float | None = None) -> None:
        """Send one message. **Errors:** `Closed`, `Late`; `WireError` for what is no plain value."""
        self.pass_on(verb, number, encode(list(body)), seconds)

    def hold(self, verb: str, number: int, *body: Any) -> None:
        """Send a message with the next one: each that is sent wakes the other side."""
        self._held += framed(verb, number, encode(list(body)))

    def pass_on(self, verb: str, number: int, data: bytes, seconds: float | None = None) -> None:
        """Send a message whose body is in wire form already. **Errors:** `Closed`, `Late`."""
        try:
            self.connection.settimeout(seconds)
            held, self._held = self._held, b""
            self.connection.sendall(held + framed(verb, number, data))
        except TimeoutError:
            raise Late from None
        except OSError:
            raise Closed from None

    def hand(self, file: int) -> None:
        """Hand an open file over, behind a message. **Errors:** `Closed`."""
        try:
            socket.send_fds(self.connection, [b"\0"], [file])
        except OSError:
            raise Closed from None

    def receive(self, seconds: float | None = None) -> Message:
        """The next message, within `seconds` all in all. **Errors:** `Closed`, `Late`, `Garbage`."""
        end = None if seconds is None else time.monotonic() + seconds
        size, number, name = HEAD.unpack(self._take(HEAD.size, end))
        if size > self.limit:
            raise Garbage(f"a message of {size} bytes; {self.limit} is the most")
        verb = name.rstrip(b"\0")
        if not verb.isalpha():
            raise Garbage("a message without a verb")
        return Message(verb.decode("ascii"), number, self._take(size, end))

    def _take(self, count: int, end: float | None) -> bytes:
        parts: list[bytes] = []
        while count:
            left = None if end is None else end - time.monotonic()
            if left is not None and left <= 0:
                raise Late
            try:
                self.connection.settimeout(left)
                part = self.connection.recv(min(count, 1 << 20))
            except TimeoutError:
                raise Late from None
            except OSError:
                raise Closed from None
            if not part:
                raise Closed
            parts.append(part)
            count -= len(part)
        return b"".join(parts)


def framed(verb: str, number: int, data: bytes) -> bytes:
    """The bytes of a message."""
    return HEAD.pack(len(data), number, verb.encode("ascii")) + data
