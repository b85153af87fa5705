"""Grades one submission again and again, and kills somebody who takes part in it, at a given moment.

    python -m tests.grading.starts FOLDER

FOLDER has a bundle and a submission, pickled, in `work`. Each line of stdin is [NUMBER, SECONDS]: after which time who
is killed, the desk's process or whom it has started, counted in the order in which they were (null: nobody). The answer
is [SECONDS, COMMAND]: how long the desk's process was there, and which program was killed; it is said when nothing is
left of all that was started. This process has imported what is needed and forks for each.
"""

import json
import os
import pickle
import signal
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path

import psutil

from rnngrade.core.errors import DeskError
from rnngrade.grading.bundle import Settings
from rnngrade.grading.worker import Worker
from tests.grading.starter import tell_who_is_left
from tests.reaper import adopt, bury, wait_for
from tests.waiting import PATIENCE


def start(bundle: object, submission: bytes, limits: object, number: int, seconds: float | None) -> tuple[float, str]:
    """One that is killed, unless `seconds` is None."""
    began = time.monotonic()
    killed = ""
    child = os.fork()
    if child == 0:
        signal.alarm(0)
        with suppress(DeskError), Worker(Settings(bundle, limits, "7")) as worker:
            worker.grade("ada", submission)
        os._exit(0)

    def kill() -> None:
        nonlocal killed
        with suppress(psutil.Error):
            desk = psutil.Process(child)
            there = [desk, *desk.children(recursive=True)]
            victim = there[number % len(there)]
            killed = victim.name()
            victim.kill()

    timer = threading.Timer(seconds or 0, kill)
    if seconds is not None:
        timer.start()
    wait_for(child)
    timer.cancel()
    took = time.monotonic() - began
    signal.signal(signal.SIGALRM, tell_who_is_left)
    signal.setitimer(signal.ITIMER_REAL, PATIENCE)
    bury()
    signal.setitimer(signal.ITIMER_REAL, 0)
    return took, killed


if __name__ == "__main__":
    adopt()
    work = pickle.loads((Path(sys.argv[1]) / "work").read_bytes())
    for line in sys.stdin:
        print(json.dumps(start(*work, *json.loads(line))), flush=True)
