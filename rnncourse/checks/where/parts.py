"""The parts of an answer, its arrays and numbers, case by case; and what else is known of a case by name."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from rnncourse.checks.exercise import Axes, Case, Exercise
from rnncourse.checks.generic import Part, parts_of, sizes_of
from rnncourse.checks.plain import Plain
from rnncourse.checks.where.inquiry import Asked

Parameters = dict[str, Plain]


@dataclass
class Look:
    """One case, and the parts of its answer; None if no answer came that has them."""

    exercise: Exercise
    one: Asked
    parts: list[Part] | None
    memory: dict[Any, Any] = field(default_factory=dict, repr=False)

    @cached_property
    def sizes(self) -> dict[str, int]:
        """The sizes of the case by name."""
        return sizes(self.exercise, self.case)

    @property
    def case(self) -> Case:
        return self.one.case

    def named(self, name: str) -> list[Part]:
        """The parts of this name."""
        return [part for part in self.parts or () if part.name == name]


Claim = Callable[[Look, Part], "bool | None"]  # whether it is so of a wrong part; None where nobody can tell


def looks(exercise: Exercise, asked: Sequence[Asked], *, whole: bool = False) -> list[Look]:
    """The cases with the parts of their answers, but for those in which an error was asked for and came."""
    found = []
    for one in asked:
        if one.wanted.error and not one.is_wrong:
            continue
        found.append(Look(exercise, one, list(parts_of(exercise, one.wanted, one.seen, whole=whole)) or None))
    return found


def wrong_names(seen: Sequence[Look]) -> list[str]:
    """The names of the parts that are wrong somewhere."""
    return list(dict.fromkeys(p.name for one in seen for p in one.parts or () if not p.is_right))


def all_names(seen: Sequence[Look]) -> list[str]:
    """The names of all parts."""
    return list(dict.fromkeys(p.name for one in seen for p in one.parts or ()))


def is_so(claim: Claim, name: str, seen: Sequence[Look], parameters: Parameters) -> bool:
    """Whether a claim about the parts of this name is so in every case in which they are wrong, and what the
    parameters say besides: whether all other parts are right (`alone`), whether every answer has its parts (`whole`),
    whether it is so of the parts that are right too (`always`), as nothing plus nothing is.
    """
    for one in seen:
        if one.parts is None:
            if parameters["whole"]:
                return False
            continue
        for part in one.parts:
            if part.name != name:
                if parameters["alone"] and not part.is_right:
                    return False
            elif part.is_right:
                if parameters.get("always") and claim(one, part) is False:
                    return False
            elif part.is_equal or claim(one, part) is False:
                return False  # what is wrong in its dtype alone is not wrong in its numbers
    return True


def supported(claim: Claim, name: str, seen: Sequence[Look], cases: int = 2, entries: int = 3) -> bool:
    """Whether so many cases, and entries of them, bear a claim out."""
    borne = [
        part.right.size
        for one in seen
        for part in one.named(name)
        if not part.is_right and np.any(part.right) and claim(one, part) is True
    ]
    return len(borne) >= cases and sum(borne) >= entries


def scope(name: str, seen: Sequence[Look]) -> Parameters:
    """What goes with every statement on a part."""
    others = [n for n in all_names(seen) if n != name]
    return {
        "part": name,
        "alone": bool(others) and wrong_names(seen) == [name],
        "whole": all(one.parts is not None for one in seen),
    }


def around(parameters: Parameters, sentence: str) -> str:
    """The sentence, with what goes with every statement on a part."""
    part = parameters["part"]
    if not parameters.get("always", True) and " wrong" not in sentence:
        rest = sentence.removeprefix(f"{part}: ")
        if sentence.startswith(f"{part} is "):
            sentence = f"Wherever {part} is wrong, it{sentence.removeprefix(part)}"
        else:
            sentence = f"Wherever {part} is wrong: {rest}"
    if not parameters["whole"]:
        if sentence.startswith(("Where", "Before", "At ")):
            sentence = sentence[0].lower() + sentence[1:]
        sentence = f"Where an answer of the right form comes back: {sentence}"
    return sentence + (" The other results are right." if parameters["alone"] else "")


# --- what may be known by name in a case


def known(one: Look, *, at: str = "") -> dict[str, np.ndarray]:
    """The arrays and numbers of a case by name: its arguments, their products, and the right parts. Of what has an axis
    of time, only the first or the last step, if that is asked for.
    """
    if at not in one.memory:
        one.memory[at] = _known(one, at)
    held: dict[str, np.ndarray] = one.memory[at]
    return held


def _known(one: Look, at: str) -> dict[str, np.ndarray]:
    found: dict[str, np.ndarray] = {}
    for axes, value in zip(one.exercise.takes, one.case.args, strict=False):
        if isinstance(value, np.ndarray) and value.dtype.kind in "biuf" and value.size:
            is_series = (axes.axes or ("",))[0] == "T" and value.ndim > 1
            if not is_series or not at:
                found[axes.name] = value
            if is_series:
                found |= {f"{axes.name}[{i}]": value[i] for i in (0, -1) if not at or i == _STEPS[at]}
        elif isinstance(value, (float, int)) and not isinstance(value, bool):
            found[axes.name] = np.asarray(value)
    for name, by in [(n, v) for n, v in found.items() if not v.ndim and 0 <= v <= 1]:
        for other, value in list(found.items()):
            if value.ndim and value.dtype.kind == "f":
                found[f"{name} · {other}"], found[f"(1 - {name}) · {other}"] = by * value, (1 - by) * value
    matrices = {name: value for name, value in found.items() if value.ndim == 2 and value.dtype.kind == "f"}
    for a, left in matrices.items():
        for b, right in matrices.items():
            if "·" not in a + b and a != b and left.shape[1] == right.shape[0] and not b.endswith("]"):
                found[f"{a} @ {b}"] = left @ right
    if not at and len(names := {part.name for part in one.parts or ()}) > 1:
        for name in names:
            if len(same := one.named(name)) == 1:
                found[f"the right {name}"] = same[0].right
    return found


_STEPS = {"first": 0, "last": -1}


def seen_as(part: Part, at: str, before: str) -> Part | None:
    """A part at its first or last step alone, or before its last function; None where that cannot be had."""
    right, own = part.right, part.own
    if right.shape != own.shape or right.dtype.kind != "f" or own.dtype.kind != "f":
        return None if at or before else part
    axes = part.axes
    if at:
        letters = part.axes.axes or ()
        if letters[:1] != ("T",) or right.ndim < 2 or not len(right):
            return None
        right, own, axes = right[_STEPS[at]], own[_STEPS[at]], Axes(axes.name, letters[1:])
    if before:
        if np.float32 in (right.dtype, own.dtype):  # too coarse to be undone
            return None
        with np.errstate(all="ignore"):
            right, own = UNDONE[before](right), UNDONE[before](own)
        if not (np.isfinite(right).all() and np.isfinite(own).all()) or np.abs(right).max(initial=0) > 7:
            return None
    return Part(axes, right, own, part.key)


UNDONE: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "tanh": np.arctanh,
    "sigmoid": lambda y: np.log(y / (1 - y)),
}


def factors(one: Look, at: str) -> dict[str, np.ndarray]:
    """What a part may have been multiplied with."""
    found = dict(known(one, at=at))
    for name in ("h", "H", "h_prev"):
        if name in found and found[name].dtype.kind == "f":
            found[f"1 - {name}²"] = 1 - found[name] ** 2
    return found


def fitted_to(value: np.ndarray, part: Part) -> np.ndarray | None:
    """The value as it meets the part: axes are added behind it where that makes it fit, as for a mask (T, N)."""
    if value.ndim > part.right.ndim:
        return None
    for shape in (value.shape, value.shape + (1,) * (part.right.ndim - value.ndim)):
        try:
            if np.broadcast_shapes(shape, part.right.shape) == part.right.shape:
                return value.reshape(shape)
        except ValueError:
            continue
    return None


def sizes(exercise: Exercise, case: Case) -> dict[str, int]:
    """The sizes of a case by name: of axes, of lists and texts, and arguments that are whole numbers."""
    found = dict(sizes_of(exercise, case))
    for axes, value in zip(exercise.takes, case.args, strict=False):
        if isinstance(value, int) and not isinstance(value, bool):
            found.setdefault(axes.name, value)
        elif isinstance(value, (str, list)):
            found[f"len({axes.name})"] = len(value)
        elif axes.name == "mask" and isinstance(value, np.ndarray) and set(np.unique(value)) <= {0, 1}:
            found["the number of ones in mask"] = int(value.sum())
    return found
