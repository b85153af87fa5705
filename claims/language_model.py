"""Unit 06: two grammars, first names and real text, over seeds; when to stop; and what is written."""

import numpy as np

from claims.experiment import Numbers, Unit
from rnncourse.experiments.language_model import (
    above_the_lowest,
    bits_from_start,
    by_place,
    counted,
    learned_from,
    log2_of_network,
    mixture,
    name_maker,
    names_by_table,
    names_written,
    pages,
    possible,
    real_words,
    reber_network,
    sentences_written,
    short_run,
    students,
    whose,
    written_filtered,
)
from rnncourse.language_model import nucleus_filter

unit = Unit("06_language_model")


@unit.experiment(
    "bits per letter on names that were not read, each a sequence of its own",
    settings={"zeros": {"how": "zeros"}, "learned": {"how": "learned"}, "random": {"how": "random"}},
)
def start_state(seed: int, how: str) -> Numbers:
    return {"bits": bits_from_start(how, seed)}


@unit.experiment(
    "perplexity on Reber's grammar, above the lowest possible, as a part of it; the share of possible sentences",
    settings={"32 units": {"hidden": 32}, "2 units": {"hidden": 2}},
)
def grammar(seed: int, hidden: int) -> Numbers:
    p = reber_network(hidden, seed=seed)
    return {"above the lowest": above_the_lowest(p), "possible": possible(sentences_written(p, seed=seed))}


grammar.claim(
    "reber",
    "On Reber's grammar the network's perplexity comes within 5% of the lowest possible.",
    figure=("32 units", "above the lowest"),
    controls=[("2 units", "above the lowest")],
    holds=lambda n: n["32 units"]["above the lowest"] < 0.05 < n["2 units"]["above the lowest"],
)
grammar.claim(
    "reber_written",
    "More than 90% of the sentences that the network of Reber's grammar writes are sentences of this grammar.",
    figure=("32 units", "possible"),
    controls=[("2 units", "possible")],
    holds=lambda n: n["32 units"]["possible"] > 0.9 > n["2 units"]["possible"],
)


@unit.experiment(
    "probability of the least likely of the three right professions",
    settings={"1,500 updates": {"updates": 1500}, "300 updates": {"updates": 300}},
)
def professions(seed: int, updates: int) -> Numbers:
    return {"least sure": min(students(updates=updates, seed=seed)[0].values())}


professions.claim(
    "students",
    "The trained network names the right profession in all three, with a probability above 90% where the 5-gram is at "
    "one third.",
    figure=("1,500 updates", "least sure"),
    controls=[("300 updates", "least sure")],
    holds=lambda n: n["1,500 updates"]["least sure"] > 0.9 > n["300 updates"]["least sure"],
)


@unit.experiment(
    "bits per character on a validation text, at the best of every 200 updates and after 1,200; and that update",
    settings={"20,000 characters": {"characters": 20_000}, "300,000 characters": {"characters": 300_000}},
)
def heart(seed: int, characters: int) -> Numbers:
    watched = learned_from("python-source", 1200, hidden=64, characters=characters, seed=seed, watch=True).watched
    best = int(np.argmin(watched))
    return {"best": watched[best], "best update": 200 * (1 + best), "at the end": watched[-1]}


heart.claim(
    "by_heart",
    "On 20,000 characters the validation score is best within the first 600 of 1,200 updates, and worse at the end; on "
    "300,000 it is best after 800 or later.",
    figure=("20,000 characters", "at the end"),
    controls=[("300,000 characters", "at the end")],
    holds=lambda n: (
        n["20,000 characters"]["best update"] <= 600 < 800 <= n["300,000 characters"]["best update"]
        and n["20,000 characters"]["at the end"] > n["20,000 characters"]["best"] + 0.2
    ),
)


@unit.experiment(
    "bits per character on 500 names to choose by, after 300 updates",
    settings={
        "as shown": {},
        "rate 0.01": {"rate": 0.01},
        "rate 1": {"rate": 1.0},
        "start times 10": {"scale": 10.0},
        "72 units": {"hidden": 72},
    },
)
def choices(seed: int, rate: float = 0.1, scale: float = 1.0, hidden: int = 64) -> Numbers:
    return {"bits": short_run(rate, scale, hidden, seed)}


choices.claim(
    "rate_and_start",
    "Ten times too small or too large a rate, or a start ten times too large, costs 0.3 bits or more; eight units more "
    "change the score by less than 0.1.",
    figure=("as shown", "bits"),
    controls=[("rate 0.01", "bits"), ("rate 1", "bits"), ("start times 10", "bits"), ("72 units", "bits")],
    holds=lambda n: (
        min(n[name]["bits"] for name in ("rate 0.01", "rate 1", "start times 10")) > n["as shown"]["bits"] + 0.3
        and abs(n["72 units"]["bits"] - n["as shown"]["bits"]) < 0.1
    ),
)


@unit.experiment(
    "shares of the names of five letters or more that are written: learned, real but not read, and on no list",
    settings={"network": {"table": False}, "bigrams": {"table": True}},
)
def play(seed: int, table: bool) -> Numbers:
    if table:
        return whose(names_by_table(seed=seed))
    return whose(names_written(name_maker(seed=seed), 20_000, 1.0, seed))


play.claim(
    "own_names",
    "More than half of the names of five letters or more that the network writes stand on no list; and it hits upon "
    "real ones that it has not read more often than a table of bigrams does.",
    figure=("network", "unread"),
    controls=[("bigrams", "unread"), ("network", "new")],
    holds=lambda n: n["network"]["new"] > 0.5 and n["network"]["unread"] > n["bigrams"]["unread"],
)


@unit.experiment(
    "bits per character on held-out text, of the network, of tables, and of both; shares of real words among the "
    "longer ones that the network writes",
    settings={"python-source": {"name": "python-source"}, "python-docs": {"name": "python-docs"}},
)
def real_text(seed: int, name: str) -> Numbers:
    text, tables = learned_from(name, seed=seed), counted(name)
    share, both = mixture(text)
    indent = by_place(text)["spaces that begin a line"]
    prompt = "    def __init__(self"
    return {
        "network": float(-log2_of_network(text, text.test).mean()),
        "3-gram": tables.kneser_ney[2],
        "Kneser-Ney": tables.kneser_ney[-1],
        "counts and alpha": min(tables.additive),
        "both": both,
        "share": share,
        "indent, network": indent["network"],
        "indent, table": indent["table"],
        "cold": real_words(text, pages(text, 0.5, prompt)),
        "hot": real_words(text, pages(text, 1.2, prompt)),
        "unfiltered": real_words(text, written_filtered(text, lambda p: p)),
        "nucleus": real_words(text, written_filtered(text, lambda p: nucleus_filter(p, 0.9))),
    }


real_text.claim(
    "against_tables",
    "On both texts the network beats Kneser–Ney's 3-gram, and loses to Kneser–Ney's 6-gram by more than 0.3 bits.",
    figure=("python-source", "network"),
    controls=[("python-source", "Kneser-Ney"), ("python-source", "3-gram")],
    holds=lambda n: all(
        n[name]["Kneser-Ney"] + 0.3 < n[name]["network"] < n[name]["3-gram"]
        for name in ("python-source", "python-docs")
    ),
)
real_text.claim(
    "indentation",
    "In the spaces that begin a line of source code the network needs fewer bits than the table.",
    figure=("python-source", "indent, network"),
    controls=[("python-source", "indent, table")],
    holds=lambda n: n["python-source"]["indent, network"] < n["python-source"]["indent, table"],
)
real_text.claim(
    "both_together",
    "Mixed in with a share that validation chooses, the network takes less than a tenth of a bit off the score of the "
    "table.",
    figure=("python-source", "both"),
    controls=[("python-source", "Kneser-Ney"), ("python-docs", "both"), ("python-docs", "Kneser-Ney")],
    holds=lambda n: all(
        n[name]["Kneser-Ney"] - 0.1 < n[name]["both"] < n[name]["Kneser-Ney"]
        for name in ("python-source", "python-docs")
    ),
)
real_text.claim(
    "cold_and_hot",
    "At a temperature of 0.5 more of the longer words that the network writes are words of the library than at 1.2.",
    figure=("python-source", "cold"),
    controls=[("python-source", "hot")],
    holds=lambda n: n["python-source"]["cold"] > n["python-source"]["hot"],
)
real_text.claim(
    "tail_cut_off",
    "At temperature 1, more of the longer words that the network of the source code writes are real ones with a "
    "nucleus of 0.9 than without a filter.",
    figure=("python-source", "nucleus"),
    controls=[("python-source", "unfiltered")],
    holds=lambda n: n["python-source"]["nucleus"] > n["python-source"]["unfiltered"],
)

unit.expectation(
    "A trained recurrent network predicts real text better than any table of counts.",
    "On both texts counting wins, and clearly.",
)

unit.expectation(
    "A learned first state helps where sequences are short and many.",
    "a learned one cannot be told from zeros",
)
