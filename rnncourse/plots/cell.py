"""Pictures of unit 03: a text as two graphs, what a state hears, forgets and holds, and a network that can be read."""

from collections.abc import Mapping, Sequence

import numpy as np
from jaxtyping import Float
from matplotlib.figure import Figure

from .charts import line_chart, state_heatmap
from .drawing import Drawing
from .style import COLOURS, MUTED, described

GAP = 1.3  # from one step to the next


def graphical_models(steps: int = 4) -> Figure:
    """What depends directly on what: on the left among the tokens alone, on the right with a hidden state between them.

    Left, each token has an arrow from every earlier one, steps (steps - 1) / 2 in all. Right, a state has an arrow from
    the state and from the token before it, and a token one from the state before it.
    """
    span = GAP * (steps - 1)
    second = 0.5 + span + 1.9
    sheet = Drawing(second + span + 0.5, 2.9)
    tokens = [sheet.node(0.5 + GAP * t, 1.15, f"$w_{{{t + 1}}}$", "output") for t in range(steps)]
    for t in range(1, steps):
        for k in range(t):
            sheet.arrow(tokens[k], tokens[t], colour=COLOURS["output"], bend=-0.22 * (t - k > 1) * (t - k) ** 0.5)
    sheet.text(0.5 - 0.31, 0.3, "without a state: on all that came before", MUTED, align="left")

    tokens = [sheet.node(second + GAP * t, 1.0, f"$w_{{{t + 1}}}$", "output") for t in range(steps)]
    states = [sheet.node(second + GAP * (t + 0.5), 2.3, f"$h_{{{t + 1}}}$", "state") for t in range(steps - 1)]
    for t, state in enumerate(states):
        sheet.arrow(tokens[t], state, colour=COLOURS["input"])
        sheet.arrow(state, tokens[t + 1], colour=COLOURS["output"])
        if t:
            sheet.arrow(states[t - 1], state, colour=COLOURS["state"])
    sheet.text(second - 0.31, 0.3, "with a state: on the state alone", MUTED, align="left")
    return described(
        sheet.figure,
        f"Left, {steps} words in a row, with an arrow from each to every later one, {steps * (steps - 1) // 2} in all. "
        f"Right, the same words, with {steps - 1} hidden states above them: each word leads to the state after it, "
        f"each state to the next state and to the next word, {3 * steps - 4} arrows in all.",
    )


def knock_chart(lines: Mapping[str, Float[np.ndarray, "T"]]) -> Figure:
    """The states of one unit that hears a knock at the first step and then nothing: a line for each W.

    A line alone has the whole range from -1 to 1, so that a slider keeps its scale.
    """
    return line_chart(
        range(1, len(next(iter(lines.values()))) + 1),
        lines,
        xlabel="time step t",
        ylabel="state $h_t$",
        title="One knock at t = 1, then silence",
        ylim=(-1.05, 1.05) if len(lines) == 1 else None,
    )


def apart_chart(states: Float[np.ndarray, "T N H"], size: float) -> Figure:
    """How far apart the two farthest of N runs are at each step, beside the bound for a W of norm `size` below 1.

    states: with the starts.
    """
    pairs = states[:, :, None] - states[:, None]
    apart = np.linalg.norm(pairs, axis=3).max(axis=(1, 2))
    steps = np.arange(len(states))
    lines = {"the two that are\nfarthest apart": np.maximum(apart, 1e-16)}
    if size < 1:
        lines[f"bound, ${size:g}^t$"] = apart[0] * size**steps
    return line_chart(
        steps,
        lines,
        xlabel="time step t",
        ylabel="distance of two runs",
        logy=True,
        title=f"{states.shape[1]} runs, each from another state, the same input at every step",
    )


def first_state_chart(bits: Mapping[str, Float[np.ndarray, "K"]]) -> Figure:
    """Bits for the next character after so many characters were read: a line for each kind of first state."""
    count = len(next(iter(bits.values())))
    figure = line_chart(
        range(1, count + 1), bits, xlabel="characters read", ylabel="bits for the next character", size=(8.0, 3.8)
    )
    figure.axes[0].set_xticks([1, *range(5, count + 1, 5)])
    return figure


def recall_chart(lines: Mapping[str, Float[np.ndarray, "K"]]) -> Figure:
    """The share of characters read k steps ago that was named right: a line for each kind of state."""
    return line_chart(
        range(len(next(iter(lines.values())))),
        lines,
        xlabel="k: how many steps ago the character was read",
        ylabel="share named right",
        title="What an untrained state remembers of unseen text",
        ylim=(0, 1.03),
    )


def words_and_latches(
    states: Float[np.ndarray, "T H"], sentence: Sequence[str], vocabulary: Sequence[str], latches: Sequence[str]
) -> Figure:
    """The units of a network while it reads a sentence: one for each of its words, in order, and the latches below.

    Of the H units the first are those of the vocabulary, the last those of the latches.
    """
    own = list(dict.fromkeys(sentence))
    units = [*(vocabulary.index(word) for word in own), *range(len(vocabulary), len(vocabulary) + len(latches))]
    shown = states[:, units]
    figure = state_heatmap(shown, sentence, title="The network reads: words flash, latches hold")
    axes = figure.axes[0]
    axes.set_yticks(range(len(units)), [*own, *(f"latch: {word}" for word in latches)], fontsize=11)
    axes.set_xticks(range(len(sentence)), sentence, rotation=40, ha="right", rotation_mode="anchor")
    axes.axhline(len(own) - 0.5, color=MUTED, linewidth=1)
    axes.set_ylabel("")
    held = [f"that of {word} {_when(row, sentence)}" for word, row in zip(latches, shown[:, len(own) :].T, strict=True)]
    return described(
        figure,
        f"A heat map of {len(units)} units over the words of a sentence. Each of the {len(own)} word units is on when "
        f"its word is read. Below them the latches: {'; '.join(held)}.",
    )


def _when(row: Float[np.ndarray, "T"], sentence: Sequence[str]) -> str:
    """From which word on a latch is on, and what is left of it at the end."""
    on = np.flatnonzero(row > 0.5)
    return f"turns on at {sentence[on[0]]} and ends at {row[-1]:.2f}" if len(on) else "stays off"
