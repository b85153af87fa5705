"""What unit 08 claims about depth: sooner on a delay; on text, behind or ahead with its way to the output; trained."""

from claims.experiment import Numbers, Unit
from rnncourse.experiments.stacked_torch import (
    DEEP,
    DELAYS,
    READERS,
    bits_after,
    bits_held_out,
    reader,
    speed_and_borders,
    train,
    updates_to_recall,
    windows,
)

unit = Unit("08_stacked", seeds=20)


@unit.experiment(
    "updates until the mean loss of twenty is below 0.1 bits a symbol, at most 600; 1,500 parameters",
    settings={f"{name}, rate {rate}": {"name": name, "rate": rate} for rate in (0.005, 0.015) for name in DELAYS},
)
def delay_by_depth(seed: int, name: str, rate: float) -> Numbers:
    """Say the symbol of six steps ago."""
    return {"updates": float(updates_to_recall(name, rate, seed))}


@unit.experiment(
    "bits a character on held-out files after so many updates; of the plain stack of four, for each layer its speed, "
    "and its change at borders over that within words; 12,000 parameters",
    settings={f"{name}, rate 0.012": {"name": name, "rate": 0.012, "updates": 100} for name in READERS}
    | {
        "1 layer, rate 0.004": {"name": "1 layer", "rate": 0.004, "updates": 100},
        "4 layers, rate 0.004": {"name": "4 layers", "rate": 0.004, "updates": 200},
        "4 layers, residual, rate 0.004": {"name": "4 layers, residual", "rate": 0.004, "updates": 100},
    },
)
def text_by_depth(seed: int, name: str, rate: float, updates: int) -> Numbers:
    """Python source, read by networks of as many parameters."""
    model, found = reader(name, seed), {}
    losses = train(model, windows(updates, seed), rate)
    for done in range(updates + 1):
        if done > 0:
            next(losses)
        if done == 100:
            found["after 100"] = bits_held_out(model)
        if updates == 200 and done in (0, 100, 200):
            for l, (speed, borders) in enumerate(speed_and_borders(model), start=1):
                found |= {f"speed of layer {l} after {done}": speed, f"borders in layer {l} after {done}": borders}
    return found


@unit.experiment(
    "bits a symbol after 80 updates, the mean of the last ten; 16 units a layer",
    settings={f"{name}, rate 0.003": {"name": name, "rate": 0.003} for name in DEEP}
    | {"8 layers, rate 0.01": {"name": "8 layers", "rate": 0.01}},
)
def eight_layers(seed: int, name: str, rate: float) -> Numbers:
    """Say the symbol of three steps ago."""
    return {"after 80": bits_after(name, rate, seed)}


delay_by_depth.claim(
    "deeper_delay_sooner",
    "At equal budget, three narrow layers learn to say the symbol of six steps ago in fewer updates than one wide "
    "layer.",
    figure=("3 layers, rate 0.005", "updates"),
    controls=[("1 layer, rate 0.005", "updates")],
    holds=lambda n: n["3 layers, rate 0.005"]["updates"] < n["1 layer, rate 0.005"]["updates"] < 600,
)
delay_by_depth.claim(
    "deeper_delay_sooner_at_best_rate",
    "At a rate of 0.015 three layers are still sooner.",
    figure=("3 layers, rate 0.015", "updates"),
    controls=[("1 layer, rate 0.015", "updates")],
    holds=lambda n: n["3 layers, rate 0.015"]["updates"] < n["1 layer, rate 0.015"]["updates"],
)
text_by_depth.claim(
    "deeper_text_behind",
    "After 100 updates on Python source, four plain layers are more than a tenth of a bit behind one layer of as many "
    "parameters.",
    figure=("4 layers, rate 0.012", "after 100"),
    controls=[("1 layer, rate 0.012", "after 100")],
    holds=lambda n: n["4 layers, rate 0.012"]["after 100"] > n["1 layer, rate 0.012"]["after 100"] + 0.1,
)
text_by_depth.claim(
    "deeper_text_ahead",
    "With plus signs, or with an output that reads all layers, four layers are ahead of one.",
    figure=("4 layers, residual, rate 0.012", "after 100"),
    controls=[
        ("4 layers, all read, rate 0.012", "after 100"),
        ("1 layer, rate 0.012", "after 100"),
        ("4 layers, rate 0.012", "after 100"),
    ],
    holds=lambda n: (
        max(n[f"4 layers, {way}, rate 0.012"]["after 100"] for way in ("residual", "all read"))
        < n["1 layer, rate 0.012"]["after 100"]
    ),
)
text_by_depth.claim(
    "deeper_text_at_a_third_of_the_rate",
    "At a third of the rate four plain layers are behind one, and four with plus signs ahead, too.",
    figure=("4 layers, residual, rate 0.004", "after 100"),
    controls=[("1 layer, rate 0.004", "after 100"), ("4 layers, rate 0.004", "after 100")],
    holds=lambda n: (
        n["4 layers, residual, rate 0.004"]["after 100"]
        < n["1 layer, rate 0.004"]["after 100"]
        < n["4 layers, rate 0.004"]["after 100"]
    ),
)
eight_layers.claim(
    "residual_eight_layers",
    "Eight layers with plus signs end with less than a quarter of the loss of eight plain ones, also if those start "
    "wider, or learn at a rate of 0.01.",
    figure=("8 layers, residual, rate 0.003", "after 80"),
    controls=[
        ("8 layers, rate 0.003", "after 80"),
        ("8 layers, wider start, rate 0.003", "after 80"),
        ("8 layers, rate 0.01", "after 80"),
    ],
    holds=lambda n: (
        n["8 layers, residual, rate 0.003"]["after 80"]
        < 0.25 * min(n[plain]["after 80"] for plain in n if plain.startswith("8 layers") and "residual" not in plain)
    ),
)
text_by_depth.claim(
    "upper_layers_slow_for_a_while",
    "After 100 updates the top layer is less than half as fast as the first, and moves more than twice as much at the "
    "borders of words as within them. After 200 updates it is more than half as fast.",
    figure=("4 layers, rate 0.004", "speed of layer 4 after 100"),
    controls=[
        ("4 layers, rate 0.004", "speed of layer 1 after 100"),
        ("4 layers, rate 0.004", "borders in layer 4 after 100"),
        ("4 layers, rate 0.004", "speed of layer 4 after 0"),
        ("4 layers, rate 0.004", "speed of layer 4 after 200"),
    ],
    holds=lambda n: (
        n["4 layers, rate 0.004"]["speed of layer 4 after 100"]
        < 0.5 * n["4 layers, rate 0.004"]["speed of layer 1 after 100"]
        and n["4 layers, rate 0.004"]["borders in layer 4 after 100"] > 2
        and n["4 layers, rate 0.004"]["speed of layer 4 after 200"]
        > 0.5 * n["4 layers, rate 0.004"]["speed of layer 1 after 200"]
    ),
)

unit.expectation(
    "At the same number of parameters, a deeper network is better.",
    "On text four plain layers were behind one; with a short way from each layer to the output they were ahead.",
    "in part",
)
unit.expectation(
    "Upper layers learn longer time scales.",
    "So the picture of the textbooks comes, and passes.",
    "in part",
)
