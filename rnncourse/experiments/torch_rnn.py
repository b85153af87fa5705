"""Unit 07: what it trains and measures. A tape beside PyTorch, padding, a writer of documentation, words, two bugs.

The functions take the student's own `Var`, `ScratchRNN`, `as_torch_rnn`, `CharRNN`, `train_epoch`, `pad_sequences` and
`last_states`, with the textbook's as defaults. Where something is trained on text, the opponent is Kneser and Ney's
n-gram (`rnncourse.experiments.opponents`), whose discounts are chosen on the text on which the network is stopped.
"""

import copy
import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from time import process_time
from typing import Any

import numpy as np
import torch
from jaxtyping import Bool, Float, Int
from torch import nn

from rnncourse import track
from rnncourse.bptt import rnn_backward
from rnncourse.cell import rnn_forward
from rnncourse.data import python_docs, train_and_held_out, word_vectors, words
from rnncourse.data.claims import claimed
from rnncourse.experiments.opponents import KneserNey
from rnncourse.language_model import build_vocabulary, contiguous_batches, encode, fit
from rnncourse.torch_rnn import CharRNN, ScratchRNN, Var, as_torch_rnn, last_states, pad_sequences, train_epoch

Numbers = dict[str, float]
Batches = list[tuple[torch.Tensor, torch.Tensor]]


# --- a tape: its gradients, and a cell that is trained on it


def latch_loss(X: Any, Y: Any, h: Any, U: Any, W: Any, b: Any, V: Any) -> Any:
    """Minus the sum of target times answer, over all steps of N sequences: the forward pass, and no more.

    X (T, N, D), Y (T, 1, N) minus the targets, h (N, H), V (H, 1), as arrays, as Vars or as tensors.
    """
    loss = 0.0
    for x, y in zip(X, Y, strict=True):
        h = (x @ U + h @ W + b).tanh()
        loss = (y @ (h @ V).tanh()).sum() + loss
    return loss


def latch_batch(
    rng: np.random.Generator, steps: int = 12, rows: int = 32
) -> tuple[Float[np.ndarray, "T N 2"], Float[np.ndarray, "T 1 N"]]:
    """Inputs: a *set* and a *reset*, each with a probability of 0.2. Targets: 1 if the last was a set, else -1."""
    u, target = rng.random((steps, rows)), -np.ones(rows)
    X, Y = np.stack([u < 0.2, u > 0.8], axis=-1).astype(float), np.empty((steps, 1, rows))
    for t in range(steps):
        target = np.where(X[t, :, 0] == 1, 1.0, np.where(X[t, :, 1] == 1, -1.0, target))
        Y[t, 0] = target
    return X, Y


def gradients_beside(
    loss: Callable[..., Any] = latch_loss, tape: Callable[..., Any] = Var, steps: int = 30, seed: int = 0
) -> dict[str, Numbers]:
    """The gradients of `loss` by a tape and by PyTorch: how far they are from `rnn_backward`, at the most.

    By name, dX to db, a share of the largest entry for each of the two.
    """
    rng, (N, D, H) = np.random.default_rng(seed), (4, 5, 8)
    X, Y = rng.normal(size=(steps, N, D)), rng.normal(size=(steps, 1, N))
    h0, U, W = rng.normal(size=(N, H)), rng.normal(size=(D, H)) / D**0.5, rng.normal(size=(H, H)) / H**0.5
    b, V = rng.normal(size=H), rng.normal(size=(H, 1))

    def found_by(kind: Callable[..., Any]) -> list[np.ndarray]:
        inputs, leaves = [kind(x) for x in X], [kind(a) for a in (h0, U, W, b)]
        loss(inputs, [kind(y) for y in Y], *leaves, kind(V)).backward()
        return [np.stack([np.asarray(x.grad) for x in inputs]), *(np.asarray(v.grad) for v in leaves)]

    states = rnn_forward(X, h0, U, W, b)
    dH = (Y.swapaxes(1, 2) * (1 - np.tanh(states @ V) ** 2)) @ V.T
    expected = rnn_backward(dH, X, h0, states, U, W)
    on_tape, in_torch = found_by(tape), found_by(lambda array: torch.tensor(array, requires_grad=True))
    return {
        name: {
            "your tape": float(np.abs(mine - right).max() / np.abs(right).max()),
            "PyTorch": float(np.abs(theirs - right).max() / np.abs(right).max()),
        }
        for name, right, mine, theirs in zip(("dX", "dh0", "dU", "dW", "db"), expected, on_tape, in_torch, strict=True)
    }


def trained_on_tape(
    loss: Callable[..., Any] = latch_loss,
    tape: Callable[..., Any] = Var,
    updates: int = 100,
    hidden: int = 8,
    memory: bool = True,
    seed: int = 0,
) -> tuple[list[np.ndarray], list[float]]:
    """Train a cell to be a latch, on sequences of 12 steps, with the gradients that a tape finds.

    Returned are U, W, b, V and, after each update, the share of right answers on its batch. Without `memory` W stays 0.
    """
    rng = np.random.default_rng(seed)
    arrays = [rng.normal(size=shape) / 3 for shape in ((2, hidden), (hidden, hidden), (hidden,), (hidden, 1))]
    arrays[1] *= memory
    rights = []
    for _ in track(range(updates), "a latch"):
        X, Y = latch_batch(rng)
        leaves = [tape(a) for a in arrays]
        loss(X, -Y, np.zeros((Y.shape[2], hidden)), *leaves).backward()
        arrays = [a - 0.004 * np.asarray(leaf.grad) for a, leaf in zip(arrays, leaves, strict=True)]
        arrays[1] = arrays[1] * memory
        rights.append(latch_right(arrays, X, Y))
    return arrays, rights


def latch_right(arrays: Sequence[np.ndarray], X: np.ndarray, Y: np.ndarray) -> float:
    """The share of steps at which the answer of U, W, b, V has the sign of the target."""
    U, W, b, V = arrays
    H = rnn_forward(X, np.zeros((Y.shape[2], len(W))), U, W, b)
    return float(np.mean(np.sign(H @ V).swapaxes(1, 2) == Y))


def latch_held(arrays: Sequence[np.ndarray], steps: int = 100) -> float:
    """The share of right answers on 200 new sequences of so many steps."""
    return latch_right(arrays, *latch_batch(np.random.default_rng(99), steps, 200))


# --- your layer beside nn.RNN


def beside_torch(scratch: Any = ScratchRNN, convert: Any = as_torch_rnn, steps: int = 50, seed: int = 1) -> Numbers:
    """Your layer and the `nn.RNN` that it becomes, in float64: the largest difference of states and of gradients."""
    torch.manual_seed(seed)
    mine = scratch(7, 16).double()
    theirs = convert(mine.U, mine.W, mine.b)
    x, h0 = torch.randn(steps, 3, 7, dtype=torch.float64), torch.randn(1, 3, 16, dtype=torch.float64)
    errors, found = torch.randn(steps, 3, 16, dtype=torch.float64), []
    for rnn in (mine, theirs):
        x_in = x.clone().requires_grad_()
        output, h_n = rnn(x_in, h0)
        (output * errors).sum().backward()
        found.append((output, h_n, x_in.grad))
    return {
        name: (a - b).abs().max().item() for name, a, b in zip(("output", "h_n", "gradient of x"), *found, strict=True)
    }


class OneProduct(nn.Module):
    """A `ScratchRNN` with one change: the inputs of all steps are multiplied by U before the loop."""

    def __init__(self, cell: Any) -> None:
        super().__init__()
        self.U, self.W, self.b = cell.U, cell.W, cell.b

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """x (T, N, D) -> output (T, N, H), h_n (1, N, H)."""
        h, states = x.new_zeros(x.shape[1], len(self.b)), []
        for from_input in x @ self.U + self.b:
            h = torch.tanh(from_input + h @ self.W)
            states.append(h)
        return torch.stack(states), h[None]


def times_beside(
    scratch: Any = ScratchRNN, sizes: Sequence[int] = (16, 64, 256), steps: int = 50
) -> dict[str, list[float]]:
    """The time of a forward and a backward pass, in units of what `nn.RNN` takes, for each size; the best of 15."""
    ratios: dict[str, list[float]] = {"as in 7.2": [], "one product": [], "nn.RNN": []}
    for size in sizes:
        x, cell = torch.randn(steps, 16, size), scratch(size, size)
        rnns, times = (cell, OneProduct(cell), nn.RNN(size, size)), []
        for _ in range(15):  # in turns
            for rnn in rnns:
                start = process_time()
                rnn(x)[0].sum().backward()
                times.append(process_time() - start)
        best = np.reshape(times, (-1, 3)).min(axis=0)
        for name, ratio in zip(ratios, best / best[-1], strict=True):
            ratios[name].append(float(ratio))
    return ratios


# --- padding

LETTERS = "_abcdefghijklmnopqrstuvwxyz"  # the id 0 is for the padding, and for the border of a word


@cache
def sample_of_words(count: int = 200) -> list[str]:
    """Words of Python's documentation, in small letters, drawn once."""
    known = sorted({w.lower() for w in words(python_docs(60_000)) if w.isalpha() and w.isascii()})
    return [known[i] for i in np.random.default_rng(4).choice(len(known), count, replace=False)]


def letters_of(some: Sequence[str]) -> list[torch.Tensor]:
    """The ids of each word's letters, in `LETTERS`."""
    index = build_vocabulary(LETTERS)[1]
    return [torch.tensor(encode(word, index)) for word in some]


def moved_by_padding(
    pad: Any = pad_sequences, last: Any = last_states, zeros: bool = False, scale: float = 1.0, seed: int = 5
) -> list[float]:
    """How far 0 to 12 steps of padding move the last state of an untrained `nn.RNN`.

    The unit is the mean distance between the last states of two words. zeros: the vector of the padding is all zeros;
    scale: what W is multiplied by.
    """
    torch.manual_seed(seed)
    embedding = nn.Embedding(len(LETTERS), 16, padding_idx=0 if zeros else None).double()
    rnn = nn.RNN(16, 64).double()
    padded, lengths = pad(letters_of(sample_of_words()))
    longer = torch.cat([padded, padded.new_zeros(12, padded.shape[1])])
    with torch.no_grad():
        rnn.get_parameter("weight_hh_l0").mul_(scale)
        H, _ = rnn(embedding(longer))
        true = last(H, lengths)
        apart = torch.pdist(true).mean().item()
        return [(last(H, lengths + k) - true).norm(dim=1).mean().item() / apart for k in range(13)]


def spelled(pad: Any = pad_sequences, count: int = 40) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Words to be spelled, in one batch: inputs (T, N), targets (T, N), lengths (N,). Each begins and ends with "_"."""
    ids = letters_of([f"_{word}_" for word in sample_of_words()[:count]])
    inputs, lengths = pad([one[:-1] for one in ids])
    return inputs, pad([one[1:] for one in ids])[0], lengths


def gradient_difference(model: nn.Module, one: torch.Tensor, other: torch.Tensor) -> float:
    """The largest difference between the gradients of two losses, over all parameters of a model."""
    parameters = [p for p in model.parameters() if p.requires_grad]
    pairs = zip(torch.autograd.grad(one, parameters), torch.autograd.grad(other, parameters), strict=True)
    return max((a - b).abs().max().item() for a, b in pairs)


# --- a writer of documentation

UNKNOWN = "\N{REPLACEMENT CHARACTER}"


@dataclass(frozen=True)
class Docs:
    """Python's documentation: characters to learn from in batches, to choose by and to be judged on, as ids."""

    chars: list[str]
    index: dict[str, int]
    train: np.ndarray
    validation: np.ndarray
    test: np.ndarray
    batches: Batches

    def ids_of(self, text: str) -> np.ndarray:
        """The ids of a text's characters, with that of UNKNOWN for each one that the training text has not."""
        return encode("".join(c if c in self.index else UNKNOWN for c in text), self.index)


@cache
def docs(characters: int = 60_000) -> Docs:
    """So many characters to learn from, 5,000 to choose by, and 10,000 to be judged on, of other topics."""
    text, unseen = train_and_held_out("python-docs", characters=characters)
    chars, index = build_vocabulary(text + UNKNOWN)
    nothing = np.zeros(0, dtype=int)
    read = Docs(chars, index, nothing, nothing, nothing, []).ids_of
    pairs = [(torch.tensor(x), torch.tensor(y)) for x, y in contiguous_batches(read(text), 16, 32)]
    return Docs(chars, index, read(text), read(unseen[10_000:15_000]), read(unseen[:10_000]), pairs)


@cache
def docs_counted(longest: int = 5) -> list[float]:
    """Bits per character of Kneser-Ney's n-grams on the test text, for n from 1 on."""
    text = docs()
    counts = KneserNey(text.train.tolist(), longest, len(text.chars), text.validation.tolist())
    shorter = [counts.shorter(n, text.validation.tolist()) for n in range(1, longest + 1)]
    return [one.bits(text.test.tolist()) for one in shorter]


def docs_bits(model: Any, memory: bool = True) -> float:
    """Bits per character of a model on the test text, read in one row; without memory each from a state of zeros."""
    ids = torch.tensor(docs().test)[:, None]
    with torch.no_grad():
        logits = model(ids[:-1])[0][:, 0] if memory else model(ids[:-1].T)[0][0]
    return nn.functional.cross_entropy(logits, ids[1:, 0]).item() / math.log(2)


def trained_writer(
    model: Any = CharRNN,
    epoch: Any = train_epoch,
    epochs: int = 3,
    hidden: int = 96,
    carried: bool = True,
    memory: bool = True,
    seed: int = 0,
) -> tuple[Any, dict[str, list[float]]]:
    """A character model of Python's documentation, and its bits per character, training and held out, by epoch.

    carried: whether the state goes on from batch to batch; without `memory` it starts from zeros at each character.
    """
    torch.manual_seed(seed)
    writer, batches = model(len(docs().chars), 24, hidden), docs().batches
    optimizer = torch.optim.Adam(writer.parameters(), lr=0.005)
    if not memory:
        batches = [(x.reshape(1, -1), y.reshape(1, -1)) for x, y in batches]  # many texts of one character
    bits: dict[str, list[float]] = {"training": [], "held out": []}
    for _ in track(range(epochs), "documentation"):
        parts = [batches] if carried else [[batch] for batch in batches]
        losses = [epoch(writer, part, optimizer, 1.0) for part in parts]
        bits["training"].append(float(np.mean(losses)) / math.log(2))
        bits["held out"].append(docs_bits(writer, memory))
    return writer, bits


def written(model: Any, prompt: str, length: int = 300, temperature: float = 0.5, seed: int = 7) -> str:
    """What a writer puts behind a prompt."""
    generator, text = torch.Generator().manual_seed(seed), docs()
    with torch.no_grad():
        logits, state = model(torch.tensor(text.ids_of(prompt))[:, None])
        ids: list[int] = []
        for _ in range(length):
            probabilities = torch.softmax(logits[-1, 0] / max(temperature, 1e-3), dim=-1)
            ids.append(int(torch.multinomial(probabilities, 1, generator=generator)))
            logits, state = model(torch.tensor([[ids[-1]]]), state)
    return prompt + "".join(text.chars[i] for i in ids)


# --- words, and vectors from elsewhere

KNOWN, RUN = 800, 12  # words of the list; the length of a run of words that two texts share
Given = tuple[np.ndarray, np.ndarray]  # what a model gives to each word of the validation text, and of the test text


@dataclass(frozen=True)
class Words:
    """Words of Python's documentation as ids, to learn from, to choose by and to be judged on; `counts` is on them.

    `new` says which words of the test text count: all but those in a run of `RUN` that stands in the others, too.
    """

    known: list[str]
    train: np.ndarray
    validation: np.ndarray
    test: np.ndarray
    new: Bool[np.ndarray, "L"]
    counts: KneserNey


def tokens(text: str) -> list[str]:
    """Words in small letters; of a row of the same mark, such as a line of stars, one is kept."""
    every = words(text.lower())
    return [one for one, before in zip(every, ["", *every], strict=False) if one != before or one.isalnum()]


def in_shared_runs(asked: Sequence[str], read: Sequence[str], run: int = RUN) -> Bool[np.ndarray, "L"]:
    """Which of the words asked stand in a run of so many that was also read.

    >>> in_shared_runs("a b c d".split(), "x b c y".split(), run=2).tolist()
    [False, True, True, False]
    """
    seen = {tuple(read[i : i + run]) for i in range(len(read) - run + 1)}
    shared = np.zeros(len(asked), dtype=bool)
    for i in range(len(asked) - run + 1):
        if tuple(asked[i : i + run]) in seen:
            shared[i : i + run] = True
    return shared


@cache
def some_words() -> Words:
    """15,000 words to learn from, 2,000 to choose by, and 5,000 of other topics to be judged on, of a list of 800."""
    text, unseen = (tokens(part) for part in train_and_held_out("python-docs"))
    known = ["<unk>", *(word for word, _ in Counter(text[:15_000]).most_common(KNOWN - 1))]
    train, validation, test = (word_ids(part, known) for part in (text[:15_000], text[15_000:17_000], unseen[:5_000]))
    new = ~in_shared_runs(unseen[:5_000], text[:17_000])
    new[0] = False  # nothing precedes it
    counts = KneserNey(train.tolist(), 4, KNOWN, validation.tolist())
    return Words(known, train, validation, test, new, counts)


def word_ids(some: Sequence[str], known: Sequence[str]) -> Int[np.ndarray, "L"]:
    """The ids of words, 0 for those that the list has not."""
    index = {word: i for i, word in enumerate(known)}
    return np.array([index.get(word, 0) for word in some])


def word_perplexity(probabilities: Float[np.ndarray, "L"]) -> float:
    """The perplexity of what was given to each word of the test text, over those that count."""
    return float(np.exp(-np.log(probabilities[some_words().new]).mean()))


def word_probabilities(model: Any, ids: np.ndarray) -> Float[np.ndarray, "L"]:
    """What a model gives to each word that came, read in one row; to the first, which nothing precedes, 1/Q."""
    text = torch.tensor(ids)[:, None]
    with torch.no_grad():
        p = model(text[:-1])[0][:, 0].softmax(dim=-1)
    return np.append(1 / KNOWN, p[torch.arange(len(ids) - 1), text[1:, 0]].double().numpy())


@cache
def words_counted() -> dict[int, float]:
    """The perplexities of Kneser-Ney's 1- to 4-grams on the test text."""
    text, asked = some_words(), some_words().validation.tolist()
    return {n: word_perplexity(text.counts.shorter(n, asked).probabilities(text.test.tolist())) for n in range(1, 5)}


@cache
def docstrings_counted() -> Given:
    """What a 4-gram of the docstrings, from which the table of vectors was made, gives to validation and test words."""
    from rnncourse.data.shipped.__main__ import docstrings

    text = some_words()
    read = word_ids([word for one in docstrings() for word in tokens(one)], text.known)
    counts = KneserNey(read.tolist(), 4, KNOWN, text.validation.tolist())
    return counts.probabilities(text.validation.tolist()), counts.probabilities(text.test.tolist())


def trained_words(
    start: str = "from the table",
    model: Any = CharRNN,
    epoch: Any = train_epoch,
    hidden: int = 64,
    max_epochs: int = 8,
    seed: int = 0,
) -> Any:
    """A model of words whose embedding starts as named: "trained here", "from the table" or "table shuffled".

    Where the table has a word of the list, its vector is copied. Training stops by the validation words, with a
    patience of 2, and the parameters of the best epoch are kept.
    """
    text, table = some_words(), word_vectors()
    torch.manual_seed(seed)
    network, kept = model(KNOWN, 32, hidden), []
    if start != "trained here":
        names = list(table.words)
        if start == "table shuffled":
            names = [names[i] for i in np.random.default_rng(seed).permutation(len(names))]
        place = {word: i for i, word in enumerate(names)}
        with torch.no_grad():
            for i, word in enumerate(text.known):
                if word in place:
                    network.embedding.weight[i] = torch.tensor(table.vectors[place[word]])
    optimizer = torch.optim.Adam(network.parameters(), lr=0.005)
    pairs = [(torch.tensor(x), torch.tensor(y)) for x, y in contiguous_batches(text.train, 16, 16)]

    def validate(_: int) -> float:
        kept.append(copy.deepcopy(network.state_dict()))
        return float(-np.log(word_probabilities(network, text.validation)[1:]).mean())

    _, best = fit(lambda _: epoch(network, pairs, optimizer, 1.0), validate, max_epochs, patience=2)
    network.load_state_dict(kept[best])
    return network


def mixed(one: Given, other: Given) -> tuple[float, Given]:
    """The mixture of two models that is best on the validation text: the share of the first one, and what it gives."""
    share = min(np.linspace(0, 1, 21), key=lambda s: -np.log(s * one[0] + (1 - s) * other[0])[1:].mean())
    validation, test = (share * p + (1 - share) * q for p, q in zip(one, other, strict=True))
    return float(share), (validation, test)


def words_judged(network: Any, docstrings: bool = False) -> Numbers:
    """The perplexity of a network on the test words, and in a mixture with Kneser-Ney's 4-gram, and its share there.

    docstrings: also that of the 4-gram in a mixture with another of the docstrings, and of all three.
    """
    text = some_words()
    ours = word_probabilities(network, text.validation), word_probabilities(network, text.test)
    counts = text.counts.probabilities(text.validation.tolist()), text.counts.probabilities(text.test.tolist())
    share, both = mixed(ours, counts)
    found = {"network": word_perplexity(ours[1]), "both": word_perplexity(both[1]), "share": share}
    if docstrings:
        _, more = mixed(counts, docstrings_counted())
        _, three = mixed(ours, more)
        found |= {"counts and docstrings": word_perplexity(more[1]), "all three": word_perplexity(three[1])}
    return found


def words_measured(number: str) -> dict[str, list[float]]:
    """Our seeds' perplexities by start: of the "network" alone, or of "both"."""
    return {start: numbers[number] for start, numbers in claimed("07_torch_rnn")["word_vectors"].values.items()}


# --- an interruption


def new_training(
    model: Any = CharRNN, kind: Any = torch.optim.Adam, rate: float = 0.005, seed: int = 1
) -> tuple[Any, Any]:
    """A character model of the documentation in float64, and its optimizer, the same at every call."""
    torch.manual_seed(seed)
    network = model(len(docs().chars), 16, 48).double()
    return network, kind(network.parameters(), lr=rate)


def before_the_break(network: Any, optimizer: Any, epoch: Any = train_epoch) -> None:
    """The first 80 batches."""
    epoch(network, docs().batches[:80], optimizer, 1.0)


def after_the_break(network: Any, optimizer: Any, epoch: Any = train_epoch) -> Float[np.ndarray, "12"]:
    """The next 36 batches, three at a time: the mean training loss of each three, in bits per character."""
    batches = docs().batches
    parts = [batches[k : k + 3] for k in range(80, 116, 3)]
    return np.array([epoch(network, part, optimizer, 1.0) for part in parts]) / math.log(2)


def resumed(kind: Any = torch.optim.Adam, rate: float = 0.005, seed: int = 1) -> Numbers:
    """The largest difference of a weight from the undisturbed training, after 36 batches, by what was saved."""
    network, optimizer = new_training(kind=kind, rate=rate, seed=seed)
    before_the_break(network, optimizer)
    weights, state = copy.deepcopy((network.state_dict(), optimizer.state_dict()))
    after_the_break(network, optimizer)
    found = {}
    for name in ("both dicts", "weights alone"):
        other, its_optimizer = new_training(kind=kind, rate=rate, seed=seed)
        other.load_state_dict(weights)
        if name == "both dicts":
            its_optimizer.load_state_dict(copy.deepcopy(state))
        after_the_break(other, its_optimizer)
        pairs = zip(network.parameters(), other.parameters(), strict=True)
        found[name] = max((p - q).abs().max().item() for p, q in pairs)
    return found


# --- bugs without a message

SPELLED = "state", "taste", "asset", "eases"  # four words of four different letters, each with its own first one
PROGRAMS = "right", "classes on the wrong axis", "no zero_grad"


def trained_with(
    program: str, model: Any = CharRNN, rate: float = 0.5, updates: int = 100, seed: int = 0
) -> tuple[list[float], float]:
    """Learn to spell `SPELLED` by one of `PROGRAMS`: the losses that it reports, and the share of right letters."""
    index = build_vocabulary("".join(SPELLED))[1]
    ids = torch.tensor(np.array([encode(word, index) for word in SPELLED]).T)  # (T + 1, N)
    read, wanted = ids[:-1], ids[1:]
    torch.manual_seed(seed)
    network = model(4, 4, 12)
    optimizer = torch.optim.SGD(network.parameters(), lr=rate)
    losses = []
    for _ in range(updates):
        logits, _ = network(read)
        if program == "classes on the wrong axis":
            loss = nn.functional.cross_entropy(logits, wanted)
        else:
            loss = nn.functional.cross_entropy(logits.flatten(0, 1), wanted.flatten())
        if program != "no zero_grad":
            optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses, (network(read)[0].argmax(dim=-1) == wanted).double().mean().item()
