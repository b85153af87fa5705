"""Unit 03: the recurrent cell. Its exercises, their cases, hints and misconceptions."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from rnncourse.cell import Network, rnn_forward, rnn_step
from rnncourse.checks.exercise import Case, Option, Unit, case, edge, normal, weights

unit = Unit("03_cell", "The recurrent cell")


def cell_weights(rng: np.random.Generator, D: int, H: int, dtype: Any = np.float64) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """U (D, H), W (H, H), b (H,): of a size at which the tanh bends but does not saturate."""
    return weights(rng, D, H, dtype), weights(rng, H, H, dtype), normal(rng, H, dtype=dtype)


# --- rnn_step

ex = unit.exercise(
    "rnn_step",
    reference=rnn_step,
    points=3,
    takes="x (N, D), h_prev (N, H), U (D, H), W (H, H), b (H,)",
    gives="h (N, H)",
    hints=(
        "Two things flow into the new state: the input of this step and the state of the last one. Each goes through its own matrix.",
        "With row vectors the matrix stands on the right: (N, D) @ (D, H) is (N, H). Add both products and the bias, then bend.",
        "`np.tanh(x @ U + h_prev @ W + b)`: the bias is inside.",
    ),
)


@ex.cases
def _(rng: np.random.Generator) -> Iterator[Case]:
    for N, D, H in ((3, 4, 5), (2, 6, 3)):
        yield case(normal(rng, N, D), normal(rng, N, H), *cell_weights(rng, D, H))
    yield edge("one row", normal(rng, 1, 3), normal(rng, 1, 2), *cell_weights(rng, 3, 2))
    yield edge("float32", normal(rng, 3, 2, dtype=np.float32), normal(rng, 3, 4, dtype=np.float32), *cell_weights(rng, 2, 4, np.float32))


@ex.misconception
def state_ignored(x, h_prev, U, W, b):
    """The old state has no say: your new state does not depend on h_prev. Without `h_prev @ W` this is a plain hidden layer."""
    return np.tanh(x @ U + b)


@ex.misconception
def bias_outside(x, h_prev, U, W, b):
    """The bias stands outside the tanh. It is added before the tanh is taken, so that every state stays between -1 and 1."""
    return np.tanh(x @ U + h_prev @ W) + b


@ex.misconception
def tanh_of_each_term(x, h_prev, U, W, b):
    """The tanh is taken of each term on its own. Add input, state and bias first, then take one tanh of the sum."""
    return np.tanh(x @ U) + np.tanh(h_prev @ W) + b


@ex.misconception
def recurrent_matrix_transposed(x, h_prev, U, W, b):
    """W is transposed. For row vectors it is `h_prev @ W`; the column form W h of other books is `h_prev @ W.T` only with their W."""
    return np.tanh(x @ U + h_prev @ W.T + b)


@ex.misconception
def no_nonlinearity(x, h_prev, U, W, b):
    """There is no tanh: what you return is the sum that goes into it."""
    return x @ U + h_prev @ W + b


@ex.misconception
def sigmoid_for_tanh(x, h_prev, U, W, b):
    """The sum goes through a sigmoid, which lies between 0 and 1. This cell takes the tanh, between -1 and 1."""
    return 1 / (1 + np.exp(-(x @ U + h_prev @ W + b)))


@ex.misconception
def bias_forgotten(x, h_prev, U, W, b):
    """The bias b is missing."""
    return np.tanh(x @ U + h_prev @ W)


# --- rnn_forward

ex = unit.exercise(
    "rnn_forward",
    reference=rnn_forward,
    points=4,
    takes="X (T, N, D), h0 (N, H), U (D, H), W (H, H), b (H,)",
    gives="H (T, N, H)",
    uses={"rnn_step": rnn_step},
    hints=(
        "Walk through time with one state in hand. Each step turns it into the next one, which you also keep.",
        "Start with `h = h0`. In a loop over `x in X`, replace h by `rnn_step(x, h, U, W, b)` and append it to a list. h0 itself is not in the result.",
        "`np.stack(states)` of the T states of shape (N, H) is (T, N, H).",
    ),
)


@ex.cases
def _(rng: np.random.Generator) -> Iterator[Case]:
    for T, N, D, H in ((5, 3, 4, 2), (7, 2, 3, 6)):
        yield case(normal(rng, T, N, D), normal(rng, N, H), *cell_weights(rng, D, H))
    yield edge("one step", normal(rng, 1, 3, 4), normal(rng, 3, 2), *cell_weights(rng, 4, 2))
    yield edge("one row", normal(rng, 4, 1, 2), normal(rng, 1, 3), *cell_weights(rng, 2, 3))
    single = np.float32
    yield edge("float32", normal(rng, 4, 2, 3, dtype=single), normal(rng, 2, 5, dtype=single), *cell_weights(rng, 3, 5, single))


@ex.misconception
def h0_replaced_by_zeros(X, h0, U, W, b):
    """Your states start from zeros: the h0 that was given is not used."""
    h, states = np.zeros_like(h0), []
    for x in X:
        h = rnn_step(x, h, U, W, b)
        states.append(h)
    return np.stack(states)


@ex.misconception
def h0_fed_at_every_step(X, h0, U, W, b):
    """Every step starts from h0 again. Hand each step the state that the step before it gave: `h = rnn_step(x, h, …)`."""
    return np.stack([rnn_step(x, h0, U, W, b) for x in X])


# --- Network

ex = unit.exercise(
    "Network",
    reference=Network,
    points=3,
    takes="parameters, calls",
    gives="logits (T, N, Q)",
    drive="methods",
    hints=(
        "There are two bugs. Call forward twice with the same X: what should the second call give, and what does it give?",
        "What lives in `self` outlives the call. And which axis of the states does V contract: the one over the hidden units, or the one over the rows?",
        "Make `h = np.zeros(…)` at the start of forward, a local name. The logits are `H @ V + c`: (T, N, H) @ (H, Q).",
    ),
)


@ex.cases
def _(rng: np.random.Generator) -> Iterator[Case]:
    for T, N, D, H, Q in ((4, 3, 2, 3, 5), (6, 2, 4, 2, 3)):
        parameters = (*cell_weights(rng, D, H), weights(rng, H, Q), normal(rng, Q))
        X, again = normal(rng, T, N, D), normal(rng, T + 1, N, D)
        yield case(parameters, [("forward", (X,)), ("forward", (again,)), ("forward", (X,))])


# --- quizzes

unit.choice(
    "quiz_rnn_facts",
    points=2,
    hints=("…", "…", "…"),
    options=(
        Option("A", True, "no_memory", "The hidden state is the one thing that a step hands to the next: that is how the past gets to the present."),
        Option("B", False, "text_only", "An RNN reads any sequence of vectors: sound, weather, rows of an image, moves of a game."),
        Option("C", True, "weights_per_step", "W is the same matrix at every step; that is why one model serves every length."),
        Option("D", False, "parameters_grow", "The parameters are shared over time: their number depends on D, H and Q, never on T."),
        Option("E", True, "input_is_flat", "Time, sequence, feature: n sequences of T vectors of size D make an array (T, n, D)."),
    ),
)
