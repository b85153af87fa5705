"""Pictures of unit 14: scan and loop side by side, Newton's rounds, what a state keeps, and how much it holds."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from jaxtyping import Float
from matplotlib.figure import Figure

from .charts import _chart, _panels, line_chart
from .drawing import Drawing, Shape
from .style import COLOURS, CYCLE, MUTED, described, style


def scan_beside_loop(steps: int = 8) -> Figure:
    """The same prefixes twice: on the left one map after the other, on the right all at a time in rounds.

    A column is a time step, a row what can happen at once. A filled dot combines what comes in from above on its left
    with its own column.
    """
    across, down, gap = 0.54, 0.5, 1.2
    rounds = max(steps - 1, 1).bit_length()
    width = across * (steps - 1)
    height = down * (steps - 1)
    sheet = Drawing(2 * width + gap + 1.7, height + 1.75)
    top = height + 0.85
    for begin, title in ((0.85, "the loop"), (0.85 + width + gap, "the scan")):
        sheet.text(begin + width / 2, top + 0.62, title, size=13)
        for t in range(steps):
            sheet.dot(begin + across * t, top, "input")
            sheet.text(begin + across * t, top + 0.28, f"{t + 1}", MUTED, size=12)
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
    alt = (
        f"Two diagrams over {steps} columns. Left, the loop: a staircase of {steps - 1} dots, each waiting for the one "
        f"before, in {steps - 1} rows. Right, the scan: in each row every column takes in one to its left, at distance "
        f"1 in the first row and twice as far in each row below; {rounds} rows in all."
    )
    return described(sheet.figure, alt)


def _dot(sheet: Drawing, x: float, y: float) -> Shape:
    return sheet.dot(x, y, "state", radius=0.1)


def depth_chart(lengths: Sequence[int], depths: Mapping[str, Sequence[int]]) -> Figure:
    """How many operations wait for one another, against the number of steps, on two logarithmic axes."""
    axes: dict[str, Any] = {"xlabel": "T (time steps)", "ylabel": "operations in a row"}
    ends = "; ".join(f"{name} {values[-1]:,}" for name, values in depths.items())
    alt = f"Operations that wait for one another against T, on two log scales. At {lengths[-1]:,} steps: {ends}."
    return line_chart(lengths, depths, **axes, logx=True, logy=True, size=(8.0, 3.6), alt=alt)


def speed_chart(steps: Sequence[int], ratios: Mapping[str, Sequence[float]]) -> Figure:
    """How many times as long as the scan the loop takes; rows that are shorter than `steps` end earlier."""
    lines = {name: [*values, *[np.nan] * (len(steps) - len(values))] for name, values in ratios.items()}
    axes: dict[str, Any] = {"xlabel": "T (time steps)", "ylabel": "time of loop / time of scan"}
    ends = "; ".join(
        f"{' '.join(name.split())}: {values[0]:.1g} at {steps[0]} steps, {values[-1]:.1g} at {steps[len(values) - 1]:,}"
        for name, values in ratios.items()
    )
    alt = f"How many times as long as the scan the loop takes, on two log scales. {ends}."
    lines["equal"] = [1.0] * len(steps)
    return line_chart(steps, lines, **axes, logx=True, logy=True, size=(8.0, 3.6), alt=alt)


def newton_chart(runs: Mapping[str, Sequence[float]]) -> Figure:
    """The largest error of all states against Newton's rounds, for several runs, on a logarithmic axis."""
    figure, axes = _chart((8.0, 3.8), "rounds", "largest error of all states")
    with style():
        for look, (name, errors) in zip(CYCLE, runs.items(), strict=False):
            axes.plot(range(1, len(errors) + 1), errors, **{**look, "marker": ""}, label=name, lw=2.2)
        axes.axhline(1e-10, color=MUTED, lw=1.2, linestyle=(0, (4, 3)))
        axes.set(yscale="log", ylim=(1e-16, 1e3))
        axes.legend(loc="center right")
    said = "; ".join(
        f"{name}: "
        + (f"1e-10 after {len(e)} rounds" if e[-1] <= 1e-10 else f"never, {min(e[-1], 1e99):.0e} at the end")
        for name, e in runs.items()
    )
    return described(figure, f"The largest error of all states against rounds, on a logarithmic axis. {said}.")


def memory_beside_push(kept: Mapping[str, tuple[Float[np.ndarray, "T"], Float[np.ndarray, "T"]]]) -> Figure:
    """A panel for each network: how far two symbols' states are apart, and how much is left of a push, step by step."""
    figure, panels = _panels((9.75, 3.3), columns=len(kept), sharey=True)
    with style():
        for axes, (name, (memory, push)) in zip(panels, kept.items(), strict=True):
            axes.plot(np.maximum(memory, 1e-8), color=COLOURS["W"], lw=2.4, label="memory")
            axes.plot(np.maximum(push, 1e-8), color=COLOURS["V"], lw=2.4, linestyle=(0, (3, 1.5)), label="push")
            axes.set(yscale="log", title=name, xlabel="steps of noise", ylim=(1e-8, 10))
        panels[0].set_ylabel("distance of two states")
        panels[0].legend(loc="center right")
    said = "; ".join(
        f"{name}: memory {memory[0]:.1g}, at the end {memory[-1]:.1g}, push {push[0]:.1g}, at the end {push[-1]:.1g}"
        for name, (memory, push) in kept.items()
    )
    return described(figure, f"Memory and push against steps of noise, on a logarithmic axis. {said}.")


def pairs_chart(stored: Sequence[int], found: Mapping[str, Sequence[float]], guess: float) -> Figure:
    """The share of stored pairs that are found again against their number, with a line where a guess is."""
    lines = dict(found) | {"a guess": [guess] * len(stored)}
    axes: dict[str, Any] = {"xlabel": "pairs that are stored", "ylabel": "share of right values"}
    figure = line_chart(stored, lines, **axes, logx=True, ylim=(0, 1.05), size=(8.0, 3.6))
    figure.axes[0].set_xticks(list(stored), [str(n) for n in stored])
    figure.axes[0].minorticks_off()
    ends = "; ".join(f"{' '.join(name.split())} {values[-1]:.2f}" for name, values in lines.items())
    return described(figure, f"Share of values found again against the number of pairs. At {stored[-1]} pairs: {ends}.")


def kernel_chart(kernel: Float[np.ndarray, "T"]) -> Figure:
    """What a filter answers to a single knock, step by step."""
    axes: dict[str, Any] = {"xlabel": "steps after the knock", "ylabel": "answer"}
    turns = int(np.sum(np.diff(np.sign(kernel[np.abs(kernel) > 1e-9])) != 0))
    peak = int(np.argmax(np.abs(kernel)))
    alt = (
        f"The answer of a filter to a single knock, over {len(kernel)} steps: {kernel[0]:.2g} at first, furthest "
        f"from 0 at step {peak} with {kernel[peak]:.2g}, {kernel[-1]:.1g} at the end; {turns} changes of sign."
    )
    return line_chart(range(len(kernel)), {"kernel": kernel}, **axes, size=(8.0, 2.8), alt=alt)
