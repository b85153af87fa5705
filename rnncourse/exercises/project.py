"""Unit 15: the project. Its exercises, their cases, hints and misconceptions.

Three of them have many right answers: how to split, how to run an experiment, how to word a report is the student's
business. They are judged by facts (`rnncourse/checks/facts.py`). A case is several calls
(`rnncourse/fixtures/project.py`), and the judge, who has drawn their arguments, compares what came of them: the same
seed gives the same, other test documents change nothing that is learned, the figures are those of the predictions. A
mistake is known by the facts that do not hold, whatever network it was made with.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from rnncourse import project
from rnncourse.checks.exercise import Case, Option, Unit, case, edge
from rnncourse.checks.facts import Fact
from rnncourse.checks.plain import Plain, Unfit
from rnncourse.fixtures.project import by_step, runs, trainings
from rnncourse.project import HEADINGS, bits_per_token, ngram_bits
from rnncourse.project_torch import run_experiment

unit = Unit("15_project", "The project", project)


def same(a: Plain, b: Plain) -> bool:
    """Whether two results are the same, up to the last digits of float32."""
    if isinstance(a, (list, tuple)):
        return len(a) == len(b) and all(same(x, y) for x, y in zip(a, b))
    return np.shape(a) == np.shape(b) and bool(np.allclose(a, b, rtol=0, atol=1e-5))


# --- split_groups


def is_an_end(groups: list[str], test: list[int]) -> bool:
    """Whether the groups of these documents are the first ones, or the last, in the order in which they appear."""
    names = list(dict.fromkeys(groups))
    chosen = {groups[i] for i in test}
    return chosen in (set(names[: len(chosen)]), set(names[len(names) - len(chosen) :]))


def facts_of_splits(given: tuple[Any, ...], answers: list[Plain], moved: list[bool]) -> Iterator[Fact]:
    """What a case of `splits` shows: the same call twice, groups of other names, other seeds."""
    for answer in answers:
        if not isinstance(answer, (list, tuple)) or len(answer) != 3:
            raise Unfit("Three lists are asked, for train, validation and test")
        if not all(type(i) is int or isinstance(i, np.integer) for part in answer for i in list(part)):
            raise Unfit("The three lists hold places in `groups`, whole numbers")
    sets = [[sorted(int(i) for i in part) for part in answer] for answer in answers]
    dealt = [Dealt(groups, *map(set, parts)) for (groups, _), parts in zip(given, sets)]
    apart = not any(one.validation & one.test for one in dealt)
    cause = "validation_is_test" if all(one.validation == one.test for one in dealt) else ""
    yield Fact("one part each", apart, "" if cause else "A document is in validation and in test.", cause)
    held = [one.validation | one.test for one in dealt]
    learned = any(one.train & others for one, others in zip(dealt, held))
    cause = "test_in_training" if all(others <= one.train for one, others in zip(dealt, held)) else ""
    words = "" if cause else "A document of the training part is in another part as well."
    yield Fact("training apart", not learned, words, cause)
    complete = all(one.train | others == set(range(len(one.groups))) for one, others in zip(dealt, held))
    single = all(len(one.train | others) == len(set(one.groups)) for one, others in zip(dealt, held))
    words = "" if single else "The three parts together are not all documents."
    yield Fact("all documents", complete, words, "one_of_each_group" if single else "")
    once = apart and not learned and complete
    whole = not any(one.cuts_a_group for one in dealt)
    yield Fact("whole groups", whole if once else None, cause="documents_dealt_singly")
    wrong = [one for one in dealt if one.numbers != (one.tenth_of_groups,) * 2]
    words = ""
    if wrong:
        words = "Of {} different groups, {} each belong into validation and test; yours hold {} and {}.".format(
            len(set(wrong[0].groups)), wrong[0].tenth_of_groups, *wrong[0].numbers
        )
    of_documents = all(one.numbers == (max(1, len(one.groups) // 10),) * 2 for one in dealt)
    rounded_up = all(one.numbers == (-(-len(set(one.groups)) // 10),) * 2 for one in dealt)
    cause = "a_tenth_of_the_documents" if of_documents else "a_tenth_rounded_up" if rounded_up else ""
    yield Fact("a tenth each", not wrong if once and whole else None, words, cause)
    repeats = sets[0] == sets[1]
    yield Fact("the same seed", repeats, cause="generator_without_a_seed")
    renamed = sets[0] == sets[2] == sets[3] == sets[4]
    yield Fact("other names", renamed if repeats else None, cause="order_of_a_set")
    others = sets[RENAMED + 2 :]
    fixed = [name for i, name in ((1, "validation"), (2, "test")) if all(sets[0][i] == other[i] for other in others)]
    in_order = is_an_end(list(given[0][0]), sets[0][2])
    cause = "" if len(fixed) < 2 else "never_shuffled" if in_order else "seed_without_effect"
    words = "" if cause else f"The same documents are for {(*fixed, '')[0]} with every seed: deal that part, too."
    yield Fact("another seed", not fixed if repeats else None, words, cause)
    yield Fact("NumPy's global generator", not any(moved), cause="global_generator")


@dataclass(frozen=True)
class Dealt:
    """One split: the group of each document, and which documents are in which part."""

    groups: list[str]
    train: set[int]
    validation: set[int]
    test: set[int]

    @property
    def tenth_of_groups(self) -> int:
        return max(1, len(set(self.groups)) // 10)

    @property
    def numbers(self) -> tuple[int, ...]:
        """How many groups are in validation, and in test."""
        return len(self._names(self.validation)), len(self._names(self.test))

    @property
    def cuts_a_group(self) -> bool:
        names = [self._names(part) for part in (self.train, self.validation, self.test)]
        return sum(map(len, names)) != len(set.union(*names))

    def _names(self, part: set[int]) -> set[str]:
        return {self.groups[i] for i in part if 0 <= i < len(self.groups)}


ex = unit.exercise(
    "split_groups",
    points=3,
    takes="first_call, the_same_again, longer_names, still_longer_names, longest_names, another_seed",
    gives="facts",
    drive=runs,
    facts=facts_of_splits,
    forbids=("sklearn",),
    hints=(
        "Deal groups, not documents: first decide for each different group where it goes. Then each document follows "
        "its group.",
        "`names = list(dict.fromkeys(groups))` are the different groups, in an order that is the same in every run (a "
        "set's is not). `np.random.default_rng(seed).permutation(len(names))` shuffles their places.",
        "With `held = max(1, len(names) // 10)` and `order` the shuffled places, `test = {names[i] for i in "
        "order[:held]}`, `validation = {names[i] for i in order[held : 2 * held]}`. Then three lists: `[i for i, "
        "group in enumerate(groups) if group in test]`, and so on.",
    ),
)


def grouped(rng: np.random.Generator, different: int, documents: int) -> list[str]:
    """Names of groups, each there once at least, in no order."""
    names = [f"page {i}" for i in rng.permutation(500)[:different]]
    return [str(n) for n in rng.permutation([*names, *rng.choice(names, documents - different)])]


RENAMED = 3  # calls in which the groups have other names, in the same order as before


def splits(rng: np.random.Generator, different: int, documents: int, note: str = "", seed: int | None = None) -> Case:
    """The calls of `facts_of_splits`; the first have this seed, if it is given."""
    groups, seeds = grouped(rng, different, documents), [1 + int(s) for s in rng.permutation(1000)[:17]]
    seeds[0] = seeds[0] if seed is None else seed
    longer = [[f"{'the ' * times}{name}" for name in groups] for times in range(1, RENAMED + 1)]
    renamed = [(names, seeds[0]) for names in longer]
    called = (groups, seeds[0]), (groups, seeds[0]), *renamed, *((groups, seed) for seed in seeds[1:])
    return edge(note, *called) if note else case(*called)


@ex.cases
def _(rng: np.random.Generator) -> Iterator[Case]:
    yield splits(rng, 27, 61)
    yield splits(rng, 41, 97)
    yield splits(rng, 3, 12, "three groups, and the seed 0", seed=0)
    yield splits(rng, 30, 30, "every document is a group of its own")


ex.mistakes(r"""
documents_dealt_singly: Documents of one group are in different parts: what the network has read of a page in training
  tells it about the rest of the page in the test. Deal whole groups, and not documents.
- names = list(dict.fromkeys(groups))
+ names, groups = list(range(len(groups))), range(len(groups))

seed_without_effect: Every seed gives the same split: yours is not used. Make the generator from it,
  `np.random.default_rng(seed)`.
- order = np.random.default_rng(seed).permutation(len(names))
+ order = np.random.default_rng(0).permutation(len(names))

never_shuffled: You take the groups as they come, whatever the seed. Data are mostly sorted by something, by date or by
  author, and the test part would be another world. Shuffle the groups.
- order = np.random.default_rng(seed).permutation(len(names))
+ order = np.arange(len(names))[::-1]

generator_without_a_seed: The same seed gives another split the next time. Nobody could repeat your experiment: make
  the generator from the seed.
- order = np.random.default_rng(seed).permutation(len(names))
+ order = np.random.default_rng().permutation(len(names))

global_generator: A call moves NumPy's global generator. From there on everybody who draws from it, your own notebook
  too, gets other numbers. `np.random.default_rng(seed)` is a generator of its own.
- order = np.random.default_rng(seed).permutation(len(names))
+ np.random.seed(seed)
+ order = np.random.permutation(len(names))

validation_is_test: Validation and test are the same documents. What choices are made by has been looked at: for the
  test, take groups that nothing else has seen.
- validation = {names[i] for i in order[held : 2 * held]}
+ validation = test
- parts[2 if group in test else 1 if group in validation else 0].append(i)
+ parts[1 if group in validation else 0].append(i)
+ if group in test:
+     parts[2].append(i)

one_of_each_group: Your parts hold as many documents as there are groups, and the others are in no part at all. Each
  document, by its place in `groups`, goes where its group goes.
- for i, group in enumerate(groups):
+ for i, group in [(list(groups).index(name), name) for name in names]:

test_in_training: What is held out is in the training part as well. Training is all that is in no other part.
- parts[2 if group in test else 1 if group in validation else 0].append(i)
+ parts[0].append(i)
+ if group in test or group in validation:
+     parts[2 if group in test else 1].append(i)

order_of_a_set: The same seed gives another split when every group gets a longer name. Are they dealt in the order of a
  set? It is another in each session. `dict.fromkeys(groups)` keeps the order of the documents, `sorted` makes one.
- names = list(dict.fromkeys(groups))
+ names = list(set(groups))

a_tenth_of_the_documents: You count documents where groups are asked: a tenth of the different groups goes to test, and
  at least one, however many documents they have.
- held = max(1, len(names) // 10)
+ held = max(1, len(groups) // 10)

a_tenth_rounded_up: Your tenth of the groups is rounded up where it must be rounded down. Of 29 groups two go to test:
  `// 10`, and at least one.
- held = max(1, len(names) // 10)
+ held = -(-len(names) // 10)
""")


# --- prepare


def token_parts(rng: np.random.Generator, sizes: tuple[int, int, int]) -> dict[str, list[list[str]]]:
    """Documents of made-up tokens. Each held-out part has tokens of its own, and one in common."""
    pool = [str(w) for w in rng.permutation(["the", "A", "of", "to", "Zoo", "ü", "9", " ", "in", "was"])]
    pool[0] += pool[8]  # a common token holds the rare one
    strange = [str(w) for w in rng.permutation(["quay", "B", "fjord", "é", "1", "lynx"])]
    common = {
        "train": pool[:8],
        "validation": [*pool[2:8], *strange[:2], strange[5]],
        "test": [*pool[:6], *strange[2:]],
    }
    parts: dict[str, list[list[str]]] = {}
    for (name, words), documents in zip(common.items(), sizes):
        lengths = rng.integers(2, 7, documents)
        parts[name] = [[str(w) for w in rng.choice(words, length)] for length in lengths]
    # Each token of training once or twice more, and one that is there once; strangers for certain.
    rare = pool[8]
    parts["train"] += [[*(str(w) for w in rng.permutation(pool[:8] * 2)), rare]]
    parts["train"] += [[pool[9], pool[9]]]  # twice, in one document
    parts["validation"][0] = [strange[0], pool[3], strange[0], strange[5], rare]
    parts["test"][-1] = [pool[0], strange[2], strange[5], pool[1], strange[2]]
    return parts


ex = unit.exercise(
    "prepare",
    points=2,
    takes="parts, least",
    gives="vocabulary, ids",
    hints=(
        "Which of the three parts may the vocabulary know? Whatever you fit, ask what it would be if the test part "
        "were another one.",
        "Count the tokens of `parts['train']` alone. `index.get(token, 0)` gives an id to each token of every part, 0 "
        "to those that training has not shown often enough.",
        "`counts = Counter(token for document in parts['train'] for token in document)`, `vocabulary = ['<unk>', "
        "*sorted(t for t in counts if counts[t] >= least)]`, and one array of ids for each document of each part.",
    ),
)


@ex.cases
def _(rng: np.random.Generator) -> Iterator[Case]:
    yield case(token_parts(rng, (5, 3, 4)))
    yield case(token_parts(rng, (4, 5, 2)), 2)
    parts = token_parts(rng, (4, 2, 3))
    first, *others = parts["train"]
    yield case({**parts, "train": [[*first, "only here"], *others]}, 1)
    parts = token_parts(rng, (3, 2, 2))
    yield edge("only two parts", {"test": parts["test"], "train": parts["train"]}, 1)
    yield edge("a part of another name", {"held out": parts["validation"], "train": parts["train"]}, 1)
    yield edge("nothing is frequent enough", token_parts(rng, (3, 2, 2)), 1000)
    yield edge("more tokens than a byte can count", {"train": [[str(i) for i in rng.permutation(300)]]}, 1)


ex.mistakes(r"""
vocabulary_of_everything: Your vocabulary is made from all parts, so that the test part's words have ids that only it
  uses. That is a leak: nobody who uses the model will hand in their words beforehand. Fit it to training alone.
- counts = Counter(token for document in parts["train"] for token in document)
+ counts = Counter(token for documents in parts.values() for document in documents for token in document)

vocabulary_of_all_but_the_test: Your vocabulary knows the validation part too. Then a choice by validation is made on
  words that are known, and the test is another thing. Fit it to training alone.
- counts = Counter(token for document in parts["train"] for token in document)
+ seen = [*parts["train"], *parts.get("validation", parts["test"])]
+ counts = Counter(token for document in seen for token in document)

a_vocabulary_for_each_part: Each part has a vocabulary of its own, so that one id means different tokens in different
  parts. There is one vocabulary, that of training, and it serves all.
- index = {token: i for i, token in enumerate(vocabulary)}
- return vocabulary, {
-     name: [np.array([index.get(token, 0) for token in document]) for document in documents]
-     for name, documents in parts.items()
- }
+ ids = {}
+ for name, documents in parts.items():
+     own = Counter(token for document in documents for token in document)
+     index = {t: i for i, t in enumerate(sorted(t for t in own if own[t] >= least), start=1)}
+     ids[name] = [np.array([index.get(token, 0) for token in document]) for document in documents]
+ return vocabulary, ids

unknown_left_out: Tokens that training does not have are left out, so that a document is shorter than its targets, and
  its neighbours come together. They get the id 0.
- name: [np.array([index.get(token, 0) for token in document]) for document in documents]
+ name: [np.array([index[t] for t in document if t in index], dtype=int) for document in documents]

unknown_is_an_error: A token that training does not have stops you with a KeyError. It will come, on the first day
  that somebody uses the model: give it the id 0.
- name: [np.array([index.get(token, 0) for token in document]) for document in documents]
+ name: [np.array([index[token] for token in document]) for document in documents]

no_place_for_the_unknown: The id 0 belongs to a real token, the first of your vocabulary, and what is unknown is taken
  for it. Put "<unk>" in front.
- vocabulary = ["<unk>", *sorted(token for token in counts if counts[token] >= least)]
+ vocabulary = sorted(token for token in counts if counts[token] >= least)

more_than_least: You ask for more than `least` occurrences. A token that occurs `least` times belongs to the vocabulary.
- vocabulary = ["<unk>", *sorted(token for token in counts if counts[token] >= least)]
+ vocabulary = ["<unk>", *sorted(token for token in counts if counts[token] > least)]

least_without_effect: Every token of training is in the vocabulary, however rare. Only those with `least` occurrences
  or more belong there: of a token that was seen once, hardly anything can be learned.
- vocabulary = ["<unk>", *sorted(token for token in counts if counts[token] >= least)]
+ vocabulary = ["<unk>", *sorted(counts)]

by_frequency: Your tokens stand in the order of their frequency. What is asked is that of their code points, `sorted`.
- vocabulary = ["<unk>", *sorted(token for token in counts if counts[token] >= least)]
+ vocabulary = ["<unk>", *(token for token, count in counts.most_common() if count >= least)]

unknown_at_the_end: Your "<unk>" stands at the end of the vocabulary. It comes first, so that its id is 0.
- vocabulary = ["<unk>", *sorted(token for token in counts if counts[token] >= least)]
+ vocabulary = sorted(token for token in counts if counts[token] >= least) + ["<unk>"]
- name: [np.array([index.get(token, 0) for token in document]) for document in documents]
+ name: [np.array([index.get(token, len(index) - 1) for token in document]) for document in documents]

unknown_beyond_the_vocabulary: What is not in the vocabulary gets an id that no token has, the vocabulary's length. It
  gets the id 0, that of "<unk>".
- name: [np.array([index.get(token, 0) for token in document]) for document in documents]
+ name: [np.array([index.get(token, len(index)) for token in document]) for document in documents]

unknown_sorted_in: Your "<unk>" is sorted in among the tokens: digits and many signs come before its "<". It comes
  first, so that its id is 0.
- vocabulary = ["<unk>", *sorted(token for token in counts if counts[token] >= least)]
+ vocabulary = sorted({"<unk>", *(token for token in counts if counts[token] >= least)})
- name: [np.array([index.get(token, 0) for token in document]) for document in documents]
+ name: [np.array([index.get(token, index["<unk>"]) for token in document]) for document in documents]

unknown_sorted_in_and_still_zero = unknown_sorted_in
- vocabulary = ["<unk>", *sorted(token for token in counts if counts[token] >= least)]
+ vocabulary = sorted({"<unk>", *(token for token in counts if counts[token] >= least)})
""")


# --- bits_per_token


def labelled(
    rng: np.random.Generator, inputs: int, targets: int, lengths: list[int], noise: float = 0.15, shift: int = 0
) -> list[tuple[np.ndarray, np.ndarray]]:
    """Documents whose targets hang on the id at hand, but for some that are drawn; `shift` makes all of them others."""
    documents = []
    for length in lengths:
        ids = rng.integers(0, inputs, length)
        drawn = np.where(rng.random(length) < noise, rng.integers(0, targets, length), ids % targets)
        documents.append((ids, (drawn + shift) % targets))
    return documents


def distributions(rng: np.random.Generator, documents: list[tuple[np.ndarray, np.ndarray]], Q: int) -> list[np.ndarray]:
    """Probabilities of Q targets for each step of each document, none of them zero."""
    return [rng.dirichlet(np.full(Q, 2.0), len(targets)) * 0.9 + 0.1 / Q for _, targets in documents]


ex = unit.exercise(
    "bits_per_token",
    points=2,
    takes="predictions, documents",
    gives="bits",
    hints=(
        "For each step, which of the Q probabilities is the one that counts?",
        "`p[np.arange(len(targets)), targets]` are those of one document. Put those of all documents into one array "
        "before you take the mean.",
        "`-np.log2(np.concatenate([p[np.arange(len(targets)), targets] for p, (_, targets) in zip(predictions, "
        "documents)])).mean()`",
    ),
)


@ex.cases
def _(rng: np.random.Generator) -> Iterator[Case]:
    for Q, lengths in ((3, [4, 9, 2]), (5, [7, 1, 3, 6])):
        documents = labelled(rng, 6, Q, lengths, noise=0.5)
        yield case(distributions(rng, documents, Q), documents)
    documents = labelled(rng, 4, 3, [6])
    yield edge("one document", distributions(rng, documents, 3), documents)
    documents = labelled(rng, 4, 3, [2000, 3])
    yield edge("a long document, whose probability no float holds", distributions(rng, documents, 3), documents)
    documents = labelled(rng, 4, 3, [1, 1])
    yield edge("documents of one step", distributions(rng, documents, 3), documents)
    documents = labelled(rng, 4, 3, [3, 5])
    predictions = distributions(rng, documents, 3)
    predictions[1] = np.eye(3)[(documents[1][1] + 1) % 3]
    yield edge("what was impossible came", predictions, documents)


ex.mistakes(r"""
nats_for_bits: That is in nats, the logarithm is the natural one. `np.log2` gives bits.
- return -np.log2(np.concatenate(chosen)).mean()
+ return -np.log(np.concatenate(chosen)).mean()

mean_of_means: You take the mean of each document first, and then the mean of these: a step of a short document counts
  for more than one of a long. Put the steps of all documents together, then take one mean.
- return -np.log2(np.concatenate(chosen)).mean()
+ return np.mean([-np.log2(p).mean() for p in chosen])

sum_over_all_steps: Those are the bits of all steps together. Divide by their number, or nobody can compare two parts
  of different size.
- return -np.log2(np.concatenate(chosen)).mean()
+ return -np.log2(np.concatenate(chosen)).sum()

log_of_the_mean: You take the logarithm of the mean probability. It is the logarithms that are averaged, so that a step
  that was called impossible costs what it should.
- return -np.log2(np.concatenate(chosen)).mean()
+ return -np.log2(np.concatenate(chosen).mean())

the_most_probable: You score the target that the model likes best, not the one that came. A model that is sure of
  itself would always be right.
- chosen = [p[np.arange(len(targets)), targets] for p, (_, targets) in zip(predictions, documents)]
+ chosen = [p.max(axis=1) for p in predictions]

entropy_of_the_predictions: That is the entropy of the predictions: how unsure the model is of itself. What came has no
  say in it.
- return -np.log2(np.concatenate(chosen)).mean()
+ return np.mean([-(np.log2(np.maximum(row, 1e-300)) * row).sum() for p in predictions for row in p])

sign_lost: Your bits are negative, as the logarithm of a probability is. They are minus this logarithm.
- return -np.log2(np.concatenate(chosen)).mean()
+ return np.log2(np.concatenate(chosen)).mean()

share_of_errors: You count errors, how often the most probable target is not the one that came. Bits also say how sure
  the model was.
- return -np.log2(np.concatenate(chosen)).mean()
+ return np.mean([row.argmax() != y for p, (_, targets) in zip(predictions, documents) for row, y in zip(p, targets)])

divided_by_the_documents: You divide the bits of all steps by the number of documents. Divide by the number of steps.
- return -np.log2(np.concatenate(chosen)).mean()
+ return -np.log2(np.concatenate(chosen)).sum() / len(documents)

impossible_costs_little: A small number stands in for a probability of 0 before the logarithm is taken: what was held
  to be impossible, and came, costs some bits. It costs infinitely many.
- return -np.log2(np.concatenate(chosen)).mean()
+ return -np.log2(np.concatenate(chosen) + 1e-12).mean()
""")


# --- ngram_bits

ex = unit.exercise(
    "ngram_bits",
    points=4,
    takes="train, scored, n, targets, alpha",
    gives="bits_of_step (T,), bits",
    drive=by_step,
    uses=(bits_per_token,),
    forbids=("rnncourse.ngram",),
    hints=(
        "At step t, the context of k ids is `tuple(ids[t + 1 - k : t + 1])`, for k = 0, 1, …, n - 1, as long as k is "
        "no more than t + 1. Count the target below each of them.",
        "One `Counter` for each context, in a dict. To score a step, start with p = 1 / targets, and let the contexts "
        "vote from the shortest on: p = (how often y was counted there + alpha p) / (how often anything was + alpha).",
        "`for k in range(min(n, t + 2)): seen = counts.get(tuple(ids[t + 1 - k : t + 1]), Counter()); p = (seen[y] + "
        "alpha * p) / (seen.total() + alpha)`. Then the mean of `-np.log2(p)` over all steps of `scored`.",
    ),
)


def with_memory(rng: np.random.Generator, K: int, Q: int, lengths: list[int]) -> list[tuple[np.ndarray, np.ndarray]]:
    """Documents whose targets hang on the last three ids, so that each length of context brings something else."""
    documents = []
    for length in lengths:
        ids = rng.integers(0, K, length)
        sums = ids + 2 * np.append(0, ids[:-1]) + np.append([0, 0], ids)[:length]
        documents.append((ids, np.where(rng.random(length) < 0.3, rng.integers(0, Q, length), sums % Q)))
    return documents


@ex.cases
def _(rng: np.random.Generator) -> Iterator[Case]:
    def some(documents: int) -> list[int]:
        return [int(n) for n in rng.integers(4, 12, documents)]

    for n, K, Q, alpha in ((3, 3, 4, 1.0), (2, 4, 3, 0.5), (4, 2, 5, 2.5)):
        # one target more than there are: what training never asks for is a target as well
        yield case(with_memory(rng, K, Q, some(7)), with_memory(rng, K, Q, [6, 2, 14]), n, Q + 1, alpha)
    train, scored = with_memory(rng, 3, 4, some(6)), with_memory(rng, 3, 4, [5, 8])
    yield edge("n = 1, the shares of the targets", train, scored, 1, 4, 1.5)
    yield edge("n is larger than any document", train, scored, 20, 4, 0.7)
    strangers = [(ids + rng.choice([0, 3], len(ids)), targets) for ids, targets in with_memory(rng, 3, 4, [20, 1500])]
    yield edge("ids that training never saw, among others, in a long document", train, strangers, 3, 4)
    # Written one behind the other, 1 and 12 read as 11 and 2.
    names = np.array([1, 2, 11, 12])
    train, scored = ([(names[ids], targets) for ids, targets in with_memory(rng, 4, 3, some(8))] for _ in range(2))
    yield edge("ids of one digit and of two", train, scored, 3, 3, 0.5)
    yield edge("documents of one step", with_memory(rng, 3, 4, [1] * 9), with_memory(rng, 3, 4, [1, 1, 1]), 2, 4, 0.8)


ex.mistakes(r"""
counted_in_what_is_scored: You count in the documents that are scored: the answers are in your table. Count in `train`
  alone.
- for ids, asked in train:
+ for ids, asked in scored:

counted_in_both: You count in the scored documents as well. What is measured then is how well the table knows them by
  heart. Count in `train` alone.
- for ids, asked in train:
+ for ids, asked in [*train, *scored]:

half_of_training: Your table is counted in half of the training documents. An opponent that has learned from less than
  the network is easily beaten, and proves nothing.
- for ids, asked in train:
+ for ids, asked in train[: len(train) // 2]:

without_the_id_at_hand: Your contexts end before the id of the step itself. The network has read it when it is asked:
  the n-gram must see it too.
- context = tuple(ids[t + 1 - k : t + 1])
- counts.setdefault(context, Counter())[y] += 1
+ counts.setdefault(tuple(ids[t - k : t]), Counter())[y] += k <= t
- seen = counts.get(tuple(ids[t + 1 - k : t + 1]), Counter())
- p = (seen[y] + alpha * p) / (seen.total() + alpha)
+ seen = counts.get(tuple(ids[t - k : t]), Counter())
+ p = (seen[y] + alpha * p) / (seen.total() + alpha) if k <= t else p

without_the_id_at_hand_from_the_start: Your contexts end before the id of the step itself, and at the beginning of a
  document several of them are the same. The network has read this id when it is asked: the n-gram must see it too.
- context = tuple(ids[t + 1 - k : t + 1])
+ context = tuple(ids[max(0, t - k) : t])
- seen = counts.get(tuple(ids[t + 1 - k : t + 1]), Counter())
+ seen = counts.get(tuple(ids[max(0, t - k) : t]), Counter())

targets_that_were_seen: Your first guess, before any context votes, is shared out among fewer targets than there are.
  One that no document asks for is a target as well: there are `targets` of them.
- p = 1 / targets
+ p = 1 / len({int(y) for _, asked in train for y in asked})

contexts_across_documents: Your contexts reach into the document before. One document has nothing to do with the
  other: at its step t, a context has no more than t + 1 ids.
- for ids, asked in train:
+ for ids, asked in [tuple(map(np.concatenate, zip(*train)))]:
- for ids, asked in scored:
+ for ids, asked in [tuple(map(np.concatenate, zip(*scored)))]:

contexts_across_training: In training your contexts reach into the document before, and when you score they do not. At
  its step t, a context of a document has no more than t + 1 ids.
- for ids, asked in train:
+ for ids, asked in [tuple(map(np.concatenate, zip(*train)))]:

alpha_left_out: Your contexts are mixed as with alpha = 1, whatever `alpha` is.
- p = (seen[y] + alpha * p) / (seen.total() + alpha)
+ p = (seen[y] + p) / (seen.total() + 1)

longest_context_alone: Only the longest context has a say. One that was never seen then knows nothing at all, where a
  shorter one would have known something. Let them vote one after the other.
- for k in range(min(n, t + 2)):
-     seen = counts.get(tuple(ids[t + 1 - k : t + 1]), Counter())
+ for k in [min(n, t + 2) - 1]:
+     seen = counts.get(tuple(ids[t + 1 - k : t + 1]), Counter())

longest_context_alone_counted = longest_context_alone
- for k in range(min(n, t + 2)):
-     context = tuple(ids[t + 1 - k : t + 1])
+ for k in [min(n, t + 2) - 1]:
+     context = tuple(ids[t + 1 - k : t + 1])
- for k in range(min(n, t + 2)):
-     seen = counts.get(tuple(ids[t + 1 - k : t + 1]), Counter())
+ for k in [min(n, t + 2) - 1]:
+     seen = counts.get(tuple(ids[t + 1 - k : t + 1]), Counter())

one_context_too_long: Your longest context has n ids. An n-gram is n - 1 of context and the target.
- for k in range(min(n, t + 2)):
-     context = tuple(ids[t + 1 - k : t + 1])
+ for k in range(min(n + 1, t + 2)):
+     context = tuple(ids[t + 1 - k : t + 1])
- for k in range(min(n, t + 2)):
-     seen = counts.get(tuple(ids[t + 1 - k : t + 1]), Counter())
+ for k in range(min(n + 1, t + 2)):
+     seen = counts.get(tuple(ids[t + 1 - k : t + 1]), Counter())

alpha_for_each_target: You add alpha for each of the targets, as in unit 01. Here alpha imagined targets are shared out
  by the opinion of the shorter context: alpha p above, alpha below.
- p = (seen[y] + alpha * p) / (seen.total() + alpha)
+ p = (seen[y] + alpha) / (seen.total() + alpha * targets)

mean_of_means: You take the mean of each document first, so that a step of a short document counts for more. One mean
  over all steps.
- bits.append(-np.log2(p))
+ bits.append(-np.log2(p) / len(asked) / len(scored))
- return np.mean(bits)
+ return np.sum(bits)

nats_for_bits: That is in nats. `np.log2` gives bits.
- bits.append(-np.log2(p))
+ bits.append(-np.log(p))

alpha_for_each_target_below: Your probabilities do not sum to 1: below stands alpha times the number of targets. The
  shorter context's opinion shares one alpha out among them: alpha p above, alpha below.
- p = (seen[y] + alpha * p) / (seen.total() + alpha)
+ p = (seen[y] + alpha * p) / (seen.total() + alpha * targets)

counted_while_it_scores: You go on counting in the documents that are scored. They are for scoring alone: count in
  `train`.
- bits.append(-np.log2(p))
+ bits.append(-np.log2(p))
+ for k in range(min(n, t + 2)):
+     counts.setdefault(tuple(ids[t + 1 - k : t + 1]), Counter())[y] += 1

one_below_for_alpha: Below you add 1, and above alpha times the shorter context's opinion. It is alpha in both places,
  or the probabilities do not sum to 1.
- p = (seen[y] + alpha * p) / (seen.total() + alpha)
+ p = (seen[y] + alpha * p) / (seen.total() + 1)

negative_places: At the beginning of a document your slices start at a negative place, which Python counts from the end:
  what comes out is empty, or the wrong ids, and counts as a context. At step t contexts have at most t + 1 ids.
- for k in range(min(n, t + 2)):
-     context = tuple(ids[t + 1 - k : t + 1])
+ for k in range(n):
+     context = tuple(ids[t + 1 - k : t + 1])
- for k in range(min(n, t + 2)):
-     seen = counts.get(tuple(ids[t + 1 - k : t + 1]), Counter())
+ for k in range(n):
+     seen = counts.get(tuple(ids[t + 1 - k : t + 1]), Counter())
""")


# --- choose_ngram

PREDICTED = "validation", "test"


def three_parts(rng: np.random.Generator, K: int, Q: int) -> dict[str, list[tuple[np.ndarray, np.ndarray]]]:
    """Parts on which different settings are best: training would take the longest context, the test part any."""
    train = with_memory(rng, K, Q, [int(n) for n in rng.integers(3, 10, 8)])
    return {
        "train": train,
        "validation": with_memory(rng, K, Q, [7, 12, 5]),
        "test": [(ids, (targets + 1) % Q) for ids, targets in with_memory(rng, K, Q, [6, 4, 9])],
    }


def contested(rng: np.random.Generator, K: int, Q: int, settings: list[tuple[int, float]]) -> tuple[Any, ...]:
    """Parts, drawn until train, validation and test would each choose another setting, none the first or the last.
    The last target never comes.
    """
    while True:
        parts = three_parts(rng, K, Q - 1)
        bits = {name: [ngram_bits(parts["train"], parts[name], n, Q, alpha) for n, alpha in settings] for name in parts}
        order = np.argsort(bits["validation"])
        half = parts["train"][: len(parts["train"]) // 2]
        of_half = int(np.argmin([ngram_bits(half, parts["validation"], n, Q, alpha) for n, alpha in settings]))
        # where half of the training part would choose alike, its bits must show
        if len({int(np.argmin(b)) for b in bits.values()}) == 3 and order[0] not in (0, len(settings) - 1, of_half):
            return parts, settings, Q


def drawn_parts(rng: np.random.Generator, settings: list[tuple[int, float]], shift: int) -> tuple[Any, ...]:
    """Parts, drawn until the second setting is best on validation, whose documents are short. The test part is some of
    training, its targets moved by `shift`: if that is 0 the longest context is the best there, else the worst.
    """
    while True:
        lengths = {"train": [9, 12, 8, 11, 10, 12, 9], "validation": [5, 4, 5, 3]}
        parts = {name: with_memory(rng, 3, 3, of_part) for name, of_part in lengths.items()}
        bits = [ngram_bits(parts["train"], parts["validation"], n, 3, alpha) for n, alpha in settings]
        if np.argmin(bits) == 1:
            test = [(ids, (targets + shift) % 3) for ids, targets in parts["train"][:4]]
            return parts | {"test": test}, settings, 3


ex = unit.exercise(
    "choose_ngram",
    points=2,
    takes="parts, settings, targets",
    gives="setting, validation_bits, test_bits",
    uses=(ngram_bits,),
    hints=(
        "Three parts, three tasks: which is counted in, which chooses, and which is scored at the very end?",
        "`ngram_bits(parts['train'], parts['validation'], n, targets, alpha)` for each (n, alpha). The smallest "
        "decides.",
        "`found = [… for n, alpha in settings]`, `best = int(np.argmin(found))`, and for `n, alpha = settings[best]` "
        "return `(n, alpha), found[best], ngram_bits(parts['train'], parts['test'], n, targets, alpha)`.",
    ),
)


@ex.cases
def _(rng: np.random.Generator) -> Iterator[Case]:
    grid = [(3, 4.0), (1, 1.0), (4, 0.3), (2, 0.5), (2, 2.0), (3, 1.0), (1, 6.0)]
    yield case(*contested(rng, 3, 4, [grid[i] for i in rng.permutation(len(grid))]))
    yield case(*contested(rng, 2, 5, [grid[i] for i in rng.permutation(len(grid))]))
    yield edge("one setting", three_parts(rng, 3, 3), [(2, 1.0)], 3)
    yield edge("settings that are worse than a guess", three_parts(rng, 3, 3), [(4, 0.001), (5, 0.001), (3, 0.001)], 3)
    for shift in (0, 1):
        settings = [(1, 1.0), (8, 1.0), (7, 1.0), (10, 1.0), (9, 1.0), (2, 50.0)]
        yield edge("settings that are equally good", *drawn_parts(rng, settings, shift))
    parts, [_, (n, alpha), *_], _ = drawn_parts(rng, [(1, 1.0), (3, 1.0), (2, 50.0)], 1)
    near = [(n, alpha), (n, alpha + 1e-4)]
    near.sort(key=lambda one: ngram_bits(parts["train"], parts["validation"], one[0], 3, one[1]), reverse=True)
    yield edge("two settings that are nearly equally good", parts, [(1, 1.0), *near, (2, 50.0)], 3)


ex.mistakes(r"""
chosen_on_the_test: You choose by the test part. Its bits are then the best of several tries on it, and no longer those
  of a model that has never met it. Choose by validation.
- found = [ngram_bits(parts["train"], parts["validation"], n, targets, alpha) for n, alpha in settings]
+ found = [ngram_bits(parts["train"], parts["test"], n, targets, alpha) for n, alpha in settings]

chosen_on_training: You choose by the training part, where the longest context mostly wins, since it knows it by heart.
  Choose by validation.
- found = [ngram_bits(parts["train"], parts["validation"], n, targets, alpha) for n, alpha in settings]
+ found = [ngram_bits(parts["train"], parts["train"], n, targets, alpha) for n, alpha in settings]

trained_on_less: Your n-gram is counted in half of the training part. Give the opponent all that the network gets, or
  the comparison is none.
- found = [ngram_bits(parts["train"], parts["validation"], n, targets, alpha) for n, alpha in settings]
+ parts = {**parts, "train": parts["train"][: len(parts["train"]) // 2]}
+ found = [ngram_bits(parts["train"], parts["validation"], n, targets, alpha) for n, alpha in settings]

counted_in_validation_too: For the test you count in the validation part as well. The network does not learn from it
  either: both get the training part, and nothing else.
- return (n, alpha), found[best], ngram_bits(parts["train"], parts["test"], n, targets, alpha)
+ more = [*parts["train"], *parts["validation"]]
+ return (n, alpha), found[best], ngram_bits(more, parts["test"], n, targets, alpha)

test_decides: You choose by the test part. Its bits are then the best of several tries on it, and no longer those of a
  model that has never met it. Choose by validation.
- best = int(np.argmin(found))
+ on_test = [ngram_bits(parts["train"], parts["test"], n, targets, alpha) for n, alpha in settings]
+ best = int(np.argmin(on_test))

tie_by_the_test: Of settings that are equally good you take the one that is better on the test. The test part has no
  say in a choice: the first is asked.
- best = int(np.argmin(found))
+ on_test = [ngram_bits(parts["train"], parts["test"], n, targets, alpha) for n, alpha in settings]
+ best = min(range(len(found)), key=lambda i: (found[i], on_test[i]))

last_of_a_tie: Of settings that are equally good you take the last. The first is asked.
- best = int(np.argmin(found))
+ best = len(found) - 1 - int(np.argmin(found[::-1]))

the_worst: You take the setting with the most bits. Fewer are better.
- best = int(np.argmin(found))
+ best = int(np.argmax(found))

weak_opponent: You take the first setting and let the others go. An opponent that nobody has tuned is no opponent.
- best = int(np.argmin(found))
+ best = 0

validation_for_test: What you return last are the bits on validation, by which the setting was chosen. The test part is
  there to be scored now, once.
- return (n, alpha), found[best], ngram_bits(parts["train"], parts["test"], n, targets, alpha)
+ return (n, alpha), found[best], found[best]

alpha_not_handed_on: `ngram_bits` does not get your alpha: each n is scored with 1, its default.
- found = [ngram_bits(parts["train"], parts["validation"], n, targets, alpha) for n, alpha in settings]
+ found = [ngram_bits(parts["train"], parts["validation"], n, targets) for n, alpha in settings]
- return (n, alpha), found[best], ngram_bits(parts["train"], parts["test"], n, targets, alpha)
+ return (n, alpha), found[best], ngram_bits(parts["train"], parts["test"], n, targets)

alpha_not_handed_on_for_the_test: The test part is scored without your alpha: `ngram_bits` takes 1, its default.
- return (n, alpha), found[best], ngram_bits(parts["train"], parts["test"], n, targets, alpha)
+ return (n, alpha), found[best], ngram_bits(parts["train"], parts["test"], n, targets)

training_decides = chosen_on_training
- best = int(np.argmin(found))
+ on_training = [ngram_bits(parts["train"], parts["train"], n, targets, alpha) for n, alpha in settings]
+ best = int(np.argmin(on_training))

smallest_of_a_tie: Of settings that are equally good you take the smallest pair, as `min` does with tuples. The first in
  the list is asked.
- best = int(np.argmin(found))
+ best = min(range(len(found)), key=lambda i: (found[i], settings[i]))

place_returned: You return the place of the setting in the list. Asked is the setting, the pair (n, alpha).
- return (n, alpha), found[best], ngram_bits(parts["train"], parts["test"], n, targets, alpha)
+ return best, found[best], ngram_bits(parts["train"], parts["test"], n, targets, alpha)

last_setting_on_the_test: The test part is scored with the last setting of the list, and not with the one that you
  chose. After a loop its names hold what they held last.
- n, alpha = settings[best]
- return (n, alpha), found[best], ngram_bits(parts["train"], parts["test"], n, targets, alpha)
+ n, alpha = settings[-1]
+ return settings[best], found[best], ngram_bits(parts["train"], parts["test"], n, targets, alpha)
""")


# --- run_experiment

RUN = ("curve", "epoch", "validation", "test", "validation_bits", "test_bits")


def well_formed(run: Plain, parts: dict[str, Any], settings: dict[str, Any]) -> None:
    """**Errors:** `Unfit` if a run is not what the statement says."""
    if not isinstance(run, dict) or sorted(map(str, run)) != sorted(RUN):
        raise Unfit(f"A run is a dict with exactly these keys: {', '.join(RUN)}")
    curve = np.asarray(run["curve"], dtype=float) if isinstance(run["curve"], (list, np.ndarray)) else np.zeros(())
    if curve.shape != (settings["epochs"],):
        raise Unfit('"curve" is a list of one number for each epoch')
    if not isinstance(run["epoch"], (int, np.integer)) or not 0 <= int(run["epoch"]) < len(curve):
        raise Unfit('"epoch" is an int, the place of a number in the curve, counted from 0')
    for name in ("validation", "test"):
        if not isinstance(run[f"{name}_bits"], (float, np.floating)):
            raise Unfit(f'"{name}_bits" is a float')
        found = run[name]
        if not isinstance(found, (list, tuple)) or len(found) != len(parts[name]):
            raise Unfit(f'"{name}" is a list with an array for each document')
        for p, (_, targets) in zip(found, parts[name]):
            if np.shape(p) != (len(targets), settings["targets"]):
                raise Unfit(f'"{name}" holds arrays of the shape (T, Q)')
            if np.isnan(p).any():
                raise Unfit(f'"{name}" holds nan')
            if not np.allclose(np.sum(p, axis=1), 1, atol=1e-3) or np.min(p) < 0:
                raise Unfit(f'The rows of "{name}" are probabilities: none is negative, and they sum to 1')


def bits_told(name: str, runs: list[dict[str, Any]], documents: list[Any]) -> Fact:
    """Whether the figures of that name are the bits per token of the predictions that stand beside them."""

    def agree(bits: Callable[[Any, Any], Any]) -> bool:
        pairs = ((run[f"{name}_bits"], bits(run[name], those)) for run, those in zip(runs, documents))
        return all(np.isclose(told, known, rtol=0, atol=1e-4) for told, known in pairs)

    if agree(bits_per_token):
        return Fact(f"{name}_bits", True)
    if agree(lambda made, those: bits_per_token(made, those) * np.log(2)):
        return Fact(f"{name}_bits", False, f'"{name}_bits" is in nats: `bits_per_token` gives bits.', "figures_in_nats")
    if agree(lambda made, those: np.mean([bits_per_token([p], [d]) for p, d in zip(made, those)])):
        words = f'"{name}_bits" is a mean of the documents\' means: each step counts as much as any other.'
        return Fact(f"{name}_bits", False, words, "means_of_documents")
    return Fact(f"{name}_bits", False, f'"{name}_bits" is not the bits per token of the predictions in "{name}".')


# The places of a case's test documents, as `experiments` lays them out: one document four times, as it is, once more,
# with other ids in its second half, with another first id; behind them those of the validation part, last one first.
TWICE, LATER, EARLIER, COMPANY = 1, 2, 3, 4
PLAIN_CALL, BY_TWO, LATE = 3, 11, 16  # the places of these calls


def facts_of_runs(given: tuple[Any, ...], answers: list[Plain], seen: list[dict[str, Any]]) -> Iterator[Fact]:
    """What these runs show, in the order in which `experiments` asks for them: relations between what goes in and what
    comes out, which hold for any network.
    """
    for (parts, settings, _), run in zip((*given, given[0]), answers):
        well_formed(run, parts, settings)
    base, again, reseeded, plain, test_targets, *answers_on = answers
    wider, other_test, other_validation, singly, first, second, by_two, turned, *answers_on = answers_on
    long, resting, resting_plain, late, spoiled = answers_on
    validation, test = given[0][0]["validation"], base["test"]
    found: list[Fact] = []

    def told(name: str, holds: bool, sentence: str, cause: str = "", *, after: bool = True) -> bool:
        found.append(Fact(name, holds if after else None, sentence, cause))
        return holds and after

    repeats = told(
        "the same seed",
        same(base["curve"], again["curve"]) and same(test, again["test"]),
        "Two calls with the same arguments give two different runs.",
        "never_seeded",
    )
    told("another seed", not same(base["curve"], reseeded["curve"]), "", "always_the_same_seed", after=repeats)
    twice, plain_twice = same(test[0], test[TWICE]), same(plain["test"][0], plain["test"][TWICE])
    steady = told(
        "one document twice",
        twice and plain_twice,
        'With "memory" False, the same document stands twice in the test part, and gets two different predictions.'
        if twice
        else "",
        ""
        if twice
        else "time_and_batch_exchanged"
        if is_by_id(given[0][0]["test"][0][0], test[0])
        else "state_from_another_document"
        if plain_twice
        else "chance_while_predicting",
        after=repeats,
    )
    memory = not same(test[0][1:], test[EARLIER][1:])
    test_ids = np.concatenate([ids for ids, _ in given[0][0]["test"]])
    plain_memory = not is_by_id(test_ids, np.concatenate(plain["test"]))
    ahead = not same(test[0][: len(test[0]) // 2], test[LATER][: len(test[0]) // 2])
    told("later tokens", not ahead, "", "reads_ahead", after=steady)
    company = same(base["validation"][::-1], test[COMPANY : COMPANY + len(validation)])
    alone = told(
        "its company",
        company,
        "The documents of the validation part stand in the test part as well, among others and in another order, and "
        "get other predictions there: what is said of a document hangs on its neighbours.",
        after=steady,
    )
    told("earlier tokens", memory, "", "memory_the_wrong_way_round" if plain_memory else "memory_never", after=steady)
    plain_memory |= seen[PLAIN_CALL]["more than one step"]
    told("other tokens, without memory", not plain_memory, "", "ablation_without_effect", after=steady)
    told(
        "the same network, without memory",
        all(same(p[0], q[0]) for name in PREDICTED for p, q in zip(resting[name], resting_plain[name])),
        'Hardly trained (a "rate" of 1e-30), the network says of a document\'s first id something else with "memory" '
        "False than with True. The same network is asked for, with the same first weights.",
        after=steady,
    )
    apart = told(
        "other targets in test",
        same(base["validation"], test_targets["validation"]),
        "",
        "trained_on_the_test",
        after=repeats,
    )
    told(
        "other documents in test",
        same(base["validation"], other_test["validation"]),
        "",
        "fitted_to_all_parts",
        after=apart,
    )
    told("other validation documents", same(test, other_validation["test"]), "", "trained_on_validation", after=repeats)
    lowest = all(run["epoch"] == int(np.argmin(run["curve"])) for run in answers)
    last = all(run["epoch"] == len(run["curve"]) - 1 for run in answers)
    told("the epoch", lowest, "", "last_epoch_kept" if last else "stopped_by_the_test")
    told(
        "the curve",
        bool(np.isclose(base["curve"][0], bits_per_token(base["validation"], validation), rtol=0, atol=1e-4)),
        "",
        "curve_of_the_test",
    )
    kept = bits_per_token(late["validation"], given[LATE][0]["validation"])
    best = told(
        "the best epoch's predictions",
        bool(np.isclose(late["curve"][int(late["epoch"])], kept, rtol=0, atol=1e-4)),
        "",
        "predictions_of_the_last_epoch",
        after=found[-1].holds is True,
    )
    one = same(late["validation"], late["test"])
    told("one network for both parts", one, "", "test_of_the_last_epoch", after=alone and best)
    found += [bits_told(name, answers, [parts[name] for parts, _, _ in (*given, given[0])]) for name in PREDICTED]
    learns = told("training", not same(by_two["validation"], turned["validation"]), "", "gradients_thrown_away")
    told("the rest of the documents", len({round(float(bits), 7) for bits in long["curve"]}) > 1, "", "rest_left_out")
    told(
        "the target 0",
        len({round(float(bits), 7) for bits in late["curve"]}) > 1,
        "Where all targets are 0, nothing is learned. 0 is a target like any other: for padding take a number that is "
        "none.",
        after=learns,
    )
    told("all layers", not any(one["layer left out"] for one in seen), "", "layer_left_out", after=learns)
    told("states of the training", not any(one["state of before"] for one in seen), "", "state_carried_in_training")
    told("one softmax", not any(one["probabilities for logits"] for one in seen), "", "softmax_twice")
    told("fresh gradients", same(base["curve"], spoiled["curve"]), "", "gradients_pile_up", after=repeats)
    complete = told(
        "all documents",
        not any(same(one["validation"], singly["validation"]) for one in (first, second)),
        "",
        "one_batch_an_epoch",
        after=learns,
    )
    told('settings["rate"]', not same(long["curve"], resting["curve"]), IGNORED.format("rate"), after=learns)
    told('settings["hidden"]', not same(base["validation"], wider["validation"]), IGNORED.format("hidden"))
    told('settings["batch"]', in_proportion(given, seen), IGNORED.format("batch"), after=complete)
    gained = preferred(given[BY_TWO][0], by_two, turned)
    told("the targets", gained > 0, WRONG_TARGETS, "uphill" if gained < 0 else "", after=repeats and learns)
    after, before = (np.concatenate(run["validation"])[:, 0].mean() for run in (long, resting))
    told("padding", bool(after <= before), "", "padding_is_learned", after=repeats)
    return iter(found)


IGNORED = 'With another `settings["{0}"]` the same is trained: "{0}" has no say.'


def in_proportion(given: tuple[Any, ...], seen: list[dict[str, Any]]) -> bool:
    """Whether there are as many steps for each batch in all runs."""
    batches = [o["epochs"] * -(-len(parts["train"]) // o["batch"]) for parts, o, _ in given]
    return len({one["steps"] / n for one, n in zip(seen, batches)}) == 1


def is_by_id(ids: np.ndarray, predictions: np.ndarray) -> bool:
    """Whether what is said at a step hangs on the id of that step alone."""
    return all(same(p, predictions[int(np.argmax(ids == i))]) for i, p in zip(ids, predictions))


WRONG_TARGETS = (
    "Trained on documents in which each id has a target of its own, the network does not come to prefer that target: "
    "ids and targets do not belong together, or the steps lead elsewhere."
)


def preferred(parts: dict[str, Any], right: dict[str, Any], turned: dict[str, Any]) -> int:
    """Whether a network prefers the targets that it was trained on, to those that another was trained on: 1 if it
    clearly does, -1 if it does so less than in any other way of giving each id a target, 0 if it is neither.
    """
    ids = np.concatenate([ids for ids, _ in parts["validation"]])
    ratio = np.log(np.concatenate(right["validation"]) / np.concatenate(turned["validation"]))
    different = int(ids.max())
    sums = [float(np.mean(ratio[np.arange(len(ids)), 1 + (ids - 1 + by) % different])) for by in range(different)]
    if sums[0] > sums[1] + 1:
        return 1
    return -1 if np.argmin(sums) == 0 and sums[1] > np.mean(sums) else 0


ex = unit.exercise(
    "run_experiment",
    reference=run_experiment,
    by_result=True,
    points=8,
    takes="first_call, the_same_again, another_seed, without_memory, other_test_targets, more_units, other_test, "
    "other_validation, one_document_a_batch, first_half_other, second_half_other, two_documents_a_batch, "
    "other_targets, one_batch, tiny_rate, tiny_rate_without_memory, hard_validation",
    gives="facts",
    drive=trainings,
    facts=facts_of_runs,
    uses=(bits_per_token,),
    hints=(
        "Write the six lines in words first: seed, model, loop over epochs, loop over batches, validate, keep the "
        "best. Then put code below each. Which of these lines may look at `parts['test']`?",
        "`torch.manual_seed(seed)` before the model is made, and `rng = np.random.default_rng(seed)` for the order of "
        "the documents. Pad a batch with `nn.utils.rnn.pad_sequence`, targets with -1, and let "
        "`nn.functional.nll_loss(…, ignore_index=-1)` pass over the padding.",
        "Below each epoch: `validation = predict(parts['validation'])`, `curve.append(bits_per_token(validation, "
        "parts['validation']))`, and if this is lower than all before: `kept = {'epoch': epoch, 'validation': "
        "validation, 'test': predict(parts['test'])}`. Without memory, each id is a document of its own: "
        "`core(vectors.flatten(0, 1)[None])`.",
    ),
)


def experiments(rng: np.random.Generator) -> Case:
    """The calls of `facts_of_runs`: small documents, one epoch where nothing has to be chosen."""
    K, Q = int(rng.integers(8, 10)), int(rng.integers(6, 8))
    shares = rng.dirichlet(np.full(K - 2, 2.0)) * 0.5
    shares[0] += 0.5  # one id, and with it one target, is far commoner than the others

    def draw(lengths: list[int], shift: int = 0) -> list[tuple[np.ndarray, np.ndarray]]:
        """Documents of the ids 1 to K-2, each with a target of its own from 1 to Q-2."""
        documents = [1 + rng.choice(K - 2, n, p=shares) for n in lengths]
        return [(ids, 1 + (ids - 1 + shift) % (Q - 2)) for ids in documents]

    def renamed(document: tuple[np.ndarray, np.ndarray], where: slice) -> tuple[np.ndarray, np.ndarray]:
        ids = document[0].copy()
        ids[where] = ids[where] % (K - 2) + 1
        return ids, document[1]

    def turned(documents: list[Any], where: slice = slice(None)) -> list[Any]:
        """The same documents, some of them with other targets."""
        others = [(ids, 1 + targets % (Q - 2)) for ids, targets in documents]
        return [
            new if i in range(len(documents))[where] else old for i, (old, new) in enumerate(zip(documents, others))
        ]

    train, validation = draw([3, 7, 4, 2, 6, 5, 3]), draw([4, 2, 5])
    train[1][0][:2] = [K - 2, 1]  # so that no part has an id that training has not
    train[1][1][:2] = 1 + (train[1][0][:2] - 1) % (Q - 2)
    first, other = draw([6])[0], draw([6, 3, 8, 4, 2])
    company = [first, first, renamed(first, slice(3, 6)), renamed(first, slice(0, 1))]
    test = [*company, *validation[::-1], *draw([9])]
    parts = {"train": train, "validation": validation, "test": test}
    settings = {"inputs": K, "targets": Q, "hidden": 6, "memory": True, "rate": 0.05, "batch": 3, "epochs": 1}
    seed, another = (int(s) for s in rng.permutation(10_000)[:2])
    newest = [(np.append(ids, [K - 1] * 5), np.append(targets, [0] * 5)) for ids, targets in other]
    # Targets that training never asks for: the more is learned, the more bits they need, so the first epoch is best.
    hard = [(ids, np.full(len(ids), Q - 1)) for ids, _ in train]
    unknown = [(np.append(ids, [0, 0]), np.append(targets, [1, 1])) for ids, targets in validation]
    uneven = [*train[:2], *draw([12, 1, 2, 1])]
    # Each id as often as any other, and so each target.
    even = {name: np.split(1 + rng.permutation(np.arange(4 * n * (Q - 2)) % (Q - 2)), n) for name, n in EVEN.items()}
    evenly = parts | {name: [(ids, ids) for ids in documents] for name, documents in even.items()}
    unevenly = parts | {"train": uneven, "validation": unknown, "test": hard}
    in_one = settings | {"epochs": 3, "batch": 100, "rate": 0.3}
    by_two, patient = (settings | {"epochs": 5, "batch": 2, "rate": 0.2}), (settings | {"epochs": 12})
    return case(
        (parts, settings, seed),
        (parts, settings, seed),
        (parts, settings, another),
        (parts, settings | {"memory": False}, seed),
        (parts | {"test": turned(test)}, settings, seed),
        (parts, settings | {"hidden": 7}, seed),
        (parts | {"test": newest}, settings, seed),
        (parts | {"validation": draw([5, 3])}, settings, seed),
        *(
            (evenly | {"train": documents}, settings | {"batch": 1, "rate": 0.1}, seed)
            for documents in (
                evenly["train"],
                turned(evenly["train"], slice(0, EVEN["train"] // 2)),
                turned(evenly["train"], slice(EVEN["train"] // 2, None)),
            )
        ),
        (evenly, by_two, seed),
        ({name: turned(documents) for name, documents in evenly.items()}, by_two, seed),
        (unevenly, in_one, seed),
        (unevenly, in_one | {"rate": 1e-30}, seed),
        (unevenly, in_one | {"rate": 1e-30, "memory": False}, seed),
        ({"train": [(ids, 0 * ids) for ids, _ in train], "validation": hard, "test": train}, patient, seed),
    )


EVEN = {"train": 8, "validation": 4}  # how many documents of each


@ex.cases
def _(rng: np.random.Generator) -> Iterator[Case]:
    yield experiments(rng)


ex.mistakes(r"""
never_seeded: Two calls with the same arguments give two different runs: something is drawn from a generator that the
  seed does not reach, PyTorch's or NumPy's. `torch.manual_seed(seed)` comes before the model is made, and what NumPy
  draws comes from `np.random.default_rng(seed)`.
- torch.manual_seed(seed)
- rng = np.random.default_rng(seed)
+ rng = np.random.default_rng()

always_the_same_seed: Another seed gives the same run, to the last digit: yours is not used. Three runs that are one
  run tell nothing about chance.
- torch.manual_seed(seed)
- rng = np.random.default_rng(seed)
+ torch.manual_seed(0)
+ rng = np.random.default_rng(0)

chance_while_predicting: The same document stands twice in the test part, and gets two different predictions, with
  memory and without: something is drawn while you predict, or is carried on. `model.eval()` turns the modules' dropout
  off; `nn.functional.dropout` wants `training=False`.
- return head(states).log_softmax(dim=-1)
+ return head(nn.functional.dropout(states, 0.2)).log_softmax(dim=-1)

state_from_another_document: The same document stands twice in the test part, and gets two different predictions, and
  only where there is memory. Is the state in which one document ends that in which the next begins? They have nothing
  to do with each other: begin with zeros.
- probabilities = read(documents).exp().numpy()
- return [probabilities[: len(ids), n] for n, (ids, _) in enumerate(documents)]
+ carried, found = None, []
+ for ids, _ in documents:
+     vectors = embedding(torch.tensor(ids))[:, None]
+     if settings["memory"]:
+         states, carried = core(vectors, carried)
+     else:
+         states = core(vectors.reshape(1, -1, 32))[0].reshape(-1, 1, settings["hidden"])
+     found.append(head(states).softmax(dim=-1)[:, 0].numpy())
+ return found

stopped_by_the_test: The epoch that you name is not the first of those with the fewest bits on validation. If it is
  that of the fewest on test, they are the best of several, on the very documents that they were chosen by. Choose by
  validation, and score the test part with what was chosen.
- train, curve = parts["train"], []
+ train, curve, on_test = parts["train"], [], []
- if curve[-1] < min(curve[:-1], default=np.inf):
+ on_test.append(bits_per_token(predict(parts["test"]), parts["test"]))
+ if on_test[-1] < min(on_test[:-1], default=np.inf):

curve_of_the_test: With a single epoch, the number in the curve is not the bits of the predictions in "validation".
  Is it in nats, or that of another part? The curve decides which epoch is kept, and the test part may be looked at
  only when there is nothing left to decide.
- curve.append(float(bits_per_token(validation, parts["validation"])))
+ curve.append(float(bits_per_token(predict(parts["test"]), parts["test"])))

trained_on_the_test: The same test documents with other targets give another network: you learn from the test part.
  What is measured then is memory.
- train, curve = parts["train"], []
+ train, curve = [*parts["train"], *parts["test"]], []

trained_on_validation: Other validation documents give another network, in a single epoch, in which there is nothing
  to choose: you learn from them, or fit something to them. Then validation cannot say any more when to stop, and the
  opponent has learned from less than you.
- train, curve = parts["train"], []
+ train, curve = [*parts["train"], *parts["validation"]], []

fitted_to_all_parts: Other test documents give another network, and other targets for them do not: something is
  fitted to all parts, a number of ids, a length, a scale. `settings["inputs"]` says how many ids there are, and all
  else comes from the training part.
- embedding = nn.Embedding(settings["inputs"], 32)
+ inputs = 1 + max(int(max(ids)) for documents in parts.values() for ids, _ in documents)
+ embedding = nn.Embedding(inputs, 32)

predictions_of_the_last_epoch: The epoch that you name is the best, but the predictions in "validation" do not have
  the bits that the curve has there: they are those of another, later one. Keep what the network said when it was at
  its best, or a copy of its weights: `state_dict()` alone is no copy.
- if curve[-1] < min(curve[:-1], default=np.inf):
-     kept = {"epoch": epoch, "validation": validation, "test": predict(parts["test"])}
+ kept = {"epoch": int(np.argmin(curve)), "validation": validation, "test": predict(parts["test"])}

test_of_the_last_epoch: The same documents stand in validation and test, and get other predictions, though those for
  validation are of the best epoch. Are those for test of another? Both come from the network that was chosen.
- if curve[-1] < min(curve[:-1], default=np.inf):
-     kept = {"epoch": epoch, "validation": validation, "test": predict(parts["test"])}
+ if curve[-1] < min(curve[:-1], default=np.inf):
+     kept = {"epoch": epoch, "validation": validation}
+ kept["test"] = predict(parts["test"])

last_epoch_kept: You keep the last epoch, whatever the curve says. When the bits on validation rise again, the
  network has begun to learn the training part by heart: keep the epoch where they were lowest.
- if curve[-1] < min(curve[:-1], default=np.inf):
-     kept = {"epoch": epoch, "validation": validation, "test": predict(parts["test"])}
+ kept = {"epoch": epoch, "validation": validation, "test": predict(parts["test"])}

reads_ahead: Ids that come later in a document change what is said before them, as in a network that reads both ways.
  In a language model the next token is the target itself, and the comparison with an n-gram, which looks back only, is
  none.
- core = nn.GRU(32, settings["hidden"])
- head = nn.Linear(settings["hidden"], settings["targets"])
+ core = nn.GRU(32, settings["hidden"], bidirectional=True)
+ head = nn.Linear(2 * settings["hidden"], settings["targets"])

time_and_batch_exchanged: What is said of a document hangs on its neighbours, and on nothing that stands earlier in
  it: the network runs from document to document. `nn.GRU` wants (T, N, D) unless `batch_first` says otherwise.
- core = nn.GRU(32, settings["hidden"])
+ core = nn.GRU(32, settings["hidden"], batch_first=True)

ablation_without_effect: With `memory=False` what is said at a step still hangs on more than its own id, in training or
  where you predict. Without memory each token is read on its own, in both.
- if settings["memory"]:
-     states, _ = core(vectors)
- else:
-     states = core(vectors.reshape(1, T * N, 32))[0].reshape(T, N, -1)
+ states, _ = core(vectors)

memory_never: With `memory=True` the first id of a document changes nothing of what is said after it: each token is
  read from a state of zeros.
- if settings["memory"]:
-     states, _ = core(vectors)
- else:
-     states = core(vectors.reshape(1, T * N, 32))[0].reshape(T, N, -1)
+ states = core(vectors.reshape(1, T * N, 32))[0].reshape(T, N, -1)

memory_the_wrong_way_round: With `memory=True` each token is read on its own, with `memory=False` along the document: it
  is the wrong way round.
- if settings["memory"]:
+ if not settings["memory"]:

gradients_thrown_away: What the network says is the same whatever it is trained on: no step changes it. First the
  gradients are set to zero, then comes `backward`, then the step, with an optimiser that has all parameters.
- optimizer.zero_grad()
- loss.backward()
+ loss.backward()
+ optimizer.zero_grad()

layer_left_out: A gradient comes to a layer that no optimiser has: it stays as it was drawn. Give the optimiser the
  parameters of the whole model.
- optimizer = torch.optim.Adam(model.parameters(), lr=settings["rate"])
+ optimizer = torch.optim.Adam([*core.parameters(), *head.parameters()], lr=settings["rate"])

gradients_pile_up: What is left of one batch's gradients counts in the next: `backward` adds to what is there. Set them
  to zero before it, `optimizer.zero_grad()`.
- optimizer.zero_grad()

state_carried_in_training: While you train, a network gets a state that is not zero and has no gradient: the one in
  which an earlier batch ended? The documents have nothing to do with each other: each begins with zeros.
- train, curve = parts["train"], []
+ carried = None
+ train, curve = parts["train"], []
- states, _ = core(vectors)
+ nonlocal carried
+ fits = torch.is_grad_enabled() and carried is not None and carried.shape[1] == N
+ states, state = core(vectors, carried if fits else None)
+ carried = state.detach()

softmax_twice: `cross_entropy` gets probabilities, and takes the softmax of them once more: however sure the network is,
  the loss never believes it. Give it the logits.
- loss = nn.functional.nll_loss(read(batch).flatten(0, 1), targets.flatten(), ignore_index=-1)
+ loss = nn.functional.cross_entropy(read(batch).exp().flatten(0, 1), targets.flatten(), ignore_index=-1)

rest_left_out: With fewer training documents than a batch has, nothing is learned: what is left over at the end of an
  epoch is left out. It is a batch as well, a smaller one.
- for start in range(0, len(train), settings["batch"]):
+ for start in range(0, len(train) - settings["batch"] + 1, settings["batch"]):

one_batch_an_epoch: With one document in a batch, a part of the training documents may have other targets, and
  nothing changes: an epoch does not learn from all of them. Does the step stand below the loop over batches?
- optimizer.zero_grad()
- loss.backward()
- nn.utils.clip_grad_norm_(model.parameters(), 1.0)
- optimizer.step()
+ optimizer.zero_grad()
+ loss.backward()
+ nn.utils.clip_grad_norm_(model.parameters(), 1.0)
+ optimizer.step()
+ break

padding_is_learned: No training document has the target 0, and yet training makes the network surer of it: the
  padding behind short documents counts in your loss. Pad targets with a number that is none, and let the loss pass
  over it (`ignore_index`).
- targets = side_by_side([asked for _, asked in batch], -1)
+ targets = side_by_side([asked for _, asked in batch], 0)

uphill: Trained on documents in which each id has a target of its own, the network says this one less often than any
  other. Does each step make the right targets less likely? Minimised is minus the logarithm of their probability.
- loss = nn.functional.nll_loss(read(batch).flatten(0, 1), targets.flatten(), ignore_index=-1)
+ loss = -nn.functional.nll_loss(read(batch).flatten(0, 1), targets.flatten(), ignore_index=-1)

means_of_documents: Your figures are means over documents, in which a short one counts as much as a long one. The curve
  and the opponent count steps: take `bits_per_token` of all documents at once.
- kept[f"{name}_bits"] = float(bits_per_token(kept[name], parts[name]))
+ each = [bits_per_token([p], [document]) for p, document in zip(kept[name], parts[name])]
+ kept[f"{name}_bits"] = float(np.mean(each))

figures_in_nats: Your figures are in nats, as PyTorch's losses are, and the opponent's are in bits: you would win by a
  third for nothing. `bits_per_token` gives bits.
- kept[f"{name}_bits"] = float(bits_per_token(kept[name], parts[name]))
+ kept[f"{name}_bits"] = float(bits_per_token(kept[name], parts[name]) * np.log(2))
""")


# --- summarise

ex = unit.exercise(
    "summarise",
    points=3,
    takes="runs, baseline",
    gives="figures",
    hints=(
        "One setting has several runs. Which of their numbers may be reported, and which have been used up by choices?",
        "`test = np.array([run['test'] for run in runs[name]])` has the numbers of all seeds. `test.std(ddof=1)` "
        "divides by one less than there are.",
        "For each name: `{'mean': test.mean(), 'sd': test.std(ddof=1), 'gain': baseline - test.mean(), 'wins': "
        "int((test < baseline).sum())}`.",
    ),
)


def made_up_runs(rng: np.random.Generator, names: list[str], seeds: int, baseline: float) -> dict[str, Any]:
    """Runs around a baseline, some better and some worse, the best on validation not the best on test."""
    runs: dict[str, Any] = {}
    for i, name in enumerate(names):
        level = baseline + 0.3 * i - 0.2 + rng.uniform(-0.05, 0.05)
        test = level + rng.permutation(np.linspace(-0.35, 0.6, seeds)) + rng.uniform(-0.05, 0.05, seeds)
        # the better on validation, the worse here: whoever picks by one has not picked by the other
        validation = level - 0.3 * (test - level) + rng.uniform(-0.005, 0.005, seeds) - 0.7
        numbers = zip(rng.permutation(100)[:seeds], validation, test)
        runs[name] = [{"seed": int(s), "validation": float(v), "test": float(t)} for s, v, t in numbers]
    return runs


@ex.cases
def _(rng: np.random.Generator) -> Iterator[Case]:
    for names, seeds in ((["network", "without memory"], 5), (["small", "network", "without memory"], 4)):
        baseline = float(rng.uniform(1.5, 3.0))
        yield case(made_up_runs(rng, names, seeds, baseline), baseline)
    baseline = float(rng.uniform(1.5, 3.0))
    yield edge("two seeds", made_up_runs(rng, ["network"], 2, baseline), baseline)
    drawn = made_up_runs(rng, ["network"], 4, baseline)
    alike = [run | {"seed": 7, "test": 2 + (run["test"] - 2) / 10**8} for run in drawn["network"]]
    yield edge("runs of one seed that are all but equal, one of them twice", {"network": [*alike, alike[1]]}, baseline)
    drawn = made_up_runs(rng, ["network"], 4, 2.0)
    yield edge("a run that is as good as the baseline", drawn, drawn["network"][2]["test"])


ex.mistakes(r"""
best_seed: You report the luckiest seed. Try enough of them, and one will look good: a figure that rests on chance is
  given as the mean of all runs.
- "mean": test.mean(),
+ "mean": test.min(),
- "gain": baseline - test.mean(),
+ "gain": baseline - test.min(),

seed_chosen_by_validation: You report one seed, the one that is best on validation. Seeds are no setting that one could
  choose: the next reader will draw another. Take the mean of all.
- test = np.array([run["test"] for run in of_setting])
+ test = np.array([run["test"] for run in of_setting])
+ chosen = min(of_setting, key=lambda run: run["validation"])["test"]
- "mean": test.mean(),
+ "mean": chosen,
- "gain": baseline - test.mean(),
+ "gain": baseline - chosen,

validation_reported: Those are the figures of the validation part. Choices were made by it, so that they are too good:
  report the test part's.
- test = np.array([run["test"] for run in of_setting])
+ test = np.array([run["validation"] for run in of_setting])

spread_of_these_seeds: Your sd is divided by the number of runs. That is the spread of these seeds; that of the next
  one, which the reader wants to know, is divided by one less: `ddof=1`.
- "sd": test.std(ddof=1),
+ "sd": test.std(),

error_of_the_mean: That is the standard error, of the mean. What is asked is how far single runs lie apart.
- "sd": test.std(ddof=1),
+ "sd": test.std(ddof=1) / np.sqrt(len(test)),

variance: That is the variance. The standard deviation is its root, in bits.
- "sd": test.std(ddof=1),
+ "sd": test.var(ddof=1),

gain_with_the_wrong_sign: Your gain is negative where the network is better. Fewer bits are better: baseline minus mean.
- "gain": baseline - test.mean(),
+ "gain": test.mean() - baseline,

wins_are_losses: You count the runs that needed more bits than the baseline. A win needs fewer.
- "wins": int((test < baseline).sum()),
+ "wins": int((test > baseline).sum()),

a_draw_is_a_win: A run that is exactly as good as the baseline has not beaten it.
- "wins": int((test < baseline).sum()),
+ "wins": int((test <= baseline).sum()),

wins_by_the_mean: Your wins are all or none, since the mean decides. Count the runs.
- "wins": int((test < baseline).sum()),
+ "wins": len(test) if test.mean() < baseline else 0,

won_or_not: Your wins are 0 or 1: they say whether the mean is lower. Count the runs.
- "wins": int((test < baseline).sum()),
+ "wins": int(test.mean() < baseline),

range_for_the_spread: Your sd is the distance between the best and the worst run. The standard deviation is asked.
- "sd": test.std(ddof=1),
+ "sd": test.max() - test.min(),

wins_are_a_share: Your wins are a share of the runs. Their number is asked.
- "wins": int((test < baseline).sum()),
+ "wins": float((test < baseline).mean()),

gain_of_the_best_seed: Your gain is that of the luckiest seed. It is the baseline minus the mean of all.
- "gain": baseline - test.mean(),
+ "gain": baseline - test.min(),

all_settings_together: From the second setting on your figures are of the runs of all settings so far. Each setting has
  figures of its own: begin its list anew.
- figures = {}
+ figures, all_runs = {}, []
- test = np.array([run["test"] for run in of_setting])
+ all_runs += [run["test"] for run in of_setting]
+ test = np.array(all_runs)
""")


# --- quiz_leaks

unit.choice(
    "quiz_leaks",
    points=2,
    hints=(
        "Ask of each: would anything that was learned or chosen be different if the test documents were others?",
        "Whatever is computed from documents is fitted: a mean, a vocabulary, the number of an epoch.",
        "Four of the six leak.",
    ),
    options=Option.parse(r"""
A true, scale_of_everything: A mean over all documents is fitted to the test documents too. Take that of the training
  part.
B true, windows_that_overlap: Two windows that overlap share 90 characters. Dealt at random, nearly every test window
  has been read.
C false, a_choice_by_validation: That is what the validation part is there for. The test part has no say in it.
D true, best_of_twenty: The best of twenty on the test part is chosen by the test part, even if each was trained without
  it.
E false, order_of_training: The order of the training documents is a matter of training alone.
F true, copies: A copy of a test document in the training part is the test document. Copies belong into one group.
"""),
)


# --- write_report

WINS, LOSES = "The network beats the baseline.", "The network does not beat the baseline."
NUMBER = re.compile(r"(?<![\d.])\d+\.\d+(?!\.?\d)")  # no date, and no version
PLUS_MINUS = rf"({NUMBER.pattern})\s*(?:±|\+/-|\+-|\\pm|\$\\pm\$)\s*({NUMBER.pattern})"
OF_MEAN = rf"\bmean(?: of| is| was| =|:)? ({NUMBER.pattern})"
OF_SD = rf"\b(?:standard deviation|sd|spread)(?: of| is| was| =|:)? ({NUMBER.pattern})"
BEATS = re.compile(
    r"\b(?:the network|it) (?:\w+ly )?(?:beats|outperforms) (?:it|the (?:baseline|n-gram|opponent|counts))\b", re.I
)
CONCLUDED = re.compile(rf"(?:^|[.!?:] ){re.escape(WINS[:-1])}\b")  # not "whether the network beats the baseline"
LEAST, MOST = 120, 900  # words


def sections_of(text: str) -> dict[str, str]:
    """A report's sections by heading, in small letters; what is the same but for spaces is the same."""
    _, *parts = re.split(r"^##[ \t]+(.*?)[ \t#]*$", text, flags=re.MULTILINE)
    return {name.strip().casefold(): " ".join(body.split()) for name, body in zip(parts[::2], parts[1::2])}


def stands_in(text: str, value: float, least: int = 2) -> bool:
    """Whether a figure stands in a text, with so many digits behind the point at least."""
    return any(is_printed(number, value, least) for number in NUMBER.findall(text))


def is_printed(number: str, value: float, least: int = 2) -> bool:
    digits = len(number.partition(".")[2])
    return digits >= least and number == f"{abs(value):.{digits}f}"


def facts_of_reports(given: tuple[Any, ...], answers: list[Plain], _: list[bool]) -> Iterator[Fact]:
    """What five reports show: three of a network that wins, one of a network that draws, one of one that loses."""
    if not all(isinstance(text, str) for text in answers):
        raise Unfit("A report is a text")
    figures = [of_call for (of_call,) in given]
    lengths = [len(text.split()) for text in answers]
    words = f"The report has {lengths[0]} words; {LEAST} to {MOST} are asked."
    yield Fact("the length", min(lengths) >= LEAST and max(lengths) <= MOST, words)
    reports = [sections_of(text) for text in answers]
    missing = [h for h in HEADINGS if not all(h.casefold() in report for report in reports)]
    words = "" if missing == ["Limits"] else f'The heading "{(*missing, "")[0]}" is missing.'
    yield Fact("the headings", not missing, words, "no_limits" if missing == ["Limits"] else "")
    told = {heading: [report.get(heading.casefold(), "") for report in reports] for heading in HEADINGS}

    def has(heading: str, name: str, least: int = 2) -> bool:
        return all(stands_in(text, FIGURES[name](of), least) for text, of in zip(told[heading], figures))

    coarse = any(has(heading, name, 1) and not has(heading, name) for heading, name in WANTED)
    yield Fact("two digits", not coarse, cause="too_coarse")
    for heading in ("Baseline", "Results", "Ablation"):
        typed = sorted(set.intersection(*(set(NUMBER.findall(text)) for text in told[heading][:3])))
        words = f'It is {(*typed, "")[0]}, in "{heading}".'
        yield Fact(f"{heading}, not typed in", None if heading in missing else not typed, words, "typed_figure")
    exchanged = has("Results", PLAIN) and has("Ablation", MEAN) and not has("Results", MEAN)
    for heading, name in WANTED:
        others = [f"`{other}`" for other in FIGURES if has(heading, other) and (heading, other) not in WANTED]
        words = f'`{name}` does not stand in "{heading}" with two digits or more behind the point'
        words += f"; {others[0]} does." if others else "."
        in_place_of = {BEST: "best_run_for_the_mean"} if name == MEAN else {}
        cause = next((in_place_of[other] for other in in_place_of if has(heading, other)), ABSENT.get(name, ""))
        cause = "network_and_ablation_exchanged" if exchanged else cause
        cause = "" if others and cause in ABSENT.values() else cause
        words = "" if cause else words
        yield Fact(name, None if heading in missing else has(heading, name), words, cause)

    def wrong(heading: str, is_wrong: Callable[[str, dict[str, Any]], bool]) -> bool | None:
        return None if heading in missing else not all(map(is_wrong, told[heading], figures))

    turned = wrong("Results", lambda text, of: is_turned(text, of["network"]))
    yield Fact("mean ± sd", turned, cause="spread_before_the_mean")
    words = "A mean stands there with the standard deviation of another setting: each has its own."
    for heading in ("Results", "Ablation"):
        yield Fact(f"{heading}, mean ± its own sd", wrong(heading, is_mixed), words)
    words = 'Behind "without memory" stands the mean of the network with memory.'
    yield Fact("without memory", wrong("Results", is_exchanged), words)
    words = '"gain" stands there with its sign turned: `figures["network"]["gain"]` is above 0 where the network wins.'
    yield Fact("the gain", wrong("Results", has_a_turned_gain), words)
    said = all(
        {str(of["seeds"]), WORDS[of["seeds"]]} & set(re.findall(r"\w+", text.casefold()))
        for of, text in zip(figures, answers)
    )
    yield Fact("the number of seeds", said, cause="seeds_unsaid")
    verdicts = [(WINS in text, LOSES in text) for text in told["Results"]]
    drawn = verdicts.pop(3)
    wins, loses = (True, False), (False, True)
    right = verdicts == [wins] * 3 + [loses]
    words = f'"Results" has to say one of these two sentences, the one that is so: "{WINS}" or "{LOSES}"'
    causes = {"conclusion_beforehand": ([wins] * 4, [loses] * 4), "verdict_turned_round": ([loses] * 3 + [wins],)}
    cause = next((cause for cause, those in causes.items() if verdicts in those), "")
    words = "" if cause else words
    yield Fact("the verdict", None if "Results" in missing else right, words, cause)
    words = f'Of a network whose mean equals the baseline, "Results" should say "{LOSES}": an equal mean beats nothing.'
    yield Fact("an equal mean", drawn == loses if right and "Results" not in missing else None, words)
    also = BEATS.search(told["Results"][-1].replace(LOSES, ""))
    words = f'When the network loses, "Results" says so, and it says "{also[0] if also else ""}" as well.'
    yield Fact("one verdict", not also if right and "Results" not in missing else None, words)
    others = [heading for heading in HEADINGS[3:] if CONCLUDED.search(told[heading][-1])]
    words = f'When the network loses, "{(*others, "")[0]}" says "{WINS[:-1]}" all the same.'
    yield Fact("one verdict everywhere", not others if right else None, words)


def is_turned(text: str, network: dict[str, float]) -> bool:
    """Whether a text has the spread where the mean belongs, or the other way round."""
    pairs = [
        *re.findall(PLUS_MINUS, text),
        *((a, "") for a in re.findall(OF_MEAN, text)),
        *(("", b) for b in re.findall(OF_SD, text)),
        *in_a_table(text),
    ]
    return any(
        is_printed(a or b, network["sd" if a else "mean"]) and not is_printed(a or b, network["mean" if a else "sd"])
        for a, b in pairs
    )


def in_a_table(text: str) -> Iterator[tuple[str, str]]:
    """Means and spreads in the tables of a text, whose lines are no lines any more: a header says which is which."""
    for header, rows in re.findall(r"\|([^|]*(?:\|[^|]+)+?)\|\s*\|(?:\s*:?-+:?\s*\|)+((?:[^|]*\|)*)", text):
        names = [cell.strip().casefold() for cell in header.split("|")]
        cells = [cell.strip() for cell in rows.split("|") if cell.strip()]
        for i, cell in enumerate(cells):
            name = names[i % len(names)]
            if name.startswith("mean"):
                yield cell, ""
            elif name in ("sd", "spread", "±") or name.startswith("standard dev"):
                yield "", cell


def is_mixed(text: str, of: dict[str, Any]) -> bool:
    """Whether a mean stands beside the spread of the other setting."""
    pairs = re.findall(PLUS_MINUS, text)
    both = [of["network"], of["without memory"]]
    return any(
        is_printed(a, one["mean"]) and is_printed(b, other["sd"]) and not is_printed(b, one["sd"])
        for a, b in pairs
        for one, other in (both, both[::-1])
    )


def is_exchanged(text: str, of: dict[str, Any]) -> bool:
    """Whether the number that comes next after "without memory" is that of the network."""
    found = re.findall(rf"without memory[^.\d]*?({NUMBER.pattern})", text, re.I)
    network, plain = of["network"]["mean"], of["without memory"]["mean"]
    return any(is_printed(number, network) and not is_printed(number, plain) for number in found)


def has_a_turned_gain(text: str, of: dict[str, Any]) -> bool:
    """Whether "a gain of −0.52" stands where the gain is 0.52."""
    found = re.findall(rf"\bgain(?: of| is| was| =|:)? ([+−-]?)({NUMBER.pattern})", text)
    gain = of["network"]["gain"]
    return any(is_printed(number, gain) and (sign in ("−", "-")) != (gain < 0) for sign, number in found if number)


MEAN, SD, BEST, PLAIN = (
    'figures["network"]["mean"]',
    'figures["network"]["sd"]',
    'figures["best"]',
    'figures["without memory"]["mean"]',
)
FIGURES: dict[str, Callable[[dict[str, Any]], float]] = {
    'figures["baseline"]': lambda of: of["baseline"],
    MEAN: lambda of: of["network"]["mean"],
    SD: lambda of: of["network"]["sd"],
    BEST: lambda of: of["best"],
    PLAIN: lambda of: of["without memory"]["mean"],
    'figures["without memory"]["sd"]': lambda of: of["without memory"]["sd"],
}
WANTED = [("Baseline", 'figures["baseline"]'), ("Results", MEAN), ("Results", SD), ("Ablation", PLAIN)]
ABSENT = {'figures["baseline"]': "opponent_left_out", SD: "no_spread", PLAIN: "ablation_left_out"}
WORDS = ["no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"]

ex = unit.exercise(
    "write_report",
    by_result=True,
    points=3,
    takes="network_wins, network_wins_again, network_wins_once_more, network_draws, network_loses",
    gives="facts",
    drive=runs,
    facts=facts_of_reports,
    hints=(
        "Write the report as a text with places for the figures. Which sentence would be false if the network had "
        "lost?",
        "In an f-string, `{figures['baseline']:.2f}` is the place of a figure. A conclusion that hangs on the figures "
        "is made above it: `verdict = … if … else …`.",
        'Begin with `network, plain = figures["network"], figures["without memory"]`, then `verdict = "The network '
        'beats the baseline." if network["gain"] > 0 else "The network does not beat the baseline."`, and return one '
        "f-string in three quotes, with `## Question` and the six other headings.",
    ),
)


def made_up_figures(rng: np.random.Generator, seeds: int, wins: float) -> dict[str, Any]:
    """The figures of a network that clearly wins (1), draws (0), or loses (-1), though its best seed wins."""
    baseline = float(rng.uniform(2.0, 3.0))
    gain = float(rng.uniform(0.4, 0.8)) * wins
    sd = -0.9 * gain if wins < 0 else float(rng.uniform(0.03, 0.09))
    mean, plain = baseline - gain, baseline + float(rng.uniform(0.9, 1.5))
    return {
        "seeds": seeds,
        "baseline": baseline,
        "best": mean - 1.3 * sd,
        "network": {"mean": mean, "sd": sd, "gain": gain, "wins": seeds if wins > 0 else 1},
        "without memory": {"mean": plain, "sd": sd / 2, "gain": baseline - plain, "wins": 0},
    }


def rounded(figures: dict[str, Any]) -> set[str]:
    """All that a report may print of its figures."""
    of_two = [value for name in ("network", "without memory") for value in figures[name].values()]
    values = [abs(value) for value in (figures["baseline"], figures["best"], *of_two) if isinstance(value, float)]
    shares = [100 * value / figures["baseline"] for value in values[1:]]
    return {f"{value:.{digits}f}" for value in values for digits in (2, 3, 4)} | {f"{share:.1f}" for share in shares}


@ex.cases
def _(rng: np.random.Generator) -> Iterator[Case]:
    for _ in range(2):
        seeds = [int(n) for n in 3 + rng.permutation(6)[:5]]
        drawn: list[dict[str, Any]] = []
        while not drawn or set.intersection(*map(rounded, drawn[:3])):  # what is in all of them was typed in
            drawn = [made_up_figures(rng, n, wins) for n, wins in zip(seeds, (1, 1, 1, 0, -1))]
        yield case(*((figures,) for figures in drawn))


ex.mistakes(r"""
typed_figure: A number with a point is the same in every report. In "Baseline", "Results" and "Ablation" each comes
  from `figures`; what no run changes belongs elsewhere.
- letters do: its length was chosen on the validation part. It needs {figures["baseline"]:.2f} bits on the test part.
+ letters do: its length was chosen on the validation part. It needs 1.46 bits on the test part.

best_run_for_the_mean: The network's mean is missing in "Results", and its best run stands there. That is the luckiest
  of several: report the mean of all, and its spread.
- {verdict} It needs {network["mean"]:.2f} ± {network["sd"]:.2f} bits, a gain of {network["gain"]:+.2f}, and won
+ {verdict} It needs {figures["best"]:.2f} ± {network["sd"]:.2f} bits, a gain of {network["gain"]:+.2f}, and won

no_spread: In "Results" the mean stands without its standard deviation. Whether a difference of a tenth of a bit is
  one, nobody can say who does not know how far seeds lie apart.
- {verdict} It needs {network["mean"]:.2f} ± {network["sd"]:.2f} bits, a gain of {network["gain"]:+.2f}, and won
+ {verdict} It needs {network["mean"]:.2f} bits, a gain of {network["gain"]:+.2f}, and won

spread_before_the_mean: The spread stands where the mean belongs, or the mean where the spread belongs: mean ± sd.
- {verdict} It needs {network["mean"]:.2f} ± {network["sd"]:.2f} bits, a gain of {network["gain"]:+.2f}, and won
+ {verdict} It needs {network["sd"]:.2f} ± {network["mean"]:.2f} bits, a gain of {network["gain"]:+.2f}, and won

network_and_ablation_exchanged: "Results" has not the figures of the network, and "Ablation" has not those without
  memory: they are exchanged.
- network, plain = figures["network"], figures["without memory"]
+ plain, network = figures["network"], figures["without memory"]
- clear = network["gain"] > 2 * network["sd"]
+ clear = plain["gain"] > 2 * plain["sd"]

conclusion_beforehand: Your conclusion is the same, whether the network wins or loses with one lucky seed. Let it hang
  on the mean of all.
- clear = network["gain"] > 2 * network["sd"]
+ clear = True

verdict_turned_round: Your report says that the network wins when it loses, and the other way round. The gain is how
  many bits it needs less than the baseline: above 0 is better.
- clear = network["gain"] > 2 * network["sd"]
+ clear = network["gain"] < 2 * network["sd"]

opponent_left_out: The baseline's figure is missing in "Baseline". A number of bits says nothing by itself: how many
  does the opponent need on the same documents?
- letters do: its length was chosen on the validation part. It needs {figures["baseline"]:.2f} bits on the test part.
+ letters do: its length was chosen on the validation part. It needs more bits on the test part.

ablation_left_out: What the network needs without memory is missing in "Ablation". Without it nobody knows what the
  network is better *by*: its memory, or only its being a network.
- The same network, each letter read on its own, needs {plain["mean"]:.2f} ± {plain["sd"]:.2f} bits.
+ The same network, each letter read on its own, needs far more bits.

too_coarse: A figure has one digit behind the point, too few to tell the settings apart. Give two, `:.2f`.
- letters do: its length was chosen on the validation part. It needs {figures["baseline"]:.2f} bits on the test part.
+ letters do: its length was chosen on the validation part. It needs {figures["baseline"]:.1f} bits on the test part.
- {verdict} It needs {network["mean"]:.2f} ± {network["sd"]:.2f} bits, a gain of {network["gain"]:+.2f}, and won
+ {verdict} It needs {network["mean"]:.1f} ± {network["sd"]:.1f} bits, a gain of {network["gain"]:+.1f}, and won
- The same network, each letter read on its own, needs {plain["mean"]:.2f} ± {plain["sd"]:.2f} bits.
+ The same network, each letter read on its own, needs {plain["mean"]:.1f} ± {plain["sd"]:.1f} bits.

seeds_unsaid: A report does not say how many seeds there were, `figures["seeds"]`. A mean of three runs and one of
  thirty are not the same thing.
- A GRU with its epoch chosen on the validation part, from {figures["seeds"]} seeds. The test part was scored once.
+ A GRU with its epoch chosen on the validation part, from some seeds. The test part was scored once.
- in {network["wins"]} of {figures["seeds"]} seeds.
+ in most seeds.

no_limits: The heading `## Limits` is missing. What your result does not show, you know better than any reader: say
  it.
- ## Limits
+
""")
