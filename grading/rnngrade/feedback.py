"""Feedback: nbgrader's page for each student and unit, with the judge's verdicts and the gradebook's points.

The page is made from the notebook in `autograded/`, in which nothing runs (`harmless.py`), by nbgrader's own template.
Each exercise shows its card and, if it is not solved, a hint; points, manual grades and comments are those of the
gradebook at this moment. What belongs to the instructor, hidden tests and flags on cells, is not on it.

    write_feedback(desk, "03_cell", ["ada", "alan"])    # feedback/ada/03_cell/03_cell.html, …
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from html import escape
from pathlib import Path
from typing import Any

import nbformat
from nbconvert.exporters import HTMLExporter
from nbconvert.preprocessors import CSSHTMLHeaderPreprocessor
from nbformat import NotebookNode
from traitlets.config.loader import Config

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # nbgrader is imported, not judged
    from nbgrader import utils
    from nbgrader.api import Grade, Gradebook, MissingEntry, SubmittedNotebook
    from nbgrader.converters import GenerateFeedback
    from nbgrader.preprocessors import ClearHiddenTests

from rnngrade.desk import Desk
from rnngrade.errors import Failures
from rnngrade.gradebook import OURS, GradebookError, grade_id_of, open_gradebook
from rnngrade.harmless import NO_MATH, harmless_markdown
from rnngrade.record import ExerciseResult, Record, write_whole

# nbgrader's template is made for a wide window: it keeps a column free for prompts that it does not show.
STYLE = """
body { line-height: 1.5; }
div.prompt, div.output_prompt { display: none; }
div.output_area { display: block; }
div.output_subarea { max-width: 100%; padding: 0.4em 0; overflow-x: auto; }
div.nbgrader_cell .panel-heading { height: auto; overflow: hidden; }
div.nbgrader_cell .panel-heading a { color: inherit; text-decoration: underline; }
div.input_area pre { overflow-x: auto; }
img { max-width: 100%; height: auto; }
section { color: #212121; background: #fff; }
@media (max-width: 40em) {
  .container, div#notebook-container { padding: 0 4px; box-shadow: none; }
  .panel-body { padding: 6px; }
  .panel-heading h4 { font-size: 110%; overflow-wrap: anywhere; }
}
"""
BOX = "border:1px solid #bbb;border-radius:4px;padding:8px 14px;margin:4px 0;max-width:52em;line-height:1.5"


def write_feedback(
    desk: Desk, unit: str, students: Sequence[str] | None = None, failures: Failures | None = None
) -> list[Path]:
    """Write the pages of `students`, by default of all who are graded; returns where they lie.

    Each is written on its own: whose page cannot be is put into `failures`. **Errors:** without `failures`, a
    `DeskError` that names them, after all others are written.
    """
    told = failures or Failures()
    if students is None:
        students = [record.student for record in desk.graded(unit)]
        desk.tell_unreadable(unit, told)
    exporter = _exporter()
    written = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what nbgrader does to SQLAlchemy and nbconvert is between them
        with open_gradebook(desk) as gradebook:
            for student in students:
                with told.of(student, unit):
                    path = desk.feedback / student / unit / f"{unit}.html"
                    page = _page(exporter, gradebook, *_source(desk, unit, student))
                    # What a student wrote may hold half a surrogate, which no file can.
                    write_whole(path, page.encode("utf-8", "replace"))
                    written.append(path)
                gradebook.db.rollback()  # nothing is written there, and an error would stay for the next
    if failures is None:
        told.end()
    return written


def _source(desk: Desk, unit: str, student: str) -> tuple[Record, NotebookNode]:
    """The record and the graded notebook of a submission."""
    record = desk.record(unit, student)
    path = desk.autograded / student / unit / f"{unit}.ipynb"
    if record is None or not path.is_file():
        raise GradebookError(f"{student}'s {unit} is not graded yet: run `rnngrade run {unit}` first.")
    return record, nbformat.read(path, as_version=4)


def _exporter() -> HTMLExporter:
    """nbgrader's exporter for feedback, with our style after its own."""
    make: Any = HTMLExporter  # nbconvert is typed in part
    exporter: HTMLExporter = make(config=GenerateFeedback(coursedir=None, config=Config()).config)
    header: Any = CSSHTMLHeaderPreprocessor
    register: Any = exporter.register_preprocessor
    for preprocessor in (_clear_hidden_tests, header(), _style):
        register(preprocessor, enabled=True)
    return exporter


def _clear_hidden_tests(notebook: NotebookNode, resources: dict[str, Any]) -> tuple[NotebookNode, dict[str, Any]]:
    """Take the hidden tests out of the instructor's cells. In a student's the marks of one are a text like any other,
    which nbgrader would end at.
    """
    clear: Any = ClearHiddenTests()
    for index, cell in enumerate(notebook.cells):
        if utils.is_grade(cell) and not utils.is_solution(cell):
            clear.preprocess_cell(cell, resources, index)
    return notebook, resources


def _style(notebook: NotebookNode, resources: dict[str, Any]) -> tuple[NotebookNode, dict[str, Any]]:
    resources["inlining"]["css"].append(STYLE)
    return notebook, resources


def _page(exporter: HTMLExporter, gradebook: Gradebook, record: Record, notebook: NotebookNode) -> str:
    unit, student = record.unit, record.student
    try:
        page = gradebook.find_submission_notebook(unit, unit, student)
    except MissingEntry:
        raise GradebookError(f"The gradebook has no grades for {student}'s {unit}: put its record in first.") from None
    grades = {grade.name: grade for grade in page.grades}
    comments = {comment.name: comment.comment for comment in page.comments}
    results = {f"check_{result.name}": result for result in record.exercises}
    notebook.cells = [cell for cell in notebook.cells if cell.metadata.get(OURS) != "findings"]
    for cell in notebook.cells:
        name = grade_id_of(cell)
        if utils.is_solution(cell):
            cell.metadata.nbgrader["comment"] = harmless_markdown(comments.get(name) or "")
        if utils.is_grade(cell):
            cell.metadata.nbgrader["score"] = grades[name].score
            cell.metadata.nbgrader["points"] = grades[name].max_score
            if cell.cell_type == "code":
                cell.outputs.extend(_beside(results.get(name), grades[name]))
    notebook.cells.insert(0, _top(record, page))
    penalty = page.late_submission_penalty or 0.0
    shown = {"student": student, "assignment": unit, "notebook": unit, "late_penalty": penalty}
    shown |= {"score": max(0.0, page.score - penalty), "max_score": page.max_score}
    body, _ = exporter.from_notebook_node(notebook, resources={"nbgrader": shown, "unique_key": unit})
    for result in record.exercises:  # nbgrader's table of contents calls each of them "Test cell"
        link = f'<a href="#check_{result.name}">'
        body = body.replace(f"{link}Test cell</a>", f"{link}<code>{result.name}</code></a>")
    return str(body)


def _beside(result: ExerciseResult | None, grade: Grade) -> list[NotebookNode]:
    """What stands below the judge's card: a hint, and what a person changed."""
    boxes = []
    if result is not None and result.hint and not result.passed:
        boxes.append(("#0277bd", f"<strong>Hint</strong>&ensp;{_code(result.hint)}"))
    if grade.manual_score is not None and grade.manual_score != grade.auto_score:
        boxes.append(("#6a1b9a", f"<strong>Graded by a person</strong>&ensp;{grade.manual_score:g} points"))
    if grade.extra_credit:
        boxes.append(("#6a1b9a", f"<strong>Extra credit</strong>&ensp;{grade.extra_credit:g} points"))
    return [
        nbformat.v4.new_output(
            "display_data",
            data={
                "text/html": f'<div class="{NO_MATH}"><section style="{BOX};border-left:6px solid {colour};'
                f'white-space:pre-wrap">{html}</section></div>'
            },
        )
        for colour, html in boxes
    ]


def _top(record: Record, page: SubmittedNotebook) -> NotebookNode:
    """Whose page it is, what still waits for a person, and what was odd about the file."""
    lines = [f"<strong>{escape(record.student)}</strong>, {escape(record.unit)}"]
    if page.needs_manual_grade:
        lines.append("A person has still to look at some of it: the points may change.")
    lines += [_code(finding.message) for finding in record.findings]
    html = "".join(f"<p>{line}</p>" for line in lines).replace("\n", " ")
    return nbformat.v4.new_markdown_cell(f'<div class="{NO_MATH}">{html}</div>')


def _code(text: str) -> str:
    """Escaped text in which `backticks` are code."""
    pieces = escape(text).split("`")
    if len(pieces) % 2 == 0:
        return escape(text)
    return "".join(f"<code>{piece}</code>" if i % 2 else piece for i, piece in enumerate(pieces))
