"""The judge: whatever a room says there is a verdict or a fault, in words that can be shown."""

import copy
from contextlib import suppress
from unittest import mock

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from rnncourse import exercises
from rnncourse.checks import diagnosis
from rnncourse.checks.cases import drawn, seed_for
from rnncourse.checks.compare import difference, kind_of, show
from rnncourse.checks.drive import Observation
from rnncourse.checks.engine import judge, judge_value
from rnncourse.checks.excerpt import excerpt
from rnncourse.checks.exercise import Axes, Exercise, unchanged
from rnncourse.checks.plain import NotPlain, to_plain
from rnncourse.checks.wire import WireError, decode, encode
from rnngrade.grading.remote import _observation, _require_small
from rnngrade.sandbox.session import Fault
from tests.fuzz.strategies import fuzzed, numbers, texts, values
from tests.sampling import ALL

UNITS = "00_welcome", "01_ngram", "02_unfolding", "03_cell", "04_bptt", "05_gradient_flow", "10_gates", "14_scans"
CATALOGUE = [e for unit in UNITS for e in exercises.unit(unit)]
CALLED = [e for e in CATALOGUE if isinstance(e, Exercise)]
if not ALL:  # one of each kind
    CALLED = list({(e.drive, e.canonical is unchanged, bool(e.properties), len(e.gives)): e for e in CALLED}.values())
FIRST = 3  # cases that are answered oddly
ASKED = [e for e in CATALOGUE if not isinstance(e, Exercise)]

ODD = [
    10**400,
    [10**400],
    [[1], [2, 3]],
    [["a"], 1],
    [{"a"}, 2],
    ["a" * 1_000_000, *["b"] * 300_000],  # NumPy would make a table of 1.2 TB of it
    [None],
    "\ud800",
    1e308,
    np.array([1e308, -1e308]),
    np.zeros((0, 3)),
    np.array(True),
    np.uint64(2**64 - 1),
    np.float16(np.inf),
    {(1, 2): [3]},
    {1, "a", (2, 3)},
    (),
    {},
]


def near(answer):
    """A strategy: the answer, or something that is almost it, or anything."""
    made = [st.just(answer), values, st.sampled_from(ODD)]
    if isinstance(answer, np.ndarray):
        made.append(st.sampled_from([answer.tolist(), answer.T, answer[..., None], answer * 0, list(answer.flat)]))
        made.append(st.sampled_from([np.float32, np.int8, bool, np.float16]).map(lambda d: _cast(answer, d)))
        made.append(st.builds(lambda i, v: _put(answer, i, v), st.integers(0, 99), st.sampled_from([np.nan, 1e308])))
    if isinstance(answer, (list, tuple)):
        made.append(st.tuples(*(near(part) for part in answer[:4])).map(lambda t: type(answer)([*t, *answer[4:]])))
        made.append(st.sampled_from([list(answer), tuple(answer), answer[:-1], [*answer, 1], {}]))
    if isinstance(answer, dict):
        made.append(st.builds(lambda k, v: {**answer, k: v}, st.sampled_from([*answer, "new"]), values))
    if isinstance(answer, (set, str)):
        made.append(st.sampled_from([list(answer), [[*answer], [1]], "".join(map(str, answer)), {*answer, ("a", 1)}]))
    return st.one_of(made)


def _cast(array, dtype):
    with np.errstate(all="ignore"):
        return array.astype(dtype)


def _put(array, index, value):
    changed = array.astype(np.float64)
    if changed.size:
        changed.flat[index % changed.size] = value
    return changed


class Liar:
    """A candidate that gives what hypothesis has drawn for its first cases, and is right on all others."""

    def __init__(self, exercise, data):
        self.exercise = exercise
        _, expected = drawn(exercise, seed_for(exercise, False))
        self.replies = [reply for right in expected[:FIRST] if (reply := _reply(right, data)) is not None]

    def observe(self, how, args):
        right = diagnosis.quiet_observe(self.exercise.reference, how, args)
        return self.replies.pop(0) if self.replies else right


def _reply(right, data):
    """An observation by the wire that is not what it should be; None if it could not be sent."""
    error = data.draw(st.none() | st.none() | texts)
    types = data.draw(st.sampled_from([("ValueError", "Exception"), ("NotImplementedError",), (), ("\ud800",)]))
    body = {f: getattr(right, f) for f in Observation.__dataclass_fields__}
    body |= {"answer": data.draw(near(right.answer)), "error": error}
    body["error_types"] = types if error is not None else ()
    body["changed"] = data.draw(st.sampled_from([(), (0,), (-1,), (99, 10**30)]))
    body["calls"] = data.draw(st.sampled_from([right.calls, (), (10**40,)]))
    try:
        return _observation(decode(encode(body)))
    except (ValueError, Fault):  # it could not be sent, or is told apart
        return None


@pytest.fixture(scope="module", autouse=True)
def _soon():
    """Two mistakes at once are sought for seconds: not here."""
    with mock.patch.object(diagnosis, "SECONDS_FOR_PAIRS", 0.02):
        yield


def shown(verdict):
    """A verdict can be written down, and is not long."""
    assert len(verdict.card().encode()) < 30_000
    assert len(str(verdict).encode()) < 10_000


@pytest.mark.parametrize("exercise", CALLED, ids=lambda e: e.name)
@fuzzed(4)
@given(data=st.data())
def test_there_is_a_verdict_on_every_answer(exercise, data):
    shown(judge(exercise, Liar(exercise, data), hidden=True))


@pytest.mark.parametrize("question", ASKED, ids=lambda q: q.name)
@fuzzed(15)
@given(data=st.data())
def test_there_is_a_verdict_on_every_value(question, data):
    value = data.draw(near(question.answer))
    try:
        value = decode(encode(value))
    except WireError:  # it could not come
        return
    shown(judge_value(question, value))


@pytest.mark.parametrize("question", ASKED, ids=lambda q: q.name)
def test_there_is_a_verdict_on_odd_values(question):
    for value in [*ODD, [["A"], ["B"]], ["A", {"B": 1}], {("A", "B")}, "x" * 10**6, [["A" * 10**6]], {"x" * 10**6}]:
        with suppress(WireError):
            shown(judge_value(question, decode(encode(value))))


EXPECTED = [
    np.zeros((2, 3)),
    np.array([1, 2]),
    np.array([True]),
    np.float32(1),
    1.5,
    3,
    True,
    "ab",
    None,
    [1.0, [2, "x"]],
    (np.zeros(2), 1),
    {"a": 1, 2: [np.ones(2)]},
    {"A", "B"},
]


@fuzzed(400)
@given(st.sampled_from(EXPECTED), st.data())
def test_anything_can_be_compared_with_anything(expected, data):
    got = data.draw(near(copy.deepcopy(expected)))
    try:
        got = to_plain(got)
    except NotPlain:
        return
    parts = data.draw(st.sampled_from([(), Axes.parse("H (T, N)"), Axes.parse("a, b (N,)")]))
    for one, other in ((expected, got), (got, expected)):
        found = difference(one, other, parts)
        assert found is None or len(found.words) < 3000
        if table := excerpt(one, other, parts):
            assert len(table.html()) < 10_000
        assert len(kind_of(other)) < 1000
        assert len(show(other)) < 4000


@pytest.mark.parametrize("expected", EXPECTED)
def test_odd_values_can_be_compared(expected):
    for got in ODD:
        for loose in (False, True):
            difference(expected, got, loose=loose)
        excerpt(expected, got)


@fuzzed(300)
@given(values)
@example({"__function__": 10**30})
@example({"answer": [["a"], 1]})
def test_a_reply_is_an_observation_or_a_fault(value):
    body = {f: getattr(Observation(), f) for f in Observation.__dataclass_fields__}
    for one in (value, {**body, "answer": value}, *({**body, name: value} for name in body)):
        try:
            _observation(one)
        except Fault:
            continue


@fuzzed(200)
@given(st.lists(values | numbers, max_size=4))
def test_a_request_is_small_or_refused(args):
    try:
        _require_small((tuple(args), {}), 1000)
    except ValueError:
        return
