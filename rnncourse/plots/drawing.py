"""The few things that every diagram of the course is made of: a sheet, a node, an arrow, the delay square.

Lengths are inches, so a node and a letter have the same size in every diagram. The origin is at the bottom left.

    sheet = Drawing(3, 2)
    x = sheet.node(1, 0.5, "$x_t$", "input")
    h = sheet.node(1, 1.5, "$h_t$", "state")
    sheet.arrow(x, h, "U")
    sheet.figure
"""

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties
from matplotlib.patches import Circle, FancyArrowPatch, FancyBboxPatch, Rectangle
from matplotlib.path import Path
from matplotlib.textpath import TextPath

from .style import COLOURS, INK, MUTED, TINTS, readable, style

Point = tuple[float, float]

RADIUS = 0.31
LINE = 1.6
GAP = 0.045  # between an arrow and the shape that it comes from or goes to
FORMULA = 15
NOTE = 12


@dataclass(frozen=True)
class Shape:
    """Something an arrow can begin or end at: a circle, or a box if `round` is false."""

    x: float
    y: float
    width: float
    height: float
    round: bool = True

    @property
    def centre(self) -> Point:
        return self.x, self.y

    def border(self, angle: float) -> Point:
        """The point just outside the shape, seen from its centre at `angle` (radians, 0 to the right)."""
        dx, dy = math.cos(angle), math.sin(angle)
        if self.round:
            reach = self.width / 2
        else:
            reach = min(self.width / 2 / max(abs(dx), 1e-9), self.height / 2 / max(abs(dy), 1e-9))
        return self.x + (reach + GAP) * dx, self.y + (reach + GAP) * dy


class Drawing:
    """A white sheet of `width` by `height` inches on which diagrams are drawn; `figure` is the matplotlib figure."""

    def __init__(self, width: float, height: float) -> None:
        width, height = math.ceil(8 * width) / 8, math.ceil(8 * height) / 8  # whole pixels on every screen
        with style():
            self.figure = Figure(figsize=(width, height))
            self.axes = self.figure.add_axes((0, 0, 1, 1))
        self.axes.set(xlim=(0, width), ylim=(0, height))
        self.axes.axis("off")

    @contextmanager
    def layer(self, name: str) -> Iterator[None]:
        """What is drawn in the block bears `name` in the SVG: `<g id="name-0">`, `<g id="name-1">` …"""
        before = set(self.axes.get_children())
        yield
        for k, artist in enumerate(artist for artist in self.axes.get_children() if artist not in before):
            artist.set_gid(f"{name}-{k}")

    def text(
        self,
        x: float,
        y: float,
        words: str,
        colour: str = INK,
        size: float = NOTE,
        align: str = "center",
        **more: Any,
    ) -> None:
        """Words or a formula with their middle at (x, y); `align` is "left", "center" or "right"."""
        # lines of text on one height get one baseline, whatever letters they have
        lines_up = "\n" not in words
        with style():
            self.axes.text(
                x,
                y - 0.29 * size / 72 if lines_up else y,
                words,
                color=readable(colour),
                fontsize=size,
                ha=align,
                va="baseline" if lines_up else "center",
                zorder=5,
                linespacing=1.35,
                **more,
            )

    def node(self, x: float, y: float, label: str = "", kind: str = "plain", radius: float = RADIUS) -> Shape:
        """A circle with a formula in it. `kind` ("input", "state", "output", "loss", "plain") gives its colour."""
        self.axes.add_patch(Circle((x, y), radius, facecolor=TINTS[kind], edgecolor=COLOURS[kind], lw=LINE, zorder=3))
        self.text(x, y, label, size=FORMULA)
        return Shape(x, y, 2 * radius, 2 * radius)

    def box(
        self,
        x: float,
        y: float,
        label: str = "",
        kind: str = "plain",
        width: float = 0.9,
        height: float = 0.55,
        size: float = FORMULA,
    ) -> Shape:
        """A box with rounded corners around (x, y): an operation, a layer, a token."""
        corner = FancyBboxPatch(
            (x - width / 2, y - height / 2),
            width,
            height,
            boxstyle="round,pad=0,rounding_size=0.08",
            facecolor=TINTS[kind],
            edgecolor=COLOURS[kind],
            lw=LINE,
            zorder=3,
        )
        self.axes.add_patch(corner)
        self.text(x, y, label, size=size)
        return Shape(x, y, width, height, round=False)

    def frame(self, left: float, bottom: float, right: float, top: float, label: str = "") -> None:
        """A dashed frame around a part of the diagram, with a note above its left corner."""
        self.axes.add_patch(
            FancyBboxPatch(
                (left, bottom),
                right - left,
                top - bottom,
                boxstyle="round,pad=0,rounding_size=0.12",
                facecolor="#FAFAFA",
                edgecolor="#9A9A9A",
                linestyle=(0, (4, 3)),
                lw=1.2,
                zorder=0,
            )
        )
        if label:
            self.text(left + 0.05, top + 0.15, label, MUTED, align="left")

    def dot(self, x: float, y: float, kind: str = "plain", radius: float = 0.12) -> Shape:
        """A small circle without a label: one unit of a layer, or a place where a line forks."""
        return self.node(x, y, "", kind, radius)

    def strip(self, x: float, y: float, colours: Sequence[str], kind: str = "plain") -> Shape:
        """A vector as a row of squares around (x, y), one of `colours` for each entry, in the frame of its kind."""
        cell = min(0.2, 0.8 / len(colours))
        width = cell * len(colours)
        for k, colour in enumerate(colours):
            corner = (x - width / 2 + k * cell, y - cell / 2)
            self.axes.add_patch(Rectangle(corner, cell, cell, facecolor=colour, edgecolor="#D0D0D0", lw=0.6, zorder=3))
        frame = Rectangle((x - width / 2, y - cell / 2), width, cell, fill=False, ec=COLOURS[kind], lw=LINE, zorder=4)
        self.axes.add_patch(frame)
        return Shape(x, y, width, cell, round=False)

    def delay(self, x: float, y: float, colour: str = INK, side: float = 0.19) -> Shape:
        """The black square on a loop: what passes it comes out one time step later."""
        self.axes.add_patch(Rectangle((x - side / 2, y - side / 2), side, side, facecolor=colour, zorder=4))
        return Shape(x, y, side, side, round=False)

    def arrow(
        self,
        start: Shape | Point,
        end: Shape | Point,
        label: str = "",
        *,
        colour: str | None = None,
        side: float = 1,
        bend: float = 0.0,
        dashed: bool = False,
        at: float = 0.5,
        shift: float = 0.0,
    ) -> None:
        """An arrow from one shape or point to another.

        Its label stands beside it: on its left for `side=1`, on its right for -1, further off for larger numbers, and
        a share `at` of the way along. A label "U", "W" or "V" brings its own colour. `bend` curves the arrow to its
        right, `shift` moves it to its left.
        """
        colour = colour or COLOURS.get(label, INK)
        a, b = _ends(start, end, bend, shift)
        middle = ((a[0] + b[0]) / 2 + bend * (b[1] - a[1]), (a[1] + b[1]) / 2 - bend * (b[0] - a[0]))
        self._stroke(Path([a, middle, b], [Path.MOVETO, Path.CURVE3, Path.CURVE3]), colour, dashed)
        if label:
            length = math.dist(a, b) or 1.0
            across = (-(b[1] - a[1]) / length, (b[0] - a[0]) / length)
            off = 0.2 * side - bend * length / 2
            self.text(
                a[0] + at * (b[0] - a[0]) + off * across[0],
                a[1] + at * (b[1] - a[1]) + off * across[1],
                f"${label}$" if label in COLOURS else label,
                colour,
                FORMULA if label in COLOURS or "$" in label else NOTE,
            )

    def loop(self, node: Shape, label: str = "W", *, colour: str | None = None, delay: bool = True) -> None:
        """A loop from a node back into itself, on its right, with the delay square on it and a label beyond."""
        colour = colour or COLOURS.get(label, INK)
        turn = 0.6
        a, b = node.border(turn), node.border(-turn)
        far = node.x + 2.9 * node.width / 2
        curve = [a, (far, node.y + 0.55), (far, node.y - 0.55), b]
        self._stroke(Path(curve, [Path.MOVETO, Path.CURVE4, Path.CURVE4, Path.CURVE4]), colour)
        middle = (a[0] + 3 * far + 3 * far + b[0]) / 8  # of a cubic Bezier curve
        if delay:
            self.delay(middle, node.y)
        self.text(middle + 0.27, node.y, f"${label}$" if label in COLOURS else label, colour, FORMULA)

    def path(self, points: Sequence[Point], colour: str = INK, *, dashed: bool = False, head: bool = True) -> None:
        """A line along `points`, with an arrow head at its end unless `head` is false."""
        self._stroke(Path(points), colour, dashed, head)

    def line(self, a: Point, b: Point, colour: str = INK, width: float = 0.8) -> None:
        """A thin line behind everything else, without a head: one of many connections."""
        self.axes.plot([a[0], b[0]], [a[1], b[1]], color=colour, lw=width, zorder=1)

    def dots(self, x: float, y: float) -> None:
        """Three dots: it goes on like this."""
        self.text(x, y, r"$\cdots$", MUTED, 20)

    def _stroke(self, path: Path, colour: str, dashed: bool = False, head: bool = True) -> None:
        if dashed and head:  # only the line is dashed: its head is drawn on its own, on the last bit of the way
            points = np.array(path.vertices)
            way = points[-1] - points[-2]
            neck = points[-1] - way * (0.08 / np.hypot(*way))
            self._stroke(Path([neck, points[-1]]), colour)
            path = Path([*points[:-1], neck], path.codes)
        self.axes.add_patch(
            FancyArrowPatch(
                path=path,
                arrowstyle="-|>,head_length=5,head_width=3" if head and not dashed else "-",
                linestyle=(0, (4, 2.5)) if dashed else "-",
                color=colour,
                lw=LINE,
                mutation_scale=1,
                capstyle="butt",
                joinstyle="round",
                zorder=2,
            )
        )


def _ends(start: Shape | Point, end: Shape | Point, bend: float, shift: float) -> tuple[Point, Point]:
    """Where an arrow leaves the first shape and reaches the second."""
    a = start.centre if isinstance(start, Shape) else start
    b = end.centre if isinstance(end, Shape) else end
    straight = math.atan2(b[1] - a[1], b[0] - a[0])
    turn = math.atan(2 * bend)
    if isinstance(start, Shape):
        a = start.border(straight - turn)
    if isinstance(end, Shape):
        b = end.border(straight + math.pi + turn)
    dx, dy = -shift * math.sin(straight), shift * math.cos(straight)
    return (a[0] + dx, a[1] + dy), (b[0] + dx, b[1] + dy)


def text_width(words: str, size: float = NOTE) -> float:
    """How wide plain words are on the sheet, in inches."""
    return float(TextPath((0, 0), words, size=size, prop=FontProperties(family="DejaVu Sans")).get_extents().width) / 72
