"""How a wrong answer is related to the right one: one table of relations, each with its sentences.

A relation is a function of one part of an answer in one case: of what was expected and what came, and, where it needs
them, of the names of the axes and of the case's arguments. It yields what is so there, as keys of plain values: the
name of a sentence, then what stands in it, `("times_size", "N")`. What it yields in every case in which the part is
wrong can be said. What it would yield of the right answer too, as "one step late" where there is one step, is no
evidence.

Some are causes in themselves: where all that is wrong is one step late, that is the diagnosis (`generic`). The others
say how one part stands to what it should be (`where.relations`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import combinations, combinations_with_replacement
from typing import Any

import numpy as np

from rnncourse.checks.compare import close_arrays, difference
from rnncourse.checks.exercise import Axes, Case, Exercise
from rnncourse.checks.plain import Plain

Key = tuple[Any, ...]
TIME, BATCH = ("T", "t"), "N"


@dataclass(frozen=True, eq=False)
class Given:
    """A case and what is known in it by name. `rights` are the arrays that should come back."""

    exercise: Exercise
    case: Case
    rights: dict[str, np.ndarray] = field(default_factory=dict)

    @cached_property
    def sizes(self) -> dict[str, int]:
        """The sizes of the axes, by letter, and how much of a mask is 1."""
        found: dict[str, int] = {}
        for axes, value in zip(self.exercise.takes, self.case.args, strict=False):
            if isinstance(value, np.ndarray):
                if axes.axes and value.ndim == len(axes.axes):
                    found |= {a: n for a, n in zip(axes.axes, value.shape, strict=True) if a.isalpha()}
                if axes.name == "mask" and np.isin(value, (0, 1)).all():
                    found["the number of ones in mask"] = int(value.sum())
        return found

    @cached_property
    def areas(self) -> dict[str, int]:
        """The sizes, and the products of two of them."""
        axes = [name for name in self.sizes if name.isalpha()]
        return self.sizes | {f"{a}·{b}": self.sizes[a] * self.sizes[b] for a, b in combinations(axes, 2)}

    @cached_property
    def numbers(self) -> dict[str, int]:
        """The sizes, and arguments that are whole numbers."""
        pairs = zip(self.exercise.takes, self.case.args, strict=False)
        return self.sizes | {axes.name: v for axes, v in pairs if isinstance(v, int) and not isinstance(v, bool)}

    @cached_property
    def arguments(self) -> dict[str, np.ndarray]:
        """The arguments that are numbers or arrays of numbers."""
        pairs = zip(self.exercise.takes, self.case.args, strict=False)
        found = {axes.name: np.asarray(v) for axes, v in pairs if isinstance(v, (bool, int, float, np.ndarray))}
        return {name: value for name, value in found.items() if value.size and value.dtype.kind in "biuf"}

    @cached_property
    def known(self) -> dict[str, np.ndarray]:
        """The arguments, what should come back, and the first and the last step of what has an axis of time."""
        found = dict(self.arguments)
        for axes in self.exercise.takes:
            if axes.name in found and (axes.axes or ("",))[0] in TIME and found[axes.name].ndim > 1:
                found |= {f"{axes.name}[{i}]": found[axes.name][i] for i in (0, -1)}
        return found | {f"what {name} should be": value for name, value in self.rights.items()}

    @cached_property
    def products(self) -> dict[str, np.ndarray]:
        """What is made of two of them: a share of one, a product of matrices, the slope of the tanh."""
        floats = {name: v for name, v in self.known.items() if v.dtype.kind == "f" and not name.startswith("what ")}
        found = {f"1 - {name}²": 1 - floats[name] ** 2 for name in ("h", "H", "h_prev") if name in floats}
        for a, left in floats.items():
            for b, right in floats.items():
                if not left.ndim and right.ndim and 0 <= left <= 1:
                    found |= {f"{a} · {b}": left * right, f"(1 - {a}) · {b}": (1 - left) * right}
                if a != b and left.ndim == right.ndim == 2 and left.shape[1] == right.shape[0]:
                    found[f"{a} @ {b}"] = left @ right
        return found


@dataclass(frozen=True, eq=False)
class Part:
    """A named part of an answer as it should be and as it is: an array, of whatever NumPy makes numbers of, or a text,
    a list, a set or a dict. `key` is that of the dict it stands in.
    """

    axes: Axes
    right: Plain
    own: Plain
    is_right: bool
    given: Given
    key: str = ""
    memory: dict[Any, list[Key]] = field(default_factory=dict, repr=False)

    @property
    def name(self) -> str:
        """As a message calls it: `dW`, `state['bias']`. The arrays of one list have one name."""
        return self.axes.name + self.key

    @property
    def size(self) -> int:
        """How many entries it should have that are not 0."""
        return int(np.count_nonzero(self.right)) if isinstance(self.right, np.ndarray) else len(self.right)

    def letter(self, axis: int) -> str:
        """The name of an axis; its number if it has none."""
        letters = self.axes.axes or ()
        return letters[axis] if axis < len(letters) and letters[axis] not in ("", "…") else str(axis)

    def is_time(self, axis: int) -> bool:
        """Whether an axis is one of steps, T or T + 1."""
        return self.letter(axis).split()[0] in TIME

    def keys(self, relation: Relation) -> list[Key]:
        """What is so of it."""
        if relation.rule not in self.memory:
            fits = isinstance(self.right, relation.of) and isinstance(self.own, relation.of)
            with np.errstate(all="ignore"):
                self.memory[relation.rule] = list(relation.rule(self)) if fits else []
        return self.memory[relation.rule]

    def says(self, relation: Relation, key: Key) -> bool:
        """Whether it is so, and would not be so of the right answer. Of a set with nothing in it nothing is said."""
        if isinstance(self.own, (set, dict)) and not self.own:
            return False
        return key in self.keys(relation) and key not in self.as_it_should_be.keys(relation)

    @cached_property
    def as_it_should_be(self) -> Part:
        return replace(self, own=self.right, is_right=True, memory={})


@dataclass(frozen=True, eq=False)
class Relation:
    """A row of the table: what is so of a part of one of these types, and by its name, what is said of it, after "dW
    is". The `causes` are those that are a diagnosis where they are so of all that is wrong.
    """

    rule: Callable[[Part], Iterator[Key]]
    of: tuple[type, ...]
    causes: dict[str, str]
    sentences: dict[str, str]


TABLE: list[Relation] = []  # the plainest first


def relation(
    *of: type, causes: dict[str, str] | None = None, others: dict[str, str] | None = None
) -> Callable[[Callable[[Part], Iterator[Key]]], None]:
    """Enter a function into the table, with the sentences of its keys."""
    causes = causes or {}
    return lambda rule: TABLE.append(Relation(rule, of or (np.ndarray,), causes, causes | (others or {})))


def row_of(name: str) -> Relation:
    """The row that has a relation of this name."""
    return next(row for row in TABLE if name in row.sentences)


def sentence(key: Key, parts: Sequence[str], *, always: bool = True) -> str:
    """What is said of parts, "dW is nothing but 0."; or only of where they are wrong."""
    predicate = row_of(key[0]).sentences[key[0]].format(*key[1:])
    end = "" if predicate.endswith("?") else "."
    if not always and "wrong" not in predicate:
        return f"Wherever {listed(parts)} is wrong, it is {predicate}{end}"
    return f"{listed(parts)} {'are' if parts[1:] else 'is'} {predicate}{end}"


def listed(names: Sequence[str]) -> str:
    """ "dx, dW and db"."""
    return ", ".join(names[:-1]) + (" and " if names[1:] else "") + names[-1]


def equal(right: np.ndarray, own: np.ndarray) -> bool:
    """Whether two arrays have one shape and the same values, whatever their dtypes."""
    return right.shape == own.shape and bool(close_arrays(right, own).all())


def _is_numeric(part: Part) -> bool:
    """Whether it is made of numbers, with which one can reckon, and has the shape that it should have."""
    kinds = part.right.dtype.kind + part.own.dtype.kind
    return part.right.shape == part.own.shape and bool(part.right.size) and "b" not in kinds


def _cut(array: np.ndarray, axis: int, start: int | None, stop: int | None) -> np.ndarray:
    return array[(slice(None),) * axis + (slice(start, stop),)]


# --- entries in another place

MOST_REORDERED = 12  # along an axis, whose order is looked at


@relation(
    causes={"time_reversed": "right but for the order of the steps, along the axis {}: the last comes first"},
    others={"flipped": "what it should be, the other way round along the axis {}"},
)
def reversed_order(part: Part) -> Iterator[Key]:
    for k in range(part.right.ndim):
        if equal(np.flip(part.right, k), part.own):
            yield "time_reversed" if part.is_time(k) else "flipped", part.letter(k)


@relation(
    causes={
        "first_step_lost": "right, but for the first step, which is missing along the axis {}",
        "last_step_lost": "right, but for the last step, which is missing along the axis {}",
        "first_step_only": "right at the first step, along the axis {}, and no other is there. Does the loop end after "
        "one round?",
        "last_step_everywhere": "at every step along the axis {} what belongs to the last one. Is it one array, kept "
        "again and again and written to in between?",
    },
    others={
        "one_more_behind": "right, but with one more entry at the end of the axis {}",
        "one_more_before": "right, but with one more entry at the beginning of the axis {}",
    },
)
def steps_lost(part: Part) -> Iterator[Key]:
    right, own = part.right, part.own
    for k in range(right.ndim if right.ndim == own.ndim else 0):
        letter, n = part.letter(k), right.shape[k]
        if part.is_time(k) and n:
            ways = {"first_step_lost": (1, None), "last_step_lost": (None, -1), "first_step_only": (0, 1)}
            yield from ((name, letter) for name, (i, j) in ways.items() if equal(_cut(right, k, i, j), own))
            if own.any() and equal(np.repeat(_cut(right, k, -1, None), n, k), own):
                yield "last_step_everywhere", letter
        if equal(right, _cut(own, k, None, -1)):
            yield "one_more_behind", letter
        if equal(right, _cut(own, k, 1, None)):
            yield "one_more_before", letter


@relation(
    causes={
        "one_step_late": "one step late along the axis {}: what stands at a step belongs to the step before",
        "one_step_early": "one step early along the axis {}: what stands at a step belongs to the step after",
    }
)
def shifted(part: Part) -> Iterator[Key]:
    for k in range(part.right.ndim if part.right.shape == part.own.shape else 0):
        for name, one, other in (("late", part.own, part.right), ("early", part.right, part.own)):
            if part.is_time(k) and equal(_cut(other, k, None, -1), _cut(one, k, 1, None)):
                yield f"one_step_{name}", part.letter(k)


@relation(causes={"in_another_order": "right but for the order along the axis {}: all is there, at other places"})
def reordered(part: Part) -> Iterator[Key]:
    right, own = part.right, part.own
    for k in range(right.ndim if _is_numeric(part) and not equal(right, own) else 0):
        n = right.shape[k]
        if 1 < n <= MOST_REORDERED:
            rows, others = (np.moveaxis(a, k, 0).reshape(n, -1) for a in (right, own))
            belongs = close_arrays(*np.broadcast_arrays(rows[:, None], others[None])).all(-1)
            if (belongs.sum(0) == 1).all() and (belongs.sum(1) == 1).all():
                yield "in_another_order", part.letter(k)


@relation(
    causes={
        "time_and_batch_exchanged": "right but for the axes of time and batch, which have changed places",
        "transposed": "right but for the order of the axes: it is transposed",
    },
    others={"of_another_shape": "made of the right values in the right order, but of another shape"},
)
def axes_exchanged(part: Part) -> Iterator[Key]:
    right, own = part.right, part.own
    i, j = ([k for k in range(right.ndim) if is_it(k)] for is_it in (part.is_time, lambda k: part.letter(k) == BATCH))
    if i and j and equal(right.swapaxes(i[0], j[0]), own):
        yield ("time_and_batch_exchanged",)
    if right.ndim > 1 and equal(right.T, own):
        yield ("transposed",)
    if right.shape != own.shape and right.size == own.size > 1 and equal(right.ravel(), own.ravel()):
        yield ("of_another_shape",)


# --- entries of another size or kind


@relation(causes={"other_dtype": "right in value, but of another dtype"})
def of_another_dtype(part: Part) -> Iterator[Key]:
    is_exact = part.right.dtype.kind == "f" or part.right.tolist() == part.own.tolist()  # floats keep 16 digits of ints
    if part.own is not part.right and is_exact and equal(part.right, part.own):  # what should have come has no other
        yield ("other_dtype",)


@relation(
    causes={
        "all_zero": "nothing but 0",
        "sign": "minus what it should be: the sign is wrong",
        "times_size": "{0} times what it should be, whatever {0} is. A sum where a mean is asked?",
        "divided_by_size": "too small by the factor {0}, whatever {0} is. A mean where a sum is asked?",
        "constant_factor": "{} times what it should be, in every case",
    },
    others={"row_factor": "right, in each row, up to a factor"},
)
def multiplied(part: Part) -> Iterator[Key]:
    right, own = part.right, part.own
    if not _is_numeric(part):
        return
    if not own.any():
        yield ("all_zero",)
    if equal(-1 * right, own):
        yield ("sign",)
    for name, size in part.given.areas.items():
        if equal(right * size, own):
            yield "times_size", name
        if size and equal(right / size, own):
            yield "divided_by_size", name
    top = np.unravel_index(np.abs(right).argmax(), right.shape)
    factor = own[top] / right[top] if right[top] else 1.0
    told = f"{factor:.4g}"
    if np.isfinite(factor) and told not in ("0", "-0", "1") and equal(factor * right, own):
        yield "constant_factor", told
    if right.ndim and len(part.axes.axes or ()) != 1:
        tops = np.abs(right).argmax(axis=-1)[..., None]
        factors = np.take_along_axis(own, tops, -1) / np.take_along_axis(right, tops, -1)
        if np.isfinite(factors).all() and factors.all() and (factors != 1).any() and equal(right * factors, own):
            yield ("row_factor",)


@relation(others={"too_large": "too large by {}", "too_small": "too small by {}"})
def too_large(part: Part) -> Iterator[Key]:
    """By one number, or for a count, by a sum of two products of sizes, be the sizes what they may."""
    if not _is_numeric(part):
        return
    off = part.own.astype(float) - part.right.astype(float)
    if np.isfinite(off).all() and off.flat[0] and equal(part.right + off.flat[0], part.own):
        yield "too_large" if off.flat[0] > 0 else "too_small", f"{abs(off.flat[0]):.4g}"
    if part.right.ndim or part.right.dtype.kind != "i" or not off or not np.isfinite(off):
        return
    name, by = ("too_large", off) if off > 0 else ("too_small", -off)
    sizes = {letter: n for letter, n in part.given.numbers.items() if letter.isalpha()}
    terms = {str(k): k for k in (1, 2, 3, 4)}
    for names in (c for degree in (1, 2, 3) for c in combinations_with_replacement(sorted(sizes), degree)):
        made = int(np.prod([sizes[n] for n in names]))
        terms |= {"·".join([str(k)] * (k > 1) + list(names)): k * made for k in (1, 2, 3, 4)}
    yield from ((name, text) for text, n in terms.items() if n == by)
    of_value: dict[float, list[str]] = {}
    for text, n in terms.items():
        of_value.setdefault(n, []).append(text)
    for a, n in terms.items():
        yield from ((name, f"{b} + {a}") for b in of_value.get(by - n, ()) if (len(a), a) < (len(b), b))
        yield from ((name, f"{a} - {b}") for b in of_value.get(n - by, ()))


# --- an argument too many, or too few


@relation(
    others={
        "instead": "exactly {}",
        "term": "what it should be {} {}{}",
        "multiplied": "what it should be, multiplied by {}",
        "not_multiplied": "what it should be once it is multiplied by {}",
    }
)
def with_an_argument(part: Part) -> Iterator[Key]:
    right, own = part.right, part.own
    others = {name: value for name, value in part.given.known.items() if name != f"what {part.name} should be"}
    if own.size > 1:
        yield from (("instead", name) for name, value in others.items() if equal(value, own))
    if not _is_numeric(part):
        return
    others |= part.given.products
    fitted = {name: fit for name, value in others.items() if (fit := _fitted(value, right)) is not None}
    for before, undone, function in _LAST:
        a, b = undone(right.astype(float)), undone(own.astype(float))
        told = np.isfinite(a) & ((np.abs(a) < _SATURATED[right.itemsize < 8]) if before else True)
        off = np.where(told & np.isfinite(b), b - a, 0)
        top = np.abs(off).argmax()
        for name, value in fitted.items():
            times = np.round(off.flat[top] / value.flat[top]) if value.flat[top] else 0
            if times in _TIMES and equal(function(a + times * value)[told], own[told]):
                yield "term", _TIMES[times], name, before
    for name, value in fitted.items():
        if value.any() and own.any() and right.any():
            if equal(right * value, own):
                yield "multiplied", name
            if equal(right, own * value):
                yield "not_multiplied", name


_TIMES = {1: "plus", -1: "minus", 2: "plus twice", -2: "minus twice"}


_SATURATED = 8.0, 3.0  # from here on the value cannot be told from what the nonlinearity makes of it, and in float32
_LAST: tuple[tuple[str, Callable[[Any], Any], Callable[[Any], Any]], ...] = (
    ("", lambda x: x, lambda x: x),
    (", before the tanh", np.arctanh, np.tanh),
    (", before the sigmoid", lambda y: np.log(y / (1 - y)), lambda x: 1 / (1 + np.exp(-x))),
)


def _fitted(value: np.ndarray, right: np.ndarray) -> np.ndarray | None:
    """A value in the shape of a part. Axes are added behind it where that makes it fit, as for a mask (T, N)."""
    for shape in (value.shape, value.shape + (1,) * (right.ndim - value.ndim)):
        if len(shape) <= right.ndim and all(n in (1, m) for n, m in zip(shape[::-1], right.shape[::-1], strict=False)):
            return np.broadcast_to(value.reshape(shape), right.shape).astype(float)
    return None


# --- wrong in some places only


@relation(
    others={
        "wrong_only": "wrong only {}; the rest of it is right",
        "right_first": "right at the first {} in every case; what is wrong is in those behind it",
        "right_last": "right at the last {} in every case; what is wrong is in those before it",
    }
)
def in_some_places(part: Part) -> Iterator[Key]:
    """The places in which alone it is wrong, the smallest first."""
    if part.right.shape != part.own.shape or not part.right.ndim:
        return
    wrong = ~close_arrays(part.right, part.own)
    found = []
    for key, place in _places(part):
        is_told = place.all() or (wrong.any() and (part.right[~place].any() or part.right.dtype.kind == "b"))
        if is_told and not (wrong & ~place).any():
            found.append((place.mean(), key))
    yield from (key for _, key in sorted(found))


def _places(part: Part) -> Iterator[tuple[Key, np.ndarray]]:
    right, shape = part.right, part.right.shape
    yield from _along_axes(part)
    arguments = part.given.arguments
    if (mask := arguments.get("mask")) is not None and mask.shape == shape[: mask.ndim]:
        place = np.broadcast_to(mask.astype(bool).reshape(mask.shape + (1,) * (right.ndim - mask.ndim)), shape)
        yield ("wrong_only", "where the mask is 1"), place
        yield ("wrong_only", "where the mask is 0"), ~place
    if (lengths := arguments.get("lengths")) is not None and lengths.shape == shape[1:2]:
        steps, lengths = (a.reshape(a.shape + (1,) * (right.ndim - 2)) for a in (np.indices(shape[:2])[0], lengths))
        yield ("wrong_only", "at padded steps, those from a row's length on"), np.broadcast_to(steps >= lengths, shape)
        yield ("wrong_only", "at steps that are no padding"), np.broadcast_to(steps < lengths, shape)
        yield ("wrong_only", "at the last step of each sequence"), np.broadcast_to(steps == lengths - 1, shape)


_NOUNS = {"T": "step", "t": "step", "N": "row", "L": "layer", "steps": "state"}
_BLOCKS = {2: "the two halves", 3: "the three blocks", 4: "the four blocks"}


def _along_axes(part: Part) -> Iterator[tuple[Key, np.ndarray]]:
    """The first and the last of an axis of steps, rows or layers, and the blocks of one of several gates."""
    for k, n in enumerate(part.right.shape):
        letter = part.letter(k)
        index = np.indices(part.right.shape)[k]
        if noun := _NOUNS.get("steps" if letter == "T + 1" else letter.split()[0], "" if k else "entry"):
            yield ("wrong_only", f"at the first {noun}"), index == 0
            yield ("wrong_only", f"at the last {noun}"), index == n - 1
            yield ("right_first", noun), index > 0
            yield ("right_last", noun), index < n - 1
        gates = int(several[1]) if (several := re.fullmatch(r"([234])H", letter)) else 2 if letter == "units" else 1
        for count in range(1, gates) if n % gates == 0 else ():
            for blocks in combinations(range(gates), count):
                names = listed([("first", "second", "third", "fourth")[block] for block in blocks])
                place = np.isin(index // (n // gates), blocks)
                yield ("wrong_only", f"in the {names} of {_BLOCKS[gates]} of its axis {letter}"), place


@relation(
    others={
        "constant": "the same number in every entry, and should not be",
        "not_finite": "not finite everywhere: there are nan or inf",
        "not_summing_to_1": "made of rows that do not sum to 1 along the last axis, and should",
    }
)
def without_a_property(part: Part) -> Iterator[Key]:
    right, own = part.right, part.own
    if not _is_numeric(part):
        return
    if own.size > 1 and np.ptp(own) == 0 < np.ptp(right):
        yield ("constant",)
    if np.isfinite(right).all() and not np.isfinite(own).all():
        yield ("not_finite",)
    elif right.ndim:
        right_sums, sums = right.sum(axis=-1), own.sum(axis=-1)
        are_shares = (right >= 0).all() and (right.shape[-1] == 1 or ((right > 1e-9) & (right < 1 - 1e-9)).any())
        if are_shares and equal(np.ones_like(right_sums), right_sums) and not equal(np.ones_like(sums), sums):
            yield ("not_summing_to_1",)


# --- texts, lists, sets and dicts


def _same(a: Plain, b: Plain) -> bool:
    return difference(a, b) is None


@relation(
    str,
    list,
    np.ndarray,
    others={
        "reversed": "right, but in reverse",
        "first_missing": "right, but the first {} is missing",
        "last_missing": "right, but the last {} is missing",
        "one_more_at_end": "right, but for one {} too many at its end",
        "one_more_at_start": "right, but for one {} too many at its beginning",
        "ends_too_soon": "right as far as it goes, but ends too soon",
        "goes_on": "right at first, but goes on where it should end",
        "last_wrong": "right but for its last {}",
        "first_wrong": "right but for its first {}",
        "shuffled": "made of the right {}s, in another order",
        "empty": "empty where it should not be",
    },
)
def of_items(part: Part) -> Iterator[Key]:
    if any(isinstance(a, np.ndarray) and (a.ndim != 1 or a.dtype.kind not in "iu") for a in (part.right, part.own)):
        return
    if isinstance(part.right, str) != isinstance(part.own, str):
        return
    right, own, item = list(part.right), list(part.own), "character" if isinstance(part.right, str) else "item"
    more, is_right = len(own) - len(right), _same(right, own)
    holds = {
        "reversed": len(own) > 1 and _same(right[::-1], own),
        "first_missing": more == -1 and _same(right[1:], own),
        "last_missing": more == -1 and _same(right[:-1], own),
        "one_more_at_end": more == 1 and _same(right, own[:-1]),
        "one_more_at_start": more == 1 and _same(right, own[1:]),
        "empty": bool(right) and not own,
        "ends_too_soon": more < 0 < len(own) and _same(right[: len(own)], own),
        "goes_on": more > 0 and bool(right) and _same(right, own[: len(right)]),
        "last_wrong": more == 0 < len(own) - 1 and not is_right and _same(right[:-1], own[:-1]),
        "first_wrong": more == 0 < len(own) - 1 and not is_right and _same(right[1:], own[1:]),
        "shuffled": more == 0 < len(own) - 1 and not is_right and _same(sorted(right, key=repr), sorted(own, key=repr)),
    }
    yield from ((name, item) for name, is_so in holds.items() if is_so)


@relation(
    set,
    dict,
    others={
        "lacks": "right in what is there, but lacks some {} that belong there",
        "extra": "right, but for {} that do not belong there",
        "other_keys": "of the right length, but none of its {} belongs there",
    },
)
def of_members(part: Part) -> Iterator[Key]:
    right, own = part.right, part.own
    if type(right) is not type(own):
        return
    both, members = set(right) & set(own), "keys" if isinstance(own, dict) else "items"
    if isinstance(own, dict) and not _same({k: right[k] for k in both}, {k: own[k] for k in both}):
        return
    if both == set(own) < set(right):
        yield "lacks", members
    if both == set(right) < set(own):
        yield "extra", members
    if not both and len(right) == len(own):
        yield "other_keys", members
