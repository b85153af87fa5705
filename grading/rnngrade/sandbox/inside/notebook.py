"""What `from rnncourse import check, hint, use, progress` gives inside the sandbox: the same names, and no verdicts.

The grading desk judges each answer at its own check, from outside. A check, hint or use in a student's own cell runs
on without one.
"""

from typing import Any

from rnncourse.checks.verdict import Hint, Verdict


def check(candidate: Any, exercise: str | None = None, *, hidden: bool = False) -> Verdict:
    """No verdict: one that says that the desk will give it."""
    name = exercise if isinstance(exercise, str) else str(getattr(candidate, "__name__", "?"))
    return Verdict(name, True, 0.0, 0.0, 0, "The grading desk checks this answer where its own check stands.")


def hint(answer: Any) -> Hint:
    """No hint, and no solution, while grading."""
    name = answer if isinstance(answer, str) else str(getattr(answer, "__name__", "?"))
    return Hint(name, 0, 0, "There are no hints and no solutions while grading.")


solution, where = hint, check


def use(answer: Any) -> Any:
    """The answer itself."""
    return answer


class Progress:
    """Nothing to show while grading."""

    def __str__(self) -> str:
        return "Progress is not shown while grading."

    __repr__ = __str__


def progress(stem: str) -> Progress:
    """Nothing to show while grading."""
    return Progress()
