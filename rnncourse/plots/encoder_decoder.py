"""Pictures of unit 12: a chain that hands its summary to another, trees of answers, a table of edits, captions, and
what its experiments measured. Each says in its alt text, from its own data, what there is to see.
"""

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from jaxtyping import Float, Int
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure

from .charts import _bare, _chart, _panels, line_chart
from .drawing import RADIUS, Drawing, Shape
from .films import beam_film
from .style import COLOURS, CYCLE, INK, MUTED, TINTS, described, readable, style

STEP = 0.8
BOS, EOS = "bos", "eos"


def summary_chain(source: Sequence[str], target: Sequence[str], *, forced: bool = True) -> Figure:
    """An encoder that reads `source`, and a decoder that starts from its last state and writes `target`, then eos.

    forced: below the decoder stand the true tokens, shifted right; otherwise what it wrote is fed back to it.
    """
    low, middle, high = 0.95, 2.0, 3.05
    left, gap = 1.25, 1.35
    turn = left + STEP * (len(source) - 1) + gap
    sheet = Drawing(turn + STEP * len(target) + 0.5, high + 0.75)
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
    how = (
        f"Each reads a true token from below, {', '.join([BOS, *target])}: the row above it, one step late."
        if forced
        else f"The first reads {BOS}; dashed arrows lead from each token that was written to the next state."
    )
    return described(
        sheet.figure,
        f"A chain of {len(source)} encoder states reads {', '.join('space' if c == ' ' else c for c in source)}. An "
        f"arrow called summary leads from the last of them to a chain of {len(written)} decoder states, which write "
        f"{', '.join(written)}. {how}",
    )


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
    told = [
        f"{name}: {a} with {first[a]:.2f}, then {b} with {then[a][b]:.2f}, {first[a] * then[a][b]:.3f} in all"
        for name, (a, b) in paths.items()
    ]
    return described(sheet.figure, f"A tree of all {len(leaves)} answers of two words. {'; '.join(told)}.")


def show_beam(following: Callable[[tuple[str, ...]], Mapping[str, float]], width: int) -> None:
    """Show as a film how a beam grows and is cut, with the film's own captions for those who cannot see it.

    following: the probability of each next word after those so far, as `films.beam_film` takes it.
    """
    film = beam_film(following, width)
    film.show(" ".join(film.captions), title=f"A beam of {width}, round by round")


def edit_table(a: str, b: str, table: Int[np.ndarray, "A B"], path: Sequence[tuple[int, int]] = ()) -> Figure:
    """The edit distances between beginnings of a (rows) and of b (columns), with the cells of `path` tinted."""
    rows, columns = table.shape
    figure, axes = _chart((1.2 + 0.56 * columns, 1.0 + 0.5 * rows), "… into this beginning", "from this beginning …")
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
    _bare(axes)
    for k in range(columns + 1):
        axes.axvline(k - 0.5, color=COLOURS["faint"], lw=0.6)
    for k in range(rows + 1):
        axes.axhline(k - 0.5, color=COLOURS["faint"], lw=0.6)
    rows_told = "; ".join(" ".join(str(int(d)) for d in row) for row in table)
    return described(
        figure,
        f"The edits between the beginnings of {a} (rows) and of {b} (columns): {rows_told}. The last corner, "
        f"{int(table[-1, -1])}, is the distance." + (" One of the cheapest ways to it is tinted." if path else ""),
    )


def captioned_images(images: Float[np.ndarray, "N R C"], captions: Sequence[str], truths: Sequence[str]) -> Figure:
    """Images with what a model says of each above it, and where that is not the truth, the truth in brackets."""
    rows, columns = -(-len(images) // 4), 4
    figure, all_axes = _panels((2.45 * columns, 2.3 * rows), rows, columns)
    with style():
        for axes in all_axes:
            axes.axis("off")
        for axes, image, caption, truth in zip(all_axes, images, captions, truths, strict=False):
            axes.imshow(image, cmap="gray_r", vmin=0, vmax=1)
            wrong = caption != truth
            text = f"✗ {caption}\n({truth})" if wrong else f"{caption}\n"
            colour = readable(COLOURS["state"]) if wrong else INK
            axes.set_title(text, fontsize=11, loc="center", color=colour)
    told = "; ".join(c if c == t else f"{c}, where it is {t}" for c, t in zip(captions, truths, strict=False))
    return described(figure, f"{len(images)} handwritten digits with what a network says of them: {told}.")


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
    return described(
        sheet.figure,
        f"A table with a row for each of {' '.join('blank' if p == '–' else p for p in places)}, and a column for each "
        f"of {steps} steps. From each entry arrows lead to the same place one step later, to the next place, and "
        "past a blank to a different symbol. Paths begin in the first two rows and end in the last two.",
    )


def _before(places: Sequence[str], s: int) -> list[int]:
    """The places from which a path may come to place s: itself, the one before, and two before past a blank."""
    return [s - k for k in range(3) if s >= k and (k < 2 or places[s] != places[s - 2])]


def spikes(
    probabilities: Mapping[str, Float[np.ndarray, "T Q"]], symbols: Sequence[str], sounding: Int[np.ndarray, "T"]
) -> Figure:
    """The probability of each symbol but the first, the blank, against time, one chart for each name.

    Behind the lines the time in which each symbol really sounds is tinted, and named at the top.
    """
    figure, rows = _panels((8.0, 2.1 * len(probabilities) + 0.4), len(probabilities), sharex=True, sharey=True)
    edges = np.flatnonzero(np.diff(sounding, prepend=0, append=0))
    for axes, (name, table) in zip(rows, probabilities.items(), strict=True):
        with style():
            for start, end in pairwise(edges):
                if sounding[start]:
                    axes.axvspan(start - 0.5, end - 0.5, color=TINTS["plain"], lw=0)
                    axes.text((start + end - 1) / 2, 1.06, symbols[sounding[start]], ha="center", fontsize=11)
            axes.plot(table[:, 0], color=MUTED, lw=1.4, label=symbols[0])
            for k, symbol in enumerate(symbols[1:]):
                look = CYCLE[k]
                axes.plot(table[:, k + 1], color=look["color"], linestyle=look["linestyle"], lw=1.8, label=symbol)
            axes.set(ylim=(-0.03, 1.2), yticks=[0, 0.5, 1], ylabel="probability", title=name)
    rows[-1].set_xlabel("step")
    with style():
        figure.legend(*rows[0].get_legend_handles_labels(), loc="outside right center", title="said")
    told = [
        f"{name}: a note is at {table[:, 1:].max():.2f} at most, and the blank wins in "
        f"{np.mean(table.argmax(axis=1) == 0):.0%} of the steps"
        for name, table in probabilities.items()
    ]
    notes = [symbols[sounding[start]] for start in edges[:-1] if sounding[start]]
    return described(
        figure,
        f"The probability of each note against time, while {', '.join(notes)} sound, one after the other. "
        f"{'; '.join(told)}.",
    )


def learning_curve(curves: Mapping[str, Mapping[int, float]], what: str) -> Figure:
    """Shares of right answers by the number of updates, a line for each name; `what` is right in these shares."""
    alt = f"{what}, as a share, after so many updates."
    return _by_number(curves, alt, xlabel="updates", ylabel="share right", title=what)


def _by_number(lines: Mapping[str, Mapping[int, float]], alt: str, *, ticks: bool = False, **words: str) -> Figure:
    """Shares against a number, a line for each name. The alt text begins with `alt`; `words` are for `line_chart`.

    ticks: a mark of the axis at each number.
    """
    numbers = list(next(iter(lines.values())))
    told = [f"{_flat(n)}: {', '.join(f'{x}: {share:.0%}' for x, share in line.items())}" for n, line in lines.items()]
    shares = {name: list(line.values()) for name, line in lines.items()}
    whole: dict[str, Any] = {"ylim": (-0.03, 1.03), "alt": f"{alt} {'; '.join(told)}.", **words}
    figure = line_chart(numbers, shares, **whole)
    if ticks:
        figure.axes[0].set_xticks(numbers)
    return figure


def parts_right_bars(shares: Mapping[str, Mapping[str, float]]) -> Figure:
    """A group of bars for each part of an answer, a bar for each network: {"with": {"year": 0.9, "month": 0.8}}."""
    parts = list(next(iter(shares.values())))
    figure, axes = _chart((8.0, 3.6), ylabel="share right", title="Dates of unseen days, part by part")
    with style():
        wide = 0.8 / len(shares)
        for k, (name, found) in enumerate(shares.items()):
            for i, part in enumerate(parts):
                x = i + wide * (k - (len(shares) - 1) / 2)
                colour = CYCLE[k]["color"]
                tint = 1 - 0.35 * (1 - np.array(to_rgb(colour)))  # not transparent, as in an SVG the hatching were too
                axes.bar(
                    x, found[part], wide * 0.92, color=tint, edgecolor=colour, hatch=("", "///", "...")[k % 3],
                    label=name if i == 0 else None,
                )  # fmt: skip
                axes.text(x, found[part] + 0.015, f"{found[part]:.0%}", ha="center", va="bottom", fontsize=11)
        axes.set_xticks(range(len(parts)), parts)
        axes.set_ylim(0, 1.12)
        axes.grid(False, axis="x")
        figure.legend(loc="outside lower center", ncols=len(shares))
    told = [f"{name}: " + ", ".join(f"{part} {share:.0%}" for part, share in f.items()) for name, f in shares.items()]
    return described(
        figure, f"Bars for the share of dates of unseen days with the right {', '.join(parts)}. {'; '.join(told)}."
    )


def widths_chart(found: Mapping[str, Mapping[int, float]]) -> Figure:
    """The share of models in which a beam finds the best answer of all, by the beam's width."""
    title = "What a beam finds, against a search of everything"
    alt = "The share of models in which a beam of a width finds the best answer."
    words = {"xlabel": "width of the beam", "ylabel": "share with the best answer found"}
    return _by_number(found, alt, ticks=True, title=title, **words)


def beams_chart(scores: Mapping[str, Mapping[int, float]]) -> Figure:
    """BLEU by the width of the beam, a line for each name."""
    words = {"xlabel": "width of the beam", "ylabel": "BLEU", "title": "What a wider beam makes of it"}
    return _by_number(scores, "BLEU by the width of the beam.", ticks=True, **words)


def digits_right(shares: Mapping[str, Sequence[float]], wrong: int) -> Figure:
    """The share of right digits at each position, a line for each name; a rule where a wrong one is read back.

    wrong: which digit, counted from 0, is wrong when it is read.
    """
    places = list(range(1, len(next(iter(shares.values()))) + 1))
    figure = line_chart(
        places,
        shares,
        xlabel="position in the string",
        ylabel="digits right (share)",
        title="What one wrong digit does to those behind it",
        ylim=(-0.03, 1.03),
    )
    axes = figure.axes[0]
    axes.set_xticks(places)
    with style():
        axes.axvline(wrong + 1.5, color=MUTED, lw=1.2, linestyle=":")
        axes.text(wrong + 1.45, 0.36, "a wrong digit\nis read here", ha="right", va="bottom", color=MUTED, fontsize=11)
        axes.axhline(0.1, color=MUTED, lw=0.8)
        axes.text(1, 0.115, "by chance", color=MUTED, fontsize=11, va="bottom")
    told = [f"{_flat(name)}: {', '.join(f'{v:.0%}' for v in values)}" for name, values in shares.items()]
    return described(
        figure,
        f"The share of right digits at positions 1 to {places[-1]}; in some, digit {wrong + 1} is wrong when it is "
        f"read. {'; '.join(told)}. By chance it would be 10%.",
    )


def lengths_copied(shares: Mapping[str, Mapping[int, float]]) -> Figure:
    """The share of strings copied by their length, a line for each network."""
    words = {"xlabel": "digits in the string", "ylabel": "strings copied (share)"}
    alt, title = "The share of strings copied without a mistake, by length.", "Copied without a mistake, by length"
    return _by_number(shares, alt, ticks=True, title=title, **words)


def _flat(name: str) -> str:
    return " ".join(name.split())
