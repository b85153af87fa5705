"""Unit 08: a random generator, for an answer that draws a mask."""

from rnncourse.given.gradient_flow import generator

__all__ = ["generator"]
