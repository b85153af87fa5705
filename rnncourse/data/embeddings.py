"""A small table of word vectors that was made beforehand, from another text than those that the course trains on.

The 2,000 most frequent words of the documentation strings in Python's own library, each with 32 numbers. Words that
stand among the same neighbours have vectors that point the same way. `python -m rnncourse.data.shipped` makes it,
without any network: it counts neighbours, and keeps the 32 strongest directions of what it finds.

Source of the method: O. Levy, Y. Goldberg, "Neural Word Embedding as Implicit Matrix Factorization", NIPS 2014.
"""

from pathlib import Path
from typing import NamedTuple

import numpy as np
from jaxtyping import Float32

_FILE = Path(__file__).parent / "shipped" / "words.npz"


class WordVectors(NamedTuple):
    """Words in small letters, the most frequent first, and a vector for each. Entries have a variance of about 1."""

    words: list[str]
    vectors: Float32[np.ndarray, "V 32"]

    def nearest(self, word: str, count: int = 5) -> list[str]:
        """The words whose vectors point most nearly the same way. A KeyError for a word that is not in the table.

        >>> word_vectors().nearest("three", 2)
        ['four', 'two']
        """
        if word not in self.words:
            raise KeyError(f'"{word}" is not among the {len(self.words)} words of the table.')
        directions = self.vectors / np.linalg.norm(self.vectors, axis=1, keepdims=True)
        place = self.words.index(word)
        order = np.argsort(-directions @ directions[place], kind="stable")
        return [self.words[i] for i in order if i != place][:count]


def word_vectors() -> WordVectors:
    """The table, in float32.

    >>> table = word_vectors()
    >>> len(table.words), table.vectors.shape
    (2000, (2000, 32))
    """
    with np.load(_FILE) as stored:
        return WordVectors(str(stored["words"]).split("\n"), stored["vectors"].astype(np.float32) / 16)
