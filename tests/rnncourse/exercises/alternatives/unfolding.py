"""Right answers to the unit, each in another style."""

from tests.rnncourse.exercises.alternatives import collector

ALTERNATIVES, answers = collector()
