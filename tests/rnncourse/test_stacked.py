"""Unit 08: stacked layers against `torch.nn.RNN(num_layers=L)`, in NumPy and as a module."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

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
from tests.rnncourse.oracles import assert_close, different_sizes, drawn, float_types, loaded_rnn, pick, seeds, tensors

sizes = different_sizes(5)  # T, N, D, H and L

EXACT = {"rtol": 0, "atol": 1e-12}


def draw(sizes, seed, dtype=np.float64):
    """X, h0, the layers and the errors of the top one: no start state is zero, no two layers are alike."""
    T, N, D, H, L = sizes
    rng = np.random.default_rng(seed)

    def normal(*shape):
        return rng.normal(scale=0.7, size=shape).astype(dtype)

    layers = [(normal(D if l == 0 else H, H), normal(H, H), normal(H)) for l in range(L)]
    return {"X": normal(T, N, D), "h0": normal(L, N, H), "layers": layers, "dH_top": normal(T, N, H)}


def own_rnn(p, dropout=0.0):
    return loaded_rnn(p["layers"], StackedRNN, num_layers=len(p["layers"]), dropout=dropout)


@float_types
@drawn
@given(sizes, seeds)
def test_the_layers_and_the_module_are_pytorchs_forwards_and_backwards(dtype, sizes, seed):
    p = draw(sizes, seed, dtype)
    runs = []
    for module in (loaded_rnn(p["layers"], num_layers=len(p["layers"])), own_rnn(p)):
        leaves = tensors(p, "X", "h0")
        output, h_n = module(*leaves)
        leaves += module.parameters()
        gradients = torch.autograd.grad(output, leaves, torch.tensor(p["dH_top"]), retain_graph=True)
        of_the_ends = torch.autograd.grad(h_n.square().sum(), leaves)
        runs.append((output, h_n, *of_the_ends, *gradients))
    assert_close(runs[1], runs[0])
    output, h_n = runs[0][:2]
    assert_close(stacked_forward(*pick(p, "X", "h0", "layers")), (output, h_n))
    dX, dh0, *parameters = gradients
    expected = [(U.T, W.T, b) for U, W, b in zip(parameters[::4], parameters[1::4], parameters[2::4], strict=True)]
    assert_close(stacked_backward(*pick(p, "dH_top", "X", "h0", "layers")), (dX, dh0, expected))
    states = stacked_states(*pick(p, "X", "h0", "layers"))
    assert_close((states[-1], [H[-1] for H in states]), (output, list(h_n)))
    assert_close(backward_from_states(p["dH_top"], p["X"], p["h0"], states, p["layers"]), (dX, dh0, expected))


@pytest.mark.parametrize("count", [1, 3])
def test_a_start_state_too_few_or_too_many_is_an_error(count):
    p = draw((4, 2, 3, 5, 2), seed=0)
    h0 = np.zeros((count, 2, 5))
    with pytest.raises(ValueError, match=f"has {count} for 2"):
        stacked_forward(p["X"], h0, p["layers"])
    with pytest.raises(ValueError, match=f"has {count} for 2"):
        own_rnn(p)(torch.tensor(p["X"]), torch.tensor(h0))


@drawn
@given(st.integers(1, 999), st.integers(1, 999), st.integers(1, 6))
def test_parameters_are_counted_as_pytorch_has_them_less_its_second_biases(D, H, L):
    module = torch.nn.RNN(D, H, num_layers=L, device="meta")
    count = stacked_parameter_count(np.int16(D), np.int16(H), np.int8(L))
    assert count == sum(p.numel() for p in module.parameters()) - L * H
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
    np.testing.assert_array_equal(dropout_between(np.where(mask, H, np.nan), p, mask), result)
    np.testing.assert_allclose(result[mask], H[mask] / (1 - p), rtol=1e-6)
    for same in (mask.astype(int), mask.astype(np.float64), mask.tolist()):
        np.testing.assert_array_equal(dropout_between(H, np.float64(p), same), result)
    assert dropout_between(H, np.float64(p), mask.astype(np.float64)).dtype == dtype


@pytest.mark.parametrize("p", [-0.1, 1, 1.5, np.nan])
def test_a_probability_of_dropping_everything_or_less_than_nothing_is_an_error(p):
    with pytest.raises(ValueError, match="at least 0 and less than 1"):
        dropout_between(np.ones(2), p, [True, False])
    with pytest.raises(ValueError, match="at least 0 and less than 1"):
        locked_dropout(np.ones((2, 2, 2)), p, np.random.default_rng(0))


def test_one_seed_gives_the_module_and_pytorchs_the_same_parameters_and_without_a_state_the_same_output():
    results = []
    for kind in (StackedRNN, torch.nn.RNN):
        torch.manual_seed(1)
        module = kind(3, 5, num_layers=3).double()
        results.append((list(module.state_dict()), *module(torch.ones(4, 2, 3, dtype=torch.float64))))
    assert results[0][0] == results[1][0]
    assert_close(results[0][1:], results[1][1:])


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


@pytest.mark.parametrize("settings", [{"num_layers": 0}, {"dropout": -0.1}, {"dropout": 1.1}])
def test_settings_that_make_no_sense_are_errors(settings):
    with pytest.raises(ValueError, match=next(iter(settings))):
        StackedRNN(3, 5, **settings)


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
        assert_close(gives, torch.nn.functional.layer_norm(x, (D,), gain, shift, eps))


def test_locked_dropout_drops_each_entry_at_all_steps_with_its_probability_and_scales_the_rest():
    X = np.random.default_rng(1).normal(size=(2, 20_000, 2))
    dropped = locked_dropout(X, 0.3, np.random.default_rng(0))
    kept = (dropped != 0)[0]
    np.testing.assert_allclose(dropped, kept * X / 0.7, rtol=1e-12)
    assert kept.mean(axis=0) == pytest.approx([0.7, 0.7], abs=0.02)
    assert kept.all(axis=1).mean() == pytest.approx(0.49, abs=0.02)
    assert (kept[1:] & kept[:-1]).mean(axis=0) == pytest.approx([0.49, 0.49], abs=0.02)
