"""What the units claim about training, as it was measured: over seeds, and in the settings that could refute it.

`make claims` runs the experiments of the folder `claims/` and writes a file for each unit. Pictures take their numbers
from here, and the prose of the units is filled from here when it is built:

    {{short_examples/lags 1 to 7/lag 30}}               0.98 (0.74 to 1.00): the median, and the range over seeds
    {{short_examples/lags 1 to 7/lag 30|median .0%}}    98%
    {{short_examples/lags 1 to 7/lag 30|range .0%}}     74% to 100%
    {{held learnt_short}}                               19 of 20: the seeds in which the claim of that name held
    {{held learnt_short|interval}}                      76% to 99%: Wilson's interval for it, at 95%
    {{05_gradient_flow:short_examples/...}}             as the first, of another unit
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from statistics import median
from typing import Any

FOLDER = Path(__file__).parent / "claims"

_PLACE = re.compile(
    r"\{\{(?:held (?P<claim>\w+)(?P<interval>\|interval)?|"
    r"(?:(?P<stem>\w+):)?(?P<path>\w+/[^{}/|]+/[^{}/|]+)(?:\|(?P<how>[^{}]*))?)\}\}"
)


@dataclass(frozen=True)
class Measured:
    """One experiment: `values[setting][number]` lists what was measured, a float for each seed; `measure` says what."""

    measure: str
    values: dict[str, dict[str, list[float]]]

    def median(self, setting: str, number: str) -> float:
        """The median over the seeds."""
        return median(self.values[setting][number])

    def range(self, setting: str, number: str) -> tuple[float, float]:
        """The lowest and the highest over the seeds."""
        values = self.values[setting][number]
        return min(values), max(values)

    def quote(self, setting: str, number: str, how: str = "") -> str:
        """The number in words. `how` is a format, with "median" or "range" before it if only that is wanted.

        >>> measured = Measured("share", {"short": {"lag 30": [0.75, 1.0, 0.5]}})
        >>> measured.quote("short", "lag 30"), measured.quote("short", "lag 30", "median .0%")
        ('0.75 (0.50 to 1.00)', '75%')
        """
        words = how.split()
        form = next((word for word in words if word not in ("median", "range")), ".2f")
        middle, (low, high) = self.median(setting, number), self.range(setting, number)
        both = f"{low:{form}} to {high:{form}}" if f"{low:{form}}" != f"{high:{form}}" else f"{low:{form}}"
        if "median" in words:
            return f"{middle:{form}}"
        if "range" in words:
            return both
        return f"{middle:{form}} ({both})" if " to " in both else both


def stems() -> list[str]:
    """The units that have claims about training, or expectations, in order."""
    return sorted(path.stem for path in FOLDER.glob("*.json"))


@cache
def unit_claims(stem: str) -> dict[str, Any]:
    """A unit's file: "experiments", "claims" and "expectations". Empty for a unit that has none."""
    path = FOLDER / f"{stem}.json"
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else {"experiments": {}, "claims": []}


def claimed(stem: str) -> dict[str, Measured]:
    """The experiments of the unit of that stem, "05_gradient_flow", by name."""
    return {n: Measured(e["measure"], e["values"]) for n, e in unit_claims(stem)["experiments"].items()}


def filled(text: str, stem: str) -> str:
    """Prose of the unit of that stem with its numbers in place. **Errors:** `KeyError` for one that is not known."""

    def number(place: re.Match[str]) -> str:
        if place["claim"]:
            for claim in unit_claims(stem)["claims"]:
                if claim["name"] == place["claim"]:
                    low, high = claim.get("interval", (0, 1))
                    return f"{low:.0%} to {high:.0%}" if place["interval"] else f"{claim['held']} of {claim['of']}"
            raise KeyError(place[0])
        experiment, setting, name = place["path"].split("/")
        try:
            return claimed(place["stem"] or stem)[experiment].quote(setting, name, place["how"] or "")
        except (KeyError, ValueError):
            raise KeyError(place[0]) from None

    return _PLACE.sub(number, text)


def beside(place: str, yours: float, form: str = ".2f") -> str:
    """A number that was just measured, beside what our runs gave: 'yours 0.71; ours 0.94 to 1.00'.

    place: as in prose, "10_gates:one_distance/plain, lag 10/recalled". `form` is the format of the numbers.
    **Errors:** `KeyError` for a place that was not measured.
    """
    stem, _, path = place.partition(":")
    experiment, setting, number = path.split("/")
    try:
        return f"yours {yours:{form}}; ours {claimed(stem)[experiment].quote(setting, number, f'range {form}')}"
    except KeyError:
        raise KeyError(place) from None


def places(text: str) -> Iterator[str]:
    """The places in a text that are to be filled."""
    return (place[0] for place in _PLACE.finditer(text))
