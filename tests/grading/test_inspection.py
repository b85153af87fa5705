"""What the inspection sees in a source without running it: whatever is not on the list, and what an answer may not
call, where the text says so. What it does not see, PyTorch refuses while the answer is asked.
"""

import random
import sys
import types
import warnings
from functools import cache, partial

import nbformat
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from rnncourse import exercises
from rnncourse.checks.exercise import Exercise
from rnngrade.reading.digest import digest, weight
from rnngrade.reading.inspection import inspect
from rnngrade.reading.programs import MAX_SOURCE
from rnngrade.sandbox.inside.refusing import WORDS, refuse
from tests.grading.forked import in_a_fork
from tests.grading.solved import right_answers
from tests.rnncourse.exercises.catalogue import shelf
from tests.sampling import ALL, SEED, some

GIVEN = [
    "import math\nimport numpy as np\nimport torch\nimport matplotlib.pyplot as plt\nfrom torch import nn\n"
    "from rnncourse import check, hint, use"
]
HELPERS = "%%writefile my_helpers.py\nimport numpy as np\ndef squash(x):\n    return np.tanh(x)"


def seen(source, forbids=()):
    """By code, what is found in a cell for a person."""
    found = inspect({"helpers": HELPERS, "cell": source}, {"answer": forbids}, {}, GIVEN).findings
    assert all(f.cell in ("cell", "answer") for f in found)
    return {f.code for f in found if f.for_person}


NOT_LISTED = [
    # code that is made of text
    *("eval('1')", "run = exec\nrun('1')", "compile('1', '', 'eval')", "import timeit\ntimeit.timeit('import os')"),
    *("import cProfile\ncProfile.runctx('import os', {}, {})", "np.testing.runstring('import os', {})"),
    *("torch.jit.CompilationUnit('def f(x): return x')", "import code", "torch.compile(f)", "type('A', (int,), {})"),
    # names that are made of text
    *("__import__('os')", "from importlib import import_module as load\nload('torch')", "import builtins"),
    *("import pydoc\npydoc.locate('torch.rnn_tanh')", "from traitlets import import_item\nimport_item('torch')"),
    "import string\nstring.Formatter().get_field('0.rnn_tanh', [torch], {})",
    "import typing\ndef f(x: 'torch.rnn_tanh'): pass\ntyping.get_type_hints(f)",
    *("getattr(np, 'ta' + 'nh')(1)", "look = getattr\nlook(x, name)", "list(map(vars, [x]))", "globals()['check']"),
    *("np.__dict__['tanh']", "vars(np)['tanh']", "import operator\noperator.attrgetter('a.b')(x)", "from . import x"),
    *("'{0.__globals__}'.format(check)", "text = '{0.'\n(text + 'T}').format(x)", "torch.ops.aten.__getattr__('a')"),
    "class A:\n    def get(self, name):\n        return getattr(self, name)",
    # modules behind others, and modules as values
    *("torch.os.getcwd()", "[m.sys for m in [np]]", "T = [torch][0]", "for T in (torch,):\n    pass", "(T := torch)"),
    *("np.lib.npyio.sys.modules", "torch._VF.rnn_tanh", "plt.importlib", "def f(t=torch):\n    return t", "f(nn)"),
    *("match torch:\n    case object(os=o):\n        pass", "match x:\n    case object(__dict__=o):\n        pass"),
    *("from torch import *", "from rnncourse.data import os", "import rnncourse\nrnncourse.cell.np.testing"),
    *("class A:\n    testing = runstring = 1\nN = np\nN.testing.runstring('', {})", "import my_helpers\nmy_helpers.np"),
    # the running program
    *("().__class__.__bases__[0].__subclasses__()", "check.__globals__", "getattr(check, '__globals__')"),
    *(
        "import gc\ngc.get_objects()",
        "import inspect",
        "import sys\nsys.modules['rnncourse']",
        "import sys\nsys._getframe()",
    ),
    *("get_ipython().run_cell('x = 1')", "exit._ip", "import os\nos.environ['RNNCOURSE_SEED']", "import traceback"),
    *("from rnncourse import exercises", "import rnncourse.checks.drive as drive", "f.__code__", "f.__closure__"),
    "try:\n    f()\nexcept Exception as e:\n    e.__traceback__.tb_frame.f_back",
    "class A:\n    gi_frame = f_back = 1\nnext(g).gi_frame.f_back",
    # other programs, files, memory
    *(
        "import ctypes",
        "from numpy import ctypeslib",
        "x.ctypes.data",
        "import socket",
        "from urllib.request import urlopen",
    ),
    *("import subprocess", "import os\nos.system('ls')", "import os as o\no._exit(0)", "from os import fork"),
    *("import signal", "import threading", "from multiprocessing import Pool", "torch.hub.load('a', 'b')"),
    *("open('a')", "from pathlib import Path", "np.load('a')", "import os\nos.listdir('.')", "x.dump('a')"),
    *("import pickle", "from joblib import load", "import yaml\nyaml.unsafe_load('a')", "torch.load('a')"),
    *("from numpy.lib import format", "torch.UntypedStorage(3)", "from torch.storage import _load_from_bytes"),
    *("!ls", "files = !ls", "%%bash\nls", "%time !ls", "%load_ext evil", "x = %system ls", "%time import subprocess"),
    *("%%timeit import os\nos.system('ls')", "x = %time __import__('os').system('ls')", "x = 1\n%run other.py"),
    *("%prun -s cumulative import subprocess", "%%capture out\nimport subprocess", "here = %pwd\nimport subprocess"),
    *(",print x\nimport subprocess", "In [1]: import subprocess", "%config A.b = __import__('subprocess')"),
    *("%%writefile notes.txt\nx = 1", "%%writefile\nx = 1", "%%writefile a.py b\nx = 1"),
    "%%writefile -a my_helpers.py\nimport os\nos.system('ls')",
    # objects that say of themselves what is not so
    *("class A(np.ndarray): pass", "class A(int): pass", "class A:\n    def __eq__(self, other): return True"),
    *("class A:\n    def __array_ufunc__(self, *a): return 0", "class A:\n    def __reduce__(self): return print, ()"),
    "nn.Linear(1, 1).__setattr__('forward', None)",
]
PATCHES = [
    *("import rnncourse\nrnncourse.check = print", "import rnncourse.plots as p\np.show = print", "del np.tanh"),
    *("np.allclose = lambda *a: True", "setattr(nn.RNN, 'forward', None)", "np.testing.x += 1", "(np.a, b) = 1, 2"),
    *("for np.tanh in (print,):\n    pass", "with open_it() as np.tanh:\n    pass", "check = print"),
    *("def check(*a): return 4", "nn.Module.__call__ = lambda self, *a: 1", "from math import sin as check"),
]
HONEST = [
    *("print(getattr(x, 'shape', None))", "W = getattr(rnn, f'weight_hh_l{k}')", "sum = 3\nlist = [1]"),
    *("def f(open, code, signal):\n    return open + code + signal", "signal = np.sin(1)\nprint(signal.max())"),
    *("import re\nre.compile('a')", "import os.path\nos.path.join('a', 'b')", "import sys\nprint(1, file=sys.stderr)"),
    "class A:\n    def __init__(self):\n        self.check = self.my_h = 1\n    def go(self):\n        self.my_h",
    "from dataclasses import dataclass\n@dataclass\nclass State:\n    my_h: int = 0\nState(my_h=1).my_h",
    "from collections import namedtuple\nState = namedtuple('State', 'my_h my_c')\nState(1, 2).my_c",
    *("torch.backends.cudnn.deterministic = True", "plt.rcParams['figure.dpi'] = 90", "LA = np.linalg\nLA.norm(x)"),
    *("%matplotlib inline\nx?\nprint(1)", "%%time\nx = 1", "%%capture out --no-stderr\nx = 1", "%pip install einops"),
    "here = %pwd\n,print x\ny = %timeit -n 3 -r 2 -o f(1)\n%config InlineBackend.figure_format = 'retina'",
    *(
        "await f()",
        "from rnncourse import check, hint",
        "from rnncourse.data import study_grammar",
        "eval_loss = m.eval()",
    ),
    *("def forward(self, input, vars=None): return input", "torch.set_num_threads(1)\nassert check(f)"),
    *(
        "import my_helpers\nfrom my_helpers import squash as s\nmy_helpers.squash(1)",
        "import torch.nn.functional as F\nF.relu(x)",
    ),
    *(
        "def f(nn):\n    return [nn, nn.T]",
        "def f(x):\n    for nn in x:\n        print(nn)",
        "np.random.default_rng(0).normal()",
    ),
    *(
        "fig, ax = plt.subplots()\nax.set_title('a')",
        "'{:.2f}'.format(3)",
        "isinstance(x, np.ndarray)",
        "super().__init__()",
    ),
]


@pytest.mark.parametrize("source", NOT_LISTED)
def test_what_is_not_on_the_list_is_shown_to_a_person(source):
    assert seen(source) & {"not-listed", "patches"}


@pytest.mark.parametrize("source", PATCHES)
def test_what_changes_other_things_than_its_own_is_shown_to_a_person(source):
    assert "patches" in seen(source)


@pytest.mark.parametrize("source", HONEST)
def test_honest_code_is_left_in_peace(source):
    assert seen(source) == set()


def of_unit(root, stem):
    """What `inspect` needs to know of a unit."""
    cells = nbformat.read(root / "notebooks" / stem / f"{stem}.ipynb", as_version=4).cells
    code = [c for c in cells if c.cell_type == "code" and c.metadata.get("nbgrader", {}).get("locked")]
    own = f"rnncourse.{stem.partition('_')[2]}", "rnncourse.exercises"
    known = [e for e in exercises.unit(stem) if isinstance(e, Exercise)]
    forbids = {e.name: (*own, *e.forbids) for e in known}
    given = [c.source for c in code if not c.metadata.nbgrader.grade]
    return forbids, {e.name: e.uses for e in known}, given, [e.source for e in known]


@pytest.mark.parametrize("stem", exercises.SYLLABUS)
def test_model_answers_are_left_in_peace(stem, root):
    inspection = inspect(right_answers(root, stem), *of_unit(root, stem))
    assert inspection.banned == {}
    assert [f.message for f in inspection.findings if f.for_person] == []


def test_of_others_answers_hardly_any_is_shown_to_a_person_and_none_is_refused(root):
    known = cache(partial(of_unit, root))
    shown, drawn = [], some([*shelf("right"), *shelf("wrong")], 200)
    for one in drawn:
        inspection = inspect(
            {"imports": one.imports, one.exercise: one.text}, *known(exercises.find(one.exercise).unit.stem)
        )
        assert inspection.banned == {}, one.text
        shown += {f.message for f in inspection.findings if f.for_person and f.cell == one.exercise}
    assert len(shown) < 0.02 * len(drawn), shown


# --- what an answer may not call

LAYER = ["torch.nn.RNN", "torch.nn.RNNBase", "torch.rnn_tanh"]
IMPORTS = [
    *(("import torch", "torch.nn"), ("import torch.nn.modules as m", "m"), ("from torch import nn as other", "other")),
    *(("import sys", "sys.modules['torch.nn']"), ("from importlib import import_module as load", "load('torch.nn')")),
    *(("", "__import__('torch').nn"), ("import host", "host.sys.modules['torch'].nn")),
]
REACHES = [
    *("{m}.RNN", "{m}.__dict__['RNN']", "vars({m})['RNN']", "getattr({m}, 'RN' + 'N')", "{m}.__getattribute__('RNN')"),
    "[v for k, v in vars({m}).items() if k == 'RNN'][0]",
]
BINDINGS = [
    *("{b} = {e}", "_, *{b}_rest = 1, {e}\n{b} = {b}_rest[0]", "{b}: object = {e}", "print({b} := {e})"),
    *("[0 for _ in '1' if ({b} := {e})]", "for _, {b} in enumerate([{e}]):\n    pass", "{b} = None or {e}"),
    "from contextlib import nullcontext\nwith nullcontext({e}) as {b}:\n    pass",
    "match [1, {e}]:\n    case [_, *{b}_rest]:\n        {b} = {b}_rest[0]",
    *("{b}_box = {{}}\n{b}_box['k'] = {e}\n{b} = {b}_box['k']", "{b}_box = []\n{b}_box.append({e})\n{b} = {b}_box[0]"),
    *("{b} = list(map(lambda one: one, [{e}]))[0]", "{b} = (lambda **all: all['k'])(k={e})"),
    *(
        "def {b}_get():\n    yield {e}\n{b} = next({b}_get())",
        "def {b}_give(one={e}):\n    return one\n{b} = {b}_give()",
    ),
    "class {b}_Box:\n    def __init__(self, one):\n        self.thing = one\n{b} = {b}_Box({e}).thing",
    "class {b}_Box:\n    pass\n{b}_box = {b}_Box()\n{b}_box.thing = {e}\n{b} = {b}_box.thing",
    "def {b}_set():\n    global {b}\n    {b} = {e}\n{b}_set()",
    *("globals()['{b}'] = {e}", "import types\n{b} = types.SimpleNamespace(thing={e}).thing"),
]
USES = [
    "def answer(x):\n    return {t}(2, 3)(x)",
    "class answer({t}):\n    def __new__(cls, x):\n        return {t}(2, 3)(x)",
    "def helper(f, x):\n    return f(2, 3)(x)\n\ndef answer(x):\n    return helper({t}, x)",
    "def answer(x, f={t}):\n    def inner():\n        return [one(2, 3) for one in [f]][0](x)\n    return inner()",
]


def composed(rng):
    """A program in several cells whose `answer` calls what it may not, by ways that are drawn."""
    statement, expression = rng.choice(IMPORTS)
    cells = [statement]
    for i, reach in enumerate((None, rng.choice(REACHES))):
        expression = reach.format(m=expression) if reach else expression
        for j in range(rng.randrange(3)):
            cells.append(rng.choice(BINDINGS).format(b=f"a{i}{j}", e=expression))
            expression = f"a{i}{j}"
    return [*cells, rng.choice(USES).format(t=expression)]


@pytest.mark.parametrize("seed", range(60) if not ALL else range(2000 * SEED, 2000 * (SEED + 1)))
def test_by_whatever_way_it_comes_it_is_shown_to_a_person_or_refused(seed, monkeypatch):
    host = types.ModuleType("host")
    host.sys = sys
    monkeypatch.setitem(sys.modules, "host", host)
    cells = composed(random.Random(seed))
    sources = {f"cell {i}": source for i, source in enumerate(cells)}
    if any(finding.for_person for finding in inspect(sources, {"answer": LAYER}, {}, GIVEN).findings):
        return
    space = {"__name__": "notebook"}
    for source in cells:
        exec(source, space)

    def task():
        refuse(LAYER)
        with pytest.raises(RuntimeError, match=WORDS):
            space["answer"](torch.ones(4, 1, 2))

    in_a_fork(task)


def banned(sources, *names, uses=()):
    """What the answer is refused for, and whether anything was found of it."""
    inspection = inspect(sources, {"answer": names}, {"answer": uses}, GIVEN)
    return inspection.banned.get("answer"), any(f.code == "forbidden-name" for f in inspection.findings)


def test_a_forbidden_name_is_found_behind_its_aliases():
    cells = {
        "imports": "import torch as t\nT = t.nn\nBase = T.RNN",
        "helper": "def helper(x):\n    return Base(1, 2)(x)",
        "answer": "def answer(x):\n    return helper(x)",
    }
    assert banned(cells, "torch.nn.RNN") == ("torch.nn.RNN", True)
    innocent = cells | {"answer": "def answer(x):\n    return T.Linear(1, 2)(x)"}
    assert banned(innocent, "torch.nn.RNN") == (None, False)
    assert banned(innocent, "torch") == ("torch.nn.Linear", True)


@pytest.mark.parametrize(
    "source",
    [
        "from rnncourse.cell import rnn_step as answer",
        "from rnncourse.cell import rnn_step as given\nanswer = given",
        "def answer(x):\n    from rnncourse.cell import rnn_step as given\n    return given(x)",
        "def answer(x):\n    import rnncourse.cell\n    return rnncourse.cell.rnn_step(x)",
        "import rnncourse\nanswer = lambda x: rnncourse.cell.rnn_step(x)",
        "import rnncourse\nclass answer(rnncourse.cell.Network): pass",
    ],
)
def test_the_reference_is_found_however_it_is_imported(source):
    assert banned({"answer": source}, "rnncourse.cell")[0]


def test_a_class_is_the_same_wherever_its_library_keeps_it():
    source = "from torch.nn.modules import rnn\nclass answer(rnn.RNN): pass"
    assert banned({"answer": source}, "torch.nn.RNN") == ("torch.nn.modules.rnn.RNN", True)


def test_what_is_bound_in_two_ways_is_told_and_decided_by_the_room():
    sources = {"draft": "def answer(x):\n    return nn.RNN(x)", "answer": "def answer(x):\n    return x"}
    assert banned(sources, "torch.nn.RNN") == (None, True)
    assert banned(sources | {"own": "import gc"}, "torch.nn.RNN") == ("torch.nn.RNN", True)


def test_a_name_of_a_functions_own_is_nobody_elses():
    sources = {"other": "def other(x):\n    return nn.RNN(x)", "answer": "def answer(nn, other):\n    return nn.RNN"}
    assert banned(sources, "torch.nn.RNN") == (None, False)


def test_the_name_of_an_earlier_answer_stands_for_the_reference():
    source = {"answer": "from rnncourse.cell import rnn_step as step\ndef answer(x):\n    return step(x)"}
    assert banned(source, "rnncourse.cell")[0] == "rnncourse.cell.rnn_step"
    assert banned(source, "rnncourse.cell", uses={"step"}) == (None, False)


# --- what cannot be read


def codes(source):
    return {f.code for f in inspect({"cell": source}, {}).findings}


def test_an_error_of_syntax_is_said_with_its_line_and_bothers_nobody():
    for source in ("x = 1\ndef f(:\n    pass", "%%writefile my_helpers.py\ndef f(:"):
        (found,) = inspect({"rnn_step": source}, {}).findings
        assert found.code == "syntax-error"
        assert "line 2" in found.message
        assert not found.for_person


@pytest.mark.parametrize(
    "source",
    [
        "-" * 10_000 + "1",
        "a" + ".b" * 12_000,
        "1+" * 12_000 + "1",
        "lambda:" * 3000 + "1",
        "(" * 5000,
        "[" * 250 + "]" * 250,
    ],
)
def test_code_that_is_nested_too_deeply_is_said_to_be_and_harms_nothing(source):
    assert codes(source) & {"too-complex", "syntax-error"}
    assert digest(source)
    assert weight(source) >= 0


def test_code_that_is_too_long_is_not_read():
    assert codes("x = 1\n" * MAX_SOURCE) == {"too-long"}


SIGNS = ["%", "!", "?", "%%", "\0", "\n", "    ", "(", '"""', "#"]
PIECES = st.sampled_from([*NOT_LISTED, *PATCHES, *HONEST, *SIGNS])


@given(st.lists(PIECES | st.text(st.characters(codec="utf-8"), max_size=50), max_size=6).map("".join))
def test_any_mixture_of_code_and_text_is_inspected_without_an_error(source):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        findings = inspect({"cell": source}, {"cell": ("torch",)}).findings
    assert all(f.cell == "cell" and f.message.endswith(".") for f in findings)
    assert len(digest(source)) == 16
    assert weight(source) >= 0
