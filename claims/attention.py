"""What unit 13 claims about training: what attention brings, and what tells it the order."""

from __future__ import annotations

import numpy as np

from claims.experiment import Unit
from rnngrade.cells import of

unit = Unit("13_attention", seeds=5)
attention = of("13_attention")


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
    model = attention.build(kind, 13, 13, seed)
    attention.train(model, lambda: attention.digits_to_repeat(rng), updates, kind)
    return {f"{n} digits": attention.repeated(model, n) for n in (2, 3, 8, 10, 16, 20)}


@unit.experiment(
    "share of dates of held-out days read without a mistake, after 280 updates",
    settings={kind: {"kind": kind} for kind in ("with attention", "without attention")},
)
def dates(seed, kind):
    short, long = attention.dates_right(attention.train_reader(kind, seed))
    return {"up to 20 characters": short, "longer": long}


@unit.experiment(
    "share of 1,000 new sequences of which it is told rightly which of two symbols came first",
    settings={name: {"name": name} for name in ("neither", "positions", "causal", "both")}
    | {"neither, 1600 updates": {"name": "neither", "updates": 1600}},
)
def order(seed, name, updates=400):
    return {"right": attention.order_learned(name, updates, seed)}


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


unit.expectation(
    "One state fails on dates because they are long.",
    "no",
    "that dates are hard because they are long does not show here; the short ones are no better.",
)
