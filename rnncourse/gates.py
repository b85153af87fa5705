r"""Unit 10. Gates: the LSTM and the GRU, forwards. The way back stands in `rnncourse.gates_backward`.

A gate is a layer whose outputs lie between 0, closed, and 1, open: Γ = σ(x U + h W + b). Multiplied with a vector it
lets each entry through, holds it back, or anything between. The LSTM has a second state c, changed by gates alone:

    i_t, f_t, o_t = σ(x_t U + h_{t-1} W + b)        g_t = tanh(x_t U + h_{t-1} W + b)
    c_t = f_t * c_{t-1} + i_t * g_t                 h_t = o_t * tanh(c_t)

each with columns of its own: those of i, f, g and o stand side by side in U (D, 4H), W (H, 4H) and b (4H,). Where f_t
is 1, an error goes from c_t to c_{t-1} as it is, however long the way. The GRU has one state; r_t says how much of it
the candidate n_t sees, z_t how much of it stays:

    r_t, z_t = σ(x_t U + b_i + h_{t-1} W + b_h)     n_t = tanh(x_t U + b_i + r_t * (h_{t-1} W + b_h))
    h_t = (1 - z_t) * n_t + z_t * h_{t-1}

with the columns of r, z and n in U (D, 3H), W (H, 3H), b_i and b_h (3H,). The reset stands after the product with W, so
the two biases of n are not one. Below, G is 4H for the LSTM and 3H for the GRU. `torch.nn.LSTM` and `torch.nn.GRU` have
the same order of columns, the weights transposed, and two biases each; of the LSTM's only the sum counts.

Sources: S. Hochreiter, J. Schmidhuber, "Long Short-Term Memory", Neural Computation 9, 1997; F. A. Gers,
J. Schmidhuber, F. Cummins, "Learning to Forget", Neural Computation 12, 2000; K. Cho et al., "Learning Phrase
Representations using RNN Encoder-Decoder for Statistical Machine Translation", EMNLP 2014.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float, Real

from rnncourse.cell import as_floats


def sigmoid(a: Real[np.ndarray, "*axes"] | Sequence) -> Float[np.ndarray, "*axes"]:
    """Compute 1 / (1 + exp(-a)) as tanh(a / 2) / 2 + 1/2, which is the same and overflows nowhere.

    >>> sigmoid([-1000.0, 0.0, 1000.0])
    array([0. , 0.5, 1. ])
    """
    (a,) = as_floats(a)
    result = np.tanh(a / 2)
    result /= 2
    result += 0.5
    return result


def gate(
    x: Real[np.ndarray, "N D"] | Sequence,
    h: Real[np.ndarray, "N H"] | Sequence,
    U: Real[np.ndarray, "D G"] | Sequence,
    W: Real[np.ndarray, "H G"] | Sequence,
    b: Real[np.ndarray, "G"] | Sequence,
) -> Float[np.ndarray, "N G"]:
    """Compute Γ = σ(x U + h W + b), from 0 to 1; G may be any number of outputs.

    >>> gate(x=[[1.0]], h=[[2.0]], U=[[3.0]], W=[[-1.0]], b=[-1.0])
    array([[0.5]])
    """
    x, h, U, W, b = as_floats(x, h, U, W, b)
    return sigmoid(x @ U + h @ W + b)


def lstm_step(
    x: Real[np.ndarray, "N D"] | Sequence,
    h: Real[np.ndarray, "N H"] | Sequence,
    c: Real[np.ndarray, "N H"] | Sequence,
    U: Real[np.ndarray, "D G"] | Sequence,
    W: Real[np.ndarray, "H G"] | Sequence,
    b: Real[np.ndarray, "G"] | Sequence,
) -> tuple[Float[np.ndarray, "N H"], Float[np.ndarray, "N H"]]:
    """Compute one step of the LSTM, from the states (h, c) to the next ones.

    >>> h, c = lstm_step([[1.0]], [[0.0]], [[3.0]], U=[[0.0, 0.0, 1.0, 0.0]], W=[[0.0] * 4], b=[-50.0, 50.0, 0.0, 50.0])
    >>> c.round(3).tolist(), h.round(3).tolist()  # i closed, f and o open: c stays, and is shown
    ([[3.0]], [[0.995]])
    """
    x, h, c, U, W, b = as_floats(x, h, c, U, W, b)
    i, f, g, o = np.split(x @ U + h @ W + b, 4, axis=1)
    c_next = sigmoid(f) * c + sigmoid(i) * np.tanh(g)
    return sigmoid(o) * np.tanh(c_next), c_next


def lstm_forward(
    X: Real[np.ndarray, "T N D"] | Sequence,
    h0: Real[np.ndarray, "N H"] | Sequence,
    c0: Real[np.ndarray, "N H"] | Sequence,
    U: Real[np.ndarray, "D G"] | Sequence,
    W: Real[np.ndarray, "H G"] | Sequence,
    b: Real[np.ndarray, "G"] | Sequence,
) -> tuple[Float[np.ndarray, "T N H"], tuple[Float[np.ndarray, "N H"], Float[np.ndarray, "N H"]]]:
    """Run the LSTM over a sequence: the states h_1 to h_T, and the last (h, c).

    >>> H, (h_n, c_n) = lstm_forward([[[1.0]], [[0.0]], [[1.0]]], [[0.0]], [[0.0]], *counter())
    >>> c_n.round(3).tolist(), H.round(3).ravel().tolist()
    ([[2.0]], [0.762, 0.762, 0.964])
    """
    H, C, _ = lstm_states(X, h0, c0, U, W, b)
    return H, (H[-1].copy(), C[-1].copy())


def lstm_states(
    X: Real[np.ndarray, "T N D"] | Sequence,
    h0: Real[np.ndarray, "N H"] | Sequence,
    c0: Real[np.ndarray, "N H"] | Sequence,
    U: Real[np.ndarray, "D G"] | Sequence,
    W: Real[np.ndarray, "H G"] | Sequence,
    b: Real[np.ndarray, "G"] | Sequence,
) -> tuple[Float[np.ndarray, "T N H"], Float[np.ndarray, "T N H"], Float[np.ndarray, "4 T N H"]]:
    """Run the LSTM and keep what its way back needs: h_1 to h_T, c_1 to c_T, and i, f, g, o of every step.

    >>> H, C, (i, f, g, o) = lstm_states(
    ...     np.ones((4, 2, 3)), np.zeros((2, 5)), np.zeros((2, 5)), np.ones((3, 20)), np.ones((5, 20)), np.zeros(20))
    >>> H.shape, C.shape, f.shape
    ((4, 2, 5), (4, 2, 5), (4, 2, 5))
    """
    X, h0, c0, U, W, b = as_floats(X, h0, c0, U, W, b)
    # All four go through one tanh in place: σ(a) = tanh(a / 2) / 2 + 1/2, with the first halving done in the weights.
    scale = np.array([0.5, 0.5, 1, 0.5], dtype=X.dtype).reshape(4, 1, 1)
    shift = 1 - scale
    gates = _project(X, by_gate(U, 4) * scale, by_gate(b, 4)[:, None] * scale)
    W = by_gate(W, 4) * scale
    H, C = np.empty((2, len(X), *h0.shape), dtype=X.dtype)
    recurrent = np.empty((4, *h0.shape), dtype=X.dtype)
    h, c = h0, c0
    for a, h_t, c_t in zip(gates.swapaxes(0, 1), H, C):
        np.matmul(h, W, out=recurrent)
        a += recurrent
        np.tanh(a, out=a)
        a *= scale
        a += shift
        i, f, g, o = a
        np.multiply(f, c, out=c_t)
        np.multiply(i, g, out=h_t)
        c_t += h_t
        np.tanh(c_t, out=h_t)
        h_t *= o
        h, c = h_t, c_t
    return H, C, gates


def gru_step(
    x: Real[np.ndarray, "N D"] | Sequence,
    h: Real[np.ndarray, "N H"] | Sequence,
    U: Real[np.ndarray, "D G"] | Sequence,
    W: Real[np.ndarray, "H G"] | Sequence,
    b_i: Real[np.ndarray, "G"] | Sequence,
    b_h: Real[np.ndarray, "G"] | Sequence,
) -> Float[np.ndarray, "N H"]:
    """Compute one step of the GRU; the reset gate acts after the product with W.

    >>> gru_step([[1.0]], [[3.0]], U=[[0.0] * 3], W=[[0.0] * 3], b_i=[0.0, 50.0, 0.0], b_h=[0.0] * 3)  # z is 1: h stays
    array([[3.]])
    """
    x, h, U, W, b_i, b_h = as_floats(x, h, U, W, b_i, b_h)
    r_x, z_x, n_x = np.split(x @ U + b_i, 3, axis=1)
    r_h, z_h, n_h = np.split(h @ W + b_h, 3, axis=1)
    z = sigmoid(z_x + z_h)
    n = np.tanh(n_x + sigmoid(r_x + r_h) * n_h)
    return (1 - z) * n + z * h


def gru_forward(
    X: Real[np.ndarray, "T N D"] | Sequence,
    h0: Real[np.ndarray, "N H"] | Sequence,
    U: Real[np.ndarray, "D G"] | Sequence,
    W: Real[np.ndarray, "H G"] | Sequence,
    b_i: Real[np.ndarray, "G"] | Sequence,
    b_h: Real[np.ndarray, "G"] | Sequence,
) -> Float[np.ndarray, "T N H"]:
    """Run the GRU over a sequence and return the states h_1 to h_T; h0 is not among them.

    >>> X = [[[1.0]], [[0.0]], [[0.0]]]
    >>> H = gru_forward(X, [[0.0]], U=[[0.0, -50.0, 50.0]], W=[[0.0] * 3], b_i=[0.0, 25.0, 0.0], b_h=[0.0] * 3)
    >>> H.round(3).ravel().tolist()  # z is 0 where x is 1, and 1 elsewhere: what was written once is kept
    [1.0, 1.0, 1.0]
    """
    return gru_states(X, h0, U, W, b_i, b_h)[0]


def gru_states(
    X: Real[np.ndarray, "T N D"] | Sequence,
    h0: Real[np.ndarray, "N H"] | Sequence,
    U: Real[np.ndarray, "D G"] | Sequence,
    W: Real[np.ndarray, "H G"] | Sequence,
    b_i: Real[np.ndarray, "G"] | Sequence,
    b_h: Real[np.ndarray, "G"] | Sequence,
) -> tuple[Float[np.ndarray, "T N H"], Float[np.ndarray, "3 T N H"], Float[np.ndarray, "T N H"]]:
    """Run the GRU and keep what its way back needs: h_1 to h_T; r, z, n of every step; and what r was multiplied with.

    >>> H, (r, z, n), resettable = gru_states(
    ...     np.ones((4, 2, 3)), np.zeros((2, 5)), np.ones((3, 15)), np.ones((5, 15)), np.zeros(15), np.zeros(15))
    >>> H.shape, r.shape, resettable.shape
    ((4, 2, 5), (4, 2, 5), (4, 2, 5))
    """
    X, h0, U, W, b_i, b_h = as_floats(X, h0, U, W, b_i, b_h)
    # As in `lstm_states`, r and z are halved in the weights. Their two biases are one; that of n waits for the reset.
    half = X.dtype.type(0.5)
    scale = np.array([0.5, 0.5, 1], dtype=X.dtype).reshape(3, 1, 1)
    b, (b_r, b_z, b_n) = by_gate(b_i, 3), by_gate(b_h, 3)
    b[:2] += b_r, b_z
    gates = _project(X, by_gate(U, 3) * scale, b[:, None] * scale)
    W = by_gate(W, 3) * scale
    H, resettable = np.empty((2, len(X), *h0.shape), dtype=X.dtype)
    recurrent = np.empty((3, *h0.shape), dtype=X.dtype)
    h = h0
    for a, h_t, q in zip(gates.swapaxes(0, 1), H, resettable):
        np.matmul(h, W, out=recurrent)
        r_and_z, n = a[:2], a[2]
        r_and_z += recurrent[:2]
        np.tanh(r_and_z, out=r_and_z)
        r_and_z *= half
        r_and_z += half
        r, z = r_and_z
        np.add(recurrent[2], b_n, out=q)
        np.multiply(r, q, out=h_t)
        n += h_t
        np.tanh(n, out=n)
        np.subtract(h, n, out=h_t)  # h_t = n + z (h_{t-1} - n)
        h_t *= z
        h_t += n
        h = h_t
    return H, gates, resettable


def by_gate(columns: Float[np.ndarray, "*rows G"], count: int) -> Float[np.ndarray, "K *rows H"]:
    """Lay out the columns of each gate by themselves, from (..., K H) to a new array (K, ..., H).

    There is one axis of rows, or none. With each gate in one piece of memory the whole pass of an LSTM takes three
    quarters of the time at (T, N, D, H) = (35, 32, 28, 128) (one core, float32).
    """
    return columns.reshape(*columns.shape[:-1], count, -1).swapaxes(0, -2).copy()


def _project(X: np.ndarray, U: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Compute x_t U + b for all gates and steps at once, (K, T, N, H), to be overwritten with the gates."""
    steps, rows, inputs = X.shape
    projected = np.matmul(X.reshape(steps * rows, inputs), U)
    projected += b
    return projected.reshape(len(U), steps, rows, -1)


# Machines by hand. A gate whose sum is 20 is open, σ(20) = 1 - 2e-9, and one with -20 closed. All have one unit, whose
# c is what is remembered, and an output gate that is open: h = tanh(c) is 0 for c = 0 and 0.76 for c = 1.
OPEN = 20.0
SWING = 2 * OPEN  # added or taken away, it turns a gate from one end to the other


def latch() -> tuple[Float[np.ndarray, "2 4"], Float[np.ndarray, "1 4"], Float[np.ndarray, "4"]]:
    """Set the LSTM's (U, W, b) so that c is 1 after a set and 0 after a reset; inputs (set, reset), never both.

    With neither, f is open, g is 0 and c stays; either one closes f, and g, tanh(20 set), is written in its place.

    >>> X = [[[0, 0]], [[1, 0]], [[1, 0]], [[0, 0]], [[0, 1]], [[0, 0]]]
    >>> H, _ = lstm_forward(X, [[0.0]], [[0.0]], *latch())
    >>> (H > 0.5).astype(int).ravel().tolist()
    [0, 1, 1, 1, 0, 0]
    """
    U = np.array([[0.0, -SWING, OPEN, 0.0], [0.0, -SWING, 0.0, 0.0]])
    return U, np.zeros((1, 4)), np.array([OPEN, OPEN, 0.0, OPEN])


def counter() -> tuple[Float[np.ndarray, "1 4"], Float[np.ndarray, "1 4"], Float[np.ndarray, "4"]]:
    """Set the LSTM's (U, W, b) so that c is the number of ones among the inputs so far, which are 0 or 1.

    i and f are always open, and g = tanh(20 x) is x: c_t = c_{t-1} + x_t.

    >>> _, (_, c_n) = lstm_forward([[[1]], [[0]], [[1]], [[1]]], [[0.0]], [[0.0]], *counter())
    >>> round(c_n.item(), 3)
    3.0
    """
    return np.array([[0.0, 0.0, OPEN, 0.0]]), np.zeros((1, 4)), np.array([OPEN, OPEN, 0.0, OPEN])


def parity() -> tuple[Float[np.ndarray, "1 4"], Float[np.ndarray, "1 4"], Float[np.ndarray, "4"]]:
    """Set the LSTM's (U, W, b) so that c is 1 if the number of ones so far is odd, and 0 if it is even.

    A one closes f, so that c is forgotten, and opens i, but not if h says that c was 1. g is always 1. As c enters
    through gates only, which are open or closed, no error is handed on.

    >>> H, _ = lstm_forward([[[1]], [[0]], [[1]], [[1]]], [[0.0]], [[0.0]], *parity())
    >>> (H > 0.5).astype(int).ravel().tolist()
    [1, 1, 0, 1]
    """
    U = np.array([[SWING, -SWING, 0.0, 0.0]])
    W = np.array([[-2 * SWING, 0.0, 0.0, 0.0]])  # times h = 0.76, more than the input's swing
    return U, W, np.array([-OPEN, OPEN, OPEN, OPEN])
