"""The table on a card shows the place where an answer first differs, and nothing where there is none."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rnncourse.checks.excerpt import COLUMNS, excerpt
from rnncourse.checks.exercise import Axes

H = Axes.parse("H (T, N, H)")


@given(st.tuples(*[st.integers(1, 9)] * 3), st.integers(0, 10**6))
def test_the_first_entry_that_differs_is_in_it_and_is_marked(shape, where):
    expected = np.arange(np.prod(shape), dtype=float).reshape(shape)
    got = expected.copy()
    place = np.unravel_index(where % got.size, shape)
    got[place] += 1
    table = excerpt(expected, got, H)
    assert table.title == f"H[t={place[0]}, n={place[1]}, h]"
    assert len(table.columns) == min(shape[2], COLUMNS)
    (marked,) = (i for i, wrong in enumerate(table.wrong) if wrong)
    assert table.columns[marked] == f"h={place[2]}"
    assert float(table.got[marked]) == float(table.expected[marked]) + 1
    assert "differs" in table.html()


@pytest.mark.parametrize(
    ("expected", "got"),
    [
        (np.zeros((2, 3)), np.zeros((3, 2))),
        (np.zeros(3), np.zeros(3)),
        (np.zeros(3), None),
        (1.0, 2.0),
        ("ab", "ac"),
        ((np.zeros(3), 1), np.zeros(3)),
        ([1, [2, 3]], [1, [2]]),
        ({"a": 1}, {"a": 2}),
    ],
)
def test_there_is_none_where_no_row_of_numbers_differs(expected, got):
    assert excerpt(expected, got) is None


def test_of_several_parts_the_one_that_differs_is_shown():
    parts = Axes.parse("dx (N, D), db (H,)")
    table = excerpt((np.zeros((2, 2)), np.zeros(3)), (np.zeros((2, 2)), np.ones(3)), parts)
    assert table.title == "db[h]"


def test_what_rounding_has_left_of_a_zero_is_shown_as_zero_and_nothing_else_is():
    shown = excerpt(np.array([1.0, 3e-17, 1e-9, -np.inf]), np.array([2.0, 5e-17, 1e-9, 4.0]))
    assert shown.expected == ("1", "0", "1e-09", "-inf")
    assert shown.got == ("2", "0", "1e-09", "4")
