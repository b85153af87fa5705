"""Intake: what a student handed in, grafted into the notebook that students got.

Trusted code on untrusted bytes: it executes nothing, never raises for what the bytes are, and is bounded in time and
memory. From the student's notebook it takes text, and text only: the source of each answer cell, found by grade id,
and the student's own code cells, each where it stood between the cells around it. Everything else, metadata, tags,
outputs, attachments, checks and locked cells as the student left them, is dropped. What is odd becomes a finding.
"""

import copy
import re
from collections.abc import Iterator
from dataclasses import dataclass

import nbformat
from nbformat import NotebookNode

from rnngrade.core.record import Finding
from rnngrade.reading.cells import (
    MAX_CELLS,
    MAX_SOURCE,
    HandedIn,
    Place,
    Unreadable,
    bare,
    code_lines,
    read_cells,
)

MAX_HELPERS = 300  # code cells of the student's own
MAX_WRITTEN = 30_000  # characters of a written answer: a person is to read it

# By what an answer's cell is to be: the finding's code if it is another, what it is then, and what it was read as.
_TURNED = {"code": ("not-code", "text", "the code that it was"), "markdown": ("not-text", "code", "text")}
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
        code, words = why.args
        graft = _Graft(release, [], [*findings, Finding(code, words, for_person=True)])
    return graft.intake()


class _Graft:
    """The release, the student's cells, and which is which."""

    def __init__(self, release: NotebookNode, cells: list[HandedIn], findings: list[Finding]) -> None:
        self.release, self.cells, self.findings = release, cells, findings
        self.places = [Place(i, cell) for i, cell in enumerate(release.cells)]
        self.named = {place.name: place for place in self.places if place.name}
        self.answers = [place for place in self.named.values() if place.is_answer]

    def intake(self) -> Intake:
        notebook = nbformat.from_dict(self.release)  # a copy
        for place in self.answers:
            notebook.cells[place.index].source = place.source
        changed = [place.name for place in self.answers if place.is_written and not place.is_stub(place.source)]
        self._insert_helpers(notebook)
        return Intake(notebook, {p.name: p.taken for p in self.answers}, tuple(changed), tuple(self.findings))

    def recognise(self) -> None:
        """Take from the student's cells what goes into the release, and say what is odd."""
        self._tell_which()
        for place in self.answers:
            self._take(place)
        self._recover_answers()
        self._look_at_checks()
        self._tidy_written()

    def _tell_which(self) -> None:
        """Say of each of the student's cells which of the release's it is: by grade id, by id, by its text."""
        ids = {place.cell.id: place for place in self.places}
        for cell in self.cells:
            place = ids.get(cell.id)
            cell.target = place if place and place.name else self.named.get(cell.grade_id, place)
            if place and place.name and cell.grade_id != place.name:
                words = f"was called `{cell.grade_id[:50]}`" if cell.grade_id else "had lost its name"
                self._find("renamed-cell", f"The cell of `{place.name}` {words}; it was known by its place.", place)
        there = {cell.target for cell in self.cells}
        others = (place for place in self.places if place not in there and not place.is_answer)
        texts = {(place.cell.cell_type, bare(place.cell.source)): place for place in others}
        for cell in self.cells:
            if cell.target is None:
                cell.target = texts.pop((cell.kind, bare(cell.source)), None)
        has_ids = any(cell.id in ids and not cell.grade_id for cell in self.cells)
        if not has_ids:  # of an edited experiment nothing but its tag is left to know it by
            self.cells = [c for c in self.cells if c.target or "experiment" not in c.tags]
        for cell in self.cells:
            if cell.target:
                cell.target.found.append(cell)
        if self.cells and not any(place.found for place in self.named.values()):
            words = "Is it the right file? What could be recognised in it was graded."
            self._find("other-notebook", f"None of this unit's cells is in the notebook. {words}", for_person=True)
        foreign = [c.grade_id for c in self.cells if c.target is None and c.grade_id]
        if foreign:
            names = ", ".join(f"`{name[:50]}`" for name in foreign[:5])
            self._find("foreign-cell", f"The notebook has cells that do not belong to this unit: {names}.")

    def _take(self, place: Place) -> None:
        """The source of an answer's cell, if it is there; of two cells for one answer, one."""
        name, wanted = place.name, place.cell.cell_type
        found = [cell for cell in place.found if not cell.too_long]
        if len(found) < len(place.found):
            words = f"more than {MAX_SOURCE // 1_000_000} million characters, and was not read"
            self._find("huge-cell", f"The cell of `{name}` has {words}.", place, for_person=True)
        if not found:
            return
        cell = found[0] if len(found) == 1 else self._choose(place, found)
        place.taken, cell.used = cell.source, True
        if cell.kind != wanted:
            code, was, now = _TURNED[wanted]
            self._find(code, f"The cell of `{name}` had become a {was} cell; it was read as {now}.", place)
        if cell.has_attachments:
            words = "with a picture or file in it, which was not taken along: look at what was handed in"
            self._find("attachment", f"The cell of `{name}` came {words}.", place, for_person=True)

    def _choose(self, place: Place, found: list[HandedIn]) -> HandedIn:
        """One of several cells that say they are the same answer."""
        name = place.name
        changed = [cell for cell in found if not place.is_blank(cell.source)] or found
        if not place.is_written:
            changed = [cell for cell in changed if name in defined_names(cell.source)] or changed
        if differ := len({bare(cell.source) for cell in changed}) > 1:
            words = "They differ; the last one was graded."
        elif len(changed) < len(found):
            words = "The one that holds your answer was graded."
        else:
            words = "They are the same."
        words = f"The notebook has {len(found)} cells for the answer `{name}`. {words}"
        self._find("duplicate-cell", words, place, for_person=differ)
        for cell in found:
            # Another answer, or an empty one, is neither run nor graded; the other half of a cell that was split is.
            cell.used = place.is_written or place.is_blank(cell.source) or name in defined_names(cell.source)
            if not cell.used and cell is not changed[-1]:
                cell.target = None
        return changed[-1]

    def _recover_answers(self) -> None:
        """Find answers elsewhere whose cell is gone, or is still as it was given out."""
        extras = [c for c in self.cells if c.target is None and not c.too_long and c.source.strip()]
        names = {id(c): defined_names(c.source) for c in extras}
        for place in self.answers:
            name, was_there = place.name, place.taken is not None
            if not place.is_blank(place.source):
                continue
            if place.is_written:
                elsewhere = [c for c in self._below(place) if c in extras and c.kind == "markdown"]
                text = "\n\n".join([place.source, *(cell.source for cell in elsewhere)])
                words = f"The text below the question `{name}` was taken for its answer."
            else:
                elsewhere = [c for c in extras if name in names[id(c)] and not c.used]
                elsewhere = [c for c in elsewhere if not place.is_stub(c.source)] or ([] if was_there else elsewhere)
                text = elsewhere[-1].source if elsewhere else ""
                was = "was left as it was given out" if was_there else "was gone or renamed"
                words = f"The cell of `{name}` {was}; your `{name}` was found in another cell."
            if elsewhere:
                place.taken, elsewhere[-1].used = text, True
                self._find("answer-elsewhere", words, place)
            elif not was_there:
                of = f"the question `{name}`" if place.is_written else f"`{name}`, so there is nothing to grade for it"
                self._find("missing-cell", f"The notebook has no cell for {of}.", place)

    def _below(self, place: Place) -> Iterator[HandedIn]:
        """The student's own cells right below one of the release's."""
        is_below = False
        for cell in self.cells:
            is_below = is_below if cell.target is None else cell.target is place
            if is_below and cell.target is None:
                yield cell

    def _tidy_written(self) -> None:
        """In a written answer, words stand for pictures, which are not taken along; of one that nobody would read to
        its end, take the beginning.
        """
        for place in self.answers:
            if place.is_written and place.taken is not None:
                text = _ATTACHED.sub(r"(picture: \1)", place.taken)
                place.taken = text[:MAX_WRITTEN]
                if len(text) > MAX_WRITTEN:
                    words = f"more than {MAX_WRITTEN:,} characters; the rest was left out"
                    self._find("huge-cell", f"Your answer to `{place.name}` has {words}.", place, for_person=True)

    def _look_at_checks(self) -> None:
        """Say which of the cells that students cannot change were changed: the release's are used."""
        is_another = any(f.code == "other-notebook" for f in self.findings)
        for name, place in self.named.items():
            if place.is_answer:
                continue
            exercise, given = name.removeprefix("check_"), place.cell.source
            is_check = exercise != name
            what = f"The check of `{exercise}`" if is_check else f"The cell `{name}`"
            again = "Grading used the one that you were given."
            answer = self.named.get(exercise) if is_check else None
            is_left_out = answer is not None and answer.is_answer and answer.taken is None  # with its exercise
            if not place.found and not is_another and not is_left_out:
                self._find("check-missing", f"{what} was gone. {again}", place)
            changed = [c for c in place.found if bare(c.source) != bare(given)]
            if not is_check:  # where there is no torch, imports are left out
                changed = [c for c in changed if {*code_lines(c.source)} - {*code_lines(given)}]
            if changed:
                rewritten = is_check and any(_is_rewritten_check(c.source) for c in changed)
                tip = "" if rewritten else " Put code of your own into cells of your own."
                self._find("check-changed", f"{what} was changed. {again}{tip}", place, for_person=rewritten)
            elif len(place.found) > 1:
                self._find("check-copied", f"{what} was there {len(place.found)} times. {again}", place)

    def _insert_helpers(self, notebook: NotebookNode) -> None:
        """Put the student's own code cells into the notebook."""
        helpers = list(self._helpers())
        if len(helpers) > MAX_HELPERS:
            words = f"Of your own {len(helpers)} code cells, only the first {MAX_HELPERS} were run."
            self._find("too-many-cells", words, for_person=True)
        given = [(index, 1, cell) for index, cell in enumerate(notebook.cells)]
        for number, (slot, source) in enumerate(sorted(helpers[:MAX_HELPERS], key=lambda one: one[0]), 1):
            made = nbformat.v4.new_code_cell(source, metadata=copy.deepcopy(HELPER))
            made.id = f"helper-{number}"
            given.append((slot, 0, made))
        notebook.cells = [cell for *_, cell in sorted(given, key=lambda one: one[:2])]
        notebook.nbformat_minor = max(notebook.nbformat_minor, 5)  # the first with ids

    def _helpers(self) -> Iterator[tuple[int, str]]:
        """The student's own code cells in their order, each with the index of the release's cell that it goes before.

        A helper goes behind the known cell above it, or before the answer right below it; however cells were moved,
        helpers keep their own order, and none comes to stand behind an answer that it stood above.
        """
        cells = self.cells[:MAX_CELLS]
        known = [cell.target for cell in cells]
        answers = {place.name for place in self.answers}
        # for each cell, the known one below it, and the first of the release's answers that stand below it
        following, below, first = list[tuple[Place | None, int]](), None, len(self.release.cells)
        for place in reversed(known):
            following.append((below, first))
            below = place or below
            first = min(first, place.index) if place and place.is_answer else first
        above, reached = None, 0
        for i, (cell, (below, first)) in enumerate(zip(cells, reversed(following))):
            above = cell.target or above
            source = self._own_source(cell)
            if source is None:
                continue
            slot = 0 if above is None else above.index + 1
            if below and below.is_answer and not (above and above.is_answer) and below.index >= slot:
                slot = below.index
            reached = slot = max(reached, min(slot, first))
            if names := defined_names(source) & answers:  # defines an answer anew: it stood below it
                slot = max([slot, *(one.index + 1 for one in known[:i] if one and one.is_answer and one.name in names)])
            yield slot, source

    def _own_source(self, cell: HandedIn) -> str | None:
        """The code of a cell that is the student's own, else None. A cell of the unit that is not locked, no answer and
        no experiment is so as well, if it was changed.
        """
        if cell.kind != "code" or not cell.source.strip() or cell.used:
            return None
        if cell.target is None:
            return cell.source
        given = cell.target.cell
        is_free = not cell.target.name and "experiment" not in given.metadata.get("tags", [])
        return cell.source if is_free and bare(cell.source) != bare(given.source) else None

    def _find(self, code: str, message: str, place: Place | None = None, *, for_person: bool = False) -> None:
        self.findings.append(Finding(code, message, place.name if place else None, for_person))


_ATTACHED = re.compile(r"!\[([^\[\]]*)\]\(attachment:[^()\s]*\)")  # a picture that was pasted into a text


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
    return bool(code_lines(source)) and ("check" in defined_names(source) or not _CALLS_CHECK.search(source))
