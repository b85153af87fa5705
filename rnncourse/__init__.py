"""rnncourse: recurrent neural networks, built piece by piece, with checks that know the mistakes.

    from rnncourse import check, hint

Each concept has one short module with its reference (`rnncourse.cell`, `rnncourse.bptt`, …); `rnncourse.data` has the
texts and `rnncourse.plots` the pictures. Importing `rnncourse` alone loads neither torch nor matplotlib.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rnncourse.checks.verdict import Verdict
    from rnncourse.notebook import check, hint, progress, use

__all__ = ["Verdict", "check", "hint", "progress", "use"]
__version__ = "0.1.0"


def __getattr__(name: str) -> Any:
    # Loaded at first use, so that importing one textbook module does not load the engine.
    if name == "Verdict":
        from rnncourse.checks.verdict import Verdict

        return Verdict
    if name in __all__:
        from rnncourse import notebook

        return getattr(notebook, name)
    raise AttributeError(f"module 'rnncourse' has no attribute {name!r}")
