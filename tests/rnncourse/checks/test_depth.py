"""Numbers that know their depth: what they compute is right, no arithmetic hides a step, no tape can be made up."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rnncourse.checks.depth import (
    PACKED,
    TRACED,
    Borrowed,
    Counted,
    Tape,
    measured,
    packed,
    replayed,
    tape_in,
)
from rnncourse.checks.drive import observe, steps
from rnncourse.checks.wire import decode, encode


def through(function, *arrays):
    """The values and the depth of what a function makes of these arrays."""
    tape = Tape()
    return measured(tape.traced(function(*(tape.counted(a) for a in arrays))), arrays)


@pytest.mark.parametrize("times", [1, 2, 7])
def test_a_chain_is_as_deep_as_it_is_long(times):
    def chain(number):
        for _ in range(times):
            number = 1 - number / 2 * 3.0
        return number

    assert through(chain, 2.0)[1] == 3 * times


def test_the_deeper_of_two_numbers_counts():
    def deep(a):
        return a + 1 + 1

    for combine in (
        lambda a, b: deep(a) + b,
        lambda a, b: b + deep(a),
        lambda a, b: deep(a) * b,
        lambda a, b: b - deep(a),
        lambda a, b: deep(a) / b,
        lambda a, b: 2 * deep(a),
        lambda a, b: deep(a) + np.float64(1),
        lambda a, b: -(deep(-a) + b),
    ):
        assert through(combine, 1.0, 3.0)[1] == 3
    assert [float(through(f, 1.0, 3.0)[0]) for f in (lambda a, b: b - a, lambda a, b: a / b, lambda a, b: 2 - a)] == [
        2,
        1 / 3,
        1,
    ]


@pytest.mark.parametrize("shape", [(), (4,), (2, 3), (0, 2)])
def test_arrays_of_them_do_as_arrays_do(shape):
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=shape), rng.normal(size=shape)
    values, depth = through(lambda x, y: 3.0 * (x * y) + x, x, y)
    np.testing.assert_allclose(values, 3 * x * y + x)
    assert (values.shape, depth) == (shape, 3 if values.size else 0)


def test_a_number_on_the_left_of_an_array_meets_each_entry():
    values, depth = through(lambda number, array: number * array, 2.0, np.arange(3.0))
    assert (values.tolist(), depth) == ([0, 2, 4], 1)


@pytest.mark.parametrize(
    "escape",
    [
        lambda number: float(number),
        lambda number: np.zeros(3).__setitem__(0, number),
        lambda number: np.asarray([number], dtype=float),
        lambda number: np.array([number]).astype(np.float32),
    ],
)
def test_none_becomes_a_plain_number_and_loses_its_depth(escape):
    with pytest.raises(TypeError, match="empty_like"):
        escape(Tape().counted(1.0))


def test_none_has_a_value():
    assert not {name for name in dir(Tape().counted(1.0)) if not name.startswith("__")} - {"place", "tape"}


@pytest.mark.parametrize("answer", [None, 3.0, [1.0, Tape().counted(1.0)], np.ones(3), "text", Tape().counted(1.0)])
def test_what_is_not_made_of_them_has_no_depth(answer):
    assert Tape().traced(answer) is None


def test_what_was_counted_in_another_call_is_no_number_of_this_one():
    with pytest.raises(TypeError, match="in another call"):
        Tape().counted(1.0) + Tape().counted(2.0)


def test_the_driver_counts_when_it_is_asked_to():
    def running_sum(a):
        return [sum(a[: t + 1], start=a[0]) for t in range(len(a))]

    plain = observe(running_sum, steps, (np.arange(4.0),))
    assert plain.answer == [0, 1, 3, 6]
    values, depth = observe(running_sum, steps, (np.arange(4.0), "count")).answer
    assert (values.tolist(), depth) == ([0, 1, 3, 6], 4)
    spoilt = observe(lambda a: np.zeros(4), steps, (np.arange(4.0), "count"))
    assert isinstance(spoilt.answer, np.ndarray)
    assert observe(lambda a: a[0], steps, (np.arange(4.0), "count")).answer[1] == 0


def test_a_tape_says_the_same_elsewhere_for_values_that_were_not_there():
    traced = observe(lambda a, b: a * b + a, steps, (np.zeros(3), np.zeros(3), "trace")).answer
    values, depth = measured(decode(encode(traced)), (np.arange(3.0), np.arange(3.0) + 1))
    assert (values.tolist(), depth) == ([0, 3, 8], 2)


@st.composite
def programs(draw):
    """What to do with numbers, one after the other: an operation and which two of those so far."""
    count = draw(st.integers(1, 4))
    steps = draw(st.lists(st.tuples(st.sampled_from("+-*"), st.integers(0, 99), st.integers(0, 99)), max_size=12))
    return count, steps


@given(programs(), st.integers(0, 3))
def test_what_another_process_works_out_goes_onto_the_tape(program, start):
    count, steps = program

    def run(numbers):
        numbers = list(numbers)
        for operation, i, j in steps:
            a, b = numbers[i % len(numbers)], numbers[j % len(numbers)]
            numbers.append(a + b if operation == "+" else a - b if operation == "-" else a * b * 0.5)
        return np.array(numbers[-3:], dtype=object)

    def remote(numbers):
        borrowed = Borrowed()
        sent = decode(encode(packed(numbers)))
        answer = borrowed.packed((run(borrowed.unpacked(sent)), "and a word"))
        found, word = replayed(decode(encode(answer)), tape_in(numbers))
        assert word == "and a word"
        return found

    given_values = np.linspace(0.5, 1.5, count)
    once = through(lambda a: run(a + start), given_values)
    again = through(lambda a: remote(a + start), given_values)
    assert again[0].tolist() == once[0].tolist()
    assert again[1] == once[1]


FORGED = [
    None,
    (np.zeros(2), 0),
    {TRACED: None},
    {TRACED: (np.zeros(2), 0)},
    {TRACED: ((), np.zeros(2, np.int64))},
    {PACKED: (np.zeros(2), np.zeros(2))},
]


@pytest.mark.parametrize("forged", FORGED)
def test_what_is_no_tape_measures_nothing(forged):
    assert measured(forged, [np.arange(2.0)]) is None


numbers = st.integers(-3, 6)
tapes = st.integers(0, 5).flatmap(
    lambda n: st.tuples(
        st.lists(st.integers(0, 7), min_size=n, max_size=n).map(lambda v: np.array(v, np.uint8)),
        st.lists(numbers, min_size=n, max_size=n).map(lambda v: np.array(v, np.int64)),
        st.lists(numbers, min_size=n, max_size=n).map(lambda v: np.array(v, np.int64)),
        st.lists(st.floats(-1, 1), max_size=2).map(lambda v: np.array(v, np.float64)),
    )
)


@settings(max_examples=300)
@given(tapes, st.lists(numbers, max_size=3), st.integers(0, 3))
def test_a_tape_that_was_made_up_harms_nothing_and_has_all_that_was_given(tape, places, count):
    found = measured({TRACED: (tape, np.array(places, np.int64))}, [np.arange(float(count))])
    if found is not None:
        values, depth = found
        assert values.shape == (len(places),)
        assert 0 <= depth <= len(tape[0])
        assert int((tape[0] == 0).sum()) == count


@pytest.mark.parametrize(("power", "value", "deep"), [(1, 2.0, 0), (3, 8.0, 2), (100, 2.0**100, 7), (-2, 0.25, 2)])
def test_a_whole_power_is_made_by_squaring(power, value, deep):
    tape = Tape()
    made = tape.counted(np.array([2.0])) ** power
    values, depth = measured(tape.traced(made), [np.array([2.0])])
    assert values == [value]
    assert depth == deep


def test_a_power_of_zero_is_one_and_a_root_is_none():
    number = Tape().counted(2.0)
    assert number**0 == 1.0
    with pytest.raises(TypeError):
        number**0.5


def test_a_tape_has_an_end(monkeypatch):
    monkeypatch.setattr("rnncourse.checks.depth.MAX_OPERATIONS", 10)
    number = Tape().counted(1.0)
    for _ in range(9):
        number = number + 1
    assert type(number) is Counted
    with pytest.raises(MemoryError, match="operations"):
        number + 1
