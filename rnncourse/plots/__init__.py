"""The pictures of the course: diagrams, charts, and the one style that they share."""

from .diagrams import folded_unfolded
from .drawing import Drawing, Shape
from .style import COLOURS, show, style, to_png

__all__ = ["COLOURS", "Drawing", "Shape", "folded_unfolded", "show", "style", "to_png"]
