"""Pictures of unit 13: attention as arrows and as a map, digits that are repeated, and what positions know."""

from collections.abc import Mapping, Sequence
from itertools import pairwise

import numpy as np
from jaxtyping import Float
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure
from matplotlib.patches import FancyArrowPatch

from .charts import _colour_bar, _panels, line_chart
from .drawing import Drawing, Shape
from .style import COLOURS, MUTED, described, style

STEP = 1.25
ATTENTION = LinearSegmentedColormap.from_list("attention", ["#FFFFFF", COLOURS["V"]])


def attention_arrows(weights: Sequence[float], symbols: Sequence[str]) -> Figure:
    """One step of a decoder that looks at all states of the encoder: the arrows are as wide as the weights are large.

    Below stand the encoder's chain and its inputs, above the decoder's state s, which asks, and the context c.
    """
    left, low, middle, high = 1.0, 0.75, 1.75, 3.75
    last = left + STEP * (len(symbols) - 1)
    sheet = Drawing(last + 4.0, high + 0.85)
    states = []
    for j, symbol in enumerate(symbols, 1):
        x = left + STEP * (j - 1)
        signal = sheet.box(x, low, symbol, "input", width=0.5, height=0.45, size=13)
        state = sheet.node(x, middle, f"$h_{j}$", "state")
        sheet.arrow(signal, state, colour=COLOURS["U"])
        states.append(state)
    for before, after in pairwise(states):
        sheet.arrow(before, after, "W" if after is states[1] else "", colour=COLOURS["W"])
    context = sheet.node((left + last) / 2, high, "$c_t$", "output")
    for state, weight in zip(states, weights, strict=True):
        _wide_arrow(sheet, state, context, 0.6 + 7 * weight)
        share = 0.3 if abs(state.x - context.x) > STEP else 0.36
        x = state.x + share * (context.x - state.x)
        y = state.y + share * (context.y - state.y)
        sheet.text(
            x, y, f"{weight:.2f}", size=12, bbox={"facecolor": "white", "edgecolor": "none", "pad": 1.5, "alpha": 0.9}
        )
    asking = sheet.node(last + 1.9, high, "$s_t$", "state")
    sheet.arrow(asking, context, "asks", colour=COLOURS["plain"], side=-1, at=0.35)
    answer = sheet.node(last + 3.3, high, "$y_t$", "output")
    sheet.arrow(asking, answer, colour=COLOURS["V"])
    sheet.arrow(context, answer, colour=COLOURS["V"], bend=-0.16)
    sheet.text(last + 0.75, middle, "green: what the weights bring along", MUTED, align="left")
    shares = ", ".join(f"{weight:.2f} from h{j}" for j, weight in enumerate(weights, 1))
    alt = (
        f"{len(symbols)} inputs at the bottom, above them the chain of the encoder's states. From each state an arrow "
        f"leads up to a context c, the wider the larger its weight: {shares}. A decoder's state s asks, and the output "
        "y is made of s and c."
    )
    return described(sheet.figure, alt)


def _wide_arrow(sheet: Drawing, start: Shape, end: Shape, width: float) -> None:
    angle = float(np.arctan2(end.y - start.y, end.x - start.x))
    arrow = FancyArrowPatch(
        start.border(angle),
        end.border(angle + np.pi),
        arrowstyle="-|>,head_length=5,head_width=3",
        mutation_scale=1,
        shrinkA=0,
        shrinkB=0,
        color=COLOURS["V"],
        lw=width,
        zorder=1,
    )
    sheet.axes.add_patch(arrow)


def alignment_map(weights: Float[np.ndarray, "T S"], source: str, target: str, *, title: str = "") -> Figure:
    """How each character of the output shared out its attention among the characters of the input."""
    figure, (axes,) = _panels((1.6 + 0.27 * len(source), 1.3 + 0.27 * len(target)), layout="compressed")
    with style():
        image = axes.imshow(weights, cmap=ATTENTION, vmin=0, vmax=1, aspect="equal")
        axes.set_xticks(range(len(source)), ["␣" if sign == " " else sign for sign in source])
        axes.set_yticks(range(len(target)), list(target))
        axes.set(title=title, xlabel="input character", ylabel="output character")
        axes.set_xticks(np.arange(len(source) - 1) + 0.5, minor=True)
        axes.set_yticks(np.arange(len(target) - 1) + 0.5, minor=True)
        axes.grid(False)
        axes.grid(True, which="minor", color="#E8E8E8", lw=0.6)
        axes.tick_params(which="both", length=0)
        _colour_bar(figure, image, axes, "weight")
    darkest = ", ".join(
        f"{sign} at {'the space' if source[j] == ' ' else source[j]} ({j + 1})"
        for sign, j in zip(target, np.argmax(weights, axis=1), strict=True)
    )
    alt = f"A grid with the input {source} below and the output {target} at the side. Darkest in each row: {darkest}."
    return described(figure, alt)


def repeated_chart(lengths: Sequence[int], shares: Mapping[str, Sequence[float]], longest: int) -> Figure:
    """The share of sequences that are repeated without a mistake against their length; trained up to `longest`."""
    figure = line_chart(lengths, shares, xlabel="length (digits)", ylabel="share without a mistake", ylim=(-0.03, 1.05))
    axes = figure.axes[0]
    axes.axvline(longest, color=MUTED, lw=1.2, linestyle=(0, (4, 3)))
    axes.text(longest - 0.15, 0.5, "longest of\nits training", color=MUTED, va="center", ha="right", fontsize=11)
    axes.set_xticks(list(lengths))
    said = "; ".join(
        f"{name}: " + ", ".join(f"{n} digits {share:.2f}" for n, share in zip(lengths, row, strict=True))
        for name, row in shares.items()
    )
    return described(figure, f"Share repeated without a mistake against length, trained up to {longest}. {said}.")


def places_map(products: Float[np.ndarray, "T T"]) -> Figure:
    """The dot product of the vectors of every two places."""
    figure, (axes,) = _panels((5.6, 4.2), layout="compressed")
    with style():
        image = axes.imshow(products, cmap=ATTENTION)
        axes.set(xlabel="place", ylabel="place")
        axes.grid(False)
        _colour_bar(figure, image, axes, "dot product")
    row, half = products[0], len(products) // 2
    alt = (
        f"A grid of {len(products)} by {len(products)} places, shaded by the dot product of their vectors: "
        f"{row[0]:.1f} on the diagonal, {row[1]:.1f} one place beside it, {row[half]:.1f} at a distance of {half}; the "
        "same all along each diagonal."
    )
    return described(figure, alt)
