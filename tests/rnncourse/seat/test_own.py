"""A folder of one's own: made from what is installed, brought to a new release, and never the poorer for it."""

import os
import shutil
import subprocess
from pathlib import Path

import nbformat
import pytest
from click.testing import CliRunner
from nbformat.v4 import new_code_cell

from rnncourse.seat import cli, own
from tests.rnncourse.seat.test_carry import cell_of, given_out
from tests.sampling import ALL

UNITS = ("00_welcome", "02_unfolding")
ANSWER = "def unfold(f, s0, xs):\n    return [s0]"


@pytest.fixture
def release(root, tmp_path, monkeypatch) -> Path:
    """What is installed: two units, which a test may change."""
    folder = tmp_path / "installed"
    for stem in UNITS:
        shutil.copytree(root / "notebooks" / stem, folder / stem)
    edit(unit(folder), shorten)
    monkeypatch.setattr(own, "release_folder", lambda: folder)
    return folder


@pytest.fixture
def course(release, tmp_path, monkeypatch) -> Path:
    """A course of one's own, with an answer and a cell of one's own in unit 02; the tests run in it."""
    folder = tmp_path / "my-course"
    assert rnncourse("start", str(folder)).exit_code == 0
    edit(unit(folder), lambda node: (node.cells.append(new_code_cell("mine = 1")), answer(node)))
    monkeypatch.chdir(folder)
    return folder


def rnncourse(*arguments: str):
    return CliRunner().invoke(cli.main, arguments, catch_exceptions=False)


def unit(folder: Path) -> Path:
    return folder / "02_unfolding" / "02_unfolding.ipynb"


def edit(path: Path, change) -> None:
    node = nbformat.read(path, as_version=4)
    change(node)
    nbformat.write(node, path)


def shorten(node) -> None:
    """Up to the first check, for what is done to a notebook takes as long as it has cells."""
    del node.cells[node.cells.index(cell_of(node, "check_unfold")) + 1 :]


def answer(node) -> None:
    cell_of(node, "unfold").source = ANSWER


def reword(node) -> None:
    node.cells[0].source += "\nSaid in other words."
    given_out(node.cells[0])


def lines(path: Path) -> list[str]:
    return [cell.source for cell in nbformat.read(path, as_version=4).cells]


def test_start_gives_the_notebooks_as_they_are_given_out_and_a_readme_of_ten_lines(root, tmp_path):
    result = rnncourse("start", str(tmp_path / "my-course"))
    assert f"Your notebooks are in {tmp_path / 'my-course'}." in result.output
    there = {path.relative_to(tmp_path / "my-course") for path in (tmp_path / "my-course").rglob("*") if path.is_file()}
    given = {path.relative_to(root / "notebooks") for path in root.glob("notebooks/*/*.ipynb")}
    assert there == given | {Path("README.md")}
    for name in given:
        assert (tmp_path / "my-course" / name).read_bytes() == (root / "notebooks" / name).read_bytes()
    assert len((tmp_path / "my-course" / "README.md").read_text().splitlines()) <= 10
    assert list(tmp_path.iterdir()) == [tmp_path / "my-course"]


@pytest.mark.usefixtures("release")
def test_start_writes_into_an_empty_folder_and_never_over_anything(tmp_path):
    (tmp_path / "empty").mkdir()
    assert rnncourse("start", str(tmp_path / "empty")).exit_code == 0
    (tmp_path / "a-file").write_text("mine")
    for name in ("empty", "a-file"):
        result = rnncourse("start", str(tmp_path / name))
        assert result.exit_code == 1
        assert "is there already: name a new folder." in result.output
    assert (tmp_path / "a-file").read_text() == "mine"


@pytest.mark.skipif(shutil.which("make") is None, reason="make is not installed")
def test_make_lab_starts_a_course_of_one_s_own_and_opens_it_from_then_on(root, tmp_path):
    clone, called = tmp_path / "clone", tmp_path / "called"
    (clone / ".venv" / "bin").mkdir(parents=True)
    for name in ("Makefile", "pyproject.toml", "constraints.txt"):
        shutil.copyfile(root / name, clone / name)
    python = clone / ".venv" / "bin" / "python"
    python.write_text(f'#!/bin/sh\necho "$PWD" "$@" >> {called}\n[ "$4" ] && mkdir "$4"\nexit 0\n')
    python.chmod(0o755)
    (clone / ".venv" / ".installed").touch()
    for _ in range(2):
        subprocess.run(["make", "lab"], cwd=clone, check=True, capture_output=True)
    start, *opened = called.read_text().splitlines()
    assert start == f"{clone} -m rnncourse.seat.cli start my-course"
    assert opened == [f"{clone / 'my-course'} -m rnncourse.seat.cli lab"] * 2
    assert "/my-course/" in (root / ".gitignore").read_text().splitlines()


def test_update_says_so_if_nothing_is_new_and_touches_nothing(course):
    before = {path: (path.read_bytes(), path.stat().st_mtime_ns) for path in course.rglob("*.*")}
    assert rnncourse("update").output.startswith("Everything is as in release ")
    assert {path: (path.read_bytes(), path.stat().st_mtime_ns) for path in course.rglob("*.*")} == before


def test_update_brings_what_is_new_keeps_what_is_one_s_own_and_says_so(course, release):
    before = unit(course).read_bytes()
    edit(unit(release), reword)
    shutil.copytree(release / "00_welcome", release / "01_ngram")
    (release / "01_ngram" / "00_welcome.ipynb").rename(release / "01_ngram" / "01_ngram.ipynb")
    said = rnncourse("update").output
    (kept,) = unit(course).parent.glob("*-before-*.ipynb")
    assert "01_ngram: new." in said
    assert "02_unfolding: updated, with 1 answer and 1 cell of your own." in said
    assert f"As it was, it is {kept.relative_to(course)}." in said
    assert "00_welcome" not in said
    assert kept.read_bytes() == before
    now = lines(unit(course))
    assert now[0].endswith("Said in other words.")
    assert now.count(ANSWER) == now.count("mine = 1") == 1
    assert rnncourse("update").output.startswith("Everything is as in release ")


def test_two_updates_of_one_release_keep_both_old_notebooks(course, release):
    for _ in range(2):
        edit(unit(release), reword)
        rnncourse("update")
    assert len(list(unit(course).parent.glob("*-before-*.ipynb"))) == 2


def test_a_broken_notebook_is_left_alone_and_the_others_are_updated(course, release):
    (course / "00_welcome" / "00_welcome.ipynb").write_text('{"cells": [')
    edit(unit(release), reword)
    said = rnncourse("update").output
    assert "00_welcome: " in said
    assert "It was left as it is." in said
    assert "02_unfolding: updated" in said
    assert (course / "00_welcome" / "00_welcome.ipynb").read_text() == '{"cells": ['


def test_update_never_touches_the_course_itself_nor_a_folder_that_is_none(release, tmp_path):
    for folder, words in ((release, "is the course itself, not yours."), (tmp_path, "No notebooks are here:")):
        result = rnncourse("update", str(folder))
        assert result.exit_code == 1
        assert words in result.output
        assert result.output.count("\n") == 1


@pytest.mark.skipif(not hasattr(os, "fork"), reason="a process is forked, to be killed")
def test_an_update_that_is_killed_anywhere_has_lost_nothing_and_is_done_when_it_is_called_again(course, release):
    before = unit(course).read_bytes()
    edit(unit(release), reword)
    for deadly in range(0, 100, 1 if ALL else 4):
        if (child := os.fork()) == 0:
            killed_at(deadly)
            list(own.update(course))
            os._exit(0)
        _, status = os.waitpid(child, 0)
        finished = os.waitstatus_to_exitcode(status) == 0
        there = lines(unit(course))
        assert there.count(ANSWER) == there.count("mine = 1") == 1
        assert finished or unit(course).read_bytes() == before or any(unit(course).parent.glob("*-before-*"))
        list(own.update(course))
        assert lines(unit(course))[0].endswith("Said in other words.")
        (kept,) = unit(course).parent.glob("*-before-*.ipynb")
        assert kept.read_bytes() == before
        assert sorted(unit(course).parent.iterdir()) == [kept, unit(course)]
        if finished:
            break
        kept.unlink()
        unit(course).write_bytes(before)
    assert finished
    assert deadly > 3


def killed_at(deadly: int) -> None:
    """End this process before the step of that number: of all that bring data to the disk."""
    steps = 0

    def dies(step):
        def instead(*arguments, **named):
            nonlocal steps
            if steps == deadly:
                os._exit(9)
            steps += 1
            return step(*arguments, **named)

        return instead

    os.fsync, os.fdopen, Path.replace, Path.chmod = map(dies, (os.fsync, os.fdopen, Path.replace, Path.chmod))
