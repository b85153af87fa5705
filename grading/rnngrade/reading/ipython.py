"""What IPython makes of a cell, as a syntax tree: what ran is what is read.

IPython runs cells that are no Python, `here = %pwd`, `,print x`, `%time f()`. Its own transformer turns them into
calls, `get_ipython().run_line_magic('time', 'f()')`. The code that such a call runs takes its place in the tree; of all
other magics only the names are left, for others to judge.

>>> tree, magics = as_run("files = !ls\\n%time x = 1")
>>> ast.unparse(tree), magics
('files = None\\nx = 1', ['!', 'time'])
"""

import ast
import re
import warnings
from functools import lru_cache

from IPython.core.inputtransformer2 import TransformerManager

MAX_SOURCE = 200_000  # characters of one cell that are parsed
SHORT = 5_000  # characters of a cell of which it is remembered what it becomes
# Magics that run the Python behind them, of which they take options.
RUN_PYTHON = frozenset(("time", "timeit", "prun", "capture", "config"))
# Those that run nothing of the student's own.
SHOW = frozenset(("pinfo", "pinfo2", "matplotlib", "precision", "who", "whos", "pwd", "pip", "conda"))
_OPTIONS = re.compile(r"(?:\s*-\w(?:[ \t]*[\w.]+)?(?=\s))*\s*")
_SHELL = ("system", "getoutput")


class TooComplex(Exception):
    """The source is too long, or nested too deeply, to be parsed."""


def as_run(source: str) -> tuple[ast.Module, list[str]]:
    """The program that a cell is, and the magics in it, `!` for a shell's command.

    **Errors:** `SyntaxError`; `TooComplex`.
    """
    if len(source) > MAX_SOURCE:
        raise TooComplex
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of an odd escape in a string, say
            above = source[: len(source) - len(source.lstrip())].count("\n")  # which the transformer takes away
            tree = ast.parse("\n" * above + _transformed(source))
            unfolded = _Unfold()
            unfolded.visit(tree)
    except (RecursionError, MemoryError):
        raise TooComplex from None
    except ValueError as error:  # null bytes
        raise error if isinstance(error, SyntaxError) else SyntaxError(str(error)) from None
    return tree, unfolded.magics


def _transformed(source: str) -> str:
    """The Python that IPython makes of a cell. A class hands in many cells that are the same."""
    return _of_short(source) if len(source) <= SHORT else TransformerManager().transform_cell(source)


@lru_cache(maxsize=1_000)
def _of_short(source: str) -> str:
    return TransformerManager().transform_cell(source)


class _Unfold(ast.NodeTransformer):
    """Puts the code that a magic runs into the place of its call."""

    def __init__(self) -> None:
        self.magics: list[str] = []

    def visit_Expr(self, node: ast.Expr) -> ast.AST | list[ast.stmt]:
        if (code := self._code(node.value)) is None:
            return self.generic_visit(node)
        return code or ast.copy_location(ast.Pass(), node)

    def visit_Call(self, node: ast.Call) -> ast.AST:
        if (code := self._code(node)) is None:
            return self.generic_visit(node)
        is_value = len(code) == 1 and isinstance(code[0], ast.Expr)
        if code and not is_value:  # statements, where a value stands: IPython gives None for them
            self.magics.append("!")
        return code[0].value if is_value else ast.copy_location(ast.Constant(None), node)  # type: ignore[attr-defined]

    def _code(self, node: ast.expr) -> list[ast.stmt] | None:
        """The statements that this call of IPython's runs; None if it is no such call."""
        match node:
            case ast.Call(ast.Attribute(ast.Call(ast.Name("get_ipython"), []), called), args):
                texts = [a.value for a in args if isinstance(a, ast.Constant) and isinstance(a.value, str)]
            case _:
                return None
        if called in _SHELL:
            self.magics.append("!")
            return []
        if called not in ("run_line_magic", "run_cell_magic") or not texts or len(texts) != len(args):
            return None
        name, *lines = texts
        self.magics.append(name)
        if name not in RUN_PYTHON:
            return []
        behind = [_OPTIONS.sub("", lines[0], count=1), *lines[1:]]
        found = []
        for text in behind if name != "capture" else behind[1:]:
            tree, magics = as_run(text)
            self.magics += magics
            found += tree.body
        return found
