"""Pictures of unit 08: the graph of a stack, what its layers do character by character, and bars side by side."""

from collections.abc import Mapping, Sequence

import numpy as np
from jaxtyping import Float
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

from .drawing import RADIUS, Drawing
from .style import COLOURS, CYCLE, MUTED, style

__all__ = ["change_strips", "dots_by_depth", "stack_graph"]

STEP = 1.9
RISE = 1.25
SHIFT = 0.09  # a gradient runs beside the arrow that it goes back along
CHANGE = LinearSegmentedColormap.from_list("change", ["#FFFFFF", COLOURS["state"], "#6B2A00"])


def stack_graph(layers: int = 2, steps: int = 3, *, backward: bool = False, dropout: bool = False) -> Figure:
    """The unfolded graph of a stack: time to the right, layers upwards, each with a U and a W of its own.

    backward: draw the way of the gradient too. dropout: mark the arrows that dropout stands on.
    """
    left, bottom = 0.65, 0.95 if backward or dropout else 0.5
    sheet = Drawing(left + STEP * steps + 2.2, bottom + RISE * layers + 0.55)
    xs = [left + STEP * t for t in range(steps + 1)]
    below = [sheet.node(x, bottom, f"$x_{t}$", "input") for t, x in enumerate(xs[1:], start=1)]
    for l in range(1, layers + 1):
        level = bottom + RISE * l
        before = sheet.node(left, level, f"$h_0^{l}$", "plain")
        states = [sheet.node(x, level, f"$h_{t}^{l}$", "state") for t, x in enumerate(xs[1:], start=1)]
        dropped = dropout and l > 1
        for read, state in zip(below, states, strict=True):
            for a, b, name, colour in ((read, state, f"$U^{l}$", "U"), (before, state, f"$W^{l}$", "W")):
                marked = dropped and a is read
                sheet.arrow(
                    a, b, name, colour=COLOURS[colour], shift=SHIFT if backward else 0, dashed=marked, side=1.35
                )
                if backward:
                    sheet.arrow(b, a, colour=COLOURS["gradient"], dashed=True, shift=SHIFT)
            before = state
        sheet.text(xs[-1] + 0.5, level, f"layer {l}", MUTED, align="left")
        below = states
    sheet.text(xs[-1] + 0.5, bottom, "inputs", MUTED, align="left")
    if backward:
        sheet.text(
            left - RADIUS, 0.25, "dashed: the gradient, back in time and down", COLOURS["gradient"], align="left"
        )
    if dropout:
        sheet.text(left - RADIUS, 0.25, "dashed: here dropout stands, and nowhere else", COLOURS["input"], align="left")
    return sheet.figure


def change_strips(text: Sequence[str], changes: Mapping[str, Float[np.ndarray, "T"]], *, title: str = "") -> Figure:
    """How far each layer's state moves at each character of `text`: a strip for each layer, darker is further.

    Each strip is scaled by its own largest change.
    """
    names = list(changes)
    rows = np.stack([np.asarray(changes[name], float) / max(changes[name]) for name in names])
    with style():
        figure = Figure(figsize=(0.155 * len(text) + 2.0, 1.5 + 0.45 * len(names)), layout="constrained")
        axes = figure.add_subplot()
        image = axes.imshow(rows[::-1], cmap=CHANGE, vmin=0, vmax=1, aspect="auto")
        axes.set_yticks(range(len(names)), names[::-1])
        shown = [{"\n": "⏎", " ": "␣"}.get(character, character) for character in text]
        axes.set_xticks(range(len(text)), shown, fontfamily="DejaVu Sans Mono", fontsize=11)
        axes.set(xlabel="character just read", title=title)
        axes.grid(False)
        axes.tick_params(length=0)
        bar = figure.colorbar(image, ax=axes, pad=0.015, ticks=[0, 1])
        bar.set_label("change")
        bar.outline.set_visible(False)
    return figure


def dots_by_depth(
    depths: Sequence[int],
    runs: Mapping[str, Mapping[int, Sequence[float]]],
    *,
    ylabel: str,
    xlabel: str = "layers",
    title: str = "",
    logy: bool = False,
    widths: Mapping[int, int] | None = None,
) -> Figure:
    """One dot for each run, above its depth, and a line through the medians; one colour for each entry of `runs`.

    `widths` says how many units a layer has at each depth, if that is to be read below the axis.
    """
    with style():
        figure = Figure(figsize=(7.0, 4.2), layout="constrained")
        axes = figure.add_subplot()
        for k, (name, results) in enumerate(runs.items()):
            look = CYCLE[k % len(CYCLE)]
            places = np.arange(len(depths)) + 0.08 * (k - (len(runs) - 1) / 2)
            for place, depth in zip(places, depths, strict=True):
                axes.plot(
                    [place] * len(results[depth]), results[depth], look["marker"], color=look["color"], alpha=0.55
                )
            middle = [float(np.median(results[depth])) for depth in depths]
            axes.plot(places, middle, color=look["color"], linestyle=look["linestyle"], label=name)
        if logy:
            axes.set_yscale("log")
            axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
            axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
            axes.yaxis.set_minor_formatter(NullFormatter())
        labels = [f"{d}\n({widths[d]} units each)" if widths else f"{d}" for d in depths]
        axes.set_xticks(range(len(depths)), labels)
        axes.set(xlabel=xlabel, ylabel=ylabel, title=title)
        if len(runs) > 1:
            axes.legend()
    return figure
