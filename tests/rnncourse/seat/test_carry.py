"""A new release, and whatever a student did to the old one: all of theirs is in what comes of it, each thing once."""

import copy
import hashlib
import json
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import nbformat
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell

from rnncourse import exercises
from rnncourse.seat import in_browser
from rnncourse.seat.carry import _is_as_given, carry, is_current
from rnncourse.seat.handin import cell_meta, cell_name, was_changed

ROOT = Path(__file__).resolve().parents[3]
UNIT = nbformat.read(ROOT / "notebooks" / "02_unfolding" / "02_unfolding.ipynb", as_version=4)
FIRST, SECOND = (exercise.name for exercise in exercises.unit("02_unfolding").exercises[:2])
WRITTEN = [cell for cell in UNIT.cells if cell_name(cell).endswith("written")]
UNIT.cells = [*UNIT.cells[: 1 + [cell_name(cell) for cell in UNIT.cells].index(f"check_{SECOND}")], *WRITTEN]
MARK = "# mine: {}"


def given_out(cell: NotebookNode) -> NotebookNode:
    """A cell with the id or the checksum that goes with what it holds."""
    if name := cell_name(cell):
        meta = cell.metadata["nbgrader"]
        parts = [cell.source, cell.cell_type, meta["grade"], meta["solution"], meta["locked"], name]
        parts += [float(meta["points"])] if meta["grade"] else []
        meta["checksum"] = hashlib.md5("".join(map(str, parts)).encode()).hexdigest()
    else:
        cell.id = hashlib.sha256(f"{cell.cell_type}\n{cell.source}".encode()).hexdigest()[:12]
    return cell


@st.composite
def releases(draw: st.DrawFn) -> NotebookNode:
    """A release of the unit in which cells were reworded, left out, added and moved."""
    unit = copy.deepcopy(UNIT)
    for number, place in enumerate(draw(st.lists(st.integers(0, len(unit.cells) - 1), max_size=12))):
        place %= len(unit.cells)
        match draw(st.sampled_from(("reword", "leave out", "add", "move"))):
            case "reword":
                unit.cells[place].source += f"\n# another word {number}"
                given_out(unit.cells[place])
            case "leave out":
                del unit.cells[place]
            case "add":
                unit.cells.insert(place, given_out(new_markdown_cell(f"Something new: {number}")))
            case "move":
                unit.cells.insert(draw(st.integers(0, len(unit.cells) - 1)), unit.cells.pop(place))
    return unit


@dataclass
class Students:
    """What a student made of a release: the notebook, and the lines that are theirs."""

    node: NotebookNode
    own: list[str]


BY_HAND = ("write", "write", "add", "add", "copy", "move", "delete")
IN_AN_EDITOR = ("unname", "rename", "lose its id", "share an id", "turn raw")


@st.composite
def students(draw: st.DrawFn, release: NotebookNode, ways: tuple[str, ...] = BY_HAND) -> Students:
    """Any mixture of answers written, experiments changed, cells added, copied, moved and deleted; and of what only
    other editors do.
    """
    node, lines = copy.deepcopy(release), []
    for number in range(draw(st.integers(0, 14))):
        place = draw(st.integers(0, len(node.cells) - 1))
        cell, line = node.cells[place], MARK.format(number)
        match draw(st.sampled_from(ways)):
            case "write":
                cell.source = f"{line}\n{cell.source.replace('raise NotImplementedError', 'pass')}"
                lines.append(line)
            case "add":
                make = draw(st.sampled_from((new_code_cell, new_markdown_cell)))
                node.cells.insert(place, make(line, id=f"by-hand-{number}"))
                lines.append(line)
            case "copy":
                twin = copy.deepcopy(cell)
                twin.id, twin.source = f"twin-{number}", f"{line}\n{cell.source}"
                node.cells.insert(draw(st.integers(0, len(node.cells))), twin)
                lines.append(line)
            case "move":
                node.cells.insert(draw(st.integers(0, len(node.cells) - 1)), node.cells.pop(place))
            case "unname":
                cell.metadata.pop("nbgrader", None)
            case "rename" if cell_name(cell):
                cell.metadata["nbgrader"]["grade_id"] += "_2"
            case "lose its id":
                cell.pop("id", None)
            case "share an id":
                cell.id = node.cells[0].get("id", "first")
            case "turn raw":
                cell.cell_type = "raw"
            case "delete" if len(node.cells) > 1 and MARK.format("") not in cell.source:
                del node.cells[place]
    return Students(node, lines)


@st.composite
def updates(draw: st.DrawFn) -> tuple[NotebookNode, Students, NotebookNode]:
    old = draw(releases())
    return old, draw(students(old)), draw(releases())


def with_line(node: NotebookNode, line: str) -> list[NotebookNode]:
    return [cell for cell in node.cells if line in cell.source.split("\n")]


@settings(max_examples=80)
@given(releases(), releases(), st.data())
def test_nothing_is_lost_either_of_what_other_editors_made_of_a_notebook(old, release, data):
    mine = data.draw(students(old, ways=BY_HAND + IN_AN_EDITOR))
    result = carry(mine.node, release).node
    for line in mine.own:
        wrote, kept = with_line(mine.node, line), with_line(result, line)
        assert Counter(cell.source for cell in kept) == Counter(cell.source for cell in wrote), line
    assert all(cell.get("id") for cell in result.cells)
    assert len({cell.id for cell in result.cells}) == len(result.cells)
    names = [cell_name(cell) for cell in result.cells if cell_name(cell)]
    assert sorted(names) == sorted(set(names))


@settings(max_examples=80)
@given(updates())
def test_all_of_the_release_is_there_in_its_order_and_an_answer_stands_in_its_own_cell(made):
    _, mine, release = made
    result = carry(mine.node, release).node
    for line in mine.own:
        kinds = [Counter(cell.cell_type for cell in with_line(node, line)) for node in (mine.node, result)]
        assert kinds[0] == kinds[1], line
    ids = [cell.id for cell in release.cells]
    assert [cell.id for cell in result.cells if cell.id in ids] == ids
    assert len({cell.id for cell in result.cells}) == len(result.cells)
    nbformat.validate(result)
    by_id = {cell.id: cell for cell in result.cells}
    for cell in release.cells:
        there = by_id[cell.id]
        assert there.metadata.get("nbgrader") == cell.metadata.get("nbgrader")
        wrote = [c for c in mine.node.cells if cell_name(c) == cell_name(cell) and was_changed(c)]
        if not cell_name(cell):
            continue
        if cell_meta(cell).get("solution") and any(c.cell_type == cell.cell_type for c in wrote):
            assert there.source in [c.source for c in wrote]
        else:
            assert there.source == cell.source
    names = [cell_name(cell) for cell in result.cells if cell_name(cell)]
    assert len(names) == len(set(names))


@settings(max_examples=60)
@given(updates())
def test_after_an_update_there_is_nothing_left_to_update_and_neither_notebook_is_changed(made):
    _, mine, release = made
    before = copy.deepcopy((mine.node, release))
    result = carry(mine.node, release).node
    assert (mine.node, release) == before
    assert is_current(result, release)
    assert carry(result, release).node.cells == result.cells


@settings(max_examples=40)
@given(releases(), releases(), st.data())
def test_a_cell_of_one_s_own_comes_right_behind_the_one_that_it_followed(old, release, data):
    node = copy.deepcopy(old)
    places = data.draw(st.lists(st.integers(1, len(old.cells)), unique=True, max_size=6))
    for number, place in enumerate(sorted(places, reverse=True)):
        node.cells.insert(place, new_code_cell(MARK.format(number), id=f"own-{number}"))
    result = carry(node, release).node
    at = {cell.id: index for index, cell in enumerate(result.cells)}
    still_there = {cell.id for cell in release.cells}
    for before, cell in zip(node.cells, node.cells[1:]):
        if cell.id.startswith("own-") and before.id in still_there:
            assert at[cell.id] == at[before.id] + 1


@settings(max_examples=40)
@given(st.data())
def test_whatever_one_wrote_in_a_release_it_is_that_release_unless_a_cell_is_gone(data):
    mine = data.draw(students(UNIT)).node
    has_all = {cell_name(c) or c.id for c in UNIT.cells} <= {cell_name(c) or c.id for c in mine.cells}
    assert is_current(mine, UNIT) == has_all


def cell_of(node: NotebookNode, name: str) -> NotebookNode:
    (found,) = [cell for cell in node.cells if cell_name(cell) == name]
    return found


def test_what_came_of_an_answer_is_said():
    mine, release = copy.deepcopy(UNIT), copy.deepcopy(UNIT)
    for name in (FIRST, SECOND):
        cell_of(mine, name).source = f"{name} = 1"
    cell_of(mine, "setup").source += "\nimport os"
    given_out(cell_of(release, FIRST)).source += "\n# asked in other words"
    given_out(cell_of(release, FIRST))
    release.cells.remove(cell_of(release, SECOND))
    carried = carry(mine, release)
    assert (carried.answers, carried.asked_anew) == ([FIRST], [FIRST])
    assert (carried.gone, carried.set_aside, carried.own) == ([SECOND], ["setup"], 2)
    in_a_browser = json.loads(in_browser.bring(nbformat.writes(mine), nbformat.writes(release)))
    assert nbformat.from_dict(in_a_browser["notebook"]) == carried.node
    assert all(note in in_a_browser["said"] for note in (str(carried), *carried.notes()))
    assert f"{FIRST} is asked in other words now" in in_a_browser["said"]


def statement_of(node: NotebookNode, name: str) -> NotebookNode:
    return node.cells[node.cells.index(cell_of(node, name)) - 1]


@pytest.mark.parametrize("what", ["statement", "check", "stub", "text above its heading", "another"])
def test_it_is_said_if_statement_stub_or_check_is_another(what):
    mine, release = copy.deepcopy(UNIT), copy.deepcopy(UNIT)
    cell_of(mine, SECOND).source = "def mine(): pass"
    statement_of(mine, SECOND).source += "\nA note of mine."
    cell = {
        "statement": statement_of(release, SECOND),
        "text above its heading": statement_of(release, SECOND),
        "check": cell_of(release, f"check_{SECOND}"),
        "stub": cell_of(release, SECOND),
        "another": statement_of(release, FIRST),
    }[what]
    assert "### Exercise" in statement_of(release, SECOND).source
    cell.source = f"In other words.\n\n{cell.source}" if what.startswith("text") else f"{cell.source}\n# in other words"
    if what.startswith("text"):
        statement_of(mine, SECOND).source = statement_of(UNIT, SECOND).source
    given_out(cell)
    carried = carry(mine, release)
    assert carried.asked_anew == ([SECOND] if what in ("statement", "check", "stub") else [])
    assert carried.beside == (what == "statement")


def test_a_statement_that_one_wrote_into_is_not_new():
    mine, release = copy.deepcopy(UNIT), copy.deepcopy(UNIT)
    cell_of(mine, FIRST).source = "def mine(): pass"
    statement_of(mine, FIRST).source = "mine alone"
    release.cells[0].source += " Reworded."
    carried = carry(mine, given_all(release))
    assert (carried.asked_anew, carried.beside) == ([], 0)


def test_an_answer_that_lives_in_another_cell_is_not_undone_by_an_empty_one_below_it():
    mine, release = copy.deepcopy(UNIT), copy.deepcopy(UNIT)
    place = mine.cells.index(cell_of(mine, FIRST))
    mine.cells[place] = new_code_cell(f"def {FIRST}(x):\n    return x")
    release.cells[0].source += " Reworded."
    result = carry(mine, given_all(release)).node
    assert FIRST not in map(cell_name, result.cells)
    assert f"check_{FIRST}" in map(cell_name, result.cells)


def given_all(release: NotebookNode) -> NotebookNode:
    release.cells = [given_out(cell) for cell in release.cells]
    return release


def test_of_several_cells_for_one_exercise_the_last_that_is_written_counts_as_in_grading():
    mine, release = copy.deepcopy(UNIT), copy.deepcopy(UNIT)
    blank, first = copy.deepcopy(cell_of(mine, FIRST)), cell_of(mine, FIRST)
    last = copy.deepcopy(first)
    first.source, last.source, blank.id, last.id = "1", "2", "blank", "last"
    twin = copy.deepcopy(cell_of(mine, f"check_{FIRST}"))
    twin.id = "twin"
    mine.cells += [last, blank, twin]
    release.cells[0].source += " Reworded."
    result = carry(mine, given_all(release)).node
    assert cell_of(result, FIRST).source == "2"
    assert [cell.source for cell in result.cells].count("1") == 1
    assert len(result.cells) == len(release.cells) + 1  # the blank one and the twin are nobody's


def test_a_cell_of_one_s_own_comes_behind_the_new_words_for_what_it_followed():
    mine, release = copy.deepcopy(UNIT), copy.deepcopy(UNIT)
    texts = [i for i, cell in enumerate(UNIT.cells) if i > 2 and not cell_name(cell)][:2]
    for place in reversed(texts):
        mine.cells.insert(place + 1, new_code_cell(f"behind = {place}"))
    for place in texts:
        release.cells[place].source += " Reworded."
    result = carry(mine, given_all(release)).node
    for place in texts:
        (at,) = (i for i, cell in enumerate(result.cells) if cell.source == f"behind = {place}")
        assert result.cells[at - 1].source == release.cells[place].source


def test_outputs_of_what_did_not_change_stay():
    mine, release = copy.deepcopy(UNIT), copy.deepcopy(UNIT)
    output = nbformat.v4.new_output("stream", text="seen\n")
    cell_of(mine, FIRST).source = "1"
    for name in (FIRST, f"check_{FIRST}"):
        cell_of(mine, name).outputs = [output]
    release.cells[0].source += " Reworded."
    result = carry(mine, given_all(release)).node
    assert all(cell_of(result, name).outputs == [output] for name in (FIRST, f"check_{FIRST}"))


@pytest.mark.parametrize("path", sorted((ROOT / "notebooks").glob("*/*.ipynb")), ids=lambda path: path.stem)
def test_what_is_given_out_can_be_told_from_what_was_changed(path):
    for cell in nbformat.read(path, as_version=4).cells:
        assert (was_changed(cell) is False) if cell_name(cell) else _is_as_given(cell)
