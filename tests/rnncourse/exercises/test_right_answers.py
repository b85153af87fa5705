"""Right answers to every exercise get full marks: the model's, the reference, and those in other styles."""

import inspect

import pytest

from rnncourse import check
from tests.rnncourse.exercises.catalogue import CODE, QUESTIONS, alternatives, other_verdicts


def verdicts(answer, name):
    """The hidden verdict, which is on the visible cases too; by night others as well."""
    yield check(answer, name, hidden=True)
    yield from other_verdicts(answer, name)


@pytest.mark.parametrize("exercise", CODE, ids=lambda e: e.name)
def test_the_model_answer_gets_full_marks_and_takes_what_the_reference_takes(exercise):
    answer = exercise.made_of(exercise.source, f"<{exercise.name}>")
    assert check(answer, exercise.name, hidden=True).passed
    assert list(inspect.signature(answer).parameters) == list(inspect.signature(exercise.reference).parameters)


@pytest.mark.parametrize("exercise", CODE, ids=lambda e: e.name)
def test_the_reference_gets_full_marks(exercise):
    for verdict in verdicts(exercise.reference, exercise.name):
        assert verdict.passed, verdict
        assert verdict.points == exercise.points
        assert set(verdict.criteria.values()) == {True}


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda e: e.name)
def test_the_right_answer_to_a_question_gets_full_marks(question):
    assert check(question.answer, question.name).passed


@pytest.mark.parametrize(("name", "answer"), alternatives())
def test_another_right_answer_gets_full_marks(name, answer):
    for verdict in verdicts(answer, name):
        assert verdict.passed, verdict
        assert verdict.points == verdict.max_points
