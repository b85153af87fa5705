"""GitHub: a workflow that grades what a student pushes, the release that it grades with, and its annotations.

The workflow fetches the release from a repository of its own, in which there is nothing of `solutions/`. It holds what
judges, so it had better be private: the token that reads it is a secret of the organisation's, COURSE_TOKEN. (Who may
change a workflow may read what it fetches.) PyTorch is kept in the workflow's cache.

How a line on stdout becomes an annotation, and which characters are escaped in it:
https://docs.github.com/en/actions/reference/workflow-commands-for-github-actions.
"""

import re
from collections.abc import Iterator
from pathlib import Path

from rnngrade.core.errors import DeskError
from rnngrade.core.record import Record
from rnngrade.core.zips import zipped
from rnngrade.grading.single import words_of
from rnngrade.lms.gradescope import MODES, grader

# GitHub Classroom puts a workflow of this name into a student's repository; it runs on each push.
PLACE = ".github/workflows/classroom.yml"

WORKFLOW = Path(__file__).with_name("workflow.yml")


def workflow(unit: str, course: str, ref: str) -> str:
    """The workflow for the release that lies in GitHub's repository `course`, "owner/name", at a tag or branch."""
    given = {"UNIT": unit, "GRADER": course, "REF": ref}
    return re.sub(r"\b(UNIT|GRADER|REF)\b", lambda name: given[name[0]], WORKFLOW.read_text(encoding="utf-8"))


def release_zip(root: Path) -> bytes:
    """What that repository holds: what grades every unit that is built. **Errors:** `DeskError` if none is."""
    notebooks = sorted((root / "notebooks").glob("*/*.ipynb"))
    if not notebooks:
        raise DeskError("No notebook is built: run 'make notebooks'.")
    return zipped(grader(root, notebooks), MODES)


def annotated(record: Record, path: Path) -> Iterator[str]:
    """A line for each exercise that lost points, and for each finding."""
    for result in record.exercises:
        if not result.passed:
            title = f"{result.name}: {result.points:g} of {result.max_points:g}"
            yield f"::error file={_property(path)},title={_property(title)}::{_data(words_of(result))}"
    for finding in record.findings:
        yield f"::warning file={_property(path)},title={_property(finding.code)}::{_data(finding.message)}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(value: object) -> str:
    return _data(str(value)).replace(":", "%3A").replace(",", "%2C")
