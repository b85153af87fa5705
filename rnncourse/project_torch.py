"""Unit 15, with PyTorch: one run of an experiment, from a seed to predictions.

Everything that is drawn comes from the seed. The test part is read when all choices are made, and changes none.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.nn import functional

from rnncourse.project import Documents, bits_per_token

EMBEDDING = 32
PADDING = -1


class Reader(nn.Module):
    """A GRU that is asked at every step: ids (T, N) to the logarithms of probabilities (T, N, Q).

    Without memory each id is read as if it were the first of its document, by the same network.

    >>> Reader(inputs=5, targets=3, hidden=4)(torch.zeros(6, 2, dtype=torch.int64)).shape
    torch.Size([6, 2, 3])
    """

    def __init__(self, inputs: int, targets: int, hidden: int, memory: bool = True) -> None:
        super().__init__()
        self.embedding = nn.Embedding(inputs, EMBEDDING)
        self.core = nn.GRU(EMBEDDING, hidden)
        self.head = nn.Linear(hidden, targets)
        self.memory = memory

    def forward(self, ids: Int[Tensor, "T N"]) -> Float[Tensor, "T N Q"]:
        """Return log P(target) at every step."""
        vectors = self.embedding(ids)
        if self.memory:
            states, _ = self.core(vectors)
        else:  # one step for each: T N documents of one token
            states = self.core(vectors.flatten(0, 1)[None])[0].reshape(*ids.shape, -1)
        return functional.log_softmax(self.head(states), dim=-1)


def run_experiment(parts: Mapping[str, Documents], settings: Mapping[str, Any], seed: int) -> dict[str, Any]:
    """Train one network and keep that of the epoch with the fewest bits on the validation part.

    `parts` has "train", "validation" and "test". `settings` has "inputs" and "targets", how many different ids there
    are of each, "hidden", "memory", "rate", "batch" and "epochs".

    Returned are "curve", the bits on validation after each epoch, "epoch", the place of the lowest, the first if there
    are several, and of the network of that epoch "validation" and "test", a list of probabilities (T, Q) for each
    document, with their bits per token, "validation_bits" and "test_bits". The global generators stay as they were.

    >>> documents = [([0, 1, 0, 1], [1, 0, 1, 0])] * 8
    >>> settings = {"inputs": 2, "targets": 2, "hidden": 8, "memory": True, "rate": 0.05, "batch": 4, "epochs": 3}
    >>> run = run_experiment({"train": documents, "validation": documents, "test": documents}, settings, seed=0)
    >>> len(run["curve"]), run["epoch"], run["test"][0].shape, run["test_bits"] < 0.5
    (3, 2, (4, 2), True)
    """
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return _run(parts, settings, np.random.default_rng(seed))


def _run(parts: Mapping[str, Documents], settings: Mapping[str, Any], rng: np.random.Generator) -> dict[str, Any]:
    model = Reader(settings["inputs"], settings["targets"], settings["hidden"], settings["memory"])
    optimizer = torch.optim.Adam(model.parameters(), lr=settings["rate"])
    train, curve = parts["train"], []
    kept: dict[str, Any] = {}
    for epoch in range(settings["epochs"]):
        order = rng.permutation(len(train))
        for start in range(0, len(order), settings["batch"]):
            batch = [train[i] for i in order[start : start + settings["batch"]]]
            targets = _padded([asked for _, asked in batch], PADDING)
            logs = model(_padded([ids for ids, _ in batch], 0))
            loss = functional.nll_loss(logs.flatten(0, 1), targets.flatten(), ignore_index=PADDING)
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
        validation = predictions(model, parts["validation"])
        curve.append(bits_per_token(validation, parts["validation"]))
        if curve[-1] < min(curve[:-1], default=float("inf")):
            kept = {"epoch": epoch, "validation": validation, "test": predictions(model, parts["test"])}
    bits = {f"{name}_bits": bits_per_token(kept[name], parts[name]) for name in ("validation", "test")}
    return {"curve": curve, **kept, **bits}


@torch.no_grad()
def predictions(model: nn.Module, documents: Documents) -> list[Float[np.ndarray, "T Q"]]:
    """Return the probabilities (T, Q) of the targets at each step of each document."""
    probabilities = model(_padded([ids for ids, _ in documents], 0)).exp().double().numpy()
    return [probabilities[: len(ids), n].copy() for n, (ids, _) in enumerate(documents)]


def _padded(sequences: Sequence[Any], value: int) -> Int[Tensor, "T N"]:
    """Lay sequences side by side, with `value` behind their ends."""
    return nn.utils.rnn.pad_sequence([torch.as_tensor(s, dtype=torch.int64) for s in sequences], padding_value=value)
