"""Unit 13: attention. Its exercises, their cases, hints and misconceptions."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from rnncourse import attention
from rnncourse.checks.drive import layer
from rnncourse.checks.exercise import Case, Draw, Unit, case, edge, normal, weights
from rnncourse.checks.parameters import Parameters, embedding, linear, recurrent

try:
    from rnncourse.attention_torch import AttentionDecoder
except ModuleNotFoundError:  # in a browser there is no torch, and the unit there is without this exercise
    AttentionDecoder = None  # type: ignore

unit = Unit("13_attention", "Attention", attention, forbids=("torch", "scipy"))


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
    # No finite number stands for what is hidden: all that may be seen can have a lower score.
    yield edge("scores far below 0", -1e15 * np.abs(query), 1e15 * np.abs(keys), values, look_mask(rng, 2, 4, 5))
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

softmax_over_the_queries_masked = softmax_over_the_queries
- weights = softmax(scores)
+ weights = np.swapaxes(softmax(np.swapaxes(scores, -1, -2)), -1, -2)

mask_inverted: Your mask works the wrong way round: you look exactly where one may not. True means *may look*.
- scores = np.where(mask, scores, -np.inf)
+ scores = np.where(~mask, scores, -np.inf)

mask_ignored: The mask has no effect: keys where it is False still get weight.
- if mask is not None:
-     scores = np.where(mask, scores, -np.inf)

large_number_for_infinity: A masked score is a large negative number in your answer, and beside scores that lie as far
  below 0 that is not small. Take `-np.inf`.
- scores = np.where(mask, scores, -np.inf)
+ scores = np.where(mask, scores, -1e9).astype(scores.dtype)

mask_after_the_softmax: The masked rows of your weights no longer sum to 1: weights were set to zero after the softmax.
  Mask the *scores*, with -inf, before it.
- scores = np.where(mask, scores, -np.inf)
+ weights = softmax(scores) * mask
+ return weights @ values, weights

masked_scores_zero: Where the mask is False the score is 0. But exp(0) is 1, so these keys keep a good share of the
  weight: the score has to be -inf.
- scores = np.where(mask, scores, -np.inf)
+ scores = scores * mask

infinity_times_zero: With a mask you get nan: of -inf times 0, of inf - inf, or of a row of -inf alone. Let
  `np.where(mask, scores, -np.inf)` set what is hidden, and subtract the row's largest score.
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
    query, keys, values, Wq, Wk, v = additive_arguments(rng, 2, sizes=(4, 5, 3, 2, 6, 7))
    query = np.abs(query) * np.array([[5], [5], [-5], [-5]])
    large = query, keys, values, np.abs(Wq), Wk, 1e30 * np.abs(v)
    yield edge("scores far above 0 and far below", *large, look_mask(rng, 2, 4, 5))
    single = additive_arguments(rng, 2, sizes=(3, 4, 5, 6, 2, 7), dtype=np.float32)
    yield edge("float32", *single, look_mask(rng, 2, 3, 4))


ex.mistakes(r"""
no_tanh: There is no tanh of the sum. Then the query adds the same number to all scores of its row, and the softmax
  takes that out again: whatever you ask, you get one and the same answer.
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
+ scores = np.where(~mask, scores, -np.inf)

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

rows_for_the_keys: The axes of length 1 have changed places: your scores have a row for each key and a column for each
  query. A row belongs to a query: `[..., :, None, :]` is for the queries.
- hidden = np.tanh((query @ Wq)[..., :, None, :] + (keys @ Wk)[..., None, :, :])  # (…, T_q, T_k, A)
+ hidden = np.tanh((query @ Wq)[..., None, :, :] + (keys @ Wk)[..., :, None, :])
""")


ex = unit.exercise(
    "AttentionDecoder",
    reference=AttentionDecoder,
    points=4,
    takes="sizes, parameters, inputs",
    gives="returned [logits (T, N, V), state (1, N, H), weights (N, T, S)], gradients, "
    "input_gradients [ids, the gradient with respect to state (1, N, H), "
    "the gradient with respect to keys (S, N, H), mask]",
    drive=layer,
    forbids=("scipy",),
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

query_on_the_keys_of_the_scores = keys_projected_too
- queries, keys = self.query(states).transpose(0, 1), keys.transpose(0, 1)
+ queries, keys = states.transpose(0, 1), keys.transpose(0, 1)
- scores = queries @ keys.transpose(1, 2) / math.sqrt(keys.shape[2])
+ scores = queries @ self.query(keys).transpose(1, 2) / math.sqrt(keys.shape[2])

query_on_the_keys_of_the_context = keys_projected_too
- context = (weights @ keys).transpose(0, 1)
+ context = (weights @ self.query(keys)).transpose(0, 1)

scores_not_scaled: The scores are not scaled. Divide them by the root of H, the size of a key, as in your `attention`.
- scores = queries @ keys.transpose(1, 2) / math.sqrt(keys.shape[2])
+ scores = queries @ keys.transpose(1, 2)

scaled_by_the_keys_number: You divide by the root of the number of keys, or of steps. It is the root of H, the size of a
  key.
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
- weights = torch.softmax(scores, dim=-1)
+ weights = torch.softmax(scores, dim=1)

reshaped_for_transposed: States and keys come with time first, and a `reshape` does not put the batch there: it cuts the
  same numbers in another way, and sequences are mixed. `transpose(0, 1)` exchanges the axes.
- queries, keys = self.query(states).transpose(0, 1), keys.transpose(0, 1)
+ queries, keys = (a.reshape(a.shape[1], a.shape[0], -1) for a in (self.query(states), keys))
- context = (weights @ keys).transpose(0, 1)
+ context = (weights @ keys).reshape(states.shape)

context_reshaped: The context is (N, T, H), and a `reshape` does not put time first: it cuts the same numbers in another
  way, and sequences are mixed. `transpose(0, 1)` exchanges the axes.
- context = (weights @ keys).transpose(0, 1)
+ context = (weights @ keys).reshape(states.shape)

old_state_returned: The second thing to return is the state that you were given. Return the one that the GRU ends in: a
  next call goes on from there.
- states, state = self.rnn(self.embedding(ids), state)
+ states, _ = self.rnn(self.embedding(ids), state)

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

keys_reshaped = reshaped_for_transposed
- queries, keys = self.query(states).transpose(0, 1), keys.transpose(0, 1)
+ queries, keys = self.query(states).transpose(0, 1), keys.reshape(keys.shape[1], keys.shape[0], -1)
""")


ex = unit.exercise(
    "self_attention",
    points=3,
    takes="X (T, D), Wq (D, d), Wk (D, d), Wv (D, d_v), causal",
    gives="contexts (T, d_v)",
    uses=(attention.attention,),
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

always_causal: You mask the future without `causal`, too. Then each step looks at all of them.
- mask = np.tri(len(X), dtype=bool) if causal else None
+ mask = np.tri(len(X), dtype=bool)

only_the_future: Your causal mask is the wrong way round: each step looks at itself and at what comes after. Row t of
  the mask is a query, and it may look at columns up to t.
- mask = np.tri(len(X), dtype=bool) if causal else None
+ mask = np.tri(len(X), dtype=bool).T if causal else None

hidden_for_seen: Your causal mask is True at what comes after a step, and there alone: that is what must not be seen.
  True means that a key may be looked at.
- mask = np.tri(len(X), dtype=bool) if causal else None
+ mask = ~np.tri(len(X), dtype=bool) if causal else None

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

future_scores_zero: If causal, the scores of what comes later are 0, and as e^0 is 1 it still gets weight. Mask them
  with -inf, or hand the mask to `attention`.
- context, _ = attention(X @ Wq, X @ Wk, X @ Wv, mask)
+ scores = X @ Wq @ (X @ Wk).T / math.sqrt(Wq.shape[1])
+ context = softmax(scores if mask is None else scores * mask) @ X @ Wv
""")
