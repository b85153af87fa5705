r"""Unit 10, continued. Gates, backwards.

The errors of h_t and c_t are added up from both of their sides, and time is walked from T to 1. With a for what a
sigmoid or tanh is taken of, the LSTM has

    dc_t += dh_t * o_t (1 - tanh(c_t)^2)
    da_i = dc_t * g_t * i_t (1 - i_t)           da_f = dc_t * c_{t-1} * f_t (1 - f_t)
    da_g = dc_t * i_t * (1 - g_t^2)             da_o = dh_t * tanh(c_t) * o_t (1 - o_t)
    dc_{t-1} = dc_t * f_t                       dh_{t-1} = [da_i, da_f, da_g, da_o] W^T

and the GRU, whose q_t = h_{t-1} W_n + b_hn is what its reset gate multiplies,

    da_n = dh_t * (1 - z_t) * (1 - n_t^2)       dq_t = da_n * r_t
    da_r = da_n * q_t * r_t (1 - r_t)           da_z = dh_t * (h_{t-1} - n_t) * z_t (1 - z_t)
    dh_{t-1} = dh_t * z_t + [da_r, da_z, dq] W^T

Everything but the first factor of a product is known before the walk begins. What is left for each step is one product
of arrays with the error, and one matrix product.

Source: K. Greff, R. K. Srivastava, J. Koutnik, B. R. Steunebrink, J. Schmidhuber, "LSTM: A Search Space Odyssey", IEEE
Transactions on Neural Networks and Learning Systems 28, 2017, section II.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from jaxtyping import Float, Real

from rnncourse.cell import as_floats
from rnncourse.gates import by_gate, lstm_states, side_by_side

# So many entries of the gates are worked on at a time that they stay in the cache between two touches.
BLOCK = 1 << 17


def lstm_step_backward(
    dh: Real[np.ndarray, "N H"] | Sequence,
    dc: Real[np.ndarray, "N H"] | Sequence,
    x: Real[np.ndarray, "N D"] | Sequence,
    h_prev: Real[np.ndarray, "N H"] | Sequence,
    c_prev: Real[np.ndarray, "N H"] | Sequence,
    U: Real[np.ndarray, "D G"] | Sequence,
    W: Real[np.ndarray, "H G"] | Sequence,
    b: Real[np.ndarray, "G"] | Sequence,
) -> tuple[
    Float[np.ndarray, "N D"],
    Float[np.ndarray, "N H"],
    Float[np.ndarray, "N H"],
    Float[np.ndarray, "D G"],
    Float[np.ndarray, "H G"],
    Float[np.ndarray, "G"],
]:
    """Go back through one step of the LSTM: from the errors of its h and c to (dx, dh_prev, dc_prev, dU, dW, db).

    `dh` is the whole error of h, and `dc` that of c but for its way through h, which is added here.

    >>> x, h, c, U, W, b = [[1.0]], [[0.0]], [[3.0]], [[0.0] * 4], [[0.0] * 4], [-50.0, 50.0, 0.0, 50.0]
    >>> _, _, dc_prev, *_ = lstm_step_backward([[0.0]], [[7.0]], x, h, c, U, W, b)
    >>> dc_prev.tolist()  # f is open: the error comes through as it is
    [[7.0]]
    """
    dh, dc, x, h_prev, c_prev, U, W, b = as_floats(dh, dc, x, h_prev, c_prev, U, W, b)
    _, C, gates = lstm_states(x[None], h_prev, c_prev, U, W, b)
    i, f, g, o = gates[:, 0]
    squashed = np.tanh(C[0])
    dc = dc + dh * o * (1 - squashed * squashed)
    da = np.concatenate(
        [dc * g * i * (1 - i), dc * c_prev * f * (1 - f), dc * i * (1 - g * g), dh * squashed * o * (1 - o)], axis=1
    )
    return da @ U.T, da @ W.T, dc * f, x.T @ da, h_prev.T @ da, da.sum(axis=0)


def lstm_backward(
    dH: Real[np.ndarray, "T N H"] | Sequence,
    X: Real[np.ndarray, "T N D"] | Sequence,
    h0: Real[np.ndarray, "N H"] | Sequence,
    c0: Real[np.ndarray, "N H"] | Sequence,
    states: Sequence[Real[np.ndarray, "... T N H"] | Sequence],
    U: Real[np.ndarray, "D G"] | Sequence,
    W: Real[np.ndarray, "H G"] | Sequence,
    dc_n: Real[np.ndarray, "N H"] | Sequence | None = None,
) -> tuple[
    Float[np.ndarray, "T N D"],
    Float[np.ndarray, "N H"],
    Float[np.ndarray, "N H"],
    Float[np.ndarray, "D G"],
    Float[np.ndarray, "H G"],
    Float[np.ndarray, "G"],
]:
    """Go back through `lstm_states`, whose result is `states`: from dH to (dX, dh0, dc0, dU, dW, db).

    Entry t of `dH` is the error that reaches h_t from its own output, and `dc_n` the error of the last c, zero if left
    out; what reaches them from later steps is added here.

    >>> X, h0, c0, U, W, b = np.ones((3, 1, 1)), [[0.0]], [[0.0]], [[0.0] * 4], [[0.0] * 4], [-50.0, 50.0, 0.0, 50.0]
    >>> states = lstm_states(X, h0, c0, U, W, b)
    >>> _, _, dc0, *_ = lstm_backward(np.zeros((3, 1, 1)), X, h0, c0, states, U, W, dc_n=[[7.0]])
    >>> dc0.tolist()  # f is open: three steps do not change the error
    [[7.0]]
    """
    dH, X, h0, c0, H, C, gates, U, W, dc_n = as_floats(dH, X, h0, c0, *states, U, W, 0 if dc_n is None else dc_n)
    W_T = by_gate(W, 4).swapaxes(1, 2).copy()
    errors = np.empty_like(gates)
    dh, dc = np.zeros_like(h0), np.zeros_like(c0)
    dc += dc_n
    parts = np.empty((4, *h0.shape), dtype=H.dtype)
    for block, before in _blocks(C, c0, gates.size):
        i, f, g, o = gates[:, block]
        squashed = np.tanh(C[block])
        factors = _slopes(gates[:, block], tanh=2, out=errors[:, block])
        for factor, known in zip(factors, (g, before, i, squashed)):
            factor *= known
        squashed *= squashed
        through_h = np.subtract(1, squashed, out=squashed)
        through_h *= o
        for error, da, to_c, f_t in zip(dH[block][::-1], factors.swapaxes(0, 1)[::-1], through_h[::-1], f[::-1]):
            dh += error
            to_c *= dh
            dc += to_c
            da[:3] *= dc
            da[3] *= dh
            dc *= f_t
            np.matmul(da, W_T, out=parts)
            np.add.reduce(parts, axis=0, out=dh)
    dX, dU = _input_gradients(X, U, errors)
    dW = side_by_side(_recurrent_gradient(h0, H, errors))
    return dX, dh, dc, dU, dW, errors.sum(axis=(1, 2)).ravel()


def gru_backward(
    dH: Real[np.ndarray, "T N H"] | Sequence,
    X: Real[np.ndarray, "T N D"] | Sequence,
    h0: Real[np.ndarray, "N H"] | Sequence,
    states: Sequence[Real[np.ndarray, "... T N H"] | Sequence],
    U: Real[np.ndarray, "D G"] | Sequence,
    W: Real[np.ndarray, "H G"] | Sequence,
) -> tuple[
    Float[np.ndarray, "T N D"],
    Float[np.ndarray, "N H"],
    Float[np.ndarray, "D G"],
    Float[np.ndarray, "H G"],
    Float[np.ndarray, "G"],
    Float[np.ndarray, "G"],
]:
    """Go back through `gru_states`, whose result is `states`: from dH to (dX, dh0, dU, dW, db_i, db_h).

    Entry t of `dH` is the error that reaches h_t from its own output; what reaches it from step t+1 is added here.

    >>> from rnncourse.gates import gru_states
    >>> X, h0, U, W, b_i, b_h = np.ones((3, 1, 1)), [[0.0]], [[0.0] * 3], [[0.0] * 3], [0.0, 50.0, 0.0], [0.0] * 3
    >>> states = gru_states(X, h0, U, W, b_i, b_h)
    >>> _, dh0, *_ = gru_backward(np.ones((3, 1, 1)), X, h0, states, U, W)
    >>> dh0.tolist()  # z is 1: the errors of all three steps come through as they are
    [[3.0]]
    """
    dH, X, h0, H, gates, resettable, U, W = as_floats(dH, X, h0, *states, U, W)
    # The errors of q, r, z and n: the first three are W's, the last three U's, and none is copied.
    W_T = by_gate(W, 3)[[2, 0, 1]].swapaxes(1, 2).copy()
    errors = np.empty((4, *H.shape), dtype=H.dtype)
    dh, kept = np.zeros_like(h0), np.empty_like(h0)
    parts = np.empty((3, *h0.shape), dtype=H.dtype)
    for block, before in _blocks(H, h0, gates.size):
        r, z, n = gates[:, block]
        to_q, to_r, to_z, to_n = errors[:, block]
        _slopes(gates[:, block], tanh=2, out=errors[1:, block])
        to_n *= 1 - z
        np.multiply(to_n, r, out=to_q)
        to_r *= to_n
        to_r *= resettable[block]
        to_z *= before - n
        for error, da, z_t in zip(dH[block][::-1], errors[:, block].swapaxes(0, 1)[::-1], z[::-1]):
            dh += error
            da *= dh
            np.multiply(dh, z_t, out=kept)
            np.matmul(da[:3], W_T, out=parts)
            np.add.reduce(parts, axis=0, out=dh)
            dh += kept
    sums = errors.sum(axis=(1, 2))
    dX, dU = _input_gradients(X, U, errors[1:])
    dW = _recurrent_gradient(h0, H, errors[:3])
    return dX, dh, dU, side_by_side(dW[[1, 2, 0]]), sums[1:].ravel(), sums[[1, 2, 0]].ravel()


def _input_gradients(X: np.ndarray, U: np.ndarray, errors: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Compute dX and dU from the errors of all gates, one product for all steps."""
    inputs = X.reshape(-1, X.shape[-1])
    flat = errors.reshape(len(errors), len(inputs), -1)
    U_T = by_gate(U, len(errors)).swapaxes(1, 2)
    dX = flat[0] @ U_T[0]
    for of_gate, U_of_gate in zip(flat[1:], U_T[1:]):
        dX += of_gate @ U_of_gate
    return dX.reshape(X.shape), side_by_side(inputs.T @ flat)


def _recurrent_gradient(h0: np.ndarray, H: np.ndarray, errors: np.ndarray) -> np.ndarray:
    """Compute dW, the sum of h_{t-1}^T da_t over all steps, for each gate by itself: (K, H, H)."""
    before = np.concatenate([h0[None], H[:-1]]).reshape(-1, H.shape[-1])
    return before.T @ errors.reshape(len(errors), *before.shape)


def _blocks(S: np.ndarray, s0: np.ndarray, entries: int) -> Iterator[tuple[slice, np.ndarray]]:
    """Cut the steps into blocks, the last one first; give each with the states before its steps, those of S but s0."""
    steps = len(S)
    length = max(1, BLOCK * steps // entries)
    for stop in range(steps, 0, -length):
        start = max(0, stop - length)
        yield slice(start, stop), S[start - 1 : stop - 1] if start else np.concatenate([s0[None], S[: stop - 1]])


def _slopes(gates: np.ndarray, tanh: int, out: np.ndarray) -> np.ndarray:
    """Compute y - y^2, the slope of a sigmoid whose result is y, but 1 - y^2, that of a tanh, for the gate `tanh`."""
    np.multiply(gates, gates, out=out)
    for k, slope in enumerate(out):
        np.subtract(1 if k == tanh else gates[k], slope, out=slope)
    return out
