"""A film: one drawing whose parts come and go, moment by moment, with captions, and buttons to walk through it.

`film.show(alt)` puts a still picture of its last moment below a notebook's cell, and under it the player: an SVG and a
few lines of script in a frame of their own, which need neither a kernel nor a network. Nothing moves before somebody
presses play. Where scripts do not run, on paper and in a notebook that is not trusted, the still is there alone.
"""

import html
import re
import sys
from collections.abc import Sequence
from importlib.resources import files

from matplotlib.figure import Figure

from .style import POINTS_PER_INCH, show, to_svg

__all__ = ["Film", "seen"]

CONTROLS = 112  # pixels: the caption and the buttons
NAME = re.compile(r"seen-(\d+)-(\d+)")


def seen(first: int, until: int = 999) -> str:
    """The name of a layer of a `Drawing` that is seen from moment `first` on, until just before `until`.

    >>> seen(3, 5)
    'seen-3-5'
    """
    return f"seen-{first}-{until}"


class Film:
    """A figure whose layers are named by `seen`, and a caption for each moment."""

    def __init__(self, figure: Figure, captions: Sequence[str]) -> None:
        self.captions = list(captions)
        self._svg = to_svg(figure)
        self.size = tuple(round(POINTS_PER_INCH * side) for side in figure.get_size_inches())
        last = len(self.captions) - 1
        for artist in figure.findobj(lambda artist: bool(NAME.match(artist.get_gid() or ""))):
            first, until = map(int, NAME.match(artist.get_gid() or "").groups())  # type: ignore[union-attr]
            artist.set_visible(first <= last < until)
        self.still = figure

    def page(self, title: str) -> str:
        """The player as an HTML page of its own, without anything from outside."""
        template = files(__package__).joinpath("player.html").read_text(encoding="utf-8")
        captions = "".join(f"<li>{html.escape(caption)}</li>" for caption in self.captions)
        parts = {
            "TITLE": html.escape(title),
            "SVG": self._svg,
            "CAPTIONS": captions,
            "LAST": f"{len(self.captions) - 1}",
        }
        return re.sub(r"\{\{(\w+)\}\}", lambda name: parts[name[1]], template)

    def show(self, alt: str, title: str = "One pass through time, step by step") -> None:
        """Show the still with its alt text, and below it the player; outside a notebook, print the alt text."""
        show(self.still, alt)
        if "IPython" not in sys.modules or sys.modules["IPython"].get_ipython() is None:
            return
        from IPython.display import display

        width, height = self.size
        frame = (
            f'<iframe title="{html.escape(title)}" srcdoc="{html.escape(self.page(title))}" '
            f'style="width: 100%; max-width: {width}px; height: {height + CONTROLS}px; border: 0"></iframe>'
        )
        display({"text/html": frame, "text/plain": f"{title}: an animation, for a browser."}, raw=True)
