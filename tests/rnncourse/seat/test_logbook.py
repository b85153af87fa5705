"""The file that keeps what is passed: whole whatever happens, and nobody's check fails for it."""

import json
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


def test_two_facts_are_kept_whether_it_holds_now_and_whether_it_passed_once(file):
    verdicts = [(0.6, False, False), (0.2, False, False), (1.0, True, True), (0.0, False, True), (1.0, True, True)]
    for score, passed, once in verdicts:
        logbook.keep("rnn_step", score, passed)
        standing = logbook.standings()["rnn_step"]
        assert (standing.score, standing.passed, standing.passed_once) == (score, passed, once)


def test_a_file_of_the_first_format_is_read_and_its_passes_are_kept(file):
    file.parent.mkdir()
    entry = {"score": 1.0, "passed": True, "when": "2026-01-31"}
    file.write_text(json.dumps({"format": 1, "exercises": {"rnn_step": entry}}))
    logbook.keep("rnn_step", 0.5, False)
    assert logbook.standings()["rnn_step"].passed_once


def test_that_a_solution_was_shown_is_kept_with_when_that_was_first(file, monkeypatch):
    logbook.keep("rnn_step", 0.5, False)
    for when in ("monday", "tuesday"):
        monkeypatch.setattr(logbook, "_now", lambda when=when: when)
        logbook.note_shown("rnn_step")
    logbook.keep("rnn_step", 1.0, True)
    assert logbook.standings()["rnn_step"] == logbook.Standing(1.0, True, "tuesday", True, "monday")


def test_it_lies_in_the_folder_of_the_course_and_two_courses_know_nothing_of_each_other(tmp_path, monkeypatch):
    monkeypatch.delenv("RNNCOURSE_PROGRESS")
    for course in ("mine", "second"):
        (tmp_path / course / "03_cell").mkdir(parents=True)
        (tmp_path / course / "03_cell" / "03_cell.ipynb").touch()
    monkeypatch.chdir(tmp_path / "mine" / "03_cell")
    logbook.keep("rnn_step", 1.0, True)
    assert logbook.kept_at() == tmp_path / "mine" / "progress.json"
    assert logbook.standings()["rnn_step"].passed
    assert logbook.standings(tmp_path / "second") == {}
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    assert logbook.kept_at() == tmp_path / "data" / "rnncourse" / "progress.json"


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
    ["", "{", "[]", "null", '{"format": 3, "exercises": {}}', '{"format": 1, "exercises": {"a": 3}}', "\udcff"],
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
