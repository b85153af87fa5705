"""From the bytes that a student handed in to the cells of a notebook, as far as anything of them is used; and the cells
of the release that they may be.

It executes nothing, never raises for what the bytes are but `Unreadable`, and is bounded in time and memory.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import Any

from nbformat import NotebookNode

from rnngrade.core.record import Finding

MAX_BYTES = 20_000_000
MAX_CELLS = 2_000  # of the notebook, among which own cells are taken
MAX_READ = 20_000  # of the notebook, among which answers are looked for
MAX_SOURCE = 1_000_000  # characters of one cell
MAX_NAME = 100  # characters of an id
MAX_CONTAINERS = 1_000_000  # brackets in the file: bounds the memory that parsing it takes


@dataclass(eq=False)
class HandedIn:
    """One cell of the student's notebook, as far as anything of it is used. `target` is the release's cell that it is,
    if it is one; `used` says that it went in as an answer.
    """

    kind: str
    source: str
    id: str = ""
    grade_id: str = ""
    tags: tuple[str, ...] = ()
    has_attachments: bool = False
    too_long: bool = False
    target: Place | None = None
    used: bool = False


@dataclass(eq=False)
class Place:
    """One cell of the release: which of the student's are it, and the source that was taken of them."""

    index: int
    cell: NotebookNode
    found: list[HandedIn] = field(default_factory=list)
    taken: str | None = None

    def __post_init__(self) -> None:
        meta = self.cell.metadata.get("nbgrader", {})
        self.name, self.is_answer = str(meta.get("grade_id", "")), bool(meta.get("solution"))
        self.is_written = self.cell.cell_type == "markdown"

    @property
    def source(self) -> str:
        """What stands there now."""
        return str(self.cell.source) if self.taken is None else self.taken

    def content(self, source: str) -> str | list[str]:
        """What counts of an answer."""
        return bare(source) if self.is_written else code_lines(source)

    def is_stub(self, source: str) -> bool:
        return self.content(source) == self.content(self.cell.source)

    def is_blank(self, source: str) -> bool:
        return not self.content(source) or self.is_stub(source)


def bare(source: str) -> str:
    """A source without what does not count: white space at the ends of lines, and empty lines around it."""
    return "\n".join(line.rstrip() for line in source.strip("\n").splitlines()).strip()


def code_lines(source: str) -> list[str]:
    """The lines that are not empty and not only a comment."""
    return [line.rstrip() for line in source.split("\n") if line.strip() and not line.lstrip().startswith("#")]


class Unreadable(Exception):
    """Nothing can be taken from the submission: a finding's code, and its message, which says why."""


def read_cells(submission: bytes, findings: list[Finding]) -> list[HandedIn]:
    if len(submission) > MAX_BYTES:
        words = f"The file has {len(submission) / 1e6:.0f} MB, and more than {MAX_BYTES / 1e6:.0f} MB are not read. "
        words += "Clear the outputs (Edit, Clear Outputs of All Cells), save, and hand it in again."
        raise Unreadable("too-large", words)
    if not submission.strip():
        raise Unreadable("empty-file", "The file is empty: nothing was handed in.")
    data = _parse(_decode(submission, findings))
    if isinstance(data, dict) and "worksheets" in data:
        words = "The notebook is of a version that is no longer read. Save it anew in JupyterLab, and hand it in again."
        raise Unreadable("format", words)
    if not isinstance(data, dict) or not isinstance(data.get("cells"), list):
        raise Unreadable("no-notebook", f"The file is no Jupyter notebook. {_HAND_IN}")
    if not data["cells"]:
        raise Unreadable("no-cells", f"The notebook has no cells: nothing was handed in. {_HAND_IN}")
    if data.get("nbformat") != 4:
        words = "The notebook is of an unknown version; its cells were read as those of version 4."
        findings.append(Finding("format", words))
    raw = data["cells"]
    count, raw = len(raw), raw[:MAX_READ]
    if count > MAX_CELLS:
        words = (
            f"Your answers were taken from the first {len(raw)}; of your own cells, those beyond the first {MAX_CELLS}"
        )
        words = f"The notebook has {count} cells. {words} were left out."
        findings.append(Finding("too-many-cells", words, for_person=True))
    if shown := _solutions_shown(data.get("metadata")):
        words = "As the file says, these solutions were shown while it was worked on; that takes no points"
        findings.append(Finding("solution-shown", f"{words}: {', '.join(shown)}."))
    cells = [made for cell in raw if (made := _cell(cell)) is not None]
    if len(cells) < len(raw):
        words = f"Cells that could not be read were left out: {len(raw) - len(cells)} of them."
        findings.append(Finding("odd-cell", words))
    return cells


def _solutions_shown(metadata: Any) -> list[str]:
    """The exercises whose solution the student asked for, as `rnncourse submit` notes it: no proof of anything."""
    for key in ("rnncourse", "solutions_shown"):
        metadata = metadata.get(key) if isinstance(metadata, dict) else None
    names = metadata if isinstance(metadata, dict) else {}
    return [name for name in names if isinstance(name, str) and re.fullmatch(r"[A-Za-z_]\w{0,60}", name, re.ASCII)][:50]


_HAND_IN = "Hand in the file that you worked in; its name ends in .ipynb."


def _decode(submission: bytes, findings: list[Finding]) -> str:
    encoding = json.detect_encoding(submission)  # UTF-8, -16 or -32, with or without a byte order mark
    try:
        return submission.decode(encoding)
    except UnicodeDecodeError:
        words = "The file is not in UTF-8: characters that could not be read were replaced by �."
        findings.append(Finding("encoding", words))
        return submission.decode("utf-8", "replace")


def _parse(text: str) -> Any:
    if text.count("[") + text.count("{") > MAX_CONTAINERS:
        raise Unreadable("too-complex", f"The file has too many parts to be a notebook of this course. {_HAND_IN}")
    try:
        return json.loads(text, parse_int=_whole, parse_constant=lambda _: None, strict=False)
    except RecursionError:
        raise Unreadable("too-deep", f"The file is nested too deeply to be a notebook. {_HAND_IN}") from None
    except ValueError:
        cut = text.lstrip().startswith("{") and not text.rstrip().endswith("}")
        why = "It breaks off in the middle" if cut else "It is not JSON, as a notebook is"
        raise Unreadable("no-json", f"The file cannot be read as a Jupyter notebook. {why}. {_HAND_IN}") from None


def _whole(digits: str) -> int:
    """A whole number; one of thousands of digits, which nothing here needs, is 0."""
    return int(digits) if len(digits) < 20 else 0


def _cell(raw: Any) -> HandedIn | None:
    if not isinstance(raw, dict):
        return None
    source = _text(raw.get("source"))
    meta = raw.get("metadata")
    meta = meta if isinstance(meta, dict) else {}
    nbgrader = meta.get("nbgrader")
    grade_id = nbgrader.get("grade_id") if isinstance(nbgrader, dict) else None
    tags = meta.get("tags")
    return HandedIn(
        kind=raw["cell_type"] if raw.get("cell_type") in ("code", "raw") else "markdown",
        source=source if len(source) <= MAX_SOURCE else "",
        id=_name(raw.get("id")),
        grade_id=_name(grade_id),
        tags=tuple(t for t in tags if isinstance(t, str)) if isinstance(tags, list) else (),
        has_attachments=bool(raw.get("attachments")),
        too_long=len(source) > MAX_SOURCE,
    )


def _name(given: Any) -> str:
    """An id, such as nbgrader and Jupyter make them, of letters, digits, "_", "-" and "."; whatever else stands in it,
    a line's end, say, by which it would leave the place where it is quoted, is replaced.
    """
    return _NO_NAME.sub("�", given[:MAX_NAME]) if isinstance(given, str) else ""


_NO_NAME = re.compile(r"[^\w.-]")


def _text(source: Any) -> str:
    """A cell's source, which is a string or a list of lines, with plain line ends, as text that can be written."""
    if isinstance(source, list):
        source = "".join(line for line in source if isinstance(line, str))
    if not isinstance(source, str):
        return ""
    source = source.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    return source.encode("utf-8", "replace").decode()  # half a surrogate pair cannot be written to a file
