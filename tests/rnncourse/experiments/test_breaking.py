"""A table that a student hands in says what was run: the settings, the seeds, and the figures of both columns."""

import pytest

from rnncourse.experiments import gates
from rnncourse.experiments.breaking import one_change, run_again


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


@pytest.fixture
def table():
    claim = {"lag": 3, "forget_bias": 0.0, "input_bias": 0.0, "updates": 2}
    return one_change(gates.recall_with_biases, claim, {"forget_bias": 1.0}, seeds=[5, 6])


def test_what_was_run_is_run_again_and_gives_the_same_figures(table):
    assert run_again(f"I expected nothing.\n\n{table}\n\nIt stands.") == "Run again, the same figures came."


def test_a_figure_that_did_not_come_is_told_with_those_that_do(table):
    row = table.split("\n")[-1]
    forged = table.replace(row, "| right | 0.99 (0.98 to 1.00) | 0.12 (0.10 to 0.14) |")
    assert run_again(forged) == f"Run again, other figures came: {row}"


@pytest.mark.parametrize(
    "change", [("recall_with_biases", "getcwd"), ("lag = 3", "lag = print(3)"), ("the claim", "a claim")]
)
def test_what_is_no_such_table_is_not_run(table, change):
    with pytest.raises(ValueError, match=r"no table|no settings"):
        run_again(table.replace(*change))
