"""The pictures of unit 13: a map that names its axes."""

import numpy as np

from rnncourse.plots import to_png
from rnncourse.plots.attention import alignment_map, places_map, repeated_chart


def test_the_map_names_its_axes_shows_spaces_and_is_the_same_twice():
    def draw():
        return alignment_map(np.eye(2, 3), "a b", "yz")

    axes = draw().axes[0]
    assert [label.get_text() for label in axes.get_xticklabels()][:3] == ["a", "␣", "b"]
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("input character", "output character")
    assert to_png(draw()) == to_png(draw())


def test_a_figure_says_what_its_own_data_show():
    assert "y at a (1), z at the space (2)" in alignment_map(np.eye(2, 3), "a b", "yz").get_label()
    assert "one: 2 digits 0.50, 9 digits 0.25" in repeated_chart([2, 9], {"one": [0.5, 0.25]}, 4).get_label()
    assert "7.0 on the diagonal, 3.0 one place beside it" in places_map(np.eye(4) * 4 + 3).get_label()
