"""Mistakes that are the same in all exercises, seen in what came out: how a wrong answer is related to the right one.

What is said is read off the numbers: in every case, every part of the answer that is wrong stands in this relation to
what it should be, "one step late". So it is so, however the answer was written.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from rnncourse.checks.cases import canonical
from rnncourse.checks.compare import as_array, difference
from rnncourse.checks.drive import Observation
from rnncourse.checks.exercise import Axes, Case, Exercise
from rnncourse.checks.plain import Plain

TIME, BATCH = ("T", "t"), "N"
MODULES = {"module", "padded_module", "layer", "stochastic", "encoder_module", "captioner_module"}

# What each is, by name: of the parts {parts}, along the axis {axis} where it is about one.
GENERIC = {
    "time_reversed": "{parts}: right but for the order of the steps, along the axis {axis}. The last comes first.",
    "one_step_late": "{parts}: one step late along the axis {axis}. What stands at a step belongs to the step before.",
    "one_step_early": "{parts}: one step early along the axis {axis}. What stands at a step belongs to the step after.",
    "first_step_lost": "{parts}: the first step is missing, along the axis {axis}. The others are right.",
    "last_step_lost": "{parts}: the last step is missing, along the axis {axis}. The others are right.",
    "first_step_only": "{parts}: only the first step is there, along the axis {axis}, and it is right. Does the loop "
    "end after one round?",
    "last_step_everywhere": "{parts}: every step along the axis {axis} holds what belongs to the last one. Is it "
    "one array, kept again and again and written to in between?",
    "time_and_batch_exchanged": "{parts}: right but for the axes of time and batch, which have changed places.",
    "transposed": "{parts}: right but for the order of the axes. It is transposed.",
    "sign": "{parts}: the sign is wrong. Each entry is minus what it should be.",
    "all_zero": "{parts}: every entry is 0.",
    "times_size": "{parts}: each entry is {axis} times what it should be, whatever {axis} is. A sum where a "
    "mean is asked?",
    "divided_by_size": "{parts}: each entry is too small by the factor {axis}, whatever {axis} is. A mean where a "
    "sum is asked?",
    "constant_factor": "{parts}: each entry is {axis} times what it should be, in every case.",
    "other_dtype": "{parts}: right in value, but of another dtype.",
    "ends_after_one_round": "What comes back is what there is after the first round of the loop. Does a `return` stand "
    "inside the loop?",
    "returns_in_the_loop": "The loop ends in its first round, for `{axis}` stands inside of it.",
    "other_when_called_again": "Called again with the same arguments, it gives another answer. Something stays behind "
    "from one call to the next (a global name, a default value that is written to, an attribute), or chance has a say.",
}

IN_GENERAL = {name: text.format(parts="the answer", axis="one size") for name, text in GENERIC.items()}

Check = Callable[[np.ndarray, np.ndarray, dict[str, int]], bool | None]


@dataclass(frozen=True)
class Relation:
    """How a wrong part may be related to the right one. `holds(right, own, sizes)` is None where nobody can tell."""

    name: str
    axis: str
    holds: Check


@dataclass(frozen=True)
class Part:
    """A named array or number of an answer, as it should be and as it is. `key` is that of the dict it stands in."""

    axes: Axes
    right: np.ndarray
    own: np.ndarray
    key: str = ""

    @property
    def name(self) -> str:
        """As a message calls it: `dW`, `state['bias']`. The arrays of one list have one name."""
        return self.axes.name + self.key

    @cached_property
    def is_right(self) -> bool:
        """Whether it is as it should be."""
        return difference(self.right, self.own) is None

    @cached_property
    def is_equal(self) -> bool:
        """Whether its values are as they should be, whatever their dtype."""
        return equal(self.right, self.own)


Seen = Iterable[tuple[Case, Observation, Observation]]  # the case, what was expected, what was seen
Looked = list[tuple[Part, dict[str, int]]]  # the parts of all answers, each with the sizes of its case


def relation(exercise: Exercise, cases: Seen) -> tuple[Relation, list[str]] | None:
    """The one relation in which all that is wrong stands to what is right, in every case, and the names of those parts.

    A part that is wrong in one case must stand in it in all, be it that both are the same there, as with one step.
    """
    looked = _looked(exercise, cases)
    wrong = [(part, sizes) for part, sizes in looked if not part.is_right]
    if not wrong:
        return None
    names = list(dict.fromkeys(part.axes.name for part, _ in wrong))
    found = [one for one in relations_of(*wrong[0]) if _holds(one, names, looked)]
    for one in found:
        # Of two axes that have one size in all cases, nobody can tell which it is.
        if sum(other.name == one.name for other in found) == 1:
            return one, names
    return None


def holds(exercise: Exercise, one: Relation, names: list[str], cases: Seen) -> bool:
    """Whether the parts of these names stand in this relation in other cases too, and all others are right."""
    return _holds(one, names, _looked(exercise, cases))


def _looked(exercise: Exercise, cases: Seen) -> Looked:
    """The parts of all answers; none if one of the answers has none."""
    looked: Looked = []
    for one, expected, seen in cases:
        parts = list(parts_of(exercise, expected, seen))
        if not parts:
            return []
        looked += [(part, sizes_of(exercise, one)) for part in parts]
    return looked


def _holds(one: Relation, names: list[str], looked: Looked) -> bool:
    told = [one.holds(part.right, part.own, sizes) for part, sizes in looked if part.axes.name in names]
    others = (part.is_right for part, _ in looked if part.axes.name not in names)
    return any(told) and all(t is not False for t in told) and all(others)


def words(one: Relation, parts: list[str]) -> str:
    """What a student is told."""
    return GENERIC[one.name].format(parts=_listed(parts), axis=one.axis)


def _listed(names: list[str]) -> str:
    return ", ".join(names[:-1]) + (" and " if names[1:] else "") + names[-1]


def sizes_of(exercise: Exercise, one: Case) -> dict[str, int]:
    """The sizes of the axes of a case, by letter."""
    sizes: dict[str, int] = {}
    for axes, value in zip(exercise.takes, one.args, strict=False):
        if axes.axes and isinstance(value, np.ndarray) and value.ndim == len(axes.axes):
            sizes.update({a: n for a, n in zip(axes.axes, value.shape, strict=True) if a.isalpha()})
    return sizes


def parts_of(exercise: Exercise, expected: Observation, seen: Observation, *, whole: bool = False) -> Iterator[Part]:
    """The parts of an answer, arrays and numbers; none if the answer is of another form or is none. Of a module it is
    what comes out, unless its gradients are asked for too: `whole`.
    """
    if expected.error or seen.error or seen.refused or seen.timed_out:
        return
    right, own, gives = canonical(exercise, expected.answer), canonical(exercise, seen.answer), exercise.gives
    if len(gives) == 1:
        right, own = (right,), (own,)
    if not (isinstance(own, (tuple, list)) and isinstance(right, tuple) and len(own) == len(right) == len(gives)):
        return
    if exercise.drive in MODULES and not whole:  # all else, the gradients, follows from what comes out
        right, own, gives = right[:1], own[:1], gives[:1]
    found = []
    for axes, a, b in zip(gives, right, own, strict=True):
        for pair in _paired(a, b):
            if pair is None:
                return
            right_one, own_one, key = pair
            found.append(Part(Axes(axes.name, _letters(exercise, axes, right_one.ndim)), right_one, own_one, key))
    yield from found


def _letters(exercise: Exercise, axes: Axes, dimensions: int) -> tuple[str, ...] | None:
    """The letter of each axis. Where there are more or fewer of them than named, time still comes first."""
    named = axes.axes or ()
    if exercise.drive in MODULES and dimensions == 3:
        named = TIME[0], BATCH, ""
    if len(named) == dimensions:
        return named
    first = named[0].split()[0] if named and named[0] else ""
    return (first, *[""] * (dimensions - 1)) if first in TIME and dimensions else None


def _paired(right: Plain, own: Plain, key: str = "") -> Iterator[tuple[np.ndarray, np.ndarray, str] | None]:
    """The arrays and numbers of an answer, each with the right one and the key of its dict; None where there is no
    such pair.
    """
    if isinstance(right, (list, tuple)):
        if not isinstance(own, (list, tuple)) or len(own) != len(right):
            yield None
            return
        for a, b in zip(right, own, strict=True):
            yield from _paired(a, b, key)
    elif isinstance(right, dict):
        if not isinstance(own, dict) or own.keys() != right.keys():
            yield None
            return
        for k in right:
            yield from _paired(right[k], own[k], f"{key}[{k!r}]")
    else:
        try:
            a, b = as_array(right), as_array(own)
        except ValueError:  # rows of different lengths
            yield None
            return
        yield None if a is None or b is None or {a.dtype.kind, b.dtype.kind} - set("biuf") else (a, b, key)


def relations_of(part: Part, sizes: dict[str, int]) -> Iterator[Relation]:
    """All relations in which such a part may stand, the plainest first."""
    axes = part.axes.axes or ()
    for k, letter in enumerate(axes):
        if letter in TIME:
            yield from _along(k, letter)
    if BATCH in axes and any(letter in TIME for letter in axes):
        i, j = next(i for i, a in enumerate(axes) if a in TIME), axes.index(BATCH)
        yield Relation("time_and_batch_exchanged", "", _exchanged(i, j))
    if part.right.ndim > 1:
        yield Relation("transposed", "", lambda right, own, _: equal(right.T, own))
    yield Relation("other_dtype", "", lambda right, own, _: difference(right, own, loose=True) is None)
    if "b" in (part.right.dtype.kind, part.own.dtype.kind):
        return
    yield Relation("all_zero", "", lambda right, own, _: equal(np.zeros_like(right), own))
    yield Relation("sign", "", lambda right, own, _: equal(right * -1, own))
    if (factor := _factor(part)) is None:
        return
    for letter, size in sizes.items():
        for name, by in (("times_size", float(size)), ("divided_by_size", 1 / size)):
            if size > 1 and np.isclose(by, factor, rtol=1e-3):
                yield Relation(name, letter, _scaled_by_size(letter, name == "times_size"))
    yield Relation("constant_factor", f"{factor:.4g}", lambda right, own, _: equal(factor * right, own))


def _along(k: int, letter: str) -> Iterator[Relation]:
    """The relations along one axis."""

    def cut(array: np.ndarray, start: int | None, stop: int | None) -> np.ndarray:
        return array[(slice(None),) * k + (slice(start, stop),)]

    def relation(name: str, holds: Callable[[np.ndarray, np.ndarray, int], bool | None]) -> Relation:
        def check(right: np.ndarray, own: np.ndarray, _: dict[str, int]) -> bool | None:
            if right.ndim <= k or own.ndim != right.ndim:
                return False
            return holds(right, own, right.shape[k])

        return Relation(name, letter, check)

    def shifted(right: np.ndarray, own: np.ndarray, late: bool) -> bool | None:
        if own.shape != right.shape:
            return False
        if right.shape[k] < 2:
            return None
        one, other = (own, right) if late else (right, own)
        return (
            equal(cut(other, None, -1), cut(one, 1, None)) if late else equal(cut(one, 1, None), cut(other, None, -1))
        )

    yield relation("time_reversed", lambda right, own, n: equal(np.flip(right, k), own))
    yield relation("first_step_lost", lambda right, own, n: equal(cut(right, 1, None), own))
    yield relation("last_step_lost", lambda right, own, n: equal(cut(right, None, -1), own))
    yield relation("first_step_only", lambda right, own, n: equal(cut(right, 0, 1), own))
    yield relation(
        "last_step_everywhere",
        lambda right, own, n: own.shape == right.shape and equal(np.repeat(cut(right, -1, None), n, k), own),
    )
    yield relation("one_step_late", lambda right, own, n: shifted(right, own, True))
    yield relation("one_step_early", lambda right, own, n: shifted(right, own, False))


def _exchanged(i: int, j: int) -> Check:
    def check(right: np.ndarray, own: np.ndarray, _: dict[str, int]) -> bool:
        return right.ndim > max(i, j) and equal(right.swapaxes(i, j), own)

    return check


def _scaled_by_size(letter: str, times: bool) -> Check:
    def check(right: np.ndarray, own: np.ndarray, sizes: dict[str, int]) -> bool | None:
        size = sizes.get(letter)
        return None if size is None else equal(right * size if times else right / size, own)

    return check


def _factor(part: Part) -> float | None:
    """What the largest entry is multiplied by, if that can be told."""
    right, own = part.right, part.own
    if right.shape != own.shape or not right.size or not np.isfinite(right).all():
        return None
    index = np.unravel_index(int(np.abs(right).argmax()), right.shape)
    return float(own[index] / right[index]) if right[index] and np.isfinite(own[index]) and own[index] else None


def equal(right: np.ndarray, own: np.ndarray) -> bool:
    """Whether two arrays have one shape and the same values, whatever their dtypes."""
    return right.shape == own.shape and difference(right, own, loose=True) is None


def returns_in_a_loop(tree: ast.AST) -> str | None:
    """The `return` that ends a loop of this code in its first round, whatever comes: "return total"."""
    for loop in ast.walk(tree):
        if not isinstance(loop, (ast.For, ast.While)):
            continue
        skips = any(isinstance(node, (ast.Continue, ast.Break, ast.Try)) for node in ast.walk(loop))
        for statement in loop.body:
            if isinstance(statement, ast.Return) and not skips:
                return ast.unparse(statement)
    return None


def ending_after_one_round(source: str) -> Iterator[str]:
    """The code with a `return` that follows a loop moved into it, once for each loop."""
    count = sum(isinstance(node, (ast.For, ast.While)) for node in ast.walk(ast.parse(source)))
    for number in range(count):
        tree = ast.parse(source)
        if _moved(tree, number):
            yield ast.unparse(tree)


def _moved(tree: ast.AST, number: int) -> bool:
    """Move the `return` behind the loop of that number to its end. Whether there is one."""
    loops = 0
    for node in ast.walk(tree):
        if not isinstance(node, ast.FunctionDef):
            continue
        for i, statement in enumerate(node.body):
            if isinstance(statement, (ast.For, ast.While)):
                if loops == number and isinstance(node.body[-1], ast.Return):
                    statement.body += copy.deepcopy(node.body[i + 1 :])
                    return True
                loops += 1
    return False
