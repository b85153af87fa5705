"""What the tests of every exercise have in common: the exercises, the shelf of answers to them, and other verdicts."""

import os
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any
from unittest import mock

from rnncourse import check, exercises
from rnncourse.checks.exercise import Exercise, Question
from rnncourse.checks.shelf import Answer, read
from rnncourse.checks.verdict import Verdict
from tests import sampling
from tests.sampling import ALL, SEED

SHELF = Path(__file__).parents[2] / "answers"
STEMS = sampling.UNITS or exercises.STEMS
EVERY = [e for stem in STEMS for e in exercises.unit(stem)]
CODE = [e for e in EVERY if isinstance(e, Exercise)]
QUESTIONS = [e for e in EVERY if isinstance(e, Question)]
SEEDS = range(SEED, SEED + 10) if ALL else []


@cache
def shelf(kind: str) -> list[Answer]:
    """The answers of a kind that stand on the shelf."""
    found = [answer for stem in STEMS for answer in read(SHELF / f"{stem}.txt")]
    return [answer for answer in found if answer.kind == kind]


def other_verdicts(answer: Any, name: str) -> Iterator[Verdict]:
    """By night: the verdict on the visible cases alone, and on other seeds' hidden ones."""
    if ALL:
        yield check(answer, name)
    for seed in SEEDS:
        with mock.patch.dict(os.environ, RNNCOURSE_SEED=str(seed)):
            yield check(answer, name, hidden=True)
