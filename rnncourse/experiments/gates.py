"""Unit 10: what it trains and measures. Recall over a long lag, what a trained cell keeps, and how far an error gets.

A cell is a pair of functions, as `train` takes it: one draws its parameters, the other runs it and says how to go back.

    draw(rng, units, **settings) -> parameters by name
    run(parameters, X (T, N, D)) -> states H (T, N, H), and a function from their errors dH to the gradients by name

The task is `recall_batch`: a symbol, `lag` steps of noise, and the question which of four symbols it was. The errors'
way back is `rnncourse.gates_backward`, the update is Adam (D. P. Kingma, J. Ba, ICLR 2015). What needs PyTorch, the
tagger of unit 09 with other cores, is in `rnncourse.experiments.gates_torch`.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any

import numpy as np
from jaxtyping import Float, Int

from rnncourse import exercises
from rnncourse.bptt import nll_backward, output_backward, rnn_backward
from rnncourse.cell import rnn_forward
from rnncourse.data import recall_batch
from rnncourse.data.claims import claimed
from rnncourse.gates import gru_states, gru_step, lstm_states, lstm_step
from rnncourse.gates_backward import gru_backward, lstm_backward, lstm_step_backward
from rnncourse.gradient_flow import clip_by_global_norm, orthogonal, state_gradient_norms, with_spectral_radius

Parameters = dict[str, np.ndarray]
Numbers = dict[str, float]
States = np.ndarray

SYMBOLS, CHANCE, UNITS = 4, 0.25, 32
HELD_OUT = 1, 3, 7, 10, 30, 100, 300, 1000


# --- cells, as `train` takes them


def draw_plain(rng: np.random.Generator, units: int, size: float = 0.5) -> Parameters:
    """A plain cell: U of standard deviation `size`, an orthogonal W, b of zeros."""
    return {"U": size * rng.normal(size=(2 * SYMBOLS, units)), "W": orthogonal(rng, units), "b": np.zeros(units)}


def run_plain(p: Parameters, X: States) -> tuple[States, Callable[[States], Parameters]]:
    """The plain cell over X (T, N, D): its states (T, N, H), and the way back to its gradients."""
    h0 = np.zeros((X.shape[1], len(p["W"])))
    H = rnn_forward(X, h0, p["U"], p["W"], p["b"])
    return H, lambda dH: dict(zip("UWb", rnn_backward(dH, X, h0, H, p["U"], p["W"])[2:], strict=True))


def draw_lstm(rng: np.random.Generator, units: int, forget_bias: float = 0.0, input_bias: float = 0.0) -> Parameters:
    """An LSTM whose gates f and i have these biases, the other two 0."""
    U, W = 0.5 * rng.normal(size=(2 * SYMBOLS, 4 * units)), rng.normal(size=(units, 4 * units)) / np.sqrt(units)
    b = np.zeros(4 * units)
    b[:units], b[units : 2 * units] = input_bias, forget_bias
    return {"U": U, "W": W, "b": b}


def run_lstm(p: Parameters, X: States) -> tuple[States, Callable[[States], Parameters]]:
    """The LSTM over X (T, N, D): what it shows at each step (T, N, H), and the way back to its gradients."""
    zeros = np.zeros((X.shape[1], len(p["W"])))
    states = lstm_states(X, zeros, zeros, p["U"], p["W"], p["b"])
    return states[0], lambda dH: dict(
        zip("UWb", lstm_backward(dH, X, zeros, zeros, states, p["U"], p["W"])[3:], strict=True)
    )


def draw_gru(rng: np.random.Generator, units: int, update_bias: float = 0.0) -> Parameters:
    """A GRU whose gate z has this bias."""
    U, W = 0.5 * rng.normal(size=(2 * SYMBOLS, 3 * units)), rng.normal(size=(units, 3 * units)) / np.sqrt(units)
    b_i, b_h = np.zeros(3 * units), np.zeros(3 * units)
    b_i[units : 2 * units] = update_bias
    return {"U": U, "W": W, "b_i": b_i, "b_h": b_h}


def run_gru(p: Parameters, X: States) -> tuple[States, Callable[[States], Parameters]]:
    """The GRU over X (T, N, D): its states (T, N, H), and the way back to its gradients."""
    h0 = np.zeros((X.shape[1], len(p["W"])))
    states = gru_states(X, h0, p["U"], p["W"], p["b_i"], p["b_h"])
    names = ("U", "W", "b_i", "b_h")
    return states[0], lambda dH: dict(zip(names, gru_backward(dH, X, h0, states, p["U"], p["W"])[2:], strict=True))


# --- training, and the share of right answers

Lags = tuple[int, int] | Callable[[np.random.Generator], int]


def questions(rng: np.random.Generator, lag: int, rows: int) -> tuple[States, Int[np.ndarray, "N"]]:
    """`recall_batch` in single precision, in which training takes two fifths of the time."""
    X, y = recall_batch(rng, lag, rows)
    return X.astype(np.float32), y


def train(
    draw: Callable[..., Parameters],
    run: Callable[[Parameters, States], tuple[States, Callable[[States], Parameters]]],
    lags: Lags,
    units: int = UNITS,
    updates: int = 200,
    learning_rate: float = 0.01,
    seed: int = 0,
    **settings: float,
) -> Parameters:
    """Train a cell to recall, with batches of 16; its parameters, with those of the output, "V" and "b_V".

    lags: from which to which the lag of a batch is drawn, or a function that takes a generator and returns a lag;
    `settings` go to `draw`.
    """
    rng = np.random.default_rng([seed, 10])
    p = draw(rng, units, **settings)
    p |= {"V": rng.normal(size=(units, SYMBOLS)) / np.sqrt(units), "b_V": np.zeros(SYMBOLS)}
    p = {name: array.astype(np.float32) for name, array in p.items()}
    means, squares = ({name: np.zeros_like(array) for name, array in p.items()} for _ in range(2))
    for k in range(1, updates + 1):
        lag = lags(rng) if callable(lags) else rng.integers(lags[0], lags[1] + 1)
        X, y = questions(rng, int(lag), rows=16)
        H, back = run(p, X)
        dH = np.zeros_like(H)
        logits = H[-1:] @ p["V"] + p["b_V"]  # the answer, at the last step only
        dH[-1:], dV, db = output_backward(nll_backward(logits, y[None]), H[-1:], p["V"])
        gradients = back(dH) | {"V": dV, "b_V": db}
        clipped, _ = clip_by_global_norm([gradients[name] for name in p], 1.0)
        for name, gradient in zip(p, clipped, strict=True):  # Adam
            means[name] += 0.1 * (gradient - means[name])
            squares[name] += 0.001 * (gradient**2 - squares[name])
            step = means[name] / (1 - 0.9**k) / (np.sqrt(squares[name] / (1 - 0.999**k)) + 1e-8)
            p[name] -= learning_rate * step
    return p


def asked(lag: int) -> tuple[States, Int[np.ndarray, "N"]]:
    """200 new sequences at this lag, the same ones each time, and what was to be recalled."""
    return questions(np.random.default_rng(99), lag, rows=200)


def right(p: Parameters, h: Float[np.ndarray, "N H"], y: Int[np.ndarray, "N"]) -> float:
    """The share of right answers, read from the last states."""
    return float(np.mean((h @ p["V"] + p["b_V"]).argmax(axis=1) == y))


def share_right(
    p: Parameters, run: Callable[[Parameters, States], tuple[States, Callable[[States], Parameters]]], lag: int
) -> float:
    """The share of right answers on 200 new sequences."""
    X, y = asked(lag)
    return right(p, run(p, X)[0][-1], y)


def share_right_beside(
    p: Parameters, run: Callable[[Parameters, States], tuple[States, Callable[[States], Parameters]]], lag: int
) -> float:
    """The share at the worst of four lags, one and two steps from the one that was trained: a clock fails there."""
    return min(share_right(p, run, lag + away) for away in (-2, -1, 1, 2))


PLAIN, QUIET, WIDER = "plain", "plain, quiet inputs", "plain, 68 units"
LSTM, LSTM_1, LSTM_5 = "LSTM, biases 0", "LSTM, forget bias 1", "LSTM, biases 5 and −5"
GRU, GRU_5 = "GRU, biases 0", "GRU, update bias 5"
STARTS = PLAIN, LSTM, LSTM_1, LSTM_5

# By name: how it is drawn, how it is run, and its settings.
NETWORKS: dict[str, tuple[Any, Any, dict[str, Any]]] = {
    PLAIN: (draw_plain, run_plain, {}),
    QUIET: (draw_plain, run_plain, {"size": 0.1}),
    WIDER: (draw_plain, run_plain, {"units": 68}),  # as many parameters as the LSTM
    LSTM: (draw_lstm, run_lstm, {}),
    LSTM_1: (draw_lstm, run_lstm, {"forget_bias": 1.0}),
    LSTM_5: (draw_lstm, run_lstm, {"forget_bias": 5.0, "input_bias": -5.0}),
    GRU: (draw_gru, run_gru, {}),
    GRU_5: (draw_gru, run_gru, {"update_bias": 5.0}),
}


@cache
def trained_on(network: str, lags: Lags, updates: int = 200, seed: int = 0) -> Parameters:
    """The parameters of one of `NETWORKS` after training at these lags; a network is trained once, and then kept."""
    draw, run, settings = NETWORKS[network]
    return train(draw, run, lags, updates=updates, seed=seed, **settings)


def trained_at_one_lag(network: str, lag: int = 100, updates: int = 200, seed: int = 0) -> Parameters:
    """The parameters of one of `NETWORKS` after training at one lag alone."""
    return trained_on(network, (lag, lag), updates, seed)


def share_with(step: Callable[..., Any], p: Parameters, lag: int = 100) -> float:
    """The share of right answers if the trained LSTM or GRU is run with `step`, yours or a wrong one.

    step: as `lstm_step` or `gru_step`, with the columns and the biases that p has.
    """
    X, y = asked(lag)
    states = [np.zeros((len(y), len(p["W"])), X.dtype)] * (1 if "b_h" in p else 2)
    weights = [p[name] for name in p if name not in ("V", "b_V")]
    with np.errstate(all="ignore"):  # a wrong step may overflow
        for x in X:
            result = step(x, *states, *weights)
            states = [result] if "b_h" in p else list(result)
        return right(p, states[0], y)


def recall_after_training(
    start: str, lag: int = 100, step: Callable[..., Any] = lstm_step, updates: int = 200, seed: int = 0
) -> float:
    """Train one of `STARTS` at one lag, and ask 200 new questions there; an LSTM answers them with your `step`."""
    p = trained_at_one_lag(start, lag, updates, seed)
    return share_with(step, p, lag) if start.startswith("LSTM") else share_right(p, run_plain, lag)


def ours(lag: int = 100) -> dict[str, list[float]]:
    """Our seeds' shares of right answers by network, at the lag of 100 at which they were measured; else none."""
    found = claimed("10_gates")["hundred_steps"].values if lag == 100 else {}
    return {network: numbers["recalled"] for network, numbers in found.items()}


def recall_with_biases(lag: int, forget_bias: float, input_bias: float, updates: int = 200, seed: int = 0) -> float:
    """The share of right answers of an LSTM that started with these biases, after training at this lag alone."""
    p = train(
        draw_lstm, run_lstm, (lag, lag), updates=updates, seed=seed, forget_bias=forget_bias, input_bias=input_bias
    )
    return share_right(p, run_lstm, lag)


def by_bias_measured() -> dict[int, dict[int, list[float]]]:
    """Our seeds' shares of right answers, by lag and forget bias b, with an input bias of -b."""
    measured, at_100 = claimed("10_gates")["bias_by_lag"].values, ours(100)
    found: dict[int, dict[int, list[float]]] = {lag: {} for lag in (10, 30, 100)}
    found[100] = {0: at_100[LSTM], 5: at_100[LSTM_5]}
    for setting, numbers in measured.items():
        if "bias" in setting:
            lag, bias = (int(part.split()[1]) for part in setting.split(", "))
            found[lag][bias] = numbers["recalled"]
    return {lag: dict(sorted(row.items())) for lag, row in found.items()}


def held_measured() -> dict[str, list[list[float]]]:
    """Our seeds' shares at each lag of `HELD_OUT`, after training on lags from 1 to 7."""
    values = claimed("10_gates")["short_examples"].values
    return {name: [values[name][f"lag {lag}"] for lag in HELD_OUT] for name in (PLAIN, LSTM, GRU)}


def tagger_measured(number: str, epochs: int) -> dict[str, list[float]]:
    """What our seeds measured of the taggers, by core, after so many epochs; none for others than 5 and 15."""
    values = claimed("10_gates")["tagger"].values
    ending = f", {epochs} epochs"
    return {name.removesuffix(ending): one[number] for name, one in values.items() if name.endswith(ending)}


def slope_before(forget_bias: float, input_bias: float, seed: int = 0) -> float:
    """The mean slope of the tanh at c after a hundred steps of noise, before any training."""
    rng = np.random.default_rng(seed)
    p = draw_lstm(rng, UNITS, forget_bias, input_bias)
    X, zeros = recall_batch(rng, 100, rows=200)[0], np.zeros((200, UNITS))
    C = lstm_states(X, zeros, zeros, p["U"], p["W"], p["b"])[1]
    return float(np.mean(1 - np.tanh(C[-1]) ** 2))


# --- inside a trained LSTM


def for_each_symbol(p: Parameters, lag: int = 100) -> tuple[States, States, States, States]:
    """X (T, 4, D), H and C (T, 4, H), and the gates (4, T, 4, H): row k begins with symbol k, the noise is the same."""
    noise, _ = recall_batch(np.random.default_rng(5), lag, rows=1)
    X = np.repeat(noise, SYMBOLS, axis=1)
    X[0] = np.eye(2 * SYMBOLS)[:SYMBOLS]
    zeros = np.zeros((SYMBOLS, len(p["W"])))
    return X, *lstm_states(X, zeros, zeros, p["U"], p["W"], p["b"])


def apart(c: Float[np.ndarray, "4 H"]) -> float:
    """How far the four rows are apart: the largest difference in any unit, for the two rows that are nearest."""
    return float(min(np.abs(c[j] - c[k]).max() for j in range(SYMBOLS) for k in range(j)))


def apart_without_W(p: Parameters, lag: int = 100) -> float:
    """How far the four rows of c are apart at the end, if after the symbol no gate and no candidate reads the state."""
    X, H, C, _ = for_each_symbol(p, lag)
    return apart(lstm_states(X[1:], H[0], C[0], p["U"], 0 * p["W"], p["b"])[1][-1])


def growth(p: Parameters, first: int = 100, last: int = 1000) -> float:
    """By how much the largest entry of c grows in a step, between these two steps, the mean over the four symbols."""
    size = np.abs(for_each_symbol(p, last)[2]).max(axis=2).mean(axis=1)
    return float((size[last] - size[first]) / (last - first))


def after_push(
    p: Parameters, at: int = 100, times: float = 0.5, steps: int = 300
) -> tuple[Float[np.ndarray, "K"], Float[np.ndarray, "K"]]:
    """Multiply c by `times` once, after `at` steps, and follow the next `steps`: what is left of the push, in c and h.

    Both runs read the same noise. Of c: the size of the difference between them, divided by its size just after the
    push, K = steps + 1 values from 1 on. Of h: the size of the difference, divided by the size of h.
    """
    X, _, C, _ = for_each_symbol(p, at + steps)
    zeros, weights = np.zeros_like(C[0]), (p["U"], p["W"], p["b"])
    H, C, _ = lstm_states(X[: at + 1], zeros, zeros, *weights)
    h, c = H[-1], C[-1]
    left, pushed = (lstm_states(X[at + 1 :], h, start, *weights) for start in (c, times * c))
    in_c = np.linalg.norm(left[1] - pushed[1], axis=(1, 2)) / max(float(np.linalg.norm((1 - times) * c)), 1e-12)
    in_h = np.linalg.norm(left[0] - pushed[0], axis=(1, 2)) / np.linalg.norm(left[0], axis=(1, 2))
    return np.append(1.0, in_c), np.append(0.0, in_h)


def gates_open(p: Parameters, lag: int = 100) -> Numbers:
    """How far f and i are open after the symbol, on average; and f, where units count by the size of their c."""
    _, _, C, (i, f, _, _) = for_each_symbol(p, lag)
    size = np.abs(C[:-1])
    return {"f": f[1:].mean(), "i": i[1:].mean(), "f weighted by |c|": (f[1:] * size).sum() / size.sum()}


def share_after_wiping(p: Parameters, wipe: str, at: int = 20, lag: int = 100) -> float:
    """The share of right answers if "h" or "c" is set to zero after `at` steps."""
    X, y = asked(lag)
    zeros = np.zeros((len(y), len(p["W"])))
    H, C, _ = lstm_states(X[:at], zeros, zeros, p["U"], p["W"], p["b"])
    h, c = (zeros, C[-1]) if wipe == "h" else (H[-1], zeros)
    return right(p, lstm_states(X[at:], h, c, p["U"], p["W"], p["b"])[0][-1], y)


def shares_with_wrong_steps(p: Parameters, lag: int = 100) -> dict[str, float]:
    """The share of right answers of a trained LSTM or GRU, run with each wrong step that the unit's checks know."""
    wrong = exercises.find("gru_step" if "b_h" in p else "lstm_step").misconceptions
    return {one.name.replace("_", " "): share_with(one.answer, p, lag) for one in wrong}


def wrong_steps_found(p: Parameters, seed: int = 0) -> list[bool]:
    """Whether each of these steps, of the same sizes but with random weights, gives other states than the right one."""
    exercise = exercises.find("gru_step" if "b_h" in p else "lstm_step")
    rng, weights = np.random.default_rng(seed), [p[name] for name in p if name not in ("V", "b_V")]
    states = [(3, len(p["W"]))] * (1 if "b_h" in p else 2)
    drawn = [rng.normal(size=shape) for shape in ((3, len(p["U"])), *states, *(one.shape for one in weights))]
    expected = (gru_step if "b_h" in p else lstm_step)(*drawn)
    return [not np.allclose(one.answer(*drawn), expected, atol=1e-3) for one in exercise.misconceptions]


# --- how far an error gets


def error_sizes(
    cell: str,
    bias: float = 0.0,
    step_back: Callable[..., Any] = lstm_step_backward,
    steps: int = 100,
    units: int = 64,
) -> Float[np.ndarray, "K"]:
    """The size of the error at each distance from the loss, 0 to `steps`, that at 0 being 1; nothing is trained.

    cell: "LSTM" (the size of dh and dc together, with your `step_back`), "LSTM along c" (of dc, if it goes back by f
    alone), "plain" (an orthogonal W), "plain, 1.5" (a spectral radius of 1.5) or "residual" (h_t is h_{t-1} plus a
    tenth of the plain cell's new state). `bias` is the forget bias. Inputs and weights are drawn, the same each time.
    """
    rng = np.random.default_rng(0)
    X, zeros, dh = rng.normal(size=(steps + 1, 8, 4)), np.zeros((8, units)), rng.normal(size=(8, units))
    U, W = 0.5 * rng.normal(size=(4, 4 * units)), rng.normal(size=(units, 4 * units)) / np.sqrt(units)
    square = rng.normal(size=(units, units))
    sizes: Sequence[float] | np.ndarray
    if cell.startswith("LSTM"):
        b = np.zeros(4 * units)
        b[units : 2 * units] = bias
        sizes = _lstm_errors(X, dh, U, W, b, step_back, cell == "LSTM along c")
    elif cell == "residual":
        sizes = _residual_errors(X, dh, U[:, :units], with_spectral_radius(square, 1.0))
    else:
        W_plain = with_spectral_radius(square, 1.5) if cell == "plain, 1.5" else orthogonal(rng, units)
        H = rnn_forward(X, zeros, U[:, :units], W_plain, np.zeros(units))
        sizes = state_gradient_norms(dh, H, W_plain)[::-1]
    return np.asarray(sizes) / sizes[0]


def _lstm_errors(
    X: States, dh: States, U: States, W: States, b: States, step_back: Callable[..., Any], along_c: bool
) -> list[float]:
    zeros = np.zeros_like(dh)
    H, C, (_, f, _, o) = lstm_states(X, zeros, zeros, U, W, b)
    dc, sizes = zeros, []
    if along_c:
        dh, dc = zeros, dh * o[-1] * (1 - np.tanh(C[-1]) ** 2)
    for t in reversed(range(len(X))):
        sizes.append(float(np.sqrt((dh**2).sum() + (dc**2).sum())))
        h_prev, c_prev = (H[t - 1], C[t - 1]) if t > 0 else (zeros, zeros)
        if along_c:
            dc = dc * f[t]
        else:
            _, dh, dc, *_ = step_back(dh, dc, X[t], h_prev, c_prev, U, W, b)
    return sizes


def _residual_errors(X: States, dh: States, U: States, W: States, share: float = 0.1) -> list[float]:
    h, slopes, sizes = np.zeros_like(dh), [], []
    for x in X:
        new = np.tanh(x @ U + h @ W)
        h = h + share * new
        slopes.append(1 - new**2)
    for slope in reversed(slopes):
        sizes.append(float(np.linalg.norm(dh)))
        dh = dh + share * (dh * slope) @ W.T
    return sizes


# --- machines by hand, and other conventions

Machine = Sequence[Any]  # U (D, 4H), W (H, 4H), b (4H,), arrays or lists


def reading(
    machine: Machine, reads: Mapping[str, Sequence[float]]
) -> tuple[Mapping[str, Sequence[float]], Parameters, Parameters]:
    """What an LSTM does while it reads: its inputs, the gates of its first unit, and what that stores, at each step."""
    X = np.array(list(reads.values()), dtype=float).T[:, None]
    U, W, b = (np.asarray(part, dtype=float) for part in machine)
    zeros = np.zeros((1, len(W)))
    H, C, gates = lstm_states(X, zeros, zeros, U, W, b)
    i, f, g, o = gates[:, :, 0, 0]
    return reads, {"i": i, "f": f, "o": o}, {"g": g, "c": C[:, 0, 0], "h": H[:, 0, 0]}


def read_off(machine: Machine, bits: Sequence[int] | np.ndarray) -> Int[np.ndarray, "T"]:
    """What an LSTM with one input has stored after each bit, rounded to a whole number."""
    _, _, states = reading(machine, {"x": np.asarray(bits, dtype=float).tolist()})
    return np.round(states["c"]).astype(int)


def other_conventions(
    lstm: Callable[..., Any] = lstm_step, gru: Callable[..., Any] = gru_step, seed: int = 3
) -> dict[str, float]:
    """Three formulas from elsewhere beside your steps, with the same random weights: the largest differences.

    "Ng": the LSTM with one matrix for each gate, on the column [a; x]. "Chung": the GRU whose z renews, ours with the
    sign of z's columns turned. "Cho": the GRU whose reset stands before the product.
    """
    rng, D, units = np.random.default_rng(seed), 3, 4
    x, h, c = rng.normal(size=(1, D)), rng.normal(size=(1, units)), rng.normal(size=(1, units))
    U, W, b = rng.normal(size=(D, 4 * units)), rng.normal(size=(units, 4 * units)), rng.normal(size=4 * units)

    def sigma(a: np.ndarray) -> np.ndarray:
        return 1 / (1 + np.exp(-a))

    column = np.concatenate([h.T, x.T])
    matrices = np.split(np.concatenate([W, U]), 4, axis=1)
    update, forget, new, output = (M.T @ column + one[:, None] for M, one in zip(matrices, np.split(b, 4), strict=True))
    c_ng = sigma(forget) * c.T + sigma(update) * np.tanh(new)
    h_ours, c_ours = lstm(x, h, c, U, W, b)
    ng = np.abs(np.concatenate([sigma(output) * np.tanh(c_ng) - h_ours.T, c_ng - c_ours.T])).max()

    U, W, b_i, b_h = U[:, : 3 * units], W[:, : 3 * units], b[: 3 * units], rng.normal(size=3 * units)
    turned = np.repeat([1, -1, 1], units)
    r, z = np.split(sigma(x @ U + b_i + h @ W + b_h)[:, : 2 * units], 2, axis=1)
    last = slice(2 * units, None)
    from_x, W_n, b_n = x @ U[:, last] + b_i[last], W[:, last], b_h[last]
    chung = z * np.tanh(from_x + r * (h @ W_n + b_n)) + (1 - z) * h
    cho = (1 - z) * np.tanh(from_x + (r * h) @ W_n + b_n) + z * h
    return {
        "Ng's LSTM, and ours": float(ng),
        "Chung's GRU, and ours with the sign of z's columns turned": float(
            np.abs(chung - gru(x, h, U * turned, W * turned, b_i * turned, b_h * turned)).max()
        ),
        "Cho's GRU, and ours": float(np.abs(cho - gru(x, h, U, W, b_i, b_h)).max()),
    }
