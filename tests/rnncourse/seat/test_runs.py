"""A verdict belongs to the text of a cell: which run it is of, and none where the cell says something else now."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import nbformat
import pytest
from jupyter_client.manager import start_new_kernel

from tests.rnncourse.seat.test_notebook import SETUP
from tests.waiting import PATIENCE

RIGHT = "def leaky_average(state, x, keep):\n    return keep * state + (1 - keep) * x"
COLON = RIGHT.replace("):", ")", 1)
CHECK = "check(leaky_average)"


class Kernel:
    """Cells, run one after the other as a page runs them: each has an id, and the kernel may ask for input."""

    def __init__(self, folder: Path) -> None:
        self.notebook, self.progress = folder / "mine.ipynb", folder / "progress.json"
        self.save(RIGHT)
        env = os.environ | {"RNNCOURSE_PROGRESS": str(self.progress), "JPY_SESSION_NAME": str(self.notebook)}
        self.manager, self.client = start_new_kernel(kernel_name="python3", startup_timeout=PATIENCE, env=env)
        self.number = 0  # of the cell that ran last

    def save(self, source: str) -> None:
        """Write the notebook with its answer, as it is saved; later than all that has run, though clocks be coarse."""
        time.sleep(0.01)
        metadata = {"nbgrader": {"grade_id": "leaky_average", "solution": True}}
        answer = nbformat.v4.new_code_cell(source, id="answer", metadata=metadata)
        nbformat.write(nbformat.v4.new_notebook(cells=[answer, nbformat.v4.new_code_cell(CHECK)]), self.notebook)

    def run(self, source: str, cell: str = "") -> str:
        """All that a cell shows, as text."""
        self.number += 1
        content = {"code": source, "silent": False, "store_history": True, "allow_stdin": True, "stop_on_error": True}
        metadata = {"cellId": cell} if cell else {}
        sent = self.client.session.msg("execute_request", content, metadata=metadata)
        self.client.shell_channel.send(sent)
        shown = ""
        while True:
            message = self.client.get_iopub_msg(timeout=PATIENCE)
            if message["parent_header"].get("msg_id") != sent["header"]["msg_id"]:
                continue
            kind, content = message["msg_type"], message["content"]
            if kind == "status" and content["execution_state"] == "idle":
                return shown
            shown += content.get("data", {}).get("text/plain", "") + content.get("text", "") + content.get("evalue", "")

    def answer(self, source: str) -> str:
        """Run the cell of the answer; which run that was, "In [2]"."""
        self.run(source, "answer")
        return f"In [{self.number}]"

    def close(self) -> None:
        self.client.stop_channels()
        self.manager.shutdown_kernel(now=True)


@pytest.fixture(scope="module")
def kernel(tmp_path_factory):
    """One for all tests: each begins with the answer that it runs."""
    made = Kernel(tmp_path_factory.mktemp("kernel"))
    assert made.run(SETUP) == ""
    yield made
    made.close()


def test_a_card_says_which_run_it_judged(kernel):
    for _ in range(2):
        run = kernel.answer(RIGHT)
        assert f"✓ leaky_average: 1 of 1 point, of {run}. Right on every case." in kernel.run(CHECK)
    assert f"of In [{kernel.number + 1}]" in kernel.run(f"{RIGHT}\n{CHECK}")


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
def test_there_is_no_verdict_if_the_cell_stopped_when_it_last_ran(kernel, broken, words):
    kernel.answer(RIGHT)
    kernel.run(CHECK)
    run = kernel.answer(broken)
    said = kernel.run(CHECK)
    assert f"· leaky_average: no verdict. The cell of leaky_average does not run: in {run} it stopped with" in said
    assert words in said
    assert said.endswith("0")  # as nbgrader reads it
    assert json.loads(kernel.progress.read_text())["exercises"]["leaky_average"]["passed"]  # what is no verdict is none
    assert "the course’s" in kernel.run("from rnncourse import use; _ = use(leaky_average)")
    kernel.answer(RIGHT)
    assert "✓ leaky_average" in kernel.run(CHECK)


def test_what_a_cell_defined_before_it_stopped_is_what_stands_there(kernel):
    run = kernel.answer(f"{RIGHT}\n1 / 0")
    assert f"✓ leaky_average: 1 of 1 point, of {run}" in kernel.run(CHECK)


def test_what_was_given_out_is_not_written_yet(kernel):
    kernel.run("quiz_rnn_facts = None\nraise NotImplementedError", "quiz")
    assert "quiz_rnn_facts is not answered yet" in kernel.run('check(quiz_rnn_facts, "quiz_rnn_facts")')


def test_an_answer_that_was_edited_and_saved_but_not_run_gets_no_verdict(kernel):
    run = kernel.answer(RIGHT)
    kernel.save(RIGHT)
    assert "✓" in kernel.run(CHECK)
    kernel.save(f"{RIGHT}  # better")
    assert f"says something else now than in {run}" in kernel.run(CHECK)
    for source in (f"{RIGHT}  # better", RIGHT):  # the second is edited and run, and not saved
        run = kernel.answer(source)
        assert f"✓ leaky_average: 1 of 1 point, of {run}" in kernel.run(CHECK)


def test_in_a_front_end_that_gives_no_ids_the_cell_is_found_by_its_name(kernel):
    kernel.run(RIGHT)
    kernel.save(f"{RIGHT}  # better")
    assert "says something else now" in kernel.run(CHECK)


def test_in_a_terminal_too(tmp_path):
    right, colon = (source.replace("\n    ", " ") for source in (RIGHT, COLON))  # a line is a cell there
    typed = "\n\n".join([SETUP, right, CHECK, colon, CHECK, "exit"]) + "\n"
    command = [sys.executable, "-m", "IPython", "--no-banner", "--colors=NoColor", "--simple-prompt"]
    env = os.environ | {"RNNCOURSE_PROGRESS": str(tmp_path / "progress.json"), "HOME": str(tmp_path)}
    done = subprocess.run(command, input=typed, capture_output=True, text=True, cwd=tmp_path, env=env)
    assert "✓ leaky_average: 1 of 1 point, of In [2]." in done.stdout, done
    assert "· leaky_average: no verdict. The cell of leaky_average does not run: in In [4] it stopped" in done.stdout
