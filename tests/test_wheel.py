"""The wheel, as a student gets it: in a new environment, offline, from `start` to `submit`, and on to a new release.

An environment has what the wheel asks for and nothing else: the packages that are installed here, each at its pin, are
linked into it one by one.
"""

import email.parser
import importlib.metadata
import json
import os
import re
import subprocess
import sys
import sysconfig
import tarfile
import venv
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import nbformat
import pytest
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from rnncourse import __version__, exercises
from rnncourse.checks.exercise import Exercise
from tests.sampling import ALL
from tests.wheels import OFFLINE, pip

ANSWERED = "leaky_average"
RIGHT = f"def {ANSWERED}(state, x, keep):\n    return keep * state + (1 - keep) * x"
DATA = "import numpy as np; from rnncourse.data import *; digits(); written_dates(np.random.default_rng(0), 9)"
NEVER_A_STUDENT_S = {"scikit-learn", "scipy", "nbgrader", "sphinx", "pytest", "distributed", "sqlalchemy"}


@pytest.fixture(scope="module")
def next_wheel(wheel, tmp_path_factory) -> Path:
    """A later release, which is the wheel changed: unit 00 reads otherwise."""
    later = tmp_path_factory.mktemp("next") / wheel.name.replace("-0.1.0-", "-0.2.0-")
    with zipfile.ZipFile(wheel) as now, zipfile.ZipFile(later, "w") as new:
        for name in now.namelist():
            data = now.read(name)
            if name == "rnncourse/__init__.py" or name.endswith((".dist-info/METADATA", ".dist-info/RECORD")):
                assert b"0.1.0" in data
                data = data.replace(b"0.1.0", b"0.2.0")
            if name == "rnncourse/notebooks/00_welcome/00_welcome.ipynb":
                unit = nbformat.reads(data.decode("utf-8"), as_version=4)
                unit.cells.insert(1, nbformat.v4.new_markdown_cell("New in this release.", id="new-in-this-release"))
                data = nbformat.writes(unit).encode("utf-8")
            new.writestr(name.replace("-0.1.0.", "-0.2.0."), data)
    return later


def needs(wheel: Path, *extras: str) -> set[str]:
    """The names of all packages that a wheel asks for, to the last one."""
    with zipfile.ZipFile(wheel) as file:
        (name,) = (n for n in file.namelist() if n.endswith(".dist-info/METADATA"))
        about = email.parser.HeaderParser().parsestr(file.read(name).decode("utf-8"))
    seen: set[tuple[str, str]] = set()
    todo = [(Requirement(line), extra) for line in about.get_all("Requires-Dist", []) for extra in ("", *extras)]
    while todo:
        requirement, extra = todo.pop()
        if requirement.marker and not requirement.marker.evaluate({"extra": extra}):
            continue
        for inner in ("", *requirement.extras):
            key = canonicalize_name(requirement.name), inner
            if key not in seen and key[0] != "rnncourse":
                seen.add(key)
                todo += [(Requirement(line), inner) for line in importlib.metadata.requires(key[0]) or ()]
    return {name for name, _ in seen}


@dataclass
class Seat:
    """A new environment, and somebody who works in it: their home and the folder where they are."""

    environment: Path
    home: Path

    def install(self, wheel: Path) -> None:
        how = (*OFFLINE, "--no-compile", "--force-reinstall")  # Python compiles what it comes to import
        pip("--python", self.environment / "bin" / "python", "install", *how, wheel)

    def run(self, *command: str, cwd: Path | None = None, code: int = 0, **variables: str) -> str:
        """What a command of the environment says."""
        done = subprocess.run(
            [self.environment / "bin" / command[0], *command[1:]],
            cwd=cwd or self.home,
            env={"PATH": "/usr/bin:/bin", "HOME": str(self.home), "LANG": "C.UTF-8", "OMP_NUM_THREADS": "1"}
            | variables,
            capture_output=True,
            text=True,
        )
        assert done.returncode == code, done.stdout + done.stderr
        return done.stdout + done.stderr


def seat(folder: Path, wheel: Path, *extras: str) -> Seat:
    """A new environment with a wheel, what it asks for, and nothing else."""
    venv.create(folder / "env", with_pip=False)
    made = Seat(folder / "env", folder / "home")
    made.home.mkdir()
    made.install(wheel)
    variables = {"base": str(made.environment), "platbase": str(made.environment)}
    site = Path(sysconfig.get_path("purelib", "venv", vars=variables))
    for name in needs(wheel, *extras):
        distribution = importlib.metadata.distribution(name)
        tops = {file.parts[0] for file in distribution.files or () if file.parts[0] not in ("..", "__pycache__", "bin")}
        for top in tops:
            there = Path(str(distribution.locate_file(top)))
            if not (site / top).exists() and there.exists():
                (site / top).symlink_to(there)
    return made


@pytest.fixture(scope="module")
def small(wheel, tmp_path_factory) -> Seat:
    """After a plain `pip install`."""
    return seat(tmp_path_factory.mktemp("small"), wheel)


@pytest.fixture(scope="module")
def full(wheel, tmp_path_factory) -> Seat:
    """After `pip install "THE-WHEEL.whl[notebooks]"`."""
    return seat(tmp_path_factory.mktemp("full"), wheel, "notebooks")


def cell_of(path: Path, name: str) -> tuple[nbformat.NotebookNode, nbformat.NotebookNode]:
    notebook = nbformat.read(path, as_version=4)
    (cell,) = (c for c in notebook.cells if c.metadata.get("nbgrader", {}).get("grade_id") == name)
    return notebook, cell


def test_a_student_starts_answers_checks_updates_and_hands_in(full, next_wheel):
    assert "Your notebooks are in" in full.run("rnncourse", "start", "my-course")
    course = full.home / "my-course"
    path = course / "00_welcome" / "00_welcome.ipynb"
    if ALL:  # a check starts a kernel
        assert "0 of 1 points" in full.run("rnncourse", "check", "00", cwd=course)

    notebook, cell = cell_of(path, ANSWERED)
    cell.source = RIGHT
    notebook.cells.insert(notebook.cells.index(cell) + 1, nbformat.v4.new_code_cell("mine = 1"))
    nbformat.write(notebook, path)
    assert "1 of 1 points" in full.run("rnncourse", "check", "00", cwd=course)
    assert "is done" in full.run("rnncourse", "progress", cwd=course)

    full.install(next_wheel)
    said = full.run("rnncourse", "update", cwd=course)
    assert "00_welcome: updated, with 1 answer and 1 cell of your own." in said
    assert said.endswith("All else is as in release 0.2.0 already.\n")
    assert (path.parent / "00_welcome-before-0.2.0.ipynb").is_file()
    notebook, cell = cell_of(path, ANSWERED)
    assert cell.source == RIGHT
    assert [c.source for c in notebook.cells].count("New in this release.") == 1
    assert notebook.cells[notebook.cells.index(cell) + 1].source == "mine = 1"

    if ALL:
        assert "1 of 1 points" in full.run("rnncourse", "check", "00", cwd=course)
    handed_in = path.with_name("00_welcome-submission.ipynb")
    assert f"{handed_in} is the file to hand in. Nothing is missing in it." in full.run(
        "rnncourse", "submit", "00", cwd=course
    )
    assert cell_of(handed_in, ANSWERED)[1].source == RIGHT


@pytest.mark.nightly
def test_a_plain_install_is_small_and_has_all_commands_but_those_that_run_notebooks(small, wheel):
    assert {"torch", "jupyterlab", "ipykernel"} & needs(wheel) == set()
    small.run("python", "-c", DATA)
    full = small.run("rnncourse", "--help")
    assert all(command in full for command in ("start", "update", "submit", "progress"))
    small.run("rnncourse", "start", "my-course")
    course = small.home / "my-course"
    assert "Not written yet" in small.run("rnncourse", "submit", "03", cwd=course)
    assert "Everything is as in release" in small.run("rnncourse", "update", cwd=course)
    assert "'rnncourse lab 00' opens the first unit" in small.run("rnncourse", "progress", cwd=course)
    for command in (("check", "00"), ("lab",)):
        said = small.run("rnncourse", *command, cwd=course, code=1)
        assert f"pip install '{wheel}[notebooks]'" in said or "pip install 'THE-WHEEL" in said
        assert said.count("\n") == 1


def test_checks_of_each_unit_and_data_and_desk_are_there_away_from_the_checkout(full):
    """What the desk needs beside is seen through a path; the course itself is the installed one."""
    probe = """
import sys
from pathlib import Path
import rnncourse, rnngrade.author.build
from rnncourse import check, exercises
for unit in exercises.units():
    assert check(object(), next(iter(unit)).name).score == 0
for package in (rnncourse, rnngrade.author.build):
    assert Path(package.__file__).is_relative_to(sys.prefix), package.__file__
"""
    full.run(
        "python", "-c", f"{probe}\n{DATA}", PYTHONPATH=str(importlib.metadata.distribution("numpy").locate_file(""))
    )


def test_a_student_needs_nothing_of_the_desk_s_and_the_desk_no_cluster(wheel):
    assert needs(wheel, "notebooks") & NEVER_A_STUDENT_S == set()
    assert needs(wheel, "grading") & {"dask", "distributed"} == set()


FIND = """
import json
from jupyter_core.paths import jupyter_path
from jupyterlab_server.config import get_federated_extensions
print(json.dumps(get_federated_extensions(jupyter_path("labextensions"))["rnncourse"]))
"""


def test_jupyterlab_finds_the_extension_whoever_starts_it(full):
    about = json.loads(full.run("python", "-c", FIND))
    assert about["version"] == __version__
    assert (Path(about["ext_path"]) / about["jupyterlab"]["_build"]["load"]).is_file()
    assert Path(about["ext_path"]).is_relative_to(full.environment)


def notebooks_in(wheel: Path) -> Iterator[str]:
    with zipfile.ZipFile(wheel) as file:
        yield from (name for name in file.namelist() if name.endswith(".ipynb"))


def test_the_wheel_has_each_unit_s_notebook_as_students_get_it(root, wheel):
    given = {f"rnncourse/notebooks/{path.parent.name}/{path.name}" for path in root.glob("notebooks/*/*.ipynb")}
    assert set(notebooks_in(wheel)) == given
    with zipfile.ZipFile(wheel) as file:
        for name in given:
            assert file.read(name) == (root / name.removeprefix("rnncourse/")).read_bytes()
            assert b"BEGIN SOLUTION" not in file.read(name)


@pytest.fixture(scope="module")
def release(clone, tmp_path_factory) -> Path:
    """What a release uploads, made as `make dist` makes it: the source, and the wheel made of that."""
    folder = tmp_path_factory.mktemp("dist")
    course = clone(tmp_path_factory.mktemp("release"))
    command = [sys.executable, "-m", "build", "--no-isolation", "--outdir", folder, course]
    subprocess.run(command, check=True, capture_output=True, cwd=folder)
    return folder


@pytest.mark.nightly
def test_the_files_of_a_release_pass_the_checks_of_the_index(release):
    files = sorted(release.iterdir())
    ends = ("-py3-none-any.whl", ".tar.gz")
    assert [path.name for path in files] == [f"rnncourse-{__version__}{end}" for end in ends]
    subprocess.run([sys.executable, "-m", "twine", "check", "--strict", *files], check=True)


@pytest.fixture(scope="module")
def graded(clone, tmp_path_factory) -> Path:
    """The wheel for a graded class, as `make dist GRADED=1` makes it."""
    folder, course = tmp_path_factory.mktemp("graded"), clone(tmp_path_factory.mktemp("graded") / "course")
    command = [sys.executable, "-m", "build", "--no-isolation", "--wheel", "--outdir", folder, course]
    subprocess.run(command, check=True, capture_output=True, cwd=folder, env=os.environ | {"GRADED": "1"})
    (wheel,) = folder.glob("*.whl")
    return wheel


@pytest.mark.nightly
def test_a_release_for_a_graded_class_has_no_answer_to_read_and_checks_all_the_same(graded, tmp_path):
    with zipfile.ZipFile(graded) as file:
        texts = {name: file.read(name).decode("utf-8", "replace") for name in file.namelist()}
    others = [name for name in texts if name.startswith("rnncourse/exercises/others")]
    assert others
    assert all(name.endswith(".packed") for name in others)
    assert [name for name in texts if name.startswith("rnngrade/")] == ["rnngrade/cli.py"]
    answering = [name for name in texts if re.match(r"rnncourse/(exercises/.*|\w+\.py)", name)]
    assert len(answering) > 60
    for unit in exercises.units():
        for exercise in unit:
            if isinstance(exercise, Exercise):
                body = exercise.source.strip().splitlines()[1:]
                longest = max(body, key=len).strip()
                found = [name for name in answering if len(longest) > 30 and longest in texts[name]]
                assert found == [], exercise.name
    seat_of = seat(tmp_path, graded)
    probe = """
from rnncourse import check, exercises, progress, solution
step = exercises.find("rnn_step")
wrong = next(m for m in step.misconceptions if m.name == "recurrent_matrix_transposed")
verdict = check(wrong.answer, "rnn_step")
print(verdict.diagnosis, verdict.offers.solution, check(step.made_of(step.source, "<right>"), "rnn_step").passed)
print(solution("rnn_step"))
print(progress("03_cell").most)
"""
    said = seat_of.run("python", "-c", probe)
    assert "recurrent_matrix_transposed False True" in said
    assert "This release comes without solutions" in said
    assert said.endswith("31\n")


def names(wheel: Path) -> set[str]:
    with zipfile.ZipFile(wheel) as file:
        return set(file.namelist())


def test_a_wheel_has_all_files_of_the_packages_and_nothing_else(wheel, tracked):
    made = f"rnncourse-{__version__}.dist-info/", f"rnncourse-{__version__}.data/data/share/jupyter/labextensions/"
    own = {name for name in names(wheel) if not name.startswith((*made, "rnncourse/notebooks/"))}
    files = {path.as_posix() for path in tracked}
    assert own <= {name.removeprefix("grading/") for name in files}
    missing = {
        name
        for name in files
        if name.startswith(("rnncourse/", "grading/rnngrade/")) and name.removeprefix("grading/") not in own
    }
    assert missing == set()


@pytest.mark.nightly
def test_a_wheel_of_the_source_is_that_of_a_clone(release, wheel):
    (of_source,) = release.glob("*.whl")
    assert names(of_source) == names(wheel)


@pytest.mark.nightly
def test_the_source_of_a_release_has_what_a_wheel_is_made_of(release, tracked):
    (path,) = release.glob("*.tar.gz")
    with tarfile.open(path) as file:
        names = {member.name.partition("/")[2] for member in file.getmembers() if member.isfile()}
    made = {name for name in names if name.startswith("rnncourse.egg-info/")} | {"PKG-INFO", "setup.cfg"}
    files = {path.as_posix() for path in tracked}
    assert names - made <= files
    assert {"LICENSE", "LICENSE-TEXT", "README.md", "pyproject.toml", "setup.py"} <= names
    assert {name for name in files if name.startswith("notebooks/") and name.endswith(".ipynb")} <= names


def test_the_workflows_are_what_their_schema_says_and_call_what_make_calls(root):
    files = sorted((root / ".github" / "workflows").iterdir())
    command = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", "vendor.github-workflows", *files]
    subprocess.run(command, check=True)
    targets = set(re.findall(r"^([a-z]+):", (root / "Makefile").read_text(), re.MULTILINE))
    for path in files:
        jobs = yaml.safe_load(path.read_text())["jobs"].values()
        steps = [step for job in jobs for step in job.get("steps", [])]
        called = [target for step in steps for target in re.findall(r"^make (\w+)", step.get("run", ""), re.MULTILINE)]
        called += [found[1] or "test" for step in steps if (found := re.match(r"\.ci/run ?(\w*)", step.get("run", "")))]
        assert called, path.name
        assert set(called) <= targets


def size(wheel: Path, *extras: str) -> float:
    """What an installation takes, in gigabytes: the files of all its packages, and what Python compiles of them."""
    total = wheel.stat().st_size
    for name in needs(wheel, *extras):
        for file in importlib.metadata.distribution(name).files or ():
            if file.size is None:  # what was made when it was installed
                there = Path(str(file.locate()))
                total += there.stat().st_size if there.is_file() else 0
            else:
                total += file.size
    return total / 1e9


def test_an_installation_is_small(wheel):
    if not importlib.metadata.version("torch").endswith("+cpu"):
        pytest.skip("PyTorch is installed with what a GPU needs, which a student's is not")
    assert size(wheel) < 0.3
    assert 0.6 < size(wheel, "notebooks") < 1.35
