"""What unit 03 claims about a readout fitted to an untrained state, and about the first state of a trained network."""

from __future__ import annotations

import numpy as np

from claims.experiment import Numbers, Unit
from rnncourse.cell import hidden_layer, rnn_forward
from rnngrade.author.cells import of

unit = Unit("03_cell", seeds=5)
cells = of(unit.stem)


@unit.experiment(
    "the share of characters read k steps ago that a weighted sum of the state names right, on unseen text",
    settings={
        "200 units": {},
        "no state": {"state": False},
        "radius 0.5": {"radius": 0.5},
        "radius 1.2": {"radius": 1.2},
        "quiet input": {"loudness": 0.03},
        "loud input": {"loudness": 1.0},
        "50 units": {"hidden": 50},
    },
)
def recall(seed: int, hidden: int = 200, radius: float = 0.95, loudness: float = 0.3, state: bool = True) -> Numbers:
    X = cells.X_text
    U, W, b = cells.random_cell(X.shape[2], hidden, seed, radius, loudness)
    states = rnn_forward(X, np.zeros((1, hidden)), U, W, b)[:, 0] if state else hidden_layer(X[:, 0], U, b)
    shares = cells.recalled(states)
    return {f"k = {k}": shares[k] for k in (0, 1, 3, 6, 10)} | {
        "lowest to k = 3": shares[:4].min(),
        "highest from k = 1": shares[1:].max(),
    }


unit.claim(
    "untrained_memory",
    recall,
    "From the state of an untrained cell, the readout names the character of up to three steps ago right more than 80% "
    "of the time. From a layer without a state it stays below 40% from the first step back on: all it can do is guess "
    "from the letter at hand.",
    figure=("200 units", "lowest to k = 3"),
    controls=[("no state", "highest from k = 1"), ("loud input", "lowest to k = 3"), ("50 units", "lowest to k = 3")],
    holds=lambda n: n["200 units"]["lowest to k = 3"] > 0.8 and n["no state"]["highest from k = 1"] < 0.4,
)


@unit.experiment(
    "bits for the next character of unread text, after one character and after ten, from a first state of this kind",
    settings={"random": {"kind": "random"}, "zeros": {"kind": "zeros"}, "another text": {"kind": "another text"}},
)
def start(seed: int, kind: str) -> Numbers:
    bits = cells.bits_from(kind, seed)
    return {"after one": bits[0], "after ten": bits[9]}


unit.claim(
    "first_state_is_forgotten",
    start,
    "From a random first state the trained network's first prediction costs at least half a bit more than from zeros; "
    "after ten characters it costs less than a tenth of a bit more.",
    figure=("random", "after ten"),
    controls=[("zeros", "after ten"), ("zeros", "after one"), ("random", "after one")],
    holds=lambda n: (
        n["random"]["after one"] > n["zeros"]["after one"] + 0.5
        and n["random"]["after ten"] < n["zeros"]["after ten"] + 0.1
    ),
)
