"""First names: short texts to play with. A network that has read some thousand of them makes up names of its own.

They are those of the census of 1990 in the United States, in `shipped/names.txt`, the most frequent first.

Source: U.S. Census Bureau, "Frequently Occurring Names from the 1990 Census", 1995: a work of the federal government of
the United States, which is in the public domain.
"""

from pathlib import Path
from typing import NamedTuple

import numpy as np

_FILE = Path(__file__).parent / "shipped" / "names.txt"
_EACH = 500  # in the validation part, and in the held-out part


class FirstNames(NamedTuple):
    """Names to learn from, names to choose by, and names to be judged on. No name is in two of the parts."""

    train: list[str]
    validation: list[str]
    held_out: list[str]


def first_names() -> FirstNames:
    """All names in three parts, dealt at random, in the same way at every call.

    >>> names = first_names()
    >>> [len(part) for part in names], names.train[:5]
    ([4163, 500, 500], [...])
    """
    everything = _FILE.read_text(encoding="utf-8").split()
    order = np.random.default_rng(0).permutation(len(everything))
    shuffled = [everything[i] for i in order]
    return FirstNames(shuffled[2 * _EACH :], shuffled[:_EACH], shuffled[_EACH : 2 * _EACH])
