"""What unit 02 claims about rules that are fitted: how many examples it saves to share them."""

import numpy as np

from claims.experiment import Numbers, Unit
from rnncourse.experiments.unfolding import errors

unit = Unit("02_unfolding")


@unit.experiment(
    "the error on new sequences of 20 steps, of one set of weights for all steps and of a set for each, from so many "
    "sequences",
    settings={"one rule": {}, "a rule that changes": {"change": 0.2}},
)
def sharing(seed: int, change: float = 0.0) -> Numbers:
    found = {N: np.mean([errors((seed, k), N, change) for k in range(20)], axis=0) for N in (10, 200)}
    return {
        f"{who}, {N}": error for N, pair in found.items() for who, error in zip(("shared", "own"), pair, strict=True)
    }


sharing.claim(
    "twenty_times",
    "Weights for each of 20 steps, from 200 sequences, are as wrong as shared weights from 10, to within a fifth.",
    figure=("one rule", "own, 200"),
    controls=[("one rule", "shared, 10"), ("one rule", "own, 10"), ("a rule that changes", "shared, 200")],
    holds=lambda n: (
        abs(n["one rule"]["own, 200"] / n["one rule"]["shared, 10"] - 1) < 0.2
        and n["one rule"]["own, 10"] > 2 * n["one rule"]["own, 200"]
        and n["a rule that changes"]["shared, 200"] > n["a rule that changes"]["own, 200"]
    ),
)
