"""Real nbgrader on the real course: the release scores nothing, a mistake loses its exercise, and no other.

It runs what was handed in with the rights of whoever grades: for a class that one trusts. `rnngrade run` is for the
others.
"""

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
# nbgrader takes seconds for a submission: here it proves that it grades as the check does, in two submissions of one
# unit, and of each in `make nightly`. The misconceptions of all units are graded by the desk, in test_grade.py; that
# all right answers get all points, each build proves, and nbgrader's feedback, tests/notebooks/test_nbgrader.py.
GRADED = UNITS if ALL else ["03_cell"]


@pytest.mark.parametrize("unit", GRADED)
def test_each_answer_earns_what_its_check_says_and_a_written_one_waits_for_a_person(unit, root, tmp_path):
    blank = Submission("blank", unit, "all blank", dict.fromkeys((e.name for e in exercises.unit(unit)), BLANK))
    right, mistakes, *_ = covering_class(unit)
    handed_in = [blank, mistakes, *[right] * ALL]
    desk = Desk(root, tmp_path)
    desk.open()
    with GradebookWriter(desk) as gradebook:
        gradebook.enter_unit(unit)
    for made in handed_in:
        made.write(root, desk.submitted)
    nbgrader(desk, "autograde", unit)
    points = {student: found["grades"] for student, found in content(desk, unit).items()}
    for made in handed_in:
        found = {name: points[made.student][f"check_{name}"][0] for name in made.answers}
        assert found == pytest.approx(made.expected()), made.student
        for name, answer in made.answers.items():
            assert (found[name] == exercises.find(name).points) is (answer == RIGHT), (made.student, name)
    written = [name for name in points["blank"] if not name.startswith("check_")]
    assert len(written) == (root / "solutions" / f"{unit}.py").read_text(encoding="utf-8").count(' written="')
    assert all(points["blank"][name][0] == 0 for name in written), "an untouched one is worth nothing at once"
    assert all(points[mistakes.student][name][0] is None for name in written)


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
