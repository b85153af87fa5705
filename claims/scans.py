"""What unit 14 claims about training: what a minimal GRU remembers, and what it cannot keep."""

from __future__ import annotations

from claims.experiment import Unit
from rnngrade.cells import of

unit = Unit("14_scans", seeds=5)
scans = of("14_scans")


HELD_OUT = 1, 3, 7, 10, 30, 100, 300, 1000


@unit.experiment(
    "share of right answers at each lag after 300 updates on lags 1 to 7",
    settings={name: {"name": name} for name in ("minimal GRU", "plain", "LSTM", "GRU", "minimal GRU, β = −4")}
    | {"minimal GRU, 900 updates": {"name": "minimal GRU", "updates": 900}},
)
def short_examples(seed, name, updates=300):
    model = scans.train_to_recall(name, (1, 7), updates, seed)
    return {f"lag {lag}": scans.recalled(model, lag) for lag in HELD_OUT}


@unit.experiment(
    "share of right answers at a lag after 200 updates at a lag of 100 alone",
    settings={
        name: {"name": name}
        for name in ("minimal GRU, β = −4", "minimal GRU, β = −2", "minimal GRU", "plain", "LSTM", "GRU")
    },
)
def long_examples(seed, name):
    model = scans.train_to_recall(name, (100, 100), 200, seed)
    return {f"lag {lag}": scans.recalled(model, lag) for lag in (100, 300, 1000)}


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
    shares = scans.parity_right(scans.train_on_parity(name, updates, seed))
    return {f"bit {n}": shares[n - 1] for n in (1, 2, 3, 4, 5, 10)} | {"bits 41 to 50": shares[40:].mean()}


unit.claim(
    "nearly_shut",
    long_examples,
    r"After 200 updates at a lag of 100, a minimal GRU that starts at $\beta = -4$ recalls, and one that starts at 0 "
    "or $-2$ guesses, as the plain cell, the LSTM and the GRU do from PyTorch's start.",
    figure=("minimal GRU, β = −4", "lag 100"),
    controls=[(name, "lag 100") for name in ("minimal GRU, β = −2", "minimal GRU", "plain", "LSTM", "GRU")],
    holds=lambda n: (
        n["minimal GRU, β = −4"]["lag 100"]
        > 0.9
        > 0.5
        > max(n[name]["lag 100"] for name in ("minimal GRU, β = −2", "minimal GRU", "plain", "LSTM", "GRU"))
    ),
)


unit.claim(
    "cannot_latch",
    short_examples,
    "Trained on lags from 1 to 7, the minimal GRU guesses at a lag of 1,000. The plain cell, the LSTM and the GRU, of "
    "the same 16 units and from PyTorch's start, are better than a guess there.",
    figure=("minimal GRU", "lag 1000"),
    controls=[
        (name, "lag 1000") for name in ("plain", "LSTM", "GRU", "minimal GRU, β = −4", "minimal GRU, 900 updates")
    ],
    holds=lambda n: (
        max(n[f"minimal GRU{name}"]["lag 1000"] for name in ("", ", β = −4", ", 900 updates")) < 0.35
        and min(n[name]["lag 1000"] for name in ("plain", "LSTM", "GRU")) > 0.4
    ),
)


unit.claim(
    "parity_learned",
    bits,
    "Trained on 10 bits, with an answer asked after each, the plain cell has the parity right after 50 bits. The "
    "minimal GRU has it right after one bit, and guesses after ten.",
    figure=("plain", "bits 41 to 50"),
    controls=[
        ("minimal GRU", "bit 1"),
        ("minimal GRU", "bit 10"),
        ("minimal GRU, 3000 updates", "bit 10"),
        ("LSTM", "bits 41 to 50"),
        ("GRU", "bits 41 to 50"),
    ],
    holds=lambda n: (
        n["plain"]["bits 41 to 50"] > 0.9 and n["minimal GRU"]["bit 1"] > 0.9 > 0.7 > n["minimal GRU"]["bit 10"]
    ),
)


unit.expectation(
    "A scan is faster than a loop.", "in part", "For many single numbers the scan wins by far, for rows it loses."
)


unit.expectation(
    "What remembers over a hundred steps can latch.",
    "no",
    "It has a memory that fades, and can make it fade as slowly as its examples ask.",
)
