"""The textbook in code: a page for each public module, made from its source, without importing it.

Docstrings are Markdown as they stand: what is indented is code, and doctests get a fence.
"""

import ast
import re
from pathlib import Path

DOCTEST = re.compile(r"^>>> .*?(?=^\s*$|\Z)", re.MULTILINE | re.DOTALL)
Definition = ast.FunctionDef | ast.ClassDef


def modules(root: Path) -> dict[str, Path]:
    """The public modules by dotted name: chapters, what a notebook calls, data."""
    package = root / "rnncourse"
    called = (package / "seat" / name for name in ("notebook.py", "tracking.py"))
    paths = [*package.glob("*.py"), *(package / "data").glob("*.py"), *called]
    return {
        ".".join(path.relative_to(root).with_suffix("").parts): path
        for path in sorted(paths)
        if path.stem != "__init__"
    }


def definitions(name: str, path: Path) -> set[str]:
    """The dotted names of what a module defines for others."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return {f"{name}.{node.name}" for node in _public(tree)}


def label(dotted: str) -> str:
    """What a definition is linked to by. Labels know no capitals: a class is told from the function of its name."""
    return dotted.lower() + "-class" * dotted.rpartition(".")[2][0].isupper()


def page(name: str, path: Path, *, source: bool = True) -> str:
    """The page of a module in MyST Markdown; with `source`, the code of each definition is there, folded."""
    text = path.read_text(encoding="utf-8")
    tree = ast.parse(text)
    parts = [f"({name})=\n# `{name}`", _markdown(ast.get_docstring(tree) or "")]
    parts += [_entry(name, node, text, source) for node in _public(tree)]
    return "\n\n".join(parts) + "\n"


def _public(tree: ast.Module) -> list[Definition]:
    return [node for node in tree.body if isinstance(node, Definition) and node.name[0] != "_"]


def _entry(module: str, node: Definition, text: str, source: bool) -> str:
    code = "\n".join(text.splitlines()[node.lineno - 1 : node.end_lineno])
    parts = [
        f"({label(module + '.' + node.name)})=\n## `{node.name}`",
        f"```python\n{_signature(node, text)}\n```",
        _markdown(ast.get_docstring(node) or ""),
    ]
    if isinstance(node, ast.ClassDef):
        parts += [
            f"```python\n{_signature(method, text)}\n```\n\n{_markdown(ast.get_docstring(method) or '')}"
            for method in node.body
            if isinstance(method, ast.FunctionDef) and (method.name == "__init__" or not method.name.startswith("_"))
        ]
    if source:
        fold = '<details class="course-folded"><summary>Show the code</summary>'
        parts.append(f"{fold}\n\n```python\n{code}\n```\n\n</details>")
    return "\n\n".join(part for part in parts if part)


def _signature(node: Definition, text: str) -> str:
    """The lines of a definition before its body."""
    lines = text.splitlines()[node.lineno - 1 : node.body[0].lineno - 1]
    indent = len(lines[0]) - len(lines[0].lstrip()) if lines else 0
    return "\n".join(line[indent:] for line in lines if not line.lstrip().startswith("#")).rstrip()


def _markdown(docstring: str) -> str:
    return DOCTEST.sub(lambda found: f"```pycon\n{found[0].rstrip()}\n```\n", docstring.replace("``", "`"))
