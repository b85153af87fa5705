"""Unit 14: several calls of one answer, whose results are compared with one another.

What must hold of a pipeline shows in no single run: that a seed gives the same again, that other test data change
nothing before they are scored. So a case is a few calls, and the judge compares what came of them.
"""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np

from rnncourse.checks.drive import DRIVERS
from rnncourse.checks.wire import encode


def name_of(calls: tuple[Any, ...]) -> str:
    """A name for the arguments of these calls."""
    return hashlib.sha256(encode(calls)).hexdigest()[:16]


def runs(candidate: Any, *calls: tuple[Any, ...]) -> tuple[str, list[Any], list[bool]]:
    """One call after the other: the name of the case, what each gave, and whether it moved NumPy's global generator."""
    name, answers, moved = name_of(calls), [], []
    for call in calls:
        before = np.random.get_state(legacy=False)["state"]  # noqa: NPY002
        key, position = before["key"].copy(), before["pos"]
        answers.append(candidate(*call))
        after = np.random.get_state(legacy=False)["state"]  # noqa: NPY002
        moved.append(not (np.array_equal(key, after["key"]) and position == after["pos"]))
    return name, answers, moved


DRIVERS["runs"] = runs
