"""What all tests share: surroundings of their own, what is drawn and in which order it runs, clones and a wheel."""

import atexit
import os
import shutil
import socket
import subprocess
import tempfile
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path

import hypothesis
import jaxtyping
import pytest
from filelock import FileLock
from jupyter_client.manager import KernelManager
from nbval.plugin import IPyNbCell
from xdist.scheduler import LoadFileScheduling

from tests import sampling
from tests.wheels import wheel_of

ROOT = Path(__file__).resolve().parent

# The textbook's annotations of arrays are checked while testing, those of a new module without an entry here. (The
# project's and the other data's say of shapes what cannot be checked while running.)
TEXTBOOK = [path for path in ROOT.glob("rnncourse/*.py") if not path.stem.startswith("project")]
ANNOTATED = [path.stem for path in TEXTBOOK if "jaxtyping" in path.read_text(encoding="utf-8")]
ANNOTATED += ["data.python_tokens", "data.teddy"]
jaxtyping.install_import_hook([f"rnncourse.{name}" for name in ANNOTATED], "beartype.beartype")

os.environ["MPLBACKEND"] = "agg"
# Tests run beside each other: threads of their own would be in each other's way, and let a search run out of time.
for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(name, "1")
# Hidden cases come from the default seed, whatever the instructor who runs the tests has set.
os.environ.pop("RNNCOURSE_SEED", None)
# A make that a test starts is not told that another one started the tests: it would print where it stands.
for name in ("MAKEFLAGS", "MAKELEVEL", "MFLAGS"):
    os.environ.pop(name, None)
# Nor do checks in tests count as progress of whoever runs them, wherever that is kept.
os.environ["RNNCOURSE_PROGRESS"] = "off"

# A file's tests run in one process, which makes what they share once, and so do those of these folders, which share the
# cases of all exercises. What takes longest comes first, so that none of it is left to one process at the end.
TOGETHER = ("tests/rnncourse/exercises/", "tests/rnncourse/checks/")
LONG = [
    *TOGETHER,
    "tests/grading/test_hostile.py",
    "tests/grading/test_autograde.py",
    "tests/test_contributing.py",
    "tests/browser/",
    "tests/grading/test_grade.py",
    "solutions/",
    "tests/notebooks/test_lite_units.py",
    "tests/test_wheel.py",
    "tests/rnncourse/seat/test_cli.py",
    "tests/grading/",
]

# Kernels know nothing of how whoever runs the tests has set up IPython, and are reached by sockets in a folder of ours:
# a port is chosen before a kernel takes it, and until then anybody else may. (A socket's path has to be short.)
OURS = Path(tempfile.mkdtemp(prefix="rnncourse-", dir="/tmp"))
atexit.register(shutil.rmtree, OURS, ignore_errors=True)
os.environ["IPYTHONDIR"] = str(OURS / "ipython")


_make = KernelManager.__init__


def _make_reached_by_sockets(manager: KernelManager, **settings: object) -> None:
    _make(manager, **{"transport": "ipc", "ip": str(OURS / uuid.uuid4().hex)} | settings)


KernelManager.__init__ = _make_reached_by_sockets

# As long as they take: two test processes and their kernels share two cores. By day the same examples in every run.
hypothesis.settings.register_profile(
    "course",
    max_examples=100 if sampling.ALL else 20,
    derandomize=not sampling.ALL,
    print_blob=sampling.ALL,
    deadline=None,
    suppress_health_check=[hypothesis.HealthCheck.too_slow],
)
hypothesis.settings.load_profile("course")


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "nightly: slow or exhaustive, and only in `make nightly`")
    if sampling.ALL and config.getoption("hypothesis_seed", None) is None:
        config.option.hypothesis_seed = str(sampling.SEED)


def pytest_report_header() -> str:
    return f"nightly, all of it: NIGHTLY_SEED={sampling.SEED}" if sampling.ALL else f"drawn from seed {sampling.SEED}"


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if not sampling.ALL:
        config.hook.pytest_deselected(items=[item for item in items if item.get_closest_marker("nightly")])
        items[:] = [item for item in items if not item.get_closest_marker("nightly")]
    items.sort(key=lambda item: next((i for i, path in enumerate(LONG) if item.nodeid.startswith(path)), len(LONG)))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: object) -> LoadFileScheduling:
    class Together(LoadFileScheduling):
        def _split_scope(self, nodeid: str) -> str:
            return "the catalogue" if nodeid.startswith(TOGETHER) else str(super()._split_scope(nodeid))

    return Together(config, log)


# nbval compares no pictures: by day a figure is drawn once, as an SVG or else as a PNG, and not as another PNG beside.
DRAWN_ONCE = """
def once(style):
    png = style.to_png
    style.to_png = lambda figure, transparent=False: png(figure, transparent=True) if transparent else b""
once(__import__("importlib").import_module("rnncourse.plots.style"))
del once
"""


@pytest.hookimpl(wrapper=True)
def pytest_runtest_setup(item: pytest.Item) -> Iterator[None]:
    yield
    if isinstance(item, IPyNbCell) and item.cell_num == 0 and not sampling.ALL:
        item.parent.kernel.kc.execute(DRAWN_ONCE, silent=True)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Iterator[None]:
    report = yield
    if report.failed:
        report.sections.append(("drawn from seed", str(sampling.SEED)))
    return report


@pytest.fixture(autouse=True)
def annotations(request: pytest.FixtureRequest) -> None:
    """By day annotations are checked where the textbook's own tests call it: all other callers would pay a tenth."""
    own = request.path.parent in (ROOT / "tests" / "rnncourse", ROOT / "tests" / "rnncourse" / "experiments")
    jaxtyping.config.update("jaxtyping_disable", not (own or sampling.ALL))


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


@pytest.fixture(scope="session")
def clone(tracked: list[Path]) -> Callable[[Path], Path]:
    """`clone(folder)` puts the files that a clone would have into a folder, where all of them may be changed."""

    def copy(folder: Path) -> Path:
        for name in tracked:
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, folder / name)
        return folder

    return copy


@pytest.fixture(scope="session")
def made_once(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str, Callable[[Path], object]], Path]:
    """`made_once(name, fill)` is a folder that the first process of a run which asks for it fills, by `fill(folder)`.

    Nobody may change what is in it.
    """
    base = tmp_path_factory.getbasetemp()
    base = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base

    def folder_of(name: str, fill: Callable[[Path], object]) -> Path:
        folder, done = base / name, base / f"{name}.done"
        with FileLock(base / f"{name}.lock"):
            if not done.exists():
                shutil.rmtree(folder, ignore_errors=True)
                folder.mkdir()
                fill(folder)
                done.touch()
        return folder

    return folder_of


@pytest.fixture(scope="session")
def wheel(made_once: Callable[[str, Callable[[Path], object]], Path], clone: Callable[[Path], Path]) -> Path:
    """The wheel of the course, built once, from a clone."""

    def build(folder: Path) -> None:
        wheel_of(clone(folder / "course"), folder)

    (path,) = made_once("wheel", build).glob("*.whl")
    return path


@pytest.fixture
def deserted() -> Iterator[str]:
    """An address on this machine, host and port, at which nobody listens: nobody else gets it meanwhile."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        yield f"127.0.0.1:{taken.getsockname()[1]}"
