"""Unit 07: a small network to be trained."""

from __future__ import annotations

import numpy as np
import torch
from torch import nn

from rnncourse.checks.callables import named


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
