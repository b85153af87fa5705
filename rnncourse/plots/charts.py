"""Charts of measurements. Each function draws one and returns it as a figure; `show` puts it into a notebook.

Axes have names and units, lines have their names beside them, and differ in marker and dash as well as in colour.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from jaxtyping import Bool, Float, Real
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullFormatter

from .style import COLOURS, CYCLE, INK, WIDEST, described, readable, style

STATES = LinearSegmentedColormap.from_list("states", [COLOURS["U"], "#FFFFFF", COLOURS["W"]])
Numbers = Real[np.ndarray, "K"] | Sequence


def line_chart(
    x: Numbers,
    lines: Mapping[str, Numbers],
    *,
    xlabel: str,
    ylabel: str,
    logx: bool = False,
    logy: bool = False,
    ylim: tuple[float, float] | None = None,
    title: str = "",
    size: tuple[float, float] = (8.0, 4.2),
    alt: str = "",
) -> Figure:
    """Several lines over one x, each with its name at its end. `size` is in inches; an inch is shown as 72 pixels.

    `ylim` fixes the range of y, so that a chart with a slider keeps its scale. Without `alt`, the alt text says of each
    line where it begins and ends.
    """
    figure, axes = _chart(size, xlabel, ylabel, title)
    if logx:
        axes.set_xscale("log")
    if logy:
        axes.set_yscale("log")
    if ylim is not None:
        axes.set_ylim(ylim)
    many = len(x) > 40
    with style():
        for look, values in zip(_looks(len(lines)), lines.values(), strict=True):
            axes.plot(x, values, **{**look, "marker": ""} if many else look)
    _name_ends(axes, lines)
    scale = " (logarithmic)" if logy else ""
    told = ". ".join(_told(x, *line) for line in lines.items())
    return described(figure, alt or f"{ylabel}{scale} against {xlabel}. {told}.")


def _told(x: Numbers, name: str, values: Numbers) -> str:
    """A line in words: where it begins and ends, and its highest and lowest point if these lie between."""
    xs, ys = np.asarray(x, float), np.asarray(values, float)
    drawn = np.isfinite(ys)
    if not drawn.any():
        return f"{name}: nothing to draw"
    xs, ys = xs[drawn], ys[drawn]
    words = f"{' '.join(name.split())}: from {ys[0]:.3g} at {xs[0]:g} to {ys[-1]:.3g} at {xs[-1]:g}"
    for what, i in (("highest", ys.argmax()), ("lowest", ys.argmin())):
        if ys[i] not in (ys[0], ys[-1]):
            words += f", {what} {ys[i]:.3g} at {xs[i]:g}"
    return words


def perplexity_chart(ns: Numbers, lines: Mapping[str, Numbers]) -> Figure:
    """Perplexity (log scale) against the n of an n-gram; `lines` is, say, {"training text": …, "held-out text": …}."""
    figure = line_chart(ns, lines, xlabel="n (tokens the model sees at once)", ylabel="perplexity", logy=True)
    axes = figure.axes[0]
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    _plain_numbers(axes)
    return figure


def loglog_slope(x: Numbers, y: Numbers) -> float:
    """The slope of the straight line through (log x, log y): the k of y ~ x^k.

    >>> round(loglog_slope([1, 10, 100], [3, 30, 300]), 6)
    1.0
    """
    return float(np.polyfit(np.log(np.asarray(x, float)), np.log(np.asarray(y, float)), 1)[0])


def cost_chart(steps: Numbers, costs: Mapping[str, Numbers], *, ylabel: str, title: str = "") -> Figure:
    """Cost against the number of time steps T on two log scales, each line with its slope: 1 means linear in T."""
    named = {f"{name}\nslope {round(loglog_slope(steps, cost), 2) + 0.0:.2f}": cost for name, cost in costs.items()}
    figure = line_chart(steps, named, xlabel="T (time steps)", ylabel=ylabel, logx=True, logy=True, title=title)
    axes = figure.axes[0]
    axes.set_xticks(list(steps), [f"{step:g}" for step in steps])
    _plain_numbers(axes)
    axes.minorticks_off()
    return figure


def state_heatmap(states: Float[np.ndarray, "T H"], tokens: Sequence[str] | None = None, *, title: str = "") -> Figure:
    """The states (T, H) of one sequence: time to the right, a row for each unit, blue -1, white 0, vermilion 1.

    `tokens` names the time steps, if given: T of them. A state beyond 1 widens the scale.
    """
    steps, units = states.shape
    figure, axes = _chart((8.0, 1.6 + min(max(0.28 * units, 1.2), 3.6)), "time step t", "unit", title)
    reach = max(1.0, float(np.abs(states).max()))
    with style():
        image = axes.imshow(states.T, cmap=STATES, vmin=-reach, vmax=reach, aspect="auto")
        _colour_bar(figure, image, axes, "state")
    axes.grid(False)
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.yaxis.set_major_locator(MaxNLocator(integer=True))
    if tokens is not None:
        axes.set_xticks(range(steps), ["␣" if token == " " else token for token in tokens])
        axes.set_xlabel("input, one at each time step")
    strongest = [
        f"{name} unit {unit}" for name, unit in zip(tokens or range(steps), np.abs(states).argmax(1), strict=False)
    ]
    words = f"The {units} units of the state over {steps} time steps, from {states.min():.2f} to {states.max():.2f}."
    return described(figure, f"{words} The strongest at each step: {', '.join(strongest[:20])}.")


def dependence_grid(grids: Mapping[str, Bool[np.ndarray, "T T"]]) -> Figure:
    """Side by side, which output t (rows) depends on which input k (columns): a filled cell where it does."""
    with style():
        across = min(3.625, (WIDEST - 0.5) / len(grids))
        figure, panels = _panels((0.5 + across * len(grids), 0.375 + across), columns=len(grids), layout="compressed")
        for axes, (name, grid) in zip(panels, grids.items(), strict=True):
            steps = len(grid)
            filled = LinearSegmentedColormap.from_list("filled", ["#FFFFFF", COLOURS["W"]])
            axes.imshow(grid, cmap=filled, vmin=0, vmax=1)
            axes.set(title=name, xlabel="input k", ylabel="output t", xticks=range(steps), yticks=range(steps))
            _draw_cells(axes, steps, steps)
    return described(figure, " ".join(_reach(name, np.asarray(grid, bool)) for name, grid in grids.items()))


def _reach(name: str, grid: Bool[np.ndarray, "T T"]) -> str:
    """A grid of dependence in words: how far its outputs look back and ahead."""
    outputs, inputs = np.nonzero(grid)
    back, ahead = (outputs - inputs).max(initial=0), (inputs - outputs).max(initial=0)
    return (
        f"{name}: {grid.sum()} of {grid.size} cells are filled; an output depends on inputs up to {back} steps back "
        f"and {ahead} ahead."
    )


def image_rows(image: Real[np.ndarray, "rows columns"]) -> Figure:
    """An image as a network reads it: every row is the input of one time step, the top row first."""
    rows, columns = image.shape
    figure, axes = _chart((4.5, 4.25), f"pixel: {columns} numbers in $x_t$", "row: time step t")
    with style():
        axes.imshow(image, cmap="Greys")
        axes.set_yticks(range(rows))
        axes.set_xticks([])
        axes.set_yticks(np.arange(rows - 1) + 0.5, minor=True)
        axes.grid(False)
        axes.grid(True, axis="y", which="minor", color=COLOURS["input"], lw=1.2)
    axes.tick_params(which="both", length=0)
    axes.spines[:].set_visible(True)
    return described(figure, f"An image of {rows} rows of {columns} pixels, each row a time step, the top row first.")


def _chart(size: tuple[float, float], xlabel: str = "", ylabel: str = "", title: str = "") -> tuple[Figure, Axes]:
    """An empty chart with named axes."""
    figure, (axes,) = _panels(size)
    with style():
        axes.set(xlabel=xlabel, ylabel=ylabel, title=title)
    return figure, axes


def _paper(size: tuple[float, float], layout: Any = "constrained") -> Figure:
    """An empty figure that leaves some white around what is drawn."""
    with style():
        figure = Figure(figsize=size, layout=layout)
    engine = figure.get_layout_engine()
    if isinstance(engine, ConstrainedLayoutEngine):
        engine.set(w_pad=0.1, h_pad=0.1)
    return figure


def _panels(
    size: tuple[float, float], rows: int = 1, columns: int = 1, *, layout: str = "constrained", **more: Any
) -> tuple[Figure, list[Axes]]:
    """A figure with rows and columns of axes, row by row; `more` is for `Figure.subplots`."""
    figure = _paper(size, layout)
    with style():
        return figure, list(figure.subplots(rows, columns, squeeze=False, **more).flat)


def _colour_bar(figure: Figure, image: Any, axes: Any, label: str, pad: float = 0.02, **more: Any) -> None:
    """What the colours of an image stand for, beside one or several axes."""
    bar = figure.colorbar(image, ax=axes, pad=pad, **more)
    bar.outline.set_visible(False)
    bar.set_label(label)


def _name_rows(axes: Axes, names: Sequence[str]) -> None:
    """A row for each name, the first on top."""
    axes.set_yticks(range(len(names)), list(names))
    axes.set_ylim(len(names) - 0.4, -0.6)
    axes.grid(False, axis="y")
    axes.tick_params(axis="y", length=0)


def _bare(axes: Axes) -> None:
    """No lines but those that are drawn: no grid, no marks at the ticks, no frame."""
    axes.grid(False)
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)


def _short(value: float) -> str:
    """A number as small as a cell allows: "1", "0.76", "0"."""
    text = f"{value + 0.0:.2f}".rstrip("0").rstrip(".")
    return "0" if text == "-0" else text


def _seeds_beside(
    axes: Axes, yours: Mapping[str, float], ours: Mapping[str, Sequence[float]] | None, right: float, form: str
) -> str:
    """On the row of each name a line from the lowest to the highest of our seeds; returns all numbers in words."""
    told = []
    for row, (name, value) in enumerate(yours.items()):
        seeds = (ours or {}).get(name)
        told.append(f"{name} {value:{form}}")
        if seeds:
            axes.plot((min(seeds), max(seeds)), [row, row], color=INK, lw=2.2, marker="|", markersize=9)
            told[-1] += f" (our seeds {min(seeds):{form}} to {max(seeds):{form}})"
    if set(yours) & set(ours or ()):
        axes.text(right, -0.62, "black: the range of our seeds", color=INK, ha="right", va="bottom", fontsize=11)
    return "; ".join(told)


def _draw_cells(axes: Axes, rows: int, columns: int) -> None:
    """Lines between the cells of an image, and no marks at the ticks."""
    axes.set_xticks(np.arange(columns - 1) + 0.5, minor=True)
    axes.set_yticks(np.arange(rows - 1) + 0.5, minor=True)
    axes.grid(False)
    axes.grid(True, which="minor", color="#D0D0D0")
    axes.tick_params(which="both", length=0)
    axes.spines[:].set_visible(True)


def _looks(count: int) -> list[dict[str, Any]]:
    """Colour, marker and dash of each of `count` lines."""
    return [CYCLE[i % len(CYCLE)] for i in range(count)]


def _name_ends(axes: Axes, lines: Mapping[str, Numbers]) -> None:
    """Write each line's name at its right end, in its colour. Where names would touch they are moved apart, no further
    than they must be, and a thin line leads from each to its end.

    What changes the range of the axes comes before.
    """
    axes.autoscale_view()
    to_axes, points_high = axes.transData + axes.transAxes.inverted(), axes.bbox.height * 72 / axes.figure.dpi
    names, ends = list(lines), []
    for line in axes.get_lines():
        points = np.asarray(line.get_xydata(), float)
        shown = points[np.isfinite(points).all(axis=1)]  # of the rest nothing can be drawn
        ends.append(to_axes.transform(shown[-1]) if len(shown) else np.ones(2))
    order = np.argsort([height for _, height in ends])
    tall = np.array([5 + 14.4 * (1 + names[i].count("\n")) for i in order]) / points_high
    stacked = np.cumsum(tall) - (tall + tall[0]) / 2  # where they stand if all touch, from the first one on
    wanted = np.array([ends[i][1] for i in order]) - stacked
    # the nearest row of numbers that never falls, as isotonic regression has it
    placed = [max(min(wanted[a : b + 1].mean() for b in range(k, len(order))) for a in range(k + 1))
              for k in range(len(order))]  # fmt: skip
    with style():
        for i, height in zip(order, np.clip(placed, 0.0, 1.0 - stacked[-1]) + stacked, strict=True):
            colour = readable(axes.get_lines()[i].get_color())
            is_moved = abs(height - ends[i][1]) * points_high > 6 and ends[i][0] > 0.9  # where all lines end
            leads = {"arrowstyle": "-", "color": colour, "lw": 0.8, "relpos": (0, 0.5), "shrinkA": 1, "shrinkB": 4}
            axes.annotate(
                names[i], ends[i], (1.02, height), "axes fraction", "axes fraction", leads if is_moved else None,
                annotation_clip=False, color=colour, va="center", linespacing=1.2,
            )  # fmt: skip


def _plain_numbers(axes: Axes) -> None:
    """Write 5 and 20 on a log scale, and not powers of ten."""
    low, high = axes.get_ylim()
    axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5) if high / low < 1000 else (1,)))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axes.yaxis.set_minor_formatter(NullFormatter())
