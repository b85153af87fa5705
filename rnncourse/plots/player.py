"""A film: one drawing whose parts come and go, moment by moment, with captions, and buttons to walk through it.

`film.show(alt)` puts the player below a notebook's cell: an SVG and a few lines of script in a frame of its own, which
need neither a kernel nor a network. It runs once by itself, as soon as it is seen, unless the reader has asked for less
motion. Where scripts do not run, on paper and in a notebook that is not trusted, a still picture of the last moment
stands in its place. Like any picture it follows the page's theme.
"""

import html
import re
import sys
from collections.abc import Sequence
from importlib.resources import files

from matplotlib.figure import Figure

from .style import PAPER, POINTS_PER_INCH, display_picture, picture, show, to_svg

__all__ = ["Film", "seen"]

NAME = re.compile(r"seen-(\d+)-(\d+)")


def seen(first: int, until: int = 999) -> str:
    """The name of a layer of a `Drawing` that is seen from moment `first` on, until just before `until`.

    >>> seen(3, 5)
    'seen-3-5'
    """
    return f"seen-{first}-{until}"


class Film:
    """A figure whose layers are named by `seen`, and a caption for each moment, which lasts so many seconds."""

    def __init__(self, figure: Figure, captions: Sequence[str], seconds: float = 1.6) -> None:
        self.captions, self.seconds = list(captions), seconds
        self._svg = to_svg(figure)
        self.size = tuple(round(POINTS_PER_INCH * side) for side in figure.get_size_inches())
        last = len(self.captions) - 1
        for artist in figure.findobj(lambda artist: bool(NAME.match(artist.get_gid() or ""))):
            first, until = map(int, NAME.match(artist.get_gid() or "").groups())  # type: ignore[union-attr]
            artist.set_visible(first <= last < until)
        self.still = figure

    def page(self, title: str, alt: str = "") -> str:
        """The player as an HTML page of its own, without anything from outside."""
        template = files(__package__).joinpath("player.html").read_text(encoding="utf-8")
        captions = "".join(f"<li>{html.escape(caption)}</li>" for caption in self.captions)
        parts = {
            "TITLE": html.escape(title),
            "ALT": html.escape(alt),
            "SVG": self._svg,
            "CAPTIONS": captions,
            "LAST": f"{len(self.captions) - 1}",
            "SECONDS": f"{self.seconds}",
        }
        return re.sub(r"\{\{(\w+)\}\}", lambda name: parts[name[1]], template)

    def show(self, alt: str = "", title: str = "One pass through time, step by step") -> None:
        """Show the player, or where there are no scripts the still; outside a notebook, print the alt text.

        That is `alt`, or what the still says by itself (`described`).

        The frame has no height until its script has run: it takes the still away, and makes room for itself.
        """
        if "IPython" not in sys.modules or sys.modules["IPython"].get_ipython() is None:
            show(self.still, alt)
            return
        alt = " ".join(alt.split()) or str(self.still.get_label())
        frame = (
            f'<iframe title="{html.escape(title)}" srcdoc="{html.escape(self.page(title, alt))}" scrolling="no" '
            f'{PAPER}display: block; width: 100%; max-width: {self.size[0]}px; height: 0; border: 0"></iframe>'
        )
        display_picture(self.still, alt, f"<div>{picture(self.still, alt)}{frame}</div>")
