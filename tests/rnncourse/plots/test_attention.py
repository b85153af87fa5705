"""The pictures of unit 13: a map that names its axes."""

import numpy as np

from rnncourse.plots import to_png
from rnncourse.plots.attention import alignment_map


def test_the_map_names_its_axes_shows_spaces_and_is_the_same_twice():
    def draw():
        return alignment_map(np.eye(2, 3), "a b", "yz")

    axes = draw().axes[0]
    assert [label.get_text() for label in axes.get_xticklabels()][:3] == ["a", "␣", "b"]
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("input character", "output character")
    assert to_png(draw()) == to_png(draw())
