"""One wrong answer under inquiry: its program, its cases, fresh draws of them, and a budget for asking."""

from __future__ import annotations

import ast
import math
from collections.abc import Callable, Hashable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Protocol, runtime_checkable

import numpy as np

from rnncourse.checks.attempt import Attempt, counted
from rnncourse.checks.cases import Asked, Candidate, Seed, canonical, expected, of_mistake
from rnncourse.checks.compare import close_arrays, difference
from rnncourse.checks.deadline import Deadline
from rnncourse.checks.drive import Driver, Observation
from rnncourse.checks.edits import needed
from rnncourse.checks.exercise import Case, Exercise, Misconception
from rnncourse.checks.faults import faults_of
from rnncourse.checks.plain import Plain, arrays_in
from rnncourse.checks.program import Definition, Program, program_in
from rnncourse.checks.shelf import others
from rnncourse.checks.slips import Change, Changes
from rnncourse.checks.slips.text import Text
from rnncourse.checks.where import slices

DRAWS = 3  # fresh draws on which a statement must hold before it is said
SECONDS_A_TRIAL = 0.25  # for one case of a program that nobody has read, which may never return
ALL, ORDINARY = "all", "ordinary"  # what is right with a change: every case, or those that are no edge cases
MOST_STOPPED = 3  # trials that may have to be stopped before the search is given up
LINES_A_TRIAL = 500  # that are run cost as much as it costs to compile a small program
ENDLESS = 30_000  # lines, where nobody has counted to the end

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
    """How much is tried, counted in runs of a small program, so that a busy machine finds what a quiet one does; and
    the seconds for relations, and for everything together, in which most searches are over long before.
    """

    trials: float = 4_000.0
    relations: float = 1.0
    together: float = 1.75


@dataclass
class Trials:
    """How many are left, in the same unit as in a budget."""

    left: float = math.inf

    @contextmanager
    def at_most(self, trials: float) -> Iterator[None]:
        """No more than so many meanwhile."""
        spare = max(0.0, self.left - trials) if self.left < math.inf else math.inf
        self.left = min(self.left, trials)
        try:
            yield
        finally:
            self.left = max(0.0, self.left) + spare

    @contextmanager
    def uncounted(self) -> Iterator[None]:
        """Nothing counts meanwhile."""
        left, self.left = self.left, math.inf
        try:
            yield
        finally:
            self.left = left


class Fresh(Asked):
    """A fresh case. What is expected, and what the candidate does, is found out when somebody asks."""

    of: tuple[Exercise, Candidate]

    def __init__(self, exercise: Exercise, candidate: Candidate, case: Case) -> None:
        vars(self).update(case=case, of=(exercise, candidate))

    @cached_property
    def wanted(self) -> Observation:
        return expected(self.of[0], self.case)

    @cached_property
    def seen(self) -> Observation:
        exercise, candidate = self.of
        return candidate.observe(exercise.drive, self.case.args)

    @cached_property
    def is_wrong(self) -> bool:
        return bool(faults_of(self.of[0], self.case, self.wanted, self.seen))


class Draws:
    """Fresh draws of an exercise's cases, and what a candidate does in each."""

    def __init__(self, exercise: Exercise, candidate: Candidate, seed: Seed) -> None:
        self.exercise, self.candidate, self.seed = exercise, candidate, seed
        self._drawn: list[list[Fresh]] = []

    def cases(self, draws: int, require_time: Callable[[], None]) -> Iterator[Asked]:
        """The cases of so many draws. **Errors:** what `require_time` raises before each."""
        for number in range(draws):
            if number == len(self._drawn):
                cases = self.exercise.draw(np.random.default_rng((*self.seed, number + 1)))
                self._drawn.append([Fresh(self.exercise, self.candidate, case) for case in cases])
            for one in self._drawn[number]:
                require_time()
                yield one


def rights(exercise: Exercise) -> Iterator[tuple[str, Definition]]:
    """The right programs that are known of an exercise, each with the definitions above it."""
    texts = [answer.text for answer in others(exercise.unit.stem) if answer.exercise == exercise.name]
    for text in (exercise.above + exercise.source, *texts):
        body = ast.parse(text).body
        (own,) = (one for one in body if getattr(one, "name", "") == exercise.name)
        if isinstance(own, (ast.FunctionDef, ast.ClassDef)):
            yield "\n".join(ast.unparse(one) for one in body if one is not own), own


class Inquiry:
    """What is known about one wrong answer, and whom to ask for more. `until` is when the time is up, `trials` how
    much may still be tried.
    """

    def __init__(
        self, exercise: Exercise, candidate: Searched, program: Program, draws: Draws, asked: list[Asked]
    ) -> None:
        self.exercise, self.candidate, self.program, self.draws, self.asked = exercise, candidate, program, draws, asked
        self.until = Deadline(float("inf"))
        self.trials = Trials()
        self.cost = 0.0  # of one trial, once it is known
        self._stopped = 0
        self._wanted: dict[int, Plain] = {}
        self._right: dict[int, np.ndarray | None] = {}
        self._after: dict[str, list[Asked]] = {}

    @cached_property
    def changes(self) -> Changes:
        """The small changes of the program."""
        return Changes(self.program.source)

    @property
    def text(self) -> Text:
        """The program's text, which changes are made in."""
        return self.changes.text

    @cached_property
    def rights(self) -> list[tuple[str, Definition]]:
        """The right programs that are known, each with the definitions above it."""
        return list(rights(self.exercise))

    @cached_property
    def above(self) -> str:
        """What stands above them."""
        return "\n".join(above for above, _ in self.rights)

    def completed(self, own: str) -> str:
        """A program, and below it, where no line of it moves, what it needs of right ones."""
        more = needed(self.above, own)
        return f"{own}\n{more}" if more else own

    def with_both(self, one: Change, other: Change) -> str | None:
        """The program with two changes; None if they do not go together."""
        own = self.text.with_patches([*one.patches, *other.patches])
        return None if own is None else self.completed(own)

    def with_change(self, change: Change) -> Inquiry | None:
        """The same of the answer with a change, in the same time; None if that is no program of its own. **Errors:**
        `OutOfTime`.
        """
        program = program_in(change.source, self.program.name, self.exercise.uses)
        if program is None:
            return None
        rest = Inquiry(self.exercise, self.candidate, program, self.draws, self.after(change))
        rest.until, rest.trials, rest.cost = self.until, self.trials, self.cost
        return rest

    def after(self, change: Change) -> list[Asked]:
        """What the answer with a change gives in each case. **Errors:** `OutOfTime`."""
        if change.source not in self._after:
            asked = []
            for one, _ in self.by_size:
                seen = self.run(change.source, one.case).seen
                is_wrong = bool(faults_of(self.exercise, one.case, one.wanted, seen))
                asked.append(replace(one, seen=seen, is_wrong=is_wrong))
            self._after[change.source] = asked
        return self._after[change.source]

    def require_time(self) -> None:
        """**Errors:** `OutOfTime`."""
        if not self.until.left:
            raise OutOfTime

    def trace(self, case: Case) -> Attempt:
        """The program in one case, with the lines that it runs. **Errors:** `OutOfTime`."""
        done = self.run(self.program.tracing(), case)
        if not self.cost:  # the first case is that in which most changes fail
            with counted() as lines:  # to put an answer into its canonical form can be more work than to answer
                canonical(self.exercise, done.seen.answer)
            work = ENDLESS if done.seen.timed_out else done.work + lines[0]
            self.cost = 1.0 + work / LINES_A_TRIAL
        return done

    def run(self, text: str, case: Case, drive: Driver | None = None) -> Attempt:
        """The candidate in another form, in one case. **Errors:** `OutOfTime`."""
        self.require_time()
        self.trials.left -= self.cost or 1.0
        if self.trials.left < 0:
            raise OutOfTime
        seconds = max(0.02, min(SECONDS_A_TRIAL, self.until.left))
        done = self.candidate.attempt(text, self.program.name, drive or self.exercise.drive, case.args, seconds)
        if done.seen.timed_out:
            self._stopped += 1
            if self._stopped > MOST_STOPPED:
                raise OutOfTime
        return done

    def fresh(self, draws: int = DRAWS) -> Iterator[Asked]:
        """The cases of fresh draws, and what the candidate does with each. **Errors:** `OutOfTime`."""
        yield from self.draws.cases(draws, self.require_time)

    def confirms(self, holds: Callable[[Asked], bool]) -> bool:
        """Whether it holds on fresh draws. That is no trial: what was found is worth it."""
        try:
            with self.trials.uncounted():
                return all(holds(one) for one in self.fresh())
        except OutOfTime:
            return False

    def tried(self, text: str, one: Asked) -> Observation:
        """The candidate in another form, in one case. Where what comes out is wrong and can be had without gradients,
        these are not asked for, and are as they were. **Errors:** `OutOfTime`.
        """
        outputs = self.exercise.drive.outputs
        if outputs is not None and self._is_output_wrong:
            seen = self.run(text, one.case, outputs).seen
            if seen.error or seen.timed_out:
                return seen
            if not seen.refused and isinstance(one.wanted.answer, tuple):
                before = one.seen.answer if isinstance(one.seen.answer, tuple) else (None,) * len(one.wanted.answer)
                if not all(self.parts_right(one, replace(seen, answer=(seen.answer, *one.wanted.answer[1:])))):
                    return replace(seen, answer=(seen.answer, *before[1:]))
        return self.run(text, one.case).seen

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
        right = self.equal_parts(one, seen)
        return (False,) * self.results if all(right) else right

    def equal_parts(self, one: Asked, seen: Observation) -> tuple[bool, ...]:
        """Of each result, whether it is what it should be, whatever was done to the arguments."""
        none = (False,) * self.results
        if self.exercise.facts or seen.error or seen.refused or seen.timed_out or one.wanted.error:
            return none
        wanted, got = self.wanted(one), canonical(self.exercise, seen.answer)
        if self.results == 1:
            return (not difference(wanted, got, self.exercise.gives, loose=self.exercise.values_alone),)
        if not isinstance(wanted, tuple) or not isinstance(got, (tuple, list)):
            return none
        if not len(wanted) == len(got) == self.results:
            return none
        parts = zip(wanted, got, self.exercise.gives, strict=True)
        loose = self.exercise.values_alone
        return tuple(not difference(w, g, (axes,), loose=loose) for w, g, axes in parts)

    def right_entries(self, one: Asked, seen: Observation) -> np.ndarray | None:
        """Of each entry of the arrays, whether it is right; none if they are not those that are wanted."""
        if seen.error or seen.refused or seen.timed_out or one.wanted.error:
            return None
        wanted, got = arrays_in(self.wanted(one)), arrays_in(canonical(self.exercise, seen.answer))
        if not wanted or [a.shape for a in wanted] != [a.shape for a in got]:
            return None
        return np.concatenate([close_arrays(a, b).ravel() for a, b in zip(wanted, got, strict=True)])

    def right_before(self, one: Asked) -> np.ndarray | None:
        """The same of what the answer itself gives."""
        if id(one) not in self._right:
            self._right[id(one)] = self.right_entries(one, one.seen)
        return self._right[id(one)]

    def wanted(self, one: Asked) -> Plain:
        """What should come back in a case, in the form in which it is compared."""
        if id(one) not in self._wanted:
            self._wanted[id(one)] = canonical(self.exercise, one.wanted.answer)
        return self._wanted[id(one)]

    def spelled(self, seen: Observation) -> Hashable:
        """What came back, in a form in which equal answers are the same, up to what rounding does to them."""
        answer = seen.answer[0] if self.exercise.drive.outputs and isinstance(seen.answer, tuple) else seen.answer
        answer = canonical(self.exercise, answer)
        arrays = [a for a in arrays_in(answer) if a.dtype.kind in "biuf"]
        if not arrays:
            return repr(answer)
        with np.errstate(all="ignore"):
            sizes = [float(a @ np.cos(np.arange(a.size))) for a in (a.ravel() for a in arrays)]
        return (*(a.shape for a in arrays), *(f"{size:.5g}" for size in sizes))

    @cached_property
    def mistakes(self) -> dict[Hashable, Misconception]:
        """The mistakes of the catalogue, by what comes back in the first case; but for what is right there, and what
        the answer gives. A single number is soon the same by chance.
        """
        (one, _), *_ = self.by_size
        exercise = self.exercise
        if exercise.facts or not isinstance(one.wanted.answer, (np.ndarray, list, tuple, dict)):
            return {}
        gives = [(mistake, of_mistake(exercise, mistake, one.case)) for mistake in exercise.misconceptions]
        found = {self.spelled(seen): mistake for mistake, seen in reversed(gives) if not (seen.error or seen.refused)}
        for seen in (one.wanted, one.seen):
            found.pop(self.spelled(seen), None)
        return found

    @cached_property
    def scopes(self) -> list[Scope]:
        """What a change can make right, the most first."""
        found: list[Scope] = [ALL]
        if len({one.case.is_edge for one in self.asked if one.is_wrong}) == 2:
            found.append(ORDINARY)
        of_values = [equal for one in self.asked if not all(equal := self.equal_parts(one, one.seen))]
        return found + [i for i in range(self.results) if not all(equal[i] for equal in of_values)]

    def wrong_and_right(self, asked: Sequence[Asked]) -> tuple[list[int], list[int]]:
        """The results that are wrong in one of these cases, and those that are right in all."""
        rights = [self.parts_right(one, one.seen) for one in asked]
        wrong = [i for i in range(self.results) if not all(right[i] for right in rights)]
        return wrong, [i for i in range(self.results) if i not in wrong]

    @cached_property
    def accused(self) -> set[int]:
        """The lines on which only results hang that are wrong."""
        return slices.suspected(self.program.tree, *self.wrong_and_right(self.asked))

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
