"""A run: all submissions of a unit that have no record yet, or a stale one, graded in parallel.

Submissions are graded by processes on this machine or, with a scheduler's address, by Dask's workers, which get and
give bytes and need no disk of the desk's. Records are written down as they come, so a run that is killed goes on where
it stopped. The gradebook has one writer, this process, and is brought in step with all records.
"""

import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from rnngrade.core.desk import Desk
from rnngrade.core.errors import Failures
from rnngrade.core.record import Record
from rnngrade.grading.bundle import Bundle, Graded, Grader, Settings
from rnngrade.grading.worker import Graders, Worker
from rnngrade.sandbox import bubblewrap, view
from rnngrade.sandbox.limits import Limits


@dataclass
class Run:
    """What a run did: records by what became of them. `graded` came new, `kept` were there."""

    unit: str
    graded: list[Record] = field(default_factory=list)
    kept: list[Record] = field(default_factory=list)
    not_limited: list[str] = field(default_factory=list)  # what rooms are not kept from here, in sentences

    @property
    def records(self) -> list[Record]:
        """All records of the unit, by student."""
        return sorted([*self.graded, *self.kept], key=lambda record: record.student)


def run(
    desk: Desk,
    bundle: Bundle,
    *,
    jobs: int = 2,
    scheduler: str | None = None,
    seed: str = "",
    limits: Limits | None = None,
    sandboxed: bool = True,
    students: Iterable[str] | None = None,
    force: bool = False,
    prepare: Callable[[], None] = lambda: None,
    enter: Callable[[Record], None] = lambda record: None,
    advance: Callable[[Record, int, int], None] = lambda record, done, total: None,
    failures: Failures | None = None,
    graders: Graders | None = None,
) -> Run:
    """Grade what is new or stale of a unit; each record, new or kept, is told to `enter`, which keeps the gradebook.
    `prepare` is called before, while the first submissions are being graded.

    `graders` have been started before, and serve several units. `students` limits the run to some; `force` grades what
    has a record as well. After each submission `advance` is told its record, and how many of how many are done. Whose
    submission cannot be read, or whose record cannot be kept or entered, is put into `failures`. **Errors:**
    `DeskError`; without `failures`, one that names who is in it, after all others are done.
    """
    limits, told = limits or Limits(), failures or Failures()
    found = desk.submissions(bundle.unit)
    if students is not None:
        wanted = set(students)
        found = {student: path for student, path in found.items() if student in wanted}
    else:
        for student, why in desk.passed_over(bundle.unit):
            told.add(student, bundle.unit, why)
    result, todo = Run(bundle.unit), {}
    for student, path in found.items():
        with told.of(student, bundle.unit):
            kept = desk.record(bundle.unit, student)
            key = bundle.key(path.read_bytes(), seed, limits)
            if kept is None or kept.key != key or force or not desk.executed_path(bundle.unit, student).is_file():
                todo[student] = path
            else:
                result.kept.append(kept)
    gone = [r for r in desk.graded(bundle.unit) if r.student not in found] if students is None else []

    def begin() -> None:
        prepare()
        for record in (*result.kept, *gone):  # whose submission is gone keeps what they got
            with told.of(record.student, record.unit):
                enter(record)

    if not todo:
        begin()
    else:
        view.hide(desk.folder, desk.root)
        if sandboxed and scheduler is None:
            bubblewrap.require()
            result.not_limited = bubblewrap.not_limited()
        settings = Settings(bundle, limits, seed, sandboxed)
        with _grader(scheduler, graders, settings, min(jobs, len(todo))) as graded:
            results = graded(todo)
            begin()
            for done, one in enumerate(results, start=1):
                with told.of(one.record.student, bundle.unit):
                    desk.keep(one.record, one.notebook)
                    result.graded.append(one.record)
                    enter(one.record)
                advance(one.record, done, len(todo))
    if failures is None:
        told.end()
    return result


@contextmanager
def _grader(scheduler: str | None, graders: Graders | None, settings: Settings, jobs: int) -> Iterator[Grader]:
    """What grades: Dask's workers if there is a scheduler, or processes on this machine."""
    with ExitStack() as stack:
        if scheduler is not None:
            from rnngrade.grading.distributed import distributed

            yield stack.enter_context(distributed(scheduler, settings))
        else:
            yield stack.enter_context(_local(graders or stack.enter_context(Graders()), settings, jobs))


@contextmanager
def _local(graders: Graders, settings: Settings, jobs: int) -> Iterator[Grader]:
    """Grading processes on this machine."""
    own = threading.local()
    workers: list[Worker] = []

    def start() -> None:
        own.worker = Worker(settings, graders)
        workers.append(own.worker)

    def one(student: str, path: Path) -> Graded:
        worker: Worker = own.worker
        return worker.grade(student, path.read_bytes())

    pool = ThreadPoolExecutor(jobs, initializer=start, thread_name_prefix="rnngrade")

    def graded(todo: dict[str, Path]) -> Iterator[Graded]:
        # They begin now; nobody else holds on to a future, which has a whole notebook.
        futures = as_completed([pool.submit(one, student, path) for student, path in todo.items()])
        return (future.result() for future in futures)

    try:
        yield graded
    finally:
        pool.shutdown(wait=False, cancel_futures=True)  # first, or a thread would start its worker again
        for worker in workers:
            worker.close()
