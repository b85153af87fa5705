"""A process that grades one submission after another, as the desk sees it.

A submission is graded in a process of its own kind, so that whatever happens to the judge, a crash, a hang in a C
function, costs the place where it happens: the process says where it is, and when it ends, or is ended from outside, a
new one grades the same submission again and passes that place over. All are forked from one process (`forks`).
"""

from __future__ import annotations

import os
import secrets
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import suppress
from hashlib import sha256
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from multiprocessing.reduction import send_handle
from pathlib import Path
from typing import Any

from rnncourse import exercises
from rnngrade.core.closing import Closing
from rnngrade.core.errors import DeskError
from rnngrade.core.record import DIED, ExerciseResult, Finding, Record
from rnngrade.grading.bundle import Graded, Settings
from rnngrade.sandbox.station import SAME_EACH_TIME

TRIALS = 6  # how often a submission is graded, until it is left to a person
PATIENCE = 120.0  # seconds beyond a submission's limit, for imports on a busy machine
LONGEST_START = 300.0  # seconds until a forked process is there: all imports, on a busy machine


def remove(folder: Path) -> None:
    """Remove the folder, renamed first: whoever is still writing to it finds it no more."""
    gone = folder.with_name(f"{folder.name}-gone")
    with suppress(OSError):
        folder.rename(gone)
    shutil.rmtree(gone, ignore_errors=True)


class Graders(Closing):
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
        self._control, theirs = Pipe()
        with theirs:
            self._process = subprocess.Popen(
                [
                    sys.executable,
                    "-m",
                    "rnngrade.grading.forks",
                    str(theirs.fileno()),
                    str(self._folder),
                    str(os.getpid()),
                ],
                stdin=subprocess.DEVNULL,
                env=os.environ | SAME_EACH_TIME | {"TMPDIR": str(self._folder)},
                pass_fds=[theirs.fileno()],
                start_new_session=True,  # Ctrl-C is for the desk, which ends its workers
            )
        if self._settings:
            self._control.send(self._settings)

    def prepare(self, settings: Settings) -> None:
        """Let it get ready for these settings, if it has others; that goes on meanwhile."""
        with self._lock, suppress(OSError):  # gone: whoever wants a fork will see
            self._prepare(settings)

    def _prepare(self, settings: Settings) -> None:
        if self._settings != settings:
            self._settings = settings
            self._control.send(settings)

    def fork(self, settings: Settings) -> tuple[int, Connection]:
        """A new grading process: its pid, and the way to it. **Errors:** `DeskError`."""
        with self._lock:
            for _ in range(2):  # it may just have ended
                if self._is_closed:
                    break
                if self._process is None:
                    self._start()
                if forked := self._ask_for_one(settings):
                    return forked
                self._stop()
            raise DeskError("A grading process does not start; its words are above.")

    def _ask_for_one(self, settings: Settings) -> tuple[int, Connection] | None:
        ours, theirs = Pipe()
        with suppress(OSError, EOFError):
            with theirs:
                self._prepare(settings)
                self._control.send("fork")
                send_handle(self._control, theirs.fileno(), 0)
            if self._control.poll(LONGEST_START):
                pid, words = self._control.recv()
                if pid:
                    return pid, ours
                ours.close()
                raise DeskError(words)
        ours.close()
        return None

    def end(self, pid: int) -> None:
        """End one that was forked, at once."""
        with self._lock, suppress(OSError):  # if the process that forked it is gone, so is it
            self._control.send(pid)

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
            remove(self._folder)
            self._process = None


class Worker(Closing):
    """A grading process, forked from `graders`, or from some of its own. Use as a context."""

    def __init__(self, settings: Settings, graders: Graders | None = None) -> None:
        self.settings = settings
        self._graders, self._own = graders, graders is None
        self._connection: Connection | None = None
        self.pid = 0
        self._at = ""  # the place of a submission where the process was last
        self._is_late = False  # whether the process was given up because it took too long

    def grade(self, student: str, submission: bytes) -> Graded:
        """Grade one submission; where that ends the process, or takes far too long, the record says so.

        **Errors:** `DeskError` if nothing can be graded here.
        """
        ended: list[str] = []  # the places at which the process has ended
        while len(ended) < TRIALS:
            if self._connection is None:
                self._graders = self._graders or Graders()
                self.pid, self._connection = self._graders.fork(self.settings)
            # Chance may end a process once.
            lost = {place for place in ended if ended.count(place) > 1}
            if graded := self._ask({"student": student, "submission": submission, "lost": lost}):
                return graded
            self._end()
            ended.append(self._at)
            if self._is_late:  # once is long enough
                ended.append(self._at)
        return _given_up(student, submission, self.settings)

    def _ask(self, task: dict[str, Any]) -> Graded | None:
        """What came of it; None if the process has ended, or was given up. **Errors:** `DeskError`."""
        assert self._connection
        self._at, self._is_late = "", False
        end = time.monotonic() + self.settings.limits.submission_seconds + PATIENCE
        try:
            self._connection.send(task)
            while self._connection.poll(max(0.0, end - time.monotonic())):
                match self._connection.recv():
                    case Graded() as graded:
                        return graded
                    case DeskError() as why:
                        raise DeskError(str(why))
                    case place:
                        self._at = str(place)
            self._is_late = True
        except (OSError, EOFError):
            pass
        return None

    def _end(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None and self._graders is not None:
            self._graders.end(self.pid)
            connection.close()

    def close(self) -> None:
        """End the process, if there is one."""
        self._end()
        if self._own and self._graders is not None:
            self._graders.close()
            self._graders = None


def _given_up(student: str, submission: bytes, settings: Settings) -> Graded:
    """The record of a submission whose grading came to no end."""
    bundle = settings.bundle
    words = "This submission ended the process that judges, or kept it from ending: a person has to look at it."
    results = tuple(
        ExerciseResult(e.name, DIED, 0.0, float(e.points), False, words) for e in exercises.unit(bundle.unit)
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
