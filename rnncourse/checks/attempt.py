"""Running an answer in another form, once, on the candidate's side.

`Program.watching` puts calls into a text: of `__ran__(line)`, which says that a line is run, and of `__look__(line)`,
which looks whether an argument has changed by now, and whether a number is nan.
"""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Any

from rnncourse.checks.cycles import compiled
from rnncourse.checks.drive import Driver, Observation, Stopped, describe, observe
from rnncourse.checks.plain import NotPlain, Plain, has_nan, identical, to_plain
from rnncourse.checks.program import LOOK, RAN

CHECKS = str(Path(__file__).parent)  # what this package does meanwhile is no work of the answer's


@dataclass(frozen=True)
class Attempt:
    """What one run gave: the observation, and of a text that says so, the line after which an argument first had
    changed, and that after which a number first was nan; the lines that were run, and how many lines that was, those
    of other functions and repetitions included.
    """

    seen: Observation
    wrote: int | None = None
    nan: int | None = None
    ran: tuple[int, ...] = ()
    work: int = 0


def attempt(text: str, name: str, space: dict[str, Any], drive: Driver, args: tuple[Any, ...]) -> Attempt:
    """Run the program `text`, which defines `name`, with the names in `space`, on one case. Never raises for what it
    does.
    """
    watch, ran = _Watch(), set[int]()
    space = {**space, LOOK: watch.look, RAN: ran.add}
    try:
        exec(compiled(text, f"<{name}: another form>", space, args), space)
        candidate = space[name]
    except Stopped:
        raise
    except BaseException as error:
        return Attempt(Observation(error=describe(error), error_types=tuple(c.__name__ for c in type(error).__mro__)))
    if RAN not in text:
        return Attempt(observe(candidate, drive, args, is_brief=True))
    if drive.hands_over and LOOK in text:
        candidate = watch.over(candidate)
    with counted() as lines:
        seen = observe(candidate, drive, args, is_brief=True)
    return Attempt(seen, watch.wrote, watch.nan, tuple(sorted(ran)), lines[0])


@contextmanager
def counted() -> Iterator[list[int]]:
    """How many lines are run meanwhile in this thread, but for those of this package: what a run costs, the same each
    time.
    """
    lines = [0]

    def count(frame: FrameType, event: str, _: Any) -> Any:
        lines[0] += event == "line"
        return None if frame.f_code.co_filename.startswith(CHECKS) else count

    before = sys.gettrace()
    sys.settrace(count)
    try:
        yield lines
    finally:
        sys.settrace(before)


class _Watch:
    """Looks at the arguments of a call, and at what its functions have, while it runs."""

    wrote: int | None = None
    nan: int | None = None
    args: tuple[Any, ...] = ()

    def over(self, candidate: Callable[..., Any]) -> Callable[..., Any]:
        def watched(*args: Any) -> Any:
            self.args, self.before = args, [_plain(a) for a in args]
            return candidate(*args)

        return watched

    def look(self, line: int, value: Any = None) -> Any:
        if self.nan is None and has_nan((value, sys._getframe(1).f_locals)):
            self.nan = line
        if self.wrote is None and self.args and not identical([_plain(a) for a in self.args], self.before):
            self.wrote = line
        return value


def _plain(value: Any) -> Plain:
    """A copy of a value; None for a function, or what else is none."""
    try:
        return to_plain(value)
    except NotPlain:
        return None
