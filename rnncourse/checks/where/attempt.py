"""Running a program once, on the candidate's side: what it answers, and what it tells on the way.

What `program` puts into a text is bound here: `__note__(i, value)` keeps a copy of the value of place i, `__give__()`
is the next of the values that are given, `__look__(line)` looks whether an argument has changed by now.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from rnncourse.checks.drive import WITH_TENSORS, Observation, Stopped, describe, observe
from rnncourse.checks.plain import NotPlain, Plain, identical, to_plain
from rnncourse.checks.where.knots import compiled
from rnncourse.checks.where.program import GIVE, LOOK, NOTE

MOST_NOTES = 6_000  # in one run
MOST_ENTRIES = 1_000_000  # of all arrays that are noted in one run


@dataclass(frozen=True)
class Attempt:
    """What one run gave: the observation; by place its values, in order, None for what is no plain value; the line
    after which an argument first had changed. `is_whole` is False if there was too much to note.
    """

    seen: Observation
    notes: dict[int, list[Plain]] = field(default_factory=dict)
    wrote: int | None = None
    is_whole: bool = True


class _Notebook:
    def __init__(self, given: Sequence[Plain], with_tensors: bool) -> None:
        self.notes: dict[int, list[Plain]] = {}
        self.given = list(given)
        self.with_tensors = with_tensors
        self.left, self.entries = MOST_NOTES, MOST_ENTRIES
        self.is_whole = True
        self.pristine: Any = None
        self.live: Any = None
        self.wrote: int | None = None

    def note(self, number: int, value: Any) -> Any:
        if self.left > 0 and self.entries > 0:
            self.left -= 1
            self.notes.setdefault(number, []).append(self._plain(value))
        else:
            self.is_whole = False
        return value

    def give(self) -> Any:
        if not self.given:
            raise IndexError("there are no more values to give")
        value = self.given.pop(0)
        if self.with_tensors and isinstance(value, np.ndarray):
            return _tensor(value)
        return value.copy() if isinstance(value, np.ndarray) else value

    def look(self, line: int) -> None:
        if self.wrote is None and self.live is not None and not _same(self.live, self.pristine):
            self.wrote = line

    def _plain(self, value: Any) -> Plain:
        try:
            if type(value).__name__ in ("Tensor", "Parameter") and hasattr(value, "detach"):
                value = value.detach().cpu().numpy()
            if isinstance(value, (list, tuple)) and len(value) > 1000:
                return None
            plain = to_plain(value)
        except (NotPlain, TypeError, RuntimeError):
            return None
        if isinstance(plain, np.ndarray):
            self.entries -= plain.size
        return plain


def _tensor(value: np.ndarray) -> Any:
    import torch

    made = torch.from_numpy(value.copy())
    return made.requires_grad_() if made.is_floating_point() and torch.is_grad_enabled() else made


def _same(live: Any, pristine: Any) -> bool:
    try:
        return identical(to_plain(live), pristine)
    except NotPlain:
        return True


def attempt(
    text: str, name: str, space: dict[str, Any], how: str, args: tuple[Any, ...], given: Sequence[Plain] = ()
) -> Attempt:
    """Run the program `text`, which defines `name`, with the names in `space`, on one case. Never raises for what it
    does.
    """
    own = _Notebook(given, how in WITH_TENSORS)
    space = {**space, NOTE: own.note, GIVE: own.give, LOOK: own.look}
    try:
        exec(compiled(text, f"<{name}: another form>", space), space)
        candidate = space[name]
    except Stopped:
        raise
    except BaseException as error:
        return Attempt(Observation(error=describe(error), error_types=tuple(c.__name__ for c in type(error).__mro__)))
    if how == "call" and LOOK in text:
        candidate = _watched(candidate, own)
    seen = observe(candidate, how, args)
    return Attempt(seen, own.notes, own.wrote, own.is_whole)


def _watched(candidate: Callable[..., Any], own: _Notebook) -> Callable[..., Any]:
    def watched(*args: Any) -> Any:
        own.live = args
        try:
            own.pristine = to_plain(args)
        except NotPlain:
            own.live = None
        return candidate(*args)

    return watched
