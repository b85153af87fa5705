"""Messages between the judge and the sandbox: a length, then the wire form of a list. Never pickle."""

from __future__ import annotations

import socket
import time
from typing import Any

from rnncourse.checks.wire import WireError, decode, encode

HEAD = 4


class Closed(Exception):
    """The other side is gone."""


class Late(Exception):
    """No whole message came in time."""


class Garbage(Exception):
    """What came is no message; the words say why."""


class Channel:
    """One end of the connection. `limit` is the most bytes that a message may have."""

    def __init__(self, connection: socket.socket, limit: int) -> None:
        self.connection = connection
        self.limit = limit

    def send(self, *message: Any, seconds: float | None = None) -> None:
        """Send one message. **Errors:** `Closed`, `Late`; `WireError` for what is no plain value."""
        data = encode(list(message))
        try:
            self.connection.settimeout(seconds)
            self.connection.sendall(len(data).to_bytes(HEAD, "big") + data)
        except TimeoutError:
            raise Late from None
        except OSError:
            raise Closed from None

    def receive(self, seconds: float | None = None) -> list[Any]:
        """The next message, within `seconds` all in all. **Errors:** `Closed`, `Late`, `Garbage`."""
        end = None if seconds is None else time.monotonic() + seconds
        size = int.from_bytes(self._take(HEAD, end), "big")
        if size > self.limit:
            raise Garbage(f"a message of {size} bytes; {self.limit} is the most")
        try:
            message = decode(self._take(size, end))
        except WireError as error:
            why = str(error)
        else:
            if type(message) is list and message and type(message[0]) is str:
                return message
            why = "a message without a verb"
        raise Garbage(why)  # without the other error, whose traceback would hold on to what was read

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
