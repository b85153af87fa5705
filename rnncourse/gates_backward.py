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
from rnncourse.gates import by_gate, gru_states, lstm_states

# Time is walked in chunks, and a chunk in blocks, of so many entries of the gates. What belongs to a block is touched
# several times and should stay in the cache. The errors of a chunk go into the weights' gradients by one product, and
# their memory is used again for the next one: new memory for the errors of all steps costs the way back
# between a twentieth and a fifth more at (T, N, D, H) = (60, 128, 256, 512) (one core, float32).
BLOCK = 1 << 17
CHUNK = 1 << 22


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
    W_T = by_gate(W, 4).swapaxes(1, 2).copy()  # laid out once, and not in each of the T products
    parts = np.empty((4, *h0.shape), dtype=X.dtype)  # room for what these products give
    dX = np.empty(X.shape, X.dtype)
    dU, dW, db = (np.zeros(shape, X.dtype) for shape in (U.shape, W.shape, W.shape[1]))
    dh, dc = np.zeros(h0.shape, X.dtype), np.zeros(c0.shape, X.dtype)
    dc += dc_n
    errors, factors = _room(gates)
    for chunk in _spans(0, len(X), len(errors)):
        for block in _spans(chunk.start, chunk.stop, factors.shape[1]):
            # For all steps of the block at once what does not need the errors, then step by step what does.
            known, through_h = _lstm_factors(C, c0, gates, block, out=factors)
            for error, factor, to_c, f_t in _backwards(dH[block], known.swapaxes(0, 1), through_h, gates[1, block]):
                dh += error  # h_t's own error; what step t+1 hands back is in dh already
                to_c *= dh
                dc += to_c  # the same for c_t, and its way through h_t
                factor[:3] *= dc  # the factors of a_i, a_f and a_g become their errors,
                factor[3] *= dh  # and that of a_o, which c_t does not see
                dc *= f_t  # c_{t-1}'s error
                _through_W(factor, W_T, parts, out=dh)  # and h_{t-1}'s
            errors[block.start - chunk.start : block.stop - chunk.start] = known.transpose(1, 2, 0, 3)
        # The errors of a whole chunk go into X and the weights by one product each: many rows make it fast.
        da = _rows(errors[: chunk.stop - chunk.start], W.shape[1])
        np.matmul(da, U.T, out=_rows(dX[chunk]))
        dU += _rows(X[chunk]).T @ da
        dW += _rows(_before(H, h0, chunk)).T @ da
        db += da.sum(axis=0)
    return dX, dh, dc, dU, dW, db


def _lstm_factors(
    C: np.ndarray, c0: np.ndarray, gates: np.ndarray, block: slice, out: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Compute what the errors of a block are multiplied with, all of its steps at once.

    That is, for a_i, a_f, a_g and a_o, the gate's slope times what the gate is multiplied with, (4, steps, N, H), at
    the head of each array in `out`; and, for the way of an error from h_t to c_t, o_t (1 - tanh(c_t)^2).
    """
    i, _, g, o = gates[:, block]
    squashed = np.tanh(C[block])
    known = _slopes(gates[:, block], tanh=2, out=out[:, : len(squashed)])
    for factor, other in zip(known, (g, _before(C, c0, block), i, squashed)):
        factor *= other
    # In the memory of tanh(c_t), which nothing needs any more, and a block's memory is in the cache.
    through_h = np.multiply(squashed, squashed, out=squashed)
    np.subtract(1, through_h, out=through_h)
    through_h *= o
    return known, through_h


def gru_step_backward(
    dh: Real[np.ndarray, "N H"] | Sequence,
    x: Real[np.ndarray, "N D"] | Sequence,
    h_prev: Real[np.ndarray, "N H"] | Sequence,
    U: Real[np.ndarray, "D G"] | Sequence,
    W: Real[np.ndarray, "H G"] | Sequence,
    b_i: Real[np.ndarray, "G"] | Sequence,
    b_h: Real[np.ndarray, "G"] | Sequence,
) -> tuple[
    Float[np.ndarray, "N D"],
    Float[np.ndarray, "N H"],
    Float[np.ndarray, "D G"],
    Float[np.ndarray, "H G"],
    Float[np.ndarray, "G"],
    Float[np.ndarray, "G"],
]:
    """Go back through one step of the GRU: from the error of its h to (dx, dh_prev, dU, dW, db_i, db_h).

    >>> x, h, U, W, b_i, b_h = [[1.0]], [[3.0]], [[0.0] * 3], [[0.0] * 3], [0.0, 50.0, 0.0], [0.0] * 3
    >>> _, dh_prev, *_ = gru_step_backward([[7.0]], x, h, U, W, b_i, b_h)
    >>> dh_prev.tolist()  # z is 1: the error comes through as it is
    [[7.0]]
    """
    dh, x, h_prev, U, W, b_i, b_h = as_floats(dh, x, h_prev, U, W, b_i, b_h)
    _, gates, resettable = gru_states(x[None], h_prev, U, W, b_i, b_h)
    r, z, n = gates[:, 0]
    q = resettable[0]
    da_n = dh * (1 - z) * (1 - n * n)
    da_r, da_z = da_n * q * r * (1 - r), dh * (h_prev - n) * z * (1 - z)
    to_U = np.concatenate([da_r, da_z, da_n], axis=1)
    to_W = np.concatenate([da_r, da_z, da_n * r], axis=1)
    dh_prev = dh * z + to_W @ W.T
    return to_U @ U.T, dh_prev, x.T @ to_U, h_prev.T @ to_W, to_U.sum(axis=0), to_W.sum(axis=0)


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
    # The errors of q, r, z and n stand side by side: the first three are W's, the last three U's, and none is copied.
    hidden = h0.shape[1]
    W_T = by_gate(np.roll(W, hidden, axis=1), 3).swapaxes(1, 2).copy()
    parts = np.empty((3, *h0.shape), dtype=X.dtype)
    dX = np.empty(X.shape, X.dtype)
    dU, dW, sums = (np.zeros(shape, X.dtype) for shape in (U.shape, W.shape, 4 * hidden))
    dh, kept = np.zeros(h0.shape, X.dtype), np.empty(h0.shape, X.dtype)
    errors, factors = _room(gates)
    for chunk in _spans(0, len(X), len(errors)):
        for block in _spans(chunk.start, chunk.stop, factors.shape[1]):
            r, z, n = gates[:, block]
            known = to_q, to_r, to_z, to_n = factors[:, : len(r)]
            _slopes(gates[:, block], tanh=2, out=known[1:])
            to_n *= 1 - z
            np.multiply(to_n, r, out=to_q)
            to_r *= to_n
            to_r *= resettable[block]
            to_z *= _before(H, h0, block) - n
            for error, factor, z_t in _backwards(dH[block], known.swapaxes(0, 1), z):
                dh += error
                factor *= dh
                np.multiply(dh, z_t, out=kept)
                _through_W(factor[:3], W_T, parts, out=dh)
                dh += kept
            errors[block.start - chunk.start : block.stop - chunk.start] = known.transpose(1, 2, 0, 3)
        da = _rows(errors[: chunk.stop - chunk.start], 4 * hidden)
        to_W, to_U = da[:, : 3 * hidden], da[:, hidden:]
        np.matmul(to_U, U.T, out=_rows(dX[chunk]))
        dU += _rows(X[chunk]).T @ to_U
        dW += _rows(_before(H, h0, chunk)).T @ to_W
        sums += da.sum(axis=0)
    return dX, dh, dU, np.roll(dW, -hidden, axis=1), sums[hidden:], np.roll(sums[: 3 * hidden], -hidden)


def _through_W(errors: np.ndarray, W_T: np.ndarray, parts: np.ndarray, out: np.ndarray) -> None:
    """Add up what each gate's error (K, N, H) hands back through its own columns of W.

    One product of (N, K H) would do. But OpenBLAS takes small ones as they lie in memory, and on a single thread, which
    waits for no other: at (N, H) = (32, 128) that saves a fifth of the product's time (one core, float32).
    """
    np.matmul(errors, W_T, out=parts)
    np.add.reduce(parts, axis=0, out=out)


def _room(gates: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Make room for the errors of a chunk, side by side (steps, N, 4, H), and for those of a block, (4, steps, N, H).

    The walk's products with each gate are fastest on the one, the product with all of them at the end on the other.
    """
    _, steps, rows, hidden = gates.shape
    chunk, block = (min(steps, max(1, entries * steps // gates.size)) for entries in (CHUNK, BLOCK))
    return np.empty((chunk, rows, 4, hidden), gates.dtype), np.empty((4, block, rows, hidden), gates.dtype)


def _spans(start: int, stop: int, length: int) -> Iterator[slice]:
    """Cut the steps from `start` to `stop` into spans of a length, the last one first; the first may be shorter."""
    for end in range(stop, start, -length):
        yield slice(max(start, end - length), end)


def _before(S: np.ndarray, s0: np.ndarray, span: slice) -> np.ndarray:
    """Return the states before the steps of a span: those of S one step earlier, and s0 before the first."""
    return S[span.start - 1 : span.stop - 1] if span.start else np.concatenate([s0[None], S[: span.stop - 1]])


def _backwards(*arrays: np.ndarray) -> Iterator[tuple[np.ndarray, ...]]:
    """Walk through several arrays at once, from the last step to the first."""
    return zip(*(array[::-1] for array in arrays))


def _rows(steps: np.ndarray, columns: int | None = None) -> np.ndarray:
    """Put the rows of all steps below each other."""
    return steps.reshape(-1, steps.shape[-1] if columns is None else columns)


def _slopes(gates: np.ndarray, tanh: int, out: np.ndarray) -> np.ndarray:
    """Compute y - y^2, the slope of a sigmoid whose result is y, but 1 - y^2, that of a tanh, for the gate `tanh`."""
    np.multiply(gates, gates, out=out)
    for k, slope in enumerate(out):
        np.subtract(1 if k == tanh else gates[k], slope, out=slope)
    return out
