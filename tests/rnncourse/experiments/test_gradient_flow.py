"""What unit 05 measures is what it says: the slopes of the latch's loss, where a symbol stands, what rests."""

import numpy as np
import pytest

from rnncourse.experiments import gradient_flow as flow


@pytest.mark.parametrize(("w", "b"), [(1.2, 0.1), (2.0, -0.3), (0.7, 0.5)])
def test_the_slopes_of_the_latchs_loss_are_those_of_finite_differences(w, b):
    _, dw, db = flow.latch_loss(w, b)
    eps = 1e-6
    by_w = (flow.latch_loss(w + eps, b)[0] - flow.latch_loss(w - eps, b)[0]) / (2 * eps)
    by_b = (flow.latch_loss(w, b + eps)[0] - flow.latch_loss(w, b - eps)[0]) / (2 * eps)
    assert (dw, db) == pytest.approx((by_w, by_b), rel=1e-4, abs=1e-8)


def test_the_symbol_stands_behind_the_steps_that_come_before_it_and_noise_elsewhere():
    X, y = flow.recall_batch(np.random.default_rng(0), lag=5, rows=9, before=3)
    ids = X.argmax(axis=2)
    assert X.shape == (9, 9, 8)
    assert ids[3].tolist() == y.tolist()
    assert (np.delete(ids, 3, axis=0) >= flow.SYMBOLS).all()


def network(W, U=2.0):
    """A cell of four units, in which symbol k drives unit k up and the noise does nothing."""
    inputs = np.zeros((8, 4))
    inputs[:4] = U * (2 * np.eye(4) - 1)
    return {"U": inputs, "W": W, "b": np.zeros(4), "V": np.eye(4), "c": np.zeros(4)}


def test_four_latches_are_four_attractors():
    p = network(2 * np.eye(4))
    assert flow.attractors(p) == 4
    assert flow.resting(p)["radius"].max() < 0.2


def test_a_state_that_turns_for_ever_rests_nowhere_though_the_four_are_apart():
    p = network(-2 * np.eye(4))  # each unit changes its sign at each step
    found = flow.resting(p)
    assert found["apart"].min() > 1
    assert found["radius"].max() < 1
    assert flow.attractors(p) == 0


def test_what_fades_has_no_place_of_its_own():
    assert flow.attractors(network(0.5 * np.eye(4))) == 0


def test_an_error_loses_what_the_slope_of_a_linear_cell_takes():
    p = network(0.1 * np.eye(32), U=0) | {"U": np.zeros((8, 32)), "b": np.zeros(32)}
    assert flow.powers_lost(p, 7) == pytest.approx(7)
