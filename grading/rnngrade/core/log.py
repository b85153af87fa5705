"""What happened in which process, for whoever has to find out: `rnngrade --log FILE --log-level debug …`.

Python's own logging, under the name `rnngrade`. Grading processes write to the same file: its name comes to them in
their environment, since they start anew.
"""

import logging
import os
from pathlib import Path

LEVELS = ("debug", "info", "warning", "error")
FORM = "%(asctime)s %(levelname)s process %(process)d %(threadName)s %(module)s: %(message)s"
VARIABLE = "RNNGRADE_LOG"  # LEVEL:FILE

log = logging.getLogger("rnngrade")
log.addHandler(logging.NullHandler())  # else Python writes to stderr what nobody asked for
log.propagate = False


def to_file(path: Path, level: str) -> None:
    """Write to a file from now on, and have the processes that are started do so. **Errors:** `OSError`."""
    handler = logging.FileHandler(path, encoding="utf-8", errors="replace")
    handler.setFormatter(logging.Formatter(FORM))
    log.handlers[:] = [handler]
    log.setLevel(level.upper())
    os.environ[VARIABLE] = f"{level}:{path.resolve()}"


def as_told() -> None:
    """Write where the process that started this one does, if it does."""
    level, _, path = os.environ.get(VARIABLE, "").partition(":")
    if path and level in LEVELS:
        to_file(Path(path), level)
