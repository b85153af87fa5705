"""Cases: the arguments of calls, drawn for the sizes of their axes, and the standard ones among them.

>>> takes = Axes.parse("x (N, D), W (D, 2H)")
>>> for one in Drawer.of(None, takes, [], {}).cases(np.random.default_rng(0)):
...     print(one.note or "ordinary", *(array.shape for array in one.args))
ordinary (3, 4) (4, 4)
ordinary (2, 3) (3, 12)
one row (1, 2) (2, 10)
one unit (3, 2) (2, 2)
float32 (3, 2) (2, 10)
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


Draw = Callable[..., tuple[Any, ...]]

# The sizes of an axis in the two ordinary standard cases, and in the edge cases; another axis gets the smallest that is
# free. A case with one of an axis, or in float32, is an edge.
SIZES = {"T": (5, 7, 4), "N": (3, 2, 3), "D": (4, 3, 2), "H": (2, 6, 5), "Q": (6, 5, 6)}
ALONE = {"T": "one step", "N": "one row", "H": "one unit"}


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
