"""The commands that set a platform up to grade by itself: Gradescope, GitHub."""

from __future__ import annotations

from pathlib import Path

import click

from rnncourse.seat.sentences import EXAMPLES, in_a_sentence
from rnngrade.cli.shared import own_seed, units_of
from rnngrade.core.desk import Desk
from rnngrade.core.errors import DeskError
from rnngrade.core.record import write_whole


@click.command(
    epilog=EXAMPLES
    + "  rnngrade --desk autumn gradescope 03 --output autograder-03.zip\n"
    + "  rnngrade --desk autumn gradescope 03 --output autograder-03.zip --wheels wheels"
)
@click.argument("unit")
@click.option("--output", type=click.Path(path_type=Path), required=True, help="The zip to write.")
@click.option(
    "--wheels", type=click.Path(path_type=Path, exists=True, file_okay=False), help="Packages, for a set-up offline."
)
@click.option("--seed", envvar="RNNCOURSE_SEED", help="The hidden cases' seed (default: the desk's own, drawn once).")
@click.pass_obj
def gradescope(desk: Desk, unit: str, output: Path, wheels: Path | None, seed: str | None) -> None:
    """Write an autograder for Gradescope, which grades each submission as this desk does."""
    from rnngrade.lms.gradescope import autograder_zip

    with in_a_sentence(DeskError):
        (stem,) = units_of([unit])
        write_whole(output, autograder_zip(desk.root, stem, seed or own_seed(desk), wheels))
    click.echo(
        f"{output}: upload it as the autograder of a programming assignment, with Ubuntu 22.04 as its base image."
    )
    click.echo(
        "Where Gradescope's container allows no sandbox, a submission can read the autograder's files; each result's "
        "extra_data says so. For marks that cannot be forged, download the submissions and use 'rnngrade run'."
    )


@click.command(epilog=EXAMPLES + "  rnngrade github 03 --course university/rnncourse > .github/workflows/classroom.yml")
@click.argument("unit")
@click.option("--course", required=True, help="The course's repository on GitHub, owner/name.")
@click.option("--ref", default="main", show_default=True, help="Its tag or branch.")
def github(unit: str, course: str, ref: str) -> None:
    """Print a workflow that grades what a student pushes: for GitHub Classroom, or any repository."""
    from rnngrade.lms.github import workflow

    click.echo(workflow(units_of([unit])[0], course, ref), nl=False)


COMMANDS = (gradescope, github)
