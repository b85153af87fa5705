"""The pictures of unit 09: source in colour that is there for everybody, diagrams with every node on the sheet."""

import re

import pytest

from rnncourse.data import TOKEN_LABELS, label_python
from rnncourse.plots.bidirectional import GROUND, LOOKS, WRONG, ColouredCode
from tests.rnncourse.plots.test_plots import contrast

TEXT = "f(x)  # <b>\n1"
TRUTH = label_python(TEXT)


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
