"""Pictures of unit 15: which part may say what, and what a network believes from letter to letter."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from jaxtyping import Float
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure

from .charts import _pad
from .drawing import Drawing
from .style import COLOURS, MUTED, style

__all__ = ["letter_by_letter", "three_parts"]

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
    return sheet.figure


def letter_by_letter(beliefs: Float[np.ndarray, "T Q"], letters: Sequence[str], names: Sequence[str]) -> Figure:
    """What is believed after each letter: a column for each of the T letters, a row for each of the Q names."""
    with style():
        figure = Figure(figsize=(1.9 + 0.3 * len(letters), 1.1 + 0.27 * len(names)), layout="compressed")
        _pad(figure)
        axes = figure.add_subplot()
        image = axes.imshow(beliefs.T, cmap=BELIEF, vmin=0, vmax=1, aspect="auto")
        axes.set_xticks(range(len(letters)), ["␣" if letter == " " else letter for letter in letters])
        axes.set_yticks(range(len(names)), list(names))
        axes.set_xlabel("letters read so far")
        axes.set_xticks(np.arange(len(letters) - 1) + 0.5, minor=True)
        axes.set_yticks(np.arange(len(names) - 1) + 0.5, minor=True)
        axes.grid(False)
        axes.grid(True, which="minor", color="#E8E8E8", lw=0.6)
        axes.tick_params(which="both", length=0)
        bar = figure.colorbar(image, ax=axes, pad=0.02)
        bar.outline.set_visible(False)
        bar.set_label("probability")
    return figure
