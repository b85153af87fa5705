"""What nobody in a room may ask the kernel for: a seccomp filter, as the kernel's BPF reads it.

Five kinds of system calls are stopped, with "operation not permitted". No honest answer needs them, and Python, NumPy,
PyTorch and IPython run without them:

- keyrings: the kernel keeps what is put there by user, not by process, so that it could outlive a room;
- memory that belongs to no process and to no file of limited size: memfds, System V's shared memory, queues and
  semaphores, POSIX queues, and shared anonymous memory, `mmap` with MAP_SHARED | MAP_ANONYMOUS;
- sockets of other families than Unix's and the internet's, of which the kernel has dozens, such as a virtual machine's;
- what one process can do to another: tracing it, reading and writing its memory, taking its files;
- the kernel's own machinery, in which its holes were: bpf, perf, io_uring, userfaultfd, namespaces and mounts.

A process that speaks another architecture's language (32-bit calls, x32), in which the numbers are others, is ended.
Source: Documentation/userspace-api/seccomp_filter.rst of Linux; numbers from its asm/unistd.h.
"""

import platform
import struct
from dataclasses import dataclass

X32 = 0x4000_0000  # the bit that marks calls of x32, which the same processor and AUDIT_ARCH would take
EPERM = 1

# BPF: class | size or operation | source
LOAD, EQUAL, AT_LEAST, AND, RETURN = 0x20, 0x15, 0x35, 0x54, 0x06
NUMBER, ARCHITECTURE, FIRST_ARGUMENT, FOURTH_ARGUMENT = 0, 4, 16, 16 + 3 * 8  # where they lie in struct seccomp_data
KILL, REFUSE, ALLOW = 0x8000_0000, 0x0005_0000 | EPERM, 0x7FFF_0000
MAP_SHARED, MAP_ANONYMOUS = 0x01, 0x20
FAMILIES = (1, 2, 10)  # AF_UNIX, AF_INET, AF_INET6


@dataclass(frozen=True)
class Machine:
    """An architecture: what the kernel calls it, the numbers of its `mmap`, its `socket` and of what is stopped."""

    audit: int
    mmap: int
    socket: int
    numbers: tuple[int, ...]


# Each with its number on x86_64 and on aarch64.
# fmt: off
STOPPED = {
    "add_key": (248, 217), "request_key": (249, 218), "keyctl": (250, 219),
    "memfd_create": (319, 279), "memfd_secret": (447, 447), "shmget": (29, 194), "shmat": (30, 196),
    "shmctl": (31, 195), "shmdt": (67, 197),
    "msgget": (68, 186), "msgsnd": (69, 189), "msgrcv": (70, 188), "msgctl": (71, 187), "semget": (64, 190),
    "semop": (65, 193), "semtimedop": (220, 192), "semctl": (66, 191),
    "mq_open": (240, 180), "mq_unlink": (241, 181), "mq_timedsend": (242, 182), "mq_timedreceive": (243, 183),
    "mq_notify": (244, 184), "mq_getsetattr": (245, 185),
    "ptrace": (101, 117), "process_vm_readv": (310, 270), "process_vm_writev": (311, 271),
    "process_madvise": (440, 440), "process_mrelease": (448, 448), "pidfd_getfd": (438, 438), "kcmp": (312, 272),
    "bpf": (321, 280), "perf_event_open": (298, 241), "io_uring_setup": (425, 425), "io_uring_enter": (426, 426),
    "io_uring_register": (427, 427), "userfaultfd": (323, 282), "fanotify_init": (300, 262),
    "name_to_handle_at": (303, 264), "open_by_handle_at": (304, 265),
    "unshare": (272, 97), "setns": (308, 268), "chroot": (161, 51), "pivot_root": (155, 41), "mount": (165, 40),
    "umount2": (166, 39), "fsopen": (430, 430), "fsconfig": (431, 431), "fsmount": (432, 432), "fspick": (433, 433),
    "open_tree": (428, 428), "move_mount": (429, 429), "mount_setattr": (442, 442),
}
# fmt: on
MACHINES = {
    "x86_64": Machine(0xC000_003E, 9, 41, tuple(x86 for x86, _ in STOPPED.values())),
    "aarch64": Machine(0xC000_00B7, 222, 198, tuple(arm for _, arm in STOPPED.values())),
}


def program(machine: str | None = None) -> bytes | None:
    """The filter for a machine, "x86_64" or "aarch64", by default this one; None for one that is not known here."""
    known = MACHINES.get(machine or platform.machine())
    if known is None:
        return None
    # An instruction says what is done, how many of the following are skipped if it holds and if not, and a value.
    guard = [(LOAD, 0, 0, ARCHITECTURE), (EQUAL, 1, 0, known.audit), (RETURN, 0, 0, KILL), (LOAD, 0, 0, NUMBER)]
    if known is MACHINES["x86_64"]:
        guard += [(AT_LEAST, 0, 1, X32), (RETURN, 0, 0, KILL)]
    after, number = len(known.numbers), len(FAMILIES)  # then comes what allows, and then what refuses
    sockets = [
        (EQUAL, 0, number + 1, known.socket),
        (LOAD, 0, 0, FIRST_ARGUMENT),
        *((EQUAL, after + number - 1 - i, 0, family) for i, family in enumerate(FAMILIES[:-1])),
        (EQUAL, after, after + 1, FAMILIES[-1]),
    ]
    mapping = [
        (EQUAL, 0, 3, known.mmap),
        (LOAD, 0, 0, FOURTH_ARGUMENT),
        (AND, 0, 0, MAP_SHARED | MAP_ANONYMOUS),
        (EQUAL, len(sockets) + after + 1, len(sockets) + after, MAP_SHARED | MAP_ANONYMOUS),
    ]
    calls = [(EQUAL, len(known.numbers) - i, 0, number) for i, number in enumerate(known.numbers)]
    ends = [(RETURN, 0, 0, ALLOW), (RETURN, 0, 0, REFUSE)]
    return b"".join(struct.pack("=HBBI", *one) for one in [*guard, *mapping, *sockets, *calls, *ends])
