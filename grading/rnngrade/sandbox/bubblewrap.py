"""A room of its own for each submission, built by bubblewrap.

Inside there are: the system's programs and libraries and this Python's packages, read-only; the library, read-only; a
home and /tmp of limited size, empty. There is no network, no other process, no gradebook, no other submission, no
solution, nothing of this machine's /home, /etc or /root, no PyTorch where the unit does without. The room exists as
long as a process that waits in it; a runner enters it from outside (`inside/warm.py`).
"""

from __future__ import annotations

import importlib.metadata
import json
import os
import platform
import re
import secrets
import select
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Collection, Sequence
from contextlib import suppress
from pathlib import Path

from rnngrade.core.closing import Closing
from rnngrade.core.errors import DeskError
from rnngrade.sandbox import seccomp, view
from rnngrade.sandbox.inside import groups
from rnngrade.sandbox.limits import Limits

HOME = "/student"
JAIL = "/room"  # where root grades, the runner's root: see `inside/warm.py`
PATIENCE = 5.0  # seconds
WRITABLE = ("/tmp", "/dev/shm", HOME)  # a file system each, in memory
KEYS = ("/proc/keys", "/proc/key-users")  # they list what others have whom the kernel takes for the same user
# Where root grades, each room has a user of its own: no name, no files, its own keyrings and count of processes. Drawn
# from numbers that nobody uses (systemd.io/UIDS-GIDS), or in a container that has fewer, from those that it has.
USERS, FEWER_USERS = range(0x7000_0000, 0x7800_0000), range(61_000, 65_500)


def require() -> None:
    """**Errors:** `DeskError` if rooms cannot be built on this machine."""
    if shutil.which("bwrap") is None:
        raise DeskError(
            "Grading untrusted work needs bubblewrap, which is not installed: run 'sudo apt-get install bubblewrap', "
            "or, for a class that you trust, add '--sandbox none'."
        )
    try:
        with Room(Path(sys.prefix), Limits()):
            pass
    except DeskError as why:
        raise DeskError(
            f"bubblewrap cannot build a sandbox on this machine ({why}); for a class that you trust, add "
            "'--sandbox none'."
        ) from None


def not_limited() -> list[str]:
    """What rooms are not kept from on this machine, in sentences for whoever grades on it."""
    sentences = []
    if groups.MEMORY not in groups.parents():
        sentences.append(
            "No control groups can be made here, so the desk counts the memory of each room's processes by itself, ten "
            "times a second; what the kernel keeps for them, such as full sockets, has no limit."
        )
    if seccomp.program() is None:
        sentences.append(
            f"The desk knows no filter of system calls for this processor ({platform.machine()}): what a room asks the "
            "kernel for has no limit."
        )
    return sentences


class Room(Closing):
    """A sandbox without anybody in it. Use as a context; `pid` is the process that keeps it.

    `seen` says what is seen in it, by `shown`, which many rooms have in common.
    """

    def __init__(self, library: Path, limits: Limits, seen: Sequence[str] | None = None) -> None:
        read, write = os.pipe()
        filtered, users = _readable(seccomp.program()), _users()
        handed = [write, *([filtered] if filtered is not None else [])]
        command = [
            shutil.which("bwrap") or "bwrap",
            *_arguments(shown(library) if seen is None else seen, limits, write, own_user_namespace=not users),
            *(() if filtered is None else ("--seccomp", str(filtered))),
            *("--", "/usr/bin/cat"),
        ]
        try:
            self._keeper = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                pass_fds=handed,
                env={},
            )
        finally:
            for end in handed:
                os.close(end)
        with os.fdopen(read, "rb") as answers:
            answer = answers.read()
        assert self._keeper.stdin
        assert self._keeper.stdout
        try:
            self.pid = int(json.loads(answer)["child-pid"])
            self._keeper.stdin.write(b"\n")  # the room is ready when its keeper answers
            self._keeper.stdin.flush()
            if not self._keeper.stdout.read(1):
                raise ValueError
        except (ValueError, KeyError, OSError):
            self._keeper.kill()
            _, words = self._keeper.communicate()
            raise DeskError(
                words.decode(errors="replace").strip().splitlines()[-1][:200] if words else "no reason"
            ) from None
        self.uid = secrets.choice(users) if users else None
        self.user_namespace = not users

    def close(self) -> None:
        """End the room and everything in it."""
        with suppress(OSError):
            os.kill(self.pid, 9)
        with suppress(OSError):  # it ends by itself when all in the room have
            handle = os.pidfd_open(self._keeper.pid)
            select.select([handle], [], [], PATIENCE)
            os.close(handle)
        self._keeper.kill()
        for pipe in (self._keeper.stdin, self._keeper.stdout, self._keeper.stderr):
            if pipe:
                with suppress(OSError):
                    pipe.close()
        self._keeper.wait()


def _readable(data: bytes | None) -> int | None:
    """A pipe from which this can be read; the number of its open end. It is shorter than what a pipe holds."""
    if data is None:
        return None
    read, write = os.pipe()
    os.write(write, data)
    os.close(write)
    return read


def _users() -> range | None:
    """The users' numbers that belong to nobody, one of which root gives to each room; None where this is not root, or
    a root who has no others, as in some containers. There, each room has a user namespace.
    """
    maps = [[int(n) for n in line.split()] for line in Path("/proc/self/uid_map").read_text().splitlines()]
    for users in (USERS, FEWER_USERS):
        if os.geteuid() == 0 and any(first <= users.start and users.stop <= first + count for first, _, count in maps):
            return users
    return None


def shown(library: Path, hidden: Sequence[str] = ()) -> list[str]:
    """The arguments that show a room the system, this Python and the library; the folders in `hidden` are empty."""
    return view.arguments([*view.shown(), library], [*view.hidden(), *map(Path, hidden)])


def _arguments(seen: Sequence[str], limits: Limits, info: int, *, own_user_namespace: bool) -> list[str]:
    size = str(limits.disk)
    arguments = [
        *("--unshare-pid", "--unshare-net", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try"),
        *(
            "--as-pid-1",
            "--die-with-parent",
            "--new-session",
            "--clearenv",
            "--hostname",
            "sandbox",
            "--info-fd",
            str(info),
        ),
    ]
    if own_user_namespace:
        arguments += ["--unshare-user", "--uid", "65534", "--gid", "65534", "--disable-userns"]
    arguments += ["--perms", "1777", "--size", size, "--tmpfs", "/tmp"]
    arguments += ["--perms", "0755", "--dir", "/etc", "--dir", JAIL]
    for file in ("/etc/ld.so.cache", "/etc/localtime", "/etc/alternatives"):
        arguments += ["--ro-bind-try", file, file]
    return [
        *arguments,
        *seen,
        *("--proc", "/proc", "--dev", "/dev", "--perms", "1777", "--size", size, "--tmpfs", "/dev/shm"),
        # Both read as zeros. Mapped into memory, the one is shared memory that no limit knows; the other cannot be.
        *("--dev-bind", "/dev/full", "/dev/zero"),
        *(part for file in KEYS if Path(file).exists() for part in ("--ro-bind", "/dev/null", file)),
        *("--perms", "0777", "--size", size, "--tmpfs", HOME, "--chdir", HOME),
        *("--remount-ro", "/dev", "--remount-ro", "/"),
    ]


def not_needed(loaded: Collection[str]) -> list[str]:
    """The folders of the packages that compute, on arrays or tensors, and are neither loaded for a unit nor part of
    what every student has installed: what an answer is asked to write, they may have ready.
    """
    needs: dict[str, set[str]] = {}
    lies: dict[str, set[str]] = {}  # what each lays among the others
    for one in importlib.metadata.distributions():
        # The library's own parser reads the long descriptions too, again and again: a fifth of a second.
        head, _, _ = (one.read_text("METADATA") or one.read_text("PKG-INFO") or "").partition("\n\n")
        required = {_normal(r) for r in re.findall("^Requires-Dist: (.*)", head, re.M) if "extra ==" not in r}
        files = one.read_text("RECORD") or one.read_text("top_level.txt") or ""
        for name in map(_normal, re.findall("^Name: (.*)", head, re.M)):
            needs[name], lies[name] = required, {*re.findall(r"^\w+", files, re.M)}
    computing, kept = {"numpy", "torch"}, {"rnncourse"}
    while more := {name for name, required in needs.items() if computing & required} - computing:
        computing |= more
    kept |= {name for name, folders in lies.items() if folders & {*loaded}}
    while more := {name for keeper in kept for name in needs.get(keeper, ())} - kept:
        kept |= more

    def folders_of(names: Collection[str]) -> set[str]:
        return {folder for name in names for folder in lies.get(name, ())}

    places = sorted({sysconfig.get_path(name) for name in ("purelib", "platlib")})
    return [
        str(path)
        for folder in sorted(folders_of(computing - kept) - folders_of(kept))
        for place in places
        if (path := Path(place, folder)).is_dir()
    ]


def _normal(requirement: str) -> str:
    """The name of the package in a requirement, "scikit_learn>=1.4; extra == 'data'", in one spelling."""
    return re.sub(r"[-_.]+", "-", re.split(r"[^\w.-]", requirement)[0]).lower()
