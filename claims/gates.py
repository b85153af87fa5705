"""What unit 10 claims about training: what gates, and how they start, add to a plain cell."""

from __future__ import annotations

import numpy as np
import torch
from torch import nn

from claims.experiment import Unit
from rnncourse import exercises
from rnncourse.gradient_flow import with_spectral_radius
from rnngrade.cells import of

torch.set_num_threads(1)
unit = Unit("10_gates", seeds=5)
gates = of("10_gates")

HELD_OUT = 1, 3, 7, 10, 30, 100, 300, 1000
PLAIN, WIDER, QUIET, LOUDER = "plain", "plain, 68 units", "plain, quiet inputs", "plain, radius 1.5"
LSTM, LSTM_1, LSTM_5 = "LSTM, biases 0", "LSTM, forget bias 1", "LSTM, biases 5 and −5"
GRU, GRU_5 = "GRU, biases 0", "GRU, update bias 5"


def quiet(rng, units):
    """The plain start, with inputs of a fifth of the size."""
    p = gates.draw_plain(rng, units)
    return p | {"U": 0.2 * p["U"]}


def louder(rng, units):
    """The plain start, with a spectral radius of 1.5 in place of an orthogonal W."""
    p = gates.draw_plain(rng, units)
    return p | {"W": with_spectral_radius(rng.normal(size=(units, units)), 1.5)}


def trained(seed, network, lags, updates=300):
    """The network's parameters after training, and its run."""
    draw, run, settings = {
        PLAIN: (gates.draw_plain, gates.run_plain, {}),
        WIDER: (gates.draw_plain, gates.run_plain, {"units": 68}),
        QUIET: (quiet, gates.run_plain, {}),
        LOUDER: (louder, gates.run_plain, {}),
        LSTM: (gates.draw_lstm, gates.run_lstm, {}),
        LSTM_1: (gates.draw_lstm, gates.run_lstm, {"forget_bias": 1.0}),
        LSTM_5: (gates.draw_lstm, gates.run_lstm, {"forget_bias": 5.0, "input_bias": -5.0}),
        GRU: (gates.draw_gru, gates.run_gru, {}),
        GRU_5: (gates.draw_gru, gates.run_gru, {"update_bias": 5.0}),
    }[network]
    return gates.train(draw, run, lags, updates=updates, seed=seed, **settings), run  # type: ignore[arg-type]


@unit.experiment(
    "share of right answers after training on one lag alone: at that lag, and at the worst of four lags beside it",
    settings={
        f"{network}, lag {lag}": {"network": network, "lag": lag}
        for lag in (100, 30)
        for network in (LSTM_5, LSTM_1, LSTM, PLAIN, WIDER, QUIET, LOUDER, GRU, GRU_5)
    }
    | {f"{network}, lag 10": {"network": network, "lag": 10} for network in (LSTM_5, LSTM_1, LSTM, PLAIN)}
    | {
        f"{network}, lag 30, 2000 updates": {"network": network, "lag": 30, "updates": 2000}
        for network in (LSTM, PLAIN)
    },
)
def one_distance(seed, network, lag, updates=300):
    p, run = trained(seed, network, (lag, lag), updates)
    beside = min(gates.share_right(p, run, lag + d) for d in (-2, -1, 1, 2))
    return {"recalled": gates.share_right(p, run, lag), "beside": beside}


@unit.experiment(
    "share of right answers at each lag after 300 updates on short examples",
    settings={
        network: {"network": network, "lags": (1, 7)} for network in (LSTM, PLAIN, WIDER, GRU, LSTM_1, LSTM_5, GRU_5)
    }
    | {
        f"{network}, {name}": {"network": network, "lags": lags}
        for network in (LSTM, PLAIN, GRU)
        for name, lags in {"lag 7 alone": (7, 7), "lag 30 alone": (30, 30), "lags 1 to 30": (1, 30)}.items()
    },
    seeds=10,
)
def short_examples(seed, network, lags):
    p, run = trained(seed, network, lags)
    return {f"lag {lag}": gates.share_right(p, run, lag) for lag in HELD_OUT}


@unit.experiment(
    "share of right answers after 300 updates at one lag, with a forget bias b and an input bias of -b",
    settings={
        f"lag {lag}, bias {b}": {"lag": lag, "b": float(b)}
        for lag in (10, 30, 100, 300)
        for b in range(4 if lag == 300 else 0, 7)
    },
)
def bias_by_lag(seed, lag, b):
    p = gates.train(gates.draw_lstm, gates.run_lstm, (lag, lag), seed=seed, forget_bias=b, input_bias=-b)
    return {"recalled": gates.share_right(p, gates.run_lstm, lag)}


@unit.experiment(
    "an LSTM with these biases at lag 100: the slope of the tanh at c before training, and what it learns",
    settings={
        f"forget {forget:g}, input {closed:g}": {"forget_bias": forget, "input_bias": closed}
        for forget, closed in ((4.0, -4.0), (4.0, 0.0), (0.0, -4.0))
    },
)
def keep_out(seed, forget_bias, input_bias):
    biases = {"forget_bias": forget_bias, "input_bias": input_bias}
    p = gates.train(gates.draw_lstm, gates.run_lstm, (100, 100), seed=seed, **biases)
    slope = gates.slope_before(np.random.default_rng(seed), **biases)
    return {"recalled": gates.share_right(p, gates.run_lstm, 100), "slope": slope}


@unit.experiment(
    "inside a trained LSTM: how far the four symbols are apart in c, how far its gates are open, what wiping does",
    settings={
        "biases 5 and −5, lag 100": {"network": LSTM_5, "lags": (100, 100)},
        "biases 0, lags 1 to 7": {"network": LSTM, "lags": (1, 7)},
    },
)
def inside(seed, network, lags):
    p, _ = trained(seed, network, lags)
    X, H, C, (i, f, _, _) = gates.for_each_symbol(p)
    held = gates.lstm_states(X[1:], H[0], C[0], p["U"], 0 * p["W"], p["b"])[1]
    return {
        "apart at first": gates.spread(C[0]),
        "apart at the end": gates.spread(C[-1]),
        "apart without W": gates.spread(held[-1]),
        "f": f[1:].mean(),
        "i": i[1:].mean(),
        "f with i": np.corrcoef(f[1:].ravel(), i[1:].ravel())[0, 1],
        "lag 300": gates.share_right(p, gates.run_lstm, 300),
        "h wiped": gates.share_after_wiping(p, 20, "h"),
        "c wiped": gates.share_after_wiping(p, 20, "c"),
    }


@unit.experiment(
    "of the wrong steps that the checks know, how many answer more than 95 questions of 100 in a trained network",
    settings={
        "trained at lag 100": {"lags": (100, 100), "lstm": LSTM_5, "gru": GRU_5},
        "trained on lags 1 to 7": {"lags": (1, 7), "lstm": LSTM, "gru": GRU},
    },
)
def wrong_steps(seed, lags, lstm, gru):
    shares = []
    for network, name, states in ((lstm, "lstm_step", 2), (gru, "gru_step", 1)):
        p, _ = trained(seed, network, lags)
        shares += [gates.share_with(w.answer, p, states) for w in exercises.find(name).misconceptions]
    return {"unseen": sum(share > 0.95 for share in shares), "of": len(shares)}


@unit.experiment(
    "unit 09's tagger with other cores, no more parameters: the share of held-out comment characters that it knows if "
    "the sign is in view; of lines of code with a sign before them, that of each character that it takes for a comment",
    settings={
        "LSTM": {"core": nn.LSTM, "hidden_size": 43},
        "plain": {"core": nn.RNN, "hidden_size": 96},
        "GRU": {"core": nn.GRU, "hidden_size": 51},
        "LSTM, forget bias 2": {"core": nn.LSTM, "hidden_size": 43, "forget_bias": 2.0},
        "LSTM, forget bias 5": {"core": nn.LSTM, "hidden_size": 43, "forget_bias": 5.0},
        "plain, 15 epochs": {"core": nn.RNN, "hidden_size": 96, "epochs": 15},
    },
)
def tagger(seed, core, hidden_size, forget_bias=None, epochs=5):
    model = gates.train_tagger(core, hidden_size, forget_bias, epochs, seed)
    marked = gates.taken_for_comment(model)
    found = {"known": gates.comments_known(model), "unmarked": gates.taken_for_comment(model, "").mean()}
    found |= {"of the first four": marked[:4].mean(), "of the last eight": marked[-8:].mean()}
    return found | {f"character {k}": share for k, share in enumerate(marked, start=1)}


unit.claim(
    "gates_from_long",
    one_distance,
    "At a lag of 100 the LSTM is right more than 99 times in 100 with biases of 5 and $-5$, and guesses with biases of "
    "0, as the plain cell does.",
    figure=(f"{LSTM_5}, lag 100", "recalled"),
    controls=[(f"{LSTM}, lag 100", "recalled"), (f"{PLAIN}, lag 100", "recalled")],
    holds=lambda n: (
        n[f"{LSTM_5}, lag 100"]["recalled"]
        > 0.99
        > 0.5
        > max(n[f"{network}, lag 100"]["recalled"] for network in (LSTM, PLAIN))
    ),
)
unit.claim(
    "forget_bias",
    bias_by_lag,
    r"A forget bias of $\log T$, rounded up to a whole number, is enough at lags $T$ of 10, 30, 100 and 300. At 100 a "
    "bias of 2 is not enough, and at 300 one of 4 is not.",
    figure=("lag 300, bias 6", "recalled"),
    controls=[("lag 300, bias 4", "recalled"), ("lag 100, bias 2", "recalled"), ("lag 30, bias 0", "recalled")],
    holds=lambda n: (
        min(n[f"lag {lag}, bias {b}"]["recalled"] for lag, b in ((10, 3), (30, 4), (100, 5), (300, 6))) > 0.95
        and max(n[place]["recalled"] for place in ("lag 100, bias 2", "lag 300, bias 4")) < 0.6
    ),
)
unit.claim(
    "keep_and_keep_out",
    keep_out,
    "With $b_f = 4$ the LSTM learns to recall over 100 steps if $b_i$ is $-4$, and does not reliably if $b_i$ is 0: "
    "over five seeds it is right in {{keep_out/forget 4, input -4/recalled}} and {{keep_out/forget 4, input "
    "0/recalled}}.",
    figure=("forget 4, input -4", "recalled"),
    controls=[("forget 4, input 0", "recalled"), ("forget 0, input -4", "recalled")],
    holds=lambda n: n["forget 4, input -4"]["recalled"] > 0.99 > 0.95 > n["forget 4, input 0"]["recalled"],
)
unit.claim(
    "gru_from_long",
    one_distance,
    "Trained on a lag of 100 alone, the GRU is right more than 99 times in 100 with a bias of 5 on $z$, and guesses "
    "with biases of 0.",
    figure=(f"{GRU_5}, lag 100", "recalled"),
    controls=[(f"{GRU}, lag 100", "recalled")],
    holds=lambda n: n[f"{GRU_5}, lag 100"]["recalled"] > 0.99 > 0.5 > n[f"{GRU}, lag 100"]["recalled"],
)
unit.claim(
    "tagger_with_gates",
    tagger,
    "With nothing set by hand, a tagger with an LSTM takes more than nine in ten characters for a comment where the "
    "sign is in view. With a forget bias of 5 it takes fewer.",
    figure=("LSTM", "known"),
    controls=[("plain", "known"), ("LSTM, forget bias 5", "known"), ("plain, 15 epochs", "known")],
    holds=lambda n: n["LSTM"]["known"] > 0.9 and n["LSTM, forget bias 5"]["known"] < n["LSTM"]["known"],
)
unit.claim(
    "lstm_from_short",
    short_examples,
    "Trained on lags from 1 to 7 alone, an LSTM whose biases start at 0 holds the symbol for 1,000 steps. Trained on a "
    "lag of 30 alone, the same LSTM guesses there.",
    figure=(LSTM, "lag 1000"),
    controls=[(f"{LSTM}, lag 30 alone", "lag 30"), (PLAIN, "lag 1000"), (WIDER, "lag 1000")],
    holds=lambda n: n[LSTM]["lag 1000"] > 0.99 > 0.5 > n[f"{LSTM}, lag 30 alone"]["lag 30"],
)

unit.expectation(
    "In an LSTM, errors do not vanish.",
    "in part",
    "with a forget bias of 0, the LSTM loses its errors as fast as a plain cell.",
)
unit.expectation(
    "What learns to remember over long distances is the LSTM, whatever its start.",
    "no",
    "Left at 0, its gates are half open, an error is halved at each step, and at 30 steps it does worse than the plain "
    "cell.",
)
unit.expectation(
    "Nobody remembers for longer than it was trained to.",
    "no",
    "An LSTM that halves an error at every step learns from seven steps what to do for a thousand.",
)
unit.expectation(
    "If a cell is computed wrongly, the answers of its network show it.",
    "no",
    "But many of the wrong steps answer nearly every question",
)
unit.expectation(
    "On real text, an LSTM holds on to what a plain cell cannot.",
    "in part",
    "Three times the training, and the plain cell knows as many, and holds the sign for longer than the LSTM did in "
    "five epochs. Gates got there sooner.",
)
