"""Unit 10. The forget bias of PyTorch's LSTM.

`torch.nn.LSTM` has four parameters for each layer and direction, `weight_ih_l0`, `weight_hh_l0`, `bias_ih_l0` and
`bias_hh_l0`, then those of `l0_reverse`, `l1` and so on. The rows of i, f, g and o stand below each other in each of
them, and the two biases are added up. It draws all of them from -1/sqrt(H) to 1/sqrt(H), so that f starts at about one
half.

Sources: R. Jozefowicz, W. Zaremba, I. Sutskever, "An Empirical Exploration of Recurrent Network Architectures", ICML
2015; the names are those of https://docs.pytorch.org/docs/stable/generated/torch.nn.LSTM.html
"""

from __future__ import annotations

from torch import nn


def set_forget_bias(lstm: nn.LSTM, value: float) -> None:
    """Set the forget bias in place: in each layer and direction the two biases of f, (H,) each, add up to `value`.

    The parameters stay the objects that they were, so that an optimizer that holds them goes on with them.

    >>> lstm = nn.LSTM(input_size=3, hidden_size=2, num_layers=2)
    >>> set_forget_bias(lstm, 5.0)
    >>> (lstm.bias_ih_l1 + lstm.bias_hh_l1)[2:4].tolist()
    [5.0, 5.0]
    """
    for name, parameter in lstm.named_parameters():
        if name.startswith("bias_"):
            _, forget, _, _ = parameter.detach().chunk(4)  # a view: what is written there stands in the parameter
            forget.fill_(value if name.startswith("bias_ih_") else 0.0)
