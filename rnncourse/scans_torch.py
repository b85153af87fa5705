r"""Unit 14. The scan and the minimal GRU in PyTorch, where they can be trained.

`MinGRU` computes all of its gates at once and then all of its states by a scan, `scan`, through which gradients flow.
Time is the first axis: inputs (T, N, D), states (T, N, H).

Source: L. Feng et al., "Were RNNs All We Needed?", arXiv:2410.01201, 2024.
"""

from __future__ import annotations

import torch
from jaxtyping import Float
from torch import Tensor, nn


def scan(a: Float[Tensor, "T *axes"], b: Float[Tensor, "T *axes"]) -> Float[Tensor, "T *axes"]:
    """Compute h_t = a_t h_{t-1} + b_t from h_0 = 0 in 2 log2(T) rounds, as `rnncourse.scans.associative_scan` does.

    Put a_1 h_0 into b_1 to start elsewhere.

    >>> scan(torch.tensor([0.5, 0.5, 2.0]), torch.tensor([2.0, 1.0, 0.0]))
    tensor([2., 2., 4.])
    """
    return _prefixes(a, b)[1]


def _prefixes(a: Tensor, b: Tensor) -> tuple[Tensor, Tensor]:
    """Combine the maps 0 to t, for every t: pairs first, then the prefixes of the pairs, then what lies between."""
    steps = len(a)
    if steps == 1:
        return a, b
    half = steps // 2
    odd_a, odd_b = _prefixes(a[1::2] * a[: 2 * half : 2], a[1::2] * b[: 2 * half : 2] + b[1::2])
    before = (steps - 1) // 2
    even_a = torch.cat([a[:1], a[2::2] * odd_a[:before]])
    even_b = torch.cat([b[:1], a[2::2] * odd_b[:before] + b[2::2]])
    return _woven(even_a, odd_a), _woven(even_b, odd_b)


def _woven(even: Tensor, odd: Tensor) -> Tensor:
    """Lay two tensors into one another along time: even[0], odd[0], even[1], …"""
    pairs = torch.stack([even[: len(odd)], odd], dim=1).flatten(0, 1)
    return pairs if len(even) == len(odd) else torch.cat([pairs, even[-1:]])


class MinGRU(nn.Module):
    """A minimal GRU: `gate` and `candidate`, each an nn.Linear of the input alone. It is called like an nn.GRU.

    The gate's bias starts at `gate_bias`: where it is negative, a state is kept for about exp(-gate_bias) steps.

    >>> output, h_n = MinGRU(input_size=3, hidden_size=5)(torch.zeros(7, 2, 3))
    >>> output.shape, h_n.shape
    (torch.Size([7, 2, 5]), torch.Size([1, 2, 5]))
    """

    def __init__(self, input_size: int, hidden_size: int, gate_bias: float = 0.0) -> None:
        super().__init__()
        self.gate = nn.Linear(input_size, hidden_size)
        self.candidate = nn.Linear(input_size, hidden_size)
        nn.init.constant_(self.gate.bias, gate_bias)

    def forward(
        self, x: Float[Tensor, "T N D"], h0: Float[Tensor, "1 N H"] | None = None
    ) -> tuple[Float[Tensor, "T N H"], Float[Tensor, "1 N H"]]:
        """Return the states of all steps, and the last one."""
        z = torch.sigmoid(self.gate(x))
        keep, term = 1 - z, z * self.candidate(x)
        if h0 is not None:
            term = torch.cat([term[:1] + keep[:1] * h0, term[1:]])
        output = scan(keep, term)
        return output, output[-1:]
