"""Unit 07: small programs for a tape, a network to be trained, and a look at the weights that a module starts with."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import nn

from rnncourse.checks.callables import named
from rnncourse.checks.drive import DRIVERS, WITH_TENSORS
from rnncourse.checks.modules import drive_layer
from rnncourse.checks.plain import Unfit


class SmallReader(nn.Module):
    """h_t = tanh(E[id_t] + h_{t-1} W), logits h_t V: a network that carries a state (1, N, H)."""

    def __init__(self, E: torch.Tensor, W: torch.Tensor, V: torch.Tensor) -> None:
        super().__init__()
        self.E, self.W, self.V = (nn.Parameter(p) for p in (E, W, V))

    def forward(self, ids: torch.Tensor, state: torch.Tensor | None = None) -> tuple[torch.Tensor, torch.Tensor]:
        """Ids (T, N) and a state (1, N, H) or None give logits (T, N, Q) and the state after the last step."""
        h = self.E.new_zeros(ids.shape[1], len(self.W)) if state is None else state[0]
        states = []
        for vectors in self.E[ids]:
            h = torch.tanh(vectors + h @ self.W)
            states.append(h)
        return torch.stack(states) @ self.V, torch.stack(states[-1:])  # no view: it may be detached in place


@named
def small_reader(E: np.ndarray, W: np.ndarray, V: np.ndarray) -> SmallReader:
    """A `SmallReader` with these parameters."""
    return SmallReader(*(torch.from_numpy(p.copy()) for p in (E, W, V)))


def layer_and_start(
    candidate: Any, init: tuple[Any, ...], parameters: dict[str, torch.Tensor], calls: list[tuple[Any, ...]]
) -> Any:
    """As "layer"; without calls, how the module draws its parameters: for H large, in numbers that no draw changes."""
    if calls:
        return drive_layer(candidate, init, parameters, calls)
    strict = torch.are_deterministic_algorithms_enabled()
    torch.use_deterministic_algorithms(True)  # so that memory that nobody has filled holds nan, not an earlier draw
    try:
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(0)
            first, second = candidate(*init), candidate(*init)
    finally:
        torch.use_deterministic_algorithms(strict)
    return {f"{name} at the start, times √H": _spread(p, init[1]) for name, p in first.named_parameters()} | {
        "another start each time": any(not torch.equal(p, q) for p, q in zip(first.parameters(), second.parameters()))
    }


def _spread(parameter: torch.Tensor, hidden_size: int) -> dict[str, float]:
    """The largest, the mean size and the mean of the entries, times √H and rounded so that luck has no say."""
    entries = parameter.detach().numpy().astype(float) * hidden_size**0.5
    return {
        "largest size": float(np.abs(entries).max().round(1)),
        "mean size": float((4 * np.abs(entries).mean()).round() / 4),
        "mean": float((4 * entries.mean()).round() / 4 + 0.0),
    }


def tape(
    candidate: Any, variables: dict[str, Any], arrays: dict[str, np.ndarray], program: list[str]
) -> tuple[dict[str, np.ndarray], dict[str, np.ndarray]]:
    """Run a program of ours line by line, with a `candidate(array)` for each variable, and the arrays as they are.

    Returns data and gradients of all variables by name, of those that the program makes too.
    """
    space: dict[str, Any] = {name: candidate(value) for name, value in variables.items()} | arrays
    for line in program:
        exec(line, {"__builtins__": {}}, space)
        name, _, right = line.partition(" = ")
        if right and not isinstance(space[name], candidate):
            raise Unfit(f"{right} should be a Var; it is of the type {type(space[name]).__name__}")
    made = {name: value for name, value in space.items() if name not in arrays}
    return {name: _array(v.data) for name, v in made.items()}, {name: _array(v.grad) for name, v in made.items()}


def _array(value: Any) -> Any:
    """A copy of an array, also of one number; what is neither, as it is."""
    return np.array(value) if isinstance(value, (np.ndarray, np.generic)) else value


DRIVERS |= {"layer_and_start": layer_and_start, "tape": tape}
WITH_TENSORS.add("layer_and_start")
