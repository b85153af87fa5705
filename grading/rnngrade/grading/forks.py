"""The process that grading processes are forked from, and what these do.

Importing what grading needs takes longer than a submission does. So one process imports it, starts the sandbox's warm
process, and forks a grading process for whoever asks:

    python -m rnngrade.grading.forks CONTROL_FD FOLDER PARENT

FOLDER is its own, for all that it and its forks write: it makes it, and when PARENT, who started it, is gone, it
removes it and ends, and its forks with it. So whoever is killed, at whatever moment, the other removes the folder.
"""

import ctypes
import gc
import os
import signal
import socket
import sys
import tempfile
import threading
import time
import traceback
import warnings
from contextlib import suppress
from pathlib import Path

from rnncourse import exercises
from rnngrade.core.log import as_told, log
from rnngrade.grading.bundle import WrongBundle
from rnngrade.grading.grade import get_ready, grade, open_station
from rnngrade.grading.tasks import Settings, receive, remove, send
from rnngrade.sandbox import view
from rnngrade.sandbox.bubblewrap import NoSandbox
from rnngrade.sandbox.inside import warm
from rnngrade.sandbox.station import Station


def main(control: int, folder: Path, parent: int) -> int:
    """Fork grading processes until the control socket is closed, or whoever started this is gone."""
    os.dup2(2, 1)  # what a library prints is no result
    as_told()
    folder.mkdir()
    folder.chmod(0o755)
    tempfile.tempdir = str(folder)
    view.hide(folder)
    threading.Thread(target=_leave_with, args=(parent, folder), daemon=True).start()
    try:
        with socket.socket(fileno=control) as connection, suppress(ConnectionError):
            _Forks(folder, connection).serve()
    finally:
        remove(folder)
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
            while (received := receive(self.connection, files=1)) is not None:
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
                meanwhile=lambda: _get_ready(settings),
            )
            gc.collect()
            gc.freeze()  # what is there stays, shared with the forks: it is not gone through again
        except (WrongBundle, NoSandbox, RuntimeError) as why:
            self.why_not = str(why)

    def _fork(self, file: int) -> None:
        """Fork a process that grades what comes through this socket."""
        with socket.socket(fileno=file) as tasks:
            if not (station := self._connected()):
                send(self.connection, {"ok": False, "words": self.why_not})
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
                    log.exception("A grading process failed.")
                    traceback.print_exc()
                finally:
                    os._exit(1)
            station.leave()
        self.pids.append(pid)
        send(self.connection, {"ok": True, "number": len(self.pids) - 1, "pid": pid})

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
            remove(self._place(number))


def _get_ready(settings: Settings) -> None:
    """What the first submission would have to wait for, and each fork would do for itself."""
    exercises.unit(settings.bundle.unit)
    if "torch" in sys.modules:
        warm.rehearse()
    get_ready(settings.bundle, settings.seed)


def _grade_all(tasks: socket.socket, settings: Settings, station: Station, folder: Path) -> None:
    """In a fork: grade what comes, until it is closed, or the process that forked this is gone."""
    ctypes.CDLL(None).prctl(warm.PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    folder.mkdir()
    folder.chmod(0o755)
    tempfile.tempdir = str(folder)
    while (received := receive(tasks)) is not None:
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
                at=lambda place: send(tasks, {"at": place}),
            )
            reply = {"ok": True, "graded": graded}
        except (WrongBundle, NoSandbox) as why:
            reply = {"ok": False, "words": str(why)}
        send(tasks, reply)


def _leave_with(parent: int, folder: Path) -> None:
    """End this process when the one that started it is gone: its sandboxes end with it."""
    while os.getppid() == parent:
        time.sleep(0.5)
    leaving = os.getpid()
    if os.fork() == 0:  # of the threads only this one goes on there: the others cannot make the folder again
        while os.getppid() == leaving:
            time.sleep(0.01)
        remove(folder)
    os._exit(1)


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3])))
