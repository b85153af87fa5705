"""rnncourse: recurrent neural networks, built piece by piece, with checks that know the mistakes.

    from rnncourse import check, hint

Each concept has one short module with its reference (`rnncourse.cell`, `rnncourse.bptt`, …); `rnncourse.data` has the
texts and `rnncourse.plots` the pictures. Importing `rnncourse` alone loads neither torch nor matplotlib.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rnncourse.checks.verdict import Verdict
    from rnncourse.seat.notebook import check, hint, progress, solution, use, where
    from rnncourse.seat.tracking import track

__all__ = ["Verdict", "check", "hint", "progress", "solution", "track", "use", "where"]
__version__ = "0.1.0"


def __getattr__(name: str) -> Any:
    # Loaded at first use, so that importing one textbook module does not load the engine.
    if name in __all__:
        home = {"Verdict": "checks.verdict", "track": "seat.tracking"}.get(name, "seat.notebook")
        return getattr(importlib.import_module(f"rnncourse.{home}"), name)
    raise AttributeError(f"module 'rnncourse' has no attribute {name!r}")
