"""The sandbox's side of grading: runs a student's cells, and puts what the judge asks to their answers.

Requests and replies have a verb, a number and a body; a reply has the number of its request. While a request is being
worked on, each side may ask the other for a function that only the other has:

    run n [source]                         -> the cell's outputs, and the exception that ended it
    fork n []                              -> the number of a process like this one, which answers on the channel that
                                              comes behind the request; answers are called in such ones only
    open n [name, exercise]                -> whether there is such an answer; it is then asked by "observe"
    observe n [(driver, arguments) by case, sealed answers] -> nothing, behind a "seen" for each case, up to one that
                                              came to no end: the observation, as `rnncourse.checks.drive` makes it
        call m [function, args, kwargs]    <- the answer calls what the exercise gives it: the judge answers, if the
                                              answer did not come with the cases (`sealed`)
        callback m [function, args, kwargs]   the judge calls a function that the answer handed to it
    attempt n [text, name, driver, arguments, seconds] -> the answer in another form, as `Local.attempt` runs it
    again n [cases]                        -> the same answers, as they are now
    value n [name]                         -> the value of a name

Nothing that is said here decides anything: inputs come in, answers go out.
"""

import dataclasses
import os
import socket
import types
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from rnncourse.checks import callables
from rnncourse.checks.depth import packed, replayed, tape_in
from rnncourse.checks.drive import SHARED, Driver, describe, driver_named
from rnncourse.checks.forbidden import forbidden_call
from rnncourse.checks.local import Local
from rnncourse.checks.plain import NotPlain, to_plain
from rnncourse.checks.wire import encode

from .channel import Channel, Closed, Message
from .refusing import refuse, refusing
from .sealed import Sealed
from .shell import Shell, run

CHANNEL = 3  # the number of the open file by which a runner is asked
READ_ONLY = "__read_only__"  # an array that nobody may write to: {READ_ONLY: array}
FUNCTION = "__function__"  # a function on the other side: {FUNCTION: number}


class Runner:
    """Answers requests until the judge hangs up."""

    def __init__(self, channel: Channel, shell: Shell, call_seconds: float, memory: memoryview) -> None:
        self.channel, self.shell, self.call_seconds, self.memory = channel, shell, call_seconds, memory
        self.local: Local | None = None
        self.forbids: list[str] = []  # by dotted names, of the answer that is asked
        self.asked = 0
        self.sealed = Sealed()
        self.callbacks: list[Callable[..., Any]] = []
        self.answers: list[list[Any]] = []  # by case
        callables._factories["__remote__"] = self.remote
        callables._factories[SHARED] = self.array

    def serve(self) -> None:
        """Until the other side is gone."""
        try:
            while True:
                asked = self.channel.receive()
                verb, number = asked.verb, asked.number
                self.channel.send("reply", number, getattr(self, f"do_{verb}")(*asked.body()))
        except Closed:
            return

    def do_run(self, source: str) -> dict[str, Any]:
        error = run(self.shell, source)
        return {"outputs": self.shell.shown.outputs, "error": error}

    def do_fork(self) -> int:
        _, (file,), _, _ = socket.recv_fds(self.channel.connection, 1, 1)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of threads that a cell has left behind
            number = os.fork()
        if number:
            os.close(file)
            return number
        self.channel.connection.detach()
        os.dup2(file, CHANNEL)
        os.close(file)
        self.channel = Channel(socket.socket(fileno=CHANNEL), self.channel.limit)
        self.serve()
        os._exit(0)

    def do_open(self, name: str, exercise: dict[str, Any]) -> dict[str, Any]:
        self.close()
        if name not in self.shell.user_ns:
            return {"state": "missing"}
        candidate = self.shell.user_ns[name]
        if not callable(candidate):
            return {"state": "no function", "kind": type(candidate).__name__}
        uses = {used: self.remote(number) for used, number in exercise["uses"].items()}
        if banned := forbidden_call(candidate, tuple(exercise["forbids"]), uses):
            return {"state": "forbidden", "name": banned}
        self.local = Local(candidate, uses, self.call_seconds)
        self.local.__enter__()
        self.forbids = exercise["forbids"]
        refuse(self.forbids)
        return {"state": "open"}

    def do_observe(self, cases: list[tuple[str, tuple[Any, ...]]], sealed: np.ndarray) -> None:
        self.answers, self.sealed = [[] for _ in cases], Sealed(sealed)
        for number, (drive, args) in enumerate(cases):
            seen = self.seen(drive, args, self.answers[number])
            self.channel.hold("seen", number, seen)
            if seen["timed_out"]:
                break

    def seen(self, drive: str, args: tuple[Any, ...], keep: list[Any]) -> dict[str, Any]:
        """What the answer does in one case."""
        assert self.local is not None
        self.callbacks = []
        seen = self.local.observe(self.driver(drive), args, keep)
        return {f.name: getattr(seen, f.name) for f in dataclasses.fields(seen)}

    def do_attempt(self, text: str, name: str, drive: str, args: tuple[Any, ...], seconds: float) -> dict[str, Any]:
        assert self.local is not None
        self.callbacks = []
        done = self.local.attempt(text, name, self.driver(drive), args, seconds)
        seen = {f.name: getattr(done.seen, f.name) for f in dataclasses.fields(done.seen)}
        return {"seen": seen, "wrote": done.wrote, "nan": done.nan, "ran": done.ran, "work": done.work}

    def do_again(self, cases: list[int]) -> list[Any]:
        return [self.again(case) for case in cases]

    def again(self, case: int) -> Any:
        """The answer to a case, as it is now; None if it is no plain value any more."""
        try:
            return to_plain(self.answers[case][0])
        except (NotPlain, IndexError):
            return None

    def do_value(self, name: str) -> dict[str, Any]:
        if name not in self.shell.user_ns:
            return {"state": "missing"}
        value = self.shell.user_ns[name]
        if value is Ellipsis:
            return {"state": "open", "value": None}
        try:
            return {"state": "open", "value": to_plain(value)}
        except NotPlain as why:
            return {"state": "refused", "words": str(why)}

    def driver(self, name: str) -> Driver:
        """The driver of that name; while it drives, what the answer may not call is not there."""
        found = driver_named(name)

        def drive(candidate: Any, *args: Any) -> Any:
            with refusing(self.forbids):
                return found.function(candidate, *args)

        return dataclasses.replace(found, function=drive)

    def close(self) -> None:
        """The answer is done with."""
        self.answers = []
        if self.local is not None:
            self.local.__exit__()
            self.local = None

    def array(self, dtype: str, shape: list[int], start: int) -> np.ndarray:
        """An array of a case, where the judge has laid it."""
        return np.ndarray(shape, dtype, self.memory, start)

    def remote(self, number: int) -> Callable[..., Any]:
        """A function that the judge runs."""

        def function(*args: Any, **kwargs: Any) -> Any:
            return self.ask(number, args, kwargs)

        return function

    def ask(self, number: int, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Call one of the judge's functions; what it calls back is run here."""
        tensors, tape = _holds_tensors((args, kwargs)), tape_in((args, kwargs))
        call = encode([number, self._give(args), self._give(kwargs)])
        if (answer := self.sealed.answer_to(call)) is None:
            answer = self._asked_for(call)
        (value,) = Message("return", 0, answer).body()
        value = _read_only(value)
        return _as_tensors(value) if tensors else replayed(value, tape)

    def _asked_for(self, call: bytes) -> bytes:
        """The judge's answer to a call. **Errors:** what the function raised, by kind."""
        self.asked += 1
        number_of_call = self.asked
        self.channel.pass_on("call", number_of_call, call)
        while True:
            answer = self.channel.receive()
            if answer.verb == "callback":
                self._call_back(answer.number, *answer.body())
            elif answer.verb == "return" and answer.number == number_of_call:
                return answer.data
            elif answer.verb == "raise" and answer.number == number_of_call:
                raise _error(*answer.body())
            else:
                raise RuntimeError("the judge's answer does not fit")

    def _call_back(self, number: int, function: int, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        try:
            answer: tuple[Any, ...] = ("return", number, to_plain(self.callbacks[function](*args, **kwargs)))
        except Exception as error:
            answer = ("raise", number, [c.__name__ for c in type(error).__mro__], describe(error))
        self.channel.send(*answer)

    def _give(self, value: Any) -> Any:
        """`value` for the judge: plain, with functions lent by number."""
        if isinstance(value, (types.FunctionType, types.MethodType, types.BuiltinFunctionType)):
            self.callbacks.append(value)
            return {FUNCTION: len(self.callbacks) - 1}
        if type(value) in (list, tuple):
            return type(value)(self._give(v) for v in value)
        if type(value) is dict:
            return {k: self._give(v) for k, v in value.items()}
        value = packed(value)
        if _is_tensor(value):
            value = value.detach().cpu().numpy()
        try:
            return to_plain(value)
        except NotPlain as why:
            raise TypeError(f"this function takes arrays and numbers, not {why}") from None


def _read_only(value: Any) -> Any:
    """What the judge's function gave, which may keep it, and let nobody write to it."""
    if type(value) is dict and set(value) == {READ_ONLY}:
        value = value[READ_ONLY]
        value.setflags(write=False)
    return value


def _is_tensor(value: Any) -> bool:
    return type(value).__module__.startswith("torch") and hasattr(value, "detach")


def _holds_tensors(value: Any) -> bool:
    if isinstance(value, (list, tuple)):
        return any(_holds_tensors(v) for v in value)
    if isinstance(value, dict):
        return any(_holds_tensors(v) for v in value.values())
    return _is_tensor(value)


def _as_tensors(value: Any) -> Any:
    import torch

    if isinstance(value, np.ndarray):
        return torch.from_numpy(value)
    if isinstance(value, (list, tuple)):
        return type(value)(_as_tensors(v) for v in value)
    return value


class _KeyError(KeyError):
    """One whose words are what the judge's said, not its quotation."""

    def __str__(self) -> str:
        return str(self.args[0])


_KeyError.__name__ = "KeyError"


def _error(kinds: list[str], words: str) -> Exception:
    """The exception that the judge's function raised, as the nearest built-in one."""
    import builtins

    for kind in kinds:
        known = _KeyError if kind == "KeyError" else getattr(builtins, kind, None)
        if isinstance(known, type) and issubclass(known, Exception):
            return known(words)
    return RuntimeError(words)
