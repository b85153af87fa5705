"""Real nbgrader on the real course: the release scores nothing, the solution everything, a mistake loses its exercise.

It runs what was handed in with the rights of whoever grades: for a class that one trusts. `rnngrade run` is for the
others.
"""

import functools

import pytest

from rnncourse import exercises
from rnncourse.checks.exercise import Misconception
from rnngrade.core.desk import Desk
from rnngrade.demo.sample import BLANK, RIGHT, Submission, demo_class
from rnngrade.gradebook.book import GradebookWriter
from tests.grading.covering import covering_class
from tests.grading.on_any_database import content, nbgrader
from tests.sampling import ALL

UNITS = list(exercises.STEMS)
# nbgrader takes seconds for a submission: here it proves that it grades as the check does, in a few submissions of one
# unit, and of each in `make nightly`; the misconceptions of all units are graded by the desk, in test_grade.py.
UNIT = "03_cell"


def made_for(unit):
    """All blank, all right, and many mistakes among right answers."""
    blank = Submission("blank", unit, "all blank", dict.fromkeys((e.name for e in exercises.unit(unit)), BLANK))
    return [blank, *covering_class(unit)[:2]]


@pytest.fixture(scope="module")
def graded(root, tmp_path_factory):
    """Grades a class of a unit in a folder of its own, once; returns the desk."""

    @functools.cache
    def grade(unit):
        desk = Desk(root, tmp_path_factory.mktemp(unit))
        desk.open()
        with GradebookWriter(desk) as gradebook:
            gradebook.enter_unit(unit)
        for submission in made_for(unit):
            submission.write(root, desk.submitted)
        nbgrader(desk, "autograde", unit)
        return desk

    return grade


@pytest.mark.parametrize("unit", UNITS if ALL else [UNIT])
def test_each_answer_earns_what_its_check_says_and_a_written_one_waits_for_a_person(unit, graded, root):
    points = {student: found["grades"] for student, found in content(graded(unit), unit).items()}
    for made in made_for(unit):
        found = {name: points[made.student][f"check_{name}"][0] for name in made.answers}
        assert found == pytest.approx(made.expected()), made.student
        for name, answer in made.answers.items():
            assert (found[name] == exercises.find(name).points) is (answer == RIGHT), (made.student, name)
    written = [name for name in points["blank"] if not name.startswith("check_")]
    assert len(written) == (root / "solutions" / f"{unit}.py").read_text(encoding="utf-8").count(' written="')
    assert all(points["blank"][name][0] == 0 for name in written), "an untouched one is worth nothing at once"
    assert all(points["right"][name][0] is None for name in written)


def test_feedback_shows_the_verdict_and_the_diagnosis(graded):
    desk = graded(UNIT)
    made = made_for(UNIT)[-1]
    nbgrader(desk, "generate_feedback", UNIT, f"--student={made.student}")
    page = desk.page_path(UNIT, made.student).read_text(encoding="utf-8")
    mistake = next(answer for answer in made.answers.values() if isinstance(answer, Misconception))
    assert mistake.message.split("`")[0].split("'")[0][:40] in page
    assert "not yet" in page


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
