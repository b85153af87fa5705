"""The verdict on one answer: a card in a notebook, plain text in a terminal, a number for nbgrader."""

from __future__ import annotations

from dataclasses import dataclass, field
from html import escape
from typing import Any

from rnncourse.checks.plain import Plain

CRITERIA = {
    "runs": "it runs",
    "shape": "shape",
    "values": "values",
    "edges": "edge cases",
    "purity": "arguments left alone",
}


@dataclass(frozen=True)
class Verdict:
    """What `check` found.

    `score` is from 0 to 1, `points` that share of `max_points`. `diagnosis` is the name of the misconception that gives what the answer gave, or
    None. `criteria` says of each criterion whether it was met (None: not reached, because an earlier one was not). For a failed visible check `inputs`,
    `expected` and `got` hold the case that the message speaks of, to look at.
    """

    exercise: str
    passed: bool
    score: float
    points: float
    max_points: int
    message: str
    diagnosis: str | None = None
    criteria: dict[str, bool | None] = field(default_factory=dict)
    inputs: tuple[Any, ...] = ()
    expected: Plain = None
    got: Plain = None

    def __float__(self) -> float:
        return float(self.points)

    def __bool__(self) -> bool:
        return self.passed

    def __str__(self) -> str:
        return f"{self._mark} {self.exercise}: {self._points}. {self.message}"

    __repr__ = __str__

    @property
    def _mark(self) -> str:
        return "✓" if self.passed else "✗"

    @property
    def _points(self) -> str:
        return f"{self.points:g} of {self.max_points} {'point' if self.max_points == 1 else 'points'}"

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        return {"text/plain": f"{self.points:g}", "text/html": self.card()}

    def card(self) -> str:
        """The verdict as HTML that takes its colours from the reader's theme."""
        colour = "var(--jp-success-color1, #2e7d32)" if self.passed else "var(--jp-warn-color1, #b8610b)"
        word = "passed" if self.passed else "not yet"
        pills = "".join(_pill(CRITERIA[name], met) for name, met in self.criteria.items())
        look = ""
        if not self.passed and self.inputs:
            look = f"<div>{_FAINT}To look at the case yourself: <code>v = check(…)</code>, then <code>v.inputs</code>, <code>v.expected</code>, <code>v.got</code>.</span></div>"
        if not self.passed and self.max_points:
            look += f"<div>{_FAINT}Stuck? <code>hint(&quot;{escape(self.exercise)}&quot;)</code></span></div>"
        return (
            f'<section aria-label="{escape(self.exercise)}: {word}" style="border:1px solid var(--jp-border-color2, #ccc);border-left:6px solid {colour};'
            f'border-radius:4px;padding:8px 14px;margin:4px 0;max-width:52em;line-height:1.5;font-size:var(--jp-content-font-size1, 14px);">'
            f'<div><strong style="color:{colour}">{self._mark} {word}</strong>&ensp;<code>{escape(self.exercise)}</code>'
            f"&ensp;{_FAINT}{self._points}</span></div>"
            f'<div style="margin:4px 0;white-space:pre-wrap">{_code(self.message)}</div><div>{pills}</div>{look}</section>'
        )


_FAINT = '<span style="color:var(--jp-ui-font-color2, #666)">'


def _code(text: str) -> str:
    """Escaped text in which `backticks` are code."""
    pieces = escape(text).split("`")
    if len(pieces) % 2 == 0:
        return escape(text)
    return "".join(f"<code>{p}</code>" if i % 2 else p for i, p in enumerate(pieces))


def _pill(label: str, met: bool | None) -> str:
    mark, word = {True: ("✓", "met"), False: ("✗", "not met"), None: ("·", "not reached")}[met]
    faint = ";opacity:0.6" if met is None else ""
    return (
        f'<span title="{word}" style="display:inline-block;border:1px solid var(--jp-border-color2, #ccc);border-radius:9px;'
        f'padding:0 8px;margin:2px 4px 2px 0;font-size:85%{faint}">{mark} {label}</span>'
    )


@dataclass(frozen=True)
class Hint:
    """One hint: text in a terminal, a card in a notebook."""

    exercise: str
    number: int
    total: int
    text: str

    def __str__(self) -> str:
        return f"Hint {self.number} of {self.total} for {self.exercise}: {self.text}"

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return (
            f'<section aria-label="hint {self.number} of {self.total}" style="border-left:6px solid var(--jp-info-color1, #0288d1);padding:6px 14px;margin:4px 0;'
            f'max-width:52em;line-height:1.5;white-space:pre-wrap"><strong>Hint {self.number} of {self.total}</strong>&ensp;{_code(self.text)}</section>'
        )
