"""The library inside the sandbox: no answer to the unit, nothing that only the judge knows, and all of it works."""

import ast
import functools
import inspect
import json
import os
import subprocess
import sys
import textwrap

import pytest

from rnncourse import exercises
from rnncourse.checks.exercise import Exercise
from rnngrade.core.zips import zipped
from rnngrade.sandbox.library import digest, library, unpack
from tests.sampling import some

UNITS = list(exercises.STEMS)
LEAST = 16  # nodes: what is shorter, such as a sum over an axis, is the same by chance


class _Bare(ast.NodeTransformer):
    """Leaves out what does not say what a function does: its name, words, annotations; numbers its variables."""

    def __init__(self) -> None:
        self.names: dict[str, str] = {}

    def visit_FunctionDef(self, node):
        node.name = self._number(node.name)
        node.decorator_list, node.returns = [], None
        return self._body(node)

    def visit_ClassDef(self, node):
        node.name, node.decorator_list = self._number(node.name), []
        return self._body(node)

    def visit_arg(self, node):
        return ast.arg(self._number(node.arg))

    def visit_Name(self, node):
        return ast.Name(self._number(node.id), ast.Load())

    def visit_AnnAssign(self, node):
        self.generic_visit(node)
        return ast.Assign([node.target], node.value or ast.Constant(None))

    def _body(self, node):
        if ast.get_docstring(node) is not None:
            node.body = node.body[1:] or [ast.Pass()]
        return self.generic_visit(node)

    def _number(self, name):
        return self.names.setdefault(name, f"n{len(self.names)}")


def bare(node: ast.AST) -> str:
    """A function or class up to names, layout and words."""
    return ast.dump(_Bare().visit(node))


def size(node: ast.AST) -> int:
    return sum(1 for _ in ast.walk(node))


def definitions(source: str) -> list[ast.AST]:
    kinds = (ast.FunctionDef, ast.ClassDef)
    return [node for node in ast.walk(ast.parse(source)) if isinstance(node, kinds)]


@functools.cache
def forms(source: str) -> list[tuple[str, str]]:
    """Name and bare form of each function and class in a file."""
    return [(node.name, bare(node)) for node in definitions(source)]


@functools.cache
def answers(unit: str) -> dict[str, str]:
    """What may not be in the library, by its bare form: references, and the mistakes that the judge knows."""
    found = {}
    for exercise in exercises.unit(unit):
        if isinstance(exercise, Exercise):
            named = {exercise.name: textwrap.dedent(inspect.getsource(exercise.reference))} | {
                f"{exercise.name}: {name}": source
                for name, source in [("model answer", exercise.source)]
                + [(m.name, m.source_for(exercise.name)) for m in exercise.misconceptions]
            }
            for name, source in named.items():
                node = definitions(source)[0]
                if size(node) >= LEAST:
                    found[bare(node)] = name
    return found


def later(unit: str) -> list[str]:
    return UNITS[UNITS.index(unit) :]


@pytest.mark.parametrize("unit", UNITS)
def test_it_holds_no_answer_to_the_unit_or_to_a_later_one(unit):
    hidden = {form: name for one in later(unit) for form, name in answers(one).items()}
    found = {}
    for path, content in library(unit).items():
        if path.endswith(".py"):
            found |= {f"{path}: {name}": hidden[form] for name, form in forms(content.decode()) if form in hidden}
    assert found == {}


def test_the_comparison_finds_an_answer_under_another_name():
    answer = exercises.find("rnn_step").reference
    renamed = inspect.getsource(answer).replace("rnn_step", "helper").replace("h_prev", "before")
    assert bare(definitions(renamed)[0]) in answers("03_cell")
    assert bare(definitions("def helper(x):\n    return x")[0]) not in answers("03_cell")


@pytest.mark.parametrize("unit", UNITS)
def test_it_holds_no_catalogue_no_seed_and_nothing_of_the_desk(unit):
    files = library(unit)
    stem = unit.partition("_")[2]
    assert [path for path in files if "exercises" in path or path == f"rnncourse/{stem}.py"] == []
    assert {path.partition("/")[0] for path in files} == {"rnncourse", "rnngrade_inside"}
    for path, content in files.items():
        if path.endswith(".py"):
            assert b"def judge(" not in content or path == "rnncourse/checks/engine.py", path
    inside = files["rnncourse/seat/notebook.py"].decode()
    assert "import" in inside
    assert "exercises" not in inside.partition('"""')[2].partition('"""')[2]


@pytest.mark.parametrize("unit", UNITS)
def test_no_message_of_a_misconception_is_in_it(unit):
    text = "\n".join(content.decode() for path, content in library(unit).items() if path.endswith(".py"))
    for exercise in exercises.unit(unit):
        assert [m.name for m in exercise.misconceptions if m.message in text] == [], exercise.name
        assert [hint for hint in exercise.hints if hint in text] == [], exercise.name


def test_the_same_files_have_the_same_name():
    files = library("03_cell")
    assert digest(files) == digest(dict(reversed(files.items())))
    name = "rnncourse/__init__.py"
    assert digest(files) != digest({**files, name: files[name] + b"\n"})


PROGRAM = """
import importlib, json, os, sys
sys.path.insert(0, sys.argv[1])
import rnncourse
assert rnncourse.__file__.startswith(sys.argv[1]), rnncourse.__file__
found = {}
for folder, _, files in os.walk(os.path.join(sys.argv[1], "rnncourse")):
    for file in sorted(files):
        path = os.path.relpath(os.path.join(folder, file), sys.argv[1])
        if file.endswith(".py"):
            name = path[:-3].replace(os.sep, ".").removesuffix(".__init__")
            try:
                importlib.import_module(name)
            except Exception as error:
                found[name] = f"{type(error).__name__}: {error}"
print(json.dumps(found))
"""


@pytest.mark.parametrize("unit", some(["01_ngram", "06_language_model", UNITS[-1]], 1))
def test_all_that_is_left_can_be_imported(unit, tmp_path):
    unpack(zipped(library(unit).items()), tmp_path)
    done = subprocess.run(
        [sys.executable, "-I", "-c", PROGRAM, str(tmp_path)],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env={"PATH": os.environ["PATH"], "MPLBACKEND": "agg", "MPLCONFIGDIR": str(tmp_path)},
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == {}
