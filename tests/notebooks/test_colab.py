"""The units for Colab: in a kernel that has Colab's packages and not the course, the first cell brings it, and all else
follows.
"""

import importlib
import json
import os
import subprocess
import sys
import sysconfig
import venv
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient
from nbformat.v4 import new_code_cell

from rnncourse import exercises
from tests.waiting import PATIENCE

STEM = "00_welcome"
EXERCISE = exercises.find("leaky_average")
WRONG = next(m for m in EXERCISE.misconceptions if m.name == "shares_swapped")


@pytest.fixture(scope="module")
def colab(root):
    """The module website/colab.py."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(root / "website")
        yield importlib.import_module("colab")
    del sys.modules["colab"]


@pytest.fixture(scope="module")
def bare(tmp_path_factory) -> Path:
    """A Python that can import what is installed here, and not the course."""
    folder = tmp_path_factory.mktemp("colab") / "venv"
    venv.create(folder)
    python = folder / "bin" / "python"
    (packages,) = (folder / "lib").glob("python*/site-packages")
    # what a .pth file of that folder adds, as the course's own does, is not followed from here
    (packages / "colab.pth").write_text(sysconfig.get_path("purelib"))
    done = subprocess.run([python, "-c", "import rnncourse"], cwd=folder, env=environment(), capture_output=True)
    assert b"ModuleNotFoundError" in done.stderr
    return python


def environment() -> dict[str, str]:
    """Variables that do not lead to the course's files; pip asks nobody."""
    kept = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "RNNCOURSE_PROGRESS")}
    return kept | {"PIP_NO_INDEX": "1", "RNNCOURSE_PROGRESS": "off"}


@pytest.mark.nightly
def test_in_a_bare_kernel_the_first_cell_installs_the_course_and_a_check_answers(
    colab, bare, root, tmp_path, monkeypatch
):
    made = tmp_path / "made"
    subprocess.run([sys.executable, root / "website" / "colab.py", "university/rnncourse", made], check=True)
    assert sorted(path.stem for path in made.glob("*.ipynb")) == list(exercises.STEMS)
    notebook = nbformat.read(made / f"{STEM}.ipynb", as_version=4)
    address = f"https://raw.githubusercontent.com/university/rnncourse/colab/{colab.WHEEL}"
    assert f"\n%pip install --quiet {address}" in notebook.cells[0].source

    notebook.cells[0].source = notebook.cells[0].source.replace(address, str(made / colab.WHEEL))
    for cell in notebook.cells:
        if cell.id == EXERCISE.name:
            cell.source = WRONG.source_for(EXERCISE.name)
    end = next(i for i, cell in enumerate(notebook.cells) if cell.id == f"check_{EXERCISE.name}") + 1
    asked = new_code_cell("import rnncourse; print(rnncourse.__file__)")
    notebook.cells = [cell for cell in notebook.cells[:end] if cell.cell_type == "code"] + [asked]

    command = [str(bare), "-m", "ipykernel_launcher", "-f", "{connection_file}"]
    kernel = tmp_path / "kernels" / "bare" / "kernel.json"
    kernel.parent.mkdir(parents=True)
    kernel.write_text(json.dumps({"argv": command, "display_name": "bare", "language": "python"}))
    monkeypatch.setenv("JUPYTER_PATH", str(tmp_path))
    client = NotebookClient(notebook, kernel_name="bare", timeout=PATIENCE, startup_timeout=PATIENCE)
    client.execute(cwd=str(tmp_path), env=environment())
    said = "".join(str(output) for output in notebook.cells[-2].outputs)
    assert WRONG.message.split(".")[0] in said
    assert str(bare.parent.parent) in notebook.cells[-1].outputs[0].text


def test_a_unit_for_colab_is_the_students_own_with_one_cell_more(colab, root):
    for stem in exercises.STEMS:
        given = nbformat.read(root / "notebooks" / stem / f"{stem}.ipynb", as_version=4)
        first, *rest = colab.notebook(root, stem, "wheel").cells
        assert "%pip" in first.source
        assert rest == given.cells


def test_a_unit_s_page_leads_below_its_title_to_where_it_can_be_opened(colab, root):
    units = importlib.import_module("units")
    for stem in exercises.STEMS:
        title, _, ways_in = units.page(root, stem, lite="lite", repository="a/b").cells[0].source.partition("\n")
        assert title.startswith("# ")
        ways_in = ways_in.strip().split("\n")[1]
        in_browser = f'href="../lite/lab/index.html?path={stem}.ipynb"' in ways_in
        assert in_browser == (stem in exercises.IN_BROWSER)
        assert f'href="{colab.address("a/b", stem)}"' in ways_in
        assert f"<../notebooks/{stem}.ipynb>" in ways_in
        without = units.page(root, stem).cells[0].source
        assert "href" not in without.split("\n")[3]
        assert f"<../notebooks/{stem}.ipynb>" in without.split("\n")[3]
    del sys.modules["units"]
