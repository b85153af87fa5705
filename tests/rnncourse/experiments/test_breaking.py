"""A table that a student hands in says what was run: the settings, the seeds, and the figures of both columns."""

import pytest

from rnncourse.experiments.breaking import one_change


def measured(seed, rate=0.1, lags=(1, 7)):
    return {"right": rate * seed, "lag": float(lags[1])}


def test_one_thing_is_changed_and_all_else_stays_as_the_claim_has_it():
    *_, right, lag = one_change(measured, {"rate": 0.1, "lags": (1, 9)}, {"rate": 0.2}, [1, 2, 3]).split("\n")
    assert right == "| right | 0.20 (0.10 to 0.30) | 0.40 (0.20 to 0.60) |"
    assert lag == "| lag | 9.00 (9.00 to 9.00) | 9.00 (9.00 to 9.00) |"


def test_the_table_names_experiment_settings_change_and_seeds():
    first, _, head, *_ = one_change(measured, {"lags": (1, 9)}, {"rate": 0.2}, range(7, 9)).split("\n")
    assert first == "measured, claim: lags = (1, 9); seeds: 7, 8"
    assert head == "| | the claim | rate = 0.2 |"


@pytest.mark.parametrize("change", [{}, {"rate": 0.1}, {"rate": 0.2, "lags": (1, 2)}])
def test_to_change_nothing_or_two_things_is_refused_in_one_sentence(change):
    with pytest.raises(ValueError, match="Change one thing"):
        one_change(measured, {"rate": 0.1}, change)


def test_without_seeds_nothing_is_measured():
    with pytest.raises(ValueError, match="There are no seeds"):
        one_change(measured, {"rate": 0.1}, {"rate": 0.2}, [])
