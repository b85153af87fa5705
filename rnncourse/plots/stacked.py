"""Pictures of unit 08: the graph of a stack, what its layers do character by character, and networks over seeds."""

from collections.abc import Mapping, Sequence

import numpy as np
from jaxtyping import Float
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

from .charts import _chart, _colour_bar, _name_rows
from .drawing import RADIUS, Drawing
from .style import COLOURS, INK, MUTED, described, style

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
    words = f"The unfolded graph of {layers} layers over {steps} steps. Inputs x at the bottom go through U1 into the "
    words += (
        "states of layer 1. The states of each layer go on in time through its W, and up through the next layer's U."
    )
    if backward:
        words += " Beside every arrow a dashed one runs back: to the state before it in time, and to what was read."
    if dropout:
        words += " The arrows from layer to layer are dashed: there dropout stands, and not in time or at the inputs."
    return described(sheet.figure, words)


def change_strips(text: Sequence[str], changes: Mapping[str, Float[np.ndarray, "T"]], most: int = 48) -> Figure:
    """How far each layer's state moves at each character of `text`: a strip for each layer, darker is further.

    Each strip is scaled by its own largest change; of a longer text its first `most` characters are shown.
    """
    text, names = text[:most], list(changes)
    rows = np.stack([np.asarray(changes[name], float)[:most] for name in names])
    rows = rows / np.maximum(rows.max(axis=1, keepdims=True), 1e-12)
    shown = [{"\n": "⏎", " ": "␣"}.get(character, character) for character in text]
    figure, axes = _chart((0.155 * max(len(text), 20) + 2.0, 1.3 + 0.45 * len(names)), "character just read")
    with style():
        image = axes.imshow(rows[::-1], cmap=CHANGE, vmin=0, vmax=1, aspect="auto")
        axes.set_yticks(range(len(names)), names[::-1])
        axes.set_xticks(range(len(text)), shown, fontfamily="DejaVu Sans Mono", fontsize=11)
        axes.grid(False)
        axes.tick_params(length=0)
        _colour_bar(figure, image, axes, "change", 0.015, ticks=[0, 1])
    told = [
        f"{name} most at {' '.join(shown[i] for i in sorted(np.argsort(-row, kind='stable')[:6]))}"
        for name, row in zip(names, rows, strict=True)
    ]
    return described(
        figure, f"{len(names)} strips over {len(text)} characters, darker where a layer moves more: {'; '.join(told)}."
    )


def runs_over_seeds(
    yours: Mapping[str, float], ours: Mapping[str, Sequence[float]], *, xlabel: str, log: bool = False
) -> Figure:
    """A row for each network: a diamond for your run, a dot for each of our seeds, if any, a line at their median."""
    names = list(yours)
    figure, axes = _chart((9.0, 1.15 + 0.42 * len(names)), xlabel)
    with style():
        for row, name in enumerate(names):
            values = sorted(ours.get(name, ()))
            if values:
                apart = np.linspace(-0.18, 0.18, len(values)) if len(values) > 1 else np.zeros(1)
                apart = apart[np.argsort(np.arange(len(values)) * 7 % len(values), kind="stable")]
                axes.plot(values, row + apart, "o", color=COLOURS["W"], ms=4.5, alpha=0.55, mew=0)
                axes.plot([np.median(values)] * 2, [row - 0.34, row + 0.34], color=INK, lw=1.8)
            axes.plot(yours[name], row, "D", color=COLOURS["U"], ms=9, mfc="none", mew=1.8)
        if log:
            axes.set_xscale("log")
            axes.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5), numticks=12))
            axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
            axes.xaxis.set_minor_formatter(NullFormatter())
        _name_rows(axes, names)
        note = "diamonds: yours" + ("; dots: our seeds, and their median" if any(n in ours for n in names) else "")
        axes.text(1.0, 1.01, note, transform=axes.transAxes, ha="right", va="bottom", color=MUTED, fontsize=11)
    told = [
        f"{name}: yours {yours[name]:.3g}"
        + (
            f", ours {np.median(ours[name]):.3g} ({min(ours[name]):.3g} to {max(ours[name]):.3g})"
            if name in ours
            else ""
        )
        for name in names
    ]
    scale = " (logarithmic)" if log else ""
    return described(
        figure,
        f"A row of dots for each network, {xlabel}{scale}, with the median and range of our seeds: {'; '.join(told)}.",
    )
