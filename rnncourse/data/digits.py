"""Handwritten digits, 8 by 8 pixels, split once and for all into those to learn from and those to be judged on.

An image is a sequence if it is read row by row: T = 8 steps of D = 8 grey levels. They come with the course,
in `shipped/digits.npz`.

Source: E. Alpaydin and C. Kaynak, "Optical Recognition of Handwritten Digits", UCI Machine Learning Repository, 1998
(its test part).
"""

from pathlib import Path
from typing import NamedTuple

import numpy as np
from jaxtyping import Float32, Int64

_FILE = Path(__file__).parent / "shipped" / "digits.npz"
_HELD_OUT = 500


class Digits(NamedTuple):
    """N images, and which digit each of them shows.

    images: float32, from 0 (paper) to 1 (ink), row 0 on top.
    labels: from 0 to 9.
    """

    images: Float32[np.ndarray, "N 8 8"]
    labels: Int64[np.ndarray, "N"]


def digits() -> tuple[Digits, Digits]:
    """All 1,797 digits: (1,297 to train on, 500 held out).

    The split is the same at every call, and random: the images lie in the order in which their writers wrote them, and
    so the same hands are in both parts.

    >>> train, held_out = digits()
    >>> train.images.shape, held_out.images.shape, train.labels[:5]
    ((1297, 8, 8), (500, 8, 8), array([...]))
    """
    with np.load(_FILE) as stored:
        images = (stored["images"] / 16).astype(np.float32)  # grey levels from 0 to 16
        labels = stored["labels"].astype(np.int64)
    order = np.random.default_rng(0).permutation(len(labels))
    train, held_out = order[_HELD_OUT:], order[:_HELD_OUT]
    return Digits(images[train], labels[train]), Digits(images[held_out], labels[held_out])
