"""What the kernel says of processes: who started whom, how long they have run and waited, how much memory they have."""

import os
import signal
from contextlib import suppress


def scheduled(path: str) -> tuple[float, float]:
    """For how many seconds a thread has run, and has waited for a processor; none if it is not there any more."""
    try:
        with open(path) as file:
            ran, waited, _ = file.read().split()
    except (OSError, ValueError):
        return 0.0, 0.0
    return int(ran) / 1e9, int(waited) / 1e9


def state(pid: int) -> str | None:
    """The letter of a process's state, as in proc_pid_stat(5); None if it is not there."""
    with suppress(OSError), open(f"/proc/{pid}/stat") as stat:
        return stat.read().rpartition(")")[2].split()[0]
    return None


def number_inside(pid: int) -> int | None:
    """The number that a process has in its own room."""
    with suppress(OSError, StopIteration), open(f"/proc/{pid}/status") as status:
        return int(next(line for line in status if line.startswith("NSpid:")).split()[-1])
    return None


def descendants(roots: list[int]) -> list[int]:
    """These processes and all that they have started, as far as they are there."""
    found, todo = [], [*roots]
    while todo:
        pid = todo.pop()
        try:
            todo += children(pid)
        except (OSError, ValueError):
            continue
        found.append(pid)
    return found


def kill(pid: int) -> None:
    """End a process and all that it has started."""
    for one in descendants([pid]):
        with suppress(OSError):
            os.kill(one, signal.SIGKILL)


def children(pid: int) -> list[int]:
    """What a process has started and is there, in that order for each of its threads. **Errors:** `OSError`."""
    found: list[int] = []
    for task in os.listdir(f"/proc/{pid}/task"):
        with open(f"/proc/{pid}/task/{task}/children") as file:
            found += map(int, file.read().split())
    return found


def proportional(pid: int) -> int:
    """The bytes of memory that a process has, with its share of what it has together with others. Takes a while."""
    try:
        return _sum(f"/proc/{pid}/smaps_rollup", ("Pss_Anon:", "Pss_Shmem:", "SwapPss:")) + _sum(
            f"/proc/{pid}/status", ("VmPTE:",)
        )
    except (OSError, ValueError):
        return resident(pid)


def resident(pid: int) -> int:
    """The bytes of memory that a process has: its own, shared, swapped out, and the kernel's tables of it; not what
    belongs to files on disk.
    """
    try:
        return _sum(f"/proc/{pid}/status", ("RssAnon:", "RssShmem:", "VmSwap:", "VmPTE:"))
    except (OSError, ValueError):
        return 0


def _sum(path: str, names: tuple[str, ...]) -> int:
    """The sum of these lines of a file of the kernel's, which are in kilobytes, in bytes."""
    with open(path) as file:
        return sum(1024 * int(line.split()[1]) for line in file if line.startswith(names))
