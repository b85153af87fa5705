"""Pictures of unit 07: a tape, a language model's modules, padding, a carried state, and charts of its experiments."""

from collections.abc import Mapping, Sequence
from itertools import pairwise

import numpy as np
from jaxtyping import Float
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from .charts import _bare, _chart, _name_rows, _seeds_beside, line_chart
from .drawing import Drawing
from .style import COLOURS, INK, MUTED, TINTS, described, readable, style


def tape(x: float = 0.5) -> Figure:
    """A tape of three results, x, h = tanh x and L = h + h, and the errors on their way back."""
    sheet = Drawing(9.5, 3.0)
    h = float(np.tanh(x))
    level, places = 1.75, (1.3, 4.75, 8.2)
    words = (f"$x = {x:g}$", f"$h = {h:.3f}$", f"$L = {2 * h:.3f}$")
    boxes = [
        sheet.box(place, level, text, kind, width=1.6, height=0.7, size=14)
        for place, text, kind in zip(places, words, ("input", "state", "loss"), strict=True)
    ]
    for number, place in enumerate(places):
        sheet.text(place, level + 0.65, f"number {number}", MUTED)
    sheet.arrow(boxes[0], boxes[1], "tanh", at=0.5)
    for up in (-0.17, 0.17):
        sheet.arrow((places[1] + 0.85, level + up), (places[2] - 0.85, level + up))
    sheet.text((places[1] + places[2]) / 2, level + 0.42, "$h + h$", INK)
    bottom = level - 0.75
    for near, far in ((2, 1), (1, 0)):
        sheet.path([(places[near] - 0.75, bottom), (places[far] + 0.75, bottom)], COLOURS["gradient"], dashed=True)
    for place, error in zip(places, (f"{2 * (1 - h * h):.3f}", "1 + 1 = 2", "1"), strict=True):
        sheet.text(place, bottom, error, COLOURS["gradient"], size=13)
    sheet.text((places[0] + places[1]) / 2, bottom - 0.35, rf"$2 \cdot (1 - {h:.3f}^2)$", MUTED)
    sheet.text((places[1] + places[2]) / 2, bottom - 0.35, "1 along each arrow", MUTED)
    sheet.text(4.75, 0.2, "dashed: the errors. They go from the highest number to the lowest.", MUTED)
    return described(
        sheet.figure,
        f"Three boxes in a row: number 0, x = {x:g}; number 1, h = {h:.3f}; number 2, L = {2 * h:.3f}. An arrow tanh "
        "leads from x to h, and two arrows lead from h to L. Below, dashed, the errors: L has 1, h gets 1 + 1 = 2, x "
        f"gets 2 (1 - {h:.3f}²) = {2 * (1 - h * h):.3f}.",
    )


def char_model() -> Figure:
    """The three modules of a character language model in a row, with what goes from one to the next and its shape."""
    sheet = Drawing(9.5, 2.75)
    level, step = 1.9, 2.8
    places = [0.4 + step * i for i in range(4)]
    names = ["ids", "vectors", "states", "logits"]
    shapes = ["(T, N)", "(T, N, E)", "(T, N, H)", "(T, N, Q)"]
    modules = [("nn.Embedding", "input"), ("nn.RNN", "state"), ("nn.Linear", "output")]
    for x, name, shape in zip(places, names, shapes, strict=True):
        sheet.text(x + 0.15, level + 0.09, name, INK, size=13)
        sheet.text(x + 0.15, level - 0.17, shape, MUTED)
    for x, (name, kind) in zip(places, modules, strict=False):
        box = sheet.box(x + 1.52, level, name, kind, width=1.35, height=0.62, size=12)
        sheet.arrow((x + 0.59, level), box)
        sheet.arrow(box, (x + 2.47, level))
    rnn = places[1] + 1.52
    bottom = 0.75
    for side, words in ((-1, "state"), (1, "h_n")):
        sheet.text(rnn + side * 0.85, bottom + 0.09, words, INK, size=13)
        sheet.text(rnn + side * 0.85, bottom - 0.17, "(1, N, H)", MUTED)
    colour = COLOURS["W"]
    sheet.path([(rnn - 0.85, bottom + 0.3), (rnn - 0.35, level - 0.33)], colour)
    sheet.path([(rnn + 0.35, level - 0.33), (rnn + 0.85, bottom + 0.3)], colour)
    for place, name in ((0, "embedding"), (1, "rnn"), (2, "output")):
        sheet.text(places[place] + 1.52, level + 0.55, name, MUTED)
    sheet.text(rnn, 0.2, "from the batch before … to the next one", MUTED)
    told = "; ".join(
        f"{name} {shape} go through {part}, an {module}"
        for name, shape, part, (module, _) in zip(names, shapes, ("embedding", "rnn", "output"), modules, strict=False)
    )
    return described(
        sheet.figure,
        f"From left to right: {told}, and become {names[-1]} {shapes[-1]}. The rnn also takes a state (1, N, H) from "
        "the batch before, and hands h_n, of the same shape, to the next one.",
    )


def padded_words(words: Sequence[str]) -> Figure:
    """A batch of words side by side, time downwards: what is padded, what the mask says, where each word ends."""
    T, N = max(map(len, words)), len(words)
    with style():
        figure = Figure(figsize=(2.6 + 1.05 * N, 1.3 + 0.42 * T), layout="constrained")
        left, right = figure.subplots(1, 2)
        for axes, title in ((left, "padded"), (right, "mask")):
            for n, word in enumerate(words):
                for t in range(T):
                    real = t < len(word)
                    last = t == len(word) - 1
                    fill = TINTS["input"] if real else "#FFFFFF"
                    text = (word[t] if real else "0") if axes is left else ("True" if real else "False")
                    edge = COLOURS["W"] if last else "#B0B0B0"
                    axes.add_patch(
                        Rectangle(
                            (n - 0.45, t - 0.43), 0.9, 0.86, facecolor=fill, edgecolor=edge, lw=2.2 if last else 0.8
                        )
                    )
                    size = 14 if axes is left else 10
                    axes.text(n, t, text, ha="center", va="center", fontsize=size, color=INK if real else MUTED)
            axes.set(title=title, xlabel="sequence n", ylabel="time step t", xlim=(-0.6, N - 0.4), ylim=(T - 0.4, -0.6))
            axes.set_xticks(range(N), [f"{n}\nlength {len(word)}" for n, word in enumerate(words)], fontsize=11)
            axes.set_yticks(range(T))
            _bare(axes)
    told = ", ".join(f"{word} ({len(word)})" for word in words)
    return described(
        figure,
        f"{N} words side by side, time running downwards, with their lengths: {told}. Left their letters, and zeros "
        "below the shorter ones. Right the mask, True at each letter and False in the padding. The last letter of each "
        "word has a frame.",
    )


def carried_state() -> Figure:
    """Three batches of one long text: the state goes on from each to the next, the gradient does not."""
    sheet = Drawing(10.0, 3.1)
    level = 1.85
    places = [1.75 + 3.1 * k for k in range(3)]
    boxes = [
        sheet.box(x, level, f"batch {k}", "state", width=1.5, height=0.7, size=13) for k, x in enumerate(places, 1)
    ]
    sheet.text(0.35, level, "None", INK, size=13)
    sheet.arrow((0.65, level), boxes[0], colour=COLOURS["W"])
    for a, b in pairwise(boxes):
        sheet.arrow(a, b, "state.detach()", colour=COLOURS["W"], at=0.5)
    sheet.arrow(boxes[2], (9.75, level), colour=COLOURS["W"])
    for box in boxes:
        loss = sheet.node(box.x, level + 0.9, "$L$", "loss", radius=0.24)
        sheet.arrow(box, loss)
        right, left = box.x + 0.65, box.x - 1.05
        sheet.path([(right, level - 0.6), (left, level - 0.6)], COLOURS["gradient"], dashed=True)
        sheet.line((left - 0.06, level - 0.85), (left - 0.06, level - 0.35), COLOURS["gradient"], width=3)
    sheet.text(5.0, 0.55, "dashed: the gradient. It runs back through its own batch and stops at the border.", MUTED)
    sheet.text(5.0, 0.2, "solid: the value of the state. It goes on through the whole text.", MUTED)
    return described(
        sheet.figure,
        f"{len(boxes)} batches in a row, each with its loss. The state goes from None into batch 1, and from each "
        "batch, detached, into the next. Below each batch a dashed arrow, the gradient, runs back through it and stops "
        "at the border to the batch before.",
    )


def latch_chart(rights: Mapping[str, Sequence[float]]) -> Figure:
    """The share of right answers on each update's batch: a line for each name."""
    updates = len(next(iter(rights.values())))
    figure = line_chart(
        range(1, updates + 1),
        rights,
        xlabel="update",
        ylabel="share of right answers",
        ylim=(0.2, 1.03),
        title="A latch, trained on a tape",
        size=(8.0, 3.4),
    )
    figure.axes[0].axhline(1.0, color=COLOURS["faint"], lw=1.0, zorder=0)
    return figure


def times_chart(sizes: Sequence[int], ratios: Mapping[str, Sequence[float]]) -> Figure:
    """The time of several layers against the number of units, in units of the last one's time."""
    *_, unit = ratios
    figure = line_chart(
        sizes,
        ratios,
        xlabel="units H, and inputs D",
        ylabel=f"time / time of {unit}",
        logx=True,
        ylim=(0, 1.05 * max(map(max, ratios.values()))),
        title="Forwards and backwards, on this machine",
        size=(8.0, 3.6),
    )
    figure.axes[0].set_xticks(sizes, [f"{size}" for size in sizes])
    figure.axes[0].minorticks_off()
    return figure


def padding_chart(moved: Sequence[float]) -> Figure:
    """How far padding moves a state, by its steps, beside the distance of two words, which is 1."""
    return line_chart(
        range(len(moved)),
        {"moved by\nthe padding": moved, "two different\nwords": [1.0] * len(moved)},
        xlabel="steps of padding after the last letter",
        ylabel="distance, as a share of\nthat between two words",
        ylim=(0.0, max(1.4, 1.1 * max(moved))),
        title="200 words of Python's documentation",
        size=(8.0, 3.6),
    )


def beside_counting(bits: Mapping[str, Sequence[float]], counted: Sequence[float]) -> Figure:
    """Bits per character after each epoch; at the right, where Kneser-Ney's n-grams stand, for n from 1 on."""
    epochs = len(next(iter(bits.values())))
    figure, axes = _chart((8.5, 4.4), "epochs", "bits per character", "A character model of Python's documentation")
    with style():
        for (name, line), colour, marker in zip(bits.items(), (COLOURS["W"], COLOURS["U"]), ("o", "s"), strict=False):
            axes.plot(range(1, epochs + 1), line, color=colour, marker=marker, lw=2)
            axes.annotate(name, (1, line[0]), (10, 6), textcoords="offset points", color=readable(colour), fontsize=12)
        for n, level in enumerate(counted, 1):
            axes.axhline(level, color=MUTED, lw=1.2, linestyle=(0, (4, 3)), zorder=1)
            axes.text(
                1.02, level, f"{n}-gram", transform=axes.get_yaxis_transform(), color=MUTED, va="center", fontsize=12
            )
    axes.set_xticks(range(1, epochs + 1))
    axes.set_xlim(0.9, epochs + 0.1)
    told = "; ".join(f"{name}: {', '.join(f'{b:.2f}' for b in line)}" for name, line in bits.items())
    levels = ", ".join(f"{n}-gram {level:.2f}" for n, level in enumerate(counted, 1))
    return described(
        figure,
        f"Bits per character after 1 to {epochs} epochs. {told}. Dashed, on held-out text, Kneser and Ney's n-grams: "
        f"{levels}.",
    )


def perplexity_bars(yours: Mapping[str, float], ours: Mapping[str, Sequence[float]] | None = None) -> Figure:
    """A bar for each model with its perplexity; `ours` adds a line from the lowest to the highest over our seeds."""
    figure, axes = _chart((8.5, 1.1 + 0.42 * len(yours)), "perplexity on words that were held out")
    reach = max(yours.values())
    with style():
        for row, (name, value) in enumerate(yours.items()):
            colour = COLOURS["faint"] if "gram" in name else COLOURS["V"]
            axes.barh(row, value, height=0.6, color=colour, alpha=0.55, lw=0)
            axes.text(1.02, row, f"{value:.0f}", va="center", color=INK, transform=axes.get_yaxis_transform())
        axes.set_xlim(0, 1.06 * reach)
        _name_rows(axes, list(yours))
        said = _seeds_beside(axes, yours, ours, 1.06 * reach, ".0f")
    return described(figure, f"Bars of perplexity: {said}.")


def interrupted_chart(losses: Mapping[str, Float[np.ndarray, "K"]]) -> Figure:
    """How far the loss of each resumed training is off that of the first one, which was not disturbed."""
    undisturbed, *others = losses
    off = {name: losses[name] - losses[undisturbed] for name in others}
    told = "; ".join(f"{name}, at most {np.abs(line).max():.2g} bits" for name, line in off.items())
    return line_chart(
        range(3, 3 * len(losses[undisturbed]) + 1, 3),
        off,
        xlabel="updates after the interruption",
        ylabel=f"training loss, less that of the\n{undisturbed} run (bits per character)",
        title="The same training, interrupted",
        size=(8.0, 3.8),
        alt=f"How far the training loss is off that of the {undisturbed} run: {told}.",
    )


def reported_losses(losses: Mapping[str, Sequence[float]]) -> Figure:
    """The losses that several programs report, on a logarithmic axis."""
    return line_chart(
        range(1, len(next(iter(losses.values()))) + 1),
        {name.replace(" on the ", "\non the "): line for name, line in losses.items()},
        xlabel="update",
        ylabel="loss, as the program reports it",
        logy=True,
        title="Three programs, no error message",
    )
