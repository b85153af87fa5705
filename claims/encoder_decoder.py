"""What unit 12 claims about translators, searches, teachers and summaries."""

import numpy as np
import torch
from torch import nn

from claims.experiment import Numbers, Unit
from rnngrade.cells import of

torch.set_num_threads(1)
unit = Unit("12_encoder_decoder")
cells = of("12_encoder_decoder")


@unit.experiment(
    "shares of 500 dates of unseen days; of searches, of 60 dates, counts",
    settings={
        "2 added to the bias of z": {"keep": 2.0},
        "nothing added": {"keep": 0.0},
    },
)
def dates(seed: int, keep: float) -> Numbers:
    """One pass over 32,000 dates."""
    model, poor, _, curve = cells.learn_to_translate(seed, keep=keep)
    found = {f"right after {done}": share for done, share in curve.items()}
    for name, one in (("poor", poor), ("trained", model)):
        found |= {f"{name}, {what}": value for what, value in cells.judge(one, cells.unseen_dates[:60]).items()}
    return found


@unit.experiment(
    "share of 150 models in which a beam of that width finds the best answer",
    settings={"spread 1.5": {"spread": 1.5}, "flatter, 0.5": {"spread": 0.5}, "surer, 4": {"spread": 4.0}},
)
def random_models(seed: int, spread: float) -> Numbers:
    """Searches in tables of three states."""
    behind, empty = cells.search_models(150, seed, spread)
    found = {f"width {w}": share for w, share in zip(cells.widths, (behind < 1e-9).mean(axis=0))}
    return found | {
        "best is empty": empty.mean(),
        "wider ended worse": (np.diff(behind, axis=1) > 1e-9).any(axis=1).mean(),
    }


@unit.experiment(
    "share of strings of six digits copied; loss over the last 100 updates",
    settings={
        "teacher": {"reads": "true tokens, shifted"},
        "own guesses": {"reads": "own guesses"},
        "not shifted": {"reads": "true tokens, not shifted"},
        "own guesses, twice the updates": {"reads": "own guesses", "updates": 1200},
    },
)
def what_the_decoder_reads(seed: int, reads: str, updates: int = 600) -> Numbers:
    """Copy strings of one to six digits."""
    kinds = {
        "true tokens, shifted": cells.Seq2Seq,
        "own guesses": cells.OwnGuesses,
        "true tokens, not shifted": cells.targets_not_shifted,
    }
    _, losses, rights = cells.learn_to_copy(kinds[reads], 64, 6, updates, updates, seed)
    return {"copied": rights[-1], "loss": float(np.mean(losses[-100:]))}


@unit.experiment(
    "share of strings copied without a mistake, by their length",
    settings={
        "H = 32": {"hidden": 32},
        "H = 96": {"hidden": 96},
        "H = 32, four times the updates": {"hidden": 32, "updates": 3200},
    },
)
def size_of_the_summary(seed: int, hidden: int, updates: int = 800) -> Numbers:
    """Copy strings of one to eight digits."""
    model = cells.learn_to_copy(cells.Seq2Seq, hidden, 8, updates, updates, seed)[0]
    return {f"{length} digit{'s' if length > 1 else ''}": cells.copies(model, length) for length in range(1, 9)}


@unit.experiment(
    "shares of 500 captions of unseen digits",
    settings={"its own picture": {}, "another picture": {"shuffled": True}},
)
def captions(seed: int, shuffled: bool = False) -> Numbers:
    """Captions of handwritten digits; and of pictures that have nothing to do with them."""
    features, targets = cells.features, cells.targets
    if shuffled:
        features = features[torch.from_numpy(np.random.default_rng(seed).permutation(len(features)))]
    model: nn.Module = cells.learn_to_caption(features, targets, seed)
    said = [cells.describe(model, image) for image in cells.unseen_digits.images]
    return {
        "true": np.mean([a == b for a, b in zip(said, cells.true_captions, strict=True)]),
        "sentences": np.mean([words in cells.grammar for words in said]),
    }
