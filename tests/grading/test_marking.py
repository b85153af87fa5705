"""Written answers: the rubric is read, alike answers are one, and marks are formgrader's."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rnncourse import exercises
from rnngrade.core.desk import Desk
from rnngrade.gradebook.book import open_gradebook
from rnngrade.gradebook.marks import read_marks
from rnngrade.pages.marking.answers import NoSuchAnswer, answers, mark
from rnngrade.pages.marking.question import questions
from tests.grading import made
from tests.grading.made import UNIT, WRITTEN, changed, outcome, submission

TEXTS = {
    "ada": "It  loses the Order.",
    "alan": "it loses the order",
    "barbara": "Nothing is lost: <b onclick='x()'>trust me</b> $h_t$",
    "charles": "It loses the order, and how many there were.",
}


@pytest.mark.parametrize("unit", [stem for stem in exercises.STEMS if stem != "00_welcome"])
def test_the_items_of_each_rubric_give_all_points_of_its_question(root, unit):
    for question in questions(root, unit):
        if question.items:
            assert sum(item.points for item in question.items) == question.most
            assert all(len(item.text) > 10 for item in question.items)
        assert len(question.model) > 100
        assert "SOLUTION" not in question.model


@pytest.fixture(scope="module")
def question(root):
    (one,) = questions(root, UNIT)
    return one


def enter(desk: Desk, root, texts, question):
    """A class that wrote this."""
    for student, text in texts.items():
        record, notebook = outcome(root, submission(student))
        made.enter(desk, (record, changed(notebook, WRITTEN, source=f"{question.before}{text}\n{question.after}")))


def test_answers_that_are_alike_are_marked_together(desk, root, question):
    enter(desk, root, TEXTS, question)
    found = answers(desk, UNIT, question)
    assert sorted(sorted(one.students) for one in found) == [["ada", "alan"], ["barbara"], ["charles"]]
    assert all(one.waits and one.points is None and not one.differ for one in found)
    (same,) = (one for one in found if "ada" in one.students)
    assert same.text in (TEXTS["ada"], TEXTS["alan"])
    done = mark(desk, UNIT, question, same.id, 1.5, "Say *why*.", {0: 1.0, 1: 0.5})
    assert (done.points, done.waits) == (1.5, False)
    marks = read_marks(desk, UNIT)
    for student in ("ada", "alan"):
        grade = marks[student].grades[WRITTEN]
        assert (grade.points, grade.by_hand, grade.waits) == (1.5, True, False)
        assert marks[student].comments[WRITTEN] == "Say *why*."
    assert marks["charles"].grades[WRITTEN].waits
    again = {one.id: one for one in answers(desk, UNIT, question)}
    assert (again[same.id].points, again[same.id].items, again[same.id].waits) == (1.5, {0: 1.0, 1: 0.5}, False)
    assert [one.waits for one in answers(desk, UNIT, question)] == [True, True, False]


def test_what_formgrader_gave_one_of_two_alike_is_told(desk, root, question):
    enter(desk, root, TEXTS, question)
    gradebook = open_gradebook(desk)
    grade = gradebook.find_grade(WRITTEN, UNIT, UNIT, "ada")
    grade.manual_score, grade.needs_manual_grade = 3.0, False
    gradebook.db.commit()
    gradebook.close()
    (same,) = (one for one in answers(desk, UNIT, question) if "ada" in one.students)
    assert same.differ
    assert same.points is None
    assert same.waits


def test_an_answer_that_was_collected_anew_meanwhile_is_not_marked(desk, root, question):
    enter(desk, root, {"ada": "one"}, question)
    (old,) = answers(desk, UNIT, question)
    enter(desk, root, {"ada": "another"}, question)
    with pytest.raises(NoSuchAnswer, match="reload"):
        mark(desk, UNIT, question, old.id, 1.0, "", {})
    assert read_marks(desk, UNIT)["ada"].grades[WRITTEN].waits


@given(points=st.floats(allow_nan=True).filter(lambda p: not 0 <= p <= 3), number=st.integers() | st.just(0))
def test_points_and_items_that_cannot_be_are_refused(question, points, number):
    nobody = Desk.__new__(Desk)
    with pytest.raises(ValueError, match="Points are from 0 to 3"):
        mark(nobody, UNIT, question, "x", points, "", {})
    with pytest.raises(ValueError, match="rubric has no item"):
        mark(nobody, UNIT, question, "x", 1.0, "", {number: 1.5})


@pytest.mark.parametrize("kept", ["", "[1]", '{"x": 3}', '{"x": {"a": 1}}', "\x00"])
def test_kept_items_that_cannot_be_read_cost_no_mark(desk, root, question, kept):
    enter(desk, root, {"ada": "one"}, question)
    place = desk.folder / "marks" / UNIT / f"{WRITTEN}.json"
    place.parent.mkdir(parents=True)
    place.write_text(kept)
    (one,) = answers(desk, UNIT, question)
    mark(desk, UNIT, question, one.id, 1.0, "", {0: 1.0})
    assert json.loads(place.read_text())[one.id] == {"0": 1.0}
