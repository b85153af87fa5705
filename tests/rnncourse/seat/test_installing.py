"""What is printed about installing names no index, and a path as a shell takes it, on whatever system."""

import errno
import os
import re
from pathlib import Path

import pytest

from rnncourse.seat import installing
from rnncourse.seat.files import write_whole
from rnncourse.seat.installing import local_path, quoted
from rnncourse.seat.sentences import Sentence, in_a_sentence

ROOT = Path(__file__).resolve().parents[3]
BY_NAME = re.compile(r"pip install[^\n`'\"]*['\" ]rnncourse(\[\w+\])?(?! @)[\s'\"`.]")


def test_nothing_that_is_printed_or_read_says_to_install_the_course_from_an_index_by_its_name():
    kinds = (
        "rnncourse/**/*.py",
        "grading/**/*.py",
        "website/**/*.py",
        "*.md",
        "*/*.md",
        "docs/**/*.md",
        "solutions/*.py",
    )
    found = [path for kind in kinds for path in ROOT.glob(kind) if BY_NAME.search(path.read_text(encoding="utf-8"))]
    assert found == []
    assert BY_NAME.search('run "pip install --upgrade rnncourse"')
    assert BY_NAME.search("run 'pip install \"rnncourse[notebooks]\"'")


def test_the_command_names_where_this_one_came_from_and_the_release_once_there_is_one(monkeypatch, tmp_path):
    assert installing.command("notebooks") == f"pip install {quoted(f'{ROOT}[notebooks]')}"
    monkeypatch.setattr(installing, "RELEASE", "https://example.org/rnncourse-1.0-py3-none-any.whl")
    assert installing.command("notebooks").startswith("pip install 'rnncourse[notebooks] @ https://example.org/")
    monkeypatch.setattr(installing, "RELEASE", "")
    monkeypatch.setattr(installing, "__file__", str(tmp_path / "site-packages" / "rnncourse" / "seat" / "x.py"))
    monkeypatch.setattr(installing.metadata, "distribution", _installed_from(f"file://{tmp_path}"))
    assert installing.source() == str(tmp_path)
    monkeypatch.setattr(installing.metadata, "distribution", _installed_from(f"file://{tmp_path}/gone.whl"))
    assert installing.source() == installing.WHEEL
    monkeypatch.setattr(installing.metadata, "distribution", _installed_from(None))
    assert installing.command() == "pip install THE-WHEEL-YOU-WERE-GIVEN.whl"


def _installed_from(url):
    class Distribution:
        def read_text(self, name):
            return url and f'{{"url": "{url}"}}'

    return lambda name: Distribution()


@pytest.mark.parametrize(
    ("path", "on_unix", "on_windows"),
    [
        ("/srv/ada/my-course", "/srv/ada/my-course", "/srv/ada/my-course"),
        ("/People/ada/My Course", "'/People/ada/My Course'", '"/People/ada/My Course"'),
        (r"D:\People\ada\my-course", r"'D:\People\ada\my-course'", r"D:\People\ada\my-course"),
        (r"D:\People\Ada L\x (1)", r"'D:\People\Ada L\x (1)'", r'"D:\People\Ada L\x (1)"'),
        ("my course's", """'my course'"'"'s'""", '"my course\'s"'),
    ],
)
def test_a_path_is_quoted_as_its_system_s_shell_takes_it(path, on_unix, on_windows):
    assert (quoted(path, windows=False), quoted(path, windows=True)) == (on_unix, on_windows)


def test_a_file_s_address_is_a_path_on_either_system():
    assert local_path("/srv/ada/x%20y.whl", windows=False) == "/srv/ada/x y.whl"
    assert local_path("/D:/People/Ada%20L/x.whl", windows=True) == r"D:\People\Ada L\x.whl"


def test_a_full_disk_is_one_sentence_that_names_the_student_s_file(tmp_path, monkeypatch):
    path = tmp_path / "03_cell-submission.ipynb"
    path.write_bytes(b"before")

    def full(handle):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(Sentence) as told, in_a_sentence(ValueError):
        write_whole(path, b"after")
    assert told.value.message.startswith(f"The disk is full: {path} was not written, and what was there is as it was.")
    assert [p.name for p in tmp_path.iterdir()] == [path.name]
    assert path.read_bytes() == b"before"
