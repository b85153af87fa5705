"""An answer in the sandbox, as the engine sees it: plain values go in, plain values come out.

What an answer may call, earlier exercises and the functions that a case hands it, is run here, by the course's own
code, within limits; so nothing of it is inside the sandbox.
"""

import dataclasses
import signal
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from rnncourse.checks.attempt import Attempt
from rnncourse.checks.callables import Named
from rnncourse.checks.depth import PACKED, Borrowed, measured
from rnncourse.checks.drive import Driver, Observation
from rnncourse.checks.exercise import Exercise
from rnncourse.checks.plain import NotPlain, arrays_in, identical, to_plain
from rnncourse.checks.program import Program, program_in
from rnncourse.checks.wire import encode
from rnngrade.grading.budget import alarm, with_no_more_than
from rnngrade.grading.cache import MOST_KEPT, OBJECT, BoundedCache
from rnngrade.grading.requests import Driven, Request, draw_of, given_to, marked, offered, requested
from rnngrade.sandbox.inside.refusing import WORDS as REFUSAL
from rnngrade.sandbox.inside.runner import FUNCTION
from rnngrade.sandbox.limits import MB
from rnngrade.sandbox.session import GRACE_SECONDS, CalledBack, Garbled, Session, TooMuch, TooSlow, told

SPARE_MEMORY = 256 * MB  # that one call of the judge's functions may take
MOST_PARTS = 100  # of what is listed in an observation: arguments, functions, bases of an error's class
MOST_BITS = 64  # of a whole number that an answer hands to one of the judge's functions
MOST_REMEMBERED = MB  # of what one answer has answered, until the hidden cases are asked


@dataclass(frozen=True, eq=False)
class _Answered:
    """What an answer was asked, and what came of it."""

    drive: Driver
    args: tuple[Any, ...]
    seen: Observation

    def fits(self, drive: Driver, args: tuple[Any, ...]) -> bool:
        """Whether this is what is asked."""
        if self.drive.name != drive.name:
            return False
        return self.args is args or encode(list(self.args)) == encode(list(args))


# Much of what a class says and calls in the same cases is the same to the byte.
_answers = BoundedCache[tuple[bytes, bytes], tuple[int, bytes]](MOST_KEPT)  # of which function, and what
_parsed = BoundedCache[bytes, tuple[Observation, int]](MOST_KEPT)  # with its size in memory
_seen = BoundedCache[tuple[Any, ...], Observation](MOST_KEPT)


class Remote:
    """An answer in the sandbox, as the engine sees it (`rnncourse.checks.engine.Candidate`)."""

    def __init__(self, session: Session, exercise: Exercise, seconds: float, source: str = "") -> None:
        self.session, self.exercise, self.source = session, exercise, source
        self.end = time.monotonic() + seconds
        self.functions: tuple[Named, ...] = ()  # of the cases; the exercise's own come before them
        self.owners: tuple[int, ...] = ()
        self.offer = b""
        self.counts: dict[int, int] = {}
        self.writers: set[int] = set()  # the cases in which an argument was another one when a function was called
        self.is_hidden = False  # whether the hidden cases are asked
        self.timed_out = self.called_forbidden = False
        self.borrows = False  # whether the last call came with functions of the student's
        self.size = 0  # of all that the answer has answered
        self.worked = 0.0  # seconds that the judge's functions have taken for it
        self.asked: list[_Answered] = []  # in their order
        self.before: list[_Answered] = []  # what was asked, and need not be asked again

    def open(self) -> dict[str, Any]:
        """Look for the answer; returns what the runner found."""
        settings = {
            "uses": {} if self.exercise.calls_own else {name: n for n, name in enumerate(self.exercise.uses)},
            "forbids": list(self.exercise.banned),
        }
        return as_dict(self.session.ask("open", self.exercise.name, settings, seconds=self.session.limits.cell_seconds))

    def begin_again(self) -> None:
        """Go on to the hidden cases. What was asked so far has its answers, if it is asked in the same order."""
        self.is_hidden = True
        self.end = time.monotonic() + self.session.limits.cell_seconds
        self.before, self.asked = self.asked, []

    def observe(self, drive: Driver, args: tuple[Any, ...]) -> Observation:
        """What the answer does with these arguments. **Errors:** a `Fault`, which ends the session.

        What can be seen from here is not asked for there: which arguments were written to, how often a function was
        called, whether the answer is a view of an argument, how deep it is. The room's word counts against it alone.
        """
        if not (self.before and self.before[0].fits(drive, args)):
            cases = self._together(drive, args)
            self.before = [_Answered(*one, seen) for one, seen in zip(cases, self._ask(cases), strict=False)]
        answered, *self.before = self.before
        self.timed_out = answered.seen.timed_out
        self.called_forbidden = self.called_forbidden or REFUSAL in (answered.seen.error or "")
        if self.size < MOST_REMEMBERED:
            self.asked.append(answered)
        return answered.seen

    def _together(self, drive: Driver, args: tuple[Any, ...]) -> tuple[Driven, ...]:
        """The cases that are asked with this one: if it is the first of a draw, or of what comes behind it, all of
        them. To wake a process costs as much as many an answer; and from the inputs of other cases nobody learns what
        is expected in any.
        """
        for cases in draw_of(self.exercise, self.is_hidden):
            if cases and drive is cases[0][0] and args is cases[0][1]:
                return cases
        return ((drive, args),)

    def _ask(self, cases: tuple[Driven, ...]) -> list[Observation]:
        """What the answer does in each of these cases, up to one in which it comes to no end."""
        request, limits = requested(self.exercise, cases), self.session.limits
        left = self.end - time.monotonic()
        if left <= 0:
            raise TooSlow()
        self._offer(request.functions, request.owners, request.offer)
        self.session.memory.lend(request.laid_out)
        seconds = min(left, len(cases) * limits.call_seconds + GRACE_SECONDS)
        replies: list[bytes] = []
        self.session.exchange("observe", request.body, seconds=seconds, answers=self, seen=replies, cases=len(cases))
        all_seen = [self._parsed(reply) for reply in replies]
        if not all_seen or (len(all_seen) < len(cases) and not all_seen[-1].timed_out):
            raise Garbled("no observation")
        changed = [self.session.memory.changed(case) for case in range(len(all_seen))]
        views = self._views(all_seen)
        return [
            seen if seen.timed_out else self._whole(request, case, replies[case], seen, changed[case], case in views)
            for case, seen in enumerate(all_seen)
        ]

    def _parsed(self, reply: bytes) -> Observation:
        """What the room has seen of a case."""
        if (parsed := _parsed.get(reply)) is None:
            value = told(reply)
            parsed = _observation(value), size_of(value)
            _parsed.put(reply, parsed, len(reply) + parsed[1])
        seen, size = parsed
        self._weigh(size)
        return seen

    def _whole(
        self, request: Request, case: int, reply: bytes, seen: Observation, changed: tuple[int, ...], is_view: bool
    ) -> Observation:
        """What the room has seen of a case, with what is seen from here."""
        changed = tuple(sorted({*seen.changed, *changed}))
        first = len(self.exercise.uses)
        calls = tuple(self.counts.get(first + i, 0) for i, owner in enumerate(request.owners) if owner == case)
        wrote = seen.wrote_meanwhile or case in self.writers
        key = request, case, reply, changed, calls, wrote, seen.shared or is_view
        if (whole := _seen.get(key)) is None:
            answer = _deep(seen.answer, request.cases[case][1][:-1]) if request.is_counted[case] else seen.answer
            whole = dataclasses.replace(
                seen, answer=answer, changed=changed, calls=calls, wrote_meanwhile=wrote, shared=key[-1]
            )
            _seen.put(key, whole, len(reply) + OBJECT)
        return whole

    def _offer(self, functions: Sequence[Named], owners: Sequence[int], offer: bytes) -> None:
        """From now on these functions can be called, each of a case, and the exercise's own before them."""
        self.functions, self.owners, self.offer = tuple(functions), tuple(owners), offer
        self.counts, self.writers = {}, set()

    def _weigh(self, size: int) -> None:
        """Add to what this answer has replied. **Errors:** `TooMuch` if all in all it is more than a message may be."""
        self.size += size
        if self.size > self.session.limits.message:
            raise TooMuch("answers")

    def _views(self, all_seen: list[Observation]) -> set[int]:
        """The cases in which the answer becomes another one when the arguments do, and the same again with them."""
        memory = self.session.memory
        if self.exercise.may_share:
            return set()
        views = {case for case, seen in enumerate(all_seen) if memory.may_hold(arrays_in(seen.answer), case)}
        for is_same in (False, True):
            if views:
                memory.turn()
                again = self._again(sorted(views))
                views = {case for case in views if identical(again[case], all_seen[case].answer) == is_same}
        return views

    def _again(self, cases: list[int]) -> dict[int, Any]:
        """The answers to these cases, as they are now."""
        again = self.session.ask("again", cases, seconds=self.session.limits.call_seconds)
        self._weigh(size_of(again))
        if type(again) is not list or len(again) != len(cases):
            raise Garbled("no answers")
        return dict(zip(cases, again, strict=True))

    def program(self, name: str) -> Program | None:
        """The answer's text, as it was handed in."""
        return program_in(self.source, name, self.exercise.uses)

    def attempt(self, text: str, name: str, drive: Driver, args: tuple[Any, ...], seconds: float = 1.0) -> Attempt:
        """What the answer does in another form. **Errors:** a `Fault`, which ends the session."""
        functions: list[Named] = []
        shown = given_to(self.exercise, args, functions)
        self._offer(functions, [0] * len(functions), offered(self.exercise, functions))
        patience = seconds + GRACE_SECONDS
        reply = self.session.ask("attempt", text, name, drive.name, shown, seconds, seconds=patience, answers=self)
        self._weigh(size_of(reply))
        match reply:
            case {
                "seen": dict(seen),
                "wrote": None | int() as wrote,
                "nan": None | int() as nan,
                "ran": tuple(ran),
                "work": int(work),
            }:
                return Attempt(_observation(seen), wrote, nan, tuple(n for n in ran if isinstance(n, int)), work)
        raise Garbled("no attempt")

    def known(self, call: bytes) -> bytes | None:
        """What one of the judge's functions has answered to such a call before: it answers the same to the same."""
        if (known := _answers.get((self.offer, call))) is None:
            return None
        number, answer = known
        self._count(number)
        return answer

    def keep(self, call: bytes, number: int, answer: bytes) -> None:
        """Keep an answer, if it has come of the arguments alone, and of no function that the student has lent."""
        if not self.borrows:
            _answers.put((self.offer, call), (number, answer), len(call) + len(answer) + OBJECT)

    def _count(self, number: int) -> None:
        self.counts[number] = self.counts.get(number, 0) + 1
        case = self.owners[number - len(self.exercise.uses)] if number >= len(self.exercise.uses) else None
        if case is not None and case not in self.writers and self.session.memory.changed(case):
            self.writers.add(case)

    def _function(self, number: int) -> Callable[..., Any]:
        """One of the judge's functions. **Errors:** `TypeError` if there is none of this number."""
        own = [*self.exercise.uses.values()]
        if 0 <= number < len(own):
            return own[number]
        if len(own) <= number < len(own) + len(self.functions):
            return self.functions[number - len(own)].make()
        raise TypeError("there is no such function")

    def call(self, number: int, args: Any, kwargs: dict[str, Any]) -> Any:
        """Run one of the judge's functions for the answer."""
        function = self._function(number)
        if not isinstance(args, tuple):
            raise TypeError("a function is called with a tuple of arguments")
        _require_small((args, kwargs), self.session.limits.reply)
        self._count(number)
        self.borrows = False
        began = time.monotonic()
        try:
            return self._run(function, args, kwargs)
        finally:
            self.worked += time.monotonic() - began
            if self.worked > self.session.limits.cell_seconds:
                raise TooSlow()

    def _run(self, function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        with within(self.session.limits.call_seconds):
            borrowed = Borrowed()
            live = {name: self._take(v, borrowed) for name, v in kwargs.items()}
            answer = function(*self._take(args, borrowed), **live)
            return marked(to_plain(borrowed.packed(answer)), answer)

    def _take(self, value: Any, borrowed: Borrowed) -> Any:
        """`value` as a function here gets it: a function that the answer lent is called where it is."""
        if isinstance(value, (list, tuple)):
            return type(value)(self._take(v, borrowed) for v in value)
        if type(value) is not dict:
            return value
        if set(value) == {PACKED}:
            return borrowed.unpacked(value)
        if set(value) != {FUNCTION}:
            return {k: self._take(v, borrowed) for k, v in value.items()}
        number = value[FUNCTION]
        self.borrows = True

        def callback(*args: Any, **kwargs: Any) -> Any:
            try:
                return self.session.call_back(number, tuple(to_plain(a) for a in args), to_plain(kwargs))
            except CalledBack as error:
                raise RuntimeError(str(error)) from None

        return callback


def _deep(answer: Any, given: tuple[Any, ...]) -> Any:
    """Values and depth of an answer that came as a tape; what came in their form is nobody's word for them."""
    if type(answer) is not dict:
        return None if isinstance(answer, tuple) else answer
    with np.errstate(all="ignore"):
        return measured(answer, given)


def as_dict(value: Any) -> dict[str, Any]:
    if type(value) is not dict:
        raise Garbled("an answer of another form")
    return value


def _observation(value: Any) -> Observation:
    """What the runner saw, read with care: anything else than an observation is garbage."""
    match value:
        case {
            "answer": answer,
            "error": None | str() as error,
            "error_types": tuple(types),
            "timed_out": bool(timed_out),
            "refused": None | str() as why,
            "changed": tuple(changed),
            "shared": bool(shared),
            "calls": tuple(calls),
            "wrote_meanwhile": bool(wrote),
            "with_gradient": tuple(marked),
        } if (
            max(map(len, (types, changed, calls, marked))) <= MOST_PARTS
            and all(type(t) is str for t in types)
            and all(type(i) is int and 0 <= i < MOST_PARTS for i in (*changed, *marked))
            and all(type(i) is int and 0 <= i < 2**31 for i in calls)
        ):
            pass
        case _:
            raise Garbled("no observation")
    try:
        answer = to_plain(answer)
    except NotPlain as what:
        answer, why = None, str(what)
    error = error[:500] if error is not None else None
    return Observation(answer, error, types, timed_out, why and why[:200], changed, shared, calls, wrote, marked)


def _require_small(value: Any, most: int) -> None:
    """**Errors:** `ValueError` if an answer hands a function more than it can be meant to work on."""
    size = sum(array.nbytes for array in arrays_in(value))
    if size > most or _has_huge_number(value):
        raise ValueError(f"this is too large: {size} bytes, {most} is the most")


def size_of(value: Any) -> int:
    """The bytes of memory that a value takes, roughly."""
    if isinstance(value, (list, tuple, set)):
        return 64 + sum(map(size_of, value))
    if isinstance(value, dict):
        return 64 + sum(size_of(k) + size_of(v) for k, v in value.items())
    return 64 + (len(value) if isinstance(value, str) else int(getattr(value, "nbytes", 0)))


def _has_huge_number(value: Any) -> bool:
    if isinstance(value, (list, tuple, set)):
        return any(_has_huge_number(v) for v in value)
    if isinstance(value, dict):
        return any(_has_huge_number(v) for v in value.values())
    return isinstance(value, (int, np.integer)) and int(value).bit_length() > MOST_BITS


class _OutOfTime(Exception):
    pass


@contextmanager
def within(seconds: float) -> Iterator[None]:
    """Stop what takes longer, as far as it is Python, or more memory than there is to spare for an answer's request.

    **Errors:** `RuntimeError` if the time is up, `MemoryError`.
    """
    try:
        with (
            alarm(signal.ITIMER_REAL, signal.SIGALRM, seconds, _OutOfTime),
            with_no_more_than(SPARE_MEMORY),
        ):
            yield
    except _OutOfTime:
        raise RuntimeError(f"this takes longer than {seconds:g} seconds") from None
