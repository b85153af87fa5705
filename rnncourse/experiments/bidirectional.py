"""Unit 09, what needs NumPy alone: who has read what, gradients beside differences, a machine watched by an HMM.

The unit's own functions come in as arguments, so that what is measured is the student's. What needs PyTorch, all that
is trained, is in `rnncourse.experiments.bidirectional_torch`.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np
from jaxtyping import Bool, Float, Int

from rnncourse.bidirectional import Direction, bidirectional_backward, bidirectional_forward, combine, hmm_forward
from rnncourse.bptt import numerical_gradient
from rnncourse.cell import rnn_forward
from rnncourse.data import MarkedSentence, marked_sentences
from rnncourse.data.claims import claimed
from rnncourse.unfolding import depends_on

STEPS, UNITS = 7, 4
Grids = dict[str, Bool[np.ndarray, "T T"]]


# --- the layer


def drawn(seed: int = 0, steps: int = STEPS, rows: int = 1) -> tuple[np.ndarray, Direction, Direction]:
    """Inputs (steps, rows, 2), and the (U, W, b) of two directions with `UNITS` units."""
    rng = np.random.default_rng(seed)

    def direction() -> Direction:
        return rng.normal(size=(2, UNITS)) / 2**0.5, rng.normal(size=(UNITS, UNITS)) / 2, rng.normal(size=UNITS)

    forward, backward = direction(), direction()
    return rng.normal(size=(steps, rows, 2)), forward, backward


def dependence(both_ways: Callable[..., Any] = bidirectional_forward) -> Grids:
    """Which output depends on which input, in a layer that reads one way and in your `bidirectional_forward`."""
    X, forward, backward = drawn()
    zeros = np.zeros((1, UNITS))
    return {
        "one way": depends_on(lambda xs: rnn_forward(xs[:, None], zeros, *forward), X[:, 0]),
        "both ways": depends_on(lambda xs: both_ways(xs[:, None], forward, backward), X[:, 0]),
    }


def dependence_not_flipped_back(both_ways: Callable[..., Any] = bidirectional_forward) -> Grids:
    """The same of your layer, and of one whose backward states stand in the order in which they were read."""
    X, forward, backward = drawn()

    def not_flipped_back(xs: np.ndarray) -> np.ndarray:
        states = np.asarray(both_ways(xs[:, None], forward, backward))
        return np.concatenate([states[..., :UNITS], states[::-1, ..., UNITS:]], axis=-1)

    return {
        "flipped back": dependence(both_ways)["both ways"],
        "not flipped back": depends_on(not_flipped_back, X[:, 0]),
    }


def inputs_read(both_ways: Callable[..., Any] = bidirectional_forward) -> dict[str, Int[np.ndarray, "T"]]:
    """How many of the inputs the f and the g of each step have read."""
    X, forward, backward = drawn()

    def count(half: slice) -> Int[np.ndarray, "T"]:
        grid = depends_on(lambda xs: np.asarray(both_ways(xs[:, None], forward, backward))[..., half], X[:, 0])
        return np.asarray(grid.sum(axis=1))

    return {"f": count(slice(UNITS)), "g": count(slice(UNITS, None))}


def alone_and_together(both_ways: Callable[..., Any] = bidirectional_forward) -> dict[str, float]:
    """How far the states of a short sequence in a batch are from those that it has alone: the largest difference.

    The padding is zeros. The batch is reversed within the lengths, and as a block.
    """
    batch, forward, backward = drawn(seed=1, steps=9, rows=2)
    short = 4
    batch[short:, 1] = 0
    alone = both_ways(batch[:short, 1:], forward, backward)
    found = {}
    for name, lengths in (("within the lengths", np.array([9, short])), ("as a block", None)):
        together = both_ways(batch, forward, backward, "concat", lengths)[:short, 1:]
        found[name] = float(np.abs(together - alone).max())
    return found


def gradients_beside_differences(
    both_ways: Callable[..., Any] = bidirectional_forward, both_back: Callable[..., Any] = bidirectional_backward
) -> dict[str, float]:
    """For each way to combine: the largest difference of dX, dW_f and dW_b from central differences."""
    X, forward, backward = drawn(seed=2, steps=5, rows=3)
    found = {}
    for how in ("concat", "sum", "product"):
        dH = np.random.default_rng(3).normal(size=both_ways(X, forward, backward, how).shape)

        def loss(X: Any = X, W_f: Any = forward[1], W_b: Any = backward[1], how: str = how, dH: Any = dH) -> float:
            ways = (forward[0], W_f, forward[2]), (backward[0], W_b, backward[2])
            return float((dH * both_ways(X, *ways, how)).sum())

        dX, (_, dW_f, _), (_, dW_b, _) = both_back(dH, X, forward, backward, how)
        found[how] = max(
            float(np.abs(dX - numerical_gradient(lambda x: loss(X=x), X)).max()),
            float(np.abs(dW_f - numerical_gradient(lambda w: loss(W_f=w), np.asarray(forward[1]))).max()),
            float(np.abs(dW_b - numerical_gradient(lambda w: loss(W_b=w), np.asarray(backward[1]))).max()),
        )
    return found


# --- hidden Markov models


def from_the_right(
    transition: Float[np.ndarray, "K K"], emission: Float[np.ndarray, "K Q"], seen: Int[np.ndarray, "T"]
) -> Float[np.ndarray, "T K"]:
    """The chain beta, divided by its sum at each step."""
    beta = np.ones((len(seen), len(transition)))
    for t in reversed(range(len(seen) - 1)):
        beta[t] = transition @ (emission[:, seen[t + 1]] * beta[t + 1])
        beta[t] /= beta[t].sum()
    return beta


class Watched(NamedTuple):
    """A machine that was well (0) or worn (1), and the beliefs (T, 2) of who sees good and bad parts.

    so_far: from what was seen up to each step; after_all: from all of it. zero_from: the step from which on alpha is 0
    if it is never divided, or None.
    """

    true: Int[np.ndarray, "T"]
    so_far: Float[np.ndarray, "T 2"]
    after_all: Float[np.ndarray, "T 2"]
    log_likelihood: float
    zero_from: int | None

    def right(self) -> dict[str, float]:
        """The share of the states that each of the two guesses right."""
        beliefs = {"so far": self.so_far, "after all": self.after_all}
        return {name: float((belief.argmax(axis=1) == self.true).mean()) for name, belief in beliefs.items()}


def watch_machine(
    forwards: Callable[..., Any] = hmm_forward, join: Callable[..., Any] = combine, steps: int = 5000, seed: int = 0
) -> Watched:
    """Draw the run of a machine, and guess its states with your `hmm_forward` and `combine`."""
    start, emission = np.array([0.5, 0.5]), np.array([[0.9, 0.1], [0.5, 0.5]])
    transition = np.array([[0.95, 0.05], [0.1, 0.9]])
    rng = np.random.default_rng(seed)
    true = np.zeros(steps, dtype=int)
    for t in range(1, steps):
        true[t] = rng.random() < transition[true[t - 1], 1]
    seen = (rng.random(steps) < emission[true, 1]).astype(int)
    so_far, log_likelihood = forwards(start, transition, emission, seen)
    after_all = join(so_far, from_the_right(transition, emission, seen), "product")
    alpha, zero_from = start * emission[:, seen[0]], None
    for t in range(1, steps):
        alpha = alpha @ transition * emission[:, seen[t]]
        if not alpha.any():
            zero_from = t + 1
            break
    return Watched(true, so_far, after_all / after_all.sum(axis=1, keepdims=True), float(log_likelihood), zero_from)


# --- English or Python? By counting

Sentences = Sequence[MarkedSentence]
SMOOTHING = (0.03, 0.1, 0.3, 1.0)
UNKNOWN = "?"  # no word of the documentation


def split_marked(seed: int = 0) -> tuple[Sentences, Sentences, Sentences]:
    """The sentences of the documentation in three parts, drawn: three fifths to train on, and two of one fifth."""
    sentences = marked_sentences()
    order, fifth = np.random.default_rng(seed).permutation(len(sentences)), len(sentences) // 5
    held_out, validation, train = order[:fifth], order[fifth : 2 * fifth], order[2 * fifth :]
    return [sentences[i] for i in train], [sentences[i] for i in validation], [sentences[i] for i in held_out]


def vocabulary_of(train: Sentences, also: Sequence[str] = (), least: int = 2) -> dict[str, int]:
    """The place of each word that is met at least so often, or stands in `also`; place 0 is for all others."""
    count = Counter(word for sentence in train for word in sentence.words)
    known = {word for word, n in count.items() if n >= least} | set(also)
    return {word: i for i, word in enumerate([UNKNOWN, *sorted(known - {UNKNOWN})])}


def as_ids(vocabulary: dict[str, int], words: Sequence[str]) -> Int[np.ndarray, "T"]:
    """The places of words."""
    return np.array([vocabulary.get(word, 0) for word in words])


class Marker(Protocol):
    """Whatever marks the words of a sentence."""

    def marks(self, words: Sequence[str]) -> Int[np.ndarray, "T"]:
        """1 for each word that it takes for Python, else 0."""


class CountedMarkov(NamedTuple):
    """A hidden Markov model whose states are the marks, counted, the places of the words that it knows, and its chains.

    forwards, join: your `hmm_forward` and `combine`.
    """

    start: Float[np.ndarray, "2"]
    transition: Float[np.ndarray, "2 2"]
    emission: Float[np.ndarray, "2 Q"]
    vocabulary: dict[str, int]
    forwards: Callable[..., Any] = hmm_forward
    join: Callable[..., Any] = combine

    def marks(self, words: Sequence[str]) -> Int[np.ndarray, "T"]:
        """The likelier mark of each word, after all of them are read."""
        seen = as_ids(self.vocabulary, words)
        so_far, _ = self.forwards(self.start, self.transition, self.emission, seen)
        both = self.join(so_far, from_the_right(self.transition, self.emission, seen), "product")
        return np.asarray(both.argmax(axis=1))


def count_markov(train: Sentences, smoothing: float, least: int) -> CountedMarkov:
    """Count which mark comes first, which follows which, and which words it has; `smoothing` is added to the last."""
    vocabulary = vocabulary_of(train, least=least)
    start, transition = np.full(2, 0.1), np.full((2, 2), 0.1)
    emission = np.full((2, len(vocabulary)), float(smoothing))
    for words, marks in train:
        start[marks[0]] += 1
        np.add.at(transition, (marks[:-1], marks[1:]), 1)
        np.add.at(emission, (np.array(marks), as_ids(vocabulary, words)), 1)
    start, transition, emission = (a / a.sum(axis=-1, keepdims=True) for a in (start, transition, emission))
    return CountedMarkov(start, transition, emission, vocabulary)


def tuned_markov(
    forwards: Callable[..., Any] = hmm_forward, join: Callable[..., Any] = combine, seed: int = 0
) -> CountedMarkov:
    """The one with the fewest errors on validation: how much is added, and how often a word is met to be known."""
    train, validation, _ = split_marked(seed)
    models = [count_markov(train, smoothing, least) for smoothing in SMOOTHING for least in (1, 2)]
    best = min(models, key=lambda model: wrong_marks(model, validation))
    return best._replace(forwards=forwards, join=join)


def wrong_marks(marker: Marker, sentences: Sentences) -> float:
    """Wrong marks for a hundred words of Python. Whoever says that all is English makes a hundred."""
    marks = np.concatenate([one.marks for one in sentences])
    found = np.concatenate([marker.marks(one.words) for one in sentences])
    return float(100 * (found != marks).sum() / marks.sum())


def held_out_errors(marker: Marker, seed: int = 0) -> float:
    """`wrong_marks` in the held-out sentences."""
    return wrong_marks(marker, split_marked(seed)[2])


def most_puzzling(markers: Mapping[str, Marker], seed: int = 0) -> MarkedSentence:
    """Of the held-out sentences that the last marker gets right, one in which the others are most often wrong.

    Words that are both count before all others.
    """
    *others, last = markers.values()
    count = Counter((word, mark) for one in marked_sentences() for word, mark in zip(one.words, one.marks, strict=True))

    def puzzle(one: MarkedSentence) -> tuple[int, int]:
        wrong = np.sum([marker.marks(one.words) != np.array(one.marks) for marker in others], axis=0)
        both = [count[word, 0] > 3 and count[word, 1] > 3 and len(word) > 1 for word in one.words]
        return int(wrong @ both), int(wrong.sum())

    solved = [one for one in split_marked(seed)[2] if (last.marks(one.words) == np.array(one.marks)).all()]
    return max(solved, key=puzzle)


# --- what our runs gave


def ours(experiment: str, number: str) -> dict[str, list[float]]:
    """What our seeds measured in an experiment of this unit, by setting."""
    found = claimed("09_bidirectional")
    return {name: n[number] for name, n in found[experiment].values.items()} if experiment in found else {}
