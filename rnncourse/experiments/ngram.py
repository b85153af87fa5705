"""What unit 01 counts and measures: n-grams of Python's documentation, what they copy, and a network on pairs.

The functions take the student's own `count` (`count_ngrams`), `probability` (`ngram_probability`), `measure`
(`perplexity`) and `draw` (`sample_index`), with the textbook's as defaults.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from jaxtyping import Float

from rnncourse.data import study_grammar, train_and_held_out, words
from rnncourse.experiments.opponents import KneserNey
from rnncourse.ngram import count_ngrams, ngram_probability, perplexity, sample_index, train_pair_network

NS = range(1, 7)
Table = Mapping[tuple[str, ...], Counter[str]]


@dataclass(frozen=True)
class Documentation:
    """Python's documentation in words: read, to choose by, and held out.

    `vocabulary` are the words that were read twice or more; V counts them, and <unk>.
    """

    train: list[str]
    validation: list[str]
    held_out: list[str]
    vocabulary: set[str]
    V: int

    def known(self, tokens: Sequence[str]) -> list[str]:
        """The tokens, with <unk> in place of those that are not in the vocabulary."""
        return [token if token in self.vocabulary else "<unk>" for token in tokens]


@cache
def documentation() -> Documentation:
    """The documentation. Whole topics are held out: 10,000 words to be judged on, the next 5,000 to choose by."""
    train, unseen = (words(part.lower()) for part in train_and_held_out("python-docs"))
    vocabulary = {word for word, k in Counter(train).items() if k >= 2}
    empty = Documentation([], [], [], vocabulary, len(vocabulary) + 1)
    return Documentation(
        empty.known(train), empty.known(unseen[10_000:15_000]), empty.known(unseen[:10_000]), vocabulary, empty.V
    )


@cache
def counted() -> dict[int, dict[tuple[str, ...], Counter[str]]]:
    """The tables of the documentation, for n = 1 to 6."""
    return {n: count_ngrams(documentation().train, n) for n in NS}


def log_probabilities(
    table: Table, tokens: Sequence[str], n: int, alpha: float, probability: Any = ngram_probability
) -> Float[np.ndarray, "T"]:
    """log P of each token but the first five, which not every n has a context for; -inf where P is 0."""
    V = documentation().V
    p = [probability(table, tuple(tokens[i - n + 1 : i]), tokens[i], V, alpha) for i in range(5, len(tokens))]
    with np.errstate(divide="ignore"):
        return np.log(np.array(p, dtype=float))


def perplexities(
    tables: Mapping[int, Table], probability: Any = ngram_probability, measure: Any = perplexity
) -> dict[str, list[float]]:
    """The perplexity of the n-grams, n = 1 to 6, by text and smoothing."""
    text = documentation()
    lines = {
        "training text,\nno smoothing": (text.train[:10_000], 0.0),
        "held-out text,\nno smoothing": (text.held_out, 0.0),
        "held-out text,\nα = 1": (text.held_out, 1.0),
        "held-out text,\nα = 0.01": (text.held_out, 0.01),
    }
    return {
        name: [float(measure(log_probabilities(tables[n], tokens, n, alpha, probability))) for n in tables]
        for name, (tokens, alpha) in lines.items()
    }


@cache
def kneser_ney() -> list[float]:
    """The perplexity of Kneser-Ney's n-grams on the held-out text, n = 1 to 6, with discounts chosen on validation."""
    text = documentation()
    model = KneserNey(text.train, max(NS), text.V)
    return [perplexity(np.log(model.shorter(n, text.validation).probabilities(text.held_out)[5:])) for n in NS]


def sparsity(tables: Mapping[int, Table]) -> dict[str, list[float]]:
    """For each n, how many entries of its table were ever filled, and the share of held-out contexts never seen."""
    held_out = documentation().held_out
    unseen = [
        np.mean([not table.get(tuple(held_out[i - n + 1 : i])) for i in range(5, len(held_out))])
        for n, table in tables.items()
    ]
    filled = [
        float(sum(k > 0 for followers in table.values() for k in followers.values())) for table in tables.values()
    ]
    return {"filled": filled, "unseen": [float(share) for share in unseen]}


def write(
    table: Table, start: Sequence[str], length: int, rng: np.random.Generator, draw: Any = sample_index
) -> list[str]:
    """Continue the tokens `start` to `length` tokens, each drawn from what followed its context in the table."""
    order = len(next(iter(table))) + 1
    tokens = list(start)
    while len(tokens) < length and (followers := table.get(tuple(tokens[len(tokens) - order + 1 :]))):
        candidates = sorted(followers)
        k = np.array([followers[token] for token in candidates], dtype=float)
        tokens.append(candidates[draw(k / k.sum(), rng.random())])
    return tokens


@cache
def runs_of_eight() -> set[tuple[str, ...]]:
    """All runs of eight words of the training text."""
    train = documentation().train
    return {tuple(train[i : i + 8]) for i in range(len(train) - 7)}


def share_copied(n: int, seed: int, draw: Any = sample_index) -> float:
    """The share of runs of eight words that an n-gram writes and that stand in its training text, word for word."""
    rng, train = np.random.default_rng(seed), documentation().train
    found: list[bool] = []
    while len(found) < 1500:
        i = int(rng.integers(len(train) - n))
        text = write(counted()[n], train[i : i + n - 1], 300, rng, draw)
        found += [tuple(text[j : j + 8]) in runs_of_eight() for j in range(len(text) - 7)]
    return float(np.mean(found))


def right_profession(
    ns: Sequence[int], inserted: Sequence[str] = (), count: Any = count_ngrams, probability: Any = ngram_probability
) -> list[float]:
    """P(doctor) after "… to work as a", by n-grams that have counted the three students' sentences, one by one.

    `inserted`: words that all three say after "UBC".
    """
    texts = [[*tokens[:6], *inserted, *tokens[6:]] for tokens, _ in study_grammar().sentences()]
    size = len({word for tokens in texts for word in tokens})

    def asked(n: int) -> float:
        merged: dict[tuple[str, ...], Counter[str]] = {}
        for tokens in texts:
            for context, followers in count(tokens, n).items():
                merged.setdefault(context, Counter()).update(followers)
        (sentence,) = [tokens for tokens in texts if tokens[-1] == "doctor"]
        return float(probability(merged, tuple(sentence[len(sentence) - n : -1]), "doctor", size))

    return [asked(n) for n in ns]


# --- a network in place of the table


@cache
def characters() -> tuple[list[str], np.ndarray]:
    """The alphabet of the documentation, and the ids of its first 200,000 characters."""
    text = train_and_held_out("python-docs")[0]
    alphabet = sorted(set(text))
    place = {character: i for i, character in enumerate(alphabet)}
    return alphabet, np.array([place[character] for character in text[:200_000]])


def table_perplexity(n: int) -> float:
    """The perplexity of the unigram (n = 1) or bigram table of these characters on the text that it has counted."""
    alphabet, ids = characters()
    counts = np.zeros((len(alphabet), len(alphabet)))
    np.add.at(counts, (ids[:-1], ids[1:]), 1)
    shares = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
    return perplexity_of(shares if n == 2 else np.tile(counts.sum(axis=0) / counts.sum(), (len(alphabet), 1)))


def perplexity_of(table: Float[np.ndarray, "V V"]) -> float:
    """The perplexity on these characters of a model whose row i is P(next | character i)."""
    _, ids = characters()
    return perplexity(np.log(table[ids[:-1], ids[1:]]))


def pair_network(seed: int, updates: int = 2000, mixed: bool = False) -> Float[np.ndarray, "V V"]:
    """The network of `train_pair_network`, as such a table. `mixed` puts a wrong character before each right one."""
    alphabet, ids = characters()
    rng = np.random.default_rng(seed)
    current = rng.permutation(ids[:-1]) if mixed else ids[:-1]
    return train_pair_network(np.stack([current, ids[1:]], axis=1), len(alphabet), 64, updates, rng)
