"""A small recurrent network that is trained already, so that one can see at once where the course leads.

160 units, one character at a time; it has read the topics of Python's documentation that `train_and_held_out` gives
for training, some eighty times, spaces and line breaks made one space. `rnncourse.data.shipped.__main__` trains it,
with the reference of unit 06.
"""

import re
from pathlib import Path
from typing import NamedTuple

import numpy as np
from jaxtyping import Float32, Int64

_FILE = Path(__file__).parent / "shipped" / "network.npz"


class TrainedNetwork(NamedTuple):
    """A network that reads and predicts Q characters with H units.

    chars: the Q characters; a character's id is its place.
    parameters: "U" (Q, H), "W" (H, H), "b" (H,), "V" (H, Q) and "c" (Q,), float32.
    """

    chars: list[str]
    parameters: dict[str, Float32[np.ndarray, "..."]]

    def ids(self, text: str) -> Int64[np.ndarray, "L"]:
        """The ids of a text's characters, spaces and line breaks made one space; those it does not know are left out.

        >>> network = trained_network()
        >>> "".join(network.chars[i] for i in network.ids("a \\n\\n b"))
        'a b'
        """
        place = {character: i for i, character in enumerate(self.chars)}
        spaced = re.sub(r"\s+", " ", text)
        return np.array([place[character] for character in spaced if character in place], dtype=np.int64)


def trained_network() -> TrainedNetwork:
    """The network as it is shipped.

    >>> chars, parameters = trained_network()
    >>> parameters["U"].shape == (len(chars), 160)
    True
    """
    with np.load(_FILE) as stored:
        arrays = {name: stored[name].astype(np.float32) for name in "UWbVc"}
        return TrainedNetwork([chr(code) for code in stored["characters"]], arrays)
