"""Unit 00: welcome. One toy exercise, worth nothing, with a planned wrong first try."""

from collections.abc import Iterator

import numpy as np

from rnncourse.checks.exercise import Case, Unit, case, edge, normal

unit = Unit("00_welcome", "Welcome")


def leaky_average(state: np.ndarray, x: np.ndarray, keep: float) -> np.ndarray:
    """The new state: the share `keep` of the old one, and the rest of x."""
    return keep * state + (1 - keep) * x


ex = unit.exercise(
    "leaky_average",
    reference=leaky_average,
    points=1,
    takes="state (N,), x (N,), keep",
    gives="new_state (N,)",
    hints=(
        "The two shares must add up to one: what is not kept of the old state is taken from x.",
        "If keep is 0.9, the new state is nine tenths of the old state and one tenth of x.",
        "`keep * state + (1 - keep) * x`",
    ),
)


@ex.cases
def _(rng: np.random.Generator) -> Iterator[Case]:
    for N, keep in ((3, 0.9), (5, 0.25)):
        yield case(normal(rng, N), normal(rng, N), keep)
    yield edge("one entry", normal(rng, 1), normal(rng, 1), 0.6)
    yield edge("keep everything", normal(rng, 4), normal(rng, 4), 1.0)
    yield edge("keep nothing", normal(rng, 4), normal(rng, 4), 0.0)


ex.mistakes(r"""
shares_swapped: The two shares are swapped: `keep` is the share of the old state that stays, and you give it to x.
+ return keep * x + (1 - keep) * state

x_not_scaled: x is added in full: only the share `1 - keep` of it belongs in the new state.
+ return keep * state + x

plain_mean: You take the plain mean of both, whatever `keep` says.
+ return (state + x) / 2

state_not_scaled: The old state is kept whole: only the share `keep` of it stays.
+ return state + (1 - keep) * x
""")
