"""nbgrader's part of the build: the notebook that students get, and the unit's entry in the gradebook.

Both are nbgrader's own ``generate_assignment`` with the settings of ``grading/nbgrader_config.py``, once without a
database, so that a release depends on its source alone, and once for the sake of the database only.
"""

import logging
import tempfile
import warnings
from logging.handlers import BufferingHandler
from pathlib import Path

import nbformat
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from nbformat import NotebookNode
from sqlalchemy import create_engine
from traitlets.config.loader import Config, PyFileConfigLoader

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # nbgrader is imported, not judged
    from nbgrader.converters import GenerateAssignment
    from nbgrader.converters.base import NbGraderException
    from nbgrader.coursedir import CourseDirectory
    from nbgrader.dbutil import ALEMBIC_DIR

from rnngrade.author.unit import BuildError, for_students


def release(root: Path, unit: str, solution: NotebookNode) -> NotebookNode:
    """What students get of `solution`: without answers, hidden tests, outputs and the author's own cells."""
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder, "source", unit, f"{unit}.ipynb")
        source.parent.mkdir(parents=True)
        nbformat.write(for_students(solution), source)
        config = settings(root)
        config.CourseDirectory.root = folder
        config.CourseDirectory.source_directory = "source"
        config.CourseDirectory.release_directory = "release"
        config.SaveCells.enabled = False
        config.GenerateAssignment.no_database = True
        _generate_assignment(config, unit)
        notebook = nbformat.read(Path(folder, "release", unit, f"{unit}.ipynb"), as_version=4)
    notebook.metadata.pop("rnncourse", None)
    return notebook


def enter_in_gradebook(root: Path, unit: str, db_url: str | None = None) -> list[str]:
    """Enter the built `unit` into the course's gradebook, or that at `db_url`, where ``nbgrader autograde`` looks.

    A unit that has submissions there may get other tests, but no other exercises: nbgrader then refuses, and a
    sentence that says what to do is returned.
    """
    with tempfile.TemporaryDirectory() as folder:
        config = settings(root)
        config.CourseDirectory.release_directory = folder
        if db_url:
            config.CourseDirectory.db_url = db_url
        name_version(CourseDirectory(config=config).db_url)
        try:
            _generate_assignment(config, unit)
        except BuildError as error:
            return [f"The gradebook keeps the {unit} it had; to grade the new one, start a new gradebook. {error}"]
    return []


def settings(root: Path) -> Config:
    """The course's nbgrader configuration; those of the user and of the system have no say here."""
    return PyFileConfigLoader("nbgrader_config.py", path=str(root / "grading")).load_config()


def _generate_assignment(config: Config, unit: str) -> None:
    """Run nbgrader's converter on one unit; what it says is kept for the error, if there is one."""
    messages = BufferingHandler(capacity=10_000)
    log = logging.Logger("rnngrade.nbgrader", level=logging.WARNING)
    log.addHandler(messages)
    coursedir = CourseDirectory(config=config, assignment_id=unit, log=log)
    try:
        GenerateAssignment(coursedir=coursedir, config=config, force=True, log=log).start()
    except (NbGraderException, OSError) as error:
        lines = [line for record in messages.buffer for line in record.getMessage().strip().split("\n")]
        cause = next((line for line in reversed(lines) if "Error:" in line), str(error))
        raise BuildError(f"nbgrader refuses {unit}: {cause}") from None


def name_version(db_url: str) -> None:
    """Write down the tables' version, by which `nbgrader db upgrade` knows them, if nobody has.

    nbgrader does it after it has made the tables, by a process that takes seconds and has to be on PATH, and leaves it
    alone where there are any: if it was killed in between, nobody would name it any more.
    """
    engine = create_engine(db_url)
    try:
        with engine.begin() as connection:
            context = MigrationContext.configure(connection)
            if context.get_current_revision() is None:
                context.stamp(ScriptDirectory(ALEMBIC_DIR), "head")
    finally:
        engine.dispose()
