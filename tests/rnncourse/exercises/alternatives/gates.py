"""Right answers to unit 10 as students write them, each in another style. All must get full marks."""

import math

import numpy as np
import torch

from tests.rnncourse.exercises.alternatives import collector

ALTERNATIVES, answers = collector()


def sigmoid(a):
    return 1 / (1 + np.exp(-a))


# --- gate


@answers("gate")
def both_branches(x, h, U, W, b):
    a = np.dot(x, U) + np.dot(h, W) + b
    small = np.exp(-np.abs(a))
    return np.where(a >= 0, 1 / (1 + small), small / (1 + small))


@answers("gate")
def row_by_row_with_logaddexp(x, h, U, W, b):
    return [np.exp(-np.logaddexp(0, -(x_n @ U + h_n @ W + b))) for x_n, h_n in zip(x, h, strict=True)]


@answers("gate")
def in_plain_python(x, h, U, W, b):
    def one(n, k):
        a = float(b[k] + sum(x[n, d] * U[d, k] for d in range(len(U))) + sum(h[n, j] * W[j, k] for j in range(len(W))))
        return 1 / (1 + math.exp(-a)) if a > -700 else 0.0

    return np.array([[one(n, k) for k in range(len(b))] for n in range(len(x))], dtype=x.dtype)


# --- lstm_step


@answers("lstm_step")
def four_gates_one_by_one(x, h, c, U, W, b):
    H = c.shape[1]
    i = gate(x, h, U[:, :H], W[:, :H], b[:H])
    f = gate(x, h, U[:, H : 2 * H], W[:, H : 2 * H], b[H : 2 * H])
    g = np.tanh(x @ U[:, 2 * H : 3 * H] + h @ W[:, 2 * H : 3 * H] + b[2 * H : 3 * H])
    o = gate(x=x, h=h, U=U[:, 3 * H :], W=W[:, 3 * H :], b=b[3 * H :])
    c = f * c + i * g
    h = o * np.tanh(c)
    return h, c


@answers("lstm_step")
def candidate_by_a_sigmoid_too(x, h, c, U, W, b):
    """tanh(a) = 2 σ(2a) - 1, so that one call does all four."""
    twice = np.repeat(np.array([1, 1, 2, 1], dtype=b.dtype), c.shape[1])
    i, f, g, o = np.split(gate(x, h, U * twice, W * twice, b * twice), 4, axis=1)
    new = c * f + i * (2 * g - 1)
    return [np.multiply(o, np.tanh(new)), new]


@answers("lstm_step")
def step_row_by_row(x, h, c, U, W, b):
    H, states, cells = c.shape[1], [], []
    for x_n, h_n, c_n in zip(x, h, c, strict=True):
        a = x_n @ U + h_n @ W + b
        s = sigmoid(a)
        cells.append(s[H : 2 * H] * c_n + s[:H] * np.tanh(a[2 * H : 3 * H]))
        states.append(s[3 * H :] * np.tanh(cells[-1]))
    return states, cells


# --- lstm_forward


@answers("lstm_forward")
def in_a_list(X, h0, c0, U, W, b):
    h, c, H = h0, c0, []
    for x in X:
        h, c = lstm_step(x, h, c, U, W, b)
        H.append(h)
    return H, (h, c)


@answers("lstm_forward")
def into_an_empty_array(X, h0, c0, U, W, b):
    H = np.empty((len(X), *h0.shape), dtype=h0.dtype)
    h, c = h0.copy(), c0.copy()
    for t in range(X.shape[0]):
        h[:], c[:] = lstm_step(X[t], h, c, U, W, b)
        H[t] = h
    return [H, [h, c]]


@answers("lstm_forward")
def recursively(X, h0, c0, U, W, b):
    h, c = lstm_step(X[0], h0, c0, U, W, b)
    if len(X) == 1:
        return h[None], (h, c)
    later, last = recursively(X[1:], h, c, U, W, b)
    return np.concatenate([h[None], later]), last


# --- counter


@answers("counter")
def smaller_numbers():
    return np.array([[0, 0, 10, 0]]), np.zeros((1, 4)), np.array([10, 10, 0, 10])


@answers("counter")
def the_input_opens_the_gate():
    """g is 1 at all times, and i is open for a one only."""
    return [[40, 0, 0, 0]], [[0, 0, 0, 0]], [-20, 30, 30, -5]


@answers("counter")
def three_units_of_which_two_do_something_else():
    rng = np.random.default_rng(0)
    U, W, b = rng.normal(size=(1, 4, 3)), rng.normal(size=(3, 4, 3)), rng.normal(size=(4, 3))
    U[:, :, 0], W[:, :, 0], b[:, 0] = [0, 0, 15, 0], 0, [15, 15, 0, 0]
    return U.reshape(1, 12).astype(np.float32), W.reshape(3, 12), b.ravel()


# --- latch


@answers("latch")
def input_gate_by_the_set():
    """i opens for a set, f closes for a reset only; a second set is kept out by f, too."""
    U = np.array([[30, -30, 0, 0], [0, -30, 0, 0]])
    return U, np.zeros((1, 4)), np.array([-15, 15, 20, 20])


@answers("latch")
def writes_only_if_empty():
    """g is 1 at all times; a set opens i if h says that nothing is there; a reset closes f."""
    U = np.array([[40, 0, 0, 0], [0, -40, 0, 0]])
    return U, np.array([[-80, 0, 0, 0]]), np.array([-20, 20, 20, 20])


@answers("latch")
def as_lists_of_whole_numbers():
    return [[0, -50, 25, 7], [0, -50, 0, -7]], [[0, 0, 0, 0]], [25, 25, 0, 0]


# --- parity


@answers("parity")
def smaller_gates():
    return np.array([[25, -25, 0, 0]]), np.array([[-50, 0, 0, 0]]), np.array([-12, 12, 15, 15])


@answers("parity")
def adds_and_takes_away():
    """f is always open; a one opens i; g is 1 if h is 0 and -1 if h is 0.76."""
    U, W = np.array([[40.0, 0, 0, 0]]), np.array([[0, 0, -60.0, 0]])
    return U, W, np.array([-20.0, 20, 20, 20])


@answers("parity")
def two_units_too_many():
    """Three units, of which two hold nothing that matters."""
    inputs, recurrent, bias = np.zeros((1, 4, 3)), np.zeros((3, 4, 3)), np.zeros((4, 3))
    h = math.tanh(1)
    inputs[0, :, 0], recurrent[0, :, 0], bias[:, 0] = [40, -40, 0, 0], [-60 / h, 0, 0, 0], [-20, 20, 20, 20]
    return inputs.reshape(1, -1), recurrent.reshape(3, -1), bias.ravel()


# --- lstm_step_backward


@answers("lstm_step_backward")
def gate_by_gate(dh, dc, x, h_prev, c_prev, U, W, b):
    H = dh.shape[1]
    columns = [slice(k * H, (k + 1) * H) for k in range(4)]
    i, f, o = (gate(x, h_prev, U[:, s], W[:, s], b[s]) for s in (columns[0], columns[1], columns[3]))
    g = np.tanh(x @ U[:, columns[2]] + h_prev @ W[:, columns[2]] + b[columns[2]])
    shown = np.tanh(f * c_prev + i * g)
    total = dc + dh * o * (1 - shown**2)
    das = total * g * i * (1 - i), total * c_prev * f * (1 - f), total * i * (1 - g**2), dh * shown * o * (1 - o)
    dx = sum(da @ U[:, s].T for da, s in zip(das, columns, strict=True))
    dh_prev = sum(da @ W[:, s].T for da, s in zip(das, columns, strict=True))
    dU, dW = np.hstack([x.T @ da for da in das]), np.hstack([h_prev.T @ da for da in das])
    return dx, dh_prev, total * f, dU, dW, np.hstack([da.sum(axis=0) for da in das])


@answers("lstm_step_backward")
def with_einsum(dh, dc, x, h_prev, c_prev, U, W, b):
    N, H = dh.shape
    a = (x @ U + h_prev @ W + b).reshape(N, 4, H)
    i, f, o, g = sigmoid(a[:, 0]), sigmoid(a[:, 1]), sigmoid(a[:, 3]), np.tanh(a[:, 2])
    c = f * c_prev + i * g
    dc = dc + dh * o / np.cosh(c) ** 2
    da = np.empty_like(a)
    da[:, 0], da[:, 1], da[:, 2] = dc * g * (i - i * i), dc * c_prev * (f - f * f), dc * i * (1 - g * g)
    da[:, 3] = dh * np.tanh(c) * (o - o * o)
    da = da.reshape(N, 4 * H)
    dx, dh_prev = np.einsum("ng,dg->nd", da, U), np.einsum("ng,kg->nk", da, W)
    return [dx, dh_prev, dc * f, np.einsum("nd,ng->dg", x, da), np.einsum("nk,ng->kg", h_prev, da), da.sum(0)]


@answers("lstm_step_backward")
def with_the_step_and_a_joined_matrix(dh, dc, x, h_prev, c_prev, U, W, b):
    _, c = lstm_step(x, h_prev, c_prev, U, W, b)
    inputs, matrix = np.hstack([x, h_prev, np.ones_like(x[:, :1])]), np.vstack([U, W, b[None]])
    i, f, g, o = np.split(inputs @ matrix, 4, axis=1)
    i, f, o, g, t = sigmoid(i), sigmoid(f), sigmoid(o), np.tanh(g), np.tanh(c)
    dc = dc + dh * o * (1 - t * t)
    da = np.hstack([dc * g, dc * c_prev, dc * i, dh * t])
    da = da * np.hstack([i * (1 - i), f * (1 - f), 1 - g * g, o * (1 - o)])
    D, both, gradient = x.shape[1], da @ matrix[:-1].T, inputs.T @ da
    return both[:, :D], both[:, D:], dc * f, gradient[:D], gradient[D:-1], gradient[-1]


# --- set_forget_bias


@answers("set_forget_bias")
def half_in_each(lstm, value):
    for name, bias in lstm.named_parameters():
        if name.startswith("bias_"):
            bias.data[lstm.hidden_size : 2 * lstm.hidden_size] = value / 2


@answers("set_forget_bias")
def what_is_missing_to_the_sum(lstm, value):
    with torch.no_grad():
        for layer in range(lstm.num_layers):
            for way in ("", "_reverse") if lstm.bidirectional else ("",):
                first = getattr(lstm, f"bias_ih_l{layer}{way}").chunk(4)[1]
                first += value - first - getattr(lstm, f"bias_hh_l{layer}{way}").chunk(4)[1]


@answers("set_forget_bias")
def through_the_state_dict(lstm, value):
    state = {name: tensor.clone() for name, tensor in lstm.state_dict().items()}
    for name in state:
        if "bias_hh" in name:
            state[name].view(4, -1)[1].fill_(value)
        elif "bias" in name:
            state[name].view(4, -1)[1].zero_()
    lstm.load_state_dict(state)


# --- gru_step


@answers("gru_step")
def part_by_part(x, h, U, W, b_i, b_h):
    H = h.shape[1]
    r = gate(x, h, U[:, :H], W[:, :H], b_i[:H] + b_h[:H])
    z = gate(x, h, U[:, H : 2 * H], W[:, H : 2 * H], b_i[H : 2 * H] + b_h[H : 2 * H])
    n = np.tanh(x @ U[:, 2 * H :] + b_i[2 * H :] + r * (h @ W[:, 2 * H :] + b_h[2 * H :]))
    return (1 - z) * n + z * h


@answers("gru_step")
def as_a_step_towards_the_candidate(x, h, U, W, b_i, b_h):
    x_r, x_z, x_n = np.split(x @ U + b_i, 3, axis=1)
    h_r, h_z, h_n = np.split(h @ W + b_h, 3, axis=1)
    n = np.tanh(x_n + sigmoid(x_r + h_r) * h_n)
    return n + sigmoid(x_z + h_z) * (h - n)


@answers("gru_step")
def gru_row_by_row(x, h, U, W, b_i, b_h):
    out = np.empty_like(h)
    for k in range(len(x)):
        from_x, from_h = (x[k] @ U + b_i).reshape(3, -1), (h[k] @ W + b_h).reshape(3, -1)
        r, z = sigmoid(from_x[:2] + from_h[:2])
        n = np.tanh(from_x[2] + r * from_h[2])
        out[k] = z * h[k] + (1 - z) * n
    return out


# --- gru_step_backward


@answers("gru_step_backward")
def gru_gate_by_gate(dh, x, h_prev, U, W, b_i, b_h):
    H = dh.shape[1]
    columns = slice(0, H), slice(H, 2 * H), slice(2 * H, 3 * H)
    r, z = (gate(x, h_prev, U[:, s], W[:, s], b_i[s] + b_h[s]) for s in columns[:2])
    q = h_prev @ W[:, columns[2]] + b_h[columns[2]]
    n = np.tanh(x @ U[:, columns[2]] + b_i[columns[2]] + r * q)
    dn = dh * (1 - z) * (1 - n * n)
    above = dn * q * r * (1 - r), dh * (h_prev - n) * z * (1 - z), dn
    below = above[0], above[1], dn * r
    dx = sum(da @ U[:, s].T for da, s in zip(above, columns, strict=True))
    dh_prev = dh * z + sum(da @ W[:, s].T for da, s in zip(below, columns, strict=True))
    dU, dW = np.hstack([x.T @ da for da in above]), np.hstack([h_prev.T @ da for da in below])
    return [dx, dh_prev, dU, dW, np.hstack([da.sum(0) for da in above]), np.hstack([da.sum(0) for da in below])]


@answers("gru_step_backward")
def gru_back_from_the_new_state(dh, x, h_prev, U, W, b_i, b_h):
    """h = n + z (h_prev - n), so that the candidate need not be run forwards again."""
    x_r, x_z, _ = np.split(x @ U + b_i, 3, axis=1)
    h_r, h_z, q = np.split(h_prev @ W + b_h, 3, axis=1)
    r, z, h = sigmoid(x_r + h_r), sigmoid(x_z + h_z), gru_step(x, h_prev, U, W, b_i, b_h)
    n = (h - z * h_prev) / (1 - z)
    towards_n = dh - dh * z
    da = np.stack([towards_n * (1 - n**2) * q * (r - r**2), dh * (z - z**2) * (h_prev - n), towards_n * (1 - n**2)])
    to_x = np.concatenate(list(da), axis=1)
    da[2] *= r
    to_h = np.concatenate(list(da), axis=1)
    ones = np.ones(len(x), dtype=x.dtype)
    return to_x @ U.T, to_h @ W.T + dh * z, x.T @ to_x, h_prev.T @ to_h, ones @ to_x, ones @ to_h


@answers("gru_step_backward")
def gru_backward_row_by_row(dh, x, h_prev, U, W, b_i, b_h):
    dx, dh_prev, dU, dW = np.zeros_like(x), np.zeros_like(h_prev), np.zeros_like(U), np.zeros_like(W)
    db_i, db_h, H = np.zeros_like(b_i), np.zeros_like(b_h), dh.shape[1]
    for k in range(len(x)):
        from_x, from_h = (x[k] @ U + b_i).reshape(3, H), (h_prev[k] @ W + b_h).reshape(3, H)
        r, z = sigmoid(from_x[:2] + from_h[:2])
        n = np.tanh(from_x[2] + r * from_h[2])
        da = np.zeros((3, H), dtype=x.dtype)
        da[2] = dh[k] * (1 - z) * (1 - n * n)
        da[0], da[1] = da[2] * from_h[2] * r * (1 - r), dh[k] * (h_prev[k] - n) * z * (1 - z)
        dx[k], dU, db_i = U @ da.ravel(), dU + np.outer(x[k], da), db_i + da.ravel()
        da[2] *= r
        dh_prev[k], dW, db_h = dh[k] * z + W @ da.ravel(), dW + np.outer(h_prev[k], da), db_h + da.ravel()
    return dx, dh_prev, dU, dW, db_i, db_h
