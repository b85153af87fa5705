"""Out of one room into another, through what the kernel keeps; and memory that nobody has and nobody counts."""

from tests.grading.hostile.making import FULL, Hostile, before, right
from tests.grading.hostile.shapes import in_own_cell, sets_up, steps

ROOMS = [
    sets_up(
        "notes_in_keyrings",
        "leaves its answer in the kernel's keyrings for others, and takes theirs from there",
        """
            import ctypes, os
            libc = ctypes.CDLL(None)
            add_key, request_key, keyctl = {"x86_64": (248, 249, 250)}.get(os.uname().machine, (217, 218, 219))
            for keyring in (-5, -4, -3, -2, -1):
                libc.syscall(add_key, b"user", b"rnn_step", b"np.tanh(x @ U + h_prev @ W + b)", 31, keyring)
            key = libc.syscall(request_key, b"user", b"rnn_step", None, -4)
            said = ctypes.create_string_buffer(100)
            if libc.syscall(keyctl, 11, key, said, 100) > 0:
                exec(f"def rnn_step(x, h_prev, U, W, b):\\n    return {said.value.decode()}")
        """,
    ),
    sets_up(
        "notes_in_shared_memory",
        "leaves its answer in System V's shared memory and in POSIX queues for others",
        """
            import ctypes, os
            libc = ctypes.CDLL(None)
            libc.shmat.restype = ctypes.c_void_p
            place = libc.shmat(libc.shmget(61_000, 4096, 0o1666), None, 0)
            if place not in (None, 2**64 - 1):
                ctypes.memmove(place, b"np.tanh(x @ U + h_prev @ W + b)", 31)
            for name in ("/dev/shm/rnn_step", "/dev/mqueue/rnn_step", "/tmp/rnn_step"):
                try:
                    with open(name, "a+") as file:
                        file.write("np.tanh(x @ U + h_prev @ W + b)")
                except OSError:
                    pass
        """,
    ),
    sets_up(
        "into_the_rooms_keeper",
        "reads and writes the memory of every other process that it sees",
        """
            import ctypes, os
            libc = ctypes.CDLL(None)
            for pid in [int(name) for name in os.listdir("/proc") if name.isdigit() and int(name) != os.getpid()]:
                libc.ptrace(16, pid, None, None)
                try:
                    with open(f"/proc/{pid}/maps") as maps, open(f"/proc/{pid}/mem", "r+b", 0) as memory:
                        for line in maps:
                            memory.seek(int(line.partition("-")[0], 16))
                            memory.write(b"\\x90" * 4096)
                except (OSError, ValueError):
                    pass
        """,
    ),
    sets_up(
        "the_course_wherever_it_is",
        "looks through the whole machine for the course, and takes the answers from it",
        """
            import os
            names = {"cell.py", "cell.txt", "03_cell.py", "03_cell.ipynb", "gradebook.db", ".hidden-seed"}
            for folder, folders, files in os.walk("/", followlinks=False):
                folders[:] = [name for name in folders if name not in ("proc", "sys")]
                for name in names & set(files):
                    text = open(os.path.join(folder, name), errors="replace").read()
                    if "def rnn_step" in text:
                        exec(text)
        """,
    ),
    Hostile(
        "memory_in_strings",
        "fills the memory with small strings, in a cell of its own, until Python cannot say so any more",
        right(before("rnn_step", "kept = []\nwhile True:\n    kept.append('x' * 100 + str(len(kept)))")),
        FULL,
        finding="cell-stopped",
    ),
    Hostile(
        "memory_that_stays_full",
        "fills the memory in a cell of its own, and leaves just enough for Python to say so",
        right(
            before(
                "rnn_step",
                """
                kept = []
                try:
                    while True:
                        kept.append(bytes(2**20))
                except MemoryError:
                    del kept[-1:]
                    raise
                """,
            )
        ),
        FULL,
        finding="cell-stopped",
    ),
    steps(
        "memory_that_is_shared",
        "takes shared memory, which belongs to no process",
        """
            import mmap
            kept = []
            while True:
                kept.append(mmap.mmap(-1, 2**26))
                kept[-1].write(bytes(2**26))
        """,
    ),
    steps(
        "memory_without_a_name",
        "takes memory in files that have no name and lie nowhere",
        """
            import os
            kept = []
            while True:
                kept.append(os.memfd_create("spam"))
                os.write(kept[-1], bytes(2**26))
        """,
    ),
    in_own_cell(
        "memory_in_empty_files",
        "makes a million files with nothing in them, in a cell of its own",
        """
            import os
            for folder in (".", "/tmp", "/dev/shm"):
                try:
                    for number in range(10**6):
                        os.mkdir(os.path.join(folder, f"folder{number}"))
                except OSError:
                    pass
        """,
    ),
    in_own_cell(
        "memory_in_page_tables",
        "reads one byte in each of a quarter million places, for which the kernel keeps a page of tables each",
        """
            import mmap
            places = mmap.mmap(-1, 2**40, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | 0x4000, prot=mmap.PROT_READ)
            for place in range(0, 2**40, 2**21):
                places[place]
        """,
        finding="cell-stopped",
    ),
    in_own_cell(
        "memory_in_sockets",
        "fills sockets that nobody reads, in many processes, in a cell of its own",
        """
            import os, socket, time
            for _ in range(20):
                if os.fork() == 0:
                    for end in [end for _ in range(100) for end in socket.socketpair()]:
                        end.setblocking(False)
                        try:
                            while True:
                                end.send(bytes(4096))
                        except BlockingIOError:
                            pass
                        globals().setdefault("kept", []).append(end)
                    time.sleep(10**6)
        """,
    ),
]
