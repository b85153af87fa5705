"""The pictures of unit 09: source in colour that is there for everybody, diagrams with every node on the sheet."""

import re

import numpy as np
import pytest
from matplotlib.colors import to_rgb

from rnncourse.data import TOKEN_LABELS, label_python
from rnncourse.plots import to_png
from rnncourse.plots.bidirectional import GROUND, LOOKS, WRONG, ColouredCode, belief_grid, class_bars

TEXT = "f(x)  # <b>\n1"
TRUTH = label_python(TEXT)


def luminance(colour):
    linear = [v / 12.92 if v <= 0.03928 else ((v + 0.055) / 1.055) ** 2.4 for v in to_rgb(colour)]
    return float(np.dot([0.2126, 0.7152, 0.0722], linear))


def contrast(a, b):
    dark, light = sorted((luminance(a), luminance(b)))
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("ground", [GROUND, WRONG], ids=["white", "tinted"])
@pytest.mark.parametrize("label", [label for label in LOOKS if LOOKS[label]])
def test_every_label_can_be_read_on_its_ground(label, ground):
    (text,) = re.findall(r"(?<![-\w])color:(#\w+)", LOOKS[label])
    (below,) = re.findall(r"background:(#\w+)", ground)
    assert contrast(text, below) >= 4.5


def test_source_in_colour_has_a_text_alternative_in_which_wrong_labels_show():
    guess = TRUTH.copy()
    guess[[0, 4]] = TOKEN_LABELS.index("name")  # a function, and a space
    guess[2] = TOKEN_LABELS.index("space")
    code = ColouredCode(TEXT, {"truth": TRUTH, "guess": guess}, TOKEN_LABELS)
    assert "truth\nf(x)  # <b>\nfono..ccccc\n1\nd" in str(code)
    assert "guess\nf(x)  # <b>\nNo!oN.ccccc\n1\nd" in str(code)
    assert code.right("guess") == pytest.approx(10 / 13)
    assert code.right("truth") == 1


def test_source_in_colour_is_escaped_and_whole():
    html = ColouredCode(TEXT, {"truth": TRUTH}, TOKEN_LABELS)._repr_html_()
    assert "<b>" not in html
    first_panel = html.split("<pre")[1].split(">", 1)[1].split("</pre>")[0]
    assert re.sub(r"<[^>]*>", "", first_panel).replace("&lt;", "<").replace("&gt;", ">") == TEXT


def test_charts_name_their_axes_and_are_the_same_twice():
    def draw():
        yield belief_grid({"one way": np.array([0.0, 0.5]), "both ways": np.array([0.0, 1.0])}, ["He", "said"])
        shares = {"one way": {"name": 0.4}, "both ways": {"name": 0.9}}
        yield class_bars(shares, xlabel="share right", ticks={"name": 0.3})

    for first, second in zip(draw(), draw()):
        assert first.axes[0].get_xlabel()
        assert to_png(first) == to_png(second)
