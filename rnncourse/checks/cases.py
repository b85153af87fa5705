"""The cases of an exercise: drawn for a seed, with what the reference does with each."""

import hashlib
import os
import warnings
import zlib
from collections import deque
from dataclasses import dataclass, replace
from typing import Any, Protocol, runtime_checkable

import numpy as np

from rnncourse.checks.drawing import at_the_ends
from rnncourse.checks.drive import Driver, Observation, observe, turned
from rnncourse.checks.exercise import Case, Exercise, Misconception, Question, unchanged
from rnncourse.checks.plain import Plain, arrays_in

VISIBLE_SEED = "visible"
HIDDEN_SEED = "hidden"

Seed = tuple[int, ...]

# Of the last answers the forms in which they are compared.
_FORMS: deque[tuple[Exercise | Question, Plain, Plain]] = deque(maxlen=64)


@runtime_checkable
class Candidate(Protocol):
    """What the engine sees of an answer: something that can be driven with plain arguments. `Local` is one."""

    def observe(self, drive: Driver, args: tuple[Any, ...]) -> Observation: ...


@dataclass(frozen=True)
class Asked:
    """One case: what was expected, what the candidate gave, and whether that is wrong."""

    case: Case
    wanted: Observation
    seen: Observation
    is_wrong: bool


def seed_for(exercise: Exercise, hidden: bool) -> Seed:
    """The seed of an exercise's cases. Hidden ones follow the environment's RNNCOURSE_SEED, any text, if it is set: all
    of it, so that nobody can try out every seed there is, and apart for each unit and exercise.
    """
    if not hidden:
        return zlib.crc32(VISIBLE_SEED.encode()), zlib.crc32(exercise.name.encode())
    secret = os.environ.get("RNNCOURSE_SEED", HIDDEN_SEED)
    whole = "\0".join((secret, exercise.unit.stem, exercise.name)).encode("utf-8", "surrogateescape")
    return (int.from_bytes(hashlib.sha256(whole).digest()),)


def drawn(exercise: Exercise, seed: Seed) -> tuple[list[Case], list[Observation]]:
    """The exercise's cases for a seed, and what the reference does with each."""
    if seed not in exercise.memory:
        cases = exercise.draw(np.random.default_rng(seed))
        exercise.memory[seed] = cases, [expected(exercise, one) for one in cases]
    found: tuple[list[Case], list[Observation]] = exercise.memory[seed]
    return found


def expected(exercise: Exercise, one: Case) -> Observation:
    """What the reference does in a case; nothing where it is not asked, since facts decide."""
    return Observation() if exercise.facts else quiet_observe(exercise.reference, exercise.drive, one.args)


@dataclass(frozen=True)
class End:
    """A case that only an answer is asked that is right in all others; `words` say in what it is another one."""

    drive: Driver
    case: Case
    wanted: Observation
    words: str


OTHERWISE = (
    "With the same numbers laid out otherwise in memory, as `np.asfortranarray(x)` or `x.T` has them, the answer is "
    'another. Nothing may hang on that: `reshape` goes row by row always, `.data` and `ravel(order="K")` '
    "go by the memory, and what is written into `zeros_like(x).reshape(-1)` may be lost in a copy."
)


def ends(exercise: Exercise, seed: Seed) -> list[End]:
    """Ordinary cases of a seed with an argument at an end of its range, as far as the reference has an answer there;
    and the first one that has a table with its numbers laid out otherwise in memory.
    """
    if ("ends", seed) not in exercise.memory:
        found: list[End] = []
        asked = [(one, wanted) for one, wanted in zip(*drawn(exercise, seed), strict=True) if not one.is_edge]
        if not exercise.facts:
            for one in at_the_ends((one for one, _ in asked), exercise.takes, exercise.ends):
                wanted = expected(exercise, one)
                if not wanted.error and not any(np.isnan(a).any() for a in arrays_in(wanted.answer)):
                    words = f"It is right in all cases that were drawn, but not where {one.note}."
                    found.append(End(exercise.drive, replace(one, note=""), wanted, words))
        tables = [two for two in asked if any(min(a.shape, default=1) > 1 < a.ndim for a in arrays_in(two[0].args))]
        if tables and not (exercise.facts or exercise.drive.writes or exercise.drive.counts_depth):
            one, wanted = tables[0]
            found.append(End(turned(exercise.drive), replace(one, is_edge=True), wanted, OTHERWISE))
        exercise.memory["ends", seed] = found
    kept: list[End] = exercise.memory["ends", seed]
    return kept


def of_mistake(exercise: Exercise, mistake: Misconception, one: Case) -> Observation:
    """What a mistake of the catalogue does in a case that was drawn for a seed. It is remembered, as that case is."""
    memory: dict[int, tuple[Case, Observation]] = exercise.memory.setdefault(("mistake", mistake.name), {})
    if id(one) not in memory:
        memory[id(one)] = one, quiet_observe(mistake.answer, exercise.drive, one.args)
    return memory[id(one)][1]


def drawn_afresh(exercise: Exercise, seed: Seed, draw: int) -> list[Case]:
    """The ordinary cases of another draw for this seed, the 1st, 2nd, …: for what the drawn ones cannot tell."""
    if ("afresh", seed, draw) not in exercise.memory:
        cases = exercise.draw(np.random.default_rng((*seed, draw)))
        exercise.memory["afresh", seed, draw] = [c for c in cases if not c.is_edge]
    found: list[Case] = exercise.memory["afresh", seed, draw]
    return found


def quiet_observe(function: Any, drive: Driver, args: tuple[Any, ...]) -> Observation:
    """`observe` for the course's own functions: without a time limit, with warnings silenced."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return observe(function, drive, args)


def canonical(exercise: Exercise | Question, answer: Plain) -> Plain:
    """The form in which an answer to this exercise is compared. It is remembered for the last answers: to find it can
    be more work than to answer, and an answer is compared several times.
    """
    if exercise.canonical is unchanged:
        return answer
    for key, known, form in tuple(_FORMS):
        if known is answer and key is exercise:
            return form
    try:
        form = exercise.canonical(answer)
    except Exception:  # an answer of a form that the canonical form does not know; the comparison will say so
        form = answer
    _FORMS.append((exercise, answer, form))
    return form
