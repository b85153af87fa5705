"""What unit 08 claims about depth: sooner on one task, later on another; and what a plus sign changes."""

from typing import Any

import numpy as np
import torch
from torch import nn

from claims.experiment import BySetting, Numbers, Unit
from rnngrade.author.cells import of

torch.set_num_threads(1)
unit = Unit("08_stacked", seeds=5)
cells = of("08_stacked")


def layers(L: int) -> str:
    """The number of layers, in words for the names of numbers."""
    return f"{L} layer{'s' if L > 1 else ''}"


@unit.experiment(
    "bits a symbol, the mean of the last 20 updates; and the updates until that mean is below 0.1 bits",
    settings={
        "rate 0.005": {"rate": 5e-3},
        "rate 0.002": {"rate": 2e-3, "depths": (1, 3)},
        "rate 0.015": {"rate": 1.5e-2, "depths": (1, 3)},
    },
)
def delay_by_depth(seed: int, rate: float, depths: tuple[int, ...] = (1, 2, 3, 4), updates: int = 500) -> Numbers:
    """Say the symbol of six steps ago, 1,500 parameters."""
    found: Numbers = {}
    for L in depths:
        torch.manual_seed(seed)
        model = cells.Stack(4, cells.width_for(1500, 4, L), L, 4)
        means = np.convolve(cells.train(model, cells.delayed(6, updates, seed), rate), np.full(20, 1 / 20), "valid")
        there = means < 0.1
        found |= {f"{layers(L)} after {k}": means[k - 20] for k in (200, updates)}
        found[f"{layers(L)}, updates"] = float(there.argmax() + 20 if there.any() else updates)
    return found


unit.claim(
    "deeper_delay_sooner",
    delay_by_depth,
    "At equal budget, three narrow layers learn to say the symbol of six steps ago in fewer updates than one wide "
    "layer. In the end, one layer learns it, too.",
    figure=("rate 0.005", "3 layers, updates"),
    controls=[
        ("rate 0.005", "1 layer, updates"),
        ("rate 0.015", "1 layer, updates"),
        ("rate 0.002", "1 layer, updates"),
    ],
    holds=lambda n: (
        n["rate 0.005"]["3 layers, updates"] < n["rate 0.005"]["1 layer, updates"]
        and n["rate 0.005"]["1 layer after 500"] < 0.1
    ),
)


@unit.experiment(
    "bits a character on held-out files",
    settings={
        "orthogonal start": {"rate": 4e-3, "stages": (200, 1200)},
        "rate 0.012": {"rate": 1.2e-2, "depths": (1, 4)},
        "PyTorch's start": {"rate": 4e-3, "depths": (1, 4), "own_start": True},
    },
)
def text_by_depth(
    seed: int,
    rate: float,
    depths: tuple[int, ...] = (1, 2, 4),
    stages: tuple[int, ...] = (200,),
    own_start: bool = False,
) -> Numbers:
    """Python source, 8,000 parameters."""
    found: Numbers = {}
    for L in depths:
        model = cells.reader(L, seed)
        if own_start:
            for layer in model.layers:
                layer.reset_parameters()
        optimizer = torch.optim.Adam(model.parameters(), rate)
        for done, batch in enumerate(cells.windows(max(stages), seed), start=1):
            cells.update(model, optimizer, *batch)
            if done in stages:
                found[f"{layers(L)} after {done}"] = cells.bits_held_out(model)
    return found


unit.claim(
    "deeper_text_later",
    text_by_depth,
    "On Python source it is the other way round: after 200 updates, four layers are more than a tenth of a bit "
    "behind one wide layer. After 1,200 the gap is smaller, and two layers are level with one, to within a tenth "
    "of a bit.",
    figure=("orthogonal start", "4 layers after 200"),
    controls=[
        ("orthogonal start", "1 layer after 200"),
        ("orthogonal start", "1 layer after 1200"),
        ("orthogonal start", "4 layers after 1200"),
    ],
    holds=lambda n: (
        n["orthogonal start"]["4 layers after 200"] - n["orthogonal start"]["1 layer after 200"]
        > max(0.1, n["orthogonal start"]["4 layers after 1200"] - n["orthogonal start"]["1 layer after 1200"])
        and abs(n["orthogonal start"]["2 layers after 1200"] - n["orthogonal start"]["1 layer after 1200"]) < 0.1
    ),
)
unit.expectation(
    "At the same number of parameters, a deeper network is better.",
    "in part",
    "At equal budget, depth was sooner done where a distance could be divided, and later on text.",
)


class ReadsAll(nn.Module):
    """A stack whose output layer reads the states of all layers."""

    def __init__(self, stack: Any, H: int, Q: int):
        super().__init__()
        self.stack = stack
        self.output = nn.Linear(H * len(stack.layers), Q)

    def all_states(self, x: torch.Tensor) -> tuple[list[torch.Tensor], torch.Tensor]:
        """As of the stack."""
        return self.stack.all_states(x)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Logits, from all layers."""
        return self.output(torch.cat(self.all_states(x)[0], dim=-1))


@unit.experiment(
    "for each of four layers: its speed, and its change at borders over that within words",
    settings={
        "the output reads the top layer": {"stages": (0, 50, 100, 150, 400)},
        "the output reads all layers": {"stages": (100, 400), "reads_all": True},
    },
)
def what_moves_the_layers(seed: int, stages: tuple[int, ...], reads_all: bool = False) -> Numbers:
    """A stack of four learns to read Python source."""
    model = cells.reader(4, seed)
    if reads_all:
        model = ReadsAll(model, cells.source_widths[4], cells.Q)
    optimizer = torch.optim.Adam(model.parameters(), 4e-3)
    found: Numbers = {}
    for k, batch in enumerate(cells.windows(max(stages) + 1, seed)):
        if k in stages:
            for l, (speed, focus) in enumerate(cells.speed_and_focus(model), start=1):
                found |= {f"speed of layer {l} after {k}": speed, f"borders in layer {l} after {k}": focus}
        cells.update(model, optimizer, *batch)
    return found


def _slower_upwards(n: BySetting) -> bool:
    top = n["the output reads the top layer"]
    speeds = [top[f"speed of layer {l} after 100"] for l in (1, 2, 3, 4)]
    return speeds[3] < 0.6 * speeds[0] and top["borders in layer 4 after 100"] > 2 * top["borders in layer 1 after 100"]


unit.claim(
    "upper_layers_slow_for_a_while",
    what_moves_the_layers,
    "After 100 updates the top layer is slower than the first, and moves most at the borders of words. After 400 "
    "this is over: the top layer is nearly as fast as the first, and moves at borders less than twice as much as "
    "within words.",
    figure=("the output reads the top layer", "speed of layer 4 after 100"),
    controls=[
        ("the output reads the top layer", "speed of layer 4 after 0"),
        ("the output reads the top layer", "speed of layer 4 after 400"),
        ("the output reads all layers", "speed of layer 4 after 400"),
    ],
    holds=lambda n: (
        _slower_upwards(n)
        and n["the output reads the top layer"]["speed of layer 4 after 400"]
        > 0.7 * n["the output reads the top layer"]["speed of layer 1 after 400"]
        and n["the output reads the top layer"]["borders in layer 4 after 400"] < 2
    ),
)


@unit.experiment(
    "bits a symbol, the mean of the last 10 updates",
    settings={
        "plain": {},
        "residual": {"residual": True},
        "plain, rate 0.01": {"rate": 1e-2, "levels": (4, 8)},
        "residual, rate 0.01": {"residual": True, "rate": 1e-2, "levels": (4, 8)},
        "plain, wider start": {"wider": True, "levels": (4, 8)},
    },
)
def delay_with_a_plus(
    seed: int,
    residual: bool = False,
    rate: float = 3e-3,
    levels: tuple[int, ...] = (1, 2, 4, 8),
    updates: int = 160,
    wider: bool = False,
) -> Numbers:
    """Say the symbol of three steps ago, 16 units a layer."""
    found: Numbers = {}
    for L in levels:
        torch.manual_seed(seed)
        model = cells.Stack(4, 16, L, 4, residual=residual)
        if wider:
            for name, matrix in model.layers.named_parameters():
                if "weight" in name:
                    nn.init.xavier_uniform_(matrix)
        losses = cells.train(model, cells.delayed(3, updates, seed, T=12), rate)
        found |= {f"{layers(L)} after {k}": float(np.mean(losses[k - 10 : k])) for k in (80, updates)}
    return found


unit.claim(
    "residual_eight_layers",
    delay_with_a_plus,
    "On a short delay task (three steps, 80 updates), eight plain layers are worse than four. Eight residual ones "
    "end with less than half the loss of any plain stack.",
    figure=("residual", "8 layers after 80"),
    controls=[
        ("plain", "8 layers after 80"),
        ("plain", "4 layers after 80"),
        ("plain, rate 0.01", "8 layers after 80"),
    ],
    holds=lambda n: (
        n["plain"]["8 layers after 80"] > n["plain"]["4 layers after 80"]
        and n["residual"]["8 layers after 80"] < 0.5 * min(n["plain"][f"{layers(L)} after 80"] for L in (1, 2, 4, 8))
    ),
)
