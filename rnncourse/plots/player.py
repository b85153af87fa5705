"""What moves: a drawing whose parts come and go, with a caption for each moment, and dials by which one gets there.

It has two faces. A film has one dial, time, and buttons to walk through it; it runs once by itself, as soon as it is
seen, unless the reader has asked for less motion. Sliders (`explore`) have a dial for each parameter.

`show(alt)` puts the player below a notebook's cell: an SVG and a few lines of script in a frame of its own, which need
neither a kernel nor a network. Where scripts do not run, on paper and in a notebook that is not trusted, a still
picture stands alone. Like any picture the player follows the page's theme.
"""

import html
import re
import sys
from collections.abc import Sequence
from importlib.resources import files
from typing import NamedTuple

from matplotlib.figure import Figure

from .style import PAPER, display_picture, picture, show, to_svg
from .svg import LAYER


def seen(first: int, until: int = 999) -> str:
    """The name of a layer of a `Drawing` that is seen from moment `first` on, until just before `until`.

    >>> seen(3, 5)
    'seen-3-5'
    """
    return f"seen-{first}-{until}"


class Dial(NamedTuple):
    """What is turned: its name for the reader, the values that it goes through, and at which of them it begins."""

    label: str
    values: Sequence[str]
    start: int


class Player:
    """An SVG with layers named by `seen`, and a caption for each moment. The last of the dials turns fastest.

    still: what is shown where no script runs. seconds: how long a moment of a film lasts; 0 if this is none.
    """

    def __init__(
        self, svg: str, captions: Sequence[str], dials: Sequence[Dial], still: Figure, seconds: float = 0
    ) -> None:
        self.svg, self.captions, self.dials = svg, list(captions), list(dials)
        self.still, self.seconds = still, seconds
        self.width = svg.partition(' width="')[2].partition("pt")[0]

    def page(self, title: str, alt: str = "") -> str:
        """The player as an HTML page of its own, without anything from outside."""
        template = files(__package__).joinpath("player.html").read_text(encoding="utf-8")
        parts = {
            "TITLE": html.escape(title),
            "ALT": html.escape(alt),
            "SVG": self.svg.replace('"', "'"),  # as an attribute of the frame, each " would take the room of six
            "CAPTIONS": "".join(f"<li>{html.escape(caption, quote=False)}</li>" for caption in self.captions),
            "DIALS": "".join(
                f'<label><span>{html.escape(label)}</span><input type="range" min="0" max="{len(values) - 1}" '
                f'value="{start}" aria-label="{html.escape(label)}" data-values="{" ".join(values)}"><output></output>'
                "</label>"
                for label, values, start in self.dials
            ),
            "SECONDS": f"{self.seconds}",
        }
        return re.sub(r"\{\{(\w+)\}\}", lambda name: parts[name[1]], template)

    def show(self, alt: str = "", title: str = "One pass through time, step by step") -> None:
        """Show the still and the player, of a film in its place; outside a notebook, print the alt text.

        That is `alt`, or what the still says by itself (`described`).

        The frame has no height until its script has run, which makes room for itself.
        """
        if "IPython" not in sys.modules or sys.modules["IPython"].get_ipython() is None:
            show(self.still, alt)
            return
        alt = " ".join(alt.split()) or str(self.still.get_label())
        page = self.page(title, alt).replace("&", "&amp;").replace('"', "&quot;")
        frame = (
            f'<iframe title="{html.escape(title)}" srcdoc="{page}" scrolling="no" '
            f'{PAPER}display: block; width: 100%; max-width: {self.width}px; height: 0; border: 0"></iframe>'
        )
        display_picture(self.still, alt, f"<div>{picture(self.still, alt)}{frame}</div>")


class Film(Player):
    """A figure whose layers are named by `seen`, and a caption for each moment, which lasts so many seconds."""

    def __init__(self, figure: Figure, captions: Sequence[str], seconds: float = 1.6) -> None:
        time = Dial("moment", [f"{moment + 1}" for moment in range(len(captions))], 0)
        super().__init__(to_svg(figure), captions, [time], figure, seconds)
        last = len(captions) - 1
        for artist in figure.findobj(lambda artist: bool(LAYER.match(artist.get_gid() or ""))):
            first, until = map(int, LAYER.match(artist.get_gid() or "").groups())  # type: ignore[union-attr]
            artist.set_visible(first <= last < until)
