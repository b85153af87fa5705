"""How the experiments of units 08 to 14 train in PyTorch: one loop, by Adam, clipped, at a rate that may fall.

Sources: D. P. Kingma, J. Ba, "Adam: A Method for Stochastic Optimization", ICLR 2015; L. N. Smith, N. Topin,
"Super-Convergence", 2018 (a rate that rises and falls once).
"""

from collections.abc import Callable, Iterable, Iterator, Sized
from inspect import unwrap
from typing import Any

import torch
from torch import Tensor, nn
from torch.optim.lr_scheduler import LinearLR, OneCycleLR

from rnncourse import track


class Adam(torch.optim.Adam):
    """`torch.optim.Adam`, all parameters in one call (`fused`), which takes about half as long for small networks.

    Around these three methods PyTorch tells its compiler to stay away. To tell it so, it first imports it, in two
    seconds. Here nothing is compiled, so they go without.
    """

    add_param_group = unwrap(torch.optim.Adam.add_param_group)
    zero_grad = unwrap(torch.optim.Adam.zero_grad)
    step = torch.no_grad()(unwrap(torch.optim.Adam.step))

    def __init__(self, parameters: Iterable[nn.Parameter], lr: float = 0.001) -> None:
        super().__init__(parameters, lr=lr, fused=True)


def build(kind: Callable[..., Any], *sizes: Any, seed: int = 0) -> Any:
    """A module of this kind and these sizes, with the weights that the seed draws."""
    torch.manual_seed(seed)
    return kind(*sizes)


def train(
    model: nn.Module,
    loss_of: Callable[[Any], Tensor],
    batches: Iterable[Any],
    rate: float,
    *,
    end: float = 1.0,
    one_cycle: bool = False,
    max_norm: float = 1.0,
    label: str = "",
) -> Iterator[float]:
    """Make an update for each batch, when the next loss is asked for: the loss of each.

    batches: whatever `loss_of` makes a loss of; a range where it draws for itself. The rate falls, on a line, to the
    share `end` of itself; or it rises and falls (one-cycle), `rate` being the highest: then there must be a length.
    Gradients are clipped to `max_norm`. With a label there is a bar that shows how far one is.
    """
    optimizer = Adam(model.parameters(), lr=rate)
    updates = len(batches) if isinstance(batches, Sized) else 1
    schedule: Any = LinearLR(optimizer, 1.0, end, updates)
    if one_cycle:
        schedule = OneCycleLR(optimizer, rate, total_steps=updates, pct_start=0.15)
    for batch in track(batches, label) if label else batches:
        loss = loss_of(batch)
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), max_norm)
        optimizer.step()
        schedule.step()
        yield loss.item()


def fit(
    model: nn.Module, loss_of: Callable[[Any], Tensor], batches: Iterable[Any], rate: float, **how: Any
) -> list[float]:
    """Make all updates of `train` at once."""
    return list(train(model, loss_of, batches, rate, **how))
