"""The sandbox's tests once more, by a user who is not root, and by a root who has no other users, as in some
containers: for such a one bubblewrap builds rooms in user namespaces.

Where root runs the tests, as CI does, this is the only place where that way is gone.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from tests.sampling import ALL

ROOT = Path(__file__).resolve().parents[2]
# Those of the sandbox's tests that ask who one is in a room, and what one may there.
WHO = "nobody or capabilities or namespace or keys or stopped_call"
# A number that nobody has, another for each run: what a user's processes may be is counted for all of them together.
USER = str(50_000 + os.getpid() % 10_000)
BECOME = f"setpriv --reuid {USER} --regid {USER} --clear-groups --inh-caps=-all --ambient-caps=-all".split()


def opened(*needed: Path) -> list[str]:
    """Return bubblewrap's arguments that let everybody reach these folders, and nothing else on the way to them."""
    closed = {parent for path in needed for parent in path.parents if not parent.stat().st_mode & 0o001}
    arguments = []
    for folder in [folder for folder in closed if not closed & set(folder.parents)]:
        arguments += ["--perms", "0755", "--tmpfs", str(folder)]
        for path in [path for path in needed if folder in path.parents]:
            for parent in reversed([parent for parent in path.parents if folder in parent.parents]):
                arguments += ["--perms", "0755", "--dir", str(parent)]
            arguments += ["--ro-bind", str(path), str(path)]
    return arguments


def require_passed(*within, tests, **environment):
    """Run tests in other surroundings; `within` is the command that makes these."""
    own = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    done = subprocess.run(
        [*within, sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *tests],
        capture_output=True,
        text=True,
        errors="replace",
        cwd=ROOT,
        env={**own, "PYTHONDONTWRITEBYTECODE": "1", **environment},
    )
    print(done.stdout[-20_000:], done.stderr[-2_000:])
    assert done.returncode == 0
    assert " passed" in done.stdout


@pytest.mark.skipif(os.geteuid() != 0, reason="an ordinary user runs the other tests already")
def test_the_sandbox_holds_for_an_ordinary_user_too():
    home = Path(tempfile.mkdtemp(prefix="rnngrade-user-", dir="/tmp"))
    tests = [f"--basetemp={home}/tests", "tests/grading/test_sandbox.py", "tests/grading/test_view.py"]
    try:
        os.chown(home, int(USER), int(USER))
        require_passed(
            *("bwrap", "--cap-add", "ALL", "--dev-bind", "/", "/", "--chdir", str(ROOT)),
            *opened(Path(sys.base_prefix), ROOT, Path(sys.prefix)),
            *("--", *BECOME),
            tests=tests if ALL else [*tests, "-k", WHO],
            HOME=str(home),
        )
    finally:
        shutil.rmtree(home)


@pytest.mark.nightly
@pytest.mark.skipif(os.geteuid() != 0, reason="an ordinary user runs the other tests already")
def test_the_sandbox_holds_for_a_root_who_has_no_other_users():
    alone = ["unshare", "--user", "--map-root-user", "--mount"]
    if subprocess.run([*alone, "true"], capture_output=True).returncode != 0:
        pytest.skip("no user namespace can be made here")
    require_passed(*alone, tests=["tests/grading/test_sandbox.py", "-k", f"{WHO} or in_number or told_so"])
