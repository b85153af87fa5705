r"""Unit 04. Backpropagation through time: the recurrent cell, backwards.

The loss of a batch of N sequences is summed over steps and rows, and divided by N:

    L = -1/N  sum over t, n of  mask_tn log softmax(o_tn)[target_tn]          dL/do_tn = mask_tn (y_tn - onehot) / N

Two arrows lead into dL/dh_t, one from the output of step t and one from step t+1. With a_t for what tanh is taken of:

    dh_t = do_t V^T + da_{t+1} W^T           da_t = dh_t * (1 - h_t^2)

so that time is walked from T to 1. Each shared parameter collects a part from every step:

    dU = sum of x_t^T da_t        dW = sum of h_{t-1}^T da_t        db = sum of da_t
    dx_t = da_t U^T               dh_0 = da_1 W^T

Here a capital dH holds what comes from the outputs alone, as `output_backward` gives it. The walk costs O(T) in time,
and in memory, since all states are kept.

Sources: P. J. Werbos, "Backpropagation Through Time: What It Does and How to Do It", Proceedings of the IEEE 78, 1990;
I. Goodfellow, Y. Bengio, A. Courville, "Deep Learning", MIT Press 2016, section 10.2.2.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, SupportsFloat

import numpy as np
from jaxtyping import Bool, Float, Integer, Real

from rnncourse.cell import as_floats, rnn_forward, softmax


def sequence_nll(
    logits: Real[np.ndarray, "T N Q"] | Sequence,
    targets: Integer[np.ndarray, "T N"] | Sequence,
    mask: Real[np.ndarray, "T N"] | Bool[np.ndarray, "T N"] | Sequence | None = None,
) -> float:
    """Sum -log p(target) over steps and batch where the mask allows it, and divide by the batch size N.

    `mask` is bool or 0/1, and all ones if left out. N counts every row, masked or not.

    >>> round(sequence_nll(np.zeros((3, 2, 4)), [[0, 1], [2, 3], [0, 0]]), 3)  # 3 log 4
    4.159
    """
    logits, keep = _unmasked(logits, mask)
    shifted = logits - logits.max(axis=-1, keepdims=True)
    picked = np.take_along_axis(shifted, np.asarray(targets)[..., None], axis=-1)[..., 0]
    losses = np.log(np.exp(shifted).sum(axis=-1)) - picked
    return float(losses.sum(where=keep, dtype=np.float64) / logits.shape[1])


def nll_backward(
    logits: Real[np.ndarray, "T N Q"] | Sequence,
    targets: Integer[np.ndarray, "T N"] | Sequence,
    mask: Real[np.ndarray, "T N"] | Bool[np.ndarray, "T N"] | Sequence | None = None,
) -> Float[np.ndarray, "T N Q"]:
    """Compute the gradient of `sequence_nll` with respect to the logits, (softmax - onehot) / N, zero where masked.

    >>> nll_backward([[[0.0, 0.0]]], [[1]])
    array([[[ 0.5, -0.5]]])
    """
    logits, keep = _unmasked(logits, mask)
    steps, rows, _ = logits.shape
    dO = softmax(logits)
    dO[np.arange(steps)[:, None], np.arange(rows), np.asarray(targets)] -= 1
    dO *= keep[..., None]
    dO /= rows
    return dO


def _unmasked(logits: Any, mask: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return the logits, zero where masked so that nothing odd in the padding spreads, and the mask as (T, N) bool."""
    (logits,) = as_floats(logits)
    if mask is None:
        return logits, np.ones(logits.shape[:2], dtype=bool)
    keep = np.asarray(mask).astype(bool)
    return np.where(keep[..., None], logits, logits.dtype.type(0)), keep


def output_backward(
    dO: Real[np.ndarray, "T N Q"] | Sequence,
    H: Real[np.ndarray, "T N H"] | Sequence,
    V: Real[np.ndarray, "H Q"] | Sequence,
) -> tuple[Float[np.ndarray, "T N H"], Float[np.ndarray, "H Q"], Float[np.ndarray, "Q"]]:
    """Go back through the output layer o = h V + c: from dO (T, N, Q) to (dH, dV, dc).

    >>> dH, dV, dc = output_backward([[[1.0, 2.0]]], H=[[[3.0]]], V=[[4.0, 5.0]])
    >>> dH.tolist(), dV.tolist(), dc.tolist()
    ([[[14.0]]], [[3.0, 6.0]], [1.0, 2.0])
    """
    dO, H, V = as_floats(dO, H, V)
    errors = dO.reshape(-1, dO.shape[-1])
    dH = (errors @ V.T).reshape(H.shape)
    return dH, H.reshape(-1, H.shape[-1]).T @ errors, errors.sum(axis=0)


def rnn_step_backward(
    dh: Real[np.ndarray, "N H"] | Sequence,
    x: Real[np.ndarray, "N D"] | Sequence,
    h_prev: Real[np.ndarray, "N H"] | Sequence,
    h: Real[np.ndarray, "N H"] | Sequence,
    U: Real[np.ndarray, "D H"] | Sequence,
    W: Real[np.ndarray, "H H"] | Sequence,
) -> tuple[
    Float[np.ndarray, "N D"],
    Float[np.ndarray, "N H"],
    Float[np.ndarray, "D H"],
    Float[np.ndarray, "H H"],
    Float[np.ndarray, "H"],
]:
    """Go back through one step h = tanh(x U + h_prev W + b): from dh to (dx, dh_prev, dU, dW, db).

    `dh` is the whole error of h, from its output and from the next step.

    >>> gradients = rnn_step_backward(dh=[[1.0]], x=[[2.0]], h_prev=[[3.0]], h=[[0.5]], U=[[4.0]], W=[[8.0]])
    >>> [gradient.item() for gradient in gradients]
    [3.0, 6.0, 1.5, 2.25, 0.75]
    """
    dh, x, h_prev, h, U, W = as_floats(dh, x, h_prev, h, U, W)
    da = dh * (1 - h * h)
    return da @ U.T, da @ W.T, x.T @ da, h_prev.T @ da, da.sum(axis=0)


def rnn_backward(
    dH: Real[np.ndarray, "T N H"] | Sequence,
    X: Real[np.ndarray, "T N D"] | Sequence,
    h0: Real[np.ndarray, "N H"] | Sequence,
    H: Real[np.ndarray, "T N H"] | Sequence,
    U: Real[np.ndarray, "D H"] | Sequence,
    W: Real[np.ndarray, "H H"] | Sequence,
) -> tuple[
    Float[np.ndarray, "T N D"],
    Float[np.ndarray, "N H"],
    Float[np.ndarray, "D H"],
    Float[np.ndarray, "H H"],
    Float[np.ndarray, "H"],
]:
    """Go back through `rnn_forward`, whose states are H: from dH to (dX, dh0, dU, dW, db).

    Entry t of `dH` is the error that reaches h_t from its own output; what reaches it from step t+1 is added here.

    >>> H = rnn_forward([[[1.0]], [[0.0]]], [[0.0]], [[0.5]], [[2.0]], [0.0])
    >>> gradients = rnn_backward([[[0.0]], [[1.0]]], [[[1.0]], [[0.0]]], [[0.0]], H, [[0.5]], [[2.0]])
    >>> [gradient.ravel().round(3).tolist() for gradient in gradients]
    [[0.37, 0.235], [1.479], [0.74], [0.217], [1.21]]
    """
    dH, X, h0, H, U, W = as_floats(dH, X, h0, H, U, W)
    steps, rows, hidden = H.shape
    # A transposed view would do, but each of the T products would lay it out anew: the copy saves up to a tenth.
    W_T = W.T.copy()
    dA = np.empty(H.shape, dtype=H.dtype)
    dh = np.zeros(h0.shape, dtype=H.dtype)
    for error, h, da in zip(dH[::-1], H[::-1], dA[::-1]):
        dh += error
        np.multiply(h, h, out=da)
        np.subtract(1, da, out=da)
        da *= dh
        np.matmul(da, W_T, out=dh)
    # One product for all steps in place of one a step: the whole pass takes a sixth of the time at (T, N, D, H) =
    # (25, 1, 64, 100), two thirds at (200, 128, 256, 512) (two cores, float32).
    errors = dA.reshape(steps * rows, hidden)
    dX = (errors @ U.T).reshape(X.shape)
    dU = X.reshape(steps * rows, -1).T @ errors
    dW = h0.T @ dA[0]
    dW += H[:-1].reshape(-1, hidden).T @ errors[rows:]
    return dX, dh, dU, dW, errors.sum(axis=0)


def numerical_gradient(
    f: Callable[[Any], Any], x: Float[np.ndarray, "*shape"] | Sequence | SupportsFloat, eps: SupportsFloat = 1e-5
) -> Float[np.ndarray, "*shape"]:
    """Estimate the gradient of a scalar function by central differences, (f(x + eps) - f(x - eps)) / (2 eps) an entry.

    `x` is float64 and of any shape. It is not written to: `f` gets a new array at each of its calls, two an entry.

    >>> numerical_gradient(lambda x: (x**2).sum(), np.array([1.0, -3.0])).round(6)
    array([ 2., -6.])
    """
    x = np.asarray(x, dtype=np.float64)
    gradient = np.empty_like(x)
    step = float(eps)
    for index in np.ndindex(x.shape):
        above, below = x.copy(), x.copy()
        above[index] += step
        below[index] -= step
        gradient[index] = (float(f(above)) - float(f(below))) / (2 * step)
    return gradient


def find_broken(backwards: Mapping[str, Callable[..., Any]]) -> set[str]:
    """Name the functions that fail as `rnn_backward`: wrong numbers or shapes, an exception, an argument overwritten.

    Each is held against central differences of L = sum of dH * rnn_forward(X, h0, U, W, b), whose gradient with respect
    to the states is dH. A long sequence in a batch, with errors at every step and h0 not zero, leaves no mistake in
    the way through time a place to hide; a single step is tried as well.

    >>> find_broken({"right": rnn_backward, "lazy": lambda *arguments: 5 * (0.0,)})
    {'lazy'}
    """
    rng = np.random.default_rng(4)
    broken = set()
    for arguments, expected in (_example(rng, T=5, N=3, D=2, H=4), _example(rng, T=1, N=2, D=3, H=2)):
        broken |= {name for name, function in backwards.items() if not _agrees(function, arguments, expected)}
    return broken


def _example(rng: np.random.Generator, *, T: int, N: int, D: int, H: int) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """Draw arguments for a backward function, and work out by central differences what it must give."""
    shapes = (T, N, D), (N, H), (D, H), (H, H), (H,), (T, N, H)
    X, h0, U, W, b, dH = (rng.normal(scale=0.7, size=shape) for shape in shapes)

    def loss(X: Any, h0: Any, U: Any, W: Any, b: Any) -> float:
        return float((dH * rnn_forward(X, h0, U, W, b)).sum())

    gradients = [
        numerical_gradient(lambda x: loss(x, h0, U, W, b), X),
        numerical_gradient(lambda x: loss(X, x, U, W, b), h0),
        numerical_gradient(lambda x: loss(X, h0, x, W, b), U),
        numerical_gradient(lambda x: loss(X, h0, U, x, b), W),
        numerical_gradient(lambda x: loss(X, h0, U, W, x), b),
    ]
    return [dH, X, h0, rnn_forward(X, h0, U, W, b), U, W], gradients


def _agrees(function: Callable[..., Any], arguments: list[np.ndarray], expected: list[np.ndarray]) -> bool:
    """Say whether a backward function gives the expected gradients and leaves its arguments as they were."""
    given = [argument.copy() for argument in arguments]
    try:
        gradients = [np.asarray(gradient) for gradient in function(*given)]
        same_shapes = [gradient.shape for gradient in gradients] == [gradient.shape for gradient in expected]
        right = same_shapes and all(np.allclose(g, e, rtol=1e-6, atol=1e-7) for g, e in zip(gradients, expected))
    except Exception:  # whatever it raises, it is broken
        return False
    return right and all(np.array_equal(was, now) for was, now in zip(arguments, given))


def recurrent_gradient_by_lag(
    dH: Real[np.ndarray, "T N H"] | Sequence,
    X: Real[np.ndarray, "T N D"] | Sequence,
    h0: Real[np.ndarray, "N H"] | Sequence,
    H: Real[np.ndarray, "T N H"] | Sequence,
    U: Real[np.ndarray, "D H"] | Sequence,
    W: Real[np.ndarray, "H H"] | Sequence,
) -> Float[np.ndarray, "T H H"]:
    """Split dW by how far its errors have travelled: entry k came from the output k steps after W was used.

    Lag 0 is the error of output t through W as used in step t itself. The T parts sum to the dW of `rnn_backward`.
    X and U are not needed; the arguments are those of `rnn_backward`.

    >>> H = rnn_forward([[[1.0]], [[0.0]]], [[0.0]], [[0.5]], [[2.0]], [0.5])
    >>> parts = recurrent_gradient_by_lag(np.ones((2, 1, 1)), [[[1.0]], [[0.0]]], [[3.0]], H, [[0.5]], [[2.0]])
    >>> parts.ravel().round(3).tolist()
    [1.311, 0.17]
    """
    dH, _, h0, H, _, W = as_floats(dH, X, h0, H, U, W)
    steps, _, hidden = H.shape
    h_prev = np.concatenate([h0[None], H[:-1]])
    slope = 1 - H * H
    parts = np.empty((steps, hidden, hidden), dtype=H.dtype)
    # errors[s] belongs to step s and came from output s + lag: one lag further, every error moves one step back.
    errors = dH * slope
    for lag in range(steps):
        if lag:
            errors = (errors[1:] @ W.T) * slope[: steps - lag]
        parts[lag] = h_prev[: steps - lag].reshape(-1, hidden).T @ errors.reshape(-1, hidden)
    return parts


def rtrl(
    X: Real[np.ndarray, "T N D"] | Sequence,
    h0: Real[np.ndarray, "N H"] | Sequence,
    U: Real[np.ndarray, "D H"] | Sequence,
    W: Real[np.ndarray, "H H"] | Sequence,
    b: Real[np.ndarray, "H"] | Sequence,
    dH: Real[np.ndarray, "T N H"] | Sequence,
) -> tuple[Float[np.ndarray, "D H"], Float[np.ndarray, "H H"], Float[np.ndarray, "H"]]:
    """Compute dU, dW and db forwards in time, by real-time recurrent learning: those of `rnn_backward`.

    With U, W and b below each other as theta, and v_t = [x_t, h_{t-1}, 1], the sum is a_t = v_t theta. The sensitivity
    S_t = dh_t / dtheta (N, H, ·) goes along with the state, and no state has to be kept:

        S_t = (1 - h_t^2) * (W^T S_{t-1} + v_t, where the column of theta is the unit's own)

    A step costs O(N H^3 (D + H)), against O(N H (D + H)) by `rnn_backward`, and memory for N H^2 (D + H + 1) numbers.

    Source: R. J. Williams, D. Zipser, "A Learning Algorithm for Continually Running Fully Recurrent Neural Networks",
    Neural Computation 1, 1989.

    >>> dU, dW, db = rtrl([[[-1.0]], [[0.0]]], [[0.5]], [[0.5]], [[2.0]], [0.0], np.ones((2, 1, 1)))
    >>> dU.round(3).tolist(), dW.round(3).tolist(), db.round(3).tolist()
    ([[-1.526]], [[0.98]], [1.996])
    """
    X, h, U, W, b, dH = as_floats(X, h0, U, W, b, dH)
    (rows, hidden), inputs = h.shape, len(U)
    units = np.arange(hidden)
    sensitivity = np.zeros((rows, hidden, (inputs + hidden + 1) * hidden), X.dtype)
    gradient = np.zeros(sensitivity.shape[-1], X.dtype)
    for x, dh in zip(X, dH):
        read = np.concatenate([x, h, np.ones((rows, 1), X.dtype)], axis=1)
        h = np.tanh(read @ np.concatenate([U, W, b[None]]))
        sensitivity = W.T @ sensitivity
        sensitivity.reshape(rows, hidden, -1, hidden)[:, units, :, units] += (
            read  # all units at once, (H, N, D + H + 1)
        )
        sensitivity *= (1 - h * h)[:, :, None]
        gradient += np.tensordot(dh, sensitivity, axes=2)
    dU, dW, db = np.split(gradient.reshape(-1, hidden), [inputs, inputs + hidden])
    return dU, dW, db[0]
