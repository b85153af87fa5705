"""Unit 13: what it measures in NumPy: how sharp a softmax is at its start, and what positions know of one another.

What needs PyTorch, networks that are trained, is in `rnncourse.experiments.attention_torch`.
"""

import math

import numpy as np
from jaxtyping import Float

from rnncourse.cell import softmax


def largest_weight(size: int, root: bool, keys: int = 10) -> float:
    """How much of its attention a query gives to the best of so many keys, on average; all drawn at random.

    size: that of a query and a key, d. root: whether the scores are divided by its root.
    """
    rng = np.random.default_rng(size)
    scores = (rng.normal(size=(2000, 1, size)) @ rng.normal(size=(2000, size, keys)))[:, 0]
    return float(softmax(scores / math.sqrt(size) if root else scores).max(axis=-1).mean())


def waves(places: int, size: int) -> Float[np.ndarray, "T d"]:
    """A vector for each place: sines and cosines of its number, from fast ones to slow ones.

    Source: A. Vaswani et al., "Attention Is All You Need", NeurIPS 2017.

    >>> waves(2, 4).round(2).tolist()
    [[0.0, 1.0, 0.0, 1.0], [0.84, 0.54, 0.01, 1.0]]
    """
    angles = np.arange(places)[:, None] / 10_000 ** (np.arange(0, size, 2) / size)
    return np.stack([np.sin(angles), np.cos(angles)], axis=-1).reshape(places, size)
