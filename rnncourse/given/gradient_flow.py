"""Unit 05: losses that pull states somewhere, and a random generator for an answer that draws."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from rnncourse.checks.callables import named


@named
def generator(seed: int, drawn: int = 0) -> Any:
    """A random generator, from which some numbers have been drawn already."""
    rng = np.random.default_rng(seed)
    rng.random(drawn)
    return rng


def pull(t: Any, h: Any, goals: np.ndarray, mix: np.ndarray) -> np.ndarray:
    if not 0 <= t < len(goals):
        raise IndexError(f"there is no step {t}: the steps are 0 to {len(goals) - 1}")
    return np.asarray(np.sin(h @ mix) + h - goals[t])


@named
def pull_to(goals: np.ndarray, mix: np.ndarray) -> Callable[[Any, Any], Any]:
    """An error that depends on the step and on every unit of the state."""

    def loss_grad(t: Any, h: Any) -> Any:
        return pull(t, h, goals, mix)

    return loss_grad


@named
def pull_to_kept(goals: np.ndarray, mix: np.ndarray) -> Callable[[Any, Any], Any]:
    """The same, by one who keeps what it answers and lets nobody write to it."""

    def loss_grad(t: Any, h: Any) -> Any:
        answer = pull(t, h, goals, mix)
        answer.setflags(write=False)
        return answer

    return loss_grad
