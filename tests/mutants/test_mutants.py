"""A fresh sample of mutants is refused, and so is every one that was accepted once."""

import ast
import doctest
import os
import subprocess
import sys

import pytest

from mutants import edits as module
from mutants import known, running
from mutants.edits import edits
from mutants.running import Judge, Mutant, each
from rnncourse import exercises
from tests.sampling import ALL, SEED, some

NAMES = [exercise.name for stem in exercises.STEMS for exercise in running.written(stem)]


def mutant(body):
    return Mutant("rnn_step", body, f"def rnn_step(x, h_prev, U, W, b):\n    {body}")


def test_no_mutant_of_a_fresh_sample_is_accepted_and_none_that_was_accepted_once(root):
    """By day those of a few exercises: all of which a mutant was accepted once, and four others."""
    names = {} if ALL else dict.fromkeys([*(name for name, _ in known.read(known.ONCE_ACCEPTED)), *some(NAMES, 4)])
    size = ("--sample", "500" if ALL else "12", "--seed", str(SEED))
    command = [sys.executable, "-m", "mutants", *names, *size, "--jobs", "1"]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"


def test_the_example_shows_what_comes_out():
    assert doctest.testmod(module).attempted > doctest.testmod(module).failed == 0


def test_each_change_is_one_change_and_none_is_made_twice():
    source = "def f(a, b):\n    'Words.'\n    for i in range(a):\n        b = a - i\n    return b"
    found = list(edits(source))
    assert len(found) == len(set(found)) > 20
    assert ast.unparse(ast.parse(source)) not in found
    for text in (
        "for i in range(b):",
        "for i in range(1, a):",
        "b = i - a",
        "b = a\n",
        "b += a - i",
        "pass",
        "return a",
        "        return b",
        "break",
    ):
        assert any(text in one for one in found), text
    assert all("'Words.'" in one or '"""Words."""' in one for one in found)


@pytest.mark.parametrize(
    "body", ["return np.tanh(x @ U + h_prev @ W + b)", "h = x @ U + h_prev @ W\n    return np.tanh(h + b)"]
)
def test_a_right_answer_is_accepted(body):
    assert dict(each([mutant(body)], Judge("rnn_step").desk, 1)) == {mutant(body): 0}


@pytest.mark.parametrize(
    "body",
    [
        "return np.tanh(x @ U + b)",
        "return (",
        "raise KeyboardInterrupt",
        "while True: pass",
        "return [0] * 10**12",
        "import os; os._exit(0)",
    ],
    ids=["wrong", "no program", "an interrupt", "no end", "no memory", "no process"],
)
def test_a_wrong_one_is_refused_whatever_it_does_and_the_next_one_is_judged(body, monkeypatch):
    monkeypatch.setattr(running, "CALL_SECONDS", 0.05)
    right = mutant("return np.tanh(x @ U + h_prev @ W + b)")
    results = dict(each([mutant(body), right], Judge("rnn_step").desk, 1))
    assert results[mutant(body)] != 0
    assert results[right] == 0


def test_the_lists_are_read_as_they_are_written(tmp_path):
    path = tmp_path / "list.txt"
    path.write_text("# words\nf: one\n- a\n+ b\n\n- a  #2\n\ng: two\n+ c\n")
    assert known.read(path) == {("f", "- a\n+ b"): "one", ("f", "- a  #2"): "one", ("g", "+ c"): "two"}
    path.write_text("f: one\n- a\n\n- a\n")
    with pytest.raises(ValueError, match="line 5: the change above stands there twice"):
        known.read(path)
    path.write_text("f: one\n-a\n")
    with pytest.raises(ValueError, match="line 2"):
        known.read(path)


def test_the_seed_of_the_environment_is_as_it_was(monkeypatch):
    monkeypatch.setenv("RNNCOURSE_SEED", "spring")
    judge = Judge("rnn_step")
    assert judge.seed(0) != judge.seed(1)
    assert os.environ["RNNCOURSE_SEED"] == "spring"
