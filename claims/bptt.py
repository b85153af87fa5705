"""What unit 04 claims about training: what it spells, what wrong gradients do, how far blame travels."""

from __future__ import annotations

import numpy as np

from claims.experiment import Numbers, Unit
from rnncourse.cell import softmax
from rnncourse.exercises.bptt import KINDS, backward_pass
from rnngrade.author.cells import of

unit = Unit("04_bptt", seeds=5)
cells = of(unit.stem)


@unit.experiment(
    "letters that are right after 100 updates, and the loss as a share of that before",
    settings={
        "hello": {"word": "hello", "hidden": 8},
        "hello, no state": {"word": "hello", "hidden": 8, "state": False},
        "hello, rate 0.03": {"word": "hello", "hidden": 8, "rate": 0.03},
        "hello, rate 0.3": {"word": "hello", "hidden": 8, "rate": 0.3},
        "recurrence": {"word": "recurrence", "hidden": 16},
        "recurrence, no state": {"word": "recurrence", "hidden": 16, "state": False},
        "recurrence, rate 0.03": {"word": "recurrence", "hidden": 16, "rate": 0.03},
        "recurrence, rate 0.3": {"word": "recurrence", "hidden": 16, "rate": 0.3},
    },
    seeds=10,
)
def spelling(seed: int, word: str, hidden: int, rate: float = 0.1, state: bool = True) -> Numbers:
    if state:
        losses, guesses, _ = cells.spell(word, 101, rate, hidden, seed)
        said, left = guesses[-1], losses[-1] / losses[0]
    else:
        said, left = letter_by_letter(word, 101, rate, hidden, seed)
    return {"letters right": sum(a == b for a, b in zip(said, word[1:])), "loss left": left}


def letter_by_letter(word: str, updates: int, rate: float, hidden: int, seed: int) -> tuple[str, float]:
    """Train on the letters as sequences of one step each, so that nothing is carried on: the guesses, the loss left."""
    letters = sorted(set(word))
    ids = np.array([letters.index(letter) for letter in word])[None]
    X, targets = cells.one_hot(ids[:, :-1], len(letters)), ids[:, 1:]
    p, losses, logits = cells.draw_parameters(seed, len(letters), hidden), [], X
    rate *= targets.size  # the loss is a mean over these rows, where `spell` has a sum over steps
    for _ in range(updates):
        loss, gradients, logits = cells.loss_and_gradients(p, X, targets)
        losses.append(loss)
        for name in p:
            p[name] -= rate * gradients[name]
    return "".join(letters[i] for i in softmax(logits)[0].argmax(axis=1)), losses[-1] / losses[0]


unit.claim(
    "spells_hello",
    spelling,
    "After 100 updates the network reads *hell* and says *ello*, and its loss is below a tenth of what it was.",
    figure=("hello", "loss left"),
    controls=[("hello, no state", "loss left"), ("hello, rate 0.03", "loss left"), ("hello, rate 0.3", "loss left")],
    holds=lambda n: (
        n["hello"]["letters right"] == 4 > n["hello, no state"]["letters right"] and n["hello"]["loss left"] < 0.1
    ),
)
unit.claim(
    "spells_recurrence",
    spelling,
    "A network of 16 units spells *recurrence* after 100 updates.",
    figure=("recurrence", "letters right"),
    controls=[("recurrence, no state", "letters right"), ("recurrence, rate 0.3", "letters right")],
    holds=lambda n: n["recurrence"]["letters right"] == 9 > n["recurrence, no state"]["letters right"],
)


@unit.experiment(
    "of thirteen wrong backward passes, those that make the loss fall by more than a tenth in 100 updates",
    settings={
        "all five trained": {},
        "U W b alone": {"trained": "UWb"},
        "all five, rate 0.005": {"rate": 0.005},
        "all five, rate 0.05": {"rate": 0.05},
    },
)
def wrong_gradients(seed: int, trained: str = "UWbVc", rate: float = 0.02) -> Numbers:
    def left(backward: object) -> float:
        return float(cells.loss_after_training(backward, seed, learning_rate=rate, trained=trained))

    shares = [left(backward_pass(kind=kind).make()) for kind in KINDS]
    return {
        "fall by a tenth": sum(share < 0.9 for share in shares),
        "right": left(backward_pass(kind="loop").make()),
        "nothing": left(cells.nothing),
    }


unit.claim(
    "wrong_and_falling",
    wrong_gradients,
    "Of thirteen wrong gradients, at least ten make the loss fall, by more than a tenth. And so does one that gives "
    "nothing but zeros.",
    figure=("all five trained", "fall by a tenth"),
    controls=[
        ("U W b alone", "fall by a tenth"),
        ("U W b alone", "nothing"),
        ("all five, rate 0.05", "fall by a tenth"),
    ],
    holds=lambda n: n["all five trained"]["fall by a tenth"] >= 10 and n["all five trained"]["nothing"] < 0.9,
)


@unit.experiment(
    "the part of dW of lag 20, that of lag 0 being 1; the loss per character after training",
    settings={
        "usual start": {},
        "3,000 updates": {"updates": 3000},
        "a tenth": {"start": 0.1},
        "twice as large": {"start": 2.0},
        "size 1": {"start": np.sqrt(32)},
    },
)
def by_lag(seed: int, start: float = 1.0, updates: int = 300) -> Numbers:
    as_drawn, trained, losses = cells.train_on_docs(seed, start, updates)
    return {"lag 20, as drawn": as_drawn[20], "lag 20, trained": trained[20], "loss": float(np.mean(losses[-20:]) / 40)}


unit.claim(
    "blame_fades",
    by_lag,
    "Sorted by lag, the parts of $dW$ add up to $dW$. As drawn, the part of lag 20 is more than a hundredth of that of "
    "lag 0; after training it is less than a five-hundredth.",
    figure=("usual start", "lag 20, trained"),
    controls=[
        ("usual start", "lag 20, as drawn"),
        ("3,000 updates", "lag 20, trained"),
        ("a tenth", "lag 20, trained"),
        ("twice as large", "lag 20, trained"),
        ("size 1", "lag 20, trained"),
    ],
    holds=lambda n: n["usual start"]["lag 20, as drawn"] > 0.01 > 0.002 > n["usual start"]["lag 20, trained"],
)
