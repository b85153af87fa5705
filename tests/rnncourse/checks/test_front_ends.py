"""Whoever looks at a check's verdict is told the message, once: in a terminal, by a script, in a notebook with or
without HTML, in what nbconvert makes of it, and by a screen reader.

The same steps run everywhere: an answer under its exercise's name, its check, and then what was found, as data. The
answers are of every kind that there is; known mistakes are drawn from the catalogue.
"""

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from html import unescape
from pathlib import Path
from typing import Any

import nbformat
import pytest
from markdown_it import MarkdownIt
from nbclient import NotebookClient
from nbconvert import HTMLExporter, MarkdownExporter, PythonExporter, RSTExporter
from nbformat.v4 import new_code_cell
from playwright.sync_api import sync_playwright

from rnncourse.exercises import find
from tests.sampling import some

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
BEGIN = "import json\nimport numpy as np\nfrom rnncourse import check\nfrom rnncourse.seat import notebook"
TELL = (
    "v = notebook._last[{name!r}][1]; "
    "print('@@@' + json.dumps([v.passed, v.message, v.where.message if v.where else '', v.points]))"
)
# Of rnn_step: whatever else can become of an answer.
OTHERS = {
    "an unknown mistake, with its place, if there is time to look for it": """
def rnn_step(x, h_prev, U, W, b):
    from_input = x @ U + b
    from_state = h_prev @ W + b
    return np.tanh(from_input + from_state)
""",
    "an unknown mistake": "def rnn_step(x, h_prev, U, W, b):\n    return np.tanh(x @ U - 3 * h_prev) ** 3 + x.mean()",
    "an error": "def rnn_step(x, h_prev, U, W, b):\n    raise ValueError('a <b>bold</b> `word` & more')",
    "a syntax error": "def rnn_step(x, h_prev, U, W, b):\n    return eval('x @ U +')",
    "nothing written yet": "def rnn_step(x, h_prev, U, W, b):\n    raise NotImplementedError",
    "another type": "def rnn_step(x, h_prev, U, W, b):\n    return '<script>`x` & `y`</script>\\n\\n    <b>'",
}


@dataclass(frozen=True)
class Step:
    """An answer, as its cell has it; `call` checks it."""

    kind: str
    name: str
    source: str

    @property
    def call(self) -> str:
        return f"check({self.name}, {self.name!r})"


def steps() -> list[Step]:
    drawn = []
    for name in ("rnn_step", "rnn_forward", "softmax"):
        drawn += [(name, one) for one in some(find(name).misconceptions, 2)]
    known = [Step(f"known: {one.name}", name, one.source_for(name).strip()) for name, one in drawn]
    model = "def rnn_step(x, h_prev, U, W, b):\n    return np.tanh(x @ U + h_prev @ W + b)"
    quiz = Step("a wrong choice", "quiz_rnn_facts", "quiz_rnn_facts = {'A'}")
    others = [Step(kind, "rnn_step", source.strip()) for kind, source in OTHERS.items()]
    return [*known, Step("passed", "rnn_step", model), quiz, *others]


STEPS = steps()


@dataclass(frozen=True)
class Found:
    """What a check has found, and everything that was shown of it."""

    step: Step
    passed: bool
    message: str
    place: str
    points: float
    shown: str


def told(text: str) -> list[Found]:
    """What was shown of each step, where all of it comes in a row."""
    pieces = re.findall(r"(.*?)@@@(\[[^\n]*\])", text, re.DOTALL)
    return [Found(step, *json.loads(data), shown=shown) for step, (shown, data) in zip(STEPS, pieces, strict=True)]


def squeezed(text: str) -> str:
    return " ".join(text.replace("`", "").split())


def assert_said_once(found: Found) -> None:
    shown = squeezed(found.shown)
    assert shown.count(squeezed(found.message)) == 1, (found.step, found.shown)
    if found.place:
        assert shown.count(squeezed(found.place)) == 1, (found.step, found.shown)


def assert_said_behind_the_points(found: Found) -> None:
    assert_said_once(found)
    opening = f"{'✓' if found.passed else '✗'} {found.step.name}: {found.points:g} of "
    assert squeezed(found.shown).count(opening) == 1, found.shown


def as_a_script() -> str:
    blank = "\n\n"  # IPython, typed into, ends a function there
    lines = [BEGIN, *(f"{one.source}{blank}{one.call}\n{TELL.format(name=one.name)}" for one in STEPS)]
    return blank.join(lines) + "\n"


def output_of(*command: str | Path, cwd: Path, typed: str | None = None) -> str:
    done = subprocess.run([*map(str, command)], input=typed, capture_output=True, text=True, cwd=cwd, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


IPYTHON = (sys.executable, "-m", "IPython", "--no-banner", "--colors=NoColor", "--simple-prompt")


@pytest.fixture
def script(tmp_path) -> Path:
    path = tmp_path / "answers.py"
    path.write_text(as_a_script(), encoding="utf-8")
    return path


def test_the_answers_are_of_the_kinds_that_they_should_be(notebook):
    found = {one.step.kind: one for one in told_in(notebook, "text/plain")}
    assert [kind for kind, one in found.items() if one.passed] == ["passed"]
    assert "NotImplementedError" in found["nothing written yet"].message
    assert "SyntaxError" in found["a syntax error"].message
    assert "ValueError" in found["an error"].message
    assert found["another type"].shown.startswith("✗ rnn_step: 0.3 of 3 points. ")


@pytest.mark.parametrize("how", ["python", "ipython", "%run"])
def test_a_script_prints_the_message(script, how):
    if how == "%run":
        text = output_of(*IPYTHON, cwd=script.parent, typed=f"%run {script.name}\n")
    else:
        text = output_of(*([sys.executable] if how == "python" else IPYTHON), script, cwd=script.parent)
    for found in told(text):
        assert_said_behind_the_points(found)


def test_ipython_in_a_terminal_shows_the_message(tmp_path):
    for found in told(output_of(*IPYTHON, cwd=tmp_path, typed=as_a_script())):
        assert_said_behind_the_points(found)


@pytest.fixture(scope="module")
def notebook() -> nbformat.NotebookNode:
    """Each step as three cells: the answer, its check, and what was found."""
    cells = [new_code_cell(BEGIN)]
    for one in STEPS:
        cells += [new_code_cell(source) for source in (one.source, one.call, TELL.format(name=one.name))]
    made = nbformat.v4.new_notebook(cells=cells)
    made.metadata.language_info = {"name": "python", "file_extension": ".py"}
    return NotebookClient(made, kernel_name="python3").execute()


def told_in(notebook: nbformat.NotebookNode, *mimes: str) -> list[Found]:
    """What a front end shows that knows these types of output, the first of them best."""
    found = []
    for step, check, data in zip(STEPS, notebook.cells[2::3], notebook.cells[3::3], strict=True):
        shown = [next(output.data[mime] for mime in mimes if mime in output.data) for output in check.outputs]
        facts = json.loads(data.outputs[0].text.strip().removeprefix("@@@"))
        found.append(Found(step, *facts, shown="\n".join(shown)))
    return found


def test_a_notebook_front_end_that_shows_text_alone_shows_the_message_and_then_the_points(notebook):
    for found in told_in(notebook, "text/plain"):
        assert_said_behind_the_points(found)
        assert float(found.shown.splitlines()[-1]) == found.points  # as nbgrader reads them


def words(html: str) -> str:
    """Of HTML, the words alone."""
    return unescape(re.sub(r"<[^>]*>", "", html))


@pytest.mark.parametrize("mimes", [("text/html", "text/markdown", "text/plain"), ("text/html", "text/plain")])
def test_a_front_end_with_html_shows_the_card_and_not_the_text_beside_it(notebook, mimes):
    for found in told_in(notebook, *mimes):
        assert found.shown.count("<section") == 1
        assert_said_once(replace(found, shown=words(found.shown)))


def test_what_nbconvert_writes_has_the_message(notebook):
    to_markdown, to_html, to_rst = MarkdownExporter(), HTMLExporter(template_name="basic"), RSTExporter()
    for number, found in enumerate(told_in(notebook, "text/plain")):
        alone = nbformat.v4.new_notebook(cells=[notebook.cells[3 * number + 2]], metadata=notebook.metadata)
        markdown = words(MarkdownIt("commonmark").render(to_markdown.from_notebook_node(alone)[0]))
        page = to_html.from_notebook_node(alone)[0]
        for text in (markdown, words(page), words(to_rst.from_notebook_node(alone)[0])):
            assert_said_once(replace(found, shown=text))


def test_a_notebook_that_nbconvert_has_made_a_script_prints_the_message(notebook, tmp_path):
    path = tmp_path / "converted.py"
    path.write_text(PythonExporter().from_notebook_node(notebook)[0], encoding="utf-8")
    for found in told(output_of(sys.executable, path, cwd=tmp_path)):
        assert_said_once(found)


def read_aloud(nodes: list[dict[str, Any]], node: dict[str, Any]) -> Iterator[str]:
    """The texts of a part of the accessibility tree, in order."""
    if node.get("role", {}).get("value") == "StaticText":
        yield node["name"]["value"]
        return
    for child in node.get("childIds", []):
        yield from read_aloud(nodes, next(one for one in nodes if one["nodeId"] == child))


@pytest.mark.skipif(CHROMIUM is None, reason="Chromium is not installed: apt-get install chromium")
def test_a_screen_reader_is_told_the_message_in_one_piece(notebook):
    cards = told_in(notebook, "text/html", "text/plain")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu"])
        page = browser.new_page()
        for found in cards:
            page.set_content(f"<!doctype html><html lang='en'><title>card</title><main>{found.shown}</main>")
            nodes = page.context.new_cdp_session(page).send("Accessibility.getFullAXTree")["nodes"]
            (card,) = [node for node in nodes if node.get("role", {}).get("value") == "region"]
            name, said = card["name"]["value"], card.get("description", {}).get("value", "")
            assert name == f"{found.step.name}: {'passed' if found.passed else 'not yet'}"
            assert said == ("" if found.passed else squeezed(found.message))
            assert_said_once(replace(found, shown="".join(read_aloud(nodes, card))))
        browser.close()
