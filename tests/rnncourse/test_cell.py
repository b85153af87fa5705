"""Unit 03: the recurrent cell against PyTorch, and what holds whatever the numbers are."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from rnncourse.cell import (
    Network,
    as_floats,
    hidden_layer,
    output_layer,
    rnn_forward,
    rnn_parameter_count,
    rnn_predict,
    rnn_step,
    rnn_step_concat,
    softmax,
    to_torch_state,
)
from tests.rnncourse.array_functions import ArrayFunctionsSuite

drawn = settings(max_examples=30, deadline=None)
float_types = pytest.mark.parametrize("dtype", [np.float32, np.float64])
TOLERANCE = {np.float32: {"rtol": 1e-4, "atol": 1e-5}, np.float64: {"rtol": 1e-10, "atol": 1e-12}}

# Five sizes, all different, so that an axis taken for another one is an error and no luck; and a seed.
sizes = st.lists(st.integers(1, 8), min_size=5, max_size=5, unique=True)
seeds = st.integers(0, 2**32 - 1)


def draw(sizes, seed, dtype=np.float64):
    """Arrays of all kinds by name; h0 is not zero and W not symmetric."""
    T, N, D, H, Q = sizes
    rng = np.random.default_rng(seed)
    shapes = {"X": (T, N, D), "h0": (N, H), "U": (D, H), "W": (H, H), "b": (H,), "V": (H, Q), "c": (Q,)}
    arrays = {name: rng.normal(scale=0.7, size=shape).astype(dtype) for name, shape in shapes.items()}
    arrays["UW"] = np.concatenate([arrays["U"], arrays["W"]])
    arrays["x"] = arrays["X"][0].copy()
    arrays["states"] = rng.uniform(-1, 1, size=(T, N, H)).astype(dtype)
    arrays["O"] = rng.normal(scale=3, size=(T, N, Q)).astype(dtype)
    return arrays


def torch_rnn(p, kind=torch.nn.RNN):
    """PyTorch's module, `RNN` or `RNNCell`, with the parameters of the drawn arrays."""
    module = kind(*p["U"].shape).to(torch.from_numpy(p["U"]).dtype)
    suffix = "_l0" if kind is torch.nn.RNN else ""
    state = {name.removesuffix("_l0") + suffix: torch.from_numpy(a) for name, a in to_torch_state(*uwb(p)).items()}
    module.load_state_dict(state)
    return module


def uwb(p):
    return p["U"], p["W"], p["b"]


@float_types
@drawn
@given(sizes, seeds)
def test_a_hidden_layer_is_pytorchs_linear_layer_and_tanh(dtype, sizes, seed):
    p = draw(sizes, seed, dtype)
    x, U, b = (torch.from_numpy(p[name]) for name in ("x", "U", "b"))
    np.testing.assert_allclose(hidden_layer(p["x"], p["U"], p["b"]), torch.tanh(x @ U + b), **TOLERANCE[dtype])


@float_types
@drawn
@given(sizes, seeds)
def test_one_step_is_pytorchs_cell(dtype, sizes, seed):
    p = draw(sizes, seed, dtype)
    expected = torch_rnn(p, torch.nn.RNNCell)(torch.from_numpy(p["x"]), torch.from_numpy(p["h0"])).detach()
    np.testing.assert_allclose(rnn_step(p["x"], p["h0"], *uwb(p)), expected, **TOLERANCE[dtype])


@drawn
@given(sizes, seeds)
def test_two_products_or_one_of_the_concatenation_give_the_same_step(sizes, seed):
    p = draw(sizes, seed)
    together = rnn_step_concat(p["x"], p["h0"], p["UW"], p["b"])
    np.testing.assert_allclose(together, rnn_step(p["x"], p["h0"], *uwb(p)), **TOLERANCE[np.float64])


@float_types
@drawn
@given(sizes, seeds)
def test_the_forward_pass_is_pytorchs_rnn(dtype, sizes, seed):
    p = draw(sizes, seed, dtype)
    expected, _ = torch_rnn(p)(torch.from_numpy(p["X"]), torch.from_numpy(p["h0"])[None])
    np.testing.assert_allclose(rnn_forward(p["X"], p["h0"], *uwb(p)), expected.detach(), **TOLERANCE[dtype])


@drawn
@given(sizes, seeds)
def test_the_forward_pass_is_one_step_after_another(sizes, seed):
    p = draw(sizes, seed)
    h = p["h0"]
    for x, state in zip(p["X"], rnn_forward(p["X"], p["h0"], *uwb(p)), strict=True):
        h = rnn_step(x, h, *uwb(p))
        np.testing.assert_allclose(state, h, **TOLERANCE[np.float64])


@drawn
@given(sizes, seeds, st.data())
def test_a_split_run_is_the_whole_run(sizes, seed, data):
    p = draw((sizes[0] + 1, *sizes[1:]), seed)
    split = data.draw(st.integers(1, sizes[0]))
    first = rnn_forward(p["X"][:split], p["h0"], *uwb(p))
    second = rnn_forward(p["X"][split:], first[-1], *uwb(p))
    whole = rnn_forward(p["X"], p["h0"], *uwb(p))
    np.testing.assert_allclose(np.concatenate([first, second]), whole, **TOLERANCE[np.float64])


@drawn
@given(sizes, seeds, st.data())
def test_a_later_input_never_changes_an_earlier_state(sizes, seed, data):
    p = draw(sizes, seed)
    t = data.draw(st.integers(0, sizes[0] - 1))
    before = rnn_forward(p["X"], p["h0"], *uwb(p))
    p["X"][t] += 1
    after = rnn_forward(p["X"], p["h0"], *uwb(p))
    np.testing.assert_array_equal(after[:t], before[:t])
    assert not np.array_equal(after[t], before[t])


@drawn
@given(sizes, seeds)
def test_each_row_of_a_batch_is_run_as_if_it_were_alone(sizes, seed):
    p = draw(sizes, seed)
    together = rnn_forward(p["X"], p["h0"], *uwb(p))
    for n in range(sizes[1]):
        alone = rnn_forward(p["X"][:, n : n + 1], p["h0"][n : n + 1], *uwb(p))
        np.testing.assert_allclose(together[:, n : n + 1], alone, **TOLERANCE[np.float64])


@float_types
@drawn
@given(sizes, seeds)
def test_logits_are_those_of_pytorchs_linear_layer_for_one_step_and_for_all(dtype, sizes, seed):
    p = draw(sizes, seed, dtype)
    states, V, c = (torch.from_numpy(p[name]) for name in ("states", "V", "c"))
    expected = torch.nn.functional.linear(states, V.T, c)
    np.testing.assert_allclose(output_layer(p["states"], p["V"], p["c"]), expected, **TOLERANCE[dtype])
    np.testing.assert_allclose(output_layer(p["states"][0], p["V"], p["c"]), expected[0], **TOLERANCE[dtype])


@float_types
@drawn
@given(st.lists(st.integers(1, 5), min_size=1, max_size=4), st.sampled_from([0.1, 3, 300]), seeds)
def test_softmax_is_pytorchs_over_the_last_of_any_number_of_axes(dtype, shape, scale, seed):
    O = np.random.default_rng(seed).normal(scale=scale, size=shape).astype(dtype)
    np.testing.assert_allclose(softmax(O), torch.softmax(torch.from_numpy(O), dim=-1), **TOLERANCE[dtype])


@float_types
def test_softmax_does_not_overflow(dtype):
    big = np.finfo(dtype).max / 4
    Y = softmax(np.array([[big, big, 0], [-big, -big, -big], [big, -big, 0]], dtype))
    np.testing.assert_allclose(Y, [[0.5, 0.5, 0], [1 / 3, 1 / 3, 1 / 3], [1, 0, 0]], rtol=1e-6)


def test_a_logit_of_minus_infinity_has_probability_zero():
    Y = softmax(np.array([[-np.inf, 1.0, 1.0], [-np.inf, -np.inf, -5.0]]))
    np.testing.assert_allclose(Y, [[0, 0.5, 0.5], [0, 0, 1]])


@float_types
@drawn
@given(sizes, seeds)
def test_a_prediction_is_pytorchs_rnn_linear_layer_and_softmax(dtype, sizes, seed):
    p = draw(sizes, seed, dtype)
    Y, H = rnn_predict(p["X"], p["h0"], *uwb(p), p["V"], p["c"])
    states, _ = torch_rnn(p)(torch.from_numpy(p["X"]), torch.from_numpy(p["h0"])[None])
    expected = torch.softmax(states @ torch.from_numpy(p["V"]) + torch.from_numpy(p["c"]), dim=-1)
    np.testing.assert_allclose(H, states.detach(), **TOLERANCE[dtype])
    np.testing.assert_allclose(Y, expected.detach(), **TOLERANCE[dtype])


@drawn
@given(sizes, seeds)
def test_parameters_are_counted_as_the_entries_of_all_five_arrays(sizes, seed):
    p = draw(sizes, seed)
    assert rnn_parameter_count(*sizes[2:]) == sum(p[name].size for name in "UWbVc")


def test_a_count_is_exact_for_numpys_small_integers():
    count = rnn_parameter_count(np.int16(300), np.int16(1000), np.int16(10_000))
    assert count == 300 * 1000 + 1000 * 1000 + 1000 + 1000 * 10_000 + 10_000
    assert type(count) is int


@float_types
def test_pytorch_takes_the_converted_parameters_by_name_shape_and_dtype(dtype):
    p = draw((1, 2, 3, 4, 5), seed=0, dtype=dtype)
    module = torch.nn.RNN(3, 4).to(torch.from_numpy(p["U"]).dtype)
    converted = to_torch_state(*uwb(p))
    assert {name: a.shape for name, a in converted.items()} == {n: tuple(t.shape) for n, t in module.named_parameters()}
    assert {a.dtype for a in converted.values()} == {np.dtype(dtype)}
    np.testing.assert_array_equal(converted["bias_ih_l0"] + converted["bias_hh_l0"], p["b"])


@float_types
@drawn
@given(sizes, seeds)
def test_the_network_gives_the_logits_of_a_run_from_zeros(dtype, sizes, seed):
    p = draw(sizes, seed, dtype)
    states, _ = torch_rnn(p)(torch.from_numpy(p["X"]))
    expected = states.detach() @ torch.from_numpy(p["V"]) + torch.from_numpy(p["c"])
    logits = Network(*uwb(p), p["V"], p["c"]).forward(p["X"])
    assert logits.dtype == dtype
    np.testing.assert_allclose(logits, expected, **TOLERANCE[dtype])


def test_no_state_of_the_network_outlives_a_call():
    p = draw((4, 2, 3, 5, 6), seed=1)
    network = Network(*uwb(p), p["V"], p["c"])
    first = network.forward(p["X"])
    np.testing.assert_array_equal(network.forward(p["X"]), first)
    assert network.forward(p["X"][:, :1]).shape == (4, 1, 6)


def test_the_network_keeps_its_own_parameters():
    p = draw((4, 2, 3, 5, 6), seed=1)
    network = Network(*uwb(p), p["V"], p["c"])
    before = network.forward(p["X"])
    for name in "UWbVc":
        p[name][...] = 0
    np.testing.assert_array_equal(network.forward(p["X"]), before)


def test_the_network_takes_lists_and_one_hot_integers():
    p = draw((4, 2, 3, 5, 6), seed=1, dtype=np.float32)
    one_hot = np.eye(3, dtype=int)[np.arange(8).reshape(4, 2) % 3]
    logits = Network(*uwb(p), p["V"], p["c"]).forward(one_hot)
    assert logits.dtype == np.float32
    from_lists = Network(*(p[name].tolist() for name in "UWbVc")).forward(one_hot.tolist())
    assert from_lists.dtype == np.float64
    np.testing.assert_allclose(logits, from_lists, **TOLERANCE[np.float32])


def test_numbers_and_integers_do_not_decide_the_dtype():
    single, double = np.ones(2, np.float32), np.ones(2)
    assert [a.dtype for a in as_floats(np.float64(1), np.arange(2), single, double)] == [np.float32] * 4
    assert [a.dtype for a in as_floats(np.arange(2), [1, 2])] == [np.float64] * 2
    assert as_floats(double)[0] is double


CALLS = {
    "hidden_layer": (hidden_layer, ("x", "U", "b")),
    "rnn_step": (rnn_step, ("x", "h0", "U", "W", "b")),
    "rnn_step_concat": (rnn_step_concat, ("x", "h0", "UW", "b")),
    "rnn_forward": (rnn_forward, ("X", "h0", "U", "W", "b")),
    "output_layer": (output_layer, ("states", "V", "c")),
    "softmax": (softmax, ("O",)),
    "rnn_predict": (rnn_predict, ("X", "h0", "U", "W", "b", "V", "c")),
    "to_torch_state": (to_torch_state, ("U", "W", "b")),
}


class TestArrayFunctions(ArrayFunctionsSuite):
    calls = CALLS

    def draw_arguments(self, dtype, steps=4):
        return draw((steps, 2, 3, 5, 6), seed=2, dtype=dtype)

    def test_integers_are_taken_as_floats(self, name):
        def integers(array):
            return np.arange(array.size).reshape(array.shape) % 3

        results = self.call(name, integers)[0]
        for result, expected in zip(results, self.call(name, lambda a: integers(a).astype(float))[0], strict=True):
            assert result.dtype == np.float64
            np.testing.assert_array_equal(result, expected)
