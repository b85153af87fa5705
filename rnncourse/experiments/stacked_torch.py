"""Unit 08, with PyTorch: what depth buys, on a delay and on text, and what the layers of a reader react to.

A `Stack` is `torch.nn.RNN`, layer upon layer, with an output layer. Networks of different depth get the same number of
parameters, the output layer's included: `width_within` finds the width. Training is by Adam, clipped as in unit 05.
"""

from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor, nn

from rnncourse.data import train_and_held_out
from rnncourse.data.claims import claimed
from rnncourse.experiments import training
from rnncourse.experiments.stacked import width_for
from rnncourse.stacked import stacked_forward, stacked_parameter_count
from rnncourse.stacked_torch import StackedRNN

Batch = tuple[Tensor, Tensor]

DELAY_BUDGET, TEXT_BUDGET = 1_500, 12_000
THERE = 0.1  # bits a symbol: the delay is learnt


def beside_torch(
    module: Callable[..., nn.Module] = StackedRNN, forward: Callable[..., Any] = stacked_forward
) -> dict[str, float]:
    """The largest differences between nn.RNN, your module with its state dict, and your NumPy with its matrices."""
    torch.manual_seed(0)
    theirs = nn.RNN(4, 6, num_layers=3, dropout=0.3).double().eval()
    yours = module(4, 6, num_layers=3, dropout=0.3).double().eval()
    yours.load_state_dict(theirs.state_dict())
    x, h0 = torch.randn(7, 2, 4, dtype=torch.float64), torch.randn(3, 2, 6, dtype=torch.float64)
    P = {name: value.numpy() for name, value in theirs.state_dict().items()}
    layers = [
        (P[f"weight_ih_l{l}"].T, P[f"weight_hh_l{l}"].T, P[f"bias_ih_l{l}"] + P[f"bias_hh_l{l}"]) for l in range(3)
    ]
    with torch.no_grad():
        results = {"your module": yours(x, h0), "nn.RNN": theirs(x, h0)}
    found = {name: [one.numpy() for one in result] for name, result in results.items()}
    found["your NumPy"] = [np.asarray(one) for one in forward(x.numpy(), h0.numpy(), layers)]
    return {
        f"{name} and nn.RNN": max(float(np.abs(a - b).max()) for a, b in zip(found[name], found["nn.RNN"], strict=True))
        for name in ("your module", "your NumPy")
    }


def over_seeds(experiment: str, number: str, ending: str = "") -> dict[str, list[float]]:
    """What our seeds measured in an experiment of this unit: by setting, less the `ending` of its name."""
    found = claimed("08_stacked")
    values = found[experiment].values if experiment in found else {}
    return {s.removesuffix(ending): v[number] for s, v in values.items() if s.endswith(ending) and number in v}


# --- a stack, and its training


class Stack(nn.Module):
    """L layers of H tanh units over inputs of size D, and an output layer of size Q.

    residual: each layer but the first adds its states to what it reads. reads_all: the output layer reads the states of
    every layer, side by side, and not only what the last one hands up.
    """

    def __init__(self, D: int, H: int, L: int, Q: int, residual: bool = False, reads_all: bool = False) -> None:
        super().__init__()
        self.residual, self.reads_all = residual, reads_all
        self.layers = nn.ModuleList(nn.RNN(H if l else D, H) for l in range(L))
        self.output = nn.Linear(L * H if reads_all else H, Q)

    def all_states(self, x: Tensor) -> tuple[list[Tensor], Tensor]:
        """The states of every layer, the lowest first, each (T, N, H); and what the last layer hands up."""
        states = []
        for l, layer in enumerate(self.layers):
            h, _ = layer(x)
            states.append(h)
            x = x + h if self.residual and l > 0 else h
        return states, x

    def forward(self, x: Tensor) -> Any:
        """The logits of every step (T, N, Q)."""
        states, top = self.all_states(x)
        return self.output(torch.cat(states, dim=-1) if self.reads_all else top)


def width_within(
    budget: int,
    D: int,
    L: int,
    Q: int,
    reads_all: bool = False,
    count: Callable[[int, int, int], int] = stacked_parameter_count,
) -> int:
    """The largest H for which L layers and their output layer stay within the budget of parameters."""
    return width_for(budget, D, L, lambda D, H, L: count(D, H, L) + (L * H if reads_all else H) * Q + Q)


def train(model: nn.Module, batches: Iterator[Batch], rate: float) -> Iterator[float]:
    """One update by Adam for each batch; the loss of each, in bits. Targets belong to the last steps of a batch."""

    def loss_of(batch: Batch) -> Tensor:
        x, targets = batch
        return nn.functional.cross_entropy(model(x)[-len(targets) :].flatten(0, 1), targets.flatten())

    return (loss / np.log(2) for loss in training.train(model, loss_of, batches, rate))


# --- a delay


def delayed(lag: int, updates: int, seed: int, T: int = 24, N: int = 16, symbols: int = 4) -> Iterator[Batch]:
    """Batches of random symbols, one-hot, and as targets the symbols of `lag` steps before."""
    for ids in torch.from_numpy(np.random.default_rng(seed).integers(0, symbols, size=(updates, T, N))):
        yield torch.eye(symbols)[ids], ids[:-lag]


DELAYS = {"1 layer": 1, "3 layers": 3}


def updates_to_recall(
    name: str,
    rate: float = 0.005,
    seed: int = 0,
    lag: int = 6,
    most: int = 600,
    count: Callable[[int, int, int], int] = stacked_parameter_count,
) -> int:
    """The updates until one of `DELAYS`, with 1,500 parameters, says the symbol of `lag` steps ago.

    That is, until the mean loss of twenty updates is below 0.1 bits; `most`, if that does not happen.
    """
    torch.manual_seed(seed)
    L = DELAYS[name]
    model, losses = Stack(4, width_within(DELAY_BUDGET, 4, L, 4, count=count), L, 4), []
    for loss in train(model, delayed(lag, most, seed), rate):
        losses.append(loss)
        if len(losses) >= 20 and np.mean(losses[-20:]) < THERE:
            break
    return len(losses)


DEEP: dict[str, dict[str, Any]] = {
    "1 layer": {"L": 1},
    "8 layers": {"L": 8},
    "8 layers, wider start": {"L": 8, "wider": True},
    "8 layers, residual": {"L": 8, "residual": True},
}


def bits_after(name: str, rate: float = 0.003, seed: int = 0, updates: int = 80) -> float:
    """Bits a symbol after training one of `DEEP`, of 16 units a layer, to say the symbol of three steps ago.

    It is the mean of the last ten updates. With a wider start all matrices are drawn √3 times wider than PyTorch draws
    them, with a variance of 1 / H.
    """
    torch.manual_seed(seed)
    settings = DEEP[name]
    model = Stack(4, 16, settings["L"], 4, settings.get("residual", False))
    if settings.get("wider"):
        for parameter, matrix in model.layers.named_parameters():
            if "weight" in parameter:
                nn.init.xavier_uniform_(matrix)
    return float(np.mean(list(train(model, delayed(3, updates, seed, T=12), rate))[-10:]))


# --- text


@cache
def source() -> tuple[str, Tensor, Tensor]:
    """Python source in small letters: its alphabet, the ids of what is trained on, and held-out ones (600, 50)."""
    text, held_out = (part.lower() for part in train_and_held_out("python-source", characters=200_000))
    letters = "".join(sorted(set(text)))
    ids, held = (
        torch.tensor([letters.index(letter) for letter in part if letter in letters]) for part in (text, held_out)
    )
    return letters, ids, held[:30_000].reshape(50, 600).T


def windows(updates: int, seed: int, T: int = 16, N: int = 32) -> Iterator[Batch]:
    """Batches of letters, one-hot, from random places of the text, and as targets the letter that follows each."""
    letters, ids, _ = source()
    starts = np.random.default_rng(seed).integers(0, len(ids) - T - 1, size=(updates, N))
    for places in torch.from_numpy(starts):
        batch = ids[places + torch.arange(T + 1)[:, None]]
        yield torch.eye(len(letters))[batch[:-1]], batch[1:]


READERS: dict[str, dict[str, Any]] = {
    "1 layer": {"L": 1},
    "4 layers": {"L": 4},
    "4 layers, residual": {"L": 4, "residual": True},
    "4 layers, all read": {"L": 4, "reads_all": True},
    "4 layers, both": {"L": 4, "residual": True, "reads_all": True},
}


def reader(name: str, seed: int = 0) -> Stack:
    """One of `READERS` before training, within 12,000 parameters; W starts orthogonal, U wide enough for its depth."""
    torch.manual_seed(seed)
    Q, settings = len(source()[0]), READERS[name]
    width = width_within(TEXT_BUDGET, Q, settings["L"], Q, settings.get("reads_all", False))
    model = Stack(Q, width, Q=Q, **settings)
    for parameter, matrix in model.layers.named_parameters():
        if "weight" in parameter:
            (nn.init.orthogonal_ if "weight_hh" in parameter else nn.init.xavier_uniform_)(matrix)
    return model


def read(name: str, updates: int = 100, rate: float = 0.012, seed: int = 0) -> Stack:
    """One of `READERS` after so many updates on Python source."""
    model = reader(name, seed)
    for _ in train(model, windows(updates, seed), rate):
        pass
    return model


@torch.no_grad()
def bits_held_out(model: nn.Module) -> float:
    """Bits a character on held-out files, from the 21st character of each piece on."""
    letters, _, held = source()
    logits = model(torch.eye(len(letters))[held[:-1]])
    return nn.functional.cross_entropy(logits[20:].flatten(0, 1), held[21:].flatten()).item() / np.log(2)


@torch.no_grad()
def moves(model: Stack, text: str) -> tuple[str, dict[str, Float[np.ndarray, "T"]]]:
    """The characters of a text that the alphabet has, and how far each layer's state moves at each of them.

    The first move is from the state of zeros. In place of nothing a space is read.
    """
    letters = source()[0]
    known = "".join(letter for letter in text.lower() if letter in letters) or " "
    ids = torch.tensor([letters.index(letter) for letter in known], dtype=torch.long)
    states, _ = model.all_states(torch.eye(len(letters))[ids][:, None])
    return known, {
        f"layer {l}": np.linalg.norm(np.diff(h[:, 0].numpy(), axis=0, prepend=0), axis=1)
        for l, h in enumerate(states, start=1)
    }


@torch.no_grad()
def speed_and_borders(model: Stack) -> list[tuple[float, float]]:
    """For each layer, on held-out text: its speed, and its change at borders over that within words.

    The speed is the mean squared change from one character to the next, divided by twice the variance: a state that is
    drawn anew at each step has 1, one that never changes 0. A border is where the kind of character changes: letter or
    digit, space, line end, other.
    """
    letters, _, held = source()
    kinds = np.array([0 if one.isalnum() or one == "_" else 1 + " \n".find(one) % 3 for one in letters])
    kind = kinds[held.numpy()]
    border = (kind[1:] != kind[:-1])[20:]
    inside = ((kind[1:] == kind[:-1]) & (kind[1:] == 0))[20:]
    found = []
    for h in model.all_states(torch.eye(len(letters))[held])[0]:
        states = h[20:].numpy()
        change = ((states[1:] - states[:-1]) ** 2).sum(axis=2)
        speed = change.mean() / (2 * states.var(axis=(0, 1)).sum())
        found.append((float(speed), float(change[border].mean() / change[inside].mean())))
    return found
