"""An answer's own text with lines marked: for a card, and for a terminal.

>>> print(listing("def double(x):\\n    return x * 3\\n", (2,)))
     1  def double(x):
 ->  2      return x * 3

What is far from a marked line is left out.
"""

from collections.abc import Collection
from html import escape

AROUND = 2  # lines that are shown before and behind a marked one
ALL = 12  # lines that are shown of an answer however far they are


def listing(source: str, marked: Collection[int]) -> str:
    """The text, a line of it in each line, those that are marked with an arrow."""
    rows = []
    for number, line in _shown(source, marked):
        if number is None:
            rows.append("     ⋮")
        else:
            rows.append(f" {'->' if number in marked else '  '} {number:2}  {line}".rstrip())
    return "\n".join(rows)


def listing_html(source: str, marked: Collection[int]) -> str:
    """The same as HTML that takes its colours from the reader's theme. A marked line is said to be one in words."""
    rows = []
    for number, line in _shown(source, marked):
        if number is None:
            rows.append('<span style="display:block;padding-left:3.2em">⋮</span>')
            continue
        is_marked = number in marked
        text = f'<span style="opacity:0.75">{number:>3}</span>  {escape(line)}'
        if is_marked:
            arrow = f'<span role="img" aria-label="Here, in line {number}:">→</span>'
            rows.append(f'<mark style="display:block;{_MARKED}">{arrow}{text}</mark>')
        else:
            rows.append(f'<span style="display:block"> {text}</span>')
    style = "margin:6px 0;padding:6px 8px;overflow-x:auto;line-height:1.5;font-size:85%;background:transparent"
    colour = "color:inherit;border:1px solid #999;border-color:var(--jp-border-color2, #999);border-radius:4px"
    font = "font-family:var(--jp-code-font-family, monospace)"
    label = "your answer, with the place marked"
    return f'<pre aria-label="{label}" tabindex="0" style="{style};{colour};{font}">{"".join(rows)}</pre>'


# A colour that lies over light and dark grounds alike, with an edge for who sees no colours.
_MARKED = "background:rgba(255, 167, 38, 0.28);color:inherit;font-weight:bold"


def _shown(source: str, marked: Collection[int]) -> list[tuple[int | None, str]]:
    """The lines to show with their numbers; None stands for lines that are left out."""
    lines = source.rstrip("\n").splitlines()
    first = next((number for number, line in enumerate(lines, 1) if line.strip()), 1)
    is_short = len(lines) - first < ALL
    rows: list[tuple[int | None, str]] = []
    for number, line in enumerate(lines[first - 1 :], first):
        if number == first or is_short or any(abs(number - one) <= AROUND for one in marked):
            rows.append((number, line))
        elif not rows or rows[-1][0] is not None:
            rows.append((None, ""))
    return rows
