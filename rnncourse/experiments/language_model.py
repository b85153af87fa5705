"""What unit 06 trains and measures: two grammars, first names, and Python's source and documentation.

The functions take the student's own `batches` (`contiguous_batches`), `step` (`train_step`), `score`
(`bits_per_character`), `fit` and `write` (`generate`), with the textbook's as defaults. All networks are trained by
`train`: Adagrad at a rate of 0.1, whose memory starts at 0.1, gradients clipped to a norm of 5, W orthogonal at first.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np
from jaxtyping import Float

from rnncourse import track
from rnncourse.bptt import nll_backward, output_backward, rnn_backward, sequence_nll
from rnncourse.cell import output_layer, rnn_forward, softmax
from rnncourse.data import FirstNames, Grammar, first_names, study_grammar, train_and_held_out, words
from rnncourse.experiments.opponents import KneserNey
from rnncourse.gradient_flow import clip_by_global_norm, orthogonal
from rnncourse.language_model import (
    bits_per_character,
    build_vocabulary,
    contiguous_batches,
    decode,
    encode,
    fit,
    generate,
    train_step,
)
from rnncourse.ngram import count_ngrams, sample_index

Parameters = dict[str, np.ndarray]
LONGEST = 6  # of the n-grams
ALPHAS = (1, 0.3, 0.1, 0.03, 0.01, 0.003, 0.001)


def start_parameters(Q: int, hidden: int, seed: int, scale: float = 1.0) -> Parameters:
    """U (Q, H), V (H, Q), b (H,), c (Q,), even in ± 1/sqrt(hidden), W (H, H) orthogonal, all times scale, float32."""
    rng, bound = np.random.default_rng(seed), 1 / np.sqrt(hidden)
    shapes = {"U": (Q, hidden), "W": (hidden, hidden), "b": (hidden,), "V": (hidden, Q), "c": (Q,)}
    drawn = {name: rng.uniform(-bound, bound, shape) for name, shape in shapes.items()} | {"W": orthogonal(rng, hidden)}
    return {name: (scale * p).astype(np.float32) for name, p in drawn.items()}


def train(
    ids: np.ndarray,
    Q: int,
    hidden: int,
    updates: int,
    *,
    batch_size: int = 16,
    steps: int = 32,
    rate: float = 0.1,
    scale: float = 1.0,
    seed: int = 0,
    label: str = "training",
    watch: Callable[[int, Parameters], object] | None = None,
    every: int = 200,
    batches: Any = contiguous_batches,
    step: Any = train_step,
) -> tuple[Parameters, Float[np.ndarray, "updates"]]:
    """Train a new network on ids (L,), from the beginning again when the text is at its end.

    Returned are its parameters and the loss of each update, in nats per character. After each `every` updates `watch`
    is shown how many there were, and the parameters.
    """
    parameters = start_parameters(Q, hidden, seed, scale)
    memory = {name: np.full_like(p, 0.1) for name, p in parameters.items()}
    losses: list[float] = []
    reader: Any = iter(())
    for update in track(range(1, updates + 1), label):
        batch: Any = next(reader, None)
        if batch is None:
            reader, h = iter(batches(ids, batch_size, steps)), np.zeros((batch_size, hidden), dtype=np.float32)
            batch = next(reader)
        loss, h = step(parameters, memory, h, *batch, rate, 5.0)
        losses.append(loss / steps)
        if watch is not None and update % every == 0:
            watch(update, parameters)
    return parameters, np.array(losses)


# --- two grammars whose optimum is known


def reber_grammar() -> Grammar:
    """The grammar by which Arthur Reber tried, in 1967, what people learn without knowing it; each choice is even."""
    half = 0.5
    return Grammar(
        "begin",
        {
            "begin": [(1.0, "B", 0)],
            0: [(half, "T", 1), (half, "P", 2)],
            1: [(half, "S", 1), (half, "X", 3)],
            2: [(half, "T", 2), (half, "V", 4)],
            3: [(half, "X", 2), (half, "S", "end")],
            4: [(half, "P", 3), (half, "V", "end")],
            "end": [(1.0, "E", None)],
        },
    )


def stream(grammar: Grammar, sentences: int, seed: int) -> np.ndarray:
    """Ids of the tokens of so many sentences of a grammar, one after the other."""
    rng, place = np.random.default_rng(seed), {token: i for i, token in enumerate(grammar.vocabulary)}
    return np.array([place[token] for _ in range(sentences) for token in grammar.sample(rng)])


def reber_network(hidden: int = 32, updates: int = 800, seed: int = 0, **mine: Any) -> Parameters:
    """Train on 3,000 sentences of Reber's grammar, one after the other."""
    grammar = reber_grammar()
    ids = stream(grammar, 3000, seed=1)
    return train(ids, len(grammar.vocabulary), hidden, updates, seed=seed, label="Reber's grammar", **mine)[0]


def above_the_lowest(p: Parameters, score: Any = bits_per_character) -> float:
    """How far its perplexity on a stream of the grammar is above the lowest possible, as a part of that."""
    grammar = reber_grammar()
    return float(2 ** score(p, stream(grammar, 1000, seed=2)) / grammar.perplexity() - 1)


def sentences_written(p: Parameters, length: int = 3000, seed: int = 0, write: Any = generate) -> list[list[str]]:
    """The whole sentences among so many tokens that a network of `reber_network` writes after an E."""
    tokens = reber_grammar().vocabulary
    ids = write(p, [tokens.index("E")], length, np.random.default_rng(seed).random(length))
    text = " ".join(tokens[i] for i in ids)
    return [[*sentence.split(), "E"] for sentence in text.split("E")[:-1]]


def possible(sentences: Sequence[Sequence[str]]) -> float:
    """The share of sentences that Reber's grammar could have said."""

    def is_possible(sentence: Sequence[str]) -> bool:
        try:
            return reber_grammar().next_tokens(sentence) == {}
        except ValueError:
            return False

    return float(np.mean([is_possible(sentence) for sentence in sentences]))


def students(
    hidden: int = 128, updates: int = 1500, seed: int = 0, step: Any = train_step
) -> tuple[dict[str, float], Float[np.ndarray, "updates"]]:
    """Train on the three sentences of `study_grammar`, the rows of one batch, each from a state of zeros.

    Returned is the probability of the right profession by what is studied, after "to work as a", and the perplexity at
    each update.
    """
    grammar = study_grammar()
    sentences = [sentence for sentence, _ in grammar.sentences()]
    ids = np.array([[grammar.vocabulary.index(word) for word in sentence] for sentence in sentences]).T  # (14, 3)
    p, start = start_parameters(len(grammar.vocabulary), hidden, seed), np.zeros((3, hidden), dtype=np.float32)
    memory = {name: np.full_like(array, 0.1) for name, array in p.items()}
    losses = [
        step(p, memory, start, ids[:-1], ids[1:], 0.05, 5.0)[0] / 13 for _ in track(range(updates), "three students")
    ]
    H = rnn_forward(np.eye(len(p["U"]))[ids[:-1]], start, p["U"], p["W"], p["b"])
    y = softmax(output_layer(H, p["V"], p["c"]))[-1]
    return {sentence[3]: float(y[n, ids[-1, n]]) for n, sentence in enumerate(sentences)}, np.exp(losses)


# --- first names: rate, start and seed; and names that nobody bears


@cache
def names() -> tuple[FirstNames, list[str], dict[str, int], dict[str, np.ndarray]]:
    """First names in three parts, their characters, index, and the ids of each part, one name to a line."""
    parts = first_names()
    chars, index = build_vocabulary("\n".join(parts.train))
    return parts, chars, index, {k: encode("\n" + "\n".join(v) + "\n", index) for k, v in parts._asdict().items()}


def short_run(
    rate: float = 0.1,
    scale: float = 1.0,
    hidden: int = 64,
    seed: int = 0,
    updates: int = 300,
    score: Any = bits_per_character,
    **mine: Any,
) -> float:
    """Bits per character on the names to choose by, after a short training on those to learn from."""
    _, chars, _, ids = names()
    settings: dict[str, Any] = {"steps": 16, "rate": rate, "scale": scale, "seed": seed, "label": "short run"}
    p, _ = train(ids["train"], len(chars), hidden, updates, **settings, **mine)
    return float(score(p, ids["validation"]))


def name_maker(
    max_epochs: int = 20,
    seed: int = 0,
    told: Callable[[int, float, Parameters], object] | None = None,
    batches: Any = contiguous_batches,
    step: Any = train_step,
    score: Any = bits_per_character,
    fit: Any = fit,
) -> Parameters:
    """A network of 64 units that has read the first names, stopped by the validation names with a patience of 2.

    After each epoch `told` gets its number, the bits per character on the validation names, and the parameters.
    """
    _, chars, _, ids = names()
    p, kept = start_parameters(len(chars), 64, seed), []
    memory = {name: np.full_like(array, 0.1) for name, array in p.items()}

    def train_epoch(epoch: int) -> None:
        h = np.zeros((16, 64), dtype=np.float32)
        for batch in batches(ids["train"], 16, 16):
            _, h = step(p, memory, h, *batch, 0.1, 5.0)

    def validate(epoch: int) -> float:
        kept.append({name: array.copy() for name, array in p.items()})
        bits = float(score(p, ids["validation"]))
        if told is not None:
            told(epoch, bits, p)
        return bits

    _, best_epoch = fit(train_epoch, validate, max_epochs, 2)
    return kept[best_epoch]


def names_written(
    p: Parameters, length: int = 84, heat: float = 0.8, seed: int = 0, write: Any = generate
) -> list[str]:
    """The whole names among so many characters that a network of `name_maker` writes after a line break."""
    _, chars, index, _ = names()
    uniforms = np.random.default_rng(seed).random(length)
    return decode(write(p, encode("\n", index), length, uniforms, heat), chars).split("\n")[:-1]


def names_by_table(length: int = 20_000, seed: int = 0) -> list[str]:
    """The same, written by the bigrams of the names that were learned."""
    table, rng, new = count_ngrams("\n" + "\n".join(names()[0].train) + "\n", 2), np.random.default_rng(seed), ["\n"]
    rows = {c: ([*followers], np.array([*followers.values()])) for (c,), followers in table.items()}
    for u in rng.random(length):
        followers, counts = rows[new[-1]]
        new.append(followers[sample_index(counts / counts.sum(), u)])
    return "".join(new).split("\n")[1:-1]


def whose(made: Sequence[str]) -> dict[str, float]:
    """Among names of five letters or more, the shares of those learned, of real ones not learned, and of new ones."""
    parts = names()[0]
    read, unread = set(parts.train), {*parts.validation, *parts.held_out}
    shares = np.mean([(name in read, name in unread) for name in made if len(name) > 4], axis=0)
    return {"read": float(shares[0]), "unread": float(shares[1]), "new": float(1 - shares.sum())}


def bits_from_start(how: str, seed: int, hidden: int = 32, updates: int = 600) -> float:
    """Bits per letter on names not read, each a sequence of its own, by where its state starts from.

    `how` is "zeros", "learned", or "random". A learned one is a parameter, with the gradient dh0 of unit 04; a random
    one is drawn anew for each name, with a standard deviation of 0.5, when it is judged, too.
    """
    (parts, chars, index, _), rng = names(), np.random.default_rng(seed)
    p = start_parameters(len(chars), hidden, seed) | {"h0": np.zeros(hidden, dtype=np.float32)}
    memory = {name: np.full_like(array, 0.1) for name, array in p.items()}

    def batch(some: Sequence[str]) -> tuple[np.ndarray, ...]:
        """One-hot letters after a first one that is all zeros, the targets, which steps are real, and start states."""
        T = max(map(len, some)) + 1
        ids = np.array([[*encode(f"{name}\n", index), *[0] * (T - len(name) - 1)] for name in some]).T
        X = np.concatenate([np.zeros((1, len(some), len(chars))), np.eye(len(chars))[ids[:-1]]]).astype(np.float32)
        drawn = rng.normal(0, 0.5, (len(some), hidden)).astype(np.float32)
        h0 = drawn if how == "random" else np.tile(p["h0"], (len(some), 1))
        return X, ids, np.arange(T)[:, None] < [len(name) + 1 for name in some], h0

    for _ in range(updates):
        X, ids, mask, h0 = batch([parts.train[i] for i in rng.integers(0, len(parts.train), 32)])
        H = rnn_forward(X, h0, p["U"], p["W"], p["b"])
        dlogits = nll_backward(output_layer(H, p["V"], p["c"]), ids, mask)
        dH, dV, dc = output_backward(dlogits, H, p["V"])
        _, dh0, dU, dW, db = rnn_backward(dH, X, h0, H, p["U"], p["W"])
        gradients = [dU, dW, db, dV, dc] + ([dh0.sum(axis=0)] if how == "learned" else [])
        for name, g in zip(p, clip_by_global_norm(gradients, 5.0)[0], strict=False):
            memory[name] += g * g
            p[name] -= 0.1 * g / np.sqrt(memory[name] + 1e-8)
    X, ids, mask, h0 = batch(parts.held_out)
    logits = output_layer(rnn_forward(X, h0, p["U"], p["W"], p["b"]), p["V"], p["c"])
    return float(sequence_nll(logits, ids, mask) * len(parts.held_out) / mask.sum() / np.log(2))


# --- real text


@dataclass(frozen=True)
class Corpus:
    """A text to learn from, one to choose by and one to be judged on; their characters; and a network, once trained.

    `losses` are those of its updates, `watched` the bits on the validation text after each 200, in bits per character.
    """

    name: str
    text: str
    validation: str
    test: str
    chars: list[str]
    index: dict[str, int]
    parameters: Parameters
    losses: Float[np.ndarray, "updates"]
    watched: list[float]


@cache
def corpus(name: str, characters: int = 300_000) -> Corpus:
    """`characters` of a text of `train_and_held_out`, 20,000 to be judged on, 5,000 to choose by; no network yet.

    The characters are those of 300,000. What is in the held-out text alone is left out: no model could know it.
    """
    text, unseen = train_and_held_out(name, characters=300_000)
    chars, index = build_vocabulary(text)
    unseen = "".join(character for character in unseen if character in index)[:25_000]
    return Corpus(name, text[:characters], unseen[20_000:], unseen[:20_000], chars, index, {}, np.zeros(0), [])


def learned_from(
    name: str,
    updates: int = 2500,
    *,
    hidden: int = 96,
    characters: int = 300_000,
    seed: int = 0,
    watch: bool = False,
    score: Any = bits_per_character,
    **mine: Any,
) -> Corpus:
    """A corpus with a network trained on it; the validation text is looked at each 200 updates if it is to `watch`."""
    text, watched = corpus(name, characters), []
    validation = encode(text.validation, text.index)
    look = (lambda _, p: watched.append(float(score(p, validation)))) if watch else None
    ids = encode(text.text, text.index)
    p, losses = train(ids, len(text.chars), hidden, updates, seed=seed, label=name, watch=look, **mine)
    return replace(text, parameters=p, losses=losses / np.log(2), watched=watched)


def log2_of_network(text: Corpus, asked: str) -> Float[np.ndarray, "L-1"]:
    """log2 P of each character of a text but the first, by the corpus' network, read in one row."""
    U, W, b, V, c = (text.parameters[name] for name in "UWbVc")
    ids = encode(asked, text.index)
    H = rnn_forward(np.eye(len(U), dtype=U.dtype)[ids[:-1]][:, None], np.zeros((1, len(W)), dtype=U.dtype), U, W, b)
    logits = output_layer(H, V, c)[:, 0].astype(float)
    logs = logits - np.logaddexp.reduce(logits, axis=1, keepdims=True)
    return np.asarray(np.take_along_axis(logs, ids[1:, None], axis=1)[:, 0] / np.log(2))


@dataclass(frozen=True)
class Counted:
    """The n-grams of a corpus, n = 1 to 6: bits of the additive ones and of Kneser-Ney's, and the 6-gram of the latter.

    `validation` and `test` are log2 P of each character but the first, by that 6-gram.
    """

    additive: list[float]
    kneser_ney: list[float]
    validation: Float[np.ndarray, "L-1"]
    test: Float[np.ndarray, "M-1"]
    entries: int


@cache
def counted(name: str) -> Counted:
    """Count a corpus. All that can be chosen, alpha and the discounts, is chosen on its validation text."""
    text = corpus(name)
    table = KneserNey(text.text, LONGEST, len(text.chars))
    tuned = [table.shorter(n, text.validation) for n in range(1, LONGEST + 1)]
    best = tuned[-1]
    return Counted(
        [additive_bits(text, model) for model in tuned],
        [model.bits(text.test) for model in tuned],
        np.log2(best.probabilities(text.validation)[1:]),
        np.log2(best.probabilities(text.test)[1:]),
        len({text.text[i : i + LONGEST] for i in range(len(text.text))}),
    )


def additive_bits(text: Corpus, table: KneserNey) -> float:
    """Bits per character of unit 01's n-gram with these counts, with the alpha that the validation text prefers."""
    counts = {asked: table.counts(asked)[:, table.n - 1 :] for asked in (text.validation, text.test)}

    def bits(asked: str, alpha: float) -> float:
        seen, whole = counts[asked]
        return float(-np.log2((seen + alpha) / (whole + alpha * len(text.chars))).mean())

    return bits(text.test, min(ALPHAS, key=lambda alpha: bits(text.validation, alpha)))


def mixture(text: Corpus) -> tuple[float, float]:
    """Network and Kneser-Ney's 6-gram mixed: the network's share that the validation text prefers, and bits on test."""

    def bits(network: np.ndarray, table: np.ndarray, share: float) -> float:
        return float(-np.log2(share * 2.0**network + (1 - share) * 2.0**table).mean())

    table, network = counted(text.name), log2_of_network(text, text.validation)
    share = min(np.linspace(0, 1, 21), key=lambda share: bits(network, table.validation, share))
    return float(share), bits(log2_of_network(text, text.test), table.test, share)


def by_place(text: Corpus) -> dict[str, dict[str, float]]:
    """Where network and table differ: for the spaces that begin a line, and for all else, the share and both's bits."""
    begins, place = [], True
    for character in text.test:
        begins.append(place and character == " ")
        place = begins[-1] or character == "\n"
    indent = np.array(begins[1:])
    network, table = log2_of_network(text, text.test), counted(text.name).test
    return {
        where: {
            "share": float(these.mean()),
            "network": float(-network[these].mean()),
            "table": float(-table[these].mean()),
        }
        for where, these in (("spaces that begin a line", indent), ("all else", ~indent))
    }


# --- what it writes


def real_words(text: Corpus, written: str) -> float:
    """The share of the longer words of what was written that are in the text that was learned."""
    known = set(words(text.text))
    return float(np.mean([word in known for word in words(written) if len(word) > 3] or [False]))


def written(text: Corpus, heat: float, length: int, prompt: str, seed: int = 7, write: Any = generate) -> str:
    """What the corpus' network writes after a prompt, at a temperature."""
    uniforms = np.random.default_rng(seed).random(length)
    return decode(write(text.parameters, encode(prompt, text.index), length, uniforms, heat), text.chars)


def pages(text: Corpus, heat: float, prompt: str, count: int = 4, write: Any = generate) -> str:
    """Several pages of 600 characters, each from the prompt anew, so that one that repeats itself is only one."""
    return "\n".join(prompt + written(text, heat, 600, prompt, seed, write) for seed in range(count))


def written_filtered(
    text: Corpus, keep: Callable[[np.ndarray], np.ndarray], length: int = 3000, prompt: str = "\ndef ", seed: int = 1
) -> str:
    """What it writes at temperature 1, drawn from what `keep` leaves of each distribution (1, Q)."""
    U, W, b, V, c = (text.parameters[name] for name in "UWbVc")
    rng, h, new = np.random.default_rng(seed), np.zeros((1, len(W)), dtype=U.dtype), []
    for i in encode(prompt, text.index):
        h = np.tanh(U[i] + h @ W + b)
    for _ in range(length):
        new.append(sample_index(keep(softmax(h @ V + c))[0], rng.random()))
        h = np.tanh(U[new[-1]] + h @ W + b)
    return decode(new, text.chars)
