"""Charts of unit 04: networks that learn to spell and to recite, gradients that are wrong, and gradients by lag."""

from collections.abc import Collection, Mapping, Sequence

import numpy as np
from jaxtyping import Float
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from .charts import _bare, _chart, _colour_bar, _looks, _name_ends, _name_rows, line_chart
from .style import COLOURS, MUTED, described, readable, style

SURE = LinearSegmentedColormap.from_list("sure", ["#FFFFFF", COLOURS["output"]])


def spelling_grid(word: str, guesses: Mapping[int, str], sure: Mapping[int, Float[np.ndarray, "T"]]) -> Figure:
    """What a network guesses after each letter of `word`, a row for each number of updates.

    guesses: for each number of updates the T likeliest next letters. sure: their probabilities; darker is surer. A
    letter that is right stands in a frame.
    """
    rows, right = list(guesses), word[1:]
    with style():
        figure = Figure(figsize=(2.4 + 0.52 * len(right), 1.3 + 0.42 * len(rows)), layout="constrained")
        axes = figure.add_subplot()
        image = axes.imshow([sure[k] for k in rows], cmap=SURE, vmin=0, vmax=1.25, aspect="auto")
        for y, k in enumerate(rows):
            for x, letter in enumerate(guesses[k]):
                good = letter == right[x]
                axes.text(x, y, letter, ha="center", va="center", fontsize=14, weight="bold" if good else "normal")
                if good:
                    axes.add_patch(_frame(x, y))
        axes.set_yticks(range(len(rows)), [f"{k}" for k in rows])
        axes.set_xticks(range(len(right)), [f"{a}\n({b})" for a, b in zip(word, right)])
        axes.set(xlabel="input letter (what comes next)", ylabel="updates so far", xlim=(-0.5, len(right) - 0.5))
        _bare(axes)
        scale = {"boundaries": np.linspace(0, 1, 101), "ticks": [0, 0.5, 1]}
        _colour_bar(figure, image, axes, "probability of the guess", 0.03, **scale)
    told = [f"after {k} updates {said}" for k, said in guesses.items()]
    first = next((k for k in rows if guesses[k] == right), None)
    end = f"All are right first after {first}" if first is not None else "Never are all of them right"
    return described(
        figure,
        f"What a network says after each letter of {word[:-1]}, a row for each number of updates: {', '.join(told)}. "
        f"{end}. In the last row the least sure guess has a probability of {min(sure[rows[-1]]):.2f}.",
    )


def _frame(x: float, y: float) -> Rectangle:
    return Rectangle((x - 0.44, y - 0.42), 0.88, 0.84, fill=False, edgecolor=COLOURS["output"], lw=1.8)


def loss_shares(shares: Mapping[str, float], caught: Collection[str] | None = None) -> Figure:
    """A bar for each backward pass: the loss after training, as a share of the loss before; 1 is no progress.

    The first one is the right one. A share that is no number, or above 1.25, is drawn as a bar that leaves the chart.
    caught: the names that a gradient check calls broken, if there was one; it is written beside the names.
    """
    names, end = list(shares), 1.25
    figure, axes = _chart((7.2, 1.1 + 0.34 * len(names)), "loss after training / loss before")
    with style():
        for y, name in enumerate(names):
            share = shares[name]
            gone = not np.isfinite(share) or share > end
            colour = COLOURS["output"] if y == 0 else COLOURS["gradient"]
            axes.barh(y, end if gone else share, height=0.62, color=colour, alpha=0.85, hatch="" if y else "///")
            words = "blows up →" if gone else f"{share:.2f}"
            axes.annotate(
                words,
                (end if gone else share, y),
                (-6 if gone else 6, 0),
                textcoords="offset points",
                ha="right" if gone else "left",
                va="center",
                fontsize=11,
                color="white" if gone else readable(colour),
            )
        axes.axvline(1, color=MUTED, lw=1.4, linestyle="--")
        axes.annotate(
            "no progress", (1, -0.75), (5, 0), textcoords="offset points", fontsize=11, color=MUTED, va="center"
        )
        verdicts = {name: "" if caught is None else "  ✗" if name in caught else "  ✓" for name in names}
        _name_rows(axes, [name + verdicts[name] for name in names])
        axes.set(xlim=(0, end), ylim=(len(names) - 0.4, -1.2))
        if caught is not None:
            axes.set_title("✗ broken, ✓ right, says the gradient check", fontsize=11)
    bars = [f"{name} {shares[name]:.2f}" if np.isfinite(shares[name]) else f"{name} blows up" for name in names]
    broken = ", ".join(name for name in names if name in (caught or ()))
    found = "" if caught is None else f" A gradient check calls these broken: {broken}."
    return described(figure, f"The loss after training as a share of that before: {', '.join(bars)}.{found}")


def differences_chart(epsilons: Float[np.ndarray, "K"], errors: Mapping[str, Sequence[float]]) -> Figure:
    """How far off slopes are that were found by differences, against the ε that was taken, both logarithmic."""
    return line_chart(
        epsilons[::-1],
        {name: values[::-1] for name, values in errors.items()},
        xlabel="ε (how far W is moved)",
        ylabel="largest relative error of a slope",
        logx=True,
        logy=True,
    )


def by_lag_chart(
    sizes: Mapping[str, Float[np.ndarray, "T"]], ours: Mapping[str, Mapping[int, Sequence[float]]] | None = None
) -> Figure:
    """The size of each part of dW against its lag, lag 0 being 1, and as upright bars the range of `ours`, by lag."""
    figure, axes = _chart((8.0, 4.4), "lag k (steps that the error has travelled)", "size of the part, lag 0 = 1")
    with style():
        for look, values in zip(_looks(len(sizes)), sizes.values(), strict=True):
            axes.plot(values[:31], **look, markevery=5)
        axes.set_yscale("log")
        if ours:
            axes.set_title("bars: the range of our seeds", fontsize=11, color=MUTED)
        for look, name in zip(_looks(len(sizes)), sizes, strict=True):
            for lag, found in (ours or {}).get(name, {}).items():
                axes.vlines(lag, min(found), max(found), color=look["color"], lw=7, alpha=0.22)
        _name_ends(axes, sizes)
    told = [
        f"{name}: {', '.join(f'{values[k]:.1g} at lag {k}' for k in (10, 20, 30))}" for name, values in sizes.items()
    ]
    ranges = [
        f"{name} {min(sizes[20]):.1g} to {max(sizes[20]):.1g}" for name, sizes in (ours or {}).items() if 20 in sizes
    ]
    seeds = f" Bars show the range of our seeds; at lag 20: {', '.join(ranges)}." if ranges else ""
    return described(
        figure,
        f"Size of the part of dW against its lag, on a logarithmic axis, lag 0 being 1. {'. '.join(told)}.{seeds}",
    )


def recitation(line: str, recited: Sequence[str]) -> Figure:
    """What is recited after some numbers of updates; letters that stand where they should are coloured.

    recited: what was said before each update, and at the end. A line of more than 42 is broken.
    """
    rows = {k: recited[k] for k in (0, 5, 10, 15, 20, 30, 50) if k < len(recited) - 1}
    rows[len(recited) - 1] = recited[-1]
    pieces = [range(i, min(i + 42, len(line))) for i in range(0, len(line), 42)]
    longest, height = max(len(piece) for piece in pieces), len(pieces) + 0.55
    figure, axes = _chart((1.0 + 0.145 * longest, 0.7 + 0.27 * height * len(rows)), ylabel="updates so far")
    with style():
        for row, said in enumerate(rows.values()):
            for k, piece in enumerate(pieces):
                for i in piece:
                    good = said[i] == line[i]
                    x, y = i - piece[0], row * height + k
                    if good:
                        axes.add_patch(Rectangle((x - 0.5, y - 0.46), 1, 0.92, color=SURE(0.28), lw=0))
                    axes.text(
                        x, y, said[i], ha="center", va="center_baseline", fontsize=12, family="DejaVu Sans Mono",
                        color=readable(COLOURS["output"]) if good else MUTED,
                    )  # fmt: skip
        axes.set_yticks([row * height for row in range(len(rows))], [f"{k}" for k in rows])
        axes.set(xlim=(-0.7, longest - 0.3), ylim=(len(rows) * height - 0.7, -0.8))
        axes.set_xticks([])
        _bare(axes)
    told = [f"after {k} updates “{said}”" for k, said in rows.items()]
    return described(figure, f"What a network recites from the first letter of “{line}”: {'; '.join(told)}.")
