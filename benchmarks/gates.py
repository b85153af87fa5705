"""LSTM and GRU against `torch.nn.LSTM` and `torch.nn.GRU`, forwards and backwards, float32 on the CPU.

Both do the same work, on as many threads: all states, and the gradients with respect to X, the start states and the
parameters.
"""

from __future__ import annotations

import numpy as np
import torch

from benchmarks.rnn import Runner, compare, draws
from rnncourse.gates import gru_states, lstm_states
from rnncourse.gates_backward import gru_backward, lstm_backward


def run() -> None:
    """Print the times and the ratios torch/ours for each size."""
    compare("LSTM", lstm_passes)
    compare("GRU", gru_passes)


def lstm_passes(T: int, N: int, D: int, H: int) -> dict[str, Runner]:
    """Return PyTorch's pass and ours, for one draw of inputs; each gives H, dX, dh0, dc0, dU, dW, db."""
    draw = draws()
    X, h0, c0, dH = draw(T, N, D), draw(N, H), draw(N, H), draw(T, N, H)
    U, W, b = draw(D, 4 * H, scale=D**-0.5), draw(H, 4 * H, scale=H**-0.5), draw(4 * H)

    model = _loaded(torch.nn.LSTM(D, H), U, W, b, np.zeros_like(b))
    x, h, c = (torch.tensor(array, requires_grad=True) for array in (X, h0[None], c0[None]))
    errors = torch.tensor(dH)

    def torch_pass() -> tuple[np.ndarray, ...]:
        output, _ = model(x, (h, c))
        dx, dh, dc, dU, dW, db, _ = torch.autograd.grad(output, [x, h, c, *model.parameters()], errors)
        return tuple(tensor.detach().numpy() for tensor in (output, dx, dh[0], dc[0], dU.T, dW.T, db))

    def our_pass() -> tuple[np.ndarray, ...]:
        states = lstm_states(X, h0, c0, U, W, b)
        return states[0], *lstm_backward(dH, X, h0, c0, states, U, W)

    return {"torch": torch_pass, "ours": our_pass}


def gru_passes(T: int, N: int, D: int, H: int) -> dict[str, Runner]:
    """Return PyTorch's pass and ours, for one draw of inputs; each gives H, dX, dh0, dU, dW, db_i, db_h."""
    draw = draws()
    X, h0, dH = draw(T, N, D), draw(N, H), draw(T, N, H)
    U, W, b_i, b_h = draw(D, 3 * H, scale=D**-0.5), draw(H, 3 * H, scale=H**-0.5), draw(3 * H), draw(3 * H)

    model = _loaded(torch.nn.GRU(D, H), U, W, b_i, b_h)
    x, h = (torch.tensor(array, requires_grad=True) for array in (X, h0[None]))
    errors = torch.tensor(dH)

    def torch_pass() -> tuple[np.ndarray, ...]:
        output, _ = model(x, h)
        dx, dh, dU, dW, *biases = torch.autograd.grad(output, [x, h, *model.parameters()], errors)
        return tuple(tensor.detach().numpy() for tensor in (output, dx, dh[0], dU.T, dW.T, *biases))

    def our_pass() -> tuple[np.ndarray, ...]:
        states = gru_states(X, h0, U, W, b_i, b_h)
        return states[0], *gru_backward(dH, X, h0, states, U, W)

    return {"torch": torch_pass, "ours": our_pass}


def _loaded(model: torch.nn.RNNBase, U: np.ndarray, W: np.ndarray, b_i: np.ndarray, b_h: np.ndarray) -> torch.nn.Module:
    for parameter, array in zip(model.parameters(), (U.T, W.T, b_i, b_h), strict=True):
        parameter.data = torch.tensor(array)
    return model
