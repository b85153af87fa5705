r"""Unit 03. The recurrent cell, forwards.

A layer without a state sees one input; a recurrent layer sees it together with its own last state:

    h_t = tanh(x_t U + h_{t-1} W + b)        o_t = h_t V + c        y_t = softmax(o_t)

Batches are rows and time is the first axis: X (T, N, D), states H (T, N, H), h0 (N, H), logits O (T, N, Q), with
U (D, H), W (H, H), b (H,), V (H, Q), c (Q,). The five parameters are the same at every step, so that their number,
D H + H H + H + H Q + Q, does not depend on T.

`torch.nn.RNN` computes the same with its weights transposed, `weight_ih_l0 (H, D)` and `weight_hh_l0 (H, H)`, and with
two biases, of which only the sum counts.

Sources: J. L. Elman, "Finding Structure in Time", Cognitive Science 14, 1990; I. Goodfellow, Y. Bengio, A. Courville,
"Deep Learning", MIT Press 2016, section 10.2.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, SupportsIndex

import numpy as np
from jaxtyping import Float, Real

from rnncourse.unfolding import first_float_dtype


def as_floats(*arguments: Any) -> list[np.ndarray]:
    """Turn all arguments into arrays of one dtype, that of the first float array among them, else float64.

    An argument that is such an array already is not copied.

    >>> [array.dtype.name for array in as_floats([1, 2], np.ones(3, dtype=np.float32), np.ones(3))]
    ['float32', 'float32', 'float32']
    """
    found = first_float_dtype(*arguments)
    dtype = np.dtype(np.float64) if found is None else found
    return [np.asarray(argument, dtype=dtype) for argument in arguments]


def hidden_layer(
    x: Real[np.ndarray, "N D"] | Sequence,
    W_xh: Real[np.ndarray, "D H"] | Sequence,
    b_h: Real[np.ndarray, "H"] | Sequence,
) -> Float[np.ndarray, "N H"]:
    """Compute tanh(x W_xh + b_h), a layer without a state: equal rows of x give equal rows, whatever came before.

    >>> hidden_layer([[1.0, 0.0]], [[0.0, 1.0], [2.0, 3.0]], [0.0, -1.0])
    array([[0., 0.]])
    """
    x, W_xh, b_h = as_floats(x, W_xh, b_h)
    return np.tanh(x @ W_xh + b_h)


def rnn_step(
    x: Real[np.ndarray, "N D"] | Sequence,
    h_prev: Real[np.ndarray, "N H"] | Sequence,
    U: Real[np.ndarray, "D H"] | Sequence,
    W: Real[np.ndarray, "H H"] | Sequence,
    b: Real[np.ndarray, "H"] | Sequence,
) -> Float[np.ndarray, "N H"]:
    """Compute one step of the cell, h = tanh(x U + h_prev W + b).

    >>> rnn_step(x=[[1.0]], h_prev=[[2.0]], U=[[3.0]], W=[[-1.0]], b=[-1.0])
    array([[0.]])
    """
    x, h_prev, U, W, b = as_floats(x, h_prev, U, W, b)
    return np.tanh(x @ U + h_prev @ W + b)


def rnn_step_concat(
    x: Real[np.ndarray, "N D"] | Sequence,
    h_prev: Real[np.ndarray, "N H"] | Sequence,
    UW: Real[np.ndarray, "D+H H"] | Sequence,
    b: Real[np.ndarray, "H"] | Sequence,
) -> Float[np.ndarray, "N H"]:
    """Compute the same step with one product: [x, h_prev] times U stacked upon W.

    >>> rnn_step_concat(x=[[1.0]], h_prev=[[2.0]], UW=[[3.0], [-1.0]], b=[-1.0])
    array([[0.]])
    """
    x, h_prev, UW, b = as_floats(x, h_prev, UW, b)
    return np.tanh(np.concatenate([x, h_prev], axis=1) @ UW + b)


def rnn_forward(
    X: Real[np.ndarray, "T N D"] | Sequence,
    h0: Real[np.ndarray, "N H"] | Sequence,
    U: Real[np.ndarray, "D H"] | Sequence,
    W: Real[np.ndarray, "H H"] | Sequence,
    b: Real[np.ndarray, "H"] | Sequence,
) -> Float[np.ndarray, "T N H"]:
    """Run the cell over a sequence and return the states h_1 to h_T; h0 is not among them.

    >>> rnn_forward(X=[[[1.0]], [[0.0]]], h0=[[0.0]], U=[[0.5]], W=[[2.0]], b=[0.0]).round(3).tolist()
    [[[0.462]], [[0.728]]]
    """
    X, h0, U, W, b = as_floats(X, h0, U, W, b)
    steps, rows, inputs = X.shape
    # One product for the inputs of all steps in place of one a step saves a third of the time at (T, N, D, H) =
    # (25, 1, 64, 100), a seventh at (200, 128, 256, 512) (two cores, float32).
    H = (X.reshape(steps * rows, inputs) @ U).reshape(steps, rows, -1)
    H += b
    recurrent = np.empty_like(H[0])
    h = h0
    for state in H:  # holds x_t U + b, until it is overwritten with h_t
        np.matmul(h, W, out=recurrent)
        state += recurrent
        h = np.tanh(state, out=state)
    return H


def output_layer(
    H: Real[np.ndarray, "*steps N H"] | Sequence,
    V: Real[np.ndarray, "H Q"] | Sequence,
    c: Real[np.ndarray, "Q"] | Sequence,
) -> Float[np.ndarray, "*steps N Q"]:
    """Compute the logits o = h V + c, for the states of one step, (N, H), or of all, (T, N, H).

    >>> output_layer([[1.0, 2.0]], V=[[1.0, 0.0, 1.0], [0.0, 1.0, 1.0]], c=[0.0, 0.0, 10.0])
    array([[ 1.,  2., 13.]])
    """
    H, V, c = as_floats(H, V, c)
    logits = H.reshape(-1, H.shape[-1]) @ V
    logits += c
    return logits.reshape(*H.shape[:-1], -1)


def softmax(O: Real[np.ndarray, "*axes Q"] | Sequence) -> Float[np.ndarray, "*axes Q"]:
    """Turn logits into probabilities along the last axis, exp(o_i) / sum over j of exp(o_j).

    The largest logit is subtracted first, which changes no quotient and lets nothing overflow. A logit of -inf gives
    probability 0; each row needs one that is finite.

    >>> softmax([[1000.0, 1000.0, -np.inf]])
    array([[0.5, 0.5, 0. ]])
    """
    (O,) = as_floats(O)
    Y = np.exp(O - O.max(axis=-1, keepdims=True))
    Y /= Y.sum(axis=-1, keepdims=True)
    return Y


def rnn_predict(
    X: Real[np.ndarray, "T N D"] | Sequence,
    h0: Real[np.ndarray, "N H"] | Sequence,
    U: Real[np.ndarray, "D H"] | Sequence,
    W: Real[np.ndarray, "H H"] | Sequence,
    b: Real[np.ndarray, "H"] | Sequence,
    V: Real[np.ndarray, "H Q"] | Sequence,
    c: Real[np.ndarray, "Q"] | Sequence,
) -> tuple[Float[np.ndarray, "T N Q"], Float[np.ndarray, "T N H"]]:
    """Run the whole network over a sequence: the probabilities Y of every step, and all states H.

    >>> Y, H = rnn_predict(np.ones((4, 2, 3)), np.zeros((2, 5)), np.ones((3, 5)), np.eye(5), np.zeros(5),
    ...                    np.ones((5, 6)), np.zeros(6))
    >>> Y.shape, H.shape
    ((4, 2, 6), (4, 2, 5))
    """
    X, h0, U, W, b, V, c = as_floats(X, h0, U, W, b, V, c)
    H = rnn_forward(X, h0, U, W, b)
    return softmax(output_layer(H, V, c)), H


def rnn_parameter_count(D: SupportsIndex, H: SupportsIndex, Q: SupportsIndex) -> int:
    """Count the entries of U, W, b, V and c; the length of a sequence plays no part.

    >>> rnn_parameter_count(D=300, H=100, Q=10_000)
    1050100
    """
    inputs, hidden, outputs = int(D), int(H), int(Q)
    return inputs * hidden + hidden * hidden + hidden + hidden * outputs + outputs


def to_torch_state(
    U: Real[np.ndarray, "D H"] | Sequence,
    W: Real[np.ndarray, "H H"] | Sequence,
    b: Real[np.ndarray, "H"] | Sequence,
) -> dict[str, np.ndarray]:
    """Rename and transpose the parameters for `torch.nn.RNN(D, H).load_state_dict`, as NumPy arrays.

    PyTorch adds two biases; here b is the first and the second is zero.

    >>> {name: array.shape for name, array in to_torch_state(np.ones((2, 3)), np.eye(3), np.zeros(3)).items()}
    {'weight_ih_l0': (3, 2), 'weight_hh_l0': (3, 3), 'bias_ih_l0': (3,), 'bias_hh_l0': (3,)}
    """
    U, W, b = as_floats(U, W, b)
    return {
        "weight_ih_l0": U.T.copy(),
        "weight_hh_l0": W.T.copy(),
        "bias_ih_l0": b.copy(),
        "bias_hh_l0": np.zeros_like(b),
    }


class Network:
    """The network as an object that holds its parameters and nothing else: each call starts from a state of zeros.

    >>> network = Network(np.ones((3, 5)), np.eye(5), np.zeros(5), np.ones((5, 6)), np.zeros(6))
    >>> network.forward(np.ones((4, 2, 3))).shape
    (4, 2, 6)
    """

    def __init__(
        self,
        U: Real[np.ndarray, "D H"] | Sequence,
        W: Real[np.ndarray, "H H"] | Sequence,
        b: Real[np.ndarray, "H"] | Sequence,
        V: Real[np.ndarray, "H Q"] | Sequence,
        c: Real[np.ndarray, "Q"] | Sequence,
    ) -> None:
        self.U, self.W, self.b, self.V, self.c = (array.copy() for array in as_floats(U, W, b, V, c))

    def forward(self, X: Real[np.ndarray, "T N D"] | Sequence) -> Float[np.ndarray, "T N Q"]:
        """Return the logits of every step for X (T, N, D), in the dtype of X, or of U if X holds no floats."""
        X, _ = as_floats(X, self.U)
        h0 = np.zeros((X.shape[1], len(self.W)), dtype=X.dtype)
        return output_layer(rnn_forward(X, h0, self.U, self.W, self.b), self.V, self.c)
