"""Fair timing on a machine that others use as well."""

import time
from collections.abc import Callable, Mapping

import numpy as np

PAUSE = 0.02  # seconds: worker threads spin for a while after their last product, and would slow the next runner


def interleaved(runners: Mapping[str, Callable[[], object]], seconds: float = 5.0) -> dict[str, np.ndarray]:
    """Run all runners in turn until the time is up, at least seven rounds; the seconds of each round, by name.

    Each turn is a pause, a run that is not timed, and as many timed runs as make up a few milliseconds, of which the
    fastest counts. What disturbs the machine for longer than a turn disturbs all of them.
    """
    runs = {name: _runs_in(0.005, runner) for name, runner in runners.items()}
    times: dict[str, list[float]] = {name: [] for name in runners}
    end = time.perf_counter() + seconds
    rounds = 0
    while rounds < 7 or time.perf_counter() < end:
        for name, runner in runners.items():
            time.sleep(PAUSE)
            runner()
            times[name].append(min(_time(runner) for _ in range(runs[name])))
        rounds += 1
    return {name: np.array(values) for name, values in times.items()}


def _runs_in(seconds: float, runner: Callable[[], object]) -> int:
    runner()
    return max(1, int(seconds / _time(runner)))


def _time(runner: Callable[[], object]) -> float:
    start = time.perf_counter()
    runner()
    return time.perf_counter() - start
