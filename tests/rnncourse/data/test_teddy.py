"""The person-or-thing sentences: their ceiling against hand counts and against taggers that are tried out."""

import math
from collections import Counter
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rnncourse.data import AMBIGUOUS_NAMES, TaggedSentence, encode_tagged, tagging_ceiling, teddy_sentences

shares = st.floats(0.05, 0.95)


@settings(max_examples=10)
@given(shares)
def test_the_probabilities_sum_to_one_and_an_ambiguous_name_is_a_person_as_often_as_asked(person):
    sentences = teddy_sentences(person)
    assert math.isclose(sum(sentence.probability for sentence in sentences), 1)
    for name in AMBIGUOUS_NAMES:
        chances = [0.0, 0.0]
        for sentence in sentences:
            if name in sentence.tokens:
                chances[sentence.labels[sentence.tokens.index(name)]] += sentence.probability
        assert math.isclose(chances[1] / sum(chances), person)


def test_the_two_sentences_of_the_course_are_among_them_with_their_labels():
    labels = {" ".join(sentence.tokens): sentence.labels for sentence in teddy_sentences()}
    assert labels["He said , Teddy Roosevelt was a great president"] == (0, 0, 0, 1, 1, 0, 0, 0, 0)
    assert labels["He said , Teddy bears are on sale"] == (0,) * 8


def test_no_sentence_occurs_twice_and_each_token_has_a_label():
    sentences = teddy_sentences()
    assert len({sentence.tokens for sentence in sentences}) == len(sentences)
    assert all(len(sentence.tokens) == len(sentence.labels) for sentence in sentences)
    assert {sum(sentence.labels) for sentence in sentences} == {0, 2}


@settings(max_examples=10)
@given(shares)
def test_the_ceiling_at_ambiguous_names_is_the_greater_share_and_everywhere_else_it_is_one(person):
    sentences = teddy_sentences(person)
    assert math.isclose(tagging_ceiling(sentences, only=AMBIGUOUS_NAMES), max(person, 1 - person))
    others = {token for sentence in sentences for token in sentence.tokens} - AMBIGUOUS_NAMES
    assert math.isclose(tagging_ceiling(sentences, only=others), 1)
    tokens = sum(sentence.probability * len(sentence.tokens) for sentence in sentences)
    missed = 0.6 * min(person, 1 - person)  # six names of ten, one a sentence
    assert math.isclose(tagging_ceiling(sentences), 1 - missed / tokens)


@settings(max_examples=40)
@given(st.lists(st.tuples(st.text("ab", min_size=1, max_size=3), st.integers(0, 7), st.integers(1, 9)), min_size=1))
def test_the_ceiling_is_the_best_of_all_taggers_tried_out(drawn):
    total = sum(weight for _, _, weight in drawn)
    sentences = [
        TaggedSentence(tuple(text), tuple(bits >> t & 1 for t in range(len(text))), weight / total)
        for text, bits, weight in drawn
    ]
    prefixes = sorted({sentence.tokens[: t + 1] for sentence in sentences for t in range(len(sentence.tokens))})[:9]
    met = Counter()
    for sentence in sentences:
        for t, label in enumerate(sentence.labels):
            met[sentence.tokens[: t + 1], label] += sentence.probability
    rest = sum(max(met[p, 0], met[p, 1]) for p in {p for p, _ in met} - set(prefixes))
    best = max(
        sum(met[prefix, answer] for prefix, answer in zip(prefixes, answers, strict=True))
        for answers in product((0, 1), repeat=len(prefixes))
    )
    assert math.isclose(tagging_ceiling(sentences), (best + rest) / sum(met.values()))


@pytest.mark.parametrize("person", [0.0, 1.0, -0.5, 2.0, math.nan])
def test_a_share_of_persons_leaves_room_for_both(person):
    with pytest.raises(ValueError, match="between 0 and 1"):
        teddy_sentences(person)


def test_there_is_no_ceiling_without_a_token():
    with pytest.raises(ValueError, match="no token"):
        tagging_ceiling(teddy_sentences(), only={"Theodore"})
    with pytest.raises(ValueError, match="no token"):
        tagging_ceiling([])


def test_encoded_sentences_can_be_read_back_and_are_padded_with_zeros():
    sentences = teddy_sentences()
    ids, labels, lengths, vocabulary = encode_tagged(sentences)
    assert ids.shape == labels.shape == (max(lengths), len(sentences))
    assert vocabulary == sorted(set(vocabulary))
    for n, sentence in enumerate(sentences):
        length = lengths[n]
        assert tuple(vocabulary[i] for i in ids[:length, n]) == sentence.tokens
        assert tuple(labels[:length, n]) == sentence.labels
        assert not ids[length:, n].any()
        assert not labels[length:, n].any()
    assert len(np.unique(lengths)) > 2
