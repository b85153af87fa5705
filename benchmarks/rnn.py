"""`rnn_forward` and `rnn_backward` against `torch.nn.RNN`, forwards and backwards, float32 on the CPU.

Both do the same work, on as many threads: all states, and the gradients with respect to X, h0 and the parameters.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch

from benchmarks import THREADS
from benchmarks.timing import interleaved
from rnncourse.bptt import rnn_backward
from rnncourse.cell import rnn_forward, to_torch_state

SIZES = (25, 1, 64, 100), (35, 32, 28, 128), (100, 64, 128, 256), (200, 128, 256, 512)

Runner = Callable[[], tuple[np.ndarray, ...]]


def run() -> None:
    """Print the times and the ratio torch/ours for each size."""
    torch.set_num_threads(THREADS)
    print(f"\nForward and backward in float32, {THREADS} threads. Ratio torch/ours: above 1, ours is faster.\n")
    print("     T    N    D    H   torch, ms    ours, ms   ratio of medians   of minima")
    for T, N, D, H in SIZES:
        torch_pass, our_pass = passes(T, N, D, H)
        for theirs, ours in zip(torch_pass(), our_pass(), strict=True):
            np.testing.assert_allclose(ours, theirs, rtol=1e-3, atol=1e-3 * np.abs(theirs).max())
        times = interleaved({"torch": torch_pass, "ours": our_pass})
        median = {name: 1e3 * np.median(seconds) for name, seconds in times.items()}
        minimum = {name: 1e3 * np.min(seconds) for name, seconds in times.items()}
        print(
            f"  {T:4} {N:4} {D:4} {H:4}  {median['torch']:10.3f}  {median['ours']:10.3f}"
            f"  {median['torch'] / median['ours']:17.2f}  {minimum['torch'] / minimum['ours']:10.2f}",
            flush=True,
        )


def passes(T: int, N: int, D: int, H: int) -> tuple[Runner, Runner]:
    """Return PyTorch's pass and ours, for one draw of inputs; each gives H, dX, dh0, dU, dW, db."""
    rng = np.random.default_rng(0)

    def draw(*shape: int, scale: float = 1.0) -> np.ndarray:
        return (scale * rng.standard_normal(shape)).astype(np.float32)

    X, h0, dH = draw(T, N, D), draw(N, H), draw(T, N, H)
    U, W, b = draw(D, H, scale=D**-0.5), draw(H, H, scale=H**-0.5), draw(H)

    model = torch.nn.RNN(D, H)
    model.load_state_dict({name: torch.from_numpy(array) for name, array in to_torch_state(U, W, b).items()})
    x, state = torch.tensor(X, requires_grad=True), torch.tensor(h0[None], requires_grad=True)
    errors = torch.tensor(dH)

    def torch_pass() -> tuple[np.ndarray, ...]:
        output, _ = model(x, state)
        dx, dstate, dU, dW, db, _ = torch.autograd.grad(output, [x, state, *model.parameters()], errors)
        return tuple(tensor.detach().numpy() for tensor in (output, dx, dstate[0], dU.T, dW.T, db))

    def our_pass() -> tuple[np.ndarray, ...]:
        states = rnn_forward(X, h0, U, W, b)
        return states, *rnn_backward(dH, X, h0, states, U, W)

    return torch_pass, our_pass
