"""The wire form of plain values: one JSON header and the bytes of the arrays. Never pickle.

    4 bytes: length of the header, big endian | header, JSON in UTF-8 | array bytes, one array after the other

In the header, JSON's own null, true, false, numbers, strings and lists stand for themselves; everything else is an
object with one key:

    {"array": [dtype, shape]}   its bytes come next in the tail, C order, little endian
    {"scalar": dtype}           the same for a NumPy scalar
    {"float": "nan"}            nan, inf and -inf
    {"tuple": […]}  {"set": […]}  {"dict": [[key, value], …]}  {"counter": …}  {"named": [name, settings]}
"""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from typing import Any

import numpy as np

from rnncourse.checks.callables import Named
from rnncourse.checks.plain import MAX_BYTES, MAX_DEPTH, Plain

_DTYPE = re.compile(r"[|<]([biuf])(1|2|4|8)\Z")


class WireError(ValueError):
    """The bytes are no message of this form."""


def encode(value: Plain | Named) -> bytes:
    """The bytes of a plain value (which may hold `Named` callables). **Errors:** `WireError` for anything else."""
    tail: list[bytes] = []
    header = json.dumps(_pack(value, tail), allow_nan=False, separators=(",", ":")).encode()
    return len(header).to_bytes(4, "big") + header + b"".join(tail)


def decode(message: bytes) -> Plain | Named:
    """The value that `encode` made these bytes from. **Errors:** `WireError` if they are damaged, too large or too
    deep.
    """
    if len(message) < 4 or len(message) > MAX_BYTES:
        raise WireError(f"a message of {len(message)} bytes")
    size = int.from_bytes(message[:4], "big")
    try:
        header = json.loads(message[4 : 4 + size].decode(), parse_constant=_refuse)
        reader = _Reader(memoryview(message)[4 + size :])
        value = reader.unpack(header, 0)
    except WireError:
        raise
    except (ValueError, TypeError, KeyError, RecursionError, OverflowError) as error:
        raise WireError(f"a damaged message: {error}") from None
    if reader.rest:
        raise WireError(f"{len(reader.rest)} bytes too many")
    return value


def _refuse(constant: str) -> None:
    raise WireError(f"{constant} in the header")


def _little(array: np.ndarray) -> np.ndarray:
    return np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("<")).reshape(array.shape)


def _pack(value: Any, tail: list[bytes]) -> Any:
    if value is None or type(value) in (bool, int, str):
        return value
    if type(value) is float:
        return value if math.isfinite(value) else {"float": repr(value)}
    if isinstance(value, (np.ndarray, np.generic)) and value.dtype.kind in "biuf":
        array = _little(np.asarray(value))
        tail.append(array.tobytes())
        return (
            {"scalar": array.dtype.str}
            if isinstance(value, np.generic)
            else {"array": [array.dtype.str, list(array.shape)]}
        )
    if type(value) is list:
        return [_pack(v, tail) for v in value]
    if type(value) is tuple:
        return {"tuple": [_pack(v, tail) for v in value]}
    if type(value) is set:
        return {"set": [_pack(v, tail) for v in sorted(value, key=repr)]}
    if type(value) is dict:
        return {"dict": [[_pack(k, tail), _pack(v, tail)] for k, v in value.items()]}
    if type(value) is Counter:
        return {"counter": [[_pack(k, tail), v] for k, v in value.items()]}
    if isinstance(value, Named):
        return {"named": [value.name, _pack(value.settings, tail)]}
    raise WireError(f"a {type(value).__name__} is no plain value")


class _Reader:
    """Takes array bytes off the front of the tail, in the order in which the header mentions them."""

    def __init__(self, tail: memoryview) -> None:
        self.rest = tail

    def unpack(self, item: Any, depth: int) -> Any:
        if depth > 2 * MAX_DEPTH:
            raise WireError("nested too deeply")
        if isinstance(item, list):
            return [self.unpack(v, depth + 1) for v in item]
        if not isinstance(item, dict):
            return item
        ((key, body),) = item.items()
        if key == "array":
            return self._array(body[0], tuple(body[1]))
        if key == "scalar":
            return self._array(body, ())[()]
        if key == "float" and body in ("nan", "inf", "-inf"):
            return float(body)
        if key == "tuple":
            return tuple(self.unpack(v, depth + 1) for v in body)
        if key == "set":
            return {self.unpack(v, depth + 1) for v in body}
        if key == "dict":
            return {self.unpack(k, depth + 1): self.unpack(v, depth + 1) for k, v in body}
        if key == "counter":
            return Counter({self.unpack(k, depth + 1): v for k, v in body})
        if key == "named" and isinstance(body[0], str):
            return Named(body[0], self.unpack(body[1], depth + 1))
        raise WireError(f"unknown item {key!r}")

    def _array(self, dtype: str, shape: tuple[int, ...]) -> np.ndarray:
        if not (isinstance(dtype, str) and _DTYPE.match(dtype)):
            raise WireError(f"dtype {dtype!r}")
        if not all(type(n) is int and n >= 0 for n in shape):
            raise WireError(f"shape {shape!r}")
        size = math.prod(shape) * np.dtype(dtype).itemsize
        if size > len(self.rest):
            raise WireError("array bytes are missing")
        data, self.rest = self.rest[:size], self.rest[size:]
        return np.frombuffer(data, dtype=dtype).reshape(shape).copy()
