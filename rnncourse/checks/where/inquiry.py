"""One wrong answer under inquiry: its program, its cases, fresh draws of them, and a budget of time for asking."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Protocol, runtime_checkable

import numpy as np

from rnncourse.checks.attempt import Attempt
from rnncourse.checks.cases import Asked, Candidate, Seed, canonical, expected
from rnncourse.checks.compare import difference
from rnncourse.checks.deadline import Deadline
from rnncourse.checks.drive import Driver, Observation
from rnncourse.checks.exercise import Case, Exercise
from rnncourse.checks.faults import faults_of
from rnncourse.checks.plain import Plain
from rnncourse.checks.program import Program

DRAWS = 3  # fresh draws on which a statement must hold before it is said
SECONDS_A_TRIAL = 0.25  # for one case of a program that nobody has read, which may never return
ALL, ORDINARY = "all", "ordinary"  # what is right with a change: every case, or those that are no edge cases
MOST_STOPPED = 3  # trials that may have to be stopped before the search is given up

Scope = str | int  # what is right with a change: one of these, or the number of the one result that is


@runtime_checkable
class Searched(Candidate, Protocol):
    """A candidate whose program can be had, and run in another form. `Local` is one."""

    def program(self, name: str) -> Program | None: ...

    def attempt(self, text: str, name: str, drive: Driver, args: tuple[Any, ...], seconds: float = 1.0) -> Attempt: ...


class OutOfTime(Exception):
    """The budget is used up."""


@dataclass
class Budget:
    """Seconds for relations, and for everything together."""

    relations: float = 0.5
    together: float = 2.0


class Draws:
    """Fresh draws of an exercise's cases, and what a candidate does in each."""

    def __init__(self, exercise: Exercise, candidate: Candidate, seed: Seed) -> None:
        self.exercise, self.candidate, self.seed = exercise, candidate, seed
        self._asked: list[Asked] = []
        self._drawn = 0

    def cases(self, draws: int, require_time: Callable[[], None]) -> Iterator[Asked]:
        """The cases of so many draws. **Errors:** what `require_time` raises before each."""
        yield from self._asked
        exercise = self.exercise
        while self._drawn < draws:
            asked = []
            for case in exercise.draw(np.random.default_rng((*self.seed, self._drawn + 1))):
                require_time()
                wanted = expected(exercise, case)
                seen = self.candidate.observe(exercise.drive, case.args)
                asked.append(Asked(case, wanted, seen, bool(faults_of(exercise, case, wanted, seen))))
            self._drawn += 1
            self._asked += asked
            yield from asked


class Inquiry:
    """What is known about one wrong answer, and whom to ask for more. `until` is when the time is up."""

    def __init__(
        self, exercise: Exercise, candidate: Searched, program: Program, draws: Draws, asked: list[Asked]
    ) -> None:
        self.exercise, self.candidate, self.program, self.draws, self.asked = exercise, candidate, program, draws, asked
        self.until = Deadline(float("inf"))
        self._stopped = 0
        self._wanted: dict[int, Plain] = {}

    def require_time(self) -> None:
        """**Errors:** `OutOfTime`."""
        if not self.until.left:
            raise OutOfTime

    def run(self, text: str, case: Case) -> Attempt:
        """The candidate in another form, in one case. **Errors:** `OutOfTime`."""
        self.require_time()
        seconds = max(0.02, min(SECONDS_A_TRIAL, self.until.left))
        done = self.candidate.attempt(text, self.program.name, self.exercise.drive, case.args, seconds)
        if done.seen.timed_out:
            self._stopped += 1
            if self._stopped > MOST_STOPPED:
                raise OutOfTime
        return done

    def fresh(self, draws: int = DRAWS) -> Iterator[Asked]:
        """The cases of fresh draws, and what the candidate does with each. **Errors:** `OutOfTime`."""
        yield from self.draws.cases(draws, self.require_time)

    def preview(self, text: str, one: Asked) -> Observation | None:
        """What comes out in another form, if that is wrong and can be had without gradients: these count as right."""
        outputs = self.exercise.drive.outputs
        if outputs is None or not self._is_output_wrong:
            return None
        self.require_time()
        seen = self.candidate.attempt(text, self.program.name, outputs, one.case.args, SECONDS_A_TRIAL).seen
        if seen.error or seen.refused or seen.timed_out or not isinstance(one.wanted.answer, tuple):
            return seen if seen.error else None
        seen = replace(seen, answer=(seen.answer, *one.wanted.answer[1:]))
        return None if all(self.parts_right(one, seen)) else seen

    @cached_property
    def _is_output_wrong(self) -> bool:
        (one, _), *_ = self.by_size
        if not isinstance(one.seen.answer, tuple) or not isinstance(one.wanted.answer, tuple):
            return True
        seen = replace(one.seen, answer=(one.seen.answer[0], *one.wanted.answer[1:]))
        return not all(self.parts_right(one, seen))

    def parts_right(self, one: Asked, seen: Observation) -> tuple[bool, ...]:
        """Of each result of the answer, whether it is right in that case; of one alone, if there are not several."""
        if not faults_of(self.exercise, one.case, one.wanted, seen):
            return (True,) * self.results
        wanted, got = (canonical(self.exercise, o.answer) for o in (one.wanted, seen))
        if self.results == 1 or seen.error or one.wanted.error or seen.timed_out or not isinstance(got, (tuple, list)):
            return (False,) * self.results
        if not isinstance(wanted, tuple) or not len(wanted) == len(got) == self.results:
            return (False,) * self.results
        right = [not difference(w, g, (axes,)) for w, g, axes in zip(wanted, got, self.exercise.gives, strict=True)]
        return (False,) * self.results if all(right) else tuple(right)

    def wanted(self, one: Asked) -> Plain:
        """What should come back in a case, in the form in which it is compared."""
        if id(one) not in self._wanted:
            self._wanted[id(one)] = canonical(self.exercise, one.wanted.answer)
        return self._wanted[id(one)]

    @cached_property
    def scopes(self) -> list[Scope]:
        """What a change can make right, the most first."""
        found: list[Scope] = [ALL]
        if len({one.case.is_edge for one in self.asked if one.is_wrong}) == 2:
            found.append(ORDINARY)
        rights = [before for _, before in self.by_size]
        return found + [i for i in range(self.results) if not all(before[i] for before in rights)]

    @cached_property
    def results(self) -> int:
        """How many results the answer has."""
        return 1 if self.exercise.drive.module else max(len(self.exercise.gives), 1)

    @cached_property
    def by_size(self) -> list[tuple[Asked, tuple[bool, ...]]]:
        """The cases, those first that tell the most in the least time: wrong ones, ordinary ones, small ones; with
        what is right in each.
        """
        ordered = sorted(self.asked, key=lambda one: (not one.is_wrong, one.case.is_edge, _size(one.case.args)))
        return [(one, self.parts_right(one, one.seen)) for one in ordered]


def _size(value: Any) -> int:
    if isinstance(value, np.ndarray):
        return value.size
    if isinstance(value, dict):
        value = list(value.values())
    return sum(_size(v) for v in value) if isinstance(value, (list, tuple)) else 1
