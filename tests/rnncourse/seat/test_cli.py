"""`rnncourse`, as a student types it, on notebooks of a unit that is quick to run."""

import ast
import copy
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path, PurePosixPath, PureWindowsPath

import nbclient
import nbformat
import pytest
from click.testing import CliRunner
from nbformat import from_dict

from rnncourse import exercises
from rnncourse.seat import cli, handin, in_browser, logbook, places
from tests.waiting import PATIENCE

ROOT = Path(__file__).resolve().parents[3]
UNIT = "02_unfolding"
NAMES = [exercise.name for exercise in exercises.unit(UNIT)]


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """A student's folder with the notebook as it was given out; progress is kept beside it."""
    folder = tmp_path / "course" / "notebooks"
    (folder / UNIT).mkdir(parents=True)
    shutil.copy(ROOT / "notebooks" / UNIT / f"{UNIT}.ipynb", folder / UNIT)
    monkeypatch.setenv("RNNCOURSE_PROGRESS", str(tmp_path / "progress.json"))
    monkeypatch.chdir(tmp_path / "course")
    return folder


@pytest.fixture
def mine(folder):
    return folder / UNIT / f"{UNIT}.ipynb"


def rnncourse(*arguments):
    return CliRunner().invoke(cli.main, arguments, catch_exceptions=False)


def edit(path, **sources):
    """Write into the cells of these names; None deletes one."""
    notebook = nbformat.read(path, 4)
    for name, source in sources.items():
        (cell,) = [c for c in notebook.cells if c.metadata.get("nbgrader", {}).get("grade_id") == name]
        if source is None:
            notebook.cells.remove(cell)
        else:
            cell.source = source
    nbformat.write(notebook, path)


def solutions():
    notebook = nbformat.read(ROOT / "solutions" / UNIT / f"{UNIT}.ipynb", 4)
    return {c.metadata["nbgrader"]["grade_id"]: c.source for c in notebook.cells if "nbgrader" in c.metadata}


def answers():
    return {name: solutions()[name] for name in NAMES}


# --- check


def test_check_gives_what_was_handed_out_no_points_and_runs_no_experiment_and_nothing_in_the_folder(mine):
    notebook = nbformat.read(mine, 4)
    for cell in notebook.cells:
        if "experiment" in cell.metadata.get("tags", []):
            cell.source = "open('seen.txt', 'w')\nraise SystemExit"
    notebook.cells.append(nbformat.v4.new_code_cell("open('here.txt', 'w')"))
    nbformat.write(notebook, mine)
    before = mine.read_bytes()
    logbook.keep(NAMES[0], 1.0, True)  # what is not written changes nothing that is kept
    result = rnncourse("check", "02", "--strict")
    assert result.exit_code == 3
    assert {name: kept.passed for name, kept in logbook.standings().items()} == {NAMES[0]: True}
    assert "0 of 15 points, 0 of 6 exercises passed" in result.output
    assert result.output.count(" not written\n") == 7
    assert "✗" not in result.output
    assert f"Not written yet: {', '.join(NAMES)}." in result.output
    assert "To be answered in words: unfolding_written." in result.output
    assert mine.read_bytes() == before
    assert list(mine.parent.iterdir()) == [mine]


@pytest.fixture
def short_for_what_is_endless(monkeypatch):
    """The time that a cell has is up soon where it does not end; all others have as much as they need."""

    made = nbclient.NotebookClient

    def client(notebook, *, timeout, **settings):
        def seconds(cell):
            return timeout if "while True" in cell.source else PATIENCE

        return made(notebook, timeout_func=seconds, **settings)

    monkeypatch.setattr(nbclient, "NotebookClient", client)
    monkeypatch.setattr(handin, "CELL_SECONDS", 1)


@pytest.mark.usefixtures("short_for_what_is_endless")
def test_check_says_what_is_wrong_and_whatever_is_broken_costs_its_own_exercise_only(mine):
    first, second, third, fourth, *rest = NAMES
    wrong = exercises.find(first).misconceptions[0]
    changes = {
        first: wrong.source_for(first),
        second: "import os\nos._exit(1)",
        third: "while True: pass",
        fourth: "def x(:",
    }
    edit(mine, **answers() | changes)
    result = rnncourse("check", str(mine))
    assert result.exit_code == 0
    assert " ".join(wrong.message.split()) in " ".join(result.output.split())
    assert f"✗ {second}" in result.output
    assert "it ended its kernel" in result.output
    assert "it took more than 1 seconds" in result.output
    assert "Its cell stopped: SyntaxError" in result.output
    assert all(f"✓ {name}" in result.output for name in rest)


def test_check_gives_full_points_and_keeps_them_though_a_cell_was_lost_copied_or_changed(mine):
    given = answers()
    edit(mine, **given | {NAMES[0]: None, f"check_{NAMES[1]}": "print(3)", f"check_{NAMES[2]}": None})
    edit(mine, unfolding_written="Because it is one function.")
    notebook = nbformat.read(mine, 4)
    notebook.cells.insert(1, nbformat.v4.new_code_cell(f"import numpy as np\n{given[NAMES[0]]}"))
    (cell,) = [c for c in notebook.cells if c.metadata.get("nbgrader", {}).get("grade_id") == NAMES[3]]
    blank = copy.deepcopy(cell)
    blank.source, blank.id = "raise NotImplementedError", "another"
    notebook.cells.append(blank)
    (setup,) = [c for c in notebook.cells if c.metadata.get("nbgrader", {}).get("grade_id") == "setup"]
    setup.source += "\nimport os"
    nbformat.write(notebook, mine)
    result = rnncourse("check", "02", "--strict")
    assert result.exit_code == 0
    assert "12 of 15 points, 6 of 6 exercises passed, by the checks that you can see." in result.output
    assert {name for name, kept in logbook.standings().items() if kept.passed} == set(NAMES)
    assert f"The cell of {NAMES[0]} is gone or renamed; what another cell defines is graded." in result.output
    assert f"The check of {NAMES[1]} was changed" in result.output
    assert f"The check of {NAMES[2]} is gone" in result.output
    assert f"There are 2 cells for {NAMES[3]}" in result.output
    assert "The cell setup was changed" in result.output


# --- submit


def test_submit_writes_one_file_without_outputs_and_says_what_is_missing(mine):
    edit(mine, **{NAMES[0]: answers()[NAMES[0]]})
    notebook = nbformat.read(mine, 4)
    notebook.cells[-1] = nbformat.v4.new_code_cell("1", outputs=[nbformat.v4.new_output("stream", text="x")])
    nbformat.write(notebook, mine)
    before = mine.read_bytes()
    result = rnncourse("submit", "02")
    assert result.exit_code == 0
    assert f"Not written yet: {', '.join(NAMES[1:])}." in result.output
    path = mine.with_name(f"{UNIT}-submission.ipynb")
    assert f"{path} is the file to hand in." in result.output
    written = nbformat.read(path, 4)
    assert [cell.source for cell in written.cells] == [cell.source for cell in notebook.cells]
    assert [cell.metadata for cell in written.cells] == [cell.metadata for cell in notebook.cells]
    assert not any(cell.get("outputs") for cell in written.cells)
    assert mine.read_bytes() == before


def test_submit_says_so_if_nothing_is_missing_and_in_a_browser_the_same_comes_of_it(mine, tmp_path):
    edit(mine, **answers(), unfolding_written="Because it is one function.")
    result = rnncourse("submit", "02", "--output", str(tmp_path))
    assert result.output.rstrip().endswith("is the file to hand in. Nothing is missing in it.")
    made = json.loads(in_browser.hand_in(mine.read_text(encoding="utf-8"), mine.name))
    assert made["said"] == "Nothing is missing in it."
    assert from_dict(made["notebook"]) == nbformat.read(tmp_path / made["file"], as_version=4)


def test_submit_never_writes_over_the_notebook_itself(mine):
    before = mine.read_bytes()
    result = rnncourse("submit", "02", "--output", str(mine))
    assert result.exit_code == 1
    assert "is the notebook that you work in" in result.output
    assert mine.read_bytes() == before


@pytest.mark.parametrize("stem", exercises.STEMS)
def test_a_solution_has_nothing_missing_and_nothing_at_fault(stem):
    solution = handin.read(ROOT / "solutions" / stem / f"{stem}.ipynb")
    assert handin.remarks(solution) == []
    assert handin.faults(solution) == []


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("def unfold(:", "No Python, so it cannot be graded: unfold, line 1: invalid syntax."),
        ("def unfold(f):\n    return np.zeroes(steps)", "Nothing defines `steps`, which is used in unfold."),
        ("def unfold(f):\n    return r", "Only an experiment, which grading leaves out, defines `r`"),
    ],
)
def test_submit_sees_what_cannot_run(mine, source, words):
    with_an_experiment(mine)
    edit(mine, unfold=source)
    (found,) = handin.faults(handin.read(mine))
    assert words in found
    assert words in rnncourse("submit", "02").output


def with_an_experiment(mine):
    notebook = nbformat.read(mine, 4)
    notebook.cells.insert(2, nbformat.v4.new_code_cell("r = 3", metadata={"tags": ["experiment"]}))
    nbformat.write(notebook, mine)


def test_what_can_run_is_no_fault(mine):
    with_an_experiment(mine)
    notebook = handin.read(mine)
    (answer,) = (cell for cell in notebook.node.cells if handin.cell_name(cell) == "unfold")
    for answer.source in (
        "%%time\nnp.zeros(3)",
        "%%html\n<b>no Python</b>",
        "!ls\n%matplotlib inline\nnp.zeros?\ndef unfold(f):\n    return f",
        "def unfold(f):\n    return [(x\n % y) for x, y in f]",
        "from math import *\ndef unfold(f):\n    return cos(f)",
        "def unfold(f):\n    global count\n    count = 1\n    return count, display, __name__",
        "class unfold:\n    a = 1\n    def f(self, b=a):\n        return super().f(b, __class__)",
        "try:\n    unfold = 1\nexcept ValueError as error:\n    print(error)",
        "match np:\n    case [first, *rest]:\n        unfold = first, rest",
        "def unfold(f):\n    return (y := f), y, lambda z: z + y",
    ):
        assert handin.faults(notebook) == [], answer.source


# --- what cannot be done is one sentence


@pytest.mark.parametrize("command", ["check", "submit"])
@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("99", "There is no unit '99'."),
        ("gone.ipynb", "There is no notebook gone.ipynb."),
        ("broken.ipynb", "cannot be read as a notebook"),
        ("foreign.ipynb", "has none of the course's exercises"),
    ],
)
def test_what_is_no_notebook_of_the_course_is_said_in_a_sentence(command, name, words):
    Path("broken.ipynb").write_text('{"cells": [')
    nbformat.write(nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("1")]), "foreign.ipynb")
    result = rnncourse(command, name)
    assert result.exit_code == 1
    assert words in result.output
    assert result.output.count("\n") == 1


def test_a_unit_is_found_beside_above_and_below_where_one_is(folder, mine, tmp_path, monkeypatch):
    for place in (folder.parent, folder, folder / UNIT):
        monkeypatch.chdir(place)
        assert handin.find("02", Path.cwd()) == mine
        assert places.notebooks_folder(Path.cwd()) == folder
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(places, "__file__", str(tmp_path / "site-packages" / "rnncourse" / "seat" / "places.py"))
    with pytest.raises(handin.HandinError, match="go to the folder of the course"):
        handin.find("02", Path.cwd())
    assert "go to the folder of the course" in rnncourse("lab").output


def test_notebooks_of_one_s_own_come_before_those_that_are_given_out(folder, mine):
    own = folder.parent / "my-course"
    shutil.copytree(folder, own)
    assert handin.find("02", folder.parent) == own / UNIT / f"{UNIT}.ipynb"
    assert places.notebooks_folder(folder.parent) == own
    assert handin.find("02", folder) == mine


# --- lab


@pytest.fixture
def called(monkeypatch):
    """What is called in place of JupyterLab."""
    calls = []
    monkeypatch.setattr(cli, "_become", lambda command, **variables: calls.append(command))
    return calls


def test_lab_opens_the_folder_or_a_unit_s_notebook_and_hands_options_on(folder, called):
    assert rnncourse("lab").exit_code == 0
    assert rnncourse("lab", "2").exit_code == 0
    assert rnncourse("lab", "--no-browser", "--port=9000").exit_code == 0
    assert [call[:4] for call in called] == [[sys.executable, "-m", "jupyterlab", f"--ServerApp.root_dir={folder}"]] * 3
    assert all(f"--LabApp.default_url=/lab/tree/{UNIT}/{UNIT}.ipynb" in call for call in called)
    assert called[2][-2:] == ["--no-browser", "--port=9000"]


@pytest.mark.parametrize(
    ("kind", "folder", "notebook"),
    [
        (PureWindowsPath, r"D:\People\Ada L\my-course", r"D:\People\Ada L\my-course\03_cell\03_cell.ipynb"),
        (PurePosixPath, "/People/ada/My Course", "/People/ada/My Course/03_cell/03_cell.ipynb"),
        (PurePosixPath, "/srv/ada/my-course", "/srv/ada/my-course/03_cell/03_cell.ipynb"),
    ],
)
def test_a_notebook_has_the_same_address_on_every_system(kind, folder, notebook):
    assert cli._address(kind(notebook), kind(folder)) == "/lab/tree/03_cell/03_cell.ipynb"
    assert cli._address(kind(folder) / "my copy#2.ipynb", kind(folder)) == "/lab/tree/my%20copy%232.ipynb"


@pytest.mark.parametrize(("user", "allowed"), [(0, True), (1000, False)])
def test_lab_runs_as_root_only_for_root(called, monkeypatch, user, allowed):
    monkeypatch.setattr(cli.os, "geteuid", lambda: user)
    rnncourse("lab")
    assert ("--allow-root" in called[0]) == allowed


def test_ctrl_c_and_kill_reach_what_is_run():
    inner = "import os; print(os.getpid())"
    code = f"import sys; from rnncourse.seat.cli import _become; _become([sys.executable, '-c', {inner!r}])"
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) as process:
        said, _ = process.communicate()
    assert int(said) == process.pid


@pytest.mark.skipif(os.name != "posix", reason="a login shell is Unix's")
@pytest.mark.parametrize("shell", ["/bin/sh", "/bin/bash"])
def test_a_terminal_in_jupyterlab_finds_our_command_though_a_login_sets_the_path_anew(called, tmp_path, shell):
    rnncourse("lab")
    (settings,) = [option for option in called[0] if option.startswith("--ServerApp.terminado_settings=")]
    command = ast.literal_eval(settings.partition("=")[2])["shell_command"]
    (tmp_path / ".profile").write_text("PATH=/usr/bin:/bin\n")
    done = subprocess.run(
        command,
        input="command -v rnncourse\n",
        env={"HOME": str(tmp_path), "SHELL": shell, "PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
        start_new_session=True,
    )
    assert str(Path(sys.executable).with_name("rnncourse")) in done.stdout


# --- progress


def test_progress_shows_every_unit_and_what_is_open_where_one_is():
    logbook.keep(NAMES[0], 1.0, True)
    logbook.keep(NAMES[1], 0.5, False)
    shown = rnncourse("progress").output
    assert all(unit.title[:20] in shown for unit in logbook.outline())
    assert "1 of 6" in shown
    open_ones = shown.partition("Open in 02")[2]
    assert f" {NAMES[0]}," not in open_ones
    assert all(name in open_ones for name in NAMES[1:])


def test_progress_for_scripts():
    logbook.keep(NAMES[1], 0.5, False)
    (unit,) = [u for u in json.loads(rnncourse("progress", "--json").output)["units"] if u["unit"] == UNIT]
    points = exercises.find(NAMES[1]).points
    assert unit["points"] == points / 2
    assert unit["max_points"] == exercises.unit(UNIT).points + sum(unit["written"].values())
    row = {"name": NAMES[1], "points": points / 2, "passed": False, "passed_once": False}
    assert unit["exercises"][1].items() >= row.items()
    assert unit["exercises"][0]["when"] is None


def test_progress_says_what_passed_before_and_does_not_hold_now():
    logbook.keep(NAMES[0], 1.0, True)
    logbook.keep(NAMES[0], 0.5, False)
    assert f"Open in 02 Dynamical systems and their graphs: {NAMES[0]} (it passed before)," in " ".join(
        rnncourse("progress").output.split()
    )


@pytest.mark.parametrize("stem", exercises.STEMS)
def test_text_bar_and_table_say_the_same_total(stem):
    from rnncourse import progress

    cells = nbformat.read(ROOT / "notebooks" / stem / f"{stem}.ipynb", 4).cells
    told = re.search(r"(\d+) points in all", " ".join(cell.source for cell in cells if cell.cell_type == "markdown"))
    (unit,) = [unit for unit in logbook.outline() if unit.stem == stem]
    assert progress(stem).most == unit.most == sum(c.metadata.get("nbgrader", {}).get("points", 0) for c in cells)
    assert told is None or int(told[1]) == unit.most


def test_progress_before_the_first_check_says_where_to_begin():
    assert "rnncourse lab 00" in rnncourse("progress").output
