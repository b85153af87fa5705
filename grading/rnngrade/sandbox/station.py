"""All that sessions of one unit share: the library laid out on disk, and the warm process that has imported it."""

from __future__ import annotations

import copy
import dataclasses
import json
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any

from rnngrade.core.closing import Closing
from rnngrade.sandbox import bubblewrap, library, seccomp
from rnngrade.sandbox.inside import groups, warm
from rnngrade.sandbox.inside.groups import Group
from rnngrade.sandbox.limits import Limits
from rnngrade.sandbox.session import GRACE_SECONDS, Session

STARTUP_SECONDS = 120.0

# One thread each, and sets of strings in one order, here and there: what an answer makes of it is the same again, and
# the judge's misconceptions make the same of it.
SAME_EACH_TIME = {
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "PYTHONHASHSEED": "0",
}
ENVIRONMENT = SAME_EACH_TIME | {
    "PATH": "/usr/bin:/bin",
    "LANG": "C.UTF-8",
    "MPLBACKEND": "module://matplotlib_inline.backend_inline",
    "MPLCONFIGDIR": "/tmp",
    "PYDEVD_DISABLE_FILE_VALIDATION": "1",
}


class Station(Closing):
    """All that sessions of one unit share: the library on disk and a warm process. Use as a context."""

    def __init__(
        self,
        archive: bytes,
        modules: Iterable[str],
        limits: Limits,
        *,
        sandboxed: bool = True,
        meanwhile: Callable[[], None] = lambda: None,
    ) -> None:
        """`meanwhile` is called while the warm process imports."""
        self.limits, self.sandboxed = limits, sandboxed
        self.folder = Path(tempfile.mkdtemp(prefix="rnngrade-"))
        self.library = self.folder / "library"
        self.sessions = 0
        self._lock = threading.Lock()
        try:
            self.library.mkdir()
            library.unpack(archive, self.library)
            self.folder.chmod(0o755)
            self._start([*modules], meanwhile)
        except BaseException:
            shutil.rmtree(self.folder, ignore_errors=True)
            raise

    def _start(self, modules: list[str], meanwhile: Callable[[], None]) -> None:
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
        home = self.folder / "home"
        home.mkdir()
        command = [sys.executable, "-s", "-P", str(self.library / "rnngrade_inside" / "warm.py")]
        self.groups = groups.parents() if self.sandboxed else {}
        limits = {"parents": self.groups, "memory": self.limits.memory, "processes": self.limits.processes}
        with theirs, (self.folder / "warm.log").open("wb") as log:
            self._warm = subprocess.Popen(
                [
                    *command,
                    str(theirs.fileno()),
                    str(self.library),
                    json.dumps(limits if self.groups else None),
                    *modules,
                ],
                env=ENVIRONMENT | {"HOME": str(home), "IPYTHONDIR": str(home)},
                cwd=home,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=log,
                pass_fds=[theirs.fileno()],
                start_new_session=True,
            )
        self._control, self._ready = ours, False
        try:
            meanwhile()
            loaded = self._reply(STARTUP_SECONDS)["loaded"]
            self._ready = True
        except (OSError, ValueError, KeyError):
            words = (self.folder / "warm.log").read_text(errors="replace").strip().splitlines()
            self.close()
            raise RuntimeError(
                f"The sandbox's Python does not start: {words[-1] if words else 'it says nothing'}"
            ) from None
        self.seen = bubblewrap.shown(self.library, bubblewrap.not_needed(loaded)) if self.sandboxed else []

    def _reply(self, seconds: float) -> dict[str, Any]:
        self._control.settimeout(seconds)
        data = b""
        while not data.endswith(b"\n"):
            part = self._control.recv(1 << 16)
            if not part:
                raise OSError("the warm process is gone")
            data += part
        return dict(json.loads(data))

    def connected(self) -> Station:
        """This station for a process that is about to be forked: its connection to the warm process is its own."""
        other = copy.copy(self)
        other._control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
        other._lock = threading.Lock()
        with theirs, self._lock:
            socket.send_fds(self._control, [warm.CONNECT], [theirs.fileno()])
            self._reply(GRACE_SECONDS * 10)
        return other

    def leave(self) -> None:
        """Close the connection to the warm process, which goes on for others."""
        self._control.close()

    def session(self) -> Session:
        """A new runner in a new room."""
        room = bubblewrap.Room(self.library, self.limits, self.seen) if self.sandboxed else None
        try:
            return Session(self.limits, room, self.folder, self.enter)
        except BaseException:
            if room:
                room.close()
            raise

    def enter(
        self, room: bubblewrap.Room | None, theirs: socket.socket, memory: int, home: str
    ) -> tuple[int, Group | None]:
        """Fork a runner into the room; returns its pid, and the control group of the room, if it has one. `memory` is
        the file that it is lent.
        """
        with self._lock:
            self.sessions += 1
            request = {
                "sandbox": room.pid if room else None,
                "user_namespace": bool(room and room.user_namespace),
                "uid": room.uid if room else None,
                "jail": bubblewrap.JAIL,
                "writable": bubblewrap.WRITABLE,
                "filter": (seccomp.program() or b"").hex(),
                "limits": dataclasses.asdict(self.limits),
                "home": home,
            }
            socket.send_fds(self._control, [json.dumps(request).encode()], [theirs.fileno(), memory])
            reply = self._reply(GRACE_SECONDS * 10)
        if "pid" not in reply:
            raise RuntimeError(f"No runner could enter the sandbox: {reply.get('error')}")
        return int(reply["pid"]), Group(reply["group"]) if reply["group"] else None

    def close(self) -> None:
        """End the warm process and remove the library."""
        with suppress(OSError):
            self._control.close()
        with suppress(subprocess.TimeoutExpired):
            self._warm.wait(GRACE_SECONDS if self._ready else 0)  # it removes its control groups, and ends
        self._warm.kill()
        self._warm.wait()
        groups.remove(self.groups, self._warm.pid)
        shutil.rmtree(self.folder, ignore_errors=True)
