"""Pictures of unit 13: attention as arrows and as a map, the scan beside the loop, and the table that looks back."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from html import escape
from itertools import pairwise
from typing import Any

import numpy as np
from jaxtyping import Float
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure
from matplotlib.patches import FancyArrowPatch

from rnncourse.data.claims import Measured, filled, stems, unit_claims

from .charts import _pad
from .drawing import Drawing, Shape
from .style import COLOURS, MUTED, style

__all__ = ["ClaimsTable", "alignment_map", "attention_arrows", "scan_beside_loop"]

STEP = 1.25
ATTENTION = LinearSegmentedColormap.from_list("attention", ["#FFFFFF", COLOURS["V"]])


def attention_arrows(weights: Sequence[float], symbols: Sequence[str]) -> Figure:
    """One step of a decoder that looks at all states of the encoder: the arrows are as wide as the weights are large.

    Below stand the encoder's chain and its inputs, above the decoder's state s, which asks, and the context c.
    """
    left, low, middle, high = 1.0, 0.75, 1.75, 3.75
    last = left + STEP * (len(symbols) - 1)
    sheet = Drawing(last + 4.0, high + 0.85)
    states = []
    for j, symbol in enumerate(symbols, 1):
        x = left + STEP * (j - 1)
        signal = sheet.box(x, low, symbol, "input", width=0.5, height=0.45, size=13)
        state = sheet.node(x, middle, f"$h_{j}$", "state")
        sheet.arrow(signal, state, colour=COLOURS["U"])
        states.append(state)
    for before, after in pairwise(states):
        sheet.arrow(before, after, "W" if after is states[1] else "", colour=COLOURS["W"])
    context = sheet.node((left + last) / 2, high, "$c_t$", "output")
    for state, weight in zip(states, weights, strict=True):
        _wide_arrow(sheet, state, context, 0.6 + 7 * weight)
        share = 0.3 if abs(state.x - context.x) > STEP else 0.36
        x = state.x + share * (context.x - state.x)
        y = state.y + share * (context.y - state.y)
        sheet.text(
            x, y, f"{weight:.2f}", size=11, bbox={"facecolor": "white", "edgecolor": "none", "pad": 1.5, "alpha": 0.9}
        )
    asking = sheet.node(last + 1.9, high, "$s_t$", "state")
    sheet.arrow(asking, context, "asks", colour=COLOURS["plain"], side=-1, at=0.35)
    answer = sheet.node(last + 3.3, high, "$y_t$", "output")
    sheet.arrow(asking, answer, colour=COLOURS["V"])
    sheet.arrow(context, answer, colour=COLOURS["V"], bend=-0.16)
    sheet.text(last + 0.75, middle, "green: what the weights bring along", MUTED, align="left")
    return sheet.figure


def _wide_arrow(sheet: Drawing, start: Shape, end: Shape, width: float) -> None:
    angle = float(np.arctan2(end.y - start.y, end.x - start.x))
    arrow = FancyArrowPatch(
        start.border(angle),
        end.border(angle + np.pi),
        arrowstyle="-|>,head_length=5,head_width=3",
        mutation_scale=1,
        shrinkA=0,
        shrinkB=0,
        color=COLOURS["V"],
        lw=width,
        zorder=1,
    )
    sheet.axes.add_patch(arrow)


def scan_beside_loop(steps: int = 8) -> Figure:
    """The same prefixes twice: on the left one map after the other, on the right all at a time in rounds.

    A column is a time step, a row what can happen at once. A filled dot combines what comes in from above on its left
    with its own column.
    """
    across, down, gap = 0.62, 0.5, 1.7
    rounds = max(steps - 1, 1).bit_length()
    width = across * (steps - 1)
    height = down * (steps - 1)
    sheet = Drawing(2 * width + gap + 1.7, height + 1.75)
    top = height + 0.85
    for begin, title in ((0.85, "the loop"), (0.85 + width + gap, "the scan")):
        sheet.text(begin + width / 2, top + 0.62, title, size=13)
        for t in range(steps):
            sheet.dot(begin + across * t, top, "input")
            sheet.text(begin + across * t, top + 0.28, f"{t + 1}", MUTED, size=11)
    begin = 0.85
    for t in range(steps):  # the state walks down one row for each step
        x, y = begin + across * t, top - down * t
        sheet.path([(x, top - 0.14), (x, 0.45)], COLOURS["faint"], head=False)
        if t:
            sheet.arrow((x - across, y + down), _dot(sheet, x, y), colour=COLOURS["W"])
    sheet.text(begin + width / 2, 0.2, f"{steps - 1} rows", MUTED)
    begin = 0.85 + width + gap
    for t in range(steps):
        sheet.path([(begin + across * t, top - 0.14), (begin + across * t, 0.45)], COLOURS["faint"], head=False)
    spread = height / max(rounds, 1)
    for k in range(rounds):
        y = top - spread * (k + 1)
        for t in range(2**k, steps):
            x = begin + across * t
            sheet.arrow((x - across * 2**k, y + spread), _dot(sheet, x, y), colour=COLOURS["W"])
    sheet.text(begin + width / 2, 0.2, f"{rounds} rows", MUTED)
    return sheet.figure


def _dot(sheet: Drawing, x: float, y: float) -> Shape:
    return sheet.dot(x, y, "state", radius=0.1)


def alignment_map(weights: Float[np.ndarray, "T S"], source: str, target: str, *, title: str = "") -> Figure:
    """How each character of the output shared out its attention among the characters of the input."""
    with style():
        figure = Figure(figsize=(1.6 + 0.27 * len(source), 1.3 + 0.27 * len(target)), layout="compressed")
        _pad(figure)
        axes = figure.add_subplot()
        image = axes.imshow(weights, cmap=ATTENTION, vmin=0, vmax=1, aspect="equal")
        axes.set_xticks(range(len(source)), ["␣" if sign == " " else sign for sign in source])
        axes.set_yticks(range(len(target)), list(target))
        axes.set(title=title, xlabel="input character", ylabel="output character")
        axes.set_xticks(np.arange(len(source) - 1) + 0.5, minor=True)
        axes.set_yticks(np.arange(len(target) - 1) + 0.5, minor=True)
        axes.grid(False)
        axes.grid(True, which="minor", color="#E8E8E8", lw=0.6)
        axes.tick_params(which="both", length=0)
        bar = figure.colorbar(image, ax=axes, pad=0.02)
        bar.outline.set_visible(False)
        bar.set_label("weight")
    return figure


class ClaimsTable:
    """What the course claims about training, unit by unit, and the figures behind it.

    What one might have expected and what did not come stands first. Below it is a fold for each unit: of each claim
    in how many seeds it held, the median and the range of its number, and what the controls gave. `measured` is what
    `make claims` wrote, by stem; nothing in it is written by hand.
    """

    def __init__(self, measured: Mapping[str, Mapping[str, Any]] | None = None) -> None:
        if measured is None:
            measured = {stem: unit_claims(stem) for stem in stems()}
        self.units = [_in_words(stem, file) for stem, file in measured.items()]

    def seeds(self) -> tuple[int, int]:
        """In how many runs, a claim with a seed, the claims about training held, and of how many."""
        rows = [row for unit in self.units for row in unit["measured"]]
        return sum(row["held"] for row in rows), sum(row["of"] for row in rows)

    def __repr__(self) -> str:
        lines = []
        for unit in self.units:
            lines.append(f"{unit['stem']}: {unit['title']}")
            lines += [f"  {row['borne_out']:<8} {row['expected']}" for row in unit["expected"]]
            for row in unit["measured"]:
                lines.append(f"  {row['held']} of {row['of']:<3} {row['words']}")
                lines += [f"           {name}: {figure}" for name, figure in (row["figure"], *row["controls"])]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        surprises, folds = [], []
        for unit in self.units:
            link = f'<a href="../{unit["stem"]}/{unit["stem"]}.ipynb">{unit["stem"]}</a>'
            surprises += [
                _row(_marked_up(row["expected"]), link, f"<strong>{row['borne_out']}</strong>", _quoted(row["found"]))
                for row in unit["expected"]
            ]
            rows = [
                _row(
                    f"{_marked_up(row['words'])}<br><small>Measured: {_marked_up(row['measure'])}.</small>",
                    f'<strong style="white-space:nowrap">{row["held"]} of {row["of"]}</strong>',
                    _figure(*row["figure"]),
                    "".join(_figure(*control) for control in row["controls"]),
                )
                for row in unit["measured"]
            ]
            if rows:
                caption = f"Measured for {link}. A figure is the median over the seeds and, in brackets, the range."
                heads = "claim", "held in", "figure", "controls: the cause removed, or another one varied"
                summary = f"{unit['stem']}: {escape(unit['title'])} ({len(rows)})"
                table = _table(rows, *heads, caption=caption)
                folds.append(f'<details style="margin:0.4em 0"><summary>{summary}</summary>{table}</details>')
        heads = "what one might have expected", "unit", "borne out", "what the notebook found"
        expected = _table(surprises, *heads, caption="What did not come, or not quite.") if surprises else ""
        return f'<div style="max-width:60em">{expected}{"".join(folds)}</div>'


def _in_words(stem: str, file: Mapping[str, Any]) -> dict[str, Any]:
    """All that is known of a unit's claims, the numbers in words."""
    measured = []
    for claim in file["claims"]:
        experiment = file["experiments"][claim["experiment"]]
        numbers = Measured(experiment["measure"], experiment["values"])
        figure, *controls = (
            (f"{setting}, {number}", numbers.quote(setting, number, _format(numbers.values[setting][number])))
            for setting, number in (claim["figure"], *claim["controls"])
        )
        words = filled(claim["words"], stem)
        words = words[:1].upper() + words[1:]
        said = {"words": words, "measure": filled(experiment["measure"], stem), "figure": figure, "controls": controls}
        measured.append(said | {"held": claim["held"], "of": claim["of"]})
    expected = [row | {"found": filled(row["found"], stem)} for row in file["expectations"]]
    return {"stem": stem, "title": file["title"], "expected": expected, "measured": measured}


def _format(values: Sequence[float]) -> str:
    """With how many digits numbers are told: counts and large ones whole, small ones by their first digit.

    >>> [_format(values) for values in ([0.25, 1.0], [9.0, 12.0], [33520.0], [0.0003, 0.0])]
    ['.2f', '.0f', ',.0f', '.1g']
    """
    largest = max(map(abs, values))
    if largest >= 100:
        return ",.0f"
    if largest > 1 and all(float(value).is_integer() for value in values):
        return ".0f"
    return ".1g" if 0 < largest < 0.01 else ".2f"


def _figure(name: str, figure: str) -> str:
    return f'<div style="margin-bottom:0.4em"><small>{_marked_up(name)}</small><br>{figure}</div>'


def _marked_up(text: str) -> str:
    """A claim as HTML: its code as code, its formulas left to the page."""
    return re.sub("`([^`]*)`", r"<code>\1</code>", escape(text))


def _quoted(words: str) -> str:
    """Words of a notebook, with dots where they begin or end within a sentence."""
    return ("… " if words[0].islower() else "") + _marked_up(words) + ("" if words.endswith((".", "?", "!")) else " …")


def _row(first: str, *cells: str) -> str:
    place = 'style="text-align:left;vertical-align:top;font-weight:normal"'
    return f'<tr><th scope="row" {place}>{first}</th>' + "".join(f"<td {place}>{cell}</td>" for cell in cells) + "</tr>"


def _table(rows: Sequence[str], *heads: str, caption: str) -> str:
    head = "".join(f'<th scope="col" style="text-align:left">{name}</th>' for name in heads)
    caption = f'<caption style="text-align:left;caption-side:top">{caption}</caption>'
    return f"<table>{caption}<thead><tr>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table>"
