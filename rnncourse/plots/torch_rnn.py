"""Pictures of unit 07: the modules of a language model, a batch of padded words, a state carried between batches."""

from collections.abc import Sequence
from itertools import pairwise

from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from .drawing import Drawing
from .style import COLOURS, INK, MUTED, TINTS, style

__all__ = ["carried_state", "char_model", "padded_words", "tape"]


def tape() -> Figure:
    """A tape of three results, x, h = tanh x and L = h + h, and the errors on their way back."""
    sheet = Drawing(9.5, 3.0)
    level, places = 1.75, (1.3, 4.75, 8.2)
    words = ("$x = 0.5$", "$h = 0.462$", "$L = 0.924$")
    boxes = [
        sheet.box(x, level, text, kind, width=1.6, height=0.7, size=14)
        for x, text, kind in zip(places, words, ("input", "state", "loss"), strict=True)
    ]
    for number, x in enumerate(places):
        sheet.text(x, level + 0.65, f"number {number}", MUTED)
    sheet.arrow(boxes[0], boxes[1], "tanh", at=0.5)
    for up in (-0.17, 0.17):
        sheet.arrow((places[1] + 0.85, level + up), (places[2] - 0.85, level + up))
    sheet.text((places[1] + places[2]) / 2, level + 0.42, "$h + h$", INK)
    bottom = level - 0.75
    for near, far in ((2, 1), (1, 0)):
        sheet.path([(places[near] - 0.75, bottom), (places[far] + 0.75, bottom)], COLOURS["gradient"], dashed=True)
    for x, error in zip(places, ("1.573", "1 + 1 = 2", "1"), strict=True):
        sheet.text(x, bottom, error, COLOURS["gradient"], size=13)
    sheet.text((places[0] + places[1]) / 2, bottom - 0.35, r"$2 \cdot (1 - 0.462^2)$", MUTED)
    sheet.text((places[1] + places[2]) / 2, bottom - 0.35, "1 along each arrow", MUTED)
    sheet.text(4.75, 0.2, "dashed: the errors. They go from the highest number to the lowest.", MUTED)
    return sheet.figure


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
    return sheet.figure


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
            axes.set_xticks(range(N), [f"{n}\nlength {len(word)}" for n, word in enumerate(words)], fontsize=10)
            axes.set_yticks(range(T))
            axes.grid(False)
            axes.tick_params(length=0)
            axes.spines[:].set_visible(False)
    return figure


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
    return sheet.figure
