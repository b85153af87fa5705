"""Pictures of unit 01: a bag of two sentences, what counting reaches, and the line from which an index is drawn."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from .charts import line_chart, perplexity_chart
from .drawing import Drawing, text_width
from .style import COLOURS, MUTED, described


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
    counts = ", ".join(f"{word} {max(tokens.count(word) for tokens in sentences)}" for word in vocabulary)
    said = " and ".join(f"'{' '.join(tokens)}'" for tokens in sentences)
    alt = f"On the left the sentences {said}. Arrows lead from both to the same bag of words on the right: {counts}."
    return described(sheet.figure, alt)


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
    ends = ", ".join(f"{token} to {end:g}" for token, end in zip(probabilities, np.cumsum([*probabilities.values()])))
    return described(sheet.figure, f"A line from 0 to 1 in pieces: {ends}. An arrow marks u = {u:g}.")


def perplexity_by_n(lines: Mapping[str, Sequence[float]]) -> Figure:
    """The perplexity (log scale) of n-grams against n; lines that are infinite somewhere are left out."""
    drawn = {name: values for name, values in lines.items() if np.isfinite(values).all()}
    told = "; ".join(f"{' '.join(name.split())}: {', '.join(f'{v:.3g}' for v in drawn[name])}" for name in drawn)
    figure = perplexity_chart(range(1, 1 + len(next(iter(drawn.values())))), drawn)
    return described(figure, f"Perplexity, on a log scale, against n. {told}.")


def filled_entries(entries: Sequence[float], filled: Sequence[float], read: int) -> Figure:
    """How many entries an n-gram's table has, how many are ever filled, and how many words were read: a log scale."""
    lines = {
        "entries\nof the table": entries,
        "entries\never filled": filled,
        "words that\nwere read": [read] * len(filled),
    }
    alt = f"On a log scale, the entries of the table grow as a straight line from {entries[0]:,} to {entries[-1]:.0e}. "
    alt += f"Those ever filled bend off, end at {filled[-1]:,.0f}, and stay below the words that were read, {read:,}."
    ns = range(1, 1 + len(filled))
    words: dict[str, Any] = {"xlabel": "n (tokens the model sees at once)", "ylabel": "number (log scale)"}
    return line_chart(ns, lines, **words, logy=True, alt=alt)


def right_word_by_n(ns: Sequence[int], right: Sequence[float]) -> Figure:
    """The probability of the right last word against n."""
    seen, wanted = "n (tokens the model sees at once)", "probability of the right word"
    figure = line_chart(ns, {"P(doctor)": right}, xlabel=seen, ylabel=wanted, ylim=(0, 1.05))
    figure.axes[0].set_xticks(list(ns))
    alt = f"The probability of the right last word against n. It is {right[0]:.2f} at n = {ns[0]}"
    if right[-1] != right[0]:
        alt += f", and {right[-1]:.2f} from n = {ns[int(np.argmax(np.array(right) == right[-1]))]} on"
    return described(figure, alt + ".")


def network_and_tables(updates: Sequence[int], network: Sequence[float], unigram: float, bigram: float) -> Figure:
    """The perplexity of a network against its updates, between those of two tables."""
    lines = {"unigram table": [unigram] * len(updates), "network": network, "bigram table": [bigram] * len(updates)}
    alt = f"Perplexity on the text learned from, against updates. The network's goes from {network[0]:.1f} to "
    alt += (
        f"{network[-1]:.2f}; the unigram table is a level line at {unigram:.1f}, the bigram table one at {bigram:.2f}."
    )
    words: dict[str, Any] = {"xlabel": "updates (log scale)", "ylabel": "perplexity, text learned from"}
    return line_chart(updates, lines, **words, logx=True, alt=alt)
