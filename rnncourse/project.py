r"""Unit 15. A project of one's own: from documents to a report, so that its figures can be believed.

A document is a pair (ids, targets) of T whole numbers each: what is read, and what is asked after each step. Language
models, taggers and classifiers that are asked at every step are all of this kind. A model gives each step a
distribution over the Q targets, and is measured by

    bits = -1/M  sum over documents and steps of log2 P(target_t | id_1, ..., id_t)        M: steps in all

The documents are dealt to three parts, whole groups at a time: `train` is learned from, `validation` is what choices
are made by, `test` is scored once, when there is nothing left to choose. Whatever is fitted, be it a vocabulary, a
mean or a network, is fitted to `train` alone.

The opponent is the n-gram of unit 01, which sees the last n-1 ids. Contexts of all lengths vote, the longer ones last:

    P_0 = 1/Q          P_k(y) = (count(context_k, y) + alpha P_{k-1}(y)) / (count(context_k) + alpha)

with context_k the last k-1 ids, so that n = 1 is the majority, or rather the shares, of the targets.

A figure that rests on training is given as mean and standard deviation over seeds, all of them.

Sources: D. J. C. MacKay and L. C. Bauman Peto, "A hierarchical Dirichlet language model", Natural Language Engineering
1, 1995 (the n-gram); S. Kapoor and A. Narayanan, "Leakage and the reproducibility crisis in machine-learning-based
science", Patterns 4, 2023; X. Bouthillier et al., "Accounting for Variance in Machine Learning Benchmarks", MLSys 2021.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, SupportsFloat, SupportsIndex

import numpy as np
from jaxtyping import Int, Integer, Real

Ids = Integer[np.ndarray, "T"] | Sequence[SupportsIndex]
Documents = Sequence[tuple[Ids, Ids]]

PARTS = ("train", "validation", "test")
UNKNOWN = "<unk>"
HEADINGS = ("Question", "Data", "Baseline", "Method", "Results", "Ablation", "Limits")


def split_groups(groups: Sequence[str], seed: int) -> tuple[list[int], list[int], list[int]]:
    """Deal documents to train, validation and test, whole groups at a time: three lists of places in `groups`.

    `groups` names the group of each document. Of G different groups, G // 10, but at least one, go to test, as many to
    validation, the rest to train; the seed alone says which. A ValueError for fewer than three groups.

    >>> train, validation, test = split_groups(["a", "b", "a", "c", "b"], seed=0)
    >>> sorted(train + validation + test), len({"abacb"[i] for i in test})
    ([0, 1, 2, 3, 4], 1)
    """
    names = list(dict.fromkeys(groups))
    if len(names) < 3:
        raise ValueError(f"Three parts need three groups at least, and there are {len(names)}.")
    held = max(1, len(names) // 10)
    rank = np.random.default_rng(seed).permutation(len(names))
    part_of = {name: 2 if r < held else 1 if r < 2 * held else 0 for name, r in zip(names, rank)}
    parts: tuple[list[int], list[int], list[int]] = ([], [], [])
    for i, group in enumerate(groups):
        parts[part_of[group]].append(i)
    return parts


def prepare(
    parts: Mapping[str, Sequence[Sequence[str]]], least: SupportsIndex = 1
) -> tuple[list[str], dict[str, list[Int[np.ndarray, "T"]]]]:
    """Turn the tokens of all parts into ids, by a vocabulary of the training part alone: (vocabulary, ids by part).

    The vocabulary begins with "<unk>", id 0, which stands for what is not in it; then come the tokens that occur
    `least` times or more in `parts["train"]`, in code-point order.

    >>> vocabulary, ids = prepare({"train": [["b", "a", "b"]], "test": [["a", "c"]]})
    >>> vocabulary, ids["train"], ids["test"]
    (['<unk>', 'a', 'b'], [array([2, 1, 2])], [array([1, 0])])
    """
    counts = Counter(token for document in parts["train"] for token in document)
    vocabulary = [UNKNOWN, *sorted(token for token, count in counts.items() if count >= int(least))]
    index = {token: i for i, token in enumerate(vocabulary)}
    return vocabulary, {
        name: [np.array([index.get(token, 0) for token in document], dtype=np.int64) for document in documents]
        for name, documents in parts.items()
    }


def bits_per_token(predictions: Sequence[Real[np.ndarray, "T Q"]], documents: Documents) -> float:
    """Take the mean of -log2 P(target) over all steps of all documents, each step as much as any other.

    `predictions` holds for each document the probabilities (T, Q) of the targets at each of its steps.

    >>> half, sure = np.array([[0.5, 0.5]]), np.array([[1.0, 0.0]] * 3)
    >>> bits_per_token([half, sure], [([0], [1]), ([0, 0, 0], [0, 0, 0])])
    0.25
    """
    chosen = [
        np.asarray(p)[np.arange(len(targets)), np.asarray(targets, dtype=np.int64)]
        for p, (_, targets) in zip(predictions, documents)
    ]
    with np.errstate(divide="ignore"):
        return float(-np.log2(np.concatenate(chosen)).mean())


def ngram_bits(
    train: Documents, scored: Documents, n: SupportsIndex, targets: SupportsIndex, alpha: SupportsFloat = 1.0
) -> float:
    """Count an n-gram in `train`, and take its bits per token on `scored`.

    At each step it sees the last n-1 ids of this document, that of the step itself among them; at the beginning, as
    many as there are. There are `targets` different targets.

    >>> documents = [([0, 1, 0, 1], [1, 0, 1, 0])]
    >>> [round(ngram_bits(documents, documents, n, 2), 3) for n in (1, 2)]
    [1.0, 0.263]
    """
    length, strength = int(n), float(alpha)
    counts: dict[tuple[int, ...], Counter[int]] = {}
    for ids, asked in train:
        seen = [int(i) for i in ids]
        for t, y in enumerate(asked):
            for k in range(min(length, t + 2)):
                counts.setdefault(tuple(seen[t + 1 - k : t + 1]), Counter())[int(y)] += 1
    totals = {context: sum(found.values()) for context, found in counts.items()}
    logs: list[float] = []
    for ids, asked in scored:
        seen = [int(i) for i in ids]
        for t, y in enumerate(asked):
            p = 1 / int(targets)
            for k in range(min(length, t + 2)):
                context = tuple(seen[t + 1 - k : t + 1])
                if context not in counts:  # then no longer one was seen either
                    break
                p = (counts[context][int(y)] + strength * p) / (totals[context] + strength)
            logs.append(p)
    return float(-np.log2(logs).mean())


def choose_ngram(
    parts: Mapping[str, Documents], settings: Sequence[tuple[int, float]], targets: SupportsIndex
) -> tuple[tuple[int, float], float, float]:
    """Find the (n, alpha) with the fewest bits on the validation part, the first if there are several.

    All are counted in the whole training part. Returned are the setting, its bits on validation, and on test, which is
    scored for this setting alone.

    >>> again = [([0, 1, 0, 1], [1, 0, 1, 0])]
    >>> setting, _, test = choose_ngram({"train": again, "validation": again, "test": again}, [(1, 1.0), (2, 1.0)], 2)
    >>> setting, round(test, 3)
    ((2, 1.0), 0.263)
    """
    found = [ngram_bits(parts["train"], parts["validation"], n, targets, alpha) for n, alpha in settings]
    best = int(np.argmin(found))
    n, alpha = settings[best]
    return settings[best], found[best], ngram_bits(parts["train"], parts["test"], n, targets, alpha)


def summarise(
    runs: Mapping[str, Sequence[Mapping[str, float]]], baseline: SupportsFloat
) -> dict[str, dict[str, float]]:
    """Say what came of several settings, each run from several seeds: figures by name, all of the test part.

    A run has "seed", "validation" and "test", in bits. For each setting: the "mean" over all of its runs, their "sd",
    the standard deviation that one more seed would be expected to have (divided by one run less), the "gain", by how
    many bits the mean is better than the baseline's, and "wins", in how many runs the baseline was beaten.

    >>> runs = [{"seed": 0, "validation": 1.0, "test": 1.5}, {"seed": 1, "validation": 1.0, "test": 2.5}]
    >>> {name: round(value, 3) for name, value in summarise({"network": runs}, 2.25)["network"].items()}
    {'mean': 2.0, 'sd': 0.707, 'gain': 0.25, 'wins': 1}
    """
    figures: dict[str, dict[str, float]] = {}
    for name, all_of_it in runs.items():
        test = np.array([run["test"] for run in all_of_it], dtype=float)
        figures[name] = {
            "mean": float(test.mean()),
            "sd": float(test.std(ddof=1)),
            "gain": float(baseline) - float(test.mean()),
            "wins": int((test < float(baseline)).sum()),
        }
    return figures


def write_report(figures: Mapping[str, Any]) -> str:
    """Write the report of the model project, with these figures: Markdown, with the seven headings of `HEADINGS`.

    `figures` has "seeds", the number of seeds, "baseline", the bits of the n-gram on the test part, "best", those of
    the luckiest run, and for "network" and "without memory" what `summarise` says of them.

    >>> one = {"mean": 2.0, "sd": 0.1, "gain": 0.25, "wins": 3}
    >>> text = write_report({"seeds": 3, "baseline": 2.25, "best": 1.9, "network": one, "without memory": one})
    >>> "2.00 ± 0.10" in text
    True
    """
    network, ablated = figures["network"], figures["without memory"]
    won = network["gain"] > 2 * network["sd"]
    verdict = "The network beats the baseline." if won else "The network does not beat the baseline."
    body = {
        "Question": "After each letter of a date, in which of eleven languages is it written? Does it take a state to "
        "say so, or do the last few letters do?",
        "Data": "Dates as people write them, a label at each letter. All texts of one day lie in one part, since the "
        "same day in another language would give its numbers away.",
        "Baseline": f"An n-gram, its length chosen on the validation part, counted in the whole training part. It "
        f"needs {figures['baseline']:.2f} bits a letter on the test part.",
        "Method": f"A GRU, trained from {figures['seeds']} seeds. The epoch was chosen on the validation part. The "
        "test part was scored once, for what had been chosen.",
        "Results": f"{verdict} It needs {network['mean']:.2f} ± {network['sd']:.2f} bits, a gain of "
        f"{network['gain']:+.2f}. It was better in {network['wins']} of {figures['seeds']} seeds.",
        "Ablation": f"The same network without memory needs {ablated['mean']:.2f} ± {ablated['sd']:.2f} bits.",
        "Limits": "The texts were made by rules. People write dates with mistakes, and with two digits for a year.",
    }
    return "\n\n".join(f"## {name}\n\n{body[name]}" for name in HEADINGS)
