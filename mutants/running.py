"""Running mutants: each is asked for what the hidden check asks, in a process that may take so much time and memory.

A process takes one mutant after another, for most take milliseconds. One that hangs is stopped when its CPU time is up;
one that cannot be stopped, or ends its process, costs that process, and the next mutant gets another.
"""

import ast
import contextlib
import difflib
import multiprocessing
import multiprocessing.connection
import os
import resource
import signal
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

from mutants.edits import edits
from rnncourse import exercises
from rnncourse.checks import faults
from rnncourse.checks.cases import Seed, drawn, seed_for
from rnncourse.checks.drive import Driver, Observation, Stopped, observe
from rnncourse.checks.exercise import Exercise
from rnngrade.author import cells

CALL_SECONDS = 1.0  # of CPU time, for one call of a mutant
MUTANT_SECONDS = 30  # of CPU time, after which a process that did not stop is ended
MEMORY = 2**30  # bytes, beyond what the process has at its start
ENOUGH = 3  # as many cases as this refuse a mutant, whatever is drawn


@dataclass(frozen=True)
class Mutant:
    """An answer with one change. `change` says which, in the lines of a diff, and is unique within the exercise."""

    exercise: str
    change: str
    source: str

    def __str__(self) -> str:
        return f"{self.exercise}:\n{self.change}"


def written(unit: str) -> list[Exercise]:
    """The exercises of a unit that are answered by code, but for those that are judged by what they reach: there, most
    mutants are right answers.
    """
    return [e for e in exercises.unit(unit) if isinstance(e, Exercise) and not e.by_result]


@cache
def answer_to(exercise: str) -> tuple[ast.stmt, list[ast.stmt]]:
    """The model answer, and the other statements of its unit that it needs."""
    stem = exercises.find(exercise).unit.stem
    needed = cells.of(stem).needed(exercise)
    (answer,) = (s for s in needed if getattr(s, "name", None) == exercise)
    return answer, [s for s in needed if s is not answer]


def mutants_of(exercise: str) -> list[Mutant]:
    """All mutants of an exercise's model answer."""
    answer, _ = answer_to(exercise)
    text = ast.unparse(answer)
    before = text.splitlines()
    count: dict[str, int] = {}
    found = []
    for source in edits(text):
        change = _difference(before, source.splitlines())
        count[change] = count.get(change, 0) + 1
        if count[change] > 1:
            first, *rest = change.splitlines()
            change = "\n".join([f"{first}  #{count[change]}", *rest])
        found.append(Mutant(exercise, change, source))
    return found


def _difference(before: list[str], after: list[str]) -> str:
    parts = []
    for _, i, j, k, m in difflib.SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        if before[i:j] != after[k:m]:
            lines = [*(f"- {line}" for line in before[i:j]), *(f"+ {line}" for line in after[k:m])]
            parts += [line for line in lines if len(line) > 2]
    return "\n".join(parts)


class Judge:
    """Judges mutants of one exercise."""

    def __init__(self, exercise: str) -> None:
        found = exercises.find(exercise)
        assert isinstance(found, Exercise)
        self.exercise = found
        _, others = answer_to(exercise)
        self.space: dict[str, Any] = {"__name__": f"unit {found.unit.stem}"}
        exec(compile(ast.unparse(ast.Module(others, [])), "answers", "exec"), self.space)
        self.space |= found.uses

    def refusals(self, mutant: Mutant, seed: Seed, enough: int = ENOUGH) -> int:
        """How many of the cases for this seed refuse the mutant; no more than `enough` are counted."""
        candidate = _Candidate(mutant.source, self.exercise.name, self.space)
        count = 0
        for one, wanted in zip(*drawn(self.exercise, seed)):
            seen = candidate.observe(self.exercise.drive, one.args)
            if seen.timed_out:
                return enough
            count += bool(faults.faults_of(self.exercise, one, wanted, seen))
            if count == enough:
                return count
        return count or len(faults.broken_properties(self.exercise, candidate, seed))

    def desk(self, mutant: Mutant) -> int:
        """What the hidden check makes of it: as `refusals` by hidden cases; -1 if only the visible ones refuse it."""
        hidden, visible = (seed_for(self.exercise, of) for of in (True, False))
        return self.refusals(mutant, hidden) or -self.refusals(mutant, visible, 1)

    def over(self, mutant: Mutant, seeds: int) -> list[int]:
        """The seeds of so many whose cases all accept it."""
        return [n for n in range(seeds) if not self.refusals(mutant, self.seed(n), 1)]

    def seed(self, number: int) -> Seed:
        """What the hidden check draws from if the instructor's seed is that number."""
        before = os.environ.get("RNNCOURSE_SEED")
        os.environ["RNNCOURSE_SEED"] = str(number)
        try:
            return seed_for(self.exercise, True)
        finally:
            os.environ.pop("RNNCOURSE_SEED")
            if before is not None:
                os.environ["RNNCOURSE_SEED"] = before


class _Candidate:
    """A mutant as the engine sees it (`rnncourse.checks.engine.Candidate`); one that defines nothing fails."""

    def __init__(self, source: str, name: str, space: dict[str, Any]) -> None:
        space = {**space, name: None}
        with contextlib.suppress(Exception):
            exec(compile(source, "mutant", "exec"), space)
        self.answer = space[name]

    def observe(self, drive: Driver, args: tuple[Any, ...]) -> Observation:
        """What the mutant does with these arguments, within the time for a call."""
        signal.setitimer(signal.ITIMER_PROF, CALL_SECONDS)
        try:
            return observe(self.answer, drive, args)
        except Stopped:
            return Observation(timed_out=True)
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)


def each(tasks: list[Mutant], work: Callable[[Mutant], Any], jobs: int) -> Iterator[tuple[Mutant, Any]]:
    """Every task with what `work` makes of it, in the order in which they end; None if it ended its process."""
    context = multiprocessing.get_context("fork")
    todo = iter(tasks)
    busy: dict[Any, tuple[Any, Mutant]] = {}

    def start() -> None:
        here, there = context.Pipe()
        process = context.Process(target=_serve, args=(there, work), daemon=True)
        process.start()
        there.close()
        give(here, process)

    def give(here: Any, process: Any) -> None:
        task = next(todo, None)
        here.send(task)
        if task:
            busy[here] = process, task
        else:
            process.join()

    for _ in range(min(jobs, len(tasks))):
        start()
    while busy:
        ready: list[Any] = multiprocessing.connection.wait(list(busy))
        for here in ready:
            process, task = busy.pop(here)
            try:
                result = here.recv()
            except EOFError:
                process.join()
                yield task, None
                start()
            else:
                give(here, process)
                yield task, result


def _serve(connection: Any, work: Callable[[Mutant], Any]) -> None:
    def stop(signum: int, frame: Any) -> None:
        raise Stopped

    signal.signal(signal.SIGPROF, stop)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    with open("/proc/self/statm", encoding="ascii") as file:
        data = int(file.read().split()[5]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_DATA, (data + MEMORY, data + MEMORY))
    warnings.simplefilter("ignore")
    with open(os.devnull, "w", encoding="ascii") as nothing, contextlib.redirect_stdout(nothing):
        while task := connection.recv():
            used = resource.getrusage(resource.RUSAGE_SELF)
            most = int(used.ru_utime + used.ru_stime) + MUTANT_SECONDS
            resource.setrlimit(resource.RLIMIT_CPU, (most, resource.RLIM_INFINITY))
            connection.send(work(task))
