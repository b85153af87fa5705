"""What unit 03 measures: memories that stay and fade, networks that say nothing, tests that a wrong class fails."""

import numpy as np
import pytest

from rnncourse.cell import Network
from rnncourse.experiments.cell import (
    read_word,
    real_words,
    sentence_perplexity,
    share_silent,
    symptoms,
    writes_on,
)


@pytest.mark.parametrize("start", ["", "語"])
def test_it_writes_on_from_any_start(start):
    assert len(writes_on(start, 5)) == 5


def test_words_are_real_if_the_documentation_has_them():
    assert real_words("xx the string of an object qqqqq returns yy") == 0.75
    assert real_words("") == 0


def test_a_word_is_read_letter_by_letter():
    x, h0, states, word = read_word("abz")
    assert (x.shape, h0.shape, states.shape, word) == ((3, 4), (4,), (3, 4), "abz")
    assert np.array_equal(read_word("abzz")[2][:3], states)


@pytest.mark.parametrize(("H", "share"), [(1, 1 / 2), (3, 1 / 8), (6, 1 / 64)])
def test_a_network_is_silent_if_all_of_its_input_weights_are_negative(H, share):
    assert share_silent(H, networks=4000) == pytest.approx(share, abs=0.02)
    assert share_silent(H, centred=True) == 0


class _Keeps(Network):
    """A network whose state outlives the call."""

    def forward(self, X):
        self.b = self.b + 1
        return super().forward(X)


def test_symptoms_are_seen_where_they_are():
    assert list(symptoms(Network).values()) == [(5, 3, 2), 0, 0, (5, 4, 2)]
    assert list(symptoms(_Keeps).values())[1] > 0.1


def test_the_perplexity_of_sentences_counts_every_word_but_the_first():
    Y = np.full((3, 2, 4), 0.25)
    assert sentence_perplexity(Y, np.array([[0, 1], [2, 3], [1, 0]])) == pytest.approx(4)
