"""A unit as a page: the executed solution, as a student would meet it, with what is in the way folded.

An answer cell shows the student's stub; the solution lies folded below it. A check names its exercise and links to what
it looks at. Figures become files, with their alt text. Nothing is executed: outputs are the stored ones.
"""

import base64
import re
from collections.abc import Iterator
from pathlib import Path

import colab
import nbformat
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell

from rnncourse import exercises

HEADING = re.compile(r"^(#+) (.+)$", re.MULTILINE)
EXERCISE = re.compile(r"^### Exercise (\d+\.\d+) · `(\w+)`", re.MULTILINE)
MARK = re.compile(r"^\s*### (?:BEGIN|END) (?:SOLUTION|HIDDEN TESTS)\n?", re.MULTILINE)
SOLUTION = re.compile(r"### BEGIN SOLUTION\n(.*?)\n?### END SOLUTION", re.DOTALL)
TEX = re.compile(r"\$([^$<>\n]+)\$")
PICTURE = re.compile(r'<style>.*?</style><img src="data:(image/[\w+]+);base64,([^"]+)" [^>]*>\s*', re.DOTALL)
OTHER_UNIT = re.compile(r'(href="|\]\()\.\./(\w+)/\2\.ipynb')  # a link from notebook to notebook
FENCE = re.compile(r"^(```|~~~).*?^\1", re.MULTILINE | re.DOTALL)


def stored(root: Path, folder: str, stem: str) -> NotebookNode:
    """The notebook of a unit as it lies in `folder`, "solutions" or "notebooks"."""
    return nbformat.read(path(root, folder, stem), as_version=4)


def path(root: Path, folder: str, stem: str) -> Path:
    """Where that notebook lies."""
    return root / folder / stem / f"{stem}.ipynb"


def without_fences(prose: str) -> str:
    """Markdown without its fenced code: a comment in there is no heading."""
    return FENCE.sub("", prose)


def page(root: Path, stem: str, *, solutions: bool = True, lite: str = "", repository: str = "") -> NotebookNode:
    """The unit as the site shows it; without `solutions`, nothing of an answer is on the page.

    lite: where the course that runs in a browser lies, as an address or from the site's own folder. repository: the
    course's, on GitHub, "university/rnncourse". Without them the unit cannot be opened there.
    """
    students = {_grade_id(cell): cell.source for cell in stored(root, "notebooks", stem).cells if _grade_id(cell)}
    made = stored(root, "solutions", stem)
    cells: list[NotebookNode] = []
    for cell in (c for c in made.cells if "author" not in c.metadata.get("tags", [])):
        cells.extend(_shown(cell, students, solutions))
    title, _, rest = cells[0].source.partition("\n")
    ways_in = " · ".join(_ways_in(stem, lite, repository))
    cells[0].source = f"{title}\n\n{{.course-note}}\n{ways_in}\n\n{rest.strip()}"
    made.cells = cells
    # the notebook's ids are of use to those who edit it; here new cells stand between the old
    made.nbformat_minor = 4
    for cell in made.cells:
        cell.pop("id", None)
    return made


def _ways_in(stem: str, lite: str, repository: str) -> Iterator[str]:
    """What a reader can do with a unit: links, as Markdown."""
    if lite and stem in exercises.IN_BROWSER:
        yield f'<a href="{in_browser(stem, lite, up="../")}">Try this unit in the browser</a>'
    if repository:
        yield f'<a href="{colab.address(repository, stem)}">Open in Colab</a>'
    yield f"{{download}}`Download <../notebooks/{stem}.ipynb>` (to run it, [install the course](../install.md))"
    yield f"{{doc}}`What its checks look at <../checks/{stem}>`"


def in_browser(stem: str, lite: str, up: str = "") -> str:
    """Where the course that runs in a browser opens a unit; `up` leads from a page to the site's own folder."""
    return f"{lite if '://' in lite else up + lite}".rstrip("/") + f"/lab/index.html?path={stem}.ipynb"


def _grade_id(cell: NotebookNode) -> str:
    return str(cell.metadata.get("nbgrader", {}).get("grade_id", ""))


def _shown(cell: NotebookNode, students: dict[str, str], solutions: bool) -> list[NotebookNode]:
    role = cell.metadata.get("nbgrader", {})
    name = _grade_id(cell)
    if cell.cell_type == "markdown":
        return _written(cell, students[name], solutions) if role else [_anchored(cell)]
    for output in cell.outputs:
        html = output.get("data", {}).get("text/html", "")
        if "<table" in html:
            # JupyterLab finds formulas in a table by itself; MathJax is told here where they are
            html = TEX.sub(r'<span class="math">\\(\1\\)</span>', OTHER_UNIT.sub(r"\1\2.html", html))
        if html:
            # tens of cards on one page, some of one name, are no landmarks to go by
            html = html.replace("<section aria-label=", '<div role="group" aria-label=').replace("</section>", "</div>")
            output.data["text/html"] = html
    if role.get("solution"):
        full = new_code_cell(MARK.sub("", cell.source), outputs=cell.outputs)
        full.metadata["tags"] = ["hide-input", "course-solution"]
        full.metadata["mystnb"] = {"code_prompt_show": "Show a solution", "code_prompt_hide": "Hide the solution"}
        return [new_code_cell(students[name]), *([full] if solutions else [])]
    if role.get("grade"):
        cell.source = students[name]
        return [cell, new_markdown_cell(_check_note(name.removeprefix("check_")))]
    if "experiment" in cell.metadata.get("tags", []):
        cell.metadata["tags"] = ["hide-input", "course-code"]
        cell.metadata["mystnb"] = {"code_prompt_show": "Show the code", "code_prompt_hide": "Hide the code"}
    return list(_figures(cell))


def _anchored(cell: NotebookNode) -> NotebookNode:
    """An exercise's heading can be linked to by the exercise's name, and another unit is the page beside this one."""
    cell.source = OTHER_UNIT.sub(r"\1\2.ipynb", cell.source)
    cell.source = EXERCISE.sub(lambda found: f"(exercise-{found[2]})=\n{found[0]}", cell.source)
    return cell


def _written(cell: NotebookNode, question: str, solutions: bool) -> list[NotebookNode]:
    """A question that a person grades: the question as students get it, the model answer folded."""
    cells = [new_markdown_cell(question)]
    if solutions and (answer := SOLUTION.search(cell.source)):
        text = re.sub(r"^#+ (.+)$", r"**\1**", answer[1], flags=re.MULTILINE)  # no sections inside what is folded
        folded = f'<details class="course-solution"><summary>Model answer and rubric</summary>\n\n{text}\n\n</details>'
        cells.append(new_markdown_cell(folded))
    return cells


def _check_note(name: str) -> str:
    points = exercises.find(name).points
    return (
        f"{{.course-note}}\nExercise [`{name}`](#exercise-{name}), {points} point{'s' * (points != 1)} · "
        f"[what this check looks at](#check-{name})"
    )


def _figures(cell: NotebookNode) -> Iterator[NotebookNode]:
    """A cell, cut behind each of its pictures, which becomes a file, with the alt text that it came with, and a link to
    that file: MyST-NB takes one alt text for a cell. HTML that is more than a picture, a film or a slider, stays.
    """
    outputs, cell.outputs = cell.outputs, []
    for output in outputs:
        if "alt" in cell.metadata.get("mystnb", {}).get("image", {}):
            yield cell
            cell = new_code_cell(metadata={"tags": ["remove-input"]})
        cell.outputs.append(output)
        if picture := PICTURE.fullmatch(output.get("data", {}).get("text/html", "")):
            kind, code = picture[1], picture[2]
            known = output.metadata["image/png"]
            shown = {"alt": known["alt"], "width": f"{known['width']}px"}
            cell.metadata["mystnb"] = {**cell.metadata.get("mystnb", {}), "image": shown}
            is_svg = kind == "image/svg+xml"
            output.data = {kind: base64.b64decode(code).decode("utf-8") if is_svg else code}
            output.metadata = {}
    yield cell
