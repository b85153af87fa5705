"""A course of one's own: a folder with the notebooks, made from what is installed, and brought to a new release.

    my-course/README.md
    my-course/03_cell/03_cell.ipynb
    my-course/03_cell/03_cell-before-0.2.0.ipynb      as it was before the update to 0.2.0

No notebook of it is in anybody's git. An update writes beside each notebook what it was, then puts the new one in its
place, whole: killed anywhere in between it has lost nothing, and is simply called again.
"""

import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import nbformat
from nbformat import NotebookNode

import rnncourse
from rnncourse.seat import installing
from rnncourse.seat.carry import Carried, carry, is_current
from rnncourse.seat.files import umask, write_whole
from rnncourse.seat.handin import HandinError, read
from rnncourse.seat.places import released_folders

README = """\
# Recurrent neural networks, built piece by piece

These notebooks are yours. In a terminal, in this folder:

- `rnncourse lab` opens JupyterLab where you stopped; the first time, on `00_welcome`.
- `rnncourse progress` shows what you have passed, and what is open.
- `rnncourse check 03` says what would be graded in unit 03; `rnncourse submit 03` writes the file to hand in.
- `rnncourse update`, after a new release is installed, brings what is new, and keeps all that you wrote.

If the terminal does not know `rnncourse`, activate the environment in which you installed it.
"""


@dataclass(frozen=True)
class Updated:
    """What became of a unit's notebook: what was carried over, if anything had to be, or why it was left alone. If
    there was none before, both are None.
    """

    stem: str
    carried: Carried | None = None
    kept: Path | None = None  # the notebook as it was
    problem: str | None = None


def release_folder() -> Path:
    """The notebooks as they are given out: in the package; in a clone, beside it. **Errors:** `HandinError`."""
    for folder in released_folders():
        return folder
    how = installing.command(options="--force-reinstall --no-deps ")
    raise HandinError(f"The notebooks were not installed: run {how}")


def released() -> Iterator[tuple[str, Path]]:
    """Each unit's stem, and its notebook as it is given out."""
    for path in sorted(release_folder().glob("*/*.ipynb")):
        if path.stem == path.parent.name:
            yield path.stem, path


def start(folder: Path) -> None:
    """Make a new folder with all notebooks. **Errors:** `HandinError` if there is something already; `OSError`."""
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise HandinError(
            f"{folder} is there already: name a new folder. (If it is your course, 'rnncourse update' in it brings "
            "what is new.)"
        )
    folder.parent.mkdir(parents=True, exist_ok=True)
    making = Path(tempfile.mkdtemp(dir=folder.parent, prefix=f".{folder.name}-"))
    try:
        for stem, path in released():
            (making / stem).mkdir()
            shutil.copyfile(path, making / stem / path.name)
        (making / "README.md").write_text(README, encoding="utf-8")
        making.chmod(0o777 & ~umask())
        if folder.exists():
            folder.rmdir()
        making.replace(folder)
    except BaseException:
        shutil.rmtree(making, ignore_errors=True)
        raise


def update(folder: Path) -> Iterator[Updated]:
    """Bring each notebook in a folder to the release that is installed; yields what was done, unit by unit."""
    for stem, path in released():
        mine = folder / stem / f"{stem}.ipynb"
        for left in mine.parent.glob(".*.new"):  # by one that was killed
            left.unlink(missing_ok=True)
        if not mine.exists():
            mine.parent.mkdir(parents=True, exist_ok=True)
            write_whole(mine, path.read_bytes())
            yield Updated(stem)
            continue
        try:
            notebook = read(mine).node
        except HandinError as why:
            yield Updated(stem, problem=f"{why} It was left as it is.")
            continue
        if done := _brought(mine, notebook, nbformat.read(path, as_version=4)):
            yield Updated(stem, *done)


def _brought(mine: Path, notebook: NotebookNode, release: NotebookNode) -> tuple[Carried, Path] | None:
    """Put the new notebook in place of the old, which is kept; None if there is nothing new."""
    if is_current(notebook, release):
        return None
    carried = carry(notebook, release)
    if carried.node.cells == notebook.cells:
        return None
    kept = _keep(mine)
    write_whole(mine, (nbformat.writes(carried.node, version=nbformat.NO_CONVERT) + "\n").encode())
    return carried, kept


def _keep(mine: Path) -> Path:
    """A copy of a notebook beside it; the one that is there already, if an update was killed."""
    data = mine.read_bytes()
    name, number = f"{mine.stem}-before-{rnncourse.__version__}", 1
    while True:
        kept = mine.with_name(f"{name}{'' if number == 1 else f'-{number}'}{mine.suffix}")
        if not kept.exists():
            write_whole(kept, data)
            return kept
        if kept.read_bytes() == data:
            return kept
        number += 1
