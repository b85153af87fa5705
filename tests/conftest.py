"""What all tests share: the project's folder, its tracked files, and hypothesis' settings."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import hypothesis
import pytest

ROOT = Path(__file__).resolve().parents[1]

os.environ["MPLBACKEND"] = "agg"
# Hidden cases come from the default seed, whatever the instructor who runs the tests has set.
os.environ.pop("RNNCOURSE_SEED", None)
# Nor do checks in tests count as progress of whoever runs them, wherever that is kept.
os.environ["RNNCOURSE_PROGRESS"] = "off"

# The same examples in every run, and no deadline: two test processes and their kernels share two cores.
hypothesis.settings.register_profile("course", derandomize=True, deadline=None)
hypothesis.settings.load_profile("course")


@pytest.fixture(scope="session")
def root() -> Path:
    """The project's folder."""
    return ROOT


@pytest.fixture(scope="session")
def tracked() -> list[Path]:
    """The files that are in git, or would be with the next `git add`, relative to the project's folder."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    names = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout.split("\0")
    return sorted(Path(name) for name in set(names) if name and (ROOT / name).is_file())
