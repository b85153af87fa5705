"""Text that nobody reads in passing. In a release for a graded class the answers are packed: the model answers, the
catalogue, whose mistakes are edits of them, and the textbook in code. Checks need them, so that whoever wants to can
unpack them; they are out of sight, and not secret.

`make dist GRADED=1` packs what `pack` is given (setup.py). Beside a file's place lies its text, compressed; a module is
left as two lines that run it.
"""

import zlib
from pathlib import Path
from typing import Any

SUFFIX = ".packed"
STAND_IN = """\
from rnncourse.checks.packed import run

run(__file__, globals())
"""


def text_of(path: Path) -> str:
    """The text of a file, packed or not. **Errors:** `OSError`."""
    packed = path.with_suffix(path.suffix + SUFFIX)
    if packed.exists():
        return zlib.decompress(packed.read_bytes()).decode()
    return path.read_text(encoding="utf-8")


def run(file: str, space: dict[str, Any]) -> None:
    """Run a packed module in its own namespace."""
    exec(compile(text_of(Path(file)), f"{file}{SUFFIX}", "exec", dont_inherit=True), space)


def pack(path: Path) -> None:
    """Put a file's packed text in its place."""
    path.with_suffix(path.suffix + SUFFIX).write_bytes(zlib.compress(path.read_bytes(), 9))
    if path.suffix == ".py":
        path.write_text(STAND_IN, encoding="utf-8")
    else:
        path.unlink()
