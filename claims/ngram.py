"""What unit 01 claims about texts that are drawn: how much of them is copied. And what did not come as expected."""

from __future__ import annotations

from claims.experiment import Numbers, Unit
from rnngrade.cells import of

unit = Unit("01_ngram")
cells = of(unit.stem)

unit.expectation(
    "The longer the context of an n-gram, the better it predicts.",
    "no",
    "But the 6-gram, which sees most, is far worse than the unigram, which sees no context at all.",
)


@unit.experiment(
    "the share of runs of eight words that are in the training text",
    settings={"6-gram": {"n": 6}, "4-gram": {"n": 4}, "bigram": {"n": 2}},
)
def copying(seed: int, n: int) -> Numbers:
    return {"copied": cells.share_copied(n, seed)}


unit.claim(
    "learned_to_copy",
    copying,
    "A long n-gram has learned to copy. Of the runs of eight words that the 6-gram writes, more than 60% are in its "
    "training text, word for word; of the bigram's, less than 20%.",
    figure=("6-gram", "copied"),
    controls=[("4-gram", "copied"), ("bigram", "copied")],
    holds=lambda n: n["6-gram"]["copied"] > 0.6 and n["bigram"]["copied"] < 0.2,
)
