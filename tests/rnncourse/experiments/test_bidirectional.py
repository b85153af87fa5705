"""What unit 09 measures is what it says: who has read what, wrong marks, a sign before code."""

import numpy as np
import pytest
import torch

from rnncourse.bidirectional import reverse_sequence
from rnncourse.cell import rnn_forward
from rnncourse.data import MarkedSentence
from rnncourse.experiments import bidirectional as numpy_part
from rnncourse.experiments import bidirectional_torch as torch_part


def in_the_padding(X, forward, backward, how="concat", lengths=None):
    """A layer whose backward chain begins in the padding."""
    zeros = np.zeros((X.shape[1], len(forward[1])))
    H_b = reverse_sequence(rnn_forward(reverse_sequence(X), zeros, *backward))
    return np.concatenate([rnn_forward(X, zeros, *forward), H_b], axis=-1)


def test_a_layer_that_begins_in_the_padding_is_found():
    assert numpy_part.alone_and_together()["within the lengths"] < 1e-12
    assert numpy_part.alone_and_together(in_the_padding)["within the lengths"] > 0.01


def test_a_layer_that_is_not_flipped_back_has_gaps_at_the_early_outputs():
    grids = numpy_part.dependence_not_flipped_back()
    assert grids["flipped back"].all()
    assert grids["not flipped back"][0].tolist() == [True] + 5 * [False] + [True]
    assert [counts.tolist() for counts in numpy_part.inputs_read().values()] == [[*range(1, 8)], [*range(7, 0, -1)]]


def test_the_second_chain_of_an_hmm_is_what_bayes_rule_says():
    transition, emission = np.array([[0.8, 0.2], [0.4, 0.6]]), np.array([[0.9, 0.1], [0.5, 0.5]])
    beta = numpy_part.from_the_right(transition, emission, np.array([0, 1, 0]))
    exact = transition @ (emission[:, 1] * (transition @ emission[:, 0]))
    assert beta[0] == pytest.approx(exact / exact.sum())
    watched = numpy_part.watch_machine(steps=300)
    assert watched.zero_from is None
    assert watched.after_all.sum(axis=1) == pytest.approx(1)


class AllEnglish:
    def marks(self, words):
        return np.zeros(len(words), dtype=int)


def test_who_says_that_all_is_english_makes_a_hundred_errors():
    assert numpy_part.held_out_errors(AllEnglish()) == 100


def test_the_three_parts_share_no_sentence_and_the_hmm_learns_from_one_of_them():
    parts = numpy_part.split_marked(3)
    assert sum(map(len, parts)) == len(numpy_part.marked_sentences())
    train = 20 * [MarkedSentence(("the", "if", "clause"), (0, 1, 0)), MarkedSentence(("see", "if", "so"), (0, 0, 0))]
    model = numpy_part.count_markov(train, 0.1, 1)
    assert model.marks(["the", "if", "clause"]).tolist() == [0, 1, 0]
    assert model.vocabulary["?"] == 0


def test_no_loss_is_read_in_the_padding_of_a_batch():
    sentences = [MarkedSentence(("a", "b", "c"), (0, 1, 0)), MarkedSentence(("b",), (1,))]
    ids, marks, lengths = torch_part._batch(sentences, {"?": 0, "a": 1, "b": 2})
    assert ids.T.tolist() == [[1, 2, 0], [2, 0, 0]]
    assert marks.T.tolist() == [[0, 1, 0], [1, -100, -100]]
    assert lengths.tolist() == [3, 1]


class Reader(torch.nn.Module):
    """It takes all for a comment if the first character is a sign, and looks at no other."""

    def forward(self, ids, lengths=None):
        sign = (ids[:1] == int(torch_part.ids_of("#")[0])).expand(ids.shape)
        return torch.nn.functional.one_hot(sign * torch_part.COMMENT, 8).float()


def test_a_tagger_that_looks_at_the_sign_alone_takes_all_behind_it_for_a_comment():
    assert (torch_part.taken_for_comment(Reader()) == 1).all()
    assert (torch_part.taken_for_comment(Reader(), "") == 0).all()
    assert all(len(line) == 40 for line in torch_part.lines_of_code())
