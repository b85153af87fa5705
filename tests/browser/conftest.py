"""Real pages in a real browser: Debian's chromium, driven by Playwright, and JupyterLab as our commands open it.

A server gets a home and a port of its own, ends with its test file, and leaves no process behind. What a page looked
like when its test failed is kept in `artefacts/`.
"""

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil
import pytest
from playwright.sync_api import Browser, Page, Request, expect, sync_playwright

from tests import reaper
from tests.serving import HOST, served
from tests.waiting import PATIENCE, until

ARTEFACTS = Path(__file__).parent / "artefacts"
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
REAPER = Path(reaper.__file__)


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Chromium. It ends with the file: while Playwright runs, no other test in its process can use asyncio."""
    if CHROMIUM is None:
        pytest.skip("Chromium is not installed: apt-get install chromium")
    expect.set_options(timeout=1000 * PATIENCE)
    with sync_playwright() as playwright:
        flags = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]
        flags += [f"--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE {HOST}"]  # no network but this machine
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=flags)
        yield browser
        browser.close()


@pytest.fixture
def may_ask() -> str | None:
    """The addresses elsewhere that a page may ask, as a regular expression."""
    return None


@pytest.fixture
def page(browser: Browser, may_ask: str | None, request: pytest.FixtureRequest) -> Iterator[Page]:
    """A page that asks no other machine for anything and throws no error."""
    with browser.new_context(viewport={"width": 1280, "height": 1000}) as context:
        context.set_default_timeout(1000 * PATIENCE)
        asked: list[str] = []
        thrown: list[str] = []
        context.on("request", lambda sent: asked.append(sent.url) if _leaves(sent) else None)
        context.on("weberror", lambda error: thrown.append(str(error.error)))
        page = context.new_page()
        yield page
        if request.node.stash.get(FAILED, False):
            ARTEFACTS.mkdir(exist_ok=True)
            name = re.sub(r"\W+", "-", request.node.name).strip("-")
            page.screenshot(path=ARTEFACTS / f"{name}.png")
            (ARTEFACTS / f"{name}.html").write_text(page.content(), encoding="utf-8")
    assert [url for url in asked if may_ask is None or not re.match(may_ask, url)] == []
    assert thrown == []


def _leaves(request: Request) -> bool:
    return not re.match(rf"(https?|wss?)://{re.escape(HOST)}:|data:|blob:|file:", request.url)


@pytest.fixture(scope="module")
def address(site: Path) -> Iterator[str]:
    """The site that a test file builds, from a web server."""
    with served(site) as address:
        yield address


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The home of somebody new."""
    return tmp_path_factory.mktemp("home")


@pytest.fixture(scope="module")
def lab03(root: Path, home: Path) -> Iterator[str]:
    """`rnncourse lab 03` in a student's copy of the unit's notebook."""
    shutil.copytree(root / "notebooks" / "03_cell", home / "course" / "notebooks" / "03_cell")
    with _jupyterlab("rnncourse.seat.cli", "lab", "03", cwd=home / "course", home=home) as address:
        yield address


FAILED = pytest.StashKey[bool]()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item):
    report = yield
    if report.failed:
        item.stash[FAILED] = True
    return report


@pytest.fixture(scope="module")
def jupyterlab():
    """`with jupyterlab("rnncourse.seat.cli", "lab", cwd=…, home=…) as address:` runs what a command of ours opens."""
    return _jupyterlab


@contextmanager
def _jupyterlab(*command: str, cwd: Path, home: Path) -> Iterator[str]:
    """What a command of ours opens; its address with the token. At the end nothing that it started is left."""
    runtime, log = home / "runtime", home / "server.log"
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("JUPYTER", "IPYTHON", "XDG", "RNN"))}
    environment |= {"HOME": str(home), "JUPYTER_RUNTIME_DIR": str(runtime), "LANG": "C.UTF-8"}
    options = ("--no-browser", "--port=0", f"--ip={HOST}")
    with log.open("w") as said:
        server = subprocess.Popen(
            [sys.executable, REAPER, sys.executable, "-m", *command, *options],
            cwd=cwd,
            env=environment,
            stdout=said,
            stderr=said,
        )
    try:
        yield _address(server, runtime, log)
        server.terminate()
        until(
            lambda: server.poll() is not None,
            lambda: f"still running: {psutil.Process(server.pid).children(recursive=True)}",
        )
    finally:
        server.kill()
        server.wait()


def _address(server: subprocess.Popen[bytes], runtime: Path, log: Path) -> str:
    """Where the server listens: it writes that down when it does."""
    until(
        lambda: server.poll() is not None or any(runtime.glob("jpserver-*.json")),
        lambda: f"it does not start:\n{log.read_text()}",
    )
    assert server.poll() is None, log.read_text()
    (path,) = runtime.glob("jpserver-*.json")
    until(lambda: path.read_text().endswith("}"), lambda: path.read_text())
    info = json.loads(path.read_text())
    return f"http://{HOST}:{info['port']}/?token={info['token']}"
