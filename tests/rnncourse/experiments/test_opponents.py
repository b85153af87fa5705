"""Opponents are models: what they say sums to one, follows from the counts, and gets better by being tuned."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rnncourse.data import train_and_held_out
from rnncourse.experiments.opponents import ClassCounts, KneserNey, choose_class_counts

LETTERS = "abcd"
texts = st.text(LETTERS, min_size=1, max_size=40)


@given(text=texts, validation=texts, context=st.text(LETTERS, max_size=4), n=st.integers(1, 5))
def test_the_probabilities_of_kneser_ney_sum_to_one_whatever_was_seen(text, validation, context, n):
    model = KneserNey(text, n, len(LETTERS), validation)
    assert sum(model.probability(context, w) for w in LETTERS) == pytest.approx(1)


def test_kneser_ney_is_as_computed_by_hand():
    # "abab": a twice, b twice; a is followed by b twice, b by a once. Different tokens before a: 1, before b: 1.
    model = KneserNey("abab", 2, 2)
    assert model.probability("", "a") == pytest.approx(0.25 / 2 + 0.75 * 2 / 2 * 0.5)
    assert model.probability("a", "b") == pytest.approx((2 - 0.75) / 2 + 0.75 * 1 / 2 * 0.5)
    assert model.probability("b", "b") == pytest.approx(0.75 * 0.5)


def test_a_shorter_context_counts_different_tokens_before_and_not_how_often():
    # "k" is frequent, but only ever after "y"; "o" is rarer, and comes after four others.
    model = KneserNey("ykykykykykyk aobocodo", 2, 20)
    assert model.probability("z", "o") > 2 * model.probability("z", "k")


def test_words_and_ids_are_counted_as_letters_are():
    text = "abcabdabcab"
    by_letters, by_ids = KneserNey(text, 3, 4), KneserNey([*map(ord, text)], 3, 4)
    assert np.allclose(by_letters.probabilities(text), by_ids.probabilities([*map(ord, text)]))
    assert by_ids.probability([ord("a"), ord("b")], ord("c")) == pytest.approx(by_letters.probability("ab", "c"))


def test_a_shorter_n_of_the_same_counts_is_that_of_its_own():
    text, other = "abracadabra abracadabra", "cadabra"
    assert KneserNey(text, 4, 6).shorter(2).bits(other) == pytest.approx(KneserNey(text, 2, 6).bits(other))
    with pytest.raises(ValueError, match="from 1 to 4"):
        KneserNey(text, 4, 6).shorter(5)
    with pytest.raises(ValueError, match="at least 1"):
        KneserNey(text, 0, 6)


@pytest.mark.nightly
def test_on_real_text_a_longer_context_does_not_hurt_and_tuned_discounts_help():
    text, unseen = train_and_held_out("python-docs", characters=60_000)
    unseen = "".join(c for c in unseen if c in set(text))
    validation, test = unseen[:3_000], unseen[3_000:9_000]
    model = KneserNey(text, 7, len(set(text)))
    bits = [model.shorter(n, validation).bits(test) for n in range(1, 8)]
    assert all(longer < shorter + 0.02 for shorter, longer in pairwise(bits))
    assert bits[-1] < model.bits(test)


documents = st.lists(
    st.tuples(st.lists(st.integers(0, 2), min_size=1, max_size=6), st.integers(0, 2)), min_size=1, max_size=8
)


@given(documents, st.lists(st.integers(0, 3), min_size=1, max_size=5), st.integers(1, 4), st.sampled_from((0.3, 1.0)))
def test_what_class_conditional_counts_believe_sums_to_one(some, ids, n, power):
    model = ClassCounts([(x, [y] * len(x)) for x, y in some], 3, classes=3, symbols=4)
    assert np.allclose(model.posterior(ids, n, 0.5, power).sum(axis=1), 1)


def test_class_conditional_counts_follow_bayes_rule():
    # Class 0 has three documents of a 0, class 1 one of a 1. Add-one priors: 4/6 and 2/6; P(0 | 0) = (3 + 1/2) / 4.
    model = ClassCounts([([0], [0])] * 3 + [([1], [1])], 1, classes=2, symbols=2)
    joint = np.array([4 / 6 * 3.5 / 4, 2 / 6 * 0.5 / 2])
    assert np.allclose(model.posterior([0], 1, 1.0), joint / joint.sum())


def test_the_setting_of_class_conditional_counts_is_chosen_on_validation_alone():
    rng = np.random.default_rng(0)

    def drawn(count):
        """Class 0 repeats each id with probability 0.9, class 1 changes it: a unigram cannot tell."""
        made = []
        for y in rng.integers(0, 2, count):
            ids = [0]
            for _ in range(9):
                ids.append(ids[-1] if (rng.random() < 0.9) == (y == 0) else 1 - ids[-1])
            made.append((ids, [int(y)] * 10))
        return made

    parts = {"train": drawn(60), "validation": drawn(30), "test": drawn(30)}
    settings = [(1, 1.0, 1.0), (2, 1.0, 1.0), (2, 1.0, 0.1)]
    setting, validation, test = choose_class_counts(parts, settings, 2, 2)
    assert setting == (2, 1.0, 1.0)
    assert max(validation, test) < 0.6
