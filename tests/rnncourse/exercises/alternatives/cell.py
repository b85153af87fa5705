"""Right answers to unit 03 as students write them, each in another style. All must get full marks."""

import itertools
import math
from collections import OrderedDict

import numpy as np

from tests.rnncourse.exercises.alternatives import collector

ALTERNATIVES, answers = collector()


def affine(x, A, b):
    return x @ A + b


# --- hidden_layer


@answers("hidden_layer")
def layer_with_dot(x, W_xh, b_h):
    return np.tanh(np.add(np.dot(x, W_xh), b_h))


@answers("hidden_layer")
def layer_row_by_row(x, W_xh, b_h):
    return [np.tanh(row @ W_xh + b_h) for row in x]


@answers("hidden_layer")
def in_columns(x, W_xh, b_h):
    return np.tanh(W_xh.T @ x.T + b_h[:, None]).T


# --- rnn_step


@answers("rnn_step")
def with_dot_and_out(x, h_prev, U, W, b):
    total = np.dot(x, U)
    total += np.dot(h_prev, W)
    total += b
    return np.tanh(total, out=total)


@answers("rnn_step")
def step_with_einsum(x, h_prev, U, W, b):
    return np.tanh(np.einsum("nd,dh->nh", x, U) + np.einsum("nk,kh->nh", h_prev, W) + b)


@answers("rnn_step")
def in_plain_python(x, h_prev, U, W, b):
    def unit(n, k):
        total = b[k]
        for d in range(len(U)):
            total = total + x[n][d] * U[d][k]
        for j in range(len(W)):
            total = total + h_prev[n][j] * W[j][k]
        return math.tanh(total)

    return np.array([[unit(n, k) for k in range(len(b))] for n in range(len(x))], dtype=x.dtype)


# --- rnn_step_concat


@answers("rnn_step_concat")
def split_again(x, h_prev, UW, b):
    U, W = np.split(UW, [x.shape[1]])
    return np.tanh(x @ U + h_prev @ W + b)


@answers("rnn_step_concat")
def with_the_earlier_step(x, h_prev, UW, b):
    D = x.shape[-1]
    return rnn_step(x, h_prev, UW[:D], UW[D:], b)


@answers("rnn_step_concat")
def bias_as_one_more_row(x, h_prev, UW, b):
    ones = np.ones((len(x), 1), dtype=x.dtype)
    return np.tanh(np.c_[x, h_prev, ones] @ np.r_[UW, b[None]])


# --- rnn_forward


@answers("rnn_forward")
def in_a_list(X, h0, U, W, b):
    states = [h0]
    for x in X:
        states.append(rnn_step(x, states[-1], U, W, b))
    return states[1:]


@answers("rnn_forward")
def recursively(X, h0, U, W, b):
    h = np.tanh(X[0] @ U + h0 @ W + b)
    if len(X) == 1:
        return h[None]
    return np.concatenate([h[None], recursively(X[1:], h, U, W, b)])


@answers("rnn_forward")
def with_accumulate(X, h0, U, W, b):
    def step(h, projected):
        return np.tanh(projected + h @ W)

    return np.array(list(itertools.accumulate(X @ U + b, step, initial=h0))[1:])


@answers("rnn_forward")
def one_sequence_after_another(X, h0, U, W, b):
    def run(xs, h):
        for x in xs:
            h = np.tanh(x @ U + h @ W + b)
            yield h

    return np.stack([list(run(X[:, n], h0[n])) for n in range(X.shape[1])]).transpose(1, 0, 2)


# --- output_layer


@answers("output_layer")
def output_with_einsum(H, V, c):
    return np.einsum("...h,hq->...q", H, V) + c


@answers("output_layer")
def flattened(H, V, c):
    return (H.reshape(-1, len(V)) @ V + c).reshape((*H.shape[:-1], len(c)))


@answers("output_layer")
def step_by_step(H, V, c):
    return affine(H, V, c) if H.ndim == 2 else [affine(h, V, c) for h in H]


# --- softmax


@answers("softmax")
def by_logarithms(O):
    top = np.max(O, axis=-1, keepdims=True)
    return np.exp(O - (top + np.log(np.sum(np.exp(O - top), axis=-1, keepdims=True))))


@answers("softmax")
def softmax_row_by_row(O):
    if O.ndim > 1:
        return np.stack([softmax_row_by_row(row) for row in O])
    E = np.exp(O - max(O))
    return E / sum(E)


@answers("softmax")
def by_differences(O):
    """1 / sum_j exp(o_j - o_i): an overflow to inf gives the right zero."""
    with np.errstate(invalid="ignore"):
        difference = O[..., None, :] - O[..., :, None]
    return np.where(np.isneginf(O), np.zeros_like(O), 1 / np.exp(difference).sum(axis=-1)).astype(
        np.result_type(O, 1.0)
    )


# --- rnn_predict


@answers("rnn_predict")
def from_the_parts(X, h0, U, W, b, V, c):
    H = rnn_forward(X, h0, U, W, b)
    O = output_layer(H, V, c)
    return softmax(O), H


@answers("rnn_predict")
def in_one_loop(X, h0, U, W, b, V, c):
    h, Y, H = h0, [], []
    for x in X:
        h = rnn_step(x, h, U, W, b)
        H.append(h)
        Y.append(softmax(output_layer(h, V, c)))
    return Y, H


@answers("rnn_predict")
def from_nothing(X, h0, U, W, b, V, c):
    H = []
    for x in X:
        H.append(np.tanh(x @ U + (H[-1] if H else h0) @ W + b))
    O = np.stack(H) @ V + c
    E = np.exp(O - O.max(axis=2, keepdims=True))
    return [E / E.sum(axis=2, keepdims=True), np.stack(H)]


# --- rnn_parameter_count


@answers("rnn_parameter_count")
def layer_by_layer(D, H, Q):
    cell = (D + H + 1) * H
    return cell + (H + 1) * Q


@answers("rnn_parameter_count")
def by_building_it(D, H, Q):
    shapes = [(D, H), (H, H), (H,), (H, Q), (Q,)]
    return sum(math.prod(shape) for shape in shapes)


@answers("rnn_parameter_count")
def of_arrays(D, H, Q):
    U, W, b, V, c = np.empty((D, H)), np.empty((H, H)), np.empty(H), np.empty((H, Q)), np.empty(Q)
    return np.sum([a.size for a in (U, W, b, V, c)])


# --- to_torch_state


@answers("to_torch_state")
def bias_in_the_second(U, W, b):
    return OrderedDict(
        bias_hh_l0=+b,
        bias_ih_l0=0 * b,
        weight_hh_l0=np.swapaxes(W, 0, 1).copy(),
        weight_ih_l0=np.swapaxes(U, 0, 1).copy(),
    )


@answers("to_torch_state")
def in_a_loop(U, W, b):
    state = {f"weight_{way}_l0": np.transpose(A).copy() for way, A in (("ih", U), ("hh", W))}
    state.update(bias_ih_l0=b + 3, bias_hh_l0=np.full_like(b, -3))
    return state


@answers("to_torch_state")
def entry_by_entry(U, W, b):
    def turned(A):
        out = np.empty(A.shape[::-1], dtype=A.dtype)
        for i, j in np.ndindex(A.shape):
            out[j, i] = A[i, j]
        return out

    state = dict(zip(("weight_ih_l0", "weight_hh_l0"), map(turned, (U, W)), strict=True))
    return state | {"bias_ih_l0": b.copy(), "bias_hh_l0": np.zeros(b.shape, b.dtype)}


# --- Network


@answers("Network")
class Repaired:
    def __init__(self, U, W, b, V, c):
        self.U, self.W, self.b, self.V, self.c = U, W, b, V, c

    def forward(self, X):
        h = np.zeros((X.shape[1], len(self.W)), dtype=X.dtype)
        states = []
        for x in X:
            h = rnn_step(x, h, self.U, self.W, self.b)
            states.append(h)
        return np.stack(states) @ self.V + self.c


@answers("Network")
class FromTheParts:
    def __init__(self, U, W, b, V, c):
        self.cell, self.output = (U, W, b), (V, c)

    def forward(self, X):
        h0 = np.zeros((X.shape[1], self.cell[0].shape[1]), X.dtype)
        return output_layer(rnn_forward(X, h0, *self.cell), *self.output)


@answers("Network")
class StateInTheObjectButReset:
    def __init__(self, U, W, b, V, c):
        self.U, self.W, self.b, self.V, self.c = map(np.copy, (U, W, b, V, c))

    def reset(self, rows):
        self.h = np.zeros((rows, self.b.size), dtype=self.b.dtype)

    def forward(self, X):
        self.reset(X.shape[1])
        logits = []
        for x in X:
            self.h = np.tanh(x @ self.U + self.h @ self.W + self.b)
            logits.append(self.h @ self.V + self.c)
        return logits
