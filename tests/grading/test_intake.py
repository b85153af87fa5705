"""What is taken from a submission, where it goes, and what is said of what is odd. Whatever bytes come: tests/fuzz."""

import copy
import json
import random

import nbformat
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rnngrade.reading.cells import MAX_BYTES, MAX_CELLS, MAX_SOURCE
from rnngrade.reading.intake import MAX_HELPERS, take_in

ANSWER = "def rnn_step(x, h_prev, U, W, b):\n    return x"


@pytest.fixture(scope="module")
def release(root):
    """What students got; no intake changes it, for the next one gets the same."""
    path = root / "notebooks" / "03_cell" / "03_cell.ipynb"
    yield (read := nbformat.read(path, as_version=4))
    assert read == nbformat.read(path, as_version=4)


@pytest.fixture
def notebook(release):
    """The release, to be changed, as JSON."""
    return json.loads(json.dumps(release))


@pytest.fixture
def take(release):
    """The intake of a notebook given as JSON."""

    def take(notebook):
        return take_in(json.dumps(notebook).encode(), release)

    return take


def own(source, kind="code", **metadata):
    cell = {
        "cell_type": kind,
        "metadata": metadata,
        "source": source,
        "id": f"own{random.Random(source).random()}"[:60],
    }
    return cell | ({"outputs": [], "execution_count": None} if kind == "code" else {})


def index(notebook, name):
    return next(i for i, c in enumerate(notebook["cells"]) if c["metadata"].get("nbgrader", {}).get("grade_id") == name)


def cell(notebook, name):
    return notebook["cells"][index(notebook, name)]


def code(intake):
    """The names of answers and checks, and the sources of the student's own cells, in the order in which they run."""
    found = []
    for one in intake.notebook.cells:
        name = one.metadata.get("nbgrader", {}).get("grade_id")
        if one.cell_type == "code" and (name or "rnngrade" in one.metadata):
            found.append(name or one.source)
    return found


def neighbours(intake, source):
    """What runs before and after a cell of the student's own."""
    cells = code(intake)
    at = cells.index(source)
    return cells[at - 1], cells[at + 1]


def codes(intake):
    return [f.code for f in intake.findings]


def test_what_was_given_out_comes_back_as_it_was(notebook, take, release):
    intake = take(notebook)
    assert intake.notebook == release
    assert intake.findings == ()
    assert intake.written_changed == ()
    assert intake.answers["rnn_step"] == cell(notebook, "rnn_step")["source"]
    assert set(intake.answers) == {
        c.metadata.nbgrader.grade_id for c in release.cells if c.metadata.get("nbgrader", {}).get("solution")
    }


def test_answers_are_taken_and_everything_else_is_dropped(notebook, take, release):
    for one in notebook["cells"]:
        one["metadata"]["tags"] = ["skip-execution", "x"]
        one["attachments"] = {"a.png": {"image/png": "AAAA"}} if one["cell_type"] == "markdown" else {}
        if one["cell_type"] == "code":
            one |= {"outputs": [{"output_type": "stream", "name": "stdout", "text": "4"}], "execution_count": 3}
    notebook["metadata"] = {"kernelspec": {"name": "ir"}, "widgets": {}}
    cell(notebook, "rnn_step")["source"] = ANSWER
    cell(notebook, "check_rnn_step")["source"] = "# looks fine\ncheck(rnn_step)"
    intake = take(notebook)
    expected = copy.deepcopy(release)
    cell(expected, "rnn_step")["source"] = ANSWER
    assert intake.notebook == expected
    assert set(codes(intake)) == {"check-changed", "attachment"}
    intake.notebook.cells[0].metadata["x"] = 1  # which is not the release's: it is the same at the end
    assert [f.cell for f in intake.findings if f.for_person] == ["cell_written"]


def test_where_a_picture_was_pasted_into_a_text_words_say_so(notebook, take):
    written = cell(notebook, "cell_written")
    written["source"] += "\n\nSee ![my drawing](attachment:image.png), and $h_t$."
    written["attachments"] = {"image.png": {"image/png": "AAAA"}}
    intake = take(notebook)
    assert intake.answers["cell_written"].endswith("\n\nSee (picture: my drawing), and $h_t$.")
    assert (codes(intake), intake.written_changed) == (["attachment"], ("cell_written",))


def test_own_cells_stand_where_they_stood_and_carry_nothing_but_their_source(notebook, take):
    notebook["cells"].insert(index(notebook, "rnn_step"), own("above = 1", tags=["skip-execution"], nbgrader={}))
    notebook["cells"].insert(index(notebook, "rnn_step") + 1, own("below = 1"))
    notebook["cells"].insert(index(notebook, "rnn_step") + 2, own("below = 2"))
    notebook["cells"].insert(0, own("first = 1"))
    notebook["cells"].append(own("last = 1"))
    intake = take(notebook)
    assert neighbours(intake, "above = 1") == ("check_hidden_layer", "rnn_step")
    assert neighbours(intake, "below = 1") == ("rnn_step", "below = 2")
    assert neighbours(intake, "below = 2") == ("below = 1", "check_rnn_step")
    assert code(intake)[0] == "first = 1"
    assert code(intake)[-1] == "last = 1"
    helpers = [c for c in intake.notebook.cells if "rnngrade" in c.metadata]
    assert all(c.metadata == {"rnngrade": {"role": "helper"}} and c.cell_type == "code" for c in helpers)
    assert len({c.id for c in intake.notebook.cells}) == len(intake.notebook.cells)
    nbformat.validate(intake.notebook)


def test_a_moved_answer_takes_its_helpers_with_it(notebook, take):
    moved = notebook["cells"].pop(index(notebook, "rnn_step"))
    notebook["cells"] += [own("bend = np.tanh"), moved, own("after = rnn_step")]
    intake = take(notebook)
    cells = code(intake)
    assert cells.index("bend = np.tanh") < cells.index("rnn_step") < cells.index("after = rnn_step")
    assert cells.index("rnn_step") < cells.index("check_rnn_step")


@given(st.randoms(use_true_random=False))
@settings(max_examples=50)
def test_however_cells_are_moved_own_cells_keep_their_order_and_stay_above_what_stands_below_them(release, rng):
    notebook = json.loads(json.dumps(release))
    helpers = [f"h{i} = {i}" for i in range(6)]
    for source in helpers:
        notebook["cells"].insert(rng.randrange(len(notebook["cells"])), own(source))
    rng.shuffle(notebook["cells"])
    intake = take_in(json.dumps(notebook).encode(), release)
    names = [n for n, source in intake.answers.items() if n != "cell_written"]
    theirs = [c["metadata"].get("nbgrader", {}).get("grade_id") or c["source"] for c in notebook["cells"]]
    ours = code(intake)
    assert sorted(n for n in ours if n in helpers) == helpers
    assert [n for n in ours if n in helpers] == [n for n in theirs if n in helpers]
    for helper in helpers:
        below = [n for n in names if theirs.index(n) > theirs.index(helper)]
        assert all(ours.index(helper) < ours.index(n) for n in below)


def test_an_answer_defined_anew_below_is_not_put_above_its_cell(notebook, take):
    cell(notebook, "rnn_step")["source"] = ANSWER
    again = "def rnn_step(*a):\n    return 2"
    notebook["cells"] = [notebook["cells"].pop(index(notebook, "rnn_step")), own(again), *notebook["cells"]]
    cells = code(take(notebook))
    assert cells.index("rnn_step") < cells.index(again) < cells.index("check_rnn_step")


def test_code_in_a_cell_of_the_unit_that_is_free_to_change_is_run_below_it(root, release):
    release = nbformat.read(root / "notebooks" / "07_torch_rnn" / "07_torch_rnn.ipynb", as_version=4)
    notebook = json.loads(json.dumps(release))
    free = next(c for c in notebook["cells"] if c["source"].startswith("class Layer"))
    free["source"] += "\nhelper = 3"
    intake = take_in(json.dumps(notebook).encode(), release)
    (helper,) = [c for c in intake.notebook.cells if "rnngrade" in c.metadata]
    assert helper.source == free["source"]


def test_a_changed_experiment_is_left_out_even_without_ids(notebook, take):
    for one in notebook["cells"]:
        del one["id"]
        if "experiment" in one["metadata"].get("tags", []):
            one["source"] += "\nchanged = True"
    notebook["nbformat_minor"] = 4
    intake = take(notebook)
    assert not [c for c in intake.notebook.cells if "rnngrade" in c.metadata]
    assert intake.findings == ()


def test_of_two_cells_with_one_name_the_one_that_was_written_in_counts(notebook, take):
    copied = copy.deepcopy(cell(notebook, "rnn_step")) | {"id": "other"}
    cell(notebook, "rnn_step")["source"] = ANSWER
    notebook["cells"].insert(40, copied)
    intake = take(notebook)
    assert intake.answers["rnn_step"] == ANSWER
    assert [(f.code, f.cell, f.for_person) for f in intake.findings] == [("duplicate-cell", "rnn_step", False)]
    assert not [c for c in intake.notebook.cells if "rnngrade" in c.metadata]


def test_of_two_that_differ_the_last_counts_and_a_person_is_told(notebook, take):
    copied = copy.deepcopy(cell(notebook, "rnn_step")) | {"id": "other", "source": ANSWER + " + 1"}
    cell(notebook, "rnn_step")["source"] = ANSWER
    notebook["cells"].insert(40, copied)
    intake = take(notebook)
    assert intake.answers["rnn_step"] == ANSWER + " + 1"
    assert [(f.code, f.for_person) for f in intake.findings] == [("duplicate-cell", True)]


def test_both_halves_of_a_split_answer_are_run_in_order(notebook, take):
    rest = copy.deepcopy(cell(notebook, "rnn_step")) | {"id": "other", "source": ANSWER}
    cell(notebook, "rnn_step")["source"] = "def helper():\n    return 1"
    notebook["cells"].insert(index(notebook, "rnn_step") + 1, rest)
    intake = take(notebook)
    assert intake.answers["rnn_step"] == ANSWER
    cells = code(intake)
    assert cells.index("def helper():\n    return 1") < cells.index("check_rnn_step")


def test_a_cell_that_lost_its_name_is_known_by_its_id_or_by_what_it_defines(notebook, take):
    cell(notebook, "rnn_step").update(source=ANSWER, metadata={})
    other = cell(notebook, "softmax")
    other.update(source="softmax = lambda O: O", id="new")
    other["metadata"]["nbgrader"]["grade_id"] = "soft-max"
    intake = take(notebook)
    assert intake.answers["rnn_step"] == ANSWER
    assert intake.answers["softmax"] == "softmax = lambda O: O"
    assert set(codes(intake)) == {"renamed-cell", "foreign-cell", "answer-elsewhere"}
    assert not any(f.for_person for f in intake.findings)
    assert code(intake).count("softmax = lambda O: O") == 0


def test_an_answer_in_a_cell_of_its_own_is_found_when_the_given_one_was_left(notebook, take):
    notebook["cells"].append(own(ANSWER))
    intake = take(notebook)
    assert intake.answers["rnn_step"] == ANSWER
    assert codes(intake) == ["answer-elsewhere"]


def test_a_given_cell_that_was_written_in_is_not_replaced(notebook, take):
    cell(notebook, "rnn_step")["source"] = ANSWER
    notebook["cells"].append(own("def rnn_step(*a):\n    return 'an experiment'"))
    intake = take(notebook)
    assert intake.answers["rnn_step"] == ANSWER
    assert intake.findings == ()


def test_a_missing_answer_is_said_and_none(notebook, take):
    del notebook["cells"][index(notebook, "rnn_step")]
    intake = take(notebook)
    assert intake.answers["rnn_step"] is None
    assert [(f.code, f.cell) for f in intake.findings] == [("missing-cell", "rnn_step")]


def test_an_answer_that_became_text_is_code_again(notebook, take):
    cell(notebook, "rnn_step").update(source=ANSWER, cell_type="markdown")
    intake = take(notebook)
    assert cell(intake.notebook, "rnn_step").cell_type == "code"
    assert intake.answers["rnn_step"] == ANSWER
    assert codes(intake) == ["not-code"]


@pytest.mark.parametrize(
    ("source", "for_person"),
    [
        ("# fine now\ncheck(rnn_step)", False),
        ("v = check(rnn_step)\nprint(v.inputs)\nv", False),
        ("", False),
        ("3", True),
        ("print('3 points')", True),
        ("def check(f):\n    return 3\ncheck(rnn_step)", True),
        ("check = lambda f: 3\ncheck(rnn_step)", True),
    ],
)
def test_a_changed_check_is_shown_to_a_person_only_if_it_no_longer_checks(source, for_person, notebook, take, release):
    cell(notebook, "check_rnn_step")["source"] = source
    intake = take(notebook)
    assert intake.notebook == release
    assert [(f.code, f.cell, f.for_person) for f in intake.findings] == [
        ("check-changed", "check_rnn_step", for_person)
    ]


def test_a_written_answer_is_taken_and_named(notebook, take):
    cell(notebook, "cell_written")["source"] = "Nothing is remembered."
    intake = take(notebook)
    assert intake.written_changed == ("cell_written",)
    assert cell(intake.notebook, "cell_written").source == "Nothing is remembered."


def test_a_written_answer_in_a_cell_below_is_taken_too(notebook, take):
    notebook["cells"].insert(index(notebook, "cell_written") + 1, own("Nothing is remembered.", "markdown"))
    intake = take(notebook)
    assert intake.written_changed == ("cell_written",)
    assert cell(intake.notebook, "cell_written").source.endswith("\n\nNothing is remembered.")


@pytest.mark.parametrize(
    ("metadata", "said"),
    [
        ({"rnncourse": {"solutions_shown": {"rnn_step": "2026-01-31", "softmax": 3}}}, "rnn_step, softmax."),
        ({"rnncourse": {"solutions_shown": {"<b>": "", "softmax": ""}}}, ": softmax."),
        ({"rnncourse": {"solutions_shown": ["rnn_step"]}}, None),
        ({"rnncourse": "solutions_shown"}, None),
        ([], None),
    ],
)
def test_whose_solution_was_shown_is_told_and_changes_nothing(notebook, take, metadata, said):
    before = take(notebook)
    intake = take(notebook | {"metadata": metadata})
    found = [one for one in intake.findings if one.code == "solution-shown"]
    assert [one.for_person for one in found] == [False] * (said is not None)
    assert all(one.message.endswith(said) for one in found)
    assert intake.answers == before.answers


def test_another_notebook_is_said_to_be_one(take):
    intake = take({"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": [own("1 + 1"), own(ANSWER)]})
    assert codes(intake).count("other-notebook") == 1
    assert intake.answers["rnn_step"] == ANSWER
    assert any(f.for_person for f in intake.findings)


def test_too_much_is_left_out_and_the_answers_are_taken_all_the_same(notebook, take):
    answer = cell(notebook, "rnn_step")
    answer["source"] = ANSWER
    notebook["cells"].remove(answer)
    notebook["cells"] += [own(f"n = {i}") for i in range(MAX_CELLS)] + [answer]
    intake = take(notebook)
    assert intake.answers["rnn_step"] == ANSWER
    assert len([c for c in intake.notebook.cells if "rnngrade" in c.metadata]) == MAX_HELPERS
    assert "too-many-cells" in codes(intake)


def test_a_huge_cell_costs_itself(notebook, take):
    cell(notebook, "rnn_step")["source"] = "#" * (MAX_SOURCE + 1)
    cell(notebook, "softmax")["source"] = "softmax = 1"
    intake = take(notebook)
    assert intake.answers["rnn_step"] is None
    assert intake.answers["softmax"] == "softmax = 1"
    assert "huge-cell" in codes(intake)


@pytest.mark.parametrize(
    ("submission", "finding"),
    [
        (b"", "empty-file"),
        (b" \n", "empty-file"),
        (b"x" * (MAX_BYTES + 1), "too-large"),
        (b"%PDF-1.7", "no-json"),
        (b'{"cells": [', "no-json"),
        (b"null", "no-notebook"),
        (b"[]", "no-notebook"),
        (b'{"cells": {}}', "no-notebook"),
        (b'{"cells": [], "nbformat": Infinity}', "no-cells"),
        (b'{"worksheets": [{"cells": []}], "nbformat": 3}', "format"),
        (b"[" * 100_000, "too-deep"),
        (b'{"a":' * 100_000, "too-deep"),
        (b"[" + b"[]," * 1_500_000 + b"0]", "too-complex"),
        ("{".encode("utf-16"), "no-json"),
        (b"\xff\xfe\x00", "no-json"),
    ],
)
def test_what_is_no_notebook_is_said_in_words_and_leaves_the_release(submission, finding, release):
    intake = take_in(submission, release)
    assert intake.notebook == release
    assert set(intake.answers.values()) == {None}
    (found,) = [f for f in intake.findings if f.code != "encoding"]
    assert (found.code, found.for_person) == (finding, True)
    assert found.message.endswith(".")


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32"])
def test_every_unicode_encoding_is_read(encoding, notebook, release):
    cell(notebook, "rnn_step")["source"] = "größe = '変数 🐍'"
    intake = take_in(json.dumps(notebook, ensure_ascii=False).encode(encoding), release)
    assert intake.answers["rnn_step"] == "größe = '変数 🐍'"
    assert intake.findings == ()


def test_another_encoding_costs_its_odd_characters_alone(notebook, release):
    cell(notebook, "rnn_step")["source"] = f"# größe\n{ANSWER}"
    for one in notebook["cells"]:
        one["source"] = one["source"] if one["source"].isascii() or "größe" in one["source"] else ""
    intake = take_in(json.dumps(notebook, ensure_ascii=False).encode("latin-1"), release)
    assert intake.answers["rnn_step"].endswith(ANSWER)
    assert "encoding" in codes(intake)


@pytest.mark.parametrize("source", [ANSWER.replace("\n", "\r\n"), ANSWER.replace("\n", "\r"), ANSWER.splitlines(True)])
def test_lines_may_end_as_they_like(source, notebook, take):
    cell(notebook, "rnn_step")["source"] = source
    assert take(notebook).answers["rnn_step"] == ANSWER


def test_half_a_character_does_not_stop_the_notebook_from_being_written(notebook, take):
    cell(notebook, "rnn_step")["source"] = "# \ud83d"
    assert nbformat.writes(take(notebook).notebook).encode()
