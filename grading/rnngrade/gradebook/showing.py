"""The executed notebook as whoever grades looks at it, in formgrader or JupyterLab: with what the judge found, and so
that it runs nothing in the browser of that person.

There, whatever HTML stands in an output or in a written answer is live, and formgrader's page can do all that the
instructor can. Metadata are the release's own (`reading/intake.py`), and of outputs there are text and pictures alone
(`grading/outputs.py`). What is left is what a student wrote, and what the judge says:

- A written answer stays as it is if it has neither HTML nor links, entities and commands of TeX. Else it is rendered as
  on the feedback page (`core/text.py`), with its tags as text and its formulas as MathML. That HTML, on one line, takes
  its place in the cell, and MathJax leaves it alone.
- What a check cell shows is made from the record.
- Names, ids and messages go into Markdown letter by letter (`literally`).
"""

import warnings
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

import nbformat
from nbformat import NotebookNode

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # nbgrader is imported, not judged
    from nbgrader import utils

from rnncourse.checks.verdict import Verdict
from rnngrade.core.errors import DeskError
from rnngrade.core.record import MISSING, ExerciseResult, Record
from rnngrade.core.text import markdown
from rnngrade.grading.outputs import verdict_output

MOST_HTML = 300_000  # bytes of an answer

NO_MATH = "tex2jax_ignore mathjax_ignore"  # by these names, MathJax 2 and 3 know what to leave alone

# without one of these, neither HTML nor a link can come of Markdown, nor more than letters of a formula
_MARKS = ("<", "](", "]:", "&", "\\")


def cells_of(path: Path) -> list[NotebookNode]:
    """The cells of a notebook as the desk keeps it. **Errors:** `DeskError` if it is none any more."""
    try:
        return list(nbformat.v4.reads(path.read_text(encoding="utf-8"))["cells"])
    except (OSError, ValueError, LookupError, TypeError, AttributeError):
        raise DeskError(f"{path} is no notebook any more: grade it again, with 'rnngrade run --force'.") from None


def to_show(record: Record, executed: NotebookNode, known: Collection[str]) -> NotebookNode:
    """A copy of the executed notebook as a person may look at it. `known` are the unit's own texts, which stay."""
    notebook = nbformat.from_dict(executed)
    results = {result.name: result for result in record.exercises}
    for cell in notebook.cells:
        grade_id = grade_id_of(cell)
        if cell.cell_type == "markdown" and cell.source not in known:
            cell.source = harmless_markdown(cell.source)
        elif cell.cell_type == "code" and utils.is_grade(cell):
            name, most = grade_id.removeprefix("check_"), float(cell.metadata.nbgrader["points"])
            nothing = ExerciseResult(name, MISSING, 0.0, most, False, "There was nothing here to grade.")
            result = results.get(name, nothing)
            cell.outputs = [verdict_output(result.points, card_of(result))]
    if record.findings:
        notebook.cells.insert(0, _findings(record))
    return notebook


def harmless_markdown(source: str) -> str:
    """Markdown that says what `source` says, without HTML, pictures from elsewhere, and links that run code.

    >>> harmless_markdown("The state is $h_t$, **not** `x_t`.")
    'The state is $h_t$, **not** `x_t`.'
    >>> harmless_markdown("the <eos> token")
    '<div class="tex2jax_ignore mathjax_ignore"><p>the &lt;eos&gt; token</p></div>'
    """
    if not any(mark in source for mark in _MARKS):
        return source
    # On one line, the HTML is one block of Markdown; in <pre>, a line break by its number is a line break still.
    return f'<div class="{NO_MATH}">{"&#10;".join(markdown(source, MOST_HTML).splitlines())}</div>'


def literally(text: str) -> str:
    """Text for HTML that stands in Markdown, or for Markdown: shown letter by letter, on one line, whatever it holds.
    MathJax leaves it alone.

    All but letters, digits and spaces are written by their numbers, which neither Markdown nor HTML takes for marks.

    >>> literally("a_b\\r\\r<i>")
    '<span class="tex2jax_ignore mathjax_ignore">a&#95;b  &#60;i&#62;</span>'
    """
    letters = (c if c.isalnum() or c == " " else f"&#{ord(c)};" if c.isprintable() else " " for c in text)
    return f'<span class="{NO_MATH}">{"".join(letters)}</span>'


def grade_id_of(cell: Mapping[str, Any]) -> str:
    """The name by which nbgrader knows a cell, or nothing."""
    return str(cell.get("metadata", {}).get("nbgrader", {}).get("grade_id", ""))


def card_of(result: ExerciseResult) -> str:
    """The verdict on an exercise as HTML, in which MathJax finds nothing to set."""
    card = result.card
    if not card:
        share = result.points / result.max_points if result.max_points else 0.0
        name, passed, points, most = result.name, result.passed, result.points, int(result.max_points)
        card = Verdict(name, passed, share, points, most, result.message, result.diagnosis, result.criteria).card()
    return f'<div class="{NO_MATH}">{card}</div>'


def _findings(record: Record) -> NotebookNode:
    """A cell for formgrader, which feedback leaves out: what is odd about a submission, flags first."""
    lines = [
        f"<li>{'⚑ ' if finding.for_person else ''}{literally(finding.message)}"
        f"{f' <em>({literally(finding.cell)})</em>' if finding.cell else ''}</li>"
        for finding in sorted(record.findings, key=lambda finding: not finding.for_person)
    ]
    html = f"<div><strong>Found in this submission</strong><ul>{''.join(lines)}</ul></div>"
    cell = nbformat.v4.new_markdown_cell(html, metadata={"rnngrade": "findings"})
    cell.id = "rnngrade-findings"
    return cell
