"""An experiment, run over seeds and over the settings that could refute it, and the claims that rest on it.

>>> unit = Unit("99_example")
>>> @unit.experiment("share of right answers", settings={
...     "short examples": {"lags": (1, 7)},
...     "fixed lag 30": {"lags": (30, 30)},
... })
... def short_examples(seed, lags):
...     return {"lag 30": 1.0 if lags[0] < 8 else 0.25, "lag 100": 0.9 if lags[0] < 8 else 0.25}

The first setting is the one that the claim is about. In the others its cause is removed (the control), or another
cause is varied: budget, rate, scale, lag, start. A claim says, of one seed's numbers, when it holds:

>>> short_examples.claim(
...     "learnt_short",
...     "Trained on short examples alone, the cell answers after thirty steps.",
...     figure=("short examples", "lag 30"),
...     controls=[("fixed lag 30", "lag 30")],
...     holds=lambda n: n["short examples"]["lag 30"] > 0.9 > 0.5 > n["fixed lag 30"]["lag 30"],
... )
>>> unit.claims[0].words
'Trained on short examples alone, the cell answers after thirty steps.'

The words are those that stand behind **Claim:** in the unit, marks of emphasis aside. What an experiment trains and
measures stands in `rnncourse.experiments`, where the unit's notebook calls it, too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, Literal

Numbers = dict[str, float]  # what one run measured, by name
BySetting = dict[str, Numbers]  # of one seed


@dataclass(frozen=True)
class Experiment:
    """`run(seed, **settings[name])` measures, by name, a few numbers; `measure` says what they are."""

    name: str
    measure: str
    run: Callable[..., Numbers]
    settings: dict[str, dict[str, Any]]
    seeds: int
    claims: list[Claim] = field(repr=False)  # of the unit, to which this one's are added

    def claim(
        self,
        name: str,
        words: str,
        *,
        figure: tuple[str, str],
        controls: Iterable[tuple[str, str]],
        holds: Callable[[BySetting], bool],
    ) -> None:
        """Add a claim that rests on this experiment.

        **Errors:** `ValueError` if a figure names a setting that there is not, or if there is no control.
        """
        made = Claim(name, self, words, figure, tuple(controls), holds)
        if not made.controls:
            raise ValueError(f"{name} has no control: nothing could refute it.")
        for setting, _ in (figure, *made.controls):
            if setting not in self.settings:
                raise ValueError(f"{name}: {self.name} has no setting {setting!r}.")
        self.claims.append(made)


@dataclass(frozen=True)
class Claim:
    """What a unit claims: its words, when they hold of one seed's numbers, and which numbers show it.

    `figure` is a (setting, number) pair, the one that the claim is about; `controls` are those to hold it against.
    """

    name: str
    experiment: Experiment
    words: str
    figure: tuple[str, str]
    controls: tuple[tuple[str, str], ...]
    holds: Callable[[BySetting], bool]


@dataclass(frozen=True)
class Expectation:
    """Something that one might expect, how much of it was borne out, and the unit's own words on it."""

    expected: str
    borne_out: Literal["in part", "no"]
    found: str


@dataclass
class Unit:
    """The experiments and claims of one unit, by its stem, "05_gradient_flow"."""

    stem: str
    seeds: int = 20
    experiments: list[Experiment] = field(default_factory=list)
    claims: list[Claim] = field(default_factory=list)
    expectations: list[Expectation] = field(default_factory=list)

    def experiment(
        self, measure: str, settings: dict[str, dict[str, Any]], seeds: int | None = None
    ) -> Callable[[Callable[..., Numbers]], Experiment]:
        """Decorator: the function `run(seed, **setting)` becomes an experiment of its name.

        It is confirmed on the unit's number of seeds, or on `seeds`: fewer, where one run takes over a minute.

        **Errors:** `ValueError` for fewer than 5 seeds, or for a single setting, in which nothing could be refuted.
        """
        seeds = seeds or self.seeds
        if seeds < 5 or len(settings) < 2:
            raise ValueError("An experiment needs at least 5 seeds, and a second setting that could refute it.")

        def add(run: Callable[..., Numbers]) -> Experiment:
            made = Experiment(run.__name__, measure, run, settings, seeds, self.claims)
            self.experiments.append(made)
            return made

        return add

    def expectation(self, expected: str, found: str, borne_out: Literal["in part", "no"] = "no") -> None:
        """Add what one might have expected, and how far it came, with the words of the unit that say so."""
        self.expectations.append(Expectation(expected, borne_out, found))
