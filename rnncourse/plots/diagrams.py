"""Diagrams of recurrent networks. Each function draws one and returns it as a figure; `show` puts it into a notebook.

In all of them time runs from left to right, inputs stand at the bottom, outputs on top. A black square on a loop is a
delay of one time step.
"""

from matplotlib.figure import Figure

from .drawing import RADIUS, Drawing, Shape
from .style import MUTED

__all__ = ["folded_unfolded"]

STEP = 1.55  # from one time step to the next
RISE = 1.15  # from one layer to the next


def folded_unfolded(steps: int = 3, *, relative: bool = True, outputs: bool = True) -> Figure:
    """The circuit with its delay square, and beside it the graph that it unfolds into.

    steps: how many copies of the cell are drawn. relative: name the times t-1, t, t+1 (needs 3 steps), else 1, 2, 3 …
    outputs: draw o and V too.
    """
    rows = 3 if outputs else 2
    left, bottom = 0.55, 0.95
    sheet = Drawing((4.2 if relative else 3.9) + STEP * steps, bottom + (rows - 1) * RISE + 0.5)

    cell = _column(sheet, left, bottom, "", outputs)
    sheet.loop(cell)
    sheet.text(left - RADIUS, 0.25, "circuit (■: one time step later)", MUTED, align="left")

    sheet.arrow((left + 1.4, cell.y), (left + 2.15, cell.y), "unfold", colour=MUTED)
    first = left + (3.85 if relative else 4.3)
    _chain(sheet, first, bottom, _times(steps, relative), outputs)
    shared = "$U$, $W$, $V$" if outputs else "$U$, $W$"
    sheet.text(first - RADIUS, 0.25, f"unfolded graph: the same {shared} at every step", MUTED, align="left")
    return sheet.figure


def _chain(sheet: Drawing, first: float, bottom: float, times: list[str], outputs: bool) -> list[Shape]:
    """The unfolded graph from x = `first` on; it begins with h_0, or with dots if the times are relative."""
    level = bottom + RISE
    open_ended = "t" in times
    states = []
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
