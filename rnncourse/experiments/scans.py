"""Unit 14: what it counts and measures in NumPy. How many operations wait for one another, which of scan and loop is
faster, the way back of a tanh cell, Newton's way forwards, a latch made by hand, and how many pairs a state can hold.

What needs PyTorch, networks that are trained, is in `rnncourse.experiments.scans_torch`.
"""

from __future__ import annotations

import functools
import operator
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float

from rnncourse.attention import attention
from rnncourse.bptt import rnn_backward
from rnncourse.cell import rnn_forward
from rnncourse.data.recall import recall_batch
from rnncourse.gradient_flow import with_spectral_radius
from rnncourse.scans import (
    associative_scan,
    backward_by_scan,
    linear_attention,
    linear_recurrence,
    matrix_scan,
    min_gru_forward,
)

Run = Callable[..., Any]


# --- what waits for what


@dataclass
class Counting:
    """A number that knows its depth: how many operations, each waiting for one before, it took to make it.

    >>> p, q, r, s = (Counting(v) for v in (1.0, 2.0, 3.0, 4.0))
    >>> ((p + q) + r) + s, (p + q) + (r + s)
    (Counting(value=10.0, depth=3), Counting(value=10.0, depth=2))
    >>> 1 - p * p
    Counting(value=0.0, depth=2)
    """

    value: float
    depth: int = 0

    def __pow__(self, factors: int) -> Counting:
        return functools.reduce(operator.mul, [self] * factors)


def _counting(operation: Callable[[float, float], float], turned: bool = False) -> Callable[[Counting, Any], Any]:
    def count(self: Counting, other: Any) -> Any:
        if not isinstance(other, (Counting, int, float, np.generic)):
            return NotImplemented  # an array does it entry by entry
        other = other if isinstance(other, Counting) else Counting(float(other))
        first, second = (other, self) if turned else (self, other)
        return Counting(operation(first.value, second.value), 1 + max(first.depth, second.depth))

    return count


for _name in ("add", "sub", "mul", "truediv"):
    setattr(Counting, f"__{_name}__", _counting(getattr(operator, _name)))
    setattr(Counting, f"__r{_name}__", _counting(getattr(operator, _name), turned=True))


def operations_in_a_row(run: Run, steps: int) -> int:
    """The depth of the deepest state that `run(a, b, h0)` makes of so many steps of numbers that count."""
    rng = np.random.default_rng(steps)
    a, b = (np.array([Counting(v) for v in rng.uniform(-1, 1, steps)], dtype=object) for _ in range(2))
    return max(state.depth for state in run(a, b, Counting(1.0)))


def largest_difference(
    loop: Run = linear_recurrence, scan: Run = associative_scan, lengths: Sequence[int] = (1, 2, 3, 100, 1000, 4097)
) -> float:
    """By how much two ways to compute the same recurrence differ at most, over sequences of these lengths."""
    rng = np.random.default_rng(0)
    differences = []
    for T in lengths:
        a, b, h0 = rng.uniform(-1, 1, (T, 3)), rng.normal(size=(T, 3)), rng.normal(size=3)
        differences.append(np.abs(loop(a, b, h0) - scan(a, b, h0)).max())
    return float(max(differences))


def loop_over_scan(steps: int, *shape: int) -> float:
    """How many times as long as the scan the loop takes, in time of one core, for steps of this shape; the course's."""
    rng = np.random.default_rng(0)
    a, b = rng.uniform(0.5, 1, (steps, *shape)), rng.normal(size=(steps, *shape))

    def seconds(run: Run) -> float:
        took = []
        for _ in range(3):
            start, runs = time.process_time(), 0
            while time.process_time() - start < 0.02:
                run(a, b, np.zeros(shape))
                runs += 1
            took.append((time.process_time() - start) / runs)
        return min(took)

    return seconds(linear_recurrence) / seconds(associative_scan)


# --- a tanh cell, back and forth


def driven_cell(
    steps: int, units: int, radius: float, seed: int = 0
) -> tuple[Float[np.ndarray, "T H"], Float[np.ndarray, "H H"]]:
    """What comes into a plain cell at each step, from random symbols, and its W, random with this spectral radius."""
    rng = np.random.default_rng([seed, 14])
    W = with_spectral_radius(rng.normal(size=(units, units)), radius)
    return 0.5 * rng.normal(size=(8, units))[rng.integers(8, size=steps)], W


def walked(inputs: Float[np.ndarray, "T H"], W: Float[np.ndarray, "H H"]) -> Float[np.ndarray, "T H"]:
    """The states of h_t = tanh(inputs_t + h_{t-1} W) from 0, one after the other."""
    units = len(W)
    return rnn_forward(inputs[:, None], np.zeros((1, units)), np.eye(units), W, np.zeros(units))[:, 0]


def way_back(backward: Run = backward_by_scan, steps: int = 64, units: int = 16, seed: int = 0) -> float:
    """By how much the errors that `backward(dH, H, W)` gives differ from those of unit 04's walk, at most."""
    inputs, W = driven_cell(steps, units, 1.0, seed)
    H = walked(inputs, W)[:, None]
    dH = np.random.default_rng(seed).normal(size=H.shape)
    before_tanh = rnn_backward(dH, inputs[:, None], np.zeros((1, units)), H, np.eye(units), W)[0]
    return float(np.abs((1 - H * H) * backward(dH, H, W) - before_tanh).max())


def newton(
    radius: float = 0.9,
    whole: bool = False,
    steps: int = 1000,
    units: int = 16,
    rounds: int = 120,
    seed: int = 0,
    scan: Run = associative_scan,
) -> list[float]:
    """Guess all states of a plain cell as 0, then mend all of them at a time: the largest error after each round.

    A round replaces each step by its tangent at the present guess and solves that linear recurrence by a scan.
    whole: the tangent has the whole Jacobian, diag(1 - h^2) W^T turned (a scan of matrices), or only its diagonal: what
    each unit gets from itself (`scan`). It stops at 1e-10, or where numbers are no longer finite.

    Sources: Y. H. Lim et al., "Parallelizing Non-Linear Sequential Models over the Sequence Length", ICLR 2024 (all of
    it); X. Gonzalez et al., "Towards Scalable and Stable Parallelization of Nonlinear RNNs", NeurIPS 2024 (the
    diagonal).
    """
    inputs, W = driven_cell(steps, units, radius, seed)
    true, guess = walked(inputs, W), np.zeros((steps, units))
    errors: list[float] = []
    with np.errstate(all="ignore"):
        while len(errors) < rounds and (not errors or 1e-10 < errors[-1] < np.inf):
            before = np.concatenate([np.zeros((1, units)), guess[:-1]])
            after = np.tanh(inputs + before @ W)
            slopes = 1 - after * after
            if whole:
                jacobians = W * slopes[:, None]
                guess = matrix_scan(jacobians, after - (before[:, None] @ jacobians)[:, 0])
            else:
                own = slopes * np.diag(W)
                guess = scan(own, after - own * before, np.zeros(units))
            errors.append(float(np.nan_to_num(np.abs(guess - true).max(), nan=np.inf)))
    return errors


def rounds_needed(errors: Sequence[float], most: int = 200) -> int:
    """After how many rounds `newton` was at 1e-10; `most` if it never was."""
    return len(errors) if errors[-1] <= 1e-10 else most


# --- what a state holds


def held_by_hand(shut: float, lag: int = 20_000, forward: Run = min_gru_forward) -> float:
    """The share of right answers of a minimal GRU whose weights are written down: a symbol opens the gate and writes
    itself; noise opens it by sigma(-shut), and would write something random.
    """
    X, y = recall_batch(np.random.default_rng(0), lag, rows=40)
    Wz = np.repeat([[20.0], [-shut]], 4, axis=0) * np.ones(4)
    Wh = np.concatenate([np.eye(4), np.random.default_rng(1).normal(size=(4, 4))])
    states = forward(X, np.zeros((40, 4)), Wz, Wh)
    return float(np.mean(states[-1].argmax(axis=1) == y))


def _pairs(rng: np.random.Generator, pairs: int, size: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """So many random keys (pairs, size) of length 1, one of 16 values for each, and the values as one-hot rows."""
    keys = rng.normal(size=(pairs, size))
    keys /= np.linalg.norm(keys, axis=1, keepdims=True)
    which = rng.integers(0, 16, pairs)
    return keys, which, np.eye(16)[which]


def found_linear(pairs: int, power: int = 1, seed: int = 0, attend: Run = linear_attention, trials: int = 10) -> float:
    """The share of stored pairs whose value linear attention finds when each key is asked for once more.

    With `power` 2 the scores are squares, (q k)^2: queries and keys go in as all products of two of their entries.
    """
    rng, right = np.random.default_rng([seed, pairs]), []
    for _ in range(trials):
        keys, which, values = _pairs(rng, pairs, 16)
        if power == 2:
            keys = (keys[:, :, None] * keys[:, None]).reshape(pairs, -1)
        silent, nothing = np.zeros_like(keys), np.zeros_like(values)
        # first the pairs come in and nobody asks, then each key asks and nothing comes in
        answers = attend(np.vstack([silent, keys]), np.vstack([keys, silent]), np.vstack([values, nothing]))
        right.append(np.mean(answers[pairs:].argmax(axis=1) == which))
    return float(np.mean(right))


def found_softmax(
    pairs: int, sharpness: float = 1.0, seed: int = 0, attend: Run = attention, trials: int = 10
) -> float:
    """The same for attention with its softmax, whose queries are `sharpness` times the keys."""
    rng, right = np.random.default_rng([seed, pairs]), []
    for _ in range(trials):
        keys, which, values = _pairs(rng, pairs, 16)
        right.append(np.mean(attend(sharpness * keys, keys, values)[0].argmax(axis=1) == which))
    return float(np.mean(right))


def best_sharpness(seed: int = 0) -> float:
    """The sharpness of 1, 3, 10, 30, 100 that finds most of 64 other pairs."""
    return max((1.0, 3.0, 10.0, 30.0, 100.0), key=lambda s: found_softmax(64, s, seed + 10_000))
