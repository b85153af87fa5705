"""Sentences with parts of speech: the grammar, and what one word alone does not say."""

import re
from collections import defaultdict

import numpy as np

from rnncourse.data import PARTS_OF_SPEECH, draw_spoken

GRAMMAR = re.compile(r"(PRON|DET( ADJ)? NOUN)( AUX)? VERB( DET( ADJ)? NOUN)? \.")


def test_every_sentence_is_one_of_the_grammar_and_every_part_of_speech_occurs():
    sentences = draw_spoken(np.random.default_rng(0), 500)
    for sentence in sentences:
        assert GRAMMAR.fullmatch(" ".join(sentence.tags)), sentence
        assert len(sentence.tokens) == len(sentence.tags)
    assert {tag for sentence in sentences for tag in sentence.tags} == set(PARTS_OF_SPEECH)


def test_the_words_that_are_named_as_ambiguous_are_those_that_are():
    kinds = defaultdict(set)
    for sentence in draw_spoken(np.random.default_rng(0), 2000):
        for word, tag in zip(sentence.tokens, sentence.tags, strict=True):
            kinds[word].add(tag)
    both = {"NOUN", "VERB"}
    expected = dict.fromkeys(["saw", "fish", "plant", "watch", "book"], both) | {"light": both | {"ADJ"}}
    expected |= {"old": {"ADJ", "NOUN"}, "can": {"AUX", "NOUN"}, "will": {"AUX", "NOUN"}}
    assert {word: tags for word, tags in kinds.items() if len(tags) > 1} == expected


def test_the_same_generator_draws_the_same():
    assert draw_spoken(np.random.default_rng(3), 20) == draw_spoken(np.random.default_rng(3), 20)
