"""Unit 06: parameters that can be written to and not replaced; and what is looked at in a training loop."""

from __future__ import annotations

from typing import Any

import numpy as np

from rnncourse.bptt import sequence_nll
from rnncourse.cell import output_layer, rnn_forward
from rnncourse.checks.callables import named
from rnncourse.checks.drive import DRIVERS
from rnncourse.checks.plain import Unfit


class ArraysThatStay(dict[str, Any]):
    """A dict that keeps the arrays it was made with, so that only what is written into them is seen afterwards."""

    def __setitem__(self, name: str, value: Any) -> None:
        pass

    def update(self, *others: Any, **more: Any) -> None:
        pass


@named
def arrays_that_stay(arrays: dict[str, np.ndarray]) -> Any:
    """The arrays U, W, b, V, c in a dict that cannot be given others."""
    return ArraysThatStay({name: array.copy() for name, array in arrays.items()})


def fitting(candidate: Any, curve: list[float], max_epochs: int, patience: int) -> tuple[Any, Any, list[str]]:
    """`candidate(train_epoch, validate, max_epochs, patience)`, where the validation losses are those of the curve.

    Returns what it gives, and the calls of the two functions in their order.
    """
    calls: list[str] = []

    def train_epoch(epoch: int) -> None:
        calls.append(f"train_epoch({epoch})")

    def validate(epoch: int) -> float:
        calls.append(f"validate({epoch})")
        done = sum(call.startswith("train") for call in calls)
        return curve[min(max(done, 1), len(curve)) - 1]  # what has been learned decides, whatever number is said

    losses, best_epoch = _pair(candidate(train_epoch, validate, max_epochs, patience), "(losses, best_epoch)")
    return losses, best_epoch, calls


def training(
    candidate: Any,
    train_ids: np.ndarray,
    valid_ids: np.ndarray,
    Q: int,
    max_epochs: int,
    patience: int,
    seed: int,
    unseen_ids: np.ndarray,
    levels: list[tuple[float, str]],
) -> dict[str, Any]:
    """What `candidate(train_ids, valid_ids, Q, max_epochs, patience, rng)` reaches, and what it did, in words.

    `levels` says, in rising order, how bits per character on `unseen_ids` below a number are called.
    """

    def run(seed: int, epochs: int, valid: np.ndarray) -> tuple[dict[str, np.ndarray], list[float]]:
        args = train_ids.copy(), valid.copy(), Q, epochs, patience, np.random.default_rng(seed)
        parameters, losses = _pair(candidate(*args), "(parameters, losses)")
        return _parameters(parameters, Q), [float(loss) for loss in losses]

    parameters, losses = run(seed, max_epochs, valid_ids)
    if not losses:
        raise Unfit("your losses are empty: they have the bits on valid_ids after each epoch")
    reached = _bits(parameters, unseen_ids)
    facts = {
        "on a third text": next(words for limit, words in levels if reached < limit or limit == np.inf),
        "epochs": _how_long(losses, max_epochs, patience),
        "the parameters are those after": _which(losses, _bits(parameters, valid_ids)),
    }
    if len(levels) > 1:  # a long text: once is enough
        return facts
    once, again, other = (run(s, 1, valid_ids)[0] for s in (seed, seed, seed + 1))
    return facts | {
        "the same rng gives the same network": _same(once, again),
        "another rng gives another network": not _same(once, other),
        "with another valid_ids the same is learned": _same(once, run(seed, 1, valid_ids[::-1])[0]),
    }


def _pair(answer: Any, what: str) -> tuple[Any, Any]:
    if not isinstance(answer, (tuple, list)) or len(answer) != 2:
        raise Unfit(f"it should return a pair, {what}")
    return answer[0], answer[1]


def _parameters(parameters: Any, Q: int) -> dict[str, np.ndarray]:
    """The five arrays, if that is what they are. **Errors:** `Unfit`."""
    try:
        found = {name: np.array(parameters[name], dtype=np.float64) for name in "UWbVc"}
        H = len(found["b"])
    except (KeyError, IndexError, TypeError, ValueError):
        raise Unfit('parameters should be a dict with the arrays "U", "W", "b", "V", "c"') from None
    shapes = {"U": (Q, H), "W": (H, H), "b": (H,), "V": (H, Q), "c": (Q,)}
    for name, shape in shapes.items():
        if found[name].shape != shape:
            raise Unfit(f"with Q = {Q} and the H = {H} of b, {name} should be {shape}; it is {found[name].shape}")
    return found


def _bits(parameters: dict[str, np.ndarray], ids: np.ndarray) -> float:
    """Bits per character, in one row from a state of zeros."""
    U, W, b, V, c = (parameters[name] for name in "UWbVc")
    H = rnn_forward(np.eye(len(U))[ids[:-1]][:, None], np.zeros((1, len(W))), U, W, b)
    return sequence_nll(output_layer(H, V, c), ids[1:, None]) / (len(ids) - 1) / float(np.log(2))


def _how_long(losses: list[float], max_epochs: int, patience: int) -> str:
    """Whether the training ended when it should, judged by its own losses."""
    waited, lowest, end = 0, np.inf, max_epochs
    for epoch, loss in enumerate(losses):
        waited, lowest = (0, loss) if loss < lowest else (waited + 1, lowest)
        if waited == patience:
            end = min(end, epoch + 1)
            break
    words = "as many as patience and max_epochs allow"
    return words if len(losses) == end else f"{'more' if len(losses) > end else 'fewer'} than that"


def _which(losses: list[float], bits: float) -> str:
    """After which epoch the validation loss was that of the parameters."""
    if abs(bits - min(losses)) < 1e-3:
        return "the best epoch"
    if abs(bits - losses[-1]) < 1e-3:
        return "the last epoch, which was not the best"
    if abs(bits * float(np.log(2)) - min(losses)) < 1e-3:
        return "the best epoch, but the losses are in nats"
    return "no epoch: on valid_ids they score none of your losses"


def _same(one: dict[str, np.ndarray], other: dict[str, np.ndarray]) -> bool:
    return all(one[name].shape == other[name].shape and np.array_equal(one[name], other[name]) for name in one)


DRIVERS |= {"fitting": fitting, "training": training}
