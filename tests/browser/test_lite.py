"""The course in a browser that has no Python: the built files from a web server, unit 03, a check and its card."""

from __future__ import annotations

import hashlib
import json
import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import nbformat
import pytest
from playwright.sync_api import Page, expect

from rnncourse import __version__, exercises
from tests.browser.unit03 import EXERCISE, MISTAKE, RIGHT, run_down_to, shown, write

ENDLESS = "def hidden_layer(x, W_xh, b_h):\n    while True:\n        x = x + 1"
NOT_TO_BE_HAD = 3  # how the build ends when a download fails


@pytest.fixture(scope="module")
def site(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site, as `make lite` builds it, in a folder of its own."""
    folder = tmp_path_factory.mktemp("lite") / "site"
    command = [sys.executable, root / "lite" / "build.py", "--out", folder]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True)
    if done.returncode == NOT_TO_BE_HAD:
        pytest.skip(done.stderr.strip())
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *arguments):
        pass


@pytest.fixture(scope="module")
def address(site: Path) -> Iterator[str]:
    """The site from the plainest of web servers."""
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(site))) as http:
        thread = threading.Thread(target=http.serve_forever, args=(0.01,), daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{http.server_port}"
        http.shutdown()
        thread.join()


@pytest.fixture(scope="module")
def lock(site: Path) -> dict:
    """The packages that Python in the browser can install, by name."""
    return json.loads((site / "static" / "pyodide" / "pyodide-lock.json").read_text())["packages"]


def test_the_course_and_all_that_it_needs_is_in_the_site(site, lock):
    assert lock["rnncourse"]["version"] == __version__
    assert {"numpy", "matplotlib", "rich", "jaxtyping", "pooch"} <= set(lock["rnncourse"]["depends"])
    for package in lock.values():
        wheel = site / "static" / "pyodide" / package["file_name"]
        assert hashlib.sha256(wheel.read_bytes()).hexdigest() == package["sha256"]
        assert set(package["depends"]) <= set(lock)


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
    assert stems == ["00_welcome", *exercises.STEMS[1:7]]


def opened(page: Page, address: str) -> None:
    page.goto(f"{address}/lab/index.html?path=03_cell.ipynb")
    shown(page)
    page.locator(".jp-Notebook").get_by_text("import numpy as np").click()
    page.keyboard.press("Escape")


def answer(page: Page, source: str) -> None:
    """Write into the cell that is active, run it and its check below it; then go back to it."""
    write(page, source)
    page.keyboard.press("ControlOrMeta+Enter")
    page.keyboard.press("ArrowUp")


def test_a_wrong_answer_is_diagnosed_an_endless_one_stopped_and_the_right_one_passes_and_is_kept(page, address):
    opened(page, address)
    run_down_to(page, "def hidden_layer")
    bar = page.get_by_role("region", name="Progress: 03 The recurrent cell").get_by_role("progressbar", name="points")
    expect(bar).to_have_attribute("value", "0")

    answer(page, MISTAKE.source_for("hidden_layer"))
    not_yet = page.get_by_role("region", name="hidden_layer: not yet")
    expect(not_yet).to_contain_text(MISTAKE.message)

    answer(page, ENDLESS)
    expect(not_yet).to_contain_text("did not come back in time")

    answer(page, RIGHT)
    expect(page.get_by_role("region", name="hidden_layer: passed")).to_be_visible()
    expect(bar).to_have_attribute("value", str(EXERCISE.points))

    # in the browser's storage, beside the notebooks
    expect(page.get_by_role("listitem", name="progress.json")).to_be_visible()
