"""What unit 01 claims about texts that are drawn and a network without a state; and what did not come as expected."""

from claims.experiment import Numbers, Unit
from rnncourse.experiments.ngram import pair_network, perplexity_of, share_copied, table_perplexity

unit = Unit("01_ngram")

unit.expectation(
    "The longer the context of an n-gram, the better it predicts.",
    "up to n = 4. Beyond that it brings next to nothing.",
    "in part",
)


@unit.experiment(
    "the share of runs of eight words that are in the training text",
    settings={"6-gram": {"n": 6}, "4-gram": {"n": 4}, "bigram": {"n": 2}},
)
def copying(seed: int, n: int) -> Numbers:
    return {"copied": share_copied(n, seed)}


copying.claim(
    "learned_to_copy",
    "Of the runs of eight words that the 6-gram writes, more than 60% are in its training text, word for word; of the "
    "bigram's, less than 20%.",
    figure=("6-gram", "copied"),
    controls=[("4-gram", "copied"), ("bigram", "copied")],
    holds=lambda n: n["6-gram"]["copied"] > 0.6 and n["bigram"]["copied"] < 0.2,
)


@unit.experiment(
    "an MLP's perplexity on the characters that it has learned from, above the bigram table's, as a part of it",
    settings={"pairs": {}, "mixed pairs": {"mixed": True}},
)
def first_order(seed: int, mixed: bool = False) -> Numbers:
    return {"above": perplexity_of(pair_network(seed, mixed=mixed)) / table_perplexity(2) - 1}


first_order.claim(
    "no_state_is_a_bigram",
    "Trained on pairs drawn at random, an MLP that reads one character comes within 5% of the bigram table's "
    "perplexity on that text, and never below it.",
    figure=("pairs", "above"),
    controls=[("mixed pairs", "above")],
    holds=lambda n: 0 <= n["pairs"]["above"] < 0.05 < n["mixed pairs"]["above"],
)
