"""The units for Google's Colab: a set-up cell first, which installs the course; else as students get them.

    python website/colab.py university/rnncourse FOLDER

Colab opens notebooks from GitHub. So the folder is pushed as the branch `colab` of the course's repository, and holds
the wheel too: notebooks and checks are of one release, and nothing has to be on a package index.
"""

import argparse
import shutil
import subprocess
import sys
from pathlib import Path

import nbformat
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell

from rnncourse import __version__, exercises

ROOT = Path(__file__).resolve().parent.parent
BRANCH = "colab"
WHEEL = f"rnncourse-{__version__}-py3-none-any.whl"
SET_UP = """\
# Run this first, in each session: it installs the course, which takes a minute.
# To keep your work: File > Save a copy in Drive. To hand in: File > Download > Download .ipynb.
%pip install --quiet {wheel}"""


def address(repository: str, stem: str) -> str:
    """Where Colab opens a unit of the course in that repository, "university/rnncourse"."""
    return f"https://colab.research.google.com/github/{repository}/blob/{BRANCH}/{stem}.ipynb"


def notebook(root: Path, stem: str, wheel: str) -> NotebookNode:
    """A unit as students get it, with the set-up cell above it. wheel: an address, or a path."""
    made = nbformat.read(root / "notebooks" / stem / f"{stem}.ipynb", as_version=4)
    made.cells.insert(0, new_code_cell(SET_UP.format(wheel=wheel), id="colab-set-up"))
    return made


def main() -> None:
    """Write all units, and the wheel."""
    options = argparse.ArgumentParser(description="The units for Colab, and the wheel that they install.")
    options.add_argument("repository", help="the course's on GitHub, university/rnncourse")
    options.add_argument("folder", type=Path, help="where to; made anew")
    given = options.parse_args()
    shutil.rmtree(given.folder, ignore_errors=True)
    command = (sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation", ROOT)
    subprocess.run([*command, "--wheel-dir", given.folder], check=True)
    wheel = f"https://raw.githubusercontent.com/{given.repository}/{BRANCH}/{WHEEL}"
    for stem in exercises.STEMS:
        nbformat.write(notebook(ROOT, stem, wheel), given.folder / f"{stem}.ipynb")


if __name__ == "__main__":
    main()
