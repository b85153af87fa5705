"""Unit 13. Attention: each output looks at all that was read, and chooses.

An encoder hands on one state, however long its input was. Attention hands on all of them, and lets each output choose.
With query q, keys k_j and values v_j:

    e_j = q k_j^T / sqrt(d)     or     tanh(q W_q + k_j W_k) v^T        alpha = softmax(e)        c = sum_j alpha_j v_j

Sources: D. Bahdanau, K. Cho, Y. Bengio, "Neural Machine Translation by Jointly Learning to Align and Translate", ICLR
2015; A. Vaswani et al., "Attention Is All You Need", NeurIPS 2017.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from jaxtyping import Bool, Float, Real

from rnncourse.cell import as_floats, softmax

Mask = Bool[np.ndarray, "..."] | Real[np.ndarray, "..."] | Sequence


def attention(
    query: Real[np.ndarray, "*#batch T_q d"] | Sequence,
    keys: Real[np.ndarray, "*#batch T_k d"] | Sequence,
    values: Real[np.ndarray, "*#batch T_k d_v"] | Sequence,
    mask: Mask | None = None,
) -> tuple[Float[np.ndarray, "*_ T_q d_v"], Float[np.ndarray, "*_ T_q T_k"]]:
    """Attend by scaled dot products and return (context (…, T_q, d_v), weights (…, T_q, T_k)).

    Each row of the weights sums to 1. The mask broadcasts to the weights, with True where a query may look; there the
    weight is 0 where it is False, and no row may be all False. Leading axes are batches, and broadcast.

    >>> context, weights = attention([[0.0, 0.0]], keys=[[1.0, 0.0], [0.0, 1.0]], values=[[2.0], [4.0]])
    >>> context.tolist(), weights.tolist()
    ([[3.0]], [[0.5, 0.5]])
    """
    query, keys, values = as_floats(query, keys, values)
    # To scale the query costs T_q d products, to scale the scores T_q T_k.
    return _attend((query / math.sqrt(query.shape[-1])) @ np.swapaxes(keys, -1, -2), values, mask)


def additive_attention(
    query: Real[np.ndarray, "*#batch T_q d_q"] | Sequence,
    keys: Real[np.ndarray, "*#batch T_k d_k"] | Sequence,
    values: Real[np.ndarray, "*#batch T_k d_v"] | Sequence,
    Wq: Real[np.ndarray, "d_q A"] | Sequence,
    Wk: Real[np.ndarray, "d_k A"] | Sequence,
    v: Real[np.ndarray, "A"] | Sequence,
    mask: Mask | None = None,
) -> tuple[Float[np.ndarray, "*_ T_q d_v"], Float[np.ndarray, "*_ T_q T_k"]]:
    """Attend by a small network, with scores tanh(q Wq + k Wk) v, not scaled; queries and keys may differ in size.

    What is returned, and the mask, are as in `attention`.

    >>> one = [[1.0]]
    >>> context, weights = additive_attention([[0.0]], [[9.0], [-9.0]], [[2.0], [4.0]], Wq=one, Wk=one, v=[100.0])
    >>> context.round(3).tolist(), weights.round(3).tolist()
    ([[2.0]], [[1.0, 0.0]])
    """
    query, keys, values, Wq, Wk, v = as_floats(query, keys, values, Wq, Wk, v)
    hidden = np.tanh((query @ Wq)[..., :, None, :] + (keys @ Wk)[..., None, :, :])  # (…, T_q, T_k, A)
    return _attend(hidden @ v, values, mask)


def _attend(
    scores: Float[np.ndarray, "*_ T_q T_k"], values: Float[np.ndarray, "*_ T_k d_v"], mask: Mask | None
) -> tuple[Float[np.ndarray, "*_ T_q d_v"], Float[np.ndarray, "*_ T_q T_k"]]:
    """Turn scores into weights, where the mask allows, and average the values with them."""
    if mask is not None:
        scores = np.where(np.asarray(mask, dtype=bool), scores, -np.inf)
    weights = softmax(scores)
    return weights @ values, weights


def self_attention(
    X: Real[np.ndarray, "T D"] | Sequence,
    Wq: Real[np.ndarray, "D d"] | Sequence,
    Wk: Real[np.ndarray, "D d"] | Sequence,
    Wv: Real[np.ndarray, "D d_v"] | Sequence,
    causal: bool = False,
) -> Float[np.ndarray, "T d_v"]:
    """Let each step of one sequence attend to all of its steps, or to none after itself if `causal`: (T, d_v).

    Queries, keys and values are X Wq, X Wk and X Wv. Nothing in it knows where a step stands.

    >>> one = [[1.0]]
    >>> self_attention([[0.0], [2.0], [4.0]], Wq=[[0.0]], Wk=one, Wv=one, causal=True).ravel()
    array([0., 1., 2.])
    """
    X, Wq, Wk, Wv = as_floats(X, Wq, Wk, Wv)
    mask = np.tri(len(X), dtype=bool) if causal else None
    return attention(X @ Wq, X @ Wk, X @ Wv, mask)[0]
