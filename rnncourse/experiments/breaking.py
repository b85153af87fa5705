"""Break this claim: an experiment once as a claim has it and once with one thing changed, on the same seeds.

>>> def share_right(seed, rate=0.1):
...     return {"right": 1.0 - rate * seed}
>>> print(one_change(share_right, {"rate": 0.1}, {"rate": 0.5}, seeds=[0, 1, 2]))
share_right, claim: rate = 0.1; seeds: 0, 1, 2
<BLANKLINE>
| | the claim | rate = 0.5 |
|---|---|---|
| right | 0.90 (0.80 to 1.00) | 0.50 (0.00 to 1.00) |
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from statistics import median
from typing import Any


def one_change(
    experiment: Callable[..., Mapping[str, float]],
    claim: Mapping[str, Any],
    change: Mapping[str, Any],
    seeds: Iterable[int] = range(5),
) -> str:
    """A table, to be handed in: for each number that is measured its median and its range, before and after.

    experiment: takes a seed and settings, and gives numbers by name. claim: the settings of the claim; change: the one
    that is another. **Errors:** `ValueError` if more than one thing is changed, or nothing; or if there are no seeds.
    """
    seeds = list(seeds)
    differ = [name for name, value in change.items() if name not in claim or claim[name] != value]
    if len(change) != 1 or not differ:
        raise ValueError("Change one thing, to another value than the claim has: {'learning_rate': 1.0}, say.")
    if not seeds:
        raise ValueError("There are no seeds: range(5), say.")
    before, after = ([experiment(seed, **{**claim, **more}) for seed in seeds] for more in ({}, change))
    rows = [
        f"| {name} | {_told([r[name] for r in before])} | {_told([r[name] for r in after])} |" for name in before[0]
    ]
    return "\n".join(
        [
            f"{experiment.__name__}, claim: {_named(claim)}; seeds: {', '.join(map(str, seeds))}",
            "",
            f"| | the claim | {_named(change)} |",
            "|---|---|---|",
            *rows,
        ]
    )


def _named(settings: Mapping[str, Any]) -> str:
    return ", ".join(f"{name} = {value!r}" for name, value in settings.items())


def _told(values: list[float]) -> str:
    return f"{median(values):.2f} ({min(values):.2f} to {max(values):.2f})"
