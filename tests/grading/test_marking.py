"""Written answers: the rubric is read, alike answers are one, and marks are formgrader's."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rnncourse import exercises
from rnngrade.core.desk import Desk
from rnngrade.core.errors import DeskError
from rnngrade.demo.sample import BLANK
from rnngrade.gradebook.book import GradebookWriter
from rnngrade.gradebook.by_hand import path_of
from rnngrade.gradebook.marks import read_marks
from rnngrade.pages.marking.answers import Before, MarkedMeanwhile, answers, answers_of, change_item, mark, part_of
from rnngrade.pages.marking.question import Item, questions, questions_of
from tests.grading import made
from tests.grading.made import NONE, UNIT, WRITTEN, changed, outcome, submission
from tests.grading.on_any_database import Person

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


def enter(desk, root, texts):
    """A class that wrote this."""
    (question,) = questions(root, UNIT)
    for student, text in texts.items():
        record, notebook = outcome(root, submission(student))
        made.enter(desk, (record, changed(notebook, WRITTEN, source=f"{question.before}{text}\n{question.after}")))


def four(desk, root):
    enter(desk, root, TEXTS)


def test_answers_that_are_alike_are_marked_together(copy_of, question):
    desk = copy_of(four)
    found = answers(desk, UNIT, question)
    assert sorted(sorted(one.students) for one in found) == [["ada", "alan"], ["barbara"], ["charles"]]
    assert all(one.waits and one.points is None and not one.differ for one in found)
    (same,) = (one for one in found if "ada" in one.students)
    assert same.text in (TEXTS["ada"], TEXTS["alan"])
    done = mark(desk, UNIT, question, same.id, 1.5, "Say *why*.", {0: 1.0, 1: 0.5})
    assert (done.points, done.waits) == (1.5, False)
    marks = read_marks(desk, UNIT, NONE)
    for student in ("ada", "alan"):
        grade = marks[student].grades[WRITTEN]
        assert (grade.points, grade.by_hand, grade.waits) == (1.5, True, False)
        assert marks[student].comments[WRITTEN] == "Say *why*."
    assert marks["charles"].grades[WRITTEN].waits
    again = {one.id: one for one in answers(desk, UNIT, question)}
    assert (again[same.id].points, again[same.id].items, again[same.id].waits) == (1.5, {0: 1.0, 1: 0.5}, False)
    assert [one.waits for one in answers(desk, UNIT, question)] == [True, True, False]


def test_what_formgrader_gave_one_of_two_alike_is_told(copy_of, question):
    desk = copy_of(four)
    Person(desk, "ada").gives(WRITTEN, 3.0)
    (same,) = (one for one in answers(desk, UNIT, question) if "ada" in one.students)
    assert same.differ
    assert same.points is None
    assert same.waits


def test_an_answer_that_was_collected_anew_meanwhile_is_not_marked(desk, root, question):
    enter(desk, root, {"ada": "one"})
    (old,) = answers(desk, UNIT, question)
    enter(desk, root, {"ada": "another"})
    with pytest.raises(DeskError, match="reload"):
        mark(desk, UNIT, question, old.id, 1.0, "", {})
    assert read_marks(desk, UNIT, NONE)["ada"].grades[WRITTEN].waits


def test_marks_by_hand_that_cannot_be_read_cost_their_own_student_alone(desk, root, question):
    enter(desk, root, {"ada": "one", "alan": "another"})
    path = path_of(desk, UNIT, "ada")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("{")
    records = {record.student: record for record in desk.graded(UNIT)}
    with GradebookWriter(desk) as gradebook:
        (said,) = gradebook.enter_unit(UNIT)
        assert "ada.json cannot be read" in said
        gradebook.enter(records["alan"])
        with pytest.raises(DeskError, match=r"ada\.json cannot be read"):
            gradebook.enter(records["ada"])


@given(points=st.floats(allow_nan=True).filter(lambda p: not 0 <= p <= 3), number=st.integers() | st.just(0))
def test_points_and_items_that_cannot_be_are_refused(question, points, number):
    nobody = Desk.__new__(Desk)
    with pytest.raises(ValueError, match="Points are from 0 to 3"):
        mark(nobody, UNIT, question, "x", points, "", {})
    with pytest.raises(ValueError, match="rubric has no item"):
        mark(nobody, UNIT, question, "x", 1.0, "", {number: 1.5})


def test_a_changed_answer_comes_back_unmarked_with_what_stood_before(desk, root, question):
    enter(desk, root, {"ada": "one"})
    (one,) = answers(desk, UNIT, question)
    mark(desk, UNIT, question, one.id, 2.0, "Good.", {0: 1.0})
    enter(desk, root, {"ada": "another"})
    (one,) = answers(desk, UNIT, question)
    assert (one.points, one.comment, one.items, one.waits) == (None, "", {}, True)
    assert one.before == Before("one", 2.0, "Good.")
    mark(desk, UNIT, question, one.id, 1.0, "", {}, one.seen)
    (one,) = answers(desk, UNIT, question)
    assert (one.points, one.waits, one.before) == (1.0, False, None)


def test_who_marks_what_another_has_marked_meanwhile_is_told(desk, root, question):
    enter(desk, root, {"ada": "one"})
    (one,) = answers(desk, UNIT, question)
    mark(desk, UNIT, question, one.id, 2.0, "Good.", {}, one.seen)
    with pytest.raises(MarkedMeanwhile, match="gave it 2 points meanwhile") as meanwhile:
        mark(desk, UNIT, question, one.id, 1.0, "", {}, one.seen)
    mark(desk, UNIT, question, one.id, 1.0, "", {}, meanwhile.value.now.seen)
    assert read_marks(desk, UNIT, NONE)["ada"].grades[WRITTEN].points == 1.0


def test_an_item_that_is_changed_is_followed_by_all_who_have_it(copy_of, question):
    desk = copy_of(four)
    by_student = {one.students[0]: one for one in answers(desk, UNIT, question)}
    full = question.items[0].points
    mark(desk, UNIT, question, by_student["ada"].id, full, "", {0: full})
    mark(desk, UNIT, question, by_student["barbara"].id, 0.5, "", {0: 0.5})
    mark(desk, UNIT, question, by_student["charles"].id, 0.0, "", {})
    assert change_item(desk, UNIT, question, 0, Item(full + 0.5, "says it")) == 3
    (question,) = questions_of(desk, UNIT)
    assert question.items[0] == Item(full + 0.5, "says it")
    points = {name: marks.grades[WRITTEN].points for name, marks in read_marks(desk, UNIT, NONE).items()}
    assert points == {"ada": full + 0.5, "alan": full + 0.5, "barbara": 0.5, "charles": 0.0}
    with pytest.raises(ValueError, match="An item has a text"):
        change_item(desk, UNIT, question, 0, Item(0.0, "nothing"))


def test_answers_are_split_between_graders_and_found_by_student(copy_of, root, question):
    desk = copy_of(four)
    (desk.folder / "roster.csv").write_text(
        "id,first_name,last_name\nada,Ada,Lovelace\nbarbara,Siobhán,O’Neill\ncharles,Siobhán,O’Neill\nemmy,Emmy,Noether\n"
    )
    made.enter(desk, outcome(root, submission("edsger", BLANK)))
    found = answers(desk, UNIT, question)
    parts = [part_of(found, part, 2) for part in (1, 2)]
    assert sorted(one.id for part in parts for one in part) == sorted(one.id for one in found)
    for name, said, students in (
        ("ada lovelace", "", "ada"),
        ("Lovelace", "", "ada"),
        ("siobhan oneill", "2 in the class are called 'siobhan oneill': say barbara or charles.", ""),
        ("edsger", "edsger wrote no answer.", ""),
        ("Noether", "Nothing of Noether is graded.", ""),
        ("nobody", "Nobody in the class is called 'nobody'; there is emmy or barbara or charles.", ""),
    ):
        theirs, odd = answers_of(desk, UNIT, found, name)
        assert odd == said
        assert all(any(student in one.students for one in theirs) for student in students.split())
        assert len(theirs) == len(students.split())
