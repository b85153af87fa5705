"""An exercise of a unit that is none, and the verdict on an answer to it."""

from collections.abc import Callable
from typing import Any

from rnncourse.checks.engine import judge
from rnncourse.checks.exercise import Exercise, Unit
from rnncourse.checks.local import Local
from rnncourse.checks.verdict import Verdict


def made(name: str, reference: Callable[..., Any], cases: Callable[..., Any], **settings: Any) -> Exercise:
    """The exercise with these cases; two points, and hints that say nothing."""
    exercise = Unit("99_test", "test").exercise(
        name, reference=reference, **({"points": 2, "hints": ("",) * 3} | settings)
    )
    exercise.cases(cases)
    return exercise


def judged(exercise: Exercise, answer: Any, **how: Any) -> Verdict:
    """The verdict on an answer that uses no other."""
    with Local(answer, {}) as candidate:
        return judge(exercise, candidate, **how)
