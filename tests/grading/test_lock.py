"""Two commands on one desk, and a disk that is full: one sentence, and nothing that was recorded is lost."""

import contextlib
import os
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
from pathlib import Path

import psutil
import pytest
from click.testing import CliRunner

from rnngrade.cli import main
from rnngrade.core.desk import Desk
from rnngrade.core.errors import DeskError
from rnngrade.core.lock import locked
from rnngrade.demo.sample import demo_class
from tests.grading.test_run import grade_at_once
from tests.waiting import has_ended

UNIT = "03_cell"
HOLDER = """
import subprocess, sys, time
from pathlib import Path
from rnngrade.core.lock import locked
with locked(Path(sys.argv[1]), "rnngrade run 03_cell"):
    child = subprocess.Popen(["sleep", "600"])      # a grading process that outlives the desk
    print(child.pid, flush=True)
    time.sleep(600)
"""


@pytest.fixture
def holder(tmp_path):
    """A process that holds the lock of `tmp_path`, and the child that it has started."""
    process = subprocess.Popen([sys.executable, "-c", HOLDER, str(tmp_path)], stdout=subprocess.PIPE, text=True)
    assert process.stdout
    child = psutil.Process(int(process.stdout.readline()))
    yield process, child
    for one in (process, child):
        with contextlib.suppress(psutil.NoSuchProcess, ProcessLookupError):
            one.kill()
    process.communicate()


@pytest.mark.parametrize("command", [("run", "03"), ("collect", "."), ("sample", "03")])
def test_who_holds_a_desk_is_told_in_a_sentence(root, tmp_path, holder, command):
    demo_class(UNIT, 1)[0].write(root, tmp_path / "submitted")
    before = {path for path in tmp_path.rglob("*") if path.is_file()}
    done = CliRunner().invoke(main, ["--desk", str(tmp_path), *command])
    assert done.exit_code == 1
    process, machine = holder[0].pid, re.escape(os.uname().nodename)
    assert re.fullmatch(
        rf"{re.escape(str(tmp_path))} is in use: 'rnngrade run 03_cell' works on it since \d{{4}}-\d\d-\d\d "
        rf"\d\d:\d\d:\d\d \(process {process} on {machine}\)\. Wait until it has ended, or end it with "
        rf"'kill {process}'\.\n",
        done.output,
    )
    assert {path for path in tmp_path.rglob("*") if path.is_file()} - before <= {tmp_path / "nbgrader_config.py"}


def test_a_lock_ends_with_its_process_even_if_that_is_killed_and_its_child_is_not(tmp_path, holder):
    process, child = holder
    with pytest.raises(DeskError), locked(tmp_path, "me"):
        pass
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    assert not has_ended(child)
    with locked(tmp_path, "rnngrade run"), pytest.raises(DeskError, match="'rnngrade run'"), locked(tmp_path, "me"):
        pass
    with locked(tmp_path, "again"):
        pass


# --- a disk that is full


@pytest.fixture
def small(tmp_path):
    """A disk of 24 MB."""
    folder = tmp_path / "small"
    folder.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=24m", "tmpfs", str(folder)]
    if shutil.which("mount") is None or subprocess.run(command, capture_output=True, check=False).returncode:
        pytest.skip("a small disk can be mounted by root only")
    yield folder
    subprocess.run(["umount", "--lazy", str(folder)], check=True)


def fill(disk: Path, left: int) -> Path:
    """Fill a disk until so many bytes are left."""
    ballast = disk / "ballast"
    free = os.statvfs(disk).f_bavail * os.statvfs(disk).f_frsize
    with ballast.open("wb") as file:
        os.posix_fallocate(file.fileno(), 0, max(1, free - left))
    return ballast


def contents_of(folder: Path) -> dict[str, bytes]:
    """Records, and what was handed in, by path."""
    found = [path for name in ("records", "submitted") for path in (folder / name).rglob("*") if path.is_file()]
    return {str(path.relative_to(folder)): path.read_bytes() for path in found}


def grades_of(gradebook: Path) -> list[tuple[str, float]]:
    """What the gradebook has, read by SQLite itself, which also checks that it is whole."""
    with contextlib.closing(sqlite3.connect(gradebook)) as database:
        assert database.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        return database.execute(
            "SELECT s.student_id, sum(g.auto_score) FROM grade g JOIN submitted_notebook n ON g.notebook_id = n.id "
            "JOIN submitted_assignment s ON n.assignment_id = s.id GROUP BY s.student_id ORDER BY s.student_id"
        ).fetchall()


def command(desk: Desk, *arguments: str) -> tuple[int, str]:
    done = CliRunner().invoke(main, ["--desk", str(desk.folder), *arguments])
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
    return done.exit_code, re.sub(r"\S+: \d+ of \d+ graded\n", "", done.stderr)


def require_sentence(said: str, disk: Path) -> None:
    """One line that says what is full, by a path on that disk; with no path of a temporary file."""
    (line,) = said.strip().splitlines()
    assert re.match(rf"The disk is full: {re.escape(str(disk))}/|The gradebook at .*{re.escape(str(disk))}/", line), (
        line
    )
    assert "full" in line


@pytest.fixture
def begun(root, small, monkeypatch):
    """A desk on the small disk, with two of a class of six graded."""
    grade_at_once(monkeypatch)
    desk = Desk(root, small / "desk")
    desk.open()
    for one in demo_class(UNIT, 6):
        one.write(root, desk.submitted)
    assert command(desk, "run", UNIT, "--student", "ada", "--student", "alan") == (0, "")
    return desk


@pytest.mark.nightly
def test_a_run_on_a_full_disk_says_so_and_goes_on_when_there_is_room(begun, small, tmp_path):
    start, failed = tmp_path / "start", 0
    shutil.copytree(begun.folder, start)
    before, grades = contents_of(start), grades_of(start / "gradebook.db")
    assert [student for student, _ in grades] == ["ada", "alan"]
    size = 40_000
    for left in (0, 4096, *range(size, 12 * size, size)):
        shutil.rmtree(begun.folder)
        shutil.copytree(start, begun.folder)
        ballast = fill(small, left)
        code, said = command(begun, "run", UNIT)
        if code:
            failed += 1
            require_sentence(said, small)
        now = contents_of(begun.folder)
        assert {path: now[path] for path in before} == before
        assert {student: points for student, points in grades_of(begun.gradebook) if student in ("ada", "alan")} == (
            dict(grades)
        )
        assert [path for path in begun.folder.rglob(".*.*") if path.is_file()] == [], "nothing half written is left"
        ballast.unlink()
        assert command(begun, "run", UNIT) == (0, "")
        assert len(grades_of(begun.gradebook)) == len(list(begun.graded(UNIT))) == 6
    assert failed >= 5


def test_every_command_says_that_the_disk_is_full_once(begun, small, monkeypatch):
    monkeypatch.chdir(small)
    before = contents_of(begun.folder)
    fill(small, 0)
    for arguments in (("feedback", UNIT), ("report",), ("return", "csv", "--output", "grades.csv")):
        code, said = command(begun, *arguments)
        assert (code, len(said.splitlines())) == (1, 1), arguments
        assert re.match(r"The disk is full: .+ was not written,", said), said
        assert contents_of(begun.folder) == before


def test_what_is_collected_onto_a_full_disk_replaces_nothing(begun, small, root, tmp_path):
    for one in demo_class(UNIT, 6, seed=1):
        one.write(root, tmp_path / "new")
    before = contents_of(begun.folder)
    ballast = fill(small, 100_000)
    code, said = command(begun, "collect", str(tmp_path / "new"))
    assert code == 1
    require_sentence(said, small)
    now = contents_of(begun.folder)
    for path, data in before.items():
        kept = [now[other] for other in now if other.startswith(path.rpartition("/")[0])]
        assert data in kept, f"{path} is there, or among the earlier ones"
    ballast.unlink()
    assert command(begun, "collect", str(tmp_path / "new")) == (0, "")
    latest = {path: path.read_bytes() for path in (tmp_path / "new").rglob("*.ipynb")}
    assert {begun.submitted / path.relative_to(tmp_path / "new"): data for path, data in latest.items()} == {
        path: path.read_bytes() for path in begun.submissions(UNIT).values()
    }
