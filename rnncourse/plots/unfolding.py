"""Pictures of unit 02: what reaches one output in a convolution and in a recurrence, and clouds of states."""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Real
from matplotlib.figure import Figure

from .charts import _chart
from .drawing import Drawing, Shape
from .style import COLOURS, MUTED, style

__all__ = ["convolution_beside_recurrence", "point_cloud"]

GAP = 0.98  # from one step to the next


def convolution_beside_recurrence(steps: int = 5, target: int = 4) -> Figure:
    """The graphs of a convolution of width 3 and of a recurrence; in colour, all that reaches output `target`."""
    span = GAP * (steps - 1)
    sheet = Drawing(2 * span + 3.0, 2.7)
    low, high, first, second = 1.0, 2.2, 0.45, 0.45 + span + 2.1

    inputs = _row(sheet, first, low, "x", steps, {target - 1, target, target + 1}, "input")
    outputs = _row(sheet, first, high, "y", steps, {target}, "output")
    for t in range(steps):
        for k in range(max(t - 1, 0), min(t + 2, steps)):
            lit = t + 1 == target
            sheet.arrow(inputs[k], outputs[t], colour=COLOURS["input" if lit else "faint"])
    sheet.text(first - 0.31, 0.3, f"convolution, width 3: what reaches $y_{target}$", MUTED, align="left")

    reached = set(range(1, target + 1))
    inputs = _row(sheet, second, low, "x", steps, reached, "input")
    start = sheet.node(second - GAP, high, "$s_0$", "state")
    states = [start, *_row(sheet, second, high, "s", steps, reached, "state")]
    for t in range(1, steps + 1):
        lit = t in reached
        sheet.arrow(inputs[t - 1], states[t], colour=COLOURS["input" if lit else "faint"])
        sheet.arrow(states[t - 1], states[t], colour=COLOURS["state" if lit else "faint"])
    sheet.text(second - 0.31, 0.3, f"recurrence: what reaches $s_{target}$", MUTED, align="left")
    return sheet.figure


def _row(sheet: Drawing, left: float, y: float, letter: str, steps: int, lit: set[int], kind: str) -> list[Shape]:
    """The nodes letter_1, letter_2 … from `left` on; those in `lit` have their colour, the others are faint."""
    return [
        sheet.node(left + GAP * t, y, f"${letter}_{{{t + 1}}}$", kind if t + 1 in lit else "faint")
        for t in range(steps)
    ]


def point_cloud(
    x: Real[np.ndarray, "K"] | Sequence,
    y: Real[np.ndarray, "K"] | Sequence,
    *,
    xlabel: str,
    ylabel: str,
    title: str = "",
    size: tuple[float, float] = (8.0, 4.6),
    dot: float = 0.3,
) -> Figure:
    """Many small points (x, y); `dot` is the area of one."""
    figure, axes = _chart(size, xlabel, ylabel, title)
    axes.grid(False)
    with style():
        axes.plot(x, y, ".", color=COLOURS["input"], ms=np.sqrt(dot), mew=0)
    return figure
