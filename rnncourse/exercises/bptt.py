"""Unit 04."""

from rnncourse.checks.exercise import Unit

unit = Unit("04_bptt", "Backpropagation through time")
