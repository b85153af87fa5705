"""Unit 04: what it trains and measures. Networks that spell, gradients that are wrong, and where a gradient comes from.

Parameters are a dict of U, W, b, V, c. What a student has written comes in as an argument: `gradients(p, X, targets)`
returns the loss, its gradients by name, and the logits; `backward` is `rnn_backward`, a right or a wrong one; a walk
takes X, h0, U, W, b, dH and gives dU, dW, db.
"""

import tracemalloc
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any

import numpy as np
from jaxtyping import Float, Int

from rnncourse.bptt import (
    nll_backward,
    numerical_gradient,
    output_backward,
    recurrent_gradient_by_lag,
    rnn_backward,
    rnn_step_backward,
    sequence_nll,
)
from rnncourse.cell import output_layer, rnn_forward, rnn_step, softmax
from rnncourse.data import python_docs
from rnncourse.data.claims import claimed
from rnncourse.exercises.bptt import KINDS, backward_pass

Parameters = dict[str, np.ndarray]
Gradients = Callable[[Parameters, np.ndarray, np.ndarray], tuple[float, Parameters, np.ndarray]]
Walk = Callable[..., Sequence[np.ndarray]]

LINE = "she sells sea shells by the sea shore"


# --- a network, its gradients, and a step downhill


def draw_parameters(seed: int, symbols: int, hidden: int) -> Parameters:
    """U, W, b, V, c of a network that reads and predicts `symbols` symbols: a step keeps the size of a state."""
    rng = np.random.default_rng(seed)
    return {
        "U": rng.normal(size=(symbols, hidden)) / np.sqrt(symbols),
        "W": rng.normal(size=(hidden, hidden)) / np.sqrt(hidden),
        "b": np.zeros(hidden),
        "V": 0.1 * rng.normal(size=(hidden, symbols)),
        "c": np.zeros(symbols),
    }


def states_of(p: Parameters, X: Float[np.ndarray, "T N D"]) -> Float[np.ndarray, "T N H"]:
    """The states of the cell while it reads X, from zeros."""
    return rnn_forward(X, np.zeros((X.shape[1], len(p["W"]))), p["U"], p["W"], p["b"])


def loss_and_gradients(
    p: Parameters, X: Float[np.ndarray, "T N D"], targets: Int[np.ndarray, "T N"], backward: Walk = rnn_backward
) -> tuple[float, Parameters, np.ndarray]:
    """The loss, its gradient for each parameter in p, and the logits; every sequence starts from zeros."""
    H = states_of(p, X)
    logits = output_layer(H, p["V"], p["c"])
    dH, dV, dc = output_backward(nll_backward(logits, targets), H, p["V"])
    dU, dW, db = backward(dH, X, np.zeros_like(H[0]), H, p["U"], p["W"])[2:]
    return sequence_nll(logits, targets), {"U": dU, "W": dW, "b": db, "V": dV, "c": dc}, logits


def descend(p: Parameters, gradients: Parameters, learning_rate: float) -> None:
    """One step of gradient descent, for every parameter in p."""
    for name in p:
        p[name] -= learning_rate * gradients[name]


def adagrad(p: Parameters, gradients: Parameters, squares: Parameters, learning_rate: float) -> None:
    """One step of Adagrad (J. Duchi, E. Hazan, Y. Singer, JMLR 12, 2011); `squares` is added to."""
    for name in p:
        squares[name] += gradients[name] ** 2
        p[name] -= learning_rate * gradients[name] / np.sqrt(squares[name] + 1e-8)


def _letters(text: str) -> tuple[list[str], Float[np.ndarray, "T 1 D"], Int[np.ndarray, "T 1"]]:
    """The letters of a text in order, and what a network reads, one-hot, and should say: the letter that comes next."""
    letters = sorted(set(text))
    ids = np.array([letters.index(letter) for letter in text])[:, None]
    return letters, np.eye(len(letters))[ids[:-1]], ids[1:]


# --- sections 5 and 6: hello


def error_on_its_way(
    word: str = "hello", step_back: Walk = rnn_step_backward
) -> tuple[Float[np.ndarray, "T H"], Float[np.ndarray, "T H"]]:
    """States and whole errors, dh_1 to dh_T, of a network of five units that has learned nothing and reads a word.

    step_back: your `rnn_step_backward`.
    """
    letters, X, targets = _letters(word)
    p = draw_parameters(0, len(letters), 5)
    H, h0 = states_of(p, X), np.zeros((1, 5))
    dH, *_ = output_backward(nll_backward(output_layer(H, p["V"], p["c"]), targets), H, p["V"])
    errors, from_later = np.empty_like(H), h0
    for t in reversed(range(len(H))):
        errors[t] = dH[t] + from_later
        _, from_later, *_ = step_back(errors[t], X[t], H[t - 1] if t > 0 else h0, H[t], p["U"], p["W"])
    return H[:, 0], errors[:, 0]


def spell(
    word: str,
    learning_rate: float = 0.1,
    updates: int = 100,
    gradients: Gradients = loss_and_gradients,
    step: Callable[[Parameters, Parameters, float], None] = descend,
    hidden: int = 8,
    seed: int = 0,
    state: bool = True,
) -> tuple[list[float], list[str], list[np.ndarray]]:
    """Train on one word by gradient descent: the loss, what it says after each letter, and how sure it is of that.

    There is one of each before every update, and one at the end. gradients, step: your own. state: whether anything is
    carried from letter to letter; if not, each is a sequence by itself, and the loss is that of all of them still.
    """
    letters, X, targets = _letters(word)
    if not state:
        X, targets = X.swapaxes(0, 1), targets.swapaxes(0, 1)
    rows = targets.shape[1]
    p, losses, said, sure = draw_parameters(seed, len(letters), hidden), [], [], []
    with np.errstate(all="ignore"):  # a rate that is too large may overflow
        for _ in range(updates + 1):
            loss, slopes, logits = gradients(p, X, targets)
            losses.append(loss * rows)
            said.append("".join(letters[i] for i in logits.argmax(axis=-1).ravel()))
            sure.append(softmax(logits).max(axis=-1).ravel())
            step(p, slopes, learning_rate * rows)
    return losses, said, sure


# --- section 7: gradients that are wrong

TWISTER = "she sells sea shells by the sea shore; the shells she sells are sea shells for sure. "


def zeros(dH: Any, X: Any, h0: Any, H: Any, U: Any, W: Any) -> tuple[np.ndarray, ...]:
    """A backward pass that has nothing to say: U, W and b stay as they were drawn."""
    return tuple(np.zeros_like(array) for array in (X, h0, U, W, W[0]))


def suspects(right: Walk = rnn_backward) -> dict[str, Walk]:
    """The right backward pass, and thirteen with one mistake each, by name. right: your `rnn_backward`."""
    return {"right": right} | {kind: backward_pass(kind=kind).make() for kind in KINDS}


def loss_left(
    backward: Walk, seed: int = 1, updates: int = 100, learning_rate: float = 0.02, trained: str = "UWbVc"
) -> float:
    """The loss after training with this backward pass, as a share of the loss before.

    The text is eight windows of 20 letters of a tongue twister, the network has 16 units. trained: the parameters that
    are trained; the others stay as they were drawn.
    """
    letters = sorted(set(TWISTER))
    ids = np.array([letters.index(letter) for letter in 3 * TWISTER])
    windows = np.stack([ids[10 * n : 10 * n + 21] for n in range(8)], axis=1)
    X, targets = np.eye(len(letters))[windows[:-1]], windows[1:]
    p, losses = draw_parameters(seed, len(letters), 16), []
    with np.errstate(all="ignore"):  # a wrong gradient may blow up
        for _ in range(updates + 1):
            loss, slopes, _ = loss_and_gradients(p, X, targets, backward)
            losses.append(loss)
            descend(p, {name: slopes[name] if name in trained else np.zeros_like(p[name]) for name in p}, learning_rate)
    return float(losses[-1] / losses[0])


def losses_left(backwards: Mapping[str, Walk], **settings: Any) -> dict[str, float]:
    """`loss_left` with each of these, and at the end with one that gives nothing but zeros."""
    return {name: loss_left(one, **settings) for name, one in [*backwards.items(), ("nothing but zeros", zeros)]}


# --- sections 8 and 11: a referee


def differences(
    numerical: Callable[..., Any] = numerical_gradient, backward: Walk = rnn_backward
) -> tuple[Float[np.ndarray, "K"], dict[str, list[float]]]:
    """For each ε, the largest error of a slope that is found by differences, as a share of the largest slope.

    The W of a cell is moved along twenty random directions, and the slope of the loss is held against dW. The ways are
    "one-sided", "central" and "central, float32". numerical, backward: your `numerical_gradient` and `rnn_backward`.
    """
    rng = np.random.default_rng(0)
    X, h0, U, W, b = (rng.normal(size=shape) for shape in ((6, 3, 2), (3, 4), (2, 4), (4, 4), (4,)))
    W, dH = W / 2, rng.normal(size=(6, 3, 4))
    dW = backward(dH, X, h0, rnn_forward(X, h0, U, W, b), U, W)[3]
    ways = rng.normal(size=(20, 4, 4))
    ways /= np.sqrt((ways**2).sum(axis=(1, 2), keepdims=True))
    exact = (dW * ways).sum(axis=(1, 2))

    def along(way: np.ndarray, dtype: Any) -> Callable[[np.ndarray], float]:
        X_, h0_, U_, b_, dH_ = (array.astype(dtype) for array in (X, h0, U, b, dH))
        return lambda s: float((dH_ * rnn_forward(X_, h0_, U_, (W + s[0] * way).astype(dtype), b_)).sum())

    def one_sided(f: Callable[[np.ndarray], float], x: np.ndarray, eps: float) -> list[float]:
        return [(f(x + eps) - f(x)) / eps]

    def error(estimate: Callable[..., Any], eps: float, dtype: Any = np.float64) -> float:
        found = [estimate(along(way, dtype), np.zeros(1), eps)[0] for way in ways]
        return float(np.abs(found - exact).max() / np.abs(exact).max())

    epsilons = 10.0 ** -np.arange(1, 12)
    return epsilons, {
        "one-sided": [error(one_sided, eps) for eps in epsilons],
        "central": [error(numerical, eps) for eps in epsilons],
        "central,\nfloat32": [error(numerical, eps, np.float32) for eps in epsilons],
    }


def overwrites_dH(dH: Any, X: Any, h0: Any, H: Any, U: Any, W: Any) -> tuple[np.ndarray, ...]:
    """A backward pass whose numbers are right, and which writes into dH."""
    for t in reversed(range(len(H) - 1)):
        dh = dH[t]
        dh += rnn_step_backward(dH[t + 1], X[t + 1], H[t], H[t + 1], U, W)[1]
    dA = dH * (1 - H**2)
    before = np.concatenate([h0[None], H[:-1]])
    dU, dW = np.einsum("tnd,tnh->dh", X, dA), np.einsum("tnk,tnh->kh", before, dA)
    return dA @ U.T, dA[0] @ W.T, dU, dW, dA.sum(axis=(0, 1))


def called_twice(backward: Walk, numerical: Callable[..., Any] = numerical_gradient) -> list[float]:
    """By how much dW is off at most, in a first and in a second call with the same arguments.

    numerical: your `numerical_gradient`.
    """
    X, h0, U, W, b, dH = run_of(6, hidden=4, rows=3, inputs=2)
    H, kept = rnn_forward(X, h0, U, W, b), dH.copy()
    right = numerical(lambda W: (kept * rnn_forward(X, h0, U, W, b)).sum(), W)
    return [float(np.abs(backward(dH, X, h0, H, U, W)[3] - right).max()) for _ in range(2)]


# --- sections 9 and 12: what it costs


def run_of(steps: int, hidden: int = 32, rows: int = 4, inputs: int = 8) -> list[np.ndarray]:
    """X, h0, U, W, b, dH of a run of so many steps."""
    rng = np.random.default_rng(0)
    shapes = (steps, rows, inputs), (rows, hidden), (inputs, hidden), (hidden, hidden), (hidden,), (steps, rows, hidden)
    X, h0, U, W, b, dH = (rng.normal(size=shape) for shape in shapes)
    return [X, h0, U / np.sqrt(inputs), W / np.sqrt(hidden), b, dH]


def forwards_and_back(backward: Walk = rnn_backward) -> Walk:
    """BPTT as a walk: X, h0, U, W, b, dH -> dU, dW, db. backward: your `rnn_backward`."""
    return lambda X, h0, U, W, b, dH: backward(dH, X, h0, rnn_forward(X, h0, U, W, b), U, W)[2:]


def peak_memory(walk: Walk, run: Sequence[np.ndarray]) -> float:
    """The most memory in kB that Python held at once, beyond what it was given, in a walk over such a run."""
    tracemalloc.start()
    walk(*run)
    kilobytes = tracemalloc.get_traced_memory()[1] / 1e3
    tracemalloc.stop()
    return kilobytes


def products(hidden: int, inputs: int = 8) -> tuple[int, int]:
    """How many products of two numbers BPTT takes for a step of one row, there and back, and how many RTRL does.

    BPTT: for each entry of U and W one forwards, one for the weight's gradient and one for what goes on. RTRL: one
    forwards, for each of the H H (D + H + 1) sensitivities H from the step before, and one each for slope and gradient.
    """
    weights = hidden * (inputs + hidden)
    sensitivities = hidden * (weights + hidden)
    return 3 * weights, weights + (hidden + 2) * sensitivities


# --- section 10: by lag


@cache
def _docs() -> tuple[Int[np.ndarray, "L"], int]:
    """Python's documentation as ids, and how many characters there are."""
    text = python_docs(60_000).lower()
    letters = {letter: i for i, letter in enumerate(sorted(set(text)))}
    return np.array([letters[letter] for letter in text]), len(letters)


def _batch(rng: np.random.Generator, steps: int = 40, rows: int = 16) -> tuple[np.ndarray, np.ndarray]:
    """Windows of the documentation: X (T, N, D), one-hot, and targets (T, N)."""
    ids, symbols = _docs()
    starts = rng.integers(0, len(ids) - steps, size=rows)
    windows = np.stack([ids[start : start + steps + 1] for start in starts], axis=1)
    return np.eye(symbols)[windows[:-1]], windows[1:]


def _sizes(p: Parameters, by_lag: Callable[..., np.ndarray]) -> Float[np.ndarray, "T"]:
    """The size of each part of dW on one batch, the root of the sum of its squares, that of lag 0 being 1."""
    X, targets = _batch(np.random.default_rng(99))
    H = states_of(p, X)
    dH, *_ = output_backward(nll_backward(output_layer(H, p["V"], p["c"]), targets), H, p["V"])
    parts = by_lag(dH, X, np.zeros_like(H[0]), H, p["U"], p["W"])
    sizes = np.sqrt((parts**2).sum(axis=(1, 2)))
    return np.asarray(sizes / sizes[0])


def sizes_by_lag(
    start: float = 1.0,
    seed: int = 0,
    updates: int = 300,
    by_lag: Callable[..., np.ndarray] = recurrent_gradient_by_lag,
) -> dict[str, Float[np.ndarray, "T"]]:
    """The sizes of the parts of dW by lag, that of lag 0 being 1, of a network "as drawn" and "trained".

    It reads Python's documentation, 32 units, windows of 40 characters, Adagrad at a rate of 0.1. start: how many times
    as large as usual its W is at first. by_lag: your `recurrent_gradient_by_lag`.
    """
    p, rng = draw_parameters(seed, _docs()[1], 32), np.random.default_rng(seed)
    p["W"] *= start
    as_drawn, squares = _sizes(p, by_lag), {name: np.zeros_like(array) for name, array in p.items()}
    for _ in range(updates):
        adagrad(p, loss_and_gradients(p, *_batch(rng))[1], squares, 0.1)
    return {"as drawn": as_drawn, "trained": _sizes(p, by_lag)}


def by_lag_measured(start: float = 1.0) -> dict[str, dict[int, list[float]]]:
    """Our seeds' sizes by lag, "as drawn" and "trained", from a W of this size; none for one that was not measured."""
    setting = {1.0: "usual start", 0.1: "a tenth", 2.0: "twice as large"}.get(start, "")
    found: dict[str, dict[int, list[float]]] = {}
    for name, sizes in claimed("04_bptt")["by_lag"].values.get(setting, {}).items():
        lag, when = name.removeprefix("lag ").split(", ")
        found.setdefault(when, {})[int(lag)] = sizes
    return found


# --- the end: by heart


def recite(p: Parameters, letters: Sequence[str], first: str, length: int, state: bool = True) -> str:
    """What the network says if it is given one letter, and from there on reads what it has said itself."""
    h, said = np.zeros((1, len(p["W"]))), first
    while len(said) < length:
        h = rnn_step(np.eye(len(letters))[[letters.index(said[-1])]], h if state else 0 * h, p["U"], p["W"], p["b"])
        said += letters[int((h @ p["V"] + p["c"]).argmax())]
    return said


def learn_by_heart(
    line: str = LINE,
    gradients: Gradients = loss_and_gradients,
    updates: int = 100,
    learning_rate: float = 0.05,
    hidden: int = 32,
    seed: int = 0,
    state: bool = True,
) -> list[str]:
    """Train on one line with Adagrad: what the network recites from its first letter, before each update and after all.

    gradients: your own. state: whether anything is carried from letter to letter.
    """
    letters, X, targets = _letters(line)
    if not state:
        X, targets = X.swapaxes(0, 1), targets.swapaxes(0, 1)
    p = draw_parameters(seed, len(letters), hidden)
    squares = {name: np.zeros_like(array) for name, array in p.items()}
    recited = []
    for _ in range(updates + 1):
        recited.append(recite(p, letters, line[0], len(line), state))
        adagrad(p, gradients(p, X, targets)[1], squares, learning_rate)
    return recited
