"""Pictures of unit 11: five architectures, who learns from whom, digits, names, reviews, and melodies as rolls."""

from collections.abc import Mapping, Sequence
from itertools import pairwise, zip_longest

import numpy as np
from jaxtyping import Bool, Float
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from .charts import _bare, _chart, _colour_bar, _draw_cells, _panels, line_chart
from .drawing import RADIUS, Drawing, Shape
from .style import COLOURS, CYCLE, INK, MUTED, TINTS, described, style

STEP = 1.06
RISE = 1.0
FILLED = LinearSegmentedColormap.from_list("filled", ["#FFFFFF", COLOURS["gradient"]])
BELIEF = LinearSegmentedColormap.from_list("belief", ["#FFFFFF", TINTS["state"]])
STRENGTH = LinearSegmentedColormap.from_list("strength", ["#FFFFFF", COLOURS["output"]])

# name, example, inputs at these steps, outputs at these steps, whether an output is the next input
_ARCHITECTURES = [
    [
        ("one-to-one", "an image, its label", 1, [0], [0], False),
        ("one-to-many", "a first note, a melody", 3, [0], [0, 1, 2], True),
        ("many-to-one", "a review, its sentiment", 3, [0, 1, 2], [2], False),
    ],
    [
        ("many-to-many (equal)", "words, their tags", 3, [0, 1, 2], [0, 1, 2], False),
        ("many-to-many (different)", "a question, its answer", 5, [0, 1, 2], [2, 3, 4], True),
    ],
]


def five_architectures() -> Figure:
    """The five architectures side by side: inputs at the bottom, the one core in the middle, outputs on top."""
    height = 2 * RISE + 1.55
    sheet = Drawing(9.3, 2 * height - 0.05)
    for row, panels in enumerate(_ARCHITECTURES):
        left = 0.5
        for name, example, steps, inputs, outputs, feeds_back in panels:
            bottom = (1 - row) * height + 0.45
            _architecture(sheet, left, bottom, steps, inputs, outputs, feeds_back)
            sheet.text(left - RADIUS, bottom + 2 * RISE + 0.78, name, INK, align="left", weight="bold")
            sheet.text(left - RADIUS, bottom + 2 * RISE + 0.53, example, MUTED, align="left")
            left += max(STEP * (steps - 1) + 1.75, 2.2)
    said = " ".join(_in_words(*one) for row in _ARCHITECTURES for one in row)
    return described(sheet.figure, f"Five graphs: inputs below, states in the middle, outputs above. {said}")


def _in_words(name: str, example: str, steps: int, inputs: list[int], outputs: list[int], feeds_back: bool) -> str:
    """One of the architectures in words."""
    at_x, at_y = (", ".join(str(t + 1) for t in places) for places in (inputs, outputs))
    again = "; dashed, each output but the last goes into the next state" if feeds_back else ""
    return f"{name} ({example}): {steps} states; inputs at {at_x}, outputs at {at_y}{again}."


def _architecture(
    sheet: Drawing, left: float, bottom: float, steps: int, inputs: list[int], outputs: list[int], feeds_back: bool
) -> None:
    """One of them: `steps` states, an x below and a y above where there is one, dashed where a y is read again."""
    states: list[Shape] = []
    for t in range(steps):
        x = left + STEP * t
        state = sheet.node(x, bottom + RISE, f"$h_{t + 1}$" if steps > 1 else "$h$", "state")
        if t in inputs:
            label = f"$x_{t + 1}$" if len(inputs) > 1 else "$x$"
            sheet.arrow(sheet.node(x, bottom, label, "input"), state, colour=COLOURS["U"])
        states.append(state)
    for a, b in pairwise(states):
        sheet.arrow(a, b, colour=COLOURS["W"])
    said: list[Shape] = []
    for number, t in enumerate(outputs, 1):
        label = f"$y_{number}$" if len(outputs) > 1 else "$y$"
        said.append(sheet.node(states[t].x, bottom + 2 * RISE, label, "output"))
        sheet.arrow(states[t], said[-1], colour=COLOURS["V"])
    if feeds_back:
        for y, t in zip(said, outputs[1:]):
            sheet.arrow(y, states[t], colour=COLOURS["U"], dashed=True)


def support_grids(grids: Mapping[str, Bool[np.ndarray, "T_y T_x"]]) -> Figure:
    """Side by side, which input k (columns) each output t (rows) gets gradient from: a filled cell where it does.

    The grids may differ in size; a cell has the same size in all.
    """
    cell, gap, edge, below, above = 0.36, 0.95, 0.9, 0.62, 0.72
    names, in_a_row = list(grids), 3
    places: dict[str, tuple[float, float]] = {}  # from the left, and of the upper edge from the top
    width = top = 0.0
    for row in (names[k : k + in_a_row] for k in range(0, len(names), in_a_row)):
        left = edge
        for name in row:
            places[name] = left, top + above
            left += max(cell * grids[name].shape[1], 0.75) + gap  # a title needs as much
        width = max(width, left - gap + 0.75)
        top += above + cell * max(len(grids[name]) for name in row) + below
    width, height = np.ceil(8 * width) / 8, np.ceil(8 * top) / 8
    with style():
        figure = Figure(figsize=(width, height))
        for name, grid in grids.items():
            outputs, inputs = grid.shape
            across, up, (left, top) = cell * inputs, cell * outputs, places[name]
            axes = figure.add_axes((left / width, 1 - (top + up) / height, across / width, up / height))
            axes.imshow(grid, cmap=FILLED, vmin=0, vmax=1, aspect="auto")
            axes.set(xlabel="input k", xticks=range(inputs), yticks=range(outputs))
            if outputs > 2:
                axes.set_ylabel("output t")
            else:  # too low for words that stand upright
                axes.set_ylabel("output\nt", rotation=0, ha="right", va="center")
            axes.set_xticklabels([str(k + 1) for k in range(inputs)])
            axes.set_yticklabels([str(t + 1) for t in range(outputs)])
            axes.set_title(name, x=0.0, ha="left", linespacing=1.3)
            _draw_cells(axes, outputs, inputs)
    said = "; ".join(f"{' '.join(name.split())}: {_filled(grid)}" for name, grid in grids.items())
    return described(figure, f"Grids, an output in each row and an input in each column. Filled in {said}.")


def _filled(grid: Bool[np.ndarray, "T_y T_x"]) -> str:
    """Which cells of a grid are filled, in words."""
    grid = np.asarray(grid, bool)
    if grid.all():
        return f"all {grid.size} cells" if grid.size > 1 else "the only cell"
    if grid.shape[0] == grid.shape[1]:
        shapes = {"those on and below the diagonal": np.tri(len(grid)), "the diagonal alone": np.eye(len(grid))}
        for words, shape in shapes.items():
            if np.array_equal(grid, shape.astype(bool)):
                return words
    return ", ".join(f"output {t + 1} inputs {[int(k) + 1 for k in np.flatnonzero(row)]}" for t, row in enumerate(grid))


def digit_strip(images: Float[np.ndarray, "N 8 8"], captions: Sequence[str]) -> Figure:
    """Images in a row, or in two of them, dark ink on white, with a caption under each."""
    rows = -(-len(images) // 8)
    columns = -(-len(images) // rows)
    figure, places = _panels((1.05 * columns, 1.6 * rows), rows, columns)
    with style():
        for axes, image, caption in zip_longest(places, images, captions):
            if image is None:
                axes.axis("off")
                continue
            axes.imshow(image, cmap="Greys", vmin=0, vmax=1)
            axes.set_xlabel(caption, fontsize=11, linespacing=1.3)
            axes.set(xticks=[], yticks=[])
            axes.grid(False)
            axes.spines[:].set(visible=True, edgecolor=COLOURS["faint"])
    said = "; ".join(" ".join(caption.split()) for caption in captions)
    return described(
        figure, f"{len(captions)} coarse grey images of handwritten digits, side by side. Below them: {said}."
    )


def names_chart(curves: Mapping[str, Sequence[float]], ceiling: float) -> Figure:
    """The share of words whose label is right, from update 5 to 60, beside the ceiling from left to right."""
    first, last = 5, 60
    return line_chart(
        range(first, last),
        {name: right[first:last] for name, right in curves.items()} | {"ceiling": np.full(last - first, ceiling)},
        xlabel="updates",
        ylabel="share of words that are right",
    )


def rows_read(curves: Mapping[str, Sequence[float]]) -> Figure:
    """The share of digits that are right after each row, a line for each way to train."""
    count = len(next(iter(curves.values())))
    return line_chart(
        range(1, count + 1), curves, xlabel="rows read", ylabel="share of held-out digits right", ylim=(0, 1.02)
    )


def votes_chart(spread: Float[np.ndarray, "T"]) -> Figure:
    """How much the logits of each state differ from digit to digit: 0 is a state that abstains."""
    return line_chart(
        range(1, len(spread) + 1),
        {"the mean's reader": spread},
        xlabel="row",
        ylabel="spread of its logits over digits",
        ylim=(0, 1.1 * float(np.max(spread))),
        size=(8.0, 3.2),
    )


def arriving(norms: Mapping[str, Float[np.ndarray, "T"]]) -> Figure:
    """The size of the gradient at each input, on a logarithmic axis."""
    steps = len(next(iter(norms.values())))
    figure = line_chart(range(1, steps + 1), norms, xlabel="step k", ylabel="norm of the gradient at $x_k$", logy=True)
    figure.axes[0].set_ylabel("norm of the gradient at $x_k$\n(logarithmic)")
    return figure


def belief_words(sentences: Mapping[str, Float[np.ndarray, "T"]], xlabel: str) -> Figure:
    """Sentences, a row for each: its words in boxes, and in each box the probability that is given after that word."""
    longest = max(len(text.split()) for text in sentences)
    figure, axes = _chart((0.3 + 0.88 * longest, 0.75 + 0.86 * len(sentences)), xlabel)
    with style():
        for row, (text, values) in enumerate(sentences.items()):
            for column, (word, value) in enumerate(zip(text.split(), values, strict=True)):
                box = (column - 0.48, row - 0.4)
                axes.add_patch(Rectangle(box, 0.96, 0.8, facecolor=BELIEF(float(value)), edgecolor=COLOURS["faint"]))
                axes.text(column, row - 0.16, word, ha="center", va="center", color=INK, fontsize=11.5)
                axes.text(column, row + 0.2, f"{value:.2f}", ha="center", va="center", color=INK, fontsize=11)
        axes.set(xlim=(-0.55, longest - 0.45), ylim=(len(sentences) - 0.5, -0.5), xticks=[], yticks=[])
        _bare(axes)
    said = ". ".join(
        f"After {', '.join(f'{word} {value:.2f}' for word, value in zip(text.split(), values, strict=True))}"
        for text, values in sentences.items()
    )
    return described(figure, f"{xlabel}, word by word. {said}.")


def belief_dots(beliefs: Mapping[str, Sequence[float]], sentences: Sequence[str], *, xlabel: str) -> Figure:
    """For each sentence a mark for each model at the probability that it gives; the middle, one half, is a line."""
    figure, axes = _chart((9.0, 1.15 + 0.38 * len(sentences)), xlabel)
    rows = np.arange(len(sentences))
    with style():
        axes.axvline(0.5, color=COLOURS["faint"], lw=1.4, zorder=1)
        for look, (model, values) in zip(CYCLE, beliefs.items()):
            axes.plot(values, rows, look["marker"], color=look["color"], ms=9, label=model, clip_on=False, zorder=3)
        axes.set_yticks(rows, list(sentences))
        axes.set(xlim=(0, 1), ylim=(len(sentences) - 0.5, -0.5))
        axes.tick_params(axis="y", length=0, pad=10)
        axes.legend(loc="lower left", bbox_to_anchor=(0.0, 1.0), ncols=len(beliefs))
    said = "; ".join(
        f"{text}: {', '.join(f'{model} {values[row]:.2f}' for model, values in beliefs.items())}"
        for row, text in enumerate(sentences)
    )
    return described(figure, f"A row for each sentence, and in it each model's {xlabel}. {said}.")


Notes = Sequence[tuple[str, float]]


def piano_roll(
    rolls: Mapping[str, Notes], names: Sequence[str], *, truth: Mapping[str, Notes] | None = None, title: str = ""
) -> Figure:
    """Melodies one above the other: time in quarter notes to the right, a bar for each note at the height of its pitch.

    names: the pitches, from low to high. truth: by the same titles, the notes that are right; a note that differs from
    the one at its place there is hatched.
    """
    figure, panels = _panels((9.0, 0.9 + 1.75 * len(rolls)), len(rolls), sharex=True)
    with style():
        for axes, (name, notes) in zip(panels, rolls.items(), strict=True):
            _roll(axes, notes, names, (truth or {}).get(name, notes))
            axes.set_title(name)
        panels[-1].set_xlabel("time (quarter notes)")
        if title:
            figure.suptitle(title, x=0.01, ha="left", fontsize=12)
    said = "; ".join(_heard(name, notes, (truth or {}).get(name)) for name, notes in rolls.items())
    return described(figure, f"Piano rolls, time to the right and pitch upwards. {said}.")


def _heard(name: str, notes: Notes, right: Notes | None) -> str:
    """A roll in words: its first notes, and how many are wrong."""
    begins = " ".join(pitch for pitch, _ in notes[:8])
    if right is None:
        return f"{name} begins {begins}"
    wrong = sum(k >= len(right) or tuple(note) != tuple(right[k]) for k, note in enumerate(notes))
    return f"{name} begins {begins}; {wrong} of {len(notes)} notes are wrong, and hatched"


def _roll(axes: Axes, notes: Notes, names: Sequence[str], right: Notes) -> None:
    """One melody in one panel."""
    start = 0.0
    for k, (pitch, duration) in enumerate(notes):
        is_right = k < len(right) and (pitch, duration) == right[k]
        kind = "output" if is_right else "loss"
        axes.add_patch(
            Rectangle(
                (start + 0.04, names.index(pitch) - 0.4),
                duration - 0.08,
                0.8,
                facecolor=COLOURS["output"] if is_right else TINTS["loss"],
                edgecolor=COLOURS[kind],
                hatch=None if is_right else "////",
                lw=0.8,
            )
        )
        start += duration
    axes.set(xlim=(0, max(start, axes.get_xlim()[1])), ylim=(-0.7, len(names) - 0.3))
    axes.set_ylabel("pitch", labelpad=8)
    every = range(0, len(names), 1 + len(names) // 8)
    axes.set_yticks(list(every), [names[k] for k in every])
    axes.tick_params(axis="y", length=0)


def pitch_strengths(vectors: Float[np.ndarray, "T P"], names: Sequence[str]) -> Figure:
    """How large the entry of each pitch is in each output, before one of them is chosen: note by note to the right."""
    figure, axes = _chart((9.0, 3.6), "note", "pitch")
    with style():
        image = axes.imshow(vectors.T, cmap=STRENGTH, vmin=0, vmax=1, aspect="auto", origin="lower")
        _colour_bar(figure, image, axes, "entry of the output")
    axes.set_yticks(range(len(names)), list(names))
    ticks = range(0, len(vectors), 4)
    axes.set_xticks(ticks, [str(t + 2) for t in ticks])
    axes.grid(False)
    axes.tick_params(axis="y", length=0)
    said = "; ".join(
        f"note {t + 2} " + " and ".join(f"{names[p]} {row[p]:.1f}" for p in np.argsort(-row)[:2] if row[p] > 0.2)
        for t, row in enumerate(vectors[:12])
    )
    return described(figure, f"How large the entry of each pitch is, note by note; the largest of the first: {said}.")
