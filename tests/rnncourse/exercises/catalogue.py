"""What the tests of every exercise have in common: the exercises, their right answers, and other verdicts."""

from __future__ import annotations

import importlib
import os
from collections.abc import Iterator
from typing import Any
from unittest import mock

import pytest

from rnncourse import check, exercises
from rnncourse.checks.exercise import Exercise, Question
from rnncourse.checks.verdict import Verdict
from tests.sampling import ALL, SEED

EVERY = [e for unit in exercises.units() for e in unit]
CODE = [e for e in EVERY if isinstance(e, Exercise)]
QUESTIONS = [e for e in EVERY if isinstance(e, Question)]
SEEDS = range(SEED, SEED + 10) if ALL else []


def alternatives() -> list[Any]:
    """Each right answer in another style, with the name of its exercise."""
    found = []
    for unit in exercises.units():
        stem = unit.stem.partition("_")[2]
        module = importlib.import_module(f"tests.rnncourse.exercises.alternatives.{stem}")
        found += [
            pytest.param(name, answer, id=f"{name}-{i}")
            for name, all_ in module.ALTERNATIVES.items()
            for i, answer in enumerate(all_)
        ]
    return found


def other_verdicts(answer: Any, name: str) -> Iterator[Verdict]:
    """By night: the verdict on the visible cases alone, and on other seeds' hidden ones."""
    if ALL:
        yield check(answer, name)
    for seed in SEEDS:
        with mock.patch.dict(os.environ, RNNCOURSE_SEED=str(seed)):
            yield check(answer, name, hidden=True)
