"""What all tests share: surroundings of their own, the project's folder and tracked files, hypothesis' settings."""

from __future__ import annotations

import atexit
import os
import shutil
import socket
import subprocess
import tempfile
import uuid
from collections.abc import Iterator
from pathlib import Path

import hypothesis
import pytest
from jupyter_client.manager import KernelManager

ROOT = Path(__file__).resolve().parents[1]

os.environ["MPLBACKEND"] = "agg"
# Hidden cases come from the default seed, whatever the instructor who runs the tests has set.
os.environ.pop("RNNCOURSE_SEED", None)
# Nor do checks in tests count as progress of whoever runs them, wherever that is kept.
os.environ["RNNCOURSE_PROGRESS"] = "off"

# Kernels know nothing of how whoever runs the tests has set up IPython, and are reached by sockets in a folder of ours:
# a port is chosen before a kernel takes it, and until then anybody else may. (A socket's path has to be short.)
OURS = Path(tempfile.mkdtemp(prefix="rnncourse-", dir="/tmp"))
atexit.register(shutil.rmtree, OURS, ignore_errors=True)
os.environ["IPYTHONDIR"] = str(OURS / "ipython")


_make = KernelManager.__init__


def _make_reached_by_sockets(manager: KernelManager, **settings: object) -> None:
    _make(manager, **{"transport": "ipc", "ip": str(OURS / uuid.uuid4().hex)} | settings)


KernelManager.__init__ = _make_reached_by_sockets

# The same examples in every run, and as long as they take: two test processes and their kernels share two cores.
hypothesis.settings.register_profile(
    "course", derandomize=True, deadline=None, suppress_health_check=[hypothesis.HealthCheck.too_slow]
)
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


@pytest.fixture
def deserted() -> Iterator[str]:
    """An address on this machine, host and port, at which nobody listens: nobody else gets it meanwhile."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        yield f"127.0.0.1:{taken.getsockname()[1]}"
