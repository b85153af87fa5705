"""What unit 15 claims about training: that a state beats the best n-gram on dates, and that memory is why."""

from __future__ import annotations

from functools import cache
from typing import Any

import torch

from claims.experiment import Numbers, Unit
from rnncourse.project import choose_ngram
from rnngrade.cells import of

unit = Unit("15_project", seeds=5)
cells = of(unit.stem)
torch.set_num_threads(1)


@cache
def dealt(seed: int) -> tuple[Any, dict[str, Any], float]:
    """The dates, dealt by this seed; settings for them; what the best n-gram needs on the test part."""
    parts, vocabulary, names = cells.parts_of(cells.corpus, seed)
    settings = cells.SETTINGS | {"inputs": len(vocabulary), "targets": len(names)}
    return parts, settings, choose_ngram(parts, cells.OPPONENTS, len(names))[2]


@unit.experiment(
    "bits a letter on the test part, on a split of its own for each seed",
    settings={"with memory": {"memory": True}, "without memory": {"memory": False, "epochs": 3}},
)
def dates(seed: int, **changed: Any) -> Numbers:
    parts, settings, opponent = dealt(seed)
    network = cells.run_experiment(parts, settings | changed, seed)["test_bits"]
    return {"network": network, "n-gram": opponent, "gain": opponent - network}


unit.claim(
    "network_wins",
    dates,
    "With memory the network needs at least 0.3 bits a letter less than the best n-gram, on dates of days that neither "
    "has met; without memory it needs more than the n-gram.",
    figure=("with memory", "gain"),
    controls=[("without memory", "gain")],
    holds=lambda n: n["with memory"]["gain"] > 0.3 and n["without memory"]["gain"] < 0,
)
