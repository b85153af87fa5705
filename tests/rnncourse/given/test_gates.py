"""What unit 10 hands to answers: the LSTM has the parameters that it was given, and what is done to it is seen."""

import numpy as np
import pytest
import torch

from rnncourse.checks.drive import observe
from rnncourse.exercises.gates import pytorchs_lstm

BOTH = "the parameters are those that an optimizer holds"


@pytest.mark.parametrize(("layers", "ways"), [(1, 1), (2, 1), (1, 2), (3, 2)])
def test_the_lstm_has_the_parameters_it_was_given(layers, ways):
    given = pytorchs_lstm(np.random.default_rng(0), 3, 4, layers, ways, np.float64)
    lstm = given.make()
    assert (lstm.num_layers, lstm.bidirectional, lstm.hidden_size) == (layers, ways == 2, 4)
    for name, parameter in lstm.named_parameters():
        np.testing.assert_array_equal(parameter.detach().numpy(), given.settings["parameters"][name])
    output, _ = lstm(torch.zeros(5, 2, 3, dtype=torch.float64))
    assert output.shape == (5, 2, 4 * ways)


def left(candidate):
    lstm = pytorchs_lstm(np.random.default_rng(0), 3, 4, 2, 2)
    return observe(candidate, "left_in_place", (lstm, 2.0)).answer


def replace(lstm, value):
    lstm.bias_ih_l0 = torch.nn.Parameter(lstm.bias_ih_l0.detach().clone())


def freeze(lstm, value):
    lstm.bias_ih_l0.requires_grad_(False)


def test_what_is_replaced_or_frozen_is_seen_though_no_number_has_changed():
    untouched = left(lambda lstm, value: "anything")
    assert untouched[BOTH] is True
    for candidate in (replace, freeze):
        changed = left(candidate)
        assert changed[BOTH] is False
        for name in untouched.keys() - {BOTH}:
            np.testing.assert_array_equal(changed[name], untouched[name])


def test_of_f_only_the_sum_of_its_two_biases_is_looked_at():
    def exchange(lstm, value):
        with torch.no_grad():
            for first, second in ((lstm.bias_ih_l0, lstm.bias_hh_l0), (lstm.bias_ih_l1, lstm.bias_hh_l1)):
                first[4:8], second[4:8] = second[4:8].clone(), first[4:8].clone()

    untouched, exchanged = left(lambda lstm, value: None), left(exchange)
    for name, numbers in untouched.items():
        np.testing.assert_allclose(exchanged[name], numbers, atol=1e-5)
