"""Pictures of unit 05: errors that vanish and explode, a clipped gradient, ways to walk back, and what was recalled."""

from collections.abc import Mapping, Sequence
from itertools import pairwise

import numpy as np
from jaxtyping import Float, Int, Real
from matplotlib.figure import Figure
from matplotlib.patches import Circle

from .charts import _chart, _looks, _name_ends, _pad
from .drawing import Drawing
from .style import COLOURS, CYCLE, INK, MUTED, readable, style

__all__ = ["clipped_step", "norms_by_distance", "over_seeds", "seed_dots", "states_in_a_plane", "three_ways_back"]

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


def over_seeds(
    x: Sequence[float],
    lines: Mapping[str, Float[np.ndarray, "S K"]],
    *,
    xlabel: str,
    ylabel: str = "share of right answers",
    title: str = "",
    logx: bool = False,
    trained: tuple[float, float] | None = None,
    guess: float = 0.25,
) -> Figure:
    """Shares of right answers (seeds, K) over the K values of x: the median as a line, lowest to highest as a band.

    `trained` shades the values of x from which to which the networks were trained; `guess` is what chance gives.
    """
    figure, axes = _chart((8.0, 4.4), xlabel, ylabel, title)
    if logx:
        axes.set_xscale("log")
    with style():
        for look, values in zip(_looks(len(lines)), lines.values(), strict=True):
            axes.plot(x, np.median(values, axis=0), **look)
        axes.set(ylim=(-0.02, 1.05))
        _name_ends(axes, lines)
        for look, values in zip(_looks(len(lines)), lines.values(), strict=True):
            axes.fill_between(x, values.min(axis=0), values.max(axis=0), color=look["color"], alpha=0.15, lw=0)
        axes.axhline(guess, color=MUTED, lw=1.2, linestyle=(0, (4, 3)), zorder=0)
        axes.annotate(
            "a guess",
            (0.995, guess),
            (0, -12),
            xycoords=("axes fraction", "data"),
            ha="right",
            va="top",
            textcoords="offset points",
            color=MUTED,
            fontsize=10,
        )
        if trained is not None:
            axes.axvspan(*trained, color=COLOURS["faint"], alpha=0.35, lw=0, zorder=0)
            middle = float(np.sqrt(trained[0] * trained[1])) if logx else sum(trained) / 2
            axes.annotate(
                f"trained on {trained[0]:g} to {trained[1]:g}", (middle, 0.03), ha="center", color=MUTED, fontsize=10
            )
        if logx:
            axes.set_xticks(list(x), [f"{one:,g}" for one in x])
            axes.minorticks_off()
    return figure


def seed_dots(
    rows: Mapping[str, Sequence[float]],
    *,
    xlabel: str,
    title: str = "",
    marks: Sequence[float] = (0.25, 0.5, 0.75, 1.0),
) -> Figure:
    """A row for each setting with a dot for each seed, those of one value side by side; `marks` are drawn as lines.

    The median is a short upright line.
    """
    figure, axes = _chart((8.0, 0.9 + 0.36 * len(rows)), xlabel, "", title)
    with style():
        for mark in marks:
            axes.axvline(mark, color=COLOURS["faint"], lw=1, zorder=0)
        for row, values in enumerate(rows.values()):
            seen: dict[int, int] = {}
            for value in sorted(values):
                place = round(value / 0.02)  # dots nearer than this would touch, and are moved apart
                seen[place] = seen.get(place, 0) + 1
                up = (seen[place] // 2) * (-1) ** seen[place]
                axes.plot(value, row + 0.1 * up, "o", color=COLOURS["W"], ms=4.5, alpha=0.75, mew=0)
            axes.plot([np.median(values)] * 2, [row - 0.42, row + 0.42], color=MUTED, lw=1.6, zorder=1)
        axes.set(xlim=(-0.03, 1.04), ylim=(len(rows) - 0.4, -0.6), xticks=[0, *marks])
        axes.set_yticks(range(len(rows)), list(rows))
        axes.grid(False)
    return figure


def states_in_a_plane(
    panels: Mapping[str, tuple[Float[np.ndarray, "T K 2"], Float[np.ndarray, "N 2"], Int[np.ndarray, "N"]]],
) -> Figure:
    """Side by side: the paths of K symbols' states in silence, and N states in noise, each of the colour of its symbol.

    A panel is (paths, states in noise, their symbols). A ring is where a path begins, a large dot where it ends.
    """
    colours = [look["color"] for look in CYCLE]
    with style():
        figure = Figure(figsize=(1.0 + 4.1 * len(panels), 4.3), layout="constrained")
        _pad(figure)
        for axes, (title, (paths, cloud, symbols)) in zip(
            figure.subplots(1, len(panels), sharex=True, sharey=True, squeeze=False)[0], panels.items(), strict=True
        ):
            for k in range(paths.shape[1]):
                axes.plot(*cloud[symbols == k].T, "o", color=colours[k], ms=3.2, alpha=0.4, mew=0)
            for k in range(paths.shape[1]):
                axes.plot(*paths[:, k].T, color=colours[k], lw=1.4, linestyle=CYCLE[k]["linestyle"])
                axes.plot(*paths[0, k], "o", mfc="white", mec=colours[k], mew=1.6, ms=7)
            for k in range(paths.shape[1]):
                name = f"symbol {k}" if axes is figure.axes[-1] else None
                axes.plot(*paths[-1, k], CYCLE[k]["marker"], color=colours[k], ms=9, mec="white", mew=1, label=name)
            axes.set(title=title, xlabel="first direction of the state")
            axes.set_aspect("equal")
        figure.axes[0].set_ylabel("second direction")
        figure.axes[-1].legend(loc="upper left", bbox_to_anchor=(1.0, 1.0), handlelength=1.2)
    return figure
