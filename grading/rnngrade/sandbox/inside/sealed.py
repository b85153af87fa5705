"""Answers to calls, sealed: only who makes a call can read what it is answered.

The judge knows which calls of earlier exercises an exercise's reference makes in a case. It sends the answers to these
calls along with the case, so that a right answer, which makes the same calls, need not ask for each. Name and key of
an answer are digests of the call's wire form: whoever can look one up knows the call, and could have asked the judge.
"""

import hashlib
import struct
from collections.abc import Mapping

import numpy as np

NAME = 16  # bytes
SIZE = struct.Struct(">I")


def seal(answers: Mapping[bytes, bytes]) -> np.ndarray:
    """The answers by call, both in wire form, as bytes that can be sent; in no order that says anything."""
    parts = []
    for call, answer in answers.items():
        name, key = _name_and_key(call, len(answer))
        parts.append(name + SIZE.pack(len(answer)) + _crossed(answer, key))
    return np.frombuffer(b"".join(sorted(parts)), np.uint8)


class Sealed:
    """The answers that were sent; none at first."""

    def __init__(self, sent: np.ndarray | None = None) -> None:
        self._answers: dict[bytes, bytes] = {}
        data, start = b"" if sent is None else sent.tobytes(), 0
        while start < len(data):
            name, start = data[start : start + NAME], start + NAME
            (size,) = SIZE.unpack_from(data, start)
            start += SIZE.size
            self._answers[name] = data[start : start + size]
            start += size

    def answer_to(self, call: bytes) -> bytes | None:
        """The answer to this call, if it was sent."""
        if not self._answers:
            return None
        known = hashlib.shake_256(call)
        if (answer := self._answers.get(known.digest(NAME))) is None:
            return None
        return _crossed(answer, known.digest(NAME + len(answer))[NAME:])


def _name_and_key(call: bytes, size: int) -> tuple[bytes, bytes]:
    digest = hashlib.shake_256(call).digest(NAME + size)
    return digest[:NAME], digest[NAME:]


def _crossed(one: bytes, other: bytes) -> bytes:
    return (int.from_bytes(one) ^ int.from_bytes(other)).to_bytes(len(one))
