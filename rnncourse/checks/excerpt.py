"""The place where an answer first differs, as a small table: one row of what was expected and of what came.

>>> from rnncourse.checks.exercise import Axes
>>> print(excerpt(np.eye(2), np.ones((2, 2)), Axes.parse("W (D, H)")))
W[d=0, h]       h=0  h=1
expected          1    0
got               1    1
                       ^
"""

from dataclasses import dataclass
from html import escape
from typing import Any

import numpy as np

from rnncourse.checks.compare import as_array, close_arrays, letters_of
from rnncourse.checks.exercise import Axes
from rnncourse.checks.plain import Plain

COLUMNS = 6


@dataclass(frozen=True)
class Excerpt:
    """A few numbers along the last axis: where they stand, what each is, and which of them differ."""

    title: str
    columns: tuple[str, ...]
    expected: tuple[str, ...]
    got: tuple[str, ...]
    wrong: tuple[bool, ...]

    def __str__(self) -> str:
        marks = tuple("^" if wrong else "" for wrong in self.wrong)
        rows = [(self.title, self.columns), ("expected", self.expected), ("got", self.got), ("", marks)]
        first = max(len(name) for name, _ in rows) + 6
        widths = [max(len(values[i]) for _, values in rows) for i in range(len(self.columns))]
        lines = [
            f"{name:{first}}" + "  ".join(f"{v:>{w}}" for v, w in zip(vs, widths, strict=True)) for name, vs in rows
        ]
        return "\n".join(line.rstrip() for line in lines)

    def plain(self) -> dict[str, Any]:
        """As plain values, for records."""
        rows = {"columns": self.columns, "expected": self.expected, "got": self.got, "wrong": self.wrong}
        return {"title": self.title, **{name: list(values) for name, values in rows.items()}}

    def html(self) -> str:
        """The table as HTML. What differs is bold and underlined, and said in words to who cannot see it."""
        cell = "padding:1px 10px;text-align:right;border-bottom:1px solid var(--jp-border-color2, #ccc)"
        head = "".join(f'<th scope="col" style="{cell};font-weight:normal">{escape(c)}</th>' for c in self.columns)
        rows = ""
        for name, values in (("expected", self.expected), ("got", self.got)):
            shown = "".join(
                f'<td style="{cell}">{_marked(escape(v)) if wrong and name == "got" else escape(v)}</td>'
                for v, wrong in zip(values, self.wrong, strict=True)
            )
            rows += f'<tr><th scope="row" style="{cell};text-align:left;font-weight:normal">{name}</th>{shown}</tr>'
        title = f'<th scope="col" style="{cell};text-align:left;font-weight:normal">{escape(self.title)}</th>'
        style = "border-collapse:collapse;margin:4px 0;font-family:var(--jp-code-font-family, monospace);font-size:85%"
        return f'<table style="{style}"><thead><tr>{title}{head}</tr></thead><tbody>{rows}</tbody></table>'


def _marked(text: str) -> str:
    return f'<strong style="text-decoration:underline" aria-label="{text}, which differs">{text}</strong>'


def excerpt(expected: Plain, got: Plain, parts: tuple[Axes, ...] = ()) -> Excerpt | None:
    """The row in which an array, or a list of numbers, first differs; None where there is no such place. `parts` names
    the parts of the answer and their axes.
    """
    if isinstance(expected, tuple):
        if not isinstance(got, (tuple, list)) or len(got) != len(expected):
            return None
        whole = parts[0].name if len(parts) == 1 else "answer"
        named = parts if len(parts) == len(expected) else tuple(Axes(f"{whole}[{i}]") for i in range(len(expected)))
        found = (excerpt(e, g, (part,)) for e, g, part in zip(expected, got, named, strict=True))
        return next((one for one in found if one), None)
    a, b = _array(expected), _array(got)
    if a is None or b is None or a.shape != b.shape or not a.ndim or not a.size:
        return None
    wrong = ~close_arrays(a, b)
    if not wrong.any():
        return None
    axes = parts[0] if parts else Axes("the answer")
    letters = letters_of(axes, a.ndim)
    *row, place = (int(i) for i in np.unravel_index(int(np.argmax(wrong)), wrong.shape))
    start = max(0, min(place - COLUMNS // 2, a.shape[-1] - COLUMNS))
    window = slice(start, start + COLUMNS)
    fixed = [f"{letter}={i}" if letter else str(i) for letter, i in zip(letters, row, strict=False)]
    title = f"{axes.name}[{', '.join([*fixed, letters[-1] or ':'])}]"
    numbers = range(start, min(start + COLUMNS, a.shape[-1]))
    return Excerpt(
        title,
        tuple(f"{letters[-1]}={i}" if letters[-1] else str(i) for i in numbers),
        *_shown(a[tuple(row)][window], b[tuple(row)][window]),
        tuple(bool(w) for w in wrong[tuple(row)][window]),
    )


def _array(value: Any) -> np.ndarray | None:
    if not isinstance(value, np.ndarray) and not (isinstance(value, list) and len(value) > 1):
        return None
    try:
        return as_array(value)
    except ValueError:
        return None


def _shown(expected: np.ndarray, got: np.ndarray) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Both rows, with four digits, or as many as it takes to tell those apart that differ."""
    apart = ~close_arrays(expected, got)

    def row(values: np.ndarray, digits: int) -> tuple[str, ...]:
        if values.dtype.kind == "f":  # what rounding has left of a 0 is 0
            largest = np.abs(expected[np.isfinite(expected)]).max(initial=0.0)
            values = np.where(np.abs(values) < 1e-12 * largest, 0.0, values)
            return tuple(f"{float(v):.{digits}g}" for v in values)
        return tuple(str(v.item()) for v in values)

    for digits in range(4, 18):
        rows = row(expected, digits), row(got, digits)
        if all(a != b for a, b, differs in zip(*rows, apart, strict=True) if differs):
            break
    return rows
