"""The README's pictures, taken of the real things: a diagnosis in JupyterLab, what the site's first screen shows, and
the desk's report on a sample class.

    .venv/bin/python docs/pictures.py [diagnosis] [site] [report]

Everything happens in a temporary folder. It wants Chromium (``sudo apt-get install chromium``); what each picture shows
is said in the README, in its alt text.
"""

import io
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import nbformat
from PIL import Image
from playwright.sync_api import Browser, FloatRect, Page, sync_playwright

from rnncourse import exercises

COURSE = Path(__file__).resolve().parents[1]
PICTURES = COURSE / "docs" / "pictures"
UNIT, EXERCISE, MISTAKE = "03_cell", "rnn_forward", "h0_replaced_by_zeros"
MOST_BYTES = 150_000


def main() -> int:
    """Take all pictures, or those that are named."""
    chromium = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if chromium is None:
        print("There is no Chromium here: 'sudo apt-get install chromium', and run this again.", file=sys.stderr)
        return 1
    PICTURES.mkdir(exist_ok=True)
    takers = {"diagnosis": diagnosis, "site": first_screen, "report": report}
    if unknown := [name for name in sys.argv[1:] if name not in takers]:
        print(f"There is no {unknown[0]!r}: name some of {', '.join(takers)}, or none for all.", file=sys.stderr)
        return 1
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox", "--disable-gpu"])
        for name in sys.argv[1:] or takers:
            for path, picture in takers[name](browser, Path(folder)).items():
                (PICTURES / path).write_bytes(picture)
                print(f"wrote {(PICTURES / path).relative_to(COURSE)}")
    return 0


def diagnosis(browser: Browser, folder: Path) -> dict[str, bytes]:
    """A wrong answer to an exercise in JupyterLab, and the card below it."""
    notebook = nbformat.read(COURSE / "notebooks" / UNIT / f"{UNIT}.ipynb", as_version=4)
    wrong = next(m for m in exercises.find(EXERCISE).misconceptions if m.name == MISTAKE)
    cells = {cell.id: cell for cell in notebook.cells}
    cells[EXERCISE].source = wrong.source_for(EXERCISE).strip()
    notebook.cells = [cell for cell in notebook.cells if cell.metadata.get("nbgrader")]
    at = [cell.id for cell in notebook.cells].index(f"check_{EXERCISE}")
    notebook.cells = [notebook.cells[0], *notebook.cells[at - 1 : at + 1]]  # the setup, the answer, its check
    nbformat.write(notebook, folder / f"{UNIT}.ipynb")
    with lab(folder) as address:
        page = new_page(browser, 1200, 900)
        page.goto(f"{address}/lab/tree/{UNIT}.ipynb")
        page.get_by_role("menuitem", name="Run", exact=True).wait_for(timeout=120_000)
        page.locator(".jp-Notebook .jp-CodeCell").first.wait_for(timeout=60_000)
        page.get_by_text("Python 3 (ipykernel) | Idle").wait_for(timeout=120_000)
        page.locator(".jp-Notebook .jp-CodeCell .cm-content").first.click()
        for _ in notebook.cells:
            page.keyboard.press("Shift+Enter")
        card = page.locator(f'section[aria-label^="{EXERCISE}"]')
        card.wait_for(timeout=120_000)
        page.wait_for_timeout(1000)
        answer = page.locator(".jp-Notebook .jp-CodeCell .jp-InputArea").nth(1).bounding_box()
        return {"diagnosis.png": small(shot(page, answer, card.bounding_box()))}


def first_screen(browser: Browser, folder: Path) -> dict[str, bytes]:
    """Of the site's home page: the film, its last moment for who wants no motion, and what one will have made."""
    subprocess.run([sys.executable, COURSE / "website" / "make_website.py", "--out", folder / "site"], check=True)
    page = new_page(browser, 1280, 800)
    page.goto((folder / "site" / "index.html").as_uri())
    page.locator(".home-start").evaluate("buttons => { buttons.style.visibility = 'hidden' }")  # just above the film
    player, moments = page.frame_locator(".home-film iframe"), []
    drawing = player.locator("svg")
    player.locator(".bar").evaluate("bar => { bar.style.opacity = 0 }")
    for _ in range(int(player.locator("input").get_attribute("max") or 0) + 1):
        moments.append(shot(page, drawing.bounding_box(), player.locator("#caption").bounding_box()))
        player.get_by_role("button", name="Next").dispatch_event("click")
        page.wait_for_timeout(500)
    made = page.locator(".home-made > ul").screenshot()
    return {"film.gif": moving(moments), "film.png": small(moments[-1]), "made.png": small(made)}


def report(browser: Browser, folder: Path) -> dict[str, bytes]:
    """The desk's page on a sample class."""
    desk = [sys.executable, "-m", "rnngrade.cli", "--desk", str(folder / "autumn")]
    for command in (["sample", UNIT, "--size", "18"], ["run", UNIT, "--seed", "1"], ["report"]):
        subprocess.run([*desk, *command], check=True, capture_output=True)
    page = new_page(browser, 900, 620)
    page.goto((folder / "autumn" / "report" / f"{UNIT}.html").as_uri())
    section = page.locator("#exercises")
    picture = shot(page, section.locator("h2").bounding_box(), section.locator("table").first.bounding_box())
    return {"report.png": small(picture)}


def shot(page: Page, *boxes: FloatRect | None) -> bytes:
    """What lies in these boxes and between them, with a margin."""
    seen = [box for box in boxes if box is not None]
    left, top = min(box["x"] for box in seen), min(box["y"] for box in seen)
    right, bottom = max(box["x"] + box["width"] for box in seen), max(box["y"] + box["height"] for box in seen)
    clip = {"x": left - 10, "y": top - 10, "width": right - left + 20, "height": bottom - top + 20}
    return page.screenshot(clip=FloatRect(**clip), full_page=True)


def new_page(browser: Browser, width: int, height: int) -> Page:
    """A light page, sharp at twice its size."""
    return browser.new_page(
        viewport={"width": width, "height": height},
        device_scale_factor=2,
        color_scheme="light",
        reduced_motion="reduce",
    )


@contextmanager
def lab(folder: Path) -> Iterator[str]:
    """JupyterLab on a folder, for as long as it is needed; gives its address."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    address = f"http://127.0.0.1:{port}"
    command = [sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root", f"--ServerApp.root_dir={folder}"]
    command += [f"--port={port}", "--IdentityProvider.token=", "--LabApp.news_url=None"]
    command += ["--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate"]
    # neither the settings nor the progress of whoever runs this show, and neither is changed
    environment = os.environ | {"RNNCOURSE_PROGRESS": "off", "JUPYTER_CONFIG_DIR": str(folder / ".jupyter")}
    with subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as server:
        try:
            for _ in range(300):
                try:
                    urllib.request.urlopen(f"{address}/api", timeout=5).close()
                    break
                except OSError:
                    time.sleep(0.2)
            yield address
        finally:
            server.terminate()


def small(picture: bytes) -> bytes:
    """A PNG with as many colours as fit into what a README should weigh."""
    whole = Image.open(io.BytesIO(picture)).convert("RGB")
    for colours in (256, 128, 64):
        stored = io.BytesIO()
        whole.quantize(colours, dither=Image.Dither.NONE).save(stored, "PNG", optimize=True)
        if len(stored.getvalue()) < MOST_BYTES:
            return stored.getvalue()
    raise ValueError(f"The picture does not fit into {MOST_BYTES} bytes: show less of the page.")


def moving(moments: list[bytes], milliseconds: int = 900, pause: int = 3000) -> bytes:
    """A GIF of these moments, which waits after the last and begins again."""
    whole = [Image.open(io.BytesIO(one)).convert("RGB") for one in moments]
    sheet = Image.new("RGB", (whole[0].width, sum(one.height for one in whole)))
    for number, one in enumerate(whole):
        sheet.paste(one, (0, number * one.height))
    colours = sheet.quantize(32, dither=Image.Dither.NONE)  # the same in all moments: only what changes is stored
    frames = [one.quantize(palette=colours, dither=Image.Dither.NONE) for one in whole]
    durations = [milliseconds] * (len(frames) - 1) + [pause]
    stored = io.BytesIO()
    frames[0].save(stored, "GIF", save_all=True, append_images=frames[1:], duration=durations, loop=0, optimize=True)
    if len(stored.getvalue()) >= MOST_BYTES:
        raise ValueError(f"The film does not fit into {MOST_BYTES} bytes: show less of it.")
    return stored.getvalue()


if __name__ == "__main__":
    sys.exit(main())
