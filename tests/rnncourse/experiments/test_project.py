"""The trials of unit 15: the same from the same seed, with opponents on the same split."""

import numpy as np
import pytest

from rnncourse.data import load_corpus
from rnncourse.experiments.project import bits_by_letter, parts_of, trial
from rnncourse.project import bits_per_token


def guess(parts, settings, seed):
    """Stands for a network that knows nothing."""
    even = {
        part: [np.full((len(ids), settings["targets"]), 1 / settings["targets"]) for ids, _ in parts[part]]
        for part in ("validation", "test")
    }
    return {"test": even["test"], "test_bits": bits_per_token(even["test"], parts["test"])}


@pytest.fixture(scope="module")
def one():
    return trial(load_corpus("dates", most=3000), 0, run=guess, networks=("network",))


def test_whoever_knows_nothing_pays_the_logarithm_and_counting_pays_less(one):
    assert one.bits["network"] == pytest.approx(np.log2(len(one.names)))
    assert one.bits["by language"] < one.bits["n-gram"] < one.bits["network"]


def test_the_bits_told_are_those_of_the_predictions(one):
    assert one.bits["by language"] == pytest.approx(bits_per_token(one.predictions["by language"], one.parts["test"]))
    assert bits_by_letter(one, "network", most=4) == pytest.approx(np.full(4, np.log2(len(one.names))))


def test_another_seed_deals_other_groups():
    corpus = load_corpus("dates", most=3000)
    first, again, other = (str(parts_of(corpus, seed)[0]["test"]) for seed in (0, 0, 1))
    assert first == again != other
