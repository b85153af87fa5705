"""The table that looks back on what the course claims about training."""

import re
from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from rnncourse.data.claims import Measured, filled, stems, unit_claims


class ClaimsTable:
    """What the course claims about training, unit by unit, and the figures behind it.

    What one might have expected and what did not come stands first. Below it is a fold for each unit: of each claim
    in how many seeds it held, with Wilson's interval, the median and the range of its number, and what the controls
    gave. Seeds are those of the confirmation, on which nothing was chosen; a unit without such a record says so.
    `measured` is what `make claims` wrote, by stem; nothing in it is written by hand.
    """

    def __init__(self, measured: Mapping[str, Mapping[str, Any]] | None = None) -> None:
        if measured is None:
            measured = {stem: unit_claims(stem) for stem in stems()}
        self.units = [_in_words(stem, file) for stem, file in measured.items()]

    def seeds(self) -> tuple[int, int]:
        """In how many confirmed runs, a claim with a seed, the claims about training held, and of how many."""
        rows = [row for unit in self.units for row in unit["measured"] if row["confirmed"]]
        return sum(row["held"] for row in rows), sum(row["of"] for row in rows)

    def __repr__(self) -> str:
        lines = []
        for unit in self.units:
            lines.append(f"{unit['stem']}: {unit['title']}")
            lines += [f"  {row['borne_out']:<8} {row['expected']}" for row in unit["expected"]]
            for row in unit["measured"]:
                lines.append(f"  {row['held']} of {row['of']:<3} {row['words']} ({row['how_sure']})")
                lines += [f"           {name}: {figure}" for name, figure in (row["figure"], *row["controls"])]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        surprises, folds = [], []
        for unit in self.units:
            link = f'<a href="../{unit["stem"]}/{unit["stem"]}.ipynb">{unit["stem"]}</a>'
            surprises += [
                _row(_marked_up(row["expected"]), link, f"<strong>{row['borne_out']}</strong>", _quoted(row["found"]))
                for row in unit["expected"]
            ]
            rows = [
                _row(
                    f"{_marked_up(row['words'])}<br><small>Measured: {_marked_up(row['measure'])}.</small>",
                    f'<strong style="white-space:nowrap">{row["held"]} of {row["of"]}</strong>'
                    f"<br><small>{row['how_sure']}</small>",
                    _figure(*row["figure"]),
                    "".join(_figure(*control) for control in row["controls"]),
                )
                for row in unit["measured"]
            ]
            if rows:
                caption = f"Measured for {link}. A figure is the median over the seeds and, in brackets, the range."
                heads = "claim", "held in", "figure", "controls: the cause removed, or another one varied"
                summary = f"{unit['stem']}: {escape(unit['title'])} ({len(rows)})"
                table = _table(rows, *heads, caption=caption)
                folds.append(f'<details style="margin:0.4em 0"><summary>{summary}</summary>{table}</details>')
        heads = "what one might have expected", "unit", "borne out", "what the notebook found"
        expected = _table(surprises, *heads, caption="What did not come, or not quite.") if surprises else ""
        return f'<div style="max-width:60em">{expected}{"".join(folds)}</div>'


def _in_words(stem: str, file: Mapping[str, Any]) -> dict[str, Any]:
    """All that is known of a unit's claims, the numbers in words."""
    measured = []
    for claim in file["claims"]:
        experiment = file["experiments"][claim["experiment"]]
        numbers = Measured(experiment["measure"], experiment["values"])
        figure, *controls = (
            (f"{setting}, {number}", numbers.quote(setting, number, _format(numbers.values[setting][number])))
            for setting, number in (claim["figure"], *claim["controls"])
        )
        words = filled(claim["words"], stem)
        words = words[:1].upper() + words[1:]
        said = {"words": words, "measure": filled(experiment["measure"], stem), "figure": figure, "controls": controls}
        confirmed = "seeds" in experiment
        low, high = claim.get("interval", (0, 1))
        how_sure = f"{low:.0%} to {high:.0%}" if confirmed else "on the seeds that it was chosen on"
        measured.append(said | {"held": claim["held"], "of": claim["of"], "confirmed": confirmed, "how_sure": how_sure})
    expected = [row | {"found": filled(row["found"], stem)} for row in file["expectations"]]
    return {"stem": stem, "title": file["title"], "expected": expected, "measured": measured}


def _format(values: Sequence[float]) -> str:
    """With how many digits numbers are told: counts and large ones whole, small ones by their first digit.

    >>> [_format(values) for values in ([0.25, 1.0], [9.0, 12.0], [33520.0], [0.0003, 0.0])]
    ['.2f', '.0f', ',.0f', '.1g']
    """
    largest = max(map(abs, values))
    if largest >= 100:
        return ",.0f"
    if largest > 1 and all(float(value).is_integer() for value in values):
        return ".0f"
    return ".1g" if 0 < largest < 0.01 else ".2f"


def _figure(name: str, figure: str) -> str:
    return f'<div style="margin-bottom:0.4em"><small>{_marked_up(name)}</small><br>{figure}</div>'


def _marked_up(text: str) -> str:
    """A claim as HTML: its code as code, its formulas left to the page."""
    return re.sub("`([^`]*)`", r"<code>\1</code>", escape(text))


def _quoted(words: str) -> str:
    """Words of a notebook, with dots where they begin or end within a sentence."""
    return ("… " if words[0].islower() else "") + _marked_up(words) + ("" if words.endswith((".", "?", "!")) else " …")


def _row(first: str, *cells: str) -> str:
    place = 'style="text-align:left;vertical-align:top;font-weight:normal"'
    return f'<tr><th scope="row" {place}>{first}</th>' + "".join(f"<td {place}>{cell}</td>" for cell in cells) + "</tr>"


def _table(rows: Sequence[str], *heads: str, caption: str) -> str:
    head = "".join(f'<th scope="col" style="text-align:left">{name}</th>' for name in heads)
    caption = f'<caption style="text-align:left;caption-side:top">{caption}</caption>'
    return f"<table>{caption}<thead><tr>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table>"
