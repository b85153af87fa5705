"""The reference of unit 15 against PyTorch, the standard library and brute force; and the judge who goes by facts."""

import statistics
from functools import cache

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from rnncourse import check
from rnncourse.checks.cases import drawn, quiet_observe, seed_for
from rnncourse.checks.drive import Observation
from rnncourse.checks.engine import judge
from rnncourse.checks.plain import Unfit
from rnncourse.exercises import find
from rnncourse.project import (
    HEADINGS,
    bits_per_token,
    choose_ngram,
    ngram_bits,
    prepare,
    split_groups,
    summarise,
    write_report,
)
from rnncourse.project_torch import Reader, run_experiment

SEEDS = st.integers(0, 2**32 - 1)


def documents_of(rng, K, Q, lengths):
    return [(rng.integers(0, K, T), rng.integers(0, Q, T)) for T in lengths]


@given(st.lists(st.sampled_from("abcdefghijklmnopqrstuvwxyz"), min_size=3, max_size=60), SEEDS)
def test_a_split_deals_each_document_once_and_no_group_twice(groups, seed):
    if len(set(groups)) < 3:
        with pytest.raises(ValueError, match="three groups"):
            split_groups(groups, seed)
        return
    parts = split_groups(groups, seed)
    assert sorted(i for part in parts for i in part) == list(range(len(groups)))
    of_groups = [{groups[i] for i in part} for part in parts]
    assert sum(map(len, of_groups)) == len(set(groups))
    assert len(of_groups[1]) == len(of_groups[2]) == max(1, len(set(groups)) // 10)


@given(st.lists(st.text("abc", max_size=9), min_size=1), st.lists(st.text("abcdef", max_size=9)), st.integers(1, 4))
def test_what_is_held_out_does_not_change_the_vocabulary(train, held_out, least):
    parts = {"train": [list(text) for text in train], "test": [list(text) for text in held_out]}
    vocabulary, ids = prepare(parts, least)
    alone, ids_alone = prepare({"train": parts["train"]}, least)
    assert vocabulary == alone
    assert [list(a) for a in ids["train"]] == [list(a) for a in ids_alone["train"]]
    for document, found in zip(parts["test"], ids["test"], strict=True):
        assert [vocabulary[i] for i in found] == [t if t in vocabulary else "<unk>" for t in document]


@given(SEEDS, st.integers(2, 6), st.lists(st.integers(1, 7), min_size=1, max_size=5))
def test_bits_are_pytorchs_cross_entropy_over_log_two(seed, Q, lengths):
    rng = np.random.default_rng(seed)
    documents = documents_of(rng, 3, Q, lengths)
    logits = [rng.normal(size=(T, Q)) for T in lengths]
    predictions = [torch.softmax(torch.tensor(o), dim=1).numpy() for o in logits]
    targets = torch.tensor(np.concatenate([y for _, y in documents]))
    nats = torch.nn.functional.cross_entropy(torch.tensor(np.concatenate(logits)), targets).item()
    assert bits_per_token(predictions, documents) == pytest.approx(nats / np.log(2))


def chance(train, context, y, Q, alpha):
    """P(y | context) by counting anew for each question."""
    if context is None:
        return 1 / Q
    k = len(context)
    came = [
        int(y_t)
        for ids, asked in train
        for t, y_t in enumerate(asked)
        if k <= t + 1 and tuple(ids[t + 1 - k : t + 1]) == context
    ]
    shorter = chance(train, context[1:] if context else None, y, Q, alpha)
    return (came.count(y) + alpha * shorter) / (len(came) + alpha)


@settings(max_examples=30)
@given(SEEDS, st.integers(1, 5), st.floats(0.1, 5))
def test_the_n_gram_is_what_brute_force_counts_and_its_chances_sum_to_one(seed, n, alpha):
    rng = np.random.default_rng(seed)
    train, (scored,) = documents_of(rng, 2, 3, [5, 1, 4]), documents_of(rng, 3, 3, [4])
    ids = scored[0].tolist()
    contexts = [tuple(ids[max(0, t + 2 - n) : t + 1]) if n > 1 else () for t in range(len(ids))]
    expected = np.mean([-np.log2(chance(train, c, int(y), 3, alpha)) for c, y in zip(contexts, scored[1])])
    assert ngram_bits(train, [scored], n, 3, alpha) == pytest.approx(expected)
    one_step = [2 ** -ngram_bits(train, [([ids[0]], [y])], n, 3, alpha) for y in range(3)]
    assert sum(one_step) == pytest.approx(1)


def test_the_test_part_chooses_no_n_gram():
    rng = np.random.default_rng(0)
    parts = {name: documents_of(rng, 2, 2, [6, 9, 7]) for name in ("train", "validation", "test")}
    grid = [(n, alpha) for n in (1, 2, 3) for alpha in (0.5, 2.0)]
    setting, validation, _ = choose_ngram(parts, grid, 2)
    for seed in range(5):
        other = parts | {"test": documents_of(np.random.default_rng(seed), 2, 2, [8])}
        assert choose_ngram(other, grid, 2)[:2] == (setting, validation)
    assert validation == min(ngram_bits(parts["train"], parts["validation"], n, 2, alpha) for n, alpha in grid)


@given(st.lists(st.floats(0.1, 9), min_size=2, max_size=9), st.floats(0.1, 9))
def test_a_summary_is_that_of_the_standard_library(test, baseline):
    found = summarise({"one": [{"seed": 0, "validation": 0.0, "test": bits} for bits in test]}, baseline)["one"]
    assert found["mean"] == pytest.approx(statistics.mean(test))
    assert found["sd"] == pytest.approx(statistics.stdev(test), abs=1e-9)
    assert found["gain"] == pytest.approx(baseline - statistics.mean(test))
    assert found["wins"] == sum(bits < baseline for bits in test)


def test_a_report_has_its_headings_in_order_and_the_conclusion_that_came():
    one = {"mean": 2.0, "sd": 0.01, "gain": 0.25, "wins": 3}
    figures = {"seeds": 3, "baseline": 2.25, "best": 1.9, "network": one, "without memory": one}
    won, lost = write_report(figures), write_report(figures | {"network": one | {"gain": -0.25, "wins": 0}})
    assert [line[3:] for line in won.splitlines() if line.startswith("## ")] == list(HEADINGS)
    assert "beats" in won
    assert "beats" not in lost


def test_without_memory_each_token_is_read_as_if_it_were_the_first():
    torch.manual_seed(0)
    reader, ids = Reader(inputs=7, targets=3, hidden=5, memory=False), torch.randint(0, 7, (6, 4))
    with torch.no_grad():
        together = reader(ids)
        reader.memory = True
        alone = torch.stack([reader(row[None])[0] for row in ids])
        assert not torch.allclose(together, reader(ids))
    torch.testing.assert_close(together, alone)


def test_a_run_leaves_pytorchs_generator_as_it_was():
    documents = documents_of(np.random.default_rng(0), 3, 2, [3, 4])
    parts = dict.fromkeys(("train", "validation", "test"), documents)
    settings = {"inputs": 3, "targets": 2, "hidden": 4, "memory": True, "rate": 0.1, "batch": 2, "epochs": 2}
    before = torch.random.get_rng_state()
    run = run_experiment(parts, settings, 5)
    assert torch.equal(torch.random.get_rng_state(), before)
    assert run["epoch"] == int(np.argmin(run["curve"]))
    assert run["test_bits"] == run["validation_bits"] == min(run["curve"])


# --- the judge who knows many answers by facts


class Said:
    """A candidate that says, whatever it is asked, what it is made with."""

    def __init__(self, answer):
        self.answer = answer

    def observe(self, how, args):
        return Observation(self.answer(args))


@cache
def right_run():
    exercise = find("run_experiment")
    (one, *_), _ = drawn(exercise, seed_for(exercise, False))
    return exercise, one.args, quiet_observe(exercise.reference, exercise.drive, one.args).answer


def test_what_was_said_of_one_case_does_not_pass_for_another():
    exercise = find("split_groups")
    (first, *_), _ = drawn(exercise, seed_for(exercise, False))
    answer = quiet_observe(exercise.reference, exercise.drive, first.args).answer
    assert not judge(exercise, Said(lambda args: answer)).passed


def test_who_remembers_what_a_seed_gave_is_refused():
    known = {}

    def run_experiment_once(parts, settings, seed):
        key = seed, settings["epochs"], settings["memory"]
        if key not in known:
            known[key] = run_experiment(parts, settings, seed)
        return known[key]

    assert not check(run_experiment_once, "run_experiment").passed


@pytest.mark.parametrize(
    ("key", "value", "words"),
    [
        ("curve", 3, '"curve" is a list'),
        ("curve", [1.0, 2.0], "one number for each epoch"),
        ("epoch", "last", '"epoch" is an int'),
        ("epoch", 99, '"epoch" is an int'),
        ("test_bits", None, '"test_bits" is a float'),
        ("test", [], "an array for each document"),
        ("validation", None, "an array for each document"),
    ],
)
def test_a_run_of_another_form_is_told_what_is_asked(key, value, words):
    exercise, args, (runs, seen) = right_run()
    with pytest.raises(Unfit, match=words):
        list(exercise.facts(args, [{**runs[0], key: value}, *runs[1:]], seen))
