"""Unit 03: the recurrent cell against PyTorch, and what holds whatever the numbers are."""

import numpy as np
import torch
from hypothesis import given
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
)
from tests.rnncourse.oracles import assert_close, different_sizes, drawn, float_types, loaded_rnn, pick, seeds

sizes = different_sizes(5)
UWB, UWBVC = tuple("UWb"), tuple("UWbVc")


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


@float_types
@drawn
@given(sizes, seeds)
def test_a_layer_a_step_and_a_run_are_pytorchs(dtype, sizes, seed):
    p = draw(sizes, seed, dtype)
    x, h0, X, U, b = map(torch.from_numpy, pick(p, "x", "h0", "X", "U", "b"))
    assert_close(hidden_layer(*pick(p, "x", "U", "b")), torch.tanh(x @ U + b))
    one_step = loaded_rnn([pick(p, *UWB)], torch.nn.RNNCell)(x, h0)
    assert_close(rnn_step(*pick(p, "x", "h0", *UWB)), one_step)
    assert_close(rnn_step_concat(*pick(p, "x", "h0", "UW", "b")), one_step)
    assert_close(rnn_forward(*pick(p, "X", "h0", *UWB)), loaded_rnn([pick(p, *UWB)])(X, h0[None])[0])


@float_types
@drawn
@given(sizes, seeds)
def test_logits_are_those_of_pytorchs_linear_layer_for_one_step_and_for_all(dtype, sizes, seed):
    p = draw(sizes, seed, dtype)
    states, V, c = map(torch.from_numpy, pick(p, "states", "V", "c"))
    expected = torch.nn.functional.linear(states, V.T, c)
    assert_close(output_layer(p["states"], p["V"], p["c"]), expected)
    assert_close(output_layer(p["states"][0], p["V"], p["c"]), expected[0])


@float_types
@drawn
@given(st.lists(st.integers(1, 5), min_size=1, max_size=4), st.sampled_from([0.1, 3, 300]), seeds)
def test_softmax_is_pytorchs_over_the_last_of_any_number_of_axes(dtype, shape, scale, seed):
    O = np.random.default_rng(seed).normal(scale=scale, size=shape).astype(dtype)
    assert_close(softmax(O), torch.softmax(torch.from_numpy(O), dim=-1))


@float_types
@drawn
@given(sizes, seeds)
def test_a_prediction_is_pytorchs_rnn_linear_layer_and_softmax(dtype, sizes, seed):
    p = draw(sizes, seed, dtype)
    module, V, c = loaded_rnn([pick(p, *UWB)]), torch.from_numpy(p["V"]), torch.from_numpy(p["c"])
    X, h0 = torch.from_numpy(p["X"]), torch.from_numpy(p["h0"])
    states, _ = module(X, h0[None])
    assert_close(rnn_predict(*pick(p, "X", "h0", *UWBVC)), [torch.softmax(states @ V + c, dim=-1), states])
    logits = Network(*pick(p, *UWBVC)).forward(p["X"])
    assert logits.dtype == dtype
    assert_close(logits, module(X)[0] @ V + c)


@drawn
@given(st.integers(1, 2000), st.integers(1, 2000), st.integers(1, 2000))
def test_parameters_are_counted_as_pytorch_has_them_also_in_numpys_small_integers(D, H, Q):
    parts = torch.nn.RNN(D, H, device="meta"), torch.nn.Linear(H, Q, device="meta")
    count = rnn_parameter_count(*map(np.int16, (D, H, Q)))
    assert count == sum(p.numel() for part in parts for p in part.parameters()) - H  # it has a second b
    assert type(count) is int


def test_the_network_keeps_its_own_parameters():
    p = draw((4, 2, 3, 5, 6), seed=1)
    network = Network(*pick(p, *UWBVC))
    before = network.forward(p["X"])
    for name in "UWbVc":
        p[name][...] = 0
    np.testing.assert_array_equal(network.forward(p["X"]), before)


def test_numbers_and_integers_do_not_decide_the_dtype():
    single, double = np.ones(2, np.float32), np.ones(2)
    assert [a.dtype for a in as_floats(np.float64(1), np.arange(2), single, double)] == [np.float32] * 4
    assert [a.dtype for a in as_floats(np.arange(2), [1, 2])] == [np.float64] * 2
    assert as_floats(double)[0] is double
