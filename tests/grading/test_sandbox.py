"""The sandbox: what is inside, what is not, what may be used up, and what becomes of a session that goes wrong."""

import ctypes
import errno
import glob
import json
import os
import pickle
import random
import re
import shutil
import socket
import struct
import subprocess
import sys
import textwrap
import time
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import psutil
import pytest

from rnncourse import exercises
from rnncourse.checks.callables import Named
from rnncourse.checks.wire import encode
from rnngrade.core.errors import DeskError
from rnngrade.core.record import DIED
from rnngrade.grading.grade import grade, open_station
from rnngrade.sandbox import bubblewrap, seccomp
from rnngrade.sandbox.inside import groups
from rnngrade.sandbox.inside.sealed import seal
from rnngrade.sandbox.limits import MB, Limits
from rnngrade.sandbox.session import Died, Garbled, TooMuch, TooSlow, told
from tests.grading.solved import solved
from tests.sampling import SEED, some
from tests.waiting import PATIENCE, has_ended, until

UNIT = "03_cell"
SECRET = "the-desk-alone-knows"
KILLS = 20
LIMITS = Limits(memory=512 * MB, processes=24, disk=16 * MB, cpu_seconds=2, output=2000, message=MB)


@pytest.fixture(scope="module")
def station(bundle):
    os.environ["DESK_SECRET"] = SECRET
    try:
        with open_station(bundle, LIMITS) as made:
            yield made
    finally:
        del os.environ["DESK_SECRET"]


@pytest.fixture
def session(station):
    with station.session() as made:
        yield made


def run(session, source, seconds=PATIENCE):
    """Run a cell; what it printed, or the error that ended it."""
    reply = session.ask("run", textwrap.dedent(source), seconds=seconds)
    assert reply["error"] is None, reply["outputs"]
    return "".join(o.get("text", "") for o in reply["outputs"] if o["output_type"] == "stream").strip()


def value(session, source):
    """The value of `answer` after a cell."""
    run(session, source)
    found = session.ask("value", "answer", seconds=PATIENCE)
    assert found["state"] == "open", found
    return found["value"]


def failing(session, source):
    """The errno with which a statement fails."""
    lines = "\n".join(f"    {line}" for line in textwrap.dedent(source).strip().splitlines())
    return value(session, f"answer = 0\ntry:\n{lines}\nexcept OSError as error:\n    answer = error.errno")


# --- what is inside


def test_the_desk_cannot_be_reached_over_the_network(session):
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(0)
        port = server.getsockname()[1]
        socket.create_connection(("127.0.0.1", port)).close()
        server.accept()[0].close()
        program = f"import socket\nsocket.create_connection(('127.0.0.1', {port}), 5)"
        assert failing(session, program) in (errno.ECONNREFUSED, errno.ENETUNREACH)
        with pytest.raises(BlockingIOError):
            server.accept()
    names = "answer = [line.split(':')[0].strip() for line in open('/proc/net/dev').readlines()[2:]]"
    assert value(session, names) == ["lo"]
    assert failing(session, "socket.create_connection(('192.0.2.1', 80), 5)") == errno.ENETUNREACH


def test_abstract_sockets_of_the_machine_cannot_be_reached(session):
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("")  # to a name that nobody else has
        server.listen()
        program = f"import socket\nsocket.socket(socket.AF_UNIX).connect({server.getsockname()!r})"
        assert failing(session, program) == errno.ECONNREFUSED


def test_no_other_process_is_seen(session):
    names = value(
        session,
        """
        import os
        answer = {}
        for pid in os.listdir("/proc"):
            if pid.isdigit():
                answer[int(pid)] = open(f"/proc/{pid}/comm").read().strip()
                assert "bind" not in open(f"/proc/{pid}/cmdline").read()  # how the room is built is not to be read
        """,
    )
    assert set(names.values()) <= {"cat", "python", Path(os.path.realpath("/proc/self/exe")).name}
    assert len(names) <= 3
    assert failing(session, f"os.kill({os.getpid()}, 0)") in (errno.ESRCH, 0 if os.getpid() in names else errno.ESRCH)


def test_of_the_course_there_is_the_python_alone(session, root):
    there = value(
        session,
        f"""
        import os
        root = {str(root)!r}
        names = os.listdir(root) if os.path.isdir(root) else []
        answer = {{name: os.listdir(os.path.join(root, name)) for name in names if name != ".venv"}}
        """,
    )
    assert there == {}
    # Where the course is developed, it lies in the environment too, by name and empty.
    assert value(
        session,
        """
        import os, sys, rnncourse
        places = [os.path.join(path, name) for path in sys.path for name in ("rnncourse", "rnngrade")]
        answer = [path for path in places if os.path.isdir(path) and os.listdir(path)]
        """,
    ) == [value(session, "import os, rnncourse; answer = os.path.dirname(rnncourse.__file__)")]


def test_no_file_of_the_desk_is_found_anywhere(session, station, root, tmp_path):
    (tmp_path / "gradebook.db").write_text("grades")
    found = value(
        session,
        """
        import os
        names = {"gradebook.db", "nbgrader_config.py", "solutions", "submitted", "records", "grading", ".hidden-seed",
                 "rnngrade", "judge.py", "03_cell.py", "03_cell.ipynb", "passwd", "shadow", "answers"}
        answer = []
        for folder, folders, files in os.walk("/"):
            if folder == "/":
                folders[:] = [name for name in folders if name not in ("proc", "sys", "usr")]
            answer += [os.path.join(folder, name) for name in [*folders, *files] if name in names]
            answers = ("rnncourse", "cell.py")
            answer += [os.path.join(folder, name) for name in files if (os.path.basename(folder), name) == answers]
        """,
    )
    foreign = [p for p in found if "site-packages" not in p and not p.endswith("/bin/rnngrade")]
    assert foreign == []
    own = [p for p in found if p.endswith("/rnngrade") and p not in foreign and "/bin/" not in p]
    assert all(value(session, f"answer = os.listdir({p!r})") == [] for p in own)


@pytest.mark.parametrize("path", ["/etc/passwd", "/etc/shadow", "/etc/hostname", "/srv", "/var", "/run", "/home"])
def test_of_the_machine_there_is_nothing(path, session):
    assert failing(session, f"import os\nos.stat({path!r})") == errno.ENOENT


def test_the_desks_environment_is_not_there(session):
    assert os.environ["DESK_SECRET"] == SECRET
    variables = value(session, "import os; answer = dict(os.environ)")
    assert SECRET not in variables.values()
    assert set(variables) <= {
        *("PATH", "LANG", "HOME", "IPYTHONDIR", "MPLBACKEND", "MPLCONFIGDIR", "PYDEVD_DISABLE_FILE_VALIDATION"),
        *("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "PYTHONHASHSEED", "LC_CTYPE"),
        *("COLUMNS", "LINES", "KMP_INIT_AT_FORK", "KMP_DUPLICATE_LIB_OK", "TORCHINDUCTOR_CACHE_DIR", "PAGER"),
        *("TERM", "GIT_PAGER", "CLICOLOR", "FORCE_COLOR", "CLICOLOR_FORCE"),
    }
    everything = value(
        session,
        """
        answer = ""
        for pid in os.listdir("/proc"):
            try:
                answer += open(f"/proc/{pid}/environ", "rb").read().decode(errors="replace")
            except OSError:
                pass
        """,
    )
    assert SECRET not in everything


def test_the_system_is_read_only(session, station):
    places = ["/usr", "/bin", "/", "/dev", os.path.dirname(os.__file__), str(station.library), "/lib"]
    for place in places:
        assert failing(session, f"open({place + '/mine'!r}, 'w')") in (errno.EROFS, errno.EACCES), place
    mine = str(station.library / "rnncourse" / "__init__.py")
    assert failing(session, f"open({mine!r}, 'a')") in (errno.EROFS, errno.EACCES)


@pytest.mark.parametrize("place", ["~", "/tmp", "/dev/shm"])
def test_what_can_be_written_is_limited_in_size(place, session):
    program = f"""
        import os
        folder = os.path.expanduser({place!r})
        answer = 0
        try:
            for number in range(64):
                with open(f"{{folder}}/{{number}}", "wb") as file:
                    file.write(bytes(2**20))
                answer += 1
        except OSError as error:
            answer = (answer, error.errno)
        """
    written, error = value(session, program)
    assert error == errno.ENOSPC
    assert written <= LIMITS.disk // MB
    assert written >= LIMITS.disk // MB - 2


@pytest.mark.parametrize("place", ["~", "/tmp", "/dev/shm"])
@pytest.mark.parametrize(
    "make", ["open(name, 'w').close()", "os.mkdir(name)", "os.symlink('x' * 4000, name)", "os.link(first, name)"]
)
def test_what_can_be_written_is_limited_in_number(make, place, session):
    program = f"""
        import os
        first = os.path.expanduser({place + "/first"!r})
        open(first, "w").close()
        answer = 0
        try:
            while answer < {2 * LIMITS.files}:
                name = os.path.expanduser(f"{place}/{{answer}}")
                {make}
                answer += 1
        except OSError as error:
            answer = (answer, error.errno)
        """
    made, error = value(session, program)
    assert error == errno.ENOSPC
    assert LIMITS.files - 20 <= made <= LIMITS.files


def test_no_memory_is_shared_that_no_process_and_no_limit_has(session):
    tries = {
        "anonymous": ("mmap.mmap(-1, 4096)", errno.EPERM),
        "the device of zeros": ("mmap.mmap(os.open('/dev/zero', os.O_RDWR), 4096)", errno.ENODEV),
        "a file without a name": ("os.memfd_create('x')", errno.EPERM),
        "System V": ("if libc.shmget(0, 4096, 0o1600) < 0: raise OSError(ctypes.get_errno(), '')", errno.EPERM),
    }  # fmt: skip
    run(session, "import ctypes, mmap, os\nlibc = ctypes.CDLL(None, use_errno=True)")
    assert {name: failing(session, statement) for name, (statement, _) in tries.items()} == {
        name: error for name, (_, error) in tries.items()
    }
    assert value(session, "answer = len(mmap.mmap(-1, 4096, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS))") == 4096


def test_what_one_session_wrote_the_next_does_not_find(station):
    for place in ("~", "/tmp", "/dev/shm"):
        with station.session() as session:
            run(session, f"import os; open(os.path.expanduser({place + '/note'!r}), 'w').write('the answer')")
        with station.session() as session:
            assert failing(session, f"import os\nopen(os.path.expanduser({place + '/note'!r}))") == errno.ENOENT


def test_nobody_is_root_and_nobody_becomes_it(session):
    ids = value(session, "import os; answer = [*os.getresuid(), *os.getresgid(), *os.getgroups()]")
    assert 0 not in ids
    for statement in ("os.setuid(0)", "os.setgid(0)", "os.setgroups([0])", "os.chroot('/tmp')"):
        assert failing(session, f"import os\n{statement}") in (errno.EPERM, errno.EINVAL), statement


def test_there_are_no_capabilities_and_no_new_privileges(session):
    lines = value(session, "answer = open('/proc/self/status').read().splitlines()")
    status = dict(line.split(":\t", 1) for line in lines if ":\t" in line)
    for kind in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"):
        assert int(status[kind], 16) == 0, kind
    assert status["NoNewPrivs"] == "1"


def test_no_namespace_can_be_made_and_nothing_mounted(session):
    failed = value(
        session,
        """
        import ctypes
        libc = ctypes.CDLL(None, use_errno=True)
        answer = [libc.unshare(0x10000000), libc.unshare(0x00020000), libc.mount(b"x", b"/tmp", b"tmpfs", 0, None),
                  libc.umount(b"/tmp"), libc.sethostname(b"x", 1)]
        """,
    )
    # In a user namespace of its own, it could mount as much memory as it likes, and nobody would count it.
    assert failed == [-1, -1, -1, -1, -1]


def test_the_channel_is_the_only_open_file(session):
    files = value(
        session,
        """
        import os
        answer = {}
        for number in os.listdir("/proc/self/fd"):
            try:
                answer[int(number)] = os.readlink(f"/proc/self/fd/{number}")
            except FileNotFoundError:  # the listing itself
                pass
        """,
    )
    assert [files.pop(number) for number in (0, 1, 2)] == ["/dev/null"] * 3
    assert files.pop(3).startswith("socket:")
    assert set(files.values()) <= {"/memfd:shared (deleted)"}  # what the judge lends it, which Python keeps open


# --- what the kernel is not asked for


def outcome(filter, number, architecture, fourth=0, first=1):
    """What a filter makes of a system call: a reading of it that is not the kernel's."""
    data = struct.pack("=IIQ6Q", number, architecture, 0, first, 0, 0, fourth, 0, 0)
    instructions, at, value = list(struct.iter_unpack("=HBBI", filter)), 0, 0
    while True:
        code, then, otherwise, k = instructions[at]
        at += 1
        match code:
            case 0x20:
                (value,) = struct.unpack_from("=I", data, k)
            case 0x54:
                value &= k
            case 0x15:
                at += then if value == k else otherwise
            case 0x35:
                at += then if value >= k else otherwise
            case 0x06:
                return {0x80000000: "killed", 0x50001: "refused", 0x7FFF0000: "allowed"}[k]


@pytest.mark.parametrize("name", seccomp.MACHINES)
def test_the_filter_stops_what_it_says_and_nothing_else(name):
    machine, filter = seccomp.MACHINES[name], seccomp.program(name)
    refused = {number for number in range(1000) if outcome(filter, number, machine.audit) != "allowed"}
    assert refused == set(machine.numbers)
    assert {outcome(filter, number, machine.audit) for number in refused} == {"refused"}
    for flags in range(64):
        shared = flags & 0x01 and flags & 0x20
        assert outcome(filter, machine.mmap, machine.audit, flags) == ("refused" if shared else "allowed"), flags
    families = {
        family for family in range(50) if outcome(filter, machine.socket, machine.audit, 0, family) == "allowed"
    }
    assert families == {socket.AF_UNIX, socket.AF_INET, socket.AF_INET6}
    for other in {0x40000003, 0xC0000028, *(m.audit for m in seccomp.MACHINES.values())} - {machine.audit}:
        assert {outcome(filter, number, other) for number in (0, 1, 39, 172)} == {"killed"}
    assert outcome(filter, 0x40000000 + 39, machine.audit) == ("killed" if name == "x86_64" else "allowed")
    assert seccomp.program("vax") is None


HEADERS = {
    "x86_64": ("x86_64-linux-gnu/asm/unistd_64.h", "asm/unistd_64.h"),
    "aarch64": ("asm-generic/unistd.h", "aarch64-linux-gnu/asm/unistd_64.h"),
}


@pytest.mark.parametrize("name", HEADERS)
def test_the_numbers_are_the_kernels(name):
    found = [path for header in HEADERS[name] if (path := Path("/usr/include", header)).is_file()]
    if not found:
        pytest.skip("Linux's headers are not installed")
    numbers = {n: int(k) for n, k in re.findall(r"#define __NR(?:3264)?_(\w+)\s+(\d+)", found[0].read_text())}
    machine = seccomp.MACHINES[name]
    assert dict(zip(seccomp.STOPPED, machine.numbers, strict=True)) == {n: numbers[n] for n in seccomp.STOPPED}
    assert (machine.mmap, machine.socket) == (numbers["mmap"], numbers["socket"])


def test_no_stopped_call_is_answered_and_every_process_of_the_room_has_the_filter(session):
    run(session, "import ctypes, os\nlibc = ctypes.CDLL(None, use_errno=True)")
    numbers = seccomp.MACHINES[os.uname().machine].numbers
    answered = value(
        session,
        f"""
        answer = {{}}
        for number in {numbers}:
            result = libc.syscall(number, 0, 0, 0, 0, 0, 0)
            answer[number] = (result, ctypes.get_errno())
        """,
    )
    assert answered == dict.fromkeys(numbers, (-1, errno.EPERM))
    filters = value(
        session,
        """
        answer = {}
        for pid in filter(str.isdigit, os.listdir("/proc")):
            with open(f"/proc/{pid}/status") as file:
                answer[pid] = [line.split()[1] for line in file if line.startswith("Seccomp:")]
        """,
    )
    assert len(filters) >= 2
    assert set(map(tuple, filters.values())) == {("2",)}


@pytest.mark.skipif(os.uname().machine != "x86_64", reason="other machines speak one language")
@pytest.mark.parametrize(
    "call",
    [
        "libc.syscall(0x40000000 + 39)",
        # mov eax, 20; int 0x80; ret: getpid in the 32-bit language
        "ctypes.CFUNCTYPE(ctypes.c_int)(code(b'\\xb8\\x14\\x00\\x00\\x00\\xcd\\x80\\xc3'))()",
    ],
)
def test_a_call_in_another_architectures_language_ends_the_process(call, session):
    program = f"""
        import ctypes, mmap, os
        libc = ctypes.CDLL(None)
        def code(instructions):
            global page
            page = mmap.mmap(-1, 4096, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, 7)
            page.write(instructions)
            return ctypes.addressof(ctypes.c_char.from_buffer(page))
        {call}
        """
    with pytest.raises(Died):
        run(session, program)


LIBC = ctypes.CDLL(None, use_errno=True)
ADD_KEY, KEYCTL = {"x86_64": (248, 250), "aarch64": (217, 219)}.get(os.uname().machine, (-1, -1))
SESSION_KEYRING, USER_KEYRING = -3, -4
UNLINK = 9


def keys_of(uid):
    """The names of the keys and keyrings that a user has, as root finds them out."""
    program = f"import os; os.setgroups([]); os.setuid({uid}); print(open('/proc/keys').read())"
    lines = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout
    keys = [line.split() for line in lines.splitlines() if line]
    return [key[8].rstrip(":") for key in keys if key[5] == str(uid)]


def test_the_desks_keys_are_not_seen_and_no_other_rooms(bundle):
    keys = {}
    for keyring in (SESSION_KEYRING, USER_KEYRING):
        name = f"rnngrade-test-{os.getpid()}-{-keyring}"
        key = LIBC.syscall(ADD_KEY, b"user", name.encode(), SECRET.encode(), len(SECRET), keyring)
        if key < 0:
            pytest.skip(f"there are no keyrings here: {os.strerror(ctypes.get_errno())}")
        keys[name] = key, keyring
    try:
        with open_station(bundle, LIMITS) as station, station.session() as one, station.session() as two:
            assert all(name in Path("/proc/keys").read_text() for name in keys)
            for path in ("/proc/keys", "/proc/key-users"):
                assert [failing(each, f"open({path!r})") for each in (one, two)] == [errno.EACCES] * 2
            who = "import os; answer = [os.getuid(), os.readlink('/proc/self/ns/user')]"
            assert value(one, who) != value(two, who), "the kernel keeps a user's keyrings by number and namespace"
            if one._room.uid is not None:
                assert [keys_of(value(each, who)[0]) for each in (one, two)] == [["_ses"]] * 2
    finally:
        for key, keyring in keys.values():
            LIBC.syscall(KEYCTL, UNLINK, key, keyring)


# --- what may be used up


def test_memory_by_one_array(session):
    run(session, "import numpy as np\nsmall = np.ones(2**20)")
    reply = session.ask("run", "big = np.ones(2**28)", seconds=PATIENCE)
    assert reply["error"] == "MemoryError" or reply["error"] == "_ArrayMemoryError"
    assert value(session, "answer = float(small.sum())") == 2**20, "the session goes on"


@pytest.fixture(scope="module", params=["the kernel", "the desk"])
def counted(request, bundle):
    """A station whose rooms' memory is counted by the kernel, in control groups, or as well as the desk can."""
    with pytest.MonkeyPatch.context() as patch:
        if request.param == "the desk":
            patch.setattr(groups, "parents", dict)
        elif groups.MEMORY not in groups.parents():
            pytest.skip("no control groups can be made here")
        station = open_station(bundle, replace(LIMITS, memory=300 * MB, cpu_seconds=60))
    with station:
        yield station


HOARDS = {
    "lists": "while True: kept.append(bytearray(10**7))",
    "small strings": "while True: kept.append('x' * 100 + str(len(kept)))",
    "a string that doubles": "kept = 'x'\nwhile True: kept += kept",
    "files in memory, as many as there may be, and lists": """
        for folder in ("/tmp", "/dev/shm", os.path.expanduser("~")):
            try:
                with open(f"{folder}/full", "wb", buffering=0) as file:
                    while True: file.write(bytes(10**6))
            except OSError:
                pass
        while True: kept.append(bytearray(10**7))
    """,
    "what is caught": """
        while True:
            try:
                while True: kept.append(bytearray(10**6))
            except MemoryError:
                if os.fork() == 0: kept.clear()
    """,
    "tables of pages that are only read": """
        kept = mmap.mmap(-1, 2**39, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | 0x4000, prot=mmap.PROT_READ)
        for place in range(0, 2**39, 2**21): kept[place]
    """,
    "many processes": """
        for _ in range(6):
            if os.fork() == 0:
                kept = bytearray(10**8)
                time.sleep(600)
        time.sleep(600)
    """,
}


@pytest.mark.parametrize("way", some(HOARDS, 3))
def test_whoever_takes_all_memory_is_told_so(way, counted):
    with counted.session() as session:
        run(session, "import mmap, os, time\nkept = []")
        try:
            end = session.ask("run", textwrap.dedent(HOARDS[way]), seconds=PATIENCE)["error"]
        except TooMuch as fault:
            end = str(fault)
    assert end in ("memory", "MemoryError")
    assert session.most_memory <= counted.limits.memory or not session._group
    if way == "many processes":
        assert session.most_memory > 0.9 * counted.limits.memory, "all of them count"


def test_a_cell_that_takes_too_much_memory_costs_its_answer_and_is_told_so(counted, bundle, root):
    """By many processes: one alone may be told of it by Python first, as an error like any other."""
    cell = "import os, time\n" + textwrap.dedent(HOARDS["many processes"])
    record = grade(solved(root, UNIT, softmax=cell), bundle, "ada", "7", counted.limits, station=counted).record
    (lost,) = [result for result in record.exercises if not result.passed]
    assert (lost.name, lost.status, lost.points) == ("softmax", DIED, 0)
    assert lost.message == "The cell of softmax used more than 300 MB of memory."


def test_what_the_kernel_keeps_for_a_room_counts_where_it_does_the_counting(counted):
    """Bytes on their way through sockets: no process has them."""
    program = """
        import os, socket, time
        full, says = os.pipe()
        for _ in range(16):
            if os.fork() == 0:
                pairs = [socket.socketpair() for _ in range(120)]
                for end in [end for pair in pairs for end in pair]:
                    end.setblocking(False)
                    try:
                        while True: end.send(bytes(4096))
                    except BlockingIOError:
                        pass
                os.write(says, b".")
                time.sleep(600)
        for _ in range(16):
            os.read(full, 1)
        """
    with counted.session() as session:
        if session._group:
            with pytest.raises(TooMuch, match="memory"):
                run(session, program)
        else:
            run(session, program)  # the run's summary says that this is not limited


def test_processes(session):
    started = value(
        session,
        """
        import os, time
        answer = 0
        for _ in range(100):
            try:
                if os.fork() == 0:
                    time.sleep(600)
                answer += 1
            except BlockingIOError:
                pass
        """,
    )
    assert LIMITS.processes // 2 < started < LIMITS.processes


def test_a_session_leaves_no_process_that_counts_for_the_next(station):
    for _ in range(LIMITS.processes + 1):
        with station.session() as session:
            assert value(session, "import os\nanswer = os.fork() or os._exit(0)") > 0


@pytest.mark.parametrize("in_a_thread", [False, True], ids=["as a cell is run", "as an answer is asked"])
def test_waiting_for_a_processor_is_not_counted_as_time(session, monkeypatch, in_a_thread):
    monkeypatch.setattr("rnngrade.sandbox.session.PATIENCE", 100.0)  # more than these others are may be here
    cpu = min(os.sched_getaffinity(0))
    others = [
        subprocess.Popen(
            [sys.executable, "-c", f"import os\nos.sched_setaffinity(0, {{{cpu}}})\nwhile True: pass"],
            start_new_session=True,  # Linux shares a processor out among sessions: the room is one
        )
        for _ in range(4)
    ]
    try:
        os.sched_setaffinity(session.pid, {cpu})
        began = time.monotonic()
        work = "def work():\n    began = time.process_time()\n    while time.process_time() < began + 0.3: pass\n"
        start = "thread = Thread(target=work); thread.start(); thread.join()" if in_a_thread else "work()"
        busy = f"import time\nfrom threading import Thread\n{work}{start}"
        assert session.ask("run", busy, seconds=0.8)["error"] is None
        took = time.monotonic() - began
    finally:
        for one in others:
            one.kill()
            one.wait()
    assert took > 0.8  # or nothing was tried
    with pytest.raises(TooSlow):
        session.ask("run", "import time\ntime.sleep(60)", seconds=1.0)


def test_who_keeps_the_processors_busy_has_not_all_the_time_there_is(session, monkeypatch):
    from rnngrade.sandbox import session as sessions

    monkeypatch.setattr(sessions, "PATIENCE", 1.5)
    monkeypatch.setattr(type(session), "_waited", lambda session: 10 * time.monotonic())  # all of it waits
    with pytest.raises(TooSlow):
        session.ask("run", "while True: pass", seconds=0.4)


def test_cpu_time(session):
    with pytest.raises(Died):
        run(session, "while True: pass")


def test_the_size_of_a_file_and_the_number_of_open_ones(session):
    too_large = f"""
        import signal
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        with open("/tmp/x", "wb") as file:
            file.truncate({LIMITS.disk + 1})
        """
    assert failing(session, too_large) == errno.EFBIG
    assert failing(session, "files = [open('/dev/null') for _ in range(1000)]") == errno.EMFILE


def test_time(session):
    with pytest.raises(TooSlow):
        run(session, "import time\nwhile True: time.sleep(600)", seconds=0.5)


def test_output(session):
    reply = session.ask("run", "for i in range(1000): print(i, end=',')", seconds=PATIENCE)
    (output,) = reply["outputs"]
    assert output["text"].startswith("0,1,2,")
    assert output["text"].endswith("the rest of this output is not kept.\n")
    assert len(output["text"]) < LIMITS.output + 100
    reply = session.ask("run", "while True: print('again')", seconds=PATIENCE)
    assert reply["error"] == "TooMuchOutput"
    assert value(session, "answer = 1") == 1


# --- how it ends


def test_the_end_of_a_session_ends_everything_in_it(station):
    with station.session() as session:
        program = """
            import os, time
            if os.fork() == 0:
                os.setsid()
                if os.fork() == 0:
                    os.closerange(0, 100)
                    while True:
                        time.sleep(0.01)
                os._exit(0)
            os.wait()
            """
        run(session, program)
        room = psutil.Process(session._room._keeper.pid)
        inside = {room, *room.children(recursive=True), psutil.Process(session.pid)}
        assert len(inside) >= 4, "bwrap, its keeper, the runner, and who ran away"
    until(lambda: all(map(has_ended, inside)), lambda: f"still there: {inside}")


def test_the_end_of_a_station_leaves_nothing(bundle):
    with open_station(bundle, LIMITS) as station:
        session = station.session()
        warm = psutil.Process(station._warm.pid)
        room = psutil.Process(session._room._keeper.pid)
        session.close()
        folder = station.folder
        places = {f"{parent}/{groups.PREFIX}{warm.pid}-*" for parent in groups.parents().values()}
        assert all(glob.glob(place) for place in places)
    assert not folder.exists()
    assert [found for place in places for found in glob.glob(place)] == []
    assert not warm.is_running()
    assert not room.is_running()


@pytest.fixture
def places():
    """Where control groups are made, by kind of limit."""
    return groups.parents() or pytest.skip("no control groups can be made here")


def test_a_warm_process_that_is_killed_leaves_no_control_group(bundle, places):
    with open_station(bundle, LIMITS) as station:
        own = [f"{place}/{groups.PREFIX}{station._warm.pid}-*" for place in places.values()]
        until(lambda: all(map(glob.glob, own)), lambda: "no control group was made")
        station._warm.kill()
    assert [found for each in own for found in glob.glob(each)] == []


def test_what_the_dead_have_left_is_removed_and_what_the_living_need_is_not(places):
    dead = subprocess.Popen(["true"])
    dead.wait()
    left, needed = (groups.Group.make(places, f"{groups.PREFIX}{pid}-x", MB, 4) for pid in (dead.pid, os.getpid()))
    try:
        assert groups.parents() == places
        assert (left.is_there(), needed.is_there()) == (False, True)
    finally:
        groups.remove(places, os.getpid())
    assert not needed.is_there()


@pytest.mark.nightly
def test_whoever_is_killed_at_whatever_moment_of_the_start_nothing_is_left(bundle, root, tmp_path):
    scratch = tmp_path / "tmp"
    scratch.mkdir()
    (tmp_path / "work").write_bytes(pickle.dumps((bundle, solved(root, UNIT), replace(LIMITS, cpu_seconds=60))))
    starts = subprocess.Popen(
        [sys.executable, "-m", "tests.grading.starts", str(tmp_path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={**os.environ, "TMPDIR": str(scratch), "PYTHONPATH": os.pathsep.join(sys.path)},
        cwd=root,
        text=True,
    )
    places = groups.parents().values()

    def left():
        """The groups of who is gone. One that was made to see whether it holds goes with the next start."""
        found = [path for place in places for path in Path(place).glob(f"{groups.PREFIX}*")]
        makers = {f"{groups.PREFIX}{pid}" for pid in psutil.pids()}  # of tests that run beside this one
        tried = (groups.MEMORY, groups.PROCESSES)
        names = {path: path.name.rpartition("-") for path in found}
        return [path for path, (maker, _, last) in names.items() if maker not in makers and last not in tried]

    def start(number, seconds):
        starts.stdin.write(json.dumps([number, seconds]) + "\n")
        starts.stdin.flush()
        answer = starts.stdout.readline()
        assert answer, "something outlives the desk"
        took, killed = json.loads(answer)
        what = f"who was killed after {seconds} seconds: {killed}"
        assert list(scratch.iterdir()) == [], what
        # what a busy kernel did not let go of in time goes with the next start, which looks for parents
        until(lambda: groups.parents() is not None and not left(), lambda: f"{left()}; {what}")
        return took

    rng = random.Random(SEED)
    with starts:
        duration = start(0, None)
        for number in range(KILLS):
            # every second time it is the desk itself, or the first that it has started
            start(rng.randrange(2) if number % 2 else rng.randrange(10), rng.uniform(0, duration))
        starts.stdin.close()
    assert starts.returncode == 0
    groups.parents()
    tried = [path for place in places for path in Path(place).glob(f"{groups.PREFIX}*") if path.name[-1].isalpha()]
    assert [path for path in tried if not psutil.pid_exists(int(path.name.split("-")[1]))] == []


@pytest.mark.parametrize("statement", ["os._exit(0)", "os.kill(os.getpid(), 9)", "os.kill(os.getpid(), 11)"])
def test_a_process_that_ends_has_died(statement, session):
    with pytest.raises(Died):
        run(session, f"import os; {statement}")


@pytest.mark.parametrize(
    "said",
    [
        "b'hello, judge, here are your points'",
        "(2**31).to_bytes(4, 'big')",
        "(10).to_bytes(4, 'big') + (6).to_bytes(4, 'big') + b'[1, 2]'",
        "message('reply', 1, [{'outputs': [], 'error': None}])",
        "message('call', 1, [0, (), {}])",
        "message('reply', NUMBER, {})",
        "message('reply', NUMBER, [])",
        "message('reply', NUMBER, [1, 2])",
        "message('r\\xff', NUMBER, [{}])",
        "message('', NUMBER, [{}])",
    ],
)
def test_what_is_no_answer_is_garbled(said, session):
    run(session, "pass")
    program = f"""
        import os, struct
        from rnncourse.checks.wire import encode
        def message(verb, number, body):
            data = encode(body)
            return struct.pack(">II8s", len(data), number, verb.encode("latin-1")) + data
        NUMBER = {session._number + 1}
        os.write(3, {said})
        """
    with pytest.raises(Garbled):
        run(session, program)


def test_an_answer_that_is_too_large_is_refused(station, session):
    assert value(session, "import numpy as np; answer = np.zeros(1000)").shape == (1000,)
    run(session, f"answer = np.zeros({LIMITS.message // 8 + 1})")
    with pytest.raises(Garbled):
        session.ask("value", "answer", seconds=PATIENCE)


def test_a_judge_that_is_late_itself_takes_no_time_from_the_student(session, monkeypatch):
    """What the judge's own functions take is not counted."""
    late = 0.0
    monkeypatch.setattr("rnngrade.sandbox.session.time", SimpleNamespace(monotonic=lambda: time.monotonic() + late))

    def slow(number, args, kwargs):
        nonlocal late
        late += PATIENCE
        return args[0] + 1

    run(session, "def answer(f):\n    return f(1) + f(2)")
    settings = {"uses": {}, "forbids": [], "fixtures": []}
    assert session.ask("open", "answer", settings, seconds=PATIENCE) == {"state": "open"}
    # A function of the judge's by number, as `judge.Remote` hands it over.
    given = Named("__remote__", {"number": 0})
    answers = SimpleNamespace(known=lambda call: None, keep=lambda *kept: None, call=slow)
    body = encode([[("rnncourse.checks.drive:call", (given,))], seal({})])
    session.exchange("observe", body, seconds=PATIENCE, answers=answers, seen=(seen := []), cases=1)
    assert [told(one)["answer"] for one in seen] == [5]


# --- without a sandbox


def test_without_the_sandbox_honest_code_gets_the_same(bundle, root):
    submission = solved(root, UNIT)
    limits = replace(LIMITS, cpu_seconds=60)
    inside = grade(submission, bundle, "ada", "7", limits)
    with open_station(bundle, limits, sandboxed=False) as bare:
        outside = grade(submission, bundle, "ada", "7", limits, station=bare)
        with bare.session() as session:
            assert value(session, "import os; answer = os.getcwd()").startswith(str(bare.folder))
            with pytest.raises(TooMuch, match="processes"):
                run(session, "import os, time\nfor _ in range(30):\n    os.fork() or time.sleep(600)\ntime.sleep(600)")
    assert outside.record.content() == inside.record.content()
    assert outside.record.points == exercises.unit(UNIT).points
    assert outside.notebook == inside.notebook


def test_where_bubblewrap_is_not_installed_it_says_so_in_a_sentence(monkeypatch):
    monkeypatch.setattr(shutil, "which", lambda name: None)
    with pytest.raises(DeskError, match=r"^Grading untrusted work needs bubblewrap, .* '--sandbox none'\.$"):
        bubblewrap.require()


def test_where_bubblewrap_cannot_build_a_room_it_says_why(monkeypatch, tmp_path):
    bwrap = tmp_path / "bwrap"
    bwrap.write_text("#!/bin/sh\necho 'bwrap: No permissions to create new namespace' >&2\nexit 1\n")
    bwrap.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    with pytest.raises(DeskError, match=r"cannot build a sandbox on this machine \(bwrap: No permissions"):
        bubblewrap.require()


def test_what_is_not_limited_on_this_machine_is_said(monkeypatch):
    monkeypatch.setattr(groups, "parents", lambda: {groups.MEMORY: "a", groups.PROCESSES: "b"})
    assert (bubblewrap.not_limited() == []) is (os.uname().machine in seccomp.MACHINES)
    monkeypatch.setattr(groups, "parents", dict)
    monkeypatch.setattr(seccomp, "program", lambda: None)
    memory, calls = bubblewrap.not_limited()
    assert "ten times a second; what the kernel keeps for them, such as full sockets, has no limit." in memory
    assert f"this processor ({os.uname().machine})" in calls
