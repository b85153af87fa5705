"""Unit 05: what a step that is too long does, where the wall is and what moves it, and what short examples teach."""

from typing import Any

import numpy as np

from claims.experiment import Numbers, Unit
from rnncourse.experiments.gradient_flow import (
    draw_parameters,
    drawn,
    inside_after_training,
    powers_lost,
    recall_after_training,
)

unit = Unit("05_gradient_flow")


# --- section 3: steps that are too long

RATES = (0.03, 0.1, 0.2, 0.5, 1.0)


@unit.experiment(
    "share of right answers at lag 15 after 300 updates on lags 1 to 15",
    settings={
        f"rate {rate:g}, {name}": {"learning_rate": rate, "max_norm": limit}
        for limit, name in ((np.inf, "unclipped"), (1.0, "clipped at 1"))
        for rate in RATES
    }
    | {
        "rate 0.2, clipped at 5": {"learning_rate": 0.2, "max_norm": 5.0},
        "rate 0.03, unclipped, 2,000 updates": {"learning_rate": 0.03, "max_norm": np.inf, "updates": 2000},
    },
)
def long_steps(seed: int, **settings: Any) -> Numbers:
    return recall_after_training(seed, (1, 15), (15,), **settings)


long_steps.claim(
    "saved_by_clipping",
    "At a rate of 0.2 a network that is clipped at 1 recalls over 15 steps more than nine times in ten; unclipped it "
    "does not.",
    figure=("rate 0.2, clipped at 1", "lag 15"),
    controls=[("rate 0.2, unclipped", "lag 15"), ("rate 0.2, clipped at 5", "lag 15")],
    holds=lambda n: n["rate 0.2, clipped at 1"]["lag 15"] > 0.9 > n["rate 0.2, unclipped"]["lag 15"],
)


@unit.experiment(
    "share of right answers at lag 30 after 300 updates at that lag, from a radius of 0.5",
    settings={
        f"rate {rate:g}, {name}": {"learning_rate": rate, "max_norm": limit}
        for limit, name in ((1.0, "clipped at 1"), (np.inf, "unclipped"))
        for rate in (0.2,)
    }
    | {"rate 1.5, clipped at 1": {"learning_rate": 1.5, "max_norm": 1.0}},
)
def not_exploded(seed: int, **settings: Any) -> Numbers:
    return recall_after_training(seed, (30, 30), (30,), start=0.5, **settings)


not_exploded.claim(
    "not_saved",
    "From a radius of 0.5 a network that is trained at a lag of 30 guesses, clipped and unclipped.",
    figure=("rate 0.2, clipped at 1", "lag 30"),
    controls=[("rate 0.2, unclipped", "lag 30"), ("rate 1.5, clipped at 1", "lag 30")],
    holds=lambda n: max(n[f"rate 0.2, {way}"]["lag 30"] for way in ("clipped at 1", "unclipped")) < 0.4,
)


# --- section 4: what a cut costs


@unit.experiment(
    "share of right answers at lag 6 after 300 updates at that lag, with 0 to 13 steps of noise before the symbol",
    settings={
        f"radius {start:g}, k = {k}": {"start": start, "k": k} for start in (0.5, 1.5) for k in (1, 2, 4, 6, 7, 10, 14)
    },
)
def chunks(seed: int, start: float, k: int) -> Numbers:
    return recall_after_training(seed, (6, 6), (6,), k, start=start, before=13)


chunks.claim(
    "cut_off",
    "From a radius of 0.5 a network learns to recall over 6 steps in chunks of 14, and guesses in chunks of 2.",
    figure=("radius 0.5, k = 14", "lag 6"),
    controls=[("radius 0.5, k = 2", "lag 6"), ("radius 1.5, k = 2", "lag 6")],
    holds=lambda n: n["radius 0.5, k = 14"]["lag 6"] > 0.8 > 0.4 > n["radius 0.5, k = 2"]["lag 6"],
)
chunks.claim(
    "echo",
    "From a radius of 1.5 even chunks of 1 step bring more than a guess.",
    figure=("radius 1.5, k = 1", "lag 6"),
    controls=[("radius 0.5, k = 1", "lag 6")],
    holds=lambda n: n["radius 1.5, k = 1"]["lag 6"] > 0.35,
)


# --- section 6: the wall, and what moves it

LAGS = (2, 5, 10, 20, 30)


@unit.experiment(
    "share of right answers after 300 updates at one lag",
    settings={
        f"{start if start == 'orthogonal' else f'radius {start:g}'}, lag {lag}": {"start": start, "lag": lag}
        for start in ("orthogonal", 0.9, 0.5)
        for lag in LAGS
    },
)
def reach(seed: int, start: float | str, lag: int) -> Numbers:
    return {"right": recall_after_training(seed, (lag, lag), (lag,), start=start)[f"lag {lag}"]}


@unit.experiment(
    "share of right answers at the one lag that was trained, 30; and how many powers of ten an error loses on its way "
    "over 30 steps, before training",
    settings={
        "radius 0.5": {"start": 0.5},
        "radius 0.5, quiet": {"start": 0.5, "loudness": 0.1},
        "radius 0.9": {"start": 0.9},
        "radius 0.9, quiet": {"start": 0.9, "loudness": 0.1},
        "orthogonal": {"start": "orthogonal"},
        "orthogonal, quiet": {"start": "orthogonal", "loudness": 0.1},
        "radius 1.5": {"start": 1.5},
        "radius 0.5, 2,000 updates": {"start": 0.5, "updates": 2000},
        "orthogonal, 2,000 updates": {"start": "orthogonal", "updates": 2000},
    },
)
def wall(seed: int, start: float | str, loudness: float = 0.5, updates: int = 300) -> Numbers:
    before = draw_parameters(np.random.default_rng(seed), drawn(start, seed), loudness)
    right = recall_after_training(seed, (30, 30), (30,), start=start, loudness=loudness, updates=updates)["lag 30"]
    return {"right": right, "lost": powers_lost(before, 30)}


reach.claim(
    "the_wall",
    "Trained for 300 updates at one lag, a radius of 0.5 reaches 5 steps back and not 10; a radius of 0.9 and an "
    "orthogonal start reach 10; at 30 steps all three guess.",
    figure=("orthogonal, lag 30", "right"),
    controls=[("orthogonal, lag 10", "right"), ("radius 0.5, lag 10", "right"), ("radius 0.5, lag 5", "right")],
    holds=lambda n: (
        min(n["radius 0.5, lag 5"]["right"], n["radius 0.9, lag 10"]["right"], n["orthogonal, lag 10"]["right"]) > 0.9
        and max(n[f"{start}, lag 30"]["right"] for start in ("orthogonal", "radius 0.9", "radius 0.5")) < 0.5
        and n["radius 0.5, lag 10"]["right"] < 0.5
    ),
)
wall.claim(
    "moved",
    "At a lag of 30 an orthogonal start learns with inputs a fifth as loud, and with 2,000 updates; a radius of 0.5 "
    "still guesses after 2,000.",
    figure=("orthogonal, quiet", "right"),
    controls=[("orthogonal", "right"), ("orthogonal, 2,000 updates", "right"), ("radius 0.5, 2,000 updates", "right")],
    holds=lambda n: (
        min(n[f"orthogonal, {cause}"]["right"] for cause in ("quiet", "2,000 updates")) > 0.8
        and n["radius 0.5, 2,000 updates"]["right"] < 0.5
    ),
)


# --- section 7: short examples, long memory


@unit.experiment(
    "share of right answers at lags from 1 to 1,000",
    settings={
        "lags 1 to 7": {},
        "lag 30 only": {"lags": (30, 30)},
        "lag 30 only, orthogonal, 2,000 updates": {"lags": (30, 30), "start": "orthogonal", "updates": 2000},
        "lags 24 to 30": {"lags": (24, 30)},
        "lag 7 only": {"lags": (7, 7)},
        "lags 1 to 2": {"lags": (1, 2)},
        "lags 1 to 4": {"lags": (1, 4)},
        "lags 1 to 15": {"lags": (1, 15)},
        "lags 1 to 7, radius 0.5": {"start": 0.5},
        "lags 1 to 7, radius 2": {"start": 2.0},
        "lags 1 to 7, radius 3": {"start": 3.0},
        "lags 1 to 7, orthogonal": {"start": "orthogonal"},
        "lags 1 to 7, rate 0.05": {"learning_rate": 0.05},
        "lags 1 to 7, 1,000 updates": {"updates": 1000},
    },
)
def short_examples(seed: int, **settings: Any) -> Numbers:
    return recall_after_training(seed, **settings)


@unit.experiment(
    "the radius of W; how many of the four symbols have a state of their own that rests and comes back from a push, "
    "and the largest radius there of one step back; the powers of ten that an error loses over 100 steps",
    settings={"lags 1 to 7": {}, "lag 7 only": {"lags": (7, 7)}, "no training": {"updates": 0}},
)
def inside(seed: int, **settings: Any) -> Numbers:
    return inside_after_training(seed, **settings)


short_examples.claim(
    "short_examples_long_memory",
    "A network that never saw a lag above 7 recalls more than nine times in ten over 1,000 steps; one that saw lag 30 "
    "alone guesses at 30.",
    figure=("lags 1 to 7", "lag 1000"),
    controls=[("lag 30 only", "lag 30"), ("lag 7 only", "lag 1000")],
    holds=lambda n: n["lags 1 to 7"]["lag 1000"] > 0.9 > 0.4 > n["lag 30 only"]["lag 30"],
)
short_examples.claim(
    "one_lag_is_a_clock",
    "A network that is trained at lag 7 alone is right there more than nine times in ten, and at lag 10 fewer than "
    "six.",
    figure=("lag 7 only", "lag 10"),
    controls=[("lag 7 only", "lag 7"), ("lags 1 to 7", "lag 10")],
    holds=lambda n: n["lag 7 only"]["lag 7"] > 0.9 > 0.6 > n["lag 7 only"]["lag 10"],
)
inside.claim(
    "attractors",
    "After training on lags 1 to 7, each of the four symbols has a state of its own at which the cell rests, and to "
    "which it comes back from a push.",
    figure=("lags 1 to 7", "attractors"),
    controls=[("no training", "attractors"), ("lag 7 only", "attractors")],
    holds=lambda n: n["lags 1 to 7"]["attractors"] == 4,
)
inside.claim(
    "vanished_and_remembered",
    "Over 100 steps the error of a typical sequence loses more than six powers of ten, and more than two symbols in "
    "three are recalled.",
    figure=("lags 1 to 7", "lost"),
    controls=[("lag 7 only", "lag 100"), ("no training", "lag 100")],
    holds=lambda n: n["lags 1 to 7"]["lost"] > 6 and n["lags 1 to 7"]["lag 100"] > 2 / 3,
)


@unit.experiment(
    "share of right answers after 1,000 updates with truncated BPTT, in chunks of 8 steps or in one that holds all",
    settings={
        "lags 1 to 30": {"lags": (1, 30), "k": 8},
        "lags 10 to 30": {"lags": (10, 30), "k": 8},
        "lags 10 to 30, one chunk": {"lags": (10, 30), "k": 31},
    },
)
def beyond_a_chunk(seed: int, lags: tuple[int, int], k: int) -> Numbers:
    return recall_after_training(seed, lags, (7, 30, 60, 1000), k, updates=1000)


beyond_a_chunk.claim(
    "past_the_chunk",
    "In chunks of 8 steps a network learns from lags of 1 to 30 to recall over 60. If all lags are 10 or more it "
    "guesses, in chunks and without them.",
    figure=("lags 1 to 30", "lag 60"),
    controls=[("lags 10 to 30", "lag 30"), ("lags 10 to 30, one chunk", "lag 30")],
    holds=lambda n: (
        n["lags 1 to 30"]["lag 60"] > 0.9
        and max(n[f"lags 10 to 30{chunks}"]["lag 30"] for chunks in ("", ", one chunk")) < 0.5
    ),
)


# --- what one might have expected

unit.expectation(
    "A plain network cannot learn to remember over a distance that its gradient does not survive.",
    "A memory can outlast its gradient by as much as it likes.",
)
unit.expectation(
    "A better start, or more updates, lets a plain network learn over any distance.",
    "But each of these moves it a bit, and there is always a longer lag.",
    "in part",
)
