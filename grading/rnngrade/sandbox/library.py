"""What `rnncourse` is inside the sandbox: all of it but the answers.

Left out are the catalogue of exercises, with references, seeds and misconceptions, the textbook modules of the unit
that is graded and of every later one, and experiments, which are not run there. `rnncourse.seat.notebook` is another
there: it gives no verdicts.
"""

import hashlib
import io
import zipfile
from pathlib import Path

import rnncourse
from rnncourse import exercises

PACKAGE = Path(rnncourse.__file__).parent
INSIDE = Path(__file__).parent / "inside"
# What only the outside needs.
_OF_THE_SEAT = (
    *("carry", "cli", "files", "handin", "installing", "in_browser", "names", "notebook", "own", "sentences"),
    "solutions",
)
LEFT_OUT = ("exercises/", "experiments/", "notebooks/", "seat/jupyter/", *(f"seat/{name}.py" for name in _OF_THE_SEAT))


def library(unit: str) -> dict[str, bytes]:
    """The files of the library for a unit, "03_cell", by path."""
    stems = [s.partition("_")[2] for s in exercises.SYLLABUS]
    hidden = stems[exercises.SYLLABUS.index(unit) :]
    files = {}
    for path in sorted(PACKAGE.rglob("*")):
        name = path.relative_to(PACKAGE).as_posix()
        if not path.is_file() or "__pycache__" in name or name.startswith(LEFT_OUT) or _is_chapter(name, hidden):
            continue
        files[f"rnncourse/{name}"] = path.read_bytes()
    for path in sorted(INSIDE.glob("*.py")):
        name = "rnncourse/seat/notebook.py" if path.name == "notebook.py" else f"rnngrade_inside/{path.name}"
        files[name] = path.read_bytes()
    return files


def _is_chapter(name: str, stems: list[str]) -> bool:
    """Whether a file of the package is the textbook's chapter on one of these, "gates.py" or "gates_backward.py"."""
    module = name.removesuffix(".py")
    return "/" not in name and any(module == stem or module.startswith(f"{stem}_") for stem in stems)


def unpack(archive: bytes, folder: Path) -> None:
    """Lay the files out in `folder`, readable for everybody. Python compiles what it imports of them."""
    with zipfile.ZipFile(io.BytesIO(archive)) as packed:
        packed.extractall(folder)
    for path in [folder, *folder.rglob("*")]:
        path.chmod(0o755 if path.is_dir() else 0o644)


def digest(files: dict[str, bytes]) -> str:
    """A name for the contents of these files."""
    total = hashlib.sha256()
    for name, content in sorted(files.items()):
        total.update(f"{name}\n{len(content)}\n".encode() + content)
    return total.hexdigest()[:16]
