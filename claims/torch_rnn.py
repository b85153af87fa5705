"""What unit 07 claims about training in PyTorch: what is learned, what padding does, what goes on after a break."""

from __future__ import annotations

import copy
import math

import numpy as np
import torch
from torch import nn

from claims.experiment import Numbers, Unit
from rnncourse.data import python_docs, words
from rnncourse.language_model import build_vocabulary, encode
from rnngrade.author.cells import of

unit = Unit("07_torch_rnn", seeds=5)
cells = of(unit.stem)
torch.set_num_threads(1)

unit.expectation(
    "PyTorch's compiled loop is many times faster than a loop in Python.",
    "no",
    "on a CPU that buys little, far from a factor of ten at any of these sizes.",
)


@unit.experiment(
    "letters of ello that are right after 60 updates",
    settings={
        "as shown": {},
        "no state": {"state": False},
        "rate 0.01": {"rate": 0.01},
        "rate 0.1": {"rate": 0.1},
    },
    seeds=10,
)
def hello(seed: int, rate: float = 0.03, state: bool = True) -> Numbers:
    _, index = build_vocabulary("hello")
    ids = torch.tensor(encode("hello", index))[:, None]
    inputs, targets = (ids[:-1], ids[1:]) if state else (ids[:-1].T, ids[1:].T)  # four texts of one letter
    torch.manual_seed(seed)
    model = cells.CharRNN(len(index), 4, 8)
    optimizer = torch.optim.Adam(model.parameters(), lr=rate)
    for _ in range(60):
        cells.train_epoch(model, [(inputs, targets)], optimizer, math.inf)
    return {"right": float((model(inputs)[0].argmax(dim=-1) == targets).sum())}


unit.claim(
    "torch_spells_hello",
    hello,
    "After 60 updates the network reads *hell* and says *ello*.",
    figure=("as shown", "right"),
    controls=[("no state", "right"), ("rate 0.01", "right"), ("rate 0.1", "right")],
    holds=lambda n: n["as shown"]["right"] == 4 > n["no state"]["right"],
)


@unit.experiment(
    "how far padding moves the last state, as a share of the distance between two words",
    settings={
        "as shown": {},
        "zeros for the padding": {"padding": 0},
        "W half as large": {"scale": 0.5},
        "W twice as large": {"scale": 2.0},
    },
)
def padding(seed: int, padding: int | None = None, scale: float = 1.0) -> Numbers:
    torch.manual_seed(seed)
    embedding, rnn = nn.Embedding(len(cells.alphabet), 16, padding_idx=padding).double(), nn.RNN(16, 64).double()
    with torch.no_grad():
        rnn.get_parameter("weight_hh_l0").mul_(scale)
    moved = cells.moved_by_padding(embedding, rnn)
    return {"from two steps on": min(moved[2:]), "one step": moved[1]}


unit.claim(
    "padding_moves_the_state",
    padding,
    "After two steps of padding, the state is at least half as far from the true last state as two *different* words "
    "are from each other, and it stays so.",
    figure=("as shown", "from two steps on"),
    controls=[
        ("zeros for the padding", "from two steps on"),
        ("W half as large", "from two steps on"),
        ("W twice as large", "from two steps on"),
    ],
    holds=lambda n: n["as shown"]["from two steps on"] > 0.5,
)


@unit.experiment(
    "bits per character on held-out text",
    settings={
        "as shown": {},
        "no memory": {"memory": "none"},
        "state not carried": {"memory": "a batch"},
        "one epoch": {"epochs": 1},
        "rate 0.001": {"rate": 0.001},
        "rate 0.02": {"rate": 0.02},
        "xavier_uniform_": {"start": "xavier"},
        "a tenth": {"start": "tenth"},
        "size 1": {"start": "one"},
    },
)
def writer(seed: int, epochs: int = 3, rate: float = 0.005, memory: str = "all", start: str = "") -> Numbers:
    torch.manual_seed(seed)
    model = cells.CharRNN(len(cells.chars), 24, 96)
    for parameter in model.rnn.parameters():
        if parameter.dim() == 2 and start == "xavier":
            nn.init.xavier_uniform_(parameter)
        elif parameter.dim() == 2 and start:
            parameter.data = torch.randn_like(parameter) if start == "one" else parameter.data / 10
    optimizer = torch.optim.Adam(model.parameters(), lr=rate)
    batches = cells.batches
    if memory == "none":
        batches = [(x.reshape(1, -1), y.reshape(1, -1)) for x, y in batches]  # many texts of one character
    for _ in range(epochs):
        for part in [batches] if memory == "all" else [[batch] for batch in batches]:
            cells.train_epoch(model, part, optimizer, 1.0)
    if memory == "none":
        ids = cells.unseen_ids
        with torch.no_grad():
            loss = nn.functional.cross_entropy(model(ids[:-1].T)[0][0], ids[1:, 0]).item()
        return {"bits": loss / math.log(2), "less than bigrams": cells.bits_of_bigrams() - loss / math.log(2)}
    return {"bits": cells.bits(model), "less than bigrams": cells.bits_of_bigrams() - cells.bits(model)}


unit.claim(
    "better_than_bigrams",
    writer,
    "After three epochs over 60,000 characters, the model predicts text that it has *not* seen with at least half a "
    "bit per character less than the bigram table of the same training text.",
    figure=("as shown", "less than bigrams"),
    controls=[
        ("no memory", "less than bigrams"),
        ("state not carried", "less than bigrams"),
        ("one epoch", "less than bigrams"),
        ("rate 0.001", "less than bigrams"),
        ("size 1", "less than bigrams"),
    ],
    holds=lambda n: n["as shown"]["less than bigrams"] > 0.5 > n["no memory"]["less than bigrams"],
)


@unit.experiment(
    "loss per letter (nats) on words that were not read in training, each spelled from its first letter",
    settings={"zeros": {"how": "zeros"}, "learned": {"how": "learned"}, "random": {"how": "random"}},
)
def first_state(seed: int, how: str, hidden: int = 48, updates: int = 400) -> Numbers:
    vocabulary = sorted({w.lower() for w in words(python_docs(200_000)) if w.isalpha() and w.isascii() and len(w) > 1})
    rng = np.random.default_rng(seed)
    order = [vocabulary[i] for i in rng.permutation(len(vocabulary))]
    unread, known = order[:400], order[400:]
    alphabet, letter = build_vocabulary("_abcdefghijklmnopqrstuvwxyz")
    torch.manual_seed(seed)
    model = cells.CharRNN(len(alphabet), 16, hidden)
    h0 = nn.Parameter(torch.zeros(1, 1, hidden))
    parameters = [*model.parameters(), h0]
    optimizer = torch.optim.Adam(parameters, lr=0.01)

    def losses(chosen: list[str]) -> tuple[torch.Tensor, torch.Tensor]:
        """The mean loss of all letters, and that of the first guess."""
        ids, lengths = cells.pad_sequences([torch.tensor(encode(f"{w}_", letter)) for w in chosen])
        state = torch.randn(1, len(chosen), hidden) if how == "random" else h0.repeat(1, len(chosen), 1)
        logits, _ = model(ids[:-1], state)
        mask = cells.length_mask(lengths - 1, len(ids) - 1)
        return cells.masked_cross_entropy(logits, ids[1:], mask), nn.functional.cross_entropy(logits[0], ids[1])

    for _ in range(updates):
        loss, _ = losses([known[i] for i in rng.integers(0, len(known), 32)])
        optimizer.zero_grad()
        loss.backward()
        if how != "learned":
            h0.grad = None
        nn.utils.clip_grad_norm_(parameters, 1.0)
        optimizer.step()
    with torch.no_grad():
        loss, first = losses(unread)
    return {"loss": loss.item(), "first guess": first.item()}


@unit.experiment(
    "perplexity on 5,000 words of Python's documentation that were held out",
    settings={
        "from the table": {"start": "from the table"},
        "trained here": {"start": "trained here"},
        "random": {"start": "random"},
        "table shuffled": {"start": "shuffled"},
        "n-grams": {"start": "n-grams"},
    },
)
def word_vectors(seed: int, start: str) -> Numbers:
    if start == "n-grams":
        return {"perplexity": min(cells.word_ngrams())}
    if start != "shuffled":
        return {"perplexity": cells.word_model(start, seed)}
    table = cells.table
    order = np.random.default_rng(seed).permutation(len(table.words))
    cells.table.words[:], kept = [table.words[i] for i in order], list(table.words)
    try:
        return {"perplexity": cells.word_model("from the table", seed)}
    finally:
        cells.table.words[:] = kept


unit.claim(
    "from_the_table",
    word_vectors,
    "Started from the table the network has a lower perplexity than with vectors trained here, these are better than "
    "random ones left alone, and from the table it beats the best n-gram.",
    figure=("from the table", "perplexity"),
    controls=[
        ("trained here", "perplexity"),
        ("random", "perplexity"),
        ("table shuffled", "perplexity"),
        ("n-grams", "perplexity"),
    ],
    holds=lambda n: (
        n["from the table"]["perplexity"] < n["trained here"]["perplexity"] < n["random"]["perplexity"]
        and n["from the table"]["perplexity"] < n["n-grams"]["perplexity"]
        and n["from the table"]["perplexity"] < n["table shuffled"]["perplexity"]
    ),
)


@unit.experiment(
    "largest difference of a weight from the undisturbed training",
    settings={"Adam": {"kind": torch.optim.Adam, "rate": 0.005}, "SGD": {"kind": torch.optim.SGD, "rate": 0.5}},
)
def resumed(seed: int, kind: type, rate: float) -> Numbers:
    model, optimizer = cells.fresh(seed, kind, rate)
    cells.train_epoch(model, cells.first, optimizer, 1.0)
    saved = copy.deepcopy((model.state_dict(), optimizer.state_dict()))
    cells.losses_of(model, optimizer)
    numbers = {}
    for name, dicts in (("both dicts", 2), ("weights alone", 1)):
        other, its_optimizer = cells.fresh(seed, kind, rate)
        other.load_state_dict(saved[0])
        if dicts == 2:
            its_optimizer.load_state_dict(saved[1])
        cells.losses_of(other, its_optimizer)
        pairs = zip(model.parameters(), other.parameters(), strict=True)
        numbers[name] = max((p - q).abs().max().item() for p, q in pairs)
    return numbers


unit.claim(
    "goes_on_as_if_nothing_had_happened",
    resumed,
    "With both dicts the resumed training is the undisturbed one, number for number. With the weights alone it is not.",
    figure=("Adam", "both dicts"),
    controls=[("Adam", "weights alone"), ("SGD", "weights alone")],
    holds=lambda n: n["Adam"]["both dicts"] < 1e-9 < 0.001 < n["Adam"]["weights alone"],
)

WRONG_AXIS, NO_ZERO_GRAD = "classes on the\nwrong axis", "no zero_grad"


@unit.experiment(
    "the lowest reported loss as a share of the first, and the share of letters that are right after 100 updates",
    settings={"rate 0.5": {"rate": 0.5}, "rate 0.1": {"rate": 0.1}, "rate 1": {"rate": 1.0}},
)
def bugs(seed: int, rate: float) -> Numbers:
    numbers: Numbers = {}
    for bug, name in (("right", "all right"), (WRONG_AXIS, "wrong axis"), (NO_ZERO_GRAD, "without zero_grad")):
        losses, right = cells.run(bug, seed, rate)
        numbers |= {f"loss, {name}": min(losses) / losses[0], f"right {name}" if bug != "right" else name: right}
    return numbers


unit.claim(
    "three_programs",
    bugs,
    "With the right program, and with either bug, the reported loss falls below a third of what it was at first. Only "
    "the right one learns to spell.",
    figure=("rate 0.5", "right wrong axis"),
    controls=[
        ("rate 0.5", "all right"),
        ("rate 0.5", "right without zero_grad"),
        ("rate 0.1", "right without zero_grad"),
        ("rate 1", "right without zero_grad"),
    ],
    holds=lambda n: (
        max(n["rate 0.5"][f"loss, {name}"] for name in ("all right", "wrong axis", "without zero_grad")) < 1 / 3
        and n["rate 0.5"]["all right"] == 1
        and max(n["rate 0.5"]["right wrong axis"], n["rate 0.5"]["right without zero_grad"]) < 0.9
    ),
)
