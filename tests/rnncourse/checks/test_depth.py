"""Numbers that know their depth: what they compute is right, and no arithmetic hides a step."""

import numpy as np
import pytest

from rnncourse.checks.depth import Counted, counted, values_and_depth
from rnncourse.checks.drive import observe


@pytest.mark.parametrize("times", [1, 2, 7])
def test_a_chain_is_as_deep_as_it_is_long(times):
    number = Counted(2.0)
    for _ in range(times):
        number = 1 - number / 2 * 3.0
    assert number.depth == 3 * times


def test_the_deeper_of_two_numbers_counts():
    deep, flat = Counted(1.0, depth=5), Counted(3.0)
    for made in (deep + flat, flat + deep, deep * flat, flat - deep, deep / flat, 2 * deep, deep + np.float64(1)):
        assert made.depth == 6
    assert (-deep).depth == 5
    assert [(flat - deep).value, (deep / flat).value, (2 - deep).value] == [2, 1 / 3, 1]


@pytest.mark.parametrize("shape", [(), (4,), (2, 3)])
def test_arrays_of_them_do_as_arrays_do(shape):
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=shape), rng.normal(size=shape)
    values, depth = values_and_depth(3.0 * (counted(x) * counted(y)) + counted(x))
    np.testing.assert_allclose(values, 3 * x * y + x)
    assert depth == 3


def test_a_number_on_the_left_of_an_array_meets_each_entry():
    for left in (Counted(2.0), 2.0, np.float32(2)):
        values, depth = values_and_depth(left * counted(np.arange(3.0)))
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
        escape(Counted(1.0))


@pytest.mark.parametrize("answer", [None, 3.0, [1.0, Counted(1.0)], np.ones(3), "text", [[Counted(1.0)], []]])
def test_what_is_not_made_of_them_has_no_depth(answer):
    assert values_and_depth(answer) is None


def test_the_driver_counts_when_it_is_asked_to():
    def running_sum(a):
        return [sum(a[: t + 1], start=a[0]) for t in range(len(a))]

    plain = observe(running_sum, "steps", (np.arange(4.0),))
    assert plain.answer == [0, 1, 3, 6]
    values, depth = observe(running_sum, "steps", (np.arange(4.0), "count")).answer
    assert (values.tolist(), depth) == ([0, 1, 3, 6], 4)
    spoilt = observe(lambda a: np.zeros(4) + a[0].value, "steps", (np.arange(4.0), "count"))
    assert isinstance(spoilt.answer, np.ndarray)
    assert observe(lambda a: a[0], "steps", (np.arange(4.0), "count")).answer[1] == 0
