"""A small image that code draws, for a network that reads an image row by row as if the rows were time steps."""

import numpy as np
from jaxtyping import Float

_SEVEN = """
........
.######.
.....+#.
....+#..
...+#+..
...##...
..+#+...
..##....
"""


def digit_image() -> Float[np.ndarray, "8 8"]:
    """A handwritten seven of 8 by 8 grey levels from 0 (paper) to 1 (ink), row 0 on top.

    >>> image = digit_image()
    >>> image.shape, image.min(), image.max()
    ((8, 8), np.float64(0.0), np.float64(1.0))
    """
    levels = {".": 0.0, "+": 0.5, "#": 1.0}
    return np.array([[levels[mark] for mark in row] for row in _SEVEN.split()])
