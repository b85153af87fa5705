"""Unit 01: bags of words and n-grams, against their definitions spelled out."""

from collections import Counter

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from rnncourse.ngram import (
    bag_of_words,
    count_ngrams,
    ngram_probability,
    pair_gradients,
    perplexity,
    sample_index,
    train_pair_network,
)

drawn = settings(max_examples=30)
texts = st.lists(st.sampled_from("abcde"), max_size=30)
distributions = st.lists(st.integers(0, 20), min_size=1, max_size=12).filter(any)


@drawn
@given(texts, st.permutations("abcx") | st.just([]))
def test_a_bag_counts_each_word_of_the_vocabulary_in_the_vocabularys_order(tokens, vocabulary):
    bag = bag_of_words(tokens, vocabulary)
    assert bag.tolist() == [tokens.count(word) for word in vocabulary]
    assert np.issubdtype(bag.dtype, np.integer)


@drawn
@given(texts, st.integers(1, 6))
def test_counts_are_those_of_every_window_of_n_tokens(tokens, n):
    counts = count_ngrams(tokens, n)
    windows = Counter(tuple(tokens[i : i + n]) for i in range(len(tokens) - n + 1))
    assert {(*context, token): count for context, row in counts.items() for token, count in row.items()} == windows
    assert type(counts) is dict
    assert all(type(row) is Counter for row in counts.values())


@drawn
@given(texts, st.integers(1, 4), st.sampled_from([0.0, 0.1, 2.0]), st.sampled_from("abcde"))
def test_a_probability_is_its_share_of_the_smoothed_counts(tokens, n, alpha, token):
    counts = count_ngrams(tokens, n)
    for context in counts:
        followers = [tokens[i + n - 1] for i in range(len(tokens) - n + 1) if tuple(tokens[i : i + n - 1]) == context]
        expected = (followers.count(token) + alpha) / (len(followers) + 5 * alpha)
        assert ngram_probability(counts, context, token, 5, alpha) == pytest.approx(expected)


@drawn
@given(st.integers(1, 9), st.integers(2, 7), st.integers(0, 2**32 - 1))
def test_perplexity_is_the_exponential_of_pytorchs_cross_entropy(steps, size, seed):
    rng = np.random.default_rng(seed)
    logits, targets = torch.tensor(rng.normal(size=(steps, size))), torch.tensor(rng.integers(size, size=steps))
    picked = torch.log_softmax(logits, dim=1)[torch.arange(steps), targets].numpy()
    expected = torch.nn.functional.cross_entropy(logits, targets).exp().item()
    assert perplexity(picked) == pytest.approx(expected)
    assert type(perplexity(picked)) is float


@drawn
@given(distributions, st.floats(0, 1, exclude_max=True))
def test_the_first_index_is_drawn_whose_cumulated_probability_exceeds_u(weights, u):
    p = np.array(weights) / sum(weights)
    total, expected = 0.0, None
    for i, probability in enumerate(p.tolist()):
        total += probability
        if total > u:
            expected = i
            break
    if expected is None:
        expected = max(i for i, weight in enumerate(weights) if weight)
    assert sample_index(p, u) == expected
    assert sample_index(p.tolist(), u) == expected
    assert type(sample_index(p, u)) is int


@pytest.mark.parametrize(
    ("message", "call"),
    [
        ("at least 1", lambda: count_ngrams(["a"], 0)),
        ("at least 1", lambda: count_ngrams(["a"], -1)),
        ("at least one", lambda: perplexity([])),
        ("positive", lambda: sample_index([0.0, 0.0], 0.5)),
    ],
)
def test_what_makes_no_sense_is_an_error_that_says_so(message, call):
    with pytest.raises(ValueError, match=message):
        call()


@drawn
@given(st.integers(2, 6), st.integers(1, 5), st.integers(1, 9), st.integers(0, 2**32 - 1))
def test_the_gradients_of_the_pair_network_are_autograd_s(V, H, N, seed):
    rng = np.random.default_rng(seed)
    E, A, c = rng.normal(size=(V, H)), rng.normal(size=(H, V)), rng.normal(size=V)
    x, y = rng.integers(V, size=(2, N))
    leaves = [torch.tensor(p, requires_grad=True) for p in (E, A, c)]
    logits = torch.tanh(leaves[0][torch.tensor(x)]) @ leaves[1] + leaves[2]
    torch.nn.functional.cross_entropy(logits, torch.tensor(y)).backward()
    for ours, leaf in zip(pair_gradients(E, A, c, x, y), leaves, strict=True):
        np.testing.assert_allclose(ours, leaf.grad, atol=1e-12)


def test_a_pair_network_comes_close_to_the_table_of_its_pairs_and_never_below():
    rng = np.random.default_rng(0)
    truth = rng.dirichlet(np.ones(5), size=5)
    pairs = np.array([[x, rng.choice(5, p=truth[x])] for x in rng.integers(5, size=2000)])
    counts = np.zeros((5, 5))
    np.add.at(counts, tuple(pairs.T), 1)
    table = counts / counts.sum(axis=1, keepdims=True)
    network = train_pair_network(pairs, 5, 16, 1000, rng)
    np.testing.assert_allclose(network.sum(axis=1), 1)
    lowest, reached = (-np.log(p[tuple(pairs.T)]).mean() for p in (table, network))
    assert lowest <= reached < lowest + 0.01
