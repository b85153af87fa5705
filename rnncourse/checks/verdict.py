"""The verdict on one answer: a card in a notebook, plain text in a terminal, a number for nbgrader."""

import re
import sys
from dataclasses import dataclass, field
from html import escape
from typing import Any, Literal

from rnncourse.checks.excerpt import Excerpt
from rnncourse.checks.exercise import Axes
from rnncourse.checks.listing import listing, listing_html
from rnncourse.checks.lookable import case_html, part_that_differs
from rnncourse.checks.place import Where
from rnncourse.checks.plain import Plain

CRITERIA = {
    "runs": "it runs",
    "shape": "shape",
    "values": "values",
    "edges": "edge cases",
    "purity": "arguments left alone",
}


def front_end() -> Literal["kernel", "terminal", "none"]:
    """Who shows what a cell or a line gives: a notebook's kernel, IPython in a terminal, or nobody of the two."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython else None
    if shell is None:
        return "none"
    return "kernel" if hasattr(shell, "kernel") else "terminal"


@dataclass(frozen=True)
class Offers:
    """What a card can open besides the verdict: the hints, and the case with the names of what goes in and comes out;
    and whether the place of the error can be looked for, and the solution be shown.
    """

    hints: tuple[str, ...] = ()
    takes: tuple[Axes, ...] = ()
    gives: tuple[Axes, ...] = ()
    where: bool = False
    solution: bool = False


@dataclass(frozen=True)
class Verdict:
    """What `check` found.

    `score` is from 0 to 1, `points` that share of `max_points`. `diagnosis` is the name of the misconception that
    gives what the answer gave, or None. `criteria` says of each criterion whether it was met (None: not reached,
    because an earlier one was not). For a failed visible check `inputs`, `expected` and `got` hold the case that the
    message speaks of, to look at, and `table` the place in it. `where` says what is known of the place of the error in
    the answer's own text, if anything is. `offers` is what the card opens on demand. `run` says which run of a cell was
    judged, "In [12]", where that is known; without `is_given` there is no verdict, and `message` says why.
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
    table: Excerpt | None = None
    where: Where | None = None
    offers: Offers = field(default=Offers(), repr=False, compare=False)
    run: str = field(default="", compare=False)
    is_given: bool = True

    def __float__(self) -> float:
        return float(self.points)

    def __bool__(self) -> bool:
        return self.passed

    def __str__(self) -> str:
        if not self.is_given:
            return f"{self._mark} {self.exercise}: no verdict. {self.message}"
        return f"{self._mark} {self.exercise}: {self._points}. {self.message}"

    __repr__ = __str__

    @property
    def _mark(self) -> str:
        return "✓" if self.passed else "✗" if self.is_given else "·"

    @property
    def _points(self) -> str:
        points = f"{self.points:g} of {self.max_points} {'point' if self.max_points == 1 else 'points'}"
        return f"{points}, of {self.run}" if self.run else points

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        """What a front end shows. nbgrader reads a cell's points as the text of its result, so that the words, for
        front ends that show text alone, come before it as an output of their own, which is empty for all others.
        """
        where = front_end()
        if where == "terminal":
            return {"text/plain": self.text()}
        if where == "kernel":
            from IPython.display import publish_display_data

            publish_display_data({"text/plain": self.text(), "text/html": ""})
        return {"text/plain": f"{self.points:g}", "text/html": self.card()}

    def text(self) -> str:
        """The verdict in words, with the entry where the answer first differs as a table, and the place in its text."""
        parts = [str(self), str(self.table) if self.table else ""]
        if self.where:
            parts += [self.where.message, listing(self.where.source, self.where.lines) if self.where.lines else ""]
        return "\n".join(part for part in parts if part)

    def _has(self, name: str) -> bool:
        value = getattr(self, name)
        return value is not None and not (name == "inputs" and not value)

    def card(self) -> str:
        """The verdict as HTML that takes its colours from the reader's theme."""
        colour = _PASSED if self.passed else _NOT_YET
        word = "passed" if self.passed else "not yet" if self.is_given else "no verdict"
        tips = []
        there = [f"`v.{name}`" for name in ("inputs", "expected", "got") if self._has(name)]
        if not self.passed and there:
            tips.append(f"Look at the case in code: `v = check(…)`, then {', '.join(there)}.")
        if not self.passed and self.is_given and self.max_points and not self.offers.hints:
            tips.append(f'Stuck? `hint("{self.exercise}")`')
        head = f'<strong style="{colour.text}"><span aria-hidden="true">{self._mark}</span> {word}</strong>'
        pills = "".join(_pill(CRITERIA[name], met) for name, met in self.criteria.items())
        points = _faint(self._points) if self.is_given else ""
        body = [
            f"<div>{head}&ensp;{_code(f'`{self.exercise}`')}&ensp;{points}</div>",
            f'<div style="margin:4px 0;white-space:pre-wrap">{_code(self.message)}</div>',
            self.table.html() if self.table else "",
            _place(self.where) if self.where else "",
            f'<ul aria-label="what was checked" style="{ROW}">{pills}</ul>' if pills else "",
            "" if self.passed else self._opens() + self._asks(),
            *(f"<div>{_faint(tip)}</div>" for tip in tips),
        ]
        return _card(f"{self.exercise}: {word}", colour, "".join(body), "" if self.passed else self.message)

    def _opens(self) -> str:
        """The case and the hints, each behind a button of HTML's own: it works by keyboard, and without a kernel."""
        case = ""
        if self._has("inputs"):
            named = part_that_differs(self.expected, self.got, self.offers.gives)
            case = _opened("Look at the case", case_html(self.inputs, self.offers.takes, *named))
        hints = ""
        for number, text in reversed([*enumerate(self.offers.hints, 1)]):
            words = f'<div style="white-space:pre-wrap">{_code(text)}</div>'
            hints = _opened(f"Hint {number} of {len(self.offers.hints)}", words + hints)
        return case + hints

    def _asks(self) -> str:
        """Buttons for what the kernel has to be asked. Where the page cannot ask it, it says what to type."""
        asks = []
        if self.offers.where and not (self.where and self.where.lines):
            asks.append(("where", "Which line is it?", f"where({self.exercise})"))
        if self.offers.solution:
            asks.append(("solution", "Show the solution", f'solution("{self.exercise}")'))
        buttons = "".join(
            f'<button type="button" class="rnncourse-asks" style="display:none;margin-right:0.6em" '
            f'data-rnncourse="{verb} {self.exercise}">{label}</button>'
            for verb, label, _ in asks
        )
        typed = "".join(
            f'<div class="rnncourse-typed">{_faint(f"{label} `from rnncourse import {verb}; {call}`")}</div>'
            for verb, label, call in asks
        )
        return f'<div style="margin:4px 0">{buttons}{typed}</div>' if asks else ""


def _opened(title: str, body: str) -> str:
    summary = f'<summary style="cursor:pointer">{escape(title)}</summary>'
    return f'<details style="margin:2px 0">{summary}<div style="margin:2px 0 4px 1.2em">{body}</div></details>'


def _place(where: Where) -> str:
    """What is known of the place of the error, with the lines marked in the answer's own text."""
    shown = listing_html(where.source, where.lines) if where.lines else ""
    return f'<div style="margin:4px 0">{_code(where.message)}</div>{shown}'


@dataclass(frozen=True)
class _Colour:
    """A colour of the reader's theme. Words in it are mixed with the colour of text, to be read on either ground."""

    theme: str
    plain: str

    @property
    def text(self) -> str:
        return f"color:color-mix(in srgb, var({self.theme}, {self.plain}) 75%, currentcolor)"

    @property
    def edge(self) -> str:
        return f"border-left:6px solid {self.plain};border-left-color:var({self.theme}, {self.plain})"


# What a page takes out that does not trust the notebook, such as var(…), stands behind something plain that it leaves.
_PASSED = _Colour("--jp-success-color1", "#2e7d32")
_NOT_YET = _Colour("--jp-warn-color0", "#b8610b")
_HINT = _Colour("--jp-info-color1", "#0277bd")
_BORDER = "border:1px solid #999;border-color:var(--jp-border-color2, #999)"
ROW = "list-style:none;margin:0;padding:0"


def _card(label: str, colour: _Colour, body: str, told: str = "") -> str:
    """A card. What is `told`, a screen reader says in one piece with the label, before it goes through the parts."""
    style = f"{_BORDER};border-radius:4px;padding:8px 14px;margin:4px 0;max-width:52em;line-height:1.5;{colour.edge}"
    described = f' aria-description="{escape(" ".join(told.replace("`", "").split()))}"' if told else ""
    return f'<section aria-label="{escape(label)}"{described} style="{style}">{body}</section>'


def card(label: str, body: str) -> str:
    """A card that is no verdict."""
    return _card(label, _HINT, body)


def in_code(text: str) -> str:
    """Escaped text in which `backticks` are code."""
    return _code(text)


_EMPHASIS = re.compile(r"(?<![\w*])\*(\w[^*]*\w|\w)\*(?![\w*])")


def _faint(text: str) -> str:
    return f'<span style="color:var(--jp-ui-font-color2, #616161)">{_code(text)}</span>'


def _code(text: str) -> str:
    """Escaped text in which `backticks` are code, and what *stands between* asterisks is emphasised."""
    pieces = escape(text).split("`")
    if len(pieces) % 2 == 0:
        return escape(text)
    return "".join(f"<code>{p}</code>" if i % 2 else _EMPHASIS.sub(r"<em>\1</em>", p) for i, p in enumerate(pieces))


def _pill(label: str, met: bool | None) -> str:
    mark, word = {True: ("✓", "met"), False: ("✗", "not met"), None: ("·", "not reached")}[met]
    style = f"display:inline-block;{_BORDER};border-radius:9px;padding:0 8px;margin:2px 4px 2px 0;font-size:85%"
    faint = ";opacity:0.75" if met is None else ""
    return f'<li style="{style}{faint}"><span role="img" aria-label="{word}:">{mark}</span> {label}</li>'


@dataclass(frozen=True)
class Hint:
    """One hint, or with a total of 0 why there is none: text in a terminal, a card in a notebook."""

    exercise: str
    number: int
    total: int
    text: str

    def __str__(self) -> str:
        return f"{self._title} for {self.exercise}: {self.text}" if self.total else self.text

    __repr__ = __str__

    def _repr_html_(self) -> str:
        title = f"<strong>{self._title}</strong>&ensp;" if self.total else ""
        body = f'<div style="white-space:pre-wrap">{title}{_code(self.text)}</div>'
        return _card(f"{self._title} for {self.exercise}", _HINT, body)

    @property
    def _title(self) -> str:
        return f"Hint {self.number} of {self.total}" if self.total else "No hint"
