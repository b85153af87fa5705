"""What a notebook shows of its progress, in a kernel: a bar that moves, and plain output where nobody keeps it."""

import json
import subprocess
import sys

import nbformat
import pytest
from jupyter_client.manager import start_new_kernel
from nbclient import NotebookClient

from tests.waiting import PATIENCE

STEP = "def leaky_average(state, x, keep):\n    return {}\ncheck(leaky_average)"
WRONG, RIGHT = STEP.format("keep * x + (1 - keep) * state"), STEP.format("keep * state + (1 - keep) * x")
SETUP = "from rnncourse import check, progress"
BAR = 'progress("00_welcome")'


@pytest.fixture
def file(tmp_path, monkeypatch):
    path = tmp_path / "progress.json"
    monkeypatch.setenv("RNNCOURSE_PROGRESS", str(path))
    return path


def run(*sources):
    """The outputs of these cells, run in one kernel as a machine runs a notebook."""
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source) for source in sources])
    NotebookClient(notebook, kernel_name="python3", startup_timeout=PATIENCE).execute()
    return [cell.outputs for cell in notebook.cells]


OWN = "from rnncourse.cell import rnn_step\ncheck(rnn_step)"
STUB = "def leaky_average(state, x, keep):\n    raise NotImplementedError\ncheck(leaky_average)"
TRIAL = "def in_a_hurry(state, x, keep):\n    return keep * x\ncheck(in_a_hurry, 'leaky_average')"
TOLD = 'print(repr(progress("00_welcome")))'


def test_a_bar_moves_when_a_later_cell_passes_and_back_when_its_answer_is_broken_in_another_session(file):
    _, (bar,), _, (_, check) = run(SETUP, BAR, WRONG, RIGHT)
    assert 'value="1"' in bar["data"]["text/html"]
    assert "1 of 1 points" in bar["data"]["text/plain"]
    assert check["data"]["text/plain"] == "1"
    assert json.loads(file.read_text())["exercises"]["leaky_average"]["passed"]
    _, (begins,), (moved,), _ = run(SETUP, TOLD, BAR, WRONG)
    assert "✓ leaky_average: 1 of 1" in begins.text
    assert "· leaky_average: 0" in moved["data"]["text/plain"]
    _, (shown,) = run(SETUP, BAR)
    assert "of 1 (it passed before)" in shown["data"]["text/plain"]


def test_neither_the_course_s_own_nor_what_is_not_written_nor_a_trial_changes_progress(file):
    _, (_, own), _, (_, stub), (_, trial), (told,) = run(SETUP, OWN, RIGHT, STUB, TRIAL, TOLD)
    assert own["data"]["text/plain"] == "3"
    assert stub["data"]["text/plain"] == "0"
    assert trial["data"]["text/plain"] != "1"
    assert "✓ leaky_average: 1 of 1" in told.text
    kept = json.loads(file.read_text())["exercises"]
    assert list(kept) == ["leaky_average"]
    assert kept["leaky_average"]["passed"]


def test_nor_does_a_script(file, tmp_path):
    script = tmp_path / "trial.py"
    script.write_text(f"{SETUP}, hint\n{WRONG}\nhint('leaky_average')\n{BAR}\n", encoding="utf-8")
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, check=True)
    assert "✗ leaky_average: 0." in done.stdout
    assert "Hint 1 of 3 for leaky_average: " in done.stdout
    assert "00 Welcome  [" in done.stdout
    assert not file.exists()


@pytest.mark.parametrize("setting", [None, "off"])
def test_a_machine_that_runs_a_notebook_keeps_nothing_and_shows_its_session(setting, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    monkeypatch.delenv("RNNCOURSE_PROGRESS", raising=False)
    if setting:
        monkeypatch.setenv("RNNCOURSE_PROGRESS", setting)
    _, (first,), _, (last,) = run(SETUP, BAR, RIGHT, BAR)
    assert [first.output_type, last.output_type] == ["execute_result", "execute_result"]
    assert 'value="0"' in first["data"]["text/html"]
    assert 'value="1"' in last["data"]["text/html"]
    assert list(tmp_path.iterdir()) == []


def test_it_is_kept_for_somebody_at_the_keyboard(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    monkeypatch.delenv("RNNCOURSE_PROGRESS", raising=False)
    manager, client = start_new_kernel(kernel_name="python3", startup_timeout=PATIENCE)
    try:
        # what a page asks for, so that input() can work, and a machine that runs a notebook does not
        client.execute_interactive(f"{SETUP}\n{RIGHT}", allow_stdin=True, output_hook=lambda message: None)
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)
    assert (tmp_path / "rnncourse" / "progress.json").exists()


def test_a_check_gives_its_verdict_where_progress_cannot_be_kept(file):
    file.mkdir()
    _, outputs = run(SETUP, RIGHT)
    said, _, verdict = outputs
    assert verdict["data"]["text/plain"] == "1"
    assert said.name == "stdout"
    assert said.text.startswith("Your progress cannot be ")
    assert said.text.count("\n") == 1
