"""Unit 04: backpropagation through time against PyTorch's autograd and against finite differences."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from rnncourse.bptt import (
    find_broken,
    nll_backward,
    numerical_gradient,
    output_backward,
    recurrent_gradient_by_lag,
    rnn_backward,
    rnn_step_backward,
    rtrl,
    sequence_nll,
)
from rnncourse.cell import rnn_forward, rnn_step
from tests.rnncourse.array_functions import ArrayFunctionsSuite

drawn = settings(max_examples=30, deadline=None)
float_types = pytest.mark.parametrize("dtype", [np.float32, np.float64])
TOLERANCE = {np.float32: {"rtol": 1e-3, "atol": 1e-4}, np.float64: {"rtol": 1e-10, "atol": 1e-10}}

# Five sizes, all different, so that an axis taken for another one is an error and no luck; and a seed.
sizes = st.lists(st.integers(1, 7), min_size=5, max_size=5, unique=True)
seeds = st.integers(0, 2**32 - 1)


def draw(sizes, seed, dtype=np.float64):
    """Arrays of all kinds by name: h0 is not zero, W not symmetric, and every output has an error."""
    T, N, D, H, Q = sizes
    rng = np.random.default_rng(seed)
    shapes = {"X": (T, N, D), "h0": (N, H), "U": (D, H), "W": (H, H), "b": (H,), "V": (H, Q), "dH": (T, N, H)}
    shapes |= {"dO": (T, N, Q), "logits": (T, N, Q), "dh": (N, H)}
    arrays = {name: rng.normal(scale=0.7, size=shape).astype(dtype) for name, shape in shapes.items()}
    arrays["H"] = rnn_forward(*(arrays[name] for name in ("X", "h0", "U", "W", "b")))
    arrays["x"], arrays["h"] = arrays["X"][0].copy(), arrays["H"][0].copy()
    arrays["targets"] = rng.integers(Q, size=(T, N))
    arrays["mask"] = rng.integers(2, size=(T, N)).astype(bool)
    return arrays


def backward_arguments(p):
    return [p[name] for name in ("dH", "X", "h0", "H", "U", "W")]


def leaves(p, *names):
    """Tensors of the named arrays, which collect gradients."""
    return [torch.tensor(p[name], requires_grad=True) for name in names]


def assert_gradients(ours, tensors, dtype):
    """Ours are those that the tensors have collected."""
    for gradient, leaf in zip(ours, tensors, strict=True):
        np.testing.assert_allclose(gradient, leaf.grad, **TOLERANCE[dtype])


def torch_states(X, h0, U, W, b):
    """The recurrence in PyTorch; W may be a list, one for each step."""
    states, h = [], h0
    for t, x in enumerate(X):
        h = torch.tanh(x @ U + h @ (W[t] if isinstance(W, list) else W) + b)
        states.append(h)
    return torch.stack(states)


def torch_loss(logits, targets, mask=None):
    losses = torch.nn.functional.cross_entropy(logits.flatten(0, 1), torch.tensor(targets).flatten(), reduction="none")
    return (losses if mask is None else losses[torch.tensor(mask).flatten()]).sum() / logits.shape[1]


@float_types
@drawn
@given(sizes, seeds)
def test_the_loss_is_pytorchs_cross_entropy_summed_over_steps_and_rows_and_divided_by_rows(dtype, sizes, seed):
    p = draw(sizes, seed, dtype)
    logits = torch.tensor(p["logits"])
    loss = sequence_nll(p["logits"], p["targets"])
    assert type(loss) is float
    assert loss == pytest.approx(torch_loss(logits, p["targets"]).item(), rel=1e-5)
    masked = sequence_nll(p["logits"], p["targets"], p["mask"])
    assert masked == pytest.approx(torch_loss(logits, p["targets"], p["mask"]).item(), rel=1e-5, abs=1e-12)


@float_types
@drawn
@given(sizes, seeds)
def test_the_gradient_of_the_loss_is_autograds(dtype, sizes, seed):
    p = draw(sizes, seed, dtype)
    for mask in (None, p["mask"]):
        (logits,) = leaves(p, "logits")
        torch_loss(logits, p["targets"], mask).backward()
        np.testing.assert_allclose(nll_backward(p["logits"], p["targets"], mask), logits.grad, **TOLERANCE[dtype])


@drawn
@given(sizes, seeds)
def test_the_gradient_of_the_loss_agrees_with_finite_differences(sizes, seed):
    p = draw(sizes, seed)
    numerical = numerical_gradient(lambda logits: sequence_nll(logits, p["targets"], p["mask"]), p["logits"])
    np.testing.assert_allclose(nll_backward(p["logits"], p["targets"], p["mask"]), numerical, atol=1e-7)


@pytest.mark.parametrize("kind", [np.int64, np.float32, np.float64, np.uint8, np.ndarray.tolist])
def test_a_mask_may_be_bool_or_zeros_and_ones_of_any_type(kind):
    p = draw((5, 3, 2, 4, 6), seed=0)
    mask = kind(p["mask"]) if kind is np.ndarray.tolist else p["mask"].astype(kind)
    assert sequence_nll(p["logits"], p["targets"], mask) == sequence_nll(p["logits"], p["targets"], p["mask"])
    gradient = nll_backward(p["logits"], p["targets"], mask)
    np.testing.assert_array_equal(gradient, nll_backward(p["logits"], p["targets"], p["mask"]))


def test_the_loss_counts_every_row_masked_or_not():
    mask = np.array([[1, 0, 0], [1, 0, 0]])
    assert sequence_nll(np.zeros((2, 3, 4)), np.zeros((2, 3), int), mask) == pytest.approx(2 * np.log(4) / 3)
    assert sequence_nll(np.zeros((2, 3, 4)), np.zeros((2, 3), int), 0 * mask) == 0


@pytest.mark.parametrize("odd", [np.inf, -np.inf, np.nan])
def test_what_stands_under_the_mask_plays_no_part(odd):
    p = draw((5, 3, 2, 4, 6), seed=0)
    before = sequence_nll(p["logits"], p["targets"], p["mask"]), nll_backward(p["logits"], p["targets"], p["mask"])
    p["logits"][~p["mask"]] = odd
    assert sequence_nll(p["logits"], p["targets"], p["mask"]) == before[0]
    np.testing.assert_array_equal(nll_backward(p["logits"], p["targets"], p["mask"]), before[1])


@float_types
def test_large_logits_neither_overflow_nor_lose_the_loss(dtype):
    logits = np.array([[[1000, 0, 0]], [[-3e4, 3e4, 0]]], dtype)
    assert sequence_nll(logits, [[1], [1]]) == pytest.approx(1000)
    np.testing.assert_allclose(nll_backward(logits, [[1], [1]]), [[[1, -1, 0]], [[0, 0, 0]]])


def test_a_logit_of_minus_infinity_is_an_impossible_token():
    logits = np.array([[[-np.inf, 0.0, 0.0]]])
    assert sequence_nll(logits, [[1]]) == pytest.approx(np.log(2))
    np.testing.assert_allclose(nll_backward(logits, [[1]]), [[[0, -0.5, 0.5]]])
    assert sequence_nll(logits, [[0]]) == np.inf


@float_types
@drawn
@given(sizes, seeds)
def test_going_back_through_the_output_layer_is_autograds(dtype, sizes, seed):
    p = draw(sizes, seed, dtype)
    H, V, dO = *leaves(p, "H", "V"), torch.tensor(p["dO"])
    c = torch.zeros(sizes[-1], dtype=V.dtype, requires_grad=True)
    (H @ V + c).backward(dO)
    assert_gradients(output_backward(p["dO"], p["H"], p["V"]), (H, V, c), dtype)


@float_types
@drawn
@given(sizes, seeds)
def test_going_back_one_step_is_autograds(dtype, sizes, seed):
    p = draw(sizes, seed, dtype)
    tensors = x, h_prev, U, W, b = leaves(p, "x", "h0", "U", "W", "b")
    torch.tanh(x @ U + h_prev @ W + b).backward(torch.tensor(p["dh"]))
    h = rnn_step(*(p[name] for name in ("x", "h0", "U", "W", "b")))
    ours = rnn_step_backward(p["dh"], p["x"], p["h0"], h, p["U"], p["W"])
    assert_gradients(ours, tensors, dtype)


@float_types
@drawn
@given(sizes, seeds)
def test_going_back_through_time_is_autograds(dtype, sizes, seed):
    p = draw(sizes, seed, dtype)
    tensors = leaves(p, "X", "h0", "U", "W", "b")
    torch_states(*tensors).backward(torch.tensor(p["dH"]))
    assert_gradients(rnn_backward(*backward_arguments(p)), tensors, dtype)


@drawn
@given(sizes, seeds)
def test_going_back_through_time_is_that_of_pytorchs_own_rnn(sizes, seed):
    p = draw(sizes, seed)
    module = torch.nn.RNN(sizes[2], sizes[3]).double()
    with torch.no_grad():
        module.weight_ih_l0[:], module.weight_hh_l0[:] = torch.tensor(p["U"].T), torch.tensor(p["W"].T)
        module.bias_ih_l0[:], module.bias_hh_l0[:] = torch.tensor(p["b"]), 0
    X, h0 = leaves(p, "X", "h0")
    module(X, h0[None])[0].backward(torch.tensor(p["dH"]))
    expected = X.grad, h0.grad, module.weight_ih_l0.grad.T, module.weight_hh_l0.grad.T, module.bias_ih_l0.grad
    for gradient, theirs in zip(rnn_backward(*backward_arguments(p)), expected, strict=True):
        np.testing.assert_allclose(gradient, theirs, **TOLERANCE[np.float64])


@settings(drawn, max_examples=10)
@given(sizes, seeds)
def test_going_back_through_time_agrees_with_finite_differences(sizes, seed):
    p = draw(sizes, seed)
    parameters = [p[name] for name in ("X", "h0", "U", "W", "b")]
    for i, gradient in enumerate(rnn_backward(*backward_arguments(p))):

        def loss(value, i=i):
            return (p["dH"] * rnn_forward(*parameters[:i], value, *parameters[i + 1 :])).sum()

        np.testing.assert_allclose(gradient, numerical_gradient(loss, parameters[i]), atol=1e-7)


@drawn
@given(sizes, seeds, st.data())
def test_an_error_never_reaches_a_later_input(sizes, seed, data):
    p = draw(sizes, seed)
    t = data.draw(st.integers(0, sizes[0] - 1))
    p["dH"][t + 1 :] = 0
    dX = rnn_backward(*backward_arguments(p))[0]
    assert not dX[t + 1 :].any()
    assert dX[: t + 1].any(axis=(1, 2)).all()


@drawn
@given(sizes, seeds, st.data())
def test_the_errors_of_two_outputs_add_up(sizes, seed, data):
    p = draw(sizes, seed)
    t = data.draw(st.integers(0, sizes[0] - 1))
    whole = rnn_backward(*backward_arguments(p))
    one, others = np.zeros_like(p["dH"]), p["dH"].copy()
    one[t], others[t] = p["dH"][t], 0
    parts = [rnn_backward(dH, *backward_arguments(p)[1:]) for dH in (one, others)]
    for first, second, both in zip(*parts, whole, strict=True):
        np.testing.assert_allclose(first + second, both, **TOLERANCE[np.float64])


@drawn
@given(st.lists(st.integers(0, 4), max_size=4), seeds)
def test_the_numerical_gradient_of_a_quadratic_is_right_for_x_of_any_shape(shape, seed):
    rng = np.random.default_rng(seed)
    x, factors = rng.normal(size=shape), rng.normal(size=shape)
    x.flags.writeable = False
    gradient = numerical_gradient(lambda x: (factors * x**2).sum(), x)
    assert gradient.shape == x.shape
    assert gradient.dtype == np.float64
    np.testing.assert_allclose(gradient, 2 * factors * x, atol=1e-8)


def test_central_differences_are_taken_of_the_width_that_was_asked_for():
    # of x^3 they give 3 x^2 + eps^2, exactly
    assert numerical_gradient(lambda x: x**3, np.array(2.0), eps=0.5) == pytest.approx(12.25)
    assert numerical_gradient(lambda x: x**3, np.array(2.0)) == pytest.approx(12, abs=1e-8)


def test_the_numerical_gradient_never_writes_to_x_and_hands_out_new_arrays():
    x = np.random.default_rng(0).normal(size=(2, 3))
    given_x, seen = x.copy(), []

    def f(value):
        assert not np.shares_memory(value, x)
        np.testing.assert_array_equal(x, given_x)
        assert value.shape == x.shape
        seen.append(value)
        return (value**2).sum()

    numerical_gradient(f, x)
    np.testing.assert_array_equal(x, given_x)
    assert len(seen) == 2 * x.size
    assert not any(np.shares_memory(*pair) for pair in combinations(seen, 2))


def test_a_function_that_overwrites_its_argument_does_not_spoil_the_numerical_gradient():
    def f(value):
        total = (value**2).sum()
        value[...] = np.nan
        return total

    np.testing.assert_allclose(numerical_gradient(f, np.array([1.0, -2.0])), [2, -4], atol=1e-8)


def a_backward(
    *,
    carry=True,
    local=True,
    transpose=True,
    slope="h",
    factor=lambda H, h_prev: h_prev,
    accumulate=True,
    order=reversed,
    average=False,
    use_h0=True,
    give_dh0=True,
):
    """Going back through time step by step, with places to go wrong; right as it stands."""

    def backward(dH, X, h0, H, U, W):
        steps = len(H)
        dX, dU, dW, db, dh_next = np.zeros_like(X), np.zeros_like(U), np.zeros_like(W), np.zeros(len(W)), 0 * h0
        for t in order(range(steps)):
            h_prev = H[t - 1] if t else (h0 if use_h0 else 0 * h0)
            dh = local * dH[t] + carry * dh_next
            da = dh * {"h": 1 - H[t] ** 2, "h_prev": 1 - h_prev**2, "none": 1}[slope]
            dX[t] = da @ U.T
            dU += X[t].T @ da
            dW = accumulate * dW + factor(H[t], h_prev).T @ da
            db += da.mean(axis=0) if average else da.sum(axis=0)
            dh_next = da @ (W.T if transpose else W)
        return dX, dh_next if give_dh0 else 0 * h0, dU, dW, db

    return backward


def writes_to_its_errors(dH, X, h0, H, U, W):
    result = rnn_backward(dH, X, h0, H, U, W)
    dH *= 1 - H**2
    return result


def raises(*arguments):
    raise RuntimeError("no gradient today")


BROKEN = {
    "next step ignored": a_backward(carry=False),
    "own output ignored": a_backward(local=False),
    "W not transposed": a_backward(transpose=False),
    "tanh' missing": a_backward(slope="none"),
    "tanh' at the step before": a_backward(slope="h_prev"),
    "dW from h_t": a_backward(factor=lambda h, h_prev: h),
    "dW of the last step only": a_backward(accumulate=False),
    "time walked forwards": a_backward(order=iter),
    "db averaged": a_backward(average=True),
    "h0 taken for zero": a_backward(use_h0=False),
    "dh0 zero": a_backward(give_dh0=False),
    "the errors overwritten": writes_to_its_errors,
    "an exception": raises,
    "nothing": lambda *arguments: None,
    "four gradients": lambda *arguments: rnn_backward(*arguments)[:4],
    "six gradients": lambda *arguments: (*rnn_backward(*arguments), 0.0),
    "numbers for arrays": lambda *arguments: tuple(g.sum() for g in rnn_backward(*arguments)),
    "not a number": lambda *arguments: tuple(g * np.nan for g in rnn_backward(*arguments)),
    "words": lambda *arguments: "dXhUW",
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_backward_pass_is_found(name):
    assert find_broken({name: BROKEN[name]}) == {name}


def test_right_backward_passes_are_not_called_broken():
    def one_step_at_a_time(dH, X, h0, H, U, W):
        dX, dh, parameters = [], np.zeros_like(h0), [0, 0, 0]
        for t in range(len(X) - 1, -1, -1):
            dx, dh, *gradients = rnn_step_backward(dH[t] + dh, X[t], H[t - 1] if t else h0, H[t], U, W)
            dX.insert(0, dx)
            parameters = [total + gradient for total, gradient in zip(parameters, gradients, strict=True)]
        return [np.array(dX), dh, *parameters]

    assert find_broken({"reference": rnn_backward, "loop": a_backward(), "steps": one_step_at_a_time}) == set()


def test_the_broken_ones_are_named_among_the_right_ones():
    some_right = {"right": rnn_backward, "also right": a_backward()}
    assert find_broken({**some_right, **BROKEN}) == set(BROKEN)
    assert find_broken({}) == set()


@drawn
@given(sizes, seeds)
def test_the_parts_by_lag_sum_to_the_gradient_of_W(sizes, seed):
    p = draw(sizes, seed)
    parts = recurrent_gradient_by_lag(*backward_arguments(p))
    assert parts.shape == (sizes[0], sizes[3], sizes[3])
    np.testing.assert_allclose(parts.sum(axis=0), rnn_backward(*backward_arguments(p))[3], **TOLERANCE[np.float64])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@drawn
@given(sizes, seeds)
def test_forwards_in_time_the_gradient_is_that_of_the_way_back(dtype, sizes, seed):
    p = draw(sizes, seed, dtype)
    gradients = rtrl(*(p[name] for name in ("X", "h0", "U", "W", "b", "dH")))
    for forwards, backwards in zip(gradients, rnn_backward(*backward_arguments(p))[2:], strict=True):
        np.testing.assert_allclose(forwards, backwards, **TOLERANCE[dtype])


@drawn
@given(sizes, seeds)
def test_each_part_by_lag_is_autograds_if_every_step_has_a_W_of_its_own(sizes, seed):
    p = draw(sizes, seed)
    steps = sizes[0]
    Ws = [torch.tensor(p["W"], requires_grad=True) for _ in range(steps)]
    X, h0, U, b, dH = (torch.tensor(p[name]) for name in ("X", "h0", "U", "b", "dH"))
    states = torch_states(X, h0, U, Ws, b)
    expected = np.zeros((steps, sizes[3], sizes[3]))
    for t in range(steps):
        gradients = torch.autograd.grad((dH[t] * states[t]).sum(), Ws[: t + 1], retain_graph=True)
        for used, gradient in enumerate(gradients):
            expected[t - used] += gradient.numpy()
    parts = recurrent_gradient_by_lag(*backward_arguments(p))
    np.testing.assert_allclose(parts, expected, **TOLERANCE[np.float64])


CALLS = {
    "nll_backward": (nll_backward, ("logits", "targets", "mask")),
    "output_backward": (output_backward, ("dO", "H", "V")),
    "rnn_step_backward": (rnn_step_backward, ("dh", "x", "h0", "h", "U", "W")),
    "rnn_backward": (rnn_backward, ("dH", "X", "h0", "H", "U", "W")),
    "recurrent_gradient_by_lag": (recurrent_gradient_by_lag, ("dH", "X", "h0", "H", "U", "W")),
    "rtrl": (rtrl, ("X", "h0", "U", "W", "b", "dH")),
}


class TestArrayFunctions(ArrayFunctionsSuite):
    calls = CALLS

    def draw_arguments(self, dtype, steps=4):
        return draw((steps, 2, 3, 5, 6), seed=2, dtype=dtype)


def test_the_loss_leaves_its_arguments_as_they_were_and_they_may_be_read_only():
    p = draw((4, 2, 3, 5, 6), seed=2)
    arguments = [p[name] for name in ("logits", "targets", "mask")]
    copies = [a.copy() for a in arguments]
    for a in arguments:
        a.flags.writeable = False
    sequence_nll(*arguments)
    for a, copy in zip(arguments, copies, strict=True):
        np.testing.assert_array_equal(a, copy)
