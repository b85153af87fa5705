"""Break this claim: an experiment once as a claim has it and once with one thing changed, on the same seeds.

The table that a student hands in names all that was run, so that a program can run it again:
`python -m rnncourse.experiments.breaking table.txt` says whether the same figures come.

>>> def share_right(seed, rate=0.1):
...     return {"right": 1.0 - rate * seed}
>>> print(one_change(share_right, {"rate": 0.1}, {"rate": 0.5}, seeds=[0, 1, 2]))
share_right, claim: rate = 0.1; seeds: 0, 1, 2
<BLANKLINE>
| | the claim | rate = 0.5 |
|---|---|---|
| right | 0.90 (0.80 to 1.00) | 0.50 (0.00 to 1.00) |
"""

import ast
import importlib
import re
import sys
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from statistics import median
from typing import Any

# By name, the module of each experiment whose claims may be broken.
EXPERIMENTS = {
    "recall_after_training": "gradient_flow",
    "recall_with_biases": "gates",
    "recall_of_a_core": "scans_torch",
}
TABLE = re.compile(
    r"^(\w+), claim: (.*); seeds: ([\d, ]+)\n\n\| \| the claim \| (.*) \|\n.*\n((?:\|.*\n?)+)", re.MULTILINE
)


def one_change(
    experiment: Callable[..., Mapping[str, float] | float],
    claim: Mapping[str, Any],
    change: Mapping[str, Any],
    seeds: Iterable[int] = range(5),
) -> str:
    """A table, to be handed in: for each number that is measured its median and its range, before and after.

    experiment: takes a seed and settings, and gives a number, or several by name. claim: the settings of the claim;
    change: the one that is another.

    **Errors:** `ValueError` if more than one thing is changed, or nothing; or if there are no seeds.
    """
    seeds = list(seeds)
    differ = [name for name, value in change.items() if name not in claim or claim[name] != value]
    if len(change) != 1 or not differ:
        raise ValueError("Change one thing, to another value than the claim has: {'learning_rate': 1.0}, say.")
    if not seeds:
        raise ValueError("There are no seeds: range(5), say.")
    before, after = ([_numbers(experiment(seed=seed, **{**claim, **more})) for seed in seeds] for more in ({}, change))
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


def run_again(text: str) -> str:
    """Whether the first table of `one_change` in a text comes out as it stands there: a sentence for who reads it.

    **Errors:** `ValueError` if there is none, or one of another experiment than `EXPERIMENTS`, or of no settings.
    """
    found = TABLE.search(text.replace("\r\n", "\n"))
    if not found or found[1] not in EXPERIMENTS:
        raise ValueError("There is no table of one_change with an experiment that could be run again.")
    claim, change = (_settings(part) for part in (found[2], found[4]))
    module = importlib.import_module(f"rnncourse.experiments.{EXPERIMENTS[found[1]]}")
    table = one_change(getattr(module, found[1]), claim, change, [int(seed) for seed in found[3].split(",")])
    told, came = found[5].split("\n"), table.split("\n")[4:]
    other = [row for row in came if row not in told]
    return "Run again, the same figures came." if not other else "Run again, other figures came: " + "; ".join(other)


def _settings(text: str) -> dict[str, Any]:
    """`lags = (1, 7), start = 0.9` as a dict."""
    try:
        call = ast.parse(f"dict({text})", mode="eval").body
        return {str(keyword.arg): ast.literal_eval(keyword.value) for keyword in call.keywords}  # type: ignore[attr-defined]
    except (SyntaxError, ValueError, AttributeError):
        raise ValueError(f"These are no settings: {text[:80]}") from None


def _numbers(result: Mapping[str, float] | float) -> Mapping[str, float]:
    return result if isinstance(result, Mapping) else {"right": result}


def _named(settings: Mapping[str, Any]) -> str:
    return ", ".join(f"{name} = {value!r}" for name, value in settings.items())


def _told(values: list[float]) -> str:
    return f"{median(values):.2f} ({min(values):.2f} to {max(values):.2f})"


if __name__ == "__main__":
    print(run_again(Path(sys.argv[1]).read_text(encoding="utf-8")))
