"""A unit without PyTorch: which of its cells run where it cannot be had, and the notebook that is left.

Nothing is marked by hand. An import is tried where torch is refused. A statement cannot run if one of its imports
cannot be had, or if it uses a name that, where it stands, was last bound by a statement that cannot run. A cell with
such a statement is shown and not run; where later cells need a name that another statement of it binds, that statement
stays. A unit's locked imports lose only what cannot run; where that is all, they are a comment. Whether an exercise is
there is for its model answer to say; without it there is no check.
"""

import ast
import json
import subprocess
import symtable
import sys
import textwrap
from collections.abc import Iterable, Iterator
from pathlib import Path

from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell

from rnncourse import exercises

HERE = Path(__file__).resolve().parent
SHOWN = "*This needs PyTorch, which is not in the browser. So it is shown, and not run:*"
NOT_HERE = "This needs PyTorch, which is not in the browser:"
LEFT_OUT = "*This exercise needs PyTorch, which is not in the browser: it is left out here.*"
IS_LEFT_OUT = "-left-out"  # how the id of a cell that stands for an answer ends
# a statement under these may bind its names or not
CONDITIONAL = (ast.If, ast.For, ast.While, ast.Try, ast.With, ast.AugAssign, ast.Match)


def imports(notebooks: Iterable[NotebookNode]) -> set[str]:
    """Every import statement in these notebooks, wherever in a cell it stands."""
    code = (cell.source for notebook in notebooks for cell in notebook.cells if cell.cell_type == "code")
    return {statement for source in code for statement in _imports(ast.parse(source))}


def not_to_be_had(statements: Iterable[str]) -> set[str]:
    """Those of these import statements that fail where torch is refused."""
    command = [sys.executable, HERE / "refusing.py"]
    asked = json.dumps(sorted(statements))
    done = subprocess.run(command, input=asked, stdout=subprocess.PIPE, text=True, check=True)
    return set(json.loads(done.stdout))


def without_torch(students: NotebookNode, solution: NotebookNode, refused: set[str]) -> NotebookNode:
    """`students`, a unit's notebook, less what needs torch, with one line on that below its title.

    solution: the same unit with its model answers. refused: the import statements that cannot be had.
    """
    remains = _remains(solution, refused)
    missing: list[str] = []
    shown = 0
    cells: list[NotebookNode] = []
    for cell in students.cells:
        role = cell.metadata.get("nbgrader", {})
        rest = remains.get(cell.id)
        if rest is None:
            cells.append(cell)
        elif role.get("solution"):
            missing.append(cell.id)
            cells.append(new_markdown_cell(LEFT_OUT, id=cell.id + IS_LEFT_OUT))  # its own id is an answer's
        elif role.get("grade"):
            pass  # the check of an exercise that is not there
        elif role:
            cells.append(NotebookNode(cell, source=rest or textwrap.indent(f"{NOT_HERE}\n{cell.source}", "# ")))
        else:
            shown += 1
            if rest:  # under its own id: it is the unit's, and no cell of the student's
                cells.append(new_code_cell(rest, id=cell.id, metadata=cell.metadata))
            cells.append(new_markdown_cell(f"{SHOWN}\n\n```python\n{cell.source}\n```", id=f"{cell.id}-shown"))
    if missing or shown:
        cells.insert(1, new_markdown_cell(_said(missing, shown), id="without-torch"))
    return NotebookNode(students, cells=cells)


def left_out(notebook: NotebookNode) -> list[str]:
    """The names of the exercises that are not in a notebook without torch, by the cells that stand for them."""
    return [cell.id.removesuffix(IS_LEFT_OUT) for cell in notebook.cells if cell.id.endswith(IS_LEFT_OUT)]


def _said(missing: list[str], shown: int) -> str:
    parts = []
    if missing:
        points = sum(exercises.find(name).points for name in missing)
        names = ", ".join(f"`{name}`" for name in missing)
        parts.append(f"left out: {names} ({points:g} points)")
    if shown:
        parts.append(f"shown and not run: {shown} {'experiments' if shown > 1 else 'experiment'}")
    return f"> **There is no PyTorch in the browser.** What needs it is {'; '.join(parts)}."


def _remains(solution: NotebookNode, refused: set[str]) -> dict[str, str]:
    """Of each cell that cannot run as it is, by id, the source that can and that is needed; often none."""
    cells = [cell for cell in solution.cells if cell.cell_type == "code"]
    statements = {cell.id: [part for s in ast.parse(cell.source).body for part in _single(s)] for cell in cells}
    names = {statement: _names(statement) for body in statements.values() for statement in body}

    unfit: set[ast.stmt] = set()
    missing: set[str] = set()
    for statement, (used, bound) in names.items():
        if used & missing or not refused.isdisjoint(_imports(statement)):
            unfit.add(statement)
            missing |= bound
        else:
            missing -= bound

    needed: set[str] = set()
    remains: dict[str, str] = {}
    for cell in reversed(cells):
        role = cell.metadata.get("nbgrader", {})
        is_fit = unfit.isdisjoint(statements[cell.id])
        stay = []
        for statement in reversed(statements[cell.id]):
            used, bound = names[statement]
            is_setup = role.get("locked") and not role.get("grade")
            if is_fit or (statement not in unfit and (is_setup or needed & bound)):
                stay.insert(0, statement)
                needed -= set() if isinstance(statement, CONDITIONAL) else bound
                needed |= used
        if not is_fit:
            remains[cell.id] = "\n".join(_source(cell.source, statement) for statement in stay)
    return remains


def _single(statement: ast.stmt) -> Iterator[ast.stmt]:
    """`a, b = f(x), g(y)` as `a = f(x)` and `b = g(y)`, if neither value needs the other's name; else as it is."""
    match statement:
        case ast.Assign(targets=[ast.Tuple(elts=names)], value=ast.Tuple(elts=values)) if len(names) == len(values):
            used, bound = _names_of_simple(statement)
            if used.isdisjoint(bound):
                yield from (ast.Assign([name], value, lineno=0) for name, value in zip(names, values))
                return
    yield statement


def _source(source: str, statement: ast.stmt) -> str:
    """A statement as it is written, with its decorators and what stands behind it."""
    if not statement.lineno:  # it was made by `_single`
        return ast.unparse(statement)
    first = min([statement.lineno, *(d.lineno for d in getattr(statement, "decorator_list", []))])
    return "\n".join(source.splitlines()[first - 1 : statement.end_lineno])


def _imports(tree: ast.AST) -> Iterator[str]:
    return (ast.unparse(node) for node in ast.walk(tree) if isinstance(node, (ast.Import, ast.ImportFrom)))


def _names(statement: ast.stmt) -> tuple[set[str], set[str]]:
    """The notebook's names that a statement takes from those before it, for its functions' bodies too, and those that
    it binds.
    """
    if not isinstance(statement, (ast.If, ast.For, ast.While, ast.With, ast.Try)):
        return _names_of_simple(statement)
    used: set[str] = set()
    bound: set[str] = set()
    for part in _parts(statement):
        part_used, part_bound = _names(part)
        used |= part_used - bound
        bound |= part_bound
    return used, bound


def _parts(statement: ast.stmt) -> Iterator[ast.stmt]:
    """What a statement with others inside does, in order, as statements: `for x in xs:` begins as `x = xs`."""
    if isinstance(statement, (ast.If, ast.While)):
        yield ast.Expr(statement.test)
    elif isinstance(statement, ast.For):
        yield ast.Assign([statement.target], statement.iter, lineno=0)
    elif isinstance(statement, ast.With):
        for item in statement.items:
            targets = [item.optional_vars] if item.optional_vars else []
            yield ast.Assign(targets, item.context_expr, lineno=0) if targets else ast.Expr(item.context_expr)
    for handler in getattr(statement, "handlers", []):
        if handler.type:
            yield ast.Expr(handler.type)
    bodies = [getattr(part, "body", []) for part in (statement, *getattr(statement, "handlers", []))]
    for body in (*bodies, getattr(statement, "orelse", []), getattr(statement, "finalbody", [])):
        yield from body


def _names_of_simple(statement: ast.stmt) -> tuple[set[str], set[str]]:
    top = symtable.symtable(ast.unparse(statement), "<cell>", "exec")
    bound = {symbol.get_name() for symbol in top.get_symbols() if symbol.is_assigned() or symbol.is_imported()}
    used = {symbol.get_name() for symbol in top.get_symbols() if symbol.is_referenced()}
    inner = list(top.get_children())
    for scope in inner:
        used |= {symbol.get_name() for symbol in scope.get_symbols() if symbol.is_global() and symbol.is_referenced()}
        inner += scope.get_children()
    if isinstance(statement, (ast.FunctionDef, ast.ClassDef)):
        used.discard(statement.name)  # it calls itself
    else:  # `found[name] = value` makes another `found`
        stored = [node for node in ast.walk(statement) if isinstance(node, (ast.Subscript, ast.Attribute))]
        bound |= {_root(node) for node in stored if isinstance(node.ctx, ast.Store)} & used
    return used, bound


def _root(node: ast.expr) -> str:
    """The name that an entry or an attribute is of; empty if it is of no name."""
    while isinstance(node, (ast.Subscript, ast.Attribute)):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""
