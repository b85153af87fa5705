"""Pictures of unit 02: what reaches an output, what sharing saves, and the states of a pond."""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Real
from matplotlib.figure import Figure

from .charts import _chart, line_chart
from .drawing import Drawing, Shape
from .style import COLOURS, MUTED, described, style

GAP = 0.94  # from one step to the next


def convolution_beside_recurrence() -> Figure:
    """The graphs of a convolution of width 3 and of a recurrence; in colour, all that reaches the fourth output."""
    steps, target = 5, 4
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
    window = ", ".join(f"x_{t}" for t in range(max(target - 1, 1), min(target + 1, steps) + 1))
    past = ", ".join(f"x_{t}" for t in range(1, target + 1))
    return described(
        sheet.figure,
        f"Left, a convolution of width 3: every output y is joined to three inputs; y_{target} is reached by {window}. "
        f"Right, a recurrence: every state is joined to its input and to the state before it; s_{target} is reached "
        f"by {past} and by s_0.",
    )


def _row(sheet: Drawing, left: float, y: float, letter: str, steps: int, lit: set[int], kind: str) -> list[Shape]:
    """The nodes letter_1, letter_2 … from `left` on; those in `lit` have their colour, the others are faint."""
    return [
        sheet.node(left + GAP * t, y, f"${letter}_{{{t + 1}}}$", kind if t + 1 in lit else "faint")
        for t in range(steps)
    ]


def error_by_examples(counts: Sequence[int], errors: Real[np.ndarray, "K 2"]) -> Figure:
    """The error of shared weights and of a set for each step, (K, 2), by the number of sequences seen, K of them."""
    lines = {"shared by all steps": np.asarray(errors)[:, 0], "a set for each step": np.asarray(errors)[:, 1]}
    seen, wrong = "sequences of 20 steps that were seen", "error on new sequences"
    return line_chart(counts, lines, xlabel=seen, ylabel=wrong, logx=True, logy=True)


def pond_years(states: Real[np.ndarray, "K"], r: float) -> Figure:
    """One pond of growth rate r, year by year."""
    years = {f"r = {r:.2f}": states}
    return line_chart(range(len(states)), years, xlabel="time step t (years)", ylabel="state s", ylim=(0, 1))


def pond_cloud(rates: Real[np.ndarray, "R"], late: Real[np.ndarray, "K R"]) -> Figure:
    """The states that ponds keep visiting, the last K years of each, above their growth rates; a dot for each state."""
    figure, axes = _chart((8.6, 5.0), "growth rate r", f"states of the last {len(late)} years")
    axes.grid(False)
    with style():
        axes.plot(np.tile(rates, len(late)), np.ravel(late), ".", color=COLOURS["input"], ms=0.5, mew=0)
    visited = np.array([len(set(column)) for column in np.round(late, 4).T])
    told = ", ".join(f"{visited[np.abs(rates - r).argmin()]} at r = {r:g}" for r in (2.8, 3.2, 3.5, 3.9))
    return described(
        figure, f"The states that a pond keeps visiting, against its growth rate r. How many there are: {told}."
    )
