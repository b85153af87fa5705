"""Pictures of unit 05: errors that vanish and explode, a cliff, ways to walk back, and what was recalled."""

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from jaxtyping import Float, Int, Real
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure
from matplotlib.patches import Circle

from .charts import _chart, _colour_bar, _looks, _name_ends, _panels, cost_chart, loglog_slope
from .drawing import Drawing
from .style import COLOURS, CYCLE, INK, MUTED, described, readable, style

LOSSES = LinearSegmentedColormap.from_list("losses", ["#FFFFFF", "#D9BBD0", COLOURS["loss"]])

LOWEST, HIGHEST = 1e-12, 1e8


def norms_by_distance(panels: Mapping[str, Mapping[str, Float[np.ndarray, "T"]]]) -> Figure:
    """Side by side, the norm of the error against the distance that it has come: norms run from step 1 to T.

    `panels` is, say, {"linear": {"ρ = 0.5": norms, …}, "tanh": {…}}; each line begins at 1. Lines of one name look the
    same in all panels, and are named in a legend.
    """
    figure, drawn = _panels((1.2 + 3.9 * len(panels), 4.0), columns=len(panels), sharey=True)
    with style():
        for axes, (title, lines) in zip(drawn, panels.items(), strict=True):
            for look, (name, norms) in zip(_looks(len(lines)), lines.items(), strict=True):
                axes.plot(norms[::-1] / norms[-1], label=name, **look, markevery=10)
            axes.set(yscale="log", ylim=(LOWEST, HIGHEST), xlabel="distance (steps back from the loss)", title=title)
            axes.set_yticks([1e-12, 1e-8, 1e-4, 1, 1e4, 1e8])
            axes.minorticks_off()
        figure.axes[0].set_ylabel(r"size of the error, $\|dh_t\| / \|dh_T\|$")
        figure.axes[-1].legend(loc="upper left", bbox_to_anchor=(1.0, 1.0), handlelength=3.2)
    told = [
        f"{title}: "
        + ", ".join(
            f"{name} ends at {norms[0] / norms[-1]:.0e}" if norms[-1] else name for name, norms in lines.items()
        )
        for title, lines in panels.items()
    ]
    steps = len(next(iter(next(iter(panels.values())).values()))) - 1
    return described(
        figure,
        f"Size of the error against the distance that it has come, up to {steps} steps, on a logarithmic axis; it "
        f"begins at 1. {'. '.join(told)}.",
    )


def latch_cliff(loss: Callable[..., Any], paths: Mapping[str, Float[np.ndarray, "updates 4"]]) -> Figure:
    """The loss of one unit over its w and b, with paths of training on it; and beside it a cut along w = 1.2.

    loss: w, b -> the loss and its slopes, for arrays. A path has rows of w, b, loss, and the gradient's norm.
    """
    ws, bs = np.linspace(0.5, 2.6, 300), np.linspace(-1.2, 1.2, 300)
    figure, (axes, cut) = _panels((9.0, 4.4), columns=2, width_ratios=(1.5, 1))
    with style():
        surface = axes.pcolormesh(ws, bs, loss(*np.meshgrid(ws, bs))[0], cmap=LOSSES, vmin=0, vmax=2, rasterized=True)
        _colour_bar(figure, surface, axes, "loss")
        for i, (look, (name, path)) in enumerate(zip(_looks(len(paths)), paths.items(), strict=True)):
            axes.plot(
                *path[:, :2].T, look["marker"], color=look["color"], linestyle="-", ms=4 - i, lw=3.5 - 2 * i, label=name
            )
        start = next(iter(paths.values()))[0, :2]
        axes.plot(*start, "o", mfc="white", mec=INK, ms=9, mew=1.6)
        axes.annotate("start", tuple(start), (8, 6), textcoords="offset points")
        axes.set(xlim=(0.5, 2.6), ylim=(-1.2, 1.2), xlabel="weight w", ylabel="bias b")
        axes.grid(False)
        axes.legend(loc="lower right", handlelength=2.6, frameon=True, framealpha=0.85)
        values = loss(np.full_like(bs, 1.2), bs)[0]
        cut.plot(bs, values, color=COLOURS["loss"])
        cut.set(xlabel="bias b", ylabel="loss", ylim=(0, 2.1), title="the surface cut at w = 1.2")
    ends = [
        f"{name}: its longest gradient is {path[:, 3].max():.3g}; it ends at w = {path[-1, 0]:.2f}, "
        f"b = {path[-1, 1]:.2f}, with a loss of {path[-1, 2]:.2g}"
        for name, path in paths.items()
    ]
    return described(
        figure,
        "The loss over weight and bias as shades. A high plateau above and one below, and between them a valley that "
        "opens to the right of w = 1; its walls are steep. Paths of training begin together on the upper plateau and "
        f"reach the tip of the valley. {'. '.join(ends)}. Beside it the cut: the loss drops and rises like a cliff.",
    )


def long_gradients(runs: Mapping[str, tuple[Real[np.ndarray, "U"], Real[np.ndarray, "U"]]], longest: float) -> Figure:
    """The losses of runs over their updates, and below the norms of their gradients, unclipped, on a logarithmic axis.

    A run is (losses, norms); gradients above `longest` bear a mark.
    """
    figure, (above, below) = _panels((8.0, 5.2), 2, sharex=True)
    with style():
        for i, (look, (losses, norms)) in enumerate(zip(_looks(len(runs)), runs.values(), strict=True)):
            plain = {"color": look["color"], "linestyle": look["linestyle"], "lw": 1.4}
            above.plot(losses, **plain)
            below.plot(norms, **plain)
            long = np.flatnonzero(norms > longest)
            below.plot(long, norms[long], look["marker"], color=look["color"], ms=12 - 5 * i, mec="white")
        above.set(ylabel="loss (nats)")
        below.set(xlabel="update", ylabel="length of the gradient", yscale="log")
        below.axhline(longest, color=MUTED, lw=1.2, linestyle=(0, (4, 3)), zorder=0)
        below.annotate(f"{longest:g}", (0, longest), (2, 4), textcoords="offset points", color=MUTED, fontsize=11)
        for axes, which in ((above, 0), (below, 1)):
            axes.set_xlim(0, None)
            handles = [line for line in axes.get_lines() if line.get_linestyle() != "None"][: len(runs)]
            if not which:
                axes.legend(handles, list(runs), loc="upper left", bbox_to_anchor=(1.0, 1.0), handlelength=2.6)
    told = [
        f"{name}: gradients longer than {longest:g}: {int((norms > longest).sum())}, the longest {norms.max():.0f} "
        f"at update {int(norms.argmax())}; the loss ends at {np.mean(losses[-20:]):.2f}"
        for name, (losses, norms) in runs.items()
    ]
    return described(figure, f"Loss and length of the gradient over the updates of a training. {'. '.join(told)}.")


def clipped_step(gradient: Real[np.ndarray, "2"], limit: float) -> Figure:
    """A gradient in the plane of two parameters, clipped by its norm, which keeps its direction, and by value."""
    norm = float(np.sqrt((gradient**2).sum()))
    arrows = (  # where each ends, its name, where the name stands
        (gradient, "gradient", INK, (4, 6), "left"),
        (gradient * limit / norm, "clipped by norm", COLOURS["V"], (6, -16), "left"),
        (gradient.clip(-limit, limit), "clipped by value", COLOURS["W"], (4, 6), "left"),
    )
    figure, axes = _chart((6.5, 3.5), "gradient of parameter 1", "gradient of parameter 2")
    with style():
        axes.set_aspect("equal")
        axes.add_patch(Circle((0, 0), limit, fill=False, edgecolor=MUTED, lw=1.2, linestyle=(0, (4, 3))))
        axes.annotate("max_norm", (0, -limit), (0, 14), textcoords="offset points", color=MUTED, ha="center")
        for end, name, colour, at, align in arrows:
            axes.annotate(
                "", tuple(end), (0, 0), arrowprops={"arrowstyle": "-|>", "color": colour, "lw": 2.2, "shrinkA": 0}
            )
            axes.annotate(name, tuple(end), at, textcoords="offset points", color=readable(colour), ha=align)
        axes.set(xlim=(-1.4 * limit, gradient[0] + limit), ylim=(-1.2 * limit, max(gradient[1], limit) + 0.3 * limit))
    return described(
        figure,
        "A gradient of two parameters as an arrow. Clipped by its norm it becomes shorter and keeps its direction; "
        "with each of its entries clipped by value it points another way.",
    )


def three_ways_back(steps: int = 9, size: int = 3) -> Figure:
    """Full, truncated and checkpointed BPTT over `steps` steps, in chunks of `size`.

    A filled state is in memory while the errors walk through the last chunk. Dashed: the way of the errors; a bar cuts
    it.
    """
    gap, left, height, last = 0.72, 2.65, 1.35, steps - size
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
    sheet.text(left + 3.3, 0.25, "filled: in memory, during the last chunk", COLOURS["state"], align="left")
    return described(
        sheet.figure,
        f"{steps} steps, three ways to walk back. Full: all states are kept, and the error walks from the last to the "
        f"first. Truncated in chunks of {size}: only the states of the last chunk are kept, and the error stops at the "
        f"borders. Checkpointed: one state in {size} is kept and those of the last chunk; the error walks all the way.",
    )


def memory_chart(lengths: Sequence[int], megabytes: Mapping[str, Sequence[float]]) -> Figure:
    """Peak memory of ways to walk back against the number of steps, both logarithmic."""
    figure = cost_chart(lengths, megabytes, ylabel="peak memory (MB)", title="Memory of three ways to walk back")
    told = [f"{name}: slope {loglog_slope(lengths, one) + 0.0:.2f}" for name, one in megabytes.items()]
    return described(figure, f"Peak memory against the number of steps, both logarithmic. {'; '.join(told)}.")


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
            fontsize=11,
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
    told = [
        f"{' '.join(name.split())}: "
        + ", ".join(
            f"{middle:.2f} ({low:.2f} to {high:.2f}) at {one:,g}"
            for one, middle, low, high in zip(
                x, np.median(values, axis=0), values.min(axis=0), values.max(axis=0), strict=True
            )
        )
        for name, values in lines.items()
    ]
    seeds = len(next(iter(lines.values())))
    return described(figure, f"{ylabel} against {xlabel}; median and range of {seeds} seeds. {'. '.join(told)}.")


def what_moves_the_wall(starts: Mapping[str, tuple[Sequence[float], Sequence[float]]]) -> Figure:
    """For each start, how many powers of ten an error loses before training, and the share of right answers after it.

    A start is (powers lost, shares), a number for each seed: a dot each, and the name at their median.
    """
    lost_by = "powers of ten that an error loses over 30 steps, before training"
    figure, axes = _chart((8.0, 4.6), lost_by, "share of right answers")
    with style():
        for look, (name, (lost, right)) in zip(_looks(len(starts)), starts.items(), strict=True):
            axes.plot(
                lost, right, look["marker"], color=look["color"], ms=6, alpha=0.6, mec="white", mew=0.5, label=name
            )
        axes.axhline(0.25, color=MUTED, lw=1.2, linestyle=(0, (4, 3)), zorder=0)
        axes.annotate(
            "a guess", (0.72, 0.25), (0, -14), xycoords=("axes fraction", "data"), textcoords="offset points",
            ha="right", color=MUTED, fontsize=11,
        )  # fmt: skip
        axes.set(ylim=(-0.02, 1.05))
        axes.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0), handlelength=1.2)
    told = [
        f"{name}: {np.median(lost):.1f} lost, {np.median(right):.2f} right ({min(right):.2f} to {max(right):.2f})"
        for name, (lost, right) in starts.items()
    ]
    return described(
        figure, f"Share of right answers at lag 30 against the powers of ten that an error loses. {'; '.join(told)}."
    )


def push_chart(distances: Mapping[str, Float[np.ndarray, "T N"]]) -> Figure:
    """How far each of N states still is from where it was before a push, step by step, on a logarithmic axis."""
    figure, axes = _chart((8.0, 4.0), "steps after the push", "distance from where it was")
    with style():
        for look, (name, far) in zip(_looks(len(distances)), distances.items(), strict=True):
            for k in range(far.shape[1]):
                axes.plot(
                    np.maximum(far[:, k], 1e-6), color=look["color"], linestyle=look["linestyle"], lw=1.6,
                    label=name if k == 0 else None,
                )  # fmt: skip
        axes.set(yscale="log", ylim=(0.7e-6, 30))
        axes.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0), handlelength=2.6)
    told = [f"{name}: {', '.join(f'{one:.2g}' for one in far[-1])}" for name, far in distances.items()]
    return described(
        figure,
        f"How far each state is from where it was before a push, on a logarithmic axis. After {len(far) - 1} steps: "
        f"{'; '.join(told)}.",
    )


def seed_dots(rows: Mapping[str, Sequence[float]], *, xlabel: str) -> Figure:
    """A row for each setting with a dot for each seed, those of one value side by side.

    The median is a short upright line.
    """
    marks = (0.25, 0.5, 0.75, 1.0)
    figure, axes = _chart((8.0, 0.9 + 0.36 * len(rows)), xlabel)
    with style():
        for mark in marks:
            axes.axvline(mark, color=COLOURS["faint"], lw=1, zorder=0)
        for row, values in enumerate(rows.values()):
            seen: dict[int, int] = {}
            most = max(sum(round(v / 0.02) == round(one / 0.02) for v in values) for one in values)
            apart = min(0.1, 0.8 / most)  # so that a row stays in its place
            for value in sorted(values):
                place = round(value / 0.02)  # dots nearer than this would touch, and are moved apart
                seen[place] = seen.get(place, 0) + 1
                up = (seen[place] // 2) * (-1) ** seen[place]
                axes.plot(value, row + apart * up, "o", color=COLOURS["W"], ms=4.5, alpha=0.75, mew=0)
            axes.plot([np.median(values)] * 2, [row - 0.42, row + 0.42], color=MUTED, lw=1.6, zorder=1)
        axes.set(xlim=(-0.03, 1.04), ylim=(len(rows) - 0.4, -0.6), xticks=[0, *marks])
        axes.set_yticks(range(len(rows)), list(rows))
        axes.grid(False)
    told = [f"{' '.join(name.split())} {np.median(v):.2f} ({min(v):.2f} to {max(v):.2f})" for name, v in rows.items()]
    return described(figure, f"A row of dots for each setting, one dot a seed: {xlabel}. Medians: {'; '.join(told)}.")


def states_in_a_plane(
    panels: Mapping[str, tuple[Float[np.ndarray, "T K 2"], Float[np.ndarray, "N 2"], Int[np.ndarray, "N"]]],
) -> Figure:
    """Side by side: the paths of K symbols' states in silence, and N states in noise, each of the colour of its symbol.

    A panel is (paths, states in noise, their symbols). A ring is where a path begins, a large mark where it ends.
    """
    colours = [look["color"] for look in CYCLE]
    figure, drawn = _panels((1.0 + 4.1 * len(panels), 4.3), columns=len(panels), sharex=True, sharey=True)
    with style():
        for axes, (title, (paths, cloud, symbols)) in zip(drawn, panels.items(), strict=True):
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
        kinds: tuple[tuple[dict[str, Any], str], ...] = (
            ({"marker": "o", "mfc": "white", "mec": INK, "mew": 1.6, "ms": 7}, "right after\nthe symbol"),
            ({"marker": "D", "color": INK, "mec": "white", "ms": 9}, f"{len(paths) - 1} steps later,\naverage noise"),
            ({"marker": "o", "color": INK, "alpha": 0.4, "mew": 0, "ms": 3.2}, "one sequence,\nafter real noise"),
        )
        for marks, name in kinds:
            figure.axes[-1].plot([], [], linestyle="", label=name, **marks)
        figure.axes[-1].legend(loc="upper left", bbox_to_anchor=(1.0, 1.0), handlelength=1.2)
    told = []
    for title, (paths, cloud, symbols) in panels.items():
        ends = paths[-1]
        gaps = [np.linalg.norm(a - b) for i, a in enumerate(ends) for b in ends[:i]]
        spread = [np.linalg.norm(cloud[symbols == k] - ends[k], axis=1).mean() for k in range(len(ends))]
        told.append(
            f"{title}: the paths end at least {min(gaps):.2g} apart; the states in noise lie {np.mean(spread):.2g} "
            "from the end of their symbol's path, on average"
        )
    return described(figure, f"States in a plane, a colour for each of four symbols. {'. '.join(told)}.")
