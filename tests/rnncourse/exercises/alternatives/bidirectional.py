"""Right answers to unit 09 as students write them, each in another style. All must get full marks."""

import numpy as np
import torch
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence, pad_sequence

from rnncourse.bidirectional import bidirectional_forward, combine
from rnncourse.bptt import rnn_backward
from rnncourse.cell import rnn_forward
from tests.rnncourse.exercises.alternatives import collector

ALTERNATIVES, answers = collector()


# --- reverse_sequence


@answers("reverse_sequence")
def step_by_step(X, lengths=None):
    T, N = X.shape[:2]
    out = np.empty_like(X)
    for n in range(N):
        length = T if lengths is None else int(lengths[n])
        for t in range(T):
            out[t, n] = X[length - 1 - t, n] if t < length else X[t, n]
    return out


@answers("reverse_sequence")
def by_index(X, lengths=None):
    T, N, *rest = X.shape
    if lengths is None:
        return np.flip(X, axis=0).copy()
    t = np.arange(T)[:, None]
    where = np.where(t < lengths, lengths - t - 1, t)
    return np.take_along_axis(X, where.reshape(T, N, *[1] * len(rest)), axis=0)


@answers("reverse_sequence")
def with_lists(X, lengths=None):
    columns = []
    for n, column in enumerate(X.swapaxes(0, 1)):
        length = len(column) if lengths is None else lengths[n]
        columns.append(list(column[:length])[::-1] + list(column[length:]))
    return np.array(columns).swapaxes(0, 1).copy()


# --- combine


@answers("combine")
def with_a_dict(H_f, H_b, how):
    ways = {"concat": lambda: np.concatenate((H_f, H_b), axis=-1), "sum": lambda: H_f + H_b}
    ways["product"] = lambda: H_f * H_b
    if how not in ways:
        raise ValueError("unknown: " + how)
    return ways[how]()


@answers("combine")
def with_match(H_f, H_b, how):
    match how:
        case "concat":
            return np.append(H_f, H_b, axis=H_f.ndim - 1)
        case "sum":
            return np.add(H_f, H_b)
        case "product":
            return np.multiply(H_f, H_b)
        case _:
            raise ValueError(how)


@answers("combine")
def into_an_empty_array(H_f, H_b, how):
    if how not in ("concat", "sum", "product"):
        raise ValueError("how?")
    if how == "concat":
        units = H_f.shape[-1]
        joined = np.empty((*H_f.shape[:-1], 2 * units), dtype=H_f.dtype)
        joined[..., :units] = H_f
        joined[..., units:] = H_b
        return joined
    both = np.stack([H_f, H_b])
    return both.sum(axis=0) if how == "sum" else both.prod(axis=0)


# --- bidirectional_forward


@answers("bidirectional_forward")
def with_loops(X, forward, backward, how="concat", lengths=None):
    T, N, _ = X.shape
    real = np.ones((T, N), dtype=bool) if lengths is None else np.arange(T)[:, None] < lengths

    def run(times, U, W, b):
        H = np.zeros((T, N, len(b)), dtype=X.dtype)
        h = np.zeros((N, len(b)), dtype=X.dtype)
        for t in times:
            h = np.where(real[t][:, None], np.tanh(X[t] @ U + h @ W + b), h)  # nothing is read while it is padding
            H[t] = h
        return H

    return combine(run(range(T), *forward), run(range(T - 1, -1, -1), *backward), how)


@answers("bidirectional_forward")
def one_sequence_at_a_time(X, forward, backward, how="concat", lengths=None):
    T, N, _ = X.shape
    zero = np.zeros((1, len(forward[2])), dtype=X.dtype)
    rows = []
    for n in range(N):
        x = X[: T if lengths is None else lengths[n], n : n + 1]
        states = combine(rnn_forward(x, zero, *forward), rnn_forward(x[::-1], zero, *backward)[::-1], how)
        rows.append(np.concatenate([states, np.full((T - len(x), *states.shape[1:]), np.nan, dtype=X.dtype)]))
    return np.concatenate(rows, axis=1)


@answers("bidirectional_forward")
def with_zeros_at_padded_steps(X, forward, backward, how="concat", lengths=None):
    T, N, _ = X.shape
    mask = np.ones((T, N, 1), X.dtype) if lengths is None else (np.arange(T)[:, None] < lengths)[..., None]
    (U_f, W_f, b_f), (U_b, W_b, b_b) = forward, backward
    f, g = np.zeros((N, W_f.shape[0]), X.dtype), np.zeros((N, W_b.shape[0]), X.dtype)
    fs, gs = [], []
    for t in range(T):
        f = np.tanh(np.einsum("nd,dh->nh", X[t], U_f) + np.einsum("nh,hk->nk", f, W_f) + b_f)
        fs.append(f * mask[t])
        g = mask[-1 - t] * np.tanh(np.dot(X[-1 - t], U_b) + np.dot(g, W_b) + b_b)
        gs.insert(0, g)
    return combine(np.array(fs), np.array(gs), how)


# --- bidirectional_backward


@answers("bidirectional_backward")
def with_states_from_the_forward_pass(dH, X, forward, backward, how="concat"):
    H = bidirectional_forward(X, forward, backward, "concat")
    H_f, H_b = np.split(H, 2, axis=2)
    parts = {
        "concat": lambda: np.split(dH, 2, axis=2),
        "sum": lambda: (dH, dH),
        "product": lambda: (dH * H_b, dH * H_f),
    }
    dH_f, dH_b = parts[how]()
    zeros = np.zeros_like(H_f[0])
    dX, _, *first = rnn_backward(dH_f, X, zeros, H_f, *forward[:2])
    dX_b, _, *second = rnn_backward(np.flip(dH_b, 0), np.flip(X, 0), zeros, np.flip(H_b, 0), *backward[:2])
    dX += np.flip(dX_b, 0)
    return [dX, first, second]


@answers("bidirectional_backward")
def with_a_loop_in_each_direction(dH, X, forward, backward, how="concat"):
    T, N, _ = X.shape
    hidden = len(forward[1])

    def run(times, U, W, b):
        H = np.zeros((T, N, hidden), dtype=X.dtype)
        h = np.zeros((N, hidden), dtype=X.dtype)
        for t in times:
            h = np.tanh(X[t] @ U + h @ W + b)
            H[t] = h
        return H

    def walk(times, errors, H, U, W):
        dX, dU, dW, db = np.zeros_like(X), np.zeros_like(U), np.zeros_like(W), np.zeros_like(W[0])
        dh = np.zeros_like(H[0])
        for i in reversed(range(T)):
            t = times[i]
            da = (errors[t] + dh) * (1 - H[t] ** 2)
            dX[t], dh = da @ U.T, da @ W.T
            dU += X[t].T @ da
            if i > 0:
                dW += H[times[i - 1]].T @ da
            db += da.sum(axis=0)
        return dX, (dU, dW, db)

    onwards, back = list(range(T)), list(range(T))[::-1]
    H_f, H_b = run(onwards, *forward), run(back, *backward)
    errors_f, errors_b = (dH[..., :hidden], dH[..., hidden:]) if how == "concat" else (dH, dH)
    if how == "product":
        errors_f, errors_b = dH * H_b, dH * H_f
    dX_f, g_f = walk(onwards, errors_f, H_f, *forward[:2])
    dX_b, g_b = walk(back, errors_b, H_b, *backward[:2])
    return dX_f + dX_b, g_f, g_b


@answers("bidirectional_backward")
def with_autodiff_by_hand_for_one_direction(dH, X, forward, backward, how="concat"):
    def one(X, parameters):
        zeros = np.zeros((X.shape[1], len(parameters[1])), dtype=X.dtype)
        H = rnn_forward(X, zeros, *parameters)

        def back(dH):
            dX, _, dU, dW, db = rnn_backward(dH, X, zeros, H, parameters[0], parameters[1])
            return dX, (dU, dW, db)

        return H, back

    H_f, back_f = one(X, forward)
    H_b, back_b = one(X[::-1], backward)
    n = H_f.shape[-1]
    if how == "product":
        dH_f, dH_b = dH * H_b[::-1], dH * H_f
    else:
        dH_f, dH_b = (dH[..., :n], dH[..., n:]) if how == "concat" else (dH, dH)
    (dX_f, g_f), (dX_b, g_b) = back_f(dH_f), back_b(dH_b[::-1])
    return dX_f + dX_b[::-1], g_f, g_b


# --- final_summary


@answers("final_summary")
def by_two_indices(H_f, H_b, lengths, how="concat"):
    return combine(H_f[np.asarray(lengths) - 1, range(len(lengths))], H_b[0], how)


@answers("final_summary")
def with_take_along_axis(H_f, H_b, lengths, how="concat"):
    last = np.take_along_axis(H_f, (lengths - 1)[None, :, None], axis=0)[0]
    if how == "sum":
        return last + H_b[0]
    return last * H_b[0] if how == "product" else np.hstack([last, H_b[0]])


@answers("final_summary")
def combined_before_picking(H_f, H_b, lengths, how="concat"):
    first = np.broadcast_to(H_b[:1], H_b.shape)
    everywhere = combine(H_f, first, how)
    return np.array([everywhere[lengths[n] - 1, n] for n in range(len(lengths))])


# --- hmm_forward


@answers("hmm_forward")
def with_logarithms(start, transition, emission, observations):
    with np.errstate(divide="ignore"):
        log_transition, log_emission, log_alpha = np.log(transition), np.log(emission), np.log(start)
    log_alpha = log_alpha + log_emission[:, observations[0]]
    rows = [log_alpha]
    for seen in observations[1:]:
        log_alpha = np.logaddexp.reduce(log_alpha[:, None] + log_transition, axis=0) + log_emission[:, seen]
        rows.append(log_alpha)
    rows = np.array(rows)
    total = np.logaddexp.reduce(rows, axis=1)
    return np.exp(rows - total[:, None]), total[-1]


@answers("hmm_forward")
def state_by_state(start, transition, emission, observations):
    T, K = len(observations), len(start)
    alpha = np.zeros((T, K), dtype=start.dtype)
    scales = []
    for t in range(T):
        for j in range(K):
            if t == 0:
                alpha[t, j] = start[j] * emission[j, observations[t]]
            else:
                came = sum(alpha[t - 1, i] * transition[i, j] for i in range(K))
                alpha[t, j] = came * emission[j, observations[t]]
        scales.append(1 / alpha[t].sum())
        alpha[t] *= scales[-1]
    return alpha, -np.log(scales).sum()


@answers("hmm_forward")
def looking_one_ahead(start, transition, emission, observations):
    beliefs, chances, expected = [], [], start
    for o in observations:
        chances.append(expected @ emission[:, o])
        beliefs.append(expected * emission[:, o] / chances[-1])
        expected = np.einsum("i,ij->j", beliefs[-1], transition)
    return [np.array(beliefs), float(np.sum(np.log(chances)))]


# --- BiTagger


@answers("BiTagger")
class Packed(nn.Module):
    def __init__(self, vocabulary_size, embedding_size, hidden_size, tags):
        super().__init__()
        self.output = nn.Linear(hidden_size * 2, tags)
        self.rnn = nn.RNN(embedding_size, hidden_size, bidirectional=True, nonlinearity="tanh")
        self.embedding = nn.Embedding(vocabulary_size, embedding_size)

    def forward(self, ids, lengths=None):
        if lengths is None:
            lengths = torch.full((ids.shape[1],), ids.shape[0])
        packed = pack_padded_sequence(self.embedding(ids), lengths, enforce_sorted=False)
        out, _ = pad_packed_sequence(self.rnn(packed)[0], total_length=ids.shape[0], padding_value=-1.0)
        return self.output(out)


@answers("BiTagger")
class OneSequenceAtATime(nn.Module):
    def __init__(self, vocabulary_size, embedding_size, hidden_size, tags):
        super().__init__()
        self.embedding = nn.Embedding(vocabulary_size, embedding_size)
        self.rnn = nn.RNN(embedding_size, hidden_size, num_layers=1, bidirectional=True)
        self.output = nn.Linear(2 * hidden_size, tags)

    def forward(self, ids, lengths=None):
        T, N = ids.shape
        rows = []
        for n in range(N):
            row = ids[: T if lengths is None else int(lengths[n]), n]
            rows.append(self.output(self.rnn(self.embedding(row))[0]))
        rows.append(rows[0].new_zeros(T, rows[0].shape[-1]))
        return pad_sequence(rows)[:, :N]


class TwoCells(nn.Module):
    """Both directions by hand, with the parameters under the names that nn.RNN has for them."""

    def __init__(self, inputs, hidden):
        super().__init__()
        for end in ("", "_reverse"):
            self.register_parameter(f"weight_ih_l0{end}", nn.Parameter(torch.randn(hidden, inputs)))
            self.register_parameter(f"weight_hh_l0{end}", nn.Parameter(torch.randn(hidden, hidden)))
            self.register_parameter(f"bias_ih_l0{end}", nn.Parameter(torch.zeros(hidden)))
            self.register_parameter(f"bias_hh_l0{end}", nn.Parameter(torch.zeros(hidden)))

    def run(self, x, real, end):
        W_ih, W_hh, b_ih, b_hh = (
            self.get_parameter(f"{name}_l0{end}") for name in ("weight_ih", "weight_hh", "bias_ih", "bias_hh")
        )
        h = x.new_zeros(x.shape[1], len(b_ih))
        states = [None] * len(x)
        for t in reversed(range(len(x))) if end else range(len(x)):
            h = torch.where(real[t, :, None], torch.tanh(x[t] @ W_ih.T + b_ih + h @ W_hh.T + b_hh), h)
            states[t] = h
        return torch.stack(states)

    def forward(self, x, real):
        return torch.cat([self.run(x, real, ""), self.run(x, real, "_reverse")], dim=-1)


@answers("BiTagger")
class ByHand(nn.Module):
    def __init__(self, vocabulary_size, embedding_size, hidden_size, tags):
        super().__init__()
        self.embedding = nn.Embedding(vocabulary_size, embedding_size)
        self.rnn = TwoCells(embedding_size, hidden_size)
        self.output = nn.Linear(2 * hidden_size, tags)

    def forward(self, ids, lengths=None):
        times = torch.arange(len(ids))[:, None]
        real = times < (torch.full((ids.shape[1],), len(ids)) if lengths is None else lengths)
        return self.output(self.rnn(self.embedding(ids), real)).masked_fill(~real[..., None], float("-inf"))
