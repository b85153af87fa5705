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
from dataclasses import dataclass, field
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
CODE_IN_ALL = 100_000
COMMENTS_IN_ALL = 50_000
MESSAGES_IN_ALL = 50_000
CELL = 20_000
NOTEBOOK = 400_000
MOST_FINDINGS = 20

HERE = Path(__file__).parent
_NOTHING = Markup()
_HEADING = re.compile(r"^#+ (Exercise [\d.]+) · `(\w+)`", re.MULTILINE)


@dataclass
class Block:
    """One exercise, or one written question, on the page."""

    name: str
    number: str
    mark: Mark
    message: Markup = _NOTHING
    hint: Markup = _NOTHING
    comment: Markup = _NOTHING
    table: dict[str, Any] | None = None  # where the answer first differs, `rnncourse.checks.excerpt.Excerpt.plain`
    code: list[tuple[Markup, bool]] = field(default_factory=list)
    lines: tuple[int, ...] = ()
    place: Markup = _NOTHING
    answer: Markup = _NOTHING


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
    numbers = _numbers(cells)
    results = {result.name: result for result in record.exercises}
    shown = [*(name for name in sources if name in marks.grades), *sorted(marks.grades.keys() - sources.keys())]
    share = max(1, len(shown))
    blocks: dict[str, list[Block]] = {"waits": [], "lost": [], "blank": [], "right": []}
    for grade_id in shown:
        name, mark = grade_id.removeprefix("check_"), marks.grades[grade_id]
        block = Block(name, numbers.get(name, "Written question" if grade_id == name else ""), mark)
        if comment := marks.comments.get(name):
            block.comment = markdown(comment, COMMENTS_IN_ALL // share)
        if mark.waits:
            blocks["waits"].append(block)
        if mark.points is None:
            continue
        if mark.points >= mark.most:
            blocks["right"].append(block)
            continue
        is_blank = name in marks.untouched and not mark.points
        blocks["blank" if is_blank else "lost"].append(block)
        result = results.get(name) if grade_id != name else None
        if result and not result.passed:  # what the judge said of it
            block.message = prose(result.message, MESSAGES_IN_ALL // share // 2)
            block.hint = prose(result.hint, MESSAGES_IN_ALL // share // 4)
            block.table = result.table
        if not is_blank:
            _show(block, result, sources.get(name, ""), share, is_code=grade_id != name)
    return _template().render(
        **blocks,
        unit=record.unit,
        title=exercises.unit(record.unit).title if record.unit in exercises.STEMS else record.unit,
        student=record.student,
        marks=marks,
        late="" if marks.late.is_unclear else marks.late.words(),
        open_points=sum(block.mark.most for block in blocks["waits"] if block.mark.points is None),
        findings=[prose(finding.message, 1_000) for finding in record.findings[:MOST_FINDINGS]],
        more_findings=max(0, len(record.findings) - MOST_FINDINGS),
        notebook=_notebook(cells, marks),
        digest=digest_of(record, marks),
        is_open=is_open,
    )


def _numbers(cells: Iterable[dict[str, Any]]) -> dict[str, str]:
    """By which number the unit's text calls an exercise: "Exercise 3.2"."""
    text = "\n".join(cell["source"] for cell in cells if cell.get("cell_type") == "markdown")
    return {found[2]: found[1] for found in _HEADING.finditer(text)}


def _show(block: Block, result: ExerciseResult | None, source: str, share: int, *, is_code: bool) -> None:
    """The student's own answer, with the place where it goes wrong if that is known."""
    most = CODE_IN_ALL // share
    if not is_code:
        block.answer = markdown(source, most)
        return
    where = (result.where if result and not result.passed else None) or {}
    if where.get("source"):  # of which the lines are; a record of an older release has none
        source, block.lines = where["source"], tuple(where["lines"])
    source = source.strip("\n")
    block.place = prose(str(where.get("message") or ""), MESSAGES_IN_ALL // share // 4)
    block.code = marked_code(source, block.lines, where.get("part"), most) if source else []


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
    """What a cell printed, as text."""
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
    environment.filters["short"] = lambda value: cut(str(value), 60)
    return environment.get_template("page.html")
