"""What an answer is asked: the cases of a draw, or some others, as the sandbox gets them, kept for the class."""

import hashlib
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np

from rnncourse.checks.callables import Named
from rnncourse.checks.cases import drawn, ends, quiet_observe, seed_for
from rnncourse.checks.drive import Driver
from rnncourse.checks.exercise import Exercise
from rnncourse.checks.local import Local
from rnncourse.checks.pairs import has_model
from rnncourse.checks.plain import NotPlain, to_plain
from rnncourse.checks.wire import decode, encode
from rnngrade.grading.cache import MOST_KEPT, OBJECT, BoundedCache
from rnngrade.sandbox.inside.runner import READ_ONLY
from rnngrade.sandbox.inside.sealed import seal
from rnngrade.sandbox.shared_memory import LaidOut, lay_out

MOST_SEALED = 2**18  # bytes of answers that come with the cases of a draw

Driven = tuple[Driver, tuple[Any, ...]]  # how an answer is driven, and the arguments


@dataclass(frozen=True, eq=False)
class Request:
    """Some cases as the sandbox gets them: `body` asks for an observation of each, `functions` stay here."""

    cases: tuple[Driven, ...]
    laid_out: LaidOut
    body: bytes
    functions: tuple[Named, ...]
    owners: tuple[int, ...]  # of the functions, by case
    offer: bytes  # which functions these are, the exercise's own and `functions`
    is_counted: tuple[bool, ...]  # by case, whether its numbers are to know how deep they are


_requests = BoundedCache[tuple[Any, ...], Request](MOST_KEPT)  # by exercise, drivers and ids of the arguments


def draw_of(exercise: Exercise, is_hidden: bool) -> tuple[tuple[Driven, ...], tuple[Driven, ...]]:
    """The cases of a draw, and those that an answer is asked which is right in all of them."""
    seed = seed_for(exercise, is_hidden)
    cases, _ = drawn(exercise, seed)
    return tuple((exercise.drive, c.args) for c in cases), tuple((e.drive, e.case.args) for e in ends(exercise, seed))


def prepare(exercise: Exercise) -> None:
    """Work out what a class is asked, and keep it."""
    for is_hidden in (False, True):
        for cases in draw_of(exercise, is_hidden):
            requested(exercise, cases)


def requested(exercise: Exercise, cases: tuple[Driven, ...]) -> Request:
    """What to ask an answer in these cases; kept, with them, for the next who is asked the same."""
    key = exercise.name, *((drive.name, id(args)) for drive, args in cases)
    if (request := _requests.get(key)) is None:
        functions: list[Named] = []
        owners: list[int] = []
        shown: list[tuple[Any, ...]] = []
        # Whoever knows no values can say nothing of a depth but by which operations the values come about.
        is_counted = tuple(drive.counts_depth and isinstance(args[-1], str) for drive, args in cases)
        for case, (_, args) in enumerate(cases):
            given = (*(np.zeros_like(a) for a in args[:-1]), "trace") if is_counted[case] else args
            shown.append(given_to(exercise, given, functions))
            owners += [case] * (len(functions) - len(owners))
        laid_out = lay_out(*shown)
        named = [(drive.name, args) for (drive, _), args in zip(cases, laid_out.cases, strict=True)]
        body = encode([named, _sealed(exercise, cases)])
        offer = offered(exercise, functions)
        request = Request(cases, laid_out, body, tuple(functions), tuple(owners), offer, is_counted)
        _requests.put(key, request, len(body) + 2 * len(laid_out.data) + len(offer) + OBJECT)
    return request


def offered(exercise: Exercise, functions: Sequence[Named]) -> bytes:
    return hashlib.sha256(encode([exercise.name, *functions])).digest()


def given_to(exercise: Exercise, value: Any, functions: list[Named]) -> Any:
    """`value` as the sandbox gets it: functions stay here, under a number."""
    if isinstance(value, Named):
        if _is_fixture(value) and not exercise.counts_calls:
            return value
        functions.append(value)
        return Named("__remote__", {"number": len(exercise.uses) + len(functions) - 1})
    if isinstance(value, (list, tuple)):
        return type(value)(given_to(exercise, v, functions) for v in value)
    if type(value) is dict:
        return {k: given_to(exercise, v, functions) for k, v in value.items()}
    return value


def _sealed(exercise: Exercise, cases: tuple[Driven, ...]) -> np.ndarray:
    """The answers to the calls of earlier exercises that the model answer makes in these cases, if they are a draw."""
    made: dict[bytes, bytes] = {}

    def known(number: int, function: Callable[..., Any]) -> Callable[..., Any]:
        def called(*args: Any, **kwargs: Any) -> Any:
            with suppress(NotPlain):  # numbers that count, a tensor, or a function: these are asked for
                call = encode([number, to_plain(args), to_plain(kwargs)])
                given: Any = decode(call)
                answer = function(*given[1], **given[2])
                if sum(map(len, made.values())) < MOST_SEALED:
                    made[call] = encode([marked(to_plain(answer), answer)])
                return answer
            return function(*args, **kwargs)

        return called

    if len(cases) > 1 and exercise.uses and not exercise.calls_own and has_model(exercise):
        model = exercise.made_of(exercise.source, f"<{exercise.name}>")
        uses = {name: known(number, function) for number, (name, function) in enumerate(exercise.uses.items())}
        with Local(model, uses):
            for drive, args in cases:
                quiet_observe(model, drive, args)
    return seal(made)


def marked(plain: Any, answer: Any) -> Any:
    """What a function has answered, as it is sent: with a mark, if nobody may write to it."""
    return {READ_ONLY: plain} if isinstance(answer, np.ndarray) and not answer.flags.writeable else plain


def _is_fixture(value: Named) -> bool:
    """Whether the sandbox can make this itself."""
    from rnncourse.checks import callables

    return callables._factories[value.name].__module__.startswith("rnncourse.fixtures.")
