"""Unit 08: what it measures in NumPy, with the student's functions. What needs PyTorch is in `stacked_torch`.

A knock at the bottom of a stack; the gradients beside differences; how much of an error comes down a stack as it is
drawn; latches under dropout; and what the scale of the weights means before a layer is normalised, and after.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from jaxtyping import Float

from rnncourse.bptt import numerical_gradient, rnn_backward
from rnncourse.cell import rnn_forward, rnn_step
from rnncourse.stacked import (
    dropout_between,
    layer_norm,
    locked_dropout,
    stacked_backward,
    stacked_forward,
    stacked_parameter_count,
)

Line = Float[np.ndarray, "K"]


# --- a stack, forwards and back


def knocked(
    W: float = 0.8, layers: int = 4, steps: int = 25, forward: Callable[..., Any] = stacked_forward
) -> dict[str, Line]:
    """The states of each layer of one unit, divided by their maximum, after one knock at the bottom at step 1."""
    X = np.zeros((steps, 1, 1))
    X[0] = 0.5
    one = (np.array([[0.5]]), np.array([[W]]), np.zeros(1))
    tops = {f"layer {L}": forward(X, np.zeros((L, 1, 1)), [one] * L)[0] for L in range(1, layers + 1)}
    return {name: np.ravel(H) / np.max(H) for name, H in tops.items()}


def width_for(budget: int, D: int, L: int, count: Callable[[int, int, int], int] = stacked_parameter_count) -> int:
    """The largest H for which L layers on inputs of size D have at most `budget` parameters, as `count` counts them."""
    H = 1
    while count(D, H + 1, L) <= budget:
        H += 1
    return H


def gradient_errors(
    forward: Callable[..., Any] = stacked_forward, backward: Callable[..., Any] = stacked_backward
) -> dict[str, float]:
    """The largest differences between your gradients and central differences, for three layers, with a random loss."""
    rng = np.random.default_rng(0)
    T, N, D, H, L = 5, 3, 4, 2, 3
    X, h0, dH_top = rng.normal(size=(T, N, D)), rng.normal(size=(L, N, H)), rng.normal(size=(T, N, H))
    layers = [(rng.normal(size=(H if l else D, H)), rng.normal(size=(H, H)), rng.normal(size=H)) for l in range(L)]

    def loss(X: Any = X, h0: Any = h0, layers: Any = layers) -> float:
        return float((dH_top * forward(X, h0, layers)[0]).sum())

    def loss_with(l: int, k: int) -> Callable[[Any], float]:
        """The loss as a function of the k-th array of layer l."""
        return lambda array: loss(
            layers=[
                tuple(array if (i, j) == (l, k) else one for j, one in enumerate(layer))
                for i, layer in enumerate(layers)
            ]
        )

    dX, dh0, gradients = backward(dH_top, X, h0, layers)
    errors = {
        "dX": np.abs(dX - numerical_gradient(lambda X: loss(X=X), X)).max(),
        "dh0": np.abs(dh0 - numerical_gradient(lambda h0: loss(h0=h0), h0)).max(),
    }
    for l, layer in enumerate(layers):
        differences = [
            np.abs(gradients[l][k] - numerical_gradient(loss_with(l, k), array)).max() for k, array in enumerate(layer)
        ]
        errors[f"dU, dW, db of layer {l + 1}"] = max(differences)
    return {name: float(error) for name, error in errors.items()}


def error_coming_down(
    L: int = 8, residual: bool = False, wider: float = 1.0, seeds: int = 5, T: int = 20, N: int = 16, H: int = 32
) -> Line:
    """The size of the error after it has come down 0 to L - 1 layers, as a share of what the loss sent: L numbers.

    Nothing is trained: weights are drawn as PyTorch draws them, `wider` times as wide, and the result is the mean over
    `seeds` draws. residual: each layer but the first adds its states to what it reads.
    """
    return np.mean([_error_coming_down(L, residual, wider, seed, T, N, H) for seed in range(seeds)], axis=0)


def _error_coming_down(L: int, residual: bool, wider: float, seed: int, T: int, N: int, H: int) -> Line:
    rng = np.random.default_rng(seed)
    reach = wider / np.sqrt(H)
    weights = [(rng.uniform(-reach, reach, (H, H)), rng.uniform(-reach, reach, (H, H))) for _ in range(L)]
    handed, states, start = [rng.normal(size=(T, N, H))], [], np.zeros((N, H))
    for l, (U, W) in enumerate(weights):
        states.append(rnn_forward(handed[-1], start, U, W, np.zeros(H)))
        handed.append(states[-1] + handed[-1] if residual and l > 0 else states[-1])
    error, sizes = rng.normal(size=(T, N, H)), []
    for l in reversed(range(L)):
        sizes.append(np.linalg.norm(error))
        U, W = weights[l]
        through = rnn_backward(error, handed[l], start, states[l], U, W)[0]
        error = error + through if residual else through
    return np.array(sizes) / sizes[0]


# --- latches under dropout


def latches_under_dropout(
    units: int = 1,
    where: str = "through time",
    p: float = 0.1,
    steps: int = 50,
    rows: int = 2000,
    drop: Callable[..., Any] = dropout_between,
    lock: Callable[..., Any] = locked_dropout,
) -> Line:
    """The share of `rows` latches that read as set at each step, if entries are dropped with probability p.

    A latch is that of unit 03, W = 2, set at 0.96; or `units` of them that hold the bit together, with 2 / units of
    a W from each to each. where: "upwards", on the way to a reader; "through time", with a new draw at each step, both
    by your `drop`; or "one mask", through time with the draw that your `lock` makes once. A latch reads as set if the
    mean of its units is above 0.5.
    """
    rng = np.random.default_rng(1)
    x, U, W, b = np.zeros((rows, 1)), np.zeros((1, units)), np.full((units, units), 2 / units), np.zeros(units)
    mask = lock(np.ones((1, rows, units)), p, rng)[0]  # 0, or 1 / (1 - p)
    h, shares = np.full((rows, units), 0.96), []
    for _ in range(steps):
        kept = rng.random((1, rows, units)) >= p
        fed = {"upwards": h, "through time": drop(h[None], p, kept)[0], "one mask": h * mask}[where]
        h = rnn_step(x, fed, U, W, b)
        read = drop(h[None], p, kept)[0] if where == "upwards" else h
        shares.append(float((read.mean(axis=1) > 0.5).mean()))
    return np.array(shares)


# --- what scale means


def difference_on_top(
    scale: float, normalise: Callable[..., Any] | None = None, layers: int = 8, H: int = 64, N: int = 200
) -> float:
    """How far apart two slightly different inputs are on top of a stack after one step, as a share of what they were.

    The weights are drawn as PyTorch draws them, times `scale`. normalise: your `layer_norm`, inside each tanh, or None.
    """
    rng = np.random.default_rng(0)
    x = rng.normal(size=(N, H))
    rows = np.stack([x, x + 1e-6 * rng.normal(size=(N, H))])
    before = np.linalg.norm(rows[1] - rows[0])
    for _ in range(layers):
        rows = rows @ rng.uniform(-1, 1, (H, H)) * (scale / np.sqrt(H))
        rows = np.tanh(normalise(rows, np.ones(H), np.zeros(H), 1e-12) if normalise else rows)
    return float(f"{np.linalg.norm(rows[1] - rows[0]) / before:.6g}")  # beyond that it is rounding


def train_normalised(
    scale: float = 1.0, rate: float = 0.3, updates: int = 60, normalise: Callable[..., Any] = layer_norm, seed: int = 0
) -> tuple[Line, Line]:
    """Train the U of one layer, tanh(LN(x U)), that starts `scale` times as large: the loss and the size of U.

    Plain gradient descent on all of 32 rows, with central differences as the gradient; the targets come from a layer of
    the same kind. Both lines have a value before each update, and one after the last.
    """
    rng = np.random.default_rng(seed)
    x, ones, zeros = rng.normal(size=(32, 4)), np.ones(3), np.zeros(3)

    def layer(U: Any) -> Any:
        return np.tanh(normalise(x @ U, ones, zeros, 1e-12))

    targets, U = layer(rng.normal(size=(4, 3))), scale * rng.normal(size=(4, 3))

    def loss(U: Any) -> float:
        return float(((layer(U) - targets) ** 2).mean())

    losses, sizes = [loss(U)], [np.linalg.norm(U)]
    for _ in range(updates):
        U = U - rate * numerical_gradient(loss, U)
        losses.append(loss(U))
        sizes.append(np.linalg.norm(U))
    return np.array(losses), np.array(sizes)
