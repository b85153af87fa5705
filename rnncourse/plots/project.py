"""Pictures of unit 15: which part may say what, and what a network believes from letter to letter."""

from collections.abc import Mapping, Sequence
from itertools import pairwise

import numpy as np
from jaxtyping import Float
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure

from .charts import _chart, _colour_bar, _panels, line_chart
from .drawing import Drawing
from .style import COLOURS, CYCLE, MUTED, described, style

BELIEF = LinearSegmentedColormap.from_list("belief", ["#FFFFFF", COLOURS["V"]])


def three_parts() -> Figure:
    """Documents are dealt to three parts; the first fits, the second chooses, the third is scored. No arrow leads back
    from the third.
    """
    sheet = Drawing(8.25, 3.75)
    high, middle, low = 2.95, 1.85, 0.75
    documents = sheet.box(1.0, middle, "documents", "plain", width=1.5, height=0.6, size=13)
    rows = {
        high: ("train", "input", "what is fitted", "vocabulary, counts, weights"),
        middle: ("validation", "state", "what is chosen", "n, alpha, the epoch"),
        low: ("test", "output", "what is told", "the figures, once"),
    }
    boxes = []
    for y, (part, kind, title, note) in rows.items():
        box = sheet.box(3.6, y, part, kind, width=1.5, height=0.6, size=13)
        use = sheet.box(6.4, y, title, kind, width=1.9, height=0.6, size=13)
        sheet.text(6.4, y - 0.46, note, MUTED)
        sheet.arrow(documents, box)
        sheet.arrow(box, use, colour=COLOURS[kind])
        boxes.append(use)
    sheet.text(1.0, middle - 0.5, "whole groups", MUTED)
    for above, below in pairwise(boxes):  # beside the notes
        x = above.x + above.width / 2 + 0.5
        points = [
            (above.x + above.width / 2, above.y),
            (x, above.y),
            (x, below.y),
            (below.x + below.width / 2, below.y),
        ]
        sheet.path(points, COLOURS["plain"])
    return described(
        sheet.figure,
        "Documents are dealt to three parts, whole groups at a time. Train leads to what is fitted: vocabulary, "
        "counts, weights. Validation leads to what is chosen: n, alpha, the epoch. Test leads to what is told: the "
        "figures, once. From fitted an arrow leads to chosen and on to told. No arrow leads from the test part back.",
    )


def letter_by_letter(beliefs: Float[np.ndarray, "T Q"], letters: Sequence[str], names: Sequence[str]) -> Figure:
    """What is believed after each letter: a column for each of the T letters, a row for each of the Q names."""
    figure, (axes,) = _panels((1.9 + 0.3 * len(letters), 1.1 + 0.27 * len(names)), layout="compressed")
    with style():
        image = axes.imshow(beliefs.T, cmap=BELIEF, vmin=0, vmax=1, aspect="auto")
        axes.set_xticks(range(len(letters)), ["␣" if letter == " " else letter for letter in letters])
        axes.set_yticks(range(len(names)), list(names))
        axes.set_xlabel("letters read so far")
        axes.set_xticks(np.arange(len(letters) - 1) + 0.5, minor=True)
        axes.set_yticks(np.arange(len(names) - 1) + 0.5, minor=True)
        axes.grid(False)
        axes.grid(True, which="minor", color="#E8E8E8", lw=0.6)
        axes.tick_params(which="both", length=0)
        _colour_bar(figure, image, axes, "probability")
    sure = [(letters[t], names[q]) for t, q in enumerate(beliefs.argmax(axis=1)) if beliefs[t, q] > 0.9]
    told = (
        f"surer than nine in ten first at {sure[0][0]!r}, of {sure[0][1]}" if sure else "never surer than nine in ten"
    )
    last = names[int(beliefs[-1].argmax())]
    return described(
        figure, f"What is believed after each of {len(letters)} letters: {told}; at the end most in {last}."
    )


def bits_of_splits(bits: Sequence[Mapping[str, float]]) -> Figure:
    """The bits on the test part of each model, a row for each, and a mark for each split."""
    models = sorted(bits[0], key=lambda model: -float(np.mean([one[model] for one in bits])))
    figure, axes = _chart((8.0, 1.2 + 0.5 * len(models)), "bits a letter on the test part")
    told = []
    with style():
        for y, model in enumerate(models):
            values = [one[model] for one in bits]
            axes.plot(
                values,
                [y] * len(values),
                **{**CYCLE[y % len(CYCLE)], "linestyle": "", "markersize": 8, "markerfacecolor": "none"},
            )
            told.append(f"{model} {', '.join(f'{value:.2f}' for value in values)}")
    axes.set_yticks(range(len(models)), models)
    axes.set_ylim(len(models) - 0.5, -0.5)
    axes.set_xlim(left=0)
    return described(figure, f"Bits a letter on the test part, a mark for each split. {'; '.join(told)}.")


def bits_at_each_letter(costs: Mapping[str, Float[np.ndarray, "K"]]) -> Figure:
    """The mean bits at the first, second, … letter, a line for each model."""
    letters = range(1, len(next(iter(costs.values()))) + 1)
    return line_chart(letters, costs, xlabel="letters read", ylabel="bits at this letter")
