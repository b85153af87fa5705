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
import re
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Collection, Sequence
from contextlib import suppress
from pathlib import Path

from rnngrade.errors import DeskError
from rnngrade.sandbox.limits import Limits

HOME = "/student"
JAIL = "/room"  # where root grades, the runner's root: see `inside/warm.py`
PATIENCE = 5.0  # seconds
FIRST_UID = 61_000  # where root grades, each room has a user of its own: no name, no files, its own count of processes


class NoSandbox(DeskError):
    """Why no sandbox can be had here, and what to do, in a sentence."""


def require() -> None:
    """**Errors:** `NoSandbox` if rooms cannot be built on this machine."""
    if shutil.which("bwrap") is None:
        raise NoSandbox(
            "Grading untrusted work needs bubblewrap, which is not installed: run 'sudo apt-get install bubblewrap', "
            "or, for a class that you trust, add '--sandbox none'."
        )
    try:
        with Room(Path(sys.prefix), Limits()):
            pass
    except NoSandbox as why:
        raise NoSandbox(
            f"bubblewrap cannot build a sandbox on this machine ({why}); for a class that you trust, add "
            "'--sandbox none'."
        ) from None


class Room:
    """A sandbox without anybody in it. Use as a context; `pid` is the process that keeps it.

    The folders in `hidden` are empty inside.
    """

    def __init__(self, library: Path, limits: Limits, hidden: Sequence[str] = ()) -> None:
        read, write = os.pipe()
        command = [shutil.which("bwrap") or "bwrap", *_arguments(library, limits, hidden, write), "--", "/usr/bin/cat"]
        try:
            self._keeper = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                pass_fds=[write],
                env={},  # a part of bubblewrap stays in the room, where its environment can be read
            )
        finally:
            os.close(write)
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
            raise NoSandbox(
                words.decode(errors="replace").strip().splitlines()[-1][:200] if words else "no reason"
            ) from None
        self.user_namespace = os.geteuid() != 0

    def close(self) -> None:
        """End the room and everything in it."""
        with suppress(OSError):
            os.kill(self.pid, 9)
        with suppress(subprocess.TimeoutExpired):
            self._keeper.wait(PATIENCE)  # it ends by itself when all in the room have
        self._keeper.kill()
        for pipe in (self._keeper.stdin, self._keeper.stdout, self._keeper.stderr):
            if pipe:
                with suppress(OSError):
                    pipe.close()
        self._keeper.wait()

    def __enter__(self) -> Room:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _arguments(library: Path, limits: Limits, hidden: Sequence[str], info: int) -> list[str]:
    size = str(limits.disk)
    arguments = [
        *("--unshare-pid", "--unshare-net", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try"),
        *("--die-with-parent", "--new-session", "--clearenv", "--hostname", "sandbox", "--info-fd", str(info)),
    ]
    if os.geteuid() != 0:
        arguments += ["--unshare-user", "--uid", "65534", "--gid", "65534", "--disable-userns"]
    arguments += ["--perms", "1777", "--size", size, "--tmpfs", "/tmp"]
    for folder in ("/usr", "/lib", "/lib64", "/bin", "/sbin"):
        path = Path(folder)
        if path.is_symlink():
            arguments += ["--symlink", os.readlink(folder), folder]
        elif path.exists():
            arguments += ["--ro-bind", folder, folder]
    arguments += ["--perms", "0755", "--dir", "/etc", "--dir", JAIL]
    for file in ("/etc/ld.so.cache", "/etc/localtime", "/etc/alternatives"):
        arguments += ["--ro-bind-try", file, file]
    pythons = _pythons()
    for folder in _above([*pythons, str(library)]):
        arguments += ["--perms", "0755", "--dir", folder]
    for folder in pythons:
        arguments += ["--ro-bind", folder, folder]
    for folder in (*_own_packages(), *hidden):
        arguments += ["--tmpfs", folder, "--remount-ro", folder]
    return [
        *arguments,
        *("--ro-bind", str(library), str(library)),
        *("--proc", "/proc", "--dev", "/dev", "--perms", "1777", "--size", size, "--tmpfs", "/dev/shm"),
        *("--perms", "0777", "--size", size, "--tmpfs", HOME, "--chdir", HOME),
        *("--remount-ro", "/dev", "--remount-ro", "/"),
    ]


def _pythons() -> list[str]:
    """The folders that this Python is made of, none inside another or inside /usr."""
    paths = {sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib")}
    paths |= {sys.prefix, sys.base_prefix, str(Path(sys.executable).resolve().parent)}
    found: list[str] = []
    for path in sorted(p for p in paths if Path(p).is_dir()):
        if not path.startswith("/usr/") and path != "/usr" and not any(path.startswith(f"{f}/") for f in found):
            found.append(path)
    return found


def _above(paths: list[str]) -> list[str]:
    """The folders in which these lie, outermost first: inside, they are empty but for what is shown of them."""
    parents = {str(parent) for path in paths for parent in Path(path).parents}
    return sorted(parents - {"/", "/usr", "/tmp"})


def _own_packages() -> list[str]:
    """Where the course's own packages lie among the others: inside the sandbox, nothing is there."""
    found = []
    for place in {sysconfig.get_path("purelib"), sysconfig.get_path("platlib")}:
        found += [str(path) for name in ("rnncourse", "rnngrade") if (path := Path(place, name)).is_dir()]
    return found


def not_needed(loaded: Collection[str]) -> list[str]:
    """The folders of the packages that compute, on arrays or tensors, and are neither loaded for a unit nor part of
    what every student has installed: what an answer is asked to write, they may have ready.
    """
    needs = {
        _normal(str(d.metadata["Name"])): {_normal(r) for r in d.requires or [] if "extra ==" not in r}
        for d in importlib.metadata.distributions()
    }
    computing, kept = {"numpy", "torch"}, {"rnncourse"}
    while more := {name for name, required in needs.items() if computing & required} - computing:
        computing |= more
    while more := {name for one in kept for name in needs.get(one, ())} - kept:
        kept |= more
    packages = {
        package: {*map(_normal, names)} for package, names in importlib.metadata.packages_distributions().items()
    }
    for package in loaded:
        kept |= packages.get(package, set())
    places = sorted({sysconfig.get_path(name) for name in ("purelib", "platlib")})
    return [
        str(path)
        for package, names in sorted(packages.items())
        if names & computing and not names & kept
        for place in places
        if (path := Path(place, package)).is_dir()
    ]


def _normal(requirement: str) -> str:
    """The name of the package in a requirement, "scikit_learn>=1.4; extra == 'data'", in one spelling."""
    return re.sub(r"[-_.]+", "-", re.split(r"[^\w.-]", requirement)[0]).lower()
