"""One pass through time as a film: the folded cell on the left works, the unfolded graph on the right grows.

A vector is a row of squares, blue for -1 over white for 0 to vermilion for 1. A time step of the forward pass has three
moments: its input enters, its state is computed, its state leaves.
"""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float
from matplotlib.colors import LinearSegmentedColormap, to_hex

from .charts import STATES
from .drawing import Drawing, Point, Shape
from .player import Film, seen
from .style import COLOURS, MUTED, TINTS, described

STEP = 1.55  # from one time step to the next
LOW, MIDDLE, HIGH = 0.95, 2.1, 3.2  # heights: inputs, states, outputs
LEFT, FIRST = 0.8, 4.6  # the folded cell, and the first step of the unfolded graph
INPUTS = LinearSegmentedColormap.from_list("inputs", ["#FFFFFF", COLOURS["input"]])
ERRORS = LinearSegmentedColormap.from_list("errors", ["#FFFFFF", COLOURS["gradient"]])


def forward_pass(
    x: Float[np.ndarray, "T D"], h0: Float[np.ndarray, "H"], states: Float[np.ndarray, "T H"], names: Sequence[str]
) -> Film:
    """A cell reads x, with the states h_1 to h_T after h0; `names` says what each input stands for."""
    steps = len(x)
    sheet = Drawing(FIRST + STEP * (steps - 1) + 0.8, HIGH + 0.4)
    x_now = sheet.box(LEFT, LOW, "", "input", width=1.0, height=0.4)
    h_now = sheet.box(LEFT, MIDDLE, "", "state", width=1.0, height=0.4)
    o_now = sheet.node(LEFT, HIGH, "$o$", "output", radius=0.25)
    sheet.arrow(x_now, h_now, "U")
    sheet.loop(h_now)
    sheet.arrow(h_now, o_now, "V")
    u, w, v = (text.get_position() for text in sheet.axes.texts[-3:])  # where the letters stand
    sheet.text(LEFT - 0.5, 0.2, "circuit", MUTED, align="left")
    sheet.text(FIRST - STEP - 0.5, 0.2, "unfolded graph", MUTED, align="left")
    before = _state(sheet, 0, h0, "plain")
    with sheet.layer(seen(0, 2)):
        sheet.strip(LEFT, MIDDLE, _colours(h0), "state")

    captions = ["Before the first step: the cell holds h0, nothing but zeros."]
    for t, name in enumerate(names, 1):
        enters, computes, leaves = 3 * t - 2, 3 * t - 1, 3 * t
        here = FIRST + STEP * (t - 1)
        captions += [
            f"Step {t}: the input x{t} enters, the vector of “{name}”.",
            f"Step {t}: x{t} through U and h{t - 1} through W make the new state h{t}.",
            f"Step {t}: h{t} leaves, up through V, and into the delay, where it waits for step {t + 1}.",
        ]
        with sheet.layer(seen(enters, enters + 3)):
            sheet.line((here, LOW - 0.45), (here, HIGH + 0.35), TINTS["plain"], 96)
            sheet.strip(LEFT, LOW, _shades(x[t - 1], INPUTS), "input")
            sheet.text(LEFT + 0.75, LOW, name)
        with sheet.layer(seen(enters)):
            signal = sheet.box(here, LOW, "", "input", width=0.9, height=0.4)
            sheet.strip(here, LOW, _shades(x[t - 1], INPUTS), "input")
            sheet.text(here - 0.66, LOW, f"$x_{t}$", size=14)
            sheet.text(here, LOW - 0.36, name)
        with sheet.layer(seen(computes, leaves)):
            _lit(sheet, u, "input")
            _lit(sheet, w, "state")
        with sheet.layer(seen(computes, computes + 3)):
            sheet.strip(LEFT, MIDDLE, _colours(states[t - 1]), "state")
        with sheet.layer(seen(computes)):
            state = _state(sheet, t, states[t - 1], "state")
            sheet.arrow(signal, state, "U")
            sheet.arrow(before, state, "W")
        with sheet.layer(seen(leaves, leaves + 1)):
            _lit(sheet, v, "output")
        with sheet.layer(seen(leaves, leaves + 2)):
            sheet.strip(LEFT + 1.35, MIDDLE - 0.62, _colours(states[t - 1]), "state")
            sheet.text(LEFT + 1.35, MIDDLE - 0.9, f"$h_{t}$ waits", MUTED)
        with sheet.layer(seen(leaves)):
            sheet.arrow(state, sheet.node(here, HIGH, f"$o_{t}$", "output", radius=0.25), "V")
        before = state
    captions[-1] = f"Step {steps}: h{steps} leaves."
    captions.append(f"The graph is whole: {steps} steps, and one U, one W and one V for all of them.")
    alike = [(i, j) for j in range(steps) for i in range(j) if names[i] == names[j]]
    apart = min((float(np.abs(states[i] - states[j]).max()) for i, j in alike), default=0.0)
    said = f" Where the same vector goes in, the states differ by {apart:.2f} or more in some unit." if alike else ""
    return Film(
        described(
            sheet.figure,
            "Left, the cell as a circuit, holding its last state; a copy of it waits in the delay. Right, the graph "
            f"unfolded over the inputs {', '.join(names)}: each state is a row of {len(h0)} coloured squares.{said}",
        ),
        captions,
    )


def backward_pass(states: Float[np.ndarray, "T H"], errors: Float[np.ndarray, "T H"], names: Sequence[str]) -> Film:
    """The error walks back: `errors` are dh_1 to dh_T, darker purple where they are larger; `names` are the targets."""
    steps, reach = len(states), float(np.abs(errors).max()) or 1.0
    low, middle, high, top = 0.75, 1.85, 2.85, 3.75
    first, shift = 0.95, 0.09
    gradient = COLOURS["gradient"]
    sheet = Drawing(first + STEP * (steps - 1) + 1.0, top + 0.4)
    columns: list[tuple[Shape, Shape, Shape]] = []
    for t, name in enumerate(names, 1):
        here = first + STEP * (t - 1)
        state = sheet.box(here, middle, "", "state", width=1.0, height=0.4)
        sheet.strip(here, middle, _colours(states[t - 1]), "state")
        sheet.text(here + 0.4, middle + 0.37, f"$h_{t}$", size=14)
        logits = sheet.node(here, high, f"$o_{t}$", "output", radius=0.25)
        loss = sheet.node(here, top, f"$L_{t}$", "loss", radius=0.25)
        sheet.text(here + 0.38, top, f"“{name}”", MUTED, align="left")
        sheet.arrow(state, logits, "V", shift=shift)
        sheet.arrow(logits, loss, shift=shift)
        if columns:
            sheet.arrow(columns[-1][0], state, "W")
        columns.append((state, logits, loss))

    captions = ["The forward pass is done. All states and losses are there, and no error is on its way yet."]
    for k, t in enumerate(range(steps, 0, -1)):
        sends, arrives = 2 * k + 1, 2 * k + 2
        state, logits, loss = columns[t - 1]
        later = "Nothing comes from later." if t == steps else f"Step {t + 1} has sent its part, through tanh and W."
        captions += [
            f"Step {t}: its own loss sends an error down through V.",
            f"Step {t}: the error of h{t} is whole. {later}",
        ]
        with sheet.layer(seen(sends, arrives + 1)):
            sheet.line((state.x, 0.1), (state.x, top + 0.35), TINTS["plain"], 96)
        with sheet.layer(seen(sends)):
            sheet.arrow(loss, logits, colour=gradient, dashed=True, shift=shift)
            sheet.arrow(logits, state, colour=gradient, dashed=True, shift=shift)
        with sheet.layer(seen(arrives)):
            error = sheet.strip(state.x, low, _shades(np.abs(errors[t - 1]) / reach, ERRORS), "gradient")
            sheet.text(state.x, low - 0.34, f"$dh_{t}$", gradient, 14)
            sheet.arrow(state, error, colour=gradient, dashed=True)
            if t < steps:
                sheet.arrow(
                    Shape(state.x + STEP, low, error.width, error.height, round=False),
                    error,
                    r"$W^{\top}$",
                    colour=gradient,
                    dashed=True,
                    side=-1.1,
                )
    captions.append("The error has reached the first step: every state knows its part of the blame.")
    sizes = ", ".join(f"dh_{t} {size:.2f}" for t, size in enumerate(np.abs(errors).max(axis=1), 1))
    described(
        sheet.figure,
        f"{steps} states in a row, above each its output and its loss. Dashed arrows lead from each loss down to its "
        f"state, and below the states from each error to the one before it. The largest entry of each error: {sizes}.",
    )
    return Film(sheet.figure, captions)


def _state(sheet: Drawing, t: int, values: Float[np.ndarray, "H"], kind: str) -> Shape:
    """A state of the unfolded graph: its name, and its numbers in a box."""
    here = FIRST + STEP * (t - 1)
    box = sheet.box(here, MIDDLE, "", kind, width=1.0, height=0.4)
    sheet.strip(here, MIDDLE, _colours(values), kind)
    sheet.text(here + 0.4, MIDDLE + 0.37, f"$h_{t}$", size=14)
    return box


def _lit(sheet: Drawing, letter: Point, kind: str) -> None:
    """A disc behind the letter of a matrix that is at work."""
    sheet.dot(letter[0], letter[1] + 0.06, kind, 0.17)


def _colours(values: Float[np.ndarray, "K"]) -> list[str]:
    """The colours of a state: blue for -1, white for 0, vermilion for 1."""
    return _shades((values + 1) / 2, STATES)


def _shades(values: Float[np.ndarray, "K"], colours: LinearSegmentedColormap) -> list[str]:
    """The colours of numbers from 0 to 1."""
    return [to_hex(colours(float(value))) for value in values]
