"""What the units claim about training is what was measured, and what was measured can be measured again."""

import copy
import json
import re
from functools import cache

import jupytext
import pytest

from claims.experiment import Unit
from claims.run import SEEDS, Run, committed, interval, keep, kept, key_of, measure, one_seed, rule_of, units
from claims.words import marked_claims, plain
from rnncourse.data.claims import FOLDER, filled, places, unit_claims
from tests.sampling import some

UNITS = units()
TRAINS = re.compile(r"\b(track|train\w*|trained\w*|learn\w*)\(|learning_rate|\.step\(\)")
SECONDS = 20  # of processor time, for the claim of a unit that is run for real


@cache
def cells_of(root, stem):
    return jupytext.read(root / "solutions" / f"{stem}.py", fmt="py:percent").cells


def prose(root, stem):
    return " ".join(filled(c.source, stem) for c in cells_of(root, stem) if c.cell_type == "markdown")


def test_each_file_of_measurements_belongs_to_a_unit_that_claims_something():
    assert {path.stem for path in FOLDER.glob("*.json")} == set(UNITS)


@pytest.mark.parametrize("stem", UNITS)
def test_what_was_measured_is_what_the_code_measures(stem):
    """If not: `make claims`, or `python -m claims` with the unit's number; only what has changed is run."""
    file, unit = unit_claims(stem), UNITS[stem]
    assert list(file["experiments"]) == [e.name for e in unit.experiments]
    for e in unit.experiments:
        assert file["experiments"][e.name]["keys"] == {s: key_of(stem, e.name, s) for s in e.settings}, e.name
        for numbers in file["experiments"][e.name]["values"].values():
            assert all(len(values) == e.seeds for values in numbers.values())


@pytest.mark.parametrize("stem", UNITS)
def test_what_is_said_was_counted_on_seeds_on_which_nothing_was_chosen(stem):
    """`make claims` counts on new ones whatever has changed since, in an experiment or in what a claim says."""
    file, unit = unit_claims(stem), UNITS[stem]
    for e in unit.experiments:
        first, *rest = file["experiments"][e.name]["seeds"]
        assert first >= SEEDS["confirmation"]
        assert rest == list(range(first + 1, first + e.seeds))
    for claim in unit.claims:
        written = next(c for c in file["claims"] if c["name"] == claim.name)
        assert written["rule"] == rule_of(stem, claim), f"{claim.name} has changed since it was confirmed: make claims"
        assert written["interval"] == interval(written["held"], written["of"])


@pytest.mark.parametrize("stem", UNITS)
def test_each_claim_is_counted_as_it_holds_and_stands_in_its_unit_in_these_words(root, stem):
    """One that holds in some seeds only says in how many."""
    file, sources = unit_claims(stem), [cell.source for cell in cells_of(root, stem)]
    marked = {words for source in sources for words in marked_claims(filled(source, stem))}
    for claim in UNITS[stem].claims:
        written = next(c for c in file["claims"] if c["name"] == claim.name)
        values = file["experiments"][claim.experiment.name]["values"]
        held = [bool(claim.holds(one_seed(values, seed))) for seed in range(claim.experiment.seeds)]
        counted = sum(held), len(held), plain(claim.words)
        assert (written["held"], written["of"], written["words"]) == counted, claim.name
        assert all(number in values[setting] for setting, number in (claim.figure, *claim.controls)), claim.name
        assert plain(filled(claim.words, stem)) in marked, claim.name
        how_many = f"{{{{held {claim.name}}}}}"
        assert all(held) or any(how_many in source for source in sources), f"{sum(held)} of {len(held)}: say {how_many}"


def test_a_claim_below_which_a_network_is_trained_is_an_experiment(root):
    missing = []
    for path in sorted((root / "solutions").glob("[0-9][0-9]_*.py")):
        stem = path.stem
        words = {plain(filled(c.words, stem)) for c in UNITS[stem].claims} if stem in UNITS else set()
        cells = cells_of(root, stem)
        for i, cell in enumerate(cells):
            if cell.cell_type == "markdown" and (claims := marked_claims(filled(cell.source, stem))):
                below = []
                for other in cells[i + 1 :]:
                    if other.cell_type == "markdown" and (
                        re.search(r"^#+ ", other.source, re.M) or marked_claims(other.source)
                    ):
                        break
                    below.append(other.source if other.cell_type == "code" else "")
                if TRAINS.search("\n".join(below)):
                    missing += [f"{stem}: {claim}" for claim in claims if claim not in words]
    assert missing == []


@pytest.mark.parametrize("stem", UNITS)
def test_what_was_expected_and_did_not_come_is_said_in_the_unit(root, stem):
    for expectation in UNITS[stem].expectations:
        assert plain(filled(expectation.found, stem)) in plain(prose(root, stem))


@pytest.mark.parametrize("stem", UNITS)
def test_every_place_in_the_prose_is_filled(root, stem):
    assert list(places(prose(root, stem))) == []


class Measured(dict):
    """What one seed gives in each setting, run when it is asked for."""

    def __init__(self, stem, experiment):
        super().__init__()
        self.stem, self.experiment = stem, experiment

    def __missing__(self, setting):
        self[setting] = measure(Run(self.stem, self.experiment.name, setting, 0))[0]
        return self[setting]


def affordable(stem):
    """The claims that held in all seeds and whose experiment is short, with its seconds for one seed."""
    for claim in UNITS[stem].claims:
        written = next(c for c in unit_claims(stem)["claims"] if c["name"] == claim.name)
        seconds = unit_claims(stem)["experiments"][claim.experiment.name]["seconds"] / claim.experiment.seeds
        if written["held"] == written["of"] and seconds < SECONDS:
            yield seconds, claim.name, claim


@pytest.mark.parametrize("stem", some(UNITS, 1))
def test_a_claim_of_each_unit_holds_when_it_is_run_here(stem):
    """The shortest one, with one seed."""
    for _, _, claim in sorted(affordable(stem))[:1]:
        assert claim.holds(Measured(stem, claim.experiment)), claim.words


def test_an_experiment_has_seeds_and_a_setting_that_could_refute_it():
    unit = Unit("99_example")
    with pytest.raises(ValueError, match="at least 5 seeds"):
        unit.experiment("share", {"a": {}, "b": {}}, seeds=2)
    with pytest.raises(ValueError, match="second setting"):
        unit.experiment("share", {"a": {}})


def test_code_that_gives_the_same_numbers_keeps_what_was_counted(tmp_path, monkeypatch):
    """A key that is another is written anew if the first seed gives what was counted, or what it gave before, here."""
    file = copy.deepcopy(unit_claims("04_bptt"))
    hello = file["experiments"]["hello"]
    keys = dict(hello["keys"])
    one = next(iter(keys))
    number = next(iter(hello["values"][one].values()))
    monkeypatch.setattr("claims.run.FOLDER", tmp_path)
    monkeypatch.setattr("claims.run.unit_claims", cache(lambda stem: file))
    monkeypatch.setattr("claims.run.committed", lambda run: None)

    hello["keys"][one] = "as it was"
    assert keep("04_bptt") == []
    assert json.loads((tmp_path / "04_bptt.json").read_text())["experiments"]["hello"]["keys"] == keys

    number[0] += 1
    hello["keys"][one] = "as it was"
    assert keep("04_bptt") == [f"hello, {one}"]
    assert hello["keys"][one] == "as it was"

    monkeypatch.setattr("claims.run.committed", lambda run: measure(run)[0])
    assert keep("04_bptt") == []
    assert hello["keys"] == keys


def test_the_code_of_the_last_commit_measures_the_same_things():
    run = Run("04_bptt", "hello", "rate 0.1", 0)
    assert committed(run).keys() == measure(run)[0].keys()


def test_what_a_stopped_run_has_measured_is_kept(tmp_path, monkeypatch):
    monkeypatch.setattr("claims.run.KEPT", tmp_path)
    (tmp_path / "99_example.jsonl").write_text('{"key": "k", "seed": 0, "numbers": {"a": 1.0}}\n{"key": "k", "se')
    assert kept("99_example") == {("k", 0): {"key": "k", "seed": 0, "numbers": {"a": 1.0}}}
