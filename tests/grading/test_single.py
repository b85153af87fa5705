"""One file, graded by itself: by hand, in a workflow, and as Gradescope's container does it."""

import io
import json
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from rnncourse import exercises
from rnngrade.core.errors import DeskError
from rnngrade.core.record import ExerciseResult, Finding, Record
from rnngrade.grading.single import grade_file, unit_of
from rnngrade.lms.github import annotated, release_zip, workflow
from rnngrade.lms.gradescope import _submitted, autograder_zip
from tests.grading.solved import solved

UNIT = "03_cell"
WRONG = "def rnn_step(x, h_prev, U, W, b):\n    return np.tanh(x @ U + h_prev @ W.T + b)"

# https://gradescope-autograders.readthedocs.io/en/latest/specs/, "Output format"
TYPES = {
    **dict.fromkeys(["score", "max_score", "execution_time"], float),
    **dict.fromkeys(["output", "output_format", "visibility", "name", "name_format", "number", "status"], str),
    **dict.fromkeys(["test_output_format", "test_name_format", "stdout_visibility"], str),
    "extra_data": dict,
    "tests": list,
    "leaderboard": list,
    "tags": list,
}
OF_A_TEST = {"score", "max_score", "status", "name", "name_format", "number", "output", "output_format", "tags",
             "visibility", "extra_data"}  # fmt: skip
OF_ALL = TYPES.keys() - {"max_score", "status", "name", "name_format", "number", "tags"}
VISIBILITY = {"hidden", "after_due_date", "after_published", "visible"}
FORMATS = {"text", "html", "simple_format", "md", "ansi"}


@pytest.fixture(scope="module")
def answered(root, tmp_path_factory):
    """Unit 03 with one known mistake."""
    path = tmp_path_factory.mktemp("answered") / "FINAL (2).ipynb"
    path.write_bytes(solved(root, UNIT, rnn_step=WRONG))
    return path


def test_a_file_of_any_name_is_graded_by_what_is_in_it(root, answered):
    done = grade_file(root, answered, seed="7")
    assert done.record.unit == UNIT
    lost = {e.name: e.diagnosis for e in done.record.exercises if not e.passed}
    assert lost == {"rnn_step": "recurrent_matrix_transposed"}


def test_the_unit_of_each_released_notebook_is_known(root):
    for stem in exercises.STEMS:
        assert unit_of((root / "notebooks" / stem / f"{stem}.ipynb").read_bytes(), "homework.ipynb") == stem


@given(st.binary(max_size=300) | st.text(max_size=300).map(str.encode) | st.just(b'{"cells": [{"metadata": 3}]}'))
def test_what_is_no_notebook_of_the_course_is_told_in_a_sentence(data):
    with pytest.raises(DeskError, match=r"[.]$"):
        unit_of(data, "x.ipynb")


def container(folder, root, answered, seed="7"):
    """A folder laid out as Gradescope's container is, with the autograder and a submission in it."""
    data = autograder_zip(root, UNIT, seed)
    (folder / "autograder.zip").write_bytes(data)
    with zipfile.ZipFile(folder / "autograder.zip") as file:
        file.extractall(folder / "source")
    for name in ("setup.sh", "run_autograder"):
        (folder / "source" / name).chmod(0o755)
    shutil.copy(folder / "source" / "run_autograder", folder / "run_autograder")
    for name in ("submission", "results"):
        (folder / name).mkdir()
    shutil.copy(answered, folder / "submission")
    (folder / "submission_metadata.json").write_text(json.dumps({"id": 1, "users": [{"name": "Ada", "id": 7}]}))
    # an image that has all packages already, but not the course: a room sees nothing of what lies in /tmp
    python = folder / "env" / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.write_text(f'#!/bin/sh\nexec {sys.executable} "$@"\n')
    python.chmod(0o755)
    return folder


@pytest.mark.nightly
def test_gradescope_s_container_grades_a_submission(root, answered, tmp_path):
    folder = container(tmp_path, root, answered)
    environment = {"PATH": f"{Path(sys.executable).resolve().parent}:{os.environ['PATH']}", "HOME": str(tmp_path)}
    offline = environment | {"PIP_NO_INDEX": "1", "PIP_ROOT_USER_ACTION": "ignore"}
    subprocess.run(["bash", folder / "source" / "setup.sh"], check=True, env=offline, cwd=folder)
    done = subprocess.run([folder / "run_autograder"], env=environment, cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    found = json.loads((folder / "results" / "results.json").read_text())
    are_documented(found)
    assert [test["name"] for test in found["tests"]] == [e.name for e in exercises.unit(UNIT)]
    (lost,) = (test for test in found["tests"] if test["status"] == "failed")
    assert lost["name"] == "rnn_step"
    assert "W is transposed" in lost["output"]
    assert "Hint" in lost["output"]
    assert 0 < lost["score"] < lost["max_score"]
    assert "waits for a person" in found["output"]


def are_documented(found):
    for fields, known in ((found, OF_ALL), *((test, OF_A_TEST) for test in found["tests"])):
        assert fields.keys() <= known
        for name, value in fields.items():
            assert isinstance(value, TYPES[name]), name
            assert not name.endswith("visibility") or value in VISIBILITY
            assert not name.endswith("format") or value in FORMATS
        assert fields.get("status", "passed") in ("passed", "failed")
    assert "score" in found or all("score" in test for test in found["tests"])


@pytest.mark.parametrize("files", [[], ["a.ipynb", "b.ipynb"], ["report.pdf"], [".ipynb_checkpoints/a.ipynb"]])
def test_who_does_not_hand_in_one_notebook_is_told_so(files, tmp_path):
    for name in files:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("{}")
    with pytest.raises(DeskError, match="hand in the one notebook"):
        _submitted(tmp_path)


def test_the_same_autograder_comes_out_for_the_same_unit_and_holds_no_solution(root):
    first, again = (autograder_zip(root, UNIT, "7") for _ in range(2))
    assert first == again
    with zipfile.ZipFile(io.BytesIO(first)) as file:
        assert {"setup.sh", "run_autograder"} <= set(file.namelist())  # at its root, as is asked for
        assert not any("solutions/" in name for name in file.namelist())


def test_github_gets_a_workflow_that_its_schema_knows(tmp_path):
    path = tmp_path / "classroom.yml"
    path.write_text(workflow(UNIT, "university/rnncourse", "v0.1.0"))
    subprocess.run(
        [sys.executable, "-m", "check_jsonschema", "--builtin-schema", "vendor.github-workflows", path], check=True
    )
    steps = yaml.safe_load(path.read_text())["jobs"]["grade"]["steps"]
    assert any("rnngrade.cli --course grader/source grade" in step.get("run", "") for step in steps)


def test_github_s_release_grades_and_holds_no_solutions(root, tmp_path):
    with zipfile.ZipFile(io.BytesIO(release_zip(root))) as file:
        file.extractall(tmp_path)
    assert not [path for path in tmp_path.rglob("*") if "solutions" in path.parts]
    command = [sys.executable, "-m", "rnngrade.cli", "--course", tmp_path, "grade", "--sandbox", "none"]
    blank = root / "notebooks" / UNIT / f"{UNIT}.ipynb"
    env = {**os.environ, "PYTHONPATH": str(tmp_path / "course")}
    done = subprocess.run([*command, blank], capture_output=True, text=True, env=env, cwd=tmp_path)
    assert done.returncode == 3, done.stderr
    assert f"{UNIT}: 0 of" in done.stdout


@given(words=st.text(max_size=80), name=st.text(max_size=20))
def test_whatever_a_message_holds_is_one_annotation(words, name):
    result = ExerciseResult(name, "judged", 0.0, 1.0, False, words)
    record = Record("ada", UNIT, "key", "", (result,), findings=(Finding("odd", words),))
    for line in annotated(record, Path("work/03,cell:1.ipynb")):
        assert "\n" not in line
        assert "\r" not in line
        command, _, _ = line.removeprefix("::").partition("::")
        assert command.startswith(("error file=work/03%2Ccell%3A1.ipynb,title=", "warning file="))
        assert command.count(",") == 1
