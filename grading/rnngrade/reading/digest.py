"""Which answers are the same: `digest` is one for two answers that differ only in the names they give, layout,
comments, docstrings and annotations; `weight` says how long an answer is, since short ones are the same by chance.
"""

import ast
import functools
import hashlib
import re
from collections.abc import Iterator

from rnngrade.reading.programs import TooComplex, as_run


def digest(source: str) -> str:
    """A digest of an answer up to the names it gives, layout, comments, docstrings and annotations.

    >>> digest("def f(x):\\n    return x + 1  # one more") == digest("def f(value):\\n  'Add.'\\n  return value+1")
    True
    >>> digest("def f(x):\\n    return x + 1") == digest("def f(x):\\n    return x - 1")
    False
    """
    try:
        text = ast.dump(_normal(source), annotate_fields=False)
    except (SyntaxError, RecursionError, TooComplex):
        text = "".join(re.sub(r"#.*", "", source).split())
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:16]


def weight(source: str) -> int:
    """How much there is to an answer: the nodes of its syntax tree, docstrings and annotations aside; 0 if it is no
    valid Python.

    >>> weight("quiz = 7") < 10 < weight("def f(x):\\n    return [a * b + 1 for a, b in x]")
    True
    """
    try:
        return sum(not isinstance(node, ast.expr_context) for node in ast.walk(_normal(source)))
    except (SyntaxError, RecursionError, TooComplex):
        return 0


_NAMED = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.ExceptHandler)


@functools.lru_cache(maxsize=8)  # an answer is digested and weighed
def _normal(source: str) -> ast.Module:
    tree, _ = as_run(source)
    _Plain().visit(tree)
    names = {name: f"v{i}" for i, name in enumerate(dict.fromkeys(_given_names(tree)))}
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            node.id = names.get(node.id, node.id)
        elif isinstance(node, ast.arg):
            node.arg = names.get(node.arg, node.arg)
        elif isinstance(node, _NAMED) and node.name:
            node.name = names[node.name]
        elif isinstance(node, (ast.Global, ast.Nonlocal)):
            node.names = [names.get(n, n) for n in node.names]
        elif isinstance(node, ast.alias):
            node.asname = names[node.asname or node.name.partition(".")[0]]
    return tree


def _given_names(node: ast.AST) -> Iterator[str]:
    """The names that a piece of code binds, in the order of the text."""
    if isinstance(node, _NAMED):
        yield node.name or "_"
    elif isinstance(node, ast.arg):
        yield node.arg
    elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
        yield node.id
    elif isinstance(node, ast.alias):
        yield node.asname or node.name.partition(".")[0]
    for child in ast.iter_child_nodes(node):
        yield from _given_names(child)


class _Plain(ast.NodeTransformer):
    """Takes docstrings and annotations away."""

    def _body(self, node: ast.AST) -> ast.AST:
        self.generic_visit(node)
        body = node.body  # type: ignore[attr-defined]
        if body and isinstance(body[0], ast.Expr) and isinstance(body[0].value, ast.Constant):
            node.body = body[1:] or [ast.Pass()]  # type: ignore[attr-defined]
        return node

    def _function(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> ast.AST:
        node.returns = None
        return self._body(node)

    visit_Module = visit_ClassDef = _body
    visit_FunctionDef = visit_AsyncFunctionDef = _function

    def visit_arg(self, node: ast.arg) -> ast.AST:
        node.annotation = None
        return node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST | None:
        self.generic_visit(node)
        if node.value is None:
            return None
        return ast.Assign([node.target], node.value, lineno=node.lineno)
