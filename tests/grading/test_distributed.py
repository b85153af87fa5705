"""A class graded on Dask's workers, which share no folder with the desk: the same records, even if a worker dies."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner

from rnngrade.bundle import Bundle
from rnngrade.cli import main
from rnngrade.desk import Desk
from rnngrade.run import run
from rnngrade.sample import demo_class
from rnngrade.sandbox.limits import Limits
from rnngrade.worker import CannotGrade, Worker
from tests.waiting import PATIENCE, until

UNIT = "03_cell"
SEED = "7"
SIZE = 10


def start(folder: Path, part: str, *options: str) -> subprocess.Popen[bytes]:
    """A part of a cluster, in a folder of its own and a session of its own."""
    scratch = folder / "tmp"
    scratch.mkdir(parents=True)
    with (folder / "log").open("wb") as log:
        return subprocess.Popen(
            [sys.executable, "-m", f"distributed.cli.dask_{part}", *options],
            cwd=folder,
            env={**os.environ, "TMPDIR": str(scratch), "OMP_NUM_THREADS": "1"},
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )


def stop(process: subprocess.Popen[bytes]) -> None:
    """End a part and all that it has started in its session: a worker's nanny, and the worker."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def address_of(scheduler: subprocess.Popen[bytes], file: Path) -> str:
    """The address of a scheduler: it writes that down when it listens."""
    log = file.parent / "log"
    until(lambda: scheduler.poll() is not None or _is_whole(file), log.read_text)
    assert scheduler.poll() is None, log.read_text()
    return str(json.loads(file.read_text())["address"])


def _is_whole(file: Path) -> bool:
    try:
        return "address" in json.loads(file.read_text())
    except (OSError, ValueError):
        return False


class Cluster:
    """A scheduler and two workers."""

    def __init__(self, folder: Path) -> None:
        file = folder / "scheduler" / "scheduler.json"
        self.processes = [
            start(
                file.parent,
                "scheduler",
                *("--host", "127.0.0.1", "--port", "0", "--no-dashboard", "--scheduler-file", str(file)),
            )
        ]
        try:
            self.address = address_of(self.processes[0], file)
            settings = ("--nthreads", "1", "--no-dashboard", "--death-timeout", str(PATIENCE), "--memory-limit", "0")
            self.processes += [start(folder / name, "worker", self.address, *settings) for name in ("one", "two")]
            self.wait_for_workers()
        except BaseException:
            self.close()
            raise

    def wait_for_workers(self) -> None:
        from dask.distributed import Client

        with Client(self.address, set_as_default=False, timeout=PATIENCE) as client:
            client.wait_for_workers(2, timeout=PATIENCE)

    def kill_a_worker(self) -> None:
        """Kill one of the workers, as when its machine goes down."""
        stop(self.processes.pop())

    def close(self) -> None:
        for process in self.processes:
            stop(process)


@pytest.fixture
def cluster(tmp_path):
    made = Cluster(tmp_path)
    yield made
    made.close()


@pytest.fixture
def desk(root, tmp_path):
    desk = Desk(root, tmp_path / "desk")
    desk.open()
    for one in demo_class(UNIT, SIZE):
        one.write(root, desk.submitted)
    return desk


@pytest.fixture(scope="module")
def bundle(root):
    return Bundle.make(root, UNIT)


@pytest.fixture(scope="module")
def expected(root, bundle, tmp_path_factory):
    """What grading gives in a process of its own, where nobody checks the textbook's annotations."""
    submitted = tmp_path_factory.mktemp("expected")
    with Worker(bundle, Limits(), SEED) as worker:
        return {
            one.student: worker.grade(one.student, one.write(root, submitted).read_bytes()).record.content()
            for one in demo_class(UNIT, SIZE)
        }


def test_a_class_gets_the_same_records_even_if_a_worker_is_killed(cluster, desk, bundle, expected):
    told = []

    def advance(record, done, total):
        told.append(done)
        if done == 2:
            cluster.kill_a_worker()

    done = run(desk, bundle, scheduler=cluster.address, seed=SEED, advance=advance)
    assert told == list(range(1, SIZE + 1)), "each submission came back once"
    assert len(cluster.processes) == 2
    assert {record.student: record.content() for record in done.graded} == expected
    assert {record.student: record.content() for record in desk.graded(UNIT)} == expected

    again = run(desk, bundle, scheduler=cluster.address, seed=SEED)
    assert again.graded == []

    other = replace(bundle, versions=(*bundle.versions[:-1], ("environment", "another")))
    with pytest.raises(CannotGrade, match="This worker's environment differs from the desk's"):
        run(desk, other, scheduler=cluster.address, seed=SEED)
    assert {record.student: record.content() for record in desk.graded(UNIT)} == expected


def test_a_scheduler_that_goes_away_ends_the_run_and_what_is_graded_stays(cluster, desk, bundle, expected):
    def advance(record, done, total):
        cluster.close()

    with pytest.raises(CannotGrade, match="is gone"):
        run(desk, bundle, scheduler=cluster.address, seed=SEED, advance=advance)
    kept = {record.student: record.content() for record in desk.graded(UNIT)}
    assert kept
    assert kept.items() <= expected.items()


@pytest.mark.parametrize("address", ["tcp://{}", "{}", "nonsense://{}", "tcp://", "tcp://127.0.0.1"])
def test_a_scheduler_that_is_not_there_is_one_sentence(address, deserted, desk, bundle):
    where = address.format(deserted)
    with pytest.raises(CannotGrade, match=f"^No Dask scheduler answers at {re.escape(where)} .*: is it running\\?$"):
        run(desk, bundle, scheduler=where)
    assert list(desk.graded(UNIT)) == []


def test_the_command_line_says_it_without_a_traceback(deserted, desk):
    done = CliRunner().invoke(main, ["--desk", str(desk.folder), "run", UNIT, "--scheduler", f"tcp://{deserted}"])
    assert done.exit_code == 1
    assert done.output.strip().splitlines()[-1].startswith(f"No Dask scheduler answers at tcp://{deserted}")
    assert "Traceback" not in done.output
