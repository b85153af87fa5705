"""What unit 04 claims about training: what it spells, what wrong gradients do, how far blame travels."""

from typing import Any

from claims.experiment import Numbers, Unit
from rnncourse.exercises.bptt import KINDS
from rnncourse.experiments.bptt import LINE, learn_by_heart, losses_left, sizes_by_lag, spell, suspects

unit = Unit("04_bptt")


# --- section 6


@unit.experiment(
    "of the word hello, the letters that are right after 100 updates of gradient descent, and the loss then",
    settings={
        "rate 0.1": {},
        "no state": {"state": False},
        "rate 0.03": {"learning_rate": 0.03},
        "rate 0.3": {"learning_rate": 0.3},
    },
)
def hello(seed: int, **settings: Any) -> Numbers:
    losses, said, _ = spell("hello", seed=seed, **settings)
    return {"letters right": sum(a == b for a, b in zip(said[-1], "ello", strict=True)), "loss": losses[-1]}


hello.claim(
    "spells_hello",
    "After 100 updates the network reads *hell* and says *ello*.",
    figure=("rate 0.1", "letters right"),
    controls=[("no state", "letters right"), ("rate 0.03", "letters right"), ("rate 0.3", "letters right")],
    holds=lambda n: n["rate 0.1"]["letters right"] == 4 > n["no state"]["letters right"],
)


# --- section 7


@unit.experiment(
    "of thirteen wrong backward passes, those that make the loss fall by more than a tenth in 100 updates; and what is "
    "left of the loss by the right one, and by nothing but zeros",
    settings={
        "all five trained": {},
        "U, W, b alone": {"trained": "UWb"},
    },
)
def wrong_gradients(seed: int, **settings: Any) -> Numbers:
    left = losses_left(suspects(), seed=seed, **settings)
    return {
        "fall by a tenth": sum(left[kind] < 0.9 for kind in KINDS),
        "right": left["right"],
        "zeros": left["nothing but zeros"],
    }


wrong_gradients.claim(
    "wrong_and_falling",
    "Of thirteen wrong gradients, twelve make the loss fall by more than a tenth, and so does nothing but zeros.",
    figure=("all five trained", "fall by a tenth"),
    controls=[("U, W, b alone", "fall by a tenth"), ("U, W, b alone", "zeros")],
    holds=lambda n: n["all five trained"]["fall by a tenth"] == 12 and n["all five trained"]["zeros"] < 0.9,
)


# --- section 10

LAGS = 5, 10, 20, 30


@unit.experiment(
    "the size of the part of dW of some lags, that of lag 0 being 1, before and after training",
    settings={
        "usual start": {},
        "600 updates": {"updates": 600},
        "a tenth": {"start": 0.1},
        "twice as large": {"start": 2.0},
    },
)
def by_lag(seed: int, **settings: Any) -> Numbers:
    sizes = sizes_by_lag(seed=seed, **settings)
    return {f"lag {lag}, {when}": values[lag] for when, values in sizes.items() for lag in LAGS}


by_lag.claim(
    "blame_fades",
    "After training, the part of lag 20 is less than a five-hundredth of that of lag 0; as drawn it is more "
    "than a hundredth.",
    figure=("usual start", "lag 20, trained"),
    controls=[
        ("usual start", "lag 20, as drawn"),
        ("600 updates", "lag 20, trained"),
        ("a tenth", "lag 20, trained"),
        ("twice as large", "lag 20, trained"),
    ],
    holds=lambda n: n["usual start"]["lag 20, as drawn"] > 0.01 > 0.002 > n["usual start"]["lag 20, trained"],
)


# --- the end


@unit.experiment(
    "of a line of 37 letters, those that are recited right after 100 updates, and the first update after which all are",
    settings={"with a state": {}, "no state": {"state": False}},
)
def by_heart(seed: int, **settings: Any) -> Numbers:
    recited = learn_by_heart(seed=seed, **settings)
    first = next((k for k, line in enumerate(recited) if line == LINE), len(recited))
    return {"letters right": sum(a == b for a, b in zip(recited[-1], LINE, strict=True)), "first update": first}


by_heart.claim(
    "recites",
    "After 100 updates a network of 32 units, given one letter, recites the whole line.",
    figure=("with a state", "letters right"),
    controls=[("no state", "letters right")],
    holds=lambda n: n["with a state"]["letters right"] == len(LINE) > n["no state"]["letters right"],
)
