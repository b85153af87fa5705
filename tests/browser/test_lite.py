"""The course in a browser that has no Python: the built files from a web server; unit 03, which is whole there, without
a mouse, and unit 10, which is not; a slider and a film; what is kept, and handed in.
"""

import _imp
import hashlib
import json
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import nbformat
import pytest
from playwright.sync_api import Locator, Page, expect

from rnncourse import __version__, exercises
from rnngrade.reading.intake import take_in
from tests.browser.films import CAPTIONS, runs_by_itself
from tests.browser.keyboard import command, solve
from tests.browser.unit03 import HEADING, active, run_down_to, shown

pytestmark = pytest.mark.nightly  # it downloads and builds all of Pyodide's packages

ENDLESS = "def hidden_layer(x, W_xh, b_h):\n    while True:\n        x = x + 1"
NOTEBOOK = Path("notebooks", "03_cell", "03_cell.ipynb")
NOT_TO_BE_HAD = 3  # how the build ends when a download fails


@pytest.fixture(scope="module")
def site(root: Path, made_once) -> Path:
    """The site, as `make lite` builds it, once in a run."""

    def build(folder: Path) -> None:
        command = [sys.executable, root / "lite" / "make_lite.py", "--out", folder / "site"]
        done = subprocess.run(command, cwd=root, capture_output=True, text=True)
        if done.returncode == NOT_TO_BE_HAD:
            pytest.skip(done.stderr.strip())
        assert done.returncode == 0, done.stdout + done.stderr

    return made_once("lite", build) / "site"


@pytest.fixture(scope="module")
def lock(site: Path) -> dict:
    """The packages that Python in the browser can install, by name."""
    return json.loads((site / "static" / "pyodide" / "pyodide-lock.json").read_text())["packages"]


def test_the_course_and_all_that_it_needs_is_in_the_site(site, lock):
    assert lock["rnncourse"]["version"] == __version__
    assert {"numpy", "jaxtyping"} <= set(lock["rnncourse"]["depends"])
    assert {"matplotlib", "pillow"} <= set(lock["rnncourse-plots"]["depends"])
    assert {"pooch", "pydoc-data"} <= set(lock["rnncourse-data"]["depends"])
    assert "rnncourse-data" in lock["rnncourse-experiments"]["depends"]
    for package in lock.values():
        wheel = site / "static" / "pyodide" / package["file_name"]
        assert hashlib.sha256(wheel.read_bytes()).hexdigest() == package["sha256"]
        assert set(package["depends"]) <= set(lock)


def test_what_is_waited_for_is_only_what_a_check_needs(lock):
    first, wanted = set(), ["rnncourse", "ipython", "piplite", "pyodide-kernel"]
    while wanted:
        name = wanted.pop()
        wanted += set(lock[name]["depends"]) - first
        first.add(name)
    assert first.isdisjoint({"matplotlib", "pillow", "fonttools", "requests", "pydoc-data", "rich"})


def test_what_a_first_session_imports_is_compiled_from_the_source_beside_it(site):
    compiled = set()
    for archive in (site / "static" / "pyodide").glob("*.[wz]*"):
        if archive.suffix not in (".whl", ".zip"):
            continue
        with zipfile.ZipFile(archive) as file:
            for name in (name for name in file.namelist() if name.endswith(".pyc")):
                bytecode, source = file.read(name), re.sub(r"__pycache__/|(\.cpython-\d+)?\.pyc$", "", name) + ".py"
                version, flags = (int.from_bytes(bytecode[k : k + 4], "little") for k in (0, 4))
                assert flags == 0b01, f"{name}: the browser would compare it with its source"
                assert bytecode[8:16] == _imp.source_hash(version, file.read(source)), name
                compiled.add(source)
    first = {"rnncourse/checks/engine.py", "rnncourse/exercises/cell.py", "numpy/__init__.py", "asyncio/tasks.py"}
    assert first | {"IPython/core/interactiveshell.py", "matplotlib/figure.py"} <= compiled


def test_the_numpy_units_are_there_and_import_nothing_that_is_not(site, lock):
    importable = {name for package in lock.values() for name in package["imports"]} | sys.stdlib_module_names
    stems = []
    for file in sorted((site / "files").glob("*.ipynb")):
        stems.append(file.stem)
        notebook = nbformat.read(file, as_version=4)
        assert notebook.metadata.kernelspec.name == "python"
        code = "\n".join(cell.source for cell in notebook.cells if cell.cell_type == "code")
        assert set(re.findall(r"^\s*(?:from|import) (\w+)", code, re.MULTILINE)) <= importable
        assert "thread" not in set(re.findall(r"\btime\.(\w+?)_time\b", code))
    assert stems == list(exercises.IN_BROWSER)


def opened(page: Page, address: str, stem: str = "03_cell", heading: str = HEADING) -> None:
    page.goto(f"{address}/lab/index.html?path={stem}.ipynb")
    shown(page, heading)
    page.locator(".jp-Notebook").get_by_text("import numpy as np").click()
    page.keyboard.press("Escape")


def chosen(page: Page, command: str) -> Locator:
    """What a command of the menu *Course* says, in its dialog."""
    page.get_by_role("menuitem", name="Course", exact=True).click()
    page.get_by_role("menuitem", name=command, exact=True).click()
    return page.get_by_role("dialog").filter(has_text=command)


AVERAGE = "def leaky_average(state, x, keep):\n    return keep * state + (1 - keep) * x"


def test_it_begins_with_unit_00_has_the_menu_course_and_brings_what_is_kept_to_a_new_release(
    page, address, site, tmp_path
):
    page.goto(address)
    shown(page, "00 · Welcome")
    expect(page.locator(".jp-Launcher")).to_have_count(0)
    cell = page.locator(".jp-CodeCell", has_text="def leaky_average").first
    cell.get_by_role("textbox").click()
    page.keyboard.press("ControlOrMeta+A")
    page.keyboard.insert_text(AVERAGE)

    said = chosen(page, "Check all")
    expect(said).to_contain_text("✓ leaky_average: 1 of 1")
    said.get_by_role("button", name="Ok").click()

    said = chosen(page, "Submit")
    expect(said).to_contain_text("Nothing is missing in it.")
    with page.expect_download() as download:
        said.get_by_role("link", name="Download 00_welcome-submission.ipynb").click()
    download.value.save_as(tmp_path / "00_welcome.ipynb")
    handed_in = {cell.id: cell for cell in nbformat.read(tmp_path / "00_welcome.ipynb", 4).cells}
    assert handed_in["leaky_average"].source == AVERAGE
    assert not any(cell.get("outputs") for cell in handed_in.values())
    said.get_by_role("button", name="Ok").click()

    given_out = site / "files" / "00_welcome.ipynb"
    before = given_out.read_bytes()
    release = json.loads(before)
    next(c for c in release["cells"][2:] if c["cell_type"] == "markdown").update(source="Something new.", id="a" * 12)
    try:
        given_out.write_text(json.dumps(release))
        page.reload()
        expect(page.get_by_role("button", name="Bring my work into it")).to_be_visible()
    finally:
        given_out.write_bytes(before)
    page.get_by_role("button", name="Bring my work into it").click()
    expect(page.get_by_role("paragraph").filter(has_text="Something new.")).to_be_visible()
    expect(page.locator(".jp-CodeCell", has_text="def leaky_average").first).to_contain_text("keep * state")
    expect(page.get_by_role("alert").filter(has_text="with 1 answer")).to_be_visible()
    expect(page.get_by_role("listitem", name=f"00_welcome-before-{__version__}.ipynb")).to_be_visible()


def test_a_student_without_a_mouse_solves_unit_03_there_and_downloads_it(page, address, root, site, tmp_path):
    students = nbformat.read(site / "files" / "03_cell.ipynb", as_version=4)
    solution = nbformat.read(root / "solutions" / "03_cell" / "03_cell.ipynb", as_version=4)
    page.goto(f"{address}/lab/index.html?path=03_cell.ipynb")
    shown(page)
    solve(page, students, solution, wrong=[(ENDLESS, "did not come back in time")])
    bar = page.get_by_role("region", name="Progress: 03 The recurrent cell").get_by_role("progressbar", name="points")
    expect(bar).to_have_attribute("value", f"{sum(exercise.points for exercise in exercises.unit('03_cell'))}")

    # in the browser's storage, beside the notebooks
    expect(page.get_by_role("listitem", name="progress.json")).to_be_visible()

    with page.expect_download() as download:
        command(page, "Download")
    download.value.save_as(tmp_path / "03_cell.ipynb")
    taken = take_in((tmp_path / "03_cell.ipynb").read_bytes(), nbformat.read(root / NOTEBOOK, as_version=4))
    assert taken.findings == ()


# A film and a slider of the course's own kind, in few lines.
FILM_AND_SLIDER = """
from rnncourse.plots import Slider, explore, line_chart
from rnncourse.plots.films import scan_film
scan_film(3).show("Three squares.")
def chart(r):
    return line_chart([0, 1], {"gate": [0, r]}, xlabel="x", ylabel="y")
explore(chart, chart(2), alt="A line.", r=Slider("rate r", 0, 4, 2, step=1))
"""
RIGHT_GATE = "def gate(x, h, U, W, b):\n    return 1 / (1 + np.exp(-(x @ U + h @ W + b)))\n"
GATES = "10 · Gates: LSTM and GRU"


def test_unit_10_says_what_is_left_out_has_a_slider_and_a_film_and_is_kept_and_collected(page, address, tmp_path):
    page.add_init_script(CAPTIONS)
    opened(page, address, "10_gates", GATES)
    beginning = page.locator(".jp-Notebook blockquote", has_text="There is no PyTorch in the browser")
    expect(beginning).to_contain_text("set_forget_bias")
    run_down_to(page, "def gate(")
    bar = page.get_by_role("region", name="Progress: 10").get_by_role("progressbar", name="points")
    there = [exercise for exercise in exercises.unit("10_gates") if exercise.name != "set_forget_bias"]
    expect(bar).to_have_attribute("max", f"{sum(exercise.points for exercise in there)}")
    page.keyboard.press("Enter")
    page.keyboard.press("ControlOrMeta+A")
    page.keyboard.insert_text(RIGHT_GATE + FILM_AND_SLIDER)
    page.keyboard.press("Shift+Enter")
    expect(active(page)).to_contain_text("check(gate)")
    page.keyboard.press("Shift+Enter")
    expect(page.get_by_role("region", name="gate: passed")).to_be_visible()

    sliders = page.frame_locator('iframe[title^="Sliders"]')
    expect(sliders.get_by_role("img", name="to 2 at 1")).to_be_visible()
    sliders.get_by_role("slider").press("ArrowRight")
    expect(sliders.get_by_role("img", name="to 3 at 1")).to_be_visible()

    active(page).press("ControlOrMeta+s")
    expect(page.locator(".jp-mod-current.jp-mod-dirty")).to_have_count(0)
    page.reload()
    shown(page, GATES)
    expect(page.locator(".jp-Notebook")).to_contain_text(RIGHT_GATE.split("\n")[1].strip())
    runs_by_itself(page)
    sliders.get_by_role("slider").press("ArrowLeft")
    expect(sliders.get_by_role("img", name="to 1 at 1")).to_be_visible()

    page.get_by_role("menuitem", name="File", exact=True).click()
    with page.expect_download() as download:
        page.get_by_role("menuitem", name="Download", exact=True).click()
    download.value.save_as(tmp_path / "in" / "ada_10_gates.ipynb")
    desk = tmp_path / "desk"
    command = [sys.executable, "-m", "rnngrade.cli", "--desk", desk, "collect", tmp_path / "in"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert "1 collected" in done.stdout, done.stdout + done.stderr
    (collected,) = (desk / "submitted").rglob("10_gates.ipynb")
    assert {cell.id: cell.source for cell in nbformat.read(collected, 4).cells}["gate"] == RIGHT_GATE + FILM_AND_SLIDER
