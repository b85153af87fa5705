"""One wrong answer under inquiry: its program, its cases, fresh draws of them, and a budget of time for asking."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol, runtime_checkable

import numpy as np

from rnncourse.checks.cases import Candidate, Seed, canonical, quiet_observe
from rnncourse.checks.compare import difference
from rnncourse.checks.drive import Observation
from rnncourse.checks.edits import EditError
from rnncourse.checks.exercise import Case, Exercise
from rnncourse.checks.faults import faults_of
from rnncourse.checks.generic import MODULES
from rnncourse.checks.plain import Plain
from rnncourse.checks.where.attempt import Attempt, attempt
from rnncourse.checks.where.program import Program

DRAWS = 3  # fresh draws on which a statement must hold before it is said
SECONDS_A_TRIAL = 0.25  # for one case of a program that nobody has read, which may never return

Notes = dict[int, list[Plain]]


@runtime_checkable
class Searched(Candidate, Protocol):
    """A candidate whose program can be had, and run in another form. `Local` is one."""

    def program(self, name: str) -> Program | None: ...

    def attempt(
        self, text: str, name: str, how: str, args: tuple[Any, ...], given: Sequence[Plain] = (), seconds: float = 1.0
    ) -> Attempt: ...


class OutOfTime(Exception):
    """The budget is used up."""


@dataclass
class Budget:
    """Seconds for looking at values, for trying changes, for two places at once, and for everything together."""

    values: float = 0.6
    repairs: float = 1.2
    pairs: float = 0.9
    together: float = 2.7


@dataclass(frozen=True)
class Asked:
    """One case: what was expected, what the candidate gave, and whether that is wrong."""

    case: Case
    wanted: Observation
    seen: Observation
    is_wrong: bool


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
                wanted = quiet_observe(exercise.reference, exercise.drive, case.args)
                seen = self.candidate.observe(exercise.drive, case.args)
                asked.append(Asked(case, wanted, seen, bool(faults_of(exercise, case, wanted, seen))))
            self._drawn += 1
            self._asked += asked
            yield from asked


class Inquiry:
    """What is known about one wrong answer, and whom to ask for more."""

    def __init__(
        self, exercise: Exercise, candidate: Searched, program: Program, draws: Draws, asked: list[Asked]
    ) -> None:
        self.exercise, self.candidate, self.program, self.draws, self.asked = exercise, candidate, program, draws, asked
        self.wrong = [i for i, one in enumerate(asked) if one.is_wrong]
        self.until = self.end = float("inf")
        self.stopped = 0  # trials that had to be stopped
        self._before: dict[bool, dict[int, tuple[bool, ...]]] = {}

    # --- time

    def take(self, seconds: float) -> None:
        """From now on there are so many seconds, unless all is over before."""
        self.until = min(time.monotonic() + seconds, self.end)

    @contextmanager
    def at_most(self, seconds: float) -> Iterator[None]:
        """So many seconds of those that there are. **Errors:** `OutOfTime`."""
        before = self.until
        self.take(seconds)
        self.until = min(self.until, before)
        try:
            yield
        finally:
            self.until = before

    def require_time(self) -> None:
        """**Errors:** `OutOfTime`."""
        if time.monotonic() > self.until:
            raise OutOfTime

    # --- the candidate

    def run(self, text: str, case: Case, given: Sequence[Plain] = ()) -> Attempt:
        """The candidate in another form, in one case. **Errors:** `OutOfTime`."""
        self.require_time()
        seconds = max(0.02, min(SECONDS_A_TRIAL, self.until - time.monotonic()))
        done = self.candidate.attempt(text, self.program.name, self.exercise.drive, case.args, given, seconds)
        if done.seen.timed_out:
            self.stopped += 1
            if self.stopped > 3:
                raise OutOfTime
        return done

    def is_right(self, one: Asked, seen: Observation, *, values_only: bool = False) -> bool:
        """Whether this is what was expected in that case. With `values_only`, what comes out is all that counts: no
        gradients that follow from it, and nothing that is done to the arguments.
        """
        if not values_only:
            return not faults_of(self.exercise, one.case, one.wanted, seen)
        if one.wanted.error or seen.error or seen.refused or seen.timed_out:
            return bool(one.wanted.error_types) and one.wanted.error_types[0] in seen.error_types
        wanted, got = canonical(self.exercise, one.wanted.answer), canonical(self.exercise, seen.answer)
        if self.exercise.drive in MODULES and isinstance(wanted, tuple) and isinstance(got, (tuple, list)) and got:
            wanted, got = wanted[0], got[0]
        return difference(wanted, got, self.exercise.gives) is None

    def parts_right(self, one: Asked, seen: Observation, *, values_only: bool = False) -> tuple[bool, ...]:
        """Of each result of the answer, whether it is right in that case; of one alone, if there are not several."""
        if self.is_right(one, seen, values_only=values_only):
            return (True,) * self.results
        wanted, got = (canonical(self.exercise, o.answer) for o in (one.wanted, seen))
        if self.results == 1 or seen.error or one.wanted.error or seen.timed_out or not isinstance(got, (tuple, list)):
            return (False,) * self.results
        if not isinstance(wanted, tuple) or not len(wanted) == len(got) == self.results:
            return (False,) * self.results
        right = [not difference(w, g, (axes,)) for w, g, axes in zip(wanted, got, self.exercise.gives, strict=True)]
        return (False,) * self.results if all(right) else tuple(right)

    @cached_property
    def results(self) -> int:
        """How many results the answer has."""
        return 1 if self.exercise.drive in MODULES else max(len(self.exercise.gives), 1)

    def right_before(self, values_only: bool = False) -> dict[int, tuple[bool, ...]]:
        """What was right in each of the cases that were asked, by its `id`."""
        if values_only not in self._before:
            rights = [self.parts_right(one, one.seen, values_only=values_only) for one in self.asked]
            self._before[values_only] = {id(one): right for one, right in zip(self.asked, rights, strict=True)}
        return self._before[values_only]

    def is_wrong(self, result: int) -> bool:
        """Whether the result of that number was wrong in some case."""
        return not all(right[result] for right in self.right_before().values())

    @cached_property
    def by_size(self) -> list[Asked]:
        """The cases, those first that tell the most in the least time: wrong ones, ordinary ones, small ones."""
        return sorted(self.asked, key=lambda one: (not one.is_wrong, one.case.is_edge, _size(one.case.args)))

    @cached_property
    def is_wrong_in_both_kinds(self) -> bool:
        """Whether ordinary cases are wrong and edge cases too."""
        return len({one.case.is_edge for one in self.asked if one.is_wrong}) == 2

    def fresh(self, draws: int = DRAWS) -> Iterator[Asked]:
        """The cases of fresh draws, and what the candidate does with each. **Errors:** `OutOfTime`."""
        yield from self.draws.cases(draws, self.require_time)

    # --- values on the way

    def told(self, one: Asked) -> Notes | None:
        """The values of all places of the candidate's program in a case; None if they are too many."""
        done = self.run(self.program.telling(), one.case)
        return done.notes if done.is_whole else None

    @cached_property
    def model(self) -> Program | None:
        """The model answer, if there is one as text."""
        return model_of(self.exercise)

    def of_model(self, one: Asked) -> Notes | None:
        """The values of all places of the model answer in a case."""
        memory = self.exercise.memory.setdefault("values of the model answer", {})
        key = id(one.case)
        if key not in memory:
            memory[key] = one.case, values_of_model(self.exercise, one.case)
        found: Notes | None = memory[key][1]
        return found


def _size(value: Any) -> int:
    if isinstance(value, np.ndarray):
        return value.size
    if isinstance(value, dict):
        value = list(value.values())
    return sum(_size(v) for v in value) if isinstance(value, (list, tuple)) else 1


def model_of(exercise: Exercise) -> Program | None:
    """The model answer as a program."""
    if "model answer" not in exercise.memory:
        try:
            exercise.memory["model answer"] = Program(exercise.name, exercise.source)
        except (EditError, FileNotFoundError, SyntaxError):
            exercise.memory["model answer"] = None
    found: Program | None = exercise.memory["model answer"]
    return found


def values_of_model(exercise: Exercise, case: Case) -> Notes | None:
    """The values of all places of the model answer in a case; None if there is too much to note."""
    model = model_of(exercise)
    if model is None:
        return None
    if "names of the model answer" not in exercise.memory:
        exercise.memory["names of the model answer"] = exercise.namespace(exercise.source, "the model answer")
    space = exercise.memory["names of the model answer"]
    done = attempt(model.telling(), exercise.name, space, exercise.drive, case.args)
    return done.notes if done.is_whole else None
