"""A unit as its author writes it, and the notebook it stands for.

An author writes ``solutions/NN_stem.py`` in jupytext's percent format. What a cell is for stands behind its ``%%``:

    # %% answer="rnn_step"                          an answer: ### BEGIN SOLUTION ... ### END SOLUTION is taken out
    # %% check="rnn_step"                           its check, one line: check(rnn_step)
    # %% [markdown] written="cell_written" points=3 a question graded by hand; the model answer between the same marks
    # %% locked="setup"                             a cell that grading restores, whatever a student did to it
    # %% tags=["experiment"]                        an experiment: left out while grading
    # %% tags=["experiment"] dials="lag = 30; units = 8"  what its text says to try: tests turn these dials
    # %% tags=["author"]                            the author's checks of what stands above: no student gets them

Numbers in the prose that experiments over many seeds have measured are places to fill, {{short/lags 1 to 7/lag 30}}
(`rnncourse/data/claims.py`). `read_unit` turns all of it into nbgrader's metadata (schema version 3), adds the hidden
check, whose value nbgrader takes for the points, and gives every cell an id that stays when other cells come and go. It
executes nothing.
"""

import ast
import hashlib
import json
import re
import textwrap
from collections.abc import Collection
from pathlib import Path
from typing import Any

import jupytext
import nbformat
from nbformat import NotebookNode

from rnncourse.data.claims import filled

KERNELSPEC = {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"}
ROLES = {  # of a cell: its type, whether it is graded, whether students cannot change it, whether it has a solution
    "answer": ("code", False, False, True),
    "check": ("code", True, True, False),
    "written": ("markdown", True, False, True),
    "locked": ("code", False, True, False),
}
WIDTH = 88  # of a line that a cell shows whole on a small screen, a list of files beside it
OPTIONS = {*ROLES, "points", "tags", "jupyter", "dials"}


class BuildError(Exception):
    """What an author has to put right, in one sentence."""


def points_of(name: str) -> float:
    from rnncourse import exercises

    try:
        return exercises.find(name).points
    except KeyError as error:
        raise BuildError(f"names an exercise that the catalogue does not have. {error.args[0]}".rstrip(".?")) from None


def for_students(notebook: NotebookNode) -> NotebookNode:
    """A copy of `notebook` without the cells that are the author's alone, and no docstring wider than a cell."""
    copy = nbformat.from_dict(notebook)
    copy.cells = [cell for cell in copy.cells if "author" not in cell.metadata.get("tags", [])]
    for cell in copy.cells:
        if cell.cell_type == "code":
            cell.source = re.sub(r'^( *)""".{60,}"""$', _wrapped, cell.source, flags=re.MULTILINE)
    return copy


def _wrapped(docstring: re.Match[str]) -> str:
    """A docstring of one line on as many as it takes, broken in no shape, its last quotes on a line of their own."""
    text, indent = docstring[0], docstring[1]
    if len(text) <= WIDTH:
        return text
    whole = re.sub(r"\([^()]*\)|-> ", lambda shape: shape[0].replace(" ", "\0"), text.removesuffix('"""'))
    lines = textwrap.wrap(whole, WIDTH, subsequent_indent=indent, break_on_hyphens=False)
    return "\n".join([*lines, f'{indent}"""']).replace("\0", " ")


def find_units(root: Path) -> list[str]:
    """The stems of all units of the course at `root`, in order."""
    return sorted(path.stem for path in (root / "solutions").glob("[0-9][0-9]_*.py"))


def read_unit(path: Path) -> NotebookNode:
    """The notebook that the unit at `path` stands for, with ids and nbgrader's metadata, not executed."""
    cells: dict[str, NotebookNode] = {}  # by id
    grade_ids: set[str] = set()
    for line, raw in _cells(path):
        try:
            if raw.cell_type == "markdown":
                raw.source = filled(raw.source, path.stem)
            cell = _read_cell(raw)
            grade_id = cell.metadata.get("nbgrader", {}).get("grade_id", "")
            if grade_id in grade_ids:
                raise BuildError(f"bears the name {grade_id!r}, which an earlier cell has")
            if grade_id.startswith("check_") and grade_id.removeprefix("check_") not in grade_ids:
                raise BuildError(f"checks {grade_id.removeprefix('check_')!r}, for which no cell above is the answer")
        except (BuildError, KeyError) as error:
            unknown = f"quotes {error.args[0]}, which was not measured; run python -m claims {path.stem}"
            fault = unknown if isinstance(error, KeyError) else error
            raise BuildError(f"solutions/{path.name}:{line}: The cell {fault}.") from None
        grade_ids |= {grade_id} - {""}
        cell.id = _new_id(cell, grade_id, cells)
        cells[cell.id] = cell
    notebook = nbformat.v4.new_notebook(cells=[*cells.values()])
    notebook.nbformat_minor = 5
    notebook.metadata = nbformat.from_dict({"kernelspec": KERNELSPEC, "language_info": {"name": "python"}})
    nbformat.validate(notebook)
    return notebook


def cell_lines(path: Path) -> list[int]:
    return [line for line, _ in _cells(path)]


def _cells(path: Path) -> list[tuple[int, NotebookNode]]:
    """The cells of the unit at `path` as they are written, each with the line at which it begins."""
    text = path.read_text(encoding="utf-8")
    cells = jupytext.reads(text, fmt="py:percent").cells
    marked = [n for n, line in enumerate(text.splitlines(), 1) if re.match(r"# ?%%(%*\s|$)", line)]
    return list(zip(marked if len(marked) == len(cells) else [1, *marked], cells, strict=True))


def key_of(notebook: NotebookNode) -> str:
    """What the outputs of `notebook` depend on, as a hash: its code, and the tags that change how it is run."""
    code = [(cell.source, cell.metadata.get("tags", [])) for cell in notebook.cells if cell.cell_type == "code"]
    return hashlib.sha256(json.dumps(code).encode()).hexdigest()[:16]


def _read_cell(raw: NotebookNode) -> NotebookNode:
    """One cell, with nbgrader's metadata for the author's options."""
    options = {key: value for key, value in raw.metadata.items() if key not in ("lines_to_next_cell", "title")}
    if unknown := sorted(set(options) - OPTIONS):
        raise BuildError(f"has the option {unknown[0]!r}, but there are only {', '.join(sorted(OPTIONS))}")
    roles = [role for role in ROLES if role in options]
    if len(roles) > 1:
        raise BuildError(f"cannot be {roles[0]} and {roles[1]} at once")
    if raw.cell_type not in ("code", "markdown"):
        raise BuildError(f"is of type {raw.cell_type}, but a unit has only code and markdown")
    source, is_code = raw.source.rstrip(), raw.cell_type == "code"
    cell = nbformat.v4.new_code_cell(source) if is_code else nbformat.v4.new_markdown_cell(source)
    cell.metadata.update({key: options[key] for key in ("jupyter", "tags", "dials") if key in options})
    if roles:
        _give_role(cell, roles[0], str(options[roles[0]]), options.get("points"))
    elif "BEGIN SOLUTION" in cell.source:
        raise BuildError('has a solution, but is neither answer="..." nor written="..."')
    return cell


def _give_role(cell: NotebookNode, role: str, name: str, points: float | None) -> None:
    """Turn `cell` into the answer, check, written question or locked cell called `name`."""
    kind, is_graded, is_locked, has_solution = ROLES[role]
    if cell.cell_type != kind:
        raise BuildError(f"is {cell.cell_type}, which {role} cannot be")
    if has_solution and not ("BEGIN SOLUTION" in cell.source and "END SOLUTION" in cell.source):
        raise BuildError(f"is the {role} {name!r}, but has no ### BEGIN SOLUTION ... ### END SOLUTION")
    if (role == "written") != (points is not None):
        raise BuildError(f"is {role}: only a written question has points here, and it must have them")
    meta: dict[str, Any] = {
        "grade": is_graded,
        "locked": is_locked,
        "solution": has_solution,
        "task": False,
        "schema_version": 3,
    }
    meta["grade_id"] = f"check_{name}" if role == "check" else name
    if role == "check":
        points = points_of(name)
        cell.source = _with_hidden_check(cell.source)
    if points is not None:
        meta["points"] = int(points) if float(points).is_integer() else float(points)
    cell.metadata["nbgrader"] = meta


def _with_hidden_check(source: str) -> str:
    """The visible check with the same call on the hidden cases after it."""
    try:
        statements = ast.parse(source).body
    except SyntaxError:
        statements = []
    match statements:
        case [ast.Expr(value=ast.Call(func=ast.Name(id="check"), keywords=[]) as call)]:
            call.keywords = [ast.keyword(arg="hidden", value=ast.Constant(True))]
            hidden = ast.unparse(call).replace("'", '"')
            return f"{source}\n### BEGIN HIDDEN TESTS\n{hidden}\n### END HIDDEN TESTS"
    raise BuildError('is a check, so it has one line, check(answer) or check(answer, "name")')


def _new_id(cell: NotebookNode, grade_id: str, taken: Collection[str]) -> str:
    """An id that depends on this cell alone; cells that are the same are numbered."""
    wanted = grade_id or hashlib.sha256(f"{cell.cell_type}\n{cell.source}".encode()).hexdigest()[:12]
    return next(name for name in (wanted, *(f"{wanted}-{n}" for n in range(2, len(taken) + 3))) if name not in taken)
