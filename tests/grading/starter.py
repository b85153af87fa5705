"""Runs the desk's command line again and again, kills it when it is told to, and waits for all that it has started.

    python -m tests.grading.starter LOG

Each line of stdin is [ARGUMENTS, SECONDS]: a run, and after which time it is killed (null: never). The answer is its
exit code, said when nothing of it is left. This process has imported the command line and forks for each run, which
spares an import of seconds.
"""

import json
import os
import signal
import sys

import psutil

import rnngrade.gradebook.book
import rnngrade.grading.bundle
import rnngrade.grading.run  # noqa: F401  (what a run imports when it begins)
from rnngrade.cli import main as rnngrade_main
from tests.reaper import adopt, bury, wait_for
from tests.waiting import PATIENCE


def run(arguments: list[str], seconds: float | None, log: str) -> int:
    """The exit code of one run."""
    child = os.fork()
    if child == 0:
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        said = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        os.dup2(said, 1)
        os.dup2(said, 2)
        rnngrade_main(arguments)
    signal.signal(signal.SIGALRM, lambda *_: os.kill(child, signal.SIGKILL))
    signal.setitimer(signal.ITIMER_REAL, seconds or 0)
    wait_for(child)
    signal.signal(signal.SIGALRM, tell_who_is_left)
    signal.setitimer(signal.ITIMER_REAL, PATIENCE)
    code = bury()[child]
    signal.setitimer(signal.ITIMER_REAL, 0)
    return code


def tell_who_is_left(*_: object) -> None:
    raise TimeoutError(f"still there: {psutil.Process().children(recursive=True)}")


if __name__ == "__main__":
    adopt()
    for line in sys.stdin:
        print(run(*json.loads(line), sys.argv[1]), flush=True)
