"""Sliders where a parameter is the point: `explore(draw, still, r=Slider("growth rate r", 2.6, 4.0, 3.2))`.

The still picture says by itself what the sliders let one find out: a notebook that is printed shows it alone. Below it
stand the sliders, with a picture of each of their values, drawn beforehand: they need no kernel (`player`).
"""

import sys
from collections.abc import Callable
from dataclasses import dataclass
from itertools import product

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.transforms import Bbox

from .player import Dial, Player
from .style import show, style, to_svg


@dataclass(frozen=True)
class Slider:
    """A parameter with its name for the reader, its range, where it begins and how finely it moves."""

    label: str
    low: float
    high: float
    start: float
    step: float = 0.1

    @property
    def dial(self) -> Dial:
        """The values as they are written, with as many decimals as the step has.

        >>> Slider("W", -0.5, 0.5, 0.25, step=0.25).dial
        Dial(label='W', values=['-0.50', '-0.25', '0.00', '0.25', '0.50'], start=3)
        """
        count = round((self.high - self.low) / self.step)
        digits = len(f"{self.step:g}".partition(".")[2])
        values = [f"{self.low + k * self.step:.{digits}f}" for k in range(count + 1)]
        return Dial(self.label, values, round((self.start - self.low) / self.step))


def explore(draw: Callable[..., Figure], still: Figure, alt: str = "", **sliders: Slider) -> None:
    """Show `still` with its alt text, its own or `alt`, and below it, in a notebook, sliders with their pictures.

    draw: takes a number for each slider, by name, and returns a figure. It is called for every position of the sliders:
    a few dozen are enough, and the scales stay the same in all of them.
    """
    if "IPython" not in sys.modules or sys.modules["IPython"].get_ipython() is None:
        show(still, alt)
        return
    dials = [slider.dial for slider in sliders.values()]
    positions = list(product(*(map(float, dial.values) for dial in dials)))
    figures = [draw(**dict(zip(sliders, values, strict=True))) for values in positions]
    _lay_out_alike(figures)
    title = f"Sliders: {', '.join(dial.label for dial in dials)}"
    Player(to_svg(*figures), [str(figure.get_label()) for figure in figures], dials, still).show(alt, title)


def _lay_out_alike(figures: list[Figure]) -> None:
    """Put the axes of all figures where there is room for the labels of the first and of the last."""
    rooms = []
    for figure in (figures[0], figures[-1]):
        with style():
            FigureCanvasAgg(figure).draw()  # type: ignore[no-untyped-call]
        rooms.append([axes.get_position().extents for axes in figure.axes])
    first, last = np.array(rooms)
    room = np.hstack([np.maximum(first, last)[:, :2], np.minimum(first, last)[:, 2:]])
    for figure in figures:
        figure.set_layout_engine("none")
        for axes, extents in zip(figure.axes, room, strict=True):
            axes.set_position(Bbox.from_extents(*extents))
