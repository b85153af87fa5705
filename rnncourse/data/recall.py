"""Recall: a task in which the distance that a memory has to bridge is a number that can be set.

At the first step a symbol is shown. Then come `lag` steps of noise, drawn from as many symbols that mean nothing and
never occur at the first step. After the last of them the question is: which symbol was it?

    reads   C z x w y      lag 4, symbols A to D, noise w to z          should say   C

Who remembers is right every time; who guesses, once in `symbols`. The noise carries no information, so that nothing
lies between the two. As noise can be told from a symbol, a cell can learn to keep what it has while noise is read.

Source: a variant of the latch and delay tasks of Y. Bengio, P. Simard, P. Frasconi, "Learning Long-Term Dependencies
with Gradient Descent is Difficult", IEEE Transactions on Neural Networks 5, 1994, and of S. Hochreiter,
J. Schmidhuber, "Long Short-Term Memory", Neural Computation 9, 1997.
"""

import numpy as np
from jaxtyping import Float, Int


def recall_batch(
    rng: np.random.Generator, lag: int, rows: int, symbols: int = 4
) -> tuple[Float[np.ndarray, "T N D"], Int[np.ndarray, "N"]]:
    """Draw `rows` sequences of lag + 1 steps: (X (lag + 1, rows, 2 * symbols), y (rows,)).

    X is one-hot, float64: entries 0 to symbols - 1 stand for the symbols, the others for noise. y, from 0 to
    symbols - 1, is the symbol of the first step, and the answer at the last. With lag 0 that is the same step.
    A ValueError unless lag is at least 0, rows at least 1 and symbols at least 2.

    >>> X, y = recall_batch(np.random.default_rng(0), lag=3, rows=2)
    >>> X.shape, X.argmax(axis=2)[:, 0].tolist(), int(y[0])
    ((4, 2, 8), [0, 6, 5, 4], 0)
    """
    for name, value, least in (("lag", lag, 0), ("rows", rows, 1), ("symbols", symbols, 2)):
        if value < least:
            raise ValueError(f"{name} must be at least {least}, but it is {value}.")
    ids = symbols + rng.integers(symbols, size=(lag + 1, rows))
    ids[0] = rng.integers(symbols, size=rows)
    return np.eye(2 * symbols)[ids], ids[0]
