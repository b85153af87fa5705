"""A student's notebook and a new release of its unit: one notebook with the release's cells and all that is the
student's.

Whose a cell is can be read off the cell itself. A cell that counts bears its name and nbgrader's checksum of what was
given out; any other cell of the course has an id that is made from its contents. So

    an answer that was written          takes the place of the release's cell of that name,
    a cell of the course, changed       takes the place of the release's cell of that id, if the release has it still,
    a cell of one's own                 stays behind the cell that it followed,
    what the release does not have      stays as a cell of one's own: an answer to an exercise that is gone, an
                                        experiment that was changed on both sides, a check that was written over.

What the student did not touch is as the release has it. Nothing of theirs is lost, and nothing is there twice.
"""

from __future__ import annotations

import copy
import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from rnncourse.seat.handin import cell_meta, cell_name, defines, was_changed
from rnncourse.seat.names import CODE_STUB

if TYPE_CHECKING:
    from nbformat import NotebookNode  # a browser has none (in_browser.py)

OWN = ("nbgrader", "deletable", "editable")  # what of a cell's metadata makes it the course's


@dataclass
class Carried:
    """The new notebook, and what of the student's is in it: names of exercises, and how many cells of their own."""

    node: NotebookNode
    answers: list[str] = field(default_factory=list)
    own: int = 0
    asked_anew: list[str] = field(default_factory=list)  # answers to what the release asks in other words
    gone: list[str] = field(default_factory=list)  # answers to what the release does not ask any more
    beside: int = 0  # of these the course's cells that were written into and that the release has no more
    set_aside: list[str] = field(default_factory=list)  # named cells that may not be changed, and were

    def __str__(self) -> str:
        return f"with {_many(len(self.answers), 'answer')} and {_many(self.own, 'cell')} of your own."

    def notes(self) -> Iterator[str]:
        """What to look at after it, a sentence each."""
        for name in self.asked_anew:
            yield f"{name} is asked in other words now: read it again, and look at your answer."
        for name in self.gone:
            yield f"{name} is not asked any more: your answer stays as a cell of your own."
        if self.beside:
            yield (
                f"{_many(self.beside, 'cell')} of the course that you wrote into "
                f"{'is' if self.beside == 1 else 'are'} another now: yours is kept beside the new one."
            )
        for name in self.set_aside:
            yield (
                f"{name} is not for you to change: it is new, and what you made of it is a cell of your own behind it."
            )


def _many(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"


def is_current(mine: NotebookNode, release: NotebookNode) -> bool:
    """Whether a student's notebook is of this release already: it has all of its cells, in whatever order."""
    return {_identity(cell) for cell in release.cells} <= {_identity(cell) for cell in mine.cells}


def carry(mine: NotebookNode, release: NotebookNode) -> Carried:
    """Carry what is the student's over to a new release of the unit. Neither notebook is changed."""
    sides = _Sides(mine, release)
    carried = Carried(copy.deepcopy(release))
    carried.node.metadata.update(copy.deepcopy(mine.metadata))
    places = _places(sides)
    behind: dict[int, list[NotebookNode]] = {}  # by place in the release, -1 before all of it
    for index, place in enumerate(places):
        cell = mine.cells[index]
        if index in sides.counts_as:
            if cell_name(cell):
                carried.answers.append(cell_name(cell))
                if _is_asked_anew(place, cell, mine, release):
                    carried.asked_anew.append(cell_name(cell))
        elif sides.is_own(index):
            if name := cell_name(cell):
                (carried.gone if cell_meta(cell).get("solution") else carried.set_aside).append(name)
            carried.own += 1
            carried.beside += not cell_name(cell) and _is_an_id_of_the_course_s(str(cell.get("id", "")))
            behind.setdefault(place, []).append(_as_own(cell))
    for index, place in sides.counts_as.items():
        given = release.cells[place]
        taken = copy.deepcopy(mine.cells[index])
        _strip(taken)
        taken.metadata.update(copy.deepcopy(given.metadata))
        taken.id = given.id
        carried.node.cells[place] = taken
    for index, place in sides.untouched.items():
        if mine.cells[index].cell_type == "code" and mine.cells[index].source == release.cells[place].source:
            carried.node.cells[place].outputs = copy.deepcopy(mine.cells[index].outputs)
            carried.node.cells[place].execution_count = mine.cells[index].execution_count
    left_out = sides.left_out(behind)
    cells = [(cell, False) for cell in behind.get(-1, [])]
    for place, cell in enumerate(carried.node.cells):
        cells += [] if place in left_out else [(cell, True)]
        cells += [(cell, False) for cell in behind.get(place, [])]
    _give_ids(cells)
    carried.node.cells = [cell for cell, _ in cells]
    return carried


class _Sides:
    """Which cell of the student's is which of the release.

    counts_as: the student's, by index, that take a place in the release. untouched: those that were left as they were
    given, by index, at their place in the release. gone: the course's, untouched, that the release does not have.
    All others are the student's own.
    """

    def __init__(self, mine: NotebookNode, release: NotebookNode) -> None:
        self.mine, self.release = mine.cells, release.cells
        self.counts_as: dict[int, int] = {}
        self.untouched: dict[int, int] = {}
        self.gone: set[int] = set()
        self._named = {cell_name(cell): place for place, cell in enumerate(self.release) if cell_name(cell)}
        for name in dict.fromkeys(cell_name(cell) for cell in self.mine if cell_name(cell)):
            self._sort_named(name)
        self._sort_unnamed()

    def is_own(self, index: int) -> bool:
        """Whether a cell is to be kept as the student's own."""
        return index not in self.counts_as and index not in self.untouched and index not in self.gone

    def at(self, index: int) -> int | None:
        """Where in the release a cell of the student's is, or None."""
        return self.counts_as.get(index, self.untouched.get(index))

    def left_out(self, behind: dict[int, list[NotebookNode]]) -> set[int]:
        """Answers' places to leave out: the student has no such cell, and defines its name in one of their own, which
        the release's empty cell below would undo.
        """
        sources = [cell.source for cells in behind.values() for cell in cells if cell.cell_type == "code"]
        there = {*self.counts_as.values(), *self.untouched.values()}
        return {
            place
            for name, place in self._named.items()
            if place not in there
            and cell_meta(self.release[place]).get("solution")
            and any(defines(name, source) for source in sources)
        }

    def _sort_named(self, name: str) -> None:
        place = self._named.get(name)
        found = [index for index, cell in enumerate(self.mine) if cell_name(cell) == name]
        changed = [index for index in found if was_changed(self.mine[index]) is not False]
        untouched = [index for index in found if index not in changed]
        if place is None:
            self.gone.update(untouched)
            return
        is_answer = bool(cell_meta(self.release[place]).get("solution"))
        same_type = [index for index in changed if self.mine[index].cell_type == self.release[place].cell_type]
        if is_answer and same_type:
            written = [index for index in same_type if not CODE_STUB.search(self.mine[index].source)]
            self.counts_as[(written or same_type)[-1]] = place  # the one that grading takes
            self.gone.update(untouched)
        elif untouched:
            self.untouched[untouched[0]] = place
            self.gone.update(untouched[1:])

    def _sort_unnamed(self) -> None:
        ids = {cell.id: place for place, cell in enumerate(self.release) if not cell_name(cell)}
        rest = [index for index, cell in enumerate(self.mine) if not cell_name(cell)]
        for index in list(rest):
            cell = self.mine[index]
            place = ids.get(cell.get("id", ""))
            if place is not None and self.release[place].cell_type == cell.cell_type:
                del ids[cell.id]
                is_same = cell.source == self.release[place].source
                (self.untouched if is_same else self.counts_as)[index] = place
                rest.remove(index)
            elif _is_as_given(cell):
                self.gone.add(index)
                rest.remove(index)
        # an editor that keeps no ids: what reads the same is the same
        texts: dict[tuple[str, str], list[int]] = {}
        for place in ids.values():
            texts.setdefault((self.release[place].cell_type, self.release[place].source), []).append(place)
        for index in rest:
            if alike := texts.get((self.mine[index].cell_type, self.mine[index].source)):
                self.untouched[index] = alike.pop(0)


def _places(sides: _Sides) -> list[int]:
    """For each of the student's cells the place in the release that it is at, or behind which it comes.

    A cell of one's own comes behind the one that it followed. If the release has other cells in place of those that it
    followed, it comes behind as large a part of them.
    """
    anchors = [sides.at(index) for index in range(len(sides.mine))]
    taken = {place for place in anchors if place is not None}
    places = []
    for index, anchor in enumerate(anchors):
        if anchor is not None:
            places.append(anchor)
            continue
        before = next((i for i in range(index - 1, -1, -1) if anchors[i] is not None), -1)
        after = next((i for i in range(index + 1, len(anchors)) if anchors[i] is not None), len(anchors))
        first = anchors[before] if before >= 0 else -1
        last = anchors[after] if after < len(anchors) else len(sides.release)
        assert first is not None
        assert last is not None
        new = [place for place in range(first + 1, last) if place not in taken]
        old = [i for i in range(before + 1, after) if i in sides.gone]
        passed = sum(i < index for i in old)
        share = round(passed * len(new) / len(old)) if old else 0
        places.append(new[share - 1] if share else first)
    return places


def _identity(cell: NotebookNode) -> tuple[str, str]:
    """What a cell of the course was given out as."""
    return (cell_name(cell), _given(cell)) if cell_name(cell) else ("", str(cell.get("id", "")))


def _given(cell: NotebookNode) -> str:
    return str(cell_meta(cell).get("checksum", ""))


def _is_asked_anew(place: int, answer: NotebookNode, mine: NotebookNode, release: NotebookNode) -> bool:
    """Whether a release asks for an answer otherwise than the student's notebook does: its stub, its check or its
    statement is another. A statement is the text between the last heading and the stub; its cells' ids are made from
    what they hold, so that one that was written into can be told from one that is new.
    """
    name = cell_name(answer)
    if _given(answer) != _given(release.cells[place]):
        return True
    checks = [{_given(cell) for cell in node.cells if cell_name(cell) == f"check_{name}"} for node in (mine, release)]
    if all(checks) and not checks[0] & checks[1]:
        return True
    ids = {re.sub(r"-\d+$", "", str(cell.get("id", ""))) for cell in mine.cells}
    texts = [cell.source for cell in mine.cells if cell.cell_type == "markdown"]
    for cell in reversed(release.cells[:place]):
        if cell.cell_type != "markdown" or cell_name(cell):
            return False
        *_, said = re.split(r"^(?=#{2,} )", cell.source, flags=re.MULTILINE)
        if re.sub(r"-\d+$", "", cell.id) not in ids and not any(said in text for text in texts):
            return True
        if said.startswith("#"):
            return False
    return False


def _is_an_id_of_the_course_s(found: str) -> bool:
    return re.fullmatch(r"[0-9a-f]{12}(-\d+)?", found) is not None


def _is_as_given(cell: NotebookNode) -> bool:
    """Whether a cell without a name is the course's and was left as it was: its id is made from what it holds."""
    digest = hashlib.sha256(f"{cell.cell_type}\n{cell.source}".encode()).hexdigest()[:12]
    return re.sub(r"-\d+$", "", str(cell.get("id", ""))) == digest


def _as_own(cell: NotebookNode) -> NotebookNode:
    own = copy.deepcopy(cell)
    if cell_name(cell):
        _strip(own)
    return own


def _strip(cell: NotebookNode) -> None:
    """Take from a copy of a cell what makes it the course's."""
    for key in OWN:
        cell.metadata.pop(key, None)


def _give_ids(cells: list[tuple[NotebookNode, bool]]) -> None:
    """Give every cell an id that no other has; those of the course, marked as such, keep theirs."""
    seen = {cell.id for cell, is_the_course_s in cells if is_the_course_s}
    for cell, is_the_course_s in cells:
        if not is_the_course_s:
            wanted, number = str(cell.get("id") or "own"), 1
            while cell.get("id") is None or cell.id in seen:
                cell.id = wanted if number == 1 else f"{wanted}-{number}"
                number += 1
            seen.add(cell.id)
