"""What unit 14 claims: how many rounds Newton takes, how many pairs a state holds, what a minimal GRU keeps."""

from typing import Any

from claims.experiment import Numbers, Unit
from rnncourse.experiments.scans import best_sharpness, found_linear, found_softmax, newton, rounds_needed
from rnncourse.experiments.scans_torch import (
    LAGS,
    NETWORKS,
    memory_and_push,
    parity_right,
    recalled,
    train_on_parity,
    train_to_recall,
)

unit = Unit("14_scans")


@unit.experiment(
    "rounds until all states of a plain cell of 16 units are right to ten decimals; 200 if they never are",
    settings={
        "radius 0.9": {},
        "radius 0.9, whole Jacobian": {"whole": True},
        "radius 0.9, 10,000 steps": {"steps": 10_000},
        "radius 2": {"radius": 2.0},
    },
)
def newtons_rounds(seed: int, **settings: Any) -> Numbers:
    return {"rounds": rounds_needed(newton(seed=seed, **settings))}


@unit.experiment(
    "share of right answers at a lag after training on lags 1 to 7, and what is left after 200 steps of noise: of the "
    "distance between two symbols' states, and of a push",
    settings={name: {"name": name} for name in NETWORKS},
)
def short_examples(seed: int, name: str) -> Numbers:
    model = train_to_recall(name, seed=seed)
    found = {f"lag {lag}": recalled(model, lag) for lag in LAGS}
    apart, left = memory_and_push(model)
    return found | {"memory left": float(apart[-1] / apart[0]), "push left": float(left[-1] / 0.5)}


@unit.experiment(
    "share of right parities after a number of bits, trained on 10 bits",
    settings={core: {"core": core} for core in ("plain", "minimal")}
    | {"minimal, 900 updates": {"core": "minimal", "updates": 900}},
)
def bits(seed: int, core: str, updates: int = 300) -> Numbers:
    shares = parity_right(train_on_parity(core, updates, seed))
    return {"bit 1": shares[0], "bit 2": shares[1], "bit 10": shares[9], "bits 41 to 50": shares[40:].mean()}


@unit.experiment(
    "share of stored pairs of a key and one of 16 values that are found again",
    settings={
        "linear": {"power": 1},
        "squared": {"power": 2},
        "softmax": {"tuned": False},
        "sharp softmax": {"tuned": True},
    },
)
def stored_pairs(seed: int, power: int = 0, tuned: bool = False) -> Numbers:
    if power:
        return {f"{n} pairs": found_linear(n, power, seed) for n in (4, 16, 64)}
    sharpness = best_sharpness(seed) if tuned else 1.0
    return {f"{n} pairs": found_softmax(n, sharpness, seed) for n in (4, 16, 64)}


newtons_rounds.claim(
    "few_rounds",
    "At a spectral radius of 0.9, 1,000 states are right to ten decimals within 120 rounds if each unit's own slope is "
    "used, and within 12 with the whole Jacobian. At a radius of 2 they are not right after 120.",
    figure=("radius 0.9", "rounds"),
    controls=[("radius 0.9, whole Jacobian", "rounds"), ("radius 0.9, 10,000 steps", "rounds"), ("radius 2", "rounds")],
    holds=lambda n: (
        n["radius 0.9, whole Jacobian"]["rounds"] <= 12
        and n["radius 0.9"]["rounds"] <= 120
        and n["radius 2"]["rounds"] == 200
    ),
)
short_examples.claim(
    "holds_if_shut",
    "Trained on lags from 1 to 7, a minimal GRU that starts at β = −14 recalls after 100 steps of noise, and one that "
    "starts at 0 guesses.",
    figure=("minimal GRU, β = −14", "lag 100"),
    controls=[("minimal GRU, β = 0", "lag 100"), ("plain", "lag 100"), ("minimal GRU, β = −14", "lag 1000")],
    holds=lambda n: n["minimal GRU, β = −14"]["lag 100"] > 0.9 > 0.35 > n["minimal GRU, β = 0"]["lag 100"],
)
short_examples.claim(
    "push_stays",
    "After 200 steps of noise the plain cell keeps its symbols apart and has undone a push; the minimal GRU that "
    "starts at β = −14 keeps both, and the one that starts at 0 keeps neither.",
    figure=("plain", "push left"),
    controls=[
        ("plain", "memory left"),
        ("minimal GRU, β = −14", "push left"),
        ("minimal GRU, β = −14", "memory left"),
        ("minimal GRU, β = 0", "memory left"),
    ],
    holds=lambda n: (
        n["plain"]["push left"] < 0.05
        and n["plain"]["memory left"] > 0.5
        and min(n["minimal GRU, β = −14"]["push left"], n["minimal GRU, β = −14"]["memory left"]) > 0.5
        and max(n["minimal GRU, β = 0"]["push left"], n["minimal GRU, β = 0"]["memory left"]) < 0.05
    ),
)
bits.claim(
    "parity_learned",
    "Trained on 10 bits, with an answer asked after each, the plain cell has the parity right after 50 bits. The "
    "minimal GRU has it right after one bit, and guesses after ten.",
    figure=("plain", "bits 41 to 50"),
    controls=[("minimal", "bit 1"), ("minimal", "bit 10"), ("minimal, 900 updates", "bit 10")],
    holds=lambda n: n["plain"]["bits 41 to 50"] > 0.9 and n["minimal"]["bit 1"] > 0.9 > 0.7 > n["minimal"]["bit 10"],
)
stored_pairs.claim(
    "full_state",
    "A state of 16 × 16 numbers gives back nearly all of 4 pairs, and fewer than three in four of 64. With squared "
    "scores, and with a softmax that is sharp enough, more than nine in ten of the 64 come back.",
    figure=("linear", "64 pairs"),
    controls=[("linear", "4 pairs"), ("squared", "64 pairs"), ("softmax", "64 pairs"), ("sharp softmax", "64 pairs")],
    holds=lambda n: (
        n["linear"]["4 pairs"] > 0.95
        and n["linear"]["64 pairs"] < 0.75
        and min(n["squared"]["64 pairs"], n["sharp softmax"]["64 pairs"]) > 0.9
    ),
)

unit.expectation(
    "A scan is faster than a loop.", "for many single numbers the scan wins by far, for rows it loses.", "in part"
)
unit.expectation(
    "A cell whose gates do not see the state cannot latch.",
    "One layer of minimal GRU can hold for as long as you like. A unit that holds its memory holds an error in it as "
    "long.",
)
