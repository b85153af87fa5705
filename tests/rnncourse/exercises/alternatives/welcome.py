"""Right answers to unit 00, each in another style."""

import numpy as np

from tests.rnncourse.exercises.alternatives import collector

ALTERNATIVES, answers = collector()


@answers("leaky_average")
def moved_towards_x(state, x, keep):
    return state + (1 - keep) * (x - state)


@answers("leaky_average")
def one_by_one(state, x, keep):
    return [keep * s + (1 - keep) * x_n for s, x_n in zip(state, x, strict=True)]


@answers("leaky_average")
def weighted(state, x, keep):
    return np.average([state, x], axis=0, weights=[keep, 1 - keep])
