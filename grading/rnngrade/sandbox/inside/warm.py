"""A warm process outside the sandbox: it has imported what a unit needs, and forks a runner for each submission.

Importing NumPy, IPython and PyTorch takes most of a submission's time. So it is done once, by trusted code, before any
student's code is there; then each submission gets a fork, which enters its own sandbox before it runs a line of
theirs. A fork always waits, in a control group of its own: the kernel takes many milliseconds to put it there. The
process reads requests from its control socket, a JSON object, and with it two files, the runner's end of the judge's
channel and memory that the judge lends the runner:

    {"sandbox": pid or null, "user_namespace": true, "uid": null, "jail": "…", "writable": […], "filter": "a program",
     "limits": {…}, "home": "…"}    ->    {"pid": …, "group": {kind of limit: folder}}

An empty object comes with one file, another socket for requests, for a judge in another process; the answer is one as
well.

    python -s -P …/warm.py CONTROL_FD LIBRARY GROUPS MODULE …

GROUPS says where control groups are made and with which limits, {"parents": {…}, "memory": …, "processes": …}; null if
they are not. When whoever holds the other end of the first socket is gone, the groups that are left are removed.
"""

import ctypes
import fcntl
import gc
import importlib
import json
import os
import resource
import select
import signal
import socket
import sys
import types
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from itertools import count
from typing import Any, NoReturn

CLONE_NEWNS, CLONE_NEWUTS, CLONE_NEWIPC = 0x00020000, 0x04000000, 0x08000000
CLONE_NEWUSER, CLONE_NEWPID, CLONE_NEWNET = 0x10000000, 0x20000000, 0x40000000
NS_GET_USERNS = 0xB701
MS_NOSUID, MS_NODEV, MS_REMOUNT, MS_BIND, MS_REC = 0x2, 0x4, 0x20, 0x1000, 0x4000
PR_SET_PDEATHSIG, PR_SET_NO_NEW_PRIVS, PR_CAPBSET_DROP, PR_SET_CHILD_SUBREAPER = 1, 38, 24, 36
PR_SET_SECCOMP, SECCOMP_MODE_FILTER = 22, 2
PROT_READ, PROT_WRITE, MAP_SHARED = 1, 2, 1
MADV_COLLAPSE, LARGE_PAGE = 25, 1 << 21
KEYCTL_JOIN_SESSION_KEYRING = 1
KEYCTL = {"x86_64": 250, "aarch64": 219}  # the number of the system call
ROOM = 1 << 16  # bytes that a request may have
ALWAYS = "numpy.random", "rnncourse.seat.notebook"  # what every notebook comes to, whatever it imports by name
CONNECT = b"{}"  # the request of one more who will ask

libc = ctypes.CDLL(None, use_errno=True)
libc.madvise.argtypes = ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int


def main(control: int, library: str, limits: dict[str, Any] | None, modules: list[str]) -> NoReturn:
    """Import, then fork until the control socket is closed."""
    # Until then it ends with whoever started it: IPython would make its folders again, which somebody else removes.
    _done(libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0), "end with the desk")
    _leave_if_alone(control)
    sys.path.insert(0, library)
    for module in (*modules, *ALWAYS):
        importlib.import_module(module)
    if "torch" in sys.modules:
        rehearse()
    from rnngrade_inside import refusing, runner
    from rnngrade_inside.shell import make_shell

    shell = make_shell(os.environ["HOME"])
    rehearse_a_cell(shell)
    refusing.prepare()
    gc.collect()
    gc.freeze()  # what is there stays shared with the forks
    use_large_pages()
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for a fork
    # Runners come to this process when who forked them is gone. Left to a container's init, which may wait for nobody,
    # the dead ones would go on counting as processes of the room's user.
    _done(libc.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0), "take its runners back")
    with socket.socket(fileno=control) as connection:
        _done(libc.prctl(PR_SET_PDEATHSIG, 0, 0, 0, 0), "tidy up after the desk")
        loaded = sorted({name.partition(".")[0] for name in sys.modules})
        connection.sendall(json.dumps({"loaded": loaded}).encode() + b"\n")
        _Forks(connection, limits, partial(_serve, runner, shell)).serve()


class _Forks:
    """The forks that wait, as many as there are who ask, and the connections of those who do. The first connection is
    that of whoever started this: when it is closed, this process ends.
    """

    def __init__(self, control: socket.socket, limits: dict[str, Any] | None, serve: Callable[..., None]) -> None:
        self.asking, self.limits, self.become = [control], limits, serve
        self.waiting: list[tuple[Any, socket.socket]] = []  # each with its control group, if it has one
        self.groups: list[Any] = []
        self.numbers = count()

    def serve(self) -> NoReturn:
        """Answer until the first connection is closed."""
        while True:
            if not self.waiting:
                self._fork()
            is_missing = len(self.waiting) < len(self.asking) - 1
            asked, _, _ = select.select(self.asking, [], [], 0 if is_missing else None)
            for connection in asked[:1]:
                self._answer(connection)
            if not asked:
                self._fork()

    def _fork(self) -> None:
        from rnngrade_inside.groups import PREFIX, Group

        group = None
        if self.limits:
            self.groups = [group for group in self.groups if group.is_there()]
            group = Group.make(name=f"{PREFIX}{os.getpid()}-{next(self.numbers)}", **self.limits)
            self.groups.append(group)
        mine = [*self.asking, *(one for _, one in self.waiting)]
        self.waiting.append((group, _fork(group.take_in if group else None, mine, self.become)))

    def _answer(self, connection: socket.socket) -> None:
        data, fds, _, _ = socket.recv_fds(connection, ROOM, 2)
        if not data and connection is self.asking[0]:
            self._leave()
        if not data:
            self.asking.remove(connection)
            connection.close()
            return
        if data == CONNECT:
            self.asking.append(socket.socket(fileno=fds[0]))
            connection.sendall(b"{}\n")
            return
        group, waiting = self.waiting.pop(0)
        with suppress(OSError):  # it may have ended, and said why
            socket.send_fds(waiting, [data], fds)
        for fd in fds:
            os.close(fd)
        with waiting:
            answer = waiting.recv(ROOM) or b'{"error": "the process died"}'
        with suppress(OSError):  # whoever asked may be gone
            connection.sendall(json.dumps(json.loads(answer) | {"group": group and group.folders}).encode() + b"\n")

    def _leave(self) -> NoReturn:
        for _, waiting in self.waiting:
            waiting.close()
        for group in self.groups:
            group.close()
        os._exit(0)


def _leave_if_alone(control: int) -> None:
    with socket.socket(fileno=os.dup(control)) as connection, suppress(BlockingIOError):
        if not connection.recv(1, socket.MSG_PEEK | socket.MSG_DONTWAIT):
            os._exit(1)


class _NoCompiler(types.ModuleType):
    """Stands where PyTorch's compiler would: each optimizer imports it, which takes as long as torch itself and half as
    much memory again, to say that nothing is compiled. Whoever asks for more gets the compiler.
    """

    @staticmethod
    def graph_break() -> None:
        """Nothing is compiled here."""

    @staticmethod
    def disable(function: Any, recursive: bool = True, **_: Any) -> Any:
        """The function, which nobody compiles."""
        return function

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") and name != "__path__":  # whoever goes through all modules there are
            raise AttributeError(name)
        if sys.modules.get(self.__name__) is self:
            del sys.modules[self.__name__]
        return getattr(importlib.import_module(self.__name__), name)


def use_large_pages() -> None:
    """Have this process's own memory in pages of 2 MB, where the kernel knows how: a fork copies a table of its pages,
    and its end goes through them, which otherwise takes more than a tenth of a second for a submission with PyTorch.
    """
    areas: list[tuple[int, int]] = []
    with open("/proc/self/smaps") as lines:
        for line in lines:
            first, _, rest = line.partition(" ")
            if not first.endswith(":"):
                start, end = (int(place, 16) for place in first.split("-"))
            elif first == "Anonymous:" and 1024 * int(rest.split()[0]) > (end - start) * 3 // 4:
                areas.append((-(-start // LARGE_PAGE) * LARGE_PAGE, end // LARGE_PAGE * LARGE_PAGE))
    for start, end in areas:
        if start < end:
            libc.madvise(start, end - start, MADV_COLLAPSE)


def rehearse() -> None:
    """Train a little: torch imports much of itself at the first step of an optimizer."""
    import torch

    from rnncourse.checks import modules  # noqa: F401  (drives what is written in torch)

    torch._dynamo = sys.modules["torch._dynamo"] = _NoCompiler("torch._dynamo")

    model = torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.Dropout(0.5), torch.nn.GRU(3, 2))
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    torch.nn.functional.cross_entropy(model(torch.zeros(4, 2))[0], torch.zeros(4, dtype=torch.int64)).backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    torch.nn.utils.rnn.pack_padded_sequence(torch.zeros(4, 2, 3), torch.tensor([4, 1]))


def rehearse_a_cell(shell: Any) -> None:
    """Run a cell that binds nothing, and put an error into words: for the first ones IPython imports and compiles
    patterns, and looks for the file of every module there is. What Python finds out of code that has run a few times,
    and is fast by then, each fork begins with.
    """
    for _ in range(20):
        shell.run_cell('if False:\n    """A text."""\n', store_history=False)
    shell.logger  # noqa: B018
    try:
        raise ValueError
    except ValueError:
        shell.InteractiveTB.structured_traceback(*sys.exc_info())


def _fork(prepare: Callable[[], None] | None, mine: list[socket.socket], serve: Callable[..., None]) -> socket.socket:
    """Fork a process that waits at the other end of a socket for a request, forks a runner into the sandbox that is
    named there, and answers with its pid, as seen from here, or with what went wrong.
    """
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
    if os.fork() != 0:
        theirs.close()
        return ours
    try:
        for connection in (ours, *mine):
            connection.close()
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        if prepare:
            prepare()
        data, fds, _, _ = socket.recv_fds(theirs, ROOM, 2)
        if not data:
            os._exit(0)
        request = json.loads(data)
        if request["sandbox"]:
            _enter(request)
        runner = os.fork()  # only a child is in the new PID namespace
        if runner:
            theirs.sendall(json.dumps({"pid": runner}).encode())
            os._exit(0)
    except BaseException as error:
        theirs.sendall(json.dumps({"error": f"{type(error).__name__}: {error}"}).encode())
        os._exit(1)
    try:
        theirs.close()
        _become(request, fds, serve)
    finally:
        os._exit(0)


def _enter(request: dict[str, Any]) -> None:
    """Enter the namespaces of the sandbox's process, and limit the number of files there, which bubblewrap cannot:
    each takes memory of the kernel's, if it is empty too.
    """
    pid = request["sandbox"]
    handle = os.pidfd_open(pid)
    if request["user_namespace"]:
        # first into the one to which the mounts belong; the process's own lies in it, and has no rights over them
        with open(f"/proc/{pid}/ns/mnt") as mounts:
            owner = fcntl.ioctl(mounts, NS_GET_USERNS)
        _done(libc.setns(owner, CLONE_NEWUSER), "enter the sandbox as its owner")
        os.close(owner)
    kinds = CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS
    _done(libc.setns(handle, kinds), "enter the sandbox")
    most = f"nr_inodes={request['limits']['files']}".encode()
    for place in request["writable"]:
        done = libc.mount(None, place.encode(), None, MS_REMOUNT | MS_NOSUID | MS_NODEV, most)
        _done(done, f"limit the number of files in {place}")
    if request["user_namespace"]:
        _done(libc.setns(handle, CLONE_NEWUSER), "enter the sandbox as its user")
    os.close(handle)


def _become(request: dict[str, Any], files: list[int], serve: Callable[..., None]) -> None:
    """Be the runner: give up every right, keep the channel and the memory that is shared, and serve."""
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
        # a keyring of its own in place of the desk's; where this cannot be had, none can be used either
        libc.syscall(KEYCTL.get(os.uname().machine, -1), KEYCTL_JOIN_SESSION_KEYRING, None)
        _give_up_rights(bytes.fromhex(request["filter"]))
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
    from rnngrade_inside.channel import framed

    from rnncourse.checks.wire import encode

    connection = runner.Channel(socket.socket(fileno=runner.CHANNEL), limits["message"])
    shell.shown.most_characters, shell.shown.most_images = limits["output"], limits["images"]
    size = os.fstat(4).st_size
    libc.mmap.restype = ctypes.c_void_p
    place = libc.mmap(None, ctypes.c_size_t(size), PROT_READ | PROT_WRITE, MAP_SHARED, 4, ctypes.c_long(0))
    if place == ctypes.c_void_p(-1).value:
        raise OSError(ctypes.get_errno(), "could not map the memory that is shared")
    os.close(4)  # Python's own mmap would keep a file open
    memory = memoryview((ctypes.c_char * size).from_address(place)).cast("B")
    # made while there is memory: what is said when there is none, and of which errors, for Python says, where there is
    # none even for the error, that it has none to raise
    words = framed("memory", 0, encode([]))
    no_memory = MemoryError, SystemError
    try:
        runner.Runner(connection, shell, limits["call_seconds"], memory).serve()
    except no_memory:
        os.write(runner.CHANNEL, words)


class _Program(ctypes.Structure):
    """struct sock_fprog: a filter's number of instructions, each of eight bytes, and where they lie."""

    _fields_ = [("length", ctypes.c_ushort), ("instructions", ctypes.c_char_p)]


def _give_up_rights(filter: bytes) -> None:
    _done(libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "give up new rights")
    header = (ctypes.c_uint32 * 2)(0x20080522, 0)  # _LINUX_CAPABILITY_VERSION_3, this process
    _done(libc.capset(header, (ctypes.c_uint32 * 6)()), "give up its capabilities")
    if filter:
        program = _Program(len(filter) // 8, filter)
        done = libc.prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, ctypes.byref(program), 0, 0)
        _done(done, "have its system calls filtered")


def _done(result: int, what: str) -> None:
    if result != 0:
        raise OSError(ctypes.get_errno(), f"could not {what}: {os.strerror(ctypes.get_errno())}")


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2], json.loads(sys.argv[3]), sys.argv[4:])
