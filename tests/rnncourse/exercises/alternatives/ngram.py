"""Right answers to unit 01 as students write them, each in another style. All must get full marks."""

import itertools
import math
from collections import Counter, defaultdict

import numpy as np

from tests.rnncourse.exercises.alternatives import collector

ALTERNATIVES, answers = collector()


# --- bag_of_words


@answers("bag_of_words")
def list_of_counts(tokens, vocabulary):
    return [tokens.count(word) for word in vocabulary]


@answers("bag_of_words")
def with_an_index_and_a_loop(tokens, vocabulary):
    index = {word: i for i, word in enumerate(vocabulary)}
    counts = np.zeros(len(vocabulary), dtype=np.int32)
    for token in tokens:
        if token in index:
            counts[index[token]] += 1
    return counts


@answers("bag_of_words")
def by_comparing_everything_with_everything(tokens, vocabulary):
    return (np.array(tokens)[:, None] == np.array(vocabulary)[None, :]).sum(axis=0)


# --- count_ngrams


@answers("count_ngrams")
def with_a_defaultdict(tokens, n):
    counts = defaultdict(Counter)
    for i in range(len(tokens) - n + 1):
        *context, token = tokens[i : i + n]
        counts[tuple(context)][token] += 1
    return counts


@answers("count_ngrams")
def with_plain_dicts(tokens, n):
    counts = {}
    for i in range(n - 1, len(tokens)):
        context = tuple(tokens[i - n + 1 : i])
        if context not in counts:
            counts[context] = {}
        counts[context][tokens[i]] = counts[context].get(tokens[i], 0) + 1
    return counts


@answers("count_ngrams")
def with_zip_and_groups(tokens, n):
    grams = sorted(zip(*(tokens[k:] for k in range(n))))
    groups = itertools.groupby(grams, key=lambda gram: gram[:-1])
    return {context: Counter(gram[-1] for gram in group) for context, group in groups}


# --- ngram_probability


@answers("ngram_probability")
def case_by_case(counts, context, token, vocabulary_size, alpha=0.0):
    if context not in counts:
        return 1 / vocabulary_size if alpha > 0 else 0
    followers = counts[context]
    count = followers[token] if followers else 0
    return (count + alpha) / (sum(followers.values()) + alpha * vocabulary_size)


@answers("ngram_probability")
def by_catching_the_zero(counts, context, token, vocabulary_size, alpha=0.0):
    followers = counts.get(context, Counter())
    try:
        return (followers[token] + alpha) / (followers.total() + vocabulary_size * alpha)
    except ZeroDivisionError:
        return 0.0


@answers("ngram_probability")
def with_numpy(counts, context, token, vocabulary_size, alpha=0):
    followers = counts.get(context) or {}
    seen = np.array(list(followers.values()) + [0] * (vocabulary_size - len(followers))) + alpha
    return np.float64((followers.get(token, 0) + alpha) / seen.sum()) if seen.sum() > 0 else np.float64(0)


# --- perplexity


@answers("perplexity")
def in_pure_python(log_probabilities):
    total = 0.0
    for value in log_probabilities:
        total -= float(value)
    return math.exp(total / len(log_probabilities))


@answers("perplexity")
def as_a_product_of_roots(log_probabilities):
    return np.prod(np.exp(-log_probabilities / log_probabilities.size))


@answers("perplexity")
def in_bits(log_probabilities):
    bits = -np.asarray(log_probabilities) / np.log(2)
    return 2.0 ** bits.mean()


# --- sample_index


@answers("sample_index")
def loop(probabilities, u):
    total = 0.0
    last = 0
    for i, p in enumerate(probabilities):
        if p > 0:
            last = i
        total += p
        if total > u:
            return i
    return last


@answers("sample_index")
def with_searchsorted(probabilities, u):
    possible = np.nonzero(probabilities)[0]
    k = np.searchsorted(np.cumsum(probabilities[possible]), u, side="right")
    return possible[min(k, len(possible) - 1)]


@answers("sample_index")
def with_argmax(probabilities, u):
    beyond = np.cumsum(probabilities) > u
    return np.argmax(beyond) if beyond.any() else np.max(np.where(probabilities > 0))


# --- ngram_table_size


@answers("ngram_table_size")
def with_a_loop(vocabulary_size, n):
    size = 1
    for _ in range(n):
        size *= vocabulary_size
    return size


@answers("ngram_table_size")
def with_prod(vocabulary_size, n):
    return math.prod([vocabulary_size] * n)


@answers("ngram_table_size")
def by_halving(vocabulary_size, n):
    if n == 0:
        return 1
    half = by_halving(vocabulary_size, n // 2)
    return half * half * (vocabulary_size if n % 2 else 1)
