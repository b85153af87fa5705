"""The charts of units 01 and 06 say what their own data show, and name their axes."""

import numpy as np
import pytest

from rnncourse.plots.language_model import (
    against_counting,
    learned_by_heart,
    opinions,
    plateau,
    rates_and_seeds,
    training_curves,
)
from rnncourse.plots.ngram import filled_entries, network_and_tables, one_bag, perplexity_by_n, right_word_by_n

FIGURES = [
    (lambda: against_counting("docs", [4.0, 2.5, 3.0], [4.0, 2.25, 2.0], 2.75), ["2.50, at n = 2", "2.75"]),
    (lambda: learned_by_heart([3.5, 3.25, 4.0], np.linspace(4, 1, 600), 9000), ["9,000", "3.2, after 400", "4.0 at"]),
    (lambda: opinions({"τ = 1": [0.75, 0.25]}, "two"), ["2 characters", "0.75, 0.25"]),
    (lambda: plateau(np.r_[np.full(50, 1.18), np.full(50, 1.09)], 1.18, 1.09), ["at update 50", "ends at 1.09"]),
    (lambda: plateau(np.full(100, 1.18), 1.18, 1.09), ["never leaves"]),
    (lambda: rates_and_seeds({0.1: [3.0, 3.5], 1.0: [5.0, 6.0]}), ["3.0 to 3.5 at 0.1", "5.0 to 6.0 at 1"]),
    (lambda: training_curves({"docs": np.linspace(5, 2, 300)}), ["docs from 4.5 to 2.5"]),
    (lambda: perplexity_by_n({"a": [200.0, 50.0], "b": [2.0, np.inf]}), ["a: 200, 50."]),
    (lambda: filled_entries([27, 729], [20.0, 100.0], 150), ["from 27 to 7e+02", "end at 100", "150"]),
    (lambda: right_word_by_n(range(9, 13), [0.25, 0.25, 1.0, 1.0]), ["0.25 at n = 9", "1.00 from n = 11"]),
    (lambda: network_and_tables([10, 100], [9.0, 5.0], 12.0, 4.5), ["from 9.0 to 5.00", "12.0", "4.50"]),
    (lambda: one_bag([["a", "b", "a"], ["b", "a", "a"]], ["a", "b", "c"]), ["'a b a' and 'b a a'", "a 2, b 1, c 0"]),
]


@pytest.mark.parametrize(("draw", "words"), FIGURES)
def test_a_chart_says_what_its_data_show(draw, words):
    figure = draw()
    for word in words:
        assert word in figure.get_label()
    for axes in figure.axes:
        assert axes.get_xlabel() or not axes.axison
