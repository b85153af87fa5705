"""Sentences with the part of speech of each word, from a small grammar in which many words can be two or three.

    sentence = subject predicate "."
    subject  = PRON | DET NOUN | DET ADJ NOUN                    each as likely as the others
    predicate = VERB | VERB object | AUX VERB | AUX VERB object     the object as the subject, but no PRON

    the light watch can fish .      DET ADJ NOUN AUX VERB .
    the light watch a fish .        DET NOUN VERB DET NOUN .

Up to "watch" these are the same: what "light" and "watch" are, only the next word tells. "saw", "fish", "plant",
"watch", "book" and "light" are nouns and verbs, "can" and "will" nouns and auxiliaries, "light" and "old" adjectives
and nouns. A word of a part of speech is drawn evenly from its list, so that nothing but the place of a word tells what
it is.

Source: the grammar is our own. Such tables of tags are those of S. J. DeRose, "Grammatical Category Disambiguation by
Statistical Optimization", Computational Linguistics 14, 1988.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

__all__ = ["PARTS_OF_SPEECH", "SpokenSentence", "draw_spoken"]

_WORDS = {
    ".": ["."],
    "ADJ": ["light", "old", "red", "small"],
    "AUX": ["can", "must", "will"],
    "DET": ["a", "every", "the"],
    "NOUN": ["book", "can", "child", "dog", "fish", "light", "old", "plant", "saw", "watch", "will"],
    "PRON": ["they", "we", "you"],
    "VERB": ["book", "fish", "hear", "light", "like", "plant", "saw", "watch"],
}
_OBJECTS = [["DET", "NOUN"], ["DET", "ADJ", "NOUN"]]
_SUBJECTS = [["PRON"], *_OBJECTS]
_PREDICATES = [["VERB"], ["AUX", "VERB"]]

PARTS_OF_SPEECH = tuple(_WORDS)


class SpokenSentence(NamedTuple):
    """A sentence, and the part of speech of each of its words."""

    tokens: tuple[str, ...]
    tags: tuple[str, ...]


def draw_spoken(rng: np.random.Generator, count: int) -> list[SpokenSentence]:
    """Draw `count` sentences of 3 to 9 words, the full stop counted.

    >>> for sentence in draw_spoken(np.random.default_rng(0), 2):
    ...     print(" ".join(sentence.tokens), "|", " ".join(sentence.tags))
    a light book can fish the plant . | DET ADJ NOUN AUX VERB DET NOUN .
    the red light must watch a small plant . | DET ADJ NOUN AUX VERB DET ADJ NOUN .
    """
    sentences = []
    for _ in range(count):
        tags = _SUBJECTS[rng.integers(len(_SUBJECTS))] + _PREDICATES[rng.integers(len(_PREDICATES))]
        if rng.integers(2):
            tags = tags + _OBJECTS[rng.integers(len(_OBJECTS))]
        tags = [*tags, "."]
        sentences.append(SpokenSentence(tuple(str(rng.choice(_WORDS[tag])) for tag in tags), tuple(tags)))
    return sentences
