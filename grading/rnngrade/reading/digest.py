"""Which answers are the same: `digest` is one for two answers that differ only in the names they give, layout,
comments, docstrings and annotations; `weight` says how long an answer is, since short ones are the same by chance.
"""

import ast
import functools
import hashlib
import re

from rnngrade.reading.programs import TooComplex, as_run, in_order


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


@functools.lru_cache(maxsize=8)  # an answer is digested and weighed
def _normal(source: str) -> ast.Module:
    tree, _ = as_run(source)
    _Plain().visit(tree)
    names = dict[str, str]()
    for node in in_order(tree):
        if given := _given_name(node):
            names.setdefault(given, f"v{len(names)}")
    for node in ast.walk(tree):
        if isinstance(node, ast.alias):
            node.asname = names[_given_name(node)]
        elif isinstance(node, (ast.Global, ast.Nonlocal)):
            node.names = [names.get(name, name) for name in node.names]
        elif (of := _NAMES.get(type(node))) and getattr(node, of):
            setattr(node, of, names.get(getattr(node, of), getattr(node, of)))
    return tree


_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
# Where what has a name has it.
_NAMES = {ast.Name: "id", ast.arg: "arg", **dict.fromkeys((*_SCOPES, ast.ExceptHandler), "name")}


def _given_name(node: ast.AST) -> str:
    """The name that a piece of code binds, or nothing."""
    if isinstance(node, ast.alias):
        return node.asname or node.name.partition(".")[0]
    if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Store):
        return ""
    name = getattr(node, _NAMES.get(type(node), ""), "")
    return "_" if name is None else name


class _Plain(ast.NodeTransformer):
    """Takes docstrings and annotations away."""

    def generic_visit(self, node: ast.AST) -> ast.AST:
        super().generic_visit(node)
        if isinstance(node, (ast.Module, *_SCOPES)):
            match node.body:
                case [ast.Expr(ast.Constant()), *rest]:
                    node.body = rest or [ast.Pass()]
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            node.returns = None
        elif isinstance(node, ast.arg):
            node.annotation = None
        return node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST | None:
        return self.generic_visit(ast.Assign([node.target], node.value, lineno=node.lineno)) if node.value else None
