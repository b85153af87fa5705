"""Right answers to unit 03 as students write them, each in another style. All must get full marks."""

import numpy as np

from tests.rnncourse.exercises.alternatives import collector

ALTERNATIVES, answers = collector()


@answers("rnn_step")
def with_dot_and_out(x, h_prev, U, W, b):
    total = np.dot(x, U)
    total += np.dot(h_prev, W)
    total += b
    return np.tanh(total, out=total)


@answers("rnn_step")
def with_einsum(x, h_prev, U, W, b):
    return np.tanh(np.einsum("nd,dh->nh", x, U) + np.einsum("nk,kh->nh", h_prev, W) + b)


@answers("rnn_step")
def row_by_row(x, h_prev, U, W, b):
    return [np.tanh(x_n @ U + h_n @ W + b) for x_n, h_n in zip(x, h_prev, strict=True)]
