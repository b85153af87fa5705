"""The commands that grade without a class: one file, and on a platform, Gradescope or GitHub."""

import json
import secrets
import sys
from pathlib import Path

import click

from rnngrade.cli.shared import FILE_THERE, SEED, UNIT, command, own_seed, say, unit_argument
from rnngrade.core.desk import Desk
from rnngrade.core.record import write_whole
from rnngrade.core.words import count


@command(
    *("rnngrade grade homework.ipynb", "rnngrade grade 03_cell.ipynb --json record.json"),
    click.argument("file", help="The notebook.", type=FILE_THERE),
    UNIT,
    click.option("--json", "as_json", type=click.Path(path_type=Path), help="Write the record as JSON; - for stdout."),
    click.option("--annotate", is_flag=True, help="Print what is wrong as GitHub's annotations."),
    click.option("--sandbox", type=click.Choice(["auto", "bwrap", "none"]), default="auto", show_default=True,
                 help="Where it runs."),
    click.option("--seed", envvar="RNNCOURSE_SEED", help="The hidden cases' seed (default: drawn anew each time)."),
)  # fmt: skip
def grade(
    desk: Desk, file: Path, unit: str | None, as_json: Path | None, annotate: bool, sandbox: str, seed: str | None
) -> None:
    """Grade one file without a class. The exit code is 3 if it lost points."""
    from rnngrade.grading.single import grade_file, words_of
    from rnngrade.lms.github import annotated

    where = "" if sandbox == "auto" else sandbox
    done = grade_file(desk.root, file, unit=unit, seed=seed or secrets.token_hex(8), sandbox=where)
    record = done.record
    text = json.dumps(record.shown(), indent=1)
    if as_json and str(as_json) != "-":
        write_whole(as_json, text)
    if str(as_json) == "-":
        click.echo(text)
    elif annotate:
        say(annotated(record, file))
    else:
        for result in record.exercises:
            mark = "✓" if result.passed else "✗"
            click.echo(f"{mark} {result.name}: {result.points:g} of {result.max_points:g}")
            if words := words_of(result):
                click.echo("    " + words.replace("\n", "\n    "))
        say(f"! {finding.message}" for finding in record.findings)
    click.echo(f"{record.unit}: {record.points:g} of {count(record.max_points, 'point')}", err=str(as_json) == "-")
    say((f"Note: {words}" for words in done.unprotected), err=True)
    if record.points < record.max_points:
        sys.exit(3)


@command(
    *("gradescope 03 --output autograder-03.zip", unit_argument()),
    click.option("--output", type=click.Path(path_type=Path), required=True, help="The zip to write."),
    SEED,
)
def gradescope(desk: Desk, unit: str, output: Path, seed: str | None) -> None:
    """Write an autograder for Gradescope, which grades each submission as this desk does."""
    from rnngrade.lms.gradescope import autograder_zip

    write_whole(output, autograder_zip(desk.root, unit, seed or own_seed(desk)))
    click.echo(
        f"{output}: upload it as the autograder of a programming assignment, with Ubuntu 22.04 as its base image."
    )
    click.echo(
        "Where Gradescope's container allows no sandbox, a submission can read the autograder's files; each result's "
        "extra_data says so. For marks that cannot be forged, download the submissions and use 'rnngrade run'."
    )


@command(
    "rnngrade github 03 --grader university/grader --release grader.zip > .github/workflows/classroom.yml",
    unit_argument(),
    click.option("--grader", required=True, help="The repository on GitHub that holds the release, owner/name."),
    click.option("--ref", default="main", show_default=True, help="Its tag or branch."),
    click.option("--release", type=click.Path(path_type=Path), help="Write what that repository is to hold, as a zip."),
)
def github(desk: Desk, unit: str, grader: str, ref: str, release: Path | None) -> None:
    """Print a workflow that grades what a student pushes: for GitHub Classroom, or any repository. It grades with a
    release of the course, without solutions/, that lies in a repository of its own.
    """
    from rnngrade.lms.github import release_zip, workflow

    if release:
        write_whole(release, release_zip(desk.root))
    click.echo(workflow(unit, grader, ref), nl=False)
