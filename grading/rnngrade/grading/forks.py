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
import sys
import tempfile
import threading
import time
import traceback
import warnings
from contextlib import suppress
from multiprocessing.connection import Connection
from multiprocessing.reduction import recv_handle
from pathlib import Path

from rnncourse import exercises
from rnngrade.core.errors import DeskError
from rnngrade.core.log import as_told, log
from rnngrade.grading.bundle import Settings
from rnngrade.grading.grade import get_ready, grade, open_station
from rnngrade.grading.worker import remove
from rnngrade.sandbox import view
from rnngrade.sandbox.inside import warm
from rnngrade.sandbox.station import Station


def main(control: int, folder: Path, parent: int) -> int:
    """Fork grading processes until the control connection is closed, or whoever started this is gone."""
    os.dup2(2, 1)  # what a library prints is no result
    as_told()
    folder.mkdir()
    folder.chmod(0o755)
    tempfile.tempdir = str(folder)
    view.hide(folder)
    threading.Thread(target=_leave_with, args=(parent, folder), daemon=True).start()
    try:
        with Connection(control) as connection, suppress(ConnectionError, EOFError):
            _Forks(folder, connection).serve()
    finally:
        remove(folder)
    return 0


class _Forks:
    """What the process that forks does: get ready for the settings of a unit, `fork` a process that grades it, end the
    one of a pid.
    """

    def __init__(self, folder: Path, connection: Connection) -> None:
        self.folder, self.connection = folder, connection
        self.pids: set[int] = set()
        self.settings: Settings | None = None
        self.station: Station | None = None
        self.why_not = ""

    def serve(self) -> None:
        try:
            while True:
                match self.connection.recv():
                    case Settings() as settings:
                        self._open(settings)
                    case "fork":
                        self.connection.send(self._fork(recv_handle(self.connection)))
                    case int(pid):
                        self._end(pid)
        finally:
            for pid in [*self.pids]:
                self._end(pid)
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
        except (DeskError, RuntimeError) as why:
            self.why_not = str(why)

    def _fork(self, file: int) -> tuple[int, str]:
        """Fork a process that grades what comes by this way; its pid, or 0 and why there is none."""
        with Connection(file) as tasks:
            if not (station := self._connected()):
                return 0, self.why_not
            assert self.station
            assert self.settings
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # of the other thread, which does nothing that could be half done
                pid = os.fork()
            if pid == 0:
                try:
                    self.connection.close()
                    self.station.leave()
                    with suppress(ConnectionError, EOFError):  # the desk is gone, or wants no more
                        _grade_all(tasks, self.settings, station, self.folder / str(os.getpid()))
                except BaseException:
                    log.exception("A grading process failed.")
                    traceback.print_exc()
                finally:
                    os._exit(1)
            station.leave()
        self.pids.add(pid)
        return pid, ""

    def _connected(self) -> Station | None:
        """A station for a fork; where the warm process is gone, another one is started."""
        if self.station and self.settings:
            try:
                return self.station.connected()
            except OSError:
                self._open(self.settings)
        return self.station and self.station.connected()

    def _end(self, pid: int) -> None:
        """End a fork, if it is there still, and remove what it has written."""
        if pid in self.pids:
            os.kill(pid, signal.SIGKILL)  # until somebody waits for it, nobody else has its number
            os.waitpid(pid, 0)
            self.pids.remove(pid)
            remove(self.folder / str(pid))


def _get_ready(settings: Settings) -> None:
    """What the first submission would have to wait for, and each fork would do for itself."""
    exercises.unit(settings.bundle.unit)
    if "torch" in sys.modules:
        warm.rehearse()
    get_ready(settings.bundle, settings.seed)


def _grade_all(tasks: Connection, settings: Settings, station: Station, folder: Path) -> None:
    """In a fork: grade what comes, until it is closed, or the process that forked this is gone."""
    ctypes.CDLL(None).prctl(warm.PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    folder.mkdir()
    folder.chmod(0o755)
    tempfile.tempdir = str(folder)
    bundle, seed, limits = settings.bundle, settings.seed, settings.limits
    while True:
        task = tasks.recv()
        try:
            tasks.send(grade(bundle=bundle, seed=seed, limits=limits, station=station, at=tasks.send, **task))
        except DeskError as why:
            tasks.send(why)


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
