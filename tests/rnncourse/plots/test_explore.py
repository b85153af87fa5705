"""Sliders: outside a notebook the still alone; in one a picture for each of their positions, drawn beforehand."""

import re

from rnncourse import plots
from rnncourse.plots import Slider, explore
from rnncourse.plots.explore import _lay_out_alike

SHARE = Slider("share of yes", 0.0, 1.0, 0.5, step=0.5)
ODDS = Slider("odds", 1, 2, 2, step=1)


def chart(share, odds=1.0):
    return plots.line_chart([0, 1], {"yes": [0, share]}, xlabel="x", ylabel="y", title=f"odds {odds:g}")


def test_there_is_a_layer_and_a_caption_for_each_position_of_all_sliders(shown):
    explore(chart, chart(0.5), "A line.", share=SHARE, odds=ODDS)
    ((output, _),) = shown
    assert output["text/plain"] == "A line."
    still, frame = output["text/html"].split("<iframe ")
    assert 'alt="A line."' in still
    assert frame.startswith('title="Sliders: share of yes, odds"')
    captions = re.findall(r"<li>(.*?)</li>", frame)
    assert captions == [chart(share).get_label() for share in (0, 0.5, 1) for _ in (1, 2)]
    layers = {tuple(map(int, found)) for found in re.findall(r"id='seen-(\d+)-(\d+)-\d+'", frame)}
    for moment in range(len(captions)):
        assert any(first <= moment < until for first, until in layers)
    assert {(moment, moment + 1) for moment in range(len(captions))} <= layers  # the title, which says the odds
    assert {(moment, moment + 2) for moment in range(0, len(captions), 2)} <= layers  # the line, which is alike in two
    (start,) = set(re.findall(r"value=&quot;1&quot; aria-label=&quot;(.*?)&quot;", frame)) - {"odds"}
    assert start == "share of yes"


def test_what_the_pictures_share_stands_there_once():
    def draw(end):
        lines = {"a": [0, end]} | ({"b": [0, 0.5]} if end != 0.5 else {})
        return plots.line_chart([0, 1], lines, xlabel="x", ylabel="y", ylim=(0, 1))

    figures = [draw(k / 4) for k in range(5)]
    _lay_out_alike(figures)
    assert len(plots.to_svg(*figures)) < 3 * len(plots.to_svg(draw(0.5)))
