"""Diagrams of recurrent networks. Each function draws one and returns it as a figure; `show` puts it into a notebook.

In all of them time runs from left to right, inputs stand at the bottom, outputs on top. A black square on a loop is a
delay of one time step.
"""

from collections.abc import Mapping, Sequence

from matplotlib.figure import Figure

from .drawing import RADIUS, Drawing, Shape, text_width
from .style import COLOURS, MUTED, described

STEP = 1.55  # from one time step to the next
RISE = 1.15  # from one layer to the next


def folded_unfolded(steps: int = 3, *, relative: bool = True, outputs: bool = True) -> Figure:
    """The circuit with its delay square, and beside it the graph that it unfolds into.

    steps: how many copies of the cell are drawn. relative: name the times t-1, t, t+1 (needs 3 steps), else 1, 2, 3 …
    outputs: draw o and V too.
    """
    rows = 3 if outputs else 2
    left, bottom = 0.55, 0.95
    first = left + (3.85 if relative else 4.3)
    note = first - RADIUS - (0.0 if relative else STEP)
    sheet = Drawing(
        max(note + 5.0, first + STEP * (steps - 1) + (1.5 if relative else 0.6)), bottom + (rows - 1) * RISE + 0.5
    )

    cell = _column(sheet, left, bottom, "", outputs)
    sheet.loop(cell)
    sheet.text(left - RADIUS, 0.25, "circuit (■: one step later)", MUTED, align="left")

    sheet.arrow((left + 1.4, cell.y), (left + 2.15, cell.y), "unfold", colour=MUTED)
    _chain(sheet, first, bottom, _times(steps, relative), outputs)
    shared = "$U$, $W$, $V$" if outputs else "$U$, $W$"
    sheet.text(note, 0.25, f"unfolded graph: the same {shared} at every step", MUTED, align="left")
    above = ", and an output o above it, joined by V" if outputs else ""
    return described(
        sheet.figure,
        "Left, the circuit: an input x joined to the state h by U, and a loop W with a delay square. Right, unfolded: "
        f"the state at {steps} times, joined by arrows that are all called W, each with its input below it{above}.",
    )


def _chain(sheet: Drawing, first: float, bottom: float, times: list[str], outputs: bool) -> list[Shape]:
    """The unfolded graph from x = `first` on; it begins with h_0, or with dots if the times are relative."""
    level = bottom + RISE
    open_ended = "t" in times
    states: list[Shape] = []
    for k, time in enumerate(times):
        state = _column(sheet, first + k * STEP, bottom, time, outputs)
        if k > 0:
            sheet.arrow(states[-1], state, "W")
        states.append(state)
    if open_ended:
        sheet.dots(first - 1.2, level)
        sheet.arrow((first - 1.0, level), states[0], "W")
        sheet.arrow(states[-1], (states[-1].x + 1.0, level), "W")
        sheet.dots(states[-1].x + 1.2, level)
    else:
        sheet.arrow(sheet.node(first - STEP, level, "$h_0$", "plain"), states[0], "W")
    return states


def _column(sheet: Drawing, x: float, bottom: float, time: str, outputs: bool) -> Shape:
    """Input, state and, if wanted, output of one time step, joined by U and V; returns the state."""
    subscript = f"_{{{time}}}" if time else ""
    state = sheet.node(x, bottom + RISE, f"$h{subscript}$", "state")
    sheet.arrow(sheet.node(x, bottom, f"$x{subscript}$", "input"), state, "U")
    if outputs:
        sheet.arrow(state, sheet.node(x, bottom + 2 * RISE, f"$o{subscript}$", "output"), "V")
    return state


def _times(steps: int, relative: bool) -> list[str]:
    """Subscripts of the time steps: t-1, t, t+1 or 1, 2, 3 …"""
    if relative:
        middle = steps // 2
        return ["t" if k == middle else f"t{k - middle:+d}" for k in range(steps)]
    return [str(k + 1) for k in range(steps)]


def dynamical_system(steps: int = 3, *, driven: bool = False) -> Figure:
    """A state that one transition f carries on, as a circuit and unfolded from s_0.

    steps: how many times f is applied. driven: draw the external signal x too.
    """
    bottom, left = 0.95, 0.55
    level = bottom + (RISE if driven else 0.0)
    first = left + 3.0
    sheet = Drawing(first + max(STEP * steps + 0.55, 5.0), level + 0.55)

    state = sheet.node(left, level, "$s$", "state")
    sheet.loop(state, "$f$", colour=COLOURS["W"])
    sheet.arrow((left + 1.4, level), (left + 2.15, level), "unfold", colour=MUTED)
    if driven:
        sheet.arrow(sheet.node(left, bottom, "$x$", "input"), state, colour=COLOURS["U"])
    state = sheet.node(first, level, "$s_0$", "plain")
    for t in range(1, steps + 1):
        previous, state = state, sheet.node(first + t * STEP, level, f"$s_{{{t}}}$", "state")
        sheet.arrow(previous, state, "$f$", colour=COLOURS["W"])
        if driven:
            signal = sheet.node(state.x, bottom, f"$x_{{{t}}}$", "input")
            sheet.arrow(signal, state, colour=COLOURS["U"])
    rule = r"$s_t = f(s_{t-1}, x_t;\,\theta)$" if driven else r"$s_t = f(s_{t-1};\,\theta)$"
    sheet.text(left - RADIUS, 0.25, "circuit", MUTED, align="left")
    sheet.text(first - RADIUS, 0.25, rf"unfolded: {rule}, the same $f$ and $\theta$ at every step", MUTED, align="left")
    inputs = ", and an input x_t comes into each of them but s_0" if driven else ""
    return described(
        sheet.figure,
        "Left, the circuit: a node s with a loop f back into itself, and a delay square on the loop. Right, unfolded: "
        f"the states s_0 to s_{steps} in a row, joined by arrows that are all called f{inputs}.",
    )


def mlp_beside_cell() -> Figure:
    """A hidden layer, which forgets, beside a hidden state, which comes back as an input one step later."""
    sheet = Drawing(9.6, 4.0)
    low, middle, high = 0.95, 2.05, 3.15

    x = _layer(sheet, 1.65, low, 3, "input")
    h = _layer(sheet, 1.65, middle, 4, "plain")
    o = _layer(sheet, 1.65, high, 2, "output")
    _connect(sheet, x, h, "U")
    _connect(sheet, h, o, "V")
    for y, name in ((low, "$x$"), (middle, "$h$"), (high, "$o$")):
        sheet.text(0.45, y, name, size=15)
    sheet.text(1.65, 3.75, "MLP: a hidden layer")
    sheet.text(1.65, 0.3, r"$h = \tanh(x\,W_{xh} + b_h)$", size=14)

    x = _layer(sheet, 7.75, low, 3, "input")
    before = _layer(sheet, 5.75, low, 4, "state")
    h = _layer(sheet, 6.75, middle, 4, "state")
    o = _layer(sheet, 6.75, high, 2, "output")
    _connect(sheet, x, h, "U")
    _connect(sheet, before, h, "W")
    _connect(sheet, h, o, "V")
    sheet.text(8.7, low, "$x_t$", size=15)
    sheet.text(4.72, low, "$h_{t-1}$", size=15)
    sheet.text(8.7, middle, "$h_t$", size=15)
    sheet.text(8.7, high, "$o_t$", size=15)
    corner = before[0].x
    sheet.path([(h[0].x - 0.17, middle), (corner, middle), (corner, low + 0.17)], COLOURS["W"], dashed=True)
    sheet.delay(corner, (low + middle) / 2 + 0.1)
    sheet.text(corner - 0.2, (low + middle) / 2 + 0.1, "one step later", MUTED, align="right")
    sheet.text(6.75, 3.75, "recurrent cell: a hidden state")
    sheet.text(6.75, 0.3, r"$h_t = \tanh(x_t U + h_{t-1} W + b)$", size=14)
    return described(
        sheet.figure,
        "Left, a plain network: input x, hidden layer h, output o. Right, a recurrent cell: its hidden state comes "
        "back, through a delay of one step, as a second input, h of t minus one, beside x of t.",
    )


def _layer(sheet: Drawing, x: float, y: float, units: int, kind: str) -> list[Shape]:
    """A row of `units` small circles with its middle at (x, y)."""
    return [sheet.dot(x + 0.37 * (i - (units - 1) / 2), y, kind) for i in range(units)]


def _connect(sheet: Drawing, lower: list[Shape], upper: list[Shape], weight: str) -> None:
    """Thin lines from every unit of one layer to every unit of the next."""
    for a in lower:
        for b in upper:
            sheet.line(a.centre, b.centre, COLOURS[weight])


def cell_inside() -> Figure:
    """What one step computes, from x_t and h_{t-1} to the new state h_t and to the probabilities y_t."""
    sheet = Drawing(9.5, 4.35)
    level, low, top = 2.05, 0.45, 3.85
    sheet.frame(1.25, 0.93, 5.3, 2.95, "the recurrent cell")
    before = sheet.node(0.5, level, "$h_{t-1}$", "state")
    signal = sheet.node(3.2, low, "$x_t$", "input")
    times_w = sheet.box(1.95, level, r"$\times\,W$", "state")
    times_u = sheet.box(3.2, 1.36, r"$\times\,U$", "input", height=0.42)
    plus = sheet.node(3.2, level, "$+$", radius=0.2)
    tanh = sheet.box(4.55, level, "tanh", size=13)
    state = sheet.node(6.2, level, "$h_t$", "state")
    times_v = sheet.box(6.2, 2.95, r"$\times\,V + c$", "output", width=1.2)
    logits = sheet.node(6.2, top, "$o_t$", "output")
    softmax = sheet.box(7.6, top, "softmax", size=13, width=1.05)
    probabilities = sheet.node(9.0, top, "$y_t$", "output")
    sheet.arrow(before, times_w, colour=COLOURS["W"])
    sheet.arrow(times_w, plus, colour=COLOURS["W"])
    sheet.arrow(signal, times_u, colour=COLOURS["U"])
    sheet.arrow(times_u, plus, colour=COLOURS["U"])
    sheet.text(3.2, 2.76, "$b$", size=15)
    sheet.arrow((3.2, 2.64), plus)
    sheet.arrow(plus, tanh, "$a_t$")
    sheet.arrow(tanh, state, colour=COLOURS["W"])
    sheet.arrow(state, times_v, colour=COLOURS["V"])
    sheet.arrow(times_v, logits, colour=COLOURS["V"])
    sheet.arrow(logits, softmax)
    sheet.arrow(softmax, probabilities)
    sheet.arrow(state, (7.6, level), colour=COLOURS["W"], dashed=True)
    sheet.text(7.7, level, "to step $t+1$", MUTED, align="left")
    return described(
        sheet.figure,
        "Inside the cell: h of t minus one times W, x of t times U, and b are added. The sum a of t goes through tanh "
        "and gives h of t. That goes to the next step and, times V plus c and through a softmax, to the output y of t.",
    )


def sliding_window(
    tokens: Sequence[str], n: int, targets: Sequence[int], marks: Mapping[int, str] | None = None
) -> Figure:
    """What an n-gram model sees of a sentence: for each index in `targets`, the n-1 tokens before it.

    One row for each target. `marks` puts a note under a token of the last row, by its index.
    """
    gap, pad, height, row = 0.09, 0.22, 0.4, 0.72
    widths = [text_width(token) + pad for token in tokens]
    lefts = [0.15 + sum(widths[:i]) + gap * i for i in range(len(tokens))]
    bottom = 0.75 if marks else 0.35
    sheet = Drawing(lefts[-1] + widths[-1] + 0.15, bottom + row * (len(targets) - 1) + 0.4)
    for k, target in enumerate(targets):
        y = bottom + row * (len(targets) - 1 - k)
        start = max(target - n + 1, 0)
        for i, (token, left, width) in enumerate(zip(tokens, lefts, widths, strict=True)):
            kind = "output" if i == target else "input" if start <= i < target else "faint"
            sheet.box(left + width / 2, y, token, kind, width, height, size=12)
        if start < target:
            x1, x2 = lefts[start], lefts[target - 1] + widths[target - 1]
            sheet.path([(x1, y + 0.27), (x2, y + 0.27)], COLOURS["input"], head=False)
    for i, note in (marks or {}).items():
        middle = lefts[i] + widths[i] / 2
        sheet.arrow((middle, 0.38), (middle, bottom - height / 2 - 0.04), colour=MUTED)
        sheet.text(middle, 0.2, note, MUTED)
    return sheet.figure
