"""A case to look at: what went in, what was expected and what came, as tables whose axes are named."""

import reprlib
from html import escape
from typing import Any

import numpy as np

from rnncourse.checks.compare import as_array, close_arrays, letters_of
from rnncourse.checks.exercise import Axes
from rnncourse.checks.plain import Plain, arrays_in

ROWS, COLUMNS, TABLES = 8, 8, 6  # what is shown of an array: of each table so many, of tables so many
PARTS = 12  # and so many of what a list or a dict of arrays holds

_short = reprlib.Repr()
_short.maxstring = _short.maxother = 120

_CELL = "padding:1px 8px;text-align:right;border-bottom:1px solid #ccc;border-color:var(--jp-border-color2, #ccc)"
_FONT = "font-family:var(--jp-code-font-family, monospace);font-size:85%"
_WRONG = "background:rgba(255, 167, 38, 0.28);font-weight:bold;text-decoration:underline"


def case_html(inputs: tuple[Any, ...], takes: tuple[Axes, ...], expected: Plain, got: Plain, gives: Axes | None) -> str:
    """One case as HTML: the arguments, and one part of the answer as it was expected and as it came, side by side; of
    arrays with more than two axes table beside table. What differs has a colour, a line under it, and words.
    """
    named = takes if len(takes) == len(inputs) else tuple(Axes(f"v.inputs[{i}]") for i in range(len(inputs)))
    parts = [_titled(str(axes), value, axes) for axes, value in zip(named, inputs, strict=True)]
    axes = gives or Axes("the answer")
    wrong = _differing(expected, got)
    titled = [
        (f"{axes.name}: {word}", value) for word, value in (("expected", expected), ("got", got)) if value is not None
    ]
    if wrong is not None and 2 < wrong.ndim <= 4 and wrong.size:
        parts.append(_beside(titled, wrong, axes))
    else:
        parts += [_titled(title, value, axes, wrong) for title, value in titled]
    style = "display:flex;flex-wrap:wrap;gap:4px 24px;align-items:flex-start"
    return f'<div style="{style}">{"".join(parts)}</div>'


def part_that_differs(expected: Plain, got: Plain, gives: tuple[Axes, ...]) -> tuple[Plain, Plain, Axes | None]:
    """Of an answer of several parts the first that differs, with its name; an answer of one part as it is."""
    if not (isinstance(expected, tuple) and isinstance(got, tuple) and len(expected) == len(got) == len(gives) > 1):
        return expected, got, gives[0] if len(gives) == 1 else None
    for e, g, axes in zip(expected, got, gives, strict=True):
        wrong = _differing(e, g)
        if wrong is None or wrong.any():
            return e, g, axes
    return expected[0], got[0], gives[0]


def _differing(expected: Plain, got: Plain) -> np.ndarray | None:
    a, b = _array(expected), _array(got)
    if a is None or b is None or a.shape != b.shape:
        return None
    return np.asarray(~close_arrays(a, b))


def _array(value: Any) -> np.ndarray | None:
    try:
        return as_array(value)
    except ValueError:
        return None


def _titled(title: str, value: Any, axes: Axes, wrong: np.ndarray | None = None) -> str:
    inner = [*value.items()] if type(value) is dict else [*enumerate(value)] if type(value) in (list, tuple) else []
    if inner and arrays_in(value):
        shown = (_titled(f"{title}[{key!r}]", part, axes) for key, part in inner[:PARTS])
        return "".join(shown) + _rest(len(inner) - PARTS, "part")
    array = _array(value)
    if isinstance(value, tuple) or array is None or not array.ndim or not array.size or array.ndim > 4:
        shape = f" of shape {array.shape}" if array is not None and array.ndim else ""
        body = f"<code>{escape(_short.repr(value))}</code>{shape}"
    else:
        body = _tables(array, wrong if wrong is not None and wrong.shape == array.shape else None, axes)
    return f'<div><div style="font-size:85%"><strong>{escape(title)}</strong></div>{body}</div>'


def _beside(titled: list[tuple[str, Any]], wrong: np.ndarray, axes: Axes) -> str:
    """Arrays of one shape with more than two axes: a row for each of their tables, that of the one beside that of the
    other. Those in which something differs come first.
    """
    letters = letters_of(axes, wrong.ndim)
    arrays = [_array(value) for _, value in titled]
    places = sorted(np.ndindex(wrong.shape[:-2]), key=lambda place: not wrong[place].any())
    heads = "".join(
        f'<th scope="col" style="text-align:left;font-size:85%">{escape(title)}</th>' for title, _ in titled
    )
    rows = ""
    for place in places[:TABLES]:
        tables = [_table(a[place], wrong[place], letters[-2:], _at(letters, place)) for a in arrays if a is not None]
        rows += (
            "<tr>"
            + "".join(f'<td style="padding:0 16px 0 0;vertical-align:top">{one}</td>' for one in tables)
            + "</tr>"
        )
    table = f'<table style="border-collapse:collapse"><thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table>'
    rest = _rest(len(places) - TABLES, "table")
    return f'<div style="max-width:100%;overflow-x:auto" tabindex="0">{table}{rest}</div>'


def _tables(array: np.ndarray, wrong: np.ndarray | None, axes: Axes) -> str:
    letters = letters_of(axes, array.ndim)
    leading = list(np.ndindex(array.shape[:-2])) if array.ndim > 2 else [()]
    shown = [
        _table(array[i], wrong[i] if wrong is not None else None, letters[-2:], _at(letters, i))
        for i in leading[:TABLES]
    ]
    return "".join(shown) + _rest(len(leading) - TABLES, "table")


def _at(letters: list[str], index: tuple[int, ...]) -> str:
    return ", ".join(f"{letter}={i}" if letter else str(i) for letter, i in zip(letters, index, strict=False))


def _table(array: np.ndarray, wrong: np.ndarray | None, letters: list[str], corner: str) -> str:
    rows = array[None] if array.ndim == 1 else array
    marks = np.zeros(rows.shape, bool) if wrong is None else wrong.reshape(rows.shape)
    columns = range(min(rows.shape[1], COLUMNS))
    head = "".join(f'<th scope="col" style="{_CELL};font-weight:normal">{_name(letters[-1], i)}</th>' for i in columns)
    body = ""
    for i in range(min(len(rows), ROWS)):
        name = _name(letters[0], i) if array.ndim > 1 else ""
        cells = "".join(_cell(rows[i, j], marks[i, j]) for j in columns)
        body += f'<tr><th scope="row" style="{_CELL};font-weight:normal">{name}</th>{cells}</tr>'
    style = f"border-collapse:collapse;margin:2px 0 6px;{_FONT}"
    first = f'<th scope="col" style="{_CELL};font-weight:normal">{escape(corner)}</th>'
    table = f'<table style="{style}"><thead><tr>{first}{head}</tr></thead><tbody>{body}</tbody></table>'
    return table + _rest(len(rows) - ROWS, "row") + _rest(rows.shape[1] - COLUMNS, "column")


def _name(letter: str, number: int) -> str:
    return f"{letter}={number}" if letter else str(number)


def _cell(value: Any, is_wrong: bool) -> str:
    text = escape(f"{float(value):.4g}" if isinstance(value, np.floating) else str(value))
    if not is_wrong:
        return f'<td style="{_CELL}">{text}</td>'
    return f'<td style="{_CELL};{_WRONG}" aria-label="{text}, which differs">{text}</td>'


def _rest(count: int, of_what: str) -> str:
    return f'<div style="font-size:85%">… {count} more {of_what}{"s"[: count - 1]}</div>' if count > 0 else ""
