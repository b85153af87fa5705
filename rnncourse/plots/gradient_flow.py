"""Pictures of unit 05: errors that vanish and explode, a gradient that is clipped, and three ways to walk back."""

from collections.abc import Mapping
from itertools import pairwise

import numpy as np
from jaxtyping import Float, Real
from matplotlib.figure import Figure
from matplotlib.patches import Circle

from .charts import _looks, _pad
from .drawing import Drawing
from .style import COLOURS, INK, MUTED, readable, style

__all__ = ["clipped_step", "norms_by_distance", "three_ways_back"]

LOWEST, HIGHEST = 1e-12, 1e8


def norms_by_distance(panels: Mapping[str, Mapping[str, Float[np.ndarray, "T"]]]) -> Figure:
    """Side by side, the norm of the error against the distance that it has come: norms run from step 1 to T.

    `panels` is, say, {"linear": {"ρ = 0.5": norms, …}, "tanh": {…}}; each line begins at 1. Lines of one name look the
    same in all panels, and are named in a legend.
    """
    with style():
        figure = Figure(figsize=(1.2 + 3.9 * len(panels), 4.0), layout="constrained")
        _pad(figure)
        for axes, (title, lines) in zip(
            figure.subplots(1, len(panels), sharey=True, squeeze=False)[0], panels.items(), strict=True
        ):
            for look, (name, norms) in zip(_looks(len(lines)), lines.items(), strict=True):
                axes.plot(norms[::-1] / norms[-1], label=name, **look, markevery=10)
            axes.set(yscale="log", ylim=(LOWEST, HIGHEST), xlabel="distance (steps back from the loss)", title=title)
            axes.set_yticks([1e-12, 1e-8, 1e-4, 1, 1e4, 1e8])
            axes.minorticks_off()
        figure.axes[0].set_ylabel(r"size of the error, $\|dh_t\| / \|dh_T\|$")
        figure.axes[-1].legend(loc="upper left", bbox_to_anchor=(1.0, 1.0), handlelength=3.2)
    return figure


def clipped_step(gradient: Real[np.ndarray, "2"], limit: float) -> Figure:
    """A gradient in the plane of two parameters, clipped by its norm, which keeps its direction, and by value."""
    norm = float(np.sqrt((gradient**2).sum()))
    arrows = (  # where each ends, its name, where the name stands
        (gradient, "gradient", INK, (4, 6), "left"),
        (gradient * limit / norm, "clipped by norm", COLOURS["V"], (6, -16), "left"),
        (gradient.clip(-limit, limit), "clipped by value", COLOURS["W"], (4, 6), "left"),
    )
    with style():
        figure = Figure(figsize=(6.5, 3.5), layout="constrained")
        _pad(figure)
        axes = figure.add_subplot()
        axes.set_aspect("equal")
        axes.add_patch(Circle((0, 0), limit, fill=False, edgecolor=MUTED, lw=1.2, linestyle=(0, (4, 3))))
        axes.annotate("max_norm", (0, -limit), (0, 14), textcoords="offset points", color=MUTED, ha="center")
        for end, name, colour, at, align in arrows:
            axes.annotate(
                "", tuple(end), (0, 0), arrowprops={"arrowstyle": "-|>", "color": colour, "lw": 2.2, "shrinkA": 0}
            )
            axes.annotate(name, tuple(end), at, textcoords="offset points", color=readable(colour), ha=align)
        axes.set(xlim=(-1.4 * limit, gradient[0] + limit), ylim=(-1.2 * limit, max(gradient[1], limit) + 0.3 * limit))
        axes.set(xlabel="gradient of parameter 1", ylabel="gradient of parameter 2")
    return figure


def three_ways_back(steps: int = 9, size: int = 3) -> Figure:
    """Full, truncated and checkpointed BPTT over `steps` steps, in chunks of `size`.

    A filled state is in memory while the errors walk through the last chunk. Dashed: the way of the errors; a bar cuts
    it.
    """
    gap, left, height, last = 0.78, 2.75, 1.35, steps - size
    sheet = Drawing(left + gap * steps + 0.4, 3 * height + 0.35)
    ways: tuple[tuple[str, str, set[int], set[int]], ...] = (
        ("full", "every state is kept", set(range(steps + 1)), set()),
        (
            "truncated",
            "one chunk is kept; errors\nstop at its border",
            set(range(last, steps + 1)),
            set(range(size, steps, size)),
        ),
        (
            "checkpointed",
            f"one state in {size} is kept,\neach chunk is run again",
            set(range(0, last, size)) | set(range(last, steps + 1)),
            set(),
        ),
    )
    for i, (name, note, kept, cut) in enumerate(ways):
        y = (2 - i) * height + 1.15
        sheet.text(0.2, y + 0.27, name, align="left", weight="bold")
        sheet.text(0.2, y - 0.14 if "\n" in note else y - 0.02, note, MUTED, 11, align="left")
        nodes = [
            sheet.node(left + gap * t, y, f"$h_{{{t}}}$", "state" if t in kept else "faint", radius=0.25)
            for t in range(steps + 1)
        ]
        for t, (a, b) in enumerate(pairwise(nodes)):
            sheet.arrow(a, b, colour=COLOURS["state"])
            if t in cut:
                sheet.line(((a.x + b.x) / 2, y - 0.55), ((a.x + b.x) / 2, y - 0.29), COLOURS["gradient"], 2.2)
            else:
                sheet.arrow((b.x - 0.06, y - 0.42), (a.x + 0.06, y - 0.42), colour=COLOURS["gradient"], dashed=True)
    sheet.text(left - 0.25, 0.25, "dashed: errors on their way back", COLOURS["gradient"], align="left")
    sheet.text(left + 3.6, 0.25, "filled: in memory, during the last chunk", COLOURS["state"], align="left")
    return sheet.figure
