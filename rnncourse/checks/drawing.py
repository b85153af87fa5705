"""Cases: the arguments of calls, drawn for the sizes of their axes, and the standard ones among them.

>>> takes = Axes.parse("x (N, D), W (D, 2H)")
>>> for one in Drawer.of(None, takes, [], {}).cases(np.random.default_rng(0)):
...     print(one.note or "ordinary", *(array.shape for array in one.args))
ordinary (3, 4) (4, 4)
ordinary (2, 3) (3, 12)
one row (1, 2) (2, 10)
one unit (3, 2) (2, 2)
float32 (3, 2) (2, 10)
all sizes alike (4, 4) (4, 8)
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import count
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Axes:
    """A named value with named axes, "H (T, N, H)": how messages speak of an array. Where an answer is made in several
    calls, `of` are the parts that one of them gives: "returned [logits (T, N, Q), state (1, N, H)]".
    """

    name: str
    axes: tuple[str, ...] | None = None
    of: tuple[Axes, ...] = ()

    @staticmethod
    def parse(text: str) -> tuple[Axes, ...]:
        """The parts of "dx (N, D), db (H,), number of steps". Axes are letters; what is no array has none."""
        found = re.findall(r"(\w[\w ]*?)\s*(?:\[([^\]]*)\])?(\(([^)]*)\))?\s*(?:,|$)", " ".join(text.split()))
        return tuple(
            Axes(name, tuple(a.strip() for a in axes.split(",") if a.strip()) if given else None, Axes.parse(of))
            for name, of, given, axes in found
        )

    def in_call(self, number: int) -> Axes:
        """The same part of one of several calls."""
        return Axes(f"{self.name} of call {number + 1}" if number else self.name, self.axes)

    def __str__(self) -> str:
        if self.axes is None:
            return self.name
        return f"{self.name} ({', '.join(self.axes)}{',' if len(self.axes) == 1 else ''})"


@dataclass(frozen=True)
class Case:
    """The arguments of one call; `note` says in a few words what is special about an edge case."""

    args: tuple[Any, ...]
    note: str = ""
    is_edge: bool = False


def case(*args: Any) -> Case:
    """An ordinary case."""
    return Case(args)


def edge(note: str, *args: Any) -> Case:
    """An edge case: `note` names it in messages, "T = 1", "float32"."""
    return Case(args, note, True)


def normal(rng: np.random.Generator, *shape: int, dtype: Any = np.float64) -> np.ndarray:
    """A standard normal array, at the scale 1/sqrt(rows) if it is a matrix that multiplies (see `weights`)."""
    return rng.standard_normal(shape).astype(dtype)


def weights(rng: np.random.Generator, rows: int, columns: int, dtype: Any = np.float64) -> np.ndarray:
    """A (rows, columns) matrix scaled so that a product with it keeps the size of its input: never symmetric,
    never orthogonal.
    """
    return (rng.standard_normal((rows, columns)) / np.sqrt(rows)).astype(dtype)


def cell_weights(
    rng: np.random.Generator, D: int, H: int, dtype: Any = np.float64
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The U (D, H), W (H, H), b (H,) of a recurrent cell."""
    return weights(rng, D, H, dtype), weights(rng, H, H, dtype), normal(rng, H, dtype=dtype)


# What the numbers of an argument become at the ends of their range, and what is said of an answer that is wrong there.
ENDS: dict[str, tuple[Callable[[Any], Any], str]] = {
    "zero": (lambda x: 0 * x, "is 0 everywhere"),
    "gap": (lambda x: x * (np.arange(len(x)) != len(x) // 2).reshape(-1, *[1] * (x.ndim - 1)), "has a row of zeros"),
    "large": (
        lambda x: 10**4 * x,
        "is 10,000 times as large (does an `exp` overflow, is a log taken of 0, or does a difference lose digits?)",
    ),
    "tiny": (lambda x: x / 10**8, "is smaller by 1e-8: nothing is so small that it counts for nothing"),
    "whole": (
        lambda x: np.rint(2 * x).astype(np.int64),
        "holds whole numbers (an array made like it, of its dtype, cuts off what is behind the point)",
    ),
}


def at_the_ends(cases: Iterable[Case], takes: tuple[Axes, ...], special: dict[str, str]) -> Iterator[Case]:
    """Of cases of one form the first, with each argument that has an array of floats at each of its ends, and one that
    is a float, or an array without steps or rows, large and tiny: whole numbers only where `special` has "whole" for
    its name, none at all for "none".
    """
    for args in {repr(_form(one.args)): one.args for one in reversed(list(cases))}.values():
        for i, value in enumerate(args):
            name = takes[i].name if i < len(takes) else f"argument {i + 1}"
            axes = takes[i].axes if i < len(takes) else None
            is_scaled = type(value) is float or (axes is not None and {"T", "N"}.isdisjoint(axes))
            usual = [*ENDS][2 if is_scaled else 0 : 4] if type(value) is float or _has_floats(value) else []
            for end in {"none": [], "whole": [*usual, "whole"]}.get(special.get(name, ""), usual):
                change, words = ENDS[end]
                yield edge(f"{name} {words}", *args[:i], _changed(value, change), *args[i + 1 :])


def _form(value: Any) -> Any:
    if isinstance(value, (list, tuple)):
        return [_form(v) for v in value]
    return value.ndim if isinstance(value, np.ndarray) else value if isinstance(value, (str, bool)) else type(value)


def _has_floats(value: Any) -> bool:
    if isinstance(value, (list, tuple)):
        return any(map(_has_floats, value))
    return isinstance(value, np.ndarray) and value.dtype.kind == "f" and value.ndim > 0


def _changed(value: Any, change: Callable[[Any], Any]) -> Any:
    if isinstance(value, (list, tuple)):
        return type(value)(_changed(v, change) for v in value)
    return change(value) if type(value) is float or _has_floats(value) else value


Draw = Callable[..., tuple[Any, ...]]

# The sizes of an axis in the two ordinary standard cases, and in the edge cases; another axis gets the smallest that is
# free. A case with one of an axis, in float32, or with one size for all axes, is an edge.
SIZES = {"T": (5, 7, 4), "N": (3, 2, 3), "D": (4, 3, 2), "H": (2, 6, 5), "Q": (6, 5, 6)}
ALONE = {"T": "one step", "N": "one row", "H": "one unit"}
ALIKE = "all sizes alike"

# Batches of sequences, by what is special about their lengths: the number of steps, and how many of each are real.
LENGTHS = {
    "one step": (1, np.array([1, 1, 1])),
    "one row": (6, np.array([4])),
    "nothing is padding": (4, np.array([4, 4, 4])),
    "as many steps as rows": (4, np.array([3, 1, 4, 2])),
    "all of one length, and shorter than T": (6, np.array([4, 4, 4])),
}


@dataclass(frozen=True)
class Drawer:
    """Draws the arguments of standard cases, `draw(rng, T=…, N=…, dtype=…)`, for the sizes of these axes."""

    draw: Draw
    axes: tuple[str, ...]
    sizes: dict[str, tuple[int, ...]]
    notes: tuple[str, ...]  # of the edge cases

    @staticmethod
    def of(draw: Draw | None, takes: tuple[Axes, ...], without: Iterable[str], sizes: dict[str, Any]) -> Drawer:
        """The drawer that a function is, whose arguments are a generator, sizes by the names of their axes and a dtype.

        Without a function, each array in `takes` is drawn by itself.
        """
        if draw is None:
            letters = re.findall(r"[^\W\d]\w*", " ".join(a for part in takes for a in part.axes or ()))
            names = [*dict.fromkeys(letters), "dtype"]
            draw = partial(_each_by_itself, takes)
        else:
            _, *parameters = inspect.signature(draw).parameters.values()
            names = [p.name for p in parameters if p.default is p.empty or p.name == "dtype"]
        axes = tuple(n for n in names if n != "dtype")
        notes = [note for axis, note in ALONE.items() if axis in axes] + ["float32"] * ("dtype" in names)
        notes += [ALIKE] * (len(axes) > 1)
        return Drawer(draw, axes, SIZES | sizes, tuple(n for n in notes if n not in without))

    def arguments(self, rng: np.random.Generator, which: int = -1, **given: Any) -> tuple[Any, ...]:
        """The arguments of an ordinary case, the 0th or 1st, or of an edge case; with the sizes that are given."""
        sizes = {a: self.sizes[a][which] for a in self.axes if a in self.sizes}
        for axis in self.axes:
            sizes.setdefault(axis, next(n for n in count(2) if n not in sizes.values()))
        return tuple(self.draw(rng, **sizes | given))

    def cases(self, rng: np.random.Generator) -> Iterator[Case]:
        """The standard cases."""
        for which in (0, 1):
            yield case(*self.arguments(rng, which))
        for note in self.notes:
            special: dict[str, Any] = {axis: 1 for axis, alone in ALONE.items() if note == alone}
            special |= {axis: 4 for axis in self.axes if note == ALIKE}
            yield edge(note, *self.arguments(rng, **special or {"dtype": np.float32}))


def _each_by_itself(
    takes: tuple[Axes, ...], rng: np.random.Generator, dtype: Any = np.float64, **sizes: int
) -> tuple[np.ndarray, ...]:
    """An array for each in `takes`: a matrix of weights if it has two axes and the first is neither steps nor rows."""

    def size(axis: str) -> int:
        return sum(int(times or 1) * sizes[name] for times, name in re.findall(r"(\d*)([^\W\d]\w*)", axis))

    drawn = []
    for part in takes:
        if (axes := part.axes) is None:
            raise ValueError(f"{part.name} is no array: give ex.draws a function that draws the arguments.")
        is_matrix = len(axes) == 2 and axes[0] not in ("T", "N")
        shape = [size(axis) for axis in axes]
        drawn.append(weights(rng, shape[0], shape[1], dtype) if is_matrix else normal(rng, *shape, dtype=dtype))
    return tuple(drawn)
