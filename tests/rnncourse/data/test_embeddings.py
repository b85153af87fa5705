"""The table of word vectors: what it says of words, and how it is made."""

import numpy as np
import pytest

from rnncourse.data import word_vectors
from rnncourse.data.shipped import __main__ as shipped


def test_words_of_a_kind_are_neighbours():
    table = word_vectors()
    for word, other in (("three", "four"), ("true", "false"), ("month", "day"), ("error", "errors")):
        assert other in table.nearest(word, 4)
        assert word not in table.nearest(word, 50)
    with pytest.raises(KeyError, match="not among the 2000"):
        table.nearest("brontosaurus")


def test_each_word_has_a_vector_of_its_own_and_they_are_of_size_one():
    words, vectors = word_vectors()
    assert len(set(words)) == len(words) == len(vectors)
    assert vectors.dtype == np.float32
    assert 0.9 < vectors.std() < 1.1
    assert len(np.unique(vectors, axis=0)) > 0.99 * len(vectors)


def test_a_table_is_made_of_who_stands_beside_whom(monkeypatch):
    """Cats and dogs eat and sleep, cars and trains drive and stop; no two of a kind stand in one text."""
    rng = np.random.default_rng(0)
    kinds = [(["cat", "dog"], ["eats", "sleeps", "runs"]), (["car", "train"], ["drives", "stops", "waits"])]
    texts = []
    for _ in range(400):
        subjects, verbs = kinds[rng.integers(2)]
        texts.append(f"{rng.choice(subjects)} {rng.choice(verbs)} {rng.choice(verbs)}")
    monkeypatch.setattr(shipped, "docstrings", lambda: iter(["", *texts]))
    words, vectors = shipped.word_vectors(count=10, size=3)
    place = {word: vectors[i] / np.linalg.norm(vectors[i]) for i, word in enumerate(words)}
    assert len(words) == 10
    assert place["cat"] @ place["dog"] > 0.9 > 0.5 > place["cat"] @ place["car"]
    assert place["car"] @ place["train"] > 0.9
