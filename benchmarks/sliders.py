"""How long a picture takes to follow its slider: every position of every slider that the units have."""

from __future__ import annotations

import contextlib
import io
import itertools
import time
from collections.abc import Callable, Iterator, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np

from rnncourse import exercises, plots

LIMIT = 0.2  # seconds
ROUNDS = 3  # over all positions; the first of them also lays out what has not been seen
SOLUTIONS = Path(__file__).parents[1] / "solutions"


class AllFoundError(Exception):
    """The rest of the unit need not run."""


def run() -> None:
    """Print, for each panel of sliders: its first picture, and of the later ones the median and the slowest."""
    print(f"\nThe processor's time from a slider's move to its picture; the aim is less than {LIMIT} s, always.\n")
    print(f"{'':24}positions   first, ms   median, ms   slowest, ms   at")
    for unit in exercises.units():
        for sliders in panels(unit.stem):
            start = time.process_time()
            panel = import_module("rnncourse.plots.explore")._panel(*sliders)
            first = time.process_time() - start
            *widgets, _ = panel.children
            times = [_moved(widgets, values) for _ in range(ROUNDS) for values in positions(widgets)]
            slowest, place = max(times)
            at = ", ".join(f"{value:g}" for value in place)
            print(
                f"  {unit.stem:22} {len(times) // ROUNDS:8} {1e3 * first:11.0f} "
                f"{1e3 * np.median([spent for spent, _ in times]):12.0f} {1e3 * slowest:13.0f}   {at}"
                f"{'   slow' if slowest > LIMIT else ''}"
            )


def panels(stem: str) -> list[tuple[Callable[..., Any], dict[str, plots.Slider]]]:
    """What the unit hands to `explore`, when it is run up to there: how to draw, and the sliders."""
    source = (SOLUTIONS / f"{stem}.py").read_text(encoding="utf-8")
    found, wanted = [], source.count("\nexplore(")

    def explore(draw: Callable[..., Any], still: object, alt: str, **sliders: plots.Slider) -> None:
        found.append((draw, sliders))
        if len(found) == wanted:
            raise AllFoundError

    if wanted:
        with (
            patch.object(plots, "explore", explore),
            contextlib.redirect_stdout(io.StringIO()),
            contextlib.suppress(AllFoundError),
        ):
            exec(compile(source, f"{stem}.py", "exec"), {"__name__": stem})
    return found


def positions(widgets: Sequence[Any]) -> Iterator[tuple[float, ...]]:
    """Every position of every slider with every one of the others, the last moving first."""
    yield from itertools.product(*(np.arange(w.min, w.max + w.step / 2, w.step).round(6) for w in widgets))


def _moved(widgets: Sequence[Any], values: tuple[float, ...]) -> tuple[float, tuple[float, ...]]:
    """The processor's seconds of the last move that brings the sliders there."""
    spent = 0.0
    for widget, value in zip(widgets, values, strict=True):
        if widget.value != value:
            start = time.process_time()
            widget.value = value
            spent = time.process_time() - start
    return spent, values
