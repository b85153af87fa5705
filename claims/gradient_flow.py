"""Unit 05: what a step that is too long does, where the wall is and what moves it, and what short examples teach."""

from __future__ import annotations

import numpy as np

from claims.experiment import Numbers, Unit
from rnngrade.cells import of

unit = Unit("05_gradient_flow", seeds=5)
cells = of("05_gradient_flow")


def drawn(start: float | str, seed: int) -> np.ndarray:
    """The W that a network starts from: of a spectral radius, or orthogonal."""
    if start == "orthogonal":
        return cells.orthogonal(np.random.default_rng([seed, 2]), cells.HIDDEN)
    return cells.random_start(start, seed)


# --- section 3: steps that are too long

RATES = (1.5, 0.5, 0.1, 0.03, 0.01, 0.003)


@unit.experiment(
    "share of right answers after 300 updates, over 8 steps or 30",
    settings={
        f"radius {start:g}, rate {rate:g}, {name}": {"lag": 8, "start": start, "rate": rate, "limit": limit}
        for limit, name in ((np.inf, "unclipped"), (1.0, "clipped"))
        for start, rates in ((1.5, RATES), (0.9, (1.5, 0.1)), (0.5, (1.5, 0.1)))
        for rate in rates
    }
    | {
        f"lag 30, rate {rate:g}, {name}": {"lag": 30, "start": 0.5, "rate": rate, "limit": limit}
        for limit, name in ((np.inf, "unclipped"), (1.0, "clipped"))
        for rate in (1.5, 0.1)
    },
    seeds=10,
)
def long_steps(seed: int, lag: int, start: float, rate: float, limit: float) -> Numbers:
    p, losses, norms = cells.train((lag, lag), drawn(start, seed), rate, limit, seed=seed)
    return {"right": cells.recalled(p, lag), "highest loss": losses.max(), "longest gradient": norms.max()}


unit.claim(
    "saved_by_clipping",
    long_steps,
    "Over 8 steps, from a radius of 1.5 or of 0.9, a network that is trained at a rate of 1.5 fails without clipping "
    "and learns with it; at a rate of 0.1 it learns without clipping, too.",
    figure=("radius 1.5, rate 1.5, clipped", "right"),
    controls=[
        ("radius 1.5, rate 1.5, unclipped", "right"),
        ("radius 0.9, rate 1.5, unclipped", "right"),
        ("radius 1.5, rate 0.1, unclipped", "right"),
    ],
    holds=lambda n: all(
        min(n[f"radius {start}, rate {way}"]["right"] for way in ("1.5, clipped", "0.1, unclipped")) > 0.9
        and n[f"radius {start}, rate 1.5, unclipped"]["right"] < 0.6
        for start in ("1.5", "0.9")
    ),
)
unit.claim(
    "not_saved",
    long_steps,
    "Over 30 steps, from a radius of 0.5 and at a rate of 0.1, a network guesses, with clipping and without.",
    figure=("lag 30, rate 0.1, clipped", "right"),
    controls=[("lag 30, rate 0.1, unclipped", "right"), ("lag 30, rate 1.5, clipped", "right")],
    holds=lambda n: max(n[f"lag 30, rate {way}"]["right"] for way in ("0.1, clipped", "0.1, unclipped")) < 0.4,
)


# --- section 4: what a cut costs


@unit.experiment(
    "share of right answers over 6 steps after 300 updates with truncated BPTT",
    settings={f"radius {start:g}, k = {k}": {"start": start, "k": k} for start in (0.5, 1.5) for k in range(1, 8)},
    seeds=10,
)
def chunks(seed: int, start: float, k: int) -> Numbers:
    p, _, _ = cells.train((6, 6), drawn(start, seed), 0.1, seed=seed, back=cells.cut_at(k))
    return {"right": cells.recalled(p, 6)}


unit.claim(
    "cut_off",
    chunks,
    "From a radius of 0.5, 300 updates at a lag of 6 teach a network to recall if a chunk holds all $k = 7$ steps, and "
    "leave it guessing with any smaller $k$.",
    figure=("radius 0.5, k = 7", "right"),
    controls=[("radius 0.5, k = 6", "right"), ("radius 1.5, k = 6", "right")],
    holds=lambda n: (
        n["radius 0.5, k = 7"]["right"] > 0.8 > 0.5 > max(n[f"radius 0.5, k = {k}"]["right"] for k in range(1, 7))
    ),
)


# --- section 6: the wall, and what moves it


@unit.experiment(
    "share of right answers after 300 updates at one lag",
    settings={
        f"{start if start == 'orthogonal' else f'radius {start:g}'}, lag {lag}": {"start": start, "lag": lag}
        for start in ("orthogonal", 0.9, 0.5)
        for lag in (2, 5, 10, 15, 20, 30)
    },
    seeds=10,
)
def reach(seed: int, start: float | str, lag: int) -> Numbers:
    p, _, _ = cells.train((lag, lag), drawn(start, seed), seed=seed)
    return {"right": cells.recalled(p, lag)}


@unit.experiment(
    "share of right answers at the one lag that was trained, 30; and how many powers of ten an error loses on its way "
    "over 30 steps, before training",
    settings={
        "radius 0.9": {},
        "orthogonal": {"start": "orthogonal"},
        "radius 0.5": {"start": 0.5},
        "radius 1.5": {"start": 1.5},
        "orthogonal, quiet": {"start": "orthogonal", "loudness": 0.1},
        "radius 0.5, quiet": {"start": 0.5, "loudness": 0.1},
        "orthogonal, 2,000 updates": {"start": "orthogonal", "updates": 2000},
        "radius 0.9, 2,000 updates": {"updates": 2000},
        "radius 0.5, 3,000 updates": {"start": 0.5, "updates": 3000},
        "radius 0.9, rate 0.05": {"learning_rate": 0.05},
        "radius 0.9, rate 1": {"learning_rate": 1.0},
    },
    seeds=10,
)
def wall(seed: int, start: float | str = 0.9, loudness: float = 0.5, **settings: float) -> Numbers:
    W = drawn(start, seed)
    before = cells.draw_parameters(np.random.default_rng(seed), W, loudness)
    p, _, _ = cells.train((30, 30), W, seed=seed, loudness=loudness, **settings)
    return {"right": cells.recalled(p, 30), "lost": -np.log10(cells.error_left(before, 30))}


unit.claim(
    "the_wall",
    reach,
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
unit.claim(
    "moved",
    wall,
    "At a lag of 30 an orthogonal start learns with 2,000 updates, and with inputs a fifth as loud in 300; a radius of "
    "0.5 still guesses after 3,000.",
    figure=("orthogonal, quiet", "right"),
    controls=[
        ("orthogonal", "right"),
        ("orthogonal, 2,000 updates", "right"),
        ("radius 0.5, quiet", "right"),
        ("radius 0.5, 3,000 updates", "right"),
    ],
    holds=lambda n: (
        min(n[f"orthogonal, {cause}"]["right"] for cause in ("quiet", "2,000 updates")) > 0.9
        and n["radius 0.5, 3,000 updates"]["right"] < 0.5
    ),
)


# --- section 7: short examples, long memory

LAGS = (1, 3, 7, 10, 30, 100, 300, 1000)  # those of units 10 and 13, too


@unit.experiment(
    "share of right answers at lags from 1 to 1,000; the radius of W; how many of the four symbols have a resting "
    "state of their own, and the largest radius there of one step back; the powers of ten that an error loses over 100 "
    "steps",
    settings={
        "lags 1 to 7": {},
        "lag 30 only": {"lags": (30, 30)},
        "lag 30 only, radius 0.9, 2,000 updates": {"lags": (30, 30), "updates": 2000},
        "lag 30 only, orthogonal, 2,000 updates": {"lags": (30, 30), "start": "orthogonal", "updates": 2000},
        "lag 30 only, orthogonal, quiet": {"lags": (30, 30), "start": "orthogonal", "loudness": 0.1},
        "lags 24 to 30": {"lags": (24, 30)},
        "lag 7 only": {"lags": (7, 7)},
        "lags 1 to 2": {"lags": (1, 2)},
        "lags 1 to 4": {"lags": (1, 4)},
        "lags 1 to 15": {"lags": (1, 15)},
        "lags 1 to 7, radius 0.5": {"start": 0.5},
        "lags 1 to 7, orthogonal": {"start": "orthogonal"},
        "lags 1 to 7, quiet": {"loudness": 0.1},
        "lags 1 to 7, rate 0.05": {"learning_rate": 0.05},
        "lags 1 to 7, rate 0.5": {"learning_rate": 0.5},
        "lags 1 to 7, 1,000 updates": {"updates": 1000},
        "no training": {"updates": 0},
    },
    seeds=10,
)
def short_examples(seed: int, lags: tuple[int, int] = (1, 7), start: float | str = 0.9, **settings: float) -> Numbers:
    p, _, _ = cells.train(lags, drawn(start, seed), seed=seed, **settings)
    rest = cells.in_silence(p)[-1]
    apart = [all(np.abs(rest[i] - rest[j]).max() > 0.1 for j in range(len(rest)) if j != i) for i in range(len(rest))]
    return {f"lag {lag}": cells.recalled(p, lag) for lag in LAGS} | {
        "radius": cells.spectral_radius(p["W"]),
        "resting states": sum(apart),
        "radius at rest": max(cells.spectral_radius(cells.one_step_back(h, p["W"])) for h in rest),
        "lost": -np.log10(cells.error_left(p, 100)),
    }


unit.claim(
    "short_examples_long_memory",
    short_examples,
    "A network that never saw a lag above 7 recalls over 1,000 steps what it cannot learn from examples of 30.",
    figure=("lags 1 to 7", "lag 1000"),
    controls=[
        ("lag 30 only", "lag 30"),
        ("lag 30 only, radius 0.9, 2,000 updates", "lag 30"),
        ("lag 7 only", "lag 1000"),
    ],
    holds=lambda n: n["lags 1 to 7"]["lag 1000"] > 0.65 > 0.4 > n["lag 30 only"]["lag 30"],
)
unit.claim(
    "attractors",
    short_examples,
    "Training takes the radius of $W$ from 0.9 to above 1.5, and yet, where the cell comes to rest, the radius of one "
    "step is below 1: a small push dies away.",
    figure=("lags 1 to 7", "radius at rest"),
    controls=[("no training", "radius"), ("no training", "resting states"), ("lag 30 only", "resting states")],
    holds=lambda n: n["lags 1 to 7"]["radius"] > 1.5 > 1 > n["lags 1 to 7"]["radius at rest"],
)
unit.claim(
    "vanished_and_remembered",
    short_examples,
    "Over 100 steps the error loses more than six powers of ten, and most symbols are still recalled.",
    figure=("lags 1 to 7", "lost"),
    controls=[("no training", "lag 100"), ("lag 30 only", "lag 100")],
    holds=lambda n: n["lags 1 to 7"]["lost"] > 6 and n["lags 1 to 7"]["lag 100"] > 0.65,
)


@unit.experiment(
    "share of right answers after truncated BPTT, in chunks of 8 steps or in one that holds a whole example",
    settings={
        "lags 1 to 30": {},
        "lags 1 to 30, radius 0.5": {"start": 0.5},
        "lags 1 to 30, 300 updates": {"updates": 300},
        "lags 10 to 30": {"lags": (10, 30)},
        "lags 10 to 30, one chunk": {"lags": (10, 30), "k": 31},
        "lags 8 to 12": {"lags": (8, 12)},
        "lags 8 to 12, one chunk": {"lags": (8, 12), "k": 13},
        "lag 30 only": {"lags": (30, 30)},
        "lag 30 only, 3,000 updates": {"lags": (30, 30), "updates": 3000},
    },
    seeds=10,
)
def beyond_a_chunk(
    seed: int, lags: tuple[int, int] = (1, 30), start: float | str = 0.9, updates: int = 1000, k: int = 8
) -> Numbers:
    p, _, _ = cells.train(lags, drawn(start, seed), updates=updates, seed=seed, back=cells.cut_at(k))
    return {f"lag {lag}": cells.recalled(p, lag) for lag in (7, 10, 30, 60, 1000)}


unit.claim(
    "past_the_chunk",
    beyond_a_chunk,
    "In chunks of 8 steps a network learns from lags of 1 to 30 to recall over 60. If all lags are 10 or more it "
    "guesses, in chunks and without them.",
    figure=("lags 1 to 30", "lag 60"),
    controls=[
        ("lags 10 to 30", "lag 30"),
        ("lags 10 to 30, one chunk", "lag 30"),
        ("lags 8 to 12", "lag 10"),
        ("lags 8 to 12, one chunk", "lag 10"),
    ],
    holds=lambda n: (
        n["lags 1 to 30"]["lag 60"] > 0.9
        and max(n[f"lags 10 to 30{chunks}"]["lag 30"] for chunks in ("", ", one chunk")) < 0.5
    ),
)


# --- what one might have expected

unit.expectation(
    "A plain network cannot learn to remember over a distance that its gradient does not survive.",
    "no",
    "A memory can outlast its gradient by as much as it likes.",
)
unit.expectation(
    "A better start, or more updates, lets a plain network learn over any distance.",
    "in part",
    "But each of these moves it a bit, and there is always a longer lag.",
)
