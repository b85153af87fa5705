"""Whether an answer may leave traces: change something that outlives its call, by which another answer may fail.

Read without running it, and only where an answer has failed. It need not see through a trick: whoever hides what they
do has findings of the inspection. `x[0] = 1` is an answer's own business if x is its argument or its own variable.

>>> may_leave_traces("def f(x):\\n    y = x.copy()\\n    y[0] = 1\\n    return np.tanh(y)")
False
>>> may_leave_traces("def f(x):\\n    SEEN.append(x)\\n    return x")
True
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from rnngrade.reading.ipython import as_run

REACHES_FAR = {
    *("get_ipython", "sys", "os", "gc", "builtins", "signal", "resource", "threading", "atexit", "importlib"),
    *("warnings", "globals", "vars", "setattr", "delattr", "exec", "eval"),
}
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)


def may_leave_traces(source: str) -> bool:
    """Whether a function in this source writes to what is not its own, or calls something for its effect alone."""
    try:
        tree, _ = as_run(source)
        outermost = [node for node in ast.walk(tree) if isinstance(node, FUNCTIONS)]
        return any(_writes(function) for function in outermost)
    except Exception:  # what cannot be read may do anything
        return True


def _writes(function: ast.AST) -> bool:
    nodes = list(ast.walk(function))
    if any(isinstance(node, (ast.Global, ast.Nonlocal, ast.Import, ast.ImportFrom)) for node in nodes):
        return True
    if any(isinstance(node, ast.Name) and node.id in REACHES_FAR for node in nodes):
        return True
    own = {node.arg for node in nodes if isinstance(node, ast.arg)}
    own |= {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    return any(root not in own for root in _changed(nodes))


def _changed(nodes: list[ast.AST]) -> Iterator[str | None]:
    """The first names of all that these nodes write to, or call a method of and do nothing with the result."""
    for node in nodes:
        if isinstance(node, (ast.Attribute, ast.Subscript)) and not isinstance(node.ctx, ast.Load):
            yield _root(node)
        elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call) and not _is_plain(node.value.func):
            yield _root(node.value.func)


def _is_plain(called: ast.expr) -> bool:
    """Whether what is called changes nothing but its arguments, pictures and what is shown."""
    return _root(called) in ("print", "display", "plt", "nn")


def _root(node: ast.AST) -> str | None:
    while isinstance(node, (ast.Attribute, ast.Subscript, ast.Call)):
        node = node.func if isinstance(node, ast.Call) else node.value
    if not isinstance(node, ast.Name):
        return None
    return "self" if node.id == "super" else node.id
