"""What must hold for every exercise of every unit. A new exercise is tested by being in the catalogue."""

import copy
import importlib
import inspect
import os
import subprocess
import sys
from unittest import mock

import numpy as np
import pytest

from rnncourse import check, exercises
from rnncourse.checks.cases import drawn, seed_for
from rnncourse.checks.edits import EditError
from rnncourse.checks.engine import judge
from rnncourse.checks.exercise import Edit, Exercise, Question
from rnncourse.checks.local import Local
from rnncourse.checks.plain import arrays_in, identical, to_plain
from rnncourse.checks.verdict import Verdict
from rnncourse.checks.wire import decode, encode
from tests.rnncourse.exercises.refused import refused
from tests.sampling import ALL, SEED, some

EVERY = [e for unit in exercises.units() for e in unit]
CODE = [e for e in EVERY if isinstance(e, Exercise)]
QUESTIONS = [e for e in EVERY if isinstance(e, Question)]
SEEDS = range(SEED, SEED + 10) if ALL else []
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


def pairs():
    return [pytest.param(e, m, id=f"{e.name}-{m.name}") for e in EVERY for m in e.misconceptions]


def alternatives():
    found = []
    for unit in exercises.units():
        stem = unit.stem.partition("_")[2]
        module = importlib.import_module(f"tests.rnncourse.exercises.alternatives.{stem}")
        found += [
            pytest.param(name, answer, id=f"{name}-{i}")
            for name, all_ in module.ALTERNATIVES.items()
            for i, answer in enumerate(all_)
        ]
    return found


def verdicts(answer, name):
    """The hidden verdict, which is on the visible cases too; by night also the visible one, and other seeds' hidden."""
    yield check(answer, name, hidden=True)
    if ALL:
        yield check(answer, name)
    for seed in SEEDS:
        with mock.patch.dict(os.environ, RNNCOURSE_SEED=str(seed)):
            yield check(answer, name, hidden=True)


def test_names_are_found_once_and_only_once():
    names = [e.name for e in EVERY]
    assert len(names) == len(set(names))
    assert all(exercises.find(name).name == name for name in names)


def test_to_check_an_exercise_loads_no_other_units_torch():
    program = (
        "import sys; from rnncourse import check; from rnncourse.bidirectional import reverse_sequence;"
        "assert check(reverse_sequence).passed; assert 'torch' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", program], check=True)


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


@pytest.mark.parametrize("exercise", CODE, ids=lambda e: e.name)
def test_the_model_answer_gets_full_marks_and_takes_what_the_reference_takes(exercise):
    answer = exercise.made_of(exercise.source, f"<{exercise.name}>")
    assert check(answer, exercise.name, hidden=True).passed
    assert list(inspect.signature(answer).parameters) == list(inspect.signature(exercise.reference).parameters)


def test_every_edit_is_one_of_the_model_answer():
    """After a change of an answer, each edit of a line that is no longer there is named."""
    wrong = []
    for exercise in CODE:
        for m in exercise.misconceptions:
            if isinstance(m, Edit):
                try:
                    m.source_for(exercise.name)
                except EditError as error:
                    wrong.append(str(error))
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("exercise", CODE, ids=lambda e: e.name)
def test_the_reference_gets_full_marks(exercise):
    for verdict in verdicts(exercise.reference, exercise.name):
        assert verdict.passed, verdict
        assert verdict.points == exercise.points
        assert set(verdict.criteria.values()) == {True}


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda e: e.name)
def test_the_right_answer_to_a_question_gets_full_marks(question):
    assert check(question.answer, question.name).passed


@pytest.mark.parametrize(("exercise", "misconception"), pairs())
def test_a_misconception_is_rejected_and_diagnosed_as_itself(exercise, misconception):
    """And wrong values count as wrong on every seed, never on some: what is met and what not is the same for all."""
    if isinstance(exercise, Exercise):
        assert refused(exercise, misconception.answer, seed_for(exercise, False)), "not by the visible cases"
    met = set()
    for verdict in verdicts(misconception.answer, exercise.name):
        assert not verdict.passed
        assert verdict.score < 1
        assert verdict.diagnosis == misconception.name, verdict
        assert misconception.message in verdict.message
        met.add(tuple(verdict.criteria.items()))
    assert len(met) == 1, met


@pytest.mark.parametrize(("name", "answer"), alternatives())
def test_another_right_answer_gets_full_marks(name, answer):
    for verdict in verdicts(answer, name):
        assert verdict.passed, verdict
        assert verdict.points == verdict.max_points


def test_each_exercise_has_at_least_three_alternative_answers():
    counts = {}
    for param in alternatives():
        counts[param.values[0]] = counts.get(param.values[0], 0) + 1
    assert {e.name: counts.get(e.name, 0) for e in CODE if counts.get(e.name, 0) < 3} == {}


@pytest.mark.parametrize("exercise", CODE, ids=lambda e: e.name)
def test_every_case_and_every_answer_survives_the_wire(exercise):
    for hidden in (False, True):
        cases, expected = drawn(exercise, seed_for(exercise, hidden))
        assert len(cases) * (len(cases[0].args) if exercise.drive.several else 1) >= 2  # calls
        for one, seen in zip(cases, expected, strict=True):
            assert wired_is_same(one.args)
            assert identical(decode(encode(seen.answer)), seen.answer)


class Recalled:
    """A candidate that gives what another one has given, the very same, which nobody may write to."""

    def __init__(self, candidate):
        self.candidate, self.given = candidate, {}

    def observe(self, how, args):
        if encode((how.name, args)) not in self.given:
            seen = self.candidate.observe(how, args)
            for array in arrays_in(seen.answer):
                array.setflags(write=False)
            self.given[encode((how.name, args))] = seen
        return self.given[encode((how.name, args))]


@pytest.mark.parametrize("exercise", some(CODE, 20), ids=lambda e: e.name)
def test_judging_leaves_what_was_seen_as_it_is(exercise):
    """The desk keeps what a class has answered, and judges it again for the next who answers the same."""
    mistake, *_ = some(exercise.misconceptions, 1)
    with Local(mistake.answer, exercise.uses) as local:
        recalled = Recalled(local)
        first = judge(exercise, recalled, hidden=True)
        before = copy.deepcopy(recalled.given)
        assert str(judge(exercise, recalled, hidden=True)) == str(first)
        assert first.diagnosis == mistake.name
    assert all(identical(recalled.given[key].answer, seen.answer) for key, seen in before.items())


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
    """Forty exercises with a kind of nonsense, another for the next one; by night all with all kinds."""
    for exercise in CODE:
        for of_this in some([f"{exercise.name}-{kind}" for kind in NONSENSE], 1):
            yield pytest.param(exercise, NONSENSE[of_this.partition("-")[2]], id=of_this)


@pytest.mark.parametrize(("exercise", "nonsense"), some(odd_answers(), 40))
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
def test_its_misconceptions_can_stand_in_a_notebook_as_they_are(exercise):
    parameters = list(inspect.signature(exercise.reference).parameters)
    for misconception in exercise.misconceptions:
        source = misconception.source_for(exercise.name)
        assert source.startswith((f"def {exercise.name}(", f"class {exercise.name}")), misconception.name
        assert misconception.message[:40] not in source, misconception.name
        compile(source, "cell", "exec")
        assert list(inspect.signature(misconception.answer).parameters) == parameters, misconception.name


@pytest.mark.parametrize("exercise", CODE, ids=lambda e: e.name)
def test_answers_are_plain_values(exercise):
    _, expected = drawn(exercise, seed_for(exercise, False))
    assert all(identical(to_plain(seen.answer), seen.answer) for seen in expected)
    assert all(seen.refused is None and not seen.timed_out for seen in expected)
    assert exercise.drive.writes or not any(seen.changed for seen in expected)
