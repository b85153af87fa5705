"""All that grading a unit needs, as bytes: what is sent to a worker, which may share no disk with the desk; and what
comes back.

The references and the hidden tests are not in it: the judge has them in its own `rnncourse`, of the version that the
bundle names.
"""

from __future__ import annotations

import ast
import functools
import hashlib
import importlib.metadata
import importlib.util
import json
import platform
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

import nbformat
from nbformat import NotebookNode

from rnngrade.core.desk import built
from rnngrade.core.errors import DeskError
from rnngrade.core.record import Record
from rnngrade.core.zips import zipped
from rnngrade.sandbox.library import PACKAGE, digest, library
from rnngrade.sandbox.limits import Limits

ENVIRONMENT = ("numpy", "torch", "ipython")


@dataclass(frozen=True)
class Bundle:
    """A unit to be graded: what students got, what `rnncourse` is inside the sandbox, and the versions of both, of
    the checks, and of the environment.
    """

    unit: str
    release: bytes
    library: bytes
    versions: tuple[tuple[str, str], ...]

    @classmethod
    def make(cls, root: Path, unit: str) -> Bundle:
        """The bundle of a unit of the course at `root`. **Errors:** `DeskError` if it is not built."""
        release, files = built(root, unit).read_bytes(), library(unit)
        inside = hashlib.sha256(release).hexdigest()[:16], digest(files)
        versions = {"unit": inside[0], "library": inside[1], **checks_and_environment(unit)}
        return cls(unit, release, zipped(sorted(files.items())), tuple(versions.items()))

    def key(self, submission: bytes, seed: str, limits: Limits) -> str:
        """A name for everything that the outcome depends on."""
        parts = [hashlib.sha256(submission).hexdigest(), self.versions, seed, asdict(limits)]
        return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:32]

    def notebook(self) -> NotebookNode:
        """What students got, parsed once for all: to be read, and copied by whoever changes it."""
        return _parsed(self.release)

    def modules(self) -> list[str]:
        """What the unit's locked cells import, and its drivers, and so every submission needs."""
        found: dict[str, None] = {}
        for cell in self.notebook().cells:
            meta = cell.metadata.get("nbgrader", {})
            if cell.cell_type != "code" or not meta.get("locked") or meta.get("grade"):
                continue
            for node in ast.walk(ast.parse(cell.source)):
                if isinstance(node, ast.Import):
                    found |= dict.fromkeys(alias.name for alias in node.names)
                elif isinstance(node, ast.ImportFrom) and node.module and node.module != "__future__":
                    found[node.module] = None
        fixtures = f"rnncourse.fixtures.{self.unit.partition('_')[2]}"
        return [*found, *([fixtures] if importlib.util.find_spec(fixtures) else [])]

    def require_fit(self) -> None:
        """**Errors:** `DeskError` if the checks or the environment here are not those that the desk has."""
        here = checks_and_environment(self.unit)
        for name, version in self.versions:
            if name in here and here[name] != version:
                raise DeskError(
                    f"This worker's {name} differs from the desk's ({here[name]}, not {version}): install the desk's "
                    "version of the course and its constraints.txt here."
                )


@dataclass(frozen=True)
class Settings:
    """What all that a process grades has in common."""

    bundle: Bundle
    limits: Limits
    seed: str
    sandboxed: bool = True


@dataclass(frozen=True)
class Graded:
    """What came of a submission: its record, and the instructor's notebook with the student's answers, executed."""

    record: Record
    notebook: bytes


Grader = Callable[[dict[str, Path]], Iterator[Graded]]  # submissions by student, in; results as they come, out


@functools.lru_cache(maxsize=1)
def _parsed(release: bytes) -> NotebookNode:
    return nbformat.reads(release.decode(), as_version=4)


@functools.cache
def checks_and_environment(unit: str) -> dict[str, str]:
    """Versions of the judge's part, as it is installed here: a digest of the checks and references, and what of the
    environment can change a result.
    """
    stem = unit.partition("_")[2]
    sources = {
        path.relative_to(PACKAGE).as_posix(): path.read_bytes()
        for path in sorted(PACKAGE.rglob("*.py"))
        if path.parent.name in ("checks", "fixtures", "rnncourse") or path.stem in (stem, "__init__")
    }
    packages = [f"{name} {importlib.metadata.version(name)}" for name in ENVIRONMENT]
    return {"checks": digest(sources), "environment": ", ".join([f"python {platform.python_version()}", *packages])}
