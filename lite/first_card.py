"""How long a student waits in the browser: seconds until unit 03 shows its bar, and its first check's card.

    python lite/first_card.py [SITE] [--runs 3]

Each run is a browser that has seen nothing before, and a web server on this machine: what a network takes comes on top.
Beside the seconds stands the time of the browser's processors, which does not depend on what else the machine does.
"""

import argparse
import os
import shutil
import threading
import time
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import psutil
from playwright.sync_api import Browser, Page, sync_playwright

SITE = Path(__file__).resolve().parents[1] / "build" / "lite" / "site"
PATIENCE = 300_000  # milliseconds
FLAGS = ["--no-sandbox", "--disable-gpu"]  # a machine without a graphics card would draw with its processors


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *arguments: object) -> None:
        pass


def main() -> None:
    """Print a line for each run."""
    options = argparse.ArgumentParser(description="Seconds until a student sees the first cards.")
    options.add_argument("site", type=Path, nargs="?", default=SITE)
    options.add_argument("--runs", type=int, default=3)
    chosen = options.parse_args()
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(chosen.site)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    address = f"http://127.0.0.1:{server.server_port}/lab/index.html?path=03_cell.ipynb"
    with sync_playwright() as playwright:
        for _ in range(chosen.runs):
            load = os.getloadavg()[0]
            browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=FLAGS)
            print(f"{_seconds(browser, address)}; load {load:.1f}", flush=True)
            browser.close()


def _seconds(browser: Browser, address: str) -> str:
    page = browser.new_page(viewport={"width": 1280, "height": 1000})
    page.set_default_timeout(PATIENCE)
    begun, used = time.perf_counter(), _processors()
    page.goto(address)
    page.locator(".jp-Notebook").get_by_text("import numpy as np").first.click()
    page.keyboard.press("Escape")
    page.locator(".jp-Notebook-ExecutionIndicator[data-status=idle]").wait_for()
    _run(page, "import numpy as np", "progress(")
    page.get_by_role("region", name="Progress:").wait_for()
    bar = f"bar {time.perf_counter() - begun:.1f} s ({_processors() - used:.1f} s of processors)"
    _run(page, "def hidden_layer", "check(hidden_layer)")
    page.get_by_role("region", name="hidden_layer").wait_for()
    return f"{bar}, check {time.perf_counter() - begun:.1f} s ({_processors() - used:.1f})"


def _run(page: Page, *cells: str) -> None:
    """Go down to these cells, and run them."""
    active = page.locator(".jp-Cell.jp-mod-active")
    for words in cells:
        while words not in active.inner_text():
            page.keyboard.press("ArrowDown")
        page.keyboard.press("Control+Enter")


def _processors() -> float:
    """Seconds that the processes below this one have used."""
    used = 0.0
    for process in psutil.Process().children(recursive=True):
        try:
            used += sum(process.cpu_times()[:2])
        except psutil.Error:
            continue
    return used


if __name__ == "__main__":
    main()
