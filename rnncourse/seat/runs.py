"""What this kernel has run: which run an answer comes from, and whether it is still what its cell says.

A verdict belongs to the text of a cell. But a check gets a function, and that may be of yesterday: its cell was edited
and stopped, or was not run since. So IPython tells here, in whatever front end, of each run that is done; and if the
front end says which notebook it shows, the notebook is looked at as it was saved.
"""

import json
import os
import re
import sys
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

_DEFINED = re.compile(r"^(?:(?:async[ ]+)?def|class)[ ]+(\w+)|^(\w+)[ ]*(?::[^=\n]*)?=(?!=)", re.MULTILINE)
_ABSENT = object()


@dataclass(frozen=True)
class Run:
    """One run of a cell. `error` says how it stopped, if it did; `bound` are the names that it defined nevertheless."""

    number: int
    source: str
    cell: str | None  # its id, where the front end says it
    at: float
    error: str = ""
    bound: frozenset[str] = frozenset()

    def __str__(self) -> str:
        return f"In [{self.number}]"


_latest: dict[str, Run] = {}  # of the cells that define a name, the last run
_names_of: dict[str, set[str]] = {}  # what a cell has ever defined, by its id
_now: tuple[Run, dict[str, Any]] | None = None  # the run that goes on, and what its names were before
_watched: Any = None


def shell() -> Any:
    """The IPython that runs this, or None."""
    ipython = sys.modules.get("IPython")
    return ipython.get_ipython() if ipython is not None else None


def watch() -> None:
    """Be told of each run from now on; once for each IPython."""
    global _watched
    found = shell()
    if found is not None and found is not _watched:
        _watched = found
        found.events.register("pre_run_cell", _begins)
        found.events.register("post_run_cell", _ends)


def stale(name: str, candidate: Any) -> tuple[str, str]:
    """Of what is called `name`: the run that it comes from, "In [12]", as far as that is known; and a sentence if it is
    not what its cell says now.
    """
    current = _now[0] if _now is not None and name in _defined(_now[0].source) else None
    run = replace(current, number=_number()) if current else _latest.get(name)
    if run is None or _watched.user_ns.get(name, candidate) is not candidate:
        return "", ""
    if run.error and name not in run.bound:
        return str(run), (
            f"The cell of {name} does not run: in {run} it stopped with {run.error}. What was defined before is not "
            "what stands there now, so there is nothing to judge. Mend that, run the cell, and check again."
        )
    if current is None and _is_edited_since(name, run):
        return str(run), (
            f"The cell of {name} says something else now than in {run}, when it last ran: run it, and check again."
        )
    return str(run), ""


def notebook() -> Path | None:
    """The notebook that this kernel belongs to, if the front end says so: Jupyter's server does, and VS Code."""
    found = shell()
    path = found.user_ns.get("__vsc_ipynb_file__") if found is not None else None
    path = path or os.environ.get("JPY_SESSION_NAME")
    return Path(path) if isinstance(path, str) and path.endswith(".ipynb") and Path(path).is_file() else None


def _begins(info: Any) -> None:
    global _now
    if not info.store_history:
        return
    source = str(info.raw_cell)
    run = Run(0, source, getattr(info, "cell_id", None), time.time())
    _now = run, {name: _watched.user_ns.get(name, _ABSENT) for name in _defined(source)}


def _ends(result: Any) -> None:
    global _now
    if _now is None or not result.info.store_history:
        return
    (run, before), _now = _now, None
    error = result.error_before_exec or result.error_in_exec
    names = set(before)
    if run.cell is not None:
        if error:  # what is no Python may not even look like a definition
            names |= _names_of.get(run.cell, set())
        _names_of.setdefault(run.cell, set()).update(before)
    bound = frozenset(name for name in before if _watched.user_ns.get(name, _ABSENT) is not before[name])
    if isinstance(error, NotImplementedError):  # what was given out is not written yet, and a check says so
        error = None
    words = _words(error) if error is not None else ""
    for name in names:
        _latest[name] = replace(run, number=_number(), error=words, bound=bound)


def _number() -> int:
    """The number of the run that goes on, or has just ended."""
    return len(_watched.history_manager.input_hist_raw) - 1


def _words(error: BaseException) -> str:
    if isinstance(error, KeyboardInterrupt):
        return "an interruption"
    said = error.msg if isinstance(error, SyntaxError) else str(error).partition("\n")[0]
    line = f" (line {error.lineno})" if isinstance(error, SyntaxError) and error.lineno else ""
    return f"{type(error).__name__}{f': {said}' if said else ''}{line}"


def _defined(source: str) -> set[str]:
    return {function or value for function, value in _DEFINED.findall(source)}


def _is_edited_since(name: str, run: Run) -> bool:
    """Whether the notebook was saved after a run with another text in its cell."""
    path = notebook()
    try:
        if path is None or path.stat().st_mtime <= run.at:
            return False
        cells = [cell for cell in json.loads(path.read_text(encoding="utf-8"))["cells"] if cell["cell_type"] == "code"]
        texts = {_text(cell) for cell in cells if cell.get("id") == run.cell}
        texts = texts or {text for text in map(_text, cells) if name in _defined(text)}
    except (OSError, ValueError, KeyError, TypeError):
        return False
    return bool(texts) and _plain(run.source) not in map(_plain, texts)


def _text(cell: dict[str, Any]) -> str:
    return "".join(cell["source"])


def _plain(text: str) -> str:
    return "\n".join(line.rstrip() for line in text.strip().splitlines())
