"""What unit 03 measures: memories that stay and fade, networks that say nothing, tests that a wrong class fails."""

import numpy as np
import pytest

from rnncourse.cell import Network, hidden_layer, rnn_forward, rnn_predict
from rnncourse.experiments.cell import (
    bits_from,
    knock,
    letters_alike,
    one_hot,
    read_word,
    real_words,
    recalled,
    runs,
    sentence_perplexity,
    share_silent,
    symptoms,
    without_state,
    writes_on,
    writes_with,
)


def test_the_network_writes_the_same_with_the_students_functions():
    mine, theirs = writes_with(rnn_predict, "The value of ", 40), writes_on("The value of ", 40, temperature=1.0)
    assert letters_alike(mine, theirs) == 40
    assert letters_alike(writes_with(rnn_predict, "The value of ", 40, seed=2), theirs) < 40


@pytest.mark.parametrize("start", ["", "語"])
def test_it_writes_on_from_any_start(start):
    assert len(writes_on(start, 5)) == 5


def test_words_are_real_if_the_documentation_has_them():
    assert real_words("xx the string of an object qqqqq returns yy") == 0.75
    assert real_words("") == 0


def test_a_random_first_state_costs_at_first_and_no_more_after_ten_characters():
    random, zeros = (bits_from(kind, pieces=200) for kind in ("random", "zeros"))
    assert random[0] > zeros[0] + 0.5
    assert abs(random[9] - zeros[9]) < 0.1


def test_characters_are_one_hot_in_alphabetical_order():
    assert one_hot("cab")[:, 0].tolist() == [[0, 0, 1], [1, 0, 0], [0, 1, 0]]


def test_a_word_is_read_letter_by_letter():
    x, h0, states, word = read_word("abz")
    assert (x.shape, h0.shape, states.shape, word) == ((3, 4), (4,), (3, 4), "abz")
    assert np.array_equal(read_word("abzz")[2][:3], states)


def test_a_knock_stays_fades_or_is_gone():
    assert knock(2.0)[-1] > 0.95 > 0.9 > knock(0.8)[1] > 0.5 > 0.01 > knock(0.8)[-1] > 0
    assert knock(0.0)[1] == 0


def test_runs_meet_if_w_is_small_and_not_if_it_is_large():
    small, large = (np.ptp(runs(size)[-1], axis=0).max() for size in (0.9, 3.0))
    assert small < 1e-6 < 0.1 < large


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


def test_a_state_holds_what_a_layer_without_one_does_not():
    few = {"units": 30, "lags": (0, 2)}
    assert recalled(rnn_forward, **few)[1] > recalled(without_state(hidden_layer), **few)[1] + 0.2


def test_the_perplexity_of_sentences_counts_every_word_but_the_first():
    Y = np.full((3, 2, 4), 0.25)
    assert sentence_perplexity(Y, np.array([[0, 1], [2, 3], [1, 0]])) == pytest.approx(4)
