"""The sentences with negation: their labels by another count of the negatives, their ceiling by hand and by trial."""

import math
from collections import Counter
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rnncourse.data import Review, bag_ceiling, encode_reviews, sentiment_sentences

few = settings(max_examples=10)
GOOD = {"good", "funny", "clever", "moving"}
NEGATIVES = {"not", "never", "hardly", "longer", "nobody", "deny"}  # "no longer" is one, and "nobody can deny" two


@few
@given(st.floats(0, 1))
def test_the_probabilities_sum_to_one_and_contrasts_are_as_frequent_as_asked(contrast):
    sentences = sentiment_sentences(contrast)
    assert len({s.tokens for s in sentences}) == len(sentences) == 336 * (contrast < 1) + 1600 * (contrast > 0)
    assert math.isclose(sum(s.probability for s in sentences), 1)
    assert math.isclose(sum(s.probability for s in sentences if s.label), 0.5)
    assert math.isclose(sum(s.probability for s in sentences if "but" in s.tokens), contrast, abs_tol=1e-9)


def test_a_label_is_the_last_adjectives_turned_once_for_each_negative_that_reaches_it():
    for sentence in sentiment_sentences():
        *_, last = " ".join(sentence.tokens).split(" but ")
        (adjective,) = (word for word in last.split() if word in GOOD | {"bad", "dull", "slow", "silly"})
        negatives = sum(word in NEGATIVES for word in last.split())
        assert sentence.label == (adjective in GOOD) ^ (negatives % 2), sentence


def test_both_parts_of_a_contrast_are_opposites_and_its_twin_has_the_same_bag_and_the_other_label():
    contrasts = {" ".join(s.tokens): s for s in sentiment_sentences(contrast=1)}
    for text, sentence in contrasts.items():
        head, tail = text.split(" was ")
        first, second = tail.split(" but ")
        twin = contrasts[f"{head} was {second} but {first}"]
        assert Counter(twin.tokens) == Counter(sentence.tokens)
        assert twin.label != sentence.label
        assert twin.probability == sentence.probability


@few
@given(st.floats(0, 1))
def test_a_bag_is_right_on_all_sentences_of_one_part_and_on_half_of_the_contrasts(contrast):
    assert math.isclose(bag_ceiling(sentiment_sentences(contrast)), 1 - contrast / 2)


@settings(max_examples=40)
@given(st.lists(st.tuples(st.text("ab", min_size=1, max_size=3), st.integers(0, 1), st.integers(1, 9)), min_size=1))
def test_the_ceiling_is_the_best_of_all_functions_of_a_bag_tried_out(drawn):
    sentences = [Review(tuple(text), label, weight / 100) for text, label, weight in drawn]
    bags = sorted({tuple(sorted(s.tokens)) for s in sentences})[:8]
    sentences = [s for s in sentences if tuple(sorted(s.tokens)) in bags]
    best = max(
        sum(s.probability for s in sentences if answers[bags.index(tuple(sorted(s.tokens)))] == s.label)
        for answers in product((0, 1), repeat=len(bags))
    )
    assert math.isclose(bag_ceiling(sentences), best / sum(s.probability for s in sentences))


@pytest.mark.parametrize("contrast", [-0.1, 1.1, math.nan])
def test_a_share_lies_between_zero_and_one(contrast):
    with pytest.raises(ValueError, match="between 0 and 1"):
        sentiment_sentences(contrast)
    with pytest.raises(ValueError, match="no sentences"):
        bag_ceiling([])


def test_encoded_sentences_can_be_read_back_and_their_sum_over_time_is_the_bag():
    sentences = sentiment_sentences()
    words, labels, lengths, vocabulary = encode_reviews(sentences)
    assert words.shape == (max(lengths), len(sentences), len(vocabulary))
    assert (words.dtype, labels.dtype, lengths.dtype) == (np.float32, np.int64, np.int64)
    for n, sentence in enumerate(sentences):
        assert [vocabulary[i] for i in words[: lengths[n], n].argmax(axis=1)] == list(sentence.tokens)
        assert not words[lengths[n] :, n].any()
        assert labels[n] == sentence.label
        counts = words[:, n].sum(axis=0)
        assert {vocabulary[i]: int(counts[i]) for i in counts.nonzero()[0]} == Counter(sentence.tokens)
