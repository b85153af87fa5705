"""The gradebook on a real PostgreSQL, which the test run starts on a socket in a folder of its own, and stops."""

import getpass
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import create_engine, text

from rnngrade.core.desk import Desk
from rnngrade.core.errors import DeskError
from rnngrade.core.record import Record
from rnngrade.gradebook.book import GradebookWriter
from tests.grading.made import UNIT
from tests.grading.on_any_database import GradebookSuite, ShortSuite
from tests.sampling import ALL
from tests.waiting import PATIENCE

INSTALLED = sorted(Path("/usr/lib/postgresql").glob("*/bin/pg_ctl"), key=lambda p: int(p.parts[-3]))
USER = "nobody" if os.geteuid() == 0 else getpass.getuser()  # PostgreSQL refuses to run as root

pytestmark = pytest.mark.skipif(not INSTALLED, reason="PostgreSQL is not installed: apt-get install postgresql")


def as_user(*command: str | Path | int) -> None:
    """Run a command as the user who owns the database."""
    become = ["setpriv", f"--reuid={USER}", "--clear-groups", "--"] if os.geteuid() == 0 else []
    done = subprocess.run(
        [*become, *map(str, command)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        cwd="/",
    )
    assert done.returncode == 0, done.stdout


@pytest.fixture(scope="session")
def server() -> Iterator[Path]:
    """A running server: the folder of its socket. It listens on no port."""
    # A socket's path has 107 characters at most, so pytest's own folder will not do.
    folder = Path(tempfile.mkdtemp(prefix="rnncourse-pg-"))
    if os.geteuid() == 0:
        shutil.chown(folder, USER)
    folder.chmod(0o755)
    tools, data = INSTALLED[-1].parent, folder / "data"
    try:
        as_user(tools / "initdb", "-D", data, "-U", "rnncourse", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync")
        options = f"-c listen_addresses='' -c unix_socket_directories={folder} -c fsync=off"
        patient = ("-w", "-t", int(PATIENCE))
        as_user(tools / "pg_ctl", "-D", data, *patient, "-l", folder / "log", "-o", options, "start")
        try:
            yield folder
        finally:
            as_user(tools / "pg_ctl", "-D", data, "-m", "immediate", *patient, "stop")
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def address(server: Path, database: str) -> str:
    # Not quoted: `nbgrader db upgrade` writes the address to a file in which a percent sign means something else.
    return f"postgresql+psycopg://rnncourse@/{database}?host={server}"


def order(server: Path, statement: str) -> None:
    engine = create_engine(address(server, "postgres"), isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        connection.execute(text(statement))
    engine.dispose()


@pytest.fixture(scope="session")
def entered(server, root, tmp_path_factory) -> str:
    """A database whose gradebook knows the unit, to copy."""
    order(server, "CREATE DATABASE entered")
    with GradebookWriter(Desk(root, tmp_path_factory.mktemp("entered"), address(server, "entered"))) as gradebook:
        assert gradebook.enter_unit(UNIT) == []
    return "entered"


@pytest.fixture
def desk(server, entered, root, tmp_path) -> Iterator[Desk]:
    name = f"desk_{os.urandom(4).hex()}"
    order(server, f"CREATE DATABASE {name} TEMPLATE {entered}")
    desk = Desk(root, tmp_path / "desk", address(server, name))
    desk.open()
    yield desk
    order(server, f"DROP DATABASE {name} WITH (FORCE)")


class TestOnPostgreSQL(GradebookSuite if ALL else ShortSuite):
    """The suite, on a database server; all of it in `make nightly`."""

    every = 4


def test_nothing_is_written_to_a_file_when_there_is_a_server(desk, root):
    with GradebookWriter(desk):
        pass
    assert not desk.gradebook.exists()


def test_a_database_that_is_not_there_is_one_sentence(server, root, tmp_path):
    desk = Desk(root, tmp_path, address(server, "none"))
    with pytest.raises(DeskError, match=r'cannot be used.*"none" does not exist'), GradebookWriter(desk) as book:
        book.put(Record("ada", UNIT, "key", "0"), b"{}")
