"""What unit 11 claims about training: digits read in rows, names marked late, reviews, and tunes sung alone."""

from torch import nn

from claims.experiment import Unit
from rnncourse.experiments.heads import (
    LAST,
    LAST_DEEP,
    MEAN,
    MEAN_DEEP,
    alone,
    asked_at_every_row,
    at_a_glance,
    corrected,
    digit_reader,
    fit_digits,
    fit_in_order,
    fit_mails,
    fit_on_bags,
    fit_tagger,
    gradient_at_inputs,
    last_sequence_for_last_step,
    loss_with_wrong_axis,
    names_ceiling,
    notes_right,
    played,
    reviews,
    right_after,
    right_on_first,
    right_on_unread,
    share_of_digits,
    share_of_reviews,
    spread_of_votes,
    taught,
    used_as,
)
from rnncourse.experiments.training import build
from rnncourse.heads import OneToOne, SequenceClassifier, SequenceGenerator, SequenceTagger

unit = Unit("11_heads")

GLANCE, LINEAR, EVERY = "all pixels at once", "one linear layer", "every row"


@unit.experiment(
    "the share of held-out digits that is read right, by what the head reads and what the head is",
    settings={name: {"reader": name} for name in (LAST, MEAN, LAST_DEEP, MEAN_DEEP, EVERY, GLANCE, LINEAR)},
)
def digits(seed, reader):
    if reader in (GLANCE, LINEAR):
        sizes = (OneToOne, 64, 64, 10) if reader == GLANCE else (nn.Linear, 64, 10)
        model = build(*sizes, seed=seed)
        fit_digits(model, at_a_glance, seed)
        return {"right": share_of_digits(model, at_a_glance)}
    model = asked_at_every_row(seed=seed) if reader == EVERY else digit_reader(reader, seed=seed)
    found = {"right": right_after(model, 8)}
    if reader in (LAST, EVERY):
        found |= {f"{rows} rows": right_after(model, rows) for rows in range(1, 8)}
    if reader == MEAN:
        found |= {f"spread of row {row}": one for row, one in enumerate(spread_of_votes(model), 1)}
    return found


@unit.experiment(
    "the share of words whose label is right, from left to right",
    settings={
        "one step later": {"delay": 1},
        "at once": {"delay": 0},
        "at once, twice as large": {"delay": 0, "hidden": 48},
    },
)
def tagger(seed, delay, hidden=24):
    right = fit_tagger(delay, seed=seed, hidden=hidden)[-1]
    return {"right": right, "off the ceiling in millionths": 1e6 * (right - names_ceiling())}


@unit.experiment(
    "the gradient that arrives at the first of 40 inputs, as a share of that at the last",
    settings={"PyTorch's start": {"orthogonal": False}, "orthogonal": {"orthogonal": True}},
)
def arriving_at_first(seed, orthogonal):
    norms = {pool: gradient_at_inputs(pool, seed=seed, orthogonal=orthogonal) for pool in ("last", "mean")}
    return {pool: norm[0] / norm[-1] for pool, norm in norms.items()}


@unit.experiment(
    "of 40 steps one matters: the share of right answers where it is the first, by where it was in training",
    settings={
        "mean, always first": {"pool": "mean", "first_only": True},
        "last, always first": {"pool": "last", "first_only": True},
        "last, anywhere": {"pool": "last", "first_only": False},
    },
)
def far_away(seed, pool, first_only):
    return {"right": right_on_first(pool, first_only, seed=seed)}


@unit.experiment(
    "the share of reviews whose sentiment is right",
    settings={name: {"reader": name} for name in ("word by word", "bag", "a weight for each word", "never read")},
)
def sentiment(seed, reader):
    size = reviews()[1].shape[-1]
    if reader == "never read":
        return {"right": right_on_unread(seed=seed)}
    if reader == "word by word":
        return {"right": share_of_reviews(fit_in_order(build(SequenceClassifier, size, 32, 2, seed=seed), seed))}
    sizes = (OneToOne, size, 64, 2) if reader == "bag" else (nn.Linear, size, 2)
    return {"right": share_of_reviews(fit_on_bags(build(*sizes, seed=seed)))}


@unit.experiment(
    "the share of unseen mails of which it is told whether they are forged, by how two chains are combined",
    settings={"product": {"how": "product"}, "side by side": {"how": "concat"}},
)
def forged(seed, how):
    return {"right": fit_mails("is_forged", how, seed=seed)}


@unit.experiment(
    "the share of notes that are right, of six tunes, by how the network was trained and how it is used",
    settings={
        "corrected": {"how": "corrected"},
        "alone": {"how": "alone"},
        "corrected, noisy notes": {"how": "corrected", "noise": 0.1},
    },
)
def tunes(seed, how, noise=0.0):
    ways = {"corrected": (SequenceTagger, corrected), "alone": (SequenceGenerator, alone)}
    model = taught(*ways[how], noise=noise, seed=seed)
    return {f"used {name}": notes_right(played(used_as(kind, model), view)) for name, (kind, view) in ways.items()}


@unit.experiment(
    "the mean loss of the last 50 of 200 updates on batches of 8 digits",
    settings={"last sequence": {"wrong": True}, "last step": {"wrong": False}},
)
def wrong_axis(seed, wrong):
    return {"loss": loss_with_wrong_axis(last_sequence_for_last_step() if wrong else SequenceClassifier, seed)}


tagger.claim(
    "one_step_later",
    "Asked at once, the tagger ends on its ceiling, to five digits. Asked one step later, it is right on every word.",
    figure=("one step later", "right"),
    controls=[("at once", "right"), ("at once, twice as large", "right")],
    holds=lambda n: abs(n["at once"]["off the ceiling in millionths"]) < 10 and n["one step later"]["right"] > 0.9999,
)
digits.claim(
    "row_by_row",
    "Row by row, the last state reads more than 95% of the held-out digits right. The mean of all states reads at "
    "least 3 in 100 fewer.",
    figure=(LAST, "right"),
    controls=[(MEAN, "right"), (GLANCE, "right"), (LINEAR, "right")],
    holds=lambda n: n[LAST]["right"] > max(0.95, n[MEAN]["right"] + 0.03),
)
digits.claim(
    "early_rows_do_not_abstain",
    "In the reader of the mean, the votes of the third row differ more than half as much from digit to digit as those "
    "of the last.",
    figure=(MEAN, "spread of row 3"),
    controls=[(MEAN, "spread of row 1"), (MEAN, "spread of row 8")],
    holds=lambda n: n[MEAN]["spread of row 3"] > n[MEAN]["spread of row 8"] / 2,
)
digits.claim(
    "head_of_two_layers",
    "On the mean, the head with a hidden layer reads more digits right than the linear one.",
    figure=(MEAN_DEEP, "right"),
    controls=[(MEAN, "right"), (LAST, "right"), (LAST_DEEP, "right")],
    holds=lambda n: n[MEAN_DEEP]["right"] > n[MEAN]["right"],
)
digits.claim(
    "asked_at_any_time",
    "After five of the eight rows, the reader that was asked at every row has at least 50 in 100 digits more right "
    "than the one that was asked at the end. After all eight it has at least 5 in 100 fewer.",
    figure=(EVERY, "5 rows"),
    controls=[(LAST, "5 rows"), (EVERY, "right"), (LAST, "right")],
    holds=lambda n: n[EVERY]["5 rows"] >= n[LAST]["5 rows"] + 0.5 and n[EVERY]["right"] <= n[LAST]["right"] - 0.05,
)
arriving_at_first.claim(
    "short_way_of_the_mean",
    "With the last state, $x_1$ gets less than a millionth of the gradient that $x_{40}$ gets. With the mean, it gets "
    "more than a tenth.",
    figure=("PyTorch's start", "last"),
    controls=[("PyTorch's start", "mean"), ("orthogonal", "last")],
    holds=lambda n: n["PyTorch's start"]["last"] < 1e-6 and n["PyTorch's start"]["mean"] > 0.1,
)
far_away.claim(
    "far_from_the_end",
    "Where the step that matters is always the first, the mean is right more than 99 times in 100. The last state is, "
    "if the step may stand anywhere.",
    figure=("mean, always first", "right"),
    controls=[("last, always first", "right"), ("last, anywhere", "right")],
    holds=lambda n: min(n["mean, always first"]["right"], n["last, anywhere"]["right"]) > 0.99,
)
sentiment.claim(
    "what_order_is_worth",
    "The bag meets its ceiling of 0.75 and stays on it. The classifier that reads word by word is right on more than "
    "98%.",
    figure=("word by word", "right"),
    controls=[("bag", "right"), ("a weight for each word", "right"), ("never read", "right")],
    holds=lambda n: abs(n["bag"]["right"] - 0.75) < 0.005 and n["word by word"]["right"] > 0.98,
)
forged.claim(
    "product_compares",
    "On forgeries, the product is right more than 90% of the time, and two chains side by side less than 65%.",
    figure=("product", "right"),
    controls=[("side by side", "right")],
    holds=lambda n: n["product"]["right"] > 0.9 > 0.65 > n["side by side"]["right"],
)
tunes.claim(
    "walks_alone",
    "Trained with corrections, the network has more than 98% of the notes right while it is corrected, and less than "
    "85% when it is left alone. Trained alone, it plays more than nine in ten right, alone.",
    figure=("corrected", "used alone"),
    controls=[
        ("alone", "used alone"),
        ("corrected", "used corrected"),
        ("corrected, noisy notes", "used alone"),
    ],
    holds=lambda n: (
        n["corrected"]["used corrected"] > 0.98
        and n["corrected"]["used alone"] < 0.85
        and n["alone"]["used alone"] > 0.9
    ),
)
wrong_axis.claim(
    "wrong_axis_stays_a_guess",
    "With the bug the loss stays above 2, near the $\\log 10 = 2.303$ of a guess. Without it, it falls below 1.",
    figure=("last sequence", "loss"),
    controls=[("last step", "loss")],
    holds=lambda n: n["last step"]["loss"] < 1 and n["last sequence"]["loss"] > 2,
)

unit.expectation(
    "A bag of words cannot deal with negation.", "Negation as such is not what a bag is blind to", "in part"
)
unit.expectation(
    "What stands at the beginning of a long sequence, the last state cannot learn from.",
    "Where the step may stand anywhere, the last state learns it, too",
    "in part",
)
