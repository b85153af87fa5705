"""Comparing an answer with what was expected, and saying where they first differ.

The expected value decides what is asked for: where it is an array, a list that NumPy turns into one will do; where it
is a tuple, a list of as many; where it is a number, one of NumPy's. Floats may differ by a millionth of the size of
the array's entries (a ten-thousandth in float32).
"""

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from rnncourse.checks.exercise import Axes
from rnncourse.checks.plain import Plain

MOST_KEYS = 4  # of a dict, in one message
TOLERANCE = {"float64": 1e-6, "float32": 1e-4}


@dataclass(frozen=True)
class Difference:
    """`kind` says how bad it is: no such form of answer, a wrong shape, a wrong dtype, floats of a wrong precision, a
    wrong value. `words` is a sentence.
    """

    kind: Literal["form", "shape", "dtype", "precision", "value"]
    words: str


_ORDER = ("form", "shape", "dtype", "precision", "value")


def difference(expected: Plain, got: Plain, parts: tuple[Axes, ...] = (), *, loose: bool = False) -> Difference | None:
    """The first and gravest difference, or None. `parts` names the parts of the answer; `loose` ignores dtypes."""
    return _Comparison(loose).compare(
        expected, got, parts if isinstance(expected, tuple) else parts[:1] or (Axes("the answer"),), ""
    )


def alike(expected: Plain, got: Plain, parts: tuple[Axes, ...] = (), *, loose: bool = False) -> bool:
    """Whether there is no difference: it looks no further than to the first."""
    named = parts if isinstance(expected, tuple) else parts[:1] or (Axes("the answer"),)
    return _Comparison(loose, is_hasty=True).compare(expected, got, named, "") is None


def kind_of(value: Plain) -> str:
    """A value's kind in a student's words: "an array of shape (3, 4)", "a string", "None"."""
    if isinstance(value, np.ndarray):
        return f"an array of shape {value.shape}"
    if isinstance(value, (bool, np.bool_)):
        return f"the truth value {value}"
    if isinstance(value, (int, np.integer)):
        return f"the whole number {value}" if abs(int(value)) < 10**12 else "a whole number"
    if isinstance(value, (float, np.floating)):
        text = f"{float(value):.6g}"
        return f"the number {text}.0" if text.lstrip("-").isdigit() else f"the number {text}"
    if isinstance(value, str):
        return f"the text {value[:30]!r}"
    if isinstance(value, (list, tuple, set, dict)):
        words = {list: "a list", tuple: "a tuple", set: "a set", dict: "a dict"}
        return f"{words.get(type(value), 'a ' + type(value).__name__)} of {len(value)}"
    return str(value)


def show(value: Plain) -> str:
    """A small value as a message prints it."""
    if isinstance(value, (bool, np.bool_)):
        return str(bool(value))
    if isinstance(value, (float, np.floating)):
        return f"{float(value):.6g}"
    if isinstance(value, np.ndarray):
        return kind_of(value) if value.size > 8 else np.array2string(value, precision=4, separator=", ")
    if isinstance(value, np.generic):
        return str(value.item())
    text = repr(value)
    return text if len(text) <= 80 else text[:77] + "…"


def _told_apart(expected: Plain, got: Plain) -> str:
    """Both values, "1.5, got 2.5", with as many digits as it takes to tell them apart."""
    words = show(expected), show(got)
    for digits in range(7, 18):
        if words[0] == words[1] and all(isinstance(v, (float, np.floating)) for v in (expected, got)):
            words = f"{float(expected):.{digits}g}", f"{float(got):.{digits}g}"
    return f"{words[0]}, got {words[1]}"


class _Comparison:
    def __init__(self, loose: bool, *, is_hasty: bool = False) -> None:
        self.loose, self.is_hasty = loose, is_hasty

    def _gravest(self, found: Iterable[Difference | None]) -> Difference | None:
        """The gravest of the differences, the first of several; in haste the first of all."""
        there = (d for d in found if d)
        return next(there, None) if self.is_hasty else min(there, key=lambda d: _ORDER.index(d.kind), default=None)

    def compare(self, expected: Plain, got: Plain, parts: tuple[Axes, ...], path: str) -> Difference | None:
        if isinstance(expected, tuple):
            return self._tuple(expected, got, parts, path)
        axes = parts[0] if parts else Axes("the answer")
        if len(axes.of) == 1 and not isinstance(expected, list) and (call := re.fullmatch(r"\[(\d+)\]", path)):
            axes, path = axes.of[0].in_call(int(call[1])), ""
        name = axes.name + path
        if isinstance(expected, np.ndarray):
            return self._array(expected, got, axes, path)
        if isinstance(expected, dict):
            return self._dict(expected, got, axes, path)
        if isinstance(expected, set):
            return self._set(expected, got, name)
        if isinstance(expected, list):
            return self._list(expected, got, axes, path)
        return self._scalar(expected, got, name)

    def _tuple(self, expected: tuple[Any, ...], got: Plain, parts: tuple[Axes, ...], path: str) -> Difference | None:
        if isinstance(got, np.ndarray) and path and got.shape == (len(expected),):
            got = got.tolist()
        if not isinstance(got, (tuple, list)) or len(got) != len(expected):
            asked = f"{len(expected)} values"
            if len(parts) == len(expected):
                asked += ": " + ", ".join(str(p) for p in parts)
            name = parts[0].name + path if path and parts else "The answer"
            return Difference("form", f"{name} should be {asked}; yours is {kind_of(got)}.")
        of = parts[0].of if parts else ()
        if len(of) >= len(expected) and (call := re.fullmatch(r"\[(\d+)\]", path)):
            parts, path = tuple(part.in_call(int(call[1])) for part in of[: len(expected)]), ""
        elif len(parts) != len(expected):
            parts = tuple(Axes(f"{parts[0].name if parts else 'the answer'}{path}[{i}]") for i in range(len(expected)))
            path = ""
        return self._gravest(self.compare(e, g, (p,), path) for e, g, p in zip(expected, got, parts, strict=True))

    def _list(self, expected: list[Any], got: Plain, axes: Axes, path: str) -> Difference | None:
        name = axes.name + path
        if not isinstance(got, (list, tuple)) and not (isinstance(got, np.ndarray) and got.ndim == 1):
            return Difference("form", f"{name} should be a list; yours is {kind_of(got)}.")
        first = got[: len(expected)].tolist() if isinstance(got, np.ndarray) else got
        for i, (e, g) in enumerate(zip(expected, first, strict=False)):
            if found := self.compare(e, g, (axes,), f"{path}[{i}]"):
                return found
        if len(got) != len(expected):
            items = "1 item" if len(expected) == 1 else f"{len(expected)} items"
            return Difference("value", f"{name} should have {items}; yours has {len(got)}.")
        return None

    def _dict(self, expected: dict[Any, Any], got: Plain, axes: Axes, path: str) -> Difference | None:
        name = axes.name + path
        if not isinstance(got, dict):
            return Difference("form", f"{name} should be a dict; yours is {kind_of(got)}.")
        for key in expected:
            if key not in got:
                own = ", ".join(show(k) for k in list(got)[:MOST_KEYS]) + (", …" if len(got) > MOST_KEYS else "")
                has = f"has {own}" if got else "is empty"
                return Difference("value", f"{name} should have the key {show(key)}; yours {has}.")
        for key in got:
            if key not in expected:
                return Difference("value", f"{name} has the key {show(key)}, which does not belong there.")
        return self._gravest(self.compare(expected[k], got[k], (axes,), f"{path}[{show(k)}]") for k in expected)

    def _set(self, expected: set[Any], got: Plain, name: str) -> Difference | None:
        if not isinstance(got, set):
            return Difference("form", f"{name} should be a set; yours is {kind_of(got)}.")
        if missing := expected - got:
            return Difference("value", f"{name} should hold {show(min(missing, key=repr))}; yours does not.")
        if extra := got - expected:
            return Difference("value", f"{name} holds {show(min(extra, key=repr))}, which does not belong there.")
        return None

    def _scalar(self, expected: Plain, got: Plain, name: str) -> Difference | None:
        if isinstance(got, np.ndarray) and got.ndim == 0:
            got = got[()]
        if isinstance(expected, (bool, np.bool_)):
            fits, asked = isinstance(got, (bool, np.bool_)), "True or False"
        elif isinstance(expected, (int, np.integer)):
            fits, asked = isinstance(got, (int, np.integer)) and not isinstance(got, bool), "a whole number (an int)"
        elif isinstance(expected, (float, np.floating)):
            fits, asked = (
                isinstance(got, (int, float, np.integer, np.floating)) and not isinstance(got, bool),
                "a number",
            )
        elif isinstance(expected, str):
            fits, asked = isinstance(got, str), "a string"
        else:
            fits, asked = got is expected, str(expected)
        if not fits:
            return Difference("form", f"{name} should be {asked}; yours is {kind_of(got)}.")
        same = close(float(expected), _float(got)) if isinstance(expected, (float, np.floating)) else expected == got
        return None if same else Difference("value", f"{name}: expected {_told_apart(expected, got)}.")

    def _array(self, expected: np.ndarray, got: Plain, axes: Axes, path: str) -> Difference | None:
        name = axes.name + path
        typed = True
        if isinstance(got, (list, tuple)):
            typed = _holds_numpy(got)
            try:
                table = as_array(got)
                got = got if table is None else table
            except ValueError:
                own = "your list has rows of different lengths" if isinstance(got, list) else f"yours is {kind_of(got)}"
                return Difference("shape", f"{name} should be an array{_of(axes, expected)}; {own}.")
        if isinstance(got, (int, float, np.generic)) and not isinstance(got, bool):
            got = as_array(got)
        if not isinstance(got, np.ndarray) or got.dtype.kind not in "biuf":
            return Difference("form", f"{name} should be an array{_of(axes, expected)}; yours is {kind_of(got)}.")
        if got.shape != expected.shape:
            turned = got.shape == expected.shape[::-1] and got.ndim > 1
            tip = " The axes look turned round." if turned else ""
            return Difference(
                "shape", f"{name} should have the shape {_axes(axes)}{expected.shape}; yours has {got.shape}.{tip}"
            )
        if not self.loose and (wrong := self._dtype(expected, got, typed)):
            kind: Literal["precision", "dtype"] = "precision" if expected.dtype.kind == got.dtype.kind else "dtype"
            return Difference(kind, f"{name} should be {wrong}; yours has the dtype {got.dtype}.")
        return self._values(expected, got, axes, path)

    @staticmethod
    def _dtype(expected: np.ndarray, got: np.ndarray, typed: bool) -> str | None:
        asked, given = expected.dtype.kind, got.dtype.kind
        if asked == "f":
            if given == "f" or (not typed and given in "iu"):
                of = "" if expected.dtype == np.float64 else ", the dtype of the input"  # float64 comes of itself
                return None if not typed or got.dtype == expected.dtype else f"{expected.dtype}{of}"
            return "an array of floats"
        if asked in "iu":
            return None if given in "iu" else "an array of whole numbers"
        return None if given == asked else "an array of True and False"

    @staticmethod
    def _values(expected: np.ndarray, got: np.ndarray, axes: Axes, path: str) -> Difference | None:
        wrong = ~close_arrays(expected, got)
        if not wrong.any():
            return None
        index = np.unravel_index(int(np.argmax(wrong)), wrong.shape) if wrong.ndim else ()
        letters = letters_of(axes, wrong.ndim)
        where = ", ".join(f"{letter}={i}" if letter else str(i) for letter, i in zip(letters, index, strict=True))
        name = f"{axes.name}{path}[{where}]" if where else axes.name + path
        share = f" ({int(wrong.sum())} of {wrong.size} entries differ)" if wrong.size > 1 else ""
        return Difference("value", f"{name}: expected {_told_apart(expected[index], got[index])}{share}.")


def as_array(value: Plain) -> np.ndarray | None:
    """The array that NumPy makes of numbers, truth values or arrays in lists; None where other things are among them.

    Of texts in a list NumPy would make a table in which each has as much room as the longest.

    **Errors:** `ValueError` if rows are of different lengths.
    """
    if isinstance(value, (list, tuple)):
        if not _holds_numbers(value):
            return None
    elif not isinstance(value, (bool, int, float, np.ndarray, np.generic)):
        return None
    array = np.asarray(value)
    return array if array.dtype.kind in "biuf" else None


def _holds_numbers(value: Plain) -> bool:
    if isinstance(value, (list, tuple)):
        return all(_holds_numbers(v) for v in value)
    return isinstance(value, (bool, int, float, np.ndarray, np.generic))


def _float(value: Plain) -> float:
    """A number as a float; one that is too large for that is infinite."""
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def close(a: float, b: float, tolerance: float = TOLERANCE["float64"]) -> bool:
    """Whether two numbers agree to the tolerance, relative to the first; inf and nan agree with themselves."""
    if not (math.isfinite(a) and math.isfinite(b)):
        return a == b or (a != a and b != b)
    return abs(a - b) <= tolerance * abs(a) + 1e-12


def letters_of(axes: Axes, ndim: int) -> list[str]:
    """A letter for each axis of an array, "t" for T and for T + 1; empty ones where there is none."""
    known = list(axes.axes or ())
    if known and known[-1] == "…":
        known = known[:-1] + [""] * (ndim - len(known) + 1)
    if len(known) != ndim:
        return [""] * ndim
    return [axis[0].lower() if re.match(r"[A-Za-z](\W|$)", axis) else "" for axis in known]


def close_arrays(expected: np.ndarray, got: np.ndarray) -> np.ndarray:
    """Entry by entry, whether two arrays of one shape agree to the tolerance."""
    same = np.asarray(expected == got)
    if expected.dtype.kind != "f" or same.all():
        return same
    is_single = np.float32 in (expected.dtype.type, got.dtype.type)
    tolerance = TOLERANCE["float32" if is_single else "float64"]
    a, b = expected.astype(np.float64), got.astype(np.float64)
    finite = np.isfinite(a) & np.isfinite(b)
    scale = float(np.abs(a[finite]).max(initial=0.0))
    with np.errstate(invalid="ignore", over="ignore"):
        near = np.abs(a - b) <= tolerance * (np.abs(a) + 0.1 * scale) + 1e-12
        return np.where(finite, near, same | (np.isnan(a) & np.isnan(b)))


def _holds_numpy(value: Any) -> bool:
    if isinstance(value, (list, tuple)):
        return any(_holds_numpy(v) for v in value)
    return isinstance(value, (np.ndarray, np.generic))


def _axes(axes: Axes) -> str:
    if not axes.axes:
        return ""
    return f"({', '.join(axes.axes)}{',' if len(axes.axes) == 1 else ''}) = "


def _of(axes: Axes, expected: np.ndarray) -> str:
    return f" of shape {_axes(axes)}{expected.shape}"
