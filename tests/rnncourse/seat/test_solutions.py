"""Whoever is stuck: a hint by function or name, the line at a button, the solution after three tries."""

import ast
import json

import nbformat
import pytest

from rnncourse import check, exercises, hint, solution, where
from rnncourse.checks.exercise import Question
from rnncourse.checks.shelf import read
from rnncourse.seat import logbook, notebook, solutions
from rnngrade.author.build import copy_path
from rnngrade.author.cells import others
from rnngrade.author.validate import shelf_of
from tests.rnncourse.seat.test_cli import ROOT, rnncourse


@pytest.fixture(autouse=True)
def new_session(monkeypatch):
    for name in ("_last", "_failed", "_hints_given", "_standing"):
        monkeypatch.setattr(notebook, name, {})


@pytest.fixture
def file(tmp_path, monkeypatch):
    path = tmp_path / "progress.json"
    monkeypatch.setenv("RNNCOURSE_PROGRESS", str(path))
    return path


@pytest.fixture
def without_search(monkeypatch):
    """No place is looked for, which would take a second for each check."""
    monkeypatch.setattr(notebook, "find", lambda *_, **__: None)


def made(source: str):
    """An answer with its text, as a cell has it."""
    return exercises.find("rnn_step").made_of(source, f"<{abs(hash(source))}>")


WRONG = "def rnn_step(x, h_prev, U, W, b):\n    a = x @ U + 3 * h_prev @ W\n    return np.tanh(a)\n"
ONE_LINE = "def rnn_step(x, h_prev, U, W, b):\n    return np.tanh(x @ U + 3 * h_prev @ W)\n"


@pytest.mark.usefixtures("without_search")
def test_the_solution_is_offered_after_three_tries_that_fail():
    assert [check(made(WRONG)).offers.solution for _ in range(4)] == [False, False, True, True]
    card = check(made(WRONG)).card()
    assert 'data-rnncourse="solution rnn_step"' in card
    assert 'solution("rnn_step")' in card.replace("&quot;", '"')
    right = check(exercises.find("rnn_step").made_of(exercises.find("rnn_step").source, "<right>"))
    assert right.passed
    assert "data-rnncourse" not in right.card()


@pytest.mark.usefixtures("without_search")
def test_what_is_not_written_and_what_bears_another_name_is_no_try():
    for _ in range(5):
        check(made("def rnn_step(x, h_prev, U, W, b):\n    raise NotImplementedError\n"))
        check(lambda *args: args[0], "rnn_step")
    assert not check(made(WRONG)).offers.solution


@pytest.mark.usefixtures("without_search")
def test_a_line_is_looked_for_where_there_is_more_than_one():
    assert check(made(WRONG)).offers.where
    assert not check(made(ONE_LINE)).offers.where
    assert not where(made(ONE_LINE)).offers.where


@pytest.mark.usefixtures("without_search")
def test_where_no_line_is_found_that_is_said():
    assert where(made(WRONG)).where.message == notebook.NO_LINE


@pytest.mark.parametrize("unit", exercises.STEMS)
def test_each_solution_is_python_and_says_why(unit):
    for exercise in exercises.unit(unit):
        found = solution(exercise.name)
        assert isinstance(found, solutions.Solution)
        ast.parse(found.answer)
        ast.parse(found.other)
        assert found.why
        assert bool(found.other) == (not isinstance(exercise, Question))
        assert found.answer.splitlines()[0] in str(found)


@pytest.mark.parametrize("unit", exercises.STEMS)
def test_the_package_has_a_few_other_ways_of_each_exercise(unit):
    copy = copy_path(ROOT, "others", unit).read_text(encoding="utf-8")
    assert copy == others(read(ROOT / shelf_of(unit))), "make notebooks"


@pytest.mark.parametrize("name", ["hidden_layer", "rnn_step", "softmax", "rnn_parameter_count"])
def test_the_other_way_is_right(name):
    exercise = exercises.find(name)
    assert check(exercise.made_of(solution(name).other, f"<other {name}>")).passed


def test_what_was_shown_is_noted_in_progress_and_in_what_is_handed_in(file, tmp_path, monkeypatch):
    course = tmp_path / "my-course"
    assert rnncourse("start", str(course)).exit_code == 0
    monkeypatch.chdir(course)
    solution("no_such_exercise")
    solution(made(WRONG))
    assert list(json.loads(file.read_text())["exercises"]) == ["rnn_step"]
    assert not logbook.standings()["rnn_step"].passed
    said = rnncourse("submit", "03").output
    assert "It says that the solution was shown, which takes no points by itself, of rnn_step." in said
    handed_in = nbformat.read(course / "03_cell" / "03_cell-submission.ipynb", 4)
    assert list(handed_in.metadata["rnncourse"]["solutions_shown"]) == ["rnn_step"]
    assert "rnncourse" not in nbformat.read(course / "03_cell" / "03_cell.ipynb", 4).metadata


@pytest.mark.usefixtures("without_search")
def test_a_release_for_a_graded_class_has_none_and_offers_none(file, tmp_path, monkeypatch):
    monkeypatch.setattr(solutions, "OTHERS", tmp_path / "left-out")
    assert str(solution("rnn_step")).endswith(solutions.NONE_HERE)
    assert not any(check(made(WRONG)).offers.solution for _ in range(4))
    assert not logbook.standings().get("rnn_step", logbook.Standing()).shown


def test_a_hint_is_given_by_function_and_by_name():
    first, second = hint(made(WRONG)), hint("rnn_step")
    assert (first.exercise, first.number, second.number) == ("rnn_step", 1, 2)
    check(made(WRONG))
    assert (hint().exercise, hint().number) == ("rnn_step", 4)
    for unknown in (len, 3):
        assert str(hint(unknown)).startswith("There is no exercise")
        assert "0 of 0" not in hint(unknown)._repr_html_()
