"""Intake: what a student handed in, grafted into the notebook that students got.

Trusted code on untrusted bytes: it executes nothing, never raises for what the bytes are, and is bounded in time and
memory. From the student's notebook it takes text, and text only: the source of each answer cell, found by grade id,
and the student's own code cells, each where it stood between the cells around it. Everything else, metadata, tags,
outputs, attachments, checks and locked cells as the student left them, is dropped. What is odd becomes a finding.
"""

import copy
import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import nbformat
from nbformat import NotebookNode

from rnngrade.core.record import Finding
from rnngrade.reading.cells import MAX_CELLS, MAX_SOURCE, HandedIn, Unreadable, read_cells

MAX_HELPERS = 300  # code cells of the student's own
MAX_WRITTEN = 30_000  # characters of a written answer: a person is to read it

HELPER = {"rnngrade": {"role": "helper"}}


@dataclass(frozen=True)
class Intake:
    """What was taken in.

    `notebook` is the release with the student's answers and own cells (these with `metadata.rnngrade`, role "helper").
    `answers` has the source for each answer and written question by grade id, None where the submission has none.
    `written_changed` are the written questions whose text is not the release's.
    """

    notebook: NotebookNode
    answers: dict[str, str | None]
    written_changed: tuple[str, ...]
    findings: tuple[Finding, ...]


def take_in(submission: bytes, release: NotebookNode) -> Intake:
    """Graft a submission into a copy of `release`, the notebook that students got. Never raises, whatever comes."""
    findings: list[Finding] = []
    try:
        graft = _Graft(release, read_cells(submission, findings), findings)
        graft.recognise()
    except Unreadable as why:
        graft = _Graft(release, [], [*findings, why.finding])
    return graft.intake()


def _copied(value: Any) -> Any:
    """A copy of a notebook, or of a part of it: nothing in it stands in two places."""
    if isinstance(value, dict):
        return NotebookNode({key: _copied(inner) for key, inner in value.items()})
    return [_copied(inner) for inner in value] if isinstance(value, list) else value


@dataclass
class _Graft:
    """The release, the student's cells, and which is which."""

    release: NotebookNode
    cells: list[HandedIn]
    findings: list[Finding]
    taken: dict[int, str] = field(default_factory=dict)  # by index in the release: the answer that goes there
    used: set[int] = field(default_factory=set)  # ids of the student's cells that went in as answers

    def __post_init__(self) -> None:
        self.grade_ids = {g: i for i, cell in enumerate(self.release.cells) if (g := _grade_id(cell))}
        meta = [cell.metadata.get("nbgrader", {}) for cell in self.release.cells]
        self.answers = {g: i for g, i in self.grade_ids.items() if meta[i].get("solution")}
        self.at = {i: g for g, i in self.answers.items()}

    def intake(self) -> Intake:
        notebook = _copied(self.release)
        for index, source in self.taken.items():
            notebook.cells[index].source = source
        changed = [g for g, i in self.answers.items() if self._is_written(i) and not self._is_stub(i, self._given(i))]
        self._insert_helpers(notebook)
        answers = {g: self.taken.get(i) for g, i in self.answers.items()}
        return Intake(notebook, answers, tuple(changed), tuple(self.findings))

    def recognise(self) -> None:
        """Take from the student's cells what goes into the release, and say what is odd."""
        self._tell_which()
        self._take_answers()
        self._recover_answers()
        self._look_at_checks()
        self._tidy_written()

    def _tell_which(self) -> None:
        """Say of each of the student's cells which of the release's it is: by grade id, by id, by its text."""
        ids = {cell.id: i for i, cell in enumerate(self.release.cells)}
        for cell in self.cells:
            by_id, by_grade_id = ids.get(cell.id), self.grade_ids.get(cell.grade_id)
            is_graded = by_id is not None and _grade_id(self.release.cells[by_id])
            cell.target = by_id if is_graded or by_grade_id is None else by_grade_id
            if is_graded and cell.grade_id != is_graded:
                words = f"was called `{cell.grade_id[:50]}`" if cell.grade_id else "had lost its name"
                self._find("renamed-cell", f"The cell of `{is_graded}` {words}; it was known by its place.", is_graded)
        found = {cell.target for cell in self.cells}
        texts = {
            (cell.cell_type, _bare(cell.source)): i
            for i, cell in enumerate(self.release.cells)
            if i not in found and i not in self.at
        }
        for cell in self.cells:
            if cell.target is None:
                cell.target = texts.pop((cell.kind, _bare(cell.source)), None)
        has_ids = any(cell.id in ids and not cell.grade_id for cell in self.cells)
        if not has_ids:  # of an edited experiment nothing but its tag is left to know it by
            self.cells = [c for c in self.cells if c.target is not None or "experiment" not in c.tags]
        if self.cells and not any(c.target in self.grade_ids.values() for c in self.cells):
            words = "Is it the right file? What could be recognised in it was graded."
            self._find("other-notebook", f"None of this unit's cells is in the notebook. {words}", for_person=True)
        foreign = [c.grade_id for c in self.cells if c.target is None and c.grade_id]
        if foreign:
            names = ", ".join(f"`{name[:50]}`" for name in foreign[:5])
            self._find("foreign-cell", f"The notebook has cells that do not belong to this unit: {names}.")

    def _take_answers(self) -> None:
        """The source of each answer cell that is there; of two cells for one answer, one."""
        candidates: dict[int, list[HandedIn]] = defaultdict(list)
        for cell in self.cells:
            if cell.target in self.at:
                candidates[cell.target].append(cell)
        for index, found in candidates.items():
            name = self.at[index]
            if any(cell.too_long for cell in found):
                words = f"more than {MAX_SOURCE // 1_000_000} million characters, and was not read"
                self._find("huge-cell", f"The cell of `{name}` has {words}.", name, for_person=True)
                found = [cell for cell in found if not cell.too_long]
            if found:
                cell = self._choose(index, found)
                self._take(index, cell)

    def _choose(self, index: int, found: list[HandedIn]) -> HandedIn:
        """One of several cells that say they are the same answer."""
        if len(found) == 1:
            return found[0]
        name = self.at[index]
        changed = [cell for cell in found if cell.source.strip() and not self._is_stub(index, cell.source)] or found
        if not self._is_written(index):
            changed = [cell for cell in changed if name in defined_names(cell.source)] or changed
        differ = len({_bare(cell.source) for cell in changed}) > 1
        if differ:
            words = "They differ; the last one was graded."
        elif len(changed) < len(found):
            words = "The one that holds your answer was graded."
        else:
            words = "They are the same."
        self._find(
            "duplicate-cell",
            f"The notebook has {len(found)} cells for the answer `{name}`. {words}",
            name,
            for_person=differ,
        )
        for cell in found:
            # Another answer, or an empty one, is neither run nor graded; the other half of a cell that was split is.
            if self._is_stub(index, cell.source) or name in defined_names(cell.source) or self._is_written(index):
                self.used.add(id(cell))
            elif cell is not changed[-1]:
                cell.target = None
        return changed[-1]

    def _take(self, index: int, cell: HandedIn) -> None:
        name = self.at[index]
        self.taken[index] = cell.source
        self.used.add(id(cell))
        wanted = self.release.cells[index].cell_type
        if cell.kind != wanted and wanted == "code":
            self._find(
                "not-code", f"The cell of `{name}` had become a text cell; it was read as the code that it was.", name
            )
        elif cell.kind != wanted:
            self._find("not-text", f"The cell of `{name}` had become a code cell; it was read as text.", name)
        if cell.has_attachments:
            words = "with a picture or file in it, which was not taken along: look at what was handed in"
            self._find("attachment", f"The cell of `{name}` came {words}.", name, for_person=True)

    def _recover_answers(self) -> None:
        """Find answers elsewhere whose cell is gone, or is still as it was given out."""
        extras = [c for c in self.cells if c.target is None and not c.too_long and c.source.strip()]
        names = {id(c): defined_names(c.source) for c in extras}
        for name, index in self.answers.items():
            given = self.taken.get(index)
            if self._is_written(index):
                if given is None or not given.strip() or self._is_stub(index, given):
                    self._recover_text(name, index)
                continue
            if given is not None and _code_lines(given) and not self._is_stub(index, given):
                continue
            elsewhere = [c for c in extras if name in names[id(c)] and id(c) not in self.used]
            elsewhere = [c for c in elsewhere if not self._is_stub(index, c.source)] or (
                elsewhere if given is None else []
            )
            if elsewhere:
                self.taken[index] = elsewhere[-1].source
                self.used.add(id(elsewhere[-1]))
                words = "was gone or renamed" if given is None else "was left as it was given out"
                self._find(
                    "answer-elsewhere", f"The cell of `{name}` {words}; your `{name}` was found in another cell.", name
                )
            elif given is None:
                self._find(
                    "missing-cell",
                    f"The notebook has no cell for `{name}`, so there is nothing to grade for it.",
                    name,
                )

    def _recover_text(self, name: str, index: int) -> None:
        """A written answer in text cells of the student's own, right below the question."""
        following: list[HandedIn] = []
        below = False
        for cell in self.cells:
            if cell.target is not None:
                below = cell.target == index
            elif below and cell.kind == "markdown" and cell.source.strip() and not cell.too_long:
                following.append(cell)
        if following:
            parts = [self._given(index), *(cell.source for cell in following)]
            self.taken[index] = "\n\n".join(parts)
            self._find("answer-elsewhere", f"The text below the question `{name}` was taken for its answer.", name)
        elif index not in self.taken:
            self._find("missing-cell", f"The notebook has no cell for the question `{name}`.", name)

    def _tidy_written(self) -> None:
        """In a written answer, words stand for pictures, which are not taken along; of one that nobody would read to
        its end, take the beginning.
        """
        for name, index in self.answers.items():
            if self._is_written(index) and index in self.taken:
                self.taken[index] = _ATTACHED.sub(r"(picture: \1)", self.taken[index])
            if self._is_written(index) and len(self._given(index)) > MAX_WRITTEN:
                self.taken[index] = self._given(index)[:MAX_WRITTEN]
                words = f"more than {MAX_WRITTEN:,} characters; the rest was left out"
                self._find("huge-cell", f"Your answer to `{name}` has {words}.", name, for_person=True)

    def _look_at_checks(self) -> None:
        """Say which of the cells that students cannot change were changed: the release's are used."""
        found: dict[int, list[HandedIn]] = defaultdict(list)
        for cell in self.cells:
            if cell.target is not None:
                found[cell.target].append(cell)
        is_another = any(f.code == "other-notebook" for f in self.findings)
        for name, index in self.grade_ids.items():
            if index in self.at:
                continue
            is_check = name.startswith("check_")
            what = f"The check of `{name.removeprefix('check_')}`" if is_check else f"The cell `{name}`"
            again = "Grading used the one that you were given."
            answer = self.answers.get(name.removeprefix("check_"))
            is_left_out = is_check and answer is not None and answer not in self.taken  # with its exercise
            if not found[index] and not is_another and not is_left_out:
                self._find("check-missing", f"{what} was gone. {again}", name)
            changed = [c for c in found[index] if _bare(c.source) != _bare(self.release.cells[index].source)]
            if not is_check:  # where there is no torch, imports are left out
                given = set(_code_lines(self.release.cells[index].source))
                changed = [c for c in changed if not given.issuperset(_code_lines(c.source))]
            if changed:
                rewritten = is_check and any(_is_rewritten_check(c.source) for c in changed)
                tip = "" if rewritten else " Put code of your own into cells of your own."
                self._find("check-changed", f"{what} was changed. {again}{tip}", name, for_person=rewritten)
            elif len(found[index]) > 1:
                self._find("check-copied", f"{what} was there {len(found[index])} times. {again}", name)

    def _insert_helpers(self, notebook: NotebookNode) -> None:
        """Put the student's own code cells into the notebook, and check that it is whole."""
        placed: dict[int, list[str]] = defaultdict(list)
        helpers = list(self._helpers())
        if len(helpers) > MAX_HELPERS:
            self._find(
                "too-many-cells",
                f"Of your own {len(helpers)} code cells, only the first {MAX_HELPERS} were run.",
                for_person=True,
            )
        for slot, source in helpers[:MAX_HELPERS]:
            placed[slot].append(source)
        number, cells = 0, []
        for index, cell in enumerate([*notebook.cells, None]):
            for source in placed[index]:
                number += 1
                made = nbformat.v4.new_code_cell(source, metadata=copy.deepcopy(HELPER))
                made.id = f"helper-{number}"
                cells.append(made)
            if cell is not None:
                cells.append(cell)
        notebook.cells = cells
        notebook.nbformat_minor = max(notebook.nbformat_minor, 5)  # the first with ids

    def _helpers(self) -> Iterator[tuple[int, str]]:
        """The student's own code cells in their order, each with the index of the release's cell that it goes before.

        A helper goes behind the known cell above it, or before the answer right below it; however cells were moved,
        helpers keep their own order, and none comes to stand behind an answer that it stood above.
        """
        cells = self.cells[:MAX_CELLS]
        later, latest = [0] * len(cells), len(self.release.cells)
        for i in range(len(cells) - 1, -1, -1):
            later[i] = latest
            if cells[i].target in self.at:
                latest = min(latest, cells[i].target or 0)
        below = _next_known(cells)
        above: int | None = None
        reached = 0
        for i, cell in enumerate(cells):
            if cell.target is not None:
                above = cell.target
            source = self._own_source(cell)
            if source is None:
                continue
            slot = 0 if above is None else above + 1
            if below[i] in self.at and above not in self.at and (below[i] or 0) >= slot:
                slot = below[i] or 0
            reached = slot = max(reached, min(slot, later[i]))
            names = defined_names(source)
            for earlier in cells[:i] if names & self.answers.keys() else ():
                if self.at.get(-1 if earlier.target is None else earlier.target) in names:
                    slot = max(slot, (earlier.target or 0) + 1)  # defines an answer anew: it stood below it
            yield slot, source

    def _own_source(self, cell: HandedIn) -> str | None:
        """The code of a cell that is the student's own, else None. A cell of the unit that is not locked, no answer and
        no experiment is so as well, if it was changed.
        """
        if cell.kind != "code" or not cell.source.strip() or id(cell) in self.used:
            return None
        if cell.target is None:
            return cell.source
        given = self.release.cells[cell.target]
        is_free = not _grade_id(given) and "experiment" not in given.metadata.get("tags", [])
        return cell.source if is_free and _bare(cell.source) != _bare(given.source) else None

    def _given(self, index: int) -> str:
        return self.taken.get(index, self.release.cells[index].source)

    def _is_stub(self, index: int, source: str) -> bool:
        given = self.release.cells[index].source
        if self._is_written(index):
            return _bare(source) == _bare(given)
        return _code_lines(source) == _code_lines(given)

    def _is_written(self, index: int) -> bool:
        return bool(self.release.cells[index].cell_type == "markdown")

    def _find(self, code: str, message: str, cell: str | None = None, *, for_person: bool = False) -> None:
        self.findings.append(Finding(code, message, cell, for_person))


def _next_known(cells: list[HandedIn]) -> list[int | None]:
    """For each cell, the target of the first known cell below it."""
    following: list[int | None] = []
    known: int | None = None
    for cell in reversed(cells):
        following.append(known)
        known = known if cell.target is None else cell.target
    return following[::-1]


_ATTACHED = re.compile(r"!\[([^\[\]]*)\]\(attachment:[^()\s]*\)")  # a picture that was pasted into a text


def _grade_id(cell: NotebookNode) -> str:
    return str(cell.metadata.get("nbgrader", {}).get("grade_id", ""))


def _bare(source: str) -> str:
    """A source without what does not count: white space at the ends of lines, and empty lines around it."""
    return "\n".join(line.rstrip() for line in source.strip("\n").splitlines()).strip()


def _code_lines(source: str) -> list[str]:
    """The lines that are not empty and not only a comment."""
    return [line.rstrip() for line in source.split("\n") if line.strip() and not line.lstrip().startswith("#")]


_DEFINES = re.compile(r"^(?:(?:async[ \t]+)?(?:def|class)[ \t]+(\w+)|(\w+)[ \t]*(?::[^=\n]*)?=(?!=))", re.MULTILINE)


def defined_names(source: str) -> set[str]:
    """The names that a cell defines at its top level, read line by line: the code need not be right.

    >>> sorted(defined_names("def rnn_step(x):\\n    y = (x\\nquiz = 3"))
    ['quiz', 'rnn_step']
    """
    return {found[1] or found[2] for found in _DEFINES.finditer(source)}


_CALLS_CHECK = re.compile(r"^[ \t]*(\w+\s*=\s*|assert\s+|print\()?check\(", re.MULTILINE)


def _is_rewritten_check(source: str) -> bool:
    """Whether a check cell does something else than to check: it calls no `check` any more, or makes one itself."""
    return bool(_code_lines(source)) and ("check" in defined_names(source) or not _CALLS_CHECK.search(source))
