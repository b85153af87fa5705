"""A run: it goes on where it was killed, grades what is new or stale and nothing else, and enters it once."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
import tracemalloc
import warnings
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest

from rnncourse import exercises
from rnngrade.core.desk import Desk
from rnngrade.core.errors import DeskError, Failures
from rnngrade.core.record import JUDGED, ExerciseResult, Record
from rnngrade.demo.sample import demo_class
from rnngrade.gradebook.book import GradebookWriter
from rnngrade.grading import run as running
from rnngrade.grading import worker
from rnngrade.grading.bundle import Graded, Settings
from rnngrade.grading.run import run
from rnngrade.grading.worker import Graders
from tests.grading.made import rnngrade
from tests.sampling import SEED

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # nbgrader is imported, not judged
    from nbgrader.api import Gradebook

UNIT = "03_cell"
KILLS = 12
SETTINGS = ["run", UNIT, "--seed", "7", "--jobs", "2"]


class Starter:
    """Does runs of the command line on a desk, one at a time, in a process that knows when nothing of one is left."""

    def __init__(self, root: Path, folder: Path) -> None:
        self.scratch = folder / "tmp"
        self.scratch.mkdir()
        self.log = folder / "log"
        places = os.pathsep.join(filter(None, [str(root), os.environ.get("PYTHONPATH")]))
        environment = {**os.environ, "PYTHONPATH": places, "TMPDIR": str(self.scratch), "OMP_NUM_THREADS": "1"}
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tests.grading.starter", str(self.log)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=environment,
            text=True,
        )

    def run(self, desk: Desk, kill_after: float | None = None) -> int:
        """The exit code of a run, which is killed after so many seconds; nothing that it started is there any more."""
        assert self.process.stdin
        assert self.process.stdout
        self.process.stdin.write(json.dumps([["--desk", str(desk.folder), *SETTINGS], kill_after]) + "\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline()
        assert answer, "something outlives the desk, or the starter has stopped: see stderr"
        return int(answer)

    def close(self) -> None:
        self.process.communicate()


@pytest.fixture
def starter(root, tmp_path):
    made = Starter(root, tmp_path)
    yield made
    made.close()


@pytest.fixture(scope="module")
def handed_in(root, tmp_path_factory) -> Path:
    """The folder of a class that nobody has graded."""
    desk = Desk(root, tmp_path_factory.mktemp("class") / "desk")
    desk.open()
    for one in demo_class(UNIT, 8):
        one.write(root, desk.submitted)
    return desk.folder


@pytest.fixture
def new_desk(root, handed_in, tmp_path):
    """Makes a desk with a copy of that class."""

    def make(name: str = "desk") -> Desk:
        shutil.copytree(handed_in, tmp_path / name)
        return Desk(root, tmp_path / name)

    return make


def contents(desk: Desk) -> dict[str, dict]:
    return {record.student: record.content() for record in desk.graded(UNIT)}


def stamps(desk: Desk) -> dict[str, tuple[int, int]]:
    """When each record was written, and which file it is: another one after it was written again."""
    files = (desk.records / UNIT).glob("*.json")
    return {path.name: (path.stat().st_ino, path.stat().st_mtime_ns) for path in files}


def require_whole(desk: Desk, expected: dict[str, dict]) -> None:
    """Records, gradebook and autograded notebooks are those of an undisturbed run."""
    assert contents(desk) == expected
    points = {student: {e["name"]: e["points"] for e in content["exercises"]} for student, content in expected.items()}
    with Gradebook(desk.db_url) as gradebook:
        scores = {
            submission.student.id: {
                grade.name.removeprefix("check_"): grade.auto_score
                for notebook in submission.notebooks
                for grade in notebook.grades
                if grade.cell_type == "code"
            }
            for submission in gradebook.assignment_submissions(UNIT)
        }
    assert scores == points
    for student in expected:
        assert (desk.autograded / student / UNIT / f"{UNIT}.ipynb").is_file()


@pytest.mark.nightly
def test_a_run_that_is_killed_at_any_moment_goes_on_where_it_was(starter, new_desk):
    undisturbed = new_desk("undisturbed")
    with GradebookWriter(undisturbed) as gradebook:  # which takes a while, so the first class alone is without it
        gradebook.enter_unit(UNIT)
    entered = undisturbed.gradebook.read_bytes()
    began = time.monotonic()
    assert starter.run(undisturbed) == 0, starter.log.read_text()
    duration = time.monotonic() - began
    expected = contents(undisturbed)
    assert sorted(expected) == sorted(undisturbed.submissions(UNIT))

    rng = np.random.default_rng(SEED)
    kills = classes = 0
    while kills < KILLS:
        classes += 1
        desk = new_desk(f"killed{classes}")
        if classes > 1:
            desk.gradebook.write_bytes(entered)
        written: dict[str, tuple[int, int]] = {}
        while kills < KILLS and (code := starter.run(desk, rng.uniform(0, 0.6 * duration))) != 0:
            assert code == -signal.SIGKILL, starter.log.read_text()
            kills += 1
            # Nobody outlives the desk, or the starter would not have answered; and nothing is left of them.
            assert list(starter.scratch.glob("rnngrade-*")) == []
            # What had a record has it still, the same file.
            now = stamps(desk)
            assert {name: now[name] for name in written} == written
            assert {r.student: r.content() for r in desk.graded(UNIT)}.items() <= expected.items()
            written = now
        assert starter.run(desk) == 0, starter.log.read_text()
        assert {name: stamp for name, stamp in stamps(desk).items() if name in written} == written
        require_whole(desk, expected)


class NoGraders:
    """Stands for the process that forks grading processes, which takes seconds to start."""

    def prepare(self, settings: Settings) -> None:
        pass

    def __enter__(self) -> NoGraders:
        return self

    def __exit__(self, *_: object) -> None:
        pass


class Quick:
    """Stands for a grading process: says at once that all is right, and writes down who was graded."""

    graded: ClassVar[list[str]] = []

    def __init__(self, settings: Settings, graders: Graders) -> None:
        self.settings = settings

    def grade(self, student: str, submission: bytes) -> Graded:
        Quick.graded.append(student)
        results = tuple(
            ExerciseResult(e.name, JUDGED, float(e.points), float(e.points), True, "Right.")
            for e in exercises.unit(UNIT)
        )
        key = self.settings.bundle.key(submission, self.settings.seed, self.settings.limits)
        return Graded(Record(student, UNIT, key, "sha256", results), submission)

    def close(self) -> None:
        pass


def grade_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let `Quick` grade, in no other process."""
    monkeypatch.setattr(running, "Worker", Quick)
    monkeypatch.setattr(Quick, "graded", [])
    for module in (running, worker):
        monkeypatch.setattr(module, "Graders", NoGraders)


@pytest.fixture
def quick(monkeypatch, new_desk):
    """A desk on which grading takes no time; `quick()` says who has been graded since the last time."""
    grade_at_once(monkeypatch)

    def graded() -> list[str]:
        names, Quick.graded = sorted(Quick.graded), []
        return names

    return graded


def change(path: Path) -> None:
    """The student hands in again, with another line in the first cell."""
    notebook = json.loads(path.read_text())
    notebook["cells"][0]["source"] += "\nA line of mine."
    path.write_text(json.dumps(notebook))


def damage(text: str) -> Callable[[Desk], object]:
    return lambda desk: desk.record_path(UNIT, "ada").write_text(text)


SINCE_THEN = {
    "nothing": (lambda desk: None, []),
    "a changed submission": (lambda desk: change(desk.submission_path(UNIT, "barbara")), ["barbara"]),
    "a later submission": (lambda desk: shutil.copytree(desk.submitted / "ada", desk.submitted / "zoe"), ["zoe"]),
    "a lost notebook": (lambda desk: desk.executed_path(UNIT, "ada").unlink(), ["ada"]),
    **{f"the record {text!r}": (damage(text), ["ada"]) for text in ("", "{}", '{"format": 99}', "[]", '{"a": 1')},
}


@pytest.mark.parametrize("what", SINCE_THEN)
def test_a_second_run_grades_what_is_new_or_stale_and_keeps_all_else(what, quick, new_desk, bundle):
    happens, expected = SINCE_THEN[what]
    desk = new_desk()
    first = run(desk, bundle, seed="7")
    assert quick() == sorted(desk.submissions(UNIT)) == [r.student for r in first.records]
    before = stamps(desk)
    happens(desk)
    second = run(desk, bundle, seed="7")
    assert quick() == expected == [r.student for r in second.graded]
    assert what != "nothing" or second.records == first.records
    assert [r.student for r in desk.graded(UNIT)] == sorted(desk.submissions(UNIT))
    rewritten = {name for name, stamp in stamps(desk).items() if stamp != before.get(name)}
    assert rewritten == {f"{student}.json" for student in expected}


def test_records_of_another_version_of_the_unit_are_stale(quick, new_desk, bundle):
    desk = new_desk()
    run(desk, bundle, seed="7")
    everybody = quick()
    run(desk, replace(bundle, versions=(*bundle.versions[:-1], ("environment", "another"))), seed="7")
    assert quick() == everybody


def test_each_record_is_entered_also_if_it_was_graded_before_or_its_submission_is_gone(quick, new_desk, bundle):
    desk = new_desk()
    entered = []

    def enter(record):
        if record.student == "emmy":
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(desk, bundle, jobs=1, enter=enter)
    everybody = sorted(desk.submissions(UNIT))
    desk.submission_path(UNIT, "emmy").unlink()
    run(desk, bundle, enter=lambda record: entered.append(record.student))
    assert sorted(entered) == everybody
    assert quick().count("emmy") == 1


def test_whose_record_cannot_be_entered_is_told_and_the_others_are_entered(quick, new_desk, bundle):
    desk, entered, failures = new_desk(), [], Failures()

    def enter(record):
        if record.student == "emmy":
            raise ValueError("half a\nsurrogate")
        entered.append(record.student)

    run(desk, bundle, enter=enter, failures=failures)
    assert failures.told == [f"emmy, {UNIT}: ValueError: half a surrogate"]
    assert sorted([*entered, "emmy"]) == sorted(desk.submissions(UNIT))
    with pytest.raises(DeskError, match=r"^Done for all but these:\n  emmy, "):
        run(desk, bundle, enter=enter)


def test_a_timestamp_that_is_no_date_costs_its_own_student(quick, new_desk):
    desk = new_desk()
    desk.submission_path(UNIT, "emmy").with_name("timestamp.txt").write_text("soon")
    done = rnngrade(desk, "run", UNIT, code=1)
    assert f"Done for all but these:\n  emmy, {UNIT}: " in done.stderr
    assert {path.name for path in desk.autograded.iterdir()} == set(desk.submissions(UNIT)) - {"emmy"}


def test_a_run_tells_how_far_it_is(quick, new_desk, bundle):
    told = []
    run(new_desk(), bundle, advance=lambda record, done, total: told.append((done, total)))
    assert told == [(done, 8) for done in range(1, 9)]


def test_what_has_been_graded_is_not_kept_in_memory(monkeypatch, tmp_path):
    size, many = 2**20, 40

    class Large(Quick):
        def grade(self, student, submission):
            return Graded(Record(student, UNIT, "", "", (), (), ()), bytes(size))

    monkeypatch.setattr(running, "Worker", Large)
    path = tmp_path / "submission"
    path.touch()
    with running._local(None, None, 1) as graded:
        tracemalloc.start()
        try:
            came = graded({f"student{n}": path for n in range(many)})
            assert sum(len(next(came).notebook) for _ in range(many)) == many * size
            assert tracemalloc.get_traced_memory()[0] < many * size / 4
        finally:
            tracemalloc.stop()


def test_what_keeps_a_worker_from_grading_ends_the_run_in_a_sentence(monkeypatch, new_desk, bundle):
    class Unwilling(Quick):
        def grade(self, student, submission):
            raise DeskError("There is no room here.")

    grade_at_once(monkeypatch)
    monkeypatch.setattr(running, "Worker", Unwilling)
    desk = new_desk()
    with pytest.raises(DeskError, match="no room"):
        run(desk, bundle)
    assert list(desk.graded(UNIT)) == []


def test_without_bubblewrap_nothing_is_graded_unless_one_says_so(monkeypatch, quick, new_desk):
    monkeypatch.setattr(shutil, "which", lambda name: None)
    desk = new_desk()
    refused = rnngrade(desk, "run", UNIT, code=1)
    assert refused.output.strip().splitlines()[-1].startswith("Grading untrusted work needs bubblewrap")
    assert quick() == []
    rnngrade(desk, "run", UNIT, "--sandbox", "none")
    assert quick() == sorted(desk.submissions(UNIT))


def test_the_command_line_takes_students_force_seed_and_limits(quick, new_desk):
    desk = new_desk()

    def command(*options):
        rnngrade(desk, "run", UNIT, "--seed", "7", *options)
        return quick()

    everybody = sorted(desk.submissions(UNIT))
    assert command("--student", "ada", "--student", "emmy") == ["ada", "emmy"]
    assert command() == [name for name in everybody if name not in ("ada", "emmy")]
    assert command("--student", "ada", "--force") == ["ada"]
    assert command("--seed", "8") == everybody
    assert command("--seed", "8", "--limit", "memory=512M") == everybody
