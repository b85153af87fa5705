"""A process that grades one submission after another, and the end of it that others hold.

A submission is graded in a process of its own kind, so that whatever happens to the judge, a crash, a hang in a C
function, costs the place where it happens: the process says where it is, and when it ends, or is ended from outside, a
new one grades the same submission again and passes that place over. Both ends are the desk's own, so what passes
between them is pickled.

    python -m rnngrade.worker FOLDER PARENT      reads tasks from stdin, writes results to stdout

FOLDER is its own, for all that it writes: it makes it, and when PARENT, who started it, is gone, it removes it and
ends. So whoever is killed, at whatever moment, the other removes the folder.
"""

from __future__ import annotations

import gc
import os
import pickle
import queue
import secrets
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import IO, Any

from rnncourse import exercises
from rnngrade.bundle import Bundle, WrongBundle, exercise_names
from rnngrade.errors import DeskError
from rnngrade.grade import Graded, grade, open_station
from rnngrade.record import DIED, ExerciseResult, Finding, Record
from rnngrade.sandbox.bubblewrap import NoSandbox
from rnngrade.sandbox.limits import Limits
from rnngrade.sandbox.session import SAME_EACH_TIME, Station

TRIALS = 6  # how often a submission is graded, until it is left to a person
PATIENCE = 120.0  # seconds beyond a submission's limit, for imports on a busy machine


class CannotGrade(DeskError):
    """Why nothing can be graded here, in a sentence."""


def main(folder: Path, parent: int) -> int:
    """Serve until stdin is closed, or whoever started this is gone."""
    results = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what a library prints is no result
    folder.mkdir()
    folder.chmod(0o755)
    tempfile.tempdir = str(folder)
    threading.Thread(target=_leave_with, args=(parent, folder), daemon=True).start()
    try:
        with suppress(BrokenPipeError):
            _serve(results)
    finally:
        _remove(folder)
    return 0


def _serve(results: IO[bytes]) -> None:
    station: Station | None = None
    bundle: Bundle | None = None
    limits, seed, sandboxed = Limits(), "", True
    try:
        while (task := _read(sys.stdin.buffer)) is not None:
            try:
                if task["verb"] == "open":
                    bundle, limits, seed, sandboxed = task["bundle"], task["limits"], task["seed"], task["sandboxed"]
                    bundle.require_fit()
                    station = open_station(bundle, limits, sandboxed=sandboxed)
                    gc.collect()
                    gc.freeze()  # what is there stays: it is not gone through again with each submission
                    reply: dict[str, Any] = {"ok": True}
                else:
                    assert bundle
                    assert station
                    graded = grade(
                        task["submission"],
                        bundle,
                        task["student"],
                        seed,
                        limits,
                        station=station,
                        lost=task["lost"],
                        at=lambda place: _write(results, {"at": place}),
                    )
                    reply = {"ok": True, "graded": graded}
            except (WrongBundle, NoSandbox) as why:
                reply = {"ok": False, "words": str(why)}
            _write(results, reply)
    finally:
        if station:
            station.close()


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


def _read(stream: IO[bytes]) -> Any:
    """The next value, or None if there is no more, or only a part of it."""
    head = stream.read(8)
    size = int.from_bytes(head, "big")
    data = stream.read(size) if len(head) == 8 else b""
    return pickle.loads(data) if data and len(data) == size else None


def _write(stream: IO[bytes], value: Any) -> None:
    data = pickle.dumps(value)
    stream.write(len(data).to_bytes(8, "big") + data)
    stream.flush()


class Worker:
    """A grading process for one bundle. Use as a context."""

    def __init__(self, bundle: Bundle, limits: Limits, seed: str, *, sandboxed: bool = True) -> None:
        self.bundle, self.limits, self.seed, self.sandboxed = bundle, limits, seed, sandboxed
        self._process: subprocess.Popen[bytes] | None = None
        self._folder = Path()
        self._at = ""  # the place of a submission where the process was last
        self._is_late = False  # whether the process was given up because it took too long
        self._replies: queue.SimpleQueue[Any] = queue.SimpleQueue()

    def grade(self, student: str, submission: bytes) -> Graded:
        """Grade one submission; where that ends the process, or takes far too long, the record says so.

        **Errors:** `CannotGrade` if nothing can be graded here.
        """
        ended: list[str] = []  # the places at which the process has ended
        while len(ended) < TRIALS:
            if self._process is None:
                self._start()
            # Chance may end a process once.
            lost = {place for place in ended if ended.count(place) > 1}
            reply = self._ask({"verb": "grade", "student": student, "submission": submission, "lost": lost})
            if reply is not None:
                if not reply["ok"]:
                    raise CannotGrade(reply["words"])
                return reply["graded"]
            self.close()
            ended.append(self._at)
            if self._is_late:  # once is long enough
                ended.append(self._at)
        return _given_up(student, submission, self.bundle, self.seed, self.limits)

    def _start(self) -> None:
        self._folder = Path(tempfile.gettempdir(), f"rnngrade-{secrets.token_hex(8)}")
        environment = os.environ | SAME_EACH_TIME | {"TMPDIR": str(self._folder)}
        self._process = subprocess.Popen(
            [sys.executable, "-m", "rnngrade.worker", str(self._folder), str(os.getpid())],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=environment,
            start_new_session=True,  # Ctrl-C is for the desk, which ends its workers
        )
        self._replies = queue.SimpleQueue()
        threading.Thread(target=_listen, args=(self._process, self._replies), daemon=True).start()
        settings = {"bundle": self.bundle, "limits": self.limits, "seed": self.seed, "sandboxed": self.sandboxed}
        reply = self._ask({"verb": "open", **settings})
        if reply is None or not reply["ok"]:
            self.close()
            raise CannotGrade(reply["words"] if reply else "A grading process does not start; its words are above.")

    def _ask(self, task: dict[str, Any]) -> Any:
        assert self._process
        assert self._process.stdin
        try:
            self._at, self._is_late = "", False
            _write(self._process.stdin, task)
            end = time.monotonic() + self.limits.submission_seconds + PATIENCE
            while True:
                reply = self._replies.get(timeout=max(0.0, end - time.monotonic()))
                if reply is None or "ok" in reply:
                    return reply
                self._at = reply["at"]
        except queue.Empty:
            self._is_late = True
        except OSError:
            pass
        return None

    def close(self) -> None:
        """End the process, if there is one."""
        process, self._process = self._process, None  # a desk that stops closes what a thread is about to close
        if process is not None:
            process.kill()
            for stream in (process.stdin, process.stdout):
                if stream:
                    with suppress(OSError):
                        stream.close()
            process.wait()
            _remove(self._folder)

    def __enter__(self) -> Worker:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _listen(process: subprocess.Popen[bytes], replies: queue.SimpleQueue[Any]) -> None:
    assert process.stdout
    try:
        while (reply := _read(process.stdout)) is not None:
            replies.put(reply)
    except (OSError, ValueError):
        pass
    replies.put(None)


def _given_up(student: str, submission: bytes, bundle: Bundle, seed: str, limits: Limits) -> Graded:
    """The record of a submission whose grading came to no end."""
    words = "This submission ended the process that judges, or kept it from ending: a person has to look at it."
    results = tuple(
        ExerciseResult(name, DIED, 0.0, float(exercises.find(name).points), False, words)
        for name in exercise_names(bundle.unit)
    )
    record = Record(
        student=student,
        unit=bundle.unit,
        key=bundle.key(submission, seed, limits),
        submission=sha256(submission).hexdigest(),
        exercises=results,
        findings=(Finding("not-judged", words, for_person=True),),
        versions=dict(bundle.versions),
    )
    return Graded(record, bundle.release)


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), int(sys.argv[2])))
