"""What the inspection sees in a source without running it, and which answers it finds the same."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rnncourse import exercises
from rnncourse.checks.exercise import Exercise, Misconception
from rnngrade.reading.inspection import MAX_SOURCE, MAX_TOTAL, digest, forbidden_names, inspect, inspect_source, weight


def codes(source, **forbids):
    return {f.code for f in inspect_source({"cell": source}, forbids)}


SUSPICIOUS = {
    "hides-calls": [
        "eval('1')",
        "run = exec\nrun('1')",
        "__import__('os')",
        "from importlib import import_module as load\nload('torch')",
        "getattr(np, 'ta' + 'nh')(1)",
        "globals()['check'] = print",
        "vars(np)['tanh'] = None",
        "import builtins",
        "import operator\noperator.attrgetter('a.b')(x)",
        "look = getattr\nlook(np, name)",
        "list(map(vars, [np]))",
        "np.__dict__['tanh']",
        "torch.os.getcwd()",
        "[m.sys for m in [np]]",
    ],
    "looks-inside": [
        "().__class__.__bases__[0].__subclasses__()",
        "check.__globals__",
        "getattr(check, '__globals__')",
        "'{0.__globals__}'.format(check)",
        "import gc\ngc.get_objects()",
        "import inspect",
        "import sys\nsys.modules['rnncourse']",
        "np.lib.npyio.sys.modules",
        "get_ipython().run_cell('x = 1')",
        "for s in (sys,):\n    s._getframe()\nimport sys",
        "from rnncourse import exercises",
        "import os\nos.environ['RNNCOURSE_SEED']",
        "try:\n    f()\nexcept Exception as e:\n    e.__traceback__.tb_frame.f_back",
    ],
    "machine-level": ["import ctypes", "from numpy import ctypeslib"],
    "network": ["import socket", "from urllib.request import urlopen", "import requests as r\nr.get('x')"],
    "processes": [
        "import subprocess",
        "import os\nos.system('ls')",
        "import os as o\no._exit(0)",
        "from os import fork",
        "import signal",
        "import threading",
        "from multiprocessing import Pool",
        "!ls",
        "files = !ls",
        "%%bash\nls",
        "%time !ls",
        "%load_ext evil",
        "x = %system ls",
        "%time import subprocess",
        "%%timeit import os\nos.system('ls')",
        "x = %time __import__('os').system('ls')",
        "%prun -s cumulative import subprocess",
        "%%capture out\nimport subprocess",
        "here = %pwd\nimport subprocess",
        ",print x\nimport subprocess",
        "In [1]: import subprocess",
        "%config A.b = __import__('subprocess')",
        "x = 1\n%run other.py",
    ],
    "files": [
        "open('a')",
        "from pathlib import Path",
        "np.load('a')",
        "import os\nos.listdir('.')",
    ],
    "pickle": ["import pickle", "from joblib import load"],
    "patches": [
        "rnncourse.check = print",
        "import rnncourse.plots as p\np.show = print",
        "np.allclose = lambda *a: True",
        "setattr(np, 'tanh', None)",
        "del np.tanh",
        "np.testing.x += 1",
        "(np.a, b) = 1, 2",
        "for np.tanh in (print,):\n    pass",
        "with open_it() as np.tanh:\n    pass",
        "libraries = {'n': np}\nlibraries['n'].tanh = print",
        "def check(*a): return 4",
        "check = print",
    ],
    "poses": [
        "class A(np.ndarray): pass",
        "class A(int): pass",
        "class A:\n    def __eq__(self, other): return True",
        "class A:\n    def __array_ufunc__(self, *a): return 0",
        "class A:\n    def __reduce__(self): return print, ()",
    ],
}


@pytest.mark.parametrize(
    ("code", "source"), [(code, source) for code, sources in SUSPICIOUS.items() for source in sources]
)
def test_what_hides_or_reaches_out_is_shown_to_a_person(code, source):
    findings = inspect_source({"cell": source}, {})
    assert code in {f.code for f in findings}
    assert all(f.for_person and f.cell == "cell" for f in findings)


HONEST = [
    "print(getattr(x, 'shape', None))",
    "for name in ('U', 'W'):\n    setattr(self, name, 0)",
    "def f(open, code, signal):\n    return open + code + signal",
    "signal = np.sin(1)\nprint(signal.max())",
    "import re\nre.compile('a')",
    "import os.path\nos.path.join('a', 'b')",
    "import sys\nprint(1, file=sys.stderr)",
    "class A:\n    def __init__(self):\n        self.check = 1",
    "torch.backends.cudnn.deterministic = True",
    "plt.rcParams['figure.dpi'] = 90",
    "%matplotlib inline\nx?\nprint(1)",
    "%%time\nx = 1",
    "here = %pwd\n,print x\ny = %timeit -n 3 -r 2 -o f(1)\n%config InlineBackend.figure_format = 'retina'",
    "%%capture out --no-stderr\nx = 1",
    "%pip install einops",
    "await f()",
    "list = [1]\nmax = 3",
    "from rnncourse import check, hint\nfrom rnncourse.data import study_grammar",
    "eval_loss = model.eval()",
    "def forward(self, input, vars=None): return input",
    "torch.set_num_threads(1)\nassert check(f)",
    "%%writefile my_helpers.py\nimport numpy as np\ndef squash(x):\n    return np.tanh(x)",
    "import my_helpers\nfrom my_helpers import squash as s\ns(1)",
    "class A:\n    def __init__(self):\n        vars(self)['h'] = self.__dict__",
    "torch.signal.windows.hann(3)\nnp.random.default_rng(0)",
]


@pytest.mark.parametrize("source", HONEST)
def test_honest_code_is_left_in_peace(source):
    assert codes(source) == set()


def test_what_an_import_in_one_cell_means_is_known_in_the_next():
    findings = inspect_source({"one": "import os as quiet", "two": "quiet.system('ls')"}, {})
    assert [(f.code, f.cell) for f in findings] == [("processes", "two")]


def test_a_forbidden_name_is_found_behind_its_aliases():
    cells = {
        "imports": "import torch as t\nT = t.nn\nBase = T.RNN",
        "helper": "def helper(x):\n    return Base(1, 2)(x)",
        "answer": "def answer(x):\n    return helper(x)",
        "innocent": "def innocent(x):\n    return T.Linear(1, 2)(x)",
    }
    assert forbidden_names(cells, "answer", ("torch.nn.RNN",)) == ["torch.nn.RNN"]
    assert forbidden_names(cells, "innocent", ("torch.nn.RNN",)) == []
    assert forbidden_names(cells, "innocent", ("torch",)) == ["torch.nn.Linear"]
    (found,) = inspect_source(cells, {"answer": ("torch.nn.RNN",), "innocent": ("scipy",)})
    assert (found.code, found.cell, found.for_person) == ("forbidden-name", "answer", True)


@pytest.mark.parametrize(
    "source",
    [
        "from rnncourse.cell import rnn_step",
        "from rnncourse.cell import rnn_step as given\nrnn_step = given",
        "def rnn_step(x):\n    from rnncourse.cell import rnn_step as given\n    return given(x)",
        "def rnn_step(x):\n    import rnncourse.cell\n    return rnncourse.cell.rnn_step(x)",
        "import rnncourse\nrnn_step = lambda x: rnncourse.cell.rnn_step(x)",
        "class rnn_step(rnncourse.cell.Network): pass",
    ],
)
def test_the_reference_is_found_however_it_is_imported(source):
    assert forbidden_names({"rnn_step": source}, "rnn_step", ("rnncourse.cell",))


def test_a_class_is_the_same_wherever_its_library_keeps_it():
    source = "from torch.nn.modules import rnn\nclass Scratch(rnn.RNN): pass"
    assert forbidden_names({"a": source}, "Scratch", ("torch.nn.RNN",)) == ["torch.nn.modules.rnn.RNN"]


def test_an_error_of_syntax_is_said_with_its_line_and_bothers_nobody():
    (found,) = inspect_source({"rnn_step": "x = 1\ndef f(:\n    pass"}, {})
    assert found.code == "syntax-error"
    assert "line 2" in found.message
    assert not found.for_person


@pytest.mark.parametrize(
    "source",
    [
        "-" * 50_000 + "1",
        "a" + ".b" * 60_000,
        "1+" * 60_000 + "1",
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
    piece = "#" * (MAX_SOURCE - 1)
    cells = {str(i): piece for i in range(MAX_TOTAL // MAX_SOURCE + 2)}
    assert {f.code for f in inspect_source(cells, {})} == {"too-long"}


SIGNS = ["%", "!", "?", "%%", "\0", "\n", "    ", "(", '"""', "#"]
PIECES = st.sampled_from([source for sources in (*SUSPICIOUS.values(), HONEST, SIGNS) for source in sources])


@given(st.lists(PIECES | st.text(st.characters(codec="utf-8"), max_size=50), max_size=6).map("".join))
def test_any_mixture_of_code_and_text_is_inspected_without_an_error(source):
    findings = inspect_source({"cell": source}, {"cell": ("torch",)})
    assert all(f.cell == "cell" and f.message.endswith(".") for f in findings)
    assert len(digest(source)) == 16
    assert weight(source) >= 0


STEP = "def rnn_step(x, h_prev, U, W, b):\n    total = x @ U + h_prev @ W\n    return np.tanh(total + b)"


@pytest.mark.parametrize(
    "same",
    [
        "def rnn_step(x, h, A, B, c):\n    s = x @ A + h @ B\n    return np.tanh(s + c)",
        STEP.replace(":\n", ':\n    """One step."""\n', 1),
        "# mine\n" + STEP.replace("x,", "x: int,").replace("):", ") -> int:\n").replace("total =", "total: int="),
        STEP.replace("x @ U + h_prev @ W", "(x @ U\n   + h_prev @ W)").replace("total + b", "total+b"),
        "%%time\n" + STEP,
        STEP.replace("\n    ", "\n\t"),
    ],
)
def test_answers_that_differ_in_names_and_layout_alone_have_one_digest(same):
    assert digest(same) == digest(STEP)


@pytest.mark.parametrize(
    "other",
    [
        STEP.replace("h_prev @ W", "h_prev @ W.T"),
        STEP.replace("np.tanh(total + b)", "np.tanh(total) + b"),
        STEP.replace("np.tanh", "np.sin"),
        STEP.replace("x @ U + h_prev @ W", "h_prev @ U + x @ W"),
        STEP + " + 0",
    ],
)
def test_answers_that_do_something_else_have_another_digest(other):
    assert digest(other) != digest(STEP)


def test_no_two_misconceptions_of_an_exercise_have_one_digest():
    for e in exercises.unit("03_cell"):
        if isinstance(e, Exercise):
            wrong = [m.source_for(e.name) for m in e.misconceptions if isinstance(m, Misconception)]
            assert len({digest(source) for source in wrong}) == len(wrong), e.name


def test_the_weight_grows_with_what_is_written_and_not_with_what_is_said():
    assert weight("quiz = 7") < weight("def f(x):\n    return x") < weight(STEP)
    assert weight(STEP) == weight('"""A long story."""\n' + STEP + "  # and more")
    assert weight("def f(:") == 0


def test_a_module_that_a_cell_writes_is_inspected_as_the_notebook_is():
    cells = {
        "file": "%%writefile my_helpers.py\nimport os, torch\n\ndef layer(x):\n    return torch.nn.RNN(3, 2)(x)",
        "answer": "from my_helpers import layer as mine\ndef answer(x):\n    return mine(x)",
        "other": "import my_helpers\nother = lambda x: my_helpers.layer(x)",
        "free": "import my_helpers\ndef free(x):\n    return x",
    }
    for name in ("answer", "other"):
        (found,) = inspect(cells, {name: ("torch.nn.RNN",)}).findings
        assert (found.code, found.cell) == ("forbidden-name", name)
    assert inspect(cells, {"free": ("torch",)}).findings == []
    reaching = {"file": "%%writefile -a my_helpers.py\nimport os\nos.system('ls')"}
    assert [(f.code, f.cell) for f in inspect(reaching, {}).findings] == [("processes", "file")]
    broken = {"file": "%%writefile my_helpers.py\n\ndef f(:"}
    assert "line 3" in inspect(broken, {}).findings[0].message


@pytest.mark.parametrize("source", ["%%writefile notes.txt\nx = 1", "%%writefile\nx = 1", "%%writefile a.py b\nx = 1"])
def test_a_file_that_is_no_module_is_shown_to_a_person(source):
    assert "processes" in codes(source)
