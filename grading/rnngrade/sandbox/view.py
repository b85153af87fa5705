"""What of this machine is seen in a room: the system's programs, this Python and its packages, read-only.

An environment may lie in the course's folder, in the desk's, or these in it; and both may lie among the system's
files. So of a Python's prefix only the folders that a Python has are shown, and what lies in one of them and is not
to be seen, the course with its solutions, the desk, other rooms, has an empty folder over it.
"""

import os
import sys
import sysconfig
import tempfile
from collections.abc import Iterable
from pathlib import Path

import rnncourse
import rnngrade

PROGRAMS = ("bin", "sbin", "lib", "lib32", "lib64", "libx32")
SYSTEM = [f"{top}{name}" for top in ("/", "/usr/", "/usr/local/") for name in PROGRAMS] + ["/usr/libexec", "/usr/share"]
PYTHON = ("bin", "lib", "lib32", "lib64", "pyvenv.cfg")
PACKAGES = ("purelib", "platlib")
HIDDEN = "RNNGRADE_HIDDEN"  # the variable by which grading processes are told what else is not to be seen


def hide(*folders: Path) -> None:
    """From now on, the rooms of this process and of those that it starts do not show what lies there."""
    known = os.environ.get(HIDDEN, "").split(os.pathsep)
    os.environ[HIDDEN] = os.pathsep.join(dict.fromkeys([*filter(None, known), *(str(f.resolve()) for f in folders)]))


def shown() -> list[Path]:
    """The folders and files of which the system and this Python are made."""
    prefixes = {sys.prefix, sys.exec_prefix, sys.base_prefix, sys.base_exec_prefix}
    paths = [*SYSTEM, *(f"{prefix}/{name}" for prefix in prefixes for name in PYTHON)]
    paths += [sysconfig.get_path(name) for name in ("stdlib", "platstdlib", *PACKAGES)]
    return [Path(path) for path in dict.fromkeys(paths)]


def hidden() -> list[Path]:
    """What nobody sees, wherever it lies: the course and the desk, and what else is on its way through here."""
    packages = [Path(sysconfig.get_path(name)) for name in PACKAGES]
    own = [Path(package.__path__[0]) for package in (rnncourse, rnngrade)]
    course = [_checkout(path.resolve(), packages) for path in own]
    installed = [folder / path.name for folder in packages for path in own]
    told = [Path(path) for path in os.environ.get(HIDDEN, "").split(os.pathsep) if path]
    return [*course, *installed, Path(tempfile.gettempdir()), *told]


def _checkout(package: Path, packages: list[Path]) -> Path:
    """The folder of the course in which a package of its lies; the package, if it is installed among others."""
    if package.parent not in [path.resolve() for path in packages]:
        for folder in package.parents:
            if (folder / "pyproject.toml").is_file():
                return folder
    return package


def arguments(shown: Iterable[Path], hidden: Iterable[Path]) -> list[str]:
    """Bubblewrap's arguments that show the ones and hide the others: of two that lie in one another, the inner one
    decides. What is not there, or is out of reach for this user, is left out.
    """
    sources = {place: place.resolve() for place in shown if os.path.exists(place)}
    found: dict[Path, Path | None] = {}  # by the place in the room, what is seen there; None: nothing
    for path in [path.resolve() for path in hidden if os.path.exists(path)]:
        found |= {place / path.relative_to(source): None for place, source in sources.items() if source in path.parents}
    found |= sources
    made: list[str] = []
    closed: list[str] = []
    ways = {Path("/"), Path("/tmp"), *found}  # folders on the way to what is seen are there, empty, for everybody
    for place in sorted(found):
        source = found[place]
        is_seen = next((found[folder] is not None for folder in place.parents if folder in found), False)
        if source is not None and not is_seen:
            for folder in sorted({*place.parents} - ways):
                made += ["--perms", "0755", "--dir", str(folder)]
                ways.add(folder)
            if place.is_symlink() and source in sources:
                made += ["--symlink", os.readlink(place), str(place)]
            else:
                made += ["--ro-bind", str(source), str(place)]
        elif source is None and is_seen:
            if place.is_dir():
                made += ["--tmpfs", str(place)]
                closed += ["--remount-ro", str(place)]
            else:
                made += ["--ro-bind", "/dev/null", str(place)]
    return [*made, *closed]
