"""A verdict is a card, a text and a number."""

import re
from html.parser import HTMLParser

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays
from nbformat.v4 import new_code_cell, new_output
from nbgrader.utils import determine_grade

from rnncourse import check, hint
from rnncourse.checks.exercise import Axes
from rnncourse.checks.lookable import case_html
from rnncourse.checks.verdict import Offers, Verdict, in_code
from rnncourse.exercises import find


def verdicts():
    exercise = find("rnn_step")
    yield check(exercise.reference)
    for m in exercise.misconceptions[:4]:
        yield check(m.answer, "rnn_step")
    yield check(lambda *a: "<script>`x` & `y`</script>", "rnn_step")
    yield check({"A"}, "quiz_rnn_facts")


EVERY_KIND = list(verdicts())


@pytest.mark.parametrize("verdict", EVERY_KIND, ids=str)
def test_nbgrader_reads_its_points_from_the_last_line_of_a_cell(verdict):
    output = new_output("execute_result", data=verdict._repr_mimebundle_())
    cell = new_code_cell(outputs=[output])
    cell.metadata["nbgrader"] = {"grade": True, "solution": False, "points": verdict.max_points}
    assert determine_grade(cell) == (verdict.points, verdict.max_points)


class Balanced(HTMLParser):
    def __init__(self):
        super().__init__()
        self.open, self.words = [], ""

    def handle_starttag(self, tag, attrs):
        self.open.append(tag)
        assert tag != "script"

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.words += data


@pytest.mark.parametrize("verdict", EVERY_KIND, ids=str)
def test_the_card_says_what_the_text_says_and_cannot_be_broken_out_of(verdict):
    page = Balanced()
    page.feed(verdict.card())
    assert not page.open
    assert verdict.message.replace("`", "") in page.words.replace("`", "")
    assert ("passed" if verdict.passed else "not yet") in page.words
    for text in () if verdict.passed else find(verdict.exercise).hints:
        assert text.replace("`", "") in page.words.replace("`", "")
    assert verdict.exercise in str(verdict)
    assert verdict.message in str(verdict)


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | arrays(float, array_shapes(max_dims=5)),
    lambda inner: st.lists(inner, max_size=3) | st.tuples(inner, inner),
    max_leaves=6,
)


@given(inputs=st.lists(VALUES, max_size=3).map(tuple), expected=VALUES, got=VALUES)
def test_whatever_a_case_holds_can_be_looked_at(inputs, expected, got):
    takes = (Axes("X", ("T", "N", "D")), Axes("ids", ("T",)))[: len(inputs)]
    page = Balanced()
    page.feed(
        Verdict("x", False, 0, 0, 1, "no", inputs=inputs, expected=expected, got=got, offers=Offers((), takes)).card()
    )
    assert not page.open


def test_what_differs_is_marked_where_it_stands():
    expected = np.arange(24.0).reshape(4, 2, 3)
    got = expected.copy()
    got[2, 1, 0] = 7
    card = case_html((expected,), (Axes("X", ("T", "N", "D")),), expected, got, Axes("H", ("T", "N", "H")))
    assert card.count("which differs") == 2
    assert 'aria-label="7, which differs"' in card
    assert "t=2" in card


def test_two_numbers_that_differ_look_different_in_the_message_and_in_the_table():
    def min_gru_forward(X, h0, Wz, Wh):
        z, h, states = 1 / (1 + np.exp(-(X @ Wz))), h0, []
        for z_t, x in zip(z, X, strict=True):
            h = (1 - z_t) * h + z_t * (x @ Wh) * (1 + 2e-5)
            states.append(h)
        return np.array(states)

    verdict = check(min_gru_forward)
    expected, got = re.search(r"expected (\S+), got (\S+)", verdict.message).groups()
    assert expected != got
    table = verdict.table
    for a, b, differs in zip(table.expected, table.got, table.wrong, strict=True):
        assert (a != b) == differs or not differs


def test_of_three_axes_each_table_of_what_was_expected_stands_beside_that_of_what_came():
    expected = np.arange(80.0).reshape(10, 2, 4)
    got = expected.copy()
    got[9, 1, 0] = -7
    card = case_html((), (), expected, got, Axes("H", ("T", "N", "H")))
    rows = re.findall(r"<tr><td.*?</table></td></tr>", card)
    assert all(row.count("<table") == 2 for row in rows)
    assert rows[0].count("t=9") == 2  # what differs comes first
    assert rows[0].count("which differs") == 2
    assert card.index("H: expected") < card.index("H: got") < card.index("t=9")
    assert "… 4 more tables" in card


def test_of_what_a_module_is_given_each_array_is_shown_by_its_name():
    case = (3, 5), {"head.weight": np.eye(2)}, [(np.ones(4), None), (np.zeros((2, 2)),)]
    card = case_html(case, tuple(map(Axes, ("sizes", "parameters", "inputs"))), None, None, None)
    titles = re.findall(r"<strong>(.*?)</strong>", card)
    inputs = [f"inputs[{call}][{i}]" for call, i in ((0, 0), (0, 1), (1, 0))]
    assert titles == ["sizes", "parameters[&#x27;head.weight&#x27;]", *inputs]
    assert "<code>(3, 5)</code>" in card


def test_what_stands_between_asterisks_is_emphasised_and_a_product_is_not():
    assert in_code("the mass *before* it, 2 * x * y, `a*b*c`") == (
        "the mass <em>before</em> it, 2 * x * y, <code>a*b*c</code>"
    )


def test_a_verdict_that_is_none_says_why_and_has_neither_marks_nor_hints():
    verdict = Verdict("rnn_step", False, 0.0, 0.0, 3, "It does not run.", run="In [4]", is_given=False)
    assert str(verdict) == "· rnn_step: no verdict. It does not run."
    page = Balanced()
    page.feed(verdict.card())
    assert not page.open
    assert "no verdict" in page.words
    assert "hint" not in page.words
    assert "points" not in page.words


def test_a_verdict_counts_as_true_only_when_it_passed():
    assert check(find("rnn_step").reference)
    assert not check(lambda *a: np.zeros(3), "rnn_step")


def test_a_hint_is_a_card_and_a_text():
    given = hint("rnn_step")
    assert given.text in str(given)
    assert "<section" in given._repr_html_()


def test_nothing_is_offered_to_look_at_that_is_not_there():
    def rnn_step(*args):
        raise ValueError("no")

    card = check(rnn_step).card()
    assert "v.expected" in card
    assert "v.got" not in card
