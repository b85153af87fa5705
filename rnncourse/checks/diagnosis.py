"""The diagnosis of a wrong answer: which mistake gives what it gave.

A mistake is a wrong answer of its own (`Misconception`). It is what is wrong with a candidate if it gives the same on
every case, and on fresh draws of the ordinary ones, which tell apart what happens to be the same on a few numbers.
Where none does, two of them may, made at once (`pairs.py`).
"""

import ast
import inspect
import math
import re
import textwrap
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from types import SimpleNamespace
from typing import Any

import numpy as np

from rnncourse.checks import generic
from rnncourse.checks.cases import Candidate, Seed, canonical, drawn_afresh, of_mistake, quiet_observe
from rnncourse.checks.compare import alike, difference
from rnncourse.checks.deadline import Deadline, clock_of
from rnncourse.checks.drive import Observation
from rnncourse.checks.exercise import Case, Exercise, Misconception
from rnncourse.checks.faults import broken_fact, broken_properties
from rnncourse.checks.forbidden import functions_of
from rnncourse.checks.local import Local
from rnncourse.checks.pairs import TWO, Pieces, both, by_likelihood, has_model
from rnncourse.checks.plain import Plain
from rnncourse.checks.relations import sentence

DRAWS = 3  # fresh draws on which a mistake must give what the candidate gives, before it is said
SECONDS_TO_CONFIRM = 0.1  # at most: one case is asked, whatever it takes
SECONDS_FOR_PAIRS = 2.0  # at most, where the machine is busy: else all that may be are tried in half a second
CASES_TO_RANK = 2  # that say which pairs are the likeliest
MOST_AGAINST = 4  # pieces, in what those cases give, that may speak against a pair: chance makes some alike
SECONDS_A_TRIAL = 0.2  # for one case of an answer that is put together from two, which may never return
MANY = 6  # different answers, each a single float
SMALL = 100  # the greatest denominator of a small fraction, as a share of right answers is one
SLOW = 3.0  # seconds: a candidate that took as long for its cases is not asked again

ELSEWHERE = "Look at the case “{}” as well."
BUT_FOR = "It is right in some cases, as in “{}”. In the others:"

__all__ = ["TWO", "Diagnosis", "Evidence", "diagnose", "same"]

Answer = Callable[[int | None, Case], Observation]  # what it does in a case; the number of the case, if it has one


@dataclass(frozen=True)
class Diagnosis:
    """The name of the mistake, of two of them "one+other" (`TWO` is between them), and what the student is told;
    `is_part`, if something else is wrong besides; `is_loose`, if only values were looked at, neither dtypes nor what
    became of the arguments.
    """

    name: str
    message: str
    is_part: bool = False
    is_loose: bool = False


class Evidence:
    """What is known about one wrong answer: its cases, what was expected, what was seen, and the candidate to ask."""

    def __init__(
        self,
        exercise: Exercise,
        candidate: Candidate,
        seed: Seed,
        cases: list[Case],
        expected: list[Observation],
        seen: list[Observation],
        faulty: set[int],
        seconds: float = 0.0,
    ) -> None:
        self.exercise, self.candidate, self.seed, self.faulty = exercise, candidate, seed, faulty
        self.cases, self.expected, self.seen = cases[: len(seen)], expected[: len(seen)], seen
        # A case that went wrong tells the most: it is asked first.
        self.all = sorted(range(len(seen)), key=lambda i: i not in faulty)
        self.ordinary = [i for i in self.all if not cases[i].is_edge]
        self._is_slow = seconds > SLOW
        self._faults: dict[int, str | None] = {}
        self._fresh: dict[tuple[int, int], Observation] = {}

    def fits(self, answer: Answer, indices: Iterable[int], *, strict: bool = True) -> bool:
        """Whether another answer gives what the candidate gave in these cases."""
        for i in indices:
            own, wanted = answer(i, self.cases[i]), self.expected[i]
            if wanted.error and all(wanted.error_types[0] in one.error_types for one in (own, self.seen[i])):
                continue  # both raise what should be raised, whatever words go with it
            if not same(self.exercise, own, self.seen[i], strict=strict):
                return False
            if strict and self._fault(i, own) != self._own_fault(i):
                return False
        return True

    def _own_fault(self, index: int) -> str | None:
        if index not in self._faults:
            self._faults[index] = self._fault(index, self.seen[index])
        return self._faults[index]

    def _fault(self, index: int, seen: Observation) -> str | None:
        """The kind of the fault that the check finds: 7.0 is as good as 7 unless a whole number is asked."""
        wanted = canonical(self.exercise, self.expected[index].answer)
        found = difference(wanted, canonical(self.exercise, seen.answer), self.exercise.gives)
        return found.kind if found else None

    def is_confirmed(self, answer: Answer, *, strict: bool = True) -> bool:
        """Whether another answer gives what the candidate gives on fresh draws too."""
        return all(same(self.exercise, answer(None, one), seen, strict=strict) for one, seen in self.fresh())

    def breaks_the_same(self, mistake: Misconception) -> bool:
        """Whether a mistake breaks the property that the candidate breaks, where all its cases are right."""
        if self.faulty:
            return True
        made = SimpleNamespace(observe=partial(quiet_observe, mistake.answer))
        own, its = (broken_properties(self.exercise, one, self.seed) for one in (self.candidate, made))
        return [fault.claim for fault in own] == [fault.claim for fault in its]

    def fresh(self) -> Iterator[tuple[Case, Observation]]:
        """The ordinary cases of fresh draws, and what the candidate does with each, until the time is up."""
        until = Deadline(SECONDS_TO_CONFIRM, clock_of(self.candidate))
        for draw in range(1, DRAWS + 1):
            for i, one in enumerate(drawn_afresh(self.exercise, self.seed, draw)):
                if self._is_slow or (self._fresh and not until.left):
                    return
                if (draw, i) not in self._fresh:
                    self._fresh[draw, i] = self.candidate.observe(self.exercise.drive, one.args)
                yield one, self._fresh[draw, i]

    def answers_otherwise(self) -> bool:
        """Whether the candidate, asked again, gives another answer."""
        first = self.all[0]
        if self._is_slow or self.seen[first].timed_out:
            return False
        again = self.candidate.observe(self.exercise.drive, self.cases[first].args)
        return not same(self.exercise, again, self.seen[first])

    def code(self) -> Iterator[ast.AST]:
        """The candidate's own functions, as far as their text can be had in this process."""
        for function in functions_of(self.candidate.candidate) if isinstance(self.candidate, Local) else ():
            try:
                yield ast.parse(textwrap.dedent(inspect.getsource(function.__code__)))
            except (OSError, TypeError, SyntaxError):  # typed at a prompt, or a line of something longer
                continue

    def of_catalogue(self, mistake: Misconception) -> Answer:
        """A mistake of the catalogue as an answer."""

        def answer(index: int | None, one: Case) -> Observation:
            if index is not None:
                return of_mistake(self.exercise, mistake, one)
            return quiet_observe(mistake.answer, self.exercise.drive, one.args)

        return answer

    def is_made_by(self, answer: Any) -> bool:
        """Whether code that nobody has read, and that may not come to an end, gives what the candidate gives."""
        with Local(answer, {}, SECONDS_A_TRIAL) as local:

            def trial(index: int | None, one: Case) -> Observation:
                return local.observe(self.exercise.drive, one.args)

            return self.fits(trial, self.all) and self.is_confirmed(trial)


def diagnose(evidence: Evidence) -> Diagnosis | None:
    """The mistake, or the two, that give what the candidate gave on all cases; or else on all ordinary ones. Of an
    answer that is judged by facts, it is the one that the first broken fact names.
    """
    if evidence.exercise.facts:
        return _of_facts(evidence)
    for one in evidence.exercise.misconceptions:
        answer = evidence.of_catalogue(one)
        if evidence.fits(answer, evidence.all) and evidence.is_confirmed(answer) and evidence.breaks_the_same(one):
            return Diagnosis(one.name, one.message)
    if not evidence.faulty or "NotImplementedError" in evidence.seen[-1].error_types:
        return None
    if common := _generic(evidence):
        return common
    half = _explains_the_ordinary(evidence)
    if pair := _two_mistakes(evidence, half):
        return pair
    if half is None:
        return None
    answer = evidence.of_catalogue(half)
    told = [evidence.fits(answer, [i], strict=False) for i in evidence.faulty if evidence.cases[i].is_edge]
    if 2 * sum(told) < len(told) and not any(part.axes or part.of for part in evidence.exercise.gives):
        return None  # what has no arrays is soon the same by chance, and here edge cases speak against it
    left = next((i for i in sorted(evidence.faulty) if not evidence.fits(answer, [i], strict=False)), None)
    words = half.message if left is None else f"{half.message} {ELSEWHERE.format(evidence.cases[left].note)}"
    if spared := _spared(evidence, half):
        words = f"{BUT_FOR.format(evidence.cases[spared[0]].note)} {words}"
    return Diagnosis(half.name, words, is_part=True, is_loose=True)


def _of_facts(evidence: Evidence) -> Diagnosis | None:
    mistakes = {m.name: m.message for m in evidence.exercise.misconceptions}
    if any(seen.error or seen.refused or seen.timed_out for seen in evidence.seen):
        return None
    facts = (broken_fact(evidence.exercise, evidence.cases[i], evidence.seen[i]) for i in evidence.all)
    fact = next((fact for fact in facts if fact), None)
    return Diagnosis(fact.cause, mistakes[fact.cause]) if fact and fact.cause else None


def _generic(evidence: Evidence) -> Diagnosis | None:
    """The mistake that could be one in any exercise."""
    exercise = evidence.exercise
    for tree in evidence.code():  # first, since what a loop has not filled may be another number each time
        if found_return := generic.returns_in_a_loop(tree):
            words = generic.OTHERS["returns_in_the_loop"].format(found_return)
            return Diagnosis("returns_in_the_loop", words, is_loose=True)
    if evidence.answers_otherwise():
        why = generic.why_otherwise(evidence.code())
        return Diagnosis("other_when_called_again", generic.OTHERS["other_when_called_again"].format(why))
    if found := generic.cause(exercise, zip(evidence.cases, evidence.expected, evidence.seen, strict=True)):
        afresh = [
            (one, quiet_observe(exercise.reference, exercise.drive, one.args), seen) for one, seen in evidence.fresh()
        ]
        if generic.holds(exercise, *found, afresh):
            key, parts = found
            return Diagnosis(key[0], sentence(key, parts), is_loose=True)
    for source in generic.ending_after_one_round(exercise.source) if has_model(exercise) else ():
        if evidence.is_made_by(exercise.made_of(source, f"<{exercise.name}: one round>")):
            return Diagnosis("ends_after_one_round", generic.OTHERS["ends_after_one_round"])
    return None


def _explains_the_ordinary(evidence: Evidence) -> Misconception | None:
    """The mistake that gives what the candidate gave on all ordinary cases; of several, one that also is right in the
    edge cases in which the candidate is.
    """
    if all(same(evidence.exercise, evidence.expected[i], evidence.seen[i]) for i in evidence.ordinary):
        return None  # nothing is wrong with the values there
    found = []
    for one in evidence.exercise.misconceptions:
        answer = evidence.of_catalogue(one)
        if evidence.fits(answer, evidence.ordinary, strict=False) and evidence.is_confirmed(answer, strict=False):
            found.append(one)
    return min(found, key=lambda one: bool(_spared(evidence, one)), default=None)


def _spared(evidence: Evidence, mistake: Misconception) -> list[int]:
    """The cases that come out right, and would not with the mistake."""
    right = [i for i in evidence.all if i not in evidence.faulty]
    return [i for i in right if not evidence.fits(evidence.of_catalogue(mistake), [i], strict=False)]


def _two_mistakes(evidence: Evidence, half: Misconception | None) -> Diagnosis | None:
    """The two mistakes that together give what the candidate gave; one of them is `half`, if that is known."""
    until = Deadline(SECONDS_FOR_PAIRS, clock_of(evidence.candidate))
    exercise = evidence.exercise
    own = [seen for seen in evidence.seen if not seen.error]
    is_telling = has_parts(evidence.expected) and (not own or has_parts(own))
    is_drawn = any(one.args for one in evidence.cases)
    if not (has_model(exercise) and is_drawn and (is_telling or _are_many(evidence))):
        return None  # a single number is soon the same by chance, as is what weights that nothing is drawn for do
    pieces = Pieces()
    for i in evidence.all[:CASES_TO_RANK]:
        gives = {m.name: evidence.of_catalogue(m)(i, evidence.cases[i]) for m in exercise.misconceptions}
        pieces.add(exercise, evidence.expected[i], evidence.seen[i], gives)
    for one, other in by_likelihood(exercise.misconceptions, pieces):
        against, _ = pieces.against(one.name, other.name)
        if against > MOST_AGAINST or not until.left:
            return None
        if half not in (None, one, other) or not all(_raised_by(evidence, i, (one, other)) for i in evidence.faulty):
            continue
        if (pair := both(exercise, one, other)) and evidence.is_made_by(pair.answer):
            return Diagnosis(pair.name, pair.message)
    return None


def _raised_by(evidence: Evidence, index: int, mistakes: tuple[Misconception, ...]) -> bool:
    """Whether an error is one that a mistake raises by itself: one that none does comes of code that does not fit."""
    error = _words(evidence.seen[index])
    gives = (evidence.of_catalogue(m)(index, evidence.cases[index]) for m in mistakes)
    return not error or any(_words(given) == error for given in gives)


def has_parts(observations: Iterable[Observation]) -> bool:
    """Whether there are answers of several numbers among these, or of one with many digits, and no small fraction."""
    return any(isinstance(one.answer, (np.ndarray, list, tuple, dict)) or _is_odd(one.answer) for one in observations)


def _are_many(evidence: Evidence) -> bool:
    """Whether single floats are of so many kinds that chance has no say."""
    answers = {one.answer for one in evidence.expected if isinstance(one.answer, float)}
    return len(answers) >= MANY


def _is_odd(value: Plain) -> bool:
    if not isinstance(value, float) or not math.isfinite(value):
        return False
    return abs(value - Fraction(value).limit_denominator(SMALL)) > SMALL**-4


def same(exercise: Exercise, a: Observation, b: Observation, *, strict: bool = False) -> bool:
    """Whether two observations show the same, whichever comes first. If `strict`, dtypes count, and what was done to
    the arguments.
    """
    if a.timed_out or b.timed_out:
        return False  # who did not answer gave no answer that could be the same
    if a.error or b.error or a.refused or b.refused:
        return (_words(a), a.refused) == (_words(b), b.refused)
    if strict and _traces(a) != _traces(b):
        return False
    if strict and exercise.counts_calls and a.calls != b.calls:
        return False
    one, other = canonical(exercise, a.answer), canonical(exercise, b.answer)
    # A list will do for an array, but not an array for a list: which of the two is the mistake's does not matter.
    return any(alike(*pair, exercise.gives, loose=not strict) for pair in ((one, other), (other, one)))


def _traces(seen: Observation) -> tuple[Any, ...]:
    """What was done to the arguments."""
    return seen.changed, seen.shared, seen.wrote_meanwhile, seen.with_gradient


def _words(seen: Observation) -> str | None:
    """An error without the line in which it arose, and without addresses in memory, which change."""
    return seen.error and re.sub(r"0x[0-9a-f]+", "0x", seen.error.partition(" (in the line")[0])
