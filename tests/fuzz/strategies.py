"""What strangers may send: headers of the wire form that are almost right, values of any kind."""

import json
import os

import numpy as np
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from tests.sampling import ALL

# `make nightly` tries more, and others each time; `make test` the same few.
TIMES = max(1, int(os.environ.get("FUZZ", "0")))
SLOW = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much, HealthCheck.large_base_example]


def fuzzed(few: int) -> settings:
    """The settings of a fuzz test that tries `few` examples, in `make nightly` FUZZ times as many, by day a fifth."""
    return settings(
        max_examples=few * TIMES if ALL else max(5, few // 5),
        derandomize=not ALL,
        deadline=None,
        suppress_health_check=SLOW,
    )


# Text with what files and pages trip over: halves of surrogate pairs, control characters, marks of other languages.
texts = st.text(max_size=6) | st.sampled_from(
    ["\ud800", "a\udfff", "\0", "\x1b[31m", "\r\n\u2028", "</script>", "`", "\u202e", "x" * 3000, "é" * 40, ""]
)
numbers = (
    st.integers()
    | st.sampled_from([0, -1, 1, 2**31, 2**63, 2**64, -(2**63) - 1, 2**61 - 1, 10**30, 10**400, 10**2900])
    | st.floats()
    | st.sampled_from([1e308, -1e308, 5e-324])
)
dtypes = st.sampled_from(
    [
        *("<f8", "<f4", "<f2", "<i8", "<i4", "|i1", "|u1", "<u8", "|b1"),  # right
        *("|O", "<U4", "|S3", "<c16", "<f1", "|b2", "<f16", ">f8", "f8", "|V8", "<M8[s]", "", "i,i", "<i8\n"),  # not
    ]
)
shapes = st.lists(st.sampled_from([0, 1, 2, 3]), max_size=4) | st.sampled_from(
    [[-1], [2**62], [2**62, 4], [10**30], [0, 2**62, 2**62], [0, 10**30], [1] * 33, [1] * 65, [1.0], [True], ["3"]]
)


@st.composite
def right_arrays(draw: st.DrawFn) -> object:
    """An array as the header names it, whose bytes are in the tail."""
    return {"array": [draw(dtypes), draw(shapes)]}


leaves = (
    st.none()
    | st.booleans()
    | numbers
    | texts
    | right_arrays()
    | st.builds(lambda dtype: {"scalar": dtype}, dtypes)
    | st.sampled_from([{"float": "nan"}, {"float": "inf"}, {"float": "-inf"}, {"float": []}, {"float": "1"}])
)


def _around(inner: st.SearchStrategy[object]) -> st.SearchStrategy[object]:
    several = st.lists(inner, max_size=4)
    pairs = st.lists(st.lists(inner, min_size=2, max_size=2), max_size=3)
    bodies = several | pairs | inner
    return (
        several
        | st.builds(lambda items: {"tuple": items}, several)
        | st.builds(lambda items: {"set": items}, several)
        | st.builds(lambda items: {"dict": items}, pairs)
        | st.builds(lambda items: {"counter": items}, pairs)
        | st.builds(lambda key, body: {key: body}, st.sampled_from(TAGS), bodies)
        | st.dictionaries(texts, inner, max_size=2)
    )


TAGS = ["array", "scalar", "float", "tuple", "set", "dict", "counter", "named", "function", ""]
headers = st.recursive(leaves, _around, max_leaves=12)


def message(header: object, tail: bytes = bytes(range(256)) * 2) -> bytes:
    """A message with this header, and with just as many bytes behind it as it takes, where that can be told."""
    data = json.dumps(header).encode()
    return len(data).to_bytes(4, "big") + data + tail[: _tail(header)]


def _tail(header: object) -> int:
    """The bytes that the arrays of a header take."""
    if isinstance(header, list):
        return sum(map(_tail, header))
    if not isinstance(header, dict):
        return 0
    match header:
        case {"array": [str(dtype), list(shape)]} if all(type(n) is int for n in shape):
            return max(0, int(np.prod([min(n, 9) for n in shape])) * _size(dtype))
        case {"scalar": str(dtype)}:
            return _size(dtype)
    return sum(map(_tail, header.values()))


def _size(dtype: str) -> int:
    return int(dtype[2:]) if dtype[2:].isdigit() else 0


# Values as a candidate returns them, and as the judge has them when they have come by the wire.
arrays = hnp.arrays(
    st.sampled_from([np.float64, np.float32, np.float16, np.int64, np.int8, np.uint8, np.uint64, np.bool_]),
    hnp.array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=3),
)
keys = st.booleans() | numbers | texts | st.tuples(texts, numbers)
values = st.recursive(
    st.none() | st.booleans() | numbers | texts | arrays | arrays.map(lambda a: a.flat[0] if a.size else 0),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.lists(inner, max_size=4).map(tuple)
        | st.sets(keys, max_size=3)
        | st.dictionaries(keys, inner, max_size=3)
    ),
    max_leaves=10,
)
