"""Control groups: with one, the kernel counts what all processes of a room use together, and what it keeps for them.

Of memory that is all there is: shared memory, files in memory, page tables, sockets. Where they can be had, a desk of
root's, or a user's whom systemd lets make some, a room has one; the desk counts what it can see elsewhere.

Version 2 of the kernel's interface has one tree of folders, version 1 a tree for each kind of limit. A room's group
lies in the one that the desk is in, or, as version 2 asks for it, in the nearest above that hands its limits down.
Source: Documentation/admin-guide/cgroup-v2.rst and cgroup-v1/memory.rst of Linux.
"""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

MEMORY, PROCESSES = "memory", "pids"  # the kernel's names of the two kinds of limits
PREFIX = "rnngrade-"  # of a group's name; the number of the process that made it, and another, follow
# The files in which limits are set, in this order; those after the first are not everywhere.
LIMITS = {
    (MEMORY, 1): ("memory.limit_in_bytes", "memory.memsw.limit_in_bytes"),
    (MEMORY, 2): ("memory.max", "memory.swap.max"),
    (PROCESSES, 1): ("pids.max",),
    (PROCESSES, 2): ("pids.max",),
}
PATIENCE = 1.0  # seconds that the kernel may take to see that nobody is left


@dataclass(frozen=True)
class Group:
    """A group, by kind of limit its folder: one folder for both in version 2."""

    folders: dict[str, str]

    @classmethod
    def make(cls, parents: dict[str, str], name: str, memory: int, processes: int) -> Group:
        """A new group of this name, with limits in bytes and in processes. **Errors:** `OSError`."""
        group = cls({kind: f"{parent}/{name}" for kind, parent in parents.items()})
        try:
            for kind, folder in group.folders.items():
                with suppress(FileExistsError):
                    os.mkdir(folder)
                version = 2 if os.path.exists(f"{folder}/cgroup.events") else 1
                first, *others = LIMITS[kind, version]
                value = str(memory if kind == MEMORY else processes)
                _write(f"{folder}/{first}", value)
                for other in others:
                    with suppress(OSError):
                        _write(f"{folder}/{other}", "0" if version == 2 else value)
        except OSError:
            group.close()
            raise
        return group

    def take_in(self, pid: int = 0) -> None:
        """Put a process into it, by default this one. **Errors:** `OSError`."""
        for folder in set(self.folders.values()):
            _write(f"{folder}/cgroup.procs", str(pid))

    def ended_for_memory(self) -> bool:
        """Whether the kernel has ended a process in it because there was no memory left."""
        for name in ("memory.events", "memory.oom_control"):
            for line in self._read(MEMORY, name).splitlines():
                if line.startswith("oom_kill "):
                    return int(line.split()[1]) > 0
        return False

    def most_memory(self) -> int:
        """The most bytes that it has had, as far as the kernel says."""
        for name in ("memory.peak", "memory.max_usage_in_bytes"):
            if text := self._read(MEMORY, name):
                return int(text)
        return 0

    def is_there(self) -> bool:
        """Whether it has not been removed."""
        return any(os.path.exists(folder) for folder in self.folders.values())

    def _read(self, kind: str, name: str) -> str:
        with suppress(OSError, KeyError), open(f"{self.folders[kind]}/{name}") as file:
            return file.read()
        return ""

    def close(self) -> bool:
        """Remove it, when all in it have ended; returns whether that came in time."""
        end = time.monotonic() + PATIENCE
        left = set(self.folders.values())
        while left:
            for folder in [*left]:
                with suppress(FileNotFoundError):
                    try:
                        os.rmdir(folder)
                    except OSError:
                        if time.monotonic() > end:
                            return False
                        continue
                left.discard(folder)
            if left:
                time.sleep(0.002)
        return True


def parents() -> dict[str, str]:
    """By kind of limit, the folder in which this process can make groups that hold; tried by doing it. What others
    left there who are gone, killed before they could remove it, is removed.
    """
    found = {}
    for kind in (MEMORY, PROCESSES):
        for folder in _candidates(kind):
            if _holds(kind, folder):
                _sweep(folder)
                found[kind] = folder
                break
    if len(set(found.values())) == 2 and all(os.path.exists(f"{f}/cgroup.subtree_control") for f in found.values()):
        del found[PROCESSES]  # in version 2 a process is in one group
    return found


def _candidates(kind: str) -> Iterator[str]:
    """The folders in which groups with this kind of limit may be made, the nearest first."""
    own: dict[str, str] = {}  # by the kinds that a tree has, "" in version 2: where in it this process is
    with suppress(OSError):
        for line in Path("/proc/self/cgroup").read_text().splitlines():
            _, kinds, path = line.split(":", 2)
            own |= dict.fromkeys(kinds.split(","), path)
        for line in Path("/proc/self/mountinfo").read_text().splitlines():
            fields = line.split()
            root, mount, (system, _, options) = fields[3], fields[4], fields[fields.index("-") + 1 :][:3]
            path = own.get(kind if system == "cgroup" else "", "")
            inside = os.path.relpath(path or "/", root)
            if not path or inside.startswith(".."):
                continue
            here = Path(mount, inside)
            if system == "cgroup" and kind in options.split(","):
                yield str(here)
            elif system == "cgroup2":
                for folder in (here, *(above for above in here.parents if Path(mount) in (above, *above.parents))):
                    with suppress(OSError):
                        if kind in (folder / "cgroup.subtree_control").read_text().split():
                            yield str(folder)


def _holds(kind: str, folder: str) -> bool:
    """Whether a group can be made there, and a process put into it."""
    try:
        group = Group.make({kind: folder}, f"{PREFIX}{os.getpid()}-{kind}", 2**26, 8)
    except OSError:
        return False
    try:
        with subprocess.Popen(["/bin/cat"], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL) as process:
            group.take_in(process.pid)
        return True
    except OSError:
        return False
    finally:
        group.close()


def _sweep(folder: str) -> None:
    for path in Path(folder).glob(f"{PREFIX}*"):
        maker = path.name.removeprefix(PREFIX).partition("-")[0]
        if maker.isdigit() and not os.path.exists(f"/proc/{maker}"):
            with suppress(OSError):  # somebody is in it still
                path.rmdir()


def remove(parents: dict[str, str], maker: int) -> None:
    """Remove what a process that is gone has made there."""
    for kind, parent in parents.items():
        for path in Path(parent).glob(f"{PREFIX}{maker}-*"):
            Group({kind: str(path)}).close()


def _write(path: str, text: str) -> None:
    descriptor = os.open(path, os.O_WRONLY)  # the file is there, or there is no such limit
    try:
        os.write(descriptor, text.encode())
    finally:
        os.close(descriptor)
