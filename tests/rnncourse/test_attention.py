"""Unit 13: attention against PyTorch's, and its formulas entry by entry."""

import numpy as np
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.nn.functional import scaled_dot_product_attention

from rnncourse.attention import additive_attention, attention, self_attention
from tests.rnncourse.oracles import assert_close, different_sizes, drawn, float_types, seeds

# T_q, T_k, d (or d_q), d_v, A and d_k.
sizes = different_sizes(6)
batches = st.lists(st.integers(1, 3), max_size=2)


def draw(sizes, batch, seed, dtype=np.float64):
    """Queries, keys of the same size, values, keys of another size, parameters of the scores, and a mask."""
    T_q, T_k, d, d_v, A, d_k = sizes
    rng = np.random.default_rng(seed)

    def normal(*shape):
        return rng.normal(size=shape).astype(dtype)

    mask = rng.random((*batch, T_q, T_k)) < 0.5
    mask[..., rng.integers(T_k)] = True
    query, keys, values = normal(*batch, T_q, d), normal(*batch, T_k, d), normal(*batch, T_k, d_v)
    return query, keys, values, normal(*batch, T_k, d_k), (normal(d, A), normal(d_k, A), normal(A)), mask


@float_types
@drawn
@given(sizes, batches, seeds)
def test_attention_is_pytorchs(dtype, sizes, batch, seed):
    query, keys, values, _, _, mask = draw(sizes, batch, seed, dtype)
    tensors = [torch.from_numpy(array) for array in (query, keys, values)]
    for given_mask in (None, mask, mask[..., :1, :], mask.reshape(-1, sizes[1])[0], mask.astype(int)):
        context, weights = attention(query, keys, values, given_mask)
        theirs = None if given_mask is None else torch.from_numpy(np.broadcast_to(given_mask, mask.shape).astype(bool))
        assert_close(context, scaled_dot_product_attention(*tensors, theirs))
        assert (weights.shape, weights.dtype) == (mask.shape, dtype)
        np.testing.assert_allclose(weights.sum(axis=-1), 1, rtol=1e-5)
        if given_mask is not None:
            assert (weights[~np.broadcast_to(given_mask, mask.shape).astype(bool)] == 0).all()


@float_types
@drawn
@given(sizes, batches, seeds)
def test_additive_attention_is_its_formula_entry_by_entry(dtype, sizes, batch, seed):
    query, _, values, keys, (Wq, Wk, v), mask = draw(sizes, batch, seed, dtype)
    scores = np.empty(mask.shape)
    for index in np.ndindex(mask.shape):
        *where, i, j = index
        scores[index] = np.tanh(query[(*where, i)] @ Wq + keys[(*where, j)] @ Wk) @ v
    for given_mask in (None, mask):
        allowed = scores if given_mask is None else np.where(given_mask, scores, -np.inf)
        expected = torch.from_numpy(allowed).softmax(dim=-1).numpy()
        context, weights = additive_attention(query, keys, values, Wq, Wk, v, given_mask)
        assert_close([weights, context], [expected.astype(dtype), (expected @ values).astype(dtype)])


def test_leading_axes_broadcast_one_query_to_many_memories():
    query, keys, values, other_keys, parameters, _ = draw((2, 4, 3, 5, 6, 7), (3,), 0)
    for attend, memory, more in ((attention, keys, ()), (additive_attention, other_keys, parameters)):
        context, weights = attend(query[0], memory, values, *more)
        for n in range(3):
            alone = attend(query[0], memory[n], values[n], *more)
            np.testing.assert_allclose(context[n], alone[0], rtol=1e-12)
            np.testing.assert_allclose(weights[n], alone[1], rtol=1e-12)


@float_types
@drawn
@given(st.integers(1, 9), st.integers(1, 6), st.integers(1, 6), st.integers(1, 6), seeds, st.booleans())
def test_self_attention_is_pytorchs(dtype, T, D, d, d_v, seed, causal):
    rng = np.random.default_rng(seed)
    X, Wq, Wk, Wv = (rng.normal(size=shape).astype(dtype) for shape in ((T, D), (D, d), (D, d), (D, d_v)))
    context = self_attention(X, Wq, Wk, Wv, causal)
    tensors = [torch.from_numpy(X @ W) for W in (Wq, Wk, Wv)]
    expected = scaled_dot_product_attention(*tensors, is_causal=causal)
    assert_close(context, expected)
