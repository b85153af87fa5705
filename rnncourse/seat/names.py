"""The names in a cell: what it defines for others and what it takes from them, read off its text without running it."""

import ast
import re
import symtable
import warnings
from collections.abc import Iterator
from dataclasses import dataclass

PROVIDED = {"In", "Out", "_", "__", "___", "__doc__", "__file__", "__name__", "display", "get_ipython"}  # by IPython
# what is given out, and not written yet: a function's stub, or a question that nothing else is put into
CODE_STUB = re.compile(r"^[ \t]*raise NotImplementedError|^(quiz_\w+) = None\b(?![\s\S]*^\1 =)", re.MULTILINE)
MAGIC = re.compile(r"^(\s*)(?:[%!].*|[\w.]+\?{1,2}\s*)$", re.MULTILINE)
CELL_MAGIC = re.compile(r"\A\s*%%(?!time|capture|prun)")
STAR = re.compile(r"^\s*from\s+\S+\s+import\s+\*", re.MULTILINE)


@dataclass(frozen=True)
class Names:
    """Names that a cell defines, "*" among them if it imports some that it does not name; and names that it uses and
    does not define.
    """

    defined: frozenset[str]
    used: frozenset[str]


def names_in(source: str) -> Names | None:
    """The names in a cell; None if it is no Python.

    >>> names_in("y = np.tanh(x)").defined
    frozenset({'y'})
    >>> names_in("def f(:")
    """
    try:
        text = python_of(source)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # what Python thinks of its escapes
            top = symtable.symtable(text, "<cell>", "exec")
    except (SyntaxError, ValueError, RecursionError):
        return None
    defined = {symbol.get_name() for symbol in top.get_symbols() if symbol.is_assigned() or symbol.is_imported()}
    used = {symbol.get_name() for symbol in top.get_symbols() if symbol.is_referenced()}
    for scope in _inside(top):
        symbols = [symbol for symbol in scope.get_symbols() if symbol.is_global()]
        used |= {symbol.get_name() for symbol in symbols if symbol.is_referenced()}
        defined |= {symbol.get_name() for symbol in symbols if symbol.is_assigned()}
    if STAR.search(text):
        defined.add("*")
    return Names(frozenset(defined), frozenset(used - defined))


def not_python(source: str) -> str:
    """What is wrong with code that is no Python: "line 2: expected ':'"."""
    try:
        python_of(source)
    except SyntaxError as error:
        return f"line {error.lineno}: {error.msg}"
    except (ValueError, RecursionError) as error:
        return str(error)
    return "it cannot be compiled"


def python_of(source: str) -> str:
    """A cell in which what only IPython understands, as in `%timeit f()` or `!ls`, does nothing. **Errors:** those of
    `ast.parse`, if what is left is no Python.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            ast.parse(source)
        except SyntaxError:
            source = "" if CELL_MAGIC.match(source) else MAGIC.sub(r"\1pass", source)
            ast.parse(source)
    return source


def _inside(scope: symtable.SymbolTable) -> Iterator[symtable.SymbolTable]:
    for child in scope.get_children():
        yield child
        yield from _inside(child)
