"""Unit 10: an LSTM of PyTorch's with weights of its own, and a look at what has become of them.

Nothing here imports torch before there is an LSTM to be made.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from rnncourse.checks.callables import named
from rnncourse.checks.drive import DRIVERS

GATES = "ifgo"


@named
def small_lstm(parameters: dict[str, np.ndarray], num_layers: int, bidirectional: bool) -> Any:
    """An nn.LSTM with these parameters, by PyTorch's names for them; its sizes are theirs."""
    import torch

    columns, inputs = parameters["weight_ih_l0"].shape
    lstm = torch.nn.LSTM(inputs, columns // 4, num_layers, bidirectional=bidirectional)
    for name, parameter in lstm.named_parameters():
        parameter.data = torch.from_numpy(parameters[name].copy())
    return lstm


def left_in_place(candidate: Any, lstm: Any, value: float) -> Any:
    """One call, whose result is nobody's business: what the LSTM is left with. Of f, the two biases added up."""
    held = list(lstm.parameters())
    candidate(lstm, value)
    after = dict(lstm.named_parameters())
    arrays = {name: parameter.detach().numpy().copy() for name, parameter in after.items()}
    left: dict[str, Any] = {}
    for name, array in arrays.items():
        if not name.startswith("bias_"):
            left[name] = array
            continue
        for gate, part in zip(GATES, np.split(array, 4), strict=True):
            if gate != "f":
                left[f"{name}, {gate}"] = part
            elif name.startswith("bias_ih_"):
                other = name.replace("_ih_", "_hh_")
                total = part + np.split(arrays[other], 4)[1]
                left[f"{name} + {other}, f"] = total.round(5) + 0.0  # a sum of 0 may be 1e-8 in float32, or -0
    now = list(after.values())
    kept = len(now) == len(held) and all(new is old and new.requires_grad for new, old in zip(now, held, strict=True))
    return left | {"the parameters are those that an optimizer holds": kept}


DRIVERS["left_in_place"] = left_in_place
