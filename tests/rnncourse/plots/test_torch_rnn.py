"""The pictures of unit 07 say what they are made of, and draw what they are given."""

import numpy as np
import pytest

from rnncourse.plots.torch_rnn import (
    beside_counting,
    carried_state,
    char_model,
    interrupted_chart,
    latch_chart,
    padded_words,
    padding_chart,
    perplexity_bars,
    reported_losses,
    tape,
    times_chart,
)


@pytest.mark.parametrize(
    ("draw", "said"),
    [
        (tape, "x gets 2 (1 - 0.462²) = 1.573"),
        (lambda: tape(1.0), "x gets 2 (1 - 0.762²) = 0.840"),
        (char_model, "become logits (T, N, Q)"),
        (carried_state, "3 batches in a row"),
        (lambda: padded_words(["to", "the"]), "to (2), the (3)"),
        (lambda: latch_chart({"8 units": [0.5, 1.0]}), "8 units: from 0.5 at 1 to 1 at 2"),
        (lambda: padding_chart([0.0, 1.1, 1.2]), "from 0 at 0 to 1.2 at 2"),
        (lambda: times_chart((16, 64), {"mine": [2.0, 1.5], "nn.RNN": [1.0, 1.0]}), "mine: from 2 at 16 to 1.5 at 64"),
        (lambda: reported_losses({"on the wrong": [1.0, 0.1]}), "(logarithmic)"),
    ],
)
def test_a_picture_says_what_it_shows(draw, said):
    assert said in draw().get_label()


def test_a_level_stands_at_each_n_gram_of_the_counts():
    figure = beside_counting({"training": [4.0, 3.0], "held out": [3.5, 2.9]}, [4.7, 3.7, 2.8])
    words = [text.get_text() for text in figure.axes[0].texts]
    assert [word for word in words if "gram" in word] == ["1-gram", "2-gram", "3-gram"]
    assert "held out: 3.50, 2.90" in figure.get_label()


def test_bars_of_perplexity_show_our_range_where_there_is_one():
    figure = perplexity_bars({"4-gram": 59.1, "network": 65.0}, {"network": [62.0, 70.0], "other": [1.0]})
    assert "4-gram 59; network 65 (our seeds 62 to 70)" in figure.get_label()
    assert "our seeds" not in perplexity_bars({"4-gram": 59.1}).get_label()


def test_a_resumed_run_is_drawn_as_its_difference_from_the_undisturbed_one():
    figure = interrupted_chart({"undisturbed": np.array([2.0, 1.0]), "new": np.array([2.5, 1.0])})
    (line,) = figure.axes[0].get_lines()
    assert line.get_ydata().tolist() == [0.5, 0.0]
    assert line.get_xdata().tolist() == [3, 6]
    assert "new, at most 0.5 bits" in figure.get_label()
