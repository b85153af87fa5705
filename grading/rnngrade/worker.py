"""Processes that grade one submission after another, and the end of them that others hold.

A submission is graded in a process of its own kind, so that whatever happens to the judge, a crash, a hang in a C
function, costs the place where it happens: the process says where it is, and when it ends, or is ended from outside, a
new one grades the same submission again and passes that place over. Both ends are the desk's own, so what passes
between them is pickled.

Importing what grading needs takes longer than a submission does. So one process imports it, starts the sandbox's warm
process, and forks a grading process for whoever asks:

    python -m rnngrade.worker CONTROL_FD FOLDER PARENT

FOLDER is its own, for all that it and its forks write: it makes it, and when PARENT, who started it, is gone, it
removes it and ends, and its forks with it. So whoever is killed, at whatever moment, the other removes the folder.
"""

from __future__ import annotations

import ctypes
import gc
import os
import pickle
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import traceback
import warnings
from contextlib import suppress
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

from rnncourse import exercises
from rnngrade.bundle import Bundle, WrongBundle, exercise_names
from rnngrade.errors import DeskError
from rnngrade.grade import Graded, grade, open_station
from rnngrade.record import DIED, ExerciseResult, Finding, Record
from rnngrade.sandbox import view
from rnngrade.sandbox.bubblewrap import NoSandbox
from rnngrade.sandbox.inside import warm
from rnngrade.sandbox.limits import Limits
from rnngrade.sandbox.session import SAME_EACH_TIME, Station

TRIALS = 6  # how often a submission is graded, until it is left to a person
PATIENCE = 120.0  # seconds beyond a submission's limit, for imports on a busy machine
LONGEST_START = 300.0  # seconds until a forked process is there: all imports, on a busy machine


class CannotGrade(DeskError):
    """Why nothing can be graded here, in a sentence."""


@dataclass(frozen=True)
class Settings:
    """What all that a process grades has in common."""

    bundle: Bundle
    limits: Limits
    seed: str
    sandboxed: bool = True


def main(control: int, folder: Path, parent: int) -> int:
    """Fork grading processes until the control socket is closed, or whoever started this is gone."""
    os.dup2(2, 1)  # what a library prints is no result
    folder.mkdir()
    folder.chmod(0o755)
    tempfile.tempdir = str(folder)
    view.hide(folder)
    threading.Thread(target=_leave_with, args=(parent, folder), daemon=True).start()
    try:
        with socket.socket(fileno=control) as connection, suppress(ConnectionError):
            _Forks(folder, connection).serve()
    finally:
        _remove(folder)
    return 0


class _Forks:
    """What the process that forks does: `open` a unit, `fork` a process that grades it, `end` one."""

    def __init__(self, folder: Path, connection: socket.socket) -> None:
        self.folder, self.connection = folder, connection
        self.pids: list[int] = []  # by a fork's number
        self.settings: Settings | None = None
        self.station: Station | None = None
        self.why_not = ""

    def serve(self) -> None:
        try:
            while (received := _receive(self.connection, files=1)) is not None:
                task, files = received
                match task["verb"]:
                    case "open":
                        self._open(task["settings"])
                    case "fork":
                        self._fork(files[0])
                    case "end":
                        self._end(task["number"])
        finally:
            for number in range(len(self.pids)):
                self._end(number)
            if self.station:
                self.station.close()

    def _open(self, settings: Settings) -> None:
        """Get ready for a unit. What keeps it from that is said to whoever asks for a fork."""
        if self.station:
            self.station.close()
        self.settings, self.station, self.why_not = settings, None, ""
        try:
            settings.bundle.require_fit()
            self.station = open_station(
                settings.bundle,
                settings.limits,
                sandboxed=settings.sandboxed,
                meanwhile=lambda: _import_all_of(settings.bundle),
            )
            gc.collect()
            gc.freeze()  # what is there stays, shared with the forks: it is not gone through again
        except (WrongBundle, NoSandbox, RuntimeError) as why:
            self.why_not = str(why)

    def _fork(self, file: int) -> None:
        """Fork a process that grades what comes through this socket."""
        with socket.socket(fileno=file) as tasks:
            if not (station := self._connected()):
                _send(self.connection, {"ok": False, "words": self.why_not})
                return
            assert self.station
            assert self.settings
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # of the other thread, which does nothing that could be half done
                pid = os.fork()
            if pid == 0:
                try:
                    self.connection.close()
                    self.station.leave()
                    with suppress(ConnectionError):  # the desk is gone
                        _grade_all(tasks, self.settings, station, self._place(len(self.pids)))
                except BaseException:
                    traceback.print_exc()
                finally:
                    os._exit(1)
            station.leave()
        self.pids.append(pid)
        _send(self.connection, {"ok": True, "number": len(self.pids) - 1, "pid": pid})

    def _connected(self) -> Station | None:
        """A station for a fork; where the warm process is gone, another one is started."""
        if self.station and self.settings:
            try:
                return self.station.connected()
            except OSError:
                self._open(self.settings)
        return self.station and self.station.connected()

    def _place(self, number: int) -> Path:
        return self.folder / str(number)

    def _end(self, number: int) -> None:
        """End a fork, if it is there still, and remove what it has written."""
        if self.pids[number]:
            with suppress(ProcessLookupError):
                os.kill(self.pids[number], signal.SIGKILL)
            os.waitpid(self.pids[number], 0)
            self.pids[number] = 0
            _remove(self._place(number))


def _import_all_of(bundle: Bundle) -> None:
    """What the first submission would have to wait for, and each fork would do for itself."""
    exercises.unit(bundle.unit)
    bundle.notebook()
    if "torch" in sys.modules:
        warm.rehearse()


def _grade_all(tasks: socket.socket, settings: Settings, station: Station, folder: Path) -> None:
    """In a fork: grade what comes, until it is closed, or the process that forked this is gone."""
    ctypes.CDLL(None).prctl(warm.PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    folder.mkdir()
    folder.chmod(0o755)
    tempfile.tempdir = str(folder)
    while (received := _receive(tasks)) is not None:
        task, _ = received
        try:
            graded = grade(
                task["submission"],
                settings.bundle,
                task["student"],
                settings.seed,
                settings.limits,
                station=station,
                lost=task["lost"],
                at=lambda place: _send(tasks, {"at": place}),
            )
            reply = {"ok": True, "graded": graded}
        except (WrongBundle, NoSandbox) as why:
            reply = {"ok": False, "words": str(why)}
        _send(tasks, reply)


def _leave_with(parent: int, folder: Path) -> None:
    """End this process when the one that started it is gone: its sandboxes end with it."""
    while os.getppid() == parent:
        time.sleep(0.5)
    leaving = os.getpid()
    if os.fork() == 0:  # of the threads only this one goes on there: the others cannot make the folder again
        while os.getppid() == leaving:
            time.sleep(0.01)
        _remove(folder)
    os._exit(1)


def _remove(folder: Path) -> None:
    """Remove the folder, renamed first: whoever is still writing to it finds it no more."""
    gone = folder.with_name(f"{folder.name}-gone")
    with suppress(OSError):
        folder.rename(gone)
    shutil.rmtree(gone, ignore_errors=True)


def _send(connection: socket.socket, value: Any, files: tuple[int, ...] = ()) -> None:
    data = pickle.dumps(value)
    socket.send_fds(connection, [len(data).to_bytes(8, "big")], files)
    connection.sendall(data)


def _receive(connection: socket.socket, end: float | None = None, files: int = 0) -> tuple[Any, list[int]] | None:
    """The next value, and the files that came with it; None if there is no more, or only a part of it.

    **Errors:** `TimeoutError` if it is not there at `end`, on the monotonic clock.
    """
    connection.settimeout(None if end is None else max(0.001, end - time.monotonic()))
    head, found, _, _ = socket.recv_fds(connection, 8, files)
    data = bytearray()
    size = int.from_bytes(head, "big")
    while len(head) == 8 and len(data) < size:
        connection.settimeout(None if end is None else max(0.001, end - time.monotonic()))
        part = connection.recv(min(size - len(data), 1 << 20))
        if not part:
            return None
        data += part
    return (pickle.loads(data), found) if data else None


class Graders:
    """The process that forks grading processes, which begins to import what they need at once. Use as a context.

    Where it is gone, another one is started when somebody needs it.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._settings: Settings | None = None
        self._process: subprocess.Popen[bytes] | None = None
        self._folder = Path()
        self._is_closed = False
        self._start()

    def _start(self) -> None:
        self._folder = Path(tempfile.gettempdir(), f"rnngrade-{secrets.token_hex(8)}")
        self._control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "rnngrade.worker", str(theirs.fileno()), str(self._folder), str(os.getpid())],
                stdin=subprocess.DEVNULL,
                env=os.environ | SAME_EACH_TIME | {"TMPDIR": str(self._folder)},
                pass_fds=[theirs.fileno()],
                start_new_session=True,  # Ctrl-C is for the desk, which ends its workers
            )
        if self._settings:
            self._open(self._settings)

    def prepare(self, settings: Settings) -> None:
        """Let it get ready for these settings, if it has others; that goes on meanwhile."""
        with self._lock, suppress(OSError):  # gone: whoever wants a fork will see
            self._prepare(settings)

    def _prepare(self, settings: Settings) -> None:
        if self._settings != settings:
            self._settings = settings
            self._open(settings)

    def _open(self, settings: Settings) -> None:
        _send(self._control, {"verb": "open", "settings": settings})

    def fork(self, settings: Settings) -> tuple[int, int, socket.socket]:
        """A new grading process: its number, its pid, and the end of its socket. **Errors:** `CannotGrade`."""
        with self._lock:
            for _ in range(2):  # it may just have ended
                if self._is_closed:
                    break
                if self._process is None:
                    self._start()
                if forked := self._ask_for_one(settings):
                    return forked
                self._stop()
            raise CannotGrade("A grading process does not start; its words are above.")

    def _ask_for_one(self, settings: Settings) -> tuple[int, int, socket.socket] | None:
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
        with suppress(OSError):
            with theirs:
                self._prepare(settings)
                _send(self._control, {"verb": "fork"}, (theirs.fileno(),))
            if received := _receive(self._control, time.monotonic() + LONGEST_START):
                reply, _ = received
                if reply["ok"]:
                    return reply["number"], reply["pid"], ours
                ours.close()
                raise CannotGrade(reply["words"])
        ours.close()
        return None

    def end(self, number: int) -> None:
        """End one that was forked, at once."""
        with self._lock, suppress(OSError):  # if the process that forked it is gone, so is it
            _send(self._control, {"verb": "end", "number": number})

    def close(self) -> None:
        """End the process, and all that it has forked; for good."""
        self._is_closed = True
        if (process := self._process) is not None:
            process.kill()  # a thread may be waiting for it
        with self._lock:
            self._stop()

    def _stop(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._control.close()
            _remove(self._folder)
            self._process = None

    def __enter__(self) -> Graders:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class Worker:
    """A grading process, forked from `graders`, or from some of its own. Use as a context."""

    def __init__(self, settings: Settings, graders: Graders | None = None) -> None:
        self.settings = settings
        self._graders, self._own = graders, graders is None
        self._connection: socket.socket | None = None
        self._number = self.pid = 0
        self._at = ""  # the place of a submission where the process was last
        self._is_late = False  # whether the process was given up because it took too long

    def grade(self, student: str, submission: bytes) -> Graded:
        """Grade one submission; where that ends the process, or takes far too long, the record says so.

        **Errors:** `CannotGrade` if nothing can be graded here.
        """
        ended: list[str] = []  # the places at which the process has ended
        while len(ended) < TRIALS:
            if self._connection is None:
                self._graders = self._graders or Graders()
                self._number, self.pid, self._connection = self._graders.fork(self.settings)
            # Chance may end a process once.
            lost = {place for place in ended if ended.count(place) > 1}
            reply = self._ask({"student": student, "submission": submission, "lost": lost})
            if reply is not None:
                if not reply["ok"]:
                    raise CannotGrade(reply["words"])
                return reply["graded"]
            self._end()
            ended.append(self._at)
            if self._is_late:  # once is long enough
                ended.append(self._at)
        return _given_up(student, submission, self.settings)

    def _ask(self, task: dict[str, Any]) -> Any:
        assert self._connection
        try:
            self._at, self._is_late = "", False
            self._connection.settimeout(PATIENCE)
            _send(self._connection, task)
            end = time.monotonic() + self.settings.limits.submission_seconds + PATIENCE
            while (received := _receive(self._connection, end)) is not None:
                reply, _ = received
                if "ok" in reply:
                    return reply
                self._at = reply["at"]
        except TimeoutError:
            self._is_late = True
        except OSError:
            pass
        return None

    def _end(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None and self._graders is not None:
            self._graders.end(self._number)
            connection.close()

    def close(self) -> None:
        """End the process, if there is one."""
        self._end()
        if self._own and self._graders is not None:
            self._graders.close()
            self._graders = None

    def __enter__(self) -> Worker:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _given_up(student: str, submission: bytes, settings: Settings) -> Graded:
    """The record of a submission whose grading came to no end."""
    bundle = settings.bundle
    words = "This submission ended the process that judges, or kept it from ending: a person has to look at it."
    results = tuple(
        ExerciseResult(name, DIED, 0.0, float(exercises.find(name).points), False, words)
        for name in exercise_names(bundle.unit)
    )
    record = Record(
        student=student,
        unit=bundle.unit,
        key=bundle.key(submission, settings.seed, settings.limits),
        submission=sha256(submission).hexdigest(),
        exercises=results,
        findings=(Finding("not-judged", words, for_person=True),),
        versions=dict(bundle.versions),
    )
    return Graded(record, bundle.release)


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3])))
