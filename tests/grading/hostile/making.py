"""What a hostile submission is, how its file is made, and what must become of it."""

import copy
import json
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from textwrap import dedent
from typing import Any

import nbformat
from nbformat import NotebookNode

from rnncourse.checks.exercise import WEIGHTS

UNIT = "03_cell"
TORCH = "07_torch_rnn"

Make = Callable[[NotebookNode, Mapping[str, str]], bytes]
Edit = Callable[[NotebookNode], None]


@dataclass(frozen=True)
class Outcome:
    """What a submission must earn: nothing for the exercises in `lost` (None: for any), full marks for all others.

    With `scraps`, a lost exercise may earn a fifth: what any answer earns that comes back in the right shape. Those in
    `impure` earn all but what there is for leaving the arguments alone.
    """

    lost: frozenset[str] | None
    scraps: bool = False
    impure: frozenset[str] = frozenset()

    def misfits(self, points: Mapping[str, float], most: Mapping[str, float]) -> list[str]:
        """A sentence for each exercise whose points are not these; `most` has the points that each can give."""
        words = []
        for name, full in most.items():
            got = points.get(name, 0.0)
            if self.lost is None or name in self.lost:
                allowed = 0.2 * full + 1e-9 if self.scraps else 0.0
                if got > allowed:
                    words.append(f"{name} earned {got:g}, and should be lost.")
            elif name in self.impure:
                if abs(got - (1 - WEIGHTS["purity"]) * full) > 0.01:
                    words.append(f"{name} earned {got:g}, and should have earned {(1 - WEIGHTS['purity']) * full:g}.")
            elif abs(got - full) > 1e-9:
                words.append(f"{name} earned {got:g}, and should have earned all {full:g}.")
        return words


FULL = Outcome(frozenset())
NOTHING = Outcome(None)


def loses(*names: str, scraps: bool = False) -> Outcome:
    """These exercises are lost, and no other."""
    return Outcome(frozenset(names), scraps)


@dataclass(frozen=True)
class Hostile:
    """One submission: `flagged` says whether a person must be asked to look, `finding` a code that the record must
    have, if any.
    """

    name: str
    what: str
    make: Make
    outcome: Outcome
    flagged: bool = False
    finding: str | None = None
    unit: str = UNIT


# --- how a submission is made


def right(*edits: Edit) -> Make:
    """All answers right, then edited."""

    def make(release: NotebookNode, solutions: Mapping[str, str]) -> bytes:
        return _written(solved(release, solutions), edits)

    return make


def blank(*edits: Edit) -> Make:
    """All answers as they were given out, then edited."""

    def make(release: NotebookNode, solutions: Mapping[str, str]) -> bytes:
        return _written(copy.deepcopy(release), edits)

    return make


def only(name: str, *edits: Edit) -> Make:
    """One answer right, all others as they were given out, then edited."""

    def make(release: NotebookNode, solutions: Mapping[str, str]) -> bytes:
        return _written(solved(release, {name: solutions[name]}), edits)

    return make


def solved(release: NotebookNode, solutions: Mapping[str, str]) -> NotebookNode:
    """A copy of the release with these answers in it."""
    notebook = copy.deepcopy(release)
    for cell in notebook.cells:
        cell.source = solutions.get(grade_id(cell), cell.source)
    return notebook


def grade_id(cell: NotebookNode) -> str:
    """The name of a cell, or an empty text."""
    return str(cell.metadata.get("nbgrader", {}).get("grade_id", ""))


def _written(notebook: NotebookNode, edits: tuple[Edit, ...]) -> bytes:
    for edit in edits:
        edit(notebook)
    return json.dumps(notebook).encode()


def at(notebook: NotebookNode, name: str) -> int:
    """Where the cell of that name stands."""
    return next(i for i, cell in enumerate(notebook.cells) if grade_id(cell) == name)


def answer(name: str, source: str) -> Edit:
    """Another answer."""

    def edit(notebook: NotebookNode) -> None:
        notebook.cells[at(notebook, name)].source = dedent(source).strip()

    return edit


def before(name: str, source: str) -> Edit:
    """A code cell of the student's own, above the cell of that name."""

    def edit(notebook: NotebookNode) -> None:
        notebook.cells.insert(at(notebook, name), _own(source))

    return edit


def after(name: str, source: str) -> Edit:
    """The same, below it."""

    def edit(notebook: NotebookNode) -> None:
        notebook.cells.insert(at(notebook, name) + 1, _own(source))

    return edit


def _own(source: str) -> NotebookNode:
    text = dedent(source).strip()
    return nbformat.v4.new_code_cell(text, id=f"own-{zlib.crc32(text.encode('utf-8', 'replace')):08x}")


def each(change: Callable[[NotebookNode], Any], *roles: str) -> Edit:
    """A change to each cell of these roles: "check", "answer"; to every cell if none is named."""

    def edit(notebook: NotebookNode) -> None:
        for cell in notebook.cells:
            meta = cell.metadata.get("nbgrader", {})
            role = (
                "check" if meta.get("grade") and not meta.get("solution") else "answer" if meta.get("solution") else ""
            )
            if not roles or (role in roles and cell.cell_type == "code"):
                change(cell)

    return edit


def meta(**values: Any) -> Callable[[NotebookNode], None]:
    """A change of a cell's metadata for nbgrader."""

    def change(cell: NotebookNode) -> None:
        if "nbgrader" in cell.metadata:
            cell.metadata["nbgrader"].update(values)

    return change


def tagged(*tags: str) -> Callable[[NotebookNode], None]:
    """A change of a cell's tags."""
    return lambda cell: cell.metadata.update(tags=list(tags))


def source(text: str) -> Callable[[NotebookNode], None]:
    """A change of a cell's source."""
    return lambda cell: cell.update(source=text)


def without(*names: str) -> Edit:
    """These cells are gone; all checks, if none is named."""

    def edit(notebook: NotebookNode) -> None:
        notebook.cells = [
            cell
            for cell in notebook.cells
            if not (grade_id(cell) in names if names else grade_id(cell).startswith("check_"))
        ]

    return edit


def twice(name: str, text: str | None = None) -> Edit:
    """A copy of a cell below it, as Jupyter copies it, with another source if one is given."""

    def edit(notebook: NotebookNode) -> None:
        i = at(notebook, name)
        copied = copy.deepcopy(notebook.cells[i])
        copied.id = f"copy-of-{copied.id}"
        if text is not None:
            copied.source = dedent(text).strip()
        notebook.cells.insert(i + 1, copied)

    return edit


def change(name: str, *changes: Callable[[NotebookNode], Any]) -> Edit:
    """Changes to the cell of that name."""

    def edit(notebook: NotebookNode) -> None:
        cell = notebook.cells[at(notebook, name)]
        for one in changes:
            one(cell)

    return edit


def _foreign(name: str, other: str) -> Edit:
    """The copy of the cell of that name gets another name."""

    def edit(notebook: NotebookNode) -> None:
        meta(grade_id=other)(notebook.cells[at(notebook, name) + 1])

    return edit


def file(data: bytes) -> Make:
    """A file that is no notebook."""
    return lambda release, solutions: data


def rewritten(change: Callable[[dict[str, Any]], Any], encoding: str = "utf-8") -> Make:
    """All answers right, and the file's JSON changed; what `change` returns, if it is text, is the file."""

    def make(release: NotebookNode, solutions: Mapping[str, str]) -> bytes:
        data = json.loads(json.dumps(solved(release, solutions)))
        text = change(data)
        return (text if isinstance(text, str) else json.dumps(data)).encode(encoding)

    return make


def step(body: str) -> Edit:
    """The answer `rnn_step` with this body."""
    lines = dedent(body).strip().splitlines()
    return answer("rnn_step", "\n    ".join(["def rnn_step(x, h_prev, U, W, b):", *lines]))


RIGHT_STEP = "return np.tanh(x @ U + h_prev @ W + b)"
WRONG_STEP = "return np.tanh(x @ U + h_prev @ W.T + b)"
LOST_STEP = loses("rnn_step")
