"""What a room shows: the environment, and neither the course nor the desk, whichever lies in which."""

import os
import random
import sys
import venv
from pathlib import Path

import pytest

import rnncourse
import rnngrade
from rnngrade.sandbox import view
from rnngrade.sandbox.bubblewrap import Room
from rnngrade.sandbox.limits import Limits
from tests.sampling import some

SECRET, NEEDED = "secret", "needed"


def placed(rng, base):
    """An environment, the course, the desk and another class, each in the base or in one of the others; or in the
    environment's folder for programs or for packages, or in one in it.
    """
    places = {}
    names = ["env", "course", "desk", "class"]
    rng.shuffle(names)
    for name in names:
        inner = ["", "lib", "lib/python3.11", "bin", "share"]
        choices = [base, *(place / part for place in places.values() for part in inner)]
        places[name] = rng.choice(choices) / name
        places[name].mkdir(parents=True)
    for name in names:
        for folder in ("", "lib", "bin", "src"):
            path = places[name] / folder
            path.mkdir(exist_ok=True)
            (path / (NEEDED if name == "env" and folder in ("lib", "bin") else SECRET)).write_text(name)
    (places["desk"] / "gradebook.db").write_text(SECRET)
    return places


def seen(room, base):
    """The files below a folder, as they are seen in the room."""
    root = Path(f"/proc/{room.pid}/root")
    files = [Path(folder, name) for folder, _, names in os.walk(f"{root}{base}") for name in names]
    return {Path("/", path.relative_to(root)) for path in files if path.read_bytes()}


@pytest.mark.parametrize("seed", some(range(100), 12))
def test_whichever_lies_in_which_of_the_environment_all_is_seen_and_of_the_others_nothing(seed, tmp_path, monkeypatch):
    places = placed(random.Random(seed), tmp_path)
    env = places.pop("env")
    system = view.shown()
    monkeypatch.setattr(view, "shown", lambda: [*system, env / "bin", env / "lib"])
    secrets = [*places.values(), places["desk"] / "gradebook.db"]
    monkeypatch.setattr(view, "hidden", lambda: secrets)
    with Room(Path(rnncourse.__path__[0]), Limits()) as room:
        found = seen(room, tmp_path)
    assert {path for path in found if path.name != NEEDED} == {
        # of an environment, what lies among its programs and packages is its own, unless it is somebody else's
        path
        for part in ("bin", "lib")
        for path in (env / part).rglob("*")
        if path.is_file() and path.name != NEEDED and not any(s == path or s in path.parents for s in secrets)
    }
    assert {path for path in found if path.name == NEEDED} == {env / "bin" / NEEDED, env / "lib" / NEEDED}


def test_an_environment_made_in_the_courses_own_folder_shows_what_python_needs(tmp_path, monkeypatch):
    course = tmp_path / "course"
    for folder in ("solutions", "grading/rnngrade", "submitted/ada/03_cell"):
        (course / folder).mkdir(parents=True)
        (course / folder / SECRET).write_text("yes")
    venv.create(course, symlinks=True)
    (course / "desk").symlink_to(course / "submitted")
    monkeypatch.setattr(sys, "prefix", str(course))
    monkeypatch.setattr(sys, "exec_prefix", str(course))
    with Room(Path(rnncourse.__path__[0]), Limits()) as room:
        root = Path(f"/proc/{room.pid}/root{course}")
        assert {path.name for path in root.iterdir()} <= {"bin", "lib", "lib64", "pyvenv.cfg"}
        assert (root / "pyvenv.cfg").read_text() == (course / "pyvenv.cfg").read_text()
        assert {path.name for path in seen(room, course)} & {SECRET} == set()


def test_a_course_below_the_systems_prefix_is_hidden_and_so_is_what_one_says(tmp_path, monkeypatch):
    prefix = tmp_path / "usr"
    course, desk = prefix / "lib" / "course", prefix / "lib" / "python3.11" / "autumn"
    for path in (course / "rnncourse", course / "grading" / "rnngrade", course / "solutions", desk / "submitted"):
        path.mkdir(parents=True)
        (path / SECRET).write_text("yes")
    (course / "pyproject.toml").write_text("[project]")
    (prefix / "lib" / "python3.11" / NEEDED).write_text("yes")
    monkeypatch.setattr(sys, "base_prefix", str(prefix))
    monkeypatch.setattr(rnncourse, "__path__", [str(course / "rnncourse")])
    monkeypatch.setattr(rnngrade, "__path__", [str(course / "grading" / "rnngrade")])
    monkeypatch.delenv(view.HIDDEN, raising=False)
    library = Path(view.__file__).parent
    with Room(library, Limits()) as room:
        assert {path.name for path in seen(room, prefix)} == {NEEDED, SECRET}, "the desk has not been told of"
        assert seen(room, course) == set()
    view.hide(desk)
    view.hide(desk, tmp_path)
    assert os.environ[view.HIDDEN].split(os.pathsep) == [str(desk), str(tmp_path)]
    with Room(library, Limits()) as room:
        assert {path.name for path in seen(room, prefix)} == {NEEDED}
