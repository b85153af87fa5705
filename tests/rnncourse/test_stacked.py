"""Unit 08: stacked layers against `torch.nn.RNN(num_layers=L)`, in NumPy and as a module."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from rnncourse.bptt import numerical_gradient, rnn_backward
from rnncourse.cell import rnn_forward, to_torch_state
from rnncourse.stacked import (
    StackedRNN,
    backward_from_states,
    dropout_between,
    layer_norm,
    locked_dropout,
    stacked_backward,
    stacked_forward,
    stacked_parameter_count,
    stacked_states,
)
from tests.rnncourse.array_functions import ArrayFunctionsSuite, arrays_in

drawn = settings(max_examples=30, deadline=None)
float_types = pytest.mark.parametrize("dtype", [np.float32, np.float64])
TOLERANCE = {np.float32: {"rtol": 1e-3, "atol": 1e-4}, np.float64: {"rtol": 1e-10, "atol": 1e-10}}
EXACT = {"rtol": 0, "atol": 1e-12}

# T, N, D, H and L, all different, so that an axis taken for another one is an error and no luck; and a seed.
sizes = st.lists(st.integers(1, 6), min_size=5, max_size=5, unique=True)
seeds = st.integers(0, 2**32 - 1)


def draw(sizes, seed, dtype=np.float64):
    """X, h0, the layers and the errors of the top one: no start state is zero, no two layers are alike."""
    T, N, D, H, L = sizes
    rng = np.random.default_rng(seed)

    def normal(*shape):
        return rng.normal(scale=0.7, size=shape).astype(dtype)

    layers = [(normal(D if l == 0 else H, H), normal(H, H), normal(H)) for l in range(L)]
    return {"X": normal(T, N, D), "h0": normal(L, N, H), "layers": layers, "dH_top": normal(T, N, H)}


def loaded(module, layers):
    """The module with the parameters of the layers, b split unevenly between PyTorch's two biases."""
    state = {}
    for l, layer in enumerate(layers):
        arrays = to_torch_state(*layer)
        arrays["bias_hh_l0"] += 0.25
        arrays["bias_ih_l0"] -= 0.25
        state |= {name.replace("_l0", f"_l{l}"): torch.from_numpy(array) for name, array in arrays.items()}
    module.to(torch.from_numpy(layers[0][0]).dtype).load_state_dict(state)
    return module


def torch_rnn(p):
    return loaded(torch.nn.RNN(*p["layers"][0][0].shape, num_layers=len(p["layers"])), p["layers"])


def own_rnn(p, dropout=0.0):
    return loaded(StackedRNN(*p["layers"][0][0].shape, len(p["layers"]), dropout), p["layers"])


def module_pass(module, p):
    """Output, h_n, and the gradients of X, h0 and all parameters; both results have errors."""
    x, h0 = torch.tensor(p["X"], requires_grad=True), torch.tensor(p["h0"], requires_grad=True)
    output, h_n = module(x, h0)
    loss = (torch.tensor(p["dH_top"]) * output).sum() + (h_n**2).sum()
    return [output, h_n, *torch.autograd.grad(loss, [x, h0, *module.parameters()])]


@float_types
@drawn
@given(sizes, seeds)
def test_forwards_the_layers_are_pytorchs(dtype, sizes, seed):
    p = draw(sizes, seed, dtype)
    output, h_n = torch_rnn(p)(torch.tensor(p["X"]), torch.tensor(p["h0"]))
    H_top, last = stacked_forward(p["X"], p["h0"], p["layers"])
    np.testing.assert_allclose(H_top, output.detach(), **TOLERANCE[dtype])
    np.testing.assert_allclose(last, h_n.detach(), **TOLERANCE[dtype])


@float_types
@drawn
@given(sizes, seeds)
def test_backwards_the_layers_are_autograds(dtype, sizes, seed):
    p = draw(sizes, seed, dtype)
    module, x, h0 = torch_rnn(p), torch.tensor(p["X"], requires_grad=True), torch.tensor(p["h0"], requires_grad=True)
    module(x, h0)[0].backward(torch.tensor(p["dH_top"]))
    dX, dh0, gradients = stacked_backward(p["dH_top"], p["X"], p["h0"], p["layers"])
    np.testing.assert_allclose(dX, x.grad, **TOLERANCE[dtype])
    np.testing.assert_allclose(dh0, h0.grad, **TOLERANCE[dtype])
    assert len(gradients) == len(p["layers"])
    for l, (dU, dW, db) in enumerate(gradients):
        np.testing.assert_allclose(dU, getattr(module, f"weight_ih_l{l}").grad.T, **TOLERANCE[dtype])
        np.testing.assert_allclose(dW, getattr(module, f"weight_hh_l{l}").grad.T, **TOLERANCE[dtype])
        np.testing.assert_allclose(db, getattr(module, f"bias_ih_l{l}").grad, **TOLERANCE[dtype])


@settings(max_examples=5, deadline=None)
@given(st.permutations([1, 2, 3, 4]), st.integers(1, 3), seeds)
def test_backwards_the_layers_agree_with_finite_differences(sizes, depth, seed):
    p = draw((*sizes, depth), seed)
    dX, dh0, gradients = stacked_backward(p["dH_top"], p["X"], p["h0"], p["layers"])

    def loss(X, h0, *parameters):
        layers = [parameters[3 * l : 3 * l + 3] for l in range(depth)]
        return (p["dH_top"] * stacked_forward(X, h0, layers)[0]).sum()

    arguments = [p["X"], p["h0"], *(a for layer in p["layers"] for a in layer)]
    results = [dX, dh0, *(a for layer in gradients for a in layer)]
    for i, result in enumerate(results):
        numerical = numerical_gradient(lambda x, i=i: loss(*arguments[:i], x, *arguments[i + 1 :]), arguments[i])
        np.testing.assert_allclose(result, numerical, atol=1e-7)


@drawn
@given(st.permutations([1, 3, 4, 6]), seeds)
def test_one_layer_is_the_layer_of_units_03_and_04(sizes, seed):
    p = draw((*sizes, 1), seed)
    X, (h0,), [(U, W, b)] = p["X"], p["h0"], p["layers"]
    H = rnn_forward(X, h0, U, W, b)
    H_top, h_n = stacked_forward(X, p["h0"], p["layers"])
    np.testing.assert_array_equal(H_top, H)
    np.testing.assert_array_equal(h_n, H[-1:])
    dX, dh0, [gradients] = stacked_backward(p["dH_top"], X, p["h0"], p["layers"])
    for result, expected in zip((dX, dh0[0], *gradients), rnn_backward(p["dH_top"], X, h0, H, U, W), strict=True):
        np.testing.assert_array_equal(result, expected)


@drawn
@given(sizes, seeds, st.data())
def test_a_split_run_is_the_whole_run(sizes, seed, data):
    p = draw(sizes, seed)
    split = data.draw(st.integers(0, sizes[0] - 1))
    whole, last = stacked_forward(p["X"], p["h0"], p["layers"])
    state = p["h0"]
    parts = []
    for part in (p["X"][:split], p["X"][split:]):
        if len(part):
            states, state = stacked_forward(part, state, p["layers"])
            parts.append(states)
    np.testing.assert_allclose(np.concatenate(parts), whole, **TOLERANCE[np.float64])
    np.testing.assert_allclose(state, last, **TOLERANCE[np.float64])


@drawn
@given(sizes, seeds)
def test_going_back_from_kept_states_gives_what_computing_them_again_gives(sizes, seed):
    p = draw(sizes, seed)
    states = stacked_states(p["X"], p["h0"], p["layers"])
    H_top, h_n = stacked_forward(p["X"], p["h0"], p["layers"])
    np.testing.assert_array_equal(states[-1], H_top)
    np.testing.assert_array_equal([H[-1] for H in states], h_n)
    kept = backward_from_states(p["dH_top"], p["X"], p["h0"], states, p["layers"])
    again = stacked_backward(p["dH_top"], p["X"], p["h0"], p["layers"])
    for result, expected in zip(arrays_in(kept), arrays_in(again), strict=True):
        np.testing.assert_array_equal(result, expected)


@pytest.mark.parametrize("count", [1, 3])
def test_a_start_state_too_few_or_too_many_is_an_error(count):
    p = draw((4, 2, 3, 5, 2), seed=0)
    h0 = np.zeros((count, 2, 5))
    with pytest.raises(ValueError, match=f"has {count} for 2"):
        stacked_forward(p["X"], h0, p["layers"])
    with pytest.raises(ValueError, match=f"has {count} for 2"):
        own_rnn(p)(torch.tensor(p["X"]), torch.tensor(h0))


@drawn
@given(st.integers(1, 50), st.integers(1, 50), st.integers(1, 6))
def test_parameters_are_counted_as_pytorch_has_them_less_its_second_biases(D, H, L):
    module = torch.nn.RNN(D, H, num_layers=L, device="meta")
    assert stacked_parameter_count(D, H, L) == sum(p.numel() for p in module.parameters()) - L * H


def test_counts_are_exact_for_numpys_small_integers():
    count = stacked_parameter_count(np.int16(300), np.int16(500), np.int8(3))
    assert count == 300 * 500 + 2 * 500 * 500 + 3 * (500 * 500 + 500)
    assert type(count) is int


@float_types
@drawn
@given(sizes, st.floats(0, 0.95), seeds)
def test_dropout_takes_away_what_the_mask_does_not_keep_and_scales_up_the_rest(dtype, sizes, p, seed):
    rng = np.random.default_rng(seed)
    H = rng.normal(size=sizes[:3]).astype(dtype)
    mask = rng.random(H.shape) >= p
    result = dropout_between(H, p, mask)
    assert not result[~mask].any()
    np.testing.assert_allclose(result[mask], H[mask] / (1 - p), rtol=1e-6)
    for same in (mask.astype(int), mask.astype(np.float64), mask.tolist()):
        np.testing.assert_array_equal(dropout_between(H, np.float64(p), same), result)
    assert dropout_between(H, np.float64(p), mask.astype(np.float64)).dtype == dtype


def test_dropout_leaves_the_mean_where_it_is():
    H = np.ones((40, 50, 60))
    kept = dropout_between(H, 0.7, np.random.default_rng(0).random(H.shape) >= 0.7)
    assert kept.mean() == pytest.approx(1, abs=0.02)


def test_what_is_dropped_may_be_anything():
    assert dropout_between([np.nan, np.inf, 1.0], 0.5, [0, 0, 1]).tolist() == [0, 0, 2]


@pytest.mark.parametrize("p", [-0.1, 1, 1.5, np.nan])
def test_a_probability_of_dropping_everything_or_less_than_nothing_is_an_error(p):
    with pytest.raises(ValueError, match="at least 0 and less than 1"):
        dropout_between(np.ones(2), p, [True, False])


@drawn
@given(sizes, seeds)
def test_the_module_and_its_gradients_are_those_of_pytorchs(sizes, seed):
    p = draw(sizes, seed)
    for ours, theirs in zip(module_pass(own_rnn(p), p), module_pass(torch_rnn(p), p), strict=True):
        torch.testing.assert_close(ours, theirs, **EXACT)


def test_without_a_start_state_the_module_starts_from_zeros_of_its_inputs_dtype():
    for dtype in (torch.float32, torch.float64):
        module, theirs = StackedRNN(3, 5, 2).to(dtype), torch.nn.RNN(3, 5, 2).to(dtype)
        module.load_state_dict(theirs.state_dict())
        x = torch.randn(4, 2, 3, dtype=dtype)
        for ours, expected in zip(module(x), theirs(x), strict=True):
            assert ours.dtype == dtype
            torch.testing.assert_close(ours, expected)


def test_one_seed_gives_the_module_and_pytorchs_the_same_parameters():
    torch.manual_seed(1)
    ours = StackedRNN(3, 5, num_layers=3).state_dict()
    torch.manual_seed(1)
    theirs = torch.nn.RNN(3, 5, num_layers=3).state_dict()
    assert list(ours) == list(theirs)
    for name in ours:
        torch.testing.assert_close(ours[name], theirs[name], rtol=0, atol=0)


def test_the_state_of_the_module_loads_into_pytorchs_and_back():
    module = StackedRNN(3, 5, num_layers=2)
    theirs = torch.nn.RNN(3, 5, num_layers=2)
    theirs.load_state_dict(module.state_dict())
    module.load_state_dict(theirs.state_dict())


def test_dropout_acts_between_layers_only_and_in_training_only():
    p = draw((6, 4, 3, 5, 2), seed=0)
    x, h0 = torch.tensor(p["X"]), torch.tensor(p["h0"])
    plain = own_rnn(p)(x, h0)
    dropping = own_rnn(p, dropout=0.5)
    output, h_n = dropping(x, h0)
    assert (output != plain[0]).any()  # the top layer read something else,
    assert (output != 0).all()  # and nothing of what it says is dropped
    torch.testing.assert_close(output[-1], h_n[-1], **EXACT)
    torch.testing.assert_close(h_n[0], plain[1][0], **EXACT)  # the bottom layer read x, and its own states as they were
    assert (dropping(x, h0)[0] != output).any()  # new draws
    torch.testing.assert_close(dropping.eval()(x, h0), plain, **EXACT)
    single = {name: p[name][:1] for name in ("h0", "layers")} | {"X": p["X"]}
    torch.testing.assert_close(own_rnn(single, dropout=0.5)(x, h0[:1]), own_rnn(single)(x, h0[:1]), **EXACT)


def test_dropping_everything_leaves_the_upper_layer_its_own_states_only():
    p = draw((6, 4, 3, 5, 2), seed=0)
    output, _ = own_rnn(p, dropout=1.0)(torch.tensor(p["X"]), torch.tensor(p["h0"]))
    np.testing.assert_allclose(output.detach(), rnn_forward(np.zeros((6, 4, 5)), p["h0"][1], *p["layers"][1]))


def test_what_dropout_keeps_is_scaled_up_by_what_it_takes_away():
    p = draw((1, 2000, 3, 4, 2), seed=0)
    p["layers"][1] = 1e-4 * np.eye(4), np.zeros((4, 4)), np.zeros(4)  # the upper layer shows what it reads
    output, h_n = own_rnn(p, dropout=0.75)(torch.tensor(p["X"]), torch.tensor(p["h0"]))
    read = (output[0] / 1e-4).detach().numpy()
    kept = read != 0
    assert kept.mean() == pytest.approx(0.25, abs=0.03)
    np.testing.assert_allclose(read[kept], 4 * h_n[0].detach().numpy()[kept], rtol=1e-5)


@pytest.mark.parametrize("settings", [{"num_layers": 0}, {"dropout": -0.1}, {"dropout": 1.1}])
def test_settings_that_make_no_sense_are_errors(settings):
    with pytest.raises(ValueError, match=next(iter(settings))):
        StackedRNN(3, 5, **settings)


def test_the_first_float_array_decides_even_if_it_stands_in_a_layer():
    p = draw((4, 2, 3, 5, 2), seed=0, dtype=np.float32)
    H_top, h_n = stacked_forward(p["X"].tolist(), p["h0"].tolist(), p["layers"])
    assert H_top.dtype == h_n.dtype == np.float32


@float_types
@drawn
@given(sizes, seeds, st.sampled_from([1e-5, 1e-2, 0.3]))
def test_layer_norm_is_pytorchs(dtype, sizes, seed, eps):
    T, N, _, D, _ = sizes
    rng = np.random.default_rng(seed)
    for shape in ((D,), (N, D), (T, N, D)):
        x, gain, shift = (rng.normal(size=s).astype(dtype) for s in (shape, D, D))
        gives = layer_norm(x, gain, shift, eps)
        x, gain, shift = map(torch.from_numpy, (x, gain, shift))
        expected = torch.nn.functional.layer_norm(x, (D,), gain, shift, eps)
        np.testing.assert_allclose(gives, expected, **TOLERANCE[dtype])


@drawn
@given(sizes, seeds, st.floats(0, 0.9))
def test_locked_dropout_drops_the_same_entries_at_all_steps_and_scales_the_rest(sizes, seed, p):
    X = draw(sizes, seed)["X"]
    dropped = locked_dropout(X, p, np.random.default_rng(seed))
    kept = dropped != 0
    np.testing.assert_array_equal(kept, np.broadcast_to(kept[0], X.shape))
    np.testing.assert_allclose(dropped, kept * X / (1 - p), **EXACT)
    assert kept.all() or p > 0


def test_locked_dropout_drops_each_entry_with_its_probability_and_independently():
    X = np.ones((2, 20_000, 2))
    kept = locked_dropout(X, 0.3, np.random.default_rng(0))[0] != 0
    assert kept.mean(axis=0) == pytest.approx([0.7, 0.7], abs=0.02)
    assert kept.all(axis=1).mean() == pytest.approx(0.49, abs=0.02)
    assert (kept[1:] & kept[:-1]).mean(axis=0) == pytest.approx([0.49, 0.49], abs=0.02)


@pytest.mark.parametrize("p", [-0.1, 1.0, 1.5])
def test_locked_dropout_wants_a_probability_below_one(p):
    with pytest.raises(ValueError, match="must be at least 0 and less than 1"):
        locked_dropout(np.ones((2, 2, 2)), p, np.random.default_rng(0))


CALLS = {
    "layer_norm": (layer_norm, ("X", "gain", "shift")),
    "locked_dropout": (lambda X: locked_dropout(X, 0.0, np.random.default_rng(0)), ("X",)),
    "stacked_forward": (stacked_forward, ("X", "h0", "layers")),
    "stacked_states": (stacked_states, ("X", "h0", "layers")),
    "stacked_backward": (stacked_backward, ("dH_top", "X", "h0", "layers")),
    "backward_from_states": (backward_from_states, ("dH_top", "X", "h0", "states", "layers")),
    "dropout_between": (lambda H, mask: dropout_between(H, 0.0, mask), ("X", "mask")),
}


class TestArrayFunctions(ArrayFunctionsSuite):
    calls = CALLS
    extents = tuple({"steps": steps, "depth": depth} for steps in (1, 4) for depth in (1, 3))

    def draw_arguments(self, dtype, steps=4, depth=3):
        p = draw((steps, 2, 3, 5, depth), seed=2, dtype=dtype)
        p["states"] = stacked_states(p["X"], p["h0"], p["layers"])
        p["mask"] = np.ones_like(p["X"])
        p["gain"], p["shift"] = p["X"][0, 0] + 2, p["X"][0, 1]
        return p
