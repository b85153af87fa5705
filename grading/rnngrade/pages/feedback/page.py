"""What stands on a student's page, in the order in which a student wants to know it: `page.html` shows it.

The page is one file, needs no network, runs nothing, follows the reader's theme, fits a phone and prints. Its content
security policy allows its own style sheet and nothing else. Jinja escapes all that is put into the template, and
`text.py` makes all HTML that is.

Of hidden cases there is nothing here: what a verdict says is the judge's business (`rnncourse/checks/engine.py`), and
of what the notebook printed only that is shown which came before the first check. A cell below it may have printed
what an answer was asked there.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import jinja2
from markupsafe import Markup

from rnncourse import exercises
from rnngrade.core.record import ExerciseResult, Record
from rnngrade.core.text import code, cut, lesson, markdown, marked_code, prose
from rnngrade.gradebook.marks import Mark, Marks, digest_of
from rnngrade.gradebook.showing import grade_id_of
from rnngrade.pages.templates import templates

# Bytes that may be taken on a page; all of it without the notebook stays below 300 kB.
MOST = {"code": 100_000, "comments": 50_000, "messages": 50_000}  # of all exercises together
CELL = 20_000
NOTEBOOK = 400_000
MOST_FINDINGS = 20

HERE = Path(__file__).parent
_NOTHING = Markup()
_HEADING = re.compile(r"^#+ (Exercise [\d.]+) · `(\w+)`", re.MULTILINE)


@dataclass
class Block:
    """One exercise, or one written question, on the page: what the judge said of it, if it was not passed, and the
    student's own answer. `number` is what the unit's text calls it.
    """

    name: str
    number: str
    mark: Mark
    comment: str
    said: ExerciseResult | None
    source: str
    is_written: bool

    @property
    def where(self) -> dict[str, Any]:
        """Where it goes wrong, if that is known, in the source of which the lines are."""
        found = (self.said.where if self.said else None) or {}
        return {"source": self.source.strip("\n"), "lines": (), "part": None, "message": ""} | found


@dataclass(frozen=True)
class Cell:
    kind: str  # "text", "code", "check", "cut"
    text: Markup
    output: Markup = _NOTHING
    name: str = ""


def page(record: Record, marks: Marks, cells: Sequence[dict[str, Any]], *, is_open: bool = False) -> str:
    """A student's page on a unit, as HTML. `cells` are those of the executed notebook, as JSON has them, which is
    unfolded if `is_open`, as whoever grades wants it.
    """
    sources = {grade_id_of(cell): cell["source"] for cell in cells if grade_id_of(cell)}
    text = "\n".join(cell["source"] for cell in cells if cell.get("cell_type") == "markdown")
    numbers = {found[2]: found[1] for found in _HEADING.finditer(text)}
    results = {f"check_{result.name}": result for result in record.exercises if not result.passed}
    shown = [*(name for name in sources if name in marks.grades), *sorted(marks.grades.keys() - sources.keys())]
    blocks: dict[str, list[Block]] = {"waits": [], "lost": [], "blank": [], "right": []}
    for grade_id in shown:
        name, mark = grade_id.removeprefix("check_"), marks.grades[grade_id]
        number = numbers.get(name, "Written question" if grade_id == name else "")
        comment, source = marks.comments.get(name, ""), sources.get(name, "")
        block = Block(name, number, mark, comment, results.get(grade_id), source, is_written=grade_id == name)
        if mark.waits:
            blocks["waits"].append(block)
        if mark.points is not None:
            is_blank = name in marks.untouched and not mark.points
            kind = "right" if mark.points >= mark.most else "blank" if is_blank else "lost"
            blocks[kind].append(block)
    return _template().render(
        **blocks,
        unit=record.unit,
        title=exercises.unit(record.unit).title if record.unit in exercises.STEMS else record.unit,
        student=record.student,
        marks=marks,
        share=max(1, len(shown)),
        late="" if marks.late.is_unclear else marks.late.words(),
        open_points=sum(block.mark.most for block in blocks["waits"] if block.mark.points is None),
        findings=[finding.message for finding in record.findings[:MOST_FINDINGS]],
        more_findings=max(0, len(record.findings) - MOST_FINDINGS),
        notebook=_notebook(cells, marks),
        digest=digest_of(record, marks),
        is_open=is_open,
    )


def _notebook(cells: Iterable[dict[str, Any]], marks: Marks) -> Iterator[Cell]:
    """The cells one after another, until there is no more room."""
    room, checked = NOTEBOOK, False
    for cell in cells:
        grade_id, source = grade_id_of(cell), cell["source"]
        meta = cell.get("metadata", {})
        if cell.get("cell_type") == "code" and grade_id in marks.grades:
            checked = True
            made = Cell("check", Markup(), name=grade_id.removeprefix("check_"))
        elif cell.get("cell_type") == "code":
            is_open = not checked and "experiment" not in meta.get("tags", [])
            output = code("\n".join(_printed(cell)).strip("\n"), CELL) if is_open else Markup()
            made = Cell("code", code(source, CELL), output)
        elif grade_id:
            made = Cell("text", markdown(source, CELL), name=grade_id)
        else:
            made = Cell("text", lesson(source, 2 * CELL))
        room -= len(made.text) + len(made.output)
        if room < 0:
            yield Cell("cut", Markup())
            return
        yield made


def _printed(cell: Mapping[str, Any]) -> Iterator[str]:
    for output in cell.get("outputs", ()):
        kind = output.get("output_type")
        if kind == "stream":
            yield output["text"]
        elif kind == "error":
            yield "\n".join(output["traceback"])
        elif "text/plain" in output.get("data", {}):
            yield output["data"]["text/plain"]


@cache
def _template() -> jinja2.Template:
    environment = templates(HERE, "style.css")
    environment.filters |= {"prose": prose, "markdown": markdown, "short": lambda value: cut(str(value), 60)}
    environment.globals |= {"most": MOST, "marked_code": marked_code}
    return environment.get_template("page.html")
