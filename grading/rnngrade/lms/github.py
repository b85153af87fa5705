"""GitHub: a workflow that grades what a student pushes, and its annotations.

How a line on stdout becomes an annotation, and which characters are escaped in it:
https://docs.github.com/en/actions/reference/workflow-commands-for-github-actions.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from rnngrade.core.record import Record
from rnngrade.grading.single import words_of

# GitHub Classroom puts a workflow of this name into a student's repository; it runs on each push.
PLACE = ".github/workflows/classroom.yml"

WORKFLOW = """\
# Grades {unit} on each push: the marks in the log and as annotations, the record as a file to download.
# Who can push can change this file: grades that count come from `rnngrade run`, on notebooks that were collected.
name: grade
on: [push, workflow_dispatch]
permissions:
  contents: read
jobs:
  grade:
    runs-on: ubuntu-24.04
    timeout-minutes: 30
    container:
      image: debian:12
      options: --privileged  # for the sandbox
    steps:
      - run: apt-get update -qq && apt-get install -y -qq git make ca-certificates bubblewrap python3 python3-venv
      - uses: actions/checkout@v4
        with:
          path: work
      - uses: actions/checkout@v4
        with:
          repository: {course}
          ref: {ref}
          path: course
      - name: install
        working-directory: course
        run: |
          python3 -m venv env
          env/bin/pip install -q -c constraints.txt torch --index-url https://download.pytorch.org/whl/cpu
          env/bin/pip install -q -c constraints.txt -e ".[grading]"
      - name: grade
        run: course/env/bin/rnngrade grade "work/{unit}.ipynb" --annotate --json record.json
      - uses: actions/upload-artifact@v4
        if: always()
        with:
          name: record
          path: record.json
"""


def workflow(unit: str, course: str, ref: str) -> str:
    """The workflow for the course that lies in GitHub's repository `course`, "owner/name", at a tag or branch."""
    return WORKFLOW.format(unit=unit, course=course, ref=ref)


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
