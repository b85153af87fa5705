"""Grading on Dask's workers: the same tasks, sent as bytes to machines that share no disk with the desk.

    dask scheduler                                          on one machine
    dask worker tcp://…:8786 --nworkers 2 --nthreads 1      on each that grades, with the course installed
    rnngrade run 03_cell --scheduler tcp://…:8786           at the desk

A worker that dies costs nothing: Dask gives its tasks to another.

Whoever reaches a scheduler's or a worker's port can run programs there and read what students handed in. So these ports
must be protected: let only these machines reach them, or use TLS, with certificates that you hand out. Dask's own
settings name them, on every machine (`~/.config/dask/tls.yaml`, or environment variables), and the addresses begin with
tls:// then:

    distributed:
      comm:
        require-encryption: true
        tls:
          ca-file: course-ca.pem
          scheduler: {cert: own.pem, key: own.key}
          worker: {cert: own.pem, key: own.key}
          client: {cert: own.pem, key: own.key}

    dask scheduler --protocol tls
    dask worker tls://…:8786 --nworkers 2 --nthreads 1
    rnngrade run 03_cell --scheduler tls://…:8786
"""

import atexit
import gc
import logging
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path

from rnngrade.core.errors import DeskError
from rnngrade.grading.bundle import Graded, Grader, Settings
from rnngrade.grading.worker import Worker

CONNECT_SECONDS = 15

_own = threading.local()
_workers: list[Worker] = []


@contextmanager
def distributed(scheduler: str, settings: Settings) -> Iterator[Grader]:
    """A grader that uses the workers of the scheduler at this address. **Errors:** `DeskError`."""
    if find_spec("distributed") is None:
        raise DeskError("Dask is not installed: run 'pip install \".[distributed]\"' in the course's folder.")
    from distributed import Client, as_completed
    from distributed.comm.addressing import get_address_host_port

    logging.getLogger("distributed.client").setLevel(logging.CRITICAL)  # what goes wrong is said here, in a sentence
    refused = ""
    try:
        # Dask goes on trying for as long as it may; nobody is there, if nobody is there now.
        socket.create_connection(get_address_host_port(scheduler), CONNECT_SECONDS).close()
        client = Client(scheduler, timeout=CONNECT_SECONDS, set_as_default=False)
    except TypeError:  # Dask's word for settings without a certificate
        refused = (
            f"The desk has no certificate for {scheduler}: set ca-file and client below distributed.comm.tls in Dask's "
            "configuration here."
        )
    except (OSError, ValueError) as error:
        refused = f"No Dask scheduler answers at {scheduler} ({error}): is it running?"
    if refused:
        gc.collect()  # of a client that is half made: later, it would stand in the next one's way
        raise DeskError(refused)

    def graded(todo: dict[str, Path]) -> Iterator[Graded]:
        # A task, not scattered data, which would be lost with the worker that has it.
        shared = client.submit(_same, settings, pure=False)
        futures = [
            client.submit(grade_here, shared, student, path.read_bytes(), pure=False) for student, path in todo.items()
        ]
        for _, result in as_completed(futures, loop=client.loop, with_results=True):
            if not isinstance(result, Graded):  # what was asked for was called off
                words = "what has been graded is kept, and the next run goes on from there"
                raise DeskError(f"The Dask scheduler at {scheduler} is gone: {words}.")
            yield result

    with client:
        yield graded


def _same(settings: Settings) -> Settings:
    """The task by which each worker gets them, and the bundle with them, once, from the scheduler or another worker."""
    return settings


def grade_here(settings: Settings, student: str, submission: bytes) -> Graded:
    """The task: grade one submission on this worker, in a grading process that its thread keeps."""
    worker: Worker | None = getattr(_own, "worker", None)
    if worker is None or worker.settings != settings:
        if worker is not None:
            worker.close()
        worker = _own.worker = Worker(settings)
        _workers.append(worker)
    return worker.grade(student, submission)


@atexit.register
def _close() -> None:
    for worker in _workers:
        worker.close()
