"""Unit 03, what needs PyTorch: the cell beside `torch.nn.RNN`."""

from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from rnncourse.cell import rnn_forward, to_torch_state
from rnncourse.data import python_docs
from rnncourse.experiments.cell import one_hot


def cell_beside_torch(
    forward: Callable[..., Any] = rnn_forward, convert: Callable[..., Any] = to_torch_state, seed: int = 6
) -> float:
    """The largest difference between your states and those of `torch.nn.RNN`, over 500 characters, with 20 units."""
    X, rng = one_hot(python_docs(500)), np.random.default_rng(seed)
    U, W, b = rng.normal(size=(X.shape[2], 20)), rng.normal(size=(20, 20)) / 5, rng.normal(size=20)
    theirs = torch.nn.RNN(X.shape[2], 20, dtype=torch.float64)
    theirs.load_state_dict({name: torch.as_tensor(np.asarray(array)) for name, array in convert(U, W, b).items()})
    with torch.no_grad():
        states = theirs(torch.from_numpy(X))[0].numpy()
    return float(np.abs(states - forward(X, np.zeros((1, 20)), U, W, b)).max())
