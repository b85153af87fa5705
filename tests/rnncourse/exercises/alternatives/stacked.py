"""Right answers to unit 08 as students write them, each in another style. All must get full marks."""

import functools
import math

import numpy as np
import torch
from torch import nn

from rnncourse.bptt import rnn_backward, rnn_step_backward
from rnncourse.cell import rnn_forward
from rnncourse.stacked import dropout_between
from tests.rnncourse.exercises.alternatives import collector

ALTERNATIVES, answers = collector()


# --- stacked_forward


@answers("stacked_forward")
def time_outside(X, h0, layers):
    h = list(h0)
    top = []
    for x in X:
        for l, (U, W, b) in enumerate(layers):
            below = x if l == 0 else h[l - 1]
            h[l] = np.tanh(np.dot(below, U) + np.dot(h[l], W) + b)
        top.append(h[-1])
    return top, h


@answers("stacked_forward")
def recursion(X, h0, layers):
    states = rnn_forward(X, h0[0], *layers[0])
    if len(layers) == 1:
        return states, states[-1:]
    top, h_n = recursion(states, h0[1:], layers[1:])
    return top, np.concatenate([states[-1:], h_n])


@answers("stacked_forward")
def reduced(X, h0, layers):
    def one_more(so_far, layer):
        states, last = so_far
        start, parameters = layer
        states = rnn_forward(states, start, *parameters)
        return states, [*last, states[-1]]

    return functools.reduce(one_more, zip(h0, layers), (X, []))


# --- stacked_backward


@answers("stacked_backward")
def step_by_step(dH_top, X, h0, layers):
    L, T = len(layers), len(X)
    read = [X]
    for l in range(L):
        read.append(rnn_forward(read[l], h0[l], *layers[l]))
    dh = [np.zeros_like(h0[0]) for _ in range(L)]
    sums = [[np.zeros_like(a) for a in layer] for layer in layers]
    dX = np.zeros_like(X)
    for t in range(T - 1, -1, -1):
        error = dH_top[t]
        for l in range(L - 1, -1, -1):
            U, W, _ = layers[l]
            h_prev = read[l + 1][t - 1] if t > 0 else h0[l]
            error, dh[l], *parts = rnn_step_backward(error + dh[l], read[l][t], h_prev, read[l + 1][t], U, W)
            for total, part in zip(sums[l], parts):
                total += part
        dX[t] = error
    return dX, np.stack(dh), [tuple(layer) for layer in sums]


@answers("stacked_backward")
def recursion_down(dH_top, X, h0, layers):
    (U, W, b), *others = layers
    H = rnn_forward(X, h0[0], U, W, b)
    dH, dh0_above, above = recursion_down(dH_top, H, h0[1:], others) if others else (dH_top, [], [])
    dX, dh0, *own = rnn_backward(dH, X, h0[0], H, U, W)
    return dX, [dh0, *dh0_above], [own, *above]


@answers("stacked_backward")
def lists_turned_round(dH_top, X, h0, layers):
    inputs, states = [], []
    for start, (U, W, b) in zip(h0, layers):
        inputs.append(states[-1] if states else X)
        states.append(rnn_forward(inputs[-1], start, U, W, b))
    error, dh0, gradients = dH_top, [], []
    for layer, start, read, H in reversed(list(zip(layers, h0, inputs, states))):
        error, dstart, dU, dW, db = rnn_backward(error, read, start, H, layer[0], layer[1])
        dh0.append(dstart)
        gradients.append([dU, dW, db])
    dh0.reverse()
    gradients.reverse()
    return [error, dh0, gradients]


# --- stacked_parameter_count


@answers("stacked_parameter_count")
def layer_by_layer(D, H, L):
    total = 0
    for l in range(L):
        reads = D if l == 0 else H
        total += reads * H + H * H + H
    return total


@answers("stacked_parameter_count")
def numpy_whole_number(D, H, L):
    return np.int64(H) * (D + (2 * L - 1) * H + L)


@answers("stacked_parameter_count")
def recursive_count(D, H, L):
    return 0 if L == 0 else H * (D + H + 1) + recursive_count(H, H, L - 1)


# --- dropout_between


@answers("dropout_between")
def where(H, p, mask):
    return np.where(mask, H / (1 - p), np.zeros_like(H))


@answers("dropout_between")
def number_by_number(H, p, mask):
    result = np.zeros_like(H)
    for place in np.ndindex(*H.shape):
        if mask[place]:
            result[place] = H[place] / (1 - p)
    return result


@answers("dropout_between")
def early_exit(H, p, mask):
    if p == 0:
        return np.array(H)
    return H * mask.astype(H.dtype) / (1 - p)


# --- locked_dropout


@answers("locked_dropout")
def by_the_given_dropout(X, p, rng):
    N, D = X.shape[1:]
    mask = rng.random((N, D)) > p
    return dropout_between(X, p, np.broadcast_to(mask if p else np.ones((N, D), bool), X.shape))


@answers("locked_dropout")
def step_after_step(X, p, rng):
    T, N, D = X.shape
    kept = rng.binomial(1, 1 - p, size=(N, D)).astype(bool)
    out = np.zeros_like(X)
    for t in range(T):
        out[t][kept] = X[t][kept] / (1 - p)
    return out


@answers("locked_dropout")
def by_choice(X, p, rng):
    factor = rng.choice([0, 1 / (1 - p)], p=[p, 1 - p], size=(1, *X.shape[1:]))
    return X * factor.astype(X.dtype)


# --- layer_norm


@answers("layer_norm")
def with_var(x, gain, shift, eps=1e-5):
    return (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + eps) * gain + shift


@answers("layer_norm")
def row_by_row_in_lists(x, gain, shift, eps=1e-5):
    rows = []
    for row in x.reshape(-1, x.shape[-1]):
        mean = row.sum() / len(row)
        distance = row - mean
        rows.append(gain * (distance / (distance @ distance / len(row) + eps) ** 0.5) + shift)
    return np.array(rows, dtype=x.dtype).reshape(x.shape)


@answers("layer_norm")
def mean_of_squares_less_square_of_the_mean(x, gain, shift, eps=1e-5):
    as_double = x.astype(np.float64)
    mean = as_double.mean(axis=-1, keepdims=True)
    variance = np.maximum((as_double**2).mean(axis=-1, keepdims=True) - mean**2, 0)
    return (gain * ((as_double - mean) / np.sqrt(variance + eps)) + shift).astype(x.dtype)


# --- StackedRNN


@answers("StackedRNN")
class Registered(nn.Module):
    def __init__(self, input_size, hidden_size, num_layers=1, dropout=0.0):
        super().__init__()
        self.num_layers, self.hidden_size, self.dropout = num_layers, hidden_size, dropout
        for l in range(num_layers):
            reads = input_size if l == 0 else hidden_size
            for name, shape in (
                ("weight_ih", (hidden_size, reads)),
                ("weight_hh", (hidden_size, hidden_size)),
                ("bias_ih", (hidden_size,)),
                ("bias_hh", (hidden_size,)),
            ):
                bound = 1 / math.sqrt(hidden_size)
                self.register_parameter(f"{name}_l{l}", nn.Parameter(torch.empty(shape).uniform_(-bound, bound)))

    def forward(self, x, h0=None):
        if h0 is None:
            h0 = x.new_zeros(self.num_layers, x.size(1), self.hidden_size)
        last = []
        for l in range(self.num_layers):
            if l > 0:
                x = nn.functional.dropout(x, p=self.dropout, training=self.training)
            w_ih, w_hh = self.get_parameter(f"weight_ih_l{l}"), self.get_parameter(f"weight_hh_l{l}")
            b = self.get_parameter(f"bias_ih_l{l}") + self.get_parameter(f"bias_hh_l{l}")
            h, states = h0[l], []
            for x_t in x:
                h = torch.tanh(nn.functional.linear(x_t, w_ih, b) + h @ w_hh.T)
                states.append(h)
            x = torch.stack(states)
            last.append(h)
        return x, torch.stack(last)


@answers("StackedRNN")
class TimeOutside(nn.Module):
    """All layers at each step, with own draws from a mask."""

    def __init__(self, input_size, hidden_size, num_layers=1, dropout=0.0):
        super().__init__()
        self.p, self.L, self.H = dropout, num_layers, hidden_size
        for l in range(num_layers):
            setattr(
                self, f"weight_ih_l{l}", nn.Parameter(0.1 * torch.randn(hidden_size, hidden_size if l else input_size))
            )
            setattr(self, f"weight_hh_l{l}", nn.Parameter(0.1 * torch.randn(hidden_size, hidden_size)))
            setattr(self, f"bias_ih_l{l}", nn.Parameter(torch.zeros(hidden_size)))
            setattr(self, f"bias_hh_l{l}", nn.Parameter(torch.zeros(hidden_size)))

    def step(self, l, below, h):
        from_below = below @ getattr(self, f"weight_ih_l{l}").T + getattr(self, f"bias_ih_l{l}")
        from_before = h @ getattr(self, f"weight_hh_l{l}").T + getattr(self, f"bias_hh_l{l}")
        return torch.tanh(from_below + from_before)

    def between(self, h):
        if not self.training or self.p == 0:
            return h
        keep = torch.rand(h.shape, dtype=h.dtype) > self.p
        return torch.where(keep, h / (1 - self.p), torch.zeros_like(h))

    def forward(self, x, h0=None):
        h = list(torch.zeros(self.L, x.shape[1], self.H, dtype=x.dtype) if h0 is None else h0)
        top = []
        for x_t in x:
            for l in range(self.L):
                h[l] = self.step(l, x_t if l == 0 else self.between(h[l - 1]), h[l])
            top.append(h[-1])
        return torch.stack(top), torch.stack(h)


@answers("StackedRNN")
class WithDropoutModule(nn.Module):
    """An nn.Dropout, Bernoulli draws of its own; parameters found by name in a dict."""

    def __init__(self, input_size, hidden_size, num_layers=1, dropout=0.0):
        super().__init__()
        self.hidden_size, self.num_layers = hidden_size, num_layers
        self.drop = nn.Dropout(dropout)
        sizes = [input_size] + [hidden_size] * num_layers
        for l, reads in enumerate(sizes[:-1]):
            self.register_parameter(f"weight_ih_l{l}", nn.Parameter(torch.zeros(hidden_size, reads)))
            self.register_parameter(f"weight_hh_l{l}", nn.Parameter(torch.eye(hidden_size)))
            self.register_parameter(f"bias_ih_l{l}", nn.Parameter(torch.zeros(hidden_size)))
            self.register_parameter(f"bias_hh_l{l}", nn.Parameter(torch.zeros(hidden_size)))

    def forward(self, x, h0=None):
        p = dict(self.named_parameters())
        h_n = []
        for l in range(self.num_layers):
            h = x.new_zeros(x.shape[1], self.hidden_size) if h0 is None else h0[l]
            driven = torch.einsum("tnd,hd->tnh", x, p[f"weight_ih_l{l}"]) + p[f"bias_ih_l{l}"] + p[f"bias_hh_l{l}"]
            states = []
            for a in driven.unbind(0):
                h = (a + torch.einsum("ng,hg->nh", h, p[f"weight_hh_l{l}"])).tanh()
                states.append(h)
            h_n.append(h)
            x = torch.stack(states, dim=0)
            if l + 1 < self.num_layers:
                x = self.drop(x)
        return x, torch.stack(h_n)
