"""What unit 13 claims about training: what attention brings, what tells it the order, and what a second head is for."""

from claims.experiment import Numbers, Unit
from rnncourse.experiments.attention_torch import ORDERED, order_learned, repeated, train_to_repeat, two_places

unit = Unit("13_attention")


@unit.experiment(
    "share of digit sequences of a length that are repeated without a mistake, after 250 updates on 1 to 12 digits",
    settings={
        kind: {"kind": kind} for kind in ("with attention", "without attention", "all states alike", "without the root")
    },
)
def digits(seed: int, kind: str) -> Numbers:
    model = train_to_repeat(kind, seed=seed)
    return {f"{n} digits": repeated(model, n) for n in (2, 8, 16)}


@unit.experiment(
    "share of 1,000 new sequences of which it is told rightly which of two symbols came first",
    settings={name: {"name": name} for name in ORDERED},
)
def order(seed: int, name: str) -> Numbers:
    return {"right": order_learned(name, seed=seed)}


@unit.experiment(
    "share of 1,000 new rows of which two digits are told right",
    settings={"one head": {"heads": 1}, "two heads": {"heads": 2}},
)
def two_asked(seed: int, heads: int) -> Numbers:
    return {"right": two_places(heads, seed=seed)}


digits.claim(
    "digits_repeated",
    "After 250 updates the pair with attention repeats most sequences of eight digits, and neither the pair without "
    "nor the one that looks at all states alike repeats half of them.",
    figure=("with attention", "8 digits"),
    controls=[
        ("without attention", "8 digits"),
        ("all states alike", "8 digits"),
        ("without attention", "2 digits"),
        ("with attention", "16 digits"),
    ],
    holds=lambda n: (
        n["with attention"]["8 digits"]
        > 0.7
        > 0.5
        > max(n["without attention"]["8 digits"], n["all states alike"]["8 digits"])
    ),
)
digits.claim(
    "root_not_needed",
    "Without the root the pair learns eight digits, too.",
    figure=("without the root", "8 digits"),
    controls=[("with attention", "8 digits")],
    holds=lambda n: n["without the root"]["8 digits"] > 0.7,
)
order.claim(
    "order_told",
    "One layer of self-attention without positions guesses which of two symbols came first. With positions it knows, "
    "and so it does with a causal mask alone.",
    figure=("causal", "right"),
    controls=[("neither", "right"), ("positions", "right")],
    holds=lambda n: min(n["causal"]["right"], n["positions"]["right"]) > 0.8 > 0.6 > n["neither"]["right"],
)
two_asked.claim(
    "second_head",
    "With two heads of 16 the layer tells both digits right nearly always, and with one head of 32 in fewer than one "
    "row of three.",
    figure=("two heads", "right"),
    controls=[("one head", "right")],
    holds=lambda n: n["two heads"]["right"] > 0.95 > 0.33 > n["one head"]["right"],
)

unit.expectation(
    "Without the root of d the network is stuck with its first choice.",
    "without the root the pair learns eight digits, too.",
)
