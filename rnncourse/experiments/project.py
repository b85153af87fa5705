"""What unit 15 measures: what a leak is worth, and three models of dates on splits of their own."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float

from rnncourse.data.corpora import Corpus
from rnncourse.data.text import python_docs
from rnncourse.experiments.opponents import ClassCounts, choose_class_counts
from rnncourse.project import choose_ngram, ngram_bits, prepare, split_groups
from rnncourse.project_torch import run_experiment

NGRAMS = [(6, 2.0), (8, 2.0), (8, 4.0)]  # n, alpha
BY_LANGUAGE = [(n, strength, power) for n in (2, 3, 4) for strength in (1.0, 4.0) for power in (0.5, 0.7)]
SETTINGS = {"hidden": 64, "rate": 0.02, "batch": 64, "epochs": 6}

Documents = list[Any]  # pairs (ids, targets)


def bits_of_a_leak(length: int = 60, step: int = 10, score: Callable[..., float] = ngram_bits) -> tuple[float, float]:
    """The bits a character of a 7-gram on windows of a text: dealt at random, and with the text cut in two first.

    Windows of `length` characters begin every `step`, so that each character stands in `length / step` of them: so much
    is alpha, for one window's vote to weigh what a character's would.
    """
    text = python_docs(10_000)
    index = {character: i for i, character in enumerate(sorted(set(text)))}
    ids = [index[character] for character in text]

    def windows(start: int, stop: int, step: int = step) -> list[tuple[list[int], list[int]]]:
        return [(ids[i : i + length], ids[i + 1 : i + length + 1]) for i in range(start, stop - length, step)]

    every = windows(0, len(ids))
    dealt, cut = np.random.default_rng(0).permutation(len(every)), len(every) * 9 // 10
    border, alpha = len(ids) * 9 // 10, length / step
    at_random = [every[i] for i in dealt]
    leaking = score(at_random[:cut], at_random[cut:], 7, len(index), alpha)
    return leaking, score(windows(0, border), windows(border, len(ids), 20), 7, len(index), alpha)


def parts_of(
    corpus: Corpus,
    seed: int,
    split: Callable[..., Any] = split_groups,
    to_ids: Callable[..., Any] = prepare,
) -> tuple[dict[str, Documents], list[Any], list[Any]]:
    """A corpus dealt by a seed: each part's documents as pairs (ids, targets), the vocabulary, the targets' names."""
    places = dict(zip(("train", "validation", "test"), split(corpus.groups, seed), strict=True))
    vocabulary, ids = to_ids({part: [corpus.tokens[i] for i in where] for part, where in places.items()})
    names, targets = to_ids({part: [corpus.targets[i] for i in where] for part, where in places.items()})
    return {part: list(zip(ids[part], targets[part], strict=True)) for part in places}, vocabulary, names


@dataclass(frozen=True)
class Trial:
    """One split with one seed: the parts, and each model's bits on the test part and probabilities there (T, Q).

    `bits` has "n-gram", "by language", "network" and "without memory"; the n-gram gives no probabilities.
    """

    seed: int
    parts: Mapping[str, Documents]
    vocabulary: list[Any]
    names: list[Any]
    bits: Mapping[str, float]
    predictions: Mapping[str, list[Float[np.ndarray, "T Q"]]]


def trial(
    corpus: Corpus,
    seed: int,
    run: Callable[..., dict[str, Any]] = run_experiment,
    choose: Callable[..., Any] = choose_ngram,
    networks: Sequence[str] = ("network", "without memory"),
    **how: Callable[..., Any],
) -> Trial:
    """Deal the corpus by the seed, tune both opponents on validation, and train the networks from the same seed.

    how: `split` and `to_ids`, as `parts_of` takes them.
    """
    parts, vocabulary, names = parts_of(corpus, seed, **how)
    sizes = {"inputs": len(vocabulary), "targets": len(names)}
    bits = {"n-gram": float(choose(parts, NGRAMS, len(names))[2])}
    setting, _, bits["by language"] = choose_class_counts(parts, BY_LANGUAGE, len(names), len(vocabulary))
    counts = ClassCounts(parts["train"], setting[0], len(names), len(vocabulary))
    predictions = {"by language": [counts.posterior(ids, *setting) for ids, _ in parts["test"]]}
    for name in networks:
        found = run(parts, SETTINGS | sizes | {"memory": name == "network"}, seed)
        bits[name], predictions[name] = found["test_bits"], found["test"]
    return Trial(seed, parts, vocabulary, names, bits, predictions)


def bits_by_letter(one: Trial, model: str, most: int = 24) -> Float[np.ndarray, "K"]:
    """The mean bits of a model at the first, second, … letter of the test documents, up to letter `most`."""
    costs: list[list[float]] = [[] for _ in range(most)]
    for predicted, (_, targets) in zip(one.predictions[model], one.parts["test"], strict=True):
        for t, y in enumerate(targets[:most]):
            costs[t].append(-np.log2(predicted[t, y]))
    return np.array([np.mean(cost) if cost else np.nan for cost in costs])
