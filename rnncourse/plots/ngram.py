"""Diagrams of unit 01: two sentences in one bag, and the line of probabilities from which an index is drawn."""

from collections.abc import Mapping, Sequence

from matplotlib.figure import Figure

from .drawing import Drawing, text_width
from .style import COLOURS, MUTED

__all__ = ["one_bag", "probability_line"]


def one_bag(sentences: Sequence[Sequence[str]], vocabulary: Sequence[str]) -> Figure:
    """Sentences on the left, and on the right the one bag of words that all of them give: a count for each word."""
    gap, pad, height, row = 0.08, 0.24, 0.42, 0.95
    top = 0.55 + row * (len(sentences) - 1)
    middle = (0.55 + top) / 2
    ends = [sum(text_width(token) + pad + gap for token in tokens) for tokens in sentences]
    left = 0.2 + max(ends) + 1.1
    widths = [text_width(word) + pad for word in vocabulary]
    sheet = Drawing(left + sum(widths) + gap * len(widths) + 0.2, max(top + 0.55, 1.9))
    for k, tokens in enumerate(sentences):
        x, y = 0.2, top - row * k
        for token in tokens:
            width = text_width(token) + pad
            sheet.box(x + width / 2, y, token, "input", width, height, size=12)
            x += width + gap
        sheet.arrow(
            (x + 0.05, y), (left - 0.12, middle + 0.12 * (1 - 2 * k / max(len(sentences) - 1, 1))), colour=MUTED
        )
    x = left
    for word, width in zip(vocabulary, widths):
        sheet.text(x + width / 2, middle + 0.42, word, MUTED)
        sheet.box(x + width / 2, middle, str(max(tokens.count(word) for tokens in sentences)), "output", width, height)
        x += width + gap
    sheet.text((left + x) / 2, middle - 0.48, "the bag of both", MUTED)
    return sheet.figure


def probability_line(probabilities: Mapping[str, float], u: float) -> Figure:
    """The probabilities laid end to end from 0 to 1, one piece for each token, and where u falls on the line."""
    left, right, level = 0.4, 8.1, 0.85
    sheet = Drawing(8.5, 1.9)

    def at(value: float) -> float:
        return left + (right - left) * value

    start = 0.0
    for token, probability in probabilities.items():
        end = start + probability
        hit = start <= u < end
        sheet.box(
            at((start + end) / 2), level, token, "output" if hit else "input", at(probability) - at(0.0) - 0.03, 0.46
        )
        sheet.text(at(start), level - 0.52, f"{start:g}", MUTED)
        start = round(end, 12)
    sheet.text(at(start), level - 0.52, f"{start:g}", MUTED)
    sheet.arrow((at(u), level + 0.68), (at(u), level + 0.22), colour=COLOURS["output"])
    sheet.text(at(u), level + 0.82, f"u = {u:g}", COLOURS["output"])
    return sheet.figure
