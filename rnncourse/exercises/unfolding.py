"""Unit 02."""

from rnncourse.checks.exercise import Unit

unit = Unit("02_unfolding", "Dynamical systems and their graphs")
