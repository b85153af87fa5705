"""Pictures of unit 14: the scan beside the loop."""

from __future__ import annotations

from matplotlib.figure import Figure

from .drawing import Drawing, Shape
from .style import COLOURS, MUTED

__all__ = ["scan_beside_loop"]


def scan_beside_loop(steps: int = 8) -> Figure:
    """The same prefixes twice: on the left one map after the other, on the right all at a time in rounds.

    A column is a time step, a row what can happen at once. A filled dot combines what comes in from above on its left
    with its own column.
    """
    across, down, gap = 0.62, 0.5, 1.7
    rounds = max(steps - 1, 1).bit_length()
    width = across * (steps - 1)
    height = down * (steps - 1)
    sheet = Drawing(2 * width + gap + 1.7, height + 1.75)
    top = height + 0.85
    for begin, title in ((0.85, "the loop"), (0.85 + width + gap, "the scan")):
        sheet.text(begin + width / 2, top + 0.62, title, size=13)
        for t in range(steps):
            sheet.dot(begin + across * t, top, "input")
            sheet.text(begin + across * t, top + 0.28, f"{t + 1}", MUTED, size=11)
    begin = 0.85
    for t in range(steps):  # the state walks down one row for each step
        x, y = begin + across * t, top - down * t
        sheet.path([(x, top - 0.14), (x, 0.45)], COLOURS["faint"], head=False)
        if t:
            sheet.arrow((x - across, y + down), _dot(sheet, x, y), colour=COLOURS["W"])
    sheet.text(begin + width / 2, 0.2, f"{steps - 1} rows", MUTED)
    begin = 0.85 + width + gap
    for t in range(steps):
        sheet.path([(begin + across * t, top - 0.14), (begin + across * t, 0.45)], COLOURS["faint"], head=False)
    spread = height / max(rounds, 1)
    for k in range(rounds):
        y = top - spread * (k + 1)
        for t in range(2**k, steps):
            x = begin + across * t
            sheet.arrow((x - across * 2**k, y + spread), _dot(sheet, x, y), colour=COLOURS["W"])
    sheet.text(begin + width / 2, 0.2, f"{rounds} rows", MUTED)
    return sheet.figure


def _dot(sheet: Drawing, x: float, y: float) -> Shape:
    return sheet.dot(x, y, "state", radius=0.1)
