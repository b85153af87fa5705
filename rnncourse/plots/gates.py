"""Pictures of unit 10: the two cells from inside, the errors' way back, machines step by step, what a cell keeps."""

from collections.abc import Collection, Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from jaxtyping import Float, Real
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure

from .charts import STATES, _bare, _chart, _colour_bar, _name_rows, _panels, _paper, _seeds_beside, _short, line_chart
from .drawing import Drawing, Shape
from .style import COLOURS, CYCLE, INK, MUTED, described, readable, style

GATES = LinearSegmentedColormap.from_list("gates", ["#FFFFFF", MUTED])  # white: closed, grey: open, as in the cells
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
    return described(
        sheet.figure,
        "One step of the LSTM. Above, a thick line from c of the last step to the new c: it passes a product with the "
        "forget gate f and a sum, to which i times g is added. Below, x through U, h through W, and b are added up and "
        "go to four layers: f, i and o with a sigmoid, g with a tanh. The new c goes through a tanh and is multiplied "
        "by o, which gives the new h.",
    )


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
    sheet.text(2.4, x_bus - 0.2, "$U,\\; b_i$", COLOURS["U"], 15)
    sheet.text(2.05, h_bus + 0.24, "$W,\\; b_h$", COLOURS["W"], 15)
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
    return described(
        sheet.figure,
        "One step of the GRU. Above, a thick line from h of the last step to the new h: it passes a product with z and "
        "a sum. Below, x through U with b_i, and h through W with b_h, go to z, r and n. Before it reaches n, the part "
        "that comes from h is multiplied by r. n is multiplied by one minus z and joins the thick line at the sum.",
    )


def error_flow(steps: int = 3) -> Figure:
    """The way of an error back through `steps` steps: of the LSTM, along c and through the gates; of a plain cell."""
    gap, left, up, low, plain = 2.55, 2.6, 4.3, 2.75, 0.95
    sheet = Drawing(left + gap * (steps - 1) + 2.0, up + 0.85)
    back = COLOURS["gradient"]
    columns = [(left + gap * t, "" if t == steps - 1 else f"-{steps - 1 - t}") for t in range(steps)]
    kept, shown, states = (
        [sheet.node(x, y, f"${letter}_{{t{when}}}$", "state") for x, when in columns]
        for y, letter in ((up, "c"), (low, "h"), (plain, "h"))
    )
    sheet.text(0.25, up - 0.7, "LSTM", align="left", weight="bold")
    sheet.text(0.25, plain, "plain cell", align="left", weight="bold")
    for one, other in zip(kept, shown, strict=True):
        sheet.arrow(other, one, colour=back)
    for (a, b), h in zip(pairwise(kept), shown, strict=False):
        sheet.line((b.x - 0.36, up), (a.x + 0.5, up), back, 5.0)
        sheet.arrow(b, a, colour=back)
        sheet.text((a.x + b.x) / 2, up + 0.3, r"$\odot\, f$", back, 15)
        sheet.arrow(b, h, colour=back, dashed=True)
        sheet.text(a.x + 0.2, up - 0.45, "gates, then $W^\\top$", back, 12, align="left")
    for a, b in pairwise(states):
        sheet.arrow(b, a, colour=back, dashed=True)
        sheet.text((a.x + b.x) / 2, plain + 0.3, r"$\odot\,(1-h^2)$, then $W^\top$", back, 12)
    for last in (shown[-1], states[-1]):
        loss = sheet.node(last.x + 1.35, last.y, "$L$", "loss")
        sheet.arrow(loss, last, colour=back)
    sheet.text(0.25, 0.22, "thick: multiplied by f alone;  dashed: through W, at every step", back, 12, align="left")
    return described(
        sheet.figure,
        f"The way of an error back through {steps} steps, from the loss on the right. In the LSTM it comes to h of the "
        "last step and from there to c. A thick arrow leads from each c to the c before it, and there the error is "
        "multiplied by f alone. A dashed arrow leads from each c through the gates and W to the h before it, and on "
        "to its c. In the plain cell there are dashed arrows only: at each step the slope of the tanh, and W.",
    )


def _sum(sheet: Drawing, read: Shape, x: float) -> Shape:
    """The node in which x U, h W and b meet."""
    signal, total = sheet.node(x, LOW - 0.04, "$x_t$", "input"), sheet.node(x, BUS, "$+$", radius=OPERATION)
    sheet.path([(x, BUS + 0.75), (x, BUS + OPERATION + 0.045)])
    sheet.text(x, BUS + 0.93, "$b$", size=15)
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
    figure, axes = _chart((1.5 + 0.52 * steps, 0.95 + 0.42 * len(names)), "time step t")
    with style():
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
                    axes.text(t, k, _short(value), ha="center", va="center", color=INK, fontsize=11)
        axes.set(xlim=(-0.5, steps - 0.5), ylim=(len(names) - 0.4, -0.6))
        axes.set_xticks(range(steps), [f"{t + 1}" for t in range(steps)])
        axes.set_yticks(range(len(names)), names)
        _bare(axes)
    rows = {name: np.asarray(row, float) for name, row in {**reads, **gates, **states}.items()}
    said = "; ".join(f"{name} is {', '.join(map(_short, row.tolist()))}" for name, row in rows.items())
    return described(figure, f"A table of inputs, gates and states over {steps} steps. {said}.")


def kept_by_symbol(
    cells: Float[np.ndarray, "T K H"], shown: Float[np.ndarray, "T K H"], names: Sequence[str]
) -> Figure:
    """What a trained LSTM keeps and shows, for K symbols at the first step: c over time, a panel for each symbol.

    Units whose c ends highest for the same symbol stand together. Below, the largest entries of c and of h, means over
    the symbols.
    """
    steps, symbols, _ = cells.shape
    late = cells[steps // 2 :].mean(axis=0)
    order = np.lexsort((-late.max(axis=0), late.argmax(axis=0)))
    reach = float(np.abs(cells).max())
    sizes = {"c": np.abs(cells).max(axis=2).mean(axis=1), "h": np.abs(shown).max(axis=2).mean(axis=1)}
    figure = _paper((9.75, 5.2))
    with style():
        grid = figure.add_gridspec(2, symbols, height_ratios=(2.3, 1.2))
        panels = [figure.add_subplot(grid[0, k]) for k in range(symbols)]
        for k, axes in enumerate(panels):
            image = axes.imshow(cells[:, k, order].T, cmap=STATES, vmin=-reach, vmax=reach, aspect="auto")
            axes.set(title=f"first symbol: {names[k]}", yticks=[], xticks=[0, steps // 2, steps - 1])
            axes.grid(False)
        panels[0].set_ylabel("unit, sorted by the\nsymbol it stands for")
        _colour_bar(figure, image, panels, "c", 0.01)
        below = figure.add_subplot(grid[1, :])
        for look, (name, values) in zip(CYCLE[1:], sizes.items(), strict=False):
            below.plot(range(steps), values, color=look["color"], linestyle=look["linestyle"])
            place = below.get_yaxis_transform()
            below.text(1.008, values[-1], f"|{name}|", transform=place, color=readable(look["color"]), va="center")
        below.set(xlim=(0, steps - 1), xlabel="time step (0: the symbol)", ylabel="largest entry")
    c, h = (sizes[name] for name in "ch")
    return described(
        figure,
        f"Above, {symbols} panels, one for each first symbol: the entries of c over {steps} steps, at the end from "
        f"{cells[-1].min():.0f} to {cells[-1].max():.0f}. Below, the largest entry of c, which is "
        f"{c[steps // 2]:.1f} after {steps // 2} steps and {c[-1]:.1f} after {steps - 1}, and of h, which is "
        f"{h[steps // 2]:.2f} and {h[-1]:.2f}.",
    )


def push_chart(lines: Mapping[str, Float[np.ndarray, "K"]], ylabel: str = "what is left of the push") -> Figure:
    """What is left of a push at each step after it: a line for each name."""
    steps = len(next(iter(lines.values()))) - 1
    highest = 1.1 * max(1.0, *(float(np.max(line)) for line in lines.values()))
    said = "; ".join(f"{name}, {line[steps // 3]:.2f} and {line[-1]:.2f}" for name, line in lines.items())
    alt = f"What is left of the push, {steps // 3} and {steps} steps after it: {said}."
    look: dict[str, Any] = {"ylim": (-0.03, highest), "size": (9.0, 3.6), "alt": alt}
    return line_chart(range(steps + 1), lines, xlabel="steps after the push", ylabel=ylabel, **look)


def error_chart(lines: Mapping[str, Float[np.ndarray, "K"]], ylim: tuple[float, float] | None = None) -> Figure:
    """The size of an error against the distance that it has come, on a logarithmic axis: a line for each name."""
    steps = len(next(iter(lines.values()))) - 1
    said = "; ".join(f"{name}, {line[-1]:.0e}" for name, line in lines.items())
    return line_chart(
        range(steps + 1),
        lines,
        xlabel="distance (steps back from the loss)",
        ylabel="size of the error, 1 at the loss",
        logy=True,
        ylim=ylim,
        size=(9.75, 4.6),
        alt=f"Size of the error, on a logarithmic axis. Left of 1 after {steps} steps: {said}.",
    )


def shares(
    yours: Mapping[str, float],
    *,
    ours: Mapping[str, Sequence[float]] | None = None,
    guessed: Collection[str] = (),
    chance: float | None = None,
    xlabel: str = "share of right answers",
    most: float = 1.0,
    line: str = "chance",
) -> Figure:
    """A bar for each name, with its number. `ours` adds a line from the lowest to the highest over our seeds.

    guessed: the names that you expected to be right; they are marked. A dashed line stands at `chance`, named by
    `line`. The axis goes from 0 to `most`: above 1, the numbers are no shares, and are told without decimals.
    """
    form = ".2f" if most <= 1 else ".0f"
    figure, axes = _chart((9.0, 1.0 + 0.42 * len(yours)), xlabel)
    with style():
        for row, share in enumerate(yours.values()):
            axes.barh(row, share, height=0.6, color=COLOURS["V"], alpha=0.45, lw=0)
            axes.text(1.03 * most, row, f"{share:{form}}", va="center", color=INK)
        axes.set_xlim(0, most)
        _name_rows(axes, [f"{name}\n(your guess)" if name in guessed else name for name in yours])
        said = _seeds_beside(axes, yours, ours, most, form)
        if chance is not None:
            axes.axvline(chance, color=MUTED, lw=1.4, linestyle=(0, (4, 3)))
            axes.text(chance, -0.62, line, color=MUTED, ha="center", va="bottom", fontsize=11)
    return described(figure, f"Bars, {xlabel}: {said}." + (f" You guessed {', '.join(guessed)}." if guessed else ""))


def by_bias(
    measured: Mapping[int, Mapping[int, Sequence[float]]], yours: Mapping[int, Mapping[int, float]] | None = None
) -> Figure:
    """Shares of right answers, by lag and forget bias: a panel for each lag, a dot for each seed, a line at log T.

    yours: your own runs, as diamonds.
    """
    biases = sorted({bias for row in measured.values() for bias in row})
    figure, panels = _panels((9.75, 3.4), columns=len(measured), sharey=True)
    with style():
        for axes, (lag, row) in zip(panels, measured.items(), strict=True):
            for bias, values in row.items():
                spread = np.linspace(-0.22, 0.22, len(values)) if len(values) > 1 else np.zeros(1)
                axes.plot(bias + spread, sorted(values), color=COLOURS["V"], marker="o", ms=4, ls="", alpha=0.6)
            axes.plot(list(row), [np.median(v) for v in row.values()], color=COLOURS["V"], lw=1.6)
            if mine := (yours or {}).get(lag):
                axes.plot(list(mine), list(mine.values()), color=INK, marker="D", ms=7, ls="", mfc="none", mew=1.6)
            axes.axvline(np.log(lag), color=COLOURS["W"], lw=2.2)
            axes.axhline(0.25, color=MUTED, linestyle=(0, (4, 3)), lw=1.4)
            axes.set(title=f"lag {lag}", xlabel="forget bias", ylim=(0, 1.06), xlim=(biases[0] - 0.5, biases[-1] + 0.5))
            axes.set_xticks(biases, [f"{bias}" for bias in biases])
        panels[0].set_ylabel("share of right answers")
        place = panels[0].get_xaxis_transform()
        at = np.log(next(iter(measured))) + 0.1
        panels[0].text(at, 0.06, "log of the lag", transform=place, color=readable(COLOURS["W"]), fontsize=11)
    said = " ".join(
        f"At a lag of {lag}: "
        + ", ".join(f"bias {bias} {np.median(v):.2f} ({min(v):.2f} to {max(v):.2f})" for bias, v in row.items())
        + f"; the logarithm of the lag is {np.log(lag):.1f}."
        for lag, row in measured.items()
    )
    return described(figure, f"Shares of right answers, medians and ranges over our seeds. {said}")


def held_by_lag(
    lags: Sequence[int],
    networks: Mapping[str, Sequence[Sequence[float]]],
    *,
    trained: tuple[int, int],
    guess: float,
) -> Figure:
    """How long networks hold what they learned from short examples: a panel for each, the share against the lag.

    `networks` gives for each name the shares at each lag, one for each seed: a thin line is a seed, the thick one the
    median. The lags that were trained are shaded; a dashed line stands where a guess is. Below, in how many seeds the
    share is above 0.99 at the last lag.
    """
    figure, panels = _panels((9.75, 3.3), columns=len(networks), sharey=True)
    with style():
        for axes, look, (name, shares) in zip(panels, CYCLE, networks.items(), strict=False):
            axes.axvspan(*trained, color=COLOURS["faint"], alpha=0.35, lw=0)
            axes.axhline(guess, color=MUTED, linestyle=(0, (4, 3)), lw=1.4)
            axes.plot(lags, shares, color=look["color"], lw=0.9, alpha=0.5)
            axes.plot(lags, np.median(shares, axis=1), color=look["color"], lw=3, marker=look["marker"])
            axes.set(xscale="log", title=name, xlabel="lag", ylim=(0, 1.06))
            held = f"{sum(share > 0.99 for share in shares[-1])} of {len(shares[-1])} seeds hold"
            axes.text(lags[-1], 0.04, held, color=INK, ha="right", fontsize=11)
            axes.set_xticks([1, 10, 100, 1000], ["1", "10", "100", "1,000"])
            axes.minorticks_off()
        panels[0].set_ylabel("share of right answers")
        panels[0].text(trained[1] ** 0.5, 0.04, "trained", color=MUTED, ha="center", fontsize=11)
        panels[0].text(lags[-1], guess - 0.03, "a guess", color=MUTED, ha="right", va="top", fontsize=11)
    said = "; ".join(
        f"{name} {np.median(rows[-1]):.2f} ({min(rows[-1]):.2f} to {max(rows[-1]):.2f}), above 0.99 in "
        f"{sum(share > 0.99 for share in rows[-1])} of {len(rows[-1])}"
        for name, rows in networks.items()
    )
    return described(
        figure,
        f"Share of right answers against the lag, on a logarithmic axis, a panel a network, a thin line a seed. "
        f"Trained on lags from {trained[0]} to {trained[1]}. At a lag of {lags[-1]:,}: {said}.",
    )
