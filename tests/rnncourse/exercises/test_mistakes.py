"""Every mistake of the catalogue is refused, and diagnosed as itself."""

import copy
import inspect
from functools import lru_cache
from unittest import mock

import pytest

from rnncourse import check
from rnncourse.checks import diagnosis
from rnncourse.checks.cases import drawn, quiet_observe, seed_for
from rnncourse.checks.engine import judge
from rnncourse.checks.exercise import Exercise
from rnncourse.checks.local import Local
from rnncourse.checks.plain import arrays_in, identical
from rnncourse.exercises import find
from tests.rnncourse.exercises.catalogue import CODE, EVERY, other_verdicts
from tests.rnncourse.exercises.refused import refused_by
from tests.sampling import ALL, some


def pairs():
    return [pytest.param(e, m, id=f"{e.name}-{m.name}") for e in EVERY for m in e.misconceptions]


class Recalled:
    """A candidate that gives what another one has given for the same arguments, the very same, which nobody may write
    to.
    """

    def __init__(self, candidate, given=None):
        self.candidate, self.given = candidate, {} if given is None else given

    def observe(self, how, args):
        if id(args) not in self.given:
            seen = self.candidate.observe(how, args)
            for array in arrays_in(seen.answer):
                array.setflags(write=False)
            self.given[id(args)] = args, seen
        return self.given[id(args)][1]


class Class:
    """What all mistakes of an exercise gave in the drawn cases, to be asked once: as an answer, or to compare one with.

    On fresh draws each is asked anew, so that one which is another each time is not itself.
    """

    def __init__(self, exercise):
        self.given = {m.answer: {} for m in exercise.misconceptions}
        self.drawn = {
            id(case.args) for hidden in (False, True) for case in drawn(exercise, seed_for(exercise, hidden))[0]
        }

    def quiet_observe(self, function, how, args):
        given = self.given.get(function, {})
        is_known = id(args) in given and id(args) in self.drawn
        return given[id(args)][1] if is_known else quiet_observe(function, how, args)


@lru_cache(maxsize=1)
def class_of(name):
    return Class(find(name))


@pytest.mark.parametrize(("exercise", "misconception"), pairs())
def test_a_misconception_is_rejected_and_diagnosed_as_itself(exercise, misconception):
    """And wrong values count as wrong on every seed, never on some: what is met and what not is the same for all."""
    if isinstance(exercise, Exercise):
        others = class_of(exercise.name)
        recall = mock.patch("rnncourse.checks.cases.quiet_observe", others.quiet_observe)
        fresh = mock.patch.object(diagnosis, "DRAWS", diagnosis.DRAWS if ALL else 1)
        with recall, fresh, Local(misconception.answer, exercise.uses) as local:
            recalled = Recalled(local, others.given[misconception.answer])
            first = judge(exercise, recalled, hidden=True)
            assert refused_by(exercise, recalled, seed_for(exercise, False)), "not by the visible cases"
    else:
        first = check(misconception.answer, exercise.name)
    met = set()
    for verdict in (first, *other_verdicts(misconception.answer, exercise.name)):
        assert not verdict.passed
        assert verdict.score < 1
        assert verdict.diagnosis == misconception.name, verdict
        assert misconception.message in verdict.message
        met.add(tuple(verdict.criteria.items()))
    assert len(met) == 1, met


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
    assert all(identical(recalled.given[key][1].answer, seen.answer) for key, (_, seen) in before.items())


@pytest.mark.parametrize("exercise", CODE, ids=lambda e: e.name)
def test_its_misconceptions_can_stand_in_a_notebook_as_they_are(exercise):
    parameters = list(inspect.signature(exercise.reference).parameters)
    for misconception in exercise.misconceptions:
        source = misconception.source_for(exercise.name)
        assert source.startswith((f"def {exercise.name}(", f"class {exercise.name}")), misconception.name
        assert misconception.message[:40] not in source, misconception.name
        compile(source, "cell", "exec")
        assert list(inspect.signature(misconception.answer).parameters) == parameters, misconception.name
