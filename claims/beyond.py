"""What unit 13 claims about training: what attention brings, what a minimal GRU keeps, and what it gives up."""

from __future__ import annotations

import numpy as np

from claims.experiment import Unit
from rnngrade.cells import of

unit = Unit("13_beyond")
beyond = of("13_beyond")

HELD_OUT = 1, 3, 7, 10, 30, 100, 300, 1000


@unit.experiment(
    "share of digit sequences of a length that are repeated without a mistake",
    settings={
        "with attention": {"kind": "with attention"},
        "without attention": {"kind": "without attention"},
        "without attention, 1200 updates": {"kind": "without attention", "updates": 1200},
    },
)
def digits(seed, kind, updates=300):
    rng = np.random.default_rng(seed)
    model = beyond.build(kind, 13, 13, seed)
    beyond.train(model, lambda: beyond.digits_to_repeat(rng), updates, kind)
    return {f"{n} digits": beyond.repeated(model, n) for n in (2, 3, 8, 10, 16, 20)}


@unit.experiment(
    "share of dates of held-out days read without a mistake, after 280 updates",
    settings={kind: {"kind": kind} for kind in ("with attention", "without attention")},
)
def dates(seed, kind):
    short, long = beyond.dates_right(beyond.train_reader(kind, seed))
    return {"up to 20 characters": short, "longer": long}


@unit.experiment(
    "share of right answers at each lag after 300 updates on lags 1 to 7",
    settings={name: {"name": name} for name in ("minimal GRU", "plain", "LSTM", "GRU", "minimal GRU, β = −4")}
    | {"minimal GRU, 1200 updates": {"name": "minimal GRU", "updates": 1200}},
    seeds=10,
)
def short_examples(seed, name, updates=300):
    model = beyond.train_to_recall(name, (1, 7), updates, seed)
    return {f"lag {lag}": beyond.recalled(model, lag) for lag in HELD_OUT}


@unit.experiment(
    "share of right answers at a lag after 200 updates at a lag of 100 alone",
    settings={
        name: {"name": name}
        for name in ("minimal GRU, β = −4", "minimal GRU, β = −2", "minimal GRU", "plain", "LSTM", "GRU")
    },
)
def long_examples(seed, name):
    model = beyond.train_to_recall(name, (100, 100), 200, seed)
    return {f"lag {lag}": beyond.recalled(model, lag) for lag in (100, 300, 1000)}


@unit.experiment(
    "share of right parities after a number of bits, trained on 10 bits",
    settings={
        "minimal GRU": {"name": "minimal GRU"},
        "minimal GRU, 3000 updates": {"name": "minimal GRU", "updates": 3000},
        "plain": {"name": "plain"},
        "LSTM": {"name": "LSTM"},
        "GRU": {"name": "GRU"},
    },
)
def bits(seed, name, updates=300):
    shares = beyond.parity_right(beyond.train_on_parity(name, updates, seed))
    return {f"bit {n}": shares[n - 1] for n in (1, 2, 3, 4, 5, 10)} | {"bits 41 to 50": shares[40:].mean()}
