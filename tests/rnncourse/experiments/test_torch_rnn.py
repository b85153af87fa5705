"""Unit 07: gradients that a wrong tape would miss, a latch, shared runs of words, mixtures, and the bug of the axis."""

import numpy as np
import pytest
import torch

from rnncourse.experiments.torch_rnn import (
    before_the_break,
    in_shared_runs,
    latch_batch,
    mixed,
    new_training,
    some_words,
    tokens,
    word_ids,
)


def test_the_answer_of_a_latch_is_what_was_said_last():
    X, Y = latch_batch(np.random.default_rng(0), steps=40, rows=3)
    for n in range(3):
        said = -1.0
        for t in range(40):
            said = 1.0 if X[t, n, 0] else -1.0 if X[t, n, 1] else said
            assert Y[t, 0, n] == said


def test_of_a_row_of_equal_marks_one_is_kept_and_of_equal_words_all():
    assert tokens("No no, ****** == 1 1") == ["no", "no", ",", "*", "=", "1", "1"]


@pytest.mark.parametrize(("run", "shared"), [(2, "b c e f"), (3, ""), (1, "b c e f")])
def test_words_in_a_run_that_was_read_are_found(run, shared):
    asked, read = list("xbcyef"), list("abcdef")
    found = in_shared_runs(asked, read, run)
    assert [word for word, one in zip(asked, found, strict=True) if one] == shared.split()


def test_words_that_are_judged_stand_in_no_run_that_was_read():
    text = some_words()
    read = {tuple(text.train[i : i + 12]) for i in range(len(text.train) - 11)}
    # ("<unk>" stands for many words, so a run of ids may be shared where one of words is not)
    runs = [
        i for i in range(1, len(text.test) - 11) if tuple(text.test[i : i + 12]) in read and text.new[i : i + 12].all()
    ]
    assert all((text.test[i : i + 12] == 0).any() for i in runs)
    assert 0.9 < text.new.mean() < 1


def test_a_word_that_the_list_has_not_is_number_0():
    assert word_ids(["b", "z"], ["<unk>", "a", "b"]).tolist() == [2, 0]


def test_a_mixture_takes_the_share_that_is_best_on_validation():
    good, bad = np.array([0.5, 0.5]), np.array([0.5, 0.1])
    share, (validation, test) = mixed((bad, good), (good, bad))
    assert share == 0
    assert validation.tolist() == good.tolist()
    assert test.tolist() == bad.tolist()


def test_a_training_begins_the_same_at_each_call():
    one, two = (new_training() for _ in range(2))
    for network, optimizer in (one, two):
        before_the_break(network, optimizer)
    pairs = zip(one[0].parameters(), two[0].parameters(), strict=True)
    assert all(torch.equal(p, q) for p, q in pairs)
