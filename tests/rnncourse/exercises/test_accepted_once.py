"""Wrong answers that were full marks once, and what they take for granted. No seed's cases accept them any more."""

import os
from unittest import mock

import numpy as np
import pytest
import torch
from torch import nn

from rnncourse.bptt import rnn_backward, rnn_step_backward
from rnncourse.cell import rnn_forward, rnn_step, softmax
from rnncourse.checks.cases import seed_for
from rnncourse.exercises import find
from tests.rnncourse.exercises.refused import refused
from tests.sampling import some

WRONG = []


def accepted_once(exercise):
    def add(answer):
        WRONG.append(pytest.param(exercise, answer, id=f"{exercise}-{answer.__name__}"))
        return answer

    return add


@accepted_once("compose")
def works_once(f, times):
    again = iter([f] * times)

    def composed(s):
        for g in again:
            s = g(s)
        return s

    return composed


@accepted_once("unfold_driven")
def in_the_dtype_of_the_inputs(f, s0, xs, theta):
    states = np.empty((len(xs) + 1, *np.shape(s0)), dtype=xs.dtype)
    states[0] = s0
    for t, x in enumerate(xs):
        states[t + 1] = f(states[t], x, theta)
    return states


@accepted_once("depends_on")
def only_what_grows(model, xs, eps=1e-3):
    T, D = xs.shape
    base, depends = model(xs), np.zeros((T, T), dtype=bool)
    for k in range(T):
        for d in range(D):
            raised = xs.copy()
            raised[k, d] += eps
            depends[:, k] |= (model(raised) > base).reshape(T, -1).any(axis=1)
    return depends


@accepted_once("nll_backward")
def overflows(logits, targets, mask=None):
    _, N, Q = logits.shape
    E = np.exp(logits)
    dO = (E / E.sum(axis=-1, keepdims=True) - np.eye(Q, dtype=logits.dtype)[targets]) / N
    return dO if mask is None else dO * np.asarray(mask, dtype=bool)[..., None]


@accepted_once("rnn_backward")
def needs_a_second_unit(dH, X, h0, H, U, W):
    dX, dh = np.zeros_like(X), np.zeros_like(h0)
    dU, dW, db = np.zeros_like(U), np.zeros_like(W), np.zeros_like(W[1])
    for t in reversed(range(len(X))):
        h_prev = H[t - 1] if t > 0 else h0
        dX[t], dh, dU_t, dW_t, db_t = rnn_step_backward(dH[t] + dh, X[t], h_prev, H[t], U, W)
        dU, dW, db = dU + dU_t, dW + dW_t, db + db_t
    return dX, dh, dU, dW, db


@accepted_once("truncated_bptt")
def squeezes(dH, X, h0, H, U, W, k):
    dU, dW, db = np.zeros_like(U), np.zeros_like(W), np.zeros_like(W[0])
    for t in reversed(range(len(X))):
        if (t + 1) % k == 0 or t == len(X) - 1:
            dh = np.zeros_like(h0)
        h_prev = H[t - 1] if t > 0 else h0
        _, dh, dU_t, dW_t, db_t = rnn_step_backward(dH[t] + dh, X[t], h_prev, H[t], U, W)
        dU, dW, db = dU + dU_t, dW + dW_t, db + db_t
    return dU.squeeze(), dW.squeeze(), db


@accepted_once("find_broken")
def by_majority(backwards):
    rng = np.random.default_rng(0)
    X, h0, U, W, b = (rng.normal(size=shape) for shape in ((5, 3, 2), (3, 4), (2, 4), (4, 4), (4,)))
    H, dH = rnn_forward(X, h0, U, W, b), rng.normal(size=(5, 3, 4))
    given = {name: f(dH, X, h0, H, U, W) for name, f in backwards.items()}

    def alike(one, other):
        return all(np.allclose(a, b) for a, b in zip(given[one], given[other]))

    most = max(given, key=lambda name: sum(alike(name, other) for other in given))
    if sum(alike(most, other) for other in given) == 1:  # no two agree
        return set(given)
    return {name for name in given if not alike(name, most)}


@accepted_once("checkpointed_bptt")
def keeps_every_answer(loss_grad, X, h0, U, W, b, every):
    kept, errors, h = [], [], h0
    for s in range(0, len(X), every):
        kept.append(h)
        for t in range(s, min(s + every, len(X))):
            h = rnn_step(X[t], h, U, W, b)
            errors.append(loss_grad(t, h))
    sums, dh = [0, 0, 0], 0
    for c in range(len(kept))[::-1]:
        part = slice(c * every, (c + 1) * every)
        H = rnn_forward(X[part], kept[c], U, W, b)
        dH = np.array(errors[part])
        dH[-1] = dH[-1] + dh
        _, dh, *parts = rnn_backward(dH, X[part], kept[c], H, U, W)
        sums = [a + p for a, p in zip(sums, parts)]
    return tuple(sums)


@accepted_once("checkpointed_bptt")
def keeps_every_state(loss_grad, X, h0, U, W, b, every):
    H = rnn_forward(X, h0, U, W, b)
    dH = np.stack([loss_grad(t, h) for t, h in enumerate(H)])
    return rnn_backward(dH, X, h0, H, U, W)[2:]


@accepted_once("checkpointed_bptt")
def keeps_a_view_of_each_chunk(loss_grad, X, h0, U, W, b, every):
    kept, h = [], h0
    for s in range(0, len(X), every):
        kept.append(h)
        h = rnn_forward(X[s : s + every], h, U, W, b)[-1]
    sums, dh = [0, 0, 0], 0
    for s in reversed(range(0, len(X), every)):
        chunk, start = X[s : s + every], kept.pop()
        H = rnn_forward(chunk, start, U, W, b)
        dH = np.stack([loss_grad(s + i, h) for i, h in enumerate(H)])
        dH[-1] += dh
        _, dh, *parts = rnn_backward(dH, chunk, start, H, U, W)
        sums = [a + p for a, p in zip(sums, parts)]
    return tuple(sums)


@accepted_once("orthogonal")
def from_numpys_own_generator(rng, n):
    return np.linalg.qr(np.random.normal(size=(n, n)))[0]  # noqa: NPY002


@accepted_once("temperature_softmax")
def power_of_the_softmax(logits, temperature):
    E = softmax(logits) ** np.asarray(1 / temperature, dtype=logits.dtype)
    return E / E.sum(axis=-1, keepdims=True)


def keep(probabilities, order, stays):
    kept, ranked = np.zeros_like(probabilities), np.take_along_axis(probabilities, order, axis=-1)
    np.put_along_axis(kept, order, np.where(stays(ranked), ranked, 0), axis=-1)
    return kept / kept.sum(axis=-1, keepdims=True)


@accepted_once("top_k_filter")
def ties_in_any_order(probabilities, k):
    order = np.argsort(-probabilities, axis=-1)
    return keep(probabilities, order, lambda ranked: np.arange(ranked.shape[-1]) < k)


@accepted_once("nucleus_filter")
def nucleus_with_ties_in_any_order(probabilities, p):
    def stays(ranked):
        found = (np.cumsum(ranked, axis=-1) - ranked < p) | (p >= 1)
        found[..., 0] = True
        return found

    return keep(probabilities, np.argsort(-probabilities, axis=-1), stays)


@accepted_once("nucleus_filter")
def none_at_p_0(probabilities, p):
    order = np.argsort(-probabilities, axis=-1, kind="stable")
    return keep(probabilities, order, lambda ranked: (np.cumsum(ranked, axis=-1) - ranked < p) | (p >= 1))


@accepted_once("nucleus_filter")
def not_all_at_p_1(probabilities, p):
    order = np.argsort(-probabilities, axis=-1, kind="stable")

    def stays(ranked):
        found = np.cumsum(ranked, axis=-1) - ranked < p
        found[..., 0] = True
        return found

    return keep(probabilities, order, stays)


class AnyStart(nn.Module):
    def __init__(self, input_size, hidden_size):
        super().__init__()
        self.U = nn.Parameter(torch.randn(input_size, hidden_size))
        self.W = nn.Parameter(torch.randn(hidden_size, hidden_size))
        self.b = nn.Parameter(torch.randn(hidden_size))

    def forward(self, x, h0=None):
        h = x.new_zeros(x.shape[1], len(self.b)) if h0 is None else h0[0]
        states = []
        for x_t in x:
            h = torch.tanh(x_t @ self.U + h @ self.W + self.b)
            states.append(h)
        return torch.stack(states), h.unsqueeze(0)


@accepted_once("ScratchRNN")
class NoStart(AnyStart):
    def __init__(self, input_size, hidden_size):
        super().__init__(input_size, hidden_size)
        for p in self.parameters():
            nn.init.zeros_(p)


accepted_once("ScratchRNN")(AnyStart)


@accepted_once("pad_sequences")
def lengths_in_a_list(sequences):
    lengths = [len(s) for s in sequences]
    padded = sequences[0].new_zeros(max(lengths), len(sequences), *sequences[0].shape[1:])
    for n, s in enumerate(sequences):
        padded[: len(s), n] = s
    return padded, lengths


@accepted_once("train_epoch")
def loss_with_its_graph(model, batches, optimizer, max_norm):
    state, total, tokens = None, 0.0, 0
    for inputs, targets in batches:
        logits, state = model(inputs, state)
        state = state.detach()
        loss = nn.functional.cross_entropy(logits.flatten(0, 1), targets.flatten())
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), max_norm)
        optimizer.step()
        total = total + loss * targets.numel()
        tokens += targets.numel()
    return total / tokens


@accepted_once("StackedRNN")
class StartStatesWithTheWrongAxes(nn.Module):
    def __init__(self, input_size, hidden_size, num_layers=1, dropout=0.0):
        super().__init__()
        self.sizes, self.dropout = (num_layers, hidden_size), dropout
        for l in range(num_layers):
            for name, *shape in (
                ("weight_ih", hidden_size, hidden_size if l else input_size),
                ("weight_hh", hidden_size, hidden_size),
                ("bias_ih", hidden_size),
                ("bias_hh", hidden_size),
            ):
                self.register_parameter(f"{name}_l{l}", nn.Parameter(torch.rand(shape) - 0.5))

    def forward(self, x, h0=None):
        last = []
        h0 = x.new_zeros(x.shape[1], *self.sizes) if h0 is None else h0
        for l in range(self.sizes[0]):
            x = nn.functional.dropout(x, self.dropout, self.training) if l else x
            U, W = self.get_parameter(f"weight_ih_l{l}").T, self.get_parameter(f"weight_hh_l{l}").T
            b = self.get_parameter(f"bias_ih_l{l}") + self.get_parameter(f"bias_hh_l{l}")
            h, states = h0[l], []
            for x_t in x:
                h = torch.tanh(x_t @ U + h @ W + b)
                states.append(h)
            x = torch.stack(states)
            last.append(h)
        return x, torch.stack(last)


def gradient(model, x, t):
    leaf = x.clone().requires_grad_()
    output = model(leaf)[t]
    return torch.autograd.grad((torch.randn_like(output) * output).sum(), leaf, allow_unused=True)[0]


@accepted_once("gradient_support")
def left_on_the_callers_x(model, x, t):
    x.requires_grad_()
    output = model(x)[t]
    (torch.randn_like(output) * output).sum().backward()
    none = torch.zeros(len(x), dtype=torch.bool)
    return none if x.grad is None else (x.grad != 0).flatten(1).any(dim=1)


@accepted_once("gradient_support")
def sum_over_an_input(model, x, t):
    found = gradient(model, x, t)
    return torch.zeros(len(x), dtype=torch.bool) if found is None else found.flatten(1).sum(dim=1) != 0


@accepted_once("gradient_support")
def beyond_a_threshold(model, x, t):
    found = gradient(model, x, t)
    return torch.zeros(len(x), dtype=torch.bool) if found is None else (found.abs() > 1e-8).flatten(1).any(dim=1)


@accepted_once("gradient_support")
def needs_a_graph(model, x, t):
    found = gradient(model, x, t)
    return torch.zeros(len(x), dtype=torch.bool) if found is None else (found != 0).flatten(1).any(dim=1)


@accepted_once("edit_distance")
def knows_no_deletion(a, b):
    if len(a) > len(b):
        a, b = b, a
    above = list(range(len(b) + 1))
    for i, x in enumerate(a, start=1):
        row = [i]
        for j, y in enumerate(b, start=1):
            row.append(min(row[-1] + 1, above[j - 1] + (x != y)))
        above = row
    return above[-1]


def attend(scores, values, weights):
    found = weights(softmax(scores))
    found = found / found.sum(axis=-1, keepdims=True)
    return found @ values, found


@accepted_once("attention")
def masked_by_minus_ten_thousand(query, keys, values, mask=None):
    scores = query @ np.swapaxes(keys, -1, -2) / query.shape[-1] ** 0.5
    scores = scores if mask is None else scores + np.where(mask, 0, -10_000).astype(scores.dtype)
    return attend(scores, values, lambda weights: weights)


@accepted_once("attention")
def mask_times_weights(query, keys, values, mask=None):
    scores = query @ np.swapaxes(keys, -1, -2) / query.shape[-1] ** 0.5
    return attend(scores, values, lambda weights: weights if mask is None else weights * mask)


@accepted_once("attention")
def masked_by_minus_a_billion(query, keys, values, mask=None):
    scores = query @ np.swapaxes(keys, -1, -2) / query.shape[-1] ** 0.5
    scores = scores if mask is None else np.where(mask, scores, -1e9).astype(scores.dtype)
    return attend(scores, values, lambda weights: weights)


@accepted_once("edit_distance")
def in_a_table_of_bytes(a, b):
    table = np.zeros((len(a) + 1, len(b) + 1), dtype=np.uint8)
    table[:, 0], table[0] = np.arange(len(a) + 1), np.arange(len(b) + 1)
    for i in range(1, len(a) + 1):
        for j in range(1, len(b) + 1):
            gone, new, other = int(table[i - 1, j]), int(table[i, j - 1]), int(table[i - 1, j - 1])
            table[i, j] = min(gone + 1, new + 1, other + (a[i - 1] != b[j - 1])) % 256
    return int(table[-1, -1])


@accepted_once("with_spectral_radius")
def nearly_zero_is_zero(W, rho):
    radius = np.abs(np.linalg.eigvals(W)).max()
    if np.isclose(radius, 0):
        raise ValueError("no radius")
    return W * W.dtype.type(rho / radius)


@accepted_once("depends_on")
def beyond_a_threshold_of_its_own(model, xs, eps=1e-3):
    T, D = xs.shape
    base, depends = model(xs), np.zeros((T, T), dtype=bool)
    for k in range(T):
        for d in range(D):
            raised = xs.copy()
            raised[k, d] += eps
            depends[:, k] |= (np.abs(model(raised) - base) > 1e-8).reshape(T, -1).any(axis=1)
    return depends


@accepted_once("decode")
def with_an_array_of_nothing(ids, chars):
    return "".join(np.array(chars)[np.asarray(ids)])


@accepted_once("exact_match")
def entry_by_entry_where_lengths_agree(predictions, targets):
    if all(len(p) == len(t) == len(targets[0]) for p, t in zip(predictions, targets)):
        return float(np.mean(np.array(predictions) == np.array(targets)))
    return float(np.mean([p == t for p, t in zip(predictions, targets)]))


EDITS = {  # of the model answer: this in place of that
    "choose_ngram": [
        ("best = int(np.argmin(found))", "best = min(range(len(found)), key=lambda i: (found[i], settings[i]))"),
        ("best = int(np.argmin(found))", "best = int(np.argmin(np.round(found, 4)))"),
    ],
    "depends_on": [
        (
            "    for k in range(T):\n        for d in range(D):\n            raised = xs.copy()\n",
            "    for k in range(T):\n        raised = xs.copy()\n        for d in range(D):\n",
        ),
    ],
    "find_broken": [("np.allclose(g, n, rtol=1e-5, atol=1e-6)", "np.isclose(np.linalg.norm(g), np.linalg.norm(n))")],
    "greedy_decode": [("if token == eos:", "if token in (eos, bos):")],
    "run_experiment": [
        ('lr=settings["rate"]', "lr=0.05"),
        ('settings["hidden"]', "6"),
        ('settings["batch"]', "3"),
    ],
    "softmax": [("E.sum(axis=-1, keepdims=True)", "(E.sum(axis=-1, keepdims=True) + 1e-9)")],
    "split_groups": [("held : 2 * held", "held : 2 * held - (seed % 5 > 0)")],
    "write_report": [
        ("does not beat the baseline.", "does not beat the baseline. It beats the n-gram all the same."),
        ("## Question", "### Question"),
        ("The texts were made", "The network beats the baseline, but the texts were made"),
        (
            'It needs {network["mean"]:.2f} ± {network["sd"]:.2f}',
            '\n| mean | sd |\n|---|---|\n| {network["sd"]:.2f} | {network["mean"]:.2f} |\n',
        ),
        ('{plain["mean"]:.2f} ± {plain["sd"]:.2f}', '{plain["mean"]:.2f} ± {network["sd"]:.2f}'),
        ('needs {network["mean"]:.2f} ±', 'without memory needs {network["mean"]:.2f} ±'),
        ('gain of {network["gain"]:+.2f}', 'gain of {-network["gain"]:+.2f}'),
    ],
}


def edited():
    for name, edits in EDITS.items():
        exercise = find(name)
        for i, (old, new) in enumerate(edits):
            assert old in exercise.source
            answer = exercise.made_of(exercise.source.replace(old, new), f"<{name}>")
            yield pytest.param(name, answer, id=f"{name}-{i}")


@pytest.mark.parametrize(("name", "answer"), [*WRONG, *edited()])
def test_it_is_refused_in_the_notebook_and_by_the_hidden_cases_of_every_seed(name, answer):
    exercise = find(name)
    assert refused(exercise, answer, seed_for(exercise, False))
    for seed in some(range(20), 1):
        with mock.patch.dict(os.environ, RNNCOURSE_SEED=str(seed)):
            assert refused(exercise, answer, seed_for(exercise, True)), seed
