"""The wire: whatever bytes come, the judge gets a plain value or a `WireError`, for a bounded price."""

import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st

from rnncourse.checks.plain import NotPlain, to_plain
from rnncourse.checks.wire import WireError, decode, encode
from tests.fuzz.strategies import fuzzed, headers, message, values


@fuzzed(1500)
@given(headers)
@example({"array": []})
@example({"array": {}})
@example({"array": ["<f8", 3]})
@example({"array": ["<f1", [1]]})
@example({"array": ["|b2", [0]]})
@example({"array": ["<f8", [0, 10**30]]})
@example({"counter": [["a", {"b": []}]]})
@example({"counter": [["a", {"array": ["<f8", [2]]}], ["b", {"array": ["<f8", [2]]}]]})
@example({"counter": [["a", {"scalar": "<f2"}], ["b", 10**400]]})
@example({"set": [[]]})
@example({"set": [2**61 - 1, 2**70]})
@example({"dict": ["ab"]})
@example({"tuple": "ab"})
@example({"named": ["f", {}]})
@example("\ud800")
def test_a_header_is_a_value_or_a_wire_error(header):
    try:
        value = decode(message(header))
    except WireError as why:
        str(why).encode()
        return
    again = decode(encode(value))  # it is a value of this form, with nothing in it that could not be written down
    repr(again).encode()
    try:
        to_plain(value)
    except NotPlain as why:
        str(why).encode()


@fuzzed(500)
@given(st.binary(max_size=200), st.integers(0, 300))
def test_bytes_are_a_value_or_a_wire_error(data, size):
    for one in (data, size.to_bytes(4, "big") + data):
        try:
            decode(one)
        except WireError:
            continue


@fuzzed(500)
@given(values)
@example(np.float16(1))
def test_what_a_candidate_returns_is_plain_or_refused_and_passes(value):
    try:
        plain = to_plain(value)
    except NotPlain:
        return
    decode(encode(plain))
