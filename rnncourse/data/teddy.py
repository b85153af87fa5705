"""Sentences in which one word is a person or a thing, and only the next word tells which.

    He said , Teddy Roosevelt was a great president          PERSON PERSON for "Teddy Roosevelt"
    He said , Teddy bears are on sale                        nothing, for "Teddy bears"

Up to "Teddy" the two are the same, so that no tagger that reads from left to right can tell them apart there, however
well it is trained. The best it can do is known, since all sentences can be listed with their probabilities:

    ceiling = sum over prefixes of max over labels of P(prefix, label of its last token) / mean number of tokens

A tagger that also sees k tokens of what follows groups sentences by longer prefixes; here k = 1 is enough for 100%.

Source: the pair of sentences is A. Ng's, in the course "Sequence Models" (deeplearning.ai, 2018), on bidirectional
networks.
"""

from collections.abc import Collection, Sequence
from typing import NamedTuple

import numpy as np
from jaxtyping import Int

_SPEAKERS = ["He said ,", "She said ,", "They wrote that", "My neighbour told us that", "I read that"]
_NAMES = {  # first word: what makes it a person, what makes it a thing
    "Teddy": ("Roosevelt", "bears"),
    "Rose": ("Kennedy", "gardens"),
    "Grace": ("Hopper", "notes"),
    "Pearl": ("Buck", "necklaces"),
    "Olive": ("Schreiner", "trees"),
    "Jack": ("London", "knives"),
}
_PERSONS_ONLY = {"Eleanor": "Roosevelt", "Virginia": "Woolf"}
_THINGS_ONLY = {"Wooden": "toys", "Two": "boats"}
_OF_PERSONS = ["was a great president", "was on the radio", "was at home here", "had an old house"]
_OF_THINGS = ["are on sale", "were on the radio", "are at home here", "had a great price"]

AMBIGUOUS_NAMES = frozenset(_NAMES)


class TaggedSentence(NamedTuple):
    """A sentence, a label for each of its tokens (1 for PERSON, 0 for none), and how likely the sentence is."""

    tokens: tuple[str, ...]
    labels: tuple[int, ...]
    probability: float


def teddy_sentences(person: float = 0.5) -> list[TaggedSentence]:
    """All sentences, with probabilities that sum to 1.

    The speaker, the name and the rest are chosen evenly. Six names of ten are ambiguous, and stand for a person with
    probability `person`; two are always persons and two never. A ValueError unless 0 < person < 1.

    >>> sentences = teddy_sentences()
    >>> len(sentences), " ".join(sentences[0].tokens), sentences[0].labels
    (320, 'He said , Teddy Roosevelt was a great president', (0, 0, 0, 1, 1, 0, 0, 0, 0))
    """
    if not 0 < person < 1:
        raise ValueError(f"person must lie between 0 and 1, both excluded, but it is {person}.")
    persons = [(name, surname, person) for name, (surname, _) in _NAMES.items()]
    things = [(name, noun, 1 - person) for name, (_, noun) in _NAMES.items()]
    persons += [(name, surname, 1.0) for name, surname in _PERSONS_ONLY.items()]
    things += [(name, noun, 1.0) for name, noun in _THINGS_ONLY.items()]
    names = len(_NAMES) + len(_PERSONS_ONLY) + len(_THINGS_ONLY)
    sentences = []
    for speaker in _SPEAKERS:
        for subjects, rests, label in ((persons, _OF_PERSONS, 1), (things, _OF_THINGS, 0)):
            for name, second, share in subjects:
                for rest in rests:
                    before, after = speaker.split(), rest.split()
                    labels = (*(0 for _ in before), label, label, *(0 for _ in after))
                    probability = share / (len(_SPEAKERS) * names * len(rests))
                    sentences.append(TaggedSentence((*before, name, second, *after), labels, probability))
    return sentences


def tagging_ceiling(
    sentences: Sequence[TaggedSentence], lookahead: int | None = 0, only: Collection[str] | None = None
) -> float:
    """The share of tokens that the best possible tagger gets right, by enumeration.

    The tagger sees each token, all before it and `lookahead` tokens after it: 0 is a network that reads from left to
    right, None one that has read the whole sentence before it answers. Tokens count as often as they are likely to be
    met; `only` counts just those among the given words. A ValueError if that leaves none.

    >>> round(tagging_ceiling(teddy_sentences()), 4), round(tagging_ceiling(teddy_sentences(), lookahead=1), 4)
    (0.9677, 1.0)
    >>> round(tagging_ceiling(teddy_sentences(person=0.6), only=AMBIGUOUS_NAMES), 4)
    0.6
    """
    chances: dict[tuple[int, tuple[str, ...]], dict[int, float]] = {}
    for sentence in sentences:
        for t, (token, label) in enumerate(zip(sentence.tokens, sentence.labels, strict=True)):
            if only is None or token in only:
                seen = sentence.tokens if lookahead is None else sentence.tokens[: t + 1 + lookahead]
                of_label = chances.setdefault((t, seen), {})
                of_label[label] = of_label.get(label, 0.0) + sentence.probability
    if not chances:
        raise ValueError("There is no token to tag: give sentences, and in `only` words that occur in them.")
    right = sum(max(of_label.values()) for of_label in chances.values())
    return right / sum(sum(of_label.values()) for of_label in chances.values())


def encode_tagged(
    sentences: Sequence[TaggedSentence],
) -> tuple[Int[np.ndarray, "T N"], Int[np.ndarray, "T N"], Int[np.ndarray, "N"], list[str]]:
    """Turn N sentences into arrays for a network: (ids (T, N), labels (T, N), lengths (N,), vocabulary).

    Time is the first axis, T the greatest length, and the padding at the end is 0 in both. The vocabulary is that of
    these sentences, in code-point order: encode all first, and choose columns to train on and to hold out afterwards.

    >>> ids, labels, lengths, vocabulary = encode_tagged(teddy_sentences()[:1])
    >>> [vocabulary[i] for i in ids[:, 0]][3:5], labels[:, 0].tolist(), lengths
    (['Teddy', 'Roosevelt'], [0, 0, 0, 1, 1, 0, 0, 0, 0], array([9]))
    """
    vocabulary = sorted({token for sentence in sentences for token in sentence.tokens})
    index = {token: i for i, token in enumerate(vocabulary)}
    lengths = np.array([len(sentence.tokens) for sentence in sentences], dtype=np.int64)
    ids = np.zeros((lengths.max(initial=0), len(sentences)), dtype=np.int64)
    labels = np.zeros_like(ids)
    for n, sentence in enumerate(sentences):
        ids[: lengths[n], n] = [index[token] for token in sentence.tokens]
        labels[: lengths[n], n] = sentence.labels
    return ids, labels, lengths, vocabulary
