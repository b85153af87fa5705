"""A verdict is a card, a text and a number."""

from html.parser import HTMLParser

import numpy as np
import pytest
from nbformat.v4 import new_code_cell, new_output
from nbgrader.utils import determine_grade

from rnncourse import check, hint
from rnncourse.exercises import find


def verdicts():
    exercise = find("rnn_step")
    yield check(exercise.reference)
    for m in exercise.misconceptions:
        yield check(m.answer, "rnn_step")
    yield check(lambda *a: "<script>`x` & `y`</script>", "rnn_step")
    yield check({"A"}, "quiz_rnn_facts")


@pytest.mark.parametrize("verdict", list(verdicts()), ids=str)
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


@pytest.mark.parametrize("verdict", list(verdicts()), ids=str)
def test_the_card_says_what_the_text_says_and_cannot_be_broken_out_of(verdict):
    page = Balanced()
    page.feed(verdict.card())
    assert not page.open
    assert verdict.message.replace("`", "") in page.words.replace("`", "")
    assert ("passed" if verdict.passed else "not yet") in page.words
    assert verdict.exercise in str(verdict)
    assert verdict.message in str(verdict)


def test_a_verdict_counts_as_true_only_when_it_passed():
    assert check(find("rnn_step").reference)
    assert not check(lambda *a: np.zeros(3), "rnn_step")


def test_a_hint_is_a_card_and_a_text():
    given = hint("rnn_step")
    assert given.text in str(given)
    assert "<section" in given._repr_html_()
