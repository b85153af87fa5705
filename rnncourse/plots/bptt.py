"""Charts of unit 04: a network that learns to spell, and backward passes that are wrong though the loss falls."""

from collections.abc import Mapping

import numpy as np
from jaxtyping import Float
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from .charts import _pad
from .style import COLOURS, MUTED, readable, style

__all__ = ["loss_shares", "spelling_grid"]

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
        axes.grid(False)
        axes.tick_params(length=0)
        axes.spines[:].set_visible(False)
        bar = figure.colorbar(image, ax=axes, pad=0.03, boundaries=np.linspace(0, 1, 101), ticks=[0, 0.5, 1])
        bar.set_label("probability of the guess")
        bar.outline.set_visible(False)
    return figure


def _frame(x: float, y: float) -> Rectangle:
    return Rectangle((x - 0.44, y - 0.42), 0.88, 0.84, fill=False, edgecolor=COLOURS["output"], lw=1.8)


def loss_shares(shares: Mapping[str, float]) -> Figure:
    """A bar for each backward pass: the loss after training, as a share of the loss before; 1 is no progress.

    The first one is the right one. A share that is no number, or above 1.25, is drawn as a bar that leaves the chart.
    """
    names, end = list(shares), 1.25
    with style():
        figure = Figure(figsize=(7.2, 1.1 + 0.34 * len(names)), layout="constrained")
        _pad(figure)
        axes = figure.add_subplot()
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
        axes.set_yticks(range(len(names)), names)
        axes.set(xlim=(0, end), ylim=(len(names) - 0.4, -1.2), xlabel="loss after training / loss before")
        axes.grid(False, axis="y")
        axes.tick_params(axis="y", length=0)
    return figure
