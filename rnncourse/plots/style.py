"""One visual language for the whole course: its colours, its fonts, and how a picture reaches the reader.

The colours are those of Okabe and Ito (2008), which the colour-blind can tell apart. Some have one meaning everywhere:
blue is U and what goes in, vermilion is W and the state, green is V and what comes out, purple is the loss and the
gradient that flows back from it.

Pictures are transparent, and drawn for light pages. A page whose theme is dark turns their lightness round and leaves
their hues: `THEMES` is the style sheet that does it, and goes along with each picture. Where no style sheet is let
through (a notebook that is not trusted), a picture keeps white paper behind it, unless it is in JupyterLab, where the
course's own extension has that style sheet too. `in_the_dark` says what becomes of a colour.

Nothing is set globally: settings hold inside `with style():` only, and figures are made without pyplot.
"""

import base64
import html
import io
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import to_hex, to_rgb
from matplotlib.figure import Figure
from PIL import Image

from .svg import drawn, in_layers, written

INK = "#222222"  # lines and text
MUTED = "#6B6B6B"  # notes, and what stands in the background

OKABE_ITO = {
    "blue": "#0072B2",
    "vermilion": "#D55E00",
    "green": "#009E73",
    "purple": "#CC79A7",
    "orange": "#E69F00",
    "sky": "#56B4E9",
    "yellow": "#F0E442",
    "black": "#000000",
}

COLOURS = {
    "U": OKABE_ITO["blue"],
    "W": OKABE_ITO["vermilion"],
    "V": OKABE_ITO["green"],
    "input": OKABE_ITO["blue"],
    "state": OKABE_ITO["vermilion"],
    "output": OKABE_ITO["green"],
    "loss": "#A3397A",  # the palette's purple, darkened until small text in it can be read
    "gradient": "#A3397A",
    "plain": INK,
    "faint": "#C4C4C4",
}

# The same colours, dark enough on white for text (a contrast of 4.5, as WCAG asks).
FOR_TEXT = {
    OKABE_ITO["vermilion"]: "#B84F00",
    OKABE_ITO["green"]: "#007D5B",
    OKABE_ITO["orange"]: "#8F6300",
    OKABE_ITO["sky"]: "#1F74A8",
}

TINTS = {
    "input": "#D6E9F5",
    "state": "#FBE0CC",
    "output": "#D2EEE4",
    "loss": "#F3DBE8",
    "gradient": "#F3DBE8",
    "plain": "#F2F2F2",
    "faint": "#FFFFFF",
}

# Lines of a chart differ in colour, in marker and in dash, so that no reader depends on colour.
CYCLE: list[dict[str, Any]] = [
    {"color": OKABE_ITO["blue"], "marker": "o", "linestyle": "-"},
    {"color": OKABE_ITO["vermilion"], "marker": "s", "linestyle": "--"},
    {"color": OKABE_ITO["green"], "marker": "^", "linestyle": "-."},
    {"color": "#A3397A", "marker": "D", "linestyle": ":"},
    {"color": OKABE_ITO["orange"], "marker": "v", "linestyle": (0, (5, 1, 1, 1, 1, 1))},
    {"color": OKABE_ITO["sky"], "marker": "P", "linestyle": (0, (8, 2))},
]

SETTINGS: dict[Any, Any] = {
    "font.family": "DejaVu Sans",  # comes with matplotlib, so that a picture is the same everywhere
    "font.size": 12,
    "mathtext.fontset": "cm",  # the letters of the formulas in the text around
    "text.color": INK,
    "axes.edgecolor": INK,
    "axes.labelcolor": INK,
    "axes.titlesize": 12,
    "axes.titlelocation": "left",
    "axes.titley": 1.0,  # no ticks are at the top; to look for them takes a third of the time of drawing
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "axes.unicode_minus": True,
    "grid.color": "#E3E3E3",
    "grid.linewidth": 0.8,
    "xtick.color": INK,
    "ytick.color": INK,
    "xtick.labelsize": 11,
    "ytick.labelsize": 11,
    "lines.linewidth": 2.0,
    "lines.markersize": 6,
    "legend.frameon": False,
    "legend.facecolor": "white",  # where it has a frame, on colours
    "legend.fontsize": 11,
    "figure.facecolor": "none",  # the page shows through
    "axes.facecolor": "none",
    "image.interpolation": "nearest",
    "svg.fonttype": "path",  # letters are outlines: no reader needs the font
    "svg.hashsalt": "rnncourse",  # names inside the file are the same every time
}

WIDEST = 9.75  # inches; on a phone, 390 pixels wide, the smallest type, of 11 points, is six pixels high in that
POINTS_PER_INCH = 72  # an inch of a figure is shown as 72 pixels
SHARPNESS = 2  # and has twice as many as a PNG, so that it is sharp on a fine screen
PALETTE = 64  # colours of a PNG
IMAGE_DPI = 4 * POINTS_PER_INCH  # of what is pixels inside an SVG: a heat map
LARGEST_SVG = 60_000  # bytes; what has more, a cloud of thousands of points, is smaller as pixels
BYTES_A_MARK = 25  # at least: so there is no need to draw a cloud to know that it is too large


# How JupyterLab, the course's site, VS Code and Colab say that they are dark, and that they are light.
DARK = '[data-jp-theme-light="false"], [data-theme="dark"], .vscode-dark, .vscode-high-contrast, [theme="dark"]'
LIGHT = '[data-jp-theme-light="true"], [data-theme="light"], .vscode-light, [theme="light"]'
THEMES = (
    f"<style>:is({DARK}, {LIGHT}) .rnncourse-figure {{ background: none !important; }} "
    f":is({DARK}) .rnncourse-figure {{ filter: invert(1) hue-rotate(180deg) !important; }}</style>"
)
PAPER = (
    'class="rnncourse-figure" style="background: white; color-scheme: light; '  # and more of the style, and the quote
)


def in_the_dark(colour: str) -> str:
    """What a dark page makes of a colour: CSS's invert(1) and then hue-rotate(180deg), as the standard defines them.

    >>> in_the_dark("#FFFFFF"), in_the_dark(INK)
    ('#000000', '#dddddd')
    """
    red, green, blue = (0.213, 0.715, 0.072)
    rotation = np.array(
        [
            [2 * red - 1, 2 * green, 2 * blue],
            [2 * red, 2 * green - 1, 2 * blue],
            [2 * red, 2 * green, 2 * blue - 1],
        ]
    )
    return str(to_hex(np.clip(rotation @ (1 - np.array(to_rgb(colour))), 0, 1)))


def readable(colour: str) -> str:
    """The shade of one of the course's colours in which text is written.

    >>> readable(COLOURS["U"]) == COLOURS["U"], readable(COLOURS["V"])
    (True, '#007D5B')
    """
    return FOR_TEXT.get(colour, colour)


@contextmanager
def style() -> Iterator[None]:
    """The course's matplotlib settings, for the block under `with`; whatever the user has set is back afterwards.

    Matplotlib looks closely at each value that it is given. A diagram asks for the settings at each of its words, so
    that only what differs is given: a tenth of the time.
    """
    with mpl.rc_context({key: value for key, value in _settings().items() if mpl.rcParams[key] != value}):
        yield


@cache
def _settings() -> dict[Any, Any]:
    """All of matplotlib's settings but that of where a figure is shown, as the course has them."""
    with mpl.rc_context():
        mpl.rcdefaults()
        mpl.rcParams.update(SETTINGS)
        return {key: value for key, value in mpl.rcParams.items() if key != "backend"}


def to_png(figure: Figure, *, transparent: bool = False) -> bytes:
    """`figure` as a PNG on white paper, or on none: the same figure gives the same bytes, without date or version."""
    dpi, ground = figure.dpi, figure.get_facecolor()
    with style():
        canvas = FigureCanvasAgg(figure)
        figure.set(dpi=POINTS_PER_INCH * SHARPNESS, facecolor="none" if transparent else "white")
        canvas.draw()  # type: ignore[no-untyped-call]
        drawn = Image.fromarray(np.array(canvas.buffer_rgba()))  # type: ignore[no-untyped-call]
        figure.set(dpi=dpi, facecolor=ground)
    # a palette is as good to the eye and a quarter of the size; nothing but pixels is saved
    if transparent:
        few = drawn.quantize(PALETTE, Image.Quantize.FASTOCTREE, dither=Image.Dither.NONE)
    else:
        few = drawn.convert("RGB").quantize(PALETTE, dither=Image.Dither.NONE)
    small = io.BytesIO()
    few.save(small, "png", optimize=True)
    return small.getvalue()


def to_svg(*figures: Figure) -> str:
    """`figure` as an SVG, sharp at any size: lines and outlines of letters, no fonts, no date, no version.

    Of several figures of one size what they share stands there once, and each has a layer for the rest (`in_layers`).
    """
    drawings = []
    for figure in figures:
        dpi, ground = figure.dpi, figure.get_facecolor()
        with style():
            figure.set(dpi=IMAGE_DPI, facecolor="none")
            drawings.append(drawn(figure))
            figure.set(dpi=dpi, facecolor=ground)
    return written(in_layers(drawings) if len(drawings) > 1 else drawings[0])


def picture(figure: Figure, alt: str) -> str:
    """`figure` as an <img> that carries all of it, an SVG, or a PNG where that is far smaller; and the style sheet by
    which it follows the page's theme.
    """
    svg = to_svg(figure) if _marks(figure) <= LARGEST_SVG // BYTES_A_MARK else ""
    is_svg = 0 < len(svg) <= LARGEST_SVG
    kind, data = ("svg+xml", svg.encode()) if is_svg else ("png", to_png(figure, transparent=True))
    code = base64.b64encode(data).decode("ascii")
    return (
        f'{THEMES}<img src="data:image/{kind};base64,{code}" width="{_width(figure)}" '
        f'{PAPER}max-width: 100%; height: auto" alt="{html.escape(alt)}">'
    )


def described(figure: Figure, alt: str) -> Figure:
    """`figure`, which now says by itself what there is to see; a figure's function writes that from its own data."""
    figure.set_label(" ".join(alt.split()))
    return figure


def show(figure: Figure, alt: str = "") -> None:
    """Show a figure below a notebook's cell, with words for those who cannot see it; then close it.

    These are the figure's own (`described`), or `alt`: in a sentence or two what there is to see. A ValueError if there
    are none. Outside a notebook the text is printed instead. JupyterLab gives no alt text to a bare image, so the
    picture goes out as an <img>, an SVG; what cannot read that (PDF, nbconvert's classic pages) takes image/png, and
    finds the text in the metadata.
    """
    alt = " ".join(alt.split()) or str(figure.get_label())
    if not alt:
        raise ValueError("A figure needs an alt text: say in a sentence what there is to see, show(figure, alt=...).")
    if "IPython" not in sys.modules or sys.modules["IPython"].get_ipython() is None:
        print(alt)
    else:
        display_picture(figure, alt, picture(figure, alt))
    if "matplotlib.pyplot" in sys.modules:  # a figure made with pyplot would be shown a second time
        sys.modules["matplotlib.pyplot"].close(figure)


def display_picture(figure: Figure, alt: str, page: str) -> None:
    """Hand a notebook `page`, the HTML that shows `figure`, and for those who cannot read that its PNG, and `alt`."""
    from IPython.display import display

    code = base64.b64encode(to_png(figure)).decode("ascii")
    display(
        {"text/html": page, "image/png": code, "text/plain": alt},
        metadata={"image/png": {"alt": alt, "width": _width(figure)}},
        raw=True,
    )


def _marks(figure: Figure) -> int:
    """How many points of lines are drawn as marks."""
    lines = [line for axes in figure.axes for line in axes.get_lines()]
    return sum(np.size(line.get_xdata()) for line in lines if line.get_marker() not in ("", "None", None))


def _width(figure: Figure) -> int:
    """How many pixels wide a figure is shown."""
    return round(figure.get_figwidth() * POINTS_PER_INCH)
