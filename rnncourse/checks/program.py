"""An answer as a program: its text, and the same program made to look which lines it runs, and whether it writes to its
arguments.

>>> step = Program("step", "def step(x, h):\\n    x *= 2\\n    return np.tanh(x + h)\\n")
>>> print(step.watching())
def step(x, h):
    __ran__(2)
    x *= 2
    __look__(2)
    __ran__(3)
    return __look__(3, np.tanh(x + h))

Lines have the numbers that they have in their cell, or file. Docstrings and decorators do not belong to the program.
"""

import ast
import linecache
import textwrap
from collections.abc import Collection, Iterable
from copy import deepcopy
from typing import Any

from rnncourse.checks.forbidden import functions_of

LOOK, RAN = "__look__", "__ran__"
# What reaches beyond the program: one that has such a name is not run in another form.
BEYOND = """
    open exec eval compile input breakpoint exit quit __import__ os sys subprocess shutil pathlib Path socket urllib
    requests importlib builtins pickle ctypes signal threading multiprocessing tempfile glob globals locals setattr
    delattr save savez savez_compressed savetxt tofile dump load loadtxt fromfile memmap system unlink rmdir
"""
MOST_EXPRESSIONS = 2_000  # the longest model answer has a tenth of that
Definition = ast.FunctionDef | ast.ClassDef
_BLOCKS = (ast.For, ast.While, ast.If, ast.With, ast.Try, ast.match_case)


class Program:
    """The text of an answer. **Errors:** `SyntaxError` if it is none."""

    def __init__(self, name: str, source: str) -> None:
        self.name, self.source = name, source
        self.tree = ast.parse(source)

    def watching(self) -> str:
        """The program, which says of each statement that it is run, and looks after it what there is."""
        return self._saying(RAN, LOOK)

    def tracing(self) -> str:
        """The program, which says of each statement that it is run."""
        return self._saying(RAN)

    def _saying(self, *names: str) -> str:
        tree = deepcopy(self.tree)
        for node in ast.walk(tree):
            for field in ("body", "orelse", "finalbody"):
                block = getattr(node, field, None)
                if isinstance(block, list) and isinstance(node, (ast.FunctionDef, *_BLOCKS)):
                    setattr(node, field, [s for one in block for s in _around(one, names)])
        return ast.unparse(tree)

    def idle(self, ran: Collection[int]) -> set[int]:
        """The lines of statements that `watching` speaks of and that are not among those that were run."""
        inside = [n for n in ast.walk(self.tree) if isinstance(n, (ast.FunctionDef, *_BLOCKS))]
        blocks = [getattr(node, field, []) for node in inside for field in ("body", "orelse", "finalbody")]
        return {n for block in blocks for one in block if one.lineno not in ran for n in lines_of(one)}

    def other_names(self, lines: Collection[int]) -> dict[str, int]:
        """The variables that statements in these lines write to, with the lines before that last gave them what they
        have as it is: `E = dH`, `a, b = first`, but not `E = dH.copy()`.
        """
        statements = sorted((n for n in ast.walk(self.tree) if isinstance(n, ast.stmt)), key=lambda n: n.lineno)
        found: dict[str, int] = {}
        for writes in (n for n in statements if n.lineno in lines):
            targets = [writes.target] if isinstance(writes, ast.AugAssign) else getattr(writes, "targets", [])
            for name in _written(targets):
                for before in (n for n in statements if n.lineno < writes.lineno and isinstance(n, ast.Assign)):
                    if name in {t.id for t in _each(before.targets) if isinstance(t, ast.Name)}:
                        found.pop(name, None)
                        if isinstance(before.value, (ast.Name, ast.Attribute, ast.Subscript)):
                            found[name] = before.lineno
        return found

    def calls(self, line: int) -> bool:
        """Whether a function is called in a line by a plain name, as one of the student's own is."""
        calls = (n for n in ast.walk(self.tree) if isinstance(n, ast.Call) and n.lineno == line)
        return any(isinstance(call.func, ast.Name) for call in calls)

    @property
    def is_searchable(self) -> bool:
        """Whether it may be run in many other forms: not too long, it opens, runs, deletes and imports nothing."""
        nodes = list(ast.walk(self.tree))
        beyond = {getattr(n, key, None) for n in nodes for key in ("id", "attr")} & set(BEYOND.split())
        imports = any(isinstance(n, (ast.Import, ast.ImportFrom)) for n in nodes)
        return not beyond and not imports and sum(isinstance(n, ast.expr) for n in nodes) <= MOST_EXPRESSIONS


def _each(targets: Iterable[ast.expr]) -> list[ast.expr]:
    """What is assigned to: of `x[i], y = …` `x[i]` and `y`."""
    return [one for target in targets for one in getattr(target, "elts", [target])]


def _written(targets: Iterable[ast.expr]) -> set[str]:
    """The variables that are written to: of `x[i], y = …` x and y."""
    found = set()
    for target in _each(targets):
        while isinstance(target, (ast.Subscript, ast.Attribute, ast.Starred)):
            target = target.value
        found |= {target.id} if isinstance(target, ast.Name) else set()
    return found


def lines_of(node: ast.stmt | ast.expr) -> range:
    """The lines of a node; of a statement with a block, those of its head."""
    body = getattr(node, "body", None)
    last = max(node.lineno, body[0].lineno - 1) if isinstance(body, list) else node.end_lineno or node.lineno
    return range(node.lineno, last + 1)


def _around(one: ast.stmt, names: Collection[str]) -> list[ast.stmt]:
    """A statement, and the calls of these names before and after it."""

    def call(name: str, *args: ast.expr) -> ast.expr:
        return ast.Call(ast.Name(name, ast.Load()), [ast.Constant(one.lineno), *args], [])

    def says(name: str) -> list[ast.stmt]:
        return [ast.Expr(call(name), lineno=one.lineno)] if name in names else []

    if isinstance(one, ast.Return) and one.value and LOOK in names:
        return [*says(RAN), ast.Return(call(LOOK, one.value), lineno=one.lineno)]
    if isinstance(one, (ast.Return, ast.Raise, ast.Break, ast.Continue, ast.FunctionDef, ast.ClassDef)):
        return [*says(RAN), one]
    return [*says(RAN), one, *says(LOOK)]


def program_of(candidate: Any, lent: Collection[str] = ()) -> Program | None:
    """The program that a live candidate is, if its text can be had: from a file, or from a notebook's cell.

    With it come the functions of that text that it calls, but for those that are `lent` by the check.
    """
    kind = ast.ClassDef if isinstance(candidate, type) else ast.FunctionDef
    for function in functions_of(candidate):
        code = function.__code__
        lines = linecache.getlines(code.co_filename)
        try:
            tree = ast.parse("".join(lines))
        except SyntaxError:
            continue
        around = [
            node
            for node in ast.walk(tree)
            if isinstance(node, kind) and _first_line(node) <= code.co_firstlineno <= (node.end_lineno or 0)
        ]
        # The innermost: of a class that of a method, of a function the one that starts there.
        if around and (isinstance(candidate, type) or _first_line(around[-1]) == code.co_firstlineno):
            return _made(lines, around[-1], tree, lent)
    return None


def definition(tree: ast.Module, name: str) -> Definition:
    """The definition of that name at the top."""
    return next(n for n in tree.body if isinstance(n, (ast.FunctionDef, ast.ClassDef)) and n.name == name)


def _first_line(node: Definition) -> int:
    return min([node.lineno, *(d.lineno for d in node.decorator_list)])


def program_in(source: str, name: str, lent: Collection[str] = ()) -> Program | None:
    """The program of that name in the text of a cell, the last if there are several; with what it calls there."""
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError):
        return None
    found = [n for n in ast.walk(tree) if isinstance(n, (ast.FunctionDef, ast.ClassDef)) and n.name == name]
    last = max(found, key=lambda node: node.lineno, default=None)
    return _made(source.splitlines(keepends=True), last, tree, lent) if last else None


def _made(lines: list[str], node: Definition, cell: ast.Module, lent: Collection[str]) -> Program | None:
    """The program that these lines of a definition are, and those of what it calls. The others are left empty."""
    kept, others = [node], [n for n in cell.body if isinstance(n, (ast.FunctionDef, ast.ClassDef))]
    others = [n for n in others if n.name not in {node.name, *lent} and not n.decorator_list and not node.col_offset]
    for one in kept:
        names = {n.id for n in ast.walk(one) if isinstance(n, ast.Name)}
        kept += [n for n in others if n.name in names and n not in kept]
    shown = {n for one in kept for n in range(one.lineno, (one.end_lineno or 0) + 1)}
    text = textwrap.dedent("".join(line if n in shown else "\n" for n, line in enumerate(lines[: max(shown)], 1)))
    try:
        return Program(node.name, text)
    except SyntaxError:
        return None
