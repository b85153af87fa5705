"""The pictures: the same bytes twice, named axes, alt text that reaches the reader, nothing set globally."""

import functools
import re
from base64 import b64decode
from html.parser import HTMLParser
from io import BytesIO
from pathlib import Path
from xml.etree import ElementTree

import matplotlib as mpl
import nbformat
import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.text import Text
from PIL import Image

from rnncourse import exercises, plots
from rnncourse.data import digit_image
from rnncourse.plots.attention import attention_arrows
from rnncourse.plots.bidirectional import two_chains
from rnncourse.plots.cell import graphical_models
from rnncourse.plots.films import scan_film
from rnncourse.plots.gates import gru_cell, lstm_cell
from rnncourse.plots.heads import five_architectures
from rnncourse.plots.project import three_parts
from rnncourse.plots.scans import scan_beside_loop
from rnncourse.plots.style import COLOURS, CYCLE, INK, MUTED, in_the_dark, picture, readable
from rnncourse.plots.unfolding import pond_cloud
from tests.fresh import in_a_fresh_python
from tests.sampling import some

ROOT = Path(__file__).resolve().parents[3]
SENTENCE = ["I", "am", "studying", "medicine", "at", "UBC", "because", "I", "want", "to", "work", "as", "a", "doctor"]
TIMES = np.arange(8)
WRITTEN_IN = [INK, MUTED, *(COLOURS[n] for n in COLOURS if n != "faint"), *(look["color"] for look in CYCLE)]

DIAGRAMS = {
    "folded_unfolded": plots.folded_unfolded,
    "folded_unfolded, absolute times": lambda: plots.folded_unfolded(4, relative=False, outputs=False),
    "folded_unfolded, one step": lambda: plots.folded_unfolded(1, relative=False),
    "dynamical_system, one step": lambda: plots.dynamical_system(1, driven=True),
    "loss_graph, one step": lambda: plots.loss_graph(1, backward=True),
    "dynamical_system": plots.dynamical_system,
    "dynamical_system, driven": lambda: plots.dynamical_system(4, driven=True),
    "mlp_beside_cell": plots.mlp_beside_cell,
    "cell_inside": plots.cell_inside,
    "graphical_models": graphical_models,
    "sliding_window": lambda: plots.sliding_window(SENTENCE, 5, [5, 13], {3: "decides the last word"}),
    "loss_graph": plots.loss_graph,
    "loss_graph, backward": lambda: plots.loss_graph(backward=True),
    "backward_arrows": plots.backward_arrows,
}

# Diagrams of single units, whose words may touch: each is a drawing on axes of its own.
OF_UNITS = {
    "attention_arrows": lambda: attention_arrows([0.5, 0.5], "ab"),
    "attention_arrows, six": lambda: attention_arrows([0.1, 0.2, 0.3, 0.2, 0.1, 0.1], "abcdef"),
    **{f"scan_beside_loop, {n}": lambda n=n: scan_beside_loop(n) for n in (1, 2, 7)},
    **{f"two_chains, {n}, {s}": lambda n=n, s=s: two_chains(n, summary=s) for n in (1, 2, 5) for s in (False, True)},
    "lstm_cell": lstm_cell,
    "gru_cell": gru_cell,
    "five_architectures": five_architectures,
    "three_parts": three_parts,
}

CHARTS = {
    "line_chart": lambda: plots.line_chart(TIMES, {"a": TIMES, "b": -TIMES}, xlabel="t", ylabel="height (m)"),
    "perplexity_chart": lambda: plots.perplexity_chart(range(1, 4), {"train": [50, 9, 2], "held out": [60, 30, 90]}),
    "cost_chart": lambda: plots.cost_chart([10, 20, 40], {"forward": [1.0, 2.0, 4.0]}, ylabel="time (ms)"),
    "state_heatmap": lambda: plots.state_heatmap(np.sin(np.arange(40.0).reshape(8, 5)), "unfolded"),
    "dependence_grid": lambda: plots.dependence_grid({"recurrence": TIMES[:, None] >= TIMES}),
    "image_rows": lambda: plots.image_rows(digit_image()),
}


class Images(HTMLParser):
    """The attributes of every <img> of a page."""

    def __init__(self, page):
        super().__init__()
        self.found = []
        self.feed(page)

    def handle_starttag(self, tag, attributes):
        if tag == "img":
            self.found.append(dict(attributes))


def contrast(colour, ground="white"):
    """The contrast of a colour with its ground, as WCAG 2 defines it."""
    linear = [
        [v / 12.92 if v <= 0.03928 else ((v + 0.055) / 1.055) ** 2.4 for v in to_rgb(c)] for c in (colour, ground)
    ]
    dark, light = sorted(np.array(linear) @ [0.2126, 0.7152, 0.0722])
    return (light + 0.05) / (dark + 0.05)


def inside(box, figure):
    """Whether a box lies on the sheet of the figure, both in pixels."""
    return min(box.x0, box.y0) >= 0 and box.x1 <= figure.bbox.x1 and box.y1 <= figure.bbox.y1


@functools.cache
def drawn(name):
    """A picture, drawn once for all tests."""
    figure = {**DIAGRAMS, **CHARTS}[name]()
    with plots.style():
        FigureCanvasAgg(figure).draw()
    return figure


def missing(svg):
    """What an SVG refers to and does not have."""
    return set(re.findall(r"(?:url\(|href=\")#([^\")]+)", svg)) - set(re.findall(r'id="([^"]+)"', svg))


def test_a_hatched_drawing_has_the_pattern_that_it_refers_to_and_its_colours():
    figure = Figure()
    figure.subplots().bar([1], [1], color="#bada55", edgecolor="#c0ffee", hatch="///")
    svg = plots.to_svg(figure)
    assert missing(svg) == set()
    assert "<pattern" in svg
    assert {"#bada55", "#c0ffee"} <= set(re.findall(r"#\w{6}", svg))


@pytest.mark.parametrize("name", some([*DIAGRAMS, *CHARTS], 4))
def test_a_picture_has_no_paper_of_its_own_needs_nothing_from_outside_and_is_the_same_bytes_twice(name):
    draw = {**DIAGRAMS, **CHARTS}[name]
    figure, png = drawn(name), plots.to_png(draw())
    svg = plots.to_svg(draw())
    assert plots.to_svg(draw()) == svg
    assert len(svg) < 80_000
    assert list(sheets(svg)) == []
    assert not re.search(r"<text|<metadata|<!--|href=\"[^#d]", svg)
    sheet = ElementTree.fromstring(svg).get("viewBox").split()
    assert [float(side) for side in sheet[2:]] == pytest.approx(72 * figure.get_size_inches())
    assert plots.to_png(draw()) == png
    image = Image.open(BytesIO(png))
    assert image.width <= 2 * 900  # no wider than a notebook
    assert image.width % 2 == 0
    assert not image.info.keys() & {"Software", "Creation Time", "Date"}


def sheets(svg):
    """What is filled in an SVG and covers most of it: the fills. (`svg.written` makes lines from point to point.)"""
    _, _, width, height = map(float, ElementTree.fromstring(svg).get("viewBox").split())
    fills = dict(re.findall(r"\.(\w+)\{fill:(#\w+)", svg))
    for lines, look in re.findall(r'<path d="M([-\d. l]*)z?"[^>]*class="([^"]*)"', svg):
        numbers = re.findall(r"-?(?:\d+(?:\.\d+)?|\.\d+)", lines)
        points = np.cumsum(np.array(numbers, float).reshape(-1, 2), axis=0)
        if look in fills and np.prod(np.ptp(points, axis=0)) > 0.5 * width * height:
            yield fills[look]


@functools.cache
def pictures_of(unit):
    """All pictures of a unit's built solution, as (kind, bytes)."""
    notebook = nbformat.read(ROOT / "solutions" / unit / f"{unit}.ipynb", 4)
    pages = [o.get("data", {}).get("text/html", "") for cell in notebook.cells for o in cell.get("outputs", [])]
    images = [image for page in pages if "<img" in page for image in Images(page).found]
    sources = [image["src"] for image in images if image.get("class") == "rnncourse-figure"]
    parts = [source.removeprefix("data:image/").partition(";base64,") for source in sources]
    return [(kind, b64decode(code)) for kind, _, code in parts]


@pytest.mark.parametrize("unit", exercises.SYLLABUS)
def test_a_picture_of_a_unit_has_all_that_it_refers_to(unit):
    """Or bars that are hatched are not seen: the build does not know that how they are drawn has changed."""
    for svg in [data.decode() for kind, data in pictures_of(unit) if kind != "png"]:
        assert missing(svg) == set()
        strokes = dict(re.findall(r"\.(\w+)\{[^}]*stroke:(#\w+)", svg))
        for ground, look in re.findall(r'<pattern[^>]*><rect [^>]*fill="(#\w+)"/><path [^>]*class="(\w+)"', svg):
            assert strokes[look] != ground


@pytest.mark.parametrize("unit", exercises.SYLLABUS)
def test_no_picture_of_a_unit_is_a_white_box_on_a_dark_page(unit):
    """Of every unit that was built since pictures are transparent. (`make notebooks FORCE=1` builds them all.)"""
    for kind, data in pictures_of(unit):
        if kind == "png":
            assert np.asarray(Image.open(BytesIO(data)).convert("RGBA"))[0, 0, 3] == 0
        else:
            # the ground of a cell's inside is a light grey, which a dark theme turns dark with all else
            assert [fill for fill in sheets(data.decode()) if fill != "#fafafa"] == []


@pytest.mark.parametrize("unit", exercises.SYLLABUS)
def test_all_text_in_a_picture_of_a_unit_can_be_read_on_a_phone(unit):
    """On a screen of 390 pixels it is six of them high, or more. (A letter is drawn in hundredths of its size.)

    Of every unit that was built since pictures are written by `svg.written`.
    """
    for kind, data in pictures_of(unit):
        if kind != "png" and b"scale(.15625)" in data:
            width = float(ElementTree.fromstring(data).get("viewBox").split()[2])
            sizes = [100 * float(size) for size in re.findall(r"scale\((0?\.\d+) -0?\.\d+\)", data.decode())]
            assert min(sizes, default=12) * min(1, 390 / width) >= 6


def test_a_sheet_of_paper_would_be_seen():
    with mpl.rc_context({"axes.facecolor": "white"}):
        figure = Figure()
        figure.add_axes((0, 0, 1, 1)).axis("off")
        figure.axes[0].fill([0, 1, 1, 0], [0, 0, 1, 1], "white")
        figure.axes[0].set(xlim=(0, 1), ylim=(0, 1))
    assert list(sheets(plots.to_svg(figure))) == ["#ffffff"]


def test_what_would_be_a_large_svg_is_shown_as_pixels():
    noise = np.random.default_rng(0).normal(size=(2, 3_000))
    figure = pond_cloud(noise[0], noise[1:])
    assert '<img src="data:image/png;base64,' in picture(figure, "Noise.")
    assert '<img src="data:image/svg+xml;base64,' in picture(plots.cell_inside(), "A cell.")


@pytest.mark.parametrize("name", DIAGRAMS)
def test_nothing_in_a_diagram_reaches_beyond_the_sheet_and_no_two_labels_touch(name):
    figure = drawn(name)
    renderer = figure.canvas.get_renderer()
    boxes = [text.get_window_extent(renderer) for text in figure.axes[0].texts if text.get_text()]
    for i, box in enumerate(boxes):
        assert inside(box, figure)
        assert not any(box.overlaps(other) for other in boxes[:i])


@pytest.mark.parametrize("name", OF_UNITS)
def test_a_diagram_of_a_unit_stays_on_its_sheet(name):
    figure = OF_UNITS[name]()
    (axes,) = figure.axes
    (left, right), (bottom, top) = axes.get_xlim(), axes.get_ylim()
    boxes = [patch.get_path().get_extents(patch.get_patch_transform()) for patch in axes.patches]
    for x0, y0, x1, y1 in [*(box.extents for box in boxes), *(2 * text.get_position() for text in axes.texts)]:
        assert left <= x0 <= x1 <= right
        assert bottom <= y0 <= y1 <= top


@pytest.mark.parametrize("name", CHARTS)
def test_a_chart_names_its_axes_and_shows_all_of_its_text(name):
    figure = drawn(name)
    renderer = figure.canvas.get_renderer()
    for axes in figure.axes:
        assert axes.get_xlabel() or axes.get_ylabel()
    first = figure.axes[0]
    assert first.get_xlabel()
    assert first.get_ylabel() or [label.get_text() for label in first.get_yticklabels()] == ["doctor", "lawyer"]
    for text in [*first.texts, first.title, first.xaxis.label, first.yaxis.label]:
        box = text.get_window_extent(renderer)
        assert not text.get_text() or inside(box, figure)


def words_of(axes):
    """The boxes of the names in a chart, without the thin lines that lead to them."""
    renderer = axes.figure.canvas.get_renderer()
    for text in axes.texts:
        text.update_positions(renderer)
    return [Text.get_window_extent(text, renderer) for text in axes.texts]


def test_names_of_lines_that_end_at_one_place_are_moved_apart():
    lines = {name: [1.0, 2.0, 3.0] for name in "abcd"}
    figure = plots.line_chart([1, 2, 3], lines, xlabel="x", ylabel="y")
    plots.to_png(figure)
    boxes = words_of(figure.axes[0])
    assert len(boxes) == 4
    assert not any(a.overlaps(b) for i, a in enumerate(boxes) for b in boxes[:i])


@pytest.mark.parametrize("ends", [(1, 1, 1, 1), (1, 1.02, 1.04, 3), (0, 0, 2, 2), (0, 1, 2, 3)])
def test_a_name_stands_at_its_line_s_end_or_a_thin_line_leads_there(ends):
    lines = {f"line {i}{', and more' * i}".replace(", ", ",\n", 1): [2 - i, i, end] for i, end in enumerate(ends)}
    figure = plots.line_chart([1, 2, 3], lines, xlabel="x", ylabel="y")
    plots.to_png(figure)
    (axes,), moved = figure.axes, 0
    boxes = words_of(axes)
    assert not any(a.overlaps(b) for i, a in enumerate(boxes) for b in boxes[:i])
    for text, (name, values) in zip(axes.texts, sorted(lines.items(), key=lambda line: line[1][-1]), strict=True):
        assert text.get_text() == name
        end = axes.transData.transform((3, values[-1]))
        assert axes.transAxes.transform(text.xy) == pytest.approx(end, abs=1)
        off = abs(axes.transAxes.transform(text.get_position()) - end)[1] * 72 / figure.dpi
        assert (text.arrow_patch is None) == (off <= 6)
        moved += text.arrow_patch is not None
    assert (moved == 0) == (ends == (0, 1, 2, 3))


def test_a_fixed_range_holds_and_names_stand_where_the_lines_end_in_it():
    figure = plots.line_chart([1, 2, 3], {"a": [0.0, 0.1, 0.25]}, xlabel="x", ylabel="y", ylim=(0, 1))
    plots.to_png(figure)
    assert figure.axes[0].get_ylim() == (0, 1)
    assert figure.axes[0].texts[0].get_position()[1] == pytest.approx(0.25)


def test_a_line_that_leaves_the_chart_for_infinity_still_has_its_name():
    lines = {"smoothed": [5.0, 6.0, 8.0], "not smoothed": [4.0, 9.0, np.inf], "never seen": [np.nan, np.inf, np.inf]}
    figure = plots.perplexity_chart([1, 2, 3], lines)
    plots.to_png(figure)
    boxes = words_of(figure.axes[0])
    assert len(boxes) == 3
    assert all(inside(box, figure) for box in boxes)
    assert not any(a.overlaps(b) for i, a in enumerate(boxes) for b in boxes[:i])


@pytest.mark.parametrize("power", [0.5, 1.0, 2.0])
def test_the_slope_on_two_log_scales_is_the_power(power):
    steps = np.array([10, 20, 40, 80])
    assert plots.loglog_slope(steps, 0.3 * steps**power) == pytest.approx(power)
    figure = plots.cost_chart(steps, {"time": 0.3 * steps**power}, ylabel="time (ms)")
    assert figure.axes[0].texts[0].get_text() == f"time\nslope {power:.2f}"


def test_lines_differ_in_colour_and_in_marker_and_in_dash():
    for key in ("color", "marker", "linestyle"):
        assert len({str(look[key]) for look in CYCLE}) == len(CYCLE)


def test_every_colour_that_text_is_written_in_stands_out_from_white():
    for colour in WRITTEN_IN:
        assert contrast(readable(colour)) >= 4.5


@pytest.mark.parametrize("paper", ["#111111", "#121212", "#1e1e1e"])  # JupyterLab's, the site's, VS Code's
def test_every_colour_that_text_is_written_in_stands_out_from_a_dark_page_as_well(paper):
    for colour in WRITTEN_IN:
        assert contrast(in_the_dark(readable(colour))) * 4.5 <= contrast(paper), colour


def test_settings_of_the_user_are_neither_used_nor_changed():
    plain = plots.to_png(plots.cell_inside())
    with mpl.rc_context({"font.size": 33, "lines.linewidth": 9, "text.color": "red"}):
        before = dict(mpl.rcParams)
        assert plots.to_png(plots.cell_inside()) == plain
        assert dict(mpl.rcParams) == before


@pytest.mark.parametrize("alt", ["", "  \n"])
def test_a_picture_without_alt_text_is_refused(alt):
    with pytest.raises(ValueError, match="needs an alt text"):
        plots.show(Figure(), alt)


def test_outside_a_notebook_the_alt_text_is_printed(capsys):
    figure, alt = plots.backward_arrows(), "Two arrows\n  into dh_t."
    plots.show(figure, alt)
    plots.explore(plots.backward_arrows, figure, alt)
    scan_film(2).show(alt)
    assert capsys.readouterr().out == 3 * "Two arrows into dh_t.\n"


@pytest.mark.parametrize(
    ("template", "kinds"),
    [
        ("lab", ["text/html", "image/png", "text/plain"]),
        ("classic", ["image/png", "text/plain"]),
    ],
)
def test_alt_text_and_width_reach_the_page_in_either_form_of_the_picture(shown, template, kinds):
    import nbformat
    from nbconvert import HTMLExporter

    alt = 'The "circuit" <h> & its graph'
    figure = plots.folded_unfolded()
    plots.show(figure, alt)
    [(data, metadata)] = shown
    output = nbformat.v4.new_output("display_data", {kind: data[kind] for kind in kinds}, metadata=metadata)
    cell = nbformat.v4.new_code_cell("show(figure)", outputs=[output])
    page, _ = HTMLExporter(template_name=template).from_notebook_node(nbformat.v4.new_notebook(cells=[cell]))
    [image] = Images(page).found
    assert image["alt"] == alt
    assert int(image["width"]) == round(figure.get_figwidth() * 72)
    assert image["src"].startswith("data:image/svg+xml;base64," if template == "lab" else "data:image/png;base64,")
    assert data["text/plain"] == alt


def test_a_figure_of_pyplot_is_closed_when_it_has_been_shown(shown):
    import matplotlib.pyplot as plt

    figure = plt.figure()
    plots.show(figure, "Nothing yet.")
    assert not plt.fignum_exists(figure.number)
    assert len(shown) == 1


def test_importing_the_pictures_sets_nothing_and_brings_in_no_pyplot():
    code = (
        "import sys, matplotlib as m; before = dict(m.rcParams); import rnncourse.plots; "
        "assert dict(m.rcParams) == before; assert 'matplotlib.pyplot' not in sys.modules; "
        "assert 'torch' not in sys.modules"
    )
    in_a_fresh_python(code)
