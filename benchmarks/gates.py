"""LSTM and GRU against `torch.nn.LSTM` and `torch.nn.GRU`, forwards and backwards, float32 on the CPU.

Both do the same work, on as many threads: all states, and the gradients with respect to X, the start states and the
parameters.
"""

import time
from collections.abc import Callable

import numpy as np
import torch

from benchmarks import THREADS
from benchmarks.rnn import SIZES, Runner, compare, draws
from rnncourse.gates import by_gate, gru_states, lstm_states
from rnncourse.gates_backward import gru_backward, lstm_backward


def run() -> None:
    """Print the times and the ratios torch/ours for each size, and where the time of the LSTM goes."""
    compare("LSTM", lstm_passes)
    profile()
    compare("GRU", gru_passes)


def profile() -> None:
    """Print how long the matrix products of the LSTM's pass take by themselves, as shares of our pass and PyTorch's.

    The time is the processor's in this thread, which other programs disturb less than they do a clock, and the least of
    five rounds in which all three take turns.
    """
    torch.set_num_threads(THREADS)
    print("\nThe LSTM's matrix products alone, as a share of the processor time of our pass and of PyTorch's.\n")
    print("     T    N    D    H   products, ms   of ours   of torch's   torch/ours")
    for size in SIZES:
        runners = {"products": lstm_products(*size), **lstm_passes(*size)}
        rounds = [[_processor_time(runner) for runner in runners.values()] for _ in range(6)]
        times = dict(zip(runners, np.min(rounds[1:], axis=0), strict=True))
        row = "".join(f"{number:5}" for number in size)
        shares = times["products"] / times["ours"], times["products"] / times["torch"], times["torch"] / times["ours"]
        print(f" {row:20}   {1e3 * times['products']:12.3f}   {shares[0]:7.0%}   {shares[1]:10.0%}   {shares[2]:10.2f}")


def _processor_time(runner: Callable[[], object]) -> float:
    start = time.thread_time()
    runner()
    return time.thread_time() - start


def lstm_products(T: int, N: int, D: int, H: int) -> Runner:
    """Return the matrix products of `lstm_states` and `lstm_backward`, on as much memory, and nothing else of them."""
    draw = draws()
    X, U, W, states, errors = draw(T * N, D), draw(D, 4 * H), draw(H, 4 * H), draw(T * N, H), draw(T * N, 4 * H)
    by_gates, errors_of_a_step = np.empty((4, N, H), np.float32), draw(4, N, H)
    U_by_gate, W_by_gate, W_T = by_gate(U, 4), by_gate(W, 4), by_gate(W, 4).swapaxes(1, 2).copy()

    def products() -> tuple[np.ndarray, ...]:
        projected = np.matmul(X, U_by_gate)
        for h in states.reshape(T, N, H):
            np.matmul(h, W_by_gate, out=by_gates)
        for _ in range(T):
            np.matmul(errors_of_a_step, W_T, out=by_gates)
        return projected, errors @ U.T, X.T @ errors, states.T @ errors

    return products


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
