"""The executed notebook as whoever grades looks at it in formgrader: harmless, with what the judge found."""

import warnings
from collections.abc import Iterable, Mapping
from typing import Any

import nbformat
from nbformat import NotebookNode

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # nbgrader is imported, not judged
    from nbgrader import utils

from rnncourse.checks.verdict import Verdict
from rnngrade.core.record import ExerciseResult, Record
from rnngrade.gradebook.harmless import NO_MATH, harmless_notebook, literally
from rnngrade.grading.outputs import new_output


def to_show(record: Record, executed: NotebookNode, known: Iterable[str]) -> NotebookNode:
    """The executed notebook as a person may look at it: harmless, with the judge's cards, and with what was found.

    Of the notebook, only what the student wrote and showed is believed; what a check cell shows is made from the
    record. `known` are the unit's own texts.
    """
    notebook = harmless_notebook(executed, known)
    results = {f"check_{result.name}": result for result in record.exercises}
    for cell in notebook.cells:
        grade_id = grade_id_of(cell)
        if cell.cell_type == "code" and utils.is_grade(cell):
            cell.outputs = _verdict(grade_id, results.get(grade_id), float(cell.metadata.nbgrader["points"]))
    if record.findings:
        notebook.cells.insert(0, _findings(record))
    nbformat.validate(notebook)
    return notebook


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


def _verdict(grade_id: str, result: ExerciseResult | None, max_points: float) -> list[NotebookNode]:
    """What a check cell shows: the points, by which nbgrader would grade it, and the card."""
    if result is None:
        name = grade_id.removeprefix("check_")
        result = ExerciseResult(name, "missing", 0.0, max_points, False, "There was nothing here to grade.")
    data = {"text/plain": f"{result.points:g}", "text/html": card_of(result)}
    return [new_output("execute_result", data=data, metadata={}, execution_count=None)]


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
