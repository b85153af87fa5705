"""The wire form: what goes in comes out, to the bit; what was not made by it is refused."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from rnncourse.checks.callables import Named
from rnncourse.checks.plain import NotPlain, identical, to_plain
from rnncourse.checks.wire import WireError, decode, encode

arrays = hnp.arrays(
    st.sampled_from([np.float64, np.float32, np.int64, np.uint8, np.bool_]),
    hnp.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=4),
)
scalars = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5)
short = st.integers(-(2**64) + 1, 2**64 - 1)
keys = st.booleans() | short | st.text(max_size=3) | st.tuples(st.text(max_size=2), st.integers())
values = st.recursive(
    scalars | arrays,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.lists(inner, max_size=3).map(tuple)
        | st.sets(keys, max_size=3)
        | st.dictionaries(keys, inner, max_size=3)
        | st.dictionaries(keys, st.integers(), max_size=3).map(Counter)
    ),
    max_leaves=8,
)


@given(values)
def test_a_value_comes_back_as_it_went(value):
    plain = to_plain(value)
    assert identical(decode(encode(plain)), plain)


@given(values)
def test_a_plain_copy_shares_no_memory_and_is_plain_itself(value):
    assert identical(to_plain(to_plain(value)), to_plain(value))


def test_a_named_callable_goes_by_name_and_settings():
    sent = ("f", Named("affine", {"A": np.ones((2, 3))}))
    back = decode(encode(sent))
    assert back[1].name == "affine"
    assert identical(back[1].settings, sent[1].settings)


@pytest.mark.parametrize(
    "value", [np.nan, np.inf, -np.inf, -0.0, 10**40, np.float32(1.5), np.array(2.0), np.zeros((0, 3))]
)
def test_unusual_numbers_come_back(value):
    assert identical(decode(encode(value)), value)


@given(values, st.integers(0, 10_000), st.integers(0, 255))
def test_a_flipped_byte_is_a_value_or_a_wire_error(value, where, byte):
    message = bytearray(encode(to_plain(value)))
    message[where % len(message)] = byte
    try:
        decode(bytes(message))
    except WireError:
        return


@pytest.mark.parametrize(
    "header",
    [
        b'{"array": ["|O", [2]]}',
        b'{"array": ["<f8", [-1]]}',
        b'{"array": ["<f8", [9]]}',
        b"NaN",
        b'{"x": 1}',
        b"[" * 9999,
        b'{"float": "1"}',
    ],
)
def test_a_hostile_header_is_refused(header):
    with pytest.raises(WireError):
        decode(len(header).to_bytes(4, "big") + header)


def test_bytes_after_the_end_are_refused():
    with pytest.raises(WireError):
        decode(encode(1) + b"x")


@pytest.mark.parametrize(
    "value", [object(), len, (i for i in "ab"), np.array([object()]), 1j, b"bytes", {(1, 2): object()}, np.array(["a"])]
)
def test_what_is_no_plain_value_is_refused(value):
    with pytest.raises(NotPlain):
        to_plain(value)
    with pytest.raises(WireError):
        encode(value)


def test_nesting_without_end_is_refused():
    endless = []
    endless.append(endless)
    with pytest.raises(NotPlain):
        to_plain(endless)


class Liar(np.ndarray):
    """Says that it equals everything."""

    def __eq__(self, other):
        return np.ones(self.shape, bool)

    __hash__ = None


def test_subclasses_lose_their_lies():
    class Yes(float):
        def __eq__(self, other):
            return True

        __hash__ = float.__hash__

    class Pairs(dict):
        def items(self):
            return [("lie", 1)]

    assert type(to_plain(np.zeros(3).view(Liar))) is np.ndarray
    assert type(to_plain(Yes(2.0))) is float
    assert to_plain(Pairs(a=2)) == {"a": 2}
