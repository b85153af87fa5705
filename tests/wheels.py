"""Packing the course and installing it, with pip, offline."""

import os
import subprocess
import sys
from pathlib import Path

OFFLINE = ("--no-deps", "--no-index", "--no-build-isolation")


def pip(*arguments: str | Path) -> None:
    """Run pip without the path that leads to the course's own files."""
    command = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check", *map(str, arguments)]
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    subprocess.run(command, check=True, capture_output=True, env=environment)


def wheel_of(course: Path, folder: Path) -> Path:
    """Build the wheel of a clone into a folder."""
    pip("wheel", *OFFLINE, "--wheel-dir", folder, course)
    (wheel,) = folder.glob("*.whl")
    return wheel
