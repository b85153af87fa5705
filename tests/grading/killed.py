"""Put records into a gradebook while being killed with SIGKILL, once after each step of a put.

    python killed.py ROOT FOLDER DB_URL WORK.json EVERY

WORK.json holds, for a submission that is put and for its regrade, a record and a notebook. Each step is met by a
student of its own, killed_001, killed_002 and so on: what the database did, and each renaming of a file. After each
death, the same is put again. Ends when a put has no such step any more, and prints how often it was killed.
"""

import json
import os
import signal
import sys
from dataclasses import replace
from pathlib import Path

from sqlalchemy import event
from sqlalchemy.engine import Engine

from rnngrade.core.desk import Desk
from rnngrade.core.record import Record, read_json
from rnngrade.gradebook.book import GradebookWriter

steps = 0
deadly = 0


def step(*_: object) -> None:
    """Count what was done, and die of it if it is time."""
    global steps
    steps += 1
    if steps == deadly:
        os.kill(os.getpid(), signal.SIGKILL)


def rename(path: Path, target: Path, replace=Path.replace) -> Path:
    step()
    moved = replace(path, target)
    step()
    return moved


def survives(desk: Desk, record: Record, notebook: bytes, at: int) -> bool:
    """Put in a process of its own, which is killed at a step; say whether there was no such step."""
    global deadly
    child = os.fork()
    if child == 0:
        with GradebookWriter(desk) as gradebook:
            for name in ("after_cursor_execute", "commit"):
                event.listen(Engine, name, step)
            Path.replace = rename
            deadly = at
            gradebook.put(record, notebook)
        os._exit(0)
    _, status = os.waitpid(child, 0)
    assert status in (0, signal.SIGKILL), status
    return status == 0


def main(root: str, folder: str, db_url: str, work: str, every: str) -> None:
    desk = Desk(Path(root), Path(folder), db_url)
    puts = [(read_json(record, Record), notebook.encode()) for record, notebook in json.loads(Path(work).read_text())]
    kills = 0
    alive: set[int] = set()
    at = 0
    while len(alive) < len(puts):
        at += int(every)
        for number, (record, notebook) in enumerate(puts):
            record = replace(record, student=f"killed_{at:03}")
            if survives(desk, record, notebook, at):
                alive.add(number)
            else:
                kills += 1
                with GradebookWriter(desk) as gradebook:
                    gradebook.put(record, notebook)
    print(kills)


if __name__ == "__main__":
    main(*sys.argv[1:])
