"""Running an answer in another form, once, on the candidate's side.

`Program.watching` puts calls into a text: of `__ran__(line)`, which says that a line is run, and of `__look__(line)`,
which looks whether an argument has changed by now.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from rnncourse.checks.cycles import compiled
from rnncourse.checks.drive import Driver, Observation, Stopped, describe, observe
from rnncourse.checks.plain import NotPlain, Plain, identical, to_plain
from rnncourse.checks.program import LOOK, RAN


@dataclass(frozen=True)
class Attempt:
    """What one run gave: the observation, the line after which an argument first had changed, and the lines that were
    run: the last two of a text that says so.
    """

    seen: Observation
    wrote: int | None = None
    ran: tuple[int, ...] = ()


def attempt(text: str, name: str, space: dict[str, Any], drive: Driver, args: tuple[Any, ...]) -> Attempt:
    """Run the program `text`, which defines `name`, with the names in `space`, on one case. Never raises for what it
    does.
    """
    watch, ran = _Watch(), set[int]()
    space = {**space, LOOK: watch.look, RAN: ran.add}
    try:
        exec(compiled(text, f"<{name}: another form>", space), space)
        candidate = space[name]
    except Stopped:
        raise
    except BaseException as error:
        return Attempt(Observation(error=describe(error), error_types=tuple(c.__name__ for c in type(error).__mro__)))
    if drive.hands_over and RAN in text:
        candidate = watch.over(candidate)
    return Attempt(observe(candidate, drive, args), watch.wrote, tuple(sorted(ran)))


class _Watch:
    """Looks at the arguments of a call while it runs."""

    wrote: int | None = None
    args: tuple[Any, ...] = ()

    def over(self, candidate: Callable[..., Any]) -> Callable[..., Any]:
        def watched(*args: Any) -> Any:
            self.args, self.before = args, [_plain(a) for a in args]
            return candidate(*args)

        return watched

    def look(self, line: int) -> None:
        if self.wrote is None and self.args and not identical([_plain(a) for a in self.args], self.before):
            self.wrote = line


def _plain(value: Any) -> Plain:
    """A copy of a value; None for a function, or what else is none."""
    try:
        return to_plain(value)
    except NotPlain:
        return None
