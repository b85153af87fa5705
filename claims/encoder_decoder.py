"""What unit 12 claims about translators, searches, teachers and summaries."""

import numpy as np
import torch
from torch import nn

from claims.experiment import BySetting, Numbers, Unit
from rnngrade.cells import of

torch.set_num_threads(1)
unit = Unit("12_encoder_decoder", seeds=5)
cells = of("12_encoder_decoder")


@unit.experiment(
    "shares of 500 dates of unseen days; of searches, of 60 dates, counts",
    settings={
        "2 added to the bias of z": {"keep": 2.0},
        "nothing added": {"keep": 0.0},
    },
)
def dates(seed: int, keep: float) -> Numbers:
    """One pass over 32,000 dates."""
    model, poor, _, curve = cells.learn_to_translate(seed, keep=keep)
    found = {f"right after {done}": share for done, share in curve.items()}
    for name, one in (("poor", poor), ("trained", model)):
        found |= {f"{name}, {what}": value for what, value in cells.judge(one, cells.unseen_dates[:60]).items()}
    return found


@unit.experiment(
    "share of 150 models in which a beam of that width finds the best answer",
    settings={"spread 1.5": {"spread": 1.5}, "flatter, 0.5": {"spread": 0.5}, "surer, 4": {"spread": 4.0}},
)
def random_models(seed: int, spread: float) -> Numbers:
    """Searches in tables of three states."""
    behind, empty = cells.search_models(150, seed, spread)
    found = {f"width {w}": share for w, share in zip(cells.widths, (behind < 1e-9).mean(axis=0))}
    return found | {
        "best is empty": empty.mean(),
        "wider ended worse": (np.diff(behind, axis=1) > 1e-9).any(axis=1).mean(),
    }


@unit.experiment(
    "share of strings of six digits copied; loss over the last 100 updates",
    settings={
        "teacher": {"reads": "true tokens, shifted"},
        "own guesses": {"reads": "own guesses"},
        "not shifted": {"reads": "true tokens, not shifted"},
        "own guesses, twice the updates": {"reads": "own guesses", "updates": 1200},
    },
)
def what_the_decoder_reads(seed: int, reads: str, updates: int = 600) -> Numbers:
    """Copy strings of one to six digits."""
    kinds = {
        "true tokens, shifted": cells.Seq2Seq,
        "own guesses": cells.OwnGuesses,
        "true tokens, not shifted": cells.NotShifted,
    }
    _, losses, rights = cells.learn_to_copy(kinds[reads], 64, 6, updates, updates, seed)
    return {"copied": rights[-1], "loss": float(np.mean(losses[-100:]))}


@unit.experiment(
    "share of strings copied without a mistake, by their length",
    settings={
        "H = 32": {"hidden": 32},
        "H = 96": {"hidden": 96},
        "H = 32, four times the updates": {"hidden": 32, "updates": 3200},
    },
)
def size_of_the_summary(seed: int, hidden: int, updates: int = 800) -> Numbers:
    """Copy strings of one to eight digits."""
    model = cells.learn_to_copy(cells.Seq2Seq, hidden, 8, updates, updates, seed)[0]
    return {f"{length} digit{'s' if length > 1 else ''}": cells.copies(model, length) for length in range(1, 9)}


@unit.experiment(
    "shares of 500 captions of unseen digits",
    settings={"its own picture": {}, "another picture": {"shuffled": True}},
)
def captions(seed: int, shuffled: bool = False) -> Numbers:
    """Captions of handwritten digits; and of pictures that have nothing to do with them."""
    features, targets = cells.features, cells.targets
    if shuffled:
        features = features[torch.from_numpy(np.random.default_rng(seed).permutation(len(features)))]
    model: nn.Module = cells.learn_to_caption(features, targets, seed)
    said = [cells.describe(model, image) for image in cells.unseen_digits.images]
    return {
        "true": np.mean([a == b for a, b in zip(said, cells.true_captions, strict=True)]),
        "sentences": np.mean([words in cells.grammar for words in said]),
    }


@unit.experiment(
    "strings of 8 digits: mean length and mean BLEU of what beams write; share of right digits, where the third is "
    "read back wrong, and after the true tokens",
    settings={"three in ten cut short": {"cut": 0.3}, "whole answers": {"cut": 0.0}},
)
def copiers(seed: int, cut: float) -> Numbers:
    """Copy strings, taught with answers of which some break off; beams of 1 and 16; one wrong digit."""
    model = cells.learn_to_copy(cells.Seq2Seq, 64, 8, 800, 800, seed, cut)[0]
    found: Numbers = {}
    for name, alpha in (("", 0.0), (", by the token", 1.0)):
        lengths, scores = cells.search_strings(model, [1, 16], alpha)
        for width, length, score in zip((1, 16), lengths, scores, strict=True):
            found |= {f"length, width {width}{name}": float(length), f"BLEU, width {width}{name}": float(score)}
    at = cells.right_by_position(model)
    for name, shares in (("", at["the third one\nis wrong"]), (", true tokens", at["after the\ntrue tokens"])):
        found |= {f"right after it{name}": shares[3], f"later{name}": float(np.mean(shares[4:]))}
    return found


@unit.experiment(
    "share of 200 unseen tunes that are read without a mistake",
    settings={
        "ctc": {"loss_name": "ctc"},
        "equal parts": {"loss_name": "equal parts"},
        "true times": {"loss_name": "true times"},
    },
)
def listening(seed: int, loss_name: str) -> Numbers:
    """Tunes, of which nobody says when a note begins; and of which somebody does, wrongly or rightly."""
    return {"right": cells.read_tunes(cells.learn_to_listen(loss_name, seed))}


unit.claim(
    "keep_the_day",
    dates,
    "After one pass over 32,000 dates, at least seven in ten of the dates of held-out days are translated without "
    "a single wrong digit. Without the 2 in the bias it is fewer than three in ten.",
    figure=("2 added to the bias of z", "right after 1000"),
    controls=[("nothing added", "right after 1000")],
    holds=lambda n: (
        n["2 added to the bias of z"]["right after 1000"] > 0.7 and n["nothing added"]["right after 1000"] < 0.3
    ),
)


def _blames_the_model(n: BySetting) -> bool:
    r = n["2 added to the bias of z"]
    return (
        r["poor, beam found better"] > 0.05
        and r["poor, beam found worse"] < 0.02
        and r["poor, greedy wrong by search"] > 0
        and r["poor, beam wrong by search"] <= r["poor, greedy wrong by search"] / 2
        and r["poor, beam wrong"] > r["poor, greedy wrong"] / 2
    )


unit.claim(
    "search_or_model",
    dates,
    "On the poor copy the beam finds a more probable answer for at least one date in twenty, and hardly ever a "
    "less probable one; greedy's search is to blame for some mistakes, that of the beam for at most half as many. "
    "And still, more than half of the mistakes stay.",
    figure=("2 added to the bias of z", "poor, beam wrong"),
    controls=[
        ("2 added to the bias of z", "poor, greedy wrong"),
        ("2 added to the bias of z", "poor, greedy wrong by search"),
        ("nothing added", "trained, beam wrong"),
    ],
    holds=_blames_the_model,
)
unit.expectation(
    "A better search makes a model's answers better.",
    "in part",
    "Most of the time the model believes in the wrong date, and a better search finds that belief more surely.",
)
unit.claim(
    "how_wide",
    random_models,
    "Greedy finds the best answer in fewer than six models of ten, a beam of six in more than nine of ten. In "
    "models that are less sure of each token, both find it less often.",
    figure=("spread 1.5", "width 1"),
    controls=[("spread 1.5", "width 6"), ("flatter, 0.5", "width 6"), ("surer, 4", "width 1")],
    holds=lambda n: (
        n["spread 1.5"]["width 1"] < 0.6 < 0.9 < n["spread 1.5"]["width 6"]
        and all(n["flatter, 0.5"][width] < n["spread 1.5"][width] for width in ("width 1", "width 6"))
    ),
)
unit.claim(
    "teacher_first",
    what_the_decoder_reads,
    "After 600 updates the decoder with a teacher copies at least a third of the strings. The one that read its "
    "own guesses copies fewer than one in ten; it needs twice the updates for a third. The decoder whose targets "
    "are not shifted has a loss below 0.05, and copies nothing.",
    figure=("teacher", "copied"),
    controls=[("own guesses", "copied"), ("own guesses, twice the updates", "copied"), ("not shifted", "copied")],
    holds=lambda n: (
        n["teacher"]["copied"] > 1 / 3
        and n["own guesses"]["copied"] < 0.1
        and n["own guesses, twice the updates"]["copied"] > 1 / 3
        and n["not shifted"]["loss"] < 0.05
        and n["not shifted"]["copied"] < 0.01
    ),
)
unit.claim(
    "size_or_training",
    size_of_the_summary,
    "After 800 updates, a summary of three times the size carries longer strings: of six digits the small network "
    "copies fewer than four in ten, the large one more than eight in ten. But with four times the updates, the "
    "small network copies more than eight in ten as well.",
    figure=("H = 32, four times the updates", "6 digits"),
    controls=[("H = 32", "6 digits"), ("H = 96", "6 digits")],
    holds=lambda n: (
        n["H = 32"]["6 digits"] < 0.4
        and n["H = 96"]["6 digits"] > 0.8
        and n["H = 32, four times the updates"]["6 digits"] > 0.8
    ),
)
unit.claim(
    "fluent_is_not_right",
    captions,
    "On 500 unseen digits at least 80% of the captions are true in every word, and at least 98% are sentences "
    "that our little grammar allows. Trained on pictures that have nothing to do with their captions, a network "
    "says sentences as well, and fewer than 20% of them are true.",
    figure=("its own picture", "true"),
    controls=[("its own picture", "sentences"), ("another picture", "sentences"), ("another picture", "true")],
    holds=lambda n: (
        n["its own picture"]["true"] > 0.8
        and n["its own picture"]["sentences"] > 0.98
        and n["another picture"]["sentences"] > 0.9
        and n["another picture"]["true"] < 0.2
    ),
)
unit.claim(
    "too_short",
    copiers,
    "Taught with answers of which three in ten break off, a network with a beam of 16 loses at least a fifth of "
    "the BLEU that greedy search has, and writes answers that are at least a digit shorter. Divided by the length, "
    "the same beam is as good as greedy, within 0.05. Taught with whole answers, the plain beam loses at most 0.05.",
    figure=("three in ten cut short", "BLEU, width 16"),
    controls=[
        ("three in ten cut short", "BLEU, width 1"),
        ("three in ten cut short", "BLEU, width 16, by the token"),
        ("whole answers", "BLEU, width 16"),
    ],
    holds=lambda n: _too_short(n["three in ten cut short"], n["whole answers"]),
)


def _too_short(careless: Numbers, whole: Numbers) -> bool:
    return (
        careless["BLEU, width 16"] < 0.8 * careless["BLEU, width 1"]
        and careless["length, width 16"] < careless["length, width 1"] - 1
        and careless["BLEU, width 16, by the token"] > careless["BLEU, width 1"] - 0.05
        and whole["BLEU, width 16"] > whole["BLEU, width 1"] - 0.05
    )


unit.claim(
    "one_wrong_digit",
    copiers,
    "Right after one wrong digit fewer than half of the digits are right, and over the rest of the string fewer than a "
    "third. After the true tokens more than six in ten are, at the same places.",
    figure=("whole answers", "later"),
    controls=[("whole answers", "later, true tokens"), ("whole answers", "right after it")],
    holds=lambda n: _harms(n["whole answers"]),
)


def _harms(whole: Numbers) -> bool:
    after_the_truth = min(whole["right after it, true tokens"], whole["later, true tokens"])
    return whole["right after it"] < 0.5 and whole["later"] < 1 / 3 and after_the_truth > 0.6


unit.claim(
    "nobody_says_when",
    listening,
    "After 300 updates, the network trained with CTC reads at least eight in ten unseen tunes without a mistake, the "
    "one trained on equal parts fewer than four in ten.",
    figure=("ctc", "right"),
    controls=[("equal parts", "right"), ("true times", "right")],
    holds=lambda n: n["ctc"]["right"] > 0.8 and n["equal parts"]["right"] < 0.4,
)
