"""What unit 07 claims about training in PyTorch: what is learned, what padding does, what goes on after a break."""

import torch

from claims.experiment import Numbers, Unit
from rnncourse.experiments.torch_rnn import (
    PROGRAMS,
    docs_counted,
    latch_held,
    moved_by_padding,
    resumed,
    trained_on_tape,
    trained_with,
    trained_words,
    trained_writer,
    words_counted,
    words_judged,
)

unit = Unit("07_torch_rnn")


@unit.experiment(
    "share of right answers at the 100 steps of new sequences, after 100 updates on sequences of 12 steps",
    settings={
        "as shown": {},
        "W is 0": {"memory": False},
        "two units": {"hidden": 2},
        "ten updates": {"updates": 10},
    },
)
def latch(seed: int, hidden: int = 8, updates: int = 100, memory: bool = True) -> Numbers:
    arrays, rights = trained_on_tape(updates=updates, hidden=hidden, memory=memory, seed=seed)
    first = next((k for k, right in enumerate(rights, 1) if right == 1), updates + 1)
    return {"right": latch_held(arrays), "first without a mistake": first}


@unit.experiment(
    "how far padding moves the last state, as a share of the distance between two words",
    settings={
        "as shown": {},
        "zeros for the padding": {"zeros": True},
        "W half as large": {"scale": 0.5},
        "W twice as large": {"scale": 2.0},
    },
)
def padding(seed: int, zeros: bool = False, scale: float = 1.0) -> Numbers:
    moved = moved_by_padding(zeros=zeros, scale=scale, seed=seed)
    return {"from two steps on": min(moved[2:]), "one step": moved[1]}


@unit.experiment(
    "bits per character on held-out text, and of Kneser-Ney's n-grams",
    settings={"as shown": {}, "no memory": {"memory": False}},
)
def writer(seed: int, memory: bool = True) -> Numbers:
    _, bits = trained_writer(memory=memory, seed=seed)
    return {"bits": bits["held out"][-1]} | {f"{n}-gram": b for n, b in enumerate(docs_counted(), 1)}


@unit.experiment(
    "perplexity on words that were held out: of a network, of Kneser-Ney's 4-gram, of mixtures with it",
    settings={start: {"start": start} for start in ("from the table", "trained here", "table shuffled")},
)
def word_vectors(seed: int, start: str) -> Numbers:
    network = trained_words(start, seed=seed)
    return words_judged(network, docstrings=start == "from the table") | {"4-gram": words_counted()[4]}


@unit.experiment(
    "largest difference of a weight from the undisturbed training",
    settings={"Adam": {"kind": torch.optim.Adam, "rate": 0.005}, "SGD": {"kind": torch.optim.SGD, "rate": 0.5}},
)
def interrupted(seed: int, kind: type, rate: float) -> Numbers:
    return resumed(kind, rate, seed)


@unit.experiment(
    "the lowest reported loss as a share of the first, the highest after 20 updates, and the share of right letters",
    settings={"rate 0.5": {"rate": 0.5}, "rate 0.1": {"rate": 0.1}},
)
def bugs(seed: int, rate: float) -> Numbers:
    numbers: Numbers = {}
    for program in PROGRAMS:
        losses, right = trained_with(program, rate=rate, seed=seed)
        numbers |= {f"lowest, {program}": min(losses) / losses[0], f"highest, {program}": max(losses[20:]) / losses[0]}
        numbers |= {f"right, {program}": right}
    return numbers


latch.claim(
    "tape_learns",
    "Trained on your tape with sequences of 12 steps, the cell is right at more than 99 in 100 steps of sequences that "
    "are 100 steps long.",
    figure=("as shown", "right"),
    controls=[("W is 0", "right"), ("two units", "right"), ("ten updates", "right")],
    holds=lambda n: n["as shown"]["right"] > 0.99 > 0.9 > n["W is 0"]["right"],
)
padding.claim(
    "padding_moves_the_state",
    "After two steps of padding the state is at least half as far from the true last state as two *different* words "
    "are from each other, and it stays so.",
    figure=("as shown", "from two steps on"),
    controls=[
        ("zeros for the padding", "from two steps on"),
        ("W half as large", "from two steps on"),
        ("W twice as large", "from two steps on"),
    ],
    holds=lambda n: n["as shown"]["from two steps on"] > 0.5,
)
writer.claim(
    "between_the_tables",
    "After three epochs over 60,000 characters, the network beats Kneser–Ney's 2-gram by more than half a bit per "
    "character, and loses to Kneser–Ney's 4-gram by more than 0.3 bits.",
    figure=("as shown", "bits"),
    controls=[("as shown", "2-gram"), ("as shown", "4-gram"), ("no memory", "bits")],
    holds=lambda n: (
        n["as shown"]["4-gram"] + 0.3 < n["as shown"]["bits"] < n["as shown"]["2-gram"] - 0.5 < n["no memory"]["bits"]
    ),
)
word_vectors.claim(
    "counting_wins",
    "Kneser–Ney's 4-gram has a lower perplexity than the network, wherever its vectors come from.",
    figure=("from the table", "4-gram"),
    controls=[("from the table", "network"), ("trained here", "network")],
    holds=lambda n: n["from the table"]["4-gram"] < min(one["network"] for one in n.values()),
)
word_vectors.claim(
    "from_the_table",
    "Started from the table the network has a lower perplexity than with vectors trained here, and than from a table "
    "whose vectors are shuffled among the words.",
    figure=("from the table", "network"),
    controls=[("trained here", "network"), ("table shuffled", "network")],
    holds=lambda n: (
        n["from the table"]["network"] < min(n[start]["network"] for start in ("trained here", "table shuffled"))
    ),
)
word_vectors.claim(
    "both_together",
    "Mixed with the 4-gram, in a share that validation chooses, the network from the table takes more than 5% off the "
    "4-gram's perplexity.",
    figure=("from the table", "both"),
    controls=[("from the table", "4-gram"), ("trained here", "both"), ("from the table", "counts and docstrings")],
    holds=lambda n: n["from the table"]["both"] < 0.95 * n["from the table"]["4-gram"],
)
interrupted.claim(
    "goes_on_as_if_nothing_had_happened",
    "With both dicts the resumed training is the undisturbed one, number for number. With the weights alone it is not.",
    figure=("Adam", "both dicts"),
    controls=[("Adam", "weights alone"), ("SGD", "weights alone")],
    holds=lambda n: n["Adam"]["both dicts"] < 1e-9 < 0.001 < n["Adam"]["weights alone"],
)
bugs.claim(
    "three_programs",
    "With the right program, and with either bug, the reported loss falls below a third of what it was at first. Only "
    "the right one learns to spell.",
    figure=("rate 0.5", "right, classes on the wrong axis"),
    controls=[
        ("rate 0.5", "right, right"),
        ("rate 0.5", "right, no zero_grad"),
        ("rate 0.1", "right, no zero_grad"),
    ],
    holds=lambda n: (
        max(n["rate 0.5"][f"lowest, {program}"] for program in PROGRAMS) < 1 / 3
        and n["rate 0.5"]["right, right"] == 1
        and max(n["rate 0.5"][f"right, {program}"] for program in PROGRAMS[1:]) < 0.9
    ),
)

unit.expectation(
    "PyTorch's compiled loop is many times faster than a loop in Python.",
    "on a CPU that buys little, far from a factor of ten at any of these sizes.",
)
unit.expectation(
    "A network that knows which words are alike predicts words better than a table of counts.",
    "alone, counting wins.",
)
