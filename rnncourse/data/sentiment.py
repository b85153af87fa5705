"""Sentences about films whose sentiment hangs on what a negation is about, and what a bag of words can make of them.

    the film was not funny                                     -      one "not", one word that it can be about
    i do not think that the film was not funny                 +      two of them cancel
    the film was not funny but clever                          +      what comes after "but" decides …
    the film was clever but not funny                          -      … and the bag of words is the same

All sentences can be listed with their probabilities. So the best that any model can do which sees a sentence as a bag,
that is, how often each word occurs in it and nothing of their order, is known:

    ceiling = sum over bags of max over labels of P(bag, label)

Source: that a bag of words loses the scope of a negation is in B. Pang, L. Lee, S. Vaithyanathan, "Thumbs up?
Sentiment Classification using Machine Learning Techniques", EMNLP 2002, section 3; the sentences are our own.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Sequence
from itertools import product
from typing import NamedTuple

import numpy as np
from jaxtyping import Float32, Int64

_SUBJECTS = ["the film", "the book"]
_ADJECTIVES = {
    **dict.fromkeys(["good", "funny", "clever", "moving"], 1),
    **dict.fromkeys(["bad", "dull", "slow", "silly"], -1),
}
_FORMS = {"{}": 1, "not {}": -1, "never {}": -1, "hardly {}": -1, "no longer {}": -1}
_LONGER_FORMS = {"not {} at all": -1, "never not {}": 1}
_OPENINGS = {"": 1, "i do not think that ": -1, "nobody can deny that ": 1}


class Review(NamedTuple):
    """A sentence, its label (1 for positive, 0 for negative), and how likely it is."""

    tokens: tuple[str, ...]
    label: int
    probability: float


def sentiment_sentences(contrast: float = 0.5) -> list[Review]:
    """All sentences, with probabilities that sum to 1.

    With probability `contrast` a sentence has two parts of opposite sentiment, "… but …", of which the second decides;
    else it has one part, and may begin with a negation of the whole. Within both kinds all sentences are equally
    likely. A ValueError unless 0 ≤ contrast ≤ 1; a kind that cannot occur is left out.

    >>> sentences = sentiment_sentences()
    >>> len(sentences), " ".join(sentences[1].tokens), sentences[1].label
    (1936, 'the film was not good', 0)
    """
    if not 0 <= contrast <= 1:
        raise ValueError(f"contrast must lie between 0 and 1, but it is {contrast}.")
    return [*_spread(_one_part(), 1 - contrast), *_spread(_two_parts(), contrast)]


def bag_ceiling(sentences: Sequence[Review]) -> float:
    """The share of sentences that the best possible bag of words gets right, by enumeration.

    A bag is how often each word occurs. Sentences count as often as they are likely to be met. A ValueError for none.

    >>> [round(bag_ceiling(sentiment_sentences(contrast)), 6) for contrast in (0, 0.5, 1)]
    [1.0, 0.75, 0.5]
    """
    if not sentences:
        raise ValueError("There are no sentences, and so there is nothing to be right about.")
    chances: defaultdict[tuple[frozenset[tuple[str, int]], int], float] = defaultdict(float)
    for sentence in sentences:
        chances[frozenset(Counter(sentence.tokens).items()), sentence.label] += sentence.probability
    best = math.fsum([max(chances[bag, 0], chances[bag, 1]) for bag in {bag for bag, _ in chances}])
    return best / math.fsum(chances.values())


def encode_reviews(
    sentences: Sequence[Review],
) -> tuple[Float32[np.ndarray, "T N V"], Int64[np.ndarray, "N"], Int64[np.ndarray, "N"], list[str]]:
    """Turn N sentences into arrays for a network: (one-hot words (T, N, V), labels (N,), lengths (N,), vocabulary).

    Time is the first axis, T the greatest length, and the padding at the end is 0, so that the sum over time is the
    bag of words. The vocabulary is that of these sentences, in code-point order: encode all first, and choose columns
    to train on and to hold out afterwards.

    >>> words, labels, lengths, vocabulary = encode_reviews(sentiment_sentences()[:2])
    >>> words.shape, [vocabulary[i] for i in words[: lengths[1], 1].argmax(axis=1)], labels
    ((5, 2, 5), ['the', 'film', 'was', 'not', 'good'], array([1, 0]))
    """
    vocabulary = sorted({token for sentence in sentences for token in sentence.tokens})
    index = {token: i for i, token in enumerate(vocabulary)}
    lengths = np.array([len(sentence.tokens) for sentence in sentences], dtype=np.int64)
    words = np.zeros((lengths.max(initial=0), len(sentences), len(vocabulary)), dtype=np.float32)
    for n, sentence in enumerate(sentences):
        words[range(lengths[n]), n, [index[token] for token in sentence.tokens]] = 1
    return words, np.array([sentence.label for sentence in sentences], dtype=np.int64), lengths, vocabulary


def _one_part() -> list[tuple[str, int]]:
    """Sentences without "but", each with its polarity."""
    forms = _FORMS | _LONGER_FORMS
    return [
        (f"{opening}{subject} was {form.format(adjective)}", _OPENINGS[opening] * forms[form] * _ADJECTIVES[adjective])
        for opening, subject, adjective, form in product(_OPENINGS, _SUBJECTS, _ADJECTIVES, forms)
    ]


def _two_parts() -> list[tuple[str, int]]:
    """Sentences with "but", each with its polarity, that of the second part. The first part's is the opposite."""
    parts = [
        (form.format(adjective), _FORMS[form] * _ADJECTIVES[adjective])
        for form, adjective in product(_FORMS, _ADJECTIVES)
    ]
    return [
        (f"{subject} was {first} but {second}", polarity)
        for subject, (first, opposite), (second, polarity) in product(_SUBJECTS, parts, parts)
        if opposite == -polarity
    ]


def _spread(texts: list[tuple[str, int]], mass: float) -> list[Review]:
    """Make reviews of equally likely sentences whose probabilities sum to `mass`."""
    chance = mass / len(texts)
    return [Review(tuple(text.split()), int(polarity > 0), chance) for text, polarity in texts] if mass else []
