"""A verdict belongs to the text of a cell: which run it is of, and none where the cell says something else now."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time

import nbformat
import pytest
from jupyter_client.manager import start_new_kernel

from tests.rnncourse.seat.test_notebook import SETUP

RIGHT = "def leaky_average(state, x, keep):\n    return keep * state + (1 - keep) * x"
COLON = RIGHT.replace("):", ")", 1)
CHECK = "check(leaky_average)"


class Kernel:
    """Cells, run one after the other as a page runs them: each has an id, and the kernel may ask for input."""

    def __init__(self, **environment: str) -> None:
        env = os.environ | environment
        self.manager, self.client = start_new_kernel(kernel_name="python3", env=env)

    def run(self, source: str, cell: str = "") -> str:
        """All that a cell shows, as text."""
        content = {"code": source, "silent": False, "store_history": True, "allow_stdin": True, "stop_on_error": True}
        metadata = {"cellId": cell} if cell else {}
        sent = self.client.session.msg("execute_request", content, metadata=metadata)
        self.client.shell_channel.send(sent)
        shown = ""
        while True:
            message = self.client.get_iopub_msg(timeout=60)
            if message["parent_header"].get("msg_id") != sent["header"]["msg_id"]:
                continue
            kind, content = message["msg_type"], message["content"]
            if kind == "status" and content["execution_state"] == "idle":
                return shown
            shown += content.get("data", {}).get("text/plain", "") + content.get("text", "") + content.get("evalue", "")

    def close(self) -> None:
        self.client.stop_channels()
        self.manager.shutdown_kernel(now=True)


@pytest.fixture
def notebook(tmp_path):
    """A notebook with an answer, as it is saved."""
    path = tmp_path / "mine.ipynb"

    def save(source: str, name: str = "leaky_average", cell: str = "answer") -> None:
        metadata = {"nbgrader": {"grade_id": name, "solution": True}}
        cells = [nbformat.v4.new_code_cell(source, id=cell, metadata=metadata), nbformat.v4.new_code_cell(CHECK)]
        nbformat.write(nbformat.v4.new_notebook(cells=cells), path)

    save(RIGHT)
    return path, save


@pytest.fixture
def kernel(tmp_path, notebook):
    path, _ = notebook
    made = Kernel(RNNCOURSE_PROGRESS=str(tmp_path / "progress.json"), JPY_SESSION_NAME=str(path))
    assert made.run(SETUP) == ""
    yield made
    made.close()


def kept(tmp_path):
    return json.loads((tmp_path / "progress.json").read_text())["exercises"]["leaky_average"]


def test_a_card_says_which_run_it_judged(kernel):
    kernel.run(RIGHT, "answer")
    assert "✓ leaky_average: 1 of 1 point, of In [2]. Right on every case." in kernel.run(CHECK)
    kernel.run(RIGHT, "answer")
    assert "of In [4]" in kernel.run(CHECK)
    assert "of In [6]" in kernel.run(f"{RIGHT}\n{CHECK}")


@pytest.mark.parametrize(
    ("broken", "words"),
    [
        (COLON, "SyntaxError: expected ':' (line 1)"),
        (RIGHT.replace("def ", "de "), "SyntaxError: invalid syntax (line 1)"),
        (f"nothing\n{RIGHT}", "NameError: name 'nothing' is not defined"),
        (f"@nothing\n{RIGHT}", "NameError"),
        ("leaky_average = 1 / 0", "ZeroDivisionError: division by zero"),
    ],
    ids=["no colon", "no def", "stops before", "decorator", "value"],
)
def test_there_is_no_verdict_if_the_cell_stopped_when_it_last_ran(kernel, tmp_path, broken, words):
    kernel.run(RIGHT, "answer")
    kernel.run(CHECK)
    kernel.run(broken, "answer")
    said = kernel.run(CHECK)
    assert "· leaky_average: no verdict. The cell of leaky_average does not run: in In [4] it stopped with" in said
    assert words in said
    assert said.endswith("0")  # as nbgrader reads it
    assert kept(tmp_path)["passed"]  # what is no verdict changes no progress
    kernel.run(RIGHT, "answer")
    assert "✓ leaky_average" in kernel.run(CHECK)


def test_what_a_cell_defined_before_it_stopped_is_what_stands_there(kernel):
    kernel.run(f"{RIGHT}\n1 / 0", "answer")
    assert "✓ leaky_average: 1 of 1 point, of In [2]" in kernel.run(CHECK)


def test_what_was_given_out_is_not_written_yet(kernel):
    kernel.run("quiz_rnn_facts = None\nraise NotImplementedError", "quiz")
    assert "quiz_rnn_facts is not answered yet" in kernel.run('check(quiz_rnn_facts, "quiz_rnn_facts")')


def test_an_answer_that_was_edited_and_saved_but_not_run_gets_no_verdict(kernel, notebook):
    _, save = notebook
    kernel.run(RIGHT, "answer")
    time.sleep(0.01)  # a clock of files may be coarse
    save(RIGHT)
    assert "✓" in kernel.run(CHECK)
    save(f"{RIGHT}  # better")
    assert "says something else now than in In [2]" in kernel.run(CHECK)
    kernel.run(f"{RIGHT}  # better", "answer")
    assert "✓ leaky_average: 1 of 1 point, of In [5]" in kernel.run(CHECK)
    kernel.run(RIGHT, "answer")  # edited and run, and not saved
    assert "✓ leaky_average: 1 of 1 point, of In [7]" in kernel.run(CHECK)


def test_in_a_front_end_that_gives_no_ids_the_cell_is_found_by_its_name(kernel, notebook):
    _, save = notebook
    kernel.run(RIGHT)
    time.sleep(0.01)
    save(f"{RIGHT}  # better")
    assert "says something else now" in kernel.run(CHECK)


def test_use_takes_the_course_s_while_the_cell_does_not_run(kernel):
    kernel.run(RIGHT, "answer")
    kernel.run(CHECK)
    kernel.run(COLON, "answer")
    assert "the course’s" in kernel.run("from rnncourse import use; _ = use(leaky_average)")


def test_in_a_terminal_too(tmp_path):
    right, colon = (source.replace("\n    ", " ") for source in (RIGHT, COLON))  # a line is a cell there
    typed = "\n\n".join([SETUP, right, CHECK, colon, CHECK, "exit"]) + "\n"
    command = [sys.executable, "-m", "IPython", "--no-banner", "--colors=NoColor", "--simple-prompt"]
    env = os.environ | {"RNNCOURSE_PROGRESS": str(tmp_path / "progress.json"), "HOME": str(tmp_path)}
    done = subprocess.run(command, input=typed, capture_output=True, text=True, cwd=tmp_path, env=env)
    assert "✓ leaky_average: 1 of 1 point, of In [2]." in done.stdout, done
    assert "· leaky_average: no verdict. The cell of leaky_average does not run: in In [4] it stopped" in done.stdout
