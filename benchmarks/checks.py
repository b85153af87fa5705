"""How long `check` takes to accept each exercise's own answer."""

import time
from typing import Any

from rnncourse import check, exercises
from rnncourse.checks.exercise import Exercise

LIMIT = 0.1  # seconds


def run() -> None:
    """Print, for each unit, its slowest checks: the first one, which draws the cases, and the median of later ones."""
    print(f"\ncheck() of each exercise's own answer; the aim is less than {LIMIT} s.\n")
    print(f"{'':44}first, ms   again, ms")
    for unit in exercises.units():
        for exercise in unit:
            answer = exercise.reference if isinstance(exercise, Exercise) else exercise.answer
            first, again = _check_times(answer, exercise.name)
            slow = "   slow" if max(first, again) > LIMIT else ""
            print(f"  {unit.stem:14} {exercise.name:26} {1e3 * first:9.1f}   {1e3 * again:9.1f}{slow}")


def _check_times(answer: Any, name: str) -> tuple[float, float]:
    times = []
    for _ in range(6):
        start = time.perf_counter()
        verdict = check(answer, name)
        times.append(time.perf_counter() - start)
        if not verdict.passed:
            raise SystemExit(f"The answer of the exercise {name} fails its own check: {verdict.message}")
    return times[0], sorted(times[1:])[2]
