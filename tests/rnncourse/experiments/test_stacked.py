"""What unit 08 measures: a fair width, an error on its way down, latches, and a scale that has become the rate."""

import numpy as np
import pytest
import torch

from rnncourse.experiments.stacked import (
    difference_on_top,
    train_normalised,
    width_for,
)
from rnncourse.experiments.stacked_torch import (
    DELAY_BUDGET,
    DELAYS,
    READERS,
    TEXT_BUDGET,
    Stack,
    delayed,
    moves,
    reader,
    speed_and_borders,
    width_within,
)
from rnncourse.stacked import layer_norm, stacked_parameter_count


def test_no_wider_stack_stays_within_the_budget():
    H = width_for(8000, 70, 3)
    assert stacked_parameter_count(70, H, 3) <= 8000 < stacked_parameter_count(70, H + 1, 3)


def test_the_scale_of_normalised_weights_is_their_rate():
    assert difference_on_top(10, layer_norm) == pytest.approx(difference_on_top(0.1, layer_norm))
    losses, sizes = train_normalised(1, rate=0.3, updates=20)
    ten_times, ten_times_the_size = train_normalised(10, rate=30.0, updates=20)
    assert ten_times == pytest.approx(losses, rel=1e-3)
    assert ten_times_the_size == pytest.approx(10 * sizes, rel=1e-3)
    assert np.diff(sizes).min() > 0  # the gradient is at a right angle to U
    assert train_normalised(10, rate=3.0, updates=20)[0][-1] > 2 * losses[-1]


@pytest.mark.parametrize("name", READERS)
def test_every_reader_has_nearly_the_same_number_of_parameters(name):
    model = reader(name)
    second_biases = sum(layer.bias_hh_l0.numel() for layer in model.layers)
    assert 0.93 * TEXT_BUDGET < sum(p.numel() for p in model.parameters()) - second_biases <= TEXT_BUDGET


def test_the_units_that_the_text_names_are_those_that_are_trained():
    found = {name: reader(name).layers[0].hidden_size for name in READERS}
    assert [found[name] for name in ("1 layer", "4 layers", "4 layers, all read")] == [59, 32, 23]
    assert [width_within(DELAY_BUDGET, 4, L, 4) for L in DELAYS.values()] == [34, 16]


def test_a_residual_stack_hands_up_the_sum_of_its_states():
    states, top = Stack(3, 4, 3, 2, residual=True).all_states(torch.ones(5, 2, 3))
    assert torch.allclose(top, sum(states))


def test_the_targets_are_what_was_read_before():
    x, targets = next(delayed(6, 1, seed=0))
    assert torch.equal(x.argmax(dim=-1)[:-6], targets)


def test_what_is_not_in_the_alphabet_is_left_out_and_a_fresh_reader_is_fast():
    model = reader("4 layers")
    text, moved = moves(model, "A é\n")
    assert (text, [len(row) for row in moved.values()]) == ("a \n", [3] * 4)
    assert moves(model, "é")[0] == " "
    assert all(speed > 0.5 for speed, _ in speed_and_borders(model))
