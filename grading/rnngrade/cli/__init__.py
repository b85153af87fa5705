"""The command line, `rnngrade`. Each command works on a class's folder, the desk: `--desk FOLDER`, or the folder that
one is in.

Exit codes: 0, all done; 1, something kept it from being done, in a sentence on stderr, or from being done for all, with
a list of whom it was not done for; 2, the command was not understood; 3, with `--strict`: done, and a person has to
look at something.
"""

from __future__ import annotations

from pathlib import Path

import click

from rnncourse.seat.sentences import EXAMPLES
from rnngrade.cli import desk_work, giving_back, systems
from rnngrade.core.desk import Desk

COURSE = Path(__file__).resolve().parents[3]


class InOrder(click.Group):
    """Its commands are listed in the order of the work."""

    def list_commands(self, context: click.Context) -> list[str]:
        """The names of the commands, as they were added."""
        return list(self.commands)


@click.group(
    cls=InOrder, epilog=EXAMPLES + "  rnngrade --desk autumn collect downloads.zip\n  rnngrade --desk autumn run 03"
)
@click.option(
    "--desk",
    "folder",
    type=click.Path(path_type=Path, file_okay=False),
    default=".",
    help="The class's folder (default: this one).",
)
@click.option("--course", type=click.Path(path_type=Path, exists=True), default=COURSE, help="The course's folder.")
@click.option(
    "--db", envvar="RNNGRADE_DB", help="The gradebook's address for SQLAlchemy (default: gradebook.db there)."
)
@click.version_option(package_name="rnncourse")
@click.pass_context
def main(context: click.Context, folder: Path, course: Path, db: str | None) -> None:
    """The grading desk: from a folder of submissions to grades, feedback and a picture of the class."""
    context.obj = Desk(course, folder, db)


for command in (*desk_work.COMMANDS, *giving_back.COMMANDS, *systems.COMMANDS):
    main.add_command(command)
