"""What unit 12 claims about translators, searches, teachers and summaries."""

import numpy as np

from claims.experiment import BySetting, Numbers, Unit
from rnncourse.experiments.encoder_decoder import (
    after_one_wrong,
    beams_on_strings,
    captioned_digits,
    copies,
    dealt_anew,
    describe,
    learn_to_caption,
    learn_to_copy,
    learn_to_translate,
    parts_right,
    search_random_models,
    shares_true,
    unseen_dates,
    whose_mistakes,
)

unit = Unit("12_encoder_decoder")


@unit.experiment(
    "shares of 500 dates of unseen days that are right, in whole and by part; of the poor translator's 60, counts",
    settings={"2 added": {"keep": 2.0}, "nothing added": {"keep": 0.0}},
)
def dates(seed: int, keep: float) -> Numbers:
    """A translator, with and without its start; and whose its mistakes are when it is still poor."""
    model, poor, _, _ = learn_to_translate(seed, keep, points=1)
    found = dict(parts_right(model, unseen_dates()))
    if keep:
        blamed = whose_mistakes(poor, unseen_dates()[:60])
        found |= {f"{name}, {what}": float(n) for name, counts in blamed.items() for what, n in counts.items()}
    return found


@unit.experiment(
    "shares of 500 dates of unseen days that are right",
    settings={"in the decoder alone": {"keep": (0.0, 2.0)}, "in the encoder alone": {"keep": (2.0, 0.0)}},
)
def who_forgets(seed: int, keep: tuple[float, float]) -> Numbers:
    """The same translator with the start of one of the two networks."""
    return dict(parts_right(learn_to_translate(seed, keep, points=1).model, unseen_dates()))


@unit.experiment(
    "share of 100 models in which a beam of that width finds the best answer",
    settings={"spread 1.5": {"spread": 1.5}, "flatter, 0.5": {"spread": 0.5}},
)
def random_models(seed: int, spread: float) -> Numbers:
    """Searches in tables of three states."""
    searched = search_random_models(seed, 100, spread)
    return {f"width {width}": share for width, share in searched.found.items()} | {
        "best is empty": searched.best_is_empty
    }


@unit.experiment(
    "share of strings of five digits copied; share of right digits where the second is read back wrong, and where not",
    settings={reads: {"reads": reads} for reads in ("the true tokens", "its own guesses", "a fifth wrong")},
)
def copying(seed: int, reads: str) -> Numbers:
    """Copy strings of one to five digits, by what the decoder reads in training."""
    model, _, curve = learn_to_copy(reads, seed, points=1)
    at = after_one_wrong(model)
    wrong, true = at["after one wrong digit"], at["after the truth"]
    return {
        "copied": max(curve.values()),
        "right after it": wrong[2],
        "later": float(np.mean(wrong[3:])),
        "right there, true tokens": true[2],
        "later, true tokens": float(np.mean(true[3:])),
    }


@unit.experiment(
    "strings of 8 digits: mean length and mean BLEU of what beams of 1 and 16 write",
    settings={"three in ten cut short": {"cut": 0.3}, "whole answers": {"cut": 0.0}},
)
def careless_teacher(seed: int, cut: float) -> Numbers:
    """Copy strings, taught with answers of which some break off."""
    model = learn_to_copy(seed=seed, longest=8, updates=300, cut=cut, points=1).model
    plain = beams_on_strings(model, (1, 16))
    found = {f"length, width {w}": n for w, n in plain.lengths.items()}
    found |= {f"BLEU, width {w}": n for w, n in plain.bleu.items()}
    if cut:
        by_length = beams_on_strings(model, (16,), 1.0)
        found |= {"length, by the length": by_length.lengths[16], "BLEU, by the length": by_length.bleu[16]}
    return found


@unit.experiment(
    "share of strings copied without a mistake, by the number of digits",
    settings={
        "H = 24": {"hidden": 24},
        "H = 72": {"hidden": 72},
        "H = 24, three times the updates": {"hidden": 24, "updates": 450},
    },
)
def size_of_the_summary(seed: int, hidden: int, updates: int = 150) -> Numbers:
    """Copy strings of one to five digits, with more units or more training."""
    model = learn_to_copy(seed=seed, hidden=hidden, updates=updates, points=1).model
    return {str(length): copies(model, length) for length in range(1, 7)}


@unit.experiment(
    "shares of 500 captions of unseen digits",
    settings={"its own picture": {}, "another picture": {"anew": True}},
)
def captions(seed: int, anew: bool = False) -> Numbers:
    """Captions of handwritten digits; and of pictures that have nothing to do with them."""
    seen, others = captioned_digits()
    model = learn_to_caption(dealt_anew(seen, seed) if anew else seen, seed)
    return shares_true(describe(model, others.images), others.captions)


dates.claim(
    "month_is_lost",
    "Without the 2 it is the month that is lost: it is right in fewer than a quarter of the dates, against more than "
    "half with it. The day is right more than twice as often as the month, and the year in nineteen of twenty.",
    figure=("nothing added", "month"),
    controls=[("2 added", "month"), ("nothing added", "day"), ("nothing added", "year")],
    holds=lambda n: (
        n["nothing added"]["month"] < 0.25
        and n["2 added"]["month"] > 0.5
        and n["nothing added"]["day"] > 2 * n["nothing added"]["month"]
        and n["nothing added"]["year"] > 0.95
    ),
)


who_forgets.claim(
    "the_decoder_forgets",
    "With the 2 in the decoder alone more than two dates in five are right, in the encoder alone fewer than one in "
    "five.",
    figure=("in the decoder alone", "date"),
    controls=[("in the encoder alone", "date")],
    holds=lambda n: n["in the decoder alone"]["date"] > 0.4 and n["in the encoder alone"]["date"] < 0.2,
)


def _blames_the_model(n: BySetting) -> bool:
    r = n["2 added"]
    return (
        r["greedy, missed by the search"] < r["greedy, wrong"] / 3
        and r["beam, missed by the search"] <= r["greedy, missed by the search"] / 2
        and r["beam, wrong"] > 2 / 3 * r["greedy, wrong"]
    )


dates.claim(
    "search_or_model",
    "The search is to blame for fewer than a third of greedy's mistakes. With a beam it is to blame for at most half "
    "as many as with greedy, and still two thirds of the mistakes stay.",
    figure=("2 added", "beam, wrong"),
    controls=[
        ("2 added", "greedy, wrong"),
        ("2 added", "greedy, missed by the search"),
        ("2 added", "beam, missed by the search"),
    ],
    holds=_blames_the_model,
)
unit.expectation(
    "A better search makes a model's answers better.",
    "Most of the time the model believes in the wrong date, and a better search finds that belief more surely.",
    "in part",
)
random_models.claim(
    "how_wide",
    "Greedy finds the best answer in fewer than six models of ten, a beam of six in at least nine of ten. In "
    "models that are less sure of each token a beam of six finds it in fewer than two of ten.",
    figure=("spread 1.5", "width 1"),
    controls=[("spread 1.5", "width 6"), ("flatter, 0.5", "width 6")],
    holds=lambda n: (
        n["spread 1.5"]["width 1"] < 0.6 and n["spread 1.5"]["width 6"] >= 0.9 and n["flatter, 0.5"]["width 6"] < 0.2
    ),
)
copying.claim(
    "teacher_first",
    "After the same 250 updates the decoder with a teacher copies more than two strings in five, the one that read its "
    "own guesses fewer than one in five.",
    figure=("the true tokens", "copied"),
    controls=[("its own guesses", "copied")],
    holds=lambda n: n["the true tokens"]["copied"] > 0.4 and n["its own guesses"]["copied"] < 0.2,
)
copying.claim(
    "one_wrong_digit",
    "After one wrong digit fewer than a third of the digits that follow are right. After the true tokens, at the same "
    "places, more than seven in ten are.",
    figure=("the true tokens", "later"),
    controls=[("the true tokens", "right after it"), ("the true tokens", "later, true tokens")],
    holds=lambda n: _harms(n["the true tokens"]),
)


def _harms(taught: Numbers) -> bool:
    after_the_truth = min(taught["right there, true tokens"], taught["later, true tokens"])
    return max(taught["right after it"], taught["later"]) < 1 / 3 and after_the_truth > 0.7


copying.claim(
    "exposed",
    "The decoder that met wrong digits in training is right in more than twice as many of the last two digits after "
    "the mistake. In use it copies fewer than two thirds as many strings.",
    figure=("a fifth wrong", "later"),
    controls=[("the true tokens", "later"), ("a fifth wrong", "copied"), ("the true tokens", "copied")],
    holds=lambda n: (
        n["a fifth wrong"]["later"] > 2 * n["the true tokens"]["later"]
        and n["a fifth wrong"]["copied"] < 2 / 3 * n["the true tokens"]["copied"]
    ),
)
unit.expectation(
    "A decoder that has met mistakes in training does better in use.",
    "It finds its way back, and still it copies less.",
)
careless_teacher.claim(
    "too_short",
    "Taught with answers of which three in ten break off, a network loses more than a third of its BLEU with a beam of "
    "16, and its answers are at least two digits shorter than greedy's. Divided by the length, the same beam is as "
    "good as greedy, within 0.1. Taught with whole answers, the plain beam loses at most 0.1.",
    figure=("three in ten cut short", "BLEU, width 16"),
    controls=[
        ("three in ten cut short", "BLEU, width 1"),
        ("three in ten cut short", "BLEU, by the length"),
        ("whole answers", "BLEU, width 16"),
    ],
    holds=lambda n: _too_short(n["three in ten cut short"], n["whole answers"]),
)


def _too_short(careless: Numbers, whole: Numbers) -> bool:
    return (
        careless["BLEU, width 16"] < 2 / 3 * careless["BLEU, width 1"]
        and careless["length, width 16"] <= careless["length, width 1"] - 2
        and careless["BLEU, by the length"] > careless["BLEU, width 1"] - 0.1
        and whole["BLEU, width 16"] > whole["BLEU, width 1"] - 0.1
    )


size_of_the_summary.claim(
    "size_or_training",
    "Of strings of four digits the small network copies fewer than a quarter. With three times the units it copies "
    "more than half, and so does the small network with three times the updates.",
    figure=("H = 24, three times the updates", "4"),
    controls=[("H = 24", "4"), ("H = 72", "4")],
    holds=lambda n: (
        n["H = 24"]["4"] < 0.25 and n["H = 72"]["4"] > 0.5 and n["H = 24, three times the updates"]["4"] > 0.5
    ),
)
captions.claim(
    "fluent_is_not_right",
    "On 500 unseen digits at least 98% of the captions are sentences that our little grammar allows, and more than "
    "three quarters are true in every word. Trained on pictures that have nothing to do with their captions, a network "
    "says sentences in more than 90% of all cases as well, and fewer than 20% are true.",
    figure=("its own picture", "true"),
    controls=[("its own picture", "sentences"), ("another picture", "sentences"), ("another picture", "true")],
    holds=lambda n: (
        n["its own picture"]["true"] > 0.75
        and n["its own picture"]["sentences"] >= 0.98
        and n["another picture"]["sentences"] > 0.9
        and n["another picture"]["true"] < 0.2
    ),
)
