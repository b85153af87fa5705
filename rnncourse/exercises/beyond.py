"""Unit 13: attention, and breaking the sequential bottleneck. Its exercises, their cases, hints and misconceptions."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from rnncourse import beyond
from rnncourse.checks.drive import layer, steps
from rnncourse.checks.exercise import Case, Draw, Unit, case, edge, normal, weights
from rnncourse.checks.parameters import Parameters, embedding, linear, recurrent
from rnncourse.checks.plain import Plain

try:
    from rnncourse.beyond_torch import AttentionDecoder
except ModuleNotFoundError:  # in a browser there is no torch, and the unit there is without this exercise
    AttentionDecoder = None  # type: ignore

unit = Unit("13_beyond", "Attention, and breaking the sequential bottleneck", beyond, forbids=("torch", "scipy"))


def look_mask(rng: np.random.Generator, *shape: int) -> np.ndarray:
    """Draw a mask of which every row has at least one True and one False."""
    keys = shape[-1]
    order = rng.permuted(np.broadcast_to(np.arange(keys), shape), axis=-1)
    return np.asarray(order < rng.integers(1, keys, size=(*shape[:-1], 1)))


ex = unit.exercise(
    "attention",
    points=4,
    takes="query (N, queries, d), keys (N, keys, d), values (N, keys, d_v), mask",
    gives="context (N, queries, d_v), weights (N, queries, keys)",
    hints=(
        "Three lines: scores, weights, context. Which product takes (T_q, d) and (T_k, d) to (T_q, T_k)?",
        "Divide the scores by the root of d, the size of a query. Set those that the mask does not allow to -inf, "
        "*before* the softmax over the last axis. The context is a product of the weights with the values.",
        "`scores = query @ np.swapaxes(keys, -1, -2) / math.sqrt(query.shape[-1])`; if there is a mask: "
        "`scores = np.where(mask, scores, -np.inf)`; `weights = softmax(scores)`; `return weights @ values, weights`.",
    ),
)


def dot_arguments(
    rng: np.random.Generator, *batch: int, sizes: tuple[int, int, int, int], dtype: Any = np.float64
) -> tuple[np.ndarray, ...]:
    """Draw query, keys and values for T_q, T_k, d and d_v."""
    T_q, T_k, d, d_v = sizes
    return (
        normal(rng, *batch, T_q, d, dtype=dtype),
        normal(rng, *batch, T_k, d, dtype=dtype),
        normal(rng, *batch, T_k, d_v, dtype=dtype),
    )


@ex.cases
def _(rng: np.random.Generator) -> Iterator[Case]:
    yield case(*dot_arguments(rng, 2, sizes=(4, 5, 6, 3)))
    yield case(*dot_arguments(rng, sizes=(5, 4, 3, 7)))
    yield case(*dot_arguments(rng, 3, sizes=(4, 6, 5, 2)), look_mask(rng, 3, 4, 6))
    yield case(
        *dot_arguments(rng, 2, sizes=(3, 5, 4, 6)), look_mask(rng, 2, 1, 5)
    )  # a mask of padding, for all queries
    yield case(*dot_arguments(rng, sizes=(6, 4, 3, 5)), look_mask(rng, 6, 4))
    yield edge("mask=None", *dot_arguments(rng, 2, sizes=(3, 4, 5, 2)), None)
    yield edge("one mask for all rows", *dot_arguments(rng, 3, sizes=(4, 5, 2, 6)), look_mask(rng, 4, 5))
    yield edge("a mask of one axis", *dot_arguments(rng, 2, sizes=(3, 6, 4, 5)), look_mask(rng, 6))
    yield edge("two axes of batches", *dot_arguments(rng, 2, 3, sizes=(4, 5, 6, 7)), look_mask(rng, 2, 3, 4, 5))
    yield edge("one query, one key", *dot_arguments(rng, 2, sizes=(1, 1, 3, 4)), np.ones((1, 1), dtype=bool))
    yield edge("all sizes alike", *dot_arguments(rng, 4, sizes=(4, 4, 4, 4)), look_mask(rng, 4, 4))
    yield edge("only the past may be seen", *dot_arguments(rng, 2, sizes=(5, 5, 3, 4)), np.tri(5, dtype=bool))
    query, keys, values = dot_arguments(rng, 2, sizes=(4, 5, 3, 2))
    yield edge("large scores", 1e3 * query, 1e3 * keys, values, look_mask(rng, 2, 4, 5))
    # The key that is hidden has by far the largest score: taking some thousands from it leaves it the largest, and
    # its weight leaves nothing for the others.
    query, keys, mask = np.abs(query), np.abs(keys), np.ones(5, dtype=bool)
    hidden = int(rng.integers(5))
    keys[:, hidden], mask[hidden] = 1e6, False
    yield edge("the largest scores are hidden", query, keys, values, mask)
    yield edge("float32", *dot_arguments(rng, 2, sizes=(3, 4, 5, 6), dtype=np.float32), look_mask(rng, 2, 3, 4))


@ex.holds("The order of the keys says nothing")
def _(call: Any, rng: np.random.Generator) -> str | None:
    query, keys, values = dot_arguments(rng, 2, sizes=(4, 5, 3, 2))
    order = rng.permutation(5)
    context, _ = call(query, keys, values)
    moved, _ = call(query, keys[:, order], values[:, order])
    same = np.allclose(np.asarray(context), np.asarray(moved))
    return None if same else "with keys and values in another order, the context came out different."


ex.mistakes(r"""
not_scaled: The scores are not scaled. A dot product of d numbers grows like the root of d: divide by it, or long
  vectors make the softmax look at one key only.
- scores = query @ np.swapaxes(keys, -1, -2) / math.sqrt(query.shape[-1])
+ scores = query @ np.swapaxes(keys, -1, -2)

scaled_by_d: You divide the scores by d. It is the *root* of d: the variance of a sum of d products grows like d, its
  size like the root.
- scores = query @ np.swapaxes(keys, -1, -2) / math.sqrt(query.shape[-1])
+ scores = query @ np.swapaxes(keys, -1, -2) / query.shape[-1]

scaled_by_the_values: You divide by the root of d_v, the size of the values. They have no part in the scores: d is the
  size of a query and of a key.
- scores = query @ np.swapaxes(keys, -1, -2) / math.sqrt(query.shape[-1])
+ scores = query @ np.swapaxes(keys, -1, -2) / math.sqrt(values.shape[-1])

scaled_by_the_number_of_keys: You divide by the root of the number of keys. How many keys there are does not change how
  large a score is: d is the last axis of query, `query.shape[-1]`.
- scores = query @ np.swapaxes(keys, -1, -2) / math.sqrt(query.shape[-1])
+ scores = query @ np.swapaxes(keys, -1, -2) / math.sqrt(keys.shape[-2])

softmax_over_the_queries: Your softmax runs over the queries: the columns of the weights sum to 1, not the rows. Each
  *query* shares out one unit of attention among the keys, the last axis.
-     scores = np.where(mask, scores, -np.inf)
- weights = softmax(scores)
+     scores = np.where(mask, scores, -1e9)
+ weights = np.swapaxes(softmax(np.swapaxes(scores, -1, -2)), -1, -2)

mask_inverted: Your mask works the wrong way round: you look exactly where one may not. True means *may look*.
- scores = np.where(mask, scores, -np.inf)
+ scores = np.where(mask, -np.inf, scores)

mask_ignored: The mask has no effect: keys where it is False still get weight.
- if mask is not None:
-     scores = np.where(mask, scores, -np.inf)

mask_after_the_softmax: The masked rows of your weights no longer sum to 1: weights were set to zero after the softmax.
  Mask the *scores*, with -inf, before it.
- scores = np.where(mask, scores, -np.inf)
+ weights = softmax(scores) * mask
+ return weights @ values, weights

masked_scores_zero: Where the mask is False the score is 0. But exp(0) is 1, so these keys keep a good share of the
  weight: the score has to be -inf.
- scores = np.where(mask, scores, -np.inf)
+ scores = scores * mask

infinity_times_zero: With a mask you get nan. That comes of -inf times 0, of inf - inf, or of a row whose scores are all
  -inf. Choose between two values instead: `np.where(mask, scores, -np.inf)`.
- scores = np.where(mask, scores, -np.inf)
+ scores = scores - np.inf * (1 - mask.astype(scores.dtype))

reshaped_for_transposed: The numbers of the keys are cut anew, as by a reshape where they have to be transposed: the
  shape is right, and pieces of each key land in others. Take `np.swapaxes(keys, -1, -2)`.
- scores = query @ np.swapaxes(keys, -1, -2) / math.sqrt(query.shape[-1])
+ turned = keys.reshape(*keys.shape[:-2], keys.shape[-1], keys.shape[-2])
+ scores = query @ turned / math.sqrt(query.shape[-1])

keys_for_values: Your context is an average of the keys. The keys only say where to look; what one gets there are the
  values.
- return weights @ values, weights
+ return weights @ keys, weights

scores_for_weights: What you return second are the scores, not the weights that the softmax makes of them.
- return weights @ values, weights
+ return weights @ values, scores

large_scores_overflow: Where scores are large, you get nan: exp overflows, and infinity divided by infinity is none.
  Subtract the row's largest score first, or call `softmax` of unit 03.
- weights = softmax(scores)
+ weights = np.exp(scores) / np.exp(scores).sum(axis=-1, keepdims=True)

root_in_float64: float32 comes back as float64. What turns it is an array or a number of NumPy's own in float64, as
  `np.sqrt` of a whole number is one; a plain Python number, as `d**0.5`, does not.
- scores = query @ np.swapaxes(keys, -1, -2) / math.sqrt(query.shape[-1])
+ scores = query @ np.swapaxes(keys, -1, -2) / np.sqrt(query.shape[-1])
""")


ex = unit.exercise(
    "additive_attention",
    points=3,
    takes="query (N, queries, d_q), keys (N, keys, d_k), values (N, keys, d_v), Wq (d_q, A), Wk (d_k, A), v (A,), mask",
    gives="context (N, queries, d_v), weights (N, queries, keys)",
    hints=(
        "Every query meets every key: you need an array with an axis for queries, one for keys and one for the A "
        "hidden units. Broadcasting makes it of two arrays that have an axis of length 1 in different places.",
        "`(query @ Wq)[..., :, None, :]` is (…, T_q, 1, A). Give `keys @ Wk` its axis of length 1 in the place of the "
        "queries, add, take the tanh, multiply with v. From there on it is as in `attention`, without the scaling.",
        "`hidden = np.tanh((query @ Wq)[..., :, None, :] + (keys @ Wk)[..., None, :, :])`, then `scores = hidden @ v`; "
        "then mask, softmax and `weights @ values` as before.",
    ),
)


def additive_arguments(
    rng: np.random.Generator, *batch: int, sizes: tuple[int, int, int, int, int, int], dtype: Any = np.float64
) -> tuple[np.ndarray, ...]:
    """Draw query, keys, values, Wq, Wk and v for T_q, T_k, d_q, d_k, d_v and A."""
    T_q, T_k, d_q, d_k, d_v, A = sizes
    return (
        normal(rng, *batch, T_q, d_q, dtype=dtype),
        normal(rng, *batch, T_k, d_k, dtype=dtype),
        normal(rng, *batch, T_k, d_v, dtype=dtype),
        weights(rng, d_q, A, dtype),
        weights(rng, d_k, A, dtype),
        normal(rng, A, dtype=dtype),
    )


@ex.cases
def _(rng: np.random.Generator) -> Iterator[Case]:
    yield case(*additive_arguments(rng, 2, sizes=(4, 5, 3, 6, 2, 7)))
    yield case(*additive_arguments(rng, sizes=(5, 4, 6, 3, 7, 2)))
    yield case(*additive_arguments(rng, 3, sizes=(4, 6, 2, 5, 3, 7)), look_mask(rng, 3, 4, 6))
    yield case(*additive_arguments(rng, 2, sizes=(3, 5, 4, 2, 6, 7)), look_mask(rng, 2, 1, 5))
    yield edge("mask=None", *additive_arguments(rng, 2, sizes=(3, 4, 5, 2, 6, 7)), None)
    yield edge("a mask of one axis", *additive_arguments(rng, 2, sizes=(3, 6, 4, 5, 2, 7)), look_mask(rng, 6))
    yield edge("two axes of batches", *additive_arguments(rng, 2, 3, sizes=(4, 5, 6, 7, 2, 3)), look_mask(rng, 4, 5))
    yield edge("one query, one key", *additive_arguments(rng, 2, sizes=(1, 1, 3, 4, 2, 5)), np.ones((1, 1), bool))
    yield edge("all sizes alike", *additive_arguments(rng, 4, sizes=(4, 4, 4, 4, 4, 4)), look_mask(rng, 4, 4))
    *arrays, v = additive_arguments(rng, 2, sizes=(4, 5, 3, 2, 6, 7))
    yield edge("large scores", *arrays, 1e5 * v, look_mask(rng, 2, 4, 5))
    single = additive_arguments(rng, 2, sizes=(3, 4, 5, 6, 2, 7), dtype=np.float32)
    yield edge("float32", *single, look_mask(rng, 2, 3, 4))


ex.mistakes(r"""
no_tanh: There is no tanh. Then the query adds the same number to all scores of its row, and the softmax takes that out
  again: whatever you ask, you get one and the same answer.
- hidden = np.tanh((query @ Wq)[..., :, None, :] + (keys @ Wk)[..., None, :, :])
+ hidden = (query @ Wq)[..., :, None, :] + (keys @ Wk)[..., None, :, :]

tanh_of_each: You take the tanh of the query's part and of the key's part apart and add them. Then they never meet, and
  the query's part drops out of the softmax: the tanh is of the sum.
- hidden = np.tanh((query @ Wq)[..., :, None, :] + (keys @ Wk)[..., None, :, :])
+ hidden = np.tanh(query @ Wq)[..., :, None, :] + np.tanh(keys @ Wk)[..., None, :, :]

multiplied: You multiply the query's part with the key's. It is called additive attention because they are added.
- hidden = np.tanh((query @ Wq)[..., :, None, :] + (keys @ Wk)[..., None, :, :])
+ hidden = np.tanh((query @ Wq)[..., :, None, :] * (keys @ Wk)[..., None, :, :])

v_inside_the_tanh: You multiply with v before the tanh, so no score can be beyond -1 and 1. First the tanh of all A
  hidden units, then v.
- hidden = np.tanh((query @ Wq)[..., :, None, :] + (keys @ Wk)[..., None, :, :])
- scores = hidden @ v
+ scores = np.tanh(((query @ Wq)[..., :, None, :] + (keys @ Wk)[..., None, :, :]) @ v)

v_forgotten: You sum the hidden units up, each as heavy as the others. Their weights in that sum are learned: it is v.
- scores = hidden @ v
+ scores = hidden.sum(axis=-1)

scaled: You divide the scores by the root of A. Additive attention is not scaled: v learns how large a score is.
- scores = hidden @ v
+ scores = hidden @ v / math.sqrt(len(v))

columns_sum_to_one: Your softmax runs over the queries, axis -2. Each *row* sums to 1: it is over the keys, the last
  axis.
-     scores = np.where(mask, scores, -np.inf)
- weights = softmax(scores)
+     scores = np.where(mask, scores, -1e9)
+ weights = np.swapaxes(softmax(np.swapaxes(scores, -1, -2)), -1, -2)

keys_averaged: Your context is an average of the keys. What the weights average are the values.
- return weights @ values, weights
+ return weights @ keys, weights

mask_upside_down: Your mask works the wrong way round. True means *may look*: scores become -inf where it is False.
- scores = np.where(mask, scores, -np.inf)
+ scores = np.where(mask, -np.inf, scores)

mask_forgotten: The mask has no effect: keys where it is False still get weight.
- if mask is not None:
-     scores = np.where(mask, scores, -np.inf)

weights_masked: You mask the weights, so the rows that are masked no longer sum to 1. Mask the scores, before the
  softmax.
- scores = np.where(mask, scores, -np.inf)
+ weights = softmax(scores) * mask
+ return weights @ values, weights

hidden_units_masked: The score of what may not be seen is 0. That is an ordinary score, and exp(0) is 1: it has to be
  -inf.
- scores = np.where(mask, scores, -np.inf)
+ scores = scores * mask

exp_overflows: Where v is large, you get nan: exp overflows. Subtract the row's largest score first, or call `softmax`.
- weights = softmax(scores)
+ weights = np.exp(scores) / np.exp(scores).sum(axis=-1, keepdims=True)
""")


ex = unit.exercise(
    "AttentionDecoder",
    reference=AttentionDecoder,
    points=4,
    takes="sizes, parameters, inputs",
    gives="returned, gradients, input_gradients",
    drive=layer,
    forbids=("rnncourse.beyond_torch",),
    hints=(
        "Five layers, and `forward` has four parts: the GRU as in unit 12, the weights as in your `attention`, the "
        "context, the output. Write the shape of each tensor behind its line.",
        "The GRU has time first, a product of matrices wants the batch first: take `self.query(states)` and `keys` to "
        "(N, T, H) and (N, S, H) with `transpose(0, 1)`, and the context back. The mask (N, S) is the same for all "
        "queries of a sequence: `mask[:, None]` is (N, 1, S).",
        "`scores = queries @ keys.transpose(1, 2) / math.sqrt(keys.shape[2])`; with a mask `scores = "
        "scores.masked_fill(~mask[:, None], -math.inf)`; `weights = torch.softmax(scores, dim=-1)`; `context = "
        "(weights @ keys).transpose(0, 1)`; `self.output(torch.tanh(self.combine(torch.cat([states, context], "
        "dim=-1))))`.",
    ),
)


def looking(rng: np.random.Generator, V: int, E: int, H: int, dtype: Any = np.float64) -> Parameters:
    """Draw the parameters of an AttentionDecoder by name."""
    drawn = embedding(rng, "embedding", V, E, dtype) | recurrent(rng, "rnn", E, H, dtype, gates=3)
    drawn |= {"query.weight": 2 * weights(rng, H, H, dtype).T.copy()}
    return drawn | linear(rng, "combine", 2 * H, H, dtype) | linear(rng, "output", H, V, dtype)


@ex.cases
def _(rng: np.random.Generator) -> Iterator[Case]:
    def call(V: int, H: int, T: int, N: int, S: int, dtype: Any = np.float64) -> tuple[np.ndarray, ...]:
        return rng.integers(0, V, size=(T, N)), normal(rng, 1, N, H, dtype=dtype), normal(rng, S, N, H, dtype=dtype)

    yield case((7, 3, 5), looking(rng, 7, 3, 5), [call(7, 5, 4, 2, 6), (*call(7, 5, 6, 3, 4), None)])
    yield case((6, 4, 3), looking(rng, 6, 4, 3), [(*call(6, 3, 5, 2, 7), look_mask(rng, 2, 7))])
    yield case((9, 2, 4), looking(rng, 9, 2, 4), [(*call(9, 4, 6, 3, 5), np.arange(5) < [[2], [5], [3]])])
    yield edge("one step", (5, 2, 4), looking(rng, 5, 2, 4), [(*call(5, 4, 1, 3, 6), look_mask(rng, 3, 6))])
    yield edge("one row", (4, 3, 2), looking(rng, 4, 3, 2), [(*call(4, 2, 5, 1, 6), look_mask(rng, 1, 6))])
    yield edge("one key", (4, 3, 2), looking(rng, 4, 3, 2), [call(4, 2, 5, 3, 1)])
    yield edge("all sizes alike", (4, 4, 4), looking(rng, 4, 4, 4), [(*call(4, 4, 4, 4, 4), look_mask(rng, 4, 4))])
    # The one key that may be seen has by far the smallest score: some thousands taken from the others would not do.
    ids, state, keys = call(5, 3, 4, 2, 6)
    only = np.zeros((2, 6), dtype=bool)
    only[:, int(rng.integers(6))] = True
    keys[~only[0]] *= 1e6
    yield edge("large scores", (5, 2, 3), looking(rng, 5, 2, 3), [(ids, state, keys, only)])
    single = looking(rng, 5, 2, 3, np.float32)
    yield edge("float32", (5, 2, 3), single, [(*call(5, 3, 4, 2, 6, np.float32), look_mask(rng, 2, 6))])


@ex.holds("A call for each step gives what one call for all gives")
def _(call: Any, rng: np.random.Generator) -> str | None:
    parameters, ids, keys = looking(rng, 6, 3, 4), rng.integers(0, 6, size=(5, 2)), normal(rng, 7, 2, 4)
    state = normal(rng, 1, 2, 4)
    whole = call((6, 3, 4), parameters, [(ids, state, keys)])[0][0]
    logits = []
    for t in range(5):
        step, state, _ = call((6, 3, 4), parameters, [(ids[t : t + 1], np.asarray(state), keys)])[0][0]
        logits.append(np.asarray(step)[0])
    same = np.allclose(np.stack(logits), np.asarray(whole[0]), atol=1e-8)
    return None if same else "fed step by step, with the state handed on, it gave other logits."


ex.mistakes(r"""
state_not_used: The decoder starts from zeros: the state that it is given is not used. Hand it to the GRU as its second
  argument.
- states, state = self.rnn(self.embedding(ids), state)
+ states, state = self.rnn(self.embedding(ids))

asks_before_it_has_read: Step t asks with the state from before it has read token t. Let the GRU read first, then ask
  with the state that came out.
- states, state = self.rnn(self.embedding(ids), state)
- queries, keys = self.query(states).transpose(0, 1), keys.transpose(0, 1)
+ first = state
+ states, state = self.rnn(self.embedding(ids), state)
+ queries, keys = self.query(torch.cat([first, states[:-1]])).transpose(0, 1), keys.transpose(0, 1)

query_not_used: The states ask as they are, and `query` has no part in it: it would never learn. The queries are
  `self.query(states)`.
- queries, keys = self.query(states).transpose(0, 1), keys.transpose(0, 1)
+ queries, keys = states.transpose(0, 1), keys.transpose(0, 1)

keys_projected_too: `query` turns the keys as well, or instead of the states. It is only for what asks: keys come as
  they are.
- queries, keys = self.query(states).transpose(0, 1), keys.transpose(0, 1)
+ queries, keys = states.transpose(0, 1), self.query(keys).transpose(0, 1)

scores_not_scaled: The scores are not scaled. Divide them by the root of H, the size of a key, as in your `attention`.
- scores = queries @ keys.transpose(1, 2) / math.sqrt(keys.shape[2])
+ scores = queries @ keys.transpose(1, 2)

scaled_by_the_keys_number: You divide by the root of the number of keys, or of steps. It is the root of H, the size of a
  key: after the transpose that is its last axis.
- scores = queries @ keys.transpose(1, 2) / math.sqrt(keys.shape[2])
+ scores = queries @ keys.transpose(1, 2) / math.sqrt(keys.shape[1])

padding_seen: The mask has no effect: a key where it is False still gets weight.
- if mask is not None:
-     scores = scores.masked_fill(~mask[:, None], -math.inf)

mask_turned_round: Your mask works the wrong way round. True means *may look*; `masked_fill` fills where it is given
  True, so it wants `~mask`.
- scores = scores.masked_fill(~mask[:, None], -math.inf)
+ scores = scores.masked_fill(mask[:, None], -math.inf)

weights_cut_after_the_softmax: With a mask your weights no longer sum to 1: they were set to 0 after the softmax. Mask
  the *scores*, with -inf, before it.
-     scores = scores.masked_fill(~mask[:, None], -math.inf)
- weights = torch.softmax(scores, dim=-1)
+     weights = torch.softmax(scores, dim=-1) * mask[:, None]
+ else:
+     weights = torch.softmax(scores, dim=-1)

steps_share_a_key: Your softmax runs over the steps of the decoder. Each step shares out *its* attention among the keys:
  that is the last axis.
-     scores = scores.masked_fill(~mask[:, None], -math.inf)
- weights = torch.softmax(scores, dim=-1)
+     scores = scores.masked_fill(~mask[:, None], -1e9)
+ weights = torch.softmax(scores, dim=1)

context_first: The context stands before the state where they are joined. `combine` was told [states, context]: the
  first H of its columns are for the state.
- hidden = torch.tanh(self.combine(torch.cat([states, context], dim=-1)))
+ hidden = torch.tanh(self.combine(torch.cat([context, states], dim=-1)))

no_tanh_on_the_hidden: There is no tanh around `combine`. Two linear layers in a row are one: nothing is bent between
  them.
- hidden = torch.tanh(self.combine(torch.cat([states, context], dim=-1)))
+ hidden = self.combine(torch.cat([states, context], dim=-1))

softmax_on_the_logits: You return probabilities. Logits are wanted: `cross_entropy` takes the softmax itself.
- return self.output(hidden), state, weights
+ return torch.softmax(self.output(hidden), dim=-1), state, weights

scores_returned: The third thing to return are the weights, which sum to 1. You return the scores.
- return self.output(hidden), state, weights
+ return self.output(hidden), state, scores

time_first_in_the_weights: Your weights are (T, N, S). They are returned with the batch first, (N, T, S): one map for
  each sequence.
- return self.output(hidden), state, weights
+ return self.output(hidden), state, weights.transpose(0, 1)

keys_cut_off: The numbers are right, but no gradient reaches the keys: the encoder that made them would never learn what
  to keep there. Use them as they come, not detached.
- queries, keys = self.query(states).transpose(0, 1), keys.transpose(0, 1)
+ queries, keys = self.query(states).transpose(0, 1), keys.detach().transpose(0, 1)

weights_cut_off: The numbers are right, but no gradient goes through the weights: where to look would never be learned.
- context = (weights @ keys).transpose(0, 1)
+ context = (weights.detach() @ keys).transpose(0, 1)
""")


ex = unit.exercise(
    "self_attention",
    points=3,
    takes="X (T, D), Wq (D, d), Wk (D, d), Wv (D, d_v), causal",
    gives="contexts (T, d_v)",
    uses=(beyond.attention,),
    hints=(
        "It is your `attention`. Where do queries, keys and values come from when there is only one sequence?",
        "The queries are `X @ Wq`; the keys and the values are made in the same way. For `causal` you need a mask "
        "(T, T): row t may look at the columns up to t, its own among them. What does `np.tri(4)` look like?",
        "`mask = np.tri(len(X), dtype=bool) if causal else None`, then `context, _ = attention(X @ Wq, X @ Wk, X @ Wv, "
        "mask)`, and return the context.",
    ),
)


def self_arguments(
    rng: np.random.Generator, T: int, D: int, d: int, d_v: int, dtype: Any = np.float64
) -> tuple[np.ndarray, ...]:
    """Draw X and three matrices; queries are large enough for the weights to differ."""
    X = normal(rng, T, D, dtype=dtype)
    return X, 2 * weights(rng, D, d, dtype), weights(rng, D, d, dtype), weights(rng, D, d_v, dtype)


ex.draws(self_arguments)


@ex.cases
def _(rng: np.random.Generator, draw: Draw) -> Iterator[Case]:
    yield case(*self_arguments(rng, 6, 3, 5, 2), True)
    yield case(*self_arguments(rng, 4, 7, 2, 5), True)
    yield edge("causal=False", *draw(), False)
    yield edge("one step", *draw(T=1), True)
    yield edge("two steps", *draw(T=2), True)
    yield edge("all sizes alike", *self_arguments(rng, 4, 4, 4, 4), True)
    yield edge("all sizes alike", *self_arguments(rng, 4, 4, 4, 4))
    X, *matrices = draw()
    yield edge("large scores", 1e3 * X, *matrices, True)
    yield edge("float32", *draw(dtype=np.float32), True)


@ex.holds("Shuffled steps give shuffled answers")
def _(call: Any, rng: np.random.Generator) -> str | None:
    X, *matrices = self_arguments(rng, 6, 3, 4, 2)
    order = rng.permutation(6)
    same = np.allclose(np.asarray(call(X[order], *matrices)), np.asarray(call(X, *matrices))[order])
    return None if same else "with the rows of X in another order, the rows that came out were others, not only moved."


@ex.holds("What comes later changes nothing, if causal")
def _(call: Any, rng: np.random.Generator) -> str | None:
    X, *matrices = self_arguments(rng, 6, 3, 4, 2)
    same = np.allclose(np.asarray(call(X[:4], *matrices, True)), np.asarray(call(X, *matrices, True))[:4])
    return None if same else "with two steps more at the end, the first four answers came out different."


ex.mistakes(r"""
causal_has_no_effect: `causal` has no effect: a step still looks at what comes after it.
- mask = np.tri(len(X), dtype=bool) if causal else None
+ mask = None

always_causal: You mask the future always. Without `causal` each step looks at all of them.
- mask = np.tri(len(X), dtype=bool) if causal else None
+ mask = np.tri(len(X), dtype=bool)

only_the_future: Your causal mask is the wrong way round: each step looks at itself and at what comes after. Row t of
  the mask is a query, and it may look at columns up to t.
- mask = np.tri(len(X), dtype=bool) if causal else None
+ mask = np.tri(len(X), dtype=bool).T if causal else None

not_at_itself: Your causal mask leaves out the step itself, so the first one has nothing to look at. Up to t means with
  t: the diagonal of the mask is True.
- mask = np.tri(len(X), dtype=bool) if causal else None
+ mask = np.tri(len(X), k=-1, dtype=bool) if causal else None

one_step_ahead: Your causal mask lets each step see the one after it: that is the very token that a language model is to
  predict. The diagonal is the last that is True.
- mask = np.tri(len(X), dtype=bool) if causal else None
+ mask = np.tri(len(X), k=1, dtype=bool) if causal else None

queries_and_keys_exchanged: Queries and keys have changed places: Wq makes what asks, a row of the scores, and Wk what
  is asked, a column.
- context, _ = attention(X @ Wq, X @ Wk, X @ Wv, mask)
+ context, _ = attention(X @ Wk, X @ Wq, X @ Wv, mask)

keys_from_the_queries_matrix: Queries and keys are both made with Wq, so Wk has no say. They are two questions: what am
  I looking for, and what do I have to offer.
- context, _ = attention(X @ Wq, X @ Wk, X @ Wv, mask)
+ context, _ = attention(X @ Wq, X @ Wq, X @ Wv, mask)

values_not_made: The rows of X are averaged as they are. The values are X Wv.
- context, _ = attention(X @ Wq, X @ Wk, X @ Wv, mask)
+ context, _ = attention(X @ Wq, X @ Wk, X, mask)

keys_for_values: You average the keys. What is averaged are the values, X Wv.
- context, _ = attention(X @ Wq, X @ Wk, X @ Wv, mask)
+ context, _ = attention(X @ Wq, X @ Wk, X @ Wk, mask)

weights_for_contexts: You return the weights. Asked for are the contexts, (T, d_v), the first thing that `attention`
  returns.
- context, _ = attention(X @ Wq, X @ Wk, X @ Wv, mask)
+ _, context = attention(X @ Wq, X @ Wk, X @ Wv, mask)

both_returned: You return the pair that `attention` gives. Here only the contexts are wanted.
- context, _ = attention(X @ Wq, X @ Wk, X @ Wv, mask)
+ context = attention(X @ Wq, X @ Wk, X @ Wv, mask)

scaled_by_D: You divide the scores by the root of D, the size of a row of X. It is that of a query, d.
- context, _ = attention(X @ Wq, X @ Wk, X @ Wv, mask)
+ scores = X @ Wq @ (X @ Wk).T / math.sqrt(X.shape[1])
+ context = softmax(scores if mask is None else np.where(mask, scores, -np.inf)) @ X @ Wv

future_cut_after_the_softmax: If causal, your weights no longer sum to 1: those of the future were set to 0 after the
  softmax. Mask the scores, or hand the mask to `attention`.
- context, _ = attention(X @ Wq, X @ Wk, X @ Wv, mask)
+ _, weights = attention(X @ Wq, X @ Wk, X @ Wv)
+ context = (weights if mask is None else weights * mask) @ X @ Wv
""")


ex = unit.exercise(
    "linear_recurrence",
    points=2,
    takes="a (T, N, H), b (T, N, H), h0 (N, H)",
    gives="states (T, N, H)",
    hints=(
        "It is the loop of `rnn_forward` with another step in it. What is carried from step to step?",
        "Start with `h = h0`. At each step make a *new* h from a[t], the old h and b[t], and keep it. h0 itself is not "
        "among the states.",
        "`H = np.empty_like(b)`; `h = h0`; then for each t: `h = a[t] * h + b[t]` and `H[t] = h`; return H.",
    ),
)


def recurrence(rng: np.random.Generator, T: int, *shape: int, dtype: Any = np.float64) -> tuple[Any, ...]:
    """Draw a, b (T, …) and h0 (…): factors between -1.1 and 1.1, but not close to 0. Without axes, h0 is a number."""
    a = rng.uniform(0.4, 1.1, (T, *shape)) * rng.choice([-1, 1], (T, *shape))
    h0 = (normal(rng, *shape) + 2).astype(dtype) if shape else float(rng.uniform(1, 2))
    return a.astype(dtype), normal(rng, T, *shape, dtype=dtype), h0


def with_zeros(rng: np.random.Generator, T: int, *shape: int) -> tuple[Any, ...]:
    """The same, where each sequence forgets everything in its middle: the factors are 0 there."""
    a, b, h0 = recurrence(rng, T, *shape)
    a[T // 2] = 0
    return a, b, h0


@ex.cases
def _(rng: np.random.Generator) -> Iterator[Case]:
    yield case(*recurrence(rng, 5, 3, 4))
    yield case(*recurrence(rng, 7, 2))
    yield case(*recurrence(rng, 6))
    yield edge("one step", *recurrence(rng, 1, 3, 2))
    yield edge("one row", *recurrence(rng, 4, 1, 3))
    yield edge("all sizes alike", *recurrence(rng, 4, 4, 4))
    yield edge("factors of 0", *with_zeros(rng, 6, 2, 3))
    yield edge("factors of 0", *with_zeros(rng, 5))
    yield edge("float32", *recurrence(rng, 5, 2, 3, dtype=np.float32))
    yield edge("float32", *recurrence(rng, 4, dtype=np.float32))


@ex.holds("A split run is the whole run")
def _(call: Any, rng: np.random.Generator) -> str | None:
    a, b, h0 = recurrence(rng, 7, 2, 3)
    whole = np.asarray(call(a, b, h0))
    first = np.asarray(call(a[:3], b[:3], h0))
    second = np.asarray(call(a[3:], b[3:], first[-1]))
    same = np.allclose(np.concatenate([first, second]), whole)
    return None if same else "cut after three steps and run on from the state there, other states came out."


ex.mistakes(r"""
h0_is_zero: You start from zeros. The first state is a_1 h_0 + b_1, with the h0 that you are given.
- h = h0
+ h = np.zeros_like(b[0])

h0_among_the_states: h0 is in your result, which has one step too many. The states are h_1 to h_T, one for each step.
- return H
+ return np.concatenate([np.asarray(h0, dtype=b.dtype)[None], H])

one_step_early: You keep the state from before each step: h_0 to h_{T-1}. Make the step first, then keep what came out.
- h = a[t] * h + b[t]
- H[t] = h
+ H[t] = h
+ h = a[t] * h + b[t]

a_and_b_exchanged: You multiply the state by b and add a. It is a that multiplies.
- h = a[t] * h + b[t]
+ h = b[t] * h + a[t]

b_multiplied_too: You add b to the state before you multiply, so b is multiplied by a as well. Only the state is.
- h = a[t] * h + b[t]
+ h = a[t] * (h + b[t])

h0_at_every_step: Every step starts from h0 again. Step t starts from the state that step t - 1 left.
+ return a * h0 + b

backwards_in_time: You walk from the last step to the first. h0 is where the *first* step starts.
- for t in range(len(a)):
+ for t in reversed(range(len(a))):

a_share_of_b: You take the share 1 - a of b, as a leaky average does. Here b is added whole; whoever wants a share puts
  it into b.
- h = a[t] * h + b[t]
+ h = a[t] * h + (1 - a[t]) * b[t]

one_array_many_times: All your states are the last one: one array is updated in place and kept T times. Make a new array
  at each step.
+ h, states = np.array(h0, dtype=b.dtype), []
+ for factor, term in zip(a, b):
+     h *= factor
+     h += term
+     states.append(h)
+ return np.stack(states)

divided_by_the_product: You divide by the product of all factors so far. One factor of 0, or many small ones, and that
  is a division by 0. The loop never divides.
+ product = np.cumprod(a, axis=0)
+ return product * (h0 + np.cumsum(b / product, axis=0))

h0_overwritten: The states are right, but h0 is changed, which belongs to whoever called: `h *= …` and `h += …` write
  into it. Write `h = a[t] * h + b[t]`, which makes a new array.
- h = a[t] * h + b[t]
+ h *= a[t]
+ h += b[t]

b_overwritten: The states are right, but you write them into b, which belongs to whoever called. Write into a new array,
  `np.empty_like(b)`.
- H = np.empty_like(b)
+ H = b
""")


ex = unit.exercise(
    "combine_affine",
    points=2,
    takes="first, second",
    gives="a (T, N), b (T, N)",
    hints=(
        "Write the two steps out for a state h: first a_1 h + b_1. Put that into the second map in place of h.",
        "a_2 (a_1 h + b_1) + b_2. Multiply out: what stands before h, and what stands alone?",
        "`a_1, b_1 = first`; `a_2, b_2 = second`; `return a_2 * a_1, a_2 * b_1 + b_2`.",
    ),
)


def affine(rng: np.random.Generator, *shape: int, dtype: Any = np.float64) -> tuple[np.ndarray, np.ndarray]:
    """Draw a pair (a, b)."""
    a = rng.uniform(0.4, 1.6, shape) * rng.choice([-1, 1], shape)
    return a.astype(dtype), (normal(rng, *shape) + 2).astype(dtype)


@ex.cases
def _(rng: np.random.Generator) -> Iterator[Case]:
    yield case(affine(rng, 5, 3), affine(rng, 5, 3))
    yield case(affine(rng, 4), affine(rng, 4))
    yield edge("two numbers each", *[tuple(rng.uniform(1.5, 3, 2).tolist()) for _ in range(2)])
    yield edge("one entry", affine(rng, 1), affine(rng, 1))
    yield edge("three axes", affine(rng, 3, 2, 4), affine(rng, 3, 2, 4))
    yield edge("float32", affine(rng, 3, 2, dtype=np.float32), affine(rng, 3, 2, dtype=np.float32))


@ex.holds("Three maps in a row may be bracketed either way")
def _(call: Any, rng: np.random.Generator) -> str | None:
    p, q, r = (affine(rng, 4) for _ in range(3))
    left, right = call(tuple(call(p, q)), r), call(p, tuple(call(q, r)))
    same = all(np.allclose(x, y) for x, y in zip(left, right))
    return None if same else "(p, q) and then r is not p and then (q, r)."


ex.mistakes(r"""
second_applied_first: You apply `second` first. In a_2 (a_1 h + b_1) + b_2 it is the b of the *first* map that goes
  through the second one and is multiplied by its a.
- return a_2 * a_1, a_2 * b_1 + b_2
+ return a_1 * a_2, a_1 * b_2 + b_1

b_of_the_first_not_multiplied: You add both b as they are. That of the first map goes through the second one, too: it
  has to be multiplied by a_2.
- return a_2 * a_1, a_2 * b_1 + b_2
+ return a_2 * a_1, b_1 + b_2

first_a_on_first_b: You multiply b_1 by a_1. Within the first map b_1 is added after the product; it is the second map
  that multiplies it, by a_2.
- return a_2 * a_1, a_2 * b_1 + b_2
+ return a_2 * a_1, a_1 * b_1 + b_2

both_b_multiplied: You multiply both b by a_2. b_2 is added last, and nothing comes after it.
- return a_2 * a_1, a_2 * b_1 + b_2
+ return a_2 * a_1, a_2 * (b_1 + b_2)

b_of_the_second_lost: b_2 is missing: it is added at the end of the second map.
- return a_2 * a_1, a_2 * b_1 + b_2
+ return a_2 * a_1, a_2 * b_1

as_a_product_rule: Your b has a part from each map multiplied by the other's a, as in the derivative of a product. But
  the maps come one after the other: b_2 is not multiplied by anything.
- return a_2 * a_1, a_2 * b_1 + b_2
+ return a_2 * a_1, a_2 * b_1 + a_1 * b_2

factors_added: You add the factors. h is multiplied by a_1 and then by a_2, so it is multiplied by their product.
- return a_2 * a_1, a_2 * b_1 + b_2
+ return a_2 + a_1, a_2 * b_1 + b_2

a_of_the_first_lost: Your a is that of the second map alone. h goes through both: it is a_2 a_1.
- return a_2 * a_1, a_2 * b_1 + b_2
+ return a_2 * np.ones_like(a_1), a_2 * b_1 + b_2

b_before_a: You return (b, a). A pair is (a, b), what multiplies first, or the result cannot be combined further.
- return a_2 * a_1, a_2 * b_1 + b_2
+ return a_2 * b_1 + b_2, a_2 * a_1

first_overwritten: The values are right, but the arrays of `first` are changed, as by `*=` and `+=`, and somebody still
  needs them: make new arrays.
- return a_2 * a_1, a_2 * b_1 + b_2
+ b_1 *= a_2
+ b_1 += b_2
+ a_1 *= a_2
+ return np.copy(a_1), np.copy(b_1)
""")


# --- associative_scan


def depth_allowed(T: int) -> int:
    """How many operations may wait for one another. The scans that are known take at most 4 ceil(log2(T)) + 2."""
    return 4 * math.ceil(math.log2(T)) + 4


def few_enough(answer: Plain) -> Plain:
    """Of a depth, what counts: whether it is one that is allowed, or about how large it is."""
    if not (isinstance(answer, tuple) and len(answer) == 2 and isinstance(answer[1], int)):
        return answer
    values, depth = answer
    allowed = depth_allowed(len(values))
    return values, f"at most {allowed}" if depth <= allowed else f"about {float(f'{depth:.1g}'):.0f}"


ex = unit.exercise(
    "associative_scan",
    points=5,
    takes="a (T, N, H), b (T, N, H), h0 (N, H), count",
    gives="states (T, N, H), depth",
    drive=steps,
    canonical=few_enough,
    uses=(beyond.combine_affine, beyond.linear_recurrence),
    hints=(
        "Think of a row of maps. In one round, combine each of them with its left neighbour, all at a time. How many "
        "maps does each entry stand for now? And after a second round, with the entry two to the left?",
        "Keep A and B, where entry t stands for the last `step` maps up to t. In a round, entries from `step` on "
        "become the combination of entry t - step, applied first, with entry t; the first `step` entries stay. Then "
        "double `step`. When it has reached T, every entry stands for all maps from the start: apply them to h0.",
        "`A, B, step = a, b, 1`; `while step < len(a):` `new_A, new_B = combine_affine((A[:-step], B[:-step]), "
        "(A[step:], B[step:]))`, then `A = np.concatenate([A[:step], new_A])`, the same for B, and `step *= 2`; at the "
        "end `return A * h0 + B`.",
    ),
)


def slow_decay(rng: np.random.Generator, T: int) -> tuple[Any, ...]:
    """Draw a, b (T,) and h0 for a long run: no product of factors gets lost in zeros."""
    a = rng.uniform(0.95, 1.0, T) * rng.choice([-1, 1], T)
    return a, normal(rng, T), float(rng.uniform(1, 2))


@ex.cases
def _(rng: np.random.Generator) -> Iterator[Case]:
    yield case(*recurrence(rng, 5, 3, 4))
    yield case(*recurrence(rng, 8, 2, 3))
    yield case(*recurrence(rng, 13, 2))
    yield case(*with_zeros(rng, 6))
    yield case(*slow_decay(rng, 1000), "count")
    for T in (1, 2, 3):
        yield edge(f"T = {T}", *recurrence(rng, T, 3, 2))
    yield edge("one row", *recurrence(rng, 4, 1, 3))
    yield edge("all sizes alike", *recurrence(rng, 4, 4, 4))
    yield edge("factors of 0", *with_zeros(rng, 9, 2, 3))
    yield edge("float32", *recurrence(rng, 7, 2, 3, dtype=np.float32))
    yield edge("a long run of small factors", np.full(700, 0.1), normal(rng, 700), 2.0)


ex.mistakes(r"""
plain_loop: The states are right, but each of them waits for the one before: with T = 1000 that is 2,000 operations in a
  row. Combine the maps in pairs, all pairs at a time.
+ H = np.empty_like(b)
+ h = h0
+ for t in range(len(a)):
+     h = a[t] * h + b[t]
+     H[t] = h
+ return H

in_blocks: The states are right, and you have cut the sequence into blocks, which is a good idea once. Within a block,
  and from block to block, one still waits for the other: do the same with the blocks, and again.
+ size = math.ceil(math.sqrt(len(a)))
+ H = np.empty_like(b)
+ h = h0
+ for start in range(0, len(a), size):
+     A, B = a[start : start + size].copy(), b[start : start + size].copy()
+     for t in range(1, len(A)):
+         A[t], B[t] = combine_affine((A[t - 1], B[t - 1]), (A[t], B[t]))
+     H[start : start + size] = A * h + B
+     h = H[start + len(A) - 1]
+ return H

division_by_the_product: You divide by the product of all factors so far: a factor of 0, or many small ones, make that a
  division by 0. And a cumulative product waits for the one before as well. Combine maps; no division is needed.
+ product = np.cumprod(a, axis=0)
+ return product * (h0 + np.cumsum(b / product, axis=0))

started_from_zero: h0 is missing: your states are those of a run from zeros. The map of all steps up to t has an a, too:
  h_t is A_t h0 + B_t.
- return A * h0 + B
+ return B.copy()

h0_added_as_it_is: You add h0 to every state. It is multiplied by all factors on the way: h_t is A_t h0 + B_t.
- return A * h0 + B
+ return h0 + B

h0_only_in_the_first_state: h0 reaches your first state and none behind it. Put it into b[0] *before* the scan, or apply
  every prefix to it at the end.
- return A * h0 + B
+ H = B.copy()
+ H[0] = a[0] * h0 + b[0]
+ return H

later_maps_first: You combine in the wrong order: the entry further left was earlier, so it is the `first` argument of
  `combine_affine`.
- new_A, new_B = combine_affine((A[:-step], B[:-step]), (A[step:], B[step:]))
+ new_A, new_B = combine_affine((A[step:], B[step:]), (A[:-step], B[:-step]))

one_round_short: One round is missing: the last entries do not yet stand for all maps from the start. Go on while `step`
  is below T, not only while twice the step is.
- while step < len(a):
+ while 2 * step < len(a):

step_grows_by_one: Your step grows by one from round to round. After a round each entry stands for *twice* as many maps,
  so the step has to double; else some maps are applied twice.
- step = 1
- while step < len(a):
+ for step in range(1, min(len(a), 12)):

new_a_used_for_b: You replace A before you compute B, which then is made with factors of this round. Both need those of
  the round before: compute both, then replace both.
- new_A, new_B = combine_affine((A[:-step], B[:-step]), (A[step:], B[step:]))
- A, B = np.concatenate([A[:step], new_A]), np.concatenate([B[:step], new_B])
+ A = np.concatenate([A[:step], A[step:] * A[:-step]])
+ B = np.concatenate([B[:step], A[step:] * B[:-step] + B[step:]])

only_powers_of_two: Where the number of maps is odd, in the first round or in a later one, the last of them is left
  over: its state is that of a run which began there. Only lengths 2, 4, 8, … come out right.
+ def prefixes(A, B):
+     half = len(A) // 2
+     if half == 0:
+         return A, B
+     pairs = slice(0, 2 * half, 2), slice(1, 2 * half, 2)
+     odd_A, odd_B = prefixes(*combine_affine((A[pairs[0]], B[pairs[0]]), (A[pairs[1]], B[pairs[1]])))
+     between = slice(2, 2 * half, 2)
+     even_A, even_B = combine_affine((odd_A[:-1], odd_B[:-1]), (A[between], B[between]))
+     A, B = A.copy(), B.copy()
+     A[pairs[1]], B[pairs[1]], A[between], B[between] = odd_A, odd_B, even_A, even_B
+     return A, B
+
+ A, B = prefixes(a, b)
+ return A * h0 + B

h0_written_into_b: The states are right, but you put h0 into b itself, which belongs to whoever called: the next run
  with it comes out wrong. Copy b first.
- A, B = a, b
+ b[0] = a[0] * h0 + b[0]
+ A, B = a, b
- return A * h0 + B
+ return B.copy()
""")


ex = unit.exercise(
    "min_gru_forward",
    points=3,
    takes="X (T, N, D), h0 (N, H), Wz (D, H), Wh (D, H)",
    gives="states (T, N, H)",
    uses=(beyond.associative_scan, beyond.linear_recurrence),
    hints=(
        "Neither the gate nor the candidate needs the state: compute both for all steps at once. What is left is a "
        "linear recurrence. What are its a and its b?",
        "Compare h_t = (1 - z_t) h_{t-1} + z_t h̃_t with h_t = a_t h_{t-1} + b_t: a is 1 - z and b is z times h̃, both "
        "(T, N, H).",
        "`z = 1 / (1 + np.exp(-(X @ Wz)))`, then `return associative_scan(1 - z, z * (X @ Wh), h0)`.",
    ),
)


def gru_arguments(
    rng: np.random.Generator, T: int, N: int, D: int, H: int, dtype: Any = np.float64
) -> tuple[np.ndarray, ...]:
    """Draw X, h0, Wz and Wh; h0 is large, so that it is not overlooked."""
    h0 = (normal(rng, N, H) + 2).astype(dtype)
    return normal(rng, T, N, D, dtype=dtype), h0, weights(rng, D, H, dtype), weights(rng, D, H, dtype)


ex.draws(gru_arguments)


@ex.cases
def _(rng: np.random.Generator, draw: Draw) -> Iterator[Case]:
    yield edge("one row, one input, one unit", *gru_arguments(rng, 6, 1, 1, 1))
    yield edge("all sizes alike", *gru_arguments(rng, 4, 4, 4, 4))
    X, h0, Wz, Wh = draw()
    yield edge("gates wide open or shut", X, h0, 1e4 * Wz, Wh)


ex.mistakes(r"""
z_inverted: Your gate works the wrong way round: z is the share of the *new*, 1 - z that of the old state.
- return associative_scan(1 - z, z * (X @ Wh), h0)
+ return associative_scan(z, (1 - z) * (X @ Wh), h0)

tanh_on_the_candidate: You bend the candidate with a tanh, as the GRU does. The minimal GRU leaves it as it is: x_t Wh.
- return associative_scan(1 - z, z * (X @ Wh), h0)
+ return associative_scan(1 - z, z * np.tanh(X @ Wh), h0)

weights_exchanged: The matrices have changed places: Wz makes the gate, Wh the candidate.
+ z = 1 / (1 + np.exp(-(X @ Wh)))
+ return associative_scan(1 - z, z * (X @ Wz), h0)

h0_left_out: Your states start from zeros, whatever h0 is. It is the scan's third argument.
- return associative_scan(1 - z, z * (X @ Wh), h0)
+ return associative_scan(1 - z, z * (X @ Wh), np.zeros_like(h0))

candidate_not_gated: The candidate enters whole. Its share is z: b is z times the candidate.
- return associative_scan(1 - z, z * (X @ Wh), h0)
+ return associative_scan(1 - z, X @ Wh, h0)

nothing_forgotten: The old state stays whole while the new is added, so nothing is ever forgotten. Its share is 1 - z.
- return associative_scan(1 - z, z * (X @ Wh), h0)
+ return associative_scan(np.ones_like(z), z * (X @ Wh), h0)

gate_without_sigma: There is no σ: your gate is any number, and 1 - z with it, so states may grow without end. A share
  lies between 0 and 1.
- z = 1 / (1 + np.exp(-(X @ Wz)))
+ z = X @ Wz

gate_with_tanh: Your gate is a tanh, from -1 to 1. A share lies between 0 and 1: σ(a) = 1 / (1 + exp(-a)).
- z = 1 / (1 + np.exp(-(X @ Wz)))
+ z = np.tanh(X @ Wz)

candidate_with_sigma: You take σ of the candidate as well, so no state can be negative. Only the gate has a σ.
- return associative_scan(1 - z, z * (X @ Wh), h0)
+ return associative_scan(1 - z, z / (1 + np.exp(-(X @ Wh))), h0)

states_bent: You bend the states with a tanh. The recurrence stays linear in the state: that is what lets a scan run it.
- return associative_scan(1 - z, z * (X @ Wh), h0)
+ return np.tanh(associative_scan(1 - z, z * (X @ Wh), h0))

each_step_from_h0: Every step mixes its candidate with h0. Step t goes on from the state of step t - 1, as a scan does.
- return associative_scan(1 - z, z * (X @ Wh), h0)
+ return (1 - z) * h0 + z * (X @ Wh)

gate_overflows: Where the gate's sum is large, you get nan: exp overflows, and infinity divided by infinity is none. In
  the form 1 / (1 + exp(-a)) the overflow does no harm.
- z = 1 / (1 + np.exp(-(X @ Wz)))
+ grown = np.exp(X @ Wz)
+ z = grown / (1 + grown)
""")


ex = unit.exercise(
    "linear_attention",
    points=3,
    takes="Q (T, d), K (T, d), V (T, d_v)",
    gives="contexts (T, d_v)",
    uses=(beyond.associative_scan, beyond.linear_recurrence),
    hints=(
        "The state S is a matrix (d, d_v). Which matrix does step t add to it, and how much of the old one stays?",
        "All that is added, for all steps at once: `pairs = K[:, :, None] * V[:, None, :]`, (T, d, d_v). Nothing is "
        "forgotten, so every factor of the recurrence is 1. Then each q_t meets its own S_t.",
        "`S = associative_scan(np.ones_like(pairs), pairs, np.zeros_like(pairs[0]))`, and for the product of each "
        'query with its state `np.einsum("td,tdv->tv", Q, S)`.',
    ),
)


def linear_arguments(
    rng: np.random.Generator, T: int, d: int, d_v: int, dtype: Any = np.float64
) -> tuple[np.ndarray, ...]:
    """Draw Q, K and V."""
    return normal(rng, T, d, dtype=dtype), normal(rng, T, d, dtype=dtype), normal(rng, T, d_v, dtype=dtype)


ex.draws()


@ex.cases
def _(rng: np.random.Generator, draw: Draw) -> Iterator[Case]:
    yield edge("two steps", *draw(T=2, d=4, d_v=3))
    yield edge("keys of one number", *draw(d=1))
    yield edge("values of one number", *draw(d_v=1))
    yield edge("all sizes alike", *draw(T=4, d=4, d_v=4))
    Q, K, V = draw()
    yield edge("large keys", Q, 1e3 * K, V)


@ex.holds("What comes later changes nothing")
def _(call: Any, rng: np.random.Generator) -> str | None:
    Q, K, V = linear_arguments(rng, 6, 3, 4)
    same = np.allclose(np.asarray(call(Q[:4], K[:4], V[:4])), np.asarray(call(Q, K, V))[:4])
    return None if same else "with two steps more at the end, the first four answers came out different."


ex.mistakes(r"""
whole_sequence: Every query meets the sum over all steps. It may only know those up to its own: S_t, not S_T.
- return np.einsum("td,tdv->tv", Q, S)
+ return Q @ S[-1]

step_itself_left_out: Step t looks at the steps before it, and not at itself. S_t has k_t and v_t in it already.
- return np.einsum("td,tdv->tv", Q, S)
+ return np.einsum("td,tdv->tv", Q, S - pairs)

nothing_added_up: Each query meets the pair of its own step alone. What it meets is the sum of all pairs up to there: a
  recurrence with factors of 1.
- S = associative_scan(np.ones_like(pairs), pairs, np.zeros_like(pairs[0]))
+ S = pairs

from_the_end: You sum from the last step to the first: each query meets its own pair and those that come later.
- S = associative_scan(np.ones_like(pairs), pairs, np.zeros_like(pairs[0]))
+ S = associative_scan(np.ones_like(pairs), pairs[::-1], np.zeros_like(pairs[0]))[::-1]

softmax_left_in: You take a softmax over the scores. It is the softmax that would need all scores of a row at once: here
  there is none.
+ scores = np.where(np.tri(len(Q), dtype=bool), Q @ K.T, -np.inf)
+ return softmax(scores) @ V

scaled_by_the_root: You divide by the root of d. That was for the softmax, and here there is none: the scores are taken
  as they come.
- return np.einsum("td,tdv->tv", Q, S)
+ return np.einsum("td,tdv->tv", Q, S) / math.sqrt(K.shape[1])

divided_by_the_steps: You take the mean of the pairs. They are summed, and nothing is divided.
- return np.einsum("td,tdv->tv", Q, S)
+ return np.einsum("td,tdv->tv", Q, S) / np.arange(1, len(Q) + 1, dtype=Q.dtype)[:, None]

normalised_by_the_keys: You divide by the sum of the scores. Some forms of linear attention do, this one does not.
- return np.einsum("td,tdv->tv", Q, S)
+ return np.einsum("td,tdv->tv", Q, S) / np.einsum("td,td->t", Q, np.cumsum(K, axis=0))[:, None]

keys_ask: Queries and keys have changed places: what is stored with a value is its key, and the query asks.
- pairs = K[:, :, None] * V[:, None, :]
+ pairs = Q[:, :, None] * V[:, None, :]

- return np.einsum("td,tdv->tv", Q, S)
+ return np.einsum("td,tdv->tv", K, S)

stored_with_the_query: You store each value under the query of its step. It is stored under its key.
- pairs = K[:, :, None] * V[:, None, :]
+ pairs = Q[:, :, None] * V[:, None, :]

half_forgotten: Your state forgets. Nothing is forgotten here: the factor of every step is 1.
- S = associative_scan(np.ones_like(pairs), pairs, np.zeros_like(pairs[0]))
+ S = associative_scan(np.full_like(pairs, 0.5), pairs, np.zeros_like(pairs[0]))
""")


# --- diagonal_ssm


def few_enough_with_sum(answer: Plain) -> Plain:
    """As `few_enough`, with room for the products with b and c and the sum over two units."""
    if not (isinstance(answer, tuple) and len(answer) == 2 and isinstance(answer[1], int)):
        return answer
    values, depth = answer
    allowed = depth_allowed(len(values)) + 2 + 4
    return values, f"at most {allowed}" if depth <= allowed else f"about {float(f'{depth:.1g}'):.0f}"


ex = unit.exercise(
    "diagonal_ssm",
    points=3,
    takes="x (T), a (N), b (N), c (N), count",
    gives="y (T), depth",
    drive=steps,
    canonical=few_enough_with_sum,
    uses=(beyond.associative_scan, beyond.combine_affine, beyond.linear_recurrence),
    hints=(
        "For each of the N units it is a linear recurrence over T steps. The scan wants its factors and its terms as "
        "two arrays of one shape: which?",
        "The terms are `x[:, None] * b`, (T, N). The factor is the same at each step, so repeat a: T rows of it. y_t "
        "is the sum of c times the state, over the units.",
        "`terms = x[:, None] * b`; `factors = np.broadcast_to(a, terms.shape)`; `states = associative_scan(factors, "
        "terms, np.zeros(len(a)))`, in the dtype of x; `return states @ c`.",
    ),
)


def state_space(rng: np.random.Generator, T: int, N: int, dtype: Any = np.float64) -> tuple[Any, ...]:
    """Draw x, a, b and c; the factors have either sign and none is close to 0."""
    a = rng.uniform(0.5, 0.95, N) * rng.choice([-1, 1], N)
    a[0] = abs(a[0])
    b, c = (rng.uniform(0.5, 1.5, N) * rng.choice([-1, 1], N) for _ in range(2))
    return normal(rng, T, dtype=dtype), a.astype(dtype), b.astype(dtype), c.astype(dtype)


@ex.cases
def _(rng: np.random.Generator) -> Iterator[Case]:
    yield case(*state_space(rng, 5, 3))
    yield case(*state_space(rng, 7, 4))
    yield case(*state_space(rng, 6, 2))
    x, a, b, c = state_space(rng, 300, 2)
    yield case(x, rng.uniform(0.95, 1.0, 2) * [1, -1], b, c, "count")
    for T in (1, 2):
        yield edge(f"T = {T}", *state_space(rng, T, 3))
    yield edge("one unit", *state_space(rng, 5, 1))
    yield edge("as many units as steps", *state_space(rng, 4, 4))
    x, a, b, c = state_space(rng, 6, 3)
    yield edge("a factor of 0", x, a * [1, 0, 1], b, c)
    x, a, b, c = state_space(rng, 700, 2)
    yield edge("a long run of small factors", x, a * 0.1, b, c)
    yield edge("float32", *state_space(rng, 6, 3, np.float32))


@ex.holds("What comes one step later is answered one step later")
def _(call: Any, rng: np.random.Generator) -> str | None:
    x, a, b, c = state_space(rng, 8, 3)
    late = np.asarray(call(np.concatenate([[0.0], x]), a, b, c))
    same = abs(late[0]) < 1e-12 and np.allclose(late[1:], np.asarray(call(x, a, b, c)))
    return None if same else "with a 0 put before the signal, the answer was not only moved by one step."


ex.mistakes(r"""
one_after_the_other: The answer is right, but each state waits for the one before: with T = 300 that is 600 operations
  in a row. Hand all factors and all terms to your scan.
- states = associative_scan(factors, terms, np.zeros_like(a))
+ states = linear_recurrence(factors, terms, np.zeros_like(a))

b_left_out: b is missing: the input reaches each unit with its own weight, b x_t.
- terms = x[:, None] * b
+ terms = x[:, None] * np.ones_like(b)

c_left_out: c is missing: you add all units up, each as heavy as the others. y_t is the sum of c times the state.
- return states @ c
+ return states.sum(axis=1)

a_for_b: a and b have changed places: a is what a unit keeps of its state, b what it takes in of x.
- terms = x[:, None] * b
- factors = np.broadcast_to(a, terms.shape)
+ terms = x[:, None] * a
+ factors = np.broadcast_to(b, terms.shape)

not_summed: You return a column for each unit. The network's output is one number a step: sum over the units.
- return states @ c
+ return states * c

averaged: You take the mean over the units. y_t is their sum.
- return states @ c
+ return states @ c / len(c)

state_of_the_step_before: y_t is made from the state of the step before, so it does not know x_t yet. Step first, then
  read the state out.
- return states @ c
+ return np.concatenate([np.zeros_like(x[:1]), (states @ c)[:-1]])

input_fades_at_once: The input is multiplied by a in the very step in which it comes. Only the old state is: s_t = a
  s_{t-1} + b x_t.
- terms = x[:, None] * b
+ terms = x[:, None] * b * a

a_share_of_the_input: You take the share 1 - a of the input, as a leaky average does. Here b says how much comes in.
- terms = x[:, None] * b
+ terms = x[:, None] * b * (1 - a)

no_memory: Your units keep nothing: each step is answered from its own input alone. The states come out of the scan.
- states = associative_scan(factors, terms, np.zeros_like(a))
+ states = terms

nothing_fades: Your units keep everything: the factor of each step is a, not 1.
- factors = np.broadcast_to(a, terms.shape)
+ factors = np.ones_like(terms)

powers_divided_out: You divide by powers of a: a factor of 0, or a long run of small ones, and that is a division by 0.
  The scan never divides.
- states = associative_scan(factors, terms, np.zeros_like(a))
+ powers = np.cumprod(factors, axis=0)
+ states = powers * np.cumsum(terms / powers, axis=0)
""")
