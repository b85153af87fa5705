"""Unit 11: small models, of which an answer is to say which inputs get gradient from an output, and how it is asked.

All but a few are a small recurrence, h_t = tanh(x_t U + h_{t-1} W), and what is read off it, h_t V.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from rnncourse.checks.callables import named
from rnncourse.checks.drive import DRIVERS, WITH_TENSORS

Model = Callable[[Tensor], Tensor]


class SmallTagger(nn.Module):
    """One output a step, from the past: x (T, N, D) and a state (N, H), zeros if it is None, give (T, N, Q)."""

    def __init__(self, U: np.ndarray, W: np.ndarray, V: np.ndarray) -> None:
        super().__init__()
        self.U, self.W, self.V = (nn.Parameter(torch.from_numpy(array.copy())) for array in (U, W, V))

    def states(self, x: Tensor, h: Tensor | None = None) -> Tensor:
        """The states (T, N, H)."""
        h = x.new_zeros(x.shape[1], len(self.W)) if h is None else h
        states = []
        for x_t in x:
            h = torch.tanh(x_t @ self.U + h @ self.W)
            states.append(h)
        return torch.stack(states)

    def forward(self, x: Tensor) -> Tensor:
        """The outputs (T, N, Q)."""
        return self.states(x) @ self.V


@named
def tagging_model(U: np.ndarray, W: np.ndarray, V: np.ndarray) -> SmallTagger:
    """One output a step, from the past."""
    return SmallTagger(U, W, V)


@named
def opposite_model(U: np.ndarray, W: np.ndarray, V: np.ndarray) -> Model:
    """A tagger that gives each logit and its negative: the plain sum of an output is 0 whatever the input."""
    tagger = SmallTagger(U, W, V)

    def model(x: Tensor) -> Tensor:
        logits = tagger(x)
        return torch.cat([logits, -logits], dim=-1)

    return model


@named
def two_way_model(U: np.ndarray, W: np.ndarray, V: np.ndarray) -> Model:
    """A tagger that reads both ways, with the same weights: every output has read everything."""
    tagger = SmallTagger(U, W, V)

    def model(x: Tensor) -> Tensor:
        both: Tensor = tagger(x) + tagger(x.flip(0)).flip(0)
        return both

    return model


@named
def classifying_model(U: np.ndarray, W: np.ndarray, V: np.ndarray, lengths: np.ndarray) -> Model:
    """One output for a padded sequence, from its last real step, with an axis of one step."""
    tagger, last = SmallTagger(U, W, V), torch.from_numpy(lengths.copy()) - 1

    def model(x: Tensor) -> Tensor:
        outputs: Tensor = tagger(x)
        return outputs[last, torch.arange(len(last))][None]

    return model


@named
def generating_model(U: np.ndarray, W: np.ndarray, V: np.ndarray, steps: int) -> Model:
    """Reads the first input only and then its own outputs; there are more of these than there are inputs."""
    tagger = SmallTagger(U, W, V)

    def model(x: Tensor) -> Tensor:
        fed, h, outputs = x[0], x.new_zeros(x.shape[1], len(W)), []
        for _ in range(steps):
            h = torch.tanh(fed @ tagger.U + h @ tagger.W)
            fed = h @ tagger.V
            outputs.append(fed)
        return torch.stack(outputs)

    return model


@named
def window_model(V: np.ndarray, before: int, after: int) -> Model:
    """No recurrence: output t is (x_{t-before} + x_{t+after}) V, where these exist."""
    matrix = torch.from_numpy(V.copy())

    def model(x: Tensor) -> Tensor:
        mixed = x @ matrix
        nothing = torch.zeros_like(mixed)
        earlier = torch.cat([nothing[:before], mixed[: len(x) - before]])
        later = torch.cat([mixed[after:], nothing[:after]])
        return earlier + later

    return model


@named
def truncated_model(U: np.ndarray, W: np.ndarray, V: np.ndarray, cut: int) -> Model:
    """A tagger whose state is detached before step `cut`: later outputs depend on earlier steps, without gradient."""
    tagger = SmallTagger(U, W, V)

    def model(x: Tensor) -> Tensor:
        first = tagger.states(x[:cut])
        second = tagger.states(x[cut:], first[-1].detach())
        return torch.cat([first, second]) @ tagger.V

    return model


@named
def cut_off_model(U: np.ndarray, W: np.ndarray, V: np.ndarray) -> Model:
    """A tagger that detaches its input: it learns, but nothing below it would."""
    tagger = SmallTagger(U, W, V)

    def model(x: Tensor) -> Tensor:
        outputs: Tensor = tagger(x.detach())
        return outputs

    return model


@named
def gathering_model() -> Model:
    """Every output is all of x: each of its entries has read another input."""

    def model(x: Tensor) -> Tensor:
        return x.reshape(1, -1).expand(len(x), -1)

    return model


@named
def clock_model() -> Model:
    """Looks at no input, and at no weights: its outputs 0, 1, 2, … hang on nothing."""

    def model(x: Tensor) -> Tensor:
        return torch.arange(len(x), dtype=x.dtype)[:, None]

    return model


def asked_again(candidate: Any, model: Any, x: Tensor, t: int) -> Any:
    """Two calls with the same x, first for the last output. What that leaves behind on x is no part of the answer."""
    x = x.detach()
    candidate(model, x, len(model(x)) - 1)
    return candidate(model, x, t)


DRIVERS["asked_again"] = asked_again
WITH_TENSORS.add("asked_again")
