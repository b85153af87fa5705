"""The course site: built once, looked at in a browser, as a folder and from a web server."""

import re
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from bs4 import BeautifulSoup
from playwright.sync_api import Browser, Page, expect

from rnncourse import check, exercises
from tests.browser import axe
from tests.browser.films import RAN
from tests.sampling import some
from tests.waiting import PATIENCE, until

pytestmark = pytest.mark.nightly  # it takes a minute to be built

# A formula that is wider than its box can be scrolled by keyboard.
IN_REACH = """() => [...document.querySelectorAll("mjx-container[display=true]")]
  .every(box => box.scrollWidth <= box.clientWidth || box.tabIndex === 0)"""


@pytest.fixture(scope="module")
def site(root, made_once) -> Path:
    """The site, as `make site LITE=lite REPOSITORY=university/rnncourse` builds it, once in a run."""

    def build(folder: Path) -> None:
        options = ("--out", folder / "site", "--lite", "lite", "--repository", "university/rnncourse")
        command = [sys.executable, root / "website" / "make_website.py", *options]
        done = subprocess.run(command, cwd=root, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr

    return made_once("site", build) / "site"


def ready(page: Page, url: str) -> None:
    """Open a page and wait until its formulas are drawn."""
    page.goto(url)
    page.wait_for_function("window.MathJax === undefined || MathJax.startup?.promise !== undefined")
    page.evaluate("window.MathJax?.startup.promise")


def plain(page: Page, url: str) -> None:
    """Open a page without its formulas, which take the longest to be drawn. (Their text is wider than they are.)"""
    page.route("**/mathjax/**", lambda route: route.fulfill(body=""))
    page.goto(url)
    page.add_style_tag(content="div.math { overflow: hidden !important }")


def unit_pages(site: Path) -> list[str]:
    return [path.relative_to(site).as_posix() for path in sorted((site / "units").glob("*.html"))]


def test_every_unit_shows_its_figures_and_its_formulas_even_from_a_folder(site, browser: Browser):
    with browser.new_context() as context:
        asked: list[str] = []
        missing: list[str] = []
        context.on("request", lambda sent: asked.append(sent.url))
        context.on("requestfailed", lambda sent: missing.append(sent.url))
        page = context.new_page()
        for name in some(unit_pages(site), 1):
            ready(page, f"file://{site / name}")
            figures = page.locator("article img")
            assert figures.count() > 0 or name.startswith("units/00")
            broken = figures.evaluate_all("all => all.filter(i => !i.complete || !i.naturalWidth || !i.alt).length")
            assert broken == 0, name
            assert page.locator("mjx-container svg").count() > 0, name
            assert page.locator("[data-mml-node=merror]").count() == 0, name
            page.wait_for_function(IN_REACH, timeout=1000 * PATIENCE)
            # what should have been a formula, and is text
            prose = page.locator("article").evaluate(
                "a => { a = a.cloneNode(true); a.querySelectorAll('pre, code, mjx-container').forEach(e => e.remove());"
                " return a.textContent }"
            )
            assert not re.search(r"\$[^$\n]+\$|\\\(|\\begin\{", prose), name
    assert [url for url in asked if not url.startswith(("file:", "data:", "blob:"))] == []
    assert missing == []


def test_of_a_unit_code_and_solutions_are_folded_films_run_and_a_check_leads_to_what_it_looks_at(page: Page, address):
    page.add_init_script(RAN)
    plain(page, f"{address}/units/03_cell.html")
    section = page.locator("section", has=page.get_by_role("heading", name="Exercise 3.2")).last
    written = page.locator("details.course-solution", has_text="Model answer and rubric")
    film = page.locator(".cell", has=page.locator("iframe")).first
    folded = [
        (section, "Show a solution", section.get_by_text("return np.tanh(x @ U + h_prev @ W + b)")),
        (written, "Model answer and rubric", written.locator("p").first),
        (film, "Show the code", film.locator(".cell_input pre")),
    ]
    expect(section.get_by_text("raise NotImplementedError").first).to_be_visible()
    for where, summary, inside in folded:
        expect(inside).to_be_hidden()
        where.get_by_text(summary).first.click()
        expect(inside).to_be_visible()
    assert "BEGIN SOLUTION" not in page.content()
    film.locator("iframe").scroll_into_view_if_needed()
    page.wait_for_function("window.ran === true")

    ways = page.locator("p.course-note").first
    expect(ways.get_by_role("link", name="Try this unit in the browser")).to_have_attribute(
        "href", "../lite/lab/index.html?path=03_cell.ipynb"
    )
    expect(ways.get_by_role("link", name="install the course")).to_have_attribute("href", "../install.html")

    expect(page.get_by_label("rnn_step: passed")).to_be_visible()
    section.get_by_role("link", name="what this check looks at").click()
    expect(page).to_have_url(f"{address}/checks/03_cell.html#check-rnn-step")
    entry = page.locator("section#check-rnn-step")
    expect(entry).to_contain_text("3 points")
    mistake = next(m for m in exercises.find("rnn_step").misconceptions if m.name == "bias_outside")
    told = entry.get_by_text(mistake.message.split(".")[0])
    expect(told).to_be_hidden()
    entry.locator("summary").click()
    expect(told).to_be_visible()
    entry.get_by_role("link", name="to the exercise").click()
    expect(page).to_have_url(f"{address}/units/03_cell.html#exercise-rnn-step")
    expect(page.get_by_role("heading", name="Exercise 3.2")).to_be_in_viewport()


# What is as bright as paper in the dark: a picture or its box that has a ground of its own, or is not turned round.
GLARING = """() => [...document.querySelectorAll(".cell_output img, .cell_output .text_html")].filter((e) => {
  const { backgroundColor, filter } = getComputedStyle(e);
  return backgroundColor !== "rgba(0, 0, 0, 0)" || (e.matches("img") && !filter.startsWith("invert(1)"));
}).length"""
# Pictures that are drawn at less than three quarters of their size and of a phone's own width and a half.
SMALL = """() => [...document.querySelectorAll("a.image-reference img")].filter((img) =>
  img.getBoundingClientRect().width < Math.min(0.75 * parseFloat(img.style.width), 1.4 * innerWidth)).length"""


def test_pictures_follow_the_theme_are_readable_on_a_phone_and_open_as_large_as_the_window(page: Page, address):
    page.emulate_media(color_scheme="dark")
    page.set_viewport_size({"width": 390, "height": 844})
    plain(page, f"{address}/units/05_gradient_flow.html")
    pictures = page.locator("a.image-reference")
    assert pictures.count() > 10
    assert page.evaluate(GLARING) == 0
    page.wait_for_function(f"({SMALL})() === 0")
    page.set_viewport_size({"width": 1280, "height": 900})
    words = pictures.nth(1).get_by_role("img").get_attribute("alt")
    large = page.get_by_role("dialog", name="The picture, enlarged")
    for opens, closes in (("Enter", "Escape"), ("Enter", "Enter")):
        pictures.nth(1).press(opens)
        expect(large.get_by_role("img", name=words)).to_be_visible()
        box = large.bounding_box()
        assert box
        assert (box["width"], box["height"]) == (1280, 900)
        page.keyboard.press(closes)
        expect(large).to_have_count(0)
        expect(pictures.nth(1)).to_be_focused()


def test_search_names_sections_and_shows_their_words_and_formulas(page: Page, address):
    page.goto(f"{address}/index.html")
    page.keyboard.press("Control+k")
    page.keyboard.type("forget gate")
    page.keyboard.press("Enter")
    expect(page.locator("#search-summary, .search-summary")).to_contain_text("finished")
    results = page.locator("#search-results ul.search > li")
    assert results.count() >= 3
    for result in results.all():
        words = " ".join(result.locator("p.context").all_inner_texts()).lower()
        assert "forget" in words or "gate" in words
    expect(results.locator("mjx-container svg").first).to_be_visible()
    assert not re.search(r"\\[(a-z]|Show the code", results.first.inner_text())
    unit = results.filter(has_text="10 · Gates")
    unit.first.locator("a.section").first.click()
    expect(page).to_have_url(re.compile(r"units/10_gates\.html#[\w-]+"))


def test_search_works_from_a_folder(site, browser: Browser):
    with browser.new_context() as context:
        page = context.new_page()
        page.goto(f"file://{site}/search.html?q=forget+gate")
        expect(page.locator("#search-results a", has_text="10 · Gates").first).to_be_visible()


def test_the_index_of_concepts_leads_to_the_section_and_to_the_function(page: Page, address):
    plain(page, f"{address}/concepts.html")
    row = page.get_by_role("row", name="forget gate")
    expect(row.locator(".math")).to_be_visible()
    expect(row).to_contain_text("(D, 4H)")
    row.get_by_role("link", name="10 · A state that is left alone").click()
    expect(page.get_by_role("heading", name="A state that is left alone")).to_be_in_viewport()
    page.go_back()
    page.get_by_role("row", name="forget gate").get_by_role("link", name="lstm_step").click()
    expect(page).to_have_url(f"{address}/reference/rnncourse.gates.html#rnncourse-gates-lstm-step")
    expect(page.get_by_role("heading", name="lstm_step", exact=True)).to_be_in_viewport()


def test_every_page_can_be_used_and_read_by_everybody_in_both_themes(page: Page, site, address):
    found, known = {}, {theme: set() for theme in axe.THEMES}
    names = [path.relative_to(site).as_posix() for path in sorted(site.rglob("*.html")) if "_static" not in path.parts]
    assert len(names) > 5 * len(exercises.STEMS)
    # thousands of letters in each formula, all drawn by one hand: one page is looked at with its formulas
    ready(page, f"{address}/{unit_pages(site)[0]}")
    assert page.locator("mjx-container").count() > 0
    found["formulas"] = axe.faults(page)
    for name in some(names, 4):
        plain(page, f"{address}/{name}")
        found[name] = axe.faults(page, known)
    assert {name: faults for name, faults in found.items() if faults} == {}


# What has not the room that it needs: a table, the lines of one, a formula in a line.
WIDE = """() => {
  const room = (e) => e.closest(".pst-scrollable-table-container, .cell_output > .output, details, article");
  const tables = [...document.querySelectorAll("article table")].filter((table) => {
    const box = room(table);
    return box.scrollWidth > box.clientWidth || table.getBoundingClientRect().right > innerWidth;
  });
  const formulas = [...document.querySelectorAll("article span.math svg")].filter(
    (svg) => svg.getBoundingClientRect().right > innerWidth && !svg.closest("table.told thead"));  // that is not seen
  return [...tables, ...formulas.map((svg) => svg.closest("p, li, td") ?? svg.parentElement)]
    .filter((e) => e.checkVisibility()).map((e) => e.innerText.slice(0, 60));
}"""
# Of each formula that is wider than a page, whether a reader can get to the rest of it, by finger and by key.
CLIPPED = """() => [...document.querySelectorAll("article mjx-container[display=true]")].filter((box) =>
  box.scrollWidth > box.clientWidth && !(getComputedStyle(box).overflowX === "auto" && box.tabIndex === 0)).length"""


@pytest.mark.parametrize("width", some([360, 390], 1))
def test_on_a_phone_every_page_and_every_table_fits(page: Page, site, address, width):
    page.set_viewport_size({"width": width, "height": 844})
    pages = [path for path in sorted(site.rglob("*.html")) if "_static" not in path.parts]
    with_tables = [path for path in pages if "<table" in path.read_text(encoding="utf-8")]
    assert len(with_tables) > len(exercises.STEMS)
    for path in sorted({*some(with_tables, 5), *some(pages, 2)}):
        name = path.relative_to(site).as_posix()
        ready(page, f"{address}/{name}")
        until(lambda: page.evaluate(WIDE) == [], lambda name=name: f"{name}: {page.evaluate(WIDE)}")
        page.wait_for_function(f"({CLIPPED})() === 0")
        assert page.evaluate("document.documentElement.scrollWidth") <= width, name


def test_a_table_that_is_told_row_by_row_on_a_phone_has_all_its_cells_behind_the_names_of_their_columns(
    page: Page, address
):
    page.set_viewport_size({"width": 1280, "height": 844})
    plain(page, f"{address}/benchmarks.html")
    table = page.get_by_role("table").filter(has=page.get_by_role("columnheader", name="PyTorch/ours", exact=True))
    heads = table.get_by_role("columnheader").all_inner_texts()
    row = table.get_by_role("row").nth(1)
    cells = row.get_by_role("cell").all_inner_texts()
    assert len(heads) == len(cells) > 5
    page.set_viewport_size({"width": 360, "height": 844})
    expect(row.get_by_role("cell").nth(1)).to_have_text(f"{heads[1]}{cells[1]}")
    for head, cell, told in zip(heads, cells, row.get_by_role("cell").all_inner_texts(), strict=True):
        assert told.split() == [*head.split(), *cell.split()]
    expect(table.get_by_role("columnheader")).to_have_count(len(heads))  # to a screen reader it is the table it was
    page.set_viewport_size({"width": 1280, "height": 844})
    expect(row.get_by_role("cell").nth(1)).to_have_text(cells[1], use_inner_text=True)


def test_no_page_shows_the_source_of_a_formula(site):
    for path in some(sorted(site.rglob("*.html")), 10):
        article = BeautifulSoup(path.read_text(encoding="utf-8"), "html.parser").find("article")
        for code in article.select("pre, code, .math, iframe, script, style") if article else ():
            code.decompose()
        prose = article.get_text() if article else ""
        assert re.findall(r".*\$.*", prose) == [], path.relative_to(site)


FIRST = ".home-film iframe", ".home-card section", ".home-made li:nth-child(1)", ".home-made li:nth-child(3)"


def test_the_first_screen_has_a_film_a_card_and_what_one_will_have_made(page: Page, address):
    page.set_viewport_size({"width": 1280, "height": 800})
    page.add_init_script(RAN)
    weights: dict[str, int] = {}
    page.on("response", lambda response: weights.update({response.url: len(response.body())}))
    page.goto(f"{address}/index.html", wait_until="networkidle")
    assert sum(weights.values()) < 1_000_000
    assert [url for url in weights if "awesome" in url or "webfonts" in url] == []
    expect(page.get_by_role("link", name="Start in the browser")).to_have_attribute(
        "href", "lite/lab/index.html?path=00_welcome.ipynb"
    )
    page.wait_for_function("window.ran === true")
    for one in FIRST:
        box = page.locator(one).bounding_box()
        assert box, one
        assert box["height"] > 80, one
        assert box["x"] + box["width"] <= 1280, one
        assert box["y"] + box["height"] <= 800, one
    verdict = check(answer_that_unit_00_starts_with(), "leaky_average")
    assert not verdict.passed
    card = page.locator(".home-card section")
    expect(card).to_contain_text(verdict.message.replace("`", ""))
    for link in page.locator(".home a").all():
        assert re.fullmatch(r"units/\w+\.html", link.get_attribute("href") or "")
    page.get_by_role("link", name="Install", exact=True).last.click()
    expect(page.locator("article")).to_contain_text("git clone https://github.com/university/rnncourse")
    for command in ("pip install", "rnncourse start my-course", "rnncourse lab"):
        expect(page.locator("article pre")).to_contain_text(command)


def answer_that_unit_00_starts_with():
    """The function in the students' notebook, as it stands there."""
    notebook = nbformat.read(Path(__file__).parents[2] / "notebooks/00_welcome/00_welcome.ipynb", as_version=4)
    source = next(cell.source for cell in notebook.cells if cell.source.startswith("def in_a_hurry"))
    space: dict = {"check": lambda *_: None}  # the cell goes on to check it
    exec(source, space)
    return space["in_a_hurry"]


def test_the_film_of_the_first_screen_waits_for_who_asked_for_less_motion(browser: Browser, address):
    with browser.new_context(reduced_motion="reduce", viewport={"width": 1280, "height": 800}) as context:
        page = context.new_page()
        page.add_init_script(RAN)
        page.goto(f"{address}/index.html")
        film = page.frame_locator(".home-film iframe")
        slider = film.get_by_role("slider")
        first = slider.input_value()
        page.wait_for_timeout(1500)  # it would have begun
        expect(film.get_by_role("button", name="Play")).to_be_visible()
        assert page.evaluate("window.ran") is None
        assert slider.input_value() == first
