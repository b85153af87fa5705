"""Unit 08. Stacked recurrent layers in PyTorch, as a module that is `torch.nn.RNN` written out.

It is `rnncourse.stacked.StackedRNN`, and has a file of its own so that the NumPy part of the unit needs no torch.

Source: the equations and parameters are those of https://docs.pytorch.org/docs/stable/generated/torch.nn.RNN.html
"""

from __future__ import annotations

import torch
from jaxtyping import Float
from torch import nn


class StackedRNN(nn.Module):
    """Layers of the cell h_t = tanh(W_ih x_t + b_ih + W_hh h_{t-1} + b_hh), each reading the states of the one below.

    Layer l has `weight_ih_l{l} (H, D)`, or (H, H) above the first, `weight_hh_l{l} (H, H)`, `bias_ih_l{l} (H,)` and
    `bias_hh_l{l} (H,)`: the names and shapes of `torch.nn.RNN`, so that a state dict of one loads into the other. All
    are drawn from -1/sqrt(H) to 1/sqrt(H), in the order of `torch.nn.RNN`: one seed gives both the same.

    `dropout` is the probability that a state is dropped on its way to the next layer, while training. The top layer's
    states are never dropped.

    >>> rnn = StackedRNN(input_size=3, hidden_size=5, num_layers=2)
    >>> output, h_n = rnn(torch.ones(4, 2, 3))
    >>> output.shape, h_n.shape
    (torch.Size([4, 2, 5]), torch.Size([2, 2, 5]))
    """

    def __init__(self, input_size: int, hidden_size: int, num_layers: int = 1, dropout: float = 0.0) -> None:
        super().__init__()
        if num_layers < 1:
            raise ValueError(f"There must be at least one layer, and num_layers is {num_layers}.")
        if not 0 <= dropout <= 1:
            raise ValueError(f"dropout is a probability, from 0 to 1, and is {dropout}.")
        self.input_size, self.hidden_size = input_size, hidden_size
        self.num_layers, self.dropout = num_layers, dropout
        for l in range(num_layers):
            inputs = hidden_size if l else input_size
            self.register_parameter(f"weight_ih_l{l}", nn.Parameter(torch.empty(hidden_size, inputs)))
            self.register_parameter(f"weight_hh_l{l}", nn.Parameter(torch.empty(hidden_size, hidden_size)))
            self.register_parameter(f"bias_ih_l{l}", nn.Parameter(torch.empty(hidden_size)))
            self.register_parameter(f"bias_hh_l{l}", nn.Parameter(torch.empty(hidden_size)))
        for parameter in self.parameters():
            nn.init.uniform_(parameter, -(hidden_size**-0.5), hidden_size**-0.5)

    def forward(
        self, x: Float[torch.Tensor, "T N D"], h0: Float[torch.Tensor, "L N H"] | None = None
    ) -> tuple[Float[torch.Tensor, "T N H"], Float[torch.Tensor, "L N H"]]:
        """Return the states of the top layer, and the last state of each; without h0 all start from zeros."""
        if h0 is None:
            h0 = x.new_zeros(self.num_layers, x.shape[1], self.hidden_size)
        if len(h0) != self.num_layers:
            raise ValueError(f"h0 needs a start state for each layer, and has {len(h0)} for {self.num_layers}.")
        last = []
        for l, h in enumerate(h0):
            if l:
                x = nn.functional.dropout(x, self.dropout, self.training)
            x = self._layer(l, x, h)
            last.append(x[-1])
        return x, torch.stack(last)

    def _layer(self, l: int, x: torch.Tensor, h: torch.Tensor) -> torch.Tensor:
        """Run layer l over a sequence and return all of its states."""
        weight_ih, weight_hh, bias_ih, bias_hh = (
            self.get_parameter(f"{name}_l{l}") for name in ("weight_ih", "weight_hh", "bias_ih", "bias_hh")
        )
        states = []
        for projected in nn.functional.linear(x, weight_ih, bias_ih + bias_hh):  # the inputs of all steps at once
            h = torch.tanh(projected + h @ weight_hh.T)
            states.append(h)
        return torch.stack(states)
