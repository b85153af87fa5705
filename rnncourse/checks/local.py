"""A candidate in this process: the student's own function, called in the student's own kernel.

Calls run in a thread of their own, so that one that never returns costs its time limit and no more. Where there are no
threads, as in a browser, each line of it looks at the clock instead. While a candidate is checked, the earlier
exercises that it calls by name are the reference's, what it prints is swallowed, and it has nothing to read from.
"""

from __future__ import annotations

import contextlib
import ctypes
import io
import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from queue import Empty, SimpleQueue
from types import FrameType
from typing import Any

from rnncourse.checks.attempt import Attempt, attempt
from rnncourse.checks.deadline import Deadline
from rnncourse.checks.drive import OTHERS, Driver, Observation, Stopped, observe
from rnncourse.checks.forbidden import functions_of
from rnncourse.checks.program import Program, program_of

SECONDS_A_CALL = 4.0  # of processor time; a right answer takes milliseconds
SECONDS_OF_IMPORTS = 30.0  # of PyTorch some take one, when they are first asked for
MORE_MEMORY = 1 << 31  # bytes, for answers in another form
_ABSENT = object()


class Local:
    """Use as a context: `with Local(function, uses) as candidate: candidate.observe(drive, args)`."""

    is_here = True  # its time is that of this process's processor

    def __init__(self, candidate: Any, uses: dict[str, Any], seconds: float = SECONDS_A_CALL) -> None:
        self.candidate = candidate
        self.uses = uses
        self.seconds = seconds
        self.printed = _Sink()
        self._context = contextlib.ExitStack()
        self._worker: _Worker | None = None
        self._space: dict[str, Any] | None = None

    def __enter__(self) -> Local:
        self._context.enter_context(_replaced(namespaces_of(self.candidate), self.uses))
        self._context.enter_context(_quiet(self.printed))
        self._context.callback(_default_dtype_kept())
        return self

    def __exit__(self, *_: object) -> None:
        if self._worker:
            self._worker.stop()
        self._context.close()

    def observe(self, drive: Driver, args: tuple[Any, ...], keep: list[Any] | None = None) -> Observation:
        """What the candidate does with these arguments, within the time limit; its answer itself is put into `keep`."""
        seen = self._within(self.seconds, lambda: observe(self.candidate, drive, args, keep))
        return seen or Observation(timed_out=True)

    def program(self, name: str) -> Program | None:
        """The candidate as a program, if its text can be had; whatever its name is."""
        return program_of(self.candidate, self.uses)

    def attempt(self, text: str, name: str, drive: Driver, args: tuple[Any, ...], seconds: float = 1.0) -> Attempt:
        """What the candidate does in another form, within so many seconds."""
        if self._space is None:
            self._space = dict(namespaces_of(self.candidate)[0])
            self._context.enter_context(_little_memory())
        space = self._space
        done = self._within(seconds, lambda: attempt(text, name, space, drive, args))
        return done or Attempt(Observation(timed_out=True))

    def _within(self, seconds: float, task: Callable[[], Any]) -> Any:
        """The task's result, or None when the time is up."""
        try:
            self._worker = self._worker or _Worker()
        except RuntimeError:  # Python in a browser can start no thread
            return _run_here(task, seconds)
        result = self._worker.run(task, seconds)
        if result is None:
            self._worker.stop()
            self._worker = None
        return result


def namespaces_of(candidate: Any) -> list[dict[str, Any]]:
    """The global namespaces in which a candidate's functions look names up."""
    return list({id(f.__globals__): f.__globals__ for f in functions_of(candidate)}.values())


@contextlib.contextmanager
def _replaced(spaces: list[dict[str, Any]], names: dict[str, Any]) -> Iterator[None]:
    before = [{name: space.get(name, _ABSENT) for name in names} for space in spaces]
    for space in spaces:
        space.update(names)
    try:
        yield
    finally:
        for space, values in zip(spaces, before, strict=True):
            for name, value in values.items():
                if value is _ABSENT:
                    space.pop(name, None)
                else:
                    space[name] = value


def _default_dtype_kept() -> Callable[[], None]:
    """What gives PyTorch back the default dtype that it has now: a driver sets another one while an answer runs, and a
    thread that cannot be stopped never comes to set it back.
    """

    def torch_here() -> Any:  # where a room has no PyTorch, an import of it is an empty folder
        torch = sys.modules.get("torch")
        return torch if hasattr(torch, "get_default_dtype") else None

    before = torch.get_default_dtype() if (torch := torch_here()) else None

    def restore() -> None:
        if torch := torch_here():
            torch.set_default_dtype(before or torch.float32)

    return restore


@contextlib.contextmanager
def _little_memory() -> Iterator[None]:
    """Within it, this process has `MORE_MEMORY` beside what it has: an answer in another form may ask for all there is,
    and a kernel that is killed for it loses a student's work. Where the system knows no such limit, there is none.
    """
    try:
        import resource

        pages = int(Path("/proc/self/statm").read_text().split()[0])
        soft, hard = before = resource.getrlimit(resource.RLIMIT_AS)
        most = pages * resource.getpagesize() + MORE_MEMORY
        resource.setrlimit(resource.RLIMIT_AS, (most if soft == resource.RLIM_INFINITY else min(soft, most), hard))
    except (ImportError, OSError, ValueError):
        yield
        return
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, before)


class _Sink(io.TextIOBase):
    """Counts the lines written to it and keeps nothing."""

    lines = 0

    def writable(self) -> bool:
        return True

    def write(self, text: str) -> int:
        self.lines += text.count("\n")
        return len(text)


@contextlib.contextmanager
def _quiet(sink: _Sink) -> Iterator[None]:
    stdin = sys.stdin
    sys.stdin = io.StringIO()
    try:
        with contextlib.redirect_stdout(sink), contextlib.redirect_stderr(sink), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        sys.stdin = stdin


class _Worker:
    """One daemon thread that runs one function after another. A thread that cannot be stopped is left behind."""

    def __init__(self) -> None:
        self._tasks: SimpleQueue[Callable[[], Any] | None] = SimpleQueue()
        self._results: SimpleQueue[Any] = SimpleQueue()
        self._is_running = False  # whether a task may still be
        self._thread = threading.Thread(target=self._loop, daemon=True, name="rnncourse check")
        self._thread.start()

    def _loop(self) -> None:
        with contextlib.suppress(Stopped):
            while (task := self._tasks.get()) is not None:
                self._results.put(task())

    def run(self, task: Callable[[], Any], seconds: float) -> Any:
        """The task's result, or None when the time is up. A module that is being imported then is waited for: of one
        that is cut off a half would stay behind, and break whoever imports it next.
        """
        until, of_imports = Deadline(seconds), Deadline(SECONDS_OF_IMPORTS)
        self._is_running = True  # also where an interrupt ends the wait
        self._tasks.put(task)
        while (left := until.left) or (self._imports() and of_imports.left):
            with contextlib.suppress(Empty):
                result = self._results.get(timeout=left or 0.01)
                self._is_running = False
                return result
        return None

    def _imports(self) -> bool:
        """Whether the thread is importing a module."""
        frame = sys._current_frames().get(self._thread.ident or 0)
        while frame and frame.f_code.co_filename != "<frozen importlib._bootstrap>":
            frame = frame.f_back
        return frame is not None

    def stop(self) -> None:
        """End the thread; throw `Stopped` into code that is still running."""
        self._tasks.put(None)
        for _ in range(10 if self._is_running else 0):
            if not self._thread.is_alive():
                return
            ctypes.pythonapi.PyThreadState_SetAsyncExc(
                ctypes.c_ulong(self._thread.ident or 0), ctypes.py_object(Stopped)
            )
            self._thread.join(0.05)


def _run_here(task: Callable[[], Any], seconds: float) -> Any:
    """The task's result, or None when the time is up: found out at the next line of code that is not a package's."""
    until = time.monotonic() + seconds

    def look(frame: FrameType, event: str, arg: Any) -> Any:
        if time.monotonic() > until:
            raise Stopped
        return None if any(name in frame.f_code.co_filename for name in OTHERS) else look

    before = sys.gettrace()
    sys.settrace(look)
    try:
        return task()
    except Stopped:
        return None
    finally:
        sys.settrace(before)
