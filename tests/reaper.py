"""A process that ends when nothing is left of all that it started, and so needs no list of the machine's processes.

    python reaper.py COMMAND …

It runs the command, hands SIGTERM on to it, and ends as it did. Linux gives to such a process (a "subreaper") whatever
loses its parent below it: when it has no children any more, there are none of theirs either.
"""

import ctypes
import os
import signal
import sys
from contextlib import suppress

PR_SET_PDEATHSIG = 1
PR_SET_CHILD_SUBREAPER = 36

libc = ctypes.CDLL(None, use_errno=True)


def adopt() -> None:
    """From now on, what loses its parent below this process is a child of it."""
    assert libc.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0, os.strerror(ctypes.get_errno())


def wait_for(child: int) -> None:
    """Wait until a child has ended. It keeps its number until it is buried."""
    os.waitid(os.P_PID, child, os.WEXITED | os.WNOWAIT)


def bury() -> dict[int, int]:
    """Wait until no child is left, own or adopted; returns the exit codes by process number."""
    codes = {}
    with suppress(ChildProcessError):
        while True:
            child, status = os.wait()
            codes[child] = os.waitstatus_to_exitcode(status)
    return codes


def main(command: list[str]) -> int:
    """Run a command, and see all of it off."""
    adopt()
    child = os.fork()
    if child == 0:
        libc.prctl(PR_SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0)
        os.execvp(command[0], command)
    signal.signal(signal.SIGTERM, lambda *_: os.kill(child, signal.SIGTERM))
    wait_for(child)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    return bury()[child]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
