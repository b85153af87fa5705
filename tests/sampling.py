"""How much a test tries of what there is: in `make test` a few, others each time; with FUZZ in the environment, all."""

from __future__ import annotations

import os
import random
from collections.abc import Iterable
from typing import TypeVar

ALL = int(os.environ.get("FUZZ", "0")) > 0
DRAW = random.Random(os.environ.get("PYTEST_XDIST_TESTRUNUID"))  # the same in every process of a run: all collect alike
T = TypeVar("T")


def some(things: Iterable[T], few: int) -> list[T]:
    """So many of these, in their order."""
    found = list(things)
    chosen = range(len(found)) if ALL or few >= len(found) else sorted(DRAW.sample(range(len(found)), few))
    return [found[i] for i in chosen]
