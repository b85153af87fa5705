"""Each answer is judged as it deserves: the reference, and those on the shelf (`tests/answers`), right
ones in other styles and wrong ones.
"""

import inspect
import os
from functools import partial
from unittest import mock

import pytest

from rnncourse import check
from rnncourse.checks.cases import seed_for
from rnncourse.checks.engine import judge
from rnncourse.checks.local import Local
from rnncourse.checks.where.inquiry import Budget
from rnncourse.checks.where.search import find
from tests.rnncourse.exercises.catalogue import CODE, QUESTIONS, other_verdicts, shelf
from tests.rnncourse.exercises.refused import refused
from tests.sampling import some

NO_HURRY = partial(find, budget=Budget(relations=20.0, together=120.0))  # a busy machine finds what a quiet one does
RIGHT = [one for exercise in CODE for one in some([a for a in shelf("right") if a.exercise == exercise.name], 2)]
PLACED = [one for one in shelf("wrong") if one.lines]
SAID = [one for one in shelf("wrong") if (one.says or one.never) and not one.lines]
PLAIN = [one for one in shelf("wrong") if not (one.says or one.never or one.lines)]


def each(answers):
    """Each with its exercise."""
    exercises = {exercise.name: exercise for exercise in CODE}
    return [pytest.param(exercises[one.exercise], one, id=f"{one.exercise}-{one.line}") for one in answers]


def verdicts(answer, name):
    """The hidden verdict, which is on the visible cases too; by night others as well."""
    yield check(answer, name, hidden=True)
    yield from other_verdicts(answer, name)


@pytest.mark.parametrize("exercise", CODE, ids=lambda e: e.name)
def test_the_model_answer_takes_what_the_reference_takes(exercise):
    """That it gets full marks is nbval's business: each solution checks it, on the hidden cases too."""
    answer = exercise.made_of(exercise.source, f"<{exercise.name}>")
    assert list(inspect.signature(answer).parameters) == list(inspect.signature(exercise.reference).parameters)


@pytest.mark.parametrize("exercise", CODE, ids=lambda e: e.name)
def test_the_reference_gets_full_marks(exercise):
    for verdict in verdicts(exercise.reference, exercise.name):
        assert verdict.passed, verdict
        assert verdict.points == exercise.points
        assert set(verdict.criteria.values()) == {True}


@pytest.mark.parametrize("exercise", [e for e in CODE if not inspect.isclass(e.reference)], ids=lambda e: e.name)
def test_who_drops_the_axes_of_length_1_is_refused(exercise):
    arrays = []

    def squeezed(*args):
        answer = exercise.reference(*args)
        parts = answer if isinstance(answer, tuple) else (answer,)
        arrays.extend(part for part in parts if getattr(part, "ndim", 0))
        parts = tuple(part.squeeze() if hasattr(part, "squeeze") else part for part in parts)
        return parts if isinstance(answer, tuple) else parts[0]

    assert refused(exercise, squeezed, seed_for(exercise, True)) or not arrays


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda e: e.name)
def test_the_right_answer_to_a_question_gets_full_marks(question):
    assert check(question.answer, question.name).passed


@pytest.mark.parametrize(("exercise", "answer"), each(RIGHT))
def test_another_right_answer_gets_full_marks(exercise, answer):
    for verdict in verdicts(answer.made(exercise), exercise.name):
        assert verdict.passed, verdict
        assert verdict.points == verdict.max_points


@pytest.mark.parametrize(("exercise", "answer"), each([*some(SAID, 15), *some(PLACED, 5), *some(PLAIN, 45)]))
def test_what_is_said_of_a_wrong_answer_is_so_and_a_line_is_where_it_goes_wrong(exercise, answer):
    """Mutants would prove nothing of the line, since they are made of the changes that the search for it tries."""
    made = answer.made(exercise)
    if answer.lines:
        with Local(made, exercise.uses) as local:
            verdict = judge(exercise, local, search=NO_HURRY, after_diagnosis=True)
    else:
        verdict = check(made, exercise.name)
    assert not verdict.passed
    said = " ".join([verdict.message, verdict.where.message if verdict.where else ""])
    assert [words for words in answer.says if words not in said] == []
    assert [words for words in answer.never if words in said] == []
    assert not answer.lines or verdict.where.lines == answer.lines


@pytest.mark.parametrize(("exercise", "answer"), each(some(shelf("once"), 25)))
def test_what_was_full_marks_once_is_refused_in_the_notebook_and_by_the_hidden_cases_of_every_seed(exercise, answer):
    made = answer.made(exercise)
    assert refused(exercise, made, seed_for(exercise, False))
    for seed in some(range(20), 1):
        with mock.patch.dict(os.environ, RNNCOURSE_SEED=str(seed)):
            assert refused(exercise, made, seed_for(exercise, True)), seed
