"""Real nbgrader on the real course: the release scores nothing, the solution everything, a mistake loses its
exercise.
"""

import functools

import nbformat
import pytest

from rnncourse import exercises
from rnncourse.checks.exercise import Misconception
from rnngrade.demo.sample import BLANK, RIGHT, Submission, demo_class
from tests.grading.by_nbgrader import Desk
from tests.grading.covering import covering_class
from tests.sampling import ALL

UNITS = list(exercises.STEMS)
# nbgrader takes seconds for a submission: here it proves that it grades as the check does, in a few submissions of one
# unit, and of each in `make nightly`; the misconceptions of all units are graded by the desk, in test_grade.py.
UNIT = "03_cell"
GRADED = UNITS if ALL else [UNIT]


@pytest.fixture(scope="session")
def grade(root, tmp_path_factory):
    """Autograde submissions of one unit in a folder of their own; returns the desk. Each list is graded once."""

    @functools.cache
    def graded(unit, make):
        desk = Desk(root, tmp_path_factory.mktemp(unit))
        desk.open_with([unit])
        for submission in make(unit):
            submission.write(root, desk.submitted)
            desk.autograde(unit, submission.student)
        return desk

    return graded


def ends(unit):
    names = [e.name for e in exercises.unit(unit)]
    return [
        Submission("blank", unit, "all blank", dict.fromkeys(names, BLANK)),
        Submission("right", unit, "all right", dict.fromkeys(names, RIGHT)),
    ]


@pytest.mark.parametrize("unit", GRADED)
def test_an_untouched_release_scores_nothing_and_the_solution_full_marks(unit, grade):
    scores = grade(unit, ends).scores(unit)
    for e in exercises.unit(unit):
        assert scores["blank"][e.name] == 0, e.name
        assert scores["right"][e.name] == e.points, e.name


def covered(unit):
    return covering_class(unit)[1:2]


@pytest.mark.parametrize("unit", GRADED)
def test_each_misconception_loses_its_own_exercise_and_no_other(unit, grade):
    scores = grade(unit, covered).scores(unit)
    for submission in covered(unit):
        graded = {name: scores[submission.student][name] for name in submission.answers}
        assert graded == pytest.approx(submission.expected())
        for name, answer in submission.answers.items():
            full = graded[name] == exercises.find(name).points
            assert full is (answer == RIGHT), (submission.student, name)


@pytest.mark.parametrize("unit", UNITS)
def test_a_covering_class_makes_every_mistake_once(unit):
    made = [(n, a.name) for s in covering_class(unit) for n, a in s.answers.items() if isinstance(a, Misconception)]
    assert sorted(made) == sorted((e.name, m.name) for e in exercises.unit(unit) for m in e.misconceptions)


@pytest.mark.parametrize("unit", UNITS[1:])
def test_the_demo_class_holds_right_blank_single_mistakes_and_mixtures(unit):
    right, blank, *others = made = demo_class(unit)
    assert len(made) == len({s.student for s in made}) == 12
    assert set(right.answers.values()) == {RIGHT}
    assert set(blank.answers.values()) == {BLANK}
    given = [[m.name for m in s.answers.values() if isinstance(m, Misconception)] for s in others]
    singles = {tuple(mistakes) for s, mistakes in zip(others, given) if s.what != "a mixture"}
    assert {len(mistakes) for mistakes in singles} == {1}
    assert len(singles) > 1
    assert "a mixture" in {s.what for s in others}


def test_feedback_shows_the_verdict_and_the_diagnosis(grade, root):
    desk = grade(UNIT, covered)
    submission = next(s for s in covered(UNIT) if isinstance(s.answers["rnn_step"], Misconception))
    page = desk.generate_feedback(UNIT, submission.student).read_text(encoding="utf-8")
    assert submission.answers["rnn_step"].message.split("`")[0].split("'")[0][:40] in page
    assert "not yet" in page


@pytest.mark.parametrize("unit", GRADED)
def test_written_questions_wait_for_a_person(unit, grade, root):
    notebook = nbformat.read(root / "notebooks" / unit / f"{unit}.ipynb", as_version=4)
    meta = [c.metadata.nbgrader for c in notebook.cells if "nbgrader" in c.metadata]
    written = [m.grade_id for m in meta if m.grade and m.solution]
    assert len(written) == (root / "solutions" / f"{unit}.py").read_text(encoding="utf-8").count(' written="')
    scores = grade(unit, ends).scores(unit)
    # An untouched one is worth nothing at once; one that was touched waits.
    assert all(scores["blank"][name] == 0 for name in written)
    assert all(scores["right"][name] is None for name in written)
