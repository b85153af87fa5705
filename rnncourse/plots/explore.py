"""Sliders where a parameter is the point: `explore(draw, still, alt, r=Slider("growth rate r", 2.6, 4.0, 3.2))`.

The still picture is always there, and says by itself what the sliders let one find out: a notebook that is printed,
executed without anybody watching, or published as a page shows it alone. Where somebody sits at the keyboard, the
sliders stand below it, with the picture that `draw` makes of their values.
"""

import gc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

from matplotlib.figure import Figure
from matplotlib.transforms import Bbox

from rnncourse.checks.verdict import front_end
from rnncourse.seat.logbook import _is_interactive as somebody_sits_there

from .style import picture, show

__all__ = ["Slider", "explore"]


@dataclass(frozen=True)
class Slider:
    """A parameter with its name for the reader, its range, where it begins and how finely it moves."""

    label: str
    low: float
    high: float
    start: float
    step: float = 0.01


def explore(draw: Callable[..., Figure], still: Figure, alt: str = "", **sliders: Slider) -> None:
    """Show `still` with its alt text, its own or `alt`, and below it, in a notebook that is being worked with, sliders.

    draw: takes a number for each slider, by name, and returns a figure.
    """
    show(still, alt)
    if front_end() == "kernel" and somebody_sits_there() and find_spec("ipywidgets"):
        from IPython.display import display

        display(_panel(draw, sliders))


def _panel(draw: Callable[..., Figure], sliders: dict[str, Slider]) -> Any:
    """The sliders above the picture of their values, which is drawn again whenever one of them moves."""
    from ipywidgets import HTML, FloatSlider, VBox  # type: ignore[import-untyped]

    moving = {
        name: FloatSlider(
            slider.start,
            min=slider.low,
            max=slider.high,
            step=slider.step,
            description=slider.label,
            readout_format=".2f",
            style={"description_width": "initial"},
            layout={"width": "min(100%, 40em)"},
        )
        for name, slider in sliders.items()
    }
    drawn = HTML()
    places: dict[object, list[Bbox]] = {}

    def redraw(_: object = None) -> None:
        with _cleared_up():
            drawn.value = drawing()

    def drawing() -> str:
        values = {name: widget.value for name, widget in moving.items()}
        chosen = ", ".join(f"{sliders[name].label} = {value:g}" for name, value in values.items())
        figure = draw(**values)
        sizes = _laid_out(figure, places)
        page = picture(figure, f"The picture for {chosen}.")
        places[sizes] = [axes.get_position() for axes in figure.axes]
        return page

    for widget in moving.values():
        widget.observe(redraw, "value")
    redraw()
    return VBox([*moving.values(), drawn])


@contextmanager
def _cleared_up() -> Iterator[None]:
    """Collect what the block leaves behind at its end, and nothing while it runs.

    The parts of a figure refer to each other, so that only a collection frees them. Right away, by themselves, that
    takes a few milliseconds; once they are among all that the notebook and its libraries hold, a fifth of a second now
    and then, in which the slider stands still.
    """
    collects = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collects:
            gc.enable()
            gc.collect(0)


def _laid_out(figure: Figure, places: dict[object, list[Bbox]]) -> object:
    """Put the axes where they stood in an earlier picture that has the same scales and names as long: to find room for
    all labels anew takes half of the time of drawing, and a slider is to answer while it is dragged. Returns what is to
    be the same.
    """
    sizes = tuple(
        (axes.get_xlim(), axes.get_ylim(), tuple(len(str(line.get_label())) for line in axes.get_lines()))
        for axes in figure.axes
    )
    if sizes in places:
        figure.set_layout_engine("none")
        for axes, place in zip(figure.axes, places[sizes], strict=True):
            axes.set_position(place)
    return sizes
