"""A progress bar for training: `for batch in track(batches, "training"): …`.

In a notebook it is a bar below the cell, in a terminal rich's. It goes when the loop is done. It can carry a word on
how things stand: `bar = track(…)`, `bar.say(f"loss {loss:.2f}")`.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sized
from html import escape
from typing import Generic, TypeVar

from rnncourse.checks.verdict import front_end

Item = TypeVar("Item")
SECONDS_BETWEEN_DRAWINGS = 0.1


class track(Generic[Item]):
    """Iterate over `items` and show how far one is. `total` is needed where `items` has no length."""

    def __init__(self, items: Iterable[Item], label: str, total: int | None = None) -> None:
        self.items = items
        self.label = label
        self.total = total if total is not None else len(items) if isinstance(items, Sized) else None
        self.word = ""

    def say(self, word: str) -> None:
        """Show a word beside the bar until the next one; it goes when the loop ends."""
        self.word = word

    def __iter__(self) -> Iterator[Item]:
        bar = _NotebookBar(self) if front_end() == "kernel" else _TerminalBar(self)
        drawn = 0.0
        with bar:
            for done, item in enumerate(self.items):
                if time.monotonic() - drawn > SECONDS_BETWEEN_DRAWINGS:
                    bar.draw(done)
                    drawn = time.monotonic()
                yield item


class _NotebookBar:
    def __init__(self, what: track[Item]) -> None:
        self.what = what

    def __enter__(self) -> _NotebookBar:
        from IPython.display import display

        self.handle = display(self._data(0), display_id=True, raw=True)
        return self

    def draw(self, done: int) -> None:
        self.handle.update(self._data(done), raw=True)

    def __exit__(self, kind: object, *_: object) -> None:
        if kind is None:  # else it stays, to show how far it came
            self.handle.update({"text/plain": self.what.label, "text/html": ""}, raw=True)

    def _data(self, done: int) -> dict[str, str]:
        label = escape(self.what.label, quote=True)
        most = self.what.total or 1
        bar = f'<progress aria-label="{label}" value="{done}" max="{most}" style="width:20em"></progress>'
        html = f"<div>{label} {bar}<span> {escape(self.what.word)}</span></div>"
        return {"text/plain": self.what.label, "text/html": html}


class _TerminalBar:
    def __init__(self, what: track[Item]) -> None:
        from rich.progress import Progress

        self.what = what
        self.progress = Progress(transient=True)

    def __enter__(self) -> _TerminalBar:
        self.progress.start()
        self.task = self.progress.add_task(self.what.label, total=self.what.total)
        return self

    def draw(self, done: int) -> None:
        self.progress.update(self.task, completed=done, description=f"{self.what.label} {self.what.word}".strip())

    def __exit__(self, *_: object) -> None:
        self.progress.stop()
