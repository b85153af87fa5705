"""The channel: whatever bytes a room writes to it, the judge gets a message or is told that it is none."""

import socket

from hypothesis import example, given
from hypothesis import strategies as st

from rnngrade.sandbox.inside.channel import HEAD, Channel, Closed, Garbage, framed
from rnngrade.sandbox.session import Garbled, told
from tests.fuzz.strategies import fuzzed, headers, message

VERBS = st.sampled_from([b"reply", b"call", b"memory", b"\0reply", b"re\0ply", b"r\xc3\xa9ply", b""]) | st.binary(
    max_size=8
)
LIMIT = 10_000
NUMBERS = st.integers(0, 2**32 - 1)


def received(data):
    """The messages that come of these bytes, until one is none, or there are no more."""
    ours, theirs = socket.socketpair()
    with ours, theirs:
        theirs.sendall(data)
        theirs.shutdown(socket.SHUT_WR)
        channel = Channel(ours, LIMIT)
        try:
            while True:
                yield channel.receive(60.0)
        except (Closed, Garbage):
            return


@fuzzed(500)
@given(st.lists(st.binary(max_size=60) | st.builds(HEAD.pack, st.integers(0, 40), NUMBERS, VERBS), max_size=6))
def test_bytes_are_messages_or_none(parts):
    for one in received(b"".join(parts)):
        assert one.verb.isalpha()
        assert one.verb.isascii()
        try:
            assert type(one.body()) is list
        except Garbage as why:
            str(why).encode()


@fuzzed(300)
@given(headers)
@example([])
@example([1, 2])
@example({"dict": []})
def test_a_reply_is_one_value_or_garbled(header):
    data = message(header)
    came = [*received(framed("reply", 3, data))]
    assert [(one.verb, one.number, one.data) for one in came] == [("reply", 3, data)] * (len(data) <= LIMIT)
    try:
        told(data)
    except Garbled as why:
        str(why).encode()
