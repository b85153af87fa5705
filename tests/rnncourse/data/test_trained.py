"""The trained network is one that its own recipe makes, and better than no training and than a table of pairs."""

import numpy as np
import pytest

from rnncourse.data import train_and_held_out, trained_network
from rnncourse.data.shipped import __main__ as shipped
from rnncourse.language_model import bits_per_character
from rnncourse.ngram import train_pair_network

NETWORK = trained_network()
READ, UNREAD = (NETWORK.ids(text) for text in train_and_held_out("python-docs"))


def test_it_has_the_characters_and_the_shapes_that_its_training_gives():
    untrained = shipped.network(updates=0)
    assert [chr(code) for code in untrained.pop("characters")] == NETWORK.chars
    assert {name: p.shape for name, p in untrained.items()} == {n: p.shape for n, p in NETWORK.parameters.items()}
    with np.load(shipped.FOLDER / "network.npz") as stored:
        assert {name: stored[name].dtype for name in untrained} == {name: p.dtype for name, p in untrained.items()}


def test_it_predicts_text_that_it_has_not_read_better_than_any_table_of_pairs():
    Q = len(NETWORK.chars)
    table = train_pair_network(np.stack([UNREAD[:-1], UNREAD[1:]], 1), Q, 64, 500, np.random.default_rng(0))
    lowest_of_a_table = -np.log2(table[UNREAD[:-1], UNREAD[1:]]).mean()  # one that has seen the very text
    assert bits_per_character(NETWORK.parameters, UNREAD[:20_000]) < lowest_of_a_table - 1


@pytest.mark.parametrize(("text", "same"), [("a \n\t b", "a b"), (" a", " a"), ("a ", "a "), ("aé b", "a b"), ("", "")])
def test_spaces_become_one_space_and_what_it_does_not_know_is_left_out(text, same):
    assert "".join(NETWORK.chars[i] for i in NETWORK.ids(text)) == same
