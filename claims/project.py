"""What unit 15 claims about training: that a state beats an n-gram on dates, that memory is why, and who wins then."""

from functools import cache

from claims.experiment import Numbers, Unit
from rnncourse.data import load_corpus
from rnncourse.data.corpora import Corpus
from rnncourse.experiments.project import bits_by_letter, trial

unit = Unit("15_project")


@cache
def corpus() -> Corpus:
    return load_corpus("dates", most=20_000)


@unit.experiment(
    "bits a letter on the test part, on a split of its own for each seed",
    settings={"with memory": {"network": "network"}, "without memory": {"network": "without memory"}},
)
def dates(seed: int, network: str) -> Numbers:
    one = trial(corpus(), seed, networks=(network,))
    found = {"network": one.bits[network], "n-gram": one.bits["n-gram"], "by language": one.bits["by language"]}
    for name, model in (("network", network), ("by language", "by language")):
        letters = bits_by_letter(one, model, most=20)
        found |= {f"{name}, first": letters[:4].mean(), f"{name}, late": letters[10:].mean()}
    return found


dates.claim(
    "network_wins",
    "With memory the network needs at least 0.3 bits a letter less than the n-gram, on dates of days that neither has "
    "met; without memory it needs more than the n-gram.",
    figure=("with memory", "network"),
    controls=[("with memory", "n-gram"), ("without memory", "network")],
    holds=lambda n: (
        n["with memory"]["network"] < n["with memory"]["n-gram"] - 0.3
        and n["without memory"]["network"] > n["without memory"]["n-gram"]
    ),
)

dates.claim(
    "counting_wins",
    "Letters counted for each language, put together by Bayes' rule, need fewer bits than the network.",
    figure=("with memory", "by language"),
    controls=[("with memory", "network"), ("with memory", "n-gram")],
    holds=lambda n: n["with memory"]["by language"] < n["with memory"]["network"],
)

dates.claim(
    "counting_first",
    "At the first four letters of a date the counts need fewer bits than the network.",
    figure=("with memory", "by language, first"),
    controls=[("with memory", "network, first"), ("without memory", "network, first")],
    holds=lambda n: n["with memory"]["by language, first"] < n["with memory"]["network, first"],
)

unit.expectation(
    "At the end of a date the network is ahead, since a state holds on to the word that decides.",
    "Who is ahead there hangs on a few dates, at which one of them was sure and wrong",
    "in part",
)
