"""The way of a unit through a real JupyterHub: released, fetched and submitted in a browser, collected, graded in the
sandbox, and given back.

It wants two programs that the course does without, and installs them beside the environment.
"""

import os
import shutil
import socket
import subprocess
import sys
import sysconfig
import urllib.request
import venv
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import psutil
import pytest
from playwright.sync_api import Browser, Page, expect, sync_playwright

from tests import reaper
from tests.browser.conftest import CHROMIUM, HOST
from tests.grading.made import NAMES, UNIT, mistake, submission
from tests.waiting import PATIENCE, until

CONFIG = Path(__file__).with_name("jupyterhub_config.py")
SETTINGS = """\
c = get_config()
c.CourseDirectory.course_id = "rnncourse"
c.Exchange.root = {exchange!r}
c.ExchangeSubmit.strict = True  # what a student submits has the notebook's name, or is refused
c.ExchangeCollect.check_owner = False  # all submissions are jovyan's
"""

PROGRAMS = ("jupyterhub==6.1.1", "configurable-http-proxy==0.4.0")  # the latter is the proxy of that name, in Python
MISSING = {"bubblewrap": shutil.which("bwrap"), "Chromium": CHROMIUM}
pytestmark = [
    pytest.mark.nightly,
    pytest.mark.skipif(
        not all(MISSING.values()),
        reason=f"Not installed: {', '.join(name for name, found in MISSING.items() if not found)}.",
    ),
]


class Hub:
    """A JupyterHub that runs; each user has a folder in `homes`."""

    def __init__(self, folder: Path, address: str) -> None:
        self.folder, self.address = folder, address
        self.homes = folder / "homes"

    def terminal(self, user: str, *command: str, cwd: str = "") -> str:
        """What a command says in a terminal of a user's server."""
        home = self.homes / user
        here = {"HOME": str(home), "JUPYTERHUB_USER": user, "JUPYTER_CONFIG_PATH": str(self.folder / "etc")}
        accounts = ["--ro-bind", str(self.folder / "passwd"), "/etc/passwd"]
        done = subprocess.run(
            ["bwrap", "--die-with-parent", "--dev-bind", "/", "/", *accounts, sys.executable, "-m", *command],
            cwd=home / cwd,
            env=surroundings() | here,
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout + done.stderr

    def user(self, browser: Browser, name: str) -> Page:
        """The page of somebody who has logged in, with nbgrader's list of assignments open."""
        page = browser.new_page(viewport={"width": 1280, "height": 900})
        page.set_default_timeout(1000 * PATIENCE)
        page.goto(self.address)
        page.get_by_label("Username").fill(name)
        page.get_by_label("Password").fill("any")
        page.get_by_role("button", name="Sign in").click()
        page.get_by_role("menuitem", name="Nbgrader").click()
        page.get_by_role("menuitem", name="Assignment List").click()
        return page


def surroundings(*more: Path) -> dict[str, str]:
    """The environment, without what else is set up here for Jupyter, and with our programs and `more` packages."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("JUPYTER", "IPYTHON", "XDG", "RNN"))}
    root = Path(__file__).parents[2]
    places = filter(None, [str(root), str(root / "grading"), *map(str, more), kept.get("PYTHONPATH")])
    programs = [str(Path(sys.executable).parent), *(str(path.parents[2] / "bin") for path in more), kept["PATH"]]
    return kept | {
        "PATH": os.pathsep.join(programs),
        "PYTHONPATH": os.pathsep.join(places),
        "LANG": "C.UTF-8",
    }


@pytest.fixture(scope="module")
def packages(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The two programs, with what they need that is not here: the packages of a venv that has this environment's."""
    folder = tmp_path_factory.mktemp("programs")
    venv.create(folder)
    (packages,) = folder.glob("lib/python*/site-packages")
    (packages / "ours.pth").write_text(f"import site; site.addsitedir({sysconfig.get_path('purelib')!r})\n")
    install = [sys.executable, "-m", "pip", "--python", folder, "install", "--quiet", "-c", root / "constraints.txt"]
    subprocess.run([*install, *PROGRAMS], check=True)
    return packages


@contextmanager
def free_ports(number: int) -> Iterator[list[int]]:
    """Ports at which nobody listens, as long as somebody else does not come first."""
    with ExitStack() as held:
        sockets = [held.enter_context(socket.socket()) for _ in range(number)]
        for one in sockets:
            one.bind((HOST, 0))
        ports = [one.getsockname()[1] for one in sockets]
    yield ports


def answers(address: str) -> bool:
    try:
        return urllib.request.urlopen(f"{address}/hub/api", timeout=PATIENCE).status == 200
    except OSError:
        return False


@pytest.fixture
def hub(tmp_path: Path, packages: Path) -> Iterator[Hub]:
    """A Hub and its exchange. At the end nothing that it started is left."""
    (tmp_path / "etc").mkdir()
    (tmp_path / "etc" / "nbgrader_config.py").write_text(SETTINGS.format(exchange=str(tmp_path / "exchange")))
    log = tmp_path / "hub.log"
    with free_ports(3) as ports, log.open("w") as said:
        running = subprocess.Popen(
            [sys.executable, reaper.__file__, sys.executable, "-m", "jupyterhub", "-f", str(CONFIG)],
            cwd=tmp_path,
            env=surroundings(packages) | {"HUB": str(tmp_path), "PORTS": " ".join(map(str, ports))},
            stdout=said,
            stderr=said,
        )
    address = f"http://{HOST}:{ports[0]}"
    try:
        until(lambda: running.poll() is not None or answers(address), log.read_text)
        assert running.poll() is None, log.read_text()
        yield Hub(tmp_path, address)
        running.terminate()
        until(
            lambda: running.poll() is not None,
            lambda: f"still running: {psutil.Process(running.pid).children(recursive=True)}",
        )
    finally:
        running.kill()
        running.wait()


@pytest.fixture
def browser() -> Iterator[Browser]:
    expect.set_options(timeout=1000 * PATIENCE)
    with sync_playwright() as playwright:
        flags = ["--no-sandbox", "--disable-gpu", f"--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE {HOST}"]
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=flags)
        yield browser
        browser.close()


def test_a_unit_goes_through_a_hub_from_release_to_feedback(hub: Hub, browser: Browser, root: Path):
    (hub.homes / "prof").mkdir(parents=True)
    desk = ("rnngrade.cli", "--course", str(root), "--desk", "autumn")
    hub.terminal("prof", *desk, "new")
    hub.terminal("prof", "nbgrader", "release_assignment", UNIT, cwd="autumn")

    wrong = mistake(NAMES[0])
    class_of = {"ada": submission("ada"), "jörg müller": submission("jörg müller", **{NAMES[0]: wrong})}
    pages = {}
    for name, made in class_of.items():
        pages[name] = page = hub.user(browser, name)
        page.locator("#released_assignments_list").get_by_role("button", name="Fetch").click()
        submit = page.locator("#fetched_assignments_list").get_by_role("button", name="Submit")
        expect(submit).to_be_visible()
        shutil.copy(made.write(root, hub.folder / "made"), hub.homes / name / UNIT / f"{UNIT}.ipynb")
        submit.click()
        submitted = page.locator("#submitted_assignments_list")
        expect(submitted.get_by_text("UTC")).to_be_visible()

    assert "cheating" not in hub.terminal("prof", "nbgrader", "collect", UNIT, cwd="autumn")
    graded = hub.terminal("prof", *desk, "run", "02")
    assert "ada                   12.00 of 12\n" in graded
    assert f"unfold: {wrong.name}" in graded
    hub.terminal("prof", *desk, "feedback", "02")
    hub.terminal("prof", "nbgrader", "release_feedback", UNIT, cwd="autumn")

    for name, words in {"ada": "12 of 12", "jörg müller": wrong.message}.items():
        page = pages[name]
        page.locator("#refresh_assignments_list").click()
        page.get_by_role("button", name="Fetch Feedback").click()
        page.get_by_text("(view feedback)").click()
        page.get_by_role("listitem", name=f"{UNIT}.html").dblclick()
        feedback = page.frame_locator("iframe")
        expect(feedback.get_by_text(words).first).to_be_visible()
        page.screenshot(path=hub.folder / f"{name}.png")
