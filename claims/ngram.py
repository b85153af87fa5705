"""What unit 01 claims about texts that are drawn and a network without a state; and what did not come as expected."""

from __future__ import annotations

from claims.experiment import Numbers, Unit
from rnngrade.cells import of

unit = Unit("01_ngram", seeds=5)
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


@unit.experiment(
    "an MLP's perplexity on the characters that it has learned from, above the bigram table's, as a part of it",
    settings={"pairs": {}, "mixed pairs": {"mixed": True}, "250 updates": {"updates": 250}},
)
def first_order(seed: int, updates: int = 4000, mixed: bool = False) -> Numbers:
    lowest = cells.perplexity_of(cells.table_of(cells.learned_from, 2), cells.learned_from)
    return {"above": cells.perplexity_of(cells.pair_network(seed, updates, mixed), cells.learned_from) / lowest - 1}


unit.claim(
    "no_state_is_a_bigram",
    first_order,
    "Trained on pairs drawn at random, an MLP that reads one character comes within 3% of the bigram table's "
    "perplexity on that text, and never below it.",
    figure=("pairs", "above"),
    controls=[("mixed pairs", "above"), ("250 updates", "above")],
    holds=lambda n: 0 <= n["pairs"]["above"] < 0.03 < n["mixed pairs"]["above"],
)
