"""Diagrams of backpropagation through time: the loss at every step, and the gradient that flows back.

Solid arrows are computed forwards; dashed purple ones carry the gradient backwards along them.
"""

from matplotlib.figure import Figure

from .drawing import RADIUS, Drawing, Shape
from .style import COLOURS, MUTED, described

STEP = 1.7
RISE = 1.1
SHIFT = 0.09  # a gradient runs beside the arrow that it goes back along


def loss_graph(steps: int = 3, *, backward: bool = False) -> Figure:
    """The unfolded graph with a loss at every step and their sum on top; `backward` adds the way of the gradient."""
    bottom, first = (0.85 if backward else 0.5), 0.6 + STEP
    sheet = Drawing(max(0.6 + STEP * steps + 0.6, 4.75), bottom + 4 * RISE + 0.4)
    middle = first + STEP * (steps - 1) / 2
    total = sheet.node(middle, bottom + 4 * RISE - 0.1, "$L$", "loss")
    before = sheet.node(0.6, bottom + RISE, "$h_0$", "plain")
    for t in range(1, steps + 1):
        x = first + STEP * (t - 1)
        signal = sheet.node(x, bottom, f"$x_{t}$", "input")
        state = sheet.node(x, bottom + RISE, f"$h_{t}$", "state")
        logits = sheet.node(x, bottom + 2 * RISE, f"$o_{t}$", "output")
        loss = sheet.node(x, bottom + 3 * RISE, f"$L_{t}$", "loss")
        edges = [
            (signal, state, "U"),
            (before, state, "W"),
            (state, logits, "V"),
            (logits, loss, ""),
            (loss, total, ""),
        ]
        for a, b, weight in edges:
            _edge(sheet, a, b, weight, backward)
        before = state
    if backward:
        sheet.text(
            0.6 - RADIUS, 0.2, "dashed: the gradient, from the loss back to $h_0$", COLOURS["gradient"], align="left"
        )
    words = (
        f"The network unfolded over {steps} steps: inputs x at the bottom, states h in a chain through W, outputs o "
        "above, a loss at every step, and their sum L on top."
    )
    if backward:
        words += " Beside each arrow a dashed one runs the other way, from L down to h_0 and to the inputs."
    return described(sheet.figure, words)


def _edge(sheet: Drawing, a: Shape, b: Shape, weight: str, backward: bool) -> None:
    """An arrow forwards and, beside it, the gradient back."""
    colour = COLOURS[weight] if weight else COLOURS["plain"]
    if backward:
        sheet.arrow(a, b, weight, colour=colour, shift=SHIFT)
        sheet.arrow(b, a, colour=COLOURS["gradient"], dashed=True, shift=SHIFT)
    else:
        sheet.arrow(a, b, weight, colour=colour)


def backward_arrows() -> Figure:
    """The two arrows into dh_t: one from the output of step t, one from the state of step t+1."""
    sheet = Drawing(8.7, 4.4)
    level, step = 2.35, 2.6
    xs = [0.9, 0.9 + step, 0.9 + 2 * step]
    before, state, after = (
        sheet.node(x, level, f"$h_{{{name}}}$", "state") for x, name in zip(xs, ("t-1", "t", "t+1"), strict=True)
    )
    logits = sheet.node(xs[1], level + 1.5, "$o_t$", "output")
    signal = sheet.node(xs[1], level - 1.2, "$x_t$", "input")
    gradient = COLOURS["gradient"]
    for a, b in ((before, state), (state, after), (state, logits), (signal, state)):
        sheet.arrow(a, b, colour="#B0B0B0", shift=SHIFT)
    sheet.arrow(logits, state, colour=gradient, dashed=True, shift=SHIFT)
    sheet.arrow(after, state, colour=gradient, dashed=True, shift=SHIFT)
    sheet.arrow(state, before, colour=gradient, dashed=True, shift=SHIFT)
    sheet.text(xs[1] + 0.25, level + 0.75, r"$do_t\,V^{\top}$", gradient, 16, align="left")
    sheet.text((xs[1] + xs[2]) / 2, level - 0.35, r"$da_{t+1}\,W^{\top}$", gradient, 16)
    sheet.text((xs[0] + xs[1]) / 2, level - 0.35, r"$da_t\,W^{\top}$", gradient, 16)
    sheet.text(xs[1] + 0.45, level + 1.5, "1. from the output of this step", MUTED, align="left")
    sheet.text(xs[2] + 0.45, level, "2. from the next step", MUTED, align="left")
    sheet.text(
        4.2,
        0.4,
        r"$dh_t = do_t\,V^{\top} + da_{t+1}\,W^{\top} \qquad da_t = dh_t \odot (1 - h_t^2)$",
        size=15,
    )
    return described(
        sheet.figure,
        "The state h_t with its neighbours. Two dashed arrows, the gradient, lead into h_t: one from the output o_t, "
        "one from the next state h_{t+1}. A third leads on from h_t to h_{t-1}.",
    )
