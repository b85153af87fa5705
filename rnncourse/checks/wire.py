"""The wire form of plain values: one JSON header and the bytes of the arrays. Never pickle.

    4 bytes: length of the header, big endian | header, JSON in UTF-8 | array bytes, one array after the other

In the header, JSON's own null, true, false, numbers, strings and lists stand for themselves; everything else is an
object with one key:

    {"array": [dtype, shape]}   its bytes come next in the tail, C order, little endian
    {"scalar": dtype}           the same for a NumPy scalar
    {"float": "nan"}            nan, inf and -inf
    {"tuple": […]}  {"set": […]}  {"dict": [[key, value], …]}  {"counter": …}  {"named": [name, settings]}

Who decodes a message need not trust who sent it. What it costs is bounded before it is read: a header has at most
16 MB, and at most two million marks ([, { and commas), which bounds the objects that it can make.
"""

import json
import math
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np

from rnncourse.checks.callables import Named
from rnncourse.checks.plain import MAX_BITS, MAX_BYTES, MAX_DEPTH, MAX_KEY_BITS, Plain, is_count

MAX_HEADER = 16 * 2**20
MAX_MARKS = 2_000_000
MAX_AXES = 32
_DTYPES = {f"{'|' if size == 1 else '<'}{kind}{size}" for kind in "iu" for size in (1, 2, 4, 8)}
_DTYPES |= {"|b1", "<f2", "<f4", "<f8"}


class WireError(ValueError):
    """The bytes are no message of this form."""


def encode(value: Plain | Named) -> bytes:
    """The bytes of a plain value (which may hold `Named` callables). **Errors:** `WireError` for anything else."""
    tail: list[bytes] = []
    try:
        header = json.dumps(_pack(value, tail), allow_nan=False, separators=(",", ":")).encode()
    except (ValueError, RecursionError) as error:
        raise WireError(f"no plain value: {error}") from None
    return len(header).to_bytes(4, "big") + header + b"".join(tail)


def decode(message: bytes) -> Plain | Named:
    """The value that `encode` made these bytes from. **Errors:** `WireError` if they are damaged, too large or too
    deep.

    Half of a surrogate pair in a text, which nobody can write down, comes as a question mark.
    """
    if len(message) < 4 or len(message) > MAX_BYTES:
        raise WireError(f"a message of {len(message)} bytes")
    size = int.from_bytes(message[:4], "big")
    if size > MAX_HEADER:
        raise WireError(f"a header of {size} bytes")
    data = message[4 : 4 + size]
    if data.count(b"[") + data.count(b"{") + data.count(b",") > MAX_MARKS:
        raise WireError("a header of too many parts")
    reader = _Reader(memoryview(message)[4 + size :])
    try:
        return reader.whole(json.loads(data.decode(), parse_constant=_refuse))
    except WireError:
        raise
    except (ValueError, TypeError, LookupError, RecursionError, OverflowError, MemoryError) as error:
        words = f"a damaged message: {type(error).__name__}"
    raise WireError(words)  # without the other error, which would hold on to what was read


def _refuse(constant: str) -> None:
    raise WireError(f"{constant} in the header")


def _little(array: np.ndarray) -> np.ndarray:
    return np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("<")).reshape(array.shape)


def _pack(value: Any, tail: list[bytes]) -> Any:
    if value is None or type(value) in (bool, int, str):
        return value
    if type(value) is float:
        return value if math.isfinite(value) else {"float": repr(value)}
    if isinstance(value, (np.ndarray, np.generic)) and value.dtype.newbyteorder("<").str in _DTYPES:
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
    if type(value) in (dict, Counter):
        pairs = [[_pack(k, tail), _pack(v, tail)] for k, v in value.items()]
        return {"dict" if type(value) is dict else "counter": pairs}
    if isinstance(value, Named):
        return {"named": [value.name, _pack(value.settings, tail)]}
    raise WireError(f"a {type(value).__name__} is no plain value")


class _Reader:
    """Takes array bytes off the front of the tail, in the order in which the header mentions them."""

    def __init__(self, tail: memoryview) -> None:
        self.rest = tail

    def whole(self, header: Any) -> Any:
        """The value of a header, which takes all bytes there are."""
        value = self.unpack(header, 0)
        if self.rest:
            raise WireError(f"{len(self.rest)} bytes too many")
        return value

    def unpack(self, item: Any, depth: int) -> Any:
        kind = type(item)
        if kind is str:
            return item if item.isascii() else item.encode("utf-8", "replace").decode()
        if kind is int and item.bit_length() > MAX_BITS:
            raise WireError("a number of thousands of digits")
        if kind is not list and kind is not dict:
            return item
        if depth > 2 * MAX_DEPTH:
            raise WireError("nested too deeply")
        if kind is list:
            return [self.unpack(v, depth + 1) for v in item]
        if len(item) == 1:
            ((tag, body),) = item.items()
            if type(body) is list and tag in _OF_LISTS:
                return _OF_LISTS[tag](self, body, depth + 1)
            if tag == "scalar":
                return self._array(body, ())[()]
            if tag == "float" and body in ("nan", "inf", "-inf"):
                return float(body)
        raise WireError("an unknown item")

    def _tuple(self, items: list[Any], depth: int) -> tuple[Any, ...]:
        return tuple([self.unpack(v, depth) for v in items])

    def _set(self, items: list[Any], depth: int) -> set[Any]:
        return {self._key(v, depth) for v in items}

    def _dict(self, pairs: list[Any], depth: int) -> dict[Any, Any]:
        if not all(type(pair) is list and len(pair) == 2 for pair in pairs):
            raise WireError("a key without a value")
        return {self._key(key, depth): self.unpack(value, depth) for key, value in pairs}

    def _counter(self, pairs: list[Any], depth: int) -> Counter[Any]:
        counts = self._dict(pairs, depth)
        if not all(map(is_count, counts.values())):
            raise WireError("a count that is no number")
        return Counter(counts)

    def _named(self, body: list[Any], depth: int) -> Named:
        name, settings = self._tuple(body, depth)
        if type(name) is not str or type(settings) is not dict or not all(type(key) is str for key in settings):
            raise WireError("an unknown function")
        return Named(name, settings)

    def _key(self, item: Any, depth: int) -> Any:
        key = self.unpack(item, depth)
        if type(key) is int and key.bit_length() > MAX_KEY_BITS:
            raise WireError("a number of dozens of digits as a key")
        return key

    def _shaped(self, body: list[Any], depth: int) -> np.ndarray:
        dtype, shape = body
        return self._array(dtype, tuple(shape))

    def _array(self, dtype: str, shape: tuple[int, ...]) -> np.ndarray:
        if type(dtype) is not str or dtype not in _DTYPES:
            raise WireError("an unknown dtype")
        if len(shape) > MAX_AXES or not all(type(n) is int and 0 <= n <= MAX_BYTES for n in shape):
            raise WireError("an unknown shape")
        size = math.prod(shape) * np.dtype(dtype).itemsize
        if size > len(self.rest):
            raise WireError("array bytes are missing")
        data, self.rest = self.rest[:size], self.rest[size:]
        return np.frombuffer(data, dtype=dtype).reshape(shape).copy()


_OF_LISTS: dict[str, Callable[[_Reader, list[Any], int], Any]] = {
    "array": _Reader._shaped,
    "tuple": _Reader._tuple,
    "set": _Reader._set,
    "dict": _Reader._dict,
    "counter": _Reader._counter,
    "named": _Reader._named,
}
