"""The command line, `rnngrade`. Each command works on a class's folder, the desk: `--desk FOLDER`, or the folder that
one is in.

Exit codes: 0, all done; 1, something kept it from being done, in a sentence on stderr, or from being done for all, with
a list of whom it was not done for; 2, the command was not understood; 3, with `--strict`: done, and a person has to
look at something.
"""

from pathlib import Path
from typing import Any

import click

from rnncourse.seat.sentences import EXAMPLES, in_a_sentence
from rnngrade.cli import desk_work, giving_back, grading, systems
from rnngrade.core.desk import Desk
from rnngrade.core.errors import DeskError
from rnngrade.core.log import LEVELS, log, to_file

COURSE = Path(__file__).resolve().parents[3]


class Commands(click.Group):
    """The commands in the order of the work. The log says when one begins, and with what error it ends."""

    def list_commands(self, context: click.Context) -> list[str]:
        return list(self.commands)

    def invoke(self, context: click.Context) -> Any:
        """Run one; what keeps it from being done is one sentence."""
        with in_a_sentence(DeskError):
            try:
                return super().invoke(context)
            except (click.exceptions.Exit, click.Abort):
                raise
            except Exception as error:
                log.exception("%s", error)
                raise


@click.group(
    cls=Commands, epilog=EXAMPLES + "  rnngrade --desk autumn collect downloads.zip\n  rnngrade --desk autumn run 03"
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
@click.option("--log", "log_file", type=click.Path(path_type=Path, dir_okay=False), help="Write what happens there.")
@click.option("--log-level", type=click.Choice(LEVELS), default="info", show_default=True, help="How much of it.")
@click.version_option(package_name="rnncourse")
@click.pass_context
def main(
    context: click.Context, folder: Path, course: Path, db: str | None, log_file: Path | None, log_level: str
) -> None:
    """The grading desk: from a folder of submissions to grades, feedback and a picture of the class."""
    if log_file:
        to_file(log_file, log_level)
    log.info("rnngrade %s", context.invoked_subcommand)
    context.obj = Desk(course, folder, db)


for command in (
    *(desk_work.new, desk_work.sample, desk_work.collect, desk_work.times, desk_work.status, grading.run),
    *(desk_work.report, desk_work.mark, desk_work.explain, desk_work.lab, desk_work.feedback, giving_back.give_back),
    *(systems.grade, systems.gradescope, systems.github),
):
    main.add_command(command)
