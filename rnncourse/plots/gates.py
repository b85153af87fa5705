"""Pictures of unit 10: the two cells from inside, machines step by step, what a trained cell keeps, and how long."""

from collections.abc import Mapping, Sequence

import numpy as np
from jaxtyping import Float, Real
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure

from .charts import STATES, _pad
from .drawing import Drawing, Shape
from .style import COLOURS, CYCLE, INK, MUTED, readable, style

__all__ = ["gates_over_time", "gru_cell", "held_by_lag", "kept_by_symbol", "lstm_cell", "share_grid"]

GATES = LinearSegmentedColormap.from_list("gates", ["#FFFFFF", MUTED])  # white: closed, grey: open, as in the cells
SHARES = LinearSegmentedColormap.from_list("shares", ["#FFFFFF", COLOURS["V"]])
INPUTS = LinearSegmentedColormap.from_list("inputs", ["#FFFFFF", COLOURS["U"]])

TOP, MIDDLE, GATE, BUS, LOW = 4.45, 3.5, 2.45, 1.4, 0.42  # heights: what is kept, products, gates, sums, the input
OPERATION = 0.2


def lstm_cell() -> Figure:
    """One step of the LSTM: above, what is kept; below, what is read; between them four layers, three of them gates."""
    sheet = Drawing(9.75, 5.2)
    forget, write, tell, shown = 3.2, 4.65, 7.6, 6.65
    sheet.frame(1.2, 0.8, 8.35, 4.8)
    kept, read = sheet.node(0.5, TOP, "$c_{t-1}$", "state"), sheet.node(0.5, BUS, "$h_{t-1}$", "state")
    total = _sum(sheet, read, 1.9)
    boxes = [(forget, "f", "σ"), (write - 0.5, "i", "σ"), (write + 0.5, "g", "tanh"), (shown, "o", "σ")]
    f, i, g, o = _layers(sheet, total, boxes)

    times_f, plus = _operation(sheet, forget, TOP, r"$\times$"), _operation(sheet, write, TOP, "$+$")
    times_i = _operation(sheet, write, MIDDLE, r"$\times$")
    tanh = sheet.box(tell, MIDDLE, "tanh", size=12, width=0.7, height=0.45)
    times_o = _operation(sheet, tell, GATE, r"$\times$")
    new_c = sheet.node(9.2, TOP, "$c_t$", "state")
    sheet.node(9.2, BUS, "$h_t$", "state")
    for a, b in ((kept, times_f), (times_f, plus), (plus, new_c)):
        _thick(sheet, a, b)
    sheet.arrow(f, times_f)
    sheet.arrow(i, times_i)
    sheet.arrow(g, times_i)
    sheet.arrow(times_i, plus)
    sheet.path([(tell, TOP), (tell, MIDDLE + 0.27)], COLOURS["W"])
    sheet.arrow(tanh, times_o, colour=COLOURS["W"])
    sheet.arrow(o, times_o)
    sheet.path([(tell, GATE - OPERATION - 0.045), (tell, BUS), (9.2 - 0.36, BUS)], COLOURS["W"])
    for x, y, words in (
        (forget, TOP + 0.56, "forget"),
        (write, TOP + 0.56, "write"),
        (tell, TOP + 0.56, "show"),
    ):
        sheet.text(x, y, words, MUTED)
    return sheet.figure


def gru_cell() -> Figure:
    """One step of the GRU: one state, mixed of itself and of a candidate that sees as much of it as r lets through."""
    sheet = Drawing(9.75, 5.2)
    keep, mix, new, reset = 3.2, 6.9, 6.9, 4.3
    sheet.frame(1.2, 0.8, 8.35, 4.8)
    before = sheet.node(0.5, TOP, "$h_{t-1}$", "state")
    sheet.node(1.9, LOW - 0.04, "$x_t$", "input")
    z = sheet.box(keep, GATE, "", height=0.5, width=0.62)
    r = sheet.box(reset, GATE, "", height=0.5, width=0.62)
    for x, name in ((keep, "z"), (reset, "r")):
        sheet.text(x - 0.12, GATE, f"${name}$", size=15)
        sheet.text(x + 0.14, GATE, "σ", MUTED, 12)
    tanh = sheet.box(new, GATE, "", width=0.95, height=0.5)
    sheet.text(new - 0.28, GATE, "$n$", size=15)
    sheet.text(new + 0.16, GATE, "tanh", MUTED, 12)
    times_z, plus = _operation(sheet, keep, TOP, r"$\times$"), _operation(sheet, mix, TOP, "$+$")
    times_n = _operation(sheet, mix, MIDDLE, r"$\times$")
    times_r = _operation(sheet, 5.6, GATE, r"$\times$")
    after = sheet.node(9.2, TOP, "$h_t$", "state")
    for a, b in ((before, times_z), (times_z, plus), (plus, after)):
        _thick(sheet, a, b)
    # the input runs along the bottom, the state above it; both go to all three
    x_bus, h_bus = BUS - 0.12, BUS + 0.28
    sheet.path([(1.9, LOW + 0.3), (1.9, x_bus), (new + 0.2, x_bus), (new + 0.2, GATE - 0.3)], COLOURS["U"])
    sheet.path([(1.55, TOP), (1.55, h_bus), (5.6, h_bus), (5.6, GATE - 0.25)], COLOURS["W"])
    for x in (keep, reset):
        sheet.path([(x - 0.14, h_bus), (x - 0.14, GATE - 0.3)], COLOURS["W"])
        sheet.path([(x + 0.14, x_bus), (x + 0.14, GATE - 0.3)], COLOURS["U"])
    sheet.text(2.12, x_bus - 0.2, "$U$", COLOURS["U"], 15)
    sheet.text(1.78, h_bus + 0.24, "$W$", COLOURS["W"], 15)
    sheet.arrow(z, times_z)
    sheet.arrow(r, times_r)
    sheet.arrow(times_r, tanh, colour=COLOURS["W"])
    sheet.arrow(tanh, times_n)
    sheet.arrow(times_n, plus)
    sheet.path([(keep + 0.12, GATE + 0.3), (keep + 0.12, MIDDLE), (mix - OPERATION - 0.045, MIDDLE)])
    sheet.text(4.9, MIDDLE + 0.2, "$1 - z$", size=14)
    sheet.text(keep, TOP + 0.56, "keep", MUTED)
    sheet.text(mix, TOP + 0.56, "renew", MUTED)
    sheet.text(5.6, GATE + 0.42, "reset", MUTED)
    return sheet.figure


def _sum(sheet: Drawing, read: Shape, x: float) -> Shape:
    """The node in which x U, h W and b meet."""
    signal, total = sheet.node(x, LOW - 0.04, "$x_t$", "input"), sheet.node(x, BUS, "$+$", radius=OPERATION)
    sheet.arrow(signal, total, "U", side=1.1)
    sheet.arrow(read, total, "W", at=0.7)
    return total


def _layers(sheet: Drawing, total: Shape, boxes: Sequence[tuple[float, str, str]]) -> list[Shape]:
    """Boxes in a row above a line that brings each its own columns of the sum."""
    made = []
    last = boxes[-1][0]
    sheet.path([(total.x + OPERATION + 0.045, BUS), (last, BUS)], head=False)
    for x, name, bend in boxes:
        width = 0.62 if bend == "σ" else 0.86
        box = sheet.box(x, GATE, "", width=width, height=0.5)
        sheet.text(x - 0.11 - (width - 0.62) / 2, GATE, f"${name}$", size=15)
        sheet.text(x + 0.13 + (width - 0.62) / 12, GATE, bend, MUTED, 12)
        sheet.path([(x, BUS), (x, GATE - 0.29)])
        made.append(box)
    sheet.text((total.x + last) / 2 + 0.5, BUS - 0.2, "each has columns of its own in $U$, $W$ and $b$", MUTED, 11)
    return made


def _operation(sheet: Drawing, x: float, y: float, sign: str) -> Shape:
    return sheet.node(x, y, sign, radius=OPERATION)


def _thick(sheet: Drawing, a: Shape, b: Shape) -> None:
    """A stretch of the way on which nothing is multiplied by W."""
    sheet.line((a.x + a.width / 2, a.y), (b.x - b.width / 2 - 0.12, b.y), COLOURS["W"], 3.4)
    sheet.arrow(a, b, colour=COLOURS["W"])


def gates_over_time(
    reads: Mapping[str, Real[np.ndarray, "T"]],
    gates: Mapping[str, Real[np.ndarray, "T"]],
    states: Mapping[str, Real[np.ndarray, "T"]],
) -> Figure:
    """A table of what a machine reads, opens and stores at each step: a row for each name, a number in each cell.

    Inputs are blue; gates are white when closed and grey when open; states are vermilion above 0 and blue below.
    """
    names = [*reads, *gates, *states]
    steps = max(map(len, states.values()))
    with style():
        figure = Figure(figsize=(1.5 + 0.52 * steps, 0.95 + 0.42 * len(names)), layout="constrained")
        _pad(figure)
        axes = figure.add_subplot()
        for rows, colours, low, high in (
            (reads, INPUTS, 0.0, 1.8),
            (gates, GATES, 0.0, 2.0),
            (states, STATES, -1.4, 1.4),
        ):
            for name, row in rows.items():
                values, k = np.asarray(row, float), names.index(name)
                reach = max(1.0, float(np.abs(values).max()))
                place = (-0.5, steps - 0.5, k + 0.46, k - 0.46)
                axes.imshow(values[None], colours, vmin=low * reach, vmax=high * reach, extent=place, aspect="auto")
                for t, value in enumerate(values):
                    axes.text(t, k, _short(value), ha="center", va="center", color=INK, fontsize=10)
        axes.set(xlim=(-0.5, steps - 0.5), ylim=(len(names) - 0.4, -0.6), xlabel="time step t")
        axes.set_xticks(range(steps), [f"{t + 1}" for t in range(steps)])
        axes.set_yticks(range(len(names)), names)
        axes.grid(False)
        axes.tick_params(length=0)
        axes.spines[:].set_visible(False)
    return figure


def _short(value: float) -> str:
    """A number as small as a cell allows: "1", "0.76", "0"."""
    text = f"{value + 0.0:.2f}".rstrip("0").rstrip(".")
    return "0" if text == "-0" else text


def kept_by_symbol(
    cells: Float[np.ndarray, "T K H"], names: Sequence[str], opened: Mapping[str, Float[np.ndarray, "T"]]
) -> Figure:
    """What a trained cell keeps, for K symbols shown at the first step: tanh(c) over time, a panel for each symbol.

    Units are sorted so that those that are high for the same symbol stand together. Below, how far gates are open.
    """
    steps, symbols, _ = cells.shape
    late = cells[steps // 2 :].mean(axis=0)
    order = np.lexsort((-late.max(axis=0), late.argmax(axis=0)))
    with style():
        figure = Figure(figsize=(9.75, 5.0), layout="constrained")
        _pad(figure)
        grid = figure.add_gridspec(2, symbols, height_ratios=(2.6, 1))
        panels = [figure.add_subplot(grid[0, k]) for k in range(symbols)]
        for k, axes in enumerate(panels):
            image = axes.imshow(cells[:, k, order].T, cmap=STATES, vmin=-1, vmax=1, aspect="auto")
            axes.set(title=f"first symbol: {names[k]}", yticks=[], xticks=[0, steps // 2, steps - 1])
            axes.grid(False)
        panels[0].set_ylabel("unit (sorted)")
        bar = figure.colorbar(image, ax=panels, pad=0.01, ticks=[-1, 0, 1])
        bar.set_label("tanh(c)")
        bar.outline.set_visible(False)
        below = figure.add_subplot(grid[1, :])
        for look, (name, values) in zip(CYCLE[1:], opened.items(), strict=False):
            below.plot(range(steps), values, color=look["color"], linestyle=look["linestyle"])
            place = below.get_yaxis_transform()
            below.text(1.008, values[-1], name, transform=place, color=readable(look["color"]), va="center")
        below.set(ylim=(-0.05, 1.1), xlim=(0, steps - 1), xlabel="time step (0: the symbol)", ylabel="gate, mean")
    return figure


def share_grid(
    shares: Sequence[Sequence[float]],
    *,
    rows: Sequence[str],
    columns: Sequence[str],
    xlabel: str,
    ylabel: str,
    marks: Sequence[float],
    mark: str,
) -> Figure:
    """A table of shares: a number in each cell, the darker the higher; nan is a cell that was not measured.

    `marks` puts a stroke into each row, at a place counted in columns; `mark` says what it stands for.
    """
    values = np.asarray(shares, float)
    with style():
        figure = Figure(figsize=(9.0, 1.3 + 0.52 * len(rows)), layout="constrained")
        _pad(figure)
        axes = figure.add_subplot()
        axes.imshow(values, SHARES, vmin=0, vmax=1.2, aspect="auto")
        for (row, column), value in np.ndenumerate(values):
            axes.text(column, row, "–" if np.isnan(value) else f"{value:.2f}", ha="center", va="center", color=INK)
        for row, place in enumerate(marks):
            axes.plot([place, place], [row - 0.5, row + 0.5], color=COLOURS["W"], lw=2.5)
        axes.text(marks[0], -0.6, mark, color=readable(COLOURS["W"]), ha="center", va="bottom")
        axes.set(xlabel=xlabel, ylabel=ylabel)
        axes.set_xticks(range(len(columns)), columns)
        axes.set_yticks(range(len(rows)), rows)
        axes.grid(False)
        axes.tick_params(length=0)
        axes.spines[:].set_visible(False)
    return figure


def held_by_lag(
    lags: Sequence[int],
    networks: Mapping[str, Sequence[Sequence[float]]],
    *,
    trained: tuple[int, int],
    guess: float,
) -> Figure:
    """How long networks hold what they learned from short examples: a panel for each, the share against the lag.

    `networks` gives for each name the shares at each lag, one for each seed: a thin line is a seed, the thick one the
    median. The lags that were trained are shaded; a dashed line stands where a guess is.
    """
    with style():
        figure = Figure(figsize=(9.75, 3.3), layout="constrained")
        _pad(figure)
        panels = figure.subplots(1, len(networks), sharey=True, squeeze=False)[0]
        for axes, look, (name, shares) in zip(panels, CYCLE, networks.items(), strict=False):
            axes.axvspan(*trained, color=COLOURS["faint"], alpha=0.35, lw=0)
            axes.axhline(guess, color=MUTED, linestyle=(0, (4, 3)), lw=1.4)
            axes.plot(lags, shares, color=look["color"], lw=0.9, alpha=0.5)
            axes.plot(lags, np.median(shares, axis=1), color=look["color"], lw=3, marker=look["marker"])
            axes.set(xscale="log", title=name, xlabel="lag", ylim=(0, 1.06))
            axes.set_xticks([1, 10, 100, 1000], ["1", "10", "100", "1,000"])
            axes.minorticks_off()
        panels[0].set_ylabel("share of right answers")
        panels[0].text(trained[1] ** 0.5, 0.04, "trained", color=MUTED, ha="center", fontsize=11)
        panels[0].text(lags[-1], guess - 0.03, "a guess", color=MUTED, ha="right", va="top", fontsize=11)
    return figure
