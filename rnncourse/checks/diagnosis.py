"""The diagnosis of a wrong answer: which mistake gives what it gave.

A mistake is a wrong answer of its own (`Misconception`). It is what is wrong with a candidate if it gives the same on
every case, and on fresh draws of the ordinary ones, which tell apart what happens to be the same on a few numbers.
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import replace

from rnncourse.checks.cases import Candidate, Seed, canonical, drawn_afresh, quiet_observe
from rnncourse.checks.compare import difference
from rnncourse.checks.drive import Observation
from rnncourse.checks.exercise import Case, Exercise, Misconception

DRAWS = 5  # fresh draws on which a mistake must give what the candidate gives, before it is said
SECONDS_TO_CONFIRM = 0.3  # at most
SLOW = 3.0  # seconds: a candidate that took as long for its cases is not asked again

ELSEWHERE = "On an edge case something else is wrong too."


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
        self.is_slow = seconds > SLOW
        self.cases, self.expected, self.seen = cases[: len(seen)], expected[: len(seen)], seen
        # A case that went wrong tells the most: it is asked first.
        self.all = sorted(range(len(seen)), key=lambda i: i not in faulty)
        self.ordinary = [i for i in self.all if not cases[i].is_edge]
        self._fresh: dict[tuple[int, int], Observation] = {}

    def fits(self, mistake: Misconception, indices: Iterable[int], *, strict: bool = True) -> bool:
        """Whether the mistake gives what the candidate gave in these cases."""
        for i in indices:
            own = self.gives(mistake, i)
            if not same(self.exercise, own, self.seen[i], strict=strict):
                return False
            if strict and self._fault(i, own) != self._fault(i, self.seen[i]):
                return False
        return True

    def _fault(self, index: int, seen: Observation) -> str | None:
        """The kind of the fault that the check finds: 7.0 is as good as 7 unless a whole number is asked."""
        wanted = canonical(self.exercise, self.expected[index].answer)
        found = difference(wanted, canonical(self.exercise, seen.answer), self.exercise.gives)
        return found.kind if found else None

    def gives(self, mistake: Misconception, index: int) -> Observation:
        """What a mistake of the catalogue gives in a case."""
        memory = self.exercise.memory.setdefault(("mistake", self.seed, mistake.name), {})
        if index not in memory:
            memory[index] = quiet_observe(mistake.answer, self.exercise.drive, self.cases[index].args)
        found: Observation = memory[index]
        return found

    def is_confirmed(self, mistake: Misconception, *, strict: bool = True) -> bool:
        """Whether the mistake gives what the candidate gives on fresh draws too."""
        until = time.monotonic() + SECONDS_TO_CONFIRM
        for draw in range(1, DRAWS + 1):
            for i, one in enumerate(drawn_afresh(self.exercise, self.seed, draw)):
                if self.is_slow or time.monotonic() > until:
                    return True
                own = quiet_observe(mistake.answer, self.exercise.drive, one.args)
                if not same(self.exercise, own, self.fresh(draw, i, one), strict=strict):
                    return False
        return True

    def fresh(self, draw: int, index: int, one: Case) -> Observation:
        """What the candidate does with a case of a fresh draw."""
        if (draw, index) not in self._fresh:
            self._fresh[draw, index] = self.candidate.observe(self.exercise.drive, one.args)
        return self._fresh[draw, index]


def diagnose(evidence: Evidence) -> Misconception | None:
    """The mistake that gives what the candidate gave: on all cases, or else on all ordinary ones."""
    mistakes = evidence.exercise.misconceptions
    for one in mistakes:
        if evidence.fits(one, evidence.all) and evidence.is_confirmed(one):
            return one
    if all(same(evidence.exercise, evidence.expected[i], evidence.seen[i]) for i in evidence.ordinary):
        return None  # nothing is wrong with the values there
    for one in mistakes:
        if evidence.fits(one, evidence.ordinary, strict=False) and evidence.is_confirmed(one, strict=False):
            is_all = all(evidence.fits(one, [i], strict=False) for i in evidence.faulty)
            return one if is_all else replace(one, message=f"{one.message} {ELSEWHERE}")
    return None


def same(exercise: Exercise, a: Observation, b: Observation, *, strict: bool = False) -> bool:
    """Whether two observations show the same, whichever comes first. If `strict`, dtypes count, and what was done to
    the arguments.
    """
    if a.timed_out or b.timed_out:
        return False  # who did not answer gave no answer that could be the same
    if a.error or b.error or a.refused or b.refused:
        return (_words(a), a.refused) == (_words(b), b.refused)
    if strict and (a.changed, a.shared, a.wrote_meanwhile) != (b.changed, b.shared, b.wrote_meanwhile):
        return False
    if strict and exercise.counts_calls and a.calls != b.calls:
        return False
    one, other = canonical(exercise, a.answer), canonical(exercise, b.answer)
    # A list will do for an array, but not an array for a list: which of the two is the mistake's does not matter.
    return any(difference(*pair, exercise.gives, loose=not strict) is None for pair in ((one, other), (other, one)))


def _words(seen: Observation) -> str | None:
    """An error without the line in which it arose."""
    return seen.error and seen.error.partition(" (in the line")[0]
