"""A warm process outside the sandbox: it has imported what a unit needs, and forks a runner for each submission.

Importing NumPy, IPython and PyTorch takes most of a submission's time. So it is done once, by trusted code, before any
student's code is there; then each submission gets a fork, which enters its own sandbox before it runs a line of
theirs. The process reads requests from its control socket, a JSON object and the runner's end of the judge's channel:

    {"sandbox": pid or null, "user_namespace": true, "uid": null, "jail": "…", "limits": {…}, "home": "…"}
        ->  {"pid": …}

A second file comes with it, memory that the judge lends the runner.

    python -s -P …/warm.py CONTROL_FD LIBRARY MODULE …
"""

from __future__ import annotations

import ctypes
import fcntl
import gc
import importlib
import json
import os
import resource
import signal
import socket
import sys
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Any, NoReturn

CLONE_NEWNS, CLONE_NEWUTS, CLONE_NEWIPC = 0x00020000, 0x04000000, 0x08000000
CLONE_NEWUSER, CLONE_NEWPID, CLONE_NEWNET = 0x10000000, 0x20000000, 0x40000000
MS_BIND, MS_REC = 0x1000, 0x4000
PROT_READ, PROT_WRITE, MAP_SHARED = 1, 2, 1
PR_SET_NO_NEW_PRIVS, PR_CAPBSET_DROP, PR_SET_CHILD_SUBREAPER = 38, 24, 36
ROOM = 1 << 16  # bytes that a request may have

libc = ctypes.CDLL(None, use_errno=True)


def main(control: int, library: str, modules: list[str]) -> NoReturn:
    """Import, then fork until the control socket is closed."""
    sys.path.insert(0, library)
    for module in modules:
        importlib.import_module(module)
    if "torch" in sys.modules:
        _rehearse()
    from rnngrade_inside import runner
    from rnngrade_inside.shell import make_shell

    shell = make_shell(os.environ["HOME"])
    gc.collect()
    gc.freeze()  # what is there stays shared with the forks
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for a fork
    # Runners come to this process when who forked them is gone. Left to a container's init, which may wait for nobody,
    # the dead ones would go on counting as processes of the room's user.
    _done(libc.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0), "take its runners back")
    with socket.socket(fileno=control) as connection:
        loaded = sorted({name.partition(".")[0] for name in sys.modules})
        connection.sendall(json.dumps({"loaded": loaded}).encode() + b"\n")
        while True:
            data, fds, _, _ = socket.recv_fds(connection, ROOM, 2)
            if not data:
                os._exit(0)
            request = json.loads(data)
            connection.sendall(
                json.dumps(_fork(request, fds, control, partial(_serve, runner, shell))).encode() + b"\n"
            )
            for fd in fds:
                os.close(fd)


def _rehearse() -> None:
    """Train a little: torch imports much of itself at the first step of an optimizer, a second or more."""
    import torch

    from rnncourse.checks import modules  # noqa: F401  (drives what is written in torch)

    model = torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.Dropout(0.5), torch.nn.GRU(3, 2))
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    torch.nn.functional.cross_entropy(model(torch.zeros(4, 2))[0], torch.zeros(4, dtype=torch.int64)).backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    torch.nn.utils.rnn.pack_padded_sequence(torch.zeros(4, 2, 3), torch.tensor([4, 1]))


def _fork(request: dict[str, Any], files: list[int], control: int, serve: Callable[..., None]) -> dict[str, Any]:
    """Fork a runner into its sandbox; returns its pid, as seen from here, or what went wrong."""
    read, write = os.pipe()
    if os.fork() == 0:
        try:
            os.close(read)
            os.close(control)
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            if request["sandbox"]:
                _enter(request["sandbox"], request["user_namespace"])
            runner = os.fork()  # only a child is in the new PID namespace
            if runner:
                os.write(write, json.dumps({"pid": runner}).encode())
                os._exit(0)
        except BaseException as error:
            os.write(write, json.dumps({"error": f"{type(error).__name__}: {error}"}).encode())
            os._exit(1)
        try:
            os.close(write)
            _become(request, files, serve)
        finally:
            os._exit(0)
    os.close(write)
    with os.fdopen(read, "rb") as answers:
        return dict(json.loads(answers.read() or b'{"error": "the process died"}'))


def _enter(pid: int, user_namespace: bool) -> None:
    """Enter the namespaces of the sandbox's process."""
    kinds = CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS
    handle = os.pidfd_open(pid)
    _done(libc.setns(handle, kinds | (CLONE_NEWUSER if user_namespace else 0)), "enter the sandbox")
    os.close(handle)


def _become(request: dict[str, Any], files: list[int], serve: Callable[..., None]) -> None:
    """Be the runner: give up every right, keep the channel and the memory that is lent, and serve."""
    os.setsid()
    limits = request["limits"]
    for what, value in (
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_CPU, limits["cpu_seconds"]),
        (resource.RLIMIT_DATA, limits["memory"]),
        (resource.RLIMIT_FSIZE, limits["disk"]),
        (resource.RLIMIT_NOFILE, 256),
        # without a room it would count whatever else its user runs: there, the desk counts the processes itself
        *([(resource.RLIMIT_NPROC, limits["processes"])] if request["sandbox"] else []),
    ):
        with suppress(ValueError, OSError):  # a lower one is in force already
            resource.setrlimit(what, (value, value))
    if request["sandbox"]:
        for capability in range(64):  # while there is the right to
            libc.prctl(PR_CAPBSET_DROP, capability, 0, 0, 0)
    if request["uid"] is not None:
        _lock_in(request["jail"])
        os.setgroups([])
        os.setresgid(request["uid"], request["uid"], request["uid"])
        os.setresuid(request["uid"], request["uid"], request["uid"])
    if request["sandbox"]:
        _give_up_rights()
    nothing = os.open("/dev/null", os.O_RDWR)
    for standard in (0, 1, 2):
        os.dup2(nothing, standard)
    channel, memory = (fcntl.fcntl(file, fcntl.F_DUPFD, 5) for file in files)
    os.dup2(channel, 3)
    os.dup2(memory, 4)
    os.closerange(5, 1024)
    os.chdir(request["home"])
    os.environ["HOME"] = request["home"]
    sys.path.insert(0, "")  # as in Jupyter, where a notebook imports what lies beside it
    serve(limits)


def _lock_in(jail: str) -> None:
    """Make the room's root, seen through another folder, this process's root: to whoever is in a chroot, the kernel
    gives no user namespace, in which one could mount what nobody limits. (Elsewhere, bubblewrap sees to that.)
    """
    _done(libc.mount(b"/", jail.encode(), None, MS_BIND | MS_REC, None), "lock the room")
    os.chroot(jail)


def _serve(runner: Any, shell: Any, limits: dict[str, Any]) -> None:
    connection = runner.Channel(socket.socket(fileno=3), limits["message"])
    shell.shown.most_characters, shell.shown.most_images = limits["output"], limits["images"]
    size = os.fstat(4).st_size
    libc.mmap.restype = ctypes.c_void_p
    place = libc.mmap(None, ctypes.c_size_t(size), PROT_READ | PROT_WRITE, MAP_SHARED, 4, ctypes.c_long(0))
    if place == ctypes.c_void_p(-1).value:
        raise OSError(ctypes.get_errno(), "could not map the memory that is lent")
    os.close(4)  # Python's own mmap would keep a file open
    lent = memoryview((ctypes.c_char * size).from_address(place)).cast("B")
    runner.Runner(connection, shell, limits["call_seconds"], lent).serve()


def _give_up_rights() -> None:
    _done(libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "give up new rights")
    header = (ctypes.c_uint32 * 2)(0x20080522, 0)  # _LINUX_CAPABILITY_VERSION_3, this process
    _done(libc.capset(header, (ctypes.c_uint32 * 6)()), "give up its capabilities")


def _done(result: int, what: str) -> None:
    if result != 0:
        raise OSError(ctypes.get_errno(), f"could not {what}: {os.strerror(ctypes.get_errno())}")


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2], sys.argv[3:])
