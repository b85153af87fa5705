"""A diagram of unit 03: the same distribution over a text as two graphs, without a state and with one."""

from matplotlib.figure import Figure

from .drawing import Drawing
from .style import COLOURS, MUTED

__all__ = ["graphical_models"]

GAP = 1.3  # from one step to the next


def graphical_models(steps: int = 4) -> Figure:
    """What depends directly on what: on the left among the tokens alone, on the right with a hidden state between them.

    Left, each token has an arrow from every earlier one, steps (steps - 1) / 2 in all. Right, a state has an arrow from
    the state and from the token before it, and a token one from the state before it.
    """
    span = GAP * (steps - 1)
    second = 0.5 + span + 1.9
    sheet = Drawing(second + span + 0.5, 2.9)
    tokens = [sheet.node(0.5 + GAP * t, 1.15, f"$w_{{{t + 1}}}$", "output") for t in range(steps)]
    for t in range(1, steps):
        for k in range(t):
            sheet.arrow(tokens[k], tokens[t], colour=COLOURS["output"], bend=-0.22 * (t - k > 1) * (t - k) ** 0.5)
    sheet.text(0.5 - 0.31, 0.3, "without a state: on all that came before", MUTED, align="left")

    tokens = [sheet.node(second + GAP * t, 1.0, f"$w_{{{t + 1}}}$", "output") for t in range(steps)]
    states = [sheet.node(second + GAP * (t + 0.5), 2.3, f"$h_{{{t + 1}}}$", "state") for t in range(steps - 1)]
    for t, state in enumerate(states):
        sheet.arrow(tokens[t], state, colour=COLOURS["input"])
        sheet.arrow(state, tokens[t + 1], colour=COLOURS["output"])
        if t:
            sheet.arrow(states[t - 1], state, colour=COLOURS["state"])
    sheet.text(second - 0.31, 0.3, "with a state: on the state alone", MUTED, align="left")
    return sheet.figure
