r"""Unit 01. Language models without memory: bags of words and n-grams.

A language model gives every token a probability, given the tokens before it:

    P(w_1, ..., w_T) = product over t of P(w_t | w_1, ..., w_{t-1})

An n-gram model looks back over n-1 tokens only (the Markov assumption) and counts. With V words in the vocabulary and
`alpha` imagined occurrences of each of them (additive smoothing):

    P(w | context) = (count(context, w) + alpha) / (count(context) + alpha V)

A model is measured on text that it has not seen, by its perplexity, the number of equally likely tokens that would
leave it as uncertain:

    perplexity = exp(-1/T  sum over t of log P(w_t | context_t))

The price of a longer context is a table of V^n entries, nearly all of them never seen.

Sources: C. E. Shannon, "A Mathematical Theory of Communication", Bell System Technical Journal 27, 1948 (n-grams, and
text drawn from them); D. Jurafsky and J. H. Martin, "Speech and Language Processing", on n-gram language models.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from typing import SupportsFloat, SupportsIndex

import numpy as np
from jaxtyping import Float, Int, Real


def bag_of_words(tokens: Iterable[str], vocabulary: Sequence[str]) -> Int[np.ndarray, "V"]:
    """Count how often each word of the vocabulary occurs, whatever the order of the tokens.

    `vocabulary` holds V distinct tokens; entry i of the result counts `vocabulary[i]`. Other tokens are ignored.

    >>> bag_of_words("the dog bit the man".split(), ["the", "man", "dog", "cat"])
    array([2, 1, 1, 0])
    """
    counts = Counter(tokens)
    return np.array([counts[word] for word in vocabulary], dtype=np.int64)


def count_ngrams(tokens: Iterable[str], n: SupportsIndex) -> dict[tuple[str, ...], Counter[str]]:
    """Count which token follows each context of n-1 tokens.

    The result maps a context, a tuple, to the `Counter` of its next tokens. There is no padding: fewer than n tokens
    give `{}`. For n = 1 the only context is `()`. A ValueError if n < 1.

    >>> count_ngrams("to be or not to be".split(), 2)[("to",)]
    Counter({'be': 2})
    """
    length = int(n)
    if length < 1:
        raise ValueError(f"n must be at least 1, and is {length}.")
    tokens = list(tokens)
    counts: dict[tuple[str, ...], Counter[str]] = {}
    # Counter's own loop counts whole n-grams, and only distinct ones pass through the loop below: for half a million
    # characters that takes a quarter of the time of a loop over all tokens at n = 2, three quarters at n = 6.
    for ngram, count in Counter(zip(*(islice(tokens, k, None) for k in range(length)), strict=False)).items():
        counts.setdefault(ngram[:-1], Counter())[ngram[-1]] = count
    return counts


def ngram_probability(
    counts: Mapping[tuple[str, ...], Mapping[str, int]],
    context: Sequence[str],
    token: str,
    vocabulary_size: SupportsIndex,
    alpha: SupportsFloat = 0.0,
) -> float:
    """Estimate P(token | context) from the counts of `count_ngrams`, with additive smoothing.

    `alpha` is added to the count of each of the `vocabulary_size` tokens; 0 leaves the relative frequency. A context
    that was never seen gives 0 without smoothing and 1/V with it.

    >>> counts = count_ngrams("to be or not to be".split(), 2)
    >>> ngram_probability(counts, ("or",), "not", 4)
    1.0
    >>> ngram_probability(counts, ("or",), "not", 4, alpha=1)
    0.4
    """
    followers = counts.get(tuple(context), {})
    imagined = float(alpha)
    total = sum(followers.values()) + imagined * int(vocabulary_size)
    return (followers.get(token, 0) + imagined) / total if total else 0.0


def perplexity(log_probabilities: Real[np.ndarray, "T"] | Sequence[float]) -> float:
    """Turn the natural log-probabilities that a model gave to T tokens into its perplexity.

    A uniform model over V tokens has perplexity V. One impossible token (log-probability -inf) makes it infinite.
    A ValueError if there is no token at all.

    >>> round(perplexity(np.log([0.5, 0.125])), 6)
    4.0
    """
    logs = np.asarray(log_probabilities, dtype=np.float64)
    if logs.size == 0:
        raise ValueError("perplexity needs at least one log-probability.")
    with np.errstate(over="ignore"):  # beyond 1e308 the answer is inf, which is no accident
        return float(np.exp(-logs.mean()))


def sample_index(probabilities: Real[np.ndarray, "V"] | Sequence[float], u: SupportsFloat) -> int:
    """Draw an index from a distribution, given one uniform number u in [0, 1).

    The first i with p_0 + ... + p_i > u. If rounding leaves none, since the sum falls short of u, the last i with
    p_i > 0. An index of probability zero is never drawn. A ValueError if no probability is positive.

    >>> [sample_index([0.25, 0.0, 0.75], u) for u in (0.0, 0.2, 0.25, 0.9)]
    [0, 0, 2, 2]
    """
    p = np.asarray(probabilities, dtype=np.float64)
    possible = np.flatnonzero(p > 0)
    if possible.size == 0:
        raise ValueError("sample_index needs at least one positive probability.")
    index = int(np.searchsorted(np.cumsum(p), float(u), side="right"))
    return min(index, int(possible[-1]))


def ngram_table_size(vocabulary_size: SupportsIndex, n: SupportsIndex) -> int:
    """Say how many entries, V^n, the table of an n-gram model has; exact, however large.

    >>> ngram_table_size(10_000, 5)
    100000000000000000000
    """
    return int(vocabulary_size) ** int(n)


def train_pair_network(
    pairs: Int[np.ndarray, "K 2"],
    vocabulary_size: SupportsIndex,
    hidden_size: SupportsIndex,
    updates: SupportsIndex,
    rng: np.random.Generator,
    *,
    batch_size: SupportsIndex = 256,
    learning_rate: SupportsFloat = 0.5,
) -> Float[np.ndarray, "V V"]:
    """Train an MLP on pairs (token, next token), drawn at random, and return all that it has to say.

    It reads one token, one-hot, and has one hidden layer: softmax(tanh(x E) A + c). There are only V inputs, so the
    whole network is a table: row i of the result is P(next token | token i). No pair is ever read together with the
    one before it: a first-order Markov model. Training is Adagrad on the mean cross-entropy of a batch, at a rate that
    falls to 0.

    >>> pairs = np.array([[0, 1], [1, 0]])
    >>> train_pair_network(pairs, 2, 4, 200, np.random.default_rng(0)).round(1)
    array([[0., 1.],
           [1., 0.]])
    """
    V, H, rate = int(vocabulary_size), int(hidden_size), float(learning_rate)
    # What is so rare in training that its row never moves says nothing: small numbers, nearly even probabilities.
    E, A, c = rng.normal(0, 0.5, (V, H)), rng.normal(0, 0.1, (H, V)), np.zeros(V)
    memory = [np.full_like(p, 0.01) for p in (E, A, c)]
    for falling in np.linspace(rate, 0, int(updates), endpoint=False):  # so that the noise of the draws dies out
        x, y = pairs[rng.integers(len(pairs), size=int(batch_size))].T
        gradients = pair_gradients(E, A, c, x, y)
        for p, g, m in zip((E, A, c), gradients, memory, strict=True):
            m += g * g
            p -= falling * g / np.sqrt(m)
    return _softmax(np.tanh(E) @ A + c)


def pair_gradients(
    E: Float[np.ndarray, "V H"],
    A: Float[np.ndarray, "H V"],
    c: Float[np.ndarray, "V"],
    x: Int[np.ndarray, "N"],
    y: Int[np.ndarray, "N"],
) -> tuple[Float[np.ndarray, "V H"], Float[np.ndarray, "H V"], Float[np.ndarray, "V"]]:
    """Go back through the network of `train_pair_network`: the gradients of the mean of -log P(y | x), for E, A and c.

    >>> [g.shape for g in pair_gradients(np.ones((3, 2)), np.ones((2, 3)), np.zeros(3), np.array([0]), np.array([1]))]
    [(3, 2), (2, 3), (3,)]
    """
    h = np.tanh(E[x])
    error = _softmax(h @ A + c)
    error[np.arange(len(y)), y] -= 1
    error /= len(y)
    dE = np.zeros_like(E)
    np.add.at(dE, x, (error @ A.T) * (1 - h * h))
    return dE, h.T @ error, error.sum(axis=0)


def _softmax(logits: np.ndarray) -> np.ndarray:
    exponentials = np.exp(logits - logits.max(axis=-1, keepdims=True))
    return np.asarray(exponentials / exponentials.sum(axis=-1, keepdims=True))
