"""Unit 12: small networks to be put together, and three drivers for what this unit's answers take and give."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import nn

from rnncourse.checks.callables import named
from rnncourse.checks.drive import DRIVERS, WITH_TENSORS
from rnncourse.checks.local import Local
from rnncourse.checks.modules import drive_layer, drive_module


class SmallEncoder(nn.Module):
    """h_t = tanh(E[id_t] + h_{t-1} W): (ids (T, N), lengths) -> all states (T, N, H), the last real one (1, N, H)."""

    def __init__(self, vocabulary_size: int, hidden_size: int) -> None:
        super().__init__()
        self.E = nn.Parameter(torch.randn(vocabulary_size, hidden_size))
        self.W = nn.Parameter(torch.randn(hidden_size, hidden_size))

    def forward(self, ids: torch.Tensor, lengths: torch.Tensor | None = None) -> tuple[torch.Tensor, torch.Tensor]:
        """Outputs under the padding are 0, as after unpacking."""
        real = torch.ones(ids.shape, dtype=torch.bool)
        if lengths is not None:
            real = torch.arange(len(ids))[:, None] < lengths
        h, outputs = self.E.new_zeros(ids.shape[1], len(self.W)), []
        for vectors, is_real in zip(self.E[ids], real[..., None], strict=True):
            h = torch.where(is_real, torch.tanh(vectors + h @ self.W), h)
            outputs.append(h * is_real)
        return torch.stack(outputs), h[None]


class SmallDecoder(nn.Module):
    """s_t = tanh(E[id_t] A + s_{t-1} W), logits s_t V: (ids (T, N), state (1, N, H)) -> logits (T, N, V), state."""

    def __init__(self, vocabulary_size: int, embedding_size: int, hidden_size: int) -> None:
        super().__init__()
        self.E = nn.Parameter(torch.randn(vocabulary_size, embedding_size))
        self.A = nn.Parameter(torch.randn(embedding_size, hidden_size))
        self.W = nn.Parameter(torch.randn(hidden_size, hidden_size))
        self.V = nn.Parameter(torch.randn(hidden_size, vocabulary_size))

    def forward(self, ids: torch.Tensor, state: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Read the ids, one step after the other."""
        h, states = state[0], []
        for vectors in self.E[ids]:
            h = torch.tanh(vectors @ self.A + h @ self.W)
            states.append(h)
        return torch.stack(states) @ self.V, h[None]


@named
def small_encoder(vocabulary_size: int, hidden_size: int) -> SmallEncoder:
    """A `SmallEncoder` of this size."""
    return SmallEncoder(vocabulary_size, hidden_size)


@named
def small_decoder(vocabulary_size: int, embedding_size: int, hidden_size: int) -> SmallDecoder:
    """A `SmallDecoder` of this size."""
    return SmallDecoder(vocabulary_size, embedding_size, hidden_size)


def encoder_module(
    candidate: Any, init: tuple[Any, ...], parameters: dict[str, torch.Tensor], calls: list[tuple[Any, ...]]
) -> Any:
    """Drive a module as "module" does, whose calls `(ids, lengths)` give (outputs (T, N, H), state).

    Outputs at padded steps are zero and get no gradient, whatever the module has there.
    """

    def without_padding(_: nn.Module, args: tuple[Any, ...], answer: Any) -> Any:
        lengths = args[1] if len(args) > 1 else None
        if lengths is None or not isinstance(answer, (tuple, list)) or len(answer) != 2:
            return answer
        outputs, state = answer
        if not isinstance(outputs, torch.Tensor) or outputs.ndim != 3 or outputs.shape[1] != len(lengths):
            return answer
        is_padding = torch.arange(len(outputs))[:, None] >= lengths
        return outputs.masked_fill(is_padding[..., None], 0), state

    def build(*settings: Any) -> Any:
        made = candidate(*settings)
        if isinstance(made, nn.Module):
            made.register_forward_hook(without_padding)
        return made

    return drive_module(build, init, parameters, calls)


def captioner_module(
    candidate: Any, init: tuple[Any, ...], parameters: dict[str, torch.Tensor], calls: list[tuple[Any, ...]]
) -> Any:
    """Drive a module as "layer" does, with a `SmallDecoder` for the `Decoder` that it builds.

    So it is judged by what it does with a decoder, and not by how right its own is.
    """
    with Local(candidate, {"Decoder": SmallDecoder}):
        return drive_layer(candidate, init, parameters, calls)


def array_or_tensor(candidate: Any, kind: str, values: np.ndarray, *args: Any) -> tuple[str, Any]:
    """One call with an array, or a tensor that shares its memory: what kind of thing comes out, and what is in it."""
    answer = candidate(torch.from_numpy(values) if kind == "tensor" else values, *args)
    if isinstance(answer, torch.Tensor):
        return "tensor", answer.detach().numpy()
    return "array", answer


DRIVERS["encoder_module"] = encoder_module
DRIVERS["captioner_module"] = captioner_module
DRIVERS["array_or_tensor"] = array_or_tensor
WITH_TENSORS.update(("encoder_module", "captioner_module"))
