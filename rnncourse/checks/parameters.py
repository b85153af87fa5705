"""The parameters of PyTorch's layers, drawn by the names that they have in a module.

>>> rng = np.random.default_rng(0)
>>> {name: array.shape for name, array in recurrent(rng, "rnn", 3, 2).items()}
{'rnn.weight_ih_l0': (2, 3), 'rnn.weight_hh_l0': (2, 2), 'rnn.bias_ih_l0': (2,), 'rnn.bias_hh_l0': (2,)}
>>> {name: array.shape for name, array in linear(rng, "head", 2, 4).items()}
{'head.weight': (4, 2), 'head.bias': (4,)}
"""

from typing import Any

import numpy as np

from rnncourse.checks.drawing import normal, weights

Parameters = dict[str, np.ndarray]


def linear(rng: np.random.Generator, name: str, inputs: int, outputs: int, dtype: Any = np.float64) -> Parameters:
    """Draw the parameters of an nn.Linear."""
    weight = weights(rng, inputs, outputs, dtype).T.copy()
    return {f"{name}.weight": weight, f"{name}.bias": normal(rng, outputs, dtype=dtype)}


def embedding(rng: np.random.Generator, name: str, count: int, size: int, dtype: Any = np.float64) -> Parameters:
    """Draw the vectors of an nn.Embedding."""
    return {f"{name}.weight": normal(rng, count, size, dtype=dtype)}


def recurrent(
    rng: np.random.Generator,
    name: str,
    inputs: int,
    hidden: int,
    dtype: Any = np.float64,
    *,
    gates: int = 1,
    layers: int = 1,
    ways: int = 1,
) -> Parameters:
    """Draw the parameters of an nn.RNN, of an nn.GRU (3 gates) or of an nn.LSTM (4); without a name, by theirs alone.

    Of `ways` there are two if it reads in both directions.
    """
    drawn, dot = {}, f"{name}." if name else ""
    for layer in range(layers):
        for way in ("", "_reverse")[:ways]:
            for kind, rows in (("ih", ways * hidden if layer else inputs), ("hh", hidden)):
                drawn[f"{dot}weight_{kind}_l{layer}{way}"] = weights(rng, rows, gates * hidden, dtype).T.copy()
            for kind in ("ih", "hh"):
                drawn[f"{dot}bias_{kind}_l{layer}{way}"] = normal(rng, gates * hidden, dtype=dtype)
    return drawn
