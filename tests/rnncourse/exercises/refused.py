"""Whether the cases for one seed refuse an answer: no diagnosis is asked for, and the first fault is enough."""

from rnncourse.checks.cases import Candidate, Seed, drawn
from rnncourse.checks.exercise import Exercise
from rnncourse.checks.faults import at_an_end, broken_properties, faults_of
from rnncourse.checks.local import Local


def refused(exercise: Exercise, answer: object, seed: Seed) -> bool:
    """Whether the cases for this seed alone refuse the answer."""
    with Local(answer, exercise.uses) as candidate:
        return refused_by(exercise, candidate, seed)


def refused_by(exercise: Exercise, candidate: Candidate, seed: Seed) -> bool:
    """The same, of an answer that is asked by way of a candidate."""
    for one, wanted in zip(*drawn(exercise, seed)):
        if faults_of(exercise, one, wanted, candidate.observe(exercise.drive, one.args)):
            return True
    return bool(broken_properties(exercise, candidate, seed) or at_an_end(exercise, candidate, seed))
