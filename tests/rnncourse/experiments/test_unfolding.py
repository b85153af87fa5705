"""Fitted rules, and windows that cannot know how many brackets are open."""

import pytest

from rnncourse.experiments.unfolding import bracket_depths, errors, torn_windows


def test_the_same_seed_gives_the_same_world():
    assert errors(3, 10) == errors(3, 10) != errors(4, 10)


def test_brackets_are_counted_as_they_open_and_close():
    assert list(bracket_depths("f(x[0])")) == [0, 0, 1, 1, 2, 2, 1, 0]


@pytest.mark.parametrize(("width", "found"), [(1, (3, 1)), (2, (3, 0))])
def test_a_window_is_torn_if_different_depths_follow_it(width, found):
    text = "a(a)a"  # before its second character no bracket is open, before its fourth one is: "a" stands before both
    assert torn_windows(text, bracket_depths(text), width) == found
