"""What unit 13 claims about training: what attention brings, and what tells it the order; a minimal GRU's memory."""

from __future__ import annotations

import numpy as np

from claims.experiment import Unit
from rnngrade.cells import of

unit = Unit("13_beyond", seeds=5)
beyond = of("13_beyond")

HELD_OUT = 1, 3, 7, 10, 30, 100, 300, 1000


@unit.experiment(
    "share of digit sequences of a length that are repeated without a mistake",
    settings={
        "with attention": {"kind": "with attention"},
        "without attention": {"kind": "without attention"},
        "all states alike": {"kind": "all states alike"},
        "without attention, 900 updates": {"kind": "without attention", "updates": 900},
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
    "share of 1,000 new sequences of which it is told rightly which of two symbols came first",
    settings={name: {"name": name} for name in ("neither", "positions", "causal", "both")}
    | {"neither, 1600 updates": {"name": "neither", "updates": 1600}},
)
def order(seed, name, updates=400):
    return {"right": beyond.order_learned(name, updates, seed)}


@unit.experiment(
    "share of right answers at each lag after 300 updates on lags 1 to 7",
    settings={name: {"name": name} for name in ("minimal GRU", "plain", "LSTM", "GRU", "minimal GRU, β = −4")}
    | {"minimal GRU, 900 updates": {"name": "minimal GRU", "updates": 900}},
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


unit.claim(
    "two_digits",
    digits,
    "After 300 updates, the pair of unit 12 repeats two digits, and not eight.",
    figure=("without attention", "2 digits"),
    controls=[("without attention", "8 digits"), ("without attention, 900 updates", "8 digits")],
    holds=lambda n: n["without attention"]["2 digits"] > 0.8 > 0.3 > n["without attention"]["8 digits"],
)
unit.claim(
    "ten_digits",
    digits,
    "After 300 updates the pair with attention repeats most sequences of ten digits, and neither the pair without nor "
    "one that looks at all states alike repeats any to speak of.",
    figure=("with attention", "10 digits"),
    controls=[
        (name, "10 digits") for name in ("all states alike", "without attention", "without attention, 900 updates")
    ],
    holds=lambda n: (
        n["with attention"]["10 digits"]
        > 0.5
        > 0.1
        > max(n["without attention"]["10 digits"], n["all states alike"]["10 digits"])
    ),
)
unit.claim(
    "dates_read",
    dates,
    "After 280 updates, a network with attention reads most dates of days that it has never seen, long ones as well as "
    "short ones, and a network without has hardly begun.",
    figure=("with attention", "longer"),
    controls=[("without attention", "longer"), ("without attention", "up to 20 characters")],
    holds=lambda n: min(n["with attention"].values()) > 0.6 > 0.3 > max(n["without attention"].values()),
)
unit.claim(
    "order_told",
    order,
    "One layer of self-attention without positions guesses which of two symbols came first, after 400 updates as "
    "before. With positions it knows, and so it does with a causal mask alone.",
    figure=("causal", "right"),
    controls=[(name, "right") for name in ("neither", "neither, 1600 updates", "positions", "both")],
    holds=lambda n: (
        min(n["causal"]["right"], n["positions"]["right"])
        > 0.8
        > 0.6
        > max(n["neither"]["right"], n["neither, 1600 updates"]["right"])
    ),
)
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
    "One state fails on dates because they are long.",
    "no",
    "that dates are hard because they are long does not show here; the short ones are no better.",
)
unit.expectation(
    "What remembers over a hundred steps can latch.",
    "no",
    "It has a memory that fades, and can make it fade as slowly as its examples ask.",
)
