"""`rnn_forward` and `rnn_backward` against `torch.nn.RNN`, forwards and backwards, float32 on the CPU.

Both do the same work, on as many threads: all states, and the gradients with respect to X, h0 and the parameters.
"""

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
    compare("One layer", passes)


def compare(title: str, passes: Callable[[int, int, int, int], dict[str, Runner]]) -> None:
    """Print, for each size, the time of PyTorch's pass, and that of each of ours with its ratio torch/ours."""
    torch.set_num_threads(THREADS)
    print(
        f"\n{title}, forward and backward in float32, {THREADS} threads. Ratio torch/ours: above 1, ours is faster.\n"
    )
    print("     T    N    D    H                 median, ms   ratio of medians   of minima")
    for size in SIZES:
        runners = passes(*size)
        expected = runners["torch"]()
        for runner in runners.values():
            for ours, theirs in zip(runner(), expected, strict=True):
                np.testing.assert_allclose(ours, theirs, rtol=1e-3, atol=1e-3 * np.abs(theirs).max())
        times = interleaved(runners)
        row = "".join(f"{number:5}" for number in size)
        for name, seconds in times.items():
            line = f" {row:20}   {name:10}  {1e3 * np.median(seconds):10.3f}"
            if name != "torch":
                line += f"  {np.median(times['torch']) / np.median(seconds):17.2f}"
                line += f"  {np.min(times['torch']) / np.min(seconds):10.2f}"
            print(line, flush=True)
            row = ""


def draws() -> Callable[..., np.ndarray]:
    """Return a function that draws an array of a shape, and a scale, the same ones in every run."""
    rng = np.random.default_rng(0)

    def draw(*shape: int, scale: float = 1.0) -> np.ndarray:
        return (scale * rng.standard_normal(shape)).astype(np.float32)

    return draw


def passes(T: int, N: int, D: int, H: int) -> dict[str, Runner]:
    """Return PyTorch's pass and ours, for one draw of inputs; each gives H, dX, dh0, dU, dW, db."""
    draw = draws()
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

    return {"torch": torch_pass, "ours": our_pass}
