"""What must hold for every exercise of every unit. A new exercise is tested by being in the catalogue."""

from collections import Counter

import numpy as np
import pytest

from rnncourse import check, exercises
from rnncourse.checks.cases import drawn, seed_for
from rnncourse.checks.exercise import Exercise
from rnncourse.checks.plain import identical, to_plain
from rnncourse.checks.verdict import Verdict
from rnncourse.checks.wire import decode, encode
from tests.rnncourse.exercises.catalogue import CODE, EVERY, QUESTIONS, shelf
from tests.sampling import ALL, some

NONSENSE = {
    "None": None,
    "a whole number": 3,
    "a fraction": 3.5,
    "nan": float("nan"),
    "a text": "text",
    "an object": object(),
    "an empty list": [],
    "an empty dict": {},
    "a pair": (1, 2),
    "a function": lambda: 0,
}


def test_names_are_found_once_and_only_once():
    names = [e.name for e in EVERY]
    assert len(names) == len(set(names))
    assert all(exercises.find(name).name == name for name in names)


@pytest.mark.parametrize("exercise", EVERY, ids=lambda e: e.name)
def test_an_exercise_has_three_hints_points_and_misconceptions_enough(exercise):
    assert len(exercise.hints) == 3
    assert all(len(h) > 10 for h in exercise.hints)
    assert exercise.points >= 1
    is_array = isinstance(exercise, Exercise) and any(part.axes is not None for part in exercise.gives)
    least = 4 if exercise.unit.stem == "00_welcome" else 6 if is_array else 3
    assert len(exercise.misconceptions) >= least
    names = [m.name for m in exercise.misconceptions]
    assert len(names) == len(set(names))
    assert all(20 < len(m.message) < 500 and "\n" not in m.message for m in exercise.misconceptions)


def test_each_exercise_has_at_least_three_other_right_answers_on_the_shelf():
    counts = Counter(answer.exercise for answer in shelf("right"))
    assert [e.name for e in CODE if counts[e.name] < 3] == []


@pytest.mark.parametrize("exercise", CODE, ids=lambda e: e.name)
def test_every_case_and_every_answer_survives_the_wire(exercise):
    for hidden in (False, True):
        cases, expected = drawn(exercise, seed_for(exercise, hidden))
        assert len(cases) * (len(cases[0].args) if exercise.drive.several else 1) >= 2  # calls
        for one, seen in zip(cases, expected, strict=True):
            assert wired_is_same(one.args)
            assert identical(decode(encode(seen.answer)), seen.answer)


def wired_is_same(args):
    back = decode(encode(args))
    return encode(back) == encode(args) and type(back) is tuple


@pytest.mark.parametrize("exercise", CODE, ids=lambda e: e.name)
def test_cases_are_the_same_for_a_seed_and_others_for_another(exercise):
    visible, hidden = seed_for(exercise, False), seed_for(exercise, True)
    again = [encode(c.args) for c in exercise.draw(np.random.default_rng(visible))]
    assert again == [encode(c.args) for c in drawn(exercise, visible)[0]]
    others = [encode(c.args) for c in drawn(exercise, hidden)[0]]
    # An exercise whose cases are a few fixed ones may share them; one whose cases hold arrays may not.
    if any(b"array" in one for one in again):
        assert again != others


def odd_answers():
    """An exercise of each driver with a kind of nonsense, another for the next one; by night all with all kinds."""
    for exercise in CODE if ALL else {exercise.drive: exercise for exercise in CODE}.values():
        for of_this in some([f"{exercise.name}-{kind}" for kind in NONSENSE], 1):
            yield pytest.param(exercise, NONSENSE[of_this.partition("-")[2]], id=of_this)


@pytest.mark.parametrize(("exercise", "nonsense"), [*odd_answers()])
def test_an_answer_that_is_nonsense_is_a_verdict_and_no_pass(exercise, nonsense):
    def answer(*args):
        return nonsense

    for candidate in (answer, nonsense):
        verdict = check(candidate, exercise.name)
        assert isinstance(verdict, Verdict)
        assert not verdict.passed
        assert verdict.message


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda e: e.name)
@pytest.mark.parametrize(
    "nonsense", (NONSENSE | {"a set": {"Z"}, "dots": ...}).values(), ids=NONSENSE | {"a set": 0, "dots": 0}
)
def test_nonsense_as_an_answer_to_a_question_is_a_verdict_and_no_pass(question, nonsense):
    verdict = check(nonsense, question.name)
    assert not verdict.passed
    assert verdict.points == 0
    assert verdict.message


@pytest.mark.parametrize("exercise", CODE, ids=lambda e: e.name)
def test_answers_are_plain_values(exercise):
    _, expected = drawn(exercise, seed_for(exercise, False))
    assert all(identical(to_plain(seen.answer), seen.answer) for seen in expected)
    assert all(seen.refused is None and not seen.timed_out for seen in expected)
    assert exercise.drive.writes or not any(seen.changed for seen in expected)
