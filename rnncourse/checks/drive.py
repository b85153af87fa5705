"""Driving a candidate: what happens on the candidate's side, be that this process or another.

`observe(candidate, how, args)` gives the candidate a private copy of the arguments, makes the calls that the driver
`how` stands for, and writes down what came of it, in plain values: the answer, or the error; which arguments were
changed; whether the answer shares memory with one; how often each callable was called.
"""

from __future__ import annotations

import traceback
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from rnncourse.checks.callables import Named
from rnncourse.checks.plain import NotPlain, Plain, identical, share_memory, to_plain


class Stopped(BaseException):
    """Thrown into a candidate whose time is up."""


@dataclass(frozen=True)
class Observation:
    """What one case gave. `error` is a sentence or None; `error_types` the names of the error's class and its bases."""

    answer: Plain = None
    error: str | None = None
    error_types: tuple[str, ...] = ()
    timed_out: bool = False
    refused: str | None = None
    changed: tuple[int, ...] = ()
    shared: bool = False
    calls: tuple[int, ...] = ()
    wrote_meanwhile: bool = False


def call(candidate: Any, *args: Any) -> Any:
    """One call: `candidate(*args)`."""
    return candidate(*args)


def chain(candidate: Any, first: tuple[Any, ...], second: tuple[Any, ...]) -> Any:
    """The candidate answers with a function, which is called: `candidate(*first)(*second)`."""
    return candidate(*first)(*second)


def methods(candidate: Any, init: tuple[Any, ...], calls: list[tuple[str, tuple[Any, ...]]]) -> list[Any]:
    """The candidate is a class: one object is made, its methods are called in order, all answers are kept."""
    made = candidate(*init)
    return [getattr(made, name)(*args) for name, args in calls]


DRIVERS: dict[str, Callable[..., Any]] = {"call": call, "chain": chain, "methods": methods}


class _Spy:
    """Makes the callables of a case, counts their calls and looks at each call whether an argument is being
    written to.
    """

    def __init__(self) -> None:
        self.counts: list[int] = []
        self.look: Callable[[], bool] = lambda: False
        self.wrote = False

    def make(self, value: Any) -> Any:
        """`value` as the candidate gets it: a deep copy in which each `Named` is a function."""
        if isinstance(value, Named):
            return self._watched(value.make())
        if isinstance(value, (list, tuple)):
            return type(value)(self.make(v) for v in value)
        if type(value) is dict:
            return {k: self.make(v) for k, v in value.items()}
        return to_plain(value)

    def _watched(self, function: Callable[..., Any]) -> Callable[..., Any]:
        index = len(self.counts)
        self.counts.append(0)

        def watched(*args: Any, **kwargs: Any) -> Any:
            self.counts[index] += 1
            self.wrote = self.wrote or self.look()
            return function(*args, **kwargs)

        return watched


def _differ(live: Any, pristine: Any) -> bool:
    if isinstance(pristine, Named):
        return False
    if isinstance(pristine, (list, tuple)) and type(live) is type(pristine):
        return len(live) != len(pristine) or any(_differ(a, b) for a, b in zip(live, pristine, strict=True))
    if type(pristine) is dict and type(live) is dict:
        return live.keys() != pristine.keys() or any(_differ(live[k], pristine[k]) for k in pristine)
    try:
        return not identical(to_plain(live), pristine)
    except NotPlain:
        return True


def observe(candidate: Any, how: str, args: tuple[Any, ...]) -> Observation:
    """Drive the candidate through one case and say what was seen. Never raises for what the candidate does."""
    spy = _Spy()
    live = tuple(spy.make(a) for a in args)

    def changed() -> tuple[int, ...]:
        return tuple(i for i, (a, b) in enumerate(zip(live, args, strict=True)) if _differ(a, b))

    spy.look = lambda: bool(changed())
    try:
        answer = DRIVERS[how](candidate, *live)
    except Stopped:
        raise
    except BaseException as error:
        return Observation(
            error=describe(error), error_types=tuple(c.__name__ for c in type(error).__mro__), changed=changed()
        )
    plain, refused, shared = None, None, False
    try:
        plain = to_plain(answer)
        shared = share_memory(answer, live)
    except NotPlain as why:
        refused = str(why)
    return Observation(
        plain, refused=refused, changed=changed(), shared=shared, calls=tuple(spy.counts), wrote_meanwhile=spy.wrote
    )


def describe(error: BaseException) -> str:
    """One line on an error: its kind, its words, and the line of the candidate's own code where it arose."""
    try:
        words = str(error).strip().splitlines()
    except Exception:
        words = []
    text = f"{type(error).__name__}: {words[0][:200]}" if words else type(error).__name__
    frames = [
        f
        for f in traceback.extract_tb(error.__traceback__)
        if f.filename != __file__ and "site-packages" not in f.filename
    ]
    if frames and frames[-1].line:
        return f"{text} (in the line `{frames[-1].line.strip()[:100]}`)"
    return text
