"""What unit 03 claims: of a readout fitted to an untrained state, of first states, and of networks that say nothing."""

from claims.experiment import Unit
from rnncourse.cell import hidden_layer, rnn_forward
from rnncourse.experiments.cell import bits_from, recalled, share_silent, without_state

unit = Unit("03_cell")


@unit.experiment(
    "the share of characters read k steps ago that a weighted sum of the state names right, on unseen text",
    settings={
        "200 units": {},
        "no state": {"state": False},
        "radius 0.5": {"radius": 0.5},
        "loud input": {"loudness": 1.0},
        "50 units": {"units": 50},
    },
)
def recall(seed, state=True, **settings):
    forward, lags = rnn_forward if state else without_state(hidden_layer), (0, 1, 2, 3, 6, 10)
    shares = recalled(forward, seed=seed, lags=lags, **settings)
    found = {f"k = {k}": share for k, share in zip(lags, shares, strict=True)}
    return found | {"lowest to k = 3": shares[:4].min(), "highest from k = 1": shares[1:].max()}


@unit.experiment(
    "bits for the next character of unread text, after one character and after ten, from a first state of this kind",
    settings={"random": {"kind": "random"}, "zeros": {"kind": "zeros"}, "another text": {"kind": "another text"}},
)
def start(seed, kind):
    bits = bits_from(kind, seed=seed)
    return {"after one": bits[0], "after ten": bits[9]}


@unit.experiment(
    "of 1,000 random networks with a ReLU that read the lengths of lines, the share whose states are always 0",
    settings={
        "3 units": {"H": 3},
        "1 unit": {"H": 1},
        "6 units": {"H": 6},
        "3 units, centred": {"H": 3, "centred": True},
    },
)
def silent(seed, **settings):
    return {"silent": share_silent(seed=seed, **settings)}


recall.claim(
    "untrained_memory",
    "From the state of an untrained cell, the readout names the character of up to three steps ago right more than 80% "
    "of the time. From a layer without a state it stays below 40% from the first step back on.",
    figure=("200 units", "lowest to k = 3"),
    controls=[("no state", "highest from k = 1"), ("loud input", "lowest to k = 3"), ("50 units", "lowest to k = 3")],
    holds=lambda n: n["200 units"]["lowest to k = 3"] > 0.8 and n["no state"]["highest from k = 1"] < 0.4,
)
start.claim(
    "first_state_is_forgotten",
    "From a random first state the trained network's first prediction costs at least half a bit more than from zeros. "
    "After ten characters it costs less than a tenth of a bit more.",
    figure=("random", "after ten"),
    controls=[("zeros", "after ten"), ("zeros", "after one"), ("random", "after one")],
    holds=lambda n: (
        n["random"]["after one"] > n["zeros"]["after one"] + 0.5
        and n["random"]["after ten"] < n["zeros"]["after ten"] + 0.1
    ),
)
silent.claim(
    "dead_from_the_start",
    "Of such networks with three units about one in eight says nothing but 0. If the mean is taken from the inputs, "
    "none does.",
    figure=("3 units", "silent"),
    controls=[("1 unit", "silent"), ("6 units", "silent"), ("3 units, centred", "silent")],
    holds=lambda n: 0.09 < n["3 units"]["silent"] < 0.16 and n["3 units, centred"]["silent"] == 0,
)
