"""A candidate and its time; and in a process that can start no threads and has no file locks, as in a browser."""

import _thread
import importlib
import subprocess
import sys
import threading
import time
import types
from contextlib import suppress

import numpy as np
import pytest
import torch

from rnncourse.checks.drive import call, module
from rnncourse.checks.local import Local
from rnncourse.checks.program import Program
from tests.waiting import until

WITHOUT_THREADS = """
import sys, threading, types

def start(thread):
    raise RuntimeError("can't start new thread")

threading.Thread.start = start
sys.modules["fcntl"] = types.ModuleType("fcntl")  # it is there, and has no flock

import numpy as np
from rnncourse import check, hint, progress, use
from rnncourse.checks import local
from rnncourse.checks.drive import call, module
"""
RIGHT = """
def rnn_step(x, h_prev, U, W, b):
    return np.tanh(x @ U + h_prev @ W + b)
"""


@pytest.fixture
def answered(tmp_path, monkeypatch):
    """What a program prints that can start no threads."""
    monkeypatch.setenv("RNNCOURSE_PROGRESS", str(tmp_path / "progress.json"))

    def run(code: str) -> str:
        program = tmp_path / "student.py"
        cell = f"exec(compile({code!r}, '<cell>', 'exec'))\n"  # what stands in a script's own text is no progress
        program.write_text(WITHOUT_THREADS + cell, encoding="utf-8")
        done = subprocess.run([sys.executable, program], capture_output=True, text=True)
        assert done.stderr == ""
        return done.stdout

    return run


def test_without_threads_a_right_answer_passes_and_is_kept(answered, tmp_path):
    seen = answered(RIGHT + "print(check(rnn_step)); print(use(rnn_step) is rnn_step); print(hint('rnn_step'))")
    assert seen.startswith("✓ rnn_step: 3 of 3 points")
    assert "rnn_step: yours" in seen
    assert "rnn_step: 3 of 3" in answered("print(progress('03_cell'))")
    assert (tmp_path / "progress.json").exists()


def test_without_threads_a_wrong_answer_is_diagnosed(answered):
    seen = answered("""
def rnn_step(x, h_prev, U, W, b):
    return np.tanh(x @ U + h_prev @ W) + b
print(check(rnn_step).diagnosis)
""")
    assert seen.splitlines()[-1] == "bias_outside"


def test_without_threads_an_answer_that_never_returns_is_stopped_and_tracing_ends(answered):
    endless = [
        "while x > 0: pass",
        "while True:\n        pass",
        "while True:\n        x = x + 1",
        "return [0 for _ in iter(int, 1)]",
        "return sum(1 for _ in iter(int, 1))",
        "return max(iter(int, 1), key=lambda i: i)",
    ]
    seen = answered(f"""
for body in {endless}:
    exec(f"def rnn_step(x, h_prev, U, W, b):\\n    {{body}}")
    with local.Local(rnn_step, {{}}, seconds=0.1) as candidate:
        seen = candidate.observe(call, (1, 2, 3, 4, 5))
    print(seen.timed_out, seen.error_types[:1], sys.gettrace())
""")
    assert seen == "True () None\n" * len(endless)


def test_without_threads_what_never_returns_gets_the_same_words(answered):
    endless = """
def rnn_step(x, h_prev, U, W, b):
    while True:
        pass
"""
    soon = "from rnncourse.seat import notebook\nnotebook.SECONDS_A_CALL = 0.1\n"
    assert "did not come back in time" in answered(endless + soon + "print(check(rnn_step))")


def test_the_time_of_a_machine_that_is_busy_is_not_the_answers():
    """Who waits, as for a busy machine, has more time than who computes, and not for ever."""
    with Local(lambda: time.sleep(2.5) or 7, {}, seconds=2.0) as candidate:
        assert candidate.observe(call, ()).answer == 7
    for endless in (lambda: time.sleep(1000), lambda: sum(1 for _ in iter(int, 1))):
        with Local(endless, {}, seconds=0.1) as candidate:
            assert candidate.observe(call, ()).timed_out


class Interrupted(torch.nn.Module):
    """What happens while it answers is told by `how`."""

    def __init__(self, how):
        super().__init__()
        self.how = how
        self.w = torch.nn.Parameter(torch.ones(2))

    def forward(self, x):
        assert torch.get_default_dtype() == torch.float64
        if self.how == "raises":
            raise RuntimeError
        if self.how == "is interrupted":
            _thread.interrupt_main()
        while self.how != "cannot be stopped":
            pass
        time.sleep(3)  # one call that hears of nothing until it is over


@pytest.mark.parametrize("how", ["raises", "never ends", "cannot be stopped", "is interrupted"])
def test_whatever_an_answer_does_the_default_dtype_is_what_it_was_and_nothing_goes_on(how):
    args, before = ((how,), {"w": np.ones(2)}, [(np.ones(3),)]), set(threading.enumerate())
    with suppress(KeyboardInterrupt), Local(Interrupted, {}, seconds=0.05 if how != "is interrupted" else 0.5) as local:
        assert local.observe(module, args).answer is None
    assert torch.get_default_dtype() == torch.float32
    if how != "cannot be stopped":
        until(lambda: set(threading.enumerate()) <= before, lambda: "a thread goes on")


def test_where_an_import_of_torch_is_an_empty_folder_an_answer_is_asked_all_the_same(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", types.ModuleType("torch"))
    with Local(lambda x: x + 1, {}) as local:
        assert local.observe(call, (1,)).answer == 2


@pytest.mark.parametrize(
    ("body", "others"),
    [
        ("E = dH\n    E[0] += 1", {"E": 2}),
        ("E = dH.copy()\n    E[0] += 1", {}),
        ("a, b = dH\n    b[0] = 1", {"b": 2}),
        ("E[0] = dH\n    E[1] = 1", {}),  # an entry is filled, E is what it was
        ("i = dH.index\n    dH[i] = 1", {}),  # an index is read, not written to
    ],
)
def test_who_writes_to_an_argument_by_another_name_is_told_where_that_came_from(body, others):
    assert Program("f", f"def f(dH):\n    {body}\n").other_names([3]) == others


def test_an_answer_in_another_form_cannot_fill_the_memory():
    resource = pytest.importorskip("resource")
    before = resource.getrlimit(resource.RLIMIT_AS)

    def answer(n):
        return n

    with Local(answer, {}) as local:
        done = local.attempt("def answer(n):\n    return len(bytes(n))\n", "answer", call, (1 << 33,), 10)
    assert "MemoryError" in done.seen.error_types
    assert resource.getrlimit(resource.RLIMIT_AS) == before


def test_a_module_that_is_being_imported_is_not_left_half_done(tmp_path, monkeypatch):
    name, end = "slow_to_import", time.process_time() + 0.5
    text = f"import time\nwhile time.process_time() < {end}:\n    pass\nis_done = True\n"
    (tmp_path / f"{name}.py").write_text(text)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setitem(sys.modules, name, None)
    del sys.modules[name]

    def answer():
        module = importlib.import_module(name)

        return module.is_done

    with Local(answer, {}, seconds=0.05) as local:
        local.observe(call, ())
    assert sys.modules[name].is_done
