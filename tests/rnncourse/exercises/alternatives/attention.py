"""Right answers to unit 13 in other styles."""

import math

import numpy as np
import torch
from torch import nn

from rnncourse.attention import attention
from rnncourse.cell import softmax
from tests.rnncourse.exercises.alternatives import collector

ALTERNATIVES, answers = collector()


# --- attention


@answers("attention")
def with_einsum(query, keys, values, mask=None):
    scores = np.einsum("...qd,...kd->...qk", query, keys) / math.sqrt(keys.shape[-1])
    if mask is not None:
        scores[~np.broadcast_to(mask, scores.shape)] = -np.inf
    exps = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights = exps / exps.sum(axis=-1, keepdims=True)
    return np.einsum("...qk,...kv->...qv", weights, values), weights


@answers("attention")
def with_the_lowest_number_there_is(query, keys, values, mask=None):
    scores = np.matmul(query, np.swapaxes(keys, -1, -2)) / query.shape[-1] ** 0.5
    if mask is None:
        mask = np.ones(scores.shape, dtype=bool)
    weights = softmax(np.where(mask, scores, np.finfo(scores.dtype).min))
    return [np.matmul(weights, values), weights]


@answers("attention")
def row_by_row(query, keys, values, mask=None):
    def softly(scores):
        exps = np.exp(scores - np.max(scores))
        return exps / np.sum(exps)

    *batch, T_q, d = query.shape
    T_k = keys.shape[-2]
    allowed = np.broadcast_to(True if mask is None else mask, (*batch, T_q, T_k))
    weights = np.zeros((*batch, T_q, T_k), dtype=query.dtype)
    context = np.zeros((*batch, T_q, values.shape[-1]), dtype=query.dtype)
    for where in np.ndindex(*batch, T_q):
        key, value, may = keys[where[:-1]], values[where[:-1]], allowed[where]
        weights[(*where, may)] = softly(np.array([query[where] @ k / math.sqrt(d) for k in key[may]]))
        for j in range(T_k):
            context[where] += weights[where][j] * value[j]
    return context, weights


# --- additive_attention


@answers("additive_attention")
def with_two_new_axes(query, keys, values, Wq, Wk, v, mask=None):
    q, k = np.expand_dims(query @ Wq, -2), np.expand_dims(keys @ Wk, -3)
    scores = np.einsum("...a,a->...", np.tanh(q + k), v)
    if mask is not None:
        scores = np.where(mask, scores, -np.inf)
    weights = softmax(scores)
    return weights @ values, weights


@answers("additive_attention")
def a_query_at_a_time(query, keys, values, Wq, Wk, v, mask=None):
    rows = []
    for i in range(query.shape[-2]):
        hidden = np.tanh(query[..., i : i + 1, :] @ Wq + keys @ Wk)
        rows.append((hidden * v).sum(axis=-1))
    scores = np.stack(rows, axis=-2)
    if mask is not None:
        scores = np.where(mask, scores, np.finfo(scores.dtype).min)
    exps = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights = exps / exps.sum(axis=-1, keepdims=True)
    return weights @ values, weights


@answers("additive_attention")
def every_pair(query, keys, values, Wq, Wk, v, mask=None):
    *batch, T_q, _ = query.shape
    T_k = keys.shape[-2]
    scores = np.empty((*batch, T_q, T_k), dtype=query.dtype)
    for *n, i, j in np.ndindex(scores.shape):
        scores[(*n, i, j)] = np.tanh(query[(*n, i)] @ Wq + keys[(*n, j)] @ Wk) @ v
    if mask is not None:
        scores[~np.broadcast_to(mask, scores.shape)] = -np.inf
    weights = softmax(scores)
    return weights @ values, weights


# --- AttentionDecoder


class Layers(nn.Module):
    """The five layers, for decoders that differ in how they look."""

    def __init__(self, vocabulary_size, embedding_size, hidden_size):
        super().__init__()
        self.embedding = nn.Embedding(vocabulary_size, embedding_size)
        self.rnn = nn.GRU(embedding_size, hidden_size)
        self.query = nn.Linear(hidden_size, hidden_size, bias=False)
        self.combine = nn.Linear(2 * hidden_size, hidden_size)
        self.output = nn.Linear(hidden_size, vocabulary_size)


@answers("AttentionDecoder")
class WithEinsum(Layers):
    def forward(self, ids, state, keys, mask=None):
        states, last = self.rnn(self.embedding(ids), state)
        scores = torch.einsum("tnh,snh->nts", self.query(states), keys) * keys.shape[-1] ** -0.5
        if mask is not None:
            scores = scores + torch.zeros_like(scores).masked_fill(~mask.unsqueeze(1), -torch.inf)
        weights = scores.softmax(2)
        context = torch.einsum("nts,snh->tnh", weights, keys)
        return self.output(torch.tanh(self.combine(torch.cat((states, context), 2)))), last, weights


@answers("AttentionDecoder")
class StepByStepLooking(Layers):
    def forward(self, ids, state, keys, mask=None):
        logits, looks = [], []
        for vectors in self.embedding(ids):
            out, state = self.rnn(vectors[None], state)
            scores = (self.query(out[0]) * keys).sum(-1).T / keys.size(2) ** 0.5  # (N, S)
            if mask is not None:
                scores = torch.where(mask, scores, torch.full_like(scores, -math.inf))
            alpha = torch.softmax(scores, dim=1)
            context = (alpha.T[..., None] * keys).sum(dim=0)
            logits.append(self.output(self.combine(torch.cat([out[0], context], 1)).tanh()))
            looks.append(alpha)
        return torch.stack(logits), state, torch.stack(looks, dim=1)


@answers("AttentionDecoder")
class ProjectedKeys(Layers):
    """s W_a h = s (h W_a^T): the keys are turned once, and the states ask as they are."""

    def forward(self, ids, state, keys, mask=None):
        states, state = self.rnn(self.embedding(ids), state)
        turned = keys @ self.query.weight
        scores = (states.transpose(0, 1) @ turned.permute(1, 2, 0)) / math.sqrt(keys.shape[2])
        if mask is not None:
            scores = scores.masked_fill(~mask[:, None], -math.inf)
        weights = torch.softmax(scores, -1)
        context = torch.matmul(weights, keys.transpose(0, 1)).transpose(0, 1)
        hidden = torch.tanh(self.combine(torch.cat([states, context], -1)))
        return self.output(hidden), state, weights


# --- self_attention


@answers("self_attention")
def in_two_lines(X, Wq, Wk, Wv, causal=False):
    T = X.shape[0]
    return attention(X @ Wq, X @ Wk, X @ Wv, np.tril(np.ones((T, T), dtype=bool)) if causal else None)[0]


@answers("self_attention")
def without_attention(X, Wq, Wk, Wv, causal=False):
    scores = (X @ Wq) @ (X @ Wk).T / math.sqrt(Wq.shape[1])
    if causal:
        scores[np.triu_indices(len(X), 1)] = -np.inf
    return softmax(scores) @ (X @ Wv)


@answers("self_attention")
def a_step_at_a_time(X, Wq, Wk, Wv, causal=False):
    rows = []
    for t in range(len(X)):
        seen = X[: t + 1] if causal else X
        weights = softmax((X[t] @ Wq) @ (seen @ Wk).T / math.sqrt(Wk.shape[1]))
        rows.append(weights @ (seen @ Wv))
    return np.array(rows)
