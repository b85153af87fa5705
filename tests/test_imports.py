"""No circle of imports, in either package: a module can be read, and loaded, before all that build on it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from importlib.util import resolve_name
from pathlib import Path

import pytest


def modules_of(package: Path) -> dict[str, Path]:
    """All modules of a package, by dotted name."""
    named = {".".join(path.relative_to(package.parent).with_suffix("").parts): path for path in package.rglob("*.py")}
    return {name.removesuffix(".__init__"): path for name, path in named.items()}


def is_for_types_only(node: ast.AST) -> bool:
    """Whether this is an `if TYPE_CHECKING:`, which is never run."""
    return isinstance(node, ast.If) and ast.unparse(node.test) in ("TYPE_CHECKING", "typing.TYPE_CHECKING")


def imports_in(node: ast.AST, package: str) -> Iterator[str]:
    """What the code of a module of `package` imports, wherever it does: dotted names of modules, and of what is in
    them.
    """
    match node:
        case ast.Import(names):
            yield from (alias.name for alias in names)
        case ast.ImportFrom(module, names, level):
            base = resolve_name("." * level + (module or ""), package)
            yield from (f"{base}.{alias.name}" for alias in names)
        case ast.Call(ast.Attribute(attr="import_module") | ast.Name("__import__"), [ast.Constant(str(name)), *_]):
            yield name
    for child in ast.iter_child_nodes(node):
        if not is_for_types_only(node) or child in getattr(node, "orelse", ()):
            yield from imports_in(child, package)


def graph_of(modules: dict[str, Path]) -> dict[str, set[str]]:
    """For each module the others that it imports."""
    graph = {}
    for name, path in modules.items():
        package = name if path.stem == "__init__" else name.rpartition(".")[0]
        imported = imports_in(ast.parse(path.read_text(encoding="utf-8")), package)
        homes = (found if found in modules else found.rpartition(".")[0] for found in imported)
        graph[name] = {home for home in homes if home in modules} - {name}
    return graph


def circle_in(graph: dict[str, set[str]]) -> list[str]:
    """The modules of a circle, the first one again at the end; none if there is no circle."""
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return error.args[1]
    return []


def test_no_module_imports_one_that_imports_it(root):
    graph = graph_of(modules_of(root / "rnncourse") | modules_of(root / "grading" / "rnngrade"))
    assert graph["rnngrade.run"] > {"rnngrade.distributed", "rnngrade.sandbox.bubblewrap"}, "imports are found"
    assert circle_in(graph) == []


@pytest.mark.parametrize(
    ("back", "is_one"),
    [
        ("from course import first", True),
        ("from course.first import name", True),
        ("from .first import name", True),
        ("from . import first", True),
        ("import course.first", True),
        ("def later():\n    from course.first import name", True),
        ("import importlib\nimportlib.import_module('course.first')", True),
        ("from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from course.first import name", False),
        ("if TYPE_CHECKING:\n    pass\nelse:\n    from course.first import name", True),
        ("from course import other", False),
    ],
)
def test_a_circle_is_found_however_it_is_closed(back, is_one, tmp_path):
    package = tmp_path / "course"
    package.mkdir()
    for name, source in {"__init__": "", "first": "from course import second", "second": back, "other": ""}.items():
        (package / f"{name}.py").write_text(source)
    circle = circle_in(graph_of(modules_of(package)))
    assert set(circle) == ({"course.first", "course.second"} if is_one else set())
