"""What an answer may not call is found whatever way it comes: ways to reach it, to bind it and to use it, composed at
random, each program run to see that it does call it. Honest styles refer to nothing.
"""

import ast
import cmath
import inspect as python_inspect
import math
import random
import sys
import textwrap
import types

import nbformat
import pytest

from rnncourse import exercises
from rnncourse.checks.exercise import Exercise
from rnngrade.reading.bindings import Program
from rnngrade.reading.inspection import inspect
from tests.rnncourse.exercises import alternatives
from tests.sampling import ALL, SEED

PROGRAMS = range(600) if not ALL else range(3000 * SEED, 3000 * (SEED + 1))
CALLED = "the forbidden one was called"

# How the module comes in: a statement, and the expression that it is then.
IMPORTS = [
    ("import library", "library.layers"),
    ("import library.layers", "library.layers"),
    ("import library as l", "l.layers"),
    ("import library.layers as m", "m"),
    ("from library import layers", "layers"),
    ("from library import layers as other, layers", "other"),
    ("from library import *", "layers"),
    ("import sys", "sys.modules['library.layers']"),
    ("import sys as system", "system.modules.get('library').layers"),
    ("import importlib", "importlib.import_module('library.layers')"),
    ("from importlib import import_module as load", "load('library.layers')"),
    ("", "__import__('library').layers"),
    ("import host", "host.sys.modules['library'].layers"),
]
# How the forbidden thing is had from it.
REACHES = [
    "{m}.Layer",
    "{m}.hidden.Layer",
    "{m}.__dict__['Layer']",
    "{m}.__dict__.get('Layer')",
    "vars({m})['Layer']",
    "getattr({m}, 'Layer')",
    "getattr({m}, 'Lay' + 'er')",
    "{m}.__getattribute__('Layer')",
    "[v for k, v in vars({m}).items() if k == 'Layer'][0]",
]
# How a name comes to stand for an expression.
BINDINGS = [
    "{b} = {e}",
    "{b} = also_{b} = {e}",
    "{b}, _ = {e}, 1",
    "_, *{b}_rest = 1, {e}\n{b} = {b}_rest[0]",
    "[[{b}], _] = [[{e}], 1]",
    "{b}: object = {e}",
    "print({b} := {e})",
    "[0 for _ in '1' if ({b} := {e})]",
    "for {b} in ({e},):\n    pass",
    "for _, {b} in enumerate([{e}]):\n    pass",
    "for _, {b} in zip([1], [{e}]):\n    pass",
    "for {b} in {{'k': {e}}}.values():\n    pass",
    "from contextlib import nullcontext\nwith nullcontext({e}) as {b}:\n    pass",
    "match {e}:\n    case {b}:\n        pass",
    "match [1, {e}]:\n    case [_, *{b}_rest]:\n        {b} = {b}_rest[0]",
    "match {{'k': {e}}}:\n    case {{'k': {b}}}:\n        pass",
    "match {e}:\n    case object() as {b}:\n        pass",
    "{b}_box = {{'k': {e}}}\n{b} = {b}_box['k']",
    "{b}_box = {{}}\n{b}_box['k'] = {e}\n{b} = {b}_box['k']",
    "{b}_box = []\n{b}_box.append({e})\n{b} = {b}_box[0]",
    "{b}_box = []\n{b}_box += [{e}]\n{b} = {b}_box.pop()",
    "{b} = dict(k={e})['k']",
    "{b} = {{**{{'k': {e}}}}}.get('k')",
    "{b} = ([1] + [{e}])[1]",
    "{b} = next(iter([{e}]))",
    "{b} = [one for one in [{e}]][0]",
    "{b} = list(map(lambda one: one, [{e}]))[0]",
    "{b} = {e} if True else None",
    "{b} = None or {e}",
    "{b} = (lambda: {e})()",
    "{b} = (lambda one: one)({e})",
    "{b} = (lambda *all: all[0])({e})",
    "{b} = (lambda **all: all['k'])(k={e})",
    "def {b}_get():\n    return {e}\n{b} = {b}_get()",
    "def {b}_get():\n    yield {e}\n{b} = next({b}_get())",
    "def {b}_give(one):\n    return one\n{b} = {b}_give(one={e})",
    "def {b}_give(one={e}):\n    return one\n{b} = {b}_give()",
    "class {b}_Box:\n    thing = {e}\n{b} = {b}_Box.thing",
    "class {b}_Box:\n    def __init__(self, one):\n        self.thing = one\n{b} = {b}_Box({e}).thing",
    "class {b}_Box:\n    pass\n{b}_box = {b}_Box()\n{b}_box.thing = {e}\n{b} = {b}_box.thing",
    "class {b}_Box:\n    pass\nsetattr({b}_Box, 'thing', {e})\n{b} = {b}_Box.thing",
    "class {b}_Box:\n    def get(self):\n        return {e}\n{b} = {b}_Box().get()",
    "try:\n    {b} = {e}\nexcept Exception:\n    {b} = None",
    "def {b}_set():\n    global {b}\n    {b} = {e}\n{b}_set()",
    "globals()['{b}'] = {e}",
    "import functools\n{b} = functools.partial({e})",
    "import types\n{b} = types.SimpleNamespace(thing={e}).thing",
]
# Of these the first ones stand for any object; a partial is no module and no base class.
WHOLE = [b for b in BINDINGS if "partial" not in b]
# How the answer uses it.
USES = [
    "def answer(x):\n    return {t}(x)",
    "answer = lambda x: {t}(x)",
    "def answer(x, f={t}):\n    return f(x)",
    "answer = {t}",
    "class answer({t}):\n    pass",
    "class answer:\n    def __new__(cls, x):\n        return {t}(x)",
    "def helper(x):\n    return {t}(x)\n\ndef answer(x):\n    return helper(x)",
    "def helper(f, x):\n    return f(x)\n\ndef answer(x):\n    return helper({t}, x)",
    "def answer(x):\n    def inner():\n        return {t}(x)\n    return inner()",
    "def answer(x):\n    return [f(x) for f in [{t}]][0]",
    "def outer():\n    f = {t}\n    def inner(x):\n        return f(x)\n    return inner\n\nanswer = outer()",
]


@pytest.fixture
def library(monkeypatch):
    """A library whose layer says when it is called, and another module that hands `sys` on."""

    class Layer:
        def __init__(self, x):
            raise RuntimeError(CALLED)

    package, layers, hidden, host = (types.ModuleType(n) for n in ("library", "library.layers", "hidden", "host"))
    package.__path__ = []
    Layer.__module__ = "library.layers"
    package.layers, layers.Layer, layers.hidden, hidden.Layer, host.sys = layers, Layer, hidden, Layer, sys
    for name, module in (("library", package), ("library.layers", layers), ("host", host)):
        monkeypatch.setitem(sys.modules, name, module)


def composed(rng):
    """A program in several cells whose `answer` calls what it may not."""
    statement, expression = rng.choice(IMPORTS)
    cells = [statement]
    count = rng.randrange(3)
    for i in range(count):
        cells.append(rng.choice(WHOLE).format(b=f"a{i}", e=expression))
        expression = f"a{i}"
    expression = rng.choice(REACHES).format(m=expression)
    use = rng.choice(USES)
    for i in range(count, count + rng.randrange(3)):
        cells.append(rng.choice(WHOLE if "class answer(" in use else BINDINGS).format(b=f"a{i}", e=expression))
        expression = f"a{i}"
    cells.append(use.format(t=expression))
    if "import *" not in statement and rng.random() < 0.4 and "def answer(x):" in use:  # all of it inside the answer
        body = "\n".join(c for c in cells if c)
        if "global" not in body:
            return {"answer": f"def answer(x):\n{textwrap.indent(body, '    ')}\n    return answer(x)"}
    return {f"cell {i}" if i < len(cells) - 1 else "answer": cell for i, cell in enumerate(cells)}


def calls_it(sources):
    """Whether the answer in these cells does call what it may not."""
    space = {"__name__": "notebook"}
    try:
        for source in sources.values():
            exec(source, space)
        space["answer"](1)
    except RuntimeError as error:
        return str(error) == CALLED
    return False


def require_found(sources):
    """What the answer in these cells may not call is found, and it does call it."""
    assert calls_it(sources), "a program that does not call it is no test"
    inspection = inspect(sources, {"answer": ("library.layers.Layer",)})
    assert "forbidden-name" in {f.code for f in inspection.findings}, "\n".join(sources.values())


@pytest.mark.parametrize("seed", PROGRAMS)
def test_it_is_found_by_whatever_way_it_comes(seed, library):
    require_found(composed(random.Random(seed)))


NAMES = [f"{m.__name__}.{name}" for m in (math, cmath) for name in dir(m) if name[0] != "_"]
CROWDS = [
    "T = None\nfor T in [{names}, {t}]:\n    pass\ndef answer(x):\n    return T(x)",
    "{lines}\nT = {t}\ndef answer(x):\n    return T(x)",
    "def give(one):\n    return one\n{calls}\ndef answer(x):\n    return give({t})(x)",
    "class Box:\n    pass\n{boxes}\nBox.T = {t}\ndef answer(x):\n    return Box.T(x)",
    "things = [{names}]\nthings.append({t})\ndef answer(x):\n    return things[-1](x)",
]


@pytest.mark.parametrize("crowd", CROWDS)
@pytest.mark.parametrize("many", [3, 30, len(NAMES)])
def test_it_is_found_in_a_crowd(crowd, many, library):
    names = NAMES[:many]
    parts = {
        "t": "m.Layer",
        "names": ", ".join(names),
        "lines": "\n".join(f"T = {name}" for name in names),
        "calls": "\n".join(f"give({name})" for name in names),
        "boxes": "\n".join(f"Box.T = {name}" for name in names),
    }
    source = "import math, cmath\nimport library.layers as m\n" + crowd.format(**parts)
    require_found({"answer": source})


@pytest.mark.parametrize("binding", BINDINGS)
@pytest.mark.parametrize("reach", ["{m}.Layer", "{m}"])
def test_each_way_of_binding_is_followed(binding, reach, library):
    bound = binding.format(b="bound", e=reach.format(m="m"))
    called = "bound" if reach.endswith("Layer") else "bound.Layer"
    if "partial" in binding and called != "bound":
        return
    require_found({"answer": f"import library.layers as m\n{bound}\ndef answer(x):\n    return {called}(x)"})


INNOCENT = [
    "T = 3\ndef other(T):\n    return T.Layer\ndef answer(T):\n    return T.Layer",
    "import library.layers as m\ndef other(x):\n    return m.Layer(x)\ndef answer(x):\n    return x + 1",
    "import library.layers as m\nm = 3\nthings = [m]\ndef answer(m):\n    return m.Layer",
    "import library.layers as m, math\ndef answer(x):\n    return math.exp(x)",
    "import library.layers as m\nclass Box:\n    m = 1\ndef answer(Layer):\n    return Box().m + Layer",
    "import library.layers as m\nfor m.other in (1,):\n    pass\ndef answer(x):\n    return [m for m in x]",
]


@pytest.mark.parametrize("source", INNOCENT)
def test_a_name_belongs_to_its_scope(source):
    inspection = inspect({"answer": source}, {"answer": ("library.layers.Layer",)})
    assert "forbidden-name" not in {f.code for f in inspection.findings}
    assert inspection.banned == {}


def test_what_is_bound_in_two_ways_is_told_and_decided_by_the_room():
    sources = {
        "draft": "import library.layers as m\ndef answer(x):\n    return m.Layer(x)",
        "answer": "def answer(x):\n    return x",
    }
    inspection = inspect(sources, {"answer": ("library.layers.Layer",)})
    assert [f.code for f in inspection.findings] == ["forbidden-name"]
    assert inspection.banned == {}
    tampered = {**sources, "own": "import gc\ngc.get_objects()"}
    assert inspect(tampered, {"answer": ("library.layers.Layer",)}).banned == {"answer": "library.layers.Layer"}


def test_the_name_of_an_earlier_answer_stands_for_the_reference():
    source = "from library.layers import Layer as step\ndef answer(x):\n    return step(x)"
    forbids = {"answer": ("library.layers",)}
    assert inspect({"answer": source}, forbids).banned == {"answer": "library.layers.Layer"}
    assert inspect({"answer": source}, forbids, {"answer": {"step"}}).banned == {}


def _forbids(stem):
    own = f"rnncourse.{stem.partition('_')[2]}", "rnncourse.exercises"
    return {e.name: (*own, *e.forbids) for e in exercises.unit(stem) if isinstance(e, Exercise)}


@pytest.mark.parametrize("stem", exercises.SYLLABUS)
def test_the_model_answers_refer_to_nothing_that_they_may_not(stem, root):
    cells = nbformat.read(root / "solutions" / stem / f"{stem}.ipynb", as_version=4).cells
    code = [c for c in cells if c.cell_type == "code" and "nbgrader" in c.metadata]
    sources = {c.id: c.source for c in code if c.metadata.nbgrader.solution}
    given = {c.id: c.source for c in code if c.metadata.nbgrader.locked and not c.metadata.nbgrader.grade}
    inspection = inspect(sources, _forbids(stem), given=given)
    assert (inspection.findings, inspection.banned) == ([], {})


@pytest.mark.parametrize("stem", exercises.SYLLABUS)
def test_nothing_is_found_in_right_answers_of_any_style(stem):
    module = __import__(f"{alternatives.__name__}.{stem.partition('_')[2]}", fromlist=["ALTERNATIVES"])
    source = python_inspect.getsource(module)
    forbids, uses = {}, {}
    for name, banned in _forbids(stem).items():
        for one in module.ALTERNATIVES.get(name, ()):
            if hasattr(one, "__name__"):
                forbids[one.__name__] = banned
                uses[one.__name__] = {*exercises.find(name).uses}
    assert forbids or not module.ALTERNATIVES
    inspection = inspect({"all": source}, forbids, uses)
    assert [f.message for f in inspection.findings] == []
    assert inspection.banned == {}


@pytest.mark.parametrize("source", ["x = x.a", "x = [x]", "def f(x=f):\n    return f(f)", "a, b = b.c, a.d", "x.y = x"])
def test_what_depends_on_itself_comes_to_an_end(source):
    program = Program({"cell": ast.parse("import numpy as x, math as a, types as b\n" + source)})
    for node in ast.walk(program.trees["cell"]):
        if id(node) in program.scopes:
            assert len(program.values(node)) < 100
