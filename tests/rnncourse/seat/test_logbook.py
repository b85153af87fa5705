"""The file that keeps what is passed: whole whatever happens, and nobody's check fails for it."""

import subprocess
import sys

import pytest

from rnncourse import exercises
from rnncourse.seat import logbook


@pytest.fixture(autouse=True)
def file(tmp_path, monkeypatch):
    path = tmp_path / "data" / "progress.json"
    monkeypatch.setenv("RNNCOURSE_PROGRESS", str(path))
    monkeypatch.setattr(logbook, "_said", set())
    return path


def test_there_is_nothing_before_the_first_verdict(file):
    assert logbook.standings() == {}
    assert not file.exists()


def test_what_is_so_now_is_kept_and_not_what_once_was(file):
    for score, passed in [(0.6, False), (0.2, False), (1.0, True), (0.0, False), (1.0, True)]:
        logbook.keep("rnn_step", score, passed)
        standing = logbook.standings()["rnn_step"]
        assert (standing.score, standing.passed) == (score, passed)


def test_a_verdict_that_changes_nothing_is_not_written(file):
    logbook.keep("rnn_step", 1.0, True)
    written = file.stat().st_mtime_ns
    logbook.keep("rnn_step", 1.0, True)
    assert file.stat().st_mtime_ns == written


def test_notebooks_that_write_at_once_lose_nothing(file):
    code = """
import sys
from rnncourse.seat import logbook
logbook.LOCK_SECONDS = float("inf")  # a busy disk may keep the others waiting for longer than a student would
for i in range(25):
    logbook.keep(f"{sys.argv[1]}_{i}", 1, True)
"""
    writers = [subprocess.Popen([sys.executable, "-c", code, name]) for name in "abc"]
    assert [writer.wait() for writer in writers] == [0, 0, 0]
    assert sorted(logbook.standings()) == sorted(f"{name}_{i}" for name in "abc" for i in range(25))
    assert sorted(path.name for path in file.parent.iterdir()) == ["progress.json", "progress.lock"]


def test_who_crashes_while_writing_leaves_the_file_as_it_was(file):
    logbook.keep("a", 1, True)
    code = """
import os
from rnncourse.seat import logbook
os.fsync = lambda handle: os._exit(9)
logbook.keep("b", 1, True)
"""
    assert subprocess.run([sys.executable, "-c", code]).returncode == 9
    assert list(logbook.standings()) == ["a"]
    logbook.keep("c", 1, True)  # and its lock went with it
    assert list(logbook.standings()) == ["a", "c"]


@pytest.mark.parametrize(
    "contents",
    ["", "{", "[]", "null", '{"format": 2, "exercises": {}}', '{"format": 1, "exercises": {"a": 3}}', "\udcff"],
    ids=["empty", "cut off", "a list", "null", "another format", "odd entry", "no text"],
)
def test_a_damaged_file_is_set_aside_and_said_so_once(file, contents, capsys):
    file.parent.mkdir()
    file.write_bytes(contents.encode("utf-8", "surrogateescape"))
    logbook.keep("rnn_step", 1, True)
    assert list(logbook.standings()) == ["rnn_step"]
    (aside,) = file.parent.glob("progress.damaged-*.json")
    assert aside.read_bytes() == contents.encode("utf-8", "surrogateescape")
    assert capsys.readouterr().err.count("was damaged, so a new one is begun") == 1


def test_where_nothing_can_be_written_it_is_said_once_and_nothing_is_raised(file, capsys):
    file.parent.write_text("a file where the folder should be")
    logbook.keep("a", 1, True)
    logbook.keep("b", 1, True)
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert "Your progress" in said


def test_a_lock_that_somebody_holds_for_ever_is_not_waited_for(file, monkeypatch):
    fcntl = pytest.importorskip("fcntl")
    monkeypatch.setattr(logbook, "LOCK_SECONDS", 0.1)
    file.parent.mkdir()
    with open(file.with_suffix(".lock"), "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        logbook.keep("a", 1, True)
    assert list(logbook.standings()) == ["a"]


def test_it_is_kept_at_the_keyboard_or_where_one_says_and_never_when_off(monkeypatch):
    assert logbook.is_kept()
    monkeypatch.setenv("RNNCOURSE_PROGRESS", "off")
    assert not logbook.is_kept()
    monkeypatch.delenv("RNNCOURSE_PROGRESS")
    assert not logbook.is_kept()  # nobody sits at pytest's keyboard
    assert logbook.kept_at().name == "progress.json"
    monkeypatch.setattr(logbook, "_is_interactive", lambda: True)
    assert logbook.is_kept()


def test_the_outline_is_the_catalogue_s():
    for unit, known in zip(logbook.outline(), exercises.units(), strict=True):
        assert unit.stem == known.stem
        assert unit.title == known.title
        assert list(unit.points.items()) == [(exercise.name, exercise.points) for exercise in known]
