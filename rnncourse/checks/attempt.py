"""Running an answer in another form, once, on the candidate's side.

`Program.watching` puts calls of `__look__(line)` into a text: each looks whether an argument has changed by now.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from rnncourse.checks.cycles import compiled
from rnncourse.checks.drive import Driver, Observation, Stopped, describe, observe
from rnncourse.checks.plain import NotPlain, identical, to_plain
from rnncourse.checks.program import LOOK


@dataclass(frozen=True)
class Attempt:
    """What one run gave: the observation, and the line after which an argument first had changed."""

    seen: Observation
    wrote: int | None = None


def attempt(text: str, name: str, space: dict[str, Any], drive: Driver, args: tuple[Any, ...]) -> Attempt:
    """Run the program `text`, which defines `name`, with the names in `space`, on one case. Never raises for what it
    does.
    """
    watch = _Watch()
    space = {**space, LOOK: watch.look}
    try:
        exec(compiled(text, f"<{name}: another form>", space), space)
        candidate = space[name]
    except Stopped:
        raise
    except BaseException as error:
        return Attempt(Observation(error=describe(error), error_types=tuple(c.__name__ for c in type(error).__mro__)))
    if drive.is_plain and LOOK in text:
        candidate = watch.over(candidate)
    return Attempt(observe(candidate, drive, args), watch.wrote)


class _Watch:
    """Looks at the arguments of a call while it runs."""

    wrote: int | None = None
    args: tuple[Any, ...] | None = None

    def over(self, candidate: Callable[..., Any]) -> Callable[..., Any]:
        def watched(*args: Any) -> Any:
            try:
                self.args, self.before = args, to_plain(args)
            except NotPlain:
                self.args = None
            return candidate(*args)

        return watched

    def look(self, line: int) -> None:
        if self.wrote is None and self.args is not None and self._has_changed():
            self.wrote = line

    def _has_changed(self) -> bool:
        try:
            return not identical(to_plain(self.args), self.before)
        except NotPlain:
            return False
