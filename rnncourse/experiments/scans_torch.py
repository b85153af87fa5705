"""Unit 14, with PyTorch: networks that are trained to recall a symbol, or to keep the parity of bits.

The tasks are those of units 05 and 10. A reader is a core, plain or minimal GRU, and an output layer at every step.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from rnncourse.data.recall import recall_batch
from rnncourse.experiments.training import fit
from rnncourse.scans_torch import MinGRU

Batch = tuple[Tensor, slice, Tensor]

# (the core, the gate's bias β at the start, the learning rate)
NETWORKS: dict[str, tuple[str, float, float]] = {
    "plain": ("plain", 0.0, 0.01),
    "minimal GRU, β = 0": ("minimal", 0.0, 0.01),
    "minimal GRU, β = −14": ("minimal", -14.0, 0.03),
}
LAGS = 1, 3, 7, 10, 30, 100, 300, 1000


class Reader(nn.Module):
    """A core of 16 units over inputs (T, N, D), and an output layer at every step."""

    def __init__(self, core: str, inputs: int, outputs: int, beta: float = 0.0) -> None:
        super().__init__()
        self.core = nn.RNN(inputs, 16) if core == "plain" else MinGRU(inputs, 16, gate_bias=beta)
        self.output = nn.Linear(16, outputs)

    def forward(self, x: Tensor) -> Any:
        """The logits of every step (T, N, outputs)."""
        return self.output(self.core(x)[0])


def _learn(model: Reader, draw: Callable[[], Batch], updates: int, rate: float, label: str) -> Reader:
    """Train on fresh batches: `draw()` -> (x, the steps that count, their targets)."""

    def loss_of(_: int) -> Tensor:
        x, counts, targets = draw()
        return nn.functional.cross_entropy(model(x)[counts].flatten(0, -2), targets.flatten())

    fit(model, loss_of, range(updates), rate, label=label)
    return model


def _recall(rng: np.random.Generator, lags: tuple[int, int], rows: int) -> Batch:
    X, y = recall_batch(rng, int(rng.integers(lags[0], lags[1] + 1)), rows)
    return torch.tensor(X, dtype=torch.float32), slice(-1, None), torch.tensor(y)


def train_to_recall(name: str, updates: int = 300, seed: int = 0) -> Reader:
    """The network of that name in `NETWORKS`, trained to recall one of four symbols at lags from 1 to 7."""
    core, beta, rate = NETWORKS[name]
    torch.manual_seed(seed)
    rng = np.random.default_rng(seed)
    return _learn(Reader(core, 8, 4, beta), lambda: _recall(rng, (1, 7), 32), updates, rate, name)


def recall_of_a_core(
    seed: int,
    core: str = "minimal",
    beta: float = -14.0,
    rate: float = 0.03,
    lags: tuple[int, int] = (1, 7),
    updates: int = 300,
) -> dict[str, float]:
    """Train a "plain" or a "minimal" core with these settings, and ask at three lags: the shares of right answers."""
    torch.manual_seed(seed)
    rng = np.random.default_rng(seed)
    model = _learn(Reader(core, 8, 4, beta), lambda: _recall(rng, lags, 32), updates, rate, core)
    return {f"lag {lag}": recalled(model, lag) for lag in (7, 100, 1000)}


@torch.no_grad()
def recalled(model: Reader, lag: int) -> float:
    """The share of right answers on 200 new sequences at this lag; one in four is a guess."""
    x, last, y = _recall(np.random.default_rng(99), (lag, lag), 200)
    return float((model(x)[last].argmax(dim=-1) == y).float().mean())


@torch.no_grad()
def memory_and_push(model: Reader, size: float = 0.5, steps: int = 200) -> tuple[np.ndarray, np.ndarray]:
    """How far the states of the two nearest symbols are apart, and what is left of a push, over so many steps of noise.

    All four symbols are followed by the same noise. After 20 steps of it each state is pushed, its largest entry by
    `size`, in a random direction; then the same noise goes on. Returned are (steps,) each: the smallest distance of two
    symbols' states, not pushed; and the largest entry of what the push has changed, a median over the symbols.
    """
    noise, _ = recall_batch(np.random.default_rng(5), 20 + steps, rows=1)
    x = np.repeat(noise, 4, axis=1)
    x[0] = np.eye(8)[:4]  # row k begins with symbol k
    inputs, core = torch.tensor(x, dtype=torch.float32), model.core
    _, state = core(inputs[:21])
    push = torch.randn(state.shape, generator=torch.Generator().manual_seed(0))
    push *= size / push.abs().amax(dim=-1, keepdim=True)
    states, pushed = core(inputs[21:], state)[0], core(inputs[21:], state + push)[0]
    pairs = [(states[:, j] - states[:, k]).abs().amax(dim=1) for j in range(4) for k in range(j)]
    left = (pushed - states).abs().amax(dim=2).median(dim=1).values
    return torch.stack(pairs).amin(dim=0).numpy(), left.numpy()


def _parity(generator: torch.Generator, steps: int, rows: int) -> Batch:
    bits = torch.randint(0, 2, (steps, rows), generator=generator)
    return nn.functional.one_hot(bits, 2).float(), slice(None), bits.cumsum(dim=0) % 2


def train_on_parity(core: str, updates: int = 300, seed: int = 0) -> Reader:
    """A "plain" or "minimal" core, trained to say after each of 10 bits whether the number of ones so far is odd."""
    torch.manual_seed(seed)
    generator = torch.Generator().manual_seed(seed)
    return _learn(Reader(core, 2, 2), lambda: _parity(generator, 10, 64), updates, 0.01, f"parity, {core}")


@torch.no_grad()
def parity_right(model: Reader) -> np.ndarray:
    """The share of right answers after each of 50 bits: (50,)."""
    x, _, targets = _parity(torch.Generator().manual_seed(99), 50, 500)
    return (model(x).argmax(dim=-1) == targets).float().mean(dim=1).numpy()
