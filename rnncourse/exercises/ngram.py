"""Unit 01."""

from rnncourse.checks.exercise import Unit

unit = Unit("01_ngram", "Language models without memory")
