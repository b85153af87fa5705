"""Unit 05. What the unit trains and measures: errors on their way back, long steps, cuts, the wall, short examples.

The task of most experiments is *recall*: at the first step one of four symbols is shown, then come `lag` steps of
noise, and at the last step the cell is to say which symbol it was. It is in the manner of the tasks of Y. Bengio,
P. Simard, P. Frasconi, IEEE Transactions on Neural Networks 5, 1994, and of S. Hochreiter, J. Schmidhuber, Neural
Computation 9, 1997. Parameters are a dict of U (8, H), W (H, H), b (H,), V (H, 4), c (4,), with H = 32.
"""

import tracemalloc
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from jaxtyping import Float, Int

from rnncourse.bptt import nll_backward, output_backward, rnn_backward, sequence_nll
from rnncourse.cell import output_layer, rnn_forward
from rnncourse.gradient_flow import (
    checkpointed_bptt,
    clip_by_global_norm,
    orthogonal,
    spectral_radius,
    state_gradient_norms,
    truncated_bptt,
    with_spectral_radius,
)

Parameters = dict[str, np.ndarray]
Back = Callable[..., Sequence[np.ndarray]]  # (dH, X, h0, H, U, W) -> dU, dW, db

SYMBOLS, HIDDEN, CHANCE = 4, 32, 0.25


# --- one error on its way back


def errors(
    W: Float[np.ndarray, "H H"], loudness: float = 1.0, probe: Callable[..., np.ndarray] = state_gradient_norms
) -> dict[str, Float[np.ndarray, "T"]]:
    """The norms of the error at 41 steps of a cell with this W: "linear", and "tanh", which reads random inputs.

    Inputs are normal draws of 8 rows and 4 columns, times `loudness`; U is half as large. probe: your
    `state_gradient_norms`.
    """
    rng, T, N, D, units = np.random.default_rng(0), 41, 8, 4, len(W)
    X, U, dh_last = rng.normal(size=(T, N, D)), 0.5 * rng.normal(size=(D, units)), rng.normal(size=(N, units))
    H = rnn_forward(loudness * X, np.zeros((N, units)), U, W, np.zeros(units))
    return {"linear": probe(dh_last, np.zeros_like(H), W), "tanh": probe(dh_last, H, W)}


# --- one unit that remembers, and the cliff beside it


def latch_loss(w: Any, b: Any, steps: int = 30, first: float = 0.5) -> tuple[Any, Any, Any]:
    """The loss of one unit, h <- tanh(w h + b), that is to keep a sign for `steps` steps; and its slopes by w and b.

    It starts once at `first` and once at -`first`, and the loss is the mean of (h - 1)² and (h + 1)² at the end. w and
    b may be arrays. After R. Pascanu, T. Mikolov, Y. Bengio, "On the Difficulty of Training Recurrent Neural Networks",
    ICML 2013, figure 6.
    """
    loss, dw, db = 0.0, 0.0, 0.0
    for sign in (1.0, -1.0):
        h, h_w, h_b = sign * first, 0.0, 0.0  # a state and its slopes by w and by b, carried along
        for _ in range(steps):
            after = np.tanh(w * h + b)
            h_w, h_b = (1 - after**2) * (h + w * h_w), (1 - after**2) * (1 + w * h_b)
            h = after
        loss, dw, db = loss + (h - sign) ** 2 / 2, dw + (h - sign) * h_w, db + (h - sign) * h_b
    return loss, dw, db


def latch_path(
    w: float, b: float, learning_rate: float = 0.2, max_norm: float = np.inf, updates: int = 200, clip: Any = None
) -> Float[np.ndarray, "updates 4"]:
    """Gradient descent on `latch_loss`: for each update w, b, the loss and the gradient's norm, before the update.

    clip: your `clip_by_global_norm`.
    """
    clip, rows = clip or clip_by_global_norm, []
    for _ in range(updates):
        loss, *slopes = latch_loss(w, b)
        (dw, db), norm = clip([np.array(slope) for slope in slopes], max_norm)
        rows.append((w, b, float(loss), norm))
        w, b = w - learning_rate * float(dw), b - learning_rate * float(db)
    return np.array(rows)


# --- the task that needs memory, and training on it


def recall_batch(
    rng: np.random.Generator, lag: int, rows: int, before: int = 0
) -> tuple[Float[np.ndarray, "T N D"], Int[np.ndarray, "N"]]:
    """X (before + 1 + lag, rows, 8) and y (rows,): `before` steps of noise, the symbol y, and `lag` steps of noise.

    All are one-hot; the noise has four symbols of its own.
    """
    ids = SYMBOLS + rng.integers(SYMBOLS, size=(before + 1 + lag, rows))
    ids[before] = rng.integers(SYMBOLS, size=rows)
    return np.eye(2 * SYMBOLS)[ids], ids[before]


def states_of(p: Parameters, X: Float[np.ndarray, "T N D"]) -> Float[np.ndarray, "T N H"]:
    """The states of the cell p while it reads X, from a state of zeros."""
    return rnn_forward(X, np.zeros((X.shape[1], len(p["W"]))), p["U"], p["W"], p["b"])


def full_bptt(dH: Any, X: Any, h0: Any, H: Any, U: Any, W: Any) -> Sequence[np.ndarray]:
    """The whole walk back: dU, dW and db."""
    return rnn_backward(dH, X, h0, H, U, W)[2:]


def cut_at(k: int, cut: Callable[..., Sequence[np.ndarray]] = truncated_bptt) -> Back:
    """A walk back in chunks of k steps. cut: your `truncated_bptt`."""
    return lambda dH, X, h0, H, U, W: cut(dH, X, h0, H, U, W, k)


def loss_and_gradients(
    p: Parameters, X: Float[np.ndarray, "T N D"], y: Int[np.ndarray, "N"], back: Back = full_bptt
) -> tuple[float, list[np.ndarray]]:
    """The loss at the last step, and its gradients, in the order of p."""
    H = states_of(p, X)
    logits = output_layer(H[-1:], p["V"], p["c"])
    dH = np.zeros_like(H)
    dH[-1:], dV, dc = output_backward(nll_backward(logits, y[None]), H[-1:], p["V"])
    return sequence_nll(logits, y[None]), [*back(dH, X, np.zeros_like(H[0]), H, p["U"], p["W"]), dV, dc]


def recalled(p: Parameters, lag: int, rows: int = 200, before: int = 0) -> float:
    """The share of right answers on new sequences of this lag; a guess gives 0.25."""
    X, y = recall_batch(np.random.default_rng(lag), lag, rows, before)
    return float(np.mean(output_layer(states_of(p, X)[-1:], p["V"], p["c"])[0].argmax(axis=1) == y))


def drawn(start: float | str, seed: int) -> Float[np.ndarray, "H H"]:
    """The W that a network starts from: of a spectral radius, or "orthogonal"."""
    if start == "orthogonal":
        return orthogonal(np.random.default_rng([seed, 2]), HIDDEN)
    return with_spectral_radius(np.random.default_rng([seed, 1]).normal(size=(HIDDEN, HIDDEN)), float(start))


def draw_parameters(rng: np.random.Generator, W: Float[np.ndarray, "H H"], loudness: float = 0.5) -> Parameters:
    """All five: W as given, U and V drawn. The entries of U, of size `loudness`, decide how loud the inputs are."""
    U, V = loudness * rng.normal(size=(2 * SYMBOLS, HIDDEN)), rng.normal(size=(HIDDEN, SYMBOLS)) / np.sqrt(HIDDEN)
    return {"U": U, "W": W.copy(), "b": np.zeros(HIDDEN), "V": V, "c": np.zeros(SYMBOLS)}


def train(
    lags: tuple[int, int],
    start: float | str = 0.9,
    *,
    learning_rate: float = 0.2,
    max_norm: float = 1.0,
    updates: int = 300,
    seed: int = 0,
    loudness: float = 0.5,
    before: int = 0,
    back: Back = full_bptt,
    clip: Callable[..., Any] = clip_by_global_norm,
) -> tuple[Parameters, Float[np.ndarray, "updates"], Float[np.ndarray, "updates"]]:
    """Plain gradient descent on recall, 16 sequences at a time: the parameters, the losses, the gradients' norms.

    Each batch has one lag, from the shortest to the longest of `lags`, and as many as `before` steps of noise before
    its symbol. back, clip: your walk back, and your `clip_by_global_norm`.
    """
    rng = np.random.default_rng(seed)
    p, losses, norms = draw_parameters(rng, drawn(start, seed), loudness), [], []
    for _ in range(updates):
        early = rng.integers(before + 1) if before else 0
        X, y = recall_batch(rng, int(rng.integers(lags[0], lags[1] + 1)), 16, int(early))
        loss, gradients = loss_and_gradients(p, X, y, back)
        gradients, norm = clip(gradients, max_norm)
        for array, gradient in zip(p.values(), gradients, strict=True):
            array -= learning_rate * gradient
        losses.append(loss)
        norms.append(norm)
    return p, np.array(losses), np.array(norms)


def angle(some: Sequence[np.ndarray], others: Sequence[np.ndarray]) -> float:
    """The angle in degrees between two lists of gradients, each laid out as one long vector."""
    a, b = (np.concatenate([g.ravel() for g in gradients]) for gradients in (some, others))
    return float(np.degrees(np.arccos(np.clip(a @ b / np.sqrt((a @ a) * (b @ b)), -1, 1))))


# --- what was learned

ASKED = (1, 3, 7, 10, 30, 100, 300, 1000)


def recall_after_training(
    seed: int, lags: tuple[int, int] = (1, 7), asked: Sequence[int] = ASKED, k: int = 0, **settings: Any
) -> dict[str, float]:
    """The share of right answers at each of the lags `asked`, after `train` with these settings; 0.25 is a guess.

    k: the length of a chunk, 0 for the whole walk back. With noise before the symbol, there is some when it is asked.
    """
    p, _, _ = train(lags, seed=seed, back=cut_at(k) if k else full_bptt, **settings)
    before = min(8, settings.get("before", 0))
    return {f"lag {lag}": recalled(p, lag, before=before) for lag in asked}


def powers_lost(p: Parameters, lag: int, probe: Callable[..., np.ndarray] = state_gradient_norms) -> float:
    """How many powers of ten an error loses on its walk over `lag` steps of the task: the median of 32 sequences.

    probe: your `state_gradient_norms`.
    """
    rng = np.random.default_rng(lag)
    H = states_of(p, recall_batch(rng, lag, 32)[0])
    norms = [probe(rng.normal(size=(1, HIDDEN)), H[:, [row]], p["W"]) for row in range(32)]
    return float(np.median([np.log10(one[-1] / one[0]) for one in norms]))


def in_average_noise(p: Parameters, steps: int = 300) -> Float[np.ndarray, "T N H"]:
    """The states (steps + 1, 4, H) after each of the four symbols, if the noise is replaced by its average, 0.25 each.

    What the states do then, they do by themselves: no chance pushes them.
    """
    noise = np.concatenate([np.zeros(SYMBOLS), np.full(SYMBOLS, 1 / SYMBOLS)])
    return states_of(p, np.concatenate([np.eye(2 * SYMBOLS)[None, :SYMBOLS], np.tile(noise, (steps, SYMBOLS, 1))]))


def states_in_noise(p: Parameters, lag: int, rows: int = 160) -> tuple[np.ndarray, np.ndarray]:
    """The last states (rows, H) of new sequences of this lag, and their symbols (rows,)."""
    X, y = recall_batch(np.random.default_rng(1), lag, rows)
    return states_of(p, X)[-1], y


def after_a_push(p: Parameters, rest: Float[np.ndarray, "N H"], size: float = 1.0, steps: int = 50) -> np.ndarray:
    """How far (steps + 1, N) the states are from `rest`, in average noise, after a push of this length at random."""
    push = np.random.default_rng(0).normal(size=rest.shape)
    h0 = rest + size * push / np.linalg.norm(push, axis=1, keepdims=True)
    noise = np.concatenate([np.zeros(SYMBOLS), np.full(SYMBOLS, 1 / SYMBOLS)])
    H = rnn_forward(np.tile(noise, (steps, len(rest), 1)), h0, p["U"], p["W"], p["b"])
    return np.linalg.norm(np.concatenate([h0[None], H]) - rest, axis=2)


def one_step_back(h: Float[np.ndarray, "H"], W: Float[np.ndarray, "H H"]) -> Float[np.ndarray, "H H"]:
    """The matrix that an error at the state h is multiplied by on its way to the step before, diag(1 - h²) Wᵀ."""
    return (1 - h**2)[:, None] * W.T


def resting(p: Parameters) -> dict[str, Float[np.ndarray, "N"]]:
    """Of each symbol's state after 300 steps of average noise: does it rest, is it apart, does it come back?

    "moves": how far it goes in one more step. "apart": how far the nearest of the three others is. "left": what is left
    of a push of length 1 after 50 steps. "radius": the spectral radius of one step back.
    """
    *_, before, rest = in_average_noise(p, 301)
    gaps = np.linalg.norm(rest[:, None] - rest[None], axis=2) + np.diag([np.inf] * SYMBOLS)
    return {
        "moves": np.linalg.norm(rest - before, axis=1),
        "apart": gaps.min(axis=1),
        "left": after_a_push(p, rest)[-1],
        "radius": np.array([spectral_radius(one_step_back(h, p["W"])) for h in rest]),
    }


def attractors(p: Parameters) -> int:
    """How many of the four symbols have a state of their own that rests and comes back from a push of length 1."""
    found = resting(p)
    return int(((found["moves"] < 1e-3) & (found["apart"] > 0.5) & (found["left"] < 0.05)).sum())


def inside_after_training(
    seed: int, lags: tuple[int, int] = (1, 7), start: float | str = 0.9, **settings: Any
) -> dict[str, float]:
    """What a network has become: the radius of its W, its attractors, and what an error loses over 100 steps."""
    p, _, _ = train(lags, start, seed=seed, **settings)
    return {
        "radius": spectral_radius(p["W"]),
        "attractors": attractors(p),
        "radius of one step": float(resting(p)["radius"].max()),
        "lost": powers_lost(p, 100),
        "lag 100": recalled(p, 100),
        "lag 1000": recalled(p, 1000),
    }


# --- memory


def peak_memory(
    lengths: Sequence[int],
    cut: Callable[..., Sequence[np.ndarray]] = truncated_bptt,
    checkpointed: Callable[..., Sequence[np.ndarray]] = checkpointed_bptt,
) -> dict[str, list[float]]:
    """The most megabytes that Python held at once, while it went through so many steps, for three ways back.

    "full"; "checkpointed", one state in the root of T; "truncated", chunk by chunk of 16 steps, as on a stream. There
    are 32 rows and 32 units, and the loss is the sum of h⁴ / 4 over all states.
    """
    walks = ways_back(cut, checkpointed)
    return {name: [_peak(walk, np.ones((T, 32, 4))) for T in lengths] for name, walk in walks.items()}


def ways_back(cut: Any = truncated_bptt, checkpointed: Any = checkpointed_bptt) -> Mapping[str, Callable[..., Any]]:
    """The three ways back of `peak_memory`, by name: each takes X (T, 32, 4) and gives dU, dW and db."""
    rng = np.random.default_rng(0)
    U, W, b = 0.5 * rng.normal(size=(4, 32)), with_spectral_radius(rng.normal(size=(32, 32)), 0.9), np.zeros(32)
    h0 = np.zeros((32, 32))

    def loss_grad(t: int, h: np.ndarray) -> np.ndarray:
        return np.asarray(h**3)

    def full(X: np.ndarray) -> Sequence[np.ndarray]:
        H = rnn_forward(X, h0, U, W, b)
        return full_bptt(H**3, X, h0, H, U, W)

    def truncated(X: np.ndarray, k: int = 16) -> Sequence[np.ndarray]:
        totals, h = [np.zeros_like(U), np.zeros_like(W), np.zeros_like(b)], h0
        for s in range(0, len(X), k):
            chunk = X[s : s + k]
            H = rnn_forward(chunk, h, U, W, b)
            totals = [total + part for total, part in zip(totals, cut(H**3, chunk, h, H, U, W, k), strict=True)]
            h = H[-1].copy()
        return totals

    def checkpoints(X: np.ndarray) -> Sequence[np.ndarray]:
        return checkpointed(loss_grad, X, h0, U, W, b, every=round(np.sqrt(len(X))))

    return {"full": full, "checkpointed": checkpoints, "truncated": truncated}


def _peak(walk: Callable[..., Any], X: np.ndarray) -> float:
    tracemalloc.start()
    walk(X)
    megabytes = tracemalloc.get_traced_memory()[1] / 1e6
    tracemalloc.stop()
    return megabytes
