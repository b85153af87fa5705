"""A class graded on Dask's workers, which share no folder with the desk: the same records, even if a worker dies.

A small class on a local cluster is graded in every run of the tests, all else in `make nightly`.
"""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import dask
import distributed  # noqa: F401  # which puts its defaults among Dask's settings
import pytest

from rnngrade.core.desk import Desk
from rnngrade.core.errors import DeskError
from rnngrade.demo.sample import demo_class
from rnngrade.grading.bundle import Bundle, Settings
from rnngrade.grading.run import run
from rnngrade.grading.worker import Worker
from rnngrade.sandbox.limits import Limits
from tests.sampling import ALL
from tests.waiting import PATIENCE, until

UNIT = "02_unfolding"
SEED = "7"
SIZE = 10 if ALL else 4


def start(folder: Path, part: str, *options: str) -> subprocess.Popen[bytes]:
    """A part of a cluster, in a folder and a session of its own. It reads Dask's settings as the test has them."""
    scratch = folder / "tmp"
    scratch.mkdir(parents=True)
    settings = dask.config.serialize(dask.config.config)
    with (folder / "log").open("wb") as log:
        return subprocess.Popen(
            [sys.executable, "-m", f"distributed.cli.dask_{part}", *options],
            cwd=folder,
            env={
                **os.environ,
                "TMPDIR": str(scratch),
                "OMP_NUM_THREADS": "1",
                "DASK_INTERNAL_INHERIT_CONFIG": settings,
            },
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
    """A scheduler on this machine and two workers."""

    def __init__(self, folder: Path, protocol: str = "tcp") -> None:
        file = folder / "scheduler" / "scheduler.json"
        self.processes = [
            start(
                file.parent,
                "scheduler",
                *("--host", "127.0.0.1", "--port", "0", "--protocol", protocol, "--no-dashboard"),
                *("--scheduler-file", str(file)),
            )
        ]
        try:
            self.address = address_of(self.processes[0], file)
            settings = ("--nthreads", "1", "--no-dashboard", "--death-timeout", str(PATIENCE), "--memory-limit", "0")
            self.processes += [start(folder / f"worker{i}", "worker", self.address, *settings) for i in range(2)]
            self._wait_for_workers()
        except BaseException:
            self.close()
            raise

    def _wait_for_workers(self) -> None:
        from dask.distributed import Client

        with Client(self.address, set_as_default=False, timeout=PATIENCE) as client:
            client.wait_for_workers(len(self.processes) - 1, timeout=PATIENCE)

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


@pytest.fixture(scope="module")
def bundle(root):
    return Bundle.make(root, UNIT)


@pytest.fixture
def desk(root, tmp_path):
    desk = Desk(root, tmp_path / "desk")
    desk.open()
    for one in demo_class(UNIT, SIZE):
        one.write(root, desk.submitted)
    return desk


@pytest.fixture(scope="module")
def expected(root, bundle, tmp_path_factory):
    """What grading gives in a process of its own, where nobody checks the textbook's annotations."""
    submitted = tmp_path_factory.mktemp("expected")
    with Worker(Settings(bundle, Limits(), SEED)) as worker:
        return {
            one.student: worker.grade(one.student, one.write(root, submitted).read_bytes()).record.content()
            for one in demo_class(UNIT, SIZE)
        }


def test_a_class_gets_the_same_records_even_if_a_worker_is_killed(cluster, desk, bundle, expected):
    told = []

    def advance(record, done, total):
        told.append(done)
        if done == 1:
            cluster.kill_a_worker()

    done = run(desk, bundle, scheduler=cluster.address, seed=SEED, advance=advance)
    assert told == list(range(1, SIZE + 1)), "each submission came back once"
    assert len(cluster.processes) == 2
    assert {record.student: record.content() for record in done.graded} == expected
    assert {record.student: record.content() for record in desk.graded(UNIT)} == expected

    again = run(desk, bundle, scheduler=cluster.address, seed=SEED)
    assert again.graded == []

    other = replace(bundle, versions=(*bundle.versions[:-1], ("environment", "another")))
    with pytest.raises(DeskError, match="This worker's environment differs from the desk's"):
        run(desk, other, scheduler=cluster.address, seed=SEED)
    assert {record.student: record.content() for record in desk.graded(UNIT)} == expected


@pytest.mark.nightly
def test_a_scheduler_that_goes_away_ends_the_run_and_what_is_graded_stays(cluster, desk, bundle, expected):
    def advance(record, done, total):
        cluster.close()

    with pytest.raises(DeskError, match="is gone"):
        run(desk, bundle, scheduler=cluster.address, seed=SEED, advance=advance)
    kept = {record.student: record.content() for record in desk.graded(UNIT)}
    assert kept
    assert kept.items() <= expected.items()


# --- through TLS


def certificates(folder: Path, *names: str) -> dict[str, str]:
    """A certificate authority and certificates of its; Dask's settings that say so, by part of a cluster."""
    folder.mkdir()

    def openssl(*arguments: str) -> None:
        subprocess.run(["openssl", *arguments], cwd=folder, check=True, capture_output=True)

    key = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes")
    openssl("req", "-x509", *key, "-keyout", "ca.key", "-out", "ca.pem", "-days", "2", "-subj", "/CN=course")
    settings = {"distributed.comm.tls.ca-file": str(folder / "ca.pem")}
    for name in names:
        openssl("req", *key, "-keyout", f"{name}.key", "-out", f"{name}.csr", "-subj", f"/CN={name}")
        signed = ("-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial", "-days", "2")
        openssl("x509", "-req", "-in", f"{name}.csr", *signed, "-out", f"{name}.pem")
        settings[f"distributed.comm.tls.{name}.cert"] = str(folder / f"{name}.pem")
        settings[f"distributed.comm.tls.{name}.key"] = str(folder / f"{name}.key")
    return settings


@pytest.fixture(scope="module")
def certified(tmp_path_factory) -> dict[str, str]:
    """Dask's settings for TLS, with certificates made for this."""
    if shutil.which("openssl") is None:
        pytest.skip("openssl is not installed: apt-get install openssl")
    return certificates(tmp_path_factory.mktemp("tls") / "own", "scheduler", "worker", "client")


@pytest.fixture
def protected(certified, tmp_path):
    with dask.config.set(certified):
        made = Cluster(tmp_path, "tls")
    yield made
    made.close()


@pytest.mark.nightly
def test_through_tls_a_class_gets_the_same_records_and_nobody_without_a_certificate_gets_in(
    protected, certified, desk, bundle, expected, tmp_path
):
    assert protected.address.startswith("tls://")
    plain = protected.address.replace("tls://", "tcp://")
    others = certificates(tmp_path / "others", "client")
    refused = [
        (protected.address, {}, "^The desk has no certificate for tls://"),
        (protected.address, others, "No Dask scheduler answers"),
        (plain, certified, "No Dask scheduler answers"),
    ]
    for address, settings, words in refused:
        with dask.config.set(settings), pytest.raises(DeskError, match=words) as told:
            run(desk, bundle, scheduler=address, seed=SEED)
        assert address in str(told.value)
        assert len(str(told.value).splitlines()) == 1
    assert list(desk.graded(UNIT)) == []
    with dask.config.set(certified):
        done = run(desk, bundle, scheduler=protected.address, seed=SEED)
    assert {record.student: record.content() for record in done.graded} == expected


@pytest.mark.parametrize("address", ["tcp://{}", "{}", "nonsense://{}", "tcp://", "tcp://127.0.0.1"])
def test_a_scheduler_that_is_not_there_is_one_sentence(address, deserted, desk, bundle):
    where = address.format(deserted)
    with pytest.raises(DeskError, match=f"^No Dask scheduler answers at {re.escape(where)} .*: is it running\\?$"):
        run(desk, bundle, scheduler=where)
    assert list(desk.graded(UNIT)) == []


def test_without_dask_one_sentence_says_what_to_install(desk, bundle, monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)  # as if it were not installed
    with pytest.raises(DeskError) as told:
        run(desk, bundle, scheduler="tcp://127.0.0.1:1")
    assert str(told.value) == "Dask is not installed: run 'pip install \".[distributed]\"' in the course's folder."
