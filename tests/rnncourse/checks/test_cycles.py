"""A search changes names for names: no change makes a list that holds itself, which NumPy would unpack without end."""

import resource
import subprocess
import sys

import pytest

from rnncourse.checks.cycles import compiled, hold

PROGRAMS = {
    "a list that grows": """
        def run(X, h0, U, W, b):
            h = h0
            H = []
            for x in X:
                h = np.tanh(x @ U + h @ W - 3 * b)
                H.append(h)
            return np.stack(H)
    """,
    "the state is kept first": """
        def run(X, h0, U, W, b):
            H = []
            h = h0
            for t in range(len(X)):
                H.append(h)
                h = np.tanh(X[t] @ U + H[t] @ W - b)
            return np.stack(H + [h])[1:]
    """,
    "places are filled": """
        def run(X, h0, U, W, b):
            H = [None] * (len(X) + 1)
            H[-1] = h0
            G = H
            for t, x in enumerate(X):
                H[t] = G[t] = np.tanh(x @ U + H[t - 1] @ W - b)
            return np.array(H[:-1])
    """,
}

# Whatever would unpack without end is ended by the kernel: nothing else can.
TRY_ALL = """
import sys, textwrap
import numpy as np
from rnncourse.checks.attempt import attempt
from rnncourse.checks.drive import call
from rnncourse.checks.slips import changes
rng = np.random.default_rng(1)
args = [rng.normal(size=size) for size in ((5, 3, 4), (3, 2), (4, 2), (2, 2), (2,))]
refused = 0
for change in changes(textwrap.dedent(sys.stdin.read()).strip()):
    seen = attempt(change.source, "run", {"np": np}, call, tuple(args)).seen
    refused += "hold itself" in str(seen.error)
print(refused)
"""


@pytest.mark.parametrize("name", PROGRAMS)
def test_no_change_of_a_program_that_fills_a_list_makes_one_that_has_no_end(name):
    done = subprocess.run(
        [sys.executable, "-c", TRY_ALL],
        input=PROGRAMS[name],
        capture_output=True,
        text=True,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (120, 120)),
    )
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) > 0  # it would have been one


def test_what_holds_the_holder_however_deep_is_refused():
    holder = []
    with pytest.raises(ValueError, match="hold itself"):
        hold(holder, ({"a": [holder]},))
    assert hold(holder, [1, [2]]) == [1, [2]]


def test_the_lines_of_a_string_are_no_code():
    text = 'def told(kept):\n    return """\n    kept.append(kept)\n    """'
    space = {}
    exec(compiled(text, "<told>", space, ([],)), space)
    assert space["told"]([]) == "\n    kept.append(kept)\n    "


@pytest.mark.parametrize("growing", ["n = n * n", "n *= n", "n **= m", "n = (n + 1) ** n", "n, k = n ** n, 1"])
def test_a_whole_number_does_not_grow_without_end(growing):
    """Python holds the lock while it multiplies: nobody could stop it, nor use the kernel."""
    text = f"def count(n, m):\n    for _ in range(100):\n        {growing}\n    return n\n"
    space = {}
    exec(compiled(text, "a program", space, (101, 7)), space)
    with pytest.raises(OverflowError, match="a whole number gets too large"):
        space["count"](101, 7)


def test_products_and_powers_of_whole_numbers_are_what_they_are():
    text = "def count(n, m):\n    k = n * m ** 2\n    k *= 3\n    k **= 2\n    return [k] * 2, -n**2, 2.0 ** -m\n"
    space = {}
    exec(compiled(text, "a program", space, (5, 3)), space)
    assert space["count"](5, 3) == ([135**2] * 2, -25, 0.125)
