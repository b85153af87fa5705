"""The feedback page in a real browser: it fits a phone, is read in any light, prints, and runs nothing."""

from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import nbformat
import pytest
from hypothesis import HealthCheck, given, settings
from playwright.sync_api import Browser, Page

from rnngrade.core.desk import Desk
from rnngrade.core.record import Finding
from rnngrade.gradebook.book import GradebookWriter
from rnngrade.gradebook.marks import read_marks
from rnngrade.pages.feedback.page import page as page_of
from rnngrade.pages.feedback.write import write_feedback
from tests.browser import axe
from tests.grading.hostile_texts import materials
from tests.grading.made import NAMES, NONE, UNIT, WRITTEN, changed, mistake, outcome, submission
from tests.grading.on_any_database import Person
from tests.sampling import ALL

WIDE = "z" * 300
ANSWER = f"""I say $h_t = {" + ".join(["x_t U"] * 20)}$ and
$$\\begin{{aligned}} a &= {" + ".join(["b"] * 60)} \\\\ c &= d \\end{{aligned}}$$

| {" | ".join(["column"] * 14)} |
|{"---|" * 14}
| {" | ".join(["1.234567"] * 14)} |

```
{WIDE}
```
{WIDE}"""


@pytest.fixture(scope="module")
def pages(root: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The addresses of a class's pages: all right, mistakes and marks by hand, nothing written."""
    desk = Desk(root, tmp_path_factory.mktemp("desk"))
    desk.open()
    wrong = {name: mistake(name) for name in NAMES[:5]}
    record, notebook = outcome(root, submission("alan", **wrong), (Finding("odd", f"Odd: {WIDE}"),))
    notebook = changed(notebook, NAMES[0], source=f"def {NAMES[0]}():\n    return {WIDE}")
    with GradebookWriter(desk) as gradebook:
        assert gradebook.enter_unit(UNIT) == []
        right, blank = outcome(root, submission("ada")), outcome(root, submission("emmy", "blank"))
        for made in (right, blank, (record, changed(notebook, WRITTEN, source=ANSWER))):
            desk.keep(*made)
            gradebook.put(*made)
    Person(desk, "alan").gives(WRITTEN, 1.5, ANSWER, extra=0.25)
    Person(desk, "alan").gives(f"check_{NAMES[1]}", 0.5, "A slip.")
    written = {path.parts[-3]: path for path in write_feedback(desk, UNIT, NONE)}
    first, *others = record.exercises  # which other tests have, too
    found = replace(first, where={"lines": (2,), "part": "zzz", "message": "This one."})
    record = replace(record, exercises=(found, *others))
    cells = nbformat.v4.reads(desk.executed_path(UNIT, "alan").read_text())["cells"]
    written["alan"].write_text(page_of(record, read_marks(desk, UNIT, NONE)["alan"], cells))
    return {student: path.as_uri() for student, path in written.items()}


@pytest.fixture
def complaints(page: Page) -> list[str]:
    """What the browser complains of: above all, what the page's own policy forbids it."""
    found: list[str] = []
    page.on("console", lambda said: found.append(said.text))
    return found


@pytest.mark.parametrize("student", ["ada", "alan", "emmy"] if ALL else ["alan"])  # whose page has something of all
def test_every_page_can_be_used_and_read_in_any_light_and_a_phone_s_width_is_enough(
    page: Page, pages, complaints, student
):
    """What is wider than the phone scrolls in its box."""
    page.goto(pages[student])
    page.locator("details").evaluate("e => e.open = true")
    assert axe.faults(page) == []
    page.set_viewport_size({"width": 360, "height": 700})
    for is_open in (True, False):
        page.locator("details").evaluate("(e, is_open) => e.open = is_open", is_open)
        assert page.evaluate("document.documentElement.scrollWidth") == 360
        page.evaluate("window.scrollTo(9999, 0)")
        assert page.evaluate("window.scrollX") == 0
    assert complaints == []


@pytest.mark.nightly
def test_headings_and_tables_say_what_they_are_to_who_hears_them(page: Page, pages):
    page.goto(pages["alan"])
    levels = page.locator("h1, h2, h3, h4, h5, h6").evaluate_all("all => all.map(e => Number(e.tagName[1]))")
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(later - before <= 2 for before, later in pairwise(levels))
    assert page.get_by_role("article").count() == page.get_by_role("article").filter(has=page.locator("h3")).count()
    assert page.locator("th:not([scope])").count() == 0
    table = page.get_by_role("table", name="Where it first differs").first
    assert table.get_by_role("rowheader").all_inner_texts() == ["expected", "yours"]
    assert page.locator("mark").first.text_content() == f"marked:     return {WIDE}"
    assert page.get_by_role("region", name=f"Your code for {NAMES[0]}", exact=True).count() == 1


@pytest.mark.nightly
def test_on_paper_all_code_is_there_and_the_notebook_is_left_out(page: Page, pages):
    page.set_viewport_size({"width": 700, "height": 1000})
    page.emulate_media(media="print", color_scheme="dark")
    page.goto(pages["alan"])
    assert page.locator("details").is_hidden()
    wide = "all => all.filter(e => e.scrollWidth > e.clientWidth + 1).length"
    assert page.locator(".code, .code pre").evaluate_all(wide) == 0
    assert page.evaluate("getComputedStyle(document.body).color") == "rgb(31, 35, 40)"


@pytest.mark.nightly
def test_the_policy_keeps_from_running_what_would_get_onto_the_page(page: Page, pages, complaints, tmp_path):
    text = Path(pages["alan"].removeprefix("file://")).read_text(encoding="utf-8")
    attack = (
        "<script>steal()</script><img src=http://127.0.0.1:9/x onerror=steal()><p onclick=steal() style='color:red'>"
    )
    path = tmp_path / "attacked.html"
    path.write_text(text.replace("</main>", f"{attack}</main>"), encoding="utf-8")
    page.add_init_script("window.steal = () => { window.stolen = true }")
    page.goto(path.as_uri())
    page.locator("p[onclick]").dispatch_event("click")
    assert page.evaluate("window.stolen") is None
    assert sum("Content Security Policy" in words for words in complaints) >= 3


@pytest.mark.nightly
def test_a_page_made_of_hostile_texts_runs_nothing_and_asks_for_nothing(browser: Browser, tmp_path):
    with browser.new_context(java_script_enabled=True) as context:
        asked: list[str] = []
        said: list[str] = []
        context.on("request", lambda sent: asked.append(sent.url))
        context.on("console", lambda message: said.append(message.text))
        context.add_init_script("window.steal = () => { window.stolen = true }")
        page = context.new_page()
        path = tmp_path / "page.html"

        @settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
        @given(materials())
        def tried(made) -> None:
            path.write_bytes(page_of(*made).encode("utf-8", "replace"))
            asked.clear()
            page.goto(path.as_uri())
            assert asked == [path.as_uri()]
            assert said == []
            assert page.evaluate("window.stolen") is None
            assert page.locator("script, img, iframe, object, embed, form, input, base, link, svg").count() == 0
            assert page.locator("style").count() == 1
            attributes = (
                "all => all.flatMap(e => e.getAttributeNames()).filter(n => n.startsWith('on') || n == 'style')"
            )
            assert page.locator("*").evaluate_all(attributes) == []

        tried()
