"""Two mistakes at once: which pairs of an exercise's mistakes are likely, and an answer that makes both."""

import re
import warnings
from itertools import combinations
from typing import Any

import numpy as np

from rnncourse.checks.cases import canonical
from rnncourse.checks.drive import Observation
from rnncourse.checks.edits import EditError
from rnncourse.checks.exercise import Exercise, Misconception, Whole
from rnncourse.checks.merge import Hunk, changes, merged
from rnncourse.checks.plain import Plain

PRAISE = re.compile(r"^(The|Your|All) [^.,:;]* (is|are) right(, but|, and|\. But) ")
TWO = "+"  # between the names of two mistakes, in the order of the code
MOST_PIECES = 8  # in which an array is looked at, piece by piece along its first axis


def both(exercise: Exercise, one: Misconception, other: Misconception) -> Misconception | None:
    """A mistake of its own that makes these two; None if they do not go together."""
    a, b = changes_of(exercise, one), changes_of(exercise, other)
    if b[0].start < a[0].start:
        one, other, a, b = other, one, b, a
    source = merged(a, b, exercise.source)
    if source is None:
        return None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            answer = exercise.made_of(source, f"<{exercise.name}: two mistakes>")
        except Exception:  # no Python any more, or none that can be run
            return None
    first, second = (without_praise(m.message) for m in (one, other))
    return Whole(f"{one.name}{TWO}{other.name}", f"Two things are wrong. (1) {first} (2) {second}", answer)


def without_praise(message: str) -> str:
    """A message without "The states are right, but" at its beginning: beside a second mistake it is not so."""
    rest = PRAISE.sub("", message)
    is_word = rest != message and re.match(r"[a-z]{2,}\b(?![(_.])", rest)  # else a name, which stays as it is
    return rest[0].upper() + rest[1:] if is_word else rest


def has_model(exercise: Exercise) -> bool:
    """Whether the model answer is there as text. It is not while an exercise is being written."""
    try:
        return bool(exercise.source)
    except (EditError, FileNotFoundError):
        return False


def changes_of(exercise: Exercise, mistake: Misconception) -> tuple[Hunk, ...]:
    """What a mistake changes in the model answer."""
    return changes(exercise.source, mistake.source_for(exercise.name))


class Pieces:
    """What the candidate and each mistake make of each piece of the answers."""

    def __init__(self) -> None:
        self.is_wrong: list[bool] = []
        self.changes: dict[str, list[bool]] = {}  # by mistake: whether it changes the piece
        self.fits: dict[str, list[bool]] = {}  # by mistake: whether it gives the candidate's

    def add(self, exercise: Exercise, expected: Observation, seen: Observation, gives: dict[str, Observation]) -> None:
        """Look at one more case."""
        right, candidate = pieces_of(exercise, expected), pieces_of(exercise, seen)
        self.is_wrong += [not _alike(candidate.get(p), right[p]) for p in right]
        for name, observation in gives.items():
            own = pieces_of(exercise, observation)
            self.changes.setdefault(name, []).extend(not _alike(own.get(p), right[p]) for p in right)
            self.fits.setdefault(name, []).extend(_alike(own.get(p), candidate.get(p)) for p in right)

    def against(self, one: str, other: str) -> tuple[int, int]:
        """What speaks against a pair: pieces that are wrong and that neither changes, or that are right and that one
        changes; then how few of the wrong ones are as one of the two has them.
        """
        against = explained = 0
        for is_wrong, a, b, a_fits, b_fits in zip(
            self.is_wrong, self.changes[one], self.changes[other], self.fits[one], self.fits[other], strict=True
        ):
            against += is_wrong != (a or b)
            explained += is_wrong and (a_fits or b_fits)
        return against, -explained


def by_likelihood(mistakes: list[Misconception], pieces: Pieces) -> list[tuple[Misconception, Misconception]]:
    """All pairs, the likeliest first."""
    return sorted(combinations(mistakes, 2), key=lambda pair: pieces.against(pair[0].name, pair[1].name))


def pieces_of(exercise: Exercise, seen: Observation) -> dict[Any, Plain]:
    """The pieces of an answer by place: arrays, cut along their first axis, and all else."""
    if seen.error or seen.refused:
        return {(): seen.error_types or seen.refused}
    found: dict[Any, Plain] = {}

    def walk(value: Plain, path: tuple[Any, ...]) -> None:
        if isinstance(value, (list, tuple)):
            for i, v in enumerate(value[:MOST_PIECES]):
                walk(v, (*path, i))
        elif isinstance(value, dict):
            for k, v in value.items():
                walk(v, (*path, k))
        elif isinstance(value, np.ndarray) and value.ndim > 1:
            for i, row in enumerate(value[:MOST_PIECES]):
                found[*path, i] = row
        else:
            found[path] = value

    walk(canonical(exercise, seen.answer), ())
    return found


def _alike(a: Plain, b: Plain) -> bool:
    if all(isinstance(v, np.ndarray) and v.dtype.kind == "f" for v in (a, b)):  # `allclose` takes ten times as long
        if a.shape != b.shape:
            return False
        with np.errstate(invalid="ignore", over="ignore"):
            near = (np.abs(a - b) <= 1e-4 * np.abs(b) + 1e-6) & np.isfinite(b)
        return bool((near | (a == b) | ((a != a) & (b != b))).all())
    try:
        return np.shape(a) == np.shape(b) and bool(np.allclose(a, b, rtol=1e-4, atol=1e-6, equal_nan=True))
    except (TypeError, ValueError):
        return type(a) is type(b) and bool(a == b)
