"""Pictures of unit 12: a chain that hands its summary to another, a tree of answers, a table of edits, captions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise

import numpy as np
from jaxtyping import Float, Int
from matplotlib.figure import Figure

from .charts import _pad
from .drawing import RADIUS, Drawing, Shape
from .style import COLOURS, CYCLE, INK, MUTED, TINTS, readable, style

__all__ = ["answer_tree", "captioned_images", "edit_table", "path_lattice", "spikes", "summary_chain"]

STEP = 1.12
BOS, EOS = "bos", "eos"


def summary_chain(source: Sequence[str], target: Sequence[str], *, forced: bool = True) -> Figure:
    """An encoder that reads `source`, and a decoder that starts from its last state and writes `target`, then eos.

    forced: below the decoder stand the true tokens, shifted right; otherwise what it wrote is fed back to it.
    """
    low, middle, high = 0.95, 2.0, 3.05
    left, gap = 1.35, 1.5
    turn = left + STEP * (len(source) - 1) + gap
    sheet = Drawing(turn + STEP * len(target) + 0.75, high + 0.75)
    states = [sheet.node(left - 0.95, middle, "$0$", "plain", radius=0.22)]
    for t, symbol in enumerate(source):
        x = left + STEP * t
        state = sheet.node(x, middle, f"$h_{t + 1}$", "state")
        sheet.arrow(_token(sheet, x, low, symbol, "input"), state, colour=COLOURS["U"])
        states.append(state)
    written = [*target, EOS]
    outputs = []
    for t, symbol in enumerate(written):
        x = turn + STEP * t
        state = sheet.node(x, middle, f"$s_{t + 1}$", "state")
        output = _token(sheet, x, high, symbol, "output")
        sheet.arrow(state, output, colour=COLOURS["V"])
        if forced or t == 0:
            read = _token(sheet, x, low, [BOS, *target][t], "input")
            sheet.arrow(read, state, colour=COLOURS["U"])
        states.append(state)
        outputs.append(output)
    for k, (a, b) in enumerate(pairwise(states)):
        sheet.arrow(a, b, "summary" if k == len(source) else "", colour=COLOURS["W"])
    if not forced:
        for t, output in enumerate(outputs[:-1]):
            x = turn + STEP * (t + 0.5)
            corners = [(output.x + 0.34, high), (x, high), (x, low), (x + STEP / 2, low)]
            sheet.path([*corners, (x + STEP / 2, middle - RADIUS - 0.05)], COLOURS["U"], dashed=True)
    sheet.text(left + STEP * (len(source) - 1) / 2, 0.28, "the encoder reads", MUTED)
    words = "the true tokens, one step late" if forced else "each token that was written is read next"
    sheet.text(turn + STEP * len(target) / 2, 0.28, words, MUTED)
    return sheet.figure


def _token(sheet: Drawing, x: float, y: float, symbol: str, kind: str) -> Shape:
    shown = "␣" if symbol == " " else symbol
    return sheet.box(x, y, shown, kind, width=0.62, height=0.5, size=12)


def answer_tree(
    first: Mapping[str, float], then: Mapping[str, Mapping[str, float]], paths: Mapping[str, tuple[str, str]]
) -> Figure:
    """All answers of two words, with the probability of each word, and that of the answer behind it.

    `paths` names some of them, {"greedy": ("the", "dog")}, which are drawn in a colour of their own.
    """
    leaves = [(a, b) for a in first for b in then[a]]
    colours = dict(zip(paths, (COLOURS["state"], COLOURS["output"]), strict=False))
    height = 0.62 * len(leaves)
    sheet = Drawing(7.6, height + 0.75)
    ys = {leaf: height - 0.1 - 0.62 * i for i, leaf in enumerate(leaves)}
    root = sheet.box(0.65, height / 2 + 0.2, BOS, "plain", width=0.8, height=0.5, size=12)
    for a, probability in first.items():
        y = float(np.mean([ys[leaf] for leaf in leaves if leaf[0] == a]))
        on = [name for name, path in paths.items() if path[0] == a]
        word = sheet.box(2.65, y, a, "input", width=0.9, height=0.46, size=12)
        sheet.arrow(root, word, f"{probability:.2f}", colour=colours[on[0]] if on else MUTED, at=0.6)
        for b, chance in then[a].items():
            named = [name for name, path in paths.items() if path == (a, b)]
            colour = colours[named[0]] if named else MUTED
            leaf = sheet.box(4.75, ys[a, b], b, "input", width=0.9, height=0.46, size=12)
            sheet.arrow(word, leaf, f"{chance:.2f}", colour=colour, at=0.62, side=0.85)
            note = f"{probability * chance:.3f}" + (f"   {named[0]}" if named else "")
            sheet.text(5.45, ys[a, b], note, readable(colour) if named else INK, align="left")
    sheet.text(5.45, height + 0.42, "probability of both", MUTED, align="left")
    sheet.text(2.65, height + 0.42, "first word", MUTED)
    sheet.text(4.75, height + 0.42, "second", MUTED)
    return sheet.figure


def edit_table(a: str, b: str, table: Int[np.ndarray, "A B"], path: Sequence[tuple[int, int]] = ()) -> Figure:
    """The edit distances between beginnings of a (rows) and of b (columns), with the cells of `path` tinted."""
    rows, columns = table.shape
    with style():
        figure = Figure(figsize=(1.2 + 0.56 * columns, 1.0 + 0.5 * rows), layout="constrained")
        _pad(figure)
        axes = figure.add_subplot()
    for i, j in path:
        axes.fill([j - 0.5, j + 0.5, j + 0.5, j - 0.5], [i - 0.5, i - 0.5, i + 0.5, i + 0.5], color=TINTS["output"])
    with style():
        for i in range(rows):
            for j in range(columns):
                weight = "bold" if (i, j) == (rows - 1, columns - 1) else "normal"
                axes.text(j, i, str(int(table[i, j])), ha="center", va="center", color=INK, weight=weight)
    axes.set(xlim=(-0.5, columns - 0.5), ylim=(rows - 0.5, -0.5))
    axes.set_xticks(range(columns), ["nothing", *b])
    axes.set_yticks(range(rows), ["nothing", *a])
    axes.set_xlabel("… into this beginning")
    axes.set_ylabel("from this beginning …")
    axes.grid(False)
    axes.tick_params(length=0)
    for k in range(columns + 1):
        axes.axvline(k - 0.5, color=COLOURS["faint"], lw=0.6)
    for k in range(rows + 1):
        axes.axhline(k - 0.5, color=COLOURS["faint"], lw=0.6)
    axes.spines[:].set_visible(False)
    return figure


def captioned_images(
    images: Float[np.ndarray, "N R C"], captions: Sequence[str], truths: Sequence[str], *, columns: int = 4
) -> Figure:
    """Images with what a model says of each above it, and where that is not the truth, the truth in brackets."""
    rows = -(-len(images) // columns)
    with style():
        figure = Figure(figsize=(2.45 * columns, 2.3 * rows), layout="constrained")
        _pad(figure)
        all_axes = list(figure.subplots(rows, columns, squeeze=False).flat)
        for axes in all_axes:
            axes.axis("off")
        for axes, image, caption, truth in zip(all_axes, images, captions, truths, strict=False):
            axes.imshow(image, cmap="gray_r", vmin=0, vmax=1)
            wrong = caption != truth
            text = f"✗ {caption}\n({truth})" if wrong else f"{caption}\n"
            colour = readable(COLOURS["state"]) if wrong else INK
            axes.set_title(text, fontsize=10, loc="center", color=colour)
    return figure


def path_lattice(target: Sequence[str], steps: int) -> Figure:
    """All paths of `steps` symbols that collapse to `target`: a row for each place of it, with blanks between.

    Entries that no path goes through are pale.
    """
    places = ["–", *(symbol for letter in target for symbol in (letter, "–"))]
    across, down = 1.05, 0.62
    sheet = Drawing(1.0 + across * steps, down * len(places) + 1.0)
    top = down * len(places) + 0.35

    def from_start(s: int, t: int) -> bool:
        return s in (0, 1) if t == 0 else any(from_start(r, t - 1) for r in _before(places, s))

    begun = {(s, t) for s in range(len(places)) for t in range(steps) if from_start(s, t)}
    used = {(s, steps - 1) for s in (len(places) - 2, len(places) - 1)} & begun
    for t in range(steps - 1, 0, -1):
        used |= {(r, t - 1) for s, u in used if u == t for r in _before(places, s)} & begun
    nodes = {}
    for s, symbol in enumerate(places):
        y = top - down * s
        sheet.text(0.3, y, symbol, INK, 14)
        for t in range(steps):
            x = 0.95 + across * t
            kind = ("plain" if symbol == "–" else "state") if (s, t) in used else "faint"
            nodes[s, t] = sheet.node(x, y, "", kind, 0.15)
    for s, t in used:
        for r in _before(places, s):
            if t and (r, t - 1) in used:
                sheet.arrow(nodes[r, t - 1], nodes[s, t], colour=COLOURS["W"] if r == s - 2 else MUTED)
    for t in range(steps):
        sheet.text(0.95 + across * t, 0.28, f"$t = {t + 1}$", MUTED)
    return sheet.figure


def _before(places: Sequence[str], s: int) -> list[int]:
    """The places from which a path may come to place s: itself, the one before, and two before past a blank."""
    return [s - k for k in range(3) if s >= k and (k < 2 or places[s] != places[s - 2])]


def spikes(
    probabilities: Mapping[str, Float[np.ndarray, "T Q"]], symbols: Sequence[str], sounding: Int[np.ndarray, "T"]
) -> Figure:
    """The probability of each symbol but the first, the blank, against time, one chart for each name.

    Behind the lines the time in which each symbol really sounds is tinted, and named at the top.
    """
    with style():
        figure = Figure(figsize=(8.0, 2.1 * len(probabilities) + 0.4), layout="constrained")
        _pad(figure)
        rows = figure.subplots(len(probabilities), 1, sharex=True, sharey=True, squeeze=False)[:, 0]
    edges = np.flatnonzero(np.diff(sounding, prepend=0, append=0))
    for axes, (name, table) in zip(rows, probabilities.items(), strict=True):
        with style():
            for start, end in pairwise(edges):
                if sounding[start]:
                    axes.axvspan(start - 0.5, end - 0.5, color=TINTS["plain"], lw=0)
                    axes.text((start + end - 1) / 2, 1.06, symbols[sounding[start]], ha="center", fontsize=11)
            axes.plot(table[:, 0], color=COLOURS["faint"], lw=1.4, label=symbols[0])
            for k, symbol in enumerate(symbols[1:]):
                look = CYCLE[k]
                axes.plot(table[:, k + 1], color=look["color"], linestyle=look["linestyle"], lw=1.8, label=symbol)
            axes.set(ylim=(-0.03, 1.2), yticks=[0, 0.5, 1], ylabel="probability", title=name)
    rows[-1].set_xlabel("step")
    with style():
        figure.legend(*rows[0].get_legend_handles_labels(), loc="outside right center", title="said")
    return figure
