"""Unit 10: LSTM and GRU against PyTorch and autograd; machines by hand against what they count."""

import copy

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from rnncourse import gates_backward
from rnncourse.gates import (
    counter,
    gate,
    gru_forward,
    gru_states,
    gru_step,
    latch,
    lstm_forward,
    lstm_states,
    lstm_step,
    parity,
    sigmoid,
)
from rnncourse.gates_backward import gru_backward, gru_step_backward, lstm_backward, lstm_step_backward
from rnncourse.gates_torch import set_forget_bias
from tests.rnncourse.oracles import assert_close, different_sizes, drawn, float_types, pick, seeds, tensors

sizes = different_sizes(4)

LSTM_PARAMETERS = "U", "W", "b"
GRU_PARAMETERS = "U_gru", "W_gru", "b_i", "b_h"


def draw(sizes, seed, dtype=np.float64):
    """Arrays of all kinds by name: no start state is zero, and every output has an error."""
    T, N, D, H = sizes
    rng = np.random.default_rng(seed)
    shapes = {"X": (T, N, D), "x": (N, D), "dH": (T, N, H)}
    shapes |= dict.fromkeys(("h0", "c0", "dh", "dc", "dc_n"), (N, H))
    shapes |= {"U": (D, 4 * H), "W": (H, 4 * H), "b": (4 * H,)}
    shapes |= {"U_gru": (D, 3 * H), "W_gru": (H, 3 * H), "b_i": (3 * H,), "b_h": (3 * H,)}
    return {name: rng.normal(scale=0.7, size=shape).astype(dtype) for name, shape in shapes.items()}


def loaded(module, *parameters):
    for parameter, array in zip(module.parameters(), parameters, strict=True):
        parameter.data = torch.tensor(array.T)
    return module


def torch_lstm(p):
    """PyTorch's LSTM with b split unevenly between its two biases."""
    U, W, b = pick(p, *LSTM_PARAMETERS)
    return loaded(torch.nn.LSTM(len(U), len(W)), U, W, b - 0.25, np.full_like(b, 0.25))


def torch_gru(p):
    U, W, b_i, b_h = pick(p, *GRU_PARAMETERS)
    return loaded(torch.nn.GRU(len(U), len(W)), U, W, b_i, b_h)


@pytest.mark.filterwarnings("error")
@float_types
def test_a_sigmoid_goes_from_0_to_1_and_overflows_nowhere(dtype):
    a = np.array([-np.inf, -3e38, -100, -1, 0, 1, 100, 3e38, np.inf], dtype)
    np.testing.assert_allclose(sigmoid(a), torch.sigmoid(torch.tensor(a)), rtol=1e-6, atol=1e-7)
    assert sigmoid(a).dtype == dtype


@float_types
@drawn
@given(sizes, seeds, st.sampled_from([1, 1e3, 1e30]))
def test_a_gate_is_between_0_and_1_and_pytorchs_sigmoid_of_the_sum(dtype, sizes, seed, scale):
    p = draw(sizes, seed, dtype)
    x, h, U, W, b = pick(p, "x", "h0", "U", "W", "b")
    result = gate(dtype(scale) * x, h, U, W, b)
    assert ((result >= 0) & (result <= 1)).all()
    expected = torch.sigmoid(torch.tensor(dtype(scale) * x @ U + h @ W + b))
    np.testing.assert_allclose(result, expected, rtol=1e-4, atol=1e-5)


@float_types
@drawn
@given(sizes, seeds)
def test_steps_and_runs_are_those_of_pytorchs_cells_and_layers(dtype, sizes, seed):
    p = draw(sizes, seed, dtype)
    x, X, h, c = (torch.tensor(a) for a in pick(p, "x", "X", "h0", "c0"))
    U, W, b = pick(p, *LSTM_PARAMETERS)
    cell = loaded(torch.nn.LSTMCell(len(U), len(W)), U, W, b, np.zeros_like(b))
    assert_close(lstm_step(*pick(p, "x", "h0", "c0", *LSTM_PARAMETERS)), cell(x, (h, c)))
    output, (h_n, c_n) = torch_lstm(p)(X, (h[None], c[None]))
    assert_close(lstm_forward(*pick(p, "X", "h0", "c0", *LSTM_PARAMETERS)), [output, (h_n[0], c_n[0])])
    U, W, b_i, b_h = pick(p, *GRU_PARAMETERS)
    cell = loaded(torch.nn.GRUCell(len(U), len(W)), U, W, b_i, b_h)
    assert_close(gru_step(*pick(p, "x", "h0", *GRU_PARAMETERS)), cell(x, h))
    assert_close(gru_forward(*pick(p, "X", "h0", *GRU_PARAMETERS)), torch_gru(p)(X, h[None])[0])


@float_types
@drawn
@given(sizes, seeds)
def test_backwards_a_step_of_the_lstm_is_autograds(dtype, sizes, seed):
    p = draw(sizes, seed, dtype)
    names = "x", "h0", "c0", *LSTM_PARAMETERS
    leaves = x, h, c, U, W, b = tensors(p, *names)
    i, f, g, o = (x @ U + h @ W + b).chunk(4, dim=1)
    c = f.sigmoid() * c + i.sigmoid() * g.tanh()
    outputs, errors = (o.sigmoid() * c.tanh(), c), (torch.tensor(p["dh"]), torch.tensor(p["dc"]))
    assert_close(lstm_step_backward(*pick(p, "dh", "dc", *names)), torch.autograd.grad(outputs, leaves, errors))


@float_types
@drawn
@given(sizes, seeds)
def test_backwards_a_step_of_the_gru_is_autograds(dtype, sizes, seed):
    p = draw(sizes, seed, dtype)
    names = "x", "h0", *GRU_PARAMETERS
    leaves = x, h, U, W, b_i, b_h = tensors(p, *names)
    (r, z, x_n), (r_h, z_h, h_n) = (x @ U + b_i).chunk(3, dim=1), (h @ W + b_h).chunk(3, dim=1)
    r, z = (r + r_h).sigmoid(), (z + z_h).sigmoid()
    new = (1 - z) * (x_n + r * h_n).tanh() + z * h
    assert_close(gru_step_backward(*pick(p, "dh", *names)), torch.autograd.grad(new, leaves, torch.tensor(p["dh"])))


@float_types
@drawn
@given(sizes, seeds, st.booleans())
def test_backwards_the_lstm_is_autograds(dtype, sizes, seed, with_dc_n):
    p = draw(sizes, seed, dtype)
    module, (X, h0, c0) = torch_lstm(p), tensors(p, "X", "h0", "c0")
    output, (_, c_n) = module(X, (h0[None], c0[None]))
    loss = (torch.tensor(p["dH"]) * output).sum()
    if with_dc_n:
        loss = loss + (torch.tensor(p["dc_n"]) * c_n[0]).sum()
    dX, dh0, dc0, dU, dW, db, _ = torch.autograd.grad(loss, [X, h0, c0, *module.parameters()])
    states = lstm_states(*pick(p, "X", "h0", "c0", *LSTM_PARAMETERS))
    last = [p["dc_n"]] if with_dc_n else []
    results = lstm_backward(*pick(p, "dH", "X", "h0", "c0"), states, p["U"], p["W"], *last)
    assert_close(results, [dX, dh0, dc0, dU.T, dW.T, db])


@float_types
@drawn
@given(sizes, seeds)
def test_backwards_the_gru_is_autograds(dtype, sizes, seed):
    p = draw(sizes, seed, dtype)
    module, (X, h0) = torch_gru(p), tensors(p, "X", "h0")
    output, _ = module(X, h0[None])
    dX, dh0, dU, dW, *biases = torch.autograd.grad(output, [X, h0, *module.parameters()], torch.tensor(p["dH"]))
    states = gru_states(*pick(p, "X", "h0", *GRU_PARAMETERS))
    results = gru_backward(*pick(p, "dH", "X", "h0"), states, p["U_gru"], p["W_gru"])
    assert_close(results, [dX, dh0, dU.T, dW.T, *biases])


def test_a_run_of_several_blocks_and_chunks_goes_back_like_autograd(monkeypatch):
    # Single steps; and blocks and chunks that divide neither the length nor each other.
    for block, chunk in ((1, 1), (1, 250), (100, 100), (250, 450), (100, 1000), (1000, 100)):
        monkeypatch.setattr(gates_backward, "BLOCK", block)
        monkeypatch.setattr(gates_backward, "CHUNK", chunk)
        test_backwards_the_lstm_is_autograds.hypothesis.inner_test(np.float64, (7, 2, 3, 4), 0, True)
        test_backwards_the_gru_is_autograds.hypothesis.inner_test(np.float64, (7, 2, 3, 4), 0)


def biases_of(lstm):
    """The two biases of each layer and direction added up, (…, 4, H)."""
    names = [name for name, _ in lstm.named_parameters() if name.startswith("bias_ih_")]
    sums = [getattr(lstm, name) + getattr(lstm, name.replace("_ih_", "_hh_")) for name in names]
    return torch.stack(sums).detach().unflatten(-1, (4, -1))


@settings(max_examples=20, deadline=None)
@given(st.integers(1, 3), st.booleans(), st.sampled_from([0, 2]), st.floats(-8, 8), seeds)
def test_the_forget_bias_is_set_in_all_layers_and_directions_and_nothing_else(layers, both, projected, value, seed):
    torch.manual_seed(seed)
    lstm = torch.nn.LSTM(3, 4, layers, bidirectional=both, proj_size=projected)
    held, before, sums = list(lstm.parameters()), copy.deepcopy(lstm.state_dict()), biases_of(lstm)
    set_forget_bias(lstm, value)
    assert all(parameter is old for parameter, old in zip(lstm.parameters(), held, strict=True))
    now = biases_of(lstm)
    torch.testing.assert_close(now[:, 1], torch.full_like(now[:, 1], value))
    torch.testing.assert_close(now[:, [0, 2, 3]], sums[:, [0, 2, 3]])
    for name, array in lstm.state_dict().items():
        for k, (is_now, was) in enumerate(zip(array.chunk(4), before[name].chunk(4), strict=True)):
            assert torch.equal(is_now, was) or (k == 1 and name.startswith("bias_"))


def remembered(machine, X, dtype=np.float64):
    """What stands in c after each step, for bits X (T, N) or (T, N, D), from a start at zero."""
    X = np.asarray(X, dtype).reshape(*np.shape(X)[:2], -1)
    for array in machine():
        array[...] = np.nan  # each call sets up a new machine
    U, W, b = (array.astype(dtype) for array in machine())
    zeros = np.zeros((X.shape[1], len(W)), dtype)
    C = lstm_states(X, zeros, zeros, U, W, b)[1]
    _, (_, c_n) = lstm_forward(X, zeros, zeros, U, W, b)
    np.testing.assert_array_equal(c_n, C[-1])
    return C[:, :, 0]


def bits_of_all_kinds(steps):
    """All sequences of twelve steps; and long ones: no ones, nothing else, every other bit, and drawn ones."""
    short = (np.arange(2**12) >> np.arange(12)[:, None]) & 1
    rng = np.random.default_rng(0)
    share = rng.random(500)
    plain = np.stack([np.zeros(steps), np.ones(steps), np.arange(steps) % 2, (np.arange(steps) + 1) % 2], axis=1)
    return short, np.concatenate([plain, rng.random((steps, 500)) < share], axis=1).astype(int)


@pytest.mark.parametrize(("machine", "remembers"), [(counter, lambda ones: ones), (parity, lambda ones: ones % 2)])
@float_types
def test_the_counter_counts_the_ones_so_far_and_parity_says_whether_they_are_odd(dtype, machine, remembers):
    for bits in bits_of_all_kinds(50):
        assert np.abs(remembered(machine, bits, dtype) - remembers(bits.cumsum(axis=0))).max() < 0.01


def stored(commands):
    """The bit after each step, for commands 0 (nothing), 1 (set) and 2 (reset)."""
    bit, bits = np.zeros(commands.shape[1]), []
    for command in commands:
        bit = np.where(command == 1, 1, np.where(command == 2, 0, bit))
        bits.append(bit)
    return np.array(bits)


@float_types
def test_the_latch_stores_what_was_set_or_reset_last(dtype):
    rng = np.random.default_rng(0)
    short = np.arange(3**8) // 3 ** np.arange(8)[:, None] % 3
    long = np.where(rng.random((50, 500)) < rng.random(500), 0, rng.integers(1, 3, (50, 500)))
    long[:, 0], long[:, 1], long[:, 2] = 1, 2, 0
    long[0, 3], long[1:, 3] = 1, 0
    for commands in (short, long):
        inputs = np.stack([commands == 1, commands == 2], axis=-1)
        assert np.abs(remembered(latch, inputs, dtype) - stored(commands)).max() < 0.01
