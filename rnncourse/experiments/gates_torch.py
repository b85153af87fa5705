"""Unit 10, what needs PyTorch: unit 09's tagger with other cores, and the unit's cells beside PyTorch's."""

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch import nn

from rnncourse.data import TOKEN_LABELS
from rnncourse.experiments.bidirectional_torch import OneWayTagger, python_source, train_highlighter
from rnncourse.gates import gru_states, gru_step, lstm_forward, lstm_states
from rnncourse.gates_backward import gru_backward, gru_step_backward, lstm_backward, lstm_step_backward
from rnncourse.gates_torch import set_forget_bias

PLAIN, LSTM, OPEN = "plain, 96 units", "LSTM, 43 units", "LSTM, forget bias 5"
CORES: dict[str, tuple[Any, int, float | None]] = {
    PLAIN: (nn.RNN, 96, None),
    LSTM: (nn.LSTM, 43, None),
    OPEN: (nn.LSTM, 43, 5.0),
}  # with as many parameters


def train_tagger(
    name: str, epochs: int = 5, seed: int = 0, set_bias: Callable[[Any, float], None] = set_forget_bias
) -> OneWayTagger:
    """Train unit 09's one-way tagger with one of `CORES` on Python source.

    set_bias: your `set_forget_bias`, where the core has one that is set.
    """
    core, hidden_size, forget_bias = CORES[name]
    torch.manual_seed(seed)
    model = OneWayTagger(len(python_source()[2]), 16, hidden_size, len(TOKEN_LABELS), core)
    if forget_bias is not None:
        set_bias(model.rnn, forget_bias)
    return train_highlighter(model, epochs=epochs)


# --- your steps beside PyTorch's


def load(module: Any, *arrays: np.ndarray) -> Any:
    """A recurrent module of PyTorch's with our U, W and two biases in it, in double precision."""
    U, W, b_i, b_h = arrays
    named = {"weight_ih_l0": U.T, "weight_hh_l0": W.T, "bias_ih_l0": b_i, "bias_hh_l0": b_h}
    module.double().load_state_dict({name: torch.tensor(array) for name, array in named.items()})
    return module


def lstm_beside_torch(forward: Callable[..., Any] = lstm_forward, steps: int = 60, seed: int = 0) -> dict[str, float]:
    """Your `lstm_forward` and `nn.LSTM` with the same random weights: the largest difference of H, h_n and c_n."""
    rng, (N, D, units) = np.random.default_rng(seed), (5, 7, 11)
    X, h0, c0 = (rng.normal(size=shape) for shape in ((steps, N, D), (N, units), (N, units)))
    U, W, b = (rng.normal(size=shape) for shape in ((D, 4 * units), (units, 4 * units), (4 * units,)))
    H, (h_n, c_n) = forward(X, h0, c0, U, W / 3, b)
    module = load(nn.LSTM(D, units), U, W / 3, b, 0 * b)
    with torch.no_grad():
        H_torch, (h_torch, c_torch) = module(torch.tensor(X), (torch.tensor(h0[None]), torch.tensor(c0[None])))
    pairs = {"H": (H, H_torch), "h_n": (h_n, h_torch[0]), "c_n": (c_n, c_torch[0])}
    return {name: float(np.abs(ours - theirs.numpy()).max()) for name, (ours, theirs) in pairs.items()}


def lstm_gradients_beside_torch(
    step_back: Callable[..., Any] = lstm_step_backward, steps: int = 12, seed: int = 1
) -> dict[str, float]:
    """Your step back, from the last step to the first, and the course's `lstm_backward`: how far each is from autograd.

    The largest difference in any of dh0, dc0, dU, dW and db.
    """
    rng, (N, D, units) = np.random.default_rng(seed), (3, 4, 6)
    X, h0, c0, dH = (rng.normal(size=shape) for shape in ((steps, N, D), (N, units), (N, units), (steps, N, units)))
    U, W, b = rng.normal(size=(D, 4 * units)), rng.normal(size=(units, 4 * units)) / 2, rng.normal(size=4 * units)
    states = H, C, _ = lstm_states(X, h0, c0, U, W, b)
    dh, dc, sums = np.zeros_like(h0), np.zeros_like(c0), [np.zeros_like(one) for one in (U, W, b)]
    for t in reversed(range(steps)):
        h_prev, c_prev = (H[t - 1], C[t - 1]) if t > 0 else (h0, c0)
        _, dh, dc, *parts = step_back(dH[t] + dh, dc, X[t], h_prev, c_prev, U, W, b)
        sums = [total + part for total, part in zip(sums, parts, strict=True)]
    start = [torch.tensor(array[None], requires_grad=True) for array in (h0, c0)]
    theirs = _autograd(load(nn.LSTM(D, units), U, W, b, 0 * b), X, dH, start)
    return {
        "your steps back": _largest((dh, dc, *sums), theirs),
        "lstm_backward": _largest(lstm_backward(dH, X, h0, c0, states, U, W)[1:], theirs),
    }


def gru_beside_torch(
    step: Callable[..., Any] = gru_step, step_back: Callable[..., Any] = gru_step_backward, steps: int = 60
) -> dict[str, float]:
    """Your GRU, forwards and back through time, and `gru_backward`: how far each is from `nn.GRU` and autograd."""
    rng, (N, D, units) = np.random.default_rng(2), (5, 7, 11)
    X, h0, dH = (rng.normal(size=shape) for shape in ((steps, N, D), (N, units), (steps, N, units)))
    U, W, b_i, b_h = (rng.normal(size=shape) for shape in ((D, 3 * units), (units, 3 * units), 3 * units, 3 * units))
    W = W / 3
    H = [h0]
    for x in X:
        H.append(step(x, H[-1], U, W, b_i, b_h))
    dh, sums = np.zeros_like(h0), [np.zeros_like(one) for one in (U, W, b_i, b_h)]
    for t in reversed(range(steps)):
        _, dh, *parts = step_back(dH[t] + dh, X[t], H[t], U, W, b_i, b_h)
        sums = [total + part for total, part in zip(sums, parts, strict=True)]
    module = load(nn.GRU(D, units), U, W, b_i, b_h)
    start = torch.tensor(h0[None], requires_grad=True)
    theirs = _autograd(module, X, dH, [start])
    with torch.no_grad():
        H_torch = module(torch.tensor(X), start)[0].numpy()
    whole = gru_backward(dH, X, h0, gru_states(X, h0, U, W, b_i, b_h), U, W)[1:]
    return {
        "your steps": float(np.abs(np.stack(H[1:]) - H_torch).max()),
        "your steps back": _largest((dh, *sums), theirs),
        "gru_backward": _largest(whole, theirs),
    }


def _autograd(module: Any, X: np.ndarray, dH: np.ndarray, start: list[torch.Tensor]) -> list[np.ndarray]:
    """The gradients that autograd gives: of the first states, U, W and as many biases as there are."""
    out = module(torch.tensor(X), tuple(start) if len(start) == 2 else start[0])[0]
    (torch.tensor(dH) * out).sum().backward()
    found = [one.grad[0] for one in start if one.grad is not None]
    found += [module.weight_ih_l0.grad.T, module.weight_hh_l0.grad.T, module.bias_ih_l0.grad, module.bias_hh_l0.grad]
    return [one.numpy() for one in found]


def _largest(ours: Any, theirs: list[np.ndarray]) -> float:
    return float(max(np.abs(a - b).max() for a, b in zip(ours, theirs, strict=False)))
